/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A grant of the server's that goes down. Calls of a client that has been granted four, and sends
 * as many as the last grant allows that it has heard; replies arrive in the order in which they are
 * sent. At any moment the grant becomes two. A thread may be late to send a reply with the grant
 * that it has read, and late to give the Receive context back after that.
 *
 * Receives are posted in batches of two; beside those for the grant there is one, so that a batch
 * may be incomplete. As many contexts may be late as are granted, and that one. Left out: grants
 * that grow (grants.pml), calls of the other direction, exposed replies, Reads, the end of the
 * connection, and a client that keeps to no grant.
 *
 * @part client  environment: it sends, and hears of grants
 * @part recv_taken  the handler of the Receives
 *	svcrdma/recv_ctxt.c: svcrdma_recv_taken() fill() svcrdma_recv_post_missing()
 * @part nfsd  a thread with a call
 *	svcrdma/recv_ctxt.c: svcrdma_recv_ctxt_put() put_slowly() take_surplus() svcrdma_release_ctxt()
 * @part grant_work  the host has more than its part
 *	svcrdma/grant.c: grant_work() grant_lower()
 * @part look  a smaller grant needs fewer contexts
 *	svcrdma/grant.c: svcrdma_grant_look() look() is_lowering() set_promise()
 *	svcrdma/recv_ctxt.c: svcrdma_recv_is_older() svcrdma_recv_keep()
 *
 * @property posted  a Receive is posted for each call that the client may send
 *	kunit/svcrdma_kunit: svcrdma_grant.grant_keeps_its_promise
 * @property fewer  contexts beyond those for the grant are not kept to be posted
 *	kunit/svcrdma_kunit: svcrdma_grant.grant_goes_down
 *	kunit/svcrdma_kunit: svcrdma_grant.grant_goes_down_to_the_floor
 * @property end  all calls are answered, and all contexts are back
 *	kunit/svcrdma_kunit: svcrdma_grant.grant_waits_for_calls_that_came_before
 *
 * @mutation AT_ONCE posted  calls that came before are not waited for
 * @mutation KEEP_ALL fewer  contexts stay for the larger grant
 */

#define CALLS	9
#define MOST	4	/* credits */
#define FEWER	2
#define BATCH	2
#define SLACK	1

#define receives_for(n)	(n + SLACK)
#define contexts_for(n)	(receives_for(n) + n)

/* The client: calls that are not answered, the last grant */
byte to_send = CALLS, outstanding, heard = MOST;
/* On their way */
byte calls;
chan replies = [CALLS] of { byte };

/* st_recv, under st_recv_lock */
byte grant = MOST, promised = MOST, target = receives_for(MOST), kept = contexts_for(MOST);
byte count = contexts_for(MOST), posted = receives_for(MOST), spare = MOST;

/* Threads: with a call, with the grant that they have read, with a context to be given back. Of
 * calls that came before the grant went down, and of others. */
#define OLDER	0
#define NEWER	1
byte with_call[2], read_fewer, read_most, late[2];

#define older_calls	(with_call[OLDER] + read_most + late[OLDER] > 0)

inline post_missing()
{
	do
	:: spare > 0 && posted < target -> spare--; posted++
	:: else -> break
	od
}

inline fill()
{
	if
	:: target >= posted + BATCH -> post_missing()
	:: else
	fi
}

inline promise(n)
{
	promised = n;
	target = receives_for(n);
	kept = contexts_for(n)
}

inline take_surplus()
{
	do
#ifndef KEEP_ALL
	:: count > kept && spare > 0 -> spare--; count--
#endif
	:: else -> break
	od;
	assert(count <= kept || spare == 0)	/* fewer */
}

proctype client()
{
	byte n;

	do
	:: d_step { to_send > 0 && outstanding < heard -> to_send--; outstanding++; calls++ }
	:: d_step { replies?[n] -> replies?n; outstanding--; heard = n }
	:: to_send == 0 && outstanding == 0 -> break
	od
}

proctype recv_taken()
{
end:
	do
	:: d_step {
		calls > 0 ->
		assert(posted > 0);	/* posted */
		calls--;
		posted--;
		with_call[NEWER]++;
		fill()
	   }
	od
}

inline read_grant(age)
{
	with_call[age]--;
	if
	:: grant == MOST -> read_most++
	:: else -> read_fewer++
	fi
}

inline put(age)
{
	late[age]--;
	spare++;
	fill();
	take_surplus()
}

#define may_be_late	(late[OLDER] + late[NEWER] < grant + SLACK)

/* A thread for each call. Whoever has read the larger grant has done so before it went down. */
proctype nfsd()
{
end:
	do
	:: d_step { with_call[OLDER] > 0 -> read_grant(OLDER) }
	:: d_step { with_call[NEWER] > 0 -> read_grant(NEWER) }
	/* The client may have the reply before the context is back. */
	:: d_step { read_fewer > 0 && may_be_late -> read_fewer--; late[NEWER]++; replies!FEWER }
	:: d_step { read_most > 0 && may_be_late ->
		    read_most--;
		    if
		    :: grant == MOST -> late[NEWER]++
		    :: else -> late[OLDER]++
		    fi;
		    replies!MOST }
	:: d_step { late[OLDER] > 0 -> put(OLDER); skip }
	:: d_step { late[NEWER] > 0 -> put(NEWER); skip }
	od
}

proctype grant_work()
{
end:
	d_step {
		grant = FEWER;
		with_call[OLDER] = with_call[NEWER];
		with_call[NEWER] = 0;
		late[OLDER] = late[NEWER];
		late[NEWER] = 0
	}
}

proctype look()
{
end:
#ifdef AT_ONCE
	d_step { promised > grant -> promise(grant) }
#else
	d_step { promised > grant && !older_calls -> promise(grant) }
#endif
}

init {
	atomic {
		run client();
		run recv_taken();
		run nfsd();
		run grant_work();
		run look()
	};
	to_send == 0 && outstanding == 0 && count == posted + spare
}
