/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The client's credits: three calls on a transport, whose server grants more or fewer with each
 * reply, answers in any order, and may keep a call for long. Buffers follow the window. SUNRPC's
 * side of it is here, too: who has the write lock, which calls it admits (rq_cong, cwnd), and the
 * two flags with which it lets nobody send, XPRT_WRITE_SPACE and XPRT_CWND_WAIT. Whoever sends,
 * sends for all that are queued.
 *
 * A connection may have been there for a while: it begins with any grant, and with buffers for one
 * call or for two. Three calls with one misfortune, or two with two. Credits and buffers are for
 * two at most, a batch of Receives is two. Left out: Send buffers, for which calls wait in the same
 * way; regions, for which tasks wait (fence); timers other than that of watch.c; memory that is
 * refused to a call; ccp.c. Of SUNRPC's queue of calls only this is kept: those come first that
 * are admitted. Any task that waits for the write lock may be the next.
 *
 * @part task  a task of SUNRPC, from its first encoding to the end of its request
 *	xprtrdma/request.c: wait_ended() registered_on() fence_passed()
 *	xprtrdma/request.c: xprtrdma_request_free() note_lost()
 * @part admit  SUNRPC counts the calls that it admits
 *	xprtrdma/request.c: xprtrdma_request_send()
 * @part may_send  is the window open? without a lock; who finds it closed looks again, and is woken
 *	xprtrdma/request.c: send_call() wait_to_send()
 *	xprtrdma/window.c: xprtrdma_window_is_open()
 * @part send_call  a credit and the post; or neither
 *	xprtrdma/request.c: send_call()
 *	xprtrdma/send.c: xprtrdma_send_call()
 *	include/rpcrdma/credits.h: rpcrdma_window_take() rpcrdma_window_size()
 * @part let_admitted_call_go  not all calls wait for the window
 *	xprtrdma/request.c: let_admitted_call_go()
 * @part set_cwnd  SUNRPC hears of the window
 *	xprtrdma/window.c: set_cwnd()
 * @part window_more  a call waits for a credit, and there may be more
 *	xprtrdma/window.c: xprtrdma_window_request_credits() xprtrdma_window_request_buffers()
 * @part worker  buffers for more calls
 *	xprtrdma/window.c: window_worker() xprtrdma_window_grow() make_buffers()
 *	xprtrdma/receive.c: xprtrdma_receives_create() xprtrdma_receives_post()
 * @part take_grant  a message says how many credits there are
 *	xprtrdma/window.c: xprtrdma_window_grant()
 *	include/rpcrdma/credits.cc: rpcrdma_window_grant()
 * @part credit_return  a Receive buffer is back, and then the credit
 *	xprtrdma/reply.c: credit_return()
 *	xprtrdma/receive.c: xprtrdma_receive_return() post_idle()
 *	include/rpcrdma/credits.h: rpcrdma_window_release()
 * @part forget_lost_call  is it that of a call that has ended?
 *	xprtrdma/watch.c: xprtrdma_watch_found()
 * @part handle_unknown  nobody waits for the message
 *	xprtrdma/reply.c: handle_unknown()
 *	xprtrdma/receive.c: xprtrdma_receive_put()
 * @part receive  the server's messages, and the handler of the Receives
 *	xprtrdma/reply.c: xprtrdma_reply_wc()
 *	xprtrdma/reply.c: handle_reply() reply_pin() was_sent_meanwhile()
 * @part finish  the second half of a reply, after a LOCAL_INV if it needs one
 *	xprtrdma/reply.c: xprtrdma_reply_invalidated() reply_end() reply_unpin()
 * @part conn_fail  the connection is lost
 *	xprtrdma/conn_state.c: xprtrdma_conn_fail()
 * @part connection  SUNRPC's autoclose, and the worker that connects
 *	xprtrdma/transport.c: transport_close() disconnect() connect_worker() establish() next_cookie()
 *	xprtrdma/connection.c: xprtrdma_conn_destroy() conn_quiesce()
 *	xprtrdma/window.c: xprtrdma_window_stop() xprtrdma_window_create() xprtrdma_window_begin()
 *	include/rpcrdma/credits.cc: rpcrdma_window_reset()
 * @part watch  no reply comes, and calls wait for a credit
 *	xprtrdma/watch.c: watch_second() xprtrdma_watch_stalled()
 * @part write_space  environment: SUNRPC's xprt_write_space()
 * @part misfortune  environment: the connection is lost, a task is killed
 *
 * @property grant  no more calls under way than the last grant allows; one until the first
 *	kunit/xprtrdma_kunit: xprtrdma_credit.credit_window_shrinks_below_what_is_in_flight
 *	kunit/xprtrdma_kunit: xprtrdma_credit.credit_window_closes_before_the_post
 *	kunit/xprtrdma_kunit: xprtrdma_credit.credit_one_call_until_the_first_grant
 *	kunit/xprtrdma_kunit: xprtrdma_credit.credit_one_call_after_a_reconnect
 *	kunit/xprtrdma_kunit: xprtrdma_credit.credit_grants_in_the_order_of_arrival
 * @property receive  a Receive is posted for each reply that may come
 *	kunit/xprtrdma_kunit: xprtrdma_receive.receive_never_below_the_credits
 *	kunit/xprtrdma_kunit: xprtrdma_window.window_grows_with_use
 * @property leak  each reply gives its credit back, once
 *	kunit/xprtrdma_kunit: xprtrdma_credit.credit_of_a_killed_call
 *	kunit/xprtrdma_kunit: xprtrdma_credit.credit_of_a_call_killed_before_a_reconnect
 *	kunit/xprtrdma_kunit: xprtrdma_credit.credit_long_run
 * @property wait  no call waits for another's reply while there is a credit
 *	kunit/xprtrdma_kunit: xprtrdma_credit.credit_grant_lets_others_go_at_once
 *	kunit/xprtrdma_kunit: xprtrdma_window.window_growth_lets_others_go
 * @property end  no task waits for ever
 *	kunit/xprtrdma_kunit: xprtrdma_credit.credit_comes_back_in_between
 *	kunit/xprtrdma_kunit: xprtrdma_credit.credit_call_admitted_waits_at_the_head
 *	kunit/xprtrdma_kunit: xprtrdma_credit.credit_no_reply_while_a_call_waits
 *
 * @mutation NO_WINDOW grant  SUNRPC's window is the only one
 * @mutation NO_SHRINK grant  a grant that is smaller than the last one is not taken
 * @mutation OLD_GRANT grant  a new connection begins with the grant of the old one
 * @mutation GROW_FIRST receive  the window grows before the Receives are posted
 * @mutation CREDIT_FIRST receive  a credit comes back before its Receive
 * @mutation NO_LOST leak  nobody counts the calls that have ended without a reply
 * @mutation NOBODY_GOES wait  who makes the window larger clears XPRT_WRITE_SPACE only
 * @mutation LOOK_ONCE end  nobody looks again before he waits for a credit
 * @mutation WAKE_FIRST end  those that wait are woken before the credit is back
 * @mutation ALL_WAIT end  a call that is admitted waits for the window, too
 * @mutation NO_WATCH end  nobody ends a connection whose credits are gone
 */

