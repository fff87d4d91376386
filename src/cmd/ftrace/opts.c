/* SPDX-License-Identifier: MIT */
#include "cmd/ftrace/opts.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "calc/analysis/task_spans.h"
#include "cmd/command.h"
#include "kern/proc.h"

struct ftrace_buffer_opt *ftrace_args_buffer(struct ftrace_args *a)
{
	if (!a->o.buffers.n)
		vec_add(&a->o.buffers);
	return &a->o.buffers.data[a->o.buffers.n - 1];
}

#define ON(name) \
	int name(const struct opt *o, const char *value, bool unset, void *args, struct err *e)

ON(ftrace_on_event)
{
	struct ftrace_args *a = args;

	a->any_option = true;
	vec_push(&ftrace_args_buffer(a)->events,
		 (struct ftrace_event_opt){ .name = value, .off = a->negate });
	return 0;
}

/* -f and -R belong to the -e before. */
static struct ftrace_event_opt *last_event(struct ftrace_args *a, const char *what, struct err *e)
{
	struct ftrace_buffer_opt *b = ftrace_args_buffer(a);

	if (b->events.n)
		return &b->events.data[b->events.n - 1];
	err_set(e, EINVAL, "%s belongs behind the -e EVENT it is for", what);
	return NULL;
}

ON(ftrace_on_filter)
{
	struct ftrace_event_opt *ev = last_event(args, "-f FILTER", e);

	if (!ev)
		return -EINVAL;
	/* several: all must hold */
	ev->filter = ev->filter ? arena_printf(&((struct ftrace_args *)args)->arena, "(%s)&&(%s)",
					       ev->filter, value)
				: value;
	return 0;
}

ON(ftrace_on_trigger)
{
	struct ftrace_event_opt *ev = last_event(args, "-R TRIGGER", e);

	if (!ev)
		return -EINVAL;
	ev->trigger = ev->trigger ? arena_printf(&((struct ftrace_args *)args)->arena, "%s\n%s",
						 ev->trigger, value)
				  : value;
	return 0;
}

/* What one option puts into the buffer it is for: a text, or one more of a list. */
static const struct {
	const char *name;
	size_t text, list; /* offsets; 0: the other */
} buffer_texts[] = {
#define TEXT(option, field)                                               \
	{                                                                 \
		option, .text = offsetof(struct ftrace_buffer_opt, field) \
	}
#define LIST(option, field)                                               \
	{                                                                 \
		option, .list = offsetof(struct ftrace_buffer_opt, field) \
	}
	TEXT("plugin", tracer),	       TEXT("clock", clock),
	TEXT("cpumask", cpumask),      TEXT("module", module),
	LIST("function", functions),   LIST("notrace", no_functions),
	LIST("graph-function", graph), LIST("graph-notrace", no_graph),
	LIST("option", options),
};

ON(ftrace_on_text)
{
	struct ftrace_args *a = args;
	char *b = (char *)ftrace_args_buffer(a);

	if (strcmp(o->name, "plugin") == 0)
		a->any_option = true;
	/* a mask of -1: all of them, as without it */
	if (strcmp(o->name, "cpumask") == 0 && strcmp(value, "-1") == 0)
		value = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(buffer_texts); i++)
		if (strcmp(o->name, buffer_texts[i].name) != 0)
			continue;
		else if (buffer_texts[i].text)
			*(const char **)(b + buffer_texts[i].text) = value;
		else
			vec_push((ftrace_names_list *)(b + buffer_texts[i].list), value);
	return 0;
}

ON(ftrace_on_size)
{
	uint64_t kb;

	if (!str_size(value, 1024, &kb) || kb < 1024)
		return err_set(e, EINVAL, "-b wants kilobytes, not '%s'", value);
	ftrace_args_buffer(args)->size_kb = kb / 1024;
	return 0;
}

ON(ftrace_on_buffer)
{
	struct ftrace_args *a = args;
	struct ftrace_buffer_opt *b;

	a->any_option = true;
	/* the first one may have been left empty: then there is no other */
	if (a->o.buffers.n == 1 && !a->o.buffers.data[0].name && !a->o.buffers.data[0].events.n &&
	    !a->o.buffers.data[0].tracer)
		b = &a->o.buffers.data[0];
	else
		b = vec_add(&a->o.buffers);
	b->name = value;
	b->remove = a->negate;
	return 0;
}

struct pids_of {
	struct ftrace_args *a;
	struct err *e;
};

