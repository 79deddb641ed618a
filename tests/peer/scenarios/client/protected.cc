// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our client under RPCSEC_GSS. With integrity or privacy the arguments and results are one opaque
 * item, no part of which may move by itself: RFC 8166 section 8.2.2. The same work with krb5 shows
 * that there are data to move.
 */
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "proxy/bench.hh"
#include "scenario.hh"
#include "scenarios/client/kerberos.hh"

namespace peer
{

namespace
{

constexpr u32 rpcsec_gss = 6;
constexpr u32 entries = 400; /* of a folder: several pages */

/* rpc_gss_svc_t of RFC 2203 section 5.3.1 */
enum Service { NONE = 1, INTEGRITY, PRIVACY };

/* Of the credential of a call that carries data, or 0 */
u32 service_of(const Call &call)
{
	ReplyReader reader(call.rpc);

	reader.skip(24);
	if (reader.read_u32() != rpcsec_gss)
		return 0;
	reader.skip(8); /* length, version */
	if (reader.read_u32()) /* a context is made or ends */
		return 0;
	reader.skip(4);
	u32 service = reader.read_u32();

	return reader.failed() ? 0 : service;
}

/*
 * What the server sees. NFSv4 has all under the number of COMPOUND, and keeps its lease with
 * integrity whatever the mount has.
 */
struct Seen {
	explicit Seen(u32 service)
		: service(service)
	{
	}
	void take(const Call &call);

	const u32 service;
	std::array<std::atomic<u32>, 32> calls = {}; /* by procedure */
	std::array<std::atomic<u32>, 32> reduced = {};
	std::atomic<u32> whole = 0; /* that are a Position Zero chunk */
	std::atomic<u32> reply_chunks = 0;
	std::atomic<u32> weaker = 0; /* with no service, or less of one */
	int error = 0; /* of the work */
};

void Seen::take(const Call &call)
{
	u32 procedure = call.rpc.word_at(20) % u32(calls.size());
	u32 got = service_of(call);
	bool item = call.header.write.size();

	if (call.program() != NFS_PROGRAM || !procedure)
		return;
	if (got != service && got != INTEGRITY) {
		weaker++;
		return;
	}
	for (const auto &[position, chunk] : call.header.read)
		item |= position != 0;
	calls[procedure] += got == service;
	reduced[procedure] += item;
	whole += call.header.read.size() && !call.header.read[0].first;
	reply_chunks += call.header.reply.has_value();
}

bool is_v4(const std::string &options)
{
	return options.find("vers=4") != std::string::npos;
}

/*
 * More than a message has room for, with what is around it. Over NFSv4 and krb5p, and TCP as well,
 * 6.12 makes no link to a longer one.
 */
size_t target_length(const std::string &options, u32 service)
{
	return is_v4(options) && service == PRIVACY ? 3800 : 4000;
}

/* WRITE, READ, SYMLINK, READLINK, READDIR, each of more than a message has room for */
int work_in(const std::string &folder, size_t length)
{
	std::string file = folder + "/file", link = folder + "/link";
	std::string target(length, 'x'), text(4097, ' ');
	Bytes data = Bytes::pattern(large, 35), got;
	u32 count = 0;
	int error = write_file(file, data);

	if (!error)
		error = read_file(file, large, &got);
	if (!error && !(got == data))
		error = EILSEQ;
	if (!error && symlink(target.c_str(), link.c_str()))
		error = errno;
	if (error)
		return error;
	ssize_t n = readlink(link.c_str(), text.data(), text.size());
	if (n < 0)
		return errno;
	text.resize(size_t(n));
	error = list_directory(folder, &count);
	if (error)
		return error;
	/* With itself, the one above, the file and the link */
	return text == target && count == entries + 4 ? 0 : EILSEQ;
}

/* Returns when the work is done; what was seen counts from the mount on. */
std::shared_ptr<Seen> see(const std::string &options, u32 service)
{
	auto seen = std::make_shared<Seen>(service);
	Bench bench(Proxy::default_options(), options);
	Folder folder(bench.mount);

	for (u32 i = 0; i < entries; i++)
		std::ofstream(text(folder.there, "/", std::string(60, 'n'), i));
	bench.proxy.on_call([seen](Proxy &proxy, const Call &call) {
		seen->take(call);
		proxy.answer(call);
	});
	Work work(
		[here = folder.here, length = target_length(options, service)] {
			return work_in(here, length);
		});
	seen->error = work.result(60);
	if (!seen->error)
		bench.expect_same_connection();
	return seen;
}

void expect_done(const std::string &options, const Seen &seen)
{
	check(!seen.weaker, options, ": ", seen.weaker.load(),
	      " calls with less than that");
	check(!seen.error, options, ": ", strerror(seen.error));
}

const u32 items[] = { NFS3_READ, NFS3_WRITE, NFS3_SYMLINK };

void expect_none_reduced(const std::string &options, u32 service)
{
	auto seen = see(options, service);

	for (size_t i = 0; i < seen->calls.size(); i++)
		check(!seen->reduced[i], options, ": ", seen->reduced[i],
		      " of ", seen->calls[i], " calls of procedure ", i,
		      " are reduced");
	expect_done(options, *seen);
	if (!is_v4(options)) {
		for (u32 procedure : items)
			check(seen->calls[procedure], options,
			      ": no call of procedure ", procedure);
		check(seen->calls[NFS3_READDIR] + seen->calls[NFS3_READDIRPLUS],
		      options, ": no READDIR");
	}
	/* WRITE and SYMLINK; READ, READDIR and READLINK */
	check(seen->whole >= 2, options, ": only ", seen->whole.load(),
	      " calls move as a whole");
	check(seen->reply_chunks >= 3, options, ": only ",
	      seen->reply_chunks.load(), " calls with a Reply chunk");
}

/* krb5 protects the header alone. */
void expect_items_reduced()
{
	auto seen = see("sec=krb5", NONE);

	expect_done("sec=krb5", *seen);
	for (u32 procedure : items)
		check(seen->reduced[procedure], "krb5: no call of procedure ",
		      procedure, " is reduced");
}

void reduction()
{
	kerberos();
	expect_items_reduced();
	expect_none_reduced("sec=krb5i", INTEGRITY);
	expect_none_reduced("sec=krb5p", PRIVACY);
	expect_none_reduced("sec=krb5i,vers=4.1", INTEGRITY);
	expect_none_reduced("sec=krb5p,vers=4.2", PRIVACY);
}

const Scenario table[] = {
	{ "c-protected", "client", "8166-35",
	  "nothing is reduced under krb5i and krb5p", reduction },
};

} /* namespace */

Table client_protected_table()
{
	return table;
}

} /* namespace peer */
