// SPDX-License-Identifier: GPL-2.0-only
/* Sets a knob of the administrator while a scenario runs. */
#ifndef PEER_KNOB_HH
#define PEER_KNOB_HH

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "wire/bytes.hh"
#include "failure.hh"

namespace peer
{

/* A knob of /proc/sys/sunrpc, put back at the end */
class Knob {
    public:
	Knob(const char *name, u32 value)
		: path_(text("/proc/sys/sunrpc/", name))
	{
		/* Ours or not, a mount would load it. */
		if (access(path_.c_str(), F_OK))
			(void)!system("modprobe xprtrdma");
		std::ifstream(path_) >> old_;
		set(value);
	}
	~Knob()
	{
		std::ofstream(path_) << old_ << std::endl;
	}
	void set(u32 value)
	{
		std::ofstream file(path_);

		file << value << std::endl;
		check(file.good(), "cannot set ", path_);
	}

    private:
	std::string path_;
	u32 old_ = 0;
};

} /* namespace peer */

#endif /* PEER_KNOB_HH */
