/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the text of the statistics files into a buffer, and splits it into names and values. */
#ifndef KUNIT_FAKE_LINES_H
#define KUNIT_FAKE_LINES_H

#include <kunit/test.h>
#include <linux/ctype.h>
#include <linux/seq_file.h>

#include <common/statistics.h>

enum { LINES_SIZE = 8192 };

/**
 * struct lines - a file, as it was read
 * @seq: what it is printed to
 * @text: the same
 */
struct lines {
	struct seq_file	seq;
	char		text[LINES_SIZE];
};

static inline struct lines *lines_create(struct kunit *test)
{
	struct lines *lines = kunit_kzalloc(test, sizeof(*lines), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, lines);
	mutex_init(&lines->seq.lock);
	lines->seq.buf = lines->text;
	lines->seq.size = sizeof(lines->text);
	return lines;
}

/* The block of the entry @number */
static inline struct lines *lines_of_block(struct kunit *test,
					   struct rpcrdma_connections *connections, u64 number)
{
	struct lines *lines = lines_create(test);
	loff_t pos = number;
	void *entry;

	lines->seq.private = connections;
	entry = rpcrdma_connections_sops.start(&lines->seq, &pos);
	if (entry)
		rpcrdma_connections_sops.show(&lines->seq, entry);
	rpcrdma_connections_sops.stop(&lines->seq, entry);
	KUNIT_ASSERT_NOT_NULL(test, entry);
	return lines;
}

/* The file of the first network namespace */
static inline struct lines *lines_of_totals(struct kunit *test,
					    struct rpcrdma_connections *connections)
{
	struct lines *lines = lines_create(test);

	rpcrdma_show_totals(connections, &lines->seq, &init_net);
	return lines;
}

/* The value of a line, up to its end; NULL: there is no such line. */
static inline const char *lines_value(const struct lines *lines, const char *name)
{
	size_t length = strlen(name);
	const char *line = lines->text;

	while (line && *line) {
		if (!strncmp(line, name, length) && line[length] == ' ')
			return line + length + 1;
		line = strchr(line, '\n');
		if (line)
			line++;
	}
	return NULL;
}

static inline u64 lines_number(const struct lines *lines, const char *name)
{
	const char *value = lines_value(lines, name);

	return value ? simple_strtoull(value, NULL, 10) : 0;
}

static inline bool lines_has(const struct lines *lines, const char *name, const char *value)
{
	const char *found = lines_value(lines, name);

	return found && !strncmp(found, value, strlen(value)) && found[strlen(value)] == '\n';
}

/* All RPCs of latency_ns */
static inline u64 lines_latencies(const struct lines *lines)
{
	const char *at = lines_value(lines, "latency_ns");
	u64 sum = 0;

	for (; at && *at && *at != '\n'; at++)
		if (*at == ':')
			sum += simple_strtoull(at + 1, NULL, 10);
	return sum;
}

/* @names: all have a value */
static inline void lines_expect_names(struct kunit *test, const struct lines *lines,
				      const char * const *names)
{
	for (; *names; names++)
		KUNIT_EXPECT_NOT_NULL_MSG(test, lines_value(lines, *names), "%s", *names);
}

/* Each line is a name, a space and a value. */
static inline void lines_expect_format(struct kunit *test, const struct lines *lines)
{
	const char *at = lines->text, *name;

	KUNIT_EXPECT_LT(test, lines->seq.count, lines->seq.size);
	while (*at && *at != '\n') {
		for (name = at; islower(*at) || isdigit(*at) || *at == '_'; at++)
			;
		KUNIT_ASSERT_GT_MSG(test, at - name, 0, "%.40s", name);
		KUNIT_ASSERT_EQ_MSG(test, ' ', *at, "%.40s", name);
		KUNIT_ASSERT_NE_MSG(test, '\n', at[1], "%.40s", name);
		at = strchr(at, '\n');
		KUNIT_ASSERT_NOT_NULL(test, at);
		at++;
	}
}

#endif /* KUNIT_FAKE_LINES_H */
