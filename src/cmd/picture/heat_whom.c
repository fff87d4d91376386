/* SPDX-License-Identifier: MIT */
/* kymo heat: whose events they are, and what these threads are called. */
#include <string.h>

#include "cmd/picture/heat.h"
#include "event/match.h"

enum { THEIRS = 1, OURS };

void heat_whom_begin(struct heat_whom *w, const struct trace *t)
{
	w->live = true;
	w->newtask = match_find_tracepoint(t, "task", "task_newtask");
	w->rename = match_find_tracepoint(t, "task", "task_rename");
	w->complete = match_find_tracepoint(t, "block", "block_rq_complete");
	w->insert = match_find_tracepoint(t, "block", "block_rq_insert");
}

bool heat_int(const struct trace *t, const struct event *ev, const char *name, int64_t *ret)
{
	const struct field *f = type_field(&t->types[ev->type], name);

	return f && field_int(f, ev->raw, ev->raw_size, ret);
}

static void name_it(struct heat_whom *w, const struct trace *t, const struct event *ev,
		    const char *field)
{
	const struct field *f = type_field(&t->types[ev->type], field);
	const char *name;
	int64_t tid;
	size_t n;

	if (f && heat_int(t, ev, "pid", &tid) && field_str(f, ev->raw, ev->raw_size, &name, &n))
		*map_at(&w->names, (uint64_t)tid) = (uint64_t)strtab_addn(&w->strings, name, n) + 1;
}

static uint64_t request(const struct trace *t, const struct event *ev)
{
	int64_t dev = 0, sector = 0;

	heat_int(t, ev, "dev", &dev);
	heat_int(t, ev, "sector", &sector);
	return map_hash((uint64_t)dev) ^ (uint64_t)sector;
}

bool heat_whom_see(struct heat_whom *w, const struct trace *t, const struct event *ev)
{
	const uint64_t *parent;
	int64_t child;

	if (!w->live || ev->kind != EVENT_SAMPLE)
		return true;
	if (ev->type == w->newtask) {
		name_it(w, t, ev, "comm");
		parent = map_find(&w->tids, (uint64_t)ev->tid);
		if (parent && *parent == THEIRS && heat_int(t, ev, "pid", &child))
			*map_at(&w->tids, (uint64_t)child) = THEIRS;
		return false;
	}
	if (ev->type == w->rename) {
		name_it(w, t, ev, "newcomm");
		w->until_named = false;
		return false;
	}
	/* what is done cannot be meant when the next one goes there without a queue */
	if (w->owners.n && ev->type == w->complete)
		*map_at(&w->owners, request(t, ev)) = 0;
	if (ev->type == w->insert)
		*map_at(&w->owners, request(t, ev)) = (uint64_t)ev->tid;
	return !w->until_named;
}

int32_t heat_whom_of(const struct heat_whom *w, const struct trace *t, const struct event *ev)
{
	const struct event_type *type = &t->types[ev->type];
	const uint64_t *owner;
	int64_t tid;

	if (!type->system)
		return ev->tid;
	if (strcmp(type->system, "sched") == 0 && heat_int(t, ev, "pid", &tid))
		return (int32_t)tid;
	owner = strcmp(type->system, "block") == 0 ? map_find(&w->owners, request(t, ev)) : NULL;
	return owner && *owner ? (int32_t)*owner : ev->tid;
}

bool heat_whom_has(const struct heat_whom *w, const struct trace *t, const struct event *ev,
		   bool any_cpu)
{
	const uint64_t *who;

	if (!w->live)
		return true;
	if (!any_cpu && w->cpus.n && !cpus_has(&w->cpus, (int)ev->cpu))
		return false;
	who = map_find(&w->tids, (uint64_t)heat_whom_of(w, t, ev));
	return w->some ? who && *who == THEIRS : !who || *who != OURS;
}

const char *heat_whom_name(struct heat_whom *w, int32_t tid)
{
	const uint64_t *id = map_find(&w->names, (uint64_t)tid);
	char name[64];

	if (!id && w->live && tid > 0 && proc_comm(tid, name, sizeof(name))) {
		uint64_t *at = map_at(&w->names, (uint64_t)tid);

		*at = (uint64_t)strtab_add(&w->strings, name) + 1;
		id = at;
	}
	return id ? strtab_get(&w->strings, (uint32_t)(*id - 1)) : NULL;
}

void heat_whom_free(struct heat_whom *w)
{
	map_free(&w->tids);
	map_free(&w->owners);
	map_free(&w->names);
	strtab_free(&w->strings);
	cpus_free(&w->cpus);
}
