// SPDX-License-Identifier: GPL-2.0-only
/* See ours.hh. */
#include "ours.hh"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "failure.hh"

namespace peer
{

namespace
{

/*
 * Those that Documentation/in-tree.rst and the pages of Documentation/upstream name. A module of
 * others fails in them, if at all, and its machine goes on.
 */
constexpr std::string_view with_others[] = {
	"c-bad-headers",
	"c-dropped-replies",
	"c-duplicates",
	"c-err-dropped",
	"c-long-reply-chunk",
	"c-long-write-chunk",
	"c-msgp-and-done",
	"c-nomsg",
	"c-private-offsets",
	"c-private-versions",
	"c-read-list",
	"c-runts",
	"c-truncated-lists",
	"error-messages",
	"invalidation",
	"long-and-reduced",
	"private-none",
	"read-interleaved",
	"read-no-depth",
	"read-padding",
	"reply-reduced",
	"reply-unused",
	"runt-flood",
	"runts",
	"sixteen-in-each",
	"stranger-burst",
	"stranger-large-replies",
	"write-empty-chunk",
	"write-empty-then-full",
	"write-links",
	"write-more-items",
	"write-one-of-sixteen",
	"write-sizes",
	"write-two-chunks",
	"write-unused",
};

/* The peer is on the client's machine. A mount would load the module. */
bool client_is_ours()
{
	if (access("/sys/module/xprtrdma", F_OK))
		(void)!system("modprobe -q xprtrdma");
	return !access("/sys/module/xprtrdma", F_OK);
}

/* The server may be another machine, which tests/machine/guest/bin/vm-server asks. */
bool server_is_ours()
{
	return !system("vm-server test -e /sys/module/svcrdma");
}

} /* namespace */

void expect_ours(std::string_view side)
{
	bool ours;

	if (side == "client") {
		static const bool client = client_is_ours();

		ours = client;
	} else {
		static const bool server = server_is_ours();

		ours = server;
	}
	if (!ours)
		throw Skipped("only for our modules");
}

void expect_ours(std::string_view side, std::string_view scenario)
{
	if (std::find(std::begin(with_others), std::end(with_others),
		      scenario) == std::end(with_others))
		expect_ours(side);
}

} /* namespace peer */
