/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls that nfsd leaves alone while too many contexts wait for Send Queue entries: how nfsd hears of
 * them when fewer wait.
 *
 * One entry, up to five messages, and two threads. From two waiting contexts on no call is taken. An
 * RDMA_DONE gives no entry back here, so that only completions do. Left out: who polls the completion
 * queue of the Receives (polling.pml), the watch of the Send Queue (send_queue.pml), callbacks, which wait
 * for entries as well, and the end of the connection. A step is what
 * is one access to memory, or is done under st_sq.lock and seen by nobody without it.
 *
 * @part recv_cq  the CQ handler of the Receives
 *	svcrdma/recvfrom.c: svcrdma_recv_wc()
 * @part data  there is something for nfsd
 *	svcrdma/notify.c: svcrdma_transport_data()
 * @part nfsd  a thread that receives a call, and replies to it
 *	svcrdma/recvfrom.c: svcrdma_recvfrom() recv_next() recv_no_call() recv_pop()
 *	svcrdma/sq.c: sq_wait() sq_set_waiters()
 * @part send_cq  the CQ handler of the Sends
 *	svcrdma/sq.c: svcrdma_sq_put()
 * @part serve  under st_sq.lock: an entry for the context in front
 *	svcrdma/sq.c: sq_serve() sq_grant()
 * @part rest  environment: nothing happens any more
 *
 * @property seen  no message lies there, and nfsd does not come for it
 *	kunit/svcrdma_kunit: svcrdma_sq.sq_too_many_waiters_stop_new_calls
 * @property few  no more contexts wait than threads can add
 *	kunit/svcrdma_kunit: svcrdma_sq.sq_too_many_waiters_stop_new_calls
 *
 * @mutation NO_WAKE seen  the context that ends the congestion does not tell nfsd
 * @mutation NO_LOOK_BEHIND seen  who leaves the calls alone does not look once more behind XPT_DATA
 * @mutation LOOK_FIRST seen  who leaves the calls alone looks before XPT_DATA is clear
 * @mutation WAKE_FIRST seen  nfsd is told before the congestion ends
 * @mutation TAKE_ALL few  calls are taken whatever waits
 */

#define MESSAGES	5
#define THREADS		2
#define MAX_WAITERS	2

byte sent, ready, done, posted, waiters, lock_free = 1;
bool entry = true, congested, xpt_data, xpt_busy, wanted;

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
	xpt_data = true;
	enqueue()
}

/* Drops the lock. */
inline serve()
{
	d_step { was = congested; first = waiters && entry };
	if
	:: first ->
#ifdef WAKE_FIRST
		if
		:: was && waiters <= MAX_WAITERS -> data()
		:: else
		fi;
#endif
		d_step { entry = false; waiters--; congested = waiters >= MAX_WAITERS }
	:: else
	fi;
	d_step { was = was && !congested; lock_free = 1 };
	if
	:: first -> posted++
	:: else
	fi;
#ifndef NO_WAKE
#ifndef WAKE_FIRST
	if
	:: was -> data()
	:: else
	fi
#endif
#endif
}

proctype recv_cq()
{
end:	do
	:: d_step { sent < MESSAGES -> sent++; ready++ };
		data()
	od
}

proctype send_cq()
{
	bool was, first;

end:	do
	:: d_step { posted -> posted--; done++; entry = true };
		if
		:: waiters -> lock(); serve()
		:: else
		fi
	od
}

proctype nfsd()
{
	bool got, was, first;

end:	do
	:: d_step { wanted -> wanted = false };
		got = false;
		if
#ifndef TAKE_ALL
		:: congested ->
#ifdef LOOK_FIRST
			was = congested;
			xpt_data = false;
			if
			:: !was -> xpt_data = true
			:: else
			fi
#else
			xpt_data = false;
#ifndef NO_LOOK_BEHIND
			if
			:: !congested -> xpt_data = true
			:: else
			fi
#endif
#endif
#endif
		:: else ->
			d_step {
				got = ready > 0;
				if
				:: got -> ready--
				:: else
				fi
			};
			xpt_data = false;
			if
			:: ready -> xpt_data = true
			:: else
			fi
		fi;
		/* svc_xprt_received() */
		xpt_busy = false;
		enqueue();
		/* The reply: an entry without the lock, or under it */
		if
		:: got ->
			d_step {
				first = !waiters && entry;
				if
				:: first -> entry = false; posted++
				:: else
				fi
			};
			if
			:: !first ->
				lock();
				d_step { waiters++; congested = waiters >= MAX_WAITERS };
				/* One call of each thread may be on its way when the last one begins to wait. */
				assert(waiters < MAX_WAITERS + THREADS);	/* few */
				serve()
			:: else
			fi
		:: else
		fi
	od
}

proctype rest()
{
	timeout;
	assert(!ready && done == sent)		/* seen */
}

init {
	/* The client sends that many less. */
	if
	:: sent = 0
	:: sent = 1
	:: sent = 2
	fi;
	done = sent;
	atomic { run recv_cq(); run send_cq(); run nfsd(); run nfsd(); run rest() }
}
