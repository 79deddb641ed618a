/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The server's grants: a Receive is posted for each credit that the client may know of. Six calls
 * of a client that sends as many as the last grant allows that it has heard; the server answers in
 * any order, and a thread may be late to give a Receive context back after its reply.
 *
 * The grant begins with one, and grows to three. Receives are posted in batches of two. Beside
 * those for the grant there is one, so that a batch may be incomplete; the code has sixteen, for
 * batches of fourteen. As many contexts may be late as are granted, and that one: with one more
 * `posted` fails. (In the code it is the grant and sixteen: 24 at first.) Each message
 * makes the grant grow; in the code there have to be more of them, or all credits in use. Left out:
 * calls of the other direction, exposed replies, Reads, and a client that keeps to no grant.
 *
 * @part client  environment: it sends, and hears of grants
 * @part recv_taken  the handler of the Receives
 *	svcrdma/recv_ctxt.c: svcrdma_recv_taken() grant_update()
 * @part fill  Receives are posted once they are a batch
 *	svcrdma/recv_ctxt.c: post_missing() post_receives()
 * @part nfsd  a thread with a call
 *	svcrdma/recv_ctxt.c: svcrdma_recv_ctxt_put() svcrdma_release_ctxt()
 * @part grant_work  contexts for more calls, and then the grant
 *	svcrdma/recv_ctxt.c: grant_work() svcrdma_grant_grow() contexts_alloc() add_contexts()
 * @part close  the connection is lost
 *	svcrdma/recv_ctxt.c: svcrdma_grant_stop()
 *
 * @property posted  a Receive is posted for each call that the client may send
 *	kunit/svcrdma_kunit: svcrdma_grant.grant_begins_small
 *	kunit/svcrdma_kunit: svcrdma_grant.grant_grows_with_use
 * @property room  no more Receives are posted than the queue is for
 *	kunit/svcrdma_kunit: svcrdma_grant.grant_grows_with_use
 * @property stopped  nobody makes contexts for a connection that has gone
 *	kunit/svcrdma_kunit: svcrdma_grant.grant_of_a_closing_connection
 * @property end  all calls are answered, and all contexts are back
 *	kunit/svcrdma_kunit: svcrdma_grant.grant_without_memory
 *
 * @mutation GRANT_FIRST posted  a reply grants what there are no Receives for yet
 * @mutation NO_SPARE posted  contexts are for the Receives alone
 * @mutation BIG_BATCH posted  a batch is larger than the reserve
 * @mutation NO_TARGET room  all that are spare are posted
 * @mutation NO_STOP stopped  nobody waits for the work item
 */

#define CALLS	6
#define MOST	3	/* credits */
#ifdef BIG_BATCH
#define BATCH	4
#else
#define BATCH	2
#endif
#define SLACK	1

#define receives_for(n)	(n + SLACK)
#ifdef NO_SPARE
#define contexts_for(n)	(n > 0 -> receives_for(n) : 0)
#else
#define contexts_for(n)	(n > 0 -> receives_for(n) + n : 0)
#endif

/* The client: calls that are not answered, the last grant */
byte to_send = CALLS, outstanding, heard = 1;
/* On their way; replies by what they grant */
byte calls, replies_one, replies_most;

/* st_recv, under st_recv_lock */
byte grant, target, posted, spare, used;
bool growing, grows, closing, gone;
byte with_nfsd, late;
byte left = 1;

inline post_missing()
{
	if
	:: closing
	:: else ->
		do
#ifdef NO_TARGET
		:: spare > 0 -> spare--; posted++
#else
		:: spare > 0 && posted < target -> spare--; posted++
#endif
		:: else -> break
		od;
		assert(posted <= receives_for(MOST))	/* room */
	fi
}

inline fill()
{
	if
	:: target >= posted + BATCH -> post_missing()
	:: else
	fi
}

inline set_grant(n)
{
	assert(!gone);	/* stopped */
	spare = spare + contexts_for(n) - contexts_for(grant);
	target = receives_for(n);
	post_missing();
	grant = n
}

proctype client()
{
	do
	:: d_step { to_send > 0 && outstanding < heard && !gone -> to_send--; outstanding++; calls++ }
	:: d_step { replies_one > 0 -> replies_one--; outstanding--; heard = 1 }
	:: d_step { replies_most > 0 -> replies_most--; outstanding--; heard = MOST }
	:: to_send == 0 && outstanding == 0 || gone -> break
	od
}

proctype recv_taken()
{
end:
	do
	:: d_step {
		calls > 0 && !gone ->
		assert(posted > 0 || closing);	/* posted */
		calls--;
		posted = (posted > 0 -> posted - 1 : 0);
		used++;
		growing = growing || grant < MOST;
		with_nfsd++;
		fill()
	   }
	od
}

/* A thread for each call */
proctype nfsd()
{
end:
	do
	/* The client may have the reply before the context is back. */
	:: d_step {
		with_nfsd > 0 && late < grant + SLACK ->
		with_nfsd--;
		late++;
		if
#ifdef GRANT_FIRST
		:: grows -> replies_most++
		:: !grows && grant == 1 -> replies_one++
#else
		:: grant == 1 -> replies_one++
#endif
		:: else -> replies_most++
		fi
	   }
	:: d_step { late > 0 -> late--; spare++; used--; fill() }
	od
}

proctype grant_work()
{
end:
	do
	:: d_step { growing -> growing = false; grows = (!closing && grant < MOST) };
		if
		:: d_step { grows -> set_grant(MOST); grows = false }
		/* There is no memory. */
		:: d_step { grows && left -> left--; grows = false }
		:: !grows
		fi
	od
}

proctype close()
{
end:
	d_step { left -> left--; closing = true };
#ifndef NO_STOP
	d_step { !grows -> growing = false };
#endif
	gone = true
}

init {
	atomic {
		set_grant(1);
		run client();
		run recv_taken();
		run nfsd();
		run grant_work();
		run close()
	};
	gone || to_send == 0 && outstanding == 0 && used == 0 && late == 0
}
