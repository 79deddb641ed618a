// SPDX-License-Identifier: GPL-2.0-only
/* Switches a trace event of the modules on, and waits for a line of it. */
#ifndef PEER_TRACED_HH
#define PEER_TRACED_HH

#include <unistd.h>

#include <fstream>
#include <regex>
#include <string>

#include "failure.hh"

namespace peer
{

/* A trace event that is on for as long as this lives */
class Traced {
    public:
	/* @event: as "svcrdma/svcrdma_wc_err" */
	Traced(const char *event)
		: enable_(text(tracing, "events/", event, "/enable"))
	{
		std::ofstream(text(tracing, "trace")) << std::endl;
		set(1);
	}
	~Traced()
	{
		std::ofstream(enable_) << 0 << std::endl;
	}

	/* One of the lines has it, within @seconds */
	void expect(const char *pattern, int seconds = 5) const
	{
		std::string said;

		for (int tries = 0; tries < 10 * seconds; tries++) {
			said = lines();
			if (std::regex_search(said, std::regex(pattern)))
				return;
			usleep(100000);
		}
		fail("no '", pattern, "' in the trace:", said);
	}

	/* All that was said since the trace was last emptied, a line for each event */
	static std::string lines()
	{
		std::ifstream file(text(tracing, "trace"));
		std::string said;

		for (std::string line; std::getline(file, line);)
			if (!line.starts_with('#'))
				said += "\n" + line;
		return said;
	}

    private:
	static constexpr const char *tracing = "/sys/kernel/tracing/";
	std::string enable_;

	void set(int value)
	{
		std::ofstream file(enable_);

		file << value << std::endl;
		check(file.good(), "cannot set ", enable_);
	}
};

} /* namespace peer */

#endif /* PEER_TRACED_HH */