#define CALLS	3
#define MOST	2	/* credits; buffers */
#define BATCH	2	/* of Receives; beside those that are posted there may be one less */

#define NOBODY	7	/* has the write lock */
#define CONNECT	6
#define CLOSE	5
#define CLOSING	4

mtype = { BEGINS, RUNS, SENDING, PENDING, OVER };	/* the task; the queue that it sleeps on */
mtype = { IDLE, POSTS, WAKES, RETURNS, WAKES_FIRST };	/* a handler, a worker: what is next */

/* Of each call. @sent_now: rq_connect_cookie is that of the transport */
mtype sleeps[CALLS] = BEGINS;
bool cong[CALLS], need_xmit[CALLS], need_recv[CALLS], sent_now[CALLS], pinned[CALLS];
bool done[CALLS], killed[CALLS];
byte sent_on[CALLS];

/* SUNRPC's transport. @queue_lock: held by who puts an admitted call into the queue */
byte snd = NOBODY, congs, cwnd;
byte next = NOBODY;	/* the call that is being sent, which is pinned */
bool connected = true, close_wait, write_space_wait, cwnd_wait, queue_lock;

/* The connection. @heard: what the server has said last */
bool established = true;
byte serial = 1, granted, heard, requested, in_flight, posted, idle;
bool more, watched;
byte lost, lost_on;
mtype rx = IDLE, tx = IDLE, grows = IDLE;

