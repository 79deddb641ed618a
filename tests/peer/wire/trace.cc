// SPDX-License-Identifier: GPL-2.0-only
/* See trace.hh. */
#include "wire/trace.hh"

#include <chrono>
#include <cstdio>
#include <deque>
#include <iomanip>
#include <mutex>

#include "wire/message.hh"

namespace peer
{

namespace
{

constexpr size_t lines_kept = 60;

struct State {
	std::mutex lock;
	bool show = false;
	bool enabled = true;
	std::deque<std::string> lines;
	std::chrono::steady_clock::time_point begin;
};

State &state()
{
	static State the;

	return the;
}

} /* namespace */

void trace_start(bool show, bool enabled)
{
	std::lock_guard guard(state().lock);

	state().show = show;
	state().enabled = enabled || show;
	state().lines.clear();
	state().begin = std::chrono::steady_clock::now();
}

bool trace_enabled()
{
	return state().enabled;
}

void trace_add(const std::string &line)
{
	std::lock_guard guard(state().lock);
	std::chrono::duration<double> since =
		std::chrono::steady_clock::now() - state().begin;
	std::ostringstream out;

	out << std::fixed << std::setprecision(3) << std::setw(8)
	    << since.count() << "  " << line;
	if (state().show)
		printf("  %s\n", out.str().c_str());
	state().lines.push_back(out.str());
	if (state().lines.size() > lines_kept)
		state().lines.pop_front();
}

std::string trace_take()
{
	std::lock_guard guard(state().lock);
	std::string all;

	if (!state().show)
		for (const std::string &line : state().lines)
			all += "  " + line + "\n";
	state().lines.clear();
	return all;
}

std::string hex(View bytes, size_t limit)
{
	std::ostringstream out;

	out << std::hex << std::setfill('0');
	for (size_t i = 0; i < bytes.size() && i < limit; i++)
		out << (i && i % 4 == 0 ? " " : "") << std::setw(2)
		    << unsigned(bytes.data()[i]);
	if (bytes.size() > limit)
		out << " ...";
	return out.str();
}

void trace_bytes(const char *what, View bytes)
{
	trace_line(what, " ", bytes.size(), " bytes ", hex(bytes));
}

static void describe_segments(std::ostringstream &out, const Chunk &chunk)
{
	out << "[";
	for (const rpcrdma_segment &segment : chunk)
		out << (&segment == &chunk[0] ? "" : " ") << std::hex
		    << segment.handle << std::dec << ":" << segment.length;
	out << "]";
}

static const char *proc_name(u32 proc)
{
	static const char *const names[] = { "MSG", "NOMSG", "MSGP", "DONE",
					     "ERROR" };

	return proc < 5 ? names[proc] : "proc?";
}

static std::string describe(const Decoded &message)
{
	std::ostringstream out;
	const rpcrdma_header &header = message.header;

	out << "xid " << std::hex << header.xid << std::dec << " vers "
	    << header.vers << " credit " << header.credits << " "
	    << proc_name(header.proc);
	if (header.proc == RPCRDMA_ERROR)
		out << " err " << header.error;
	for (const auto &[position, chunk] : message.read) {
		out << " read@" << position;
		describe_segments(out, chunk);
	}
	for (const Chunk &chunk : message.write) {
		out << " write";
		describe_segments(out, chunk);
	}
	if (message.reply) {
		out << " reply";
		describe_segments(out, *message.reply);
	}
	return out.str();
}

void trace_message(const char *direction, View bytes)
{
	if (!trace_enabled())
		return;
	Decoded message = decode(bytes);
	std::string what = describe(message);

	if (message.status == RPCRDMA_OK && message.header.size < bytes.size())
		what += text(
			" + ", bytes.size() - message.header.size, " ",
			hex(bytes.subspan(message.header.size,
					  bytes.size() - message.header.size),
			    32));
	else if (message.status != RPCRDMA_OK)
		what += text(" (status ", message.status, ") ", hex(bytes));
	trace_add(text(direction, " ", bytes.size(), " bytes ", what));
}

} /* namespace peer */
