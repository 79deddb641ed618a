/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The server's callbacks with chunks: one that is under way, answered, sent again or killed while
 * its connection, and nfsd's rpc_clnt, come to their end.
 *
 * One callback, which may be sent twice; each time it is a struct svcrdma_long_call of its own.
 * What a callback without chunks does is a part of it: the RPC is looked up and completed.
 *
 * @part task  rpciod, with the callback, from its first Send to its release
 *	svcrdma/backchannel.c: backchannel_send_request() backchannel_send() backchannel_post()
 *	svcrdma/backchannel.c: backchannel_release_request() backchannel_buf_free()
 *	svcrdma/bc_chunks.c: svcrdma_long_call_create() long_call_alloc()
 * @part post  there are Send Queue entries
 *	svcrdma/send_ctxt.c: send_post_exposing() send_granted()
 *	svcrdma/region.c: svcrdma_exposure_post()
 * @part long_call_end  no reply is taken any more
 *	svcrdma/bc_chunks.c: svcrdma_long_call_end()
 *	svcrdma/region.c: svcrdma_exposure_find() svcrdma_exposure_fence()
 * @part long_call_free  nobody can reach its memory any more
 *	svcrdma/region.c: svcrdma_exposure_free()
 *	svcrdma/bc_chunks.c: long_call_free() memory_free()
 * @part nfsd  a thread of nfsd that receives the client's reply
 *	svcrdma/backchannel.c: svcrdma_backchannel_reply()
 *	svcrdma/backchannel.c: backchannel_complete()
 * @part send_cq  the queue pair, and the handler of the LOCAL_INVs
 *	svcrdma/region.c: exposure_inv_wc()
 *	svcrdma/bc_chunks.c: long_call_fenced()
 *	svcrdma/backchannel.c: svcrdma_backchannel_answer()
 * @part granter  who gives Send Queue entries back
 *	svcrdma/sq.c: svcrdma_sq_put() svcrdma_sq_reserve()
 * @part transport_close  the connection has to end
 *	svcrdma/notify.c: svcrdma_transport_close() svcrdma_wc_error()
 *	svcrdma/sq.c: svcrdma_sq_close()
 * @part teardown  detach, and the last reference, with which that on the rpc_xprt goes
 *	svcrdma/connection.c: transport_quiesce() svcrdma_transport_free()
 *	svcrdma/backchannel.c: backchannel_close() backchannel_destroy() backchannel_free_work()
 *	svcrdma/region.c: svcrdma_exposures_destroy()
 *	svcrdma/send_ctxt.c: svcrdma_send_ctxts_destroy() svcrdma_send_ctxt_clear()
 * @part shutdown  nfsd ends its rpc_clnt, then lets go of the connection
 *	svcrdma/backchannel.c: backchannel_setup()
 * @part client  environment: the loss of the connection
 *
 * @property fence  no page is freed while the client reaches it
 *	kunit/memory_kunit: memory_callback.callback_is_given_up
 *	kunit/memory_kunit: memory_callback.fault_at_each_step
 * @property stable  a reply is copied out of its chunk only when it stays as it is
 *	kunit/memory_kunit: memory_callback.callback_on_infiniband: small, the reply is a page
 * @property once  each callback is answered once at most, and while its buffer is there
 *	kunit/svcrdma_kunit: svcrdma_bc_chunk.long_call_wants_a_reply
 *	peer-rxe: callback-same-xid
 * @property rest  a callback that is over exposes nothing
 *	kunit/memory_kunit: memory_callback.call_is_gone_when_it_is_read
 *	kunit/memory_kunit: memory_callback.callback_is_given_up
 * @property leak  nothing is left when the transport has been freed
 *	kunit/memory_kunit: memory_callback.connection_is_lost
 * @property alive  nobody uses a transport, or an rpc_xprt, that has been freed
 *	kunit/memory_kunit: memory_callback.connection_is_lost_while_reading
 * @property end  shutdown and the end of the connection wait for nobody for ever
 *	kunit/memory_kunit: memory_callback.invalidation_takes_too_long
 *
 * @mutation ANSWER_EARLY stable  the RPC is completed before the LOCAL_INVs have
 * @mutation FREE_EARLY fence  memory goes with the RPC
 * @mutation POST_UNSEEN rest  whether it has ended is looked at before the lock is taken
 * @mutation NO_END rest  the release of a callback leaves what it exposes
 * @mutation NO_ENDED once  one that has ended can be found, and ended again
 * @mutation NO_SECOND_DRAIN alive  what was posted behind the first drain is not waited for
 * @mutation PUT_FIRST alive  nfsd lets go of the connection before its tasks have ended
 * @mutation NO_DESTROY leak  those that have been posted are forgotten
 */

