/* SPDX-License-Identifier: MIT */
#include "live/loop.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define SAME_NS 100000000u /* signals that come this soon after one another are one */

uint64_t loop_clock(int clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t loop_now(void)
{
	return loop_clock(CLOCK_MONOTONIC);
}

/* epoll's 64 bits of data: what it is, the caller's id, and the descriptor. */
static uint64_t pack(unsigned kind, int id, int fd)
{
	return (uint64_t)kind << 56 | (uint64_t)(id & 0xffffff) << 32 | (uint32_t)fd;
}

static int loop_add(struct loop *l, unsigned kind, int id, int fd, uint32_t how, struct err *e)
{
	struct epoll_event ev = { .events = EPOLLIN | how, .data.u64 = pack(kind, id, fd) };

	if (epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
		return err_set(e, errno, "cannot wait for events: %s", strerror(errno));
	return fd;
}

/* Signals as events, by fd or a new one (-1); also: one more, or 0. */
static int loop_block(int fd, int also)
{
	static const int wanted[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGUSR1, SIGUSR2 };
	sigset_t set;

	sigemptyset(&set);
	for (unsigned i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		sigaddset(&set, wanted[i]);
	if (also)
		sigaddset(&set, also);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(fd, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void end_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

bool loop_must_end(const struct loop *l)
{
	struct pollfd p = { .fd = l->end_fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

static volatile uint64_t told_at;

static void end_now(int signal)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };

	if (loop_now() - told_at < SAME_NS)
		return;
	sigaction(signal, &dfl, NULL);
	raise(signal); /* comes when this returns */
}

void loop_end_at_next(struct loop *l)
{
	struct sigaction act = { .sa_handler = end_now, .sa_flags = SA_RESTART };
	sigset_t ends;

	told_at = loop_now();
	end_signals(&ends);
	for (int s = 1; s < NSIG; s++)
		if (sigismember(&ends, s) > 0)
			sigaction(s, &act, NULL);
	sigprocmask(SIG_UNBLOCK, &ends, NULL);
}

int loop_open_pipe(struct loop *l, struct err *e)
{
	int r = loop_open(l, e);

	if (r >= 0 && loop_block(l->signal_fd, SIGPIPE) < 0)
		r = err_set(e, errno, "cannot wait for signals: %s", strerror(errno));
	return r;
}

int loop_open(struct loop *l, struct err *e)
{
	sigset_t ends;

	*l = (struct loop){ 0 };
	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	l->signal_fd = loop_block(-1, 0);
	end_signals(&ends);
	l->end_fd = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
	if (l->epoll_fd < 0 || l->signal_fd < 0 || l->end_fd < 0)
		return err_set(e, errno, "cannot wait for signals: %s", strerror(errno));
	return loop_add(l, LOOP_SIGNAL, 0, l->signal_fd, 0, e) < 0 ? -e->code : 0;
}

int loop_timer(struct loop *l, int id, uint64_t first_ns, uint64_t every_ns, struct err *e)
{
	struct itimerspec t = {
		.it_value = { (time_t)(first_ns / 1000000000u), (long)(first_ns % 1000000000u) },
		.it_interval = { (time_t)(every_ns / 1000000000u), (long)(every_ns % 1000000000u) },
	};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd < 0)
		return err_set(e, errno, "cannot make a timer: %s", strerror(errno));
	if (!first_ns)
		t.it_value.tv_nsec = 1; /* zero would switch it off */
	timerfd_settime(fd, 0, &t, NULL);
	return loop_add(l, LOOP_TIMER, id, fd, 0, e);
}

int loop_watch(struct loop *l, int id, int fd, struct err *e)
{
	return loop_add(l, LOOP_FD, id, fd, 0, e);
}

int loop_watch_news(struct loop *l, int id, int fd, struct err *e)
{
	return loop_add(l, LOOP_FD, id, fd, EPOLLET, e);
}

void loop_unwatch(struct loop *l, int fd)
{
	epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	for (int i = l->next; i < l->n_ready; i++)
		if ((int)(uint32_t)l->ready[i].data.u64 == fd) {
			memmove(&l->ready[i], &l->ready[i + 1],
				(size_t)(l->n_ready - i - 1) * sizeof(*l->ready));
			l->n_ready--;
			i--;
		}
}

/* Forget what says nothing new: another descriptor of the same id is in the batch already. */
static void loop_merge(struct loop *l)
{
	int n = 0;

	for (int i = 0; i < l->n_ready; i++) {
		const struct epoll_event *ev = &l->ready[i];
		uint64_t what = ev->data.u64 >> 32;
		bool told = false;

		for (int k = 0; k < n && what >> 24 == LOOP_FD && !(ev->events & EPOLLHUP); k++)
			told = told || (l->ready[k].data.u64 >> 32 == what &&
					!(l->ready[k].events & EPOLLHUP));
		if (!told)
			l->ready[n++] = *ev;
	}
	l->n_ready = n;
}

static int loop_fetch(struct loop *l, int timeout_ms, struct err *e)
{
	int n;

	do
		n = epoll_wait(l->epoll_fd, l->ready, LOOP_BATCH, timeout_ms);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_set(e, errno, "cannot wait for events: %s", strerror(errno));
	l->n_ready = n;
	l->next = 0;
	loop_merge(l);
	return n;
}

int loop_wait(struct loop *l, int timeout_ms, struct loop_event *ret, struct err *e)
{
	for (;;) {
		const struct epoll_event *ev;
		int n, fd;

		if (l->next == l->n_ready && (n = loop_fetch(l, timeout_ms, e)) <= 0)
			return n;
		ev = &l->ready[l->next++];
		fd = (int)(uint32_t)ev->data.u64;
		*ret = (struct loop_event){ .kind = ev->data.u64 >> 56,
					    .id = (int)(ev->data.u64 >> 32 & 0xffffff),
					    .fd = fd,
					    .hup = (ev->events & (EPOLLHUP | EPOLLERR)) != 0 };
		if (ret->kind == LOOP_SIGNAL) {
			struct signalfd_siginfo si;

			if (read(fd, &si, sizeof(si)) != sizeof(si))
				continue;
			ret->id = (int)si.ssi_signo;
		} else if (ret->kind == LOOP_TIMER) {
			if (read(fd, &ret->ticks, sizeof(ret->ticks)) != sizeof(ret->ticks))
				continue;
		}
		return 1;
	}
}

void loop_close(struct loop *l)
{
	close(l->epoll_fd);
	close(l->signal_fd);
	close(l->end_fd);
	*l = (struct loop){ .epoll_fd = -1, .signal_fd = -1, .end_fd = -1 };
}
