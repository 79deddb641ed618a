/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The client's fence: SUNRPC encodes a call again, or frees it, while its connection goes.
 *
 * Two calls, with memory regions or without, whose replies may be exposed. Timers, signals and
 * losses of the connection come at any time. The write lock of SUNRPC is a variable; how tasks
 * wait for it is in credits.pml.
 *
 * @part task  a task of SUNRPC's, from call_encode() on, and the write lock while it has it
 *	xprtrdma/wait.c: xprtrdma_reply_wait() wait_ended() task_ends() fence_passed()
 *	xprtrdma/request.c: xprtrdma_request_send()
 * @part wait_for_fence  before it may encode again
 *	xprtrdma/wait.c: wait_for_fence() lent_on()
 * @part send_call  the holder of the write lock sends a call, perhaps another task's
 *	xprtrdma/request.c: send_call()
 *	xprtrdma/send.c: xprtrdma_send_post()
 *	xprtrdma/frwr.c: xprtrdma_frwr_lend() xprtrdma_frwr_recycle()
 * @part unmap_sync  a task that ends without a reply
 *	xprtrdma/request.c: xprtrdma_request_free()
 *	xprtrdma/frwr.c: xprtrdma_frwr_unmap_sync() inv_post() mrs_recycle()
 * @part invalidate  the handler of a reply fences what its call exposed
 *	xprtrdma/frwr.c: xprtrdma_frwr_unmap_async() mr_wc_inv() xprtrdma_frwr_reminv()
 * @part reply  the handlers of Receive and Send completions, for the reply to one call
 *	xprtrdma/reply.c: reply_lookup() handle_reply() reply_complete() reply_let_go()
 *	xprtrdma/reply.c: xprtrdma_reply_invalidated() xprtrdma_reply_pulled()
 *	xprtrdma/pull.c: pull_start() reads_post() pull_wc() xprtrdma_pull_invalidated()
 * @part conn_fail  whoever notices that the connection is of no more use
 *	xprtrdma/connection.c: xprtrdma_conn_fail()
 * @part destroy  a connection is taken down
 *	xprtrdma/connection.c: xprtrdma_conn_destroy() conn_quiesce()
 *	xprtrdma/frwr.c: xprtrdma_mrs_release()
 * @part closer  SUNRPC's work item that closes
 *	xprtrdma/transport.c: transport_close() disconnect() transport_timer()
 *	xprtrdma/wait.c: xprtrdma_fence_wake()
 * @part establish  the connect worker
 *	xprtrdma/transport.c: connect_worker() establish()
 * @part events  environment: the connection is lost, and a task is killed
 *
 * @property fence  SUNRPC encodes a call only while the peer reaches none of its memory
 *	kunit/xprtrdma_kunit: xprtrdma_again.encoded_after_the_fence: v3
 *	kunit/xprtrdma_kunit: xprtrdma_again.encoded_after_the_fence: v4, a slow close
 *	kunit/xprtrdma_kunit: xprtrdma_fence.fence_no_reply_to_a_task_that_goes_on
 *	peer-rxe: c-again-slow
 * @property freed  the memory of a call that ends is not the peer's any more
 *	kunit/xprtrdma_kunit: xprtrdma_again.killed_before_the_fence
 *	kunit/xprtrdma_kunit: xprtrdma_fence.fence_task_without_a_reply
 *	kunit/memory_kunit: memory_loss.killed_task_takes_its_memory_back
 * @property pool  a region that is lent again is not valid
 *	kunit/xprtrdma_kunit: xprtrdma_fence.fence_local_invalidation_before_completion
 *	kunit/memory_kunit: memory_transfer.memory_is_fenced_when_the_rpc_ends
 * @property alive  nobody uses a connection that has been freed
 *	kunit/xprtrdma_kunit: xprtrdma_fence.fence_task_waits_for_the_end_of_the_connection
 * @property end  each call comes to its end, however often the connection is lost
 *	kunit/xprtrdma_kunit: xprtrdma_again.encoded_after_the_fence: v4
 *	kunit/xprtrdma_kunit: xprtrdma_fence.fence_connection_ends_with_calls_outstanding
 *
 * @mutation NO_FENCE fence  a task encodes as soon as its reply is overdue
 * @mutation LATE_REPLY fence  a call without regions goes on, and its reply is read all the same
 * @mutation NO_RECEIVE fence  a reply that is being processed is not looked at
 * @mutation WAKE_EARLY fence  tasks are woken before the connection has been taken down
 * @mutation NO_SECOND_LOOK end  the connection may have gone before the task slept
 * @mutation NO_RELEASE_WAIT freed  a task that ends does not wait for the release
 * @mutation NO_REFERENCE end  a loan has no reference on its connection, which is another by then
 */

