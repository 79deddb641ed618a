// SPDX-License-Identifier: GPL-2.0-only
/* Ends a scenario early: with a sentence that says what was wrong. */
#ifndef PEER_FAILURE_HH
#define PEER_FAILURE_HH

#include <sstream>
#include <stdexcept>
#include <string>

namespace peer
{

struct Failed : std::runtime_error {
	using std::runtime_error::runtime_error;
};

/* The provider cannot do what the scenario needs. */
struct Skipped : std::runtime_error {
	using std::runtime_error::runtime_error;
};

template <typename... Parts> std::string text(const Parts &...parts)
{
	std::ostringstream out;

	(out << ... << parts);
	return out.str();
}

template <typename... Parts> [[noreturn]] void fail(const Parts &...parts)
{
	throw Failed(text(parts...));
}

template <typename... Parts> void check(bool good, const Parts &...parts)
{
	if (!good)
		fail(parts...);
}

/* For values: says both. */
template <typename T, typename U>
void check_equal(const T &got, const U &wanted, const char *what)
{
	if (!(got == T(wanted)))
		fail(what, " is ", got, ", not ", T(wanted));
}

} /* namespace peer */

#endif /* PEER_FAILURE_HH */
