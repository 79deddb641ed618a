/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Credits: SUNRPC's write lock and congestion window, the client's credit window, and the
 * Receives of the server. RFC 8166 sections 3.3.1 and 3.3.3.
 *
 * Three calls, of which two may be outstanding. Each reply brings another grant, or is an
 * RDMA_ERROR, which brings none. One misfortune: a reply is lost, a task is killed, or the
 * connection goes. Timers run when nothing else can happen, so that none of them hides a wake-up
 * that is missing. What the calls expose is in fence.pml.
 *
 * @part task  a task of SUNRPC's, with the write lock or without: call_transmit() to xprt_release()
 *	xprtrdma/request.c: xprtrdma_request_send() xprtrdma_request_free()
 *	xprtrdma/wait.c: xprtrdma_reply_wait()
 * @part send_call  the holder of the write lock sends a call, perhaps another task's
 *	xprtrdma/request.c: send_call() reserve_or_wait() reserve()
 *	xprtrdma/send.c: xprtrdma_send_post()
 *	xprtrdma/watch.c: xprtrdma_watch_stalled()
 * @part window_take  a credit, if there is one
 *	xprtrdma/request.c: window_take()
 *	include/rpcrdma/credits.hh: take_credit() window_size()
 * @part credit_back  a reply gives its call's credit back
 *	xprtrdma/reply.c: give_credit_back()
 *	include/rpcrdma/credits.hh: give_credit_back()
 * @part grant  a reply sets the window
 *	xprtrdma/reply.c: take_grant()
 *	include/rpcrdma/credits.hh: apply_grant()
 * @part note_lost  a call has ended before it was answered
 *	xprtrdma/request.c: note_lost()
 * @part replies  the handler of the client's Receives
 *	xprtrdma/reply.c: handle_reply() reply_lookup() reply_finish() reply_let_go()
 *	xprtrdma/reply.c: drop_unknown() finish_unknown() take_lost()
 * @part closer  SUNRPC's work item that closes
 *	xprtrdma/transport.c: transport_close() disconnect()
 *	xprtrdma/connection.c: xprtrdma_conn_destroy()
 * @part establish  the connect worker
 *	xprtrdma/transport.c: connect_worker() establish() conn_cwnd()
 *	include/rpcrdma/credits.hh: reset_window()
 * @part fill  the server has as many Receives posted as before
 *	svcrdma/recv_ctxt.c: svcrdma_recv_fill()
 * @part server  its handler of Receives, and threads of nfsd
 *	svcrdma/recvfrom.c: svcrdma_recv_wc()
 *	svcrdma/recv_ctxt.c: svcrdma_release_ctxt() svcrdma_recv_ctxt_put()
 *	svcrdma/sendto.c: svcrdma_sendto()
 * @part timers  what happens when nothing else does
 *	xprtrdma/watch.c: stall_worker()
 *	xprtrdma/transport.c: transport_timer()
 *	xprtrdma/connection.c: xprtrdma_conn_fail()
 * @part trouble  environment: a task is killed, or the connection is lost
 *
 * @property grant  no more calls are outstanding than the last grant allows when one is sent
 *	kunit/xprtrdma_kunit: xprtrdma_credit.credit_one_call_after_a_reconnect
 *	kunit/xprtrdma_kunit: xprtrdma_credit.credit_window_shrinks_below_what_is_in_flight
 *	kunit/xprtrdma_kunit: xprtrdma_credit.credit_grant_sets_the_window: shrinking
 *	peer-rxe: c-changing-grants
 *	peer-rxe: c-one-until-grant
 * @property receives  each call that arrives finds a Receive
 *	peer-rxe: credits-all
 *	peer-rxe: credits-overrun
 * @property credits  a call has its credit until it is answered, and all come back
 *	kunit/xprtrdma_kunit: xprtrdma_credit.credit_of_a_killed_call
 *	kunit/xprtrdma_kunit: xprtrdma_credit.credit_of_a_call_killed_before_a_reconnect
 *	kunit/xprtrdma_kunit: xprtrdma_credit.credit_long_run
 * @property end  a call that waits is sent in the end, and answered
 *	kunit/xprtrdma_kunit: xprtrdma_credit.credit_reply_while_a_call_waits
 *	kunit/xprtrdma_kunit: xprtrdma_credit.credit_grant_lets_others_go_at_once
 *	kunit/xprtrdma_kunit: xprtrdma_credit.credit_no_reply_while_a_call_waits
 *	peer-rxe: c-missing-replies
 *
 * @mutation ALL_AT_FIRST grant  a connection begins with as many credits as are asked for
 * @mutation NO_WINDOW grant  SUNRPC's congestion window is all there is
 * @mutation NO_SECOND_TRY end  a reply may have come before there was anybody to wake
 * @mutation NO_WAKE end  nobody is woken when a credit comes back
 * @mutation CREDIT_EARLY credits  the credit of a call that is killed comes back at once
 * @mutation NO_LOST credits  the credit of a killed call is not counted
 * @mutation POST_LATE receives  the server posts a Receive when it has answered
 */

