/* SPDX-License-Identifier: MIT */
/*
 * Side-band records: who ran, what was mapped, what was lost. Applied to the
 * tasks in time order before any sample is looked at.
 */
#include "store/perfdata/impl.h"

#include <sys/mman.h>

#include "base/sort.h"
#include "store/perfdata/records.h"

uint64_t record_time(struct decoder *d, const uint8_t *p, struct perfdata_event_header h)
{
	const struct layout *l = decoder_layout(d, p, h.type, h.size);
	uint64_t time;
	uint32_t at;

	if (!l)
		return 0;
	if (h.type == PERF_RECORD_SAMPLE)
		at = l->time;
	else if (l->tail_time)
		at = h.size > l->tail_time + 7u ? h.size - l->tail_time : 0;
	else if (h.type == PERF_RECORD_FORK || h.type == PERF_RECORD_EXIT)
		at = offsetof(struct rec_fork, time);
	else
		at = 0;
	if (!at || at + 8 > h.size)
		return 0;
	time = file_u64(d->pd, p + at);
	return time == UINT64_MAX ? 0 : time;
}

/* pid, tid, time, id, cpu from the trailer. */
static void decode_tail(struct decoder *d, const struct layout *l,
			const struct perfdata_event_header *h)
{
	const uint8_t *end = (const uint8_t *)h + h->size;
	struct event *ev = &d->ev;
	bool swap = d->pd->swap;

	if (!l || !l->tail || h->size < sizeof(*h) + l->tail)
		return;
	if (l->tail_tid) {
		memcpy(&ev->pid, end - l->tail_tid + (swap ? 4 : 0), 4);
		memcpy(&ev->tid, end - l->tail_tid + (swap ? 0 : 4), 4);
		ev->have |= EVENT_HAVE_TASK;
	}
	if (l->tail_time) {
		memcpy(&ev->time, end - l->tail_time, 8);
		ev->have |= EVENT_HAVE_TIME;
	}
	if (l->tail_id) {
		memcpy(&ev->id, end - l->tail_id, 8);
		ev->have |= EVENT_HAVE_ID;
	}
	if (l->tail_cpu) {
		memcpy(&ev->cpu, end - l->tail_cpu + (swap ? 4 : 0), 4);
		ev->have |= EVENT_HAVE_CPU;
	}
}

static void side_task(struct event *ev, uint32_t pid, uint32_t tid)
{
	ev->pid = (int32_t)pid;
	ev->tid = (int32_t)tid;
	ev->have |= EVENT_HAVE_TASK;
}

static void decode_fork(struct event *ev, struct event_side *s, const struct rec_fork *r)
{
	ev->kind = r->h.type == PERF_RECORD_FORK ? EVENT_FORK : EVENT_EXIT;
	side_task(ev, r->pid, r->tid);
	s->other_pid = (int32_t)r->ppid;
	s->other_tid = (int32_t)r->ptid;
}

static void decode_mmap(struct event *ev, struct event_side *s, const void *p)
{
	const struct rec_mmap *r = p;
	const struct rec_mmap2 *r2 = p;
	bool two = r->h.type == PERF_RECORD_MMAP2;

	s->text = record_text(&r->h, two ? r2->path : r->path);
	if (!s->text)
		return;
	ev->kind = EVENT_MMAP;
	side_task(ev, r->pid, r->tid);
	s->start = r->start;
	s->size = r->size;
	s->pgoff = r->pgoff;
	if (two) {
		s->prot = r2->prot;
		s->flags = r2->flags;
	}
}

static void decode_comm(struct event *ev, struct event_side *s, const struct rec_comm *r)
{
	s->text = record_text(&r->h, r->comm);
	if (!s->text)
		return;
	ev->kind = EVENT_COMM;
	side_task(ev, r->pid, r->tid);
	s->exec = r->h.misc & PERF_RECORD_MISC_COMM_EXEC;
}

