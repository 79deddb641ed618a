// SPDX-License-Identifier: GPL-2.0-only
/* See mount.hh. */
#include "proxy/mount.hh"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <memory>

#include "failure.hh"
#include "nfs/session.hh"
#include "wire/trace.hh"

extern char **environ;

namespace peer
{

/* ---- work that may hang ---- */

Work::Work(std::function<int()> work)
{
	std::packaged_task<int()> task(std::move(work));

	future_ = task.get_future();
	std::thread(std::move(task)).detach();
}

bool Work::ready()
{
	return future_.wait_for(std::chrono::seconds(0)) ==
	       std::future_status::ready;
}

/*
 * A slow machine takes ten times as long, but goes on; one that stands still has 50 seconds. That
 * is less than timeo, after which SUNRPC sends again, and nobody would see that a call was lost.
 */
int Work::result(double seconds)
{
	seconds = std::max(seconds, 50.0);
	auto limit = std::chrono::duration<double>(seconds);

	for (int i = 0; i < 10; i++) {
		u64 before = messages_received();

		if (future_.wait_for(limit) == std::future_status::ready)
			return future_.get();
		if (messages_received() < before + 100)
			break;
	}
	fail("I/O on the mount hangs for ", seconds, " s");
}

pid_t start_program(const std::vector<std::string> &arguments)
{
	std::vector<char *> words;
	pid_t pid;

	for (const std::string &argument : arguments)
		words.push_back(const_cast<char *>(argument.c_str()));
	words.push_back(nullptr);
	if (posix_spawnp(&pid, words[0], nullptr, nullptr, words.data(),
			 environ))
		fail("cannot run ", arguments[0]);
	return pid;
}

int wait_program(pid_t pid, double seconds)
{
	int status = 0;

	for (; seconds > 0; seconds -= 0.01) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		usleep(10000);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, WNOHANG);
	fail("a program does not come to its end");
}

int run_program(const std::vector<std::string> &arguments, double seconds)
{
	return wait_program(start_program(arguments), seconds);
}

/* ---- the mount ---- */

Mount::Mount(u16 port, const std::string &options)
	: directory_(text("/tmp/peer-", port))
{
	mkdir(directory_.c_str(), 0755);
	bool v4 = options.find("vers=4") != std::string::npos;
	options_ = text(v4 ? "" : "vers=3,nolock,",
			"noac,proto=rdma,port=", port,
			options.empty() ? "" : ",", options);
	/* Kerberos knows the server by its name. */
	std::string server = options.find("sec=krb5") == std::string::npos ?
				     the_server().address :
				     "server";
	trace_line("mount ", options_);
	if (run_program({ "mount.nfs", server + (v4 ? ":/" : ":/export"),
			  directory_, "-o", options_ },
			40))
		fail("cannot mount with ", options_);
}

/*
 * A mount of NFSv4.1 that stays would be found by the next one, as another way to the same server, and
 * be waited for. Who had a file open may have it for a moment more.
 */
Mount::~Mount()
{
	try {
		for (int i = 0; i < 50; i++) {
			if (!run_program({ "umount", directory_ }, 20))
				return;
			usleep(100000);
		}
	} catch (const Failed &) {
	}
	trace_line("umount ", directory_, " by force");
	try {
		run_program({ "umount", "-f", "-l", directory_ }, 20);
	} catch (const Failed &) {
	}
}

/* ---- calls ---- */

struct Aligned {
	explicit Aligned(size_t size)
		: data(static_cast<u8 *>(aligned_alloc(
			       4096, (size + 4095) / 4096 * 4096)),
		       free)
	{
	}
	std::unique_ptr<u8, void (*)(void *)> data;
};

int write_file(const std::string &path, const Bytes &data,
	       const std::function<void()> &opened)
{
	Aligned buffer(data.size());
	int error = 0;
	int fd = open(path.c_str(), O_CREAT | O_RDWR | O_DIRECT, 0644);

	if (fd < 0)
		return errno;
	memcpy(buffer.data.get(), data.data(), data.size());
	if (opened)
		opened();
	ssize_t n = pwrite(fd, buffer.data.get(), data.size(), 0);
	if (n != ssize_t(data.size()))
		error = n < 0 ? errno : EIO;
	if (close(fd) && !error)
		error = errno;
	return error;
}

int read_file(const std::string &path, u32 size, Bytes *data)
{
	Aligned buffer(size);
	int fd = open(path.c_str(), O_RDONLY | O_DIRECT);
	int error = 0;

	if (fd < 0)
		return errno;
	ssize_t n = pread(fd, buffer.data.get(), size, 0);
	if (n < 0)
		error = errno;
	else if (data)
		*data = Bytes(View(buffer.data.get(), size_t(n)));
	close(fd);
	return error;
}

int list_directory(const std::string &path, u32 *entries)
{
	DIR *directory = opendir(path.c_str());
	u32 count = 0;

	if (!directory)
		return errno;
	errno = 0;
	while (readdir(directory))
		count++;
	int error = errno;
	closedir(directory);
	if (entries)
		*entries = count;
	return error;
}

static int write_read_compare(const std::string &path, const Bytes &data)
{
	Bytes got;
	int error = write_file(path, data);

	if (!error)
		error = read_file(path, u32(data.size()), &got);
	if (!error && !(got == data))
		error = EILSEQ;
	if (!error && unlink(path.c_str()))
		error = errno;
	return error;
}

/* One call of each kind: inline both ways, Read chunk, Write chunk, Reply chunk */
static int probe(const std::string &directory)
{
	static std::atomic<u32> number;
	u32 seed = ++number;
	std::string path = text(directory, "/probe-", seed);
	int error = 0;

	for (u32 size : { 512u, 65536u })
		if (!error)
			error = write_read_compare(
				path, Bytes::pattern(size, seed + size));
	return error ? error : list_directory(directory);
}

void Mount::expect_works(double seconds)
{
	Work work([directory = directory_] { return probe(directory); });
	int error = work.result(seconds);

	check(!error, "I/O on the mount: ", strerror(error));
}

std::string Mount::file(u32 size)
{
	std::string name = path(text("file-", size));
	Work work([name, size] {
		return write_file(name, Bytes::pattern(size, size));
	});
	int error = work.result(20);

	check(!error, "cannot write a file: ", strerror(error));
	return name;
}

u64 Mount::statistic(u32 n) const
{
	std::ifstream stats("/proc/self/mountstats");
	std::string line;
	bool ours = false;

	while (std::getline(stats, line)) {
		if (line.rfind("device ", 0) == 0)
			ours = line.find(" " + directory_ + " ") !=
			       std::string::npos;
		size_t at = line.find("xprt:\trdma ");

		if (!ours || at == std::string::npos)
			continue;
		std::istringstream values(line.substr(at + 11));
		u64 value = 0;

		while (n-- && values >> value)
			;
		return value;
	}
	fail("no line xprt: rdma in mountstats");
}

} /* namespace peer */
