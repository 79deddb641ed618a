/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls whose Reads wait for a memory region or for pages: who tries them again, and how nfsd hears of
 * it.
 *
 * Three calls, the first of which needs one region and the others two, two threads, two regions, and
 * pages for two calls at a time. A CQ handler may begin with a call at once. A step is what is one
 * access to memory, or is done under st_recv_lock and seen by nobody without it. Left out: in which order
 * calls wait, and that new messages and calls that have waited take turns; Send Queue entries; the end of
 * the connection.
 *
 * @part recv_cq  the CQ handler of the Receives
 *	svcrdma/recvfrom.c: svcrdma_recv_wc()
 *	svcrdma/read_chunks.c: svcrdma_reads_claim() begin_reads()
 * @part data  there is something for nfsd
 *	svcrdma/notify.c: svcrdma_transport_data()
 * @part reserve  under st_recv_lock: pages
 *	svcrdma/read_chunks.c: reserve_pages()
 * @part attempt  under st_recv_lock: it is the last one, and perhaps alone
 *	svcrdma/read_chunks.c: begin_attempt()
 * @part start  registers what is read into, and posts the Read
 *	svcrdma/read_chunks.c: start_reads() build_reads() wait_for_regions()
 * @part send_cq  a Read is complete
 *	svcrdma/read_chunks.c: read_done()
 * @part nfsd  a thread that receives
 *	svcrdma/recvfrom.c: svcrdma_recvfrom() recv_next() recv_retry() recv_pop()
 *	svcrdma/read_chunks.c: begin_reads() svcrdma_reads_next() svcrdma_reads_retry() svcrdma_reads_end()
 * @part rest  environment: nothing happens any more
 *
 * @property seen  each call gets to nfsd
 *	kunit/svcrdma_kunit: svcrdma_call_region.call_reads_wait_for_regions
 * @property tried  no call is refused for want of a region that another call has
 *	kunit/svcrdma_kunit: svcrdma_call_region.call_reads_wait_for_regions
 *
 * @mutation NO_LOOK_BEHIND seen  who clears XPT_DATA does not look whether a call can be tried
 * @mutation NO_DATA seen  who gives a region back does not tell nfsd
 * @mutation NO_RETRY seen  the last attempt that fails does not ask for another one
 * @mutation PAGES_SILENT seen  who gives pages back does not look whether a call waits for them
 * @mutation ONE_TRY seen  a call that was tried with success does not ask for the next one
 * @mutation REGION_LATE tried  the region comes back when the call does not count any more
 * @mutation ALONE_AT_LAST tried  who is alone at last takes it that it was alone all the time
 */

#define CALLS	3
#define PAGES	2
#define need(id)	((id) -> 2 : 1)
#define NOBODY	CALLS

mtype { NEW, DONE };

byte sent, handled, pages, built, retries, nr_waits, lock_free = 1, alone = NOBODY;
byte regions = 2;
bool has_pages[CALLS], waits[CALLS], retry, pending;
bool xpt_data, xpt_busy, wanted;
chan ready = [CALLS] of { byte, mtype };
chan posted = [CALLS] of { byte };

inline lock()	{ atomic { lock_free; lock_free = 0 } }
inline unlock()	{ lock_free = 1 }
inline set_pending()	{ pending = retry && nr_waits }

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

/* ok: the call has its pages */
inline reserve(id)
{
	ok = has_pages[id] || pages < PAGES;
	if
	:: ok && !has_pages[id] -> has_pages[id] = true; pages++
	:: else
	fi
}

inline attempt(id)
{
	alone = (built -> NOBODY : id);
	built++
}

/* ok: the Read is posted. Otherwise the call waits. */
inline start(id)
{
	taken = 0;
	do
	:: taken < need(id) ->
		d_step {
			ok = regions > 0;
			if
			:: ok -> regions--; taken++
			:: else
			fi
		};
		if
		:: ok
		:: else -> regions = regions + taken; break
		fi
	:: taken == need(id) -> break
	od;
	if
	:: ok -> taken = 0; posted ! id
	:: else ->
		taken = 0;
		lock();
#ifdef ALONE_AT_LAST
		assert(built > 1);			/* tried */
#else
		assert(id != alone);			/* tried */
#endif
		d_step {
			built--;
			waits[id] = true;
			nr_waits++;
#ifndef NO_RETRY
			retry = retry || !built;
#endif
			again = retry;
			set_pending();
			lock_free = 1
		};
		if
		:: again -> data()
		:: else
		fi
	fi
}