bool out[CALLS];	/* the server has it */
byte silent;		/* credits that watch.c is for */
byte left;
bool few;		/* two calls, of which any may be killed */

#define window		(requested < granted -> requested : granted)
#define under_way	(out[0] + out[1] + out[2])
#define in_handler	(rx != IDLE || tx != IDLE || pinned[0] || pinned[1] || pinned[2])
#define queued		(need_xmit[0] || need_xmit[1] || need_xmit[2])
#define admitted(n)	(need_xmit[n] && cong[n])
#define admitted_queued	(admitted(0) || admitted(1) || admitted(2))
/* Nothing happens before there is an answer, or a reply is finished. */
#define calm		(sleeps[0] != RUNS && sleeps[1] != RUNS && sleeps[2] != RUNS && \
			 snd == NOBODY && rx == IDLE && tx == IDLE && grows == IDLE && !more)

/* Who runs sleeps next, or ends, but for the one that sends. */
#define may_be_killed(n) (sleeps[n] == SENDING || sleeps[n] == PENDING || snd == n && !killed[n])

/* xprt_clear_locked() */
inline unlock()
{
	snd = (close_wait -> CLOSE : NOBODY)
}

/* __xprt_lock_write_next(): one of those that wait for the write lock */
inline lock_next()
{
	if
	:: snd == NOBODY && !write_space_wait && sleeps[0] == SENDING ->
		snd = 0; sleeps[0] = RUNS	/* never: for itself */
	:: snd == NOBODY && !write_space_wait && sleeps[1] == SENDING -> snd = 1; sleeps[1] = RUNS
	:: snd == NOBODY && !write_space_wait && sleeps[2] == SENDING -> snd = 2; sleeps[2] = RUNS
	:: else
	fi
}

/* __xprt_lock_write_next_cong() */
inline lock_next_cong()
{
	if
	:: !cwnd_wait -> lock_next()
	:: else
	fi
}

/* xprt_release_xprt_cong() */
inline release_write()
{
	if
	:: snd == i -> unlock(); lock_next_cong()
	:: else
	fi
}

inline write_space()
{
	if
	:: write_space_wait -> write_space_wait = false; lock_next()
	:: else
	fi
}

/* xprt_wake_pending_tasks() */
inline wake_pending()
{
	sleeps[0] = (sleeps[0] == PENDING -> RUNS : sleeps[0]);
	sleeps[1] = (sleeps[1] == PENDING -> RUNS : sleeps[1]);
	sleeps[2] = (sleeps[2] == PENDING -> RUNS : sleeps[2])
}

/* xprt_request_dequeue_transmit() */
inline dequeue(n)
{
	need_xmit[n] = false;
	sleeps[n] = (sleeps[n] == SENDING -> RUNS : sleeps[n])
}

inline conn_fail()
{
	established = false;
	snd = (snd == NOBODY && !close_wait -> CLOSE : snd);
	close_wait = true
}

/* Under xc_lock and transport_lock. Whoever waits for more is woken by write_space(). */
inline set_cwnd()
{
	cwnd = window;
#ifndef NOBODY_GOES
	if
	:: cwnd_wait && congs < cwnd -> cwnd_wait = false; write_space_wait = true
	:: else
	fi
#endif
}

inline window_more()
{
	more = more || requested < MOST && requested <= granted
}

#ifndef NO_WINDOW
#define OPEN (in_flight < window)
#else
#define OPEN (in_flight < requested)
#endif

/*
 * Under xc_lock, with the post, and with what SUNRPC then notes: until a reply nobody sees that
 * before there is all of it. If it has worked, @next is nobody.
 */
inline send_call()
{
	if
	:: OPEN ->
		in_flight++;
		assert(under_way < heard);	/* grant */
		out[next] = true;
		assert(posted >= under_way);	/* receive */
		sent_on[next] = serial;
		sent_now[next] = true;
		dequeue(next);
		next = NOBODY
	:: else
	fi
}

/* Without a lock; the message is built if the window is open. */
inline may_send()
{
	atomic {
		if
		:: !established -> next = NOBODY; goto release
		:: established && OPEN -> goto posts
		:: else
		fi
	}
}

