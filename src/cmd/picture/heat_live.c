/* SPDX-License-Identifier: MIT */
#include "cmd/picture/heat.h"

#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cmd/command.h"
#include "cmd/ftrace/run.h"
#include "kern/tracefs.h"
#include "live/ourselves.h"
#include "live/target.h"

#define ROOM_KB 4096u	   /* of each CPU's buffer: a tenth of a second of very much */
#define ROOM_SHARE 32u	   /* but of all memory, no more than a 32nd part */
#define TICK_NS 250000000u /* how often to look whether they still live */

struct plan {
	const struct heat_args *a;
	struct heat_whom *whom;
	struct target_opts to;
	struct target target;
	bool by_kernel; /* only their events are captured; else all are, and theirs picked out */
	struct ftrace_args f;
};

/* --- what --- */

struct finding {
	const char *name;
	int n;
	char *full; /* SYSTEM:EVENT */
};

static int found(void *ctx, const char *system, const char *event, struct err *e)
{
	struct finding *f = ctx;
	const char *colon = strpbrk(f->name, ":/");

	if (strcmp(event, colon ? colon + 1 : f->name) != 0)
		return 0;
	f->n++;
	free(f->full);
	f->full = mem_printf("%s:%s", system, event);
	return 0;
}

struct adding {
	struct plan *p;
	const char *root;
	struct err *why;
};

struct calls {
	const char *root;
	struct err *e;
};

/* A system call that this kernel does not have, or by another name (newstat), is told as such. */
static int check_call(void *ctx, const char *name, size_t n)
{
	struct calls *c = ctx;
	AUTO_FREE char *call = mem_strndup(name, n), *newer = mem_printf("new%s", call);
	AUTO_FREE char *path = mem_printf("%s/events/syscalls/sys_enter_%s", c->root, call);
	struct str_nearest near = { .typed = call };
	struct file_names names = { 0 };
	char list[128];

	if (access(path, F_OK) == 0 || tracefs_events(c->root, "syscalls", &names, NULL) < 0 ||
	    !names.n)
		return 0;
	for (size_t i = 0; i < names.n; i++)
		if (str_starts(names.name[i], "sys_enter_"))
			str_nearest_add(&near, names.name[i] + strlen("sys_enter_"));
	for (size_t i = 0; i < names.n; i++)
		if (str_starts(names.name[i], "sys_enter_") &&
		    strcmp(names.name[i] + strlen("sys_enter_"), newer) == 0) {
			near.name[0] = newer;
			near.n = 1;
		}
	err_set(c->e, ENOENT, "the kernel has no events of a system call '%s'", call);
	if (str_nearest_list(&near, list, sizeof(list)))
		err_hint(c->e, "did you mean %s?", list);
	else
		err_hint(c->e, "kymo list syscalls: shows all");
	file_names_free(&names);
	return -ENOENT;
}

/* An event that tracefs has, and no other of that name; what it is called there. */
static int heat_live_add_event(void *ctx, const char *name, size_t n)
{
	struct adding *d = ctx;
	AUTO_FREE char *text = mem_strndup(name, n);
	struct finding f = { .name = text };
	int r = str_has_glob(text) ? 0 : ftrace_match_events(d->root, text, found, &f, NULL);

	if (r >= 0 && f.n == 1)
		vec_push(&ftrace_args_buffer(&d->p->f)->events,
			 (struct ftrace_event_opt){ .name = arena_strdup(&d->p->f.arena, f.full) });
	else
		r = err_set(d->why, ENOENT, "%s is no event of tracefs", text);
	free(f.full);
	return r < 0 ? r : 0;
}

