// SPDX-License-Identifier: GPL-2.0-only
/* Refuses fallible calls of the modules; see fault.h. */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "section.h"
#include "fault.h"

static const char *const outcomes[FAULT_OUTCOMES] = {
	[FAULT_NOTHING]	= "nothing",
	[FAULT_RETRIED]	= "retried",
	[FAULT_ENDED]	= "ended",
	[FAULT_LOST]	= "lost",
	[FAULT_REFUSED]	= "refused",
};

/* Innermost; guards all that follows, and the counts of the sites. */
static DEFINE_RAW_SPINLOCK(fault_lock);
static bool counting;
static struct fault_plan plan;
static unsigned int burst;		/* still to be refused */
static bool happened;
static DECLARE_BITMAP(refused, FAULT_SITES);	/* since fault_begin() */

/* What lies between the two is theirs neither, in the eyes of a compiler. */
static struct fault_site *const *entries(void)
{
	return RELOC_HIDE(&fault_sites_first, sizeof(fault_sites_first));
}

/* fault_sites - how many there are */
unsigned int fault_sites(void)
{
	return RELOC_HIDE(&fault_sites_last, 0) - entries();
}

/* fault_site - the @n-th, from 0 */
struct fault_site *fault_site(unsigned int n)
{
	return entries()[n];
}

/* Calls of which nobody looks at the result, since they cannot fail there: unreached.txt */
static bool is_certain(const struct fault_site *site)
{
	return !strcmp(site->function, "backchannel_setup") && !strcmp(site->call, "xprt_get");
}

static void note_refused(const struct fault_site *site)
{
	unsigned int n;

	for (n = 0; n < fault_sites(); n++)
		if (fault_site(n) == site)
			__set_bit(n, refused);
}

static bool is_due(const struct fault_site *site)
{
	if (burst) {
		burst--;
		return true;
	}
	if (!happened && site == plan.site && site->seen == plan.at) {
		happened = true;
		burst = plan.burst ? plan.burst - 1 : 0;
		return true;
	}
	if (happened && plan.then && site == plan.then) {
		plan.then = NULL;
		return true;
	}
	return false;
}

/**
 * fault_refused - somebody comes by a site
 * @site: the site
 *
 * Context: any.
 * Return: true if it is to fail.
 */
bool fault_refused(struct fault_site *site)
{
	unsigned long flags;
	bool due;

	if (!READ_ONCE(counting))
		return false;
	raw_spin_lock_irqsave(&fault_lock, flags);
	site->seen++;
	site->hits++;
	due = is_due(site) && !is_certain(site);
	if (due) {
		site->refused++;
		note_refused(site);
	}
	raw_spin_unlock_irqrestore(&fault_lock, flags);
	return due;
}

static atomic_t turn;

/* fault_turn_first - the next fault_turn() gives the second error */
void fault_turn_first(void)
{
	atomic_set(&turn, 0);
}

/* fault_turn - one error or the other, by turns */
int fault_turn(int one, int other)
{
	return atomic_inc_return(&turn) & 1 ? one : other;
}

/* fault_begin - count from 0; @of says what is to fail: NULL: nothing */
void fault_begin(const struct fault_plan *of)
{
	unsigned long flags;
	unsigned int n;

	raw_spin_lock_irqsave(&fault_lock, flags);
	plan = of ? *of : (struct fault_plan) {};
	burst = 0;
	happened = false;
	bitmap_zero(refused, FAULT_SITES);
	for (n = 0; n < fault_sites(); n++)
		fault_site(n)->seen = 0;
	WRITE_ONCE(counting, true);
	raw_spin_unlock_irqrestore(&fault_lock, flags);
}

/* fault_end - nothing fails any more, nothing is counted */
void fault_end(void)
{
	WRITE_ONCE(counting, false);
}

/* fault_happened - was anything refused since fault_begin()? */
bool fault_happened(void)
{
	return READ_ONCE(happened);
}

/* fault_note - what came of what was refused since fault_begin() */
void fault_note(enum fault_outcome outcome)
{
	unsigned long flags;
	unsigned int n;

	raw_spin_lock_irqsave(&fault_lock, flags);
	for_each_set_bit(n, refused, FAULT_SITES)
		__set_bit(outcome, &fault_site(n)->outcomes);
	raw_spin_unlock_irqrestore(&fault_lock, flags);
}

/* fault_print - a line for each site, for tests/lib/sites.py */
void fault_print(void)
{
	const struct fault_site *site;
	unsigned int n, i;
	char text[64];
	int length;

	for (n = 0; n < fault_sites(); n++) {
		site = fault_site(n);
		length = 0;
		text[0] = 0;
		for (i = 0; i < FAULT_OUTCOMES; i++)
			if (site->outcomes & BIT(i))
				length += scnprintf(text + length, sizeof(text) - length,
						    " %s", outcomes[i]);
		pr_info("fault site: %s:%u %s %s %u %u%s\n", site->file, site->line,
			site->function, site->call, site->hits, site->refused, text);
	}
}
