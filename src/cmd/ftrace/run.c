/* SPDX-License-Identifier: MIT */
#include "cmd/ftrace/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>
#include <signal.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/temp.h"
#include "cmd/ftrace/ftrace.h"
#include "live/ftrace/capture.h"
#include "store/tracedat/tracedat.h"

/* --- waiting --- */

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

/* --- tracing into a file --- */

int ftrace_run_prepare(struct ftrace_args *a, int argc, char **argv, char ***command, struct err *e)
{
	int r = ftrace_args_check(a, e);

	*command = NULL;
	if (r < 0)
		return r;
	if (a->filter_command && !argc)
		return err_set(e, EINVAL, "-F traces a command, and none was given");
	if (a->no_functions || a->all_off)
		vec_push(&ftrace_args_buffer(a)->options, "nofunction-trace");
	if (!argc)
		return 0;
	*command = mem_alloc(((size_t)argc + 1) * sizeof(**command));
	memcpy(*command, argv, (size_t)argc * sizeof(**command));
	return 0;
}

#define MAPS_TICK_NS 100000000u

static int poll_maps(void *ctx)
{
	ftrace_maps_poll(ctx);
	return 0;
}

/* --proc-map */
static int follow_maps(const struct ftrace_args *a, struct ftrace_wait *w, struct ftrace_maps **ret,
		       struct err *e)
{
	int r;

	if (w->child.pid <= 0 && !a->o.pids.n) {
		err_set(e, EINVAL, "--proc-map: of which processes?");
		return err_hint(e, "give a command, or -P PID");
	}
	r = ftrace_maps_open(w->child.pid, a->o.pids.data, a->o.pids.n, ret, e);
	if (r == 0) {
		w->tick = poll_maps;
		w->tick_ns = MAPS_TICK_NS;
		w->ctx = *ret;
	}
	return r;
}

int ftrace_run_capture(struct ftrace_args *a, struct ftrace *f, struct ftrace_wait *w, char **argv,
		       struct err *e)
{
	AUTO_FREE char *pages = a->temp ? mem_printf("%s/%s", a->temp, str_base_name(a->output))
					: mem_strdup(a->output);
	struct ftrace_capture_opts co = { .output = pages,
					  .max_kb = a->max_kb,
					  .sleep_us = a->sleep_us,
					  .priority = a->priority };
	struct ftrace_capture *c = NULL;
	struct ftrace_maps *maps = NULL;
	int r;

	if (a->filter_command && w->child.pid > 0)
		vec_push(&a->o.pids, w->child.pid);
	r = ftrace_pids(f, e);
	if (r >= 0 && a->maps)
		r = follow_maps(a, w, &maps, e);
	if (r >= 0)
		r = ftrace_capture_start(f, &co, &c, e);
	if (r < 0) {
		ftrace_maps_close(maps);
		return r;
	}
	if (!a->no_filter && !a->o.pids.n)
		r = ftrace_own_exclude(f, c, e);
	if (r >= 0)
		r = ftrace_start(f, e);
	if (r >= 0) {
		if (f->note[0] && !a->quiet)
			command_note("%s", f->note);
		if (a->announce)
			fprintf(stderr, "%s\n", a->announce);
		w->capture = c;
		r = ftrace_wait_run(w, argv ? argv[0] : NULL, e);
		w->capture = NULL;
	}
	ftrace_stop(f, NULL);
	ftrace_capture_stop(c);
	if (r >= 0)
		r = ftrace_save(f, c, maps, a, e);
	ftrace_maps_close(maps);
	/* what could not be written to the file is still there */
	ftrace_capture_free(c, r < 0 && ftrace_capture_bytes(c) > 0);
	return r;
}

int ftrace_run_read(struct ftrace_args *a, struct ftrace *f, struct ftrace_wait *w, char **argv,
		    struct source **ret, struct err *e)
{
	struct temp folder = { 0 };
	AUTO_FREE char *path = NULL;
	int r = temp_make(&folder, e);

	if (r < 0)
		return r;
	path = mem_printf("%s/trace.dat", folder.path);
	a->output = path;
	a->quiet = true;
	a->compression = "none";
	r = ftrace_run_capture(a, f, w, argv, e);
	if (r >= 0)
		r = ftrace_input(path, ret, e);
	temp_remove(&folder);
	a->output = NULL;
	return r;
}

void ftrace_run_close(struct ftrace *f)
{
	int bad = ftrace_close(f);

	if (bad)
		command_note(
			"%d settings could not be put back; kymo reset-ftrace puts all to rest",
			bad);
}