/* Before anything is measured: a field that events do not have is found now, not at the end. */
static int check_fields(const struct plan *p, const char *root, struct err *e)
{
	const struct ftrace_buffer_opt *b = &p->f.o.buffers.data[0];
	struct trace t = { 0 };
	int r = 0;

	t.types = mem_alloc((b->events.n + 1) * sizeof(*t.types));
	for (size_t i = 0; i < b->events.n; i++) {
		struct event_type *type = &t.types[t.n_types];
		const char *name = b->events.data[i].name, *colon = strchr(name, ':');
		AUTO_FREE char *path = NULL, *text = NULL;
		size_t n;

		*type = (struct event_type){ .name = name,
					     .system = arena_strndup(&t.arena, name,
								     (size_t)(colon - name)),
					     .event = colon + 1 };
		path = mem_printf("events/%s/%s/format", type->system, type->event);
		/* what cannot be understood is not refused for that */
		if (ftrace_get(root, path, &text, &n, NULL) == 0 &&
		    type_parse_format(type, &t.arena, text, n, NULL) == 0)
			t.n_types++;
	}
	r = heat_check(p->a, &t, e);
	free(t.types);
	arena_free(&t.arena);
	return r;
}

static int heat_live_add_events(struct plan *p, const char *root, struct err *why, struct err *e)
{
	static const char *const besides[] = { "task:task_newtask", "task:task_rename",
					       "block:block_rq_insert" };
	struct adding d = { p, root, why };
	AUTO_FREE char *events = NULL;
	int r = heat_events(p->a, &events, e);

	if (r < 0)
		return r;
	if (str_split(events, ',', heat_live_add_event, &d) < 0)
		return 0;
	r = check_fields(p, root, e);
	if (r < 0)
		return r;
	/* who is born, what they are called, and whose requests a kernel thread hands on */
	for (size_t i = 0; i < ARRAY_SIZE(besides) - (p->a->kind != HEAT_BLOCK || p->a->insert);
	     i++)
		if (heat_live_add_event(&d, besides[i], strlen(besides[i])) < 0)
			return 0;
	return 1;
}

/* --- whose --- */

/* Are its events made by whoever happens to run? Then the kernel cannot tell whose they are. */
static bool by_anyone(const struct heat_args *a)
{
	return heat_crosses_tasks(a) || (a->kind == HEAT_FIELD && str_starts(a->field, "sched:"));
}

static void add_threads(struct heat_whom *w, const struct thread_list *l, uint64_t as)
{
	for (size_t i = 0; i < l->n; i++)
		*map_at(&w->tids, (uint64_t)l->tid[i]) = as;
}

/* Threads that came while tracing was set up, and those that do the tracing. */
static void begun(void *ctx)
{
	struct plan *p = ctx;
	struct thread_list l = { 0 };
	AUTO_FREE char *us = mem_printf("%d", ourselves_pid());
	struct target now = { 0 };

	if (ourselves_known() && proc_threads_of(us, &l, NULL) == 0)
		add_threads(p->whom, &l, 2);
	thread_list_free(&l);
	if (p->whom->some && !p->by_kernel && target_make(&p->to, &now, NULL) == 0)
		add_threads(p->whom, &now.threads, 1);
	target_free(&now);
}

static int gone(void *ctx)
{
	return !target_alive(&((struct plan *)ctx)->target);
}

static int set_whom(struct plan *p, bool command, struct err *why, struct err *e)
{
	bool tasks;
	int r = 0;

	p->to = p->a->record.o.target;
	p->to.command = command;
	tasks = p->to.pids || p->to.tids || p->to.user;
	/* interrupts complete what others issued, and wakers are others */
	if (!tasks && !p->to.cpus && (heat_crosses_tasks(p->a) || p->a->duration))
		p->to.all_cpus = true;
	r = target_make(&p->to, &p->target, e);
	if (r < 0)
		return r;
	if ((tasks || p->target.command) && !ourselves_known()) {
		err_set(why, EXDEV, "process ids are a container's here, and tracefs knows others");
		return 0;
	}
	if (p->to.cpus)
		r = cpus_parse(p->to.cpus, &p->whom->cpus, e);
	p->by_kernel = (tasks || p->target.command) && !by_anyone(p->a);
	p->f.no_filter = by_anyone(p->a);
	p->f.o.children = p->by_kernel;
	p->f.filter_command = p->target.command;
	p->whom->until_named = p->target.command;
	if (tasks && p->by_kernel)
		for (size_t i = 0; i < p->target.threads.n; i++)
			vec_push(&p->f.o.pids, p->target.threads.tid[i]);
	if (tasks && !p->by_kernel) {
		p->whom->some = true;
		add_threads(p->whom, &p->target.threads, 1);
	}
	return r < 0 ? r : 1;
}

/* --- how --- */