static void decode_switch(struct event *ev, struct event_side *s, const struct rec_task *r)
{
	ev->kind = EVENT_SWITCH;
	s->out = r->h.misc & PERF_RECORD_MISC_SWITCH_OUT;
	s->preempt = s->out && (r->h.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
	if (r->h.type == PERF_RECORD_SWITCH_CPU_WIDE && records_whole(&r->h)) {
		s->other_pid = (int32_t)r->pid;
		s->other_tid = (int32_t)r->tid;
	}
}

void side_decode(struct decoder *d, const uint8_t *p, struct perfdata_event_header h)
{
	const struct layout *l = decoder_layout(d, p, h.type, h.size);
	const struct perfdata_event_header *r = decoder_record(d, p);
	struct event *ev = &d->ev;
	struct event_side *s = &d->side;

	d->plain = NULL;
	*s = (struct event_side){ .other_pid = -1, .other_tid = -1, .name = records_name(h.type) };
	if (h.size > sizeof(*r)) {
		s->bytes = r + 1;
		s->n_bytes = h.size - sizeof(*r);
	}
	*ev = (struct event){ .kind = EVENT_OTHER,
			      .type = l ? l->type : 0,
			      .misc = h.misc,
			      .record = r,
			      .side = s,
			      .pid = -1,
			      .tid = -1,
			      .cpu = UINT32_MAX };
	decode_tail(d, l, r);
	s->by_pid = ev->pid;
	s->by_tid = ev->tid;
	switch (h.type) {
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE: decode_switch(ev, s, (const void *)r); return;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		ev->kind = EVENT_LOST;
		s->samples = h.type == PERF_RECORD_LOST_SAMPLES;
		break;
	case PERF_RECORD_NAMESPACES: ev->kind = EVENT_NAMESPACES; break;
	case PERF_RECORD_CGROUP: ev->kind = EVENT_CGROUP; return;
	case PERF_RECORD_KSYMBOL: ev->kind = EVENT_KSYMBOL; return;
	case PERF_RECORD_BPF_EVENT: ev->kind = EVENT_BPF; return;
	case PERF_RECORD_TEXT_POKE: ev->kind = EVENT_TEXT_POKE; return;
	case PERF_RECORD_THROTTLE: ev->kind = EVENT_THROTTLE; return;
	case PERF_RECORD_UNTHROTTLE: ev->kind = EVENT_UNTHROTTLE; return;
	default: break;
	}
	if (!records_whole(r))
		return;
	switch (h.type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2: decode_mmap(ev, s, r); break;
	case PERF_RECORD_COMM: decode_comm(ev, s, (const void *)r); break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT: decode_fork(ev, s, (const void *)r); break;
	case PERF_RECORD_LOST: s->count = ((const struct rec_lost *)r)->lost; break;
	case PERF_RECORD_LOST_SAMPLES: s->count = ((const struct rec_u64 *)r)->value; break;
	case PERF_RECORD_NAMESPACES:
		ev->pid = (int32_t)((const struct rec_namespaces *)r)->pid;
		ev->tid = (int32_t)((const struct rec_namespaces *)r)->tid;
		break;
	default: break;
	}
}

/*
 * --- code that runtimes compiled while they were recorded ---
 *
 * A runtime maps a page of its jitdump file, only so that recorders note its name; each piece of
 * code in that file becomes a mapping at the time it appeared, among the recorded ones, so that an
 * address means what it meant then.
 */

#define CODES_MAX (16u << 20)

static trace_code_fn *read_code;

void perfdata_set_code(trace_code_fn *fn)
{
	read_code = fn;
}

static void perfdata_code_add_file(struct perfdata *pd, const char *path, int32_t pid,
				   uint64_t time)
{
	struct trace_code *code = NULL;
	const struct perfdata_build_id *id = NULL;
	/* do recorded times compare with those of runtimes? */
	bool timed = pd->types.n && pd->types.data[0].attr.use_clockid &&
		     pd->types.data[0].attr.clockid == CLOCK_MONOTONIC;
	size_t n;

	vec_each (&pd->build_ids, b)
		if (!id && strcmp(b->path, path) == 0)
			id = b;
	n = read_code(pd->trace.files, path, id ? id->id : NULL, id ? id->size : 0, &code);
	path = arena_strdup(&pd->trace.arena, path);
	for (size_t i = 0; i < n && pd->codes.n < CODES_MAX; i++) {
		struct side_record side = { .time = timed && code[i].time > time ? code[i].time
										 : time,
					    .chunk = (uint32_t)pd->codes.n };

		vec_push(&pd->codes, (struct jit_code){ code[i], path, pid });
		vec_push(&pd->sides, side);
	}
	if (n)
		*map_at(&pd->jit_pids, (uint32_t)pid) = 1;
	free(code);
}

static void code_collect(struct perfdata *pd)
{
	struct strtab seen = { 0 };
	struct decoder d = { .pd = pd };
	size_t n = pd->sides.n;

	if (!read_code)
		return;
	for (size_t i = 0; i < n; i++) {
		struct side_record s = pd->sides.data[i];
		struct perfdata_event_header h = record_header(pd, s.at);
		size_t before = seen.n;

		if (h.type != PERF_RECORD_MMAP && h.type != PERF_RECORD_MMAP2)
			continue;
		side_decode(&d, s.at, h);
		if (d.ev.kind != EVENT_MMAP || !task_is_jitdump(d.side.text))
			continue;
		strtab_add(&seen, d.side.text);
		if (seen.n > before)
			perfdata_code_add_file(pd, d.side.text, d.ev.pid, s.time);
	}
	decoder_free(&d);
	strtab_free(&seen);
}

static void code_apply(struct perfdata *pd, const struct side_record *s)
{
	const struct jit_code *c = &pd->codes.data[s->chunk];
	struct task_map map = {
		.start = c->code.start, .end = c->code.end, .pgoff = c->code.pgoff, .pid = c->pid
	};

	map.dso = tasks_dso(pd->trace.tasks, c->path, NULL, 0, false);
	tasks_mmap(pd->trace.tasks, s->time, c->pid, c->pid, &map);
}

static bool code_knows(const struct perfdata *pd, const struct task_map *map, uint64_t time)
{
	const struct tasks *t = pd->trace.tasks;
	const struct task_map *now;
	const char *path;

	/* changing what may be done with memory is recorded like mapping it */
	if (!map_find(&pd->jit_pids, (uint32_t)map->pid))
		return false;
	now = tasks_find(t, tasks_space_at(t, map->pid, time), map->start);
	path = now ? tasks_dso_path(t, now->dso) : "";
	return task_is_jitdump(path) || str_starts(path, "/tmp/perf-");
}

void code_free(struct perfdata *pd)
{
	vec_free(&pd->codes);
	map_free(&pd->jit_pids);
}

/* --- applying --- */

/*
 * The kernel's own mapping is called after the symbol its address was taken from
 * ("[kernel.kallsyms]_text") and carries that symbol's address as file offset.
 */
static void apply_kernel_mmap(struct perfdata *pd, const struct event *ev, struct task_map *map,
			      const struct task_dso *dso)
{
	static const char kallsyms[] = "[kernel.kallsyms]", guest[] = "[guest.kernel.kallsyms";
	const char *path = ev->side->text;
	const char *close;

	if (str_starts(path, kallsyms)) {
		path = kallsyms;
	} else if (str_starts(path, guest) && (close = strchr(path, ']'))) {
		path = arena_strndup(&pd->trace.arena, path, (size_t)(close - path) + 1);
	}
	if (ev->side->size == 0)
		map->end = UINT64_MAX;
	map->dso = tasks_dso_like(pd->trace.tasks, path, dso);
	tasks_mmap(pd->trace.tasks, ev->time, -1, -1, map);
}

/*
 * Linux leaves the mark of a build-id on the record when another event on the machine asked for
 * one. Where this one did not, only what cannot be a device number passes for a build-id.
 */
static bool has_build_id(const struct perfdata *pd, const struct event *ev,
			 const struct rec_mmap2 *r)
{
	if (!(ev->misc & PERF_RECORD_MISC_MMAP_BUILD_ID))
		return false;
	if (ev->type < pd->types.n && pd->types.data[ev->type].attr.build_id)
		return r->build_id_size <= 20;
	return r->build_id_size == 20 && !r->reserved[0] && !r->reserved[1] && !r->reserved[2];
}

static void apply_mmap(struct perfdata *pd, const struct event *ev)
{
	const struct rec_mmap2 *r = ev->record;
	const struct event_side *s = ev->side;
	const char *path = s->text;
	char jit[32];
	struct task_dso dso = { .kernel = record_in_kernel(ev->misc) };
	struct task_map map = { .start = s->start,
				.end = s->start + s->size,
				.pgoff = s->pgoff,
				.prot = s->prot,
				.flags = s->flags,
				.pid = ev->pid };

	if (map.end < map.start)
		map.end = UINT64_MAX;
	if (r->h.type == PERF_RECORD_MMAP2) {
		if (has_build_id(pd, ev, r)) {
			dso.build_id_size = r->build_id_size <= 20 ? r->build_id_size : 20;
			memcpy(dso.build_id, r->build_id, dso.build_id_size);
		} else {
			dso.maj = r->maj;
			dso.min = r->min;
			dso.ino = r->ino;
			dso.ino_generation = r->ino_generation;
		}
	}
	if (dso.kernel) {
		apply_kernel_mmap(pd, ev, &map, &dso);
		return;
	}
	if ((s->flags & MAP_HUGETLB) || task_is_anonymous(path)) {
		/* Addresses there are what they are; their names are in the process's map file. */
		map.pgoff = map.start;
		if (s->prot & PROT_EXEC ||
		    (r->h.type == PERF_RECORD_MMAP && !(ev->misc & PERF_RECORD_MISC_MMAP_DATA))) {
			snprintf(jit, sizeof(jit), "/tmp/perf-%d.map", ev->pid);
			path = jit;
			dso = (struct task_dso){ 0 };
			if (code_knows(pd, &map, ev->time))
				return;
		}
	} else if (strcmp(path, "[vdso]") == 0) {
		map.pgoff = 0;
	}
	map.dso = tasks_dso_like(pd->trace.tasks, path, &dso);
	tasks_mmap(pd->trace.tasks, ev->time, ev->pid, ev->tid, &map);
}

static void apply_ksymbol(struct perfdata *pd, const struct event *ev)
{
	const struct rec_ksymbol *r = ev->record;
	struct task_dso dso = { .kernel = true, .ksymbol = true };
	struct task_map map = { .pid = -1 };
	const char *name;

	if (!records_whole(&r->h) || !(name = record_text(&r->h, r->name)))
		return;
	if (r->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER) {
		tasks_kernel_unmap(pd->trace.tasks, ev->time, r->addr, r->addr + r->len);
		return;
	}
	map.start = r->addr;
	map.end = r->addr + r->len;
	map.dso = tasks_dso_like(pd->trace.tasks, name, &dso);
	tasks_mmap(pd->trace.tasks, ev->time, -1, -1, &map);
}

static void apply_cgroup(struct perfdata *pd, const struct event *ev)
{
	const struct rec_cgroup *r = ev->record;
	const char *path;

	if (r->h.size < sizeof(*r) || !(path = record_text(&r->h, r->path)))
		return;
	*map_at(&pd->cgroups, r->id) = strtab_add(&pd->cgroup_paths, path) + 1ull;
}

#define CGROUP_NAMESPACE 6 /* among those of a record */

static void apply_namespaces(struct perfdata *pd, const struct event *ev)
{
	const struct rec_namespaces *r = ev->record;
	uint64_t *at;

	if (r->h.size < sizeof(*r) + (CGROUP_NAMESPACE + 1) * sizeof(r->of[0]) ||
	    r->n <= CGROUP_NAMESPACE)
		return;
	at = map_at(&pd->namespace_of, r->tid);
	vec_push(&pd->namespaces, (struct namespace_seen){ .time = ev->time,
							   .dev = r->of[CGROUP_NAMESPACE].dev,
							   .ino = r->of[CGROUP_NAMESPACE].ino,
							   .before = *at });
	*at = pd->namespaces.n;
}

static void apply_one(struct perfdata *pd, const struct event *ev)
{
	const struct perfdata_event_header *h = ev->record;
	struct tasks *tasks = pd->trace.tasks;

	switch (ev->kind) {
	case EVENT_MMAP: apply_mmap(pd, ev); return;
	case EVENT_COMM:
		tasks_comm(tasks, ev->time, ev->pid, ev->tid, ev->side->text, ev->side->exec);
		return;
	case EVENT_FORK:
		tasks_fork(tasks, ev->time, ev->side->other_pid, ev->side->other_tid, ev->pid,
			   ev->tid, !(ev->misc & PERF_RECORD_MISC_FORK_EXEC));
		return;
	case EVENT_EXIT: tasks_exit(tasks, ev->time, ev->pid, ev->tid); return;
	default: break;
	}
	if (h->type == PERF_RECORD_KSYMBOL)
		apply_ksymbol(pd, ev);
	else if (h->type == PERF_RECORD_CGROUP)
		apply_cgroup(pd, ev);
	else if (h->type == PERF_RECORD_NAMESPACES)
		apply_namespaces(pd, ev);
}

/* Equal times stay in the order of the file. */
SORT_STABLE(sort_sides, struct side_record, time)

void side_apply(struct perfdata *pd)
{
	AUTO_FREE struct side_record *tmp = NULL;
	struct decoder d = { .pd = pd };

	code_collect(pd);
	tmp = mem_alloc((pd->sides.n / 2 + 1) * sizeof(*tmp));
	sort_sides(pd->sides.data, tmp, pd->sides.n);
	vec_each (&pd->sides, s) {
		if (!s->at) {
			code_apply(pd, s);
			continue;
		}
		side_decode(&d, s->at, record_header(pd, s->at));
		d.ev.time = s->time;
		apply_one(pd, &d.ev);
	}
	decoder_free(&d);
	vec_free(&pd->sides);
	arena_free(&pd->side_copies);
}
