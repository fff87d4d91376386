/* SPDX-License-Identifier: MIT */
/*
 * speedscope's own format: for each thread and event a profile of samples in
 * time order, stacks root first. Neighbours of one stack are one sample with
 * the weight of all. A frame is a function, so that its lines are one.
 */
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/sort.h"
#include "config.h"
#include "view/export/export.h"

struct speedscope {
	struct export_job *x;
	struct json j;
	struct strtab strings;
	struct map index; /* name and file to frame + 1 */
	uint32_t *frame;  /* by name frame: number, + 1 */
	uint32_t n_frames;
	uint32_t *sorted; /* entries by thread and type, then time */
};

/* Frames are numbered as they are written. */
static void export_speedscope_put_frame(struct speedscope *s, uint32_t site)
{
	const struct names *n = s->x->names;
	const struct name_site *at = &n->sites.data[site];
	const char *file = names_path(n, at->dso), *name;
	uint64_t *known;
	uint32_t line;
	char buf[32];

	if (s->frame[at->frame])
		return;
	name = export_function(s->x, site, buf);
	names_line(n, at, &file, &line);
	known = map_at(&s->index, (uint64_t)strtab_add(&s->strings, name) << 32 |
					  strtab_add(&s->strings, file));
	if (!*known) {
		json_line(&s->j);
		json_object(&s->j, NULL);
		json_str(&s->j, "name", name);
		json_str(&s->j, "file", file);
		json_end(&s->j);
		*known = ++s->n_frames;
	}
	s->frame[at->frame] = (uint32_t)*known;
}

static void put_frames(struct speedscope *s)
{
	const struct profile *p = s->x->profile;
	AUTO_FREE bool *done = mem_alloc(p->chains.n + 1);

	for (size_t i = 0; i < p->entries.n; i++) {
		uint32_t buf[EXPORT_INLINES], n, chain = p->entries.data[i].chain;
		const uint32_t *sites;

		if (chain != PROFILE_NO_CHAIN && done[chain])
			continue;
		if (chain != PROFILE_NO_CHAIN)
			done[chain] = true;
		n = export_stack(s->x, (uint32_t)i, &sites, buf);
		for (uint32_t k = 0; k < n; k++)
			export_speedscope_put_frame(s, sites[k]);
	}
}

static int export_speedscope_by_thread(const void *p, const void *q, void *ctx)
{
	const struct profile_entry *all = ctx, *a = &all[*(const uint32_t *)p],
				   *b = &all[*(const uint32_t *)q];
	int d = SORT_BY(a->type, b->type);

	d = d ? d : SORT_BY(a->pid, b->pid);
	d = d ? d : SORT_BY(a->tid, b->tid);
	d = d ? d : SORT_BY(a->time, b->time);
	return d ? d : SORT_BY(a->cpu, b->cpu);
}

static bool same_profile(const struct profile_entry *a, const struct profile_entry *b)
{
	return a->type == b->type && a->pid == b->pid && a->tid == b->tid;
}

static bool same_stack(const struct speedscope *s, uint32_t a, uint32_t b)
{
	const struct profile_entry *x = &s->x->profile->entries.data[a],
				   *y = &s->x->profile->entries.data[b];

	return x->chain == y->chain && (x->chain != PROFILE_NO_CHAIN ||
					s->x->names->entry_site[a] == s->x->names->entry_site[b]);
}

static void export_speedscope_put_stack(struct speedscope *s, uint32_t entry)
{
	uint32_t buf[EXPORT_INLINES], n;
	const uint32_t *sites;

	n = export_stack(s->x, entry, &sites, buf);
	json_array(&s->j, NULL);
	for (uint32_t i = n; i-- > 0;)
		json_u64(&s->j, NULL, s->frame[s->x->names->sites.data[sites[i]].frame] - 1);
	json_end(&s->j);
}

/* One thread's samples of one event: sorted[from .. to). */
static void put_profile(struct speedscope *s, size_t from, size_t to)
{
	const struct profile_entry *all = s->x->profile->entries.data,
				   *first = &all[s->sorted[from]];
	const struct event_type *t = &s->x->source->trace->types[first->type];
	struct json *j = &s->j;
	uint64_t sum = 0;
	char name[160], comm[32];

	snprintf(name, sizeof(name), "%s %d/%d %s",
		 tasks_who_name(s->x->source->trace->tasks, all[s->sorted[to - 1]].comm, comm),
		 first->pid, first->tid, t->name);
	json_line(j);
	json_object(j, NULL);
	json_str(j, "type", "sampled");
	json_str(j, "name", name);
	json_str(j, "unit", export_is_time(t) ? "nanoseconds" : "none");
	json_u64(j, "startValue", 0);
	json_line(j);
	json_array(j, "samples");
	for (size_t i = from; i < to; i++) {
		s->x->written += all[s->sorted[i]].count;
		sum += all[s->sorted[i]].weight;
		if (i > from && same_stack(s, s->sorted[i - 1], s->sorted[i]))
			continue;
		export_speedscope_put_stack(s, s->sorted[i]);
	}
	json_end(j);
	json_line(j);
	json_array(j, "weights");
	for (size_t i = from; i < to;) {
		uint64_t weight = 0;

		do
			weight += all[s->sorted[i++]].weight;
		while (i < to && same_stack(s, s->sorted[i - 1], s->sorted[i]));
		json_u64(j, NULL, weight);
	}
	json_end(j);
	json_u64(j, "endValue", sum);
	json_end(j);
}

int export_speedscope(struct export_job *x, struct err *e)
{
	struct speedscope s = { .x = x, .j = json_to_out(x->out, JSON_TIGHT) };
	struct json *j = &s.j;
	const struct profile_entry *all = x->profile->entries.data;
	size_t n = x->profile->entries.n;

	s.frame = mem_alloc((x->names->frames.n + 1) * sizeof(*s.frame));
	s.sorted = mem_dup(x->order, (n + 1) * sizeof(*s.sorted));
	qsort_r(s.sorted, n, sizeof(*s.sorted), export_speedscope_by_thread,
		(void *)(uintptr_t)all);
	json_object(j, NULL);
	json_str(j, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_line(j);
	json_str(j, "exporter", "kymo " KYMO_VERSION);
	json_line(j);
	json_str(j, "name", x->input);
	json_line(j);
	json_object(j, "shared");
	json_array(j, "frames");
	put_frames(&s);
	json_end(j);
	json_end(j);
	json_line(j);
	json_array(j, "profiles");
	for (size_t i = 0, k; i < n && !x->out->error; i = k) {
		for (k = i + 1; k < n && same_profile(&all[s.sorted[i]], &all[s.sorted[k]]); k++)
			;
		put_profile(&s, i, k);
		if (x->progress)
			x->progress(x->ctx, k, n);
	}
	/* a file without any profile is none to speedscope */
	if (!n)
		out_puts(json_raw(j, NULL),
			 "{\"type\":\"sampled\",\"name\":\"no samples\",\"unit\":\"none\","
			 "\"startValue\":0,\"endValue\":0,\"samples\":[],\"weights\":[]}");
	json_end(j);
	json_end(j);
	out_putc(x->out, '\n');
	map_free(&s.index);
	strtab_free(&s.strings);
	free(s.frame);
	free(s.sorted);
	return 0;
}