#define CALLS	2
#define CONNS	3	/* places for connections, taken again when nobody refers to one */

#define OK		0
#define ETIMEDOUT	1
#define ENOTCONN	2
#define EAGAIN		3
#define ERESTARTSYS	4

#define CLOSER	(CALLS + 1)	/* holder of the write lock; a task is 1 more than its number */

mtype = { NONE, ESTABLISHED, BROKEN };

/* The transport, and what SUNRPC knows of it */
byte xt_conn, cookie, locked;
bool connected, close_wait;

/* Connections, from 1 on */
mtype xc_state[CONNS + 1] = NONE;
bool drained[CONNS + 1];	/* its queue pair is in the error state */
bool released[CONNS + 1];
byte refs[CONNS + 1];

/* Calls */
bool v4[CALLS];
bool recvq[CALLS], need_xmit[CALLS], sent[CALLS], replied[CALLS], ends[CALLS];
bool pending[CALLS], fenced[CALLS];
byte tk_status[CALLS], rq_cookie[CALLS], pin[CALLS];
byte ln_conn[CALLS], ln_receive[CALLS], sent_on[CALLS], inv[CALLS];
bool ln_mrs[CALLS];
byte valid[CALLS];	/* the connection on which its regions are valid */
byte out[CALLS];	/* the connection on which the peer has it */
byte busy[CALLS];	/* the connection on which its reply is processed */

byte timeouts = 1, losses = 1, kills = 1;

#define reached(t)	(valid[t] && !drained[valid[t]])
#define retransmit(t)	(rq_cookie[t] != cookie || !connected)

inline get(c)
{
	assert(refs[c] > 0);	/* alive */
	refs[c]++
}

inline put(c)
{
	assert(refs[c] > 0);	/* alive */
	refs[c]--
}

inline loan_drop(t)
{
#ifndef NO_REFERENCE
	put(ln_conn[t]);
#endif
	ln_conn[t] = 0
}

inline lend(t, c)
{
	if
	:: !ln_conn[t] ->
#ifndef NO_REFERENCE
		get(c);
#endif
		ln_conn[t] = c
	:: else
	fi;
	ln_mrs[t] = true
}

/* Under xc_lock */
inline conn_fail(c)
{
	atomic {
		assert(refs[c] > 0);	/* alive */
		if
		:: xc_state[c] == ESTABLISHED -> xc_state[c] = BROKEN; close_wait = true
		:: else
		fi
	}
}

inline wake_pending(status)
{
	d_step {
		i = 0;
		do
		:: i < CALLS ->
			if
			:: pending[i] -> pending[i] = false; tk_status[i] = status
			:: else
			fi;
			i++
		:: else -> break
		od;
		i = 0
	}
}

inline wake_fenced()
{
	d_step {
		i = 0;
		do
		:: i < CALLS -> fenced[i] = false; i++
		:: else -> break
		od;
		i = 0
	}
}

inline destroy(c)
{
	/* 1 */
	xc_state[c] = BROKEN;
	/* 2 to 4: what is posted is flushed, and handlers have returned */
	drained[c] = true;
	(busy[0] != c && busy[1] != c && inv[0] != c && inv[1] != c);
	/* 5 */
	d_step {
		i = 0;
		do
		:: i < CALLS ->
			if
			:: valid[i] == c -> valid[i] = 0
			:: else
			fi;
			if
			:: ln_conn[i] == c -> ln_mrs[i] = false
			:: else
			fi;
			out[i] = (out[i] == c -> 0 : out[i]);
			i++
		:: else -> break
		od;
		i = 0;
		released[c] = true
	};
	/* 7 */
	d_step { put(c); c = 0 }
}

inline establish()
{
	d_step {
		/* There is always a place: those that are referred to are of calls. */
		c = (refs[1] == 0 -> 1 : (refs[2] == 0 -> 2 : 3));
		assert(refs[c] == 0);	/* alive */
		refs[c] = 1;
		xc_state[c] = ESTABLISHED;
		drained[c] = false;
		released[c] = false;
		xt_conn = c;
		/* xc_serial is a new one. */
		sent_on[0] = (sent_on[0] == c -> 0 : sent_on[0]);
		sent_on[1] = (sent_on[1] == c -> 0 : sent_on[1]);
		c = 0;
		cookie++;
		connected = true;
	};
	wake_pending(EAGAIN)
}

