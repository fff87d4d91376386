/* SPDX-License-Identifier: MIT */
#include "calc/read/pick.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "event/match.h"

#define MAX_LIST (16u << 20)

struct list {
	int (*add)(void *to, const char *word, size_t n);
	void *to;
};

static int add_words(const struct list *l, const char *text, const char *between)
{
	while (*(text += strspn(text, between))) {
		size_t n = strcspn(text, between);
		int r = l->add(l->to, text, n);

		if (r)
			return r;
		text += n;
	}
	return 0;
}

/* "a,b,@file" with a name in each line of the file; perf writes file://file. */
static int each_word(const char *list, const struct list *l, struct err *e)
{
	while (*(list += strspn(list, ","))) {
		size_t n = strcspn(list, ",");
		size_t skip = list[0] == '@' ? 1 : str_starts(list, "file://") ? 7 : 0;
		AUTO_FREE char *word = mem_strndup(list + skip, n - skip);
		AUTO_FREE char *text = NULL;
		int r;

		list += n;
		if (!skip) {
			r = l->add(l->to, word, strlen(word));
		} else {
			r = file_read(word, MAX_LIST, &text, NULL);
			if (r < 0)
				return err_set(e, -r, "cannot read the list %s: %s", word,
					       strerror(-r));
			r = add_words(l, text, "\n\r");
		}
		if (r)
			return -EINVAL;
	}
	return 0;
}

static int pick_add_number(void *to, const char *word, size_t n)
{
	AUTO_FREE char *text = mem_strndup(word, n);
	uint64_t v;

	if (!str_u64(text, &v))
		return 1;
	*map_at(to, v) = 1;
	return 0;
}

static int pick_add_name(void *to, const char *word, size_t n)
{
	strtab_addn(to, word, n);
	return 0;
}

static int pick_add_cpu(void *to, unsigned cpu)
{
	*map_at(to, cpu) = 1;
	return 0;
}

static int pick_numbers(const char *list, const char *what, struct map *m, bool *any, struct err *e)
{
	int r;

	*any = list != NULL;
	if (!list)
		return 0;
	r = each_word(list, &(struct list){ pick_add_number, m }, e);
	return r == -EINVAL ? err_set(e, EINVAL, "%s %s: not a list of numbers", what, list) : r;
}

static int pick_names(const char *list, struct strtab *t, bool *any, const char **one,
		      struct err *e)
{
	int r;

	*any = list != NULL;
	if (!list)
		return 0;
	r = each_word(list, &(struct list){ pick_add_name, t }, e);
	if (r == 0 && t->n == 1)
		*one = strtab_get(t, 0);
	return r;
}

static int pick_cpus(struct pick *p, const char *list, struct err *e)
{
	bool have = !p->trace->n_types;

	p->by_cpu = list != NULL;
	if (!list)
		return 0;
	for (size_t i = 0; i < p->trace->n_types; i++)
		have = have || (p->trace->types[i].has & EVENT_HAVE_CPU);
	if (!have) {
		err_set(e, EINVAL, "the samples do not say on which CPU they were taken");
		return err_hint(e, "record with -a or --sample-cpu");
	}
	if (str_ranges(list, 1u << 20, pick_add_cpu, &p->cpus) < 0)
		return err_set(e, EINVAL, "-C %s: not a list of CPUs, as 0-3,5", list);
	return 0;
}

/* Names of commands to the ids that entries have; ":12" is thread 12 without a name. */
static void find_comms(struct pick *p)
{
	for (uint32_t i = 0; i < p->comm_names.n; i++) {
		const char *name = strtab_get(&p->comm_names, i);
		uint32_t id = strtab_find(tasks_strings(p->trace->tasks), name);
		uint64_t tid;

		if (id != STRTAB_NONE)
			*map_at(&p->comms, id) = 1;
		if (strcmp(name, "swapper") == 0)
			*map_at(&p->comms, TASK_NAMELESS) = 1;
		if (name[0] == ':' && str_u64(name + 1, &tid))
			*map_at(&p->comms, TASK_NAMELESS | (uint32_t)tid) = 1;
	}
}

int pick_make(struct pick *p, const struct pick_opts *o, const struct trace *t, struct err *e)
{
	int r = 0;

	*p = (struct pick){ .trace = t };
	if (o->time)
		r = spans_parse(&p->times, o->time, t, e);
	if (r == 0)
		r = pick_cpus(p, o->cpus, e);
	if (r == 0)
		r = pick_numbers(o->pids, "--pid", &p->pids, &p->by_pid, e);
	if (r == 0)
		r = pick_numbers(o->tids, "--tid", &p->tids, &p->by_tid, e);
	if (r == 0)
		r = pick_names(o->comms, &p->comm_names, &p->by_comm, &p->one_comm, e);
	if (r == 0)
		r = pick_names(o->dsos, &p->dsos, &p->by_dso, &p->one_dso, e);
	if (r == 0)
		r = pick_names(o->symbols, &p->symbols, &p->by_symbol, &p->one_symbol, e);
	p->addr_range = o->addr_range;
	for (uint32_t i = 0; r == 0 && p->addr_range && i < p->symbols.n; i++) {
		const char *name = strtab_get(&p->symbols, i);
		uint64_t v;

		if (str_starts(name, "0x") && str_u64(name, &v))
			vec_push(&p->addrs, v);
	}
	if (r == 0)
		find_comms(p);
	else
		pick_free(p);
	return r;
}

