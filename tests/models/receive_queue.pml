/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Receives of the server without a lock for each message: how nfsd hears of a message, also of one that
 * comes before the connection is established, and how the Receive Queue is filled again.
 *
 * The CQ handler runs beside the threads, as it does before Linux 6.7. Later it is a thread that polls:
 * that is less, and polling.pml has what is more.
 *
 * Three contexts, two of which are to be posted, and up to four messages: the client keeps to no credits. A
 * batch is one Receive. A step is what is one access to memory, or is done under st_recv_lock.
 *
 * @part recv_cq  the CQ handler of the Receives
 *	svcrdma/recvfrom.c: svcrdma_recv_wc()
 *	svcrdma/recv_ctxt.c: svcrdma_recv_taken()
 * @part fill  under st_recv_lock
 *	svcrdma/recv_ctxt.c: post_missing() post_receives() spare_take()
 * @part data  there is something for nfsd
 *	svcrdma/notify.c: svcrdma_transport_data()
 * @part cm  the connection is established
 *	svcrdma/connection.c: transport_established()
 * @part nfsd  a thread that receives, and is done with the call
 *	svcrdma/recvfrom.c: svcrdma_recvfrom() recv_next() recv_pop()
 *	svcrdma/recv_ctxt.c: svcrdma_recv_ctxt_put()
 * @part rest  environment: nothing happens any more
 *
 * @property seen  no message lies there, and nfsd does not come for it
 *	kunit/svcrdma_kunit: svcrdma_call.call_burst_uses_up_the_spare_buffers
 * @property posted  the Receive Queue is full again when nfsd is done with all calls
 *	kunit/svcrdma_kunit: svcrdma_call.call_burst_uses_up_the_spare_buffers
 *
 * @mutation NO_LOOK_BEHIND seen  who clears XPT_DATA does not look whether there is more
 * @mutation DATA_FIRST seen  XPT_DATA is set before the message is there
 * @mutation STATE_FIRST seen  the state is looked at before the message is there
 * @mutation NO_SECOND_TAKE posted  who finds no context does not look again
 * @mutation LOOK_FIRST posted  who puts a context looks for want of one before
 */

#define TARGET		2
#define CONTEXTS	3
#define MESSAGES	4

byte posted = TARGET, spare = CONTEXTS - TARGET, ready, sent, handled, lock_free = 1;
bool starved, established, xpt_data, xpt_busy, wanted;

inline lock()	{ atomic { lock_free; lock_free = 0 } }

/* svc_xprt_enqueue() */
inline enqueue()
{
	if
	:: xpt_data ->
		atomic {
			if
			:: !xpt_busy -> xpt_busy = true; wanted = true
			:: else
			fi
		}
	:: else
	fi
}

inline data()
{
	if
	:: established -> xpt_data = true; enqueue()
	:: else
	fi
}

inline fill()
{
	lock();
	starved = false;
	do
	:: posted < TARGET ->
		if
		:: d_step { spare -> spare--; posted++ }
		:: d_step { spare == 0 -> skip };
			starved = true;
#ifdef NO_SECOND_TAKE
			break
#else
			if
			:: d_step { spare -> spare--; posted++ }
			:: d_step { spare == 0 -> skip }; break
			fi
#endif
		fi
	:: else -> break
	od;
	lock_free = 1
}

proctype recv_cq()
{
	bool shown;

end:	do
	:: d_step { sent < MESSAGES && posted -> sent++; posted-- };
#ifdef STATE_FIRST
		shown = established;
		ready++;
		if
		:: shown -> xpt_data = true; enqueue()
		:: else
		fi;
#else
#ifdef DATA_FIRST
		data();
		ready++;
#else
		ready++;
		data();
#endif
#endif
		fill()
	od
}

proctype cm()
{
	established = true;
	data()
}

proctype nfsd()
{
	bool got, look;

end:	do
	:: d_step { wanted -> wanted = false };
		d_step {
			got = ready > 0;
			if
			:: got -> ready--
			:: else
			fi
		};
		xpt_data = false;
#ifndef NO_LOOK_BEHIND
		if
		:: ready -> xpt_data = true
		:: else
		fi;
#endif
		/* svc_xprt_received() */
		xpt_busy = false;
		enqueue();
		if
		:: got ->
			handled++;
#ifdef LOOK_FIRST
			look = starved;
			spare++;
#else
			spare++;
			look = starved;
#endif
			if
			:: look -> fill()
			:: else
			fi
		:: else
		fi
	od
}

proctype rest()
{
	timeout;
	assert(!ready && handled == sent);		/* seen */
	assert(posted == TARGET)			/* posted */
}

init {
	/* The client sends that many less. */
	if
	:: sent = 0
	:: sent = 1
	:: sent = 2
	:: sent = 3
	fi;
	handled = sent;
	atomic { run recv_cq(); run cm(); run nfsd(); run nfsd(); run rest() }
}
