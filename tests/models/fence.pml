/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The client's fence: a task's memory is its own again only when the server cannot reach it. One
 * call on one connection, with a region or without; its reply, which may be one that is to be read
 * into a region; and a task that gets the reply, stops waiting for it, or is killed.
 *
 * When the task goes on, encodes the call again or frees its buffers, the model of it ends. The
 * connection goes on, so that whatever it does to the memory from then on is seen. All regions of
 * the call are one. Two misfortunes at most.
 *
 * @part task  a task of SUNRPC, from the post to the end of its request
 *	xprtrdma/send.c: xprtrdma_send_post()
 *	xprtrdma/request.c: xprtrdma_reply_wait() wait_ended() wait_for_fence() fence_passed()
 *	xprtrdma/request.c: xprtrdma_request_free()
 * @part registered_on  where is its memory lent?
 *	xprtrdma/request.c: registered_on()
 * @part unmap_sync  the memory of a task that ends without a reply
 *	xprtrdma/frwr.c: xprtrdma_frwr_unmap_sync()
 * @part inv_post  LOCAL_INVs
 *	xprtrdma/frwr.c: inv_post()
 * @part recycle  regions go back to the pool
 *	xprtrdma/frwr.c: mrs_recycle() mr_list_put_conn()
 * @part receive  the server's reply, and the handler of its Receive
 *	xprtrdma/reply.c: reply_pin() handle_reply()
 *	xprtrdma/frwr.c: xprtrdma_frwr_reminv() xprtrdma_frwr_unmap_async()
 * @part complete  the memory is ours alone
 *	xprtrdma/reply.c: reply_complete() reply_copied()
 * @part let_go  the RPC is unpinned, whatever has become of it
 *	xprtrdma/reply.c: reply_unpin()
 * @part reads  the worker that reads replies
 *	xprtrdma/pull.c: pull_worker() pull_start() reads_build() reads_post()
 * @part send_cq  the Send Queue, and its handlers
 *	xprtrdma/frwr.c: mr_wc_inv()
 *	xprtrdma/pull.c: pull_wc() xprtrdma_pull_invalidated() pull_finish() pull_put_back()
 *	xprtrdma/reply.c: xprtrdma_reply_invalidated() xprtrdma_reply_pulled()
 * @part conn_fail  the connection is lost
 *	xprtrdma/conn_state.c: xprtrdma_conn_fail()
 * @part close  SUNRPC's autoclose
 *	xprtrdma/transport.c: transport_close() disconnect()
 *	xprtrdma/connection.c: xprtrdma_conn_destroy() conn_quiesce()
 *	xprtrdma/pull.c: xprtrdma_pulls_stop() xprtrdma_pulls_abort()
 *	xprtrdma/frwr.c: xprtrdma_mrs_release()
 * @part misfortune  environment: the connection is lost, a timer runs out, the task is killed
 *
 * @property fence  no memory is the task's again, or unmapped, while the server may reach it
 *	kunit/xprtrdma_kunit: xprtrdma_fence.fence_local_invalidation_before_completion
 *	kunit/xprtrdma_kunit: xprtrdma_fence.fence_task_without_a_reply
 *	kunit/xprtrdma_kunit: xprtrdma_fence.fence_task_waits_for_the_end_of_the_connection
 *	kunit/xprtrdma_kunit: xprtrdma_again.encoded_after_the_fence: v3, a slow close
 *	kunit/xprtrdma_kunit: xprtrdma_again.killed_before_the_fence
 * @property after  no memory is mapped, registered or written to once it is the task's again
 *	kunit/xprtrdma_kunit: xprtrdma_fence.fence_no_reply_to_a_task_that_goes_on
 *	kunit/xprtrdma_kunit: xprtrdma_wait.reply_is_complete_before_the_close
 * @property taken  no region is taken off a list that somebody walks
 *	kunit/xprtrdma_kunit: xprtrdma_fence.fence_connection_ends_while_regions_are_taken
 * @property alive  nobody uses a connection that has been freed
 *	kunit/xprtrdma_kunit: xprtrdma_wait.connection_is_closed_in_between
 *	kunit/xprtrdma_kunit: xprtrdma_fence.fence_connection_ends_with_calls_outstanding
 * @property leak  when the connection has been taken down, no region is mapped
 *	kunit/xprtrdma_kunit: xprtrdma_fence.fence_connection_ends_with_calls_outstanding
 *	kunit/xprtrdma_kunit: xprtrdma_pull.connection_fails_in_between
 * @property end  a task that stops waiting, or is killed, goes on; a connection is taken down
 *	kunit/xprtrdma_kunit: xprtrdma_wait.task_ends_in_between
 *	kunit/xprtrdma_kunit: xprtrdma_wait.connection_is_closed_in_between
 *	kunit/xprtrdma_kunit: xprtrdma_fence.fence_task_on_a_broken_connection
 *
 * @mutation NO_FENCE fence  a task that stops waiting goes on at once
 * @mutation COMPLETE_FIRST fence  a reply is delivered before its LOCAL_INVs are done
 * @mutation FLUSH_IS_DONE fence  a LOCAL_INV that was flushed counts as one that was done
 * @mutation COMPLETE_BEFORE_FAIL fence  a flushed LOCAL_INV wakes the task before it fails the connection
 * @mutation RELEASE_FIRST fence  the regions are released before the queue pair is drained
 * @mutation STILL_TAKEN after  a reply is taken for a task that goes on
 * @mutation NO_PIN after  a task that is killed does not wait for the reply that is processed
 * @mutation NO_TAKING taken  nobody waits for the one who takes regions
 * @mutation NO_REFERENCE alive  a task that waits has no reference on the connection
 * @mutation NO_ABORT end  a reply that waits to be read is forgotten
 * @mutation LOOK_ONCE end  nobody looks again before he waits for the fence
 * @mutation NO_WAKE end  nobody is woken when the connection has been taken down
 */

