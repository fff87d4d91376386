/* SPDX-License-Identifier: MIT */
/*
 * Code that runtimes compiled while they were recorded. A runtime maps a page of
 * its jitdump file, only so that recorders note its name; each piece of code in
 * that file becomes a mapping at the time it appeared, among the recorded ones, so
 * that an address means what it meant then.
 */

#include "store/perfdata/impl.h"
#include "store/perfdata/records.h"

#define CODES_MAX (16u << 20)

static trace_code_fn *read_code;

void perfdata_set_code(trace_code_fn *fn)
{
	read_code = fn;
}

/* Do recorded times compare with those of runtimes? */
static bool same_clock(const struct perfdata *pd)
{
	return pd->types.n && pd->types.data[0].attr.use_clockid &&
	       pd->types.data[0].attr.clockid == CLOCK_MONOTONIC;
}

static const struct perfdata_build_id *perfdata_code_id_of(const struct perfdata *pd,
							   const char *path)
{
	vec_each (&pd->build_ids, b)
		if (strcmp(b->path, path) == 0)
			return b;
	return NULL;
}

static void perfdata_code_add_file(struct perfdata *pd, const char *path, int32_t pid,
				   uint64_t time)
{
	struct trace_code *code = NULL;
	const struct perfdata_build_id *id = perfdata_code_id_of(pd, path);
	size_t n = read_code(pd->trace.files, path, id ? id->id : NULL, id ? id->size : 0, &code);
	bool timed = same_clock(pd);

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

void code_collect(struct perfdata *pd)
{
	struct strtab seen = { 0 };
	struct decoder d;
	size_t n = pd->sides.n;

	if (!read_code)
		return;
	decoder_init(&d, pd);
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

void code_apply(struct perfdata *pd, const struct side_record *s)
{
	const struct jit_code *c = &pd->codes.data[s->chunk];
	struct task_map map = {
		.start = c->code.start, .end = c->code.end, .pgoff = c->code.pgoff, .pid = c->pid
	};

	map.dso = tasks_dso(pd->trace.tasks, c->path, NULL, 0, false);
	tasks_mmap(pd->trace.tasks, s->time, c->pid, c->pid, &map);
}

bool code_knows(const struct perfdata *pd, const struct task_map *map, uint64_t time)
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
