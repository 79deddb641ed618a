/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The client's side of callbacks: calls of the server come, are read, handed to the callback
 * service and answered, while the consumer stops its service and the transport goes.
 *
 * Two calls, each with a struct bc_request as long as it is there. What is read is the HCA's until
 * its regions have been taken back.
 *
 * @part receive  the handlers of a call's completions, and what reads its chunks
 *	xprtrdma/backchannel.c: bc_request_get() bc_request_add()
 *	xprtrdma/backchannel.c: xprtrdma_bc_receive() bc_request_begin()
 *	xprtrdma/backchannel.c: xprtrdma_bc_pulled()
 *	xprtrdma/pull.c: xprtrdma_pull() pull_start() pull_wc() pull_put_back()
 * @part enqueue  a call goes to the service, with a reference on the transport
 *	xprtrdma/backchannel.c: enqueue()
 * @part request_put  it is idle
 *	xprtrdma/backchannel.c: bc_request_put()
 * @part free_idle  those that are idle are freed
 *	xprtrdma/backchannel.c: free_idle() bc_request_free()
 * @part service  a thread of the callback service, and the task that sends its reply
 *	xprtrdma/bc_reply.c: xprtrdma_bc_send()
 *	xprtrdma/backchannel.c: xprtrdma_bc_free_rqst()
 * @part bc_stop  no more calls
 *	xprtrdma/backchannel.c: xprtrdma_bc_stop()
 * @part bc_destroy  the same, and a while for those that have come
 *	xprtrdma/backchannel.c: xprtrdma_bc_destroy()
 * @part consumer  the NFS client stops its service, and lets go of the transport
 *	xprtrdma/transport.c: transport_destroy() disconnect()
 *	xprtrdma/connection.c: xprtrdma_conn_destroy()
 *	xprtrdma/pull.c: xprtrdma_pulls_abort()
 * @part events  environment: the connection is lost
 *
 * @property service  nobody hands a call to a service that has been freed
 *	kunit/xprtrdma_kunit: xprtrdma_bc.bc_consumer_has_stopped
 *	kunit/xprtrdma_kunit: xprtrdma_bc.bc_nobody_listens
 * @property taken  a service that has been told to stop has left no call
 *	kunit/xprtrdma_kunit: xprtrdma_bc.bc_consumer_takes_all_before_it_stops
 * @property fence  the pages of a call are not freed while the HCA may write to them
 *	kunit/xprtrdma_kunit: xprtrdma_bc_chunk.connection_is_lost_while_reading
 *	kunit/xprtrdma_kunit: xprtrdma_bc_chunk.service_stops_while_reading
 * @property once  each call comes to its end once
 *	kunit/xprtrdma_kunit: xprtrdma_bc.bc_reply_is_sent
 *	kunit/xprtrdma_kunit: xprtrdma_bc.bc_calls_follow_replies_at_once
 * @property alive  nobody uses a transport that has been freed
 *	kunit/xprtrdma_kunit: xprtrdma_bc.bc_reply_on_another_connection
 *	kunit/xprtrdma_kunit: xprtrdma_transport_loss.destroy_while_connected
 * @property leak  no request is left when the transport has been freed
 *	kunit/xprtrdma_kunit: xprtrdma_bc_chunk.service_stops_while_reading
 *	kunit/xprtrdma_kunit: xprtrdma_transport_loss.module_stays_until_destroy_has_returned
 * @property end  the consumer comes to its end
 *	kunit/xprtrdma_kunit: xprtrdma_bc.bc_consumer_takes_all_before_it_stops
 *
 * @mutation UNLOCKED taken  whether there is a service is looked at before the lock is taken
 * @mutation NO_REFERENCE alive  a call has no reference on the transport
 * @mutation NO_WAIT taken  the consumer is not held up for the calls that have come
 * @mutation NO_STRAND fence  the request of a call whose reading was broken off is idle at once
 * @mutation STOP_FIRST leak  idle requests are freed before the connection has gone
 * @mutation NO_ABORT leak  those whose reading was broken off are forgotten
 */

#define CALLS	2

mtype = { NONE, IDLE, READING, STRANDED, QUEUED, SERVED };

/* The transport. Requests: xt_bc_count, bc_pa_list */
byte refs = 1, count;
bool ready, broken, drained, conn_gone, freed;
bool serv_told, serv_freed;
mtype call[CALLS] = NONE;	/* where its request is */
bool writes[CALLS];		/* the HCA may write to its pages */
bool busy[CALLS];		/* a handler, or the worker, has it */
byte received[CALLS], ended[CALLS];

inline request_put(n)
{
	d_step {
		assert(!freed);			/* alive */
		assert(!writes[n] || drained);	/* fence */
		assert(call[n] != IDLE && call[n] != NONE);	/* once */
		call[n] = IDLE;
		ended[n]++
	}
}