/* And again. If it is open, xprt_write_space() says so: the write lock is ours. */
#ifndef LOOK_ONCE
#define LOOK_AGAIN(open)						\
		:: !established -> next = NOBODY; goto release		\
		:: established && OPEN -> write_space_wait = false; goto open
#else
#define LOOK_AGAIN(open)
#endif

#define wait_to_send(open)						\
	atomic {							\
		write_space_wait = true;				\
		if							\
		LOOK_AGAIN(open)					\
		:: else -> window_more(); watched = true; next = NOBODY; goto release	\
		fi							\
	}

/* Under queue_lock */
inline let_admitted_call_go()
{
	atomic {
		!queue_lock ->
#ifndef ALL_WAIT
		cwnd_wait = cwnd_wait && !admitted_queued;
#endif
		window_more();
		next = NOBODY;
		goto release
	}
}

/* The first of the queue; xprt_request_get_cong() */
inline admit()
{
	if
	:: need_xmit[0] && (cong[0] || !admitted_queued) -> next = 0
	:: need_xmit[1] && (cong[1] || !admitted_queued) -> next = 1
	:: need_xmit[2] && (cong[2] || !admitted_queued) -> next = 2
	:: else -> goto release
	fi;
	if
	:: killed[next] -> dequeue(next); next = NOBODY; goto release
	:: !killed[next] && !cong[next] && congs < cwnd -> cong[next] = true; congs++
	:: !killed[next] && !cong[next] && congs >= cwnd ->
		cwnd_wait = cwnd_wait || !admitted_queued;
		goto refused
	:: else
	fi
}

proctype task(byte i)
{
	/* Which of the two is first makes no difference. */
	atomic { (i < 2 || sleeps[1] != BEGINS) -> sleeps[i] = RUNS; goto encode };
encode:
	/* xprt_request_enqueue_receive(), xprt_request_enqueue_transmit(), under queue_lock */
	atomic {
		!queue_lock ->
		need_recv[i] = true;
		if
		:: cong[i] ->
			queue_lock = true;
			if
			:: cwnd_wait -> cwnd_wait = false; lock_next()
			:: else
			fi
		:: else -> need_xmit[i] = true; goto transmit
		fi
	};
	atomic { need_xmit[i] = true; queue_lock = false; goto transmit };
transmit:
	/* xprt_prepare_transmit(), and while it has the lock xprt_transmit() */
	atomic {
		sleeps[i] == RUNS ->
		if
		:: killed[i] -> goto ends
		:: snd != i && !killed[i] && !need_xmit[i] -> goto release
		:: snd == i && !killed[i]
		:: snd == NOBODY && !killed[i] && need_xmit[i] && !write_space_wait && !cwnd_wait ->
			snd = i
		:: else -> sleeps[i] = SENDING; goto transmit
		fi;
		if
		:: close_wait || connected && !established -> goto release
		/* xprt_connect() */
		:: !connected && !close_wait -> sleeps[i] = PENDING; snd = CONNECT; goto transmit
		:: else
		fi;
		admit();
		goto sends
	};
sends:
	may_send();
	wait_to_send(posts);
posts:
	atomic {
		if
		:: established -> send_call()
		:: else -> next = NOBODY; goto release
		fi;
		if
		:: next == NOBODY -> goto transmit
		:: else
		fi
	};
	/* It has been closed meanwhile. */
	wait_to_send(again);
again:
	atomic { next = NOBODY; goto release };
refused:
	let_admitted_call_go();
release:
	atomic {
		release_write();
		if
		:: killed[i] -> goto ends
		:: !killed[i] && need_xmit[i] -> goto transmit
		:: else
		fi;
		/* xprt_request_wait_receive(), under queue_lock */
		if
		:: need_recv[i] && connected && sent_now[i] -> sleeps[i] = PENDING
		:: else
		fi
	};
	/* registered_on(): a handler lets it go before its connection is taken down. */
	atomic {
		sleeps[i] == RUNS && !pinned[i] ->
		if
		:: done[i] -> goto put
		:: !done[i] && killed[i] -> goto ends
		:: !done[i] && !killed[i] -> sent_on[i] = 0; goto encode
		fi
	};
ends:
	/* xprt_release() */
	atomic { !pinned[i] && next != i -> need_xmit[i] = false; need_recv[i] = false; goto put };
put:
	atomic {
		release_write();
		if
		:: cong[i] ->
			cong[i] = false;
			congs--;
			cwnd_wait = (congs < cwnd -> false : cwnd_wait);
			lock_next_cong()
		:: else
		fi;
		if
		:: sent_on[i] -> goto note_lost
		:: else -> goto over
		fi
	};
note_lost:
	atomic {
#ifndef NO_LOST
		if
		:: sent_on[i] > lost_on -> lost_on = sent_on[i]; lost = 1
		:: sent_on[i] == lost_on -> lost++
		:: else
		fi;
#endif
		goto over
	};
over:
	atomic {
		sleeps[i] = OVER;
		done[i] = false;
		killed[i] = false;
		sent_now[i] = false;
		sent_on[i] = 0
	}
}