mtype = { RUNS, PENDING, FENCED, OVER };	/* the task; the queue that it sleeps on */
mtype = { NONE, WAITS, STARTS, READS };		/* a reply that is to be read */
mtype = { NOT, TASK, REPLY };			/* for whom a LOCAL_INV is posted */

/* The task and its call */
mtype sleeps = RUNS;
bool has_region, need_recv = true, sent_on, completed, killed, pinned, ml_receive;
bool gone;		/* the memory is the task's again */

/* The region */
bool in_loan, mapped, valid;
bool ml_conn;
bool walks;		/* somebody goes through the list */

/* The connection. References: its own, the list's, the task's */
bool sending = true, established = true, drained, released, close_wait, freed;
byte refs = 1;
bool taking;		/* the mutex */
bool out;		/* the server has the call */
bool recv_runs, sq_runs, worker_runs;
mtype inv = NOT, pull = NONE;
bool inv_wakes;		/* ml_fenced */

byte left = 2;

#define reaches	(valid && !drained)

inline conn_use()
{
	assert(!freed)	/* alive */
}

inline conn_put()
{
	conn_use();
	refs--;
	freed = (refs == 0)
}

inline conn_fail()
{
	conn_use();
	if
	:: established -> established = false; close_wait = true
	:: else
	fi
}

/* The region is mapped, and hangs on the list. */
inline map()
{
	assert(!gone);	/* after */
	refs = (ml_conn -> refs : refs + 1);
	ml_conn = true;
	in_loan = true;
	mapped = true
}

/* Unmapped without xc_lock, then into the pool */
inline recycle()
{
	if
	:: d_step {
		in_loan ->	/* never: in receive() nothing is left */
		assert(!reaches);	/* fence */
		mapped = false;
		walks = true
	   };
		/* never: the same */ d_step { assert(in_loan) /* taken */; in_loan = false; walks = false }
	:: else
	fi;
	d_step {
		if
		:: ml_conn -> ml_conn = false; conn_put()
		:: else
		fi
	}
}

/* Under xc_lock. @posted: it is the Send Queue's. */
inline inv_post(whose)
{
	atomic {
		conn_use();
		if
		:: in_loan && established -> inv = whose; posted = true
		/* The provider refuses. */
		:: in_loan && established && left -> left--; posted = false
		:: else -> posted = false
		fi
	}
}

inline let_go()
{
	/* Under queue_lock */
	d_step {
		ml_receive = false;
		sent_on = false;
		if
		:: done ->
			completed = true;
			need_recv = false;
			sleeps = (sleeps == PENDING -> RUNS : sleeps)
		:: else
		fi;
		pinned = false
	}
}

