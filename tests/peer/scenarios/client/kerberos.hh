// SPDX-License-Identifier: GPL-2.0-only
/* Sets up Kerberos for scenarios over mounts with RPCSEC_GSS. */
#ifndef PEER_KERBEROS_HH
#define PEER_KERBEROS_HH

#include <sys/stat.h>

#include <cstdlib>
#include <deque>
#include <filesystem>
#include <map>
#include <regex>

#include "failure.hh"
#include "proxy/mount.hh"
#include "traced.hh"

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

/*
 * What the kernel says of security contexts, and of calls and replies that RPCSEC_GSS rejects, for
 * as long as this lives. "Permission denied" has many reasons, and they are on both sides.
 */
class SecurityEvents {
    public:
	SecurityEvents()
	{
		for (const char *event : { "rpcgss/rpcgss_upcall_result",
					   "rpcgss/rpcgss_ctx_init",
					   "rpcgss/rpcgss_verify_mic",
					   "rpcgss/rpcgss_unwrap_failed",
					   "rpcgss/rpcgss_bad_seqno",
					   "rpcgss/rpcgss_svc_accept_upcall",
					   "rpcgss/rpcgss_svc_mic",
					   "rpcgss/rpcgss_svc_unwrap",
					   "rpcgss/rpcgss_svc_unwrap_failed",
					   "rpcgss/rpcgss_svc_seqno_bad",
					   "rpcgss/rpcgss_svc_seqno_low",
					   "sunrpc/rpc_bad_verifier",
					   "sunrpc/rpc__stale_creds",
					   "sunrpc/rpc__bad_creds",
					   "sunrpc/rpc__garbage_args",
					   "sunrpc/rpc_retry_refresh_status",
					   "sunrpc/rpc_refresh_status",
					   "sunrpc/rpc_call_rpcerror",
					   "sunrpc/cache_entry_expired",
					   "sunrpc/cache_entry_upcall",
					   "sunrpc/cache_entry_make_negative",
					   "sunrpc/svc_drop" })
			events_.emplace_back(event);
	}

	/* Each kind of event with its status, and how often it was */
	std::string counts() const
	{
		static const std::regex pattern(
			R"(: (\w+): (?:.*?\b((?:result|status|error|cache|maj_stat|GSS_S_)\w*=?-?\w+))?)");
		std::istringstream lines(Traced::lines());
		std::map<std::string, u32> counts;
		std::string out;

		for (std::string line; std::getline(lines, line);) {
			std::smatch match;

			if (std::regex_search(line, match, pattern))
				counts[text(match[1], " ", match[2])]++;
		}
		for (const auto &[event, count] : counts)
			out += text(out.empty() ? "" : ", ", event, " x",
				    count);
		return out;
	}

    private:
	std::deque<Traced> events_;
};

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