#define CALLS	3
#define ASKED	2	/* for as many credits */
#define TARGET	2	/* Receives that the server keeps posted; there are twice as many */

#define TASK(t)	((t) + 1)	/* holders of the write lock */
#define CLOSER	(CALLS + 1)

/* What has become of a call: on its way, received, with nfsd, answered, lost */
mtype = { NOWHERE, WIRE, RECEIVED, NFSD, REPLY, FAILURE, LOST };

/* rpc_xprt */
byte locked, cwnd = 1, cong;
bool write_space, cwnd_wait, close_wait, connected;
byte cookie = 1;
bool need_xmit[CALLS], recvq[CALLS], rq_cong[CALLS], pending[CALLS], sending[CALLS];
bool killed[CALLS], over[CALLS];
byte rq_cookie[CALLS], pin[CALLS];

/* The connection */
bool established, stalled;
byte serial, in_flight, granted = 1, grants = 1;
byte sent_on[CALLS], lost_on, lost;
byte outstanding;	/* without an answer that has arrived */
byte leaked;		/* see note_lost */
bool busy;

/* The server */
mtype call[CALLS] = NOWHERE;
byte posted = TARGET, spare = TARGET, unreleased;
bool misfortune = true;

#define size	(granted < ASKED -> granted : ASKED)

inline clear_locked()
{
	locked = (close_wait -> CLOSER : 0)
}

/* __xprt_lock_write_next(), and the same with @careful: _cong() */
inline lock_next(careful)
{
	if
	:: locked || write_space || (careful && cwnd_wait)
	:: else ->
		if
		:: sending[0] -> sending[0] = false; locked = TASK(0)
		:: !sending[0] && sending[1] -> sending[1] = false; locked = TASK(1)
		:: !sending[0] && !sending[1] && sending[2] -> sending[2] = false; locked = TASK(2)
		:: else
		fi
	fi
}

inline xprt_write_space()
{
	if
	:: write_space ->
		d_step {
			if
			:: write_space -> write_space = false; lock_next(false)
			:: else
			fi
		}
	:: else
	fi
}

inline force_disconnect()
{
	if
	:: !close_wait ->
		close_wait = true;
		locked = (locked -> locked : CLOSER)
	:: else
	fi
}

inline conn_fail()
{
	d_step {
		if
		:: established -> established = false; force_disconnect()
		:: else
		fi
	}
}

inline window_take(got)
{
	d_step {
#ifdef NO_WINDOW
		got = true;
#else
		got = (in_flight < size);
#endif
		in_flight = (got -> in_flight + 1 : in_flight)
	}
}

inline credit_back()
{
	d_step {
		in_flight = (in_flight -> in_flight - 1 : 0);
		stalled = false;
		assert(in_flight >= outstanding)	/* credits */
	};
#ifndef NO_WAKE
	xprt_write_space()
#endif
}

inline grant(g)
{
	d_step {
		before = size;
		granted = (g -> g : 1);
		grants = granted;
		cwnd = size
	};
	if
	:: cwnd > before -> xprt_write_space()
	:: else
	fi;
	before = 0
}

/* rc: nothing, or why it was not sent */
#define SENT	0
#define ENOTCONN 1
#define EAGAIN	2

