// SPDX-License-Identifier: GPL-2.0-only
/* A mount of this machine's own client through a proxy, and work on it. */
#ifndef PEER_MOUNT_HH
#define PEER_MOUNT_HH

#include <sys/types.h>

#include <functional>
#include <future>
#include <string>

#include "wire/bytes.hh"
#include "proxy/proxy.hh"

namespace peer
{

/* Work in a thread of its own, which is left behind when it takes too long */
class Work {
    public:
	explicit Work(std::function<int()> work);
	/*
	 * What it returned, 0 or an errno; throws after @seconds in which fewer than a hundred
	 * messages have come to any end in this process.
	 */
	int result(double seconds);
	bool ready();

    private:
	std::future<int> future_;
};

class Mount {
    public:
	/* NFSv3, over RDMA, to @port; throws when it cannot be mounted. */
	explicit Mount(u16 port, const std::string &options = "");
	~Mount();
	Mount(const Mount &) = delete;
	Mount &operator=(const Mount &) = delete;

	std::string path(const std::string &name) const
	{
		return directory_ + "/" + name;
	}

	/* Writes, reads and compares; throws after @seconds. */
	void expect_works(double seconds = 20);
	/* The path of a file with Bytes::pattern(size, size) */
	std::string file(u32 size);
	const std::string &directory() const
	{
		return directory_;
	}
	/* The n-th value of the line "xprt: rdma" in mountstats */
	u64 statistic(u32 n) const;

    private:
	std::string directory_;
	std::string options_;
};

/*
 * On a mount these go to the server, past the page cache. Returned: 0 or errno. Paths are
 * copied, as a thread that hangs outlives its scenario. @opened is called before the write.
 */
int write_file(const std::string &path, const Bytes &data,
	       const std::function<void()> &opened = {});
int read_file(const std::string &path, u32 size, Bytes *data = nullptr);
int list_directory(const std::string &path, u32 *entries = nullptr);

/* Its exit status, -1 for a signal; throws when it takes longer. */
int run_program(const std::vector<std::string> &arguments, double seconds);
/* The same in two steps */
pid_t start_program(const std::vector<std::string> &arguments);
int wait_program(pid_t pid, double seconds);

} /* namespace peer */

#endif /* PEER_MOUNT_HH */
