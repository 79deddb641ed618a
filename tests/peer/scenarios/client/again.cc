// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a server reads of a call is the same each time, or the Read fails: RFC 8166 sections 4.4.1
 * and 8.1.3. Memory that was given back has zeros, if the kernel runs with init_on_free=1.
 */
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <map>

#include "proxy/bench.hh"
#include "scenario.hh"
#include "scenarios/client/kerberos.hh"
#include "wire/trace.hh"

namespace peer
{

namespace
{

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds timeo(1000);
constexpr milliseconds all_there(200); /* so long for calls to come */

constexpr u32 wsize = 262144;

struct Flavour {
	const char *name;
	const char *options;
	u32 writers;
	u32 size;

	u32 calls() const
	{
		return writers * size / wsize;
	}
};

/* In pairs that run at a time; of each minor version one, since the client would join mounts of it. */
const Flavour pairs[2][2] = {
	{ { "krb5p, NFSv3", "sec=krb5p,timeo=10,retrans=5,wsize=262144", 8,
	    16 * large },
	  { "krb5i, NFSv4.1",
	    "sec=krb5i,vers=4.1,timeo=10,retrans=5,wsize=262144", 4,
	    4 * large } },
	{ { "krb5i, NFSv3", "sec=krb5i,timeo=10,retrans=5,wsize=262144", 8,
	    16 * large },
	  { "krb5p, NFSv4.2",
	    "sec=krb5p,vers=4.2,timeo=10,retrans=5,wsize=262144", 4,
	    4 * large } },
};

/* What the server does with WRITEs that it has read, besides reading them again */
struct Manner {
	u32 strikes; /* connections that end before it is a good server */
	bool answers; /* when the client has waited long enough */
	bool old_answers; /* on the next connection, to the XIDs of the last */
};

/* The window is 1, and one call gets no answer for a while: calls wait, and go out together. */
enum Gate { OPEN, CLOSING, SHUT, OPENING };

/* This thread goes before all others. */
struct Urgent {
	Urgent()
	{
		set(SCHED_FIFO, 1);
	}
	~Urgent()
	{
		set(SCHED_OTHER, 0);
	}
	static void set(int policy, int priority)
	{
		sched_param param = { .sched_priority = priority };

		sched_setscheduler(0, policy, &param);
	}
};

/* The server's state; but for the atomics only the proxy's thread has it. */
struct Late {
	struct Taken {
		Call call;
		Clock::time_point at;
		bool answered = false;
	};

	Late(const Flavour &flavour, const Manner &manner)
		: flavour(flavour)
		, manner(manner)
	{
	}

	void take(Proxy &proxy, const Call &call);
	void tick(Proxy &proxy);
	bool look(Proxy &proxy, const Taken &taken);
	bool piece(Proxy &proxy, const Call &call, size_t at);
	void read_on(Proxy &proxy);
	void over(Proxy &proxy);

