/* SPDX-License-Identifier: MIT */
#include "cmd/ftrace/wait.h"

#include <signal.h>
#include <sys/wait.h>

#include "live/ftrace/capture.h"

enum { TIMER_LIMIT = 1, TIMER_TICK };

int ftrace_wait_open(struct ftrace_wait *w, char **argv, struct err *e)
{
	int r = loop_open_pipe(&w->loop, e);

	w->open = r >= 0;
	w->patience.end_fd = w->loop.end_fd;
	if (r >= 0 && argv && argv[0])
		r = workload_prepare_as(&w->child, argv, w->user, e);
	return r;
}

static bool child_ended(struct ftrace_wait *w)
{
	int status;

	if (w->child.pid <= 0 || waitpid(w->child.pid, &status, WNOHANG) != w->child.pid)
		return false;
	w->child.pid = 0;
	w->exit_code = workload_exit_code(status);
	return true;
}

/* Ctrl-C reaches the command as well. */
static bool over(struct ftrace_wait *w, const struct loop_event *ev)
{
	if (ev->kind == LOOP_SIGNAL) {
		if (ev->id == SIGCHLD)
			return child_ended(w);
		if ((ev->id == SIGTERM || ev->id == SIGPIPE) && w->child.pid > 0)
			kill(w->child.pid, SIGTERM);
		if (ev->id == SIGINT || ev->id == SIGTERM || ev->id == SIGHUP)
			w->patience = (struct patience){
				.end_fd = -1, .until = loop_now() + LOOP_REST_MS * 1000000ull
			};
		return w->patience.until || ev->id == SIGPIPE;
	}
	if (ev->kind == LOOP_TIMER && ev->id == TIMER_LIMIT) {
		if (w->child.pid > 0)
			kill(w->child.pid, SIGTERM);
		return true;
	}
	return ev->kind == LOOP_TIMER && ev->id == TIMER_TICK && w->tick && w->tick(w->ctx);
}

bool ftrace_wait_over(const struct ftrace_wait *w)
{
	return w->patience.until ? loop_now() >= w->patience.until : loop_must_end(&w->loop);
}

int ftrace_wait_run(struct ftrace_wait *w, const char *name, struct err *e)
{
	struct watching watching = { 0 };
	int r = 0;

	if (w->watching)
		watching_begin(&watching, w->watching);
	if (w->begun)
		w->begun(w->ctx);
	if (w->child.pid > 0) {
		r = workload_start(&w->child, name, &w->exit_code, e);
		if (r < 0)
			return r;
	}
	if (w->limit_ns)
		r = loop_timer(&w->loop, TIMER_LIMIT, w->limit_ns, 0, e);
	if (r >= 0 && w->tick_ns)
		r = loop_timer(&w->loop, TIMER_TICK, w->tick_ns, w->tick_ns, e);
	while (r >= 0) {
		struct loop_event ev;

		r = loop_wait(&w->loop, watching.running ? WATCHING_MS : -1, &ev, e);
		if (r > 0 && over(w, &ev))
			break;
		if (watching.running)
			watching_at(&watching, 0,
				    w->capture ? ftrace_capture_so_far(w->capture) : 0);
	}
	watching_end(&watching);
	return r < 0 ? r : 0;
}

void ftrace_wait_close(struct ftrace_wait *w)
{
	if (!w->open)
		return;
	if (w->child.pid > 0 && w->child.go_fd > 0)
		workload_cancel(&w->child);
	else if (w->child.pid > 0) /* the signal was for kymo alone */
		kill(w->child.pid, SIGTERM);
	signal(SIGPIPE, SIG_IGN); /* there is still something to be put back */
	loop_close(&w->loop);
	w->open = false;
}
