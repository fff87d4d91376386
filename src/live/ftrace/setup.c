/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "kern/tracefs.h"
#include "live/ftrace/ftrace.h"
#include "live/ftrace/functions.h"

#define LIMIT (64u << 20)

const char *ftrace_root(struct err *e)
{
	const char *root = tracefs_find(e);
	AUTO_FREE char *file = NULL;

	if (!root)
		return NULL;
	file = mem_printf("%s/current_tracer", root);
	if (access(file, R_OK) == 0)
		return root;
	if (errno == ENOENT) {
		err_set(e, ENOENT, "this kernel has tracefs, but no tracers");
		err_hint(e, "it needs CONFIG_FTRACE; kymo record and kymo stat can do without");
	} else {
		tracefs_failed(root, errno, e);
	}
	return NULL;
}

int ftrace_get(const char *dir, const char *name, char **ret, size_t *n, struct err *e)
{
	AUTO_FREE char *path = mem_printf("%s/%s", dir, name);
	int r = file_read(path, LIMIT, ret, n);

	if (r < 0)
		return err_set(e, -r, "cannot read %s: %s", path, strerror(-r));
	return 0;
}

int ftrace_set(const char *dir, const char *name, const char *value, struct err *e)
{
	AUTO_FREE char *path = mem_printf("%s/%s", dir, name);

	return undo_put(path, value, false, e);
}

int ftrace_put(struct ftrace *f, const struct ftrace_buffer *b, const char *name, const char *value,
	       struct err *e)
{
	AUTO_FREE char *path = mem_printf("%s/%s", b->dir, name);

	/* what is ours goes as a whole */
	return b->own ? ftrace_set(b->dir, name, value, e) : undo_write(f->undo, path, value, e);
}

bool ftrace_has(const struct ftrace_buffer *b, const char *name)
{
	AUTO_FREE char *path = mem_printf("%s/%s", b->dir, name);

	return access(path, F_OK) == 0;
}

/* --- settings --- */

/* Options of a tracer are one for all instances: set in one that goes, they stay. */
static bool is_of_tracer(const char *option)
{
	return strncmp(option, "func_", 5) == 0 || strncmp(option, "func-", 5) == 0 ||
	       strncmp(option, "funcgraph-", 10) == 0 || strncmp(option, "blk_", 4) == 0 ||
	       strcmp(option, "sleep-time") == 0 || strcmp(option, "graph-time") == 0;
}

static int put_option_file(struct ftrace *f, const struct ftrace_buffer *b, const char *file,
			   const char *value, struct err *e)
{
	AUTO_FREE char *now = NULL, *path = mem_printf("%s/%s", f->root, file);
	int r = 0;

	if (b->own && is_of_tracer(file + strlen("options/")) &&
	    ftrace_get(f->root, file, &now, NULL, NULL) >= 0)
		r = undo_later(f->undo, path, now, e);
	return r < 0 ? r : ftrace_put(f, b, file, value, e);
}

int ftrace_put_option(struct ftrace *f, const struct ftrace_buffer *b, const char *text,
		      struct err *e)
{
	bool off = strncmp(text, "no", 2) == 0;
	AUTO_FREE char *on_file = mem_printf("options/%s", text);
	AUTO_FREE char *off_file = mem_printf("options/%s", off ? text + 2 : text);

	if (ftrace_has(b, on_file))
		return put_option_file(f, b, on_file, "1", e);
	if (off && ftrace_has(b, off_file))
		return put_option_file(f, b, off_file, "0", e);
	err_set(e, ENOENT, "there is no trace option '%s'", text);
	return err_hint(e, "kymo ftrace list -o lists them; 'noNAME' turns one off");
}

static int ftrace_setup_put_number(struct ftrace *f, const struct ftrace_buffer *b,
				   const char *file, uint64_t v, struct err *e)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
	return ftrace_put(f, b, file, text, e);
}

bool ftrace_is_latency(const char *tracer)
{
	return tracer && (strncmp(tracer, "wakeup", 6) == 0 || strstr(tracer, "irqsoff") ||
			  strcmp(tracer, "preemptoff") == 0);
}

/* Before anyone reads the buffer: then the kernel lets nobody change the tracer. */
static int set_tracer(struct ftrace *f, const struct ftrace_buffer *b, struct err *e)
{
	const struct ftrace_buffer_opt *o = b->opt;
	int r = 0;

	if (r >= 0 && o->tracer) {
		r = ftrace_put(f, b, "current_tracer", o->tracer, e);
		if (r == -EBUSY)
			err_hint(
				e,
				"another program reads this buffer, or has the tracer; kymo ftrace "
				"stat shows who");
		if (r == -EINVAL && b->opt->name)
			err_hint(e, "instances cannot have this tracer: leave out -B");
	}
	if (r >= 0 && o->tracer && strcmp(o->tracer, "blk") == 0)
		r = ftrace_blk_devices(f, e);
	/* the worst case of this recording, not of those before */
	if (r >= 0 && ftrace_is_latency(o->tracer) && ftrace_has(b, "tracing_max_latency"))
		r = ftrace_put(f, b, "tracing_max_latency", "0", e);
	/* these options exist once the tracer is set */
	for (size_t i = 0; r >= 0 && i < o->options.n; i++)
		r = ftrace_put_option(f, b, o->options.data[i], e);
	if (r >= 0 && f->o->func_stack)
		r = ftrace_put_option(f, b, "func_stack_trace", e);
	return r;
}