	const Flavour flavour;
	const Manner manner;
	std::optional<Call> gatekeeper;
	std::deque<Taken> taken;
	std::map<u32, Bytes> old; /* replies, by XID */
	u32 turn = 0;
	std::atomic<Gate> gate = OPEN;
	std::atomic<u32> strikes = 0; /* still to come */
	std::atomic<u32> reads = 0; /* that gave the same */
	std::atomic<u32> others = 0;
	std::atomic<u32> longest = 0; /* milliseconds until a Read failed */
};

/* A call that moves as a whole, and has data of a file */
bool sealed_write(const Call &call)
{
	return call.header.read.size() && !call.header.read[0].first &&
	       chunk_length(call.header.read[0].second) > large;
}

void Late::take(Proxy &proxy, const Call &call)
{
	auto reply = old.find(call.xid());

	if (gate == CLOSING) {
		gatekeeper = call;
		gate = SHUT;
		return;
	}
	if (!sealed_write(call) || (!strikes && reply == old.end())) {
		proxy.answer(call);
		return;
	}
	taken.push_back({ call, Clock::now() });
	if (reply == old.end())
		return;
	/* Of a call with another sequence number: nobody takes it for an answer. */
	proxy.reply(call, reply->second);
	taken.back().answered = true;
	old.erase(reply);
}

/* Bytes from here on in one segment. False: the connection is over. */
bool Late::piece(Proxy &proxy, const Call &call, size_t at)
{
	size_t begin = 0;

	for (const rpcrdma_segment &segment : call.header.read[0].second) {
		size_t inside = at - begin;

		begin += segment.length;
		if (at >= begin)
			continue;
		rpcrdma_segment part = segment;

		part.offset += inside;
		part.length =
			u32(rpcrdma::min<size_t>(256, segment.length - inside));
		if (!proxy.wire().rdma_read(proxy.staging(), 0, part))
			return false;
		View got = proxy.staging().view(0, part.length);
		View first = call.rpc.view(at, part.length);

		if (std::equal(got.begin(), got.end(), first.begin()))
			reads++;
		else
			others++;
		return true;
	}
	return true;
}

/* The header with its sequence number, something behind it, the checksum */
bool Late::look(Proxy &proxy, const Taken &taken)
{
	size_t size = taken.call.rpc.size();
	const size_t places[] = { 0, turn * 4096 % size, size - 64 };

	return piece(proxy, taken.call, places[turn % std::size(places)]);
}

void Late::over(Proxy &proxy)
{
	u32 waited = u32((Clock::now() - taken.front().at) / milliseconds(1));

	trace_line("late Reads end after ", waited, " ms");
	if (waited > longest)
		longest = waited;
	taken.clear();
	/* With the calls that came meanwhile */
	proxy.drop();
	if (strikes)
		strikes--;
}

/* Until the client has had enough */
void Late::read_on(Proxy &proxy)
{
	auto end = Clock::now() + milliseconds(50000);
	Urgent urgent;

	for (Taken &one : taken)
		if (manner.old_answers && !one.answered)
			old[one.call.xid()] = proxy.serve(one.call);
	for (; Clock::now() < end; turn++) {
		auto begin = Clock::now();

		for (Taken &one : taken) {
			if (!look(proxy, one)) {
				over(proxy);
				return;
			}
			if (!manner.answers || one.answered ||
			    Clock::now() < one.at + timeo)
				continue;
			proxy.answer(one.call);
			one.answered = true;
		}
		/* What ends the connection needs the processor, too: there are two of us. */
		std::this_thread::sleep_for(std::max<Clock::duration>(
			milliseconds(5), 4 * (Clock::now() - begin)));
	}
	fail("a connection without answers does not end");
}

void Late::tick(Proxy &proxy)
{
	if (gate == OPENING) {
		proxy.credits = 32;
		if (gatekeeper)
			proxy.answer(*gatekeeper);
		gatekeeper.reset();
		gate = OPEN;
	}
	if (taken.size() && (taken.size() == flavour.calls() ||
			     Clock::now() > taken.front().at + all_there))
		read_on(proxy);
}

/* ---- */

void wait_until(std::function<bool()> done, const char *what)
{
	for (u32 i = 0; i < 6000 && !done(); i++)
		usleep(10000);
	check(done(), what);
}

/* All WRITEs are sent in the same instant: see Gate. */
void write_all(Bench &bench, std::shared_ptr<Late> late, const Folder &folder,
	       u32 round)
{
	auto opened = std::make_shared<std::atomic<u32>>(0);
	auto go = std::make_shared<std::atomic<bool>>(false);
	std::vector<Work> work;
	const Flavour flavour = late->flavour;
	struct stat stat;

	for (u32 i = 0; i < flavour.writers; i++)
		work.emplace_back([=, path = text(folder.here, "/", round, "-",
						  i)] {
			return write_file(
				path,
				Bytes::pattern(flavour.size,
					       round * flavour.writers + i),
				[=] {
					++*opened;
					for (u32 n = 0; n < 12000 && !*go; n++)
						usleep(10000);
				});
		});
	wait_until([=] { return *opened == flavour.writers; },
		   "files do not open");
	bench.proxy.credits = 1;
	::stat(folder.here.c_str(), &stat);
	late->gate = CLOSING;
	work.emplace_back([path = folder.here] {
		struct stat stat;

		return ::stat(path.c_str(), &stat) ? errno : 0;
	});
	wait_until([=] { return late->gate == SHUT; }, "no call to hold");
	late->strikes = late->manner.strikes;
	*go = true;
	usleep(300000);
	late->gate = OPENING;
	for (Work &one : work) {
		int error = one.result(180);

		check(!error, "I/O: ", strerror(error));
	}
}

void compare_all(const Flavour &flavour, const Folder &folder, u32 round)
{
	for (u32 i = 0; i < flavour.writers; i++) {
		Bytes data;
		int error = read_file(text(folder.there, "/", round, "-", i),
				      flavour.size, &data);

		check(!error, "the file on the server: ", strerror(error));
		check(data == Bytes::pattern(flavour.size,
					     round * flavour.writers + i),
		      "the file on the server has wrong data");
	}
}

/* A mount, with its security contexts: what is hostile comes later. */
struct Patient {
	Patient(const Flavour &flavour, const Manner &manner)
		: late(std::make_shared<Late>(flavour, manner))
		, bench(Proxy::default_options(), flavour.options)
		, folder(bench.mount)
	{
		struct stat stat;

		/* For this user the kernel asks gssd once more. */
		check(!::stat(folder.here.c_str(), &stat),
		      "no folder on the mount: ", strerror(errno));
	}