static void set_room(struct plan *p)
{
	uint64_t kb = ROOM_KB, page = (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
	uint64_t share = (uint64_t)sysconf(_SC_PHYS_PAGES) * page / ROOM_SHARE /
			 (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
	size_t wanted = p->a->record.o.capture.ring_size;

	kb = wanted ? wanted / 1024 : kb > share ? share : kb;
	ftrace_args_buffer(&p->f)->size_kb = kb < 64 ? 64 : kb;
	p->f.size_option = "-m PAGES";
}

/* Stamps of several CPUs are compared, and keys may be processes. */
static void set_stamps(struct plan *p, const char *root)
{
	struct ftrace_buffer_opt *b = ftrace_args_buffer(&p->f);
	AUTO_FREE char *clocks = NULL, *tgid = mem_printf("%s/options/record-tgid", root);
	struct slice_rule s = { 0 };

	if (ftrace_get(root, "trace_clock", &clocks, NULL, NULL) == 0 && strstr(clocks, "mono "))
		b->clock = "mono";
	if (p->a->kind != HEAT_PAIR || access(tgid, F_OK) < 0 || heat_spec(p->a, &s, NULL) < 0)
		return;
	for (unsigned i = 0; i < s.n_keys; i++)
		if (strcmp(s.key[i].begin, "pid") == 0 || strcmp(s.key[i].end, "pid") == 0) {
			vec_push(&b->options, "record-tgid");
			break;
		}
	slice_rule_free(&s);
}

static int capture(struct plan *p, char **command, struct source **ret, struct err *why,
		   struct err *e)
{
	struct ftrace_wait w = { .ctx = p, .begun = begun };
	struct ftrace f = { 0 };
	char whom[64];
	struct watching_opts watching = { .what = "events",
					  .whom = watching_whom(&p->to, whom, sizeof(whom)),
					  .command = command ? command[0] : NULL,
					  .of_command = p->target.command,
					  .quiet = p->a->quiet };
	double seconds = 0;
	int r = 0;

	if (p->a->duration &&
	    (!str_double(p->a->duration, &seconds) || !(seconds > 0) || seconds > 1e9))
		return err_set(e, EINVAL, "-d wants seconds, not '%s'", p->a->duration);
	w.limit_ns = watching.limit_ns = (uint64_t)(seconds * 1e9);
	if (p->f.o.pids.n || p->whom->some) {
		w.tick_ns = TICK_NS;
		w.tick = command ? NULL : gone;
	}
	if (command)
		r = workload_check(command[0], &w.exit_code, e);
	if (r >= 0)
		r = ftrace_wait_open(&w, command, e);
	if (r >= 0 && ftrace_open(&f, &p->f.o, why) < 0) {
		ftrace_wait_close(&w);
		ftrace_run_close(&f);
		return 0;
	}
	w.watching = &watching;
	if (r >= 0)
		r = ftrace_run_read(&p->f, &f, &w, command, ret, e);
	ftrace_wait_close(&w);
	ftrace_run_close(&f);
	return r < 0 ? r : 1;
}

int heat_live(const struct heat_args *a, char **command, struct heat_whom *whom,
	      struct source **ret, struct err *why, struct err *e)
{
	struct plan p = { .a = a, .whom = whom };
	struct picture_aside aside;
	const char *root;
	int r;

	if (a->record.o.capture.freq_given) {
		err_set(e, EINVAL, "-F belongs to --subsecond");
		return err_hint(e, "of events, every one is measured");
	}
	root = ftrace_root(why);
	if (!root)
		return 0;
	if (a->kind == HEAT_SYSCALL &&
	    (r = str_split(a->syscall, ',', check_call, &(struct calls){ root, e })) < 0)
		return r;
	r = heat_live_add_events(&p, root, why, e);
	if (r > 0)
		r = set_whom(&p, command != NULL, why, e);
	if (r > 0) {
		set_room(&p);
		set_stamps(&p, root);
		aside = picture_aside_begin(a->output);
		r = capture(&p, command, ret, why, e);
		picture_aside_end(aside);
	}
	if (r > 0)
		heat_whom_begin(whom, (*ret)->trace);
	target_free(&p.target);
	ftrace_args_free(&p.f);
	return r;
}