/* @if_more: what is next, if there is more than before */
inline take_grant(if_more)
{
	if
	:: heard == 1 ->
		heard = MOST;
		granted = heard;
		set_cwnd();
		rx = (write_space_wait -> if_more : rx)
	:: heard == MOST ->
		heard = 1;
#ifndef NO_SHRINK
		granted = heard;
#endif
		cwnd = window
	/* The same as before */
	:: skip
	fi
}

/* Under xc_lock */
inline receive_return()
{
	idle++;
	if
	:: idle == BATCH && established -> posted = posted + idle; idle = 0
	:: else
	fi
}

/* Then comes write_space(), which looks at once, and may be late with the lock. */
inline credit_return(handler, last)
{
	receive_return();
	assert(in_flight > 0);	/* leak */
	in_flight--;
	watched = watched && in_flight >= window;
	handler = last
}

/* Nobody cares for @lost_on when there is none. */
inline forget_lost_call()
{
	lost = lost - (lost && lost_on == serial);
	lost_on = (lost -> lost_on : 0)
}

inline handle_unknown()
{
	if
	/* Of an RDMA_MSG it is known that it is a reply. */
	:: forget_lost_call();
		rx = RETURNS;
		take_grant(WAKES_FIRST)
	:: lost && lost_on == serial -> forget_lost_call(); rx = RETURNS
	:: !(lost && lost_on == serial) ->
		receive_return();
		/* Its task has not come to note_lost(). */
		silent = silent + (killed[0] || killed[1] || killed[2])
	fi
}

proctype receive()
{
	byte n;

end:
	do
	:: atomic {
		if
		:: rx == IDLE && out[0] -> n = 0
		:: rx == IDLE && out[1] -> n = 1
		:: rx == IDLE && out[2] -> n = 2
		fi;
		assert(!calm || !queued || in_flight >= window);	/* wait */
		assert(posted > 0);	/* receive */
		posted--;
		out[n] = false;
		if
		:: need_recv[n] && sent_on[n] == serial ->
			pinned[n] = true;
			take_grant(WAKES)
		:: else -> handle_unknown()
		fi;
		n = 0
	   }
	:: d_step { rx == RETURNS -> credit_return(rx, (write_space_wait -> WAKES : IDLE)) }
	:: atomic {
		rx == WAKES || rx == WAKES_FIRST ->
		write_space();
		rx = (rx == WAKES -> IDLE : RETURNS)
	   }
	od
}

/* Also when there is no LOCAL_INV to wait for */
proctype finish()
{
	byte n;

end:
	do
	/* reply_unpin(), under queue_lock. Flushed: it is sent again. */
	:: atomic {
		if
		:: tx == IDLE && rx == IDLE && pinned[0] -> n = 0
		:: tx == IDLE && rx == IDLE && pinned[1] -> n = 1
		:: tx == IDLE && rx == IDLE && pinned[2] -> n = 2
		fi;
		sent_on[n] = 0;
		if
		:: done[n] = true;
			need_recv[n] = false;
			sleeps[n] = (sleeps[n] == PENDING -> RUNS : sleeps[n])
		:: !established
		fi;
		pinned[n] = false;
		n = 0;
#ifndef WAKE_FIRST
		tx = RETURNS
#else
		tx = WAKES
#endif
	   }
#ifdef WAKE_FIRST
	:: atomic { tx == WAKES -> write_space(); tx = RETURNS }
	:: d_step { tx == RETURNS -> credit_return(tx, IDLE) }
#else
#ifdef CREDIT_FIRST
	:: d_step { tx == RETURNS -> in_flight--; tx = POSTS }
	:: d_step { tx == POSTS -> receive_return(); tx = WAKES }
	:: atomic { tx == WAKES -> write_space(); tx = IDLE }
#else
	:: d_step { tx == RETURNS -> credit_return(tx, (write_space_wait -> WAKES : IDLE)) }
	:: atomic { tx == WAKES -> write_space(); tx = IDLE }
#endif
#endif
	od
}

