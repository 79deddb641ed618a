/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sends that ask for no completion: threads that post replies, signalled or not, the HCA, which
 * works in the order of the posts, and the completion handler, which gives contexts back.
 *
 * One Send may be unsignalled at a time, two threads post two replies each. The connection may
 * fail: what was not done by then has a completion, signalled or not, and what is posted from then
 * on has it at once, before what is in the queue. Contexts are not used again. What the teardown does
 * with those that have not come back is not here: it frees all of them. Nor is the probe.
 *
 * @part poster  sendto.c in a thread of nfsd
 *	svcrdma/send_ctxt.c: svcrdma_send_reply() send_post()
 *	svcrdma/send_ctxt.c: send_take_ahead()
 *	svcrdma/sq.c: svcrdma_sq_reserve_unsignalled()
 * @part handler  a Send is complete
 *	svcrdma/send_ctxt.c: send_wc() prior_sends_keep()
 * @part keep  environment: what is asserted of a context that comes back
 * @part hca  environment: the queue pair, and the loss of the connection
 *
 * @property complete  a context comes back when the HCA is done with its Send, and not before
 *	kunit/svcrdma_kunit: svcrdma_unsignalled.unsignalled_behind_is_not_complete
 *	kunit/svcrdma_kunit: svcrdma_unsignalled.unsignalled_that_comes_during_a_post
 * @property once  and only once
 *	kunit/svcrdma_kunit: svcrdma_unsignalled.unsignalled_are_flushed
 * @property room  no more Queue entries are theirs than they have
 *	kunit/svcrdma_kunit: svcrdma_unsignalled.unsignalled_are_so_many_at_most
 * @property kept  in the end, unless the connection failed, what has not come back is on the list
 *	kunit/svcrdma_kunit: svcrdma_unsignalled.unsignalled_in_turns
 *
 * @mutation TAKEN_LATE kept  a signalled Send takes the others after its post
 * @mutation LISTED_EARLY complete  an unsignalled one is listed before its post
 * @mutation COUNTED_EARLY room  those that are taken do not count any more
 * @mutation TWO_STEPS room  their number is looked at, and changed later
 * @mutation FAILED_KEPT complete  one that has failed comes back, and brings those ahead of it
 * @mutation FAILED_TWICE once  one that has failed comes back by itself, and by one behind it
 */

#define POSTERS	2
#define ALL	15
#define bit(i)	(1 << (i))

/* Sets of contexts, a bit for each */
byte posted, silent, executed, polled, listed, ahead[4], back;
byte count;		/* nr_unsignalled */
byte ended;
bool failed;
chan queue = [4] of { byte, bool };
chan completions = [4] of { byte, bool, bool };

/* llist_del_all() */
inline go_ahead(i)
{
	d_step {
		ahead[i] = listed;
		listed = 0;
#ifdef COUNTED_EARLY
		if
		:: ahead[i] -> count--
		:: else
		fi
#endif
	}
}

inline post(i, signalled)
{
	d_step {
		if
		:: failed ->
			executed = executed | bit(i);
			completions ! i, signalled, true
		:: else -> queue ! i, signalled
		fi;
		posted = posted | bit(i);
		if
		:: !signalled -> silent = silent | bit(i)
		:: else
		fi
	}
}

proctype poster(byte id)
{
	byte sent, i;
	bool signalled;

	do
	:: sent < 2 ->
		i = 2 * id + sent;
#ifdef TWO_STEPS
		signalled = count == 1;
		if
		:: !signalled -> count = 1
		:: else
		fi;
#else
		d_step {
			signalled = count == 1;
			if
			:: !signalled -> count++
			:: else
			fi
		};
#endif
		if
		:: signalled ->
#ifdef TAKEN_LATE
			post(i, true);
			go_ahead(i)
#else
			go_ahead(i);
			post(i, true)
#endif
		:: else ->
			/* None of those whose completion nobody has seen */
			assert(!(silent & ~polled));	/* room */
#ifdef LISTED_EARLY
			listed = listed | bit(i);
			post(i, false)
#else
			post(i, false);
			listed = listed | bit(i)
#endif
		fi;
		sent++
	:: else -> break
	od;
	ended++
}

proctype hca()
{
	byte i;
	bool signalled;

	do
	:: queue ? i, signalled ->
		d_step {
			executed = executed | bit(i);
			if
			:: signalled || failed -> completions ! i, signalled, failed
			:: else
			fi
		}
	:: !failed -> failed = true
	:: posted == ALL && empty(queue) -> break
	od;
	ended++
}

inline keep(set)
{
	d_step {
		assert(!((set) & ~executed));	/* complete */
		assert(!((set) & back));	/* once */
		back = back | (set)
	}
}

proctype handler()
{
	byte i;
	bool signalled, error;

	do
	:: completions ? i, signalled, error ->
		polled = polled | bit(i);
		if
#ifdef FAILED_TWICE
		:: error && !signalled -> keep(bit(i))
		:: !error || signalled ->
#else
#ifdef FAILED_KEPT
		:: error && !signalled -> skip
		:: !error || signalled ->
#else
		:: error -> skip
		:: else ->
#endif
#endif
			polled = polled | ahead[i];
			keep(ahead[i]);
			keep(bit(i));
#ifndef COUNTED_EARLY
			d_step {
				if
				:: ahead[i] -> count--
				:: else
				fi
			}
#endif
		fi
	:: ended == POSTERS + 1 && empty(completions) -> break
	od;
	assert(failed || (back | listed) == ALL)	/* kept */
}

init {
	atomic { run poster(0); run poster(1); run hca(); run handler() }
}