	void expect_late(u32 rounds);
	bool enough(u32 rounds) const;

	std::shared_ptr<Late> late;
	Bench bench;
	Folder folder;
};

/* Each call is read at each place at least once, in each round, and the client has patience. */
bool Patient::enough(u32 rounds) const
{
	return late->reads >= rounds * late->flavour.calls() * 3 &&
	       (late->manner.answers ||
		milliseconds(late->longest.load()) >= timeo / 2);
}

/* On a busy machine the client's timer has run for a while before the server is there: once more. */
void Patient::expect_late(u32 rounds)
{
	constexpr u32 more = 4;
	const Flavour &flavour = late->flavour;
	std::shared_ptr<Late> late = this->late;

	bench.proxy.impatient = true;
	bench.proxy.on_connect([late](Proxy &) {
		late->gatekeeper.reset();
		late->taken.clear();
	});
	bench.proxy.on_call([late](Proxy &proxy, const Call &call) {
		late->take(proxy, call);
	});
	bench.proxy.on_tick([late](Proxy &proxy) { late->tick(proxy); });
	for (u32 round = 0;
	     round < rounds || (!enough(rounds) && round < rounds + more);
	     round++) {
		write_all(bench, late, folder, round);
		compare_all(flavour, folder, round);
		/* An answer that comes just in time is one. */
		if (!late->manner.answers)
			check_equal(late->strikes.load(), 0u,
				    "strikes to come");
	}
	bench.proxy.check_thread();
	check_equal(late->others.load(), 0u, "late Reads of something else");
	check(enough(rounds), "only ", late->reads.load(),
	      " late Reads, and the client waited for ", late->longest.load(),
	      " ms");
}

/* Return: what went wrong, or nothing */
std::string expect_pair(const Flavour (&pair)[2], const Manner &manner,
			u32 rounds)
{
	std::deque<Patient> patients;
	std::vector<std::future<void>> all;
	std::string errors;

	for (const Flavour &flavour : pair)
		patients.emplace_back(flavour, manner);
	SecurityEvents events;

	for (Patient &patient : patients)
		all.push_back(std::async(std::launch::async,
					 &Patient::expect_late, &patient,
					 rounds));
	for (size_t i = 0; i < all.size(); i++)
		try {
			all[i].get();
		} catch (const std::exception &error) {
			errors += text(pair[i].name, ": ", error.what(), "; ");
		}
	if (!errors.empty())
		errors += text("security events since both were mounted: ",
			       events.counts(), "; ");
	return errors;
}

/*
 * Two flavours at a time: they wait most of the time, but what reads late goes before all others.
 * First come both mounts: gssd and svcgssd have seconds for a security context.
 */
void expect_each(const Manner &manner, u32 rounds)
{
	std::string errors;

	kerberos();
	for (const auto &pair : pairs)
		errors += expect_pair(pair, manner, rounds);
	check(errors.empty(), errors);
}

/* It answers others, but not these, and reads until the connection ends. */
void hostile()
{
	expect_each({ 1, false, false }, 3);
}

void slow()
{
	expect_each({ 1, true, false }, 2);
}

/* Nobody gets an answer, on one connection after the other. */
void stopped()
{
	expect_each({ 2, false, false }, 1);
}

void old_replies()
{
	expect_each({ 2, false, true }, 1);
}

const Scenario table[] = {
	{ "c-again-hostile", "client", "8166-70",
	  "late Reads give what the first gave, or fail", hostile },
	{ "c-again-slow", "client", "8166-70", "the same, and I/O goes on",
	  slow },
	{ "c-again-stopped", "client", "8166-70",
	  "the same, on one connection after the other", stopped },
	{ "c-again-old-replies", "client", "8166-70",
	  "the same after replies to the calls before", old_replies },
};

} /* namespace */

Table client_again_table()
{
	return table;
}

} /* namespace peer */
