/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who polls the completion queue of the server's Receives: threads of nfsd, which a completion event
 * wakes, and from the teardown on a worker, which sees the completion of the drain.
 *
 * Three messages, two threads, and a connection that may be lost at any time. The provider puts a
 * completion into the queue and disarms it in one step; its event comes later. Left out: messages
 * before the connection is established and what is posted in their place (receive_queue.pml), and a
 * thread that leaves messages in the queue, since the client has sent more than it may: the queue is
 * armed then with something in it.
 *
 * @part hca  environment: completions, and their events
 *	svcrdma/recvfrom.c: completion_event()
 * @part data  there is something for nfsd
 *	svcrdma/notify.c: svcrdma_transport_data()
 * @part poll  whoever it is
 *	svcrdma/recvfrom.c: svcrdma_poll() poll_queue()
 *	svcrdma/recvfrom.c: svcrdma_recv_wc()
 * @part nfsd  a thread that receives, or closes
 *	svcrdma/recvfrom.c: svcrdma_recvfrom() recv_next() recv_pop()
 *	svcrdma/recvfrom.c: svcrdma_poll_arm()
 * @part teardown  the connection is lost
 *	svcrdma/connection.c: transport_quiesce()
 *	svcrdma/recvfrom.c: svcrdma_poll_stop()
 * @part worker  where no thread comes
 *	svcrdma/recvfrom.c: poll_work()
 * @part rest  environment: nothing happens any more
 *
 * @property seen  no message lies there, and nfsd does not come for it
 *	kunit/svcrdma_kunit: svcrdma_poll.poll_again_for_what_came_meanwhile
 *	kunit/memory_kunit: memory_poll.one_thread_polls_for_all
 * @property one  nobody polls while another one does
 *	kunit/memory_kunit: memory_poll.closed_with_messages_that_nobody_saw
 * @property drained  the completion of the drain is seen
 *	kunit/memory_kunit: memory_poll.closed_with_messages_that_nobody_saw
 *	kunit/svcrdma_kunit: svcrdma_poll.poll_again_by_the_worker
 *
 * @mutation NO_MISSED seen  what came before the queue was armed is not asked for
 * @mutation ARM_FIRST seen  the queue is armed before XPT_DATA is cleared
 * @mutation NO_WAKE drained  the worker is not woken at the teardown, only by events
 * @mutation FLAG_LATE drained  the worker is woken before events are for it
 * @mutation NOT_BUSY one  a thread may still come when the teardown has begun
 */

#define MESSAGES	3

byte sent, in_cq, ready, handled, polling;
bool armed = true, established = true, by_worker, work, drain_in_cq, drained;
bool may_be_lost, drain_posted;
bool xpt_data, xpt_close, xpt_busy, wanted;

/* svc_xprt_enqueue() */
inline enqueue()
{
	if
	:: xpt_data || xpt_close ->
		atomic {
			if
			:: !xpt_busy -> xpt_busy = true; wanted = true
			:: else
			fi
		}
	:: else
	fi
}

/* Completion events, and whoever else has something */
inline data()
{
	if
	:: established -> xpt_data = true; enqueue()
	:: else ->
		if
		:: by_worker -> work = true
		:: else
		fi
	fi
}

inline poll()
{
	polling++;
	assert(polling == 1);		/* one */
	d_step {
		ready = ready + in_cq;
		in_cq = 0;
		drained = drained || drain_in_cq;
		drain_in_cq = false
	};
	polling--
}

inline arm()
{
	d_step { armed = true; missed = in_cq || drain_in_cq }
}

inline teardown()
{
	established = false;
#ifdef FLAG_LATE
	work = true;
	by_worker = true;
#else
	by_worker = true;
#ifndef NO_WAKE
	work = true;
#endif
#endif
	d_step { drain_posted = true; drain_in_cq = true; tell = armed; armed = false };
	/* The event, which sees what this has written. */
	if
	:: tell -> work = true
	:: else
	fi
}

proctype hca()
{
	bool tell;

end:	do
	:: d_step { sent < MESSAGES && !drain_posted -> sent++; in_cq++; tell = armed; armed = false };
		if
		:: tell -> data()
		:: else
		fi
	:: d_step { may_be_lost && !xpt_close -> xpt_close = true };
#ifdef NOT_BUSY
		teardown()
#else
		enqueue()
#endif
	od
}

proctype nfsd()
{
	bool got, missed, tell;

end:	do
	:: d_step { wanted -> wanted = false };
#ifndef NOT_BUSY
		if
		/* XPT_BUSY is never given back. */
		:: xpt_close -> teardown(); break
		:: else
		fi;
#endif
		poll();
		d_step {
			got = ready > 0;
			if
			:: got -> ready--
			:: else
			fi
		};
#ifdef ARM_FIRST
		arm();
		xpt_data = false;
		if
		:: ready || missed -> xpt_data = true
		:: else
		fi;
#else
		xpt_data = false;
		if
		:: ready -> xpt_data = true
		:: else ->
			arm();
#ifndef NO_MISSED
			if
			:: missed -> xpt_data = true
			:: else
			fi
#endif
		fi;
#endif
		handled = handled + got;
		/* svc_xprt_received() */
		xpt_busy = false;
		enqueue()
	od
}

proctype worker()
{
	bool missed;

end:	do
	:: d_step { work -> work = false };
		poll();
		arm();
		if
		:: missed -> work = true
		:: else
		fi
	od
}

proctype rest()
{
	timeout;
	assert(xpt_close || !in_cq && !ready && handled == sent);	/* seen */
	assert(!xpt_close || drained)					/* drained */
}

init {
	if
	:: may_be_lost = true
	:: skip
	fi;
	atomic { run hca(); run nfsd(); run nfsd(); run worker(); run rest() }
}
