/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replies that the server exposes: from the claim to the last LOCAL_INV, or the end of the
 * connection.
 *
 * Two replies, one after the other and with the same XID. The client says RDMA_DONE whenever it
 * likes; time is over whenever it likes to be. The Send Queue is short, so that the
 * second reply may have to wait.
 *
 * @part nfsd  a thread of nfsd that sends a reply
 *	svcrdma/sendto.c: svcrdma_sendto() reply_send() reply_expose()
 *	svcrdma/send_ctxt.c: svcrdma_send_message()
 *	svcrdma/exposed_reply.c: svcrdma_expose()
 * @part claim  the list gets it
 *	svcrdma/exposed_reply.c: exposed_begin()
 *	svcrdma/region.c: svcrdma_exposure_begin()
 * @part post  registrations and Send
 *	svcrdma/send_ctxt.c: send_post() send_post_exposing() send_granted()
 *	svcrdma/region.c: svcrdma_exposure_post() exposures_watch()
 *	svcrdma/exposed_reply.c: exposed_posted()
 * @part sq_put  entries come back, and are somebody else's
 *	svcrdma/sq.c: svcrdma_sq_put() sq_grant() svcrdma_sq_reserve()
 * @part exposed_end  it is FENCING
 *	svcrdma/region.c: svcrdma_exposure_find() take_expired() svcrdma_exposure_fence()
 * @part exposed_free  nobody can reach its memory any more
 *	svcrdma/region.c: svcrdma_exposure_free() svcrdma_exposure_unmap()
 *	svcrdma/exposed_reply.c: exposed_free()
 * @part done  an RDMA_DONE, in the handler of the Receive
 *	svcrdma/recvfrom.c: recv_done() svcrdma_recv_wc()
 *	svcrdma/exposed_reply.c: svcrdma_exposed_done()
 * @part expiry  the work item that ends those whose time is over
 *	svcrdma/region.c: exposures_work()
 * @part send_cq  the queue pair, and the handlers of what was posted for one reply
 *	svcrdma/region.c: exposure_inv_wc()
 *	svcrdma/send_ctxt.c: send_wc() svcrdma_send_ctxt_put()
 * @part transport_close  the connection has to end
 *	svcrdma/notify.c: svcrdma_transport_close() svcrdma_wc_error()
 *	svcrdma/sq.c: svcrdma_sq_close()
 * @part stop  no work item runs, and none is queued
 *	svcrdma/region.c: svcrdma_exposures_stop()
 * @part teardown  detach, and the last reference
 *	svcrdma/connection.c: transport_quiesce() svcrdma_transport_free()
 *	svcrdma/send_ctxt.c: svcrdma_send_ctxts_destroy() svcrdma_send_ctxt_clear()
 *	svcrdma/region.c: svcrdma_exposures_destroy()
 * @part client  environment: RDMA_DONE, and the loss of the connection
 *
 * @property fence  no page is freed, and nothing is unmapped, while the client reaches it
 *	kunit/svcrdma_kunit: svcrdma_expose.local_inv_ends_the_exposure: sixteen octets
 *	kunit/svcrdma_kunit: svcrdma_expose.time_ends_the_exposure_by_local_inv
 *	kunit/memory_kunit: memory_expose.read_late
 *	peer-rxe: pull-after-done
 * @property once  each exposure ends once, whatever the client says
 *	kunit/memory_kunit: memory_expose.notified_twice
 *	kunit/svcrdma_kunit: svcrdma_expose.same_xid_twice
 *	peer-rxe: pull-done-twice
 * @property counts  an RDMA_DONE for a reply that the client can know of is not lost
 *	kunit/memory_kunit: memory_expose.done_before_its_registration_is_done
 *	kunit/svcrdma_kunit: svcrdma_expose.hidden_until_posted
 * @property rest  each exposure ends by itself, by RDMA_DONE or by time
 *	kunit/memory_kunit: memory_expose.exposure_ends_by_time
 *	peer-rxe: pull-never-done
 * @property leak  nothing is left when the transport has been freed
 *	kunit/memory_kunit: memory_expose.connection_ends_with_an_exposure
 *	kunit/memory_kunit: memory_expose.device_goes_with_an_exposure
 * @property alive  nobody uses a transport that has been freed
 *	kunit/memory_kunit: memory_fault.each_step_fails_on_infiniband: server, connection lost
 *	kunit/memory_kunit: memory_threads.calls_from_several_threads: connection lost, InfiniBand
 * @property waits  no reply waits for entries that are there
 *	kunit/svcrdma_kunit: svcrdma_expose.bounded_in_number
 *	kunit/svcrdma_kunit: svcrdma_sq.sq_free_entries_are_taken_at_once
 * @property end  the end of a connection waits for nobody for ever
 *	kunit/memory_kunit: memory_expose.invalidation_takes_too_long
 *
 * @mutation FREE_ON_DONE fence  RDMA_DONE is taken for the end of the client's Reads
 * @mutation EXPIRY_FREES fence  so is the end of its time
 * @mutation NOT_TAKEN once  a reply stays ARMED when it was taken
 * @mutation ARM_LATE counts  it is ARMED behind the post, without the lock
 * @mutation NO_WATCH rest  nobody has the work item look at what is exposed
 * @mutation NO_SECOND_DRAIN alive  what threads posted behind the first drain is not waited for
 * @mutation NO_SECOND_STOP alive  nor the work item that they queued
 * @mutation LIST_ONLY leak  replies that wait for entries are forgotten
 * @mutation NO_DESTROY leak  the list is forgotten
 * @mutation PUT_ONLY waits  entries that come back are nobody's
 */