/* reply_complete(): deliver, or have it read */
inline complete()
{
	if
	:: ml_conn -> recycle()
	:: else
	fi;
	if
	:: d_step { assert(!gone) /* after */; done = true };
		let_go()
	/* On a connection where both have agreed on it, and not when it was just read */
	:: pull == NONE -> pull = WAITS
	fi;
	done = false
}

inline unmap_async()
{
#ifdef COMPLETE_FIRST
	complete()
#else
	if
	:: !in_loan -> complete()
	:: in_loan ->
		inv_post(REPLY);
		if
		:: !posted -> d_step { conn_fail() };
			let_go()
		:: else
		fi;
		posted = false
	fi
#endif
}

inline registered_on()
{
	/* Under queue_lock */
	d_step {
		conn = (ml_receive || ml_conn) && !released;
		if
#ifndef NO_REFERENCE
		:: conn -> conn_use(); refs++
#else
		:: conn
#endif
#ifndef STILL_TAKEN
		:: else -> sent_on = false
#else
		:: else
#endif
		fi
	}
}

inline unmap_sync()
{
	inv_post(TASK);
	if
	:: posted ->
		inv_wakes;
		inv_wakes = false
	:: !posted && in_loan -> d_step { conn_fail() }
	:: else
	fi;
	posted = false;
	if
	:: established ->
#ifndef NO_TAKING
		d_step { !taking -> taking = true };
#endif
		recycle();
		taking = false
	:: else ->
		released;
		d_step {
			if
			:: ml_conn -> ml_conn = false; conn_put()
			:: else
			fi
		}
	fi
}

proctype task()
{
	bool conn, posted;

	/* xprtrdma_send_post(), under xc_lock: with a region or without, and all of it or not */
	atomic {
		if
		:: has_region = true; map()
		:: skip
		fi;
		sent_on = true;
		if
		:: established -> valid = has_region; out = true
		:: established && left -> left--; valid = has_region; conn_fail()
		:: else
		fi;
		sending = false
	};
wait:
	/* Under queue_lock; when the connection has gone it is woken at once. */
	atomic {
		if
		:: need_recv && !killed && !released -> sleeps = PENDING
		:: else
		fi
	};
	sleeps == RUNS;
	if
	:: need_recv && !killed ->
#ifndef NO_FENCE
		registered_on();
		if
		:: conn ->
			d_step { conn_fail() };
			sleeps = FENCED;
#ifndef LOOK_ONCE
			if
			:: d_step { released || killed -> conn_use(); sleeps = RUNS }
			:: d_step { !released && !killed -> conn_use() }
			fi;
#endif
#ifndef NO_REFERENCE
			d_step { conn_put() };
#endif
			conn = false;
			sleeps == RUNS
		:: else
		fi;
#endif
		/* fence_passed(), under queue_lock: it encodes the call again. */
		d_step {
			if
			:: !completed && !killed ->
				assert(!reaches);	/* fence */
				gone = true
			:: else
			fi
		}
	:: else
	fi;
	if
	:: gone
	:: else ->
		/* xprt_release(), under queue_lock */
#ifdef NO_PIN
		need_recv = false;
#else
		d_step { !pinned -> need_recv = false };
#endif
		if
		:: ml_conn -> unmap_sync()
		:: else
		fi;
		d_step { assert(!reaches) /* fence */; gone = true }
	fi;
	sleeps = OVER
}

proctype receive()
{
	bool posted, done;

	if
	:: atomic {
		out && !drained ->
		out = false;
		/* A Send With Invalidate, or not */
		if
		:: valid -> valid = false; done = true
		:: skip
		fi;
		if
		:: need_recv && sent_on && !ml_receive -> pinned = true; ml_receive = true; recv_runs = true
		:: else -> done = false
		fi
	   };
		if
		:: recv_runs ->
			if
			:: done && in_loan -> d_step { mapped = false; in_loan = false; done = false }
			:: else -> done = false
			fi;
			unmap_async();
			recv_runs = false
		:: else
		fi
	:: drained
	fi
}