proctype worker()
{
end:
	do
	:: atomic {
		grows == IDLE && more ->
		more = false;
		if
#ifdef GROW_FIRST
		:: grows = POSTS; requested = MOST; set_cwnd()
#else
		/* xprtrdma_receives_post(), under xc_lock */
		:: established -> posted = posted + idle + MOST - requested; idle = 0; grows = POSTS
		:: !established
		/* There is no memory. */
		:: left -> left--
#endif
		fi
	   }
	:: d_step {
		grows == POSTS ->
#ifdef GROW_FIRST
		posted = posted + 1;
#endif
		requested = MOST;
		set_cwnd();
		grows = (write_space_wait -> WAKES : IDLE)
	   }
	:: atomic { grows == WAKES -> write_space(); grows = IDLE }
	od
}

proctype connection()
{
end:
	do
	:: d_step {
		snd == CLOSE ->
		sent_now[0] = false; sent_now[1] = false; sent_now[2] = false;
		close_wait = false;
		established = false;
		snd = CLOSING
	   }
	/* The queue pair is drained, xprt_disconnect_done(), and the write lock is given up. */
	:: atomic {
		snd == CLOSING && !in_handler && grows == IDLE ->
		more = false;
		out[0] = false; out[1] = false; out[2] = false;
		watched = false;
		connected = false;
		write_space_wait = false;
		cwnd_wait = false;
		wake_pending();
		unlock();
		lock_next_cong()
	   }
	/* Nobody looks before SUNRPC hears of it. */
	:: atomic {
		snd == CONNECT ->
		serial++;
#ifndef OLD_GRANT
		granted = 1;
#endif
		heard = 1;
		requested = MOST;
		in_flight = 0;
		silent = 0;
		posted = requested + BATCH - 1;
		idle = 0;
		established = true;
		cwnd = window;
		connected = true;
		wake_pending();
		unlock();
		lock_next_cong()
	   }
	od
}

/* More patient than anything else */
proctype watch()
{
end:
	do
#ifndef NO_WATCH
	:: d_step {
		watched && calm && !under_way && !in_handler ->
		watched = false;
		if
		:: established && in_flight >= window -> assert(silent > 0) /* leak */; conn_fail()
		:: else
		fi
	   }
#else
	:: false
#endif
	od
}

proctype misfortune()
{
	byte n;

end:
	do
	:: d_step { left && established && (under_way || in_handler) -> left--; conn_fail() }
	/* Which of three it is makes no difference. */
	:: atomic {
		if
		:: left && may_be_killed(0) -> n = 0
		:: left && few && may_be_killed(1) -> n = 1
		:: left && few && may_be_killed(2) -> n = 2
		fi;
		left--;
		killed[n] = true;
		sleeps[n] = RUNS;
		n = 0
	   }
	od
}

init {
	atomic {
		if
		:: granted = 1
		:: granted = MOST
		fi;
		heard = granted;
		if
		:: granted == MOST -> requested = 1
		:: requested = MOST
		fi;
		posted = requested + BATCH - 1;
		cwnd = window;
		/* Fewer calls, and more misfortunes */
		if
		:: left = 1; run task(0)
		:: left = 2; few = true; sleeps[0] = OVER
		fi;
		run task(1);
		run task(2);
		run receive();
		run finish();
		run worker();
		run connection();
		run watch();
		run misfortune()
	};
	d_step {
		sleeps[2] == OVER && calm && !queued && !under_way && !in_handler ->
		assert(!established || in_flight == silent)	/* leak */
	}
}
