/* SPDX-License-Identifier: MIT */
/*
 * Waiting for whatever comes next: signals, timers, descriptors.
 *
 * Signals come as descriptors too (signalfd), so none is lost between checks and
 * none interrupts a system call.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "base/err.h"

#define LOOP_BATCH 32
/* What had come when somebody says stop is shown for so long, the rest is counted. */
#define LOOP_REST_MS 250

struct loop {
	int epoll_fd, signal_fd;
	int end_fd; /* never read: ready while a signal to end waits */
	/* what the last look found and loop_wait() has not handed out yet */
	struct epoll_event ready[LOOP_BATCH];
	int n_ready, next;
};

struct loop_event {
	enum { LOOP_SIGNAL, LOOP_TIMER, LOOP_FD } kind;
	int id;		/* the signal's number, or what the timer or descriptor was given */
	uint64_t ticks; /* of a timer: how often it went off since last asked */
	int fd;		/* of LOOP_FD */
	/*
	 * The other end is gone. Such a descriptor is ready for ever: loop_unwatch() it once
	 * it has nothing more to read, or the loop will spin.
	 */
	bool hup;
};

/*
 * Blocks INT, TERM, HUP, CHLD, USR1 and USR2 from here on, so call it before
 * anything is forked; workload_prepare() children get a clean mask again.
 */
int loop_open(struct loop *l, struct err *e);
/* The same, and SIGPIPE: for those who have to clean up when nobody reads what they print. */
int loop_open_pipe(struct loop *l, struct err *e);
/* First after first_ns, then each every_ns (0: once). Returns the timer's descriptor, which the
 * caller may close. */
int loop_timer(struct loop *l, int id, uint64_t first_ns, uint64_t every_ns, struct err *e);
int loop_watch(struct loop *l, int id, int fd, struct err *e);
/* The same for one that has news only when it says so, not as long as there is something left. */
int loop_watch_news(struct loop *l, int id, int fd, struct err *e);
void loop_unwatch(struct loop *l, int fd);
/*
 * Waits at most timeout_ms (-1: for ever); 1 and *ret filled, or 0 at the time-out.
 * Descriptors that share an id and are ready together are told of once, so that one
 * look at all of them is enough; those that hung up are told of one by one.
 */
int loop_wait(struct loop *l, int timeout_ms, struct loop_event *ret, struct err *e);
/* Does a signal to end (INT, TERM, HUP) wait to be told of? */
bool loop_must_end(const struct loop *l);
/*
 * The first such signal has been told of, and what follows may take its time: from here on the
 * next one ends this process at once. (One that comes within a moment is the same: timeout(1)
 * sends each twice.)
 */
void loop_end_at_next(struct loop *l);
void loop_close(struct loop *l);

/* CLOCK_MONOTONIC in ns. */
uint64_t loop_now(void);
uint64_t loop_clock(int clock); /* the same of another one */