inline send_call(u)
{
	ck = cookie;
	c = xt_conn;
	if
	:: close_wait || !connected || !c || xc_state[c] != ESTABLISHED ->
		rc = ENOTCONN
	:: else ->
		if
		:: rq_cookie[u] == cookie ->
			/* No retransmission on the same connection */
			conn_fail(c);
			rc = ENOTCONN
		:: else ->
			if
			:: ln_conn[u] ->
				/* What was lent on an earlier connection has been taken back. */
				d_step {
					assert(!ln_mrs[u]);	/* pool */
					loan_drop(u)
				}
			:: else
			fi;
			if
			:: d_step { lend(u, c) }
			:: skip		/* a call that offers no memory */
			fi;
			d_step {
				sent_on[u] = c;
				if
				:: xc_state[c] == ESTABLISHED ->
					out[u] = c;
					valid[u] = (ln_mrs[u] -> c : 0);
					rc = OK
				:: else -> rc = ENOTCONN
				fi
			}
			if
			:: rc == OK -> d_step { rq_cookie[u] = ck; sent[u] = true; need_xmit[u] = false }
			:: else -> conn_fail(c)
			fi
		fi
	fi;
	d_step { c = 0; ck = 0 }
}

inline wait_for_fence(t)
{
	/* Under queue_lock */
	d_step {
#ifdef NO_RECEIVE
		c = ln_conn[t];
#else
		c = (ln_receive[t] -> ln_receive[t] : ln_conn[t]);
#endif
		if
		:: c && released[c] -> c = 0
		:: c && !released[c] -> get(c)
		:: else
		fi;
#ifndef LATE_REPLY
		/* Nothing is lent, nor will it be: no reply on this connection is taken. */
		sent_on[t] = (c -> sent_on[t] : 0)
#endif
	};
	if
	:: c ->
		conn_fail(c);
		fenced[t] = true;
#ifndef NO_SECOND_LOOK
		if
		:: released[c] || ends[t] -> fenced[t] = false
		:: else
		fi;
#endif
		d_step { put(c); c = 0 };
		(!fenced[t] || ends[t]);
		d_step {
			fenced[t] = false;
			tk_status[t] = (replied[t] -> OK : tk_status[t])
		}
	:: else
	fi
}

inline unmap_sync(t)
{
	c = ln_conn[t];
	d_step {
		rc = OK;
		if
		:: !ln_mrs[t]
		:: ln_mrs[t] && xc_state[c] == ESTABLISHED -> inv[t] = c
		:: else -> rc = ENOTCONN
		fi
	};
	if
	:: rc == ENOTCONN -> conn_fail(c)
	:: rc == OK && inv[t] ->
		if
		:: skip
		/* Behind what the peer does not take; the drain flushes it. */
		:: conn_fail(c)
		fi;
		if
		:: d_step { !drained[c] -> valid[t] = 0; inv[t] = 0 }
		:: drained[c] -> conn_fail(c); inv[t] = 0
		fi
	:: else
	fi;
	if
	:: xc_state[c] == ESTABLISHED ->
		d_step {
			assert(!reached(t));	/* pool */
			ln_mrs[t] = false
		}
#ifdef NO_RELEASE_WAIT
	:: else
#else
	:: else -> released[c]
#endif
	fi;
	d_step { loan_drop(t); c = 0; rc = OK }
}

proctype task(byte t)
{
	byte c, ck, u, i, rc;
	bool mine;

	v4[t] = (t == 1);
	if
	:: t == 0 -> v4[t] = true
	:: skip
	fi;
encode:
	if
	:: ends[t] -> goto over
	:: !ends[t] && !need_xmit[t] && (!sent[t] || !v4[t] || retransmit(t)) ->
		atomic { pin[t] == 0 -> recvq[t] = false };
		/* It takes its time. */
		assert(!reached(t));	/* fence */
		skip;
		assert(!reached(t));	/* fence */
		/* Behind the fence a reply may have come after all. */
		d_step { recvq[t] = !replied[t]; need_xmit[t] = true }
	:: else
	fi;
transmit:
	if
	:: ends[t] -> goto over
	:: !ends[t] && !need_xmit[t] -> goto wait
	:: atomic { !ends[t] && need_xmit[t] && !connected && !locked && !close_wait ->
		locked = t + 1;
		rq_cookie[t] = cookie
	   };
		establish();
		locked = 0;
		goto transmit
	:: atomic { !ends[t] && need_xmit[t] && connected && !locked && !close_wait ->
		locked = t + 1 }
	fi;
	/* The queue, from its beginning, until it is empty or an error comes */
	rc = OK;
	u = 0;
	do
	:: u < CALLS && rc == OK ->
		atomic {
			if
			:: need_xmit[u] -> pin[u]++
			:: else -> skip
			fi;
			mine = need_xmit[u]
		};
		if
		:: !mine -> u++
		:: else ->
			if
			:: replied[u] || ends[u] -> need_xmit[u] = false
			:: else -> send_call(u)
			fi;
			d_step { pin[u]--; u++ }
		fi
	:: else -> break
	od;
	skip;
	d_step { locked = 0; u = 0; rc = OK; mine = false };
	goto transmit;
wait:
	skip;
	/* Under queue_lock */
	d_step {
		tk_status[t] = OK;
		if
		:: !recvq[t]
		:: recvq[t] && retransmit(t) -> tk_status[t] = ENOTCONN
		:: else -> pending[t] = true
		fi
	};
	if
	:: !pending[t]
	:: ends[t] -> pending[t] = false
	:: d_step { pending[t] && timeouts ->
		timeouts--;
		pending[t] = false;
		tk_status[t] = ETIMEDOUT
	   }
	fi;
	/* wait_ended() */
	if
	:: tk_status[t] == ETIMEDOUT && replied[t] -> tk_status[t] = OK
	:: tk_status[t] == ETIMEDOUT && !replied[t] -> close_wait = true
	:: else
	fi;
#ifndef NO_FENCE
	if
	:: tk_status[t] != OK && !ends[t] -> wait_for_fence(t)
	:: else
	fi;
#endif
	if
	:: ends[t] || tk_status[t] == OK
	:: else -> goto encode
	fi;
over:
	atomic { pin[t] == 0 -> recvq[t] = false; need_xmit[t] = false };
	if
	:: ln_conn[t] -> unmap_sync(t)
	:: else
	fi;
	assert(!reached(t));	/* freed */
}