proctype recv_cq()
{
	byte id, taken;
	bool ok, again;

end:	do
	:: sent < CALLS ->
		id = sent;
		sent++;
		lock();
		d_step {
			ok = !retries && !nr_waits;
			if
			:: ok -> reserve(id)
			:: else
			fi;
			if
			:: ok -> attempt(id)
			:: else
			fi;
			lock_free = 1
		};
		if
		:: ok -> start(id)
		:: else -> ready ! id, NEW; data()
		fi
	od
}

proctype send_cq()
{
	byte id;

end:	do
	:: posted ? id ->
#ifndef REGION_LATE
		regions = regions + need(id);
#endif
		lock();
		d_step { built--; retry = true; set_pending(); lock_free = 1 };
#ifdef REGION_LATE
		regions = regions + need(id);
#endif
		ready ! id, DONE;
#ifndef NO_DATA
		data()
#endif
	od
}

proctype nfsd()
{
	byte id, waiting, taken;
	mtype what;
	bool ok, again;

end:	do
	:: d_step { wanted -> wanted = false };
		waiting = NOBODY;
		id = NOBODY;
		if
		:: pending ->
			lock();
			d_step {
				if
				:: retry && waits[0] -> waiting = 0
				:: retry && !waits[0] && waits[1] -> waiting = 1
				:: retry && !waits[0] && !waits[1] && waits[2] -> waiting = 2
				:: else
				fi;
				retry = false;
				if
				:: waiting != NOBODY ->
					reserve(waiting);
					if
					:: ok -> waits[waiting] = false; nr_waits--; retries++
					:: else -> waiting = NOBODY
					fi
				:: else
				fi;
				set_pending();
				lock_free = 1
			}
		:: else
		fi;
		if
		:: waiting == NOBODY ->
			if
			:: ready ? id, what
			:: empty(ready)
			fi
		:: else
		fi;
		xpt_data = false;
		if
		:: nempty(ready) -> xpt_data = true
#ifndef NO_LOOK_BEHIND
		:: empty(ready) && pending -> xpt_data = true
		:: empty(ready) && !pending
#else
		:: empty(ready)
#endif
		fi;
		/* svc_xprt_received() */
		xpt_busy = false;
		enqueue();
		if
		:: waiting != NOBODY ->
			lock();
			d_step { attempt(waiting); lock_free = 1 };
			start(waiting);
			lock();
			d_step {
				retries--;
				again = ok && nr_waits;
#ifndef ONE_TRY
				retry = retry || again;
#else
				again = false;
#endif
				set_pending();
				lock_free = 1
			};
			if
			:: again -> data()
			:: else
			fi
		:: id != NOBODY && what == NEW ->
			lock();
			d_step {
				ok = !retries && !nr_waits;
				if
				:: ok -> reserve(id)
				:: else
				fi;
				if
				:: ok -> attempt(id)
				:: else -> waits[id] = true; nr_waits++; set_pending()
				fi;
				lock_free = 1
			};
			if
			:: ok -> start(id)
			:: else
			fi
		:: id != NOBODY && what == DONE ->
			lock();
			d_step {
				handled++;
				pages--;
				again = nr_waits;
#ifndef PAGES_SILENT
				retry = retry || again;
				set_pending();
#else
				again = false;
#endif
				lock_free = 1
			};
			if
			:: again -> data()
			:: else
			fi
		:: waiting == NOBODY && id == NOBODY
		fi
	od
}

proctype rest()
{
	timeout;
	assert(handled == sent)		/* seen */
}

init {
	atomic { run recv_cq(); run send_cq(); run nfsd(); run nfsd(); run rest() }
}