#define REPLIES	2
#define DEPTH	4	/* of the Send Queue. A reply takes 3 entries, one of them for its end */

mtype = { FREE, CLAIMED, ARMED };			/* places in the list */
mtype = { NOBODY, THREAD, WAITS, POSTED };	/* whose a Send context is */

/* The transport */
bool closing, close_asked, dead, drained, freed;
byte refs = 1;
byte sq_free = DEPTH;
bool work_queued, work_runs, work_stops;
bool recv_runs, cq_runs[REPLIES];

/* Replies */
mtype slot[REPLIES] = FREE;
mtype sc[REPLIES] = NOBODY;
bool begun[REPLIES], pages[REPLIES], taken[REPLIES];
bool send_out[REPLIES];		/* registrations and Send are the queue pair's */
bool valid[REPLIES], told[REPLIES];
byte inv[REPLIES];		/* LOCAL_INV: 1 posted, 2 done */

byte dones = 2;

inline transport_close()
{
	assert(!freed);	/* alive */
	if
	:: !closing -> closing = true; close_asked = true
	:: else
	fi
}

inline post(e)
{
#ifdef ARM_LATE
	send_out[e] = true;
	d_step { assert(!freed) /* alive */; sc[e] = POSTED; slot[e] = ARMED };
#else
	/* Under st_expose_lock */
	d_step {
		assert(!freed);	/* alive */
		slot[e] = ARMED;
		sc[e] = POSTED;
		send_out[e] = true
	};
#endif
	/* exposures_watch() */
#ifndef NO_WATCH
	d_step {
		assert(!freed);	/* alive */
		work_queued = !work_stops
	}
#endif
}

/*
 * Entries for who waits, as w: the second reply, since the first has found some. Who waits is forgotten when the transport closes. What is done
 * under a lock, and seen by nobody in between, is one step here and below.
 */
inline sq_put(n)
{
	assert(!freed);	/* alive */
	sq_free = sq_free + n;
	w = REPLIES;
#ifndef PUT_ONLY
	if
	:: !closing && sc[1] == WAITS && sq_free >= 3 -> w = 1
	:: else
	fi;
	if
	:: w < REPLIES -> sc[w] = THREAD; sq_free = sq_free - 3
	:: else
	fi;
#endif
	assert(closing || sq_free < 3 || sc[1] != WAITS);	/* waits */
	skip
}

inline exposed_free(e)
{
	assert(!freed);				/* alive */
	assert(!valid[e] || drained);		/* fence */
	assert(pages[e] && slot[e] != FREE);	/* once */
	pages[e] = false;
	slot[e] = FREE
}

inline claim(e)
{
	slot[e] = CLAIMED;
	pages[e] = true;
	begun[e] = true
}

inline exposed_end(e)
{
	if
	:: closing
	:: else ->
		d_step {
			assert(!freed);		/* alive */
			assert(inv[e] == 0);	/* once */
			inv[e] = 1
		}
	fi
}

proctype nfsd()
{
	byte e;

	do
	:: e < REPLIES ->
		if
		:: d_step { !dead -> refs++ };
			if
			:: closing
			:: else ->
				d_step { claim(e) };
				/* svcrdma_sq_reserve() */
				if
				:: d_step { !closing && sq_free >= 3 -> sq_free = sq_free - 3; sc[e] = THREAD };
					post(e)
				:: d_step { !closing && sq_free < 3 -> sc[e] = WAITS }
				:: d_step { closing -> exposed_free(e) }
				/* It does not fit, or cannot be built. */
				:: d_step { exposed_free(e) }
				fi
			fi;
			refs--
		:: dead
		fi;
		e++
	:: else -> break
	od
}

