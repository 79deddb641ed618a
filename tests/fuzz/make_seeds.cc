// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the seeds of tests/fuzz/corpus: make -C tests/fuzz seeds. The seeds are small, and in git;
 * this program shows how they were made.
 */
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/messages.hh"

static std::filesystem::path corpus;

static void write_seed(const char *target, const std::string &name,
		       const Bytes &bytes)
{
	std::filesystem::create_directories(corpus / target);
	std::ofstream file(corpus / target / name, std::ios::binary);

	file.write(reinterpret_cast<const char *>(bytes.data()),
		   long(bytes.size()));
}

static void header_seeds()
{
	for (const Message &message : good_messages())
		write_seed("fuzz_header", message.name, message.bytes());
	write_seed(
		"fuzz_header", "write_count_max",
		hex("00000001 00000001 00000010 00000000 00000000 00000001 ffffffff"));
}

static void cm_private_seeds()
{
	write_seed("fuzz_cm_private", "block", hex("f6ab0e18 01 01 03 0f"));
	write_seed("fuzz_cm_private", "odd_offset",
		   hex("4d5041 f6ab0e18 01 00 00 ff 00"));
	write_seed("fuzz_cm_private", "version_2", hex("f6ab0e18 02 01 03 0f"));
	write_seed("fuzz_cm_private", "cut", hex("00 f6ab0e18 01 01 03"));
}

static void window_seeds()
{
	write_seed("fuzz_window", "grow", hex("20 00 02 10 3c 02 20 ff"));
	write_seed("fuzz_window", "shrink",
		   hex("80 00 02 80 ff ff 02 01 00 02 00 00"));
	write_seed("fuzz_window", "untake", hex("04 00 01 02 04 0c 04 0c"));
	write_seed("fuzz_window", "large_grant",
		   hex("ff ffffffff 00 02 ff ffffffff ff"));
}

static void config_seeds()
{
	write_seed("fuzz_config", "call",
		   hex(R"(c0ffee01 00000000 00000002 00018841
		00000001 00000001 00000000 00000000 00000000 00000000
		00001000 00002000 00000010)"));
	write_seed("fuzz_config", "call_auth_sys",
		   hex(R"(c0ffee01 00000000 00000002
		00018841 00000001 00000000 00000001 00000004 00000000
		00000000 00000000)"));
	write_seed("fuzz_config", "reply", hex(R"(c0ffee01 00000001 00000000
		00000000 00000000 00000000 00000800 00000004 00000008)"));
}

/* target number, then words in the order of fuzz_plan.cc */
static void plan_seeds()
{
	write_seed("fuzz_plan", "call_write", hex(R"(00
		00002100 000000a0 00002000 00000100 00000000 00001000 00001000
		01 03 00 02 01)"));
	write_seed("fuzz_plan", "call_read", hex(R"(00
		000000c0 00000000 00000000 00002080 00002000 00001000 00001000
		00 01 01 02 01)"));
	write_seed("fuzz_plan", "call_gss", hex(R"(00
		00002100 000000a0 00002000 00002080 00002000 00000400 00000400
		01 10 10 10 00)"));
	write_seed("fuzz_plan", "reply",
		   hex("01 0000001c 00001000 00001000 00002000 01"));
	write_seed(
		"fuzz_plan", "client",
		hex("02 00001000 00008000 00000200 1e 00000080 00000010 00000101"));
	write_seed("fuzz_plan", "server",
		   hex("03 00001000 00008000 00000040 00000010 00000002"));
}

static void history_seeds()
{
	write_seed("fuzz_history", "large_and_back", hex("08 f8 00 00 00 08"));
	write_seed("fuzz_history", "shared", hex("08 04 0c 00 00 09 01"));
}

/* requested, then events of enum rpcrdma_conn_event, 07 a call, 08 a reply */
static void connection_seeds()
{
	write_seed("fuzz_connection", "client",
		   hex("20 00 01 02 04 0700 0700 0810 0700 05 06 00"));
	write_seed("fuzz_connection", "server",
		   hex("20 03 04 0700 0804 0700 05 06"));
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		std::fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
		return 2;
	}
	corpus = argv[1];
	header_seeds();
	cm_private_seeds();
	config_seeds();
	window_seeds();
	plan_seeds();
	history_seeds();
	connection_seeds();
	return 0;
}