/*
 * A thread that comes to a function of set_graph_function while the buffer is off is taken for one
 * inside of it by the kernel, and its next function, whatever that is, is recorded once the buffer
 * is on. So until then the list names a function that nobody calls.
 */
static bool graph_waits(const struct ftrace *f, const struct ftrace_buffer *b)
{
	const struct ftrace_buffer_opt *o = b->opt;

	return o->graph.n && !f->o->append && o->tracer && strcmp(o->tracer, "function_graph") == 0;
}

/* The list itself was written before, with what it takes to restore it. */
static bool hold_graph(const struct ftrace_buffer *b)
{
	static const char *const never[] = { "kernel_halt", "machine_halt", "emergency_restart",
					     "panic" };

	for (size_t i = 0; i < ARRAY_SIZE(never); i++)
		if (ftrace_set(b->dir, "set_graph_function", never[i], NULL) >= 0)
			return true;
	return false;
}

static int set_buffer(struct ftrace *f, const struct ftrace_buffer *b, struct err *e)
{
	struct ftrace_buffer_opt *o = b->opt;
	int r = ftrace_check_commands(f, b, e);

	if (r >= 0 && !f->o->append)
		r = ftrace_put(f, b, "tracing_on", "0", e);
	/* trace_marker of the top instance reaches this one, where the kernel can do that */
	if (b->own && ftrace_has(b, "options/copy_trace_marker"))
		ftrace_put(f, b, "options/copy_trace_marker", "1", NULL);
	if (r >= 0 && o->clock) {
		r = ftrace_put(f, b, "trace_clock", o->clock, e);
		if (r == -EINVAL)
			err_hint(e, "kymo ftrace list -C lists the clocks of this kernel");
	}
	if (r >= 0 && o->size_kb)
		r = ftrace_setup_put_number(f, b, "buffer_size_kb", o->size_kb, e);
	if (r >= 0 && o->cpumask) {
		r = ftrace_put(f, b, "tracing_cpumask", o->cpumask, e);
		if (r == -EINVAL || r == -EOVERFLOW)
			err_hint(e, "-M takes a mask in hex: 5 means the CPUs 0 and 2");
	}
	if (r >= 0 && (o->functions.n || o->module))
		r = ftrace_put_functions(f, b, "set_ftrace_filter", &o->functions, o->module, e);
	if (r >= 0 && o->no_functions.n)
		r = ftrace_put_functions(f, b, "set_ftrace_notrace", &o->no_functions, NULL, e);
	if (r >= 0 && o->graph.n)
		r = ftrace_put_functions(f, b, "set_graph_function", &o->graph, NULL, e);
	if (r >= 0 && graph_waits(f, b) && !hold_graph(b)) /* and the list is empty now */
		r = ftrace_put_functions(f, b, "set_graph_function", &o->graph, NULL, e);
	if (r >= 0 && o->no_graph.n)
		r = ftrace_put_functions(f, b, "set_graph_notrace", &o->no_graph, NULL, e);
	if (r >= 0 && f->o->max_depth && ftrace_has(b, "max_graph_depth"))
		r = ftrace_setup_put_number(f, b, "max_graph_depth", (uint64_t)f->o->max_depth, e);
	if (r >= 0 && f->o->thresh_us && ftrace_has(b, "tracing_thresh"))
		r = ftrace_setup_put_number(f, b, "tracing_thresh", f->o->thresh_us, e);
	if (r >= 0 && f->o->event_stack)
		r = ftrace_put_option(f, b, "stacktrace", e);
	return r < 0 ? r : set_tracer(f, b, e);
}

/*
 * "7 (expanded: 1408)": the kernel enlarges its buffers when they are first used. Some
 * kernels then enlarge only the instance's and forget the top one's, for good.
 */
static void expand_top(const struct ftrace *f)
{
	AUTO_FREE char *text = NULL;
	char *size;

	if (ftrace_get(f->root, "buffer_size_kb", &text, NULL, NULL) < 0 ||
	    !(size = strstr(text, "expanded: ")))
		return;
	size += strlen("expanded: ");
	size[strspn(size, "0123456789")] = '\0';
	ftrace_set(f->root, "buffer_size_kb", size, NULL);
}

