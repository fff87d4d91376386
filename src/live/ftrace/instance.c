/* SPDX-License-Identifier: MIT */
#include "live/ftrace/ftrace.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

static int make_instance(struct ftrace *f, struct ftrace_buffer *b, const char *name, struct err *e)
{
	AUTO_FREE char *path = mem_printf("%s/instances/%s", f->root, name);
	int r;

	if (strchr(name, '/') || !*name || *name == '.')
		return err_set(e, EINVAL, "'%s' is no name for an instance", name);
	r = undo_mkdir(f->undo, path, e);
	b->own = r == 0 || strcmp(name, FTRACE_KEPT) == 0;
	if (r < 0 && r != -EEXIST)
		return r;
	err_clear(e);
	b->dir = mem_strdup(path);
	b->is_top = false;
	return 0;
}

static void use_top(struct ftrace *f, struct ftrace_buffer *b)
{
	free(b->dir);
	b->dir = mem_strdup(f->root);
	b->own = false;
	b->is_top = true;
}

/* Things that stand in the top instance alone. */
static bool needs_top(const struct ftrace *f, const struct ftrace_buffer *b)
{
	const struct ftrace_buffer_opt *o = b->opt;

	return f->o->top || (o->graph.n && !ftrace_has(b, "set_graph_function")) ||
	       (o->no_graph.n && !ftrace_has(b, "set_graph_notrace")) ||
	       (f->o->max_depth && !ftrace_has(b, "max_graph_depth")) ||
	       (f->o->thresh_us && !ftrace_has(b, "tracing_thresh")) ||
	       ((o->functions.n || o->no_functions.n || o->module) &&
		!ftrace_has(b, "set_ftrace_filter"));
}

/* What the kernel was to be built with; NULL: nobody knows. */
static const char *tracer_config(const char *tracer)
{
	static const char *const all[][2] = {
		{ "function", "FUNCTION_TRACER" },
		{ "function_graph", "FUNCTION_GRAPH_TRACER" },
		{ "blk", "BLK_DEV_IO_TRACE" },
		{ "mmiotrace", "MMIOTRACE" },
		{ "wakeup", "SCHED_TRACER" },
		{ "wakeup_rt", "SCHED_TRACER" },
		{ "wakeup_dl", "SCHED_TRACER" },
		{ "irqsoff", "IRQSOFF_TRACER" },
		{ "preemptoff", "PREEMPT_TRACER" },
		{ "preemptirqsoff", "IRQSOFF_TRACER and CONFIG_PREEMPT_TRACER" },
		{ "hwlat", "HWLAT_TRACER" },
		{ "osnoise", "OSNOISE_TRACER" },
		{ "timerlat", "TIMERLAT_TRACER" },
		{ "branch", "BRANCH_TRACER" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (strcmp(all[i][0], tracer) == 0)
			return all[i][1];
	return NULL;
}

static bool known_tracer(const struct ftrace *f, const char *tracer, struct err *e)
{
	AUTO_FREE char *all = NULL;
	struct str_nearest near = { .typed = tracer };
	char list[128];
	bool found = false;

	if (ftrace_get(f->root, "available_tracers", &all, NULL, NULL) < 0)
		return true;
	for (char *p = strtok(all, " \n"); p; p = strtok(NULL, " \n")) {
		found = found || strcmp(p, tracer) == 0;
		str_nearest_add(&near, p);
	}
	if (found)
		return true;
	err_set(e, EINVAL, "this kernel has no tracer '%s'", tracer);
	if (tracer_config(tracer))
		err_hint(e, "it was built without CONFIG_%s; kymo ftrace list -t lists what it has",
			 tracer_config(tracer));
	else if (str_nearest_list(&near, list, sizeof(list)))
		err_hint(e, "did you mean %s?", list);
	else
		err_hint(e, "kymo ftrace list -t lists them; events (-e) need none");
	return false;
}

/*
 * Can the instance have the tracer? Only trying tells. With one function: without a filter the
 * kernel would change all its functions, and change them back, which takes long and stops others.
 */
static bool takes_tracer(const struct ftrace_buffer *b, const char *tracer)
{
	bool one = ftrace_set(b->dir, "set_ftrace_filter", "schedule", NULL) >= 0, takes;

	takes = ftrace_set(b->dir, "tracing_on", "0", NULL) >= 0 &&
		ftrace_set(b->dir, "current_tracer", tracer, NULL) >= 0;
	if (takes)
		ftrace_set(b->dir, "current_tracer", "nop", NULL);
	if (one)
		ftrace_set(b->dir, "set_ftrace_filter", "", NULL);
	return takes;
}

int ftrace_open_buffer(struct ftrace *f, struct ftrace_buffer_opt *o, struct err *e)
{
	struct ftrace_buffer *b;
	char name[64];
	int r;

	vec_add(&f->buffers);
	b = &f->buffers.data[f->buffers.n - 1];
	b->opt = o;
	b->name = mem_strdup(o->name ? o->name : "");
	if (o->tracer && !known_tracer(f, o->tracer, e))
		return -EINVAL;
	if (o->name)
		return make_instance(f, b, o->name, e);
	if (f->o->keep)
		snprintf(name, sizeof(name), FTRACE_KEPT);
	else
		snprintf(name, sizeof(name), "kymo-%ld", (long)getpid());
	if (f->o->top) {
		use_top(f, b);
		return 0;
	}
	r = make_instance(f, b, name, e);
	if (r < 0)
		return r;
	if (needs_top(f, b) ||
	    (o->tracer && strcmp(o->tracer, "nop") != 0 && !takes_tracer(b, o->tracer))) {
		rmdir(b->dir);
		use_top(f, b);
	}
	return 0;
}