inline send_call(u)
{
	if
	:: close_wait || !connected || !established -> rc = ENOTCONN
	:: else ->
		d_step {
			rc = SENT;
			if
			:: rq_cong[u]
			:: !rq_cong[u] && cong < cwnd -> rq_cong[u] = true; cong++
			/* It is the first in the queue, where those with rq_cong are before the others. */
			:: else -> cwnd_wait = true; rc = EAGAIN
			fi
		};
		if
		:: rc == SENT ->
			window_take(got);
			if
			:: !got ->
				write_space = true;
#ifndef NO_SECOND_TRY
				window_take(got);
#endif
				if
				:: got -> xprt_write_space()
				:: else -> stalled = true; rc = EAGAIN
				fi
			:: else
			fi
		:: else
		fi;
		if
		:: rc == SENT ->
			d_step {
				sent_on[u] = serial;
				if
				:: established ->
					outstanding++;
					assert(outstanding <= grants && outstanding <= ASKED);	/* grant */
					call[u] = WIRE
				:: else -> rc = ENOTCONN
				fi
			}
			if
			:: rc == ENOTCONN -> conn_fail()
			:: else ->
				d_step {
					rq_cookie[u] = cookie;
					need_xmit[u] = false;
					sending[u] = false
				}
			fi
		:: else
		fi
	fi;
	got = false
}

inline establish()
{
	d_step {
		serial++;
		established = true;
		stalled = false;
#ifdef ALL_AT_FIRST
		granted = ASKED;
#else
		granted = 1;
#endif
		grants = 1;
		in_flight = 0;
		outstanding = 0;
		leaked = 0;
		cwnd = size;
		posted = TARGET;
		spare = TARGET;
		unreleased = 0;
		cookie++;
		connected = true
	}
}

/*
 * The credit comes back with a reply to nobody. If that is an RDMA_ERROR, and comes when the task
 * has been taken off the queue and this has not been done yet, it does not come back on this
 * connection: rare, and the watch looks after it when it was the last one.
 */
inline note_lost(t)
{
	d_step {
		if
		:: lost_on < sent_on[t] -> lost_on = sent_on[t]; lost = 0
		:: else
		fi;
#ifndef NO_LOST
		lost = (lost_on == sent_on[t] -> lost + 1 : lost);
#endif
		sent_on[t] = 0
	}
#ifdef CREDIT_EARLY
	;
	credit_back()
#endif
}

proctype task(byte t)
{
	byte rc, u;
	bool got, before;

encode:
	skip;
	d_step {
		recvq[t] = true;
		need_xmit[t] = true;
		if
		:: rq_cong[t] && cwnd_wait -> cwnd_wait = false; lock_next(true)
		:: else
		fi
	};
	do
	:: killed[t] -> goto release
	:: !killed[t] && !need_xmit[t] -> break
	:: !killed[t] && need_xmit[t] ->
		/* xprt_lock_write(), under transport_lock */
		d_step {
			if
			:: locked == TASK(t)
			:: !locked && !write_space && !cwnd_wait -> locked = TASK(t)
			:: else -> sending[t] = need_xmit[t]
			fi
		};
		if
		:: locked == TASK(t) ->
			if
			:: !connected && need_xmit[t] && !close_wait -> establish()
			:: else
			fi;
			rc = SENT;
			do
			:: d_step {
				rc == SENT && (need_xmit[0] || need_xmit[1] || need_xmit[2]) ->
					u = 0;
					if
					:: need_xmit[0] && rq_cong[0] -> u = 0
					:: need_xmit[1] && rq_cong[1] -> u = 1
					:: need_xmit[2] && rq_cong[2] -> u = 2
					:: else ->
						u = (need_xmit[0] -> 0 : (need_xmit[1] -> 1 : 2))
					fi;
					pin[u]++
			   };
				if
				:: killed[u] -> need_xmit[u] = false; rc = EAGAIN
				:: else -> send_call(u)
				fi;
				d_step { pin[u]--; u = 0 }
			:: else -> break
			od;
			/* xprt_release_write() */
			skip;
			d_step {
				rc = SENT;
				if
				:: locked == TASK(t) -> clear_locked(); lock_next(true)
				:: else
				fi
			}
		:: else ->
			(!sending[t] || killed[t]);
			sending[t] = false
		fi
	od;
	/* Sent: the lock may have come to it all the same. */
	skip;
	d_step {
		if
		:: locked == TASK(t) -> clear_locked(); lock_next(true)
		:: else
		fi;
		pending[t] = (recvq[t] && rq_cookie[t] == cookie && connected)
	};
	(!pending[t] || killed[t]);
	if
	:: recvq[t] && !killed[t] ->
		/* Behind the fence: no reply on the earlier connection counts. */
		atomic { pin[t] == 0 -> recvq[t] = false };
		goto encode
	:: else
	fi;
release:
	skip;
	d_step { pin[t] == 0 -> recvq[t] = false; need_xmit[t] = false; pending[t] = false; sending[t] = false };
	/* xprt_release(), under transport_lock */
	d_step {
		if
		:: locked == TASK(t) -> clear_locked(); lock_next(true)
		:: else
		fi;
		if
		:: rq_cong[t] ->
			rq_cong[t] = false;
			cong--;
			cwnd_wait = (cong >= cwnd -> cwnd_wait : false);
			lock_next(true)
		:: else
		fi
	};
	if
	:: sent_on[t] -> note_lost(t)
	:: else
	fi;
	over[t] = true
}