#define SENDS	2

mtype = { NONE, BUILT, WAITS, POSTED };

/* The transport */
bool closing, close_asked, dead, drained, freed;
byte refs = 2;		/* SUNRPC's, and that of nfsd's client */
byte bc_refs = 2;	/* of the rpc_xprt: the rpc_clnt's, and the svc_xprt's */
bool killed, task_over;

/* The RPC */
bool recvq, buffer;
byte answers;

/* Each time that it is sent */
mtype lc[SENDS] = NONE;
bool ended[SENDS], valid[SENDS], pages[SENDS], known[SENDS], told[SENDS], answered[SENDS];
byte inv[SENDS];	/* LOCAL_INVs: 1 posted, 2 done */
bool cq_runs[SENDS], sq_runs;
byte frees[SENDS];

inline transport_close()
{
	atomic {
		assert(!freed);	/* alive */
		if
		:: !closing -> closing = true; close_asked = true
		:: else
		fi
	}
}

inline long_call_free(i)
{
	d_step {
		assert(!freed);				/* alive */
		assert(!valid[i] || drained);		/* fence */
		assert(pages[i]);			/* once */
		pages[i] = false;
		frees[i]++;
		lc[i] = NONE
	}
}

/* SVCRDMA_EXPOSURE_ARMED is lc == POSTED */
inline post(i)
{
#ifdef POST_UNSEEN
	if
	:: ended[i] -> long_call_free(i)
	:: else ->
		d_step { assert(!freed) /* alive */; lc[i] = POSTED }
	fi
#else
	/* Under st_expose_lock */
	d_step {
		assert(!freed);	/* alive */
		cancelled = ended[i];
		if
		:: !ended[i] -> lc[i] = POSTED
		:: else
		fi
	};
	if
	:: cancelled -> cancelled = false; long_call_free(i)
	:: else
	fi
#endif
}

#ifdef NO_ENDED
#define found(i)	(lc[i] != NONE)
#else
#define found(i)	(lc[i] != NONE && !ended[i])
#endif

inline long_call_end(answer)
{
	/* Under st_expose_lock */
	d_step {
		assert(!freed);	/* alive */
		i = SENDS;
		if
		:: found(0) -> i = 0
		:: !found(0) && found(1) -> i = 1
		:: else
		fi;
		if
		:: i < SENDS ->
			ended[i] = true;
			if
			:: lc[i] == POSTED -> answered[i] = answer
			:: else -> i = SENDS
			fi
		:: else
		fi
	};
	if
	:: i < SENDS && !closing ->
#ifdef FREE_EARLY
		long_call_free(i)
#else
		d_step {
			assert(!freed);		/* alive */
			assert(inv[i] == 0);	/* once */
			inv[i] = 1
		}
#endif
	:: else
	fi;
	i = 0
}

/* Under queue_lock: xprt_lookup_rqst(), xprt_complete_rqst() */
inline complete()
{
	d_step {
		assert(bc_refs > 0);	/* alive */
		if
		:: recvq ->
			assert(buffer && !answers);	/* once */
			recvq = false;
			answers++
		:: else
		fi
	}
}

