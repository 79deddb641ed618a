/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Send Queue entries, which are taken and given back without a lock while nobody waits: posters that
 * take some, wait for some and give them back, and the worker that watches a queue with entries out,
 * and asks for a peer for which nothing was out for long.
 *
 * Two entries, and three posters, one of which needs both. A step is what is one access to memory,
 * or is done under the lock and seen by nobody without it. The connection does not end: what waits
 * is forgotten then.
 *
 * @part poster  takes entries, posts, and gives them back when that is complete
 *	svcrdma/sq.c: svcrdma_sq_reserve() sq_wait() sq_take() sq_watch_again()
 * @part give  entries come back
 *	svcrdma/sq.c: svcrdma_sq_put()
 * @part serve  under the lock: entries for those in front
 *	svcrdma/sq.c: sq_serve() sq_grant()
 * @part worker  SVCRDMA_SQ_LOOK after the watch was set, or SVCRDMA_IDLE_TIMEOUT after it ended
 *	svcrdma/sq.c: sq_worker() sq_watch()
 *
 * @property depth  no more entries are out than there are
 *	kunit/svcrdma_kunit: svcrdma_sq.sq_free_entries_are_taken_at_once
 * @property watch  the worker is set while entries are out
 *	kunit/svcrdma_kunit: svcrdma_sq_watch.sq_stands_still
 * @property idle  the worker is set, once entries were out
 *	kunit/svcrdma_kunit: svcrdma_idle.idle_peer_is_asked
 *	kunit/svcrdma_kunit: svcrdma_idle.idle_no_more
 * @property end  who waits gets entries
 *	kunit/svcrdma_kunit: svcrdma_sq.sq_serves_in_order
 *
 * @mutation NO_SECOND_LOOK end  who waits does not look whether entries have come back meanwhile
 * @mutation LOOK_FIRST end  who gives entries back looks for those that wait before
 * @mutation NO_LOOK_BEHIND watch  who has taken entries does not look at the watch any more
 * @mutation OUT_FIRST watch  the worker looks at what is out before it ends the watch
 * @mutation TWO_STEPS depth  what is taken is looked at, and changed later
 * @mutation NO_IDLE idle  the end of the watch does not set the worker
 * @mutation IDLE_UNWATCHED idle  the worker takes an entry for an idle peer and sets no watch
 */

#define DEPTH	2
#define POSTERS	3
#define PROBE	POSTERS
#define need(i)	((i) == 2 -> 2 : 1)

byte taken, given, nr_waiters, lock_free = 1, runs = 3, posters = POSTERS;
bool slow = true, watched, idle, granted[POSTERS];
chan waiters = [POSTERS] of { byte };

inline lock()	{ atomic { lock_free; lock_free = 0 } }
inline unlock()	{ lock_free = 1 }
inline set_slow()	{ slow = nr_waiters || !watched }
inline watch()	{ d_step { watched = true; idle = false; set_slow() } }

/* sq_take(): ok */
inline take(i)
{
#ifdef TWO_STEPS
	ok = need(i) <= DEPTH - (taken - given);
	if
	:: ok -> taken = taken + need(i)
	:: else
	fi
#else
	d_step {
		ok = need(i) <= DEPTH - (taken - given);
		if
		:: ok -> taken = taken + need(i)
		:: else
		fi
	}
#endif
	assert(taken - given <= DEPTH)	/* depth */
}

/* Drops the lock. */
inline serve()
{
	do
	:: waiters ? [first] ->
		waiters ? <first>;
		take(first);
		if
		:: ok ->
			watch();
			d_step { waiters ? first; nr_waiters--; set_slow(); granted[first] = true }
		:: else -> break
		fi
	:: empty(waiters) -> break
	od;
	unlock()
}

inline give(i)
{
#ifdef LOOK_FIRST
	ok = nr_waiters > 0;
	given = given + need(i);
#else
	given = given + need(i);
	ok = nr_waiters > 0;
#endif
	if
	:: ok -> lock(); serve()
	:: else
	fi
}

proctype poster(byte id)
{
	bool ok;
	byte first;

	ok = !slow;
	if
	:: ok -> take(id)
	:: else
	fi;
	if
	:: ok ->
#ifndef NO_LOOK_BEHIND
		if
		:: slow -> lock(); watch(); unlock()
		:: else
		fi
#endif
	:: else ->
		lock();
		ok = empty(waiters);
		if
		:: ok -> take(id)
		:: else
		fi;
		if
		:: ok -> watch(); unlock()
		:: else ->
			d_step { waiters ! id; nr_waiters++; watched = true; idle = false; set_slow() };
#ifdef NO_SECOND_LOOK
			unlock();
#else
			serve();
#endif
			granted[id]
		fi
	fi;
	/* Its entries are out, and it has nothing to do before they come back. */
	assert(watched || !lock_free);	/* watch */
	give(id);
	posters--
}

/* It runs when it likes; once more than the others can make up for. */
proctype worker()
{
	byte out, first;
	bool was_watched, ok;

	do
	:: runs && (watched || idle) ->
		lock();
		runs--;
		was_watched = watched;
		idle = false;
		ok = false;
#ifdef OUT_FIRST
		out = taken - given;
		d_step { watched = false; set_slow() };
#else
		d_step { watched = false; set_slow() };
		out = taken - given;
#endif
		if
		:: out || nr_waiters -> watch()
		:: !out && !nr_waiters && !was_watched ->
			take(PROBE);
#ifndef IDLE_UNWATCHED
			watch()
#endif
#ifdef NO_IDLE
		:: !out && !nr_waiters && was_watched
#else
		:: !out && !nr_waiters && was_watched -> idle = true
#endif
		fi;
		assert(watched || idle);	/* idle */
		unlock();
		if
		:: ok ->
			assert(watched || !lock_free);	/* watch */
			give(PROBE)
		:: else
		fi
	:: runs == 0 -> break
	:: !posters && taken == given -> break
	od
}

init {
	atomic { run poster(0); run poster(1); run poster(2); run worker() }
}