/* The oldest is the first. */
inline take(found)
{
	found = REPLIES;
	if
	:: slot[0] == ARMED -> found = 0
	:: slot[0] != ARMED && slot[1] == ARMED -> found = 1
	:: else
	fi;
	if
	:: found < REPLIES ->
#ifndef NOT_TAKEN
		slot[found] = CLAIMED;
#endif
		taken[found] = true
	:: else
	fi
}

#define known(e)	(told[e] && !taken[e] && pages[e])

/* A thread has a reference; a handler is waited for. */
proctype done()
{
	byte e;
	bool in_handler;

end:
	do
	:: atomic {
		dones && !drained -> dones--;
		if
		:: !dead -> refs++
		:: recv_runs = true; in_handler = true
		fi
	   };
		d_step {
			assert(!freed);	/* alive */
			take(e);
			assert(e < REPLIES || (!known(0) && !known(1)));	/* counts */
		};
		if
		:: e < REPLIES ->
#ifdef FREE_ON_DONE
			d_step { exposed_free(e) }
#else
			exposed_end(e)
#endif
		:: else
		fi;
		d_step {
			if
			:: in_handler -> recv_runs = false
			:: else -> refs--
			fi;
			in_handler = false;
			e = 0
		}
	od
}

#define armed	(slot[0] == ARMED || slot[1] == ARMED)

/* A run that finds nothing whose time is over is left out, but behind the end. */
proctype expiry()
{
	byte e;

end:
	do
	:: d_step { work_queued && (armed || closing) -> work_queued = false; work_runs = true };
		do
		:: d_step {
			armed ->
			assert(!freed);	/* alive */
			take(e)
		   };
#ifdef EXPIRY_FREES
			d_step { exposed_free(e) }
#else
			exposed_end(e)
#endif
		:: d_step {
			!armed || closing ->
			assert(!freed);	/* alive */
			work_queued = false;
			work_runs = false;
			e = 0
		   };
			break
		od
	od
}

proctype send_cq(byte e)
{
	byte w, back;

end:
	do
	:: d_step { send_out[e] && !drained && !told[e] -> valid[e] = true; told[e] = true }
	/* Behind the registration: a queue pair works in order. */
	:: d_step { inv[e] == 1 && told[e] && !drained -> valid[e] = false; inv[e] = 2 }
	:: atomic {
		if
		/* send_wc(): a Send that was flushed is as complete as one that was not. */
		:: send_out[e] && (told[e] || drained) ->
			send_out[e] = false;
			back = 2
		/* exposure_inv_wc() */
		:: inv[e] == 2 ->
			inv[e] = 0;
			exposed_free(e);
			back = 1
		fi;
		sq_put(back);
		cq_runs[e] = (w < REPLIES)
	   };
		if
		:: w < REPLIES -> post(w); d_step { cq_runs[e] = false; w = 0 }
		:: else -> w = 0
		fi
	/* Flushed; the transport is closing. */
	:: d_step { inv[e] == 1 && drained -> assert(!freed) /* alive */; inv[e] = 0 }
	od
}

inline stop()
{
	d_step { work_queued = false; work_stops = true };
	d_step { !work_runs -> work_stops = false }
}

inline drain()
{
	(!send_out[0] && !send_out[1] && !inv[0] && !inv[1] && !cq_runs[0] && !cq_runs[1] && !recv_runs)
}

proctype teardown()
{
	close_asked;
	/* transport_quiesce() */
	d_step { closing = true; dead = true; drained = true };
	drain();
	stop();
	refs--;
	refs == 0;
	/* svcrdma_transport_free() */
#ifndef NO_SECOND_STOP
	stop();
#endif
#ifndef NO_SECOND_DRAIN
	drain();
#endif
	atomic {
#ifndef LIST_ONLY
		/* The first has found entries. */
		if
		:: sc[1] == WAITS -> exposed_free(1)
		:: else
		fi;
#endif
		/* svcrdma_exposures_destroy(): the others, in whatever state */
#ifndef NO_DESTROY
		if
		:: slot[0] != FREE -> exposed_free(0)
		:: else
		fi;
		if
		:: slot[1] != FREE && sc[1] != WAITS -> exposed_free(1)
		:: else
		fi;
#endif
		freed = true;
		assert(!pages[0] && !pages[1]);	/* leak */
	}
}

/* The connection ends, at any time or when all has come to rest. */
proctype client()
{
	if
	:: skip
	:: skip ->
		timeout;
		assert(!pages[0] && !pages[1]);	/* rest */
	fi;
	d_step { transport_close() }
}

init {
	atomic {
		run nfsd();
		run done();
		run expiry();
		run send_cq(0);
		run send_cq(1);
		run teardown();
		run client()
	}
}