#define arrived(u)	(call[u] == REPLY || call[u] == FAILURE)

proctype replies()
{
	byte u, g, before;
	bool found, was_lost, error;

end:
	do
	:: d_step {
		established && (arrived(0) || arrived(1) || arrived(2)) ->
		u = (arrived(0) -> 0 : (arrived(1) -> 1 : 2));
		error = (call[u] == FAILURE);
		call[u] = NOWHERE;
		outstanding--;
		busy = true;
		/* reply_lookup(), under queue_lock */
		found = (recvq[u] && sent_on[u] == serial);
		pin[u] = pin[u] + found
	   };
		if
		:: g = 0
		:: g = 2
		fi;
		if
		:: found ->
			if
			:: !error -> grant(g)
			:: else
			fi;
			/* reply_let_go(), under queue_lock */
			d_step {
				sent_on[u] = 0;
				recvq[u] = false;
				pending[u] = false;
				pin[u]--
			};
			credit_back()
		:: else ->
			d_step {
				was_lost = (lost_on == serial && lost);
				lost = lost - was_lost;
				leaked = (error && !was_lost -> leaked + 1 : leaked)
			};
			if
			:: !error -> grant(g)
			:: else
			fi;
			if
			:: !error || was_lost -> credit_back()
			:: else
			fi
		fi;
		d_step { busy = false; found = false; was_lost = false; error = false; u = 0; g = 0 }
	od
}

proctype closer()
{
	byte i;

end:
	do
	:: d_step { locked == CLOSER && close_wait -> cookie++; close_wait = false };
		established = false;
		/* The drain */
		!busy;
		d_step {
			outstanding = 0;
			call[0] = NOWHERE;
			call[1] = NOWHERE;
			call[2] = NOWHERE
		};
		cookie++;
		/* xprt_disconnect_done(), xprt_release_write(), under transport_lock */
		d_step {
			connected = false;
			write_space = false;
			cwnd_wait = false;
			pending[0] = false;
			pending[1] = false;
			pending[2] = false
		};
		d_step { clear_locked(); lock_next(true) }
	od
}

inline fill()
{
	if
	:: posted < TARGET && spare -> posted++; spare--
	:: else
	fi
}

#define with(what)	(call[0] == what || call[1] == what || call[2] == what)
#define first(what)	(call[0] == what -> 0 : (call[1] == what -> 1 : 2))

proctype server()
{
	byte u;

end:
	do
	:: d_step {
		established && with(WIRE) ->
		u = first(WIRE);
		assert(posted > 0);	/* receives */
		posted--;
		call[u] = RECEIVED;
		u = 0
	   }
	/* Before nfsd is told of it */
	:: d_step {
		with(RECEIVED) ->
#ifndef POST_LATE
		fill();
#endif
		u = first(RECEIVED);
		call[u] = NFSD;
		u = 0
	   }
	:: atomic {
		with(NFSD) && unreleased < TARGET ->
		u = first(NFSD);
		unreleased++;
		if
		:: call[u] = REPLY
		:: call[u] = FAILURE
		:: misfortune -> misfortune = false; call[u] = LOST
		fi;
		u = 0
	   }
	:: d_step { unreleased -> unreleased--; spare++; fill() }
	od
}

#define all_over	(over[0] && over[1] && over[2])

proctype timers()
{
	do
	:: timeout ->
		if
		:: all_over ->
			assert(in_flight == leaked && !cong && !outstanding);	/* credits */
			break
		:: !all_over && established && stalled && in_flight >= size -> conn_fail()
		:: d_step { !all_over && connected && !close_wait && with(LOST) -> force_disconnect() }
		fi
	od
}

proctype trouble()
{
end:
	do
	:: d_step { misfortune -> misfortune = false; killed[0] = true }
	:: d_step { misfortune && established -> misfortune = false; established = false; force_disconnect() }
	od
}

init {
	atomic {
		run task(0);
		run task(1);
		run task(2);
		run replies();
		run closer();
		run server();
		run timers();
		run trouble()
	}
}
