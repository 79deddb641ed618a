// SPDX-License-Identifier: GPL-2.0
/* For scenarios over mounts with RPCSEC_GSS */
#ifndef PEER_KERBEROS_HH
#define PEER_KERBEROS_HH

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "failure.hh"
#include "proxy/mount.hh"

namespace peer
{

/* From here on there is Kerberos, to the end of the run. */
inline void kerberos()
{
	std::string script = text(getenv("TOP"), "/tests/guest/krb5");

	for (const char *side : { "server", "client" })
		check(!run_program({ script, side }, 60),
		      "no Kerberos for the ", side);
	/* What answers RDMA Reads has to be as fast as who asks. */
	run_program({ "sh", "-c", "chrt -f -p 1 $(pgrep siw_tx)" }, 10);
}

/* A folder that anybody may write to, seen by the server and by a mount */
struct Folder {
	explicit Folder(const Mount &mount)
		: name("again-" + mount.directory().substr(5))
		, there(text(getenv("EXPORT"), "/", name))
		, here(mount.path(name))
	{
		mkdir(there.c_str(), 0777);
		chmod(there.c_str(), 0777);
	}
	~Folder()
	{
		std::error_code error;

		std::filesystem::remove_all(there, error);
	}

	const std::string name, there, here;
};

} /* namespace peer */

#endif /* PEER_KERBEROS_HH */