inline free_idle()
{
	/* Under bc_pa_lock; those that it has taken off the list are nobody else's. */
	d_step {
		assert(!freed);	/* alive */
		i = 0;
		do
		:: i < CALLS ->
			if
			:: call[i] == IDLE -> call[i] = NONE; count--
			:: else
			fi;
			i++
		:: else -> break
		od;
		i = 0
	}
}

inline enqueue(n)
{
#ifdef UNLOCKED
	taken = ready && refs;
#endif
	/* Under bc_pa_lock */
	d_step {
		assert(!freed);	/* alive */
#ifndef UNLOCKED
		taken = ready && refs;
#endif
		if
		:: taken ->
			assert(!serv_freed);	/* service */
#ifndef NO_REFERENCE
			refs++;
#endif
			call[n] = QUEUED
		:: else
		fi
	};
	if
	:: !taken -> request_put(n)
	:: else
	fi;
	taken = false
}

/* One call after the other, each twice at most */
proctype receive(byte n)
{
	bool taken;

end:
	do
	:: d_step { !drained && received[n] < 2 && (call[n] == NONE || call[n] == IDLE) ->
		busy[n] = true; received[n]++ };
		assert(!freed);	/* alive */
		if
		:: !ready -> ended[n]++
		:: else ->
			/* bc_request_get(), under bc_pa_lock: an idle one, or another */
			d_step {
				count = (call[n] == NONE -> count + 1 : count);
				call[n] = READING
			};
			if
			:: enqueue(n)
			:: /* It has Read chunks. reads_post(), under xc_lock */
				d_step { writes[n] = !broken };
				if
				:: writes[n] ->
					if
					/* They have been read, and the regions invalidated. */
					:: d_step { !drained && !broken -> writes[n] = false }
					/* Or not, for the connection is lost. */
					:: broken
					fi
				:: else
				fi;
				if
				:: !writes[n] && !broken -> enqueue(n)
				:: else ->
#ifdef NO_STRAND
					request_put(n)
#else
					call[n] = STRANDED
#endif
				fi
			fi
		fi;
		busy[n] = false
	od
}

proctype service(byte n)
{
end:
	do
	/* svc_recv(): one that has been told to stop takes nothing. */
	:: d_step { call[n] == QUEUED && !serv_told -> call[n] = SERVED };
		/* Its reply is sent, or not: the connection is another's, or lost. */
		assert(!freed);	/* alive */
		request_put(n);
		d_step {
			assert(!freed);	/* alive */
#ifndef NO_REFERENCE
			refs--
#endif
		}
	od
}

inline bc_stop()
{
	d_step {
		assert(!freed);	/* alive */
		ready = false
	};
	free_idle()
}

inline bc_destroy()
{
	bc_stop();
#ifndef NO_WAIT
	do
	:: count -> free_idle();
		if
		:: !count
		:: call[0] == IDLE || call[1] == IDLE
		/* Its time is over, but not for a service that takes calls. */
		:: call[0] != QUEUED && call[0] != SERVED && call[1] != QUEUED && call[1] != SERVED -> break
		fi
	:: !count -> break
	od
#endif
}

proctype consumer()
{
	byte i;

	/* xprtrdma_bc_setup() */
	ready = true;
	skip;
	bc_destroy();
	/* svc_set_num_threads(), svc_destroy() */
	serv_told = true;
	(call[0] != SERVED && call[1] != SERVED);
	assert(call[0] != QUEUED && call[1] != QUEUED);	/* taken */
	serv_freed = true;
	/* xprt_put() */
	refs--;
	refs == 0;
	bc_destroy();
	/* transport_destroy() */
#ifdef STOP_FIRST
	bc_stop();
#endif
	broken = true;
	drained = true;
	(!busy[0] && !busy[1]);
	/* xprtrdma_pulls_abort() */
	d_step { writes[0] = false; writes[1] = false };
#ifndef NO_ABORT
	if
	:: call[0] == STRANDED -> request_put(0)
	:: else
	fi;
	if
	:: call[1] == STRANDED -> request_put(1)
	:: else
	fi;
#endif
#ifndef STOP_FIRST
	bc_stop();
#endif
	freed = true;
	d_step {
		assert(count == 0 && call[0] == NONE && call[1] == NONE);	/* leak */
		assert(ended[0] == received[0] && ended[1] == received[1]);	/* once */
	}
}

/* The reading of a call may be broken off; the connection stays until the transport goes. */
proctype events()
{
	if
	:: broken = true
	:: skip
	fi
}

init {
	atomic {
		run receive(0);
		run receive(1);
		run service(0);
		run service(1);
		run consumer();
		run events()
	}
}