proctype task()
{
	byte n, i;
	bool cancelled;

	buffer = true;
	recvq = true;
	do
	:: n < SENDS ->
		if
		:: closing || killed -> break
		:: else
		fi;
		/* SUNRPC sends a call again whose answer it could not read. */
		long_call_end(false);
		assert(lc[n] == NONE);	/* once */
		d_step { lc[n] = BUILT; pages[n] = true };
		/* svcrdma_send_message() */
		if
		:: d_step { !closing -> lc[n] = BUILT }; post(n)
		:: d_step { !closing -> lc[n] = WAITS }
		:: closing -> long_call_free(n); assert(!freed)	/* alive; asks for the close once more */
		fi;
		n++;
		/* Until there is an answer, a signal, or the connection has gone; or again. */
		if
		:: !recvq -> break
		:: killed -> break
		:: n < SENDS
		fi
	od;
	recvq = false;
#ifndef NO_END
	long_call_end(false);
#endif
	buffer = false;
	task_over = true
}

proctype nfsd()
{
	byte i, offered;

end:
	do
	:: atomic { (known[0] || known[1]) && !dead -> refs++ };
		if
		:: /* RDMA_MSG, or RDMA_ERROR */
			complete()
		:: /* RDMA_NOMSG: in the Reply chunk */
			d_step {
				assert(!freed);	/* alive */
				offered = ((found(0) && lc[0] == POSTED) || (found(1) && lc[1] == POSTED))
			};
			if
			:: offered ->
#ifdef ANSWER_EARLY
				assert(!valid[0] && !valid[1]);	/* stable */
				complete();
#endif
				long_call_end(true)
			:: else
			fi
		fi;
		d_step { known[0] = false; known[1] = false; refs--; offered = 0 }
	od
}

proctype send_cq(byte i)
{
end:
	do
	:: d_step { lc[i] == POSTED && !drained && !told[i] ->
		valid[i] = true; known[i] = true; told[i] = true }
	/* Behind the registrations: a queue pair works in order. */
	:: d_step { inv[i] == 1 && told[i] && !drained -> valid[i] = false; inv[i] = 2 }
	:: d_step { inv[i] == 2 -> inv[i] = 0; cq_runs[i] = true };
		if
		:: answered[i] ->
			assert(!valid[i] && pages[i]);	/* stable */
			complete()
		:: else
		fi;
		long_call_free(i);
		cq_runs[i] = false
	/* Flushed; the transport is closing. */
	:: d_step { inv[i] == 1 && drained -> assert(!freed) /* alive */; inv[i] = 0 }
	od
}

/* Entries come back, in the handler of a completion. */
proctype granter()
{
	bool cancelled;

end:
	do
	:: d_step { !closing && lc[0] == WAITS -> lc[0] = BUILT; sq_runs = true };
		post(0);
		sq_runs = false
	:: d_step { !closing && lc[1] == WAITS -> lc[1] = BUILT; sq_runs = true };
		post(1);
		sq_runs = false
	od
}

inline drain()
{
	(!inv[0] && !inv[1] && !cq_runs[0] && !cq_runs[1] && !sq_runs)
}

proctype teardown()
{
	close_asked;
	/* transport_quiesce() */
	d_step { closing = true; dead = true };
	drained = true;
	drain();
	/* backchannel_close(): nobody waits for a connection that will not come back. */
	killed = true;
	refs--;
	refs == 0;
	/* svc_xprt_free() */
	bc_refs--;
	/* svcrdma_transport_free() */
#ifndef NO_SECOND_DRAIN
	drain();
#endif
	if
	:: lc[0] == WAITS -> long_call_free(0)
	:: else
	fi;
	if
	:: lc[1] == WAITS -> long_call_free(1)
	:: else
	fi;
#ifndef NO_DESTROY
	if
	:: lc[0] != NONE -> long_call_free(0)
	:: else
	fi;
	if
	:: lc[1] != NONE -> long_call_free(1)
	:: else
	fi;
#endif
	freed = true;
	assert(!pages[0] && !pages[1]);	/* leak */
	assert(frees[0] <= 1 && frees[1] <= 1);		/* once */
}

proctype shutdown()
{
	killed = true;
#ifdef PUT_FIRST
	refs--;
	task_over;
	bc_refs--
#else
	task_over;
	bc_refs--;
	refs--
#endif
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
	transport_close()
}

init {
	atomic {
		run task();
		run nfsd();
		run send_cq(0);
		run send_cq(1);
		run granter();
		run teardown();
		run shutdown();
		run client()
	}
}