/* A thread by its number, or all threads of the processes of a name. */
static int ftrace_opts_add_pid(void *ctx, const char *part, size_t n)
{
	AUTO_FREE char *text = mem_strndup(part, n);
	struct pids_of *to = ctx;
	struct thread_list l = { 0 };
	uint64_t pid;
	int r;

	if (str_u64(text, &pid)) {
		if (pid > INT32_MAX)
			return err_set(to->e, EINVAL, "-P wants process ids, not '%s'", text);
		vec_push(&to->a->o.pids, (pid_t)pid);
		return 0;
	}
	r = proc_threads_of(text, &l, to->e);
	for (size_t i = 0; i < l.n; i++)
		vec_push(&to->a->o.pids, l.tid[i]);
	thread_list_free(&l);
	return r;
}

ON(ftrace_on_pid)
{
	return str_split(value, ',', ftrace_opts_add_pid, &(struct pids_of){ args, e });
}

ON(ftrace_on_negate)
{
	struct ftrace_args *a = args;

	a->negate = true;
	return 0;
}

ON(ftrace_on_depth)
{
	struct ftrace_args *a = args;
	uint64_t n;

	if (!str_u64(value, &n) || n > 1000)
		return err_set(e, EINVAL, "--max-graph-depth wants a number, not '%s'", value);
	a->o.max_depth = (int)n;
	return 0;
}

ON(ftrace_on_remote)
{
	const char letter[2] = { (char)o->letter };

	err_set(e, EOPNOTSUPP,
		"%s%s: kymo has no remote recording yet: it traces this machine only",
		*letter ? "-" : "--", *letter ? letter : o->name);
	return err_hint(
		e, "run kymo ftrace record there and copy the file, or pipe what stream prints: "
		   "ssh HOST kymo ftrace stream -e EVENT");
}

static int ftrace_opts_add_event(void *ctx, const char *part, size_t n)
{
	struct ftrace_args *a = ctx;
	struct ftrace_event_opt ev = { .name = arena_strndup(&a->arena, part, n) };

	vec_push(&ftrace_args_buffer(a)->events, ev);
	return 0;
}

int ftrace_args_hook(struct ftrace_args *a, const char *hook, struct err *e)
{
	AUTO_FREE char *both = NULL;
	int r = task_spans_hook_events(hook, &both, e);

	return r < 0 ? r : str_split(both, ',', ftrace_opts_add_event, a);
}

void ftrace_args_usual(struct ftrace_args *a)
{
	static const char *const usual[] = { "sched:sched_switch",     "sched:sched_wakeup",
					     "sched:sched_wakeup_new", "irq:irq_handler_entry",
					     "irq:irq_handler_exit",   "irq:softirq_entry",
					     "irq:softirq_exit" };

	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		vec_push(&ftrace_args_buffer(a)->events,
			 (struct ftrace_event_opt){ .name = usual[i] });
	a->any_option = true;
}

int ftrace_args_check(struct ftrace_args *a, struct err *e)
{
	ftrace_args_buffer(a);
	vec_each (&a->o.pids, pid) /* 0 is idling */
		if (*pid > 0 && kill(*pid, 0) < 0 && errno == ESRCH)
			return err_set(e, ESRCH, "there is no thread %d", *pid);
	vec_each (&a->o.buffers, b) {
		if (b->functions.n && !b->tracer) {
			bool only_commands = true;

			vec_each (&b->functions, f)
				only_commands = only_commands && strchr(*f, ':');
			if (!only_commands) {
				err_set(e, EINVAL,
					"-l names functions, but nothing traces functions");
				return err_hint(e, "add -p function, or -p function_graph");
			}
		}
		if (b->graph.n && (!b->tracer || strcmp(b->tracer, "function_graph") != 0)) {
			err_set(e, EINVAL, "-g is for the tracer function_graph");
			return err_hint(e, "add -p function_graph");
		}
		if (a->o.func_stack && b->tracer && !b->functions.n) {
			err_set(e, EINVAL,
				"--func-stack for all functions would stall the machine");
			return err_hint(e, "name some with -l FUNC");
		}
	}
	return 0;
}

void ftrace_args_free(struct ftrace_args *a)
{
	vec_each (&a->o.buffers, b) {
		vec_free(&b->events);
		vec_free(&b->functions);
		vec_free(&b->no_functions);
		vec_free(&b->graph);
		vec_free(&b->no_graph);
		vec_free(&b->options);
	}
	vec_free(&a->o.buffers);
	vec_free(&a->o.pids);
	vec_free(&a->hooks);
	arena_free(&a->arena);
}