/* One reply to be read */
proctype reads()
{
	bool done;

	if
	/* pull_next(), under xc_lock */
	:: d_step { pull == WAITS && established -> pull = STARTS; worker_runs = true };
		d_step { map() };
		if
		/* reads_post(), under xc_lock. On iWARP the server may write to the region. */
		:: d_step { established -> assert(!gone) /* after */; pull = READS; valid = true }
		:: !established ->
			recycle();
			pull = WAITS
		fi;
		worker_runs = false
	:: released
	fi
}

/* Of one work request after the other */
proctype send_cq()
{
	bool posted, done, ok;

end:
	do
	:: atomic {
		inv != NOT && inv_wakes == false ->
		sq_runs = true;
		if
		:: established && !drained -> ok = true; valid = false
		:: !established || drained
		/* It fails, and so does the queue pair. */
		:: left -> left--
		fi
	   };
#ifdef COMPLETE_BEFORE_FAIL
		if
		:: inv == TASK -> inv_wakes = true
		:: else
		fi;
#endif
		if
		:: !ok -> d_step { conn_fail() }
		:: else
		fi;
#ifdef FLUSH_IS_DONE
		ok = true;
#endif
		if
		:: inv == TASK -> d_step { inv = NOT; inv_wakes = true }
		:: inv == REPLY && pull == READS ->
			/* xprtrdma_pull_invalidated() */
			inv = NOT;
			if
			:: ok -> recycle(); d_step { assert(!gone) /* after */; done = true };
				let_go();
				done = false
			/* pull_put_back() */
			:: else -> pull = WAITS
			fi
		:: inv == REPLY && pull != READS ->
			inv = NOT;
			if
			:: ok -> complete()
			:: else -> let_go()
			fi
		fi;
		d_step { ok = false; sq_runs = false }
	/* pull_wc() */
	:: atomic {
		pull == READS && pinned && inv == NOT && !sq_runs ->
		sq_runs = true;
		if
		:: established && !drained ->
			assert(!gone);	/* after */
			ok = true
		:: !established || drained
		:: left -> left--
		fi
	   };
		if
		:: ok ->
			inv_post(REPLY);
			if
			:: !posted -> d_step { conn_fail() };
				pull = WAITS
			:: else
			fi;
			posted = false
		:: else -> d_step { conn_fail() };
			pull = WAITS
		fi;
		d_step { ok = false; sq_runs = false }
	od
}

inline take_regions()
{
#ifndef NO_TAKING
	d_step { !taking -> taking = true };
#endif
	d_step {
		assert(!in_loan || !walks);	/* taken */
		in_loan = false
	};
	d_step { assert(!reaches || !mapped) /* fence */; mapped = false; taking = false }
}

proctype close()
{
	bool done;

end:
	/* Who sends has the write lock. */
	close_wait && !sending;
	established = false;
#ifdef RELEASE_FIRST
	take_regions();
#endif
	/* conn_quiesce(): Receives first */
	drained = true;
	!recv_runs;
	(inv == NOT && !sq_runs && !(pull == READS && pinned));
	/* xprtrdma_pulls_stop() */
	!worker_runs;
#ifndef RELEASE_FIRST
	take_regions();
#endif
#ifndef NO_ABORT
	/* xprtrdma_pulls_abort() */
	if
	:: d_step { pull == WAITS -> pull = NONE };
		let_go()
	:: else
	fi;
#endif
	released = true;
	d_step { assert(!mapped) /* leak */; conn_put() };
	/* disconnect(), xprt_disconnect_done() */
#ifndef NO_WAKE
	d_step { sleeps = (sleeps == FENCED -> RUNS : sleeps) };
#endif
	d_step { sleeps = (sleeps == PENDING -> RUNS : sleeps) }
}

proctype misfortune()
{
end:
	do
	:: d_step { left && established -> left--; conn_fail() }
	/* xprt_timer() */
	:: d_step { left && sleeps == PENDING -> left--; close_wait = true; sleeps = RUNS }
	:: d_step {
		left && !killed && sleeps != OVER ->
		left--;
		killed = true;
		sleeps = (sleeps == PENDING || sleeps == FENCED -> RUNS : sleeps)
	   }
	od
}

init {
	atomic {
		run task();
		run receive();
		run reads();
		run send_cq();
		run close();
		run misfortune()
	}
}
