/* SPDX-License-Identifier: MIT */
#include "cmd/report/script_filter.h"

#include <inttypes.h>
#include <string.h>

#include "base/str.h"

/* --- lists --- */

static int script_filter_add_number(void *ctx, const char *part, size_t n)
{
	AUTO_FREE char *text = mem_strndup(part, n);
	uint64_t v;

	if (!str_u64(text, &v))
		return 1;
	*map_at(ctx, v) = 1;
	return 0;
}

static int script_filter_add_name(void *ctx, const char *part, size_t n)
{
	strtab_addn(ctx, part, n);
	return 0;
}

static int script_filter_add_cpu(void *ctx, unsigned cpu)
{
	*map_at(ctx, cpu) = 1;
	return 0;
}

static int numbers(const char *list, struct map *m, bool *any, const char *what, struct err *e)
{
	if (!list)
		return 0;
	*any = true;
	if (str_split(list, ',', script_filter_add_number, m) != 0)
		return err_set(e, EINVAL, "%s %s: not a list of numbers", what, list);
	return 0;
}

static void script_filter_names(const char *list, struct strtab *t, bool *any)
{
	if (!list)
		return;
	*any = true;
	str_split(list, ',', script_filter_add_name, t);
}

/* Functions may be named by addresses, too: 0x4010a0. */
static void addresses(struct script_filter *f, uint64_t range)
{
	f->addr_range = range ? range : 1;
	for (uint32_t i = 0; i < f->symbols.n; i++) {
		const char *name = strtab_get(&f->symbols, i);
		uint64_t v;

		if (str_starts(name, "0x") && str_u64(name, &v))
			vec_push(&f->addrs, v);
	}
}

static int script_filter_cpus(struct script_filter *f, const char *list, struct err *e)
{
	bool have = false;

	if (!list)
		return 0;
	for (size_t i = 0; i < f->trace->n_types; i++)
		have = have || (f->trace->types[i].has & EVENT_HAVE_CPU);
	if (!have) {
		err_set(e, EINVAL, "the samples do not say on which CPU they were taken");
		return err_hint(e, "record with -a or --sample-cpu");
	}
	f->by_cpu = true;
	if (str_ranges(list, 1u << 20, script_filter_add_cpu, &f->cpus) < 0)
		return err_set(e, EINVAL, "-C %s: not a list of CPUs (0-3,5)", list);
	return 0;
}

int script_filter_init(struct script_filter *f, const struct script_filter_opts *o,
		       const struct trace *t, struct err *e)
{
	int r = 0;

	*f = (struct script_filter){ .trace = t };
	if (o->time)
		r = spans_parse(&f->spans, o->time, t, e);
	if (r >= 0)
		r = numbers(o->pids, &f->pids, &f->by_pid, "--pid", e);
	if (r >= 0)
		r = numbers(o->tids, &f->tids, &f->by_tid, "--tid", e);
	if (r >= 0)
		r = script_filter_cpus(f, o->cpus, e);
	script_filter_names(o->comms, &f->comms, &f->by_comm);
	script_filter_names(o->symbols, &f->symbols, &f->by_symbol);
	script_filter_names(o->dsos, &f->dsos, &f->by_dso);
	addresses(f, o->addr_range);
	if (r < 0)
		script_filter_free(f);
	return r;
}

void script_filter_free(struct script_filter *f)
{
	spans_free(&f->spans);
	map_free(&f->pids);
	map_free(&f->tids);
	map_free(&f->cpus);
	strtab_free(&f->comms);
	strtab_free(&f->symbols);
	strtab_free(&f->dsos);
	vec_free(&f->addrs);
	*f = (struct script_filter){ 0 };
}

static bool script_filter_listed(const struct strtab *t, const char *name)
{
	return name && strtab_find(t, name) != STRTAB_NONE;
}

static bool address_wanted(const struct script_filter *f, uint64_t ip)
{
	for (size_t i = 0; i < f->addrs.n; i++)
		if (ip - f->addrs.data[i] < f->addr_range)
			return true;
	return false;
}

static bool code_wanted(struct script_filter *f, struct script *s, const struct event *ev)
{
	const char *function, *dso, *base;
	uint64_t start;

	script_names(s, ev, &function, &dso, &start);
	if (f->by_dso && dso) {
		base = strrchr(dso, '/');
		if (!script_filter_listed(&f->dsos, dso) &&
		    !script_filter_listed(&f->dsos, base ? base + 1 : NULL))
			return false;
	}
	if (f->by_symbol && !script_filter_listed(&f->symbols, function)) {
		char text[32];

		snprintf(text, sizeof(text), "0x%" PRIx64, start);
		return (function && script_filter_listed(&f->symbols, text)) ||
		       address_wanted(f, ev->ip);
	}
	return true;
}

bool script_filter_wants(struct script_filter *f, struct script *s, const struct event *ev)
{
	if (f->by_cpu && ev->cpu != UINT32_MAX && !map_find(&f->cpus, ev->cpu))
		return false;
	/* Like perf: the others choose among samples only. */
	if (ev->kind != EVENT_SAMPLE)
		return true;
	if (!spans_hold(&f->spans, ev->time))
		return false;
	if (f->by_pid && !map_find(&f->pids, (uint32_t)ev->pid))
		return false;
	if (f->by_tid && !map_find(&f->tids, (uint32_t)ev->tid))
		return false;
	if (f->by_comm) {
		char name[TASK_NAME];

		if (!script_filter_listed(&f->comms,
					  tasks_name_at(f->trace->tasks, ev->tid, ev->time, name)))
			return false;
	}
	return !(f->by_symbol || f->by_dso) || code_wanted(f, s, ev);
}
