// SPDX-License-Identifier: GPL-2.0-only
/* See resources.hh. */
#include "wire/resources.hh"

#include <unistd.h>

#include <cstdio>
#include <sstream>

#include "failure.hh"

namespace peer
{

/* "0: rxe0: qp 5 cm_id 3 cq 4 pd 3 mr 10 ctx 1 srq 0" */
Resources count_resources()
{
	Resources resources;
	char line[512];
	FILE *pipe = popen("rdma resource show", "r");

	if (!pipe)
		fail("cannot run rdma resource show");
	while (fgets(line, sizeof(line), pipe)) {
		std::istringstream words(line);
		std::string name;
		long value;

		words >> name >> name; /* number and device */
		while (words >> name >> value)
			resources[name] += value;
	}
	pclose(pipe);
	if (!resources.count("qp"))
		fail("rdma resource show says nothing");
	return resources;
}

void expect_resources(const Resources &before)
{
	std::string grown;

	for (int i = 0; i < 150; i++) {
		Resources after = count_resources();

		grown.clear();
		for (const char *name : { "qp", "cm_id", "cq", "pd", "mr" })
			if (after[name] > before.at(name))
				grown += text(" ", name, " ", before.at(name),
					      " -> ", after[name]);
		if (grown.empty())
			return;
		usleep(200000);
	}
	fail("left behind:", grown);
}

} /* namespace peer */