void pick_free(struct pick *p)
{
	spans_free(&p->times);
	map_free(&p->cpus);
	map_free(&p->pids);
	map_free(&p->tids);
	map_free(&p->comms);
	strtab_free(&p->comm_names);
	strtab_free(&p->dsos);
	strtab_free(&p->symbols);
	vec_free(&p->addrs);
	vec_each (&p->in, f)
		ftrace_filter_free(*f);
	vec_each (&p->out, f)
		ftrace_filter_free(*f);
	vec_free(&p->in);
	vec_free(&p->out);
	map_free(&p->shown);
	*p = (struct pick){ 0 };
}

static bool comm_wanted(const struct pick *p, const struct event *ev)
{
	uint32_t comm = tasks_comm_at(p->trace->tasks, ev->tid, ev->time);

	return map_find(&p->comms, tasks_who(comm, ev->tid)) != NULL;
}

bool pick_any(const struct pick *p)
{
	return p->times.n || p->by_cpu || p->by_pid || p->by_tid || p->by_comm;
}

bool pick_cpu(const struct pick *p, const struct event *ev)
{
	return !p->by_cpu || ev->cpu == UINT32_MAX || map_find(&p->cpus, ev->cpu);
}

enum profile_want pick_event(const struct pick *p, const struct event *ev)
{
	if (!spans_hold(&p->times, ev->time) || !pick_cpu(p, ev))
		return PROFILE_SKIP;
	if (p->by_pid && !map_find(&p->pids, (uint32_t)ev->pid))
		return PROFILE_ASIDE;
	if (p->by_tid && !map_find(&p->tids, (uint32_t)ev->tid))
		return PROFILE_ASIDE;
	if (p->by_comm && !comm_wanted(p, ev))
		return PROFILE_ASIDE;
	return PROFILE_COUNT;
}

static bool any_holds(const struct pick *p, struct ftrace_filter *const *f, size_t n,
		      const struct event *ev)
{
	bool holds = false;

	for (size_t i = 0; i < n && ev->type != EVENT_TYPE_NONE && !holds; i++)
		holds = ftrace_filter_match(f[i], &p->trace->types[ev->type], ev, p->comm, p->ctx);
	return holds;
}

bool pick_record(struct pick *p, const struct event *ev)
{
	uint64_t key = (uint64_t)ev->part << 32 | ev->cpu;
	bool in;

	if (!p->in.n && !p->out.n && !p->irqs_out)
		return pick_cpu(p, ev);
	if (!pick_cpu(p, ev) || any_holds(p, p->out.data, p->out.n, ev))
		return false;
	in = !(ev->irq_state & p->irqs_out) && (!p->in.n || any_holds(p, p->in.data, p->in.n, ev));
	if (in)
		*map_at(&p->shown, key) = 1;
	/* a stack goes with the records of its CPU */
	return in || (ev->type != EVENT_TYPE_NONE && map_find(&p->shown, key) &&
		      match_tracepoint(&p->trace->types[ev->type], "ftrace", "kernel_stack"));
}

static bool pick_listed(const struct strtab *t, const char *name)
{
	return name && strtab_find(t, name) != STRTAB_NONE;
}

bool pick_code(const struct pick *p, const struct pick_place *at)
{
	char start[32];

	if (p->by_dso && at->dso && !pick_listed(&p->dsos, at->dso) &&
	    !pick_listed(&p->dsos, at->path))
		return false;
	if (!p->by_symbol || pick_listed(&p->symbols, at->function))
		return true;
	/* a function may also be named by where it starts in memory */
	snprintf(start, sizeof(start), "0x%" PRIx64, at->start);
	if (at->function && pick_listed(&p->symbols, start))
		return true;
	vec_each (&p->addrs, addr)
		if (at->ip - *addr < p->addr_range)
			return true;
	return false;
}

static bool site_wanted(const struct pick *p, const struct names *n, const struct name_site *s)
{
	const struct name_frame *f = &n->frames.data[s->frame];
	struct pick_place at = { .function = names_function(n, s->frame),
				 .dso = "",
				 .start = s->addr - s->dso_addr + f->addr };

	if (s->dso != NAMES_NONE) {
		at.dso = n->dsos.data[s->dso].name;
		at.path = n->dsos.data[s->dso].path;
	}
	return pick_code(p, &at);
}

bool *pick_sites(const struct pick *p, const struct names *n)
{
	bool *ok;

	if (!p->by_dso && !p->by_symbol)
		return NULL;
	ok = mem_alloc((n->sites.n + 1) * sizeof(*ok));
	for (size_t i = 0; i < n->sites.n; i++)
		ok[i] = site_wanted(p, n, &n->sites.data[i]);
	return ok;
}