int ftrace_open(struct ftrace *f, struct ftrace_opts *o, struct err *e)
{
	int r = 0;

	*f = (struct ftrace){ .o = o };
	f->root = ftrace_root(e);
	if (!f->root)
		return e && e->code ? -e->code : -ENOENT;
	r = o->keep ? undo_open_named(FTRACE_KEPT, &f->undo, e) : undo_open(&f->undo, e);
	if (r >= 0)
		expand_top(f);
	vec_each (&o->buffers, b)
		if (r >= 0)
			r = ftrace_open_buffer(f, b, e);
	if (r >= 0 && o->cmdlines) {
		struct ftrace_buffer top = { .dir = (char *)f->root };

		r = ftrace_setup_put_number(f, &top, "saved_cmdlines_size", o->cmdlines, e);
	}
	vec_each (&f->buffers, b)
		if (r >= 0)
			r = set_buffer(f, b, e);
	return r < 0 ? r : 0;
}

/* --- threads --- */

static int put_pids(struct ftrace *f, const struct ftrace_buffer *b, const char *event_file,
		    const char *func_file, const pid_t *pids, size_t n, struct err *e)
{
	AUTO_STRBUF list = { 0 };
	int r = 0;

	for (size_t i = 0; i < n; i++)
		strbuf_printf(&list, "%ld ", (long)pids[i]);
	if (ftrace_has(b, event_file))
		r = ftrace_put(f, b, event_file, strbuf_str(&list), e);
	/* without a tracer of functions it does not matter, and may be refused */
	if (r >= 0 && b->opt->tracer && strncmp(b->opt->tracer, "function", 8) == 0 &&
	    ftrace_has(b, func_file))
		r = ftrace_put(f, b, func_file, strbuf_str(&list), e);
	return r;
}

int ftrace_pids(struct ftrace *f, struct err *e)
{
	int r = 0;

	if (!f->o->pids.n)
		return 0;
	vec_each (&f->buffers, b) {
		if (r >= 0)
			r = put_pids(f, b, "set_event_pid", "set_ftrace_pid", f->o->pids.data,
				     f->o->pids.n, e);
		if (r >= 0 && f->o->children && ftrace_has(b, "options/event-fork"))
			r = ftrace_put(f, b, "options/event-fork", "1", e);
		if (r >= 0 && f->o->children && ftrace_has(b, "options/function-fork"))
			r = ftrace_put(f, b, "options/function-fork", "1", e);
	}
	if (r == -EINVAL || r == -ESRCH)
		err_hint(e, "is there such a process?");
	return r;
}

int ftrace_exclude(struct ftrace *f, const pid_t *tids, size_t n, struct err *e)
{
	int r = 0;

	vec_each (&f->buffers, b)
		if (r >= 0 && !b->own_inside)
			r = put_pids(f, b, "set_event_notrace_pid", "set_ftrace_notrace_pid", tids,
				     n, e);
	return r;
}

/* --- on and off --- */

static int start_buffer(struct ftrace *f, const struct ftrace_buffer *b, struct err *e)
{
	const struct ftrace_buffer_opt *o = b->opt;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < o->events.n; i++)
		r = ftrace_event_set(f, b, &o->events.data[i], e);
	/* what was in the buffer is not of this trace */
	if (r >= 0 && !f->o->append)
		ftrace_set(b->dir, "trace", "", NULL);
	return r;
}

int ftrace_start(struct ftrace *f, struct err *e)
{
	int r = 0;

	vec_each (&f->buffers, b)
		if (r >= 0)
			r = start_buffer(f, b, e);
	vec_each (&f->buffers, b)
		if (r >= 0) {
			r = ftrace_set(b->dir, "tracing_on", "1", e);
			/* instances measure before, too, and keep a worst case without a trace */
			if (r >= 0 && ftrace_is_latency(b->opt->tracer))
				ftrace_set(b->dir, "tracing_max_latency", "0", NULL);
			if (r >= 0 && graph_waits(f, b))
				r = ftrace_put_functions(f, b, "set_graph_function", &b->opt->graph,
							 NULL, e);
			if (r >= 0)
				r = ftrace_put_commands(f, b, e);
		}
	return r;
}

int ftrace_stop(struct ftrace *f, struct err *e)
{
	int r = 0;

	vec_each (&f->buffers, b) {
		int one = ftrace_set(b->dir, "tracing_on", "0", e);

		r = one < 0 ? one : r;
	}
	return r;
}

void ftrace_forget(struct ftrace *f)
{
	if (f->o && f->o->keep)
		undo_leave(f->undo);
	else
		undo_forget(f->undo);
	f->undo = NULL;
}

int ftrace_close(struct ftrace *f)
{
	int bad;

	/* settings of tracers go with them: stop what runs first */
	vec_each (&f->buffers, b)
		if (f->undo && b->own && b->dir)
			ftrace_set(b->dir, "current_tracer", "nop", NULL);
	bad = undo_all(f->undo);
	vec_each (&f->buffers, b) {
		free(b->dir);
		free(b->name);
	}
	vec_free(&f->buffers);
	arena_free(&f->names);
	f->undo = NULL;
	return bad;
}