/* ok: 1, or 0 when the invalidation was flushed or could not be posted */
inline invalidate(u)
{
	ok = true;
	if
	:: ln_conn[u] ->
		d_step {
			posted = false;
			if
			:: !ln_mrs[u]
			:: ln_mrs[u] && xc_state[c] == ESTABLISHED -> posted = true
			:: else -> ok = false
			fi
		};
		if
		:: posted ->
			if
			:: d_step { !drained[c] -> valid[u] = 0 }
			:: drained[c] -> ok = false
			fi
		:: else
		fi;
		if
		:: !ok -> conn_fail(c)
		:: else ->
			d_step {
				assert(!reached(u));	/* pool */
				ln_mrs[u] = false;
				loan_drop(u)
			}
		fi
	:: else
	fi
}

proctype reply(byte u)
{
	byte c;
	bool ok, posted;

end:
	do
	:: d_step { out[u] && !drained[out[u]] -> c = out[u]; busy[u] = c; out[u] = 0 };
		/* Under queue_lock */
		atomic {
			if
			:: recvq[u] && sent_on[u] == c && !ln_receive[u] ->
				pin[u]++;
				ln_receive[u] = c
			:: else -> goto unknown
			fi
		};
		/* The peer may have invalidated the one region. */
		if
		:: d_step { ln_mrs[u] && !drained[c] -> valid[u] = 0; ln_mrs[u] = false }
		:: skip
		fi;
		invalidate(u);
		if
		:: ok ->
			if
			:: skip
			:: skip ->
				/* It is to be read from the server. */
				d_step { lend(u, c) };
				d_step {
					ok = (xc_state[c] == ESTABLISHED);
					if
					:: ok -> valid[u] = c
					:: else -> ln_mrs[u] = false; loan_drop(u)
					fi
				};
				if
				:: ok ->
					if
					:: !drained[c] -> invalidate(u)
					:: drained[c] -> conn_fail(c); ok = false
					fi
				:: else
				fi
			fi
		:: else
		fi;
		/* reply_let_go(), under queue_lock */
		d_step {
			ln_receive[u] = 0;
			sent_on[u] = 0;
			if
			:: ok ->
				replied[u] = true;
				recvq[u] = false;
				pending[u] = false
			:: else
			fi;
			pin[u]--
		};
unknown:	skip;
		d_step { busy[u] = 0; c = 0; ok = false; posted = false }
	od
}

proctype closer()
{
	byte c, i;

end:
	do
	:: d_step { close_wait && !locked -> locked = CLOSER; cookie++ };
		close_wait = false;
		d_step { c = xt_conn; xt_conn = 0 };
		if
		:: c ->
#ifdef WAKE_EARLY
			wake_fenced();
#endif
			destroy(c);
			wake_fenced()
		:: else
		fi;
		cookie++;
		connected = false;
		wake_pending(ENOTCONN);
		locked = 0
	od
}

proctype events()
{
end:
	do
	:: d_step {
		losses && xc_state[xt_conn] == ESTABLISHED ->
		losses--;
		xc_state[xt_conn] = BROKEN;
		close_wait = true
	   }
	:: d_step { kills -> kills--; ends[0] = true }
	od
}

init {
	atomic {
		/* No call's yet: a cookie is none that was sent with. */
		cookie = 1;
		run task(0);
		run task(1);
		run reply(0);
		run reply(1);
		run closer();
		run events()
	}
}
