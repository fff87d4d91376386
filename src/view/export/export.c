/* SPDX-License-Identifier: MIT */
#include "view/export/export.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/sort.h"

#define EACH_SAMPLE                                                                             \
	(PROFILE_BY_TIME | PROFILE_BY_COMM | PROFILE_BY_PID | PROFILE_BY_TID | PROFILE_BY_CPU | \
	 PROFILE_BY_CHAIN)

const struct export_format export_formats[] = {
	{ "folded", ".folded", "stacks with their counts, as kymo collapse",
	  PROFILE_BY_COMM | PROFILE_BY_PID | PROFILE_BY_TID | PROFILE_BY_CHAIN, false, false,
	  export_folded, true },
	{ "pprof", ".pb.gz", "for go tool pprof, and what reads its profiles",
	  PROFILE_BY_COMM | PROFILE_BY_PID | PROFILE_BY_TID | PROFILE_BY_CHAIN, true, true,
	  export_pprof },
	{ "speedscope", ".speedscope.json", "for speedscope.app", EACH_SAMPLE, true, false,
	  export_speedscope },
	{ "firefox", ".firefox.json", "for profiler.firefox.com", EACH_SAMPLE, true, false,
	  export_firefox },
	{ "perfetto", ".pftrace", "for ui.perfetto.dev, with lanes of CPUs", EACH_SAMPLE, true,
	  true, export_perfetto, .timed = true },
	{ "chrome", ".trace.json", "for chrome://tracing, and what reads its traces", EACH_SAMPLE,
	  true, false, export_chrome, .timed = true },
	{ "callgrind", ".callgrind", "for kcachegrind and callgrind_annotate", PROFILE_BY_CHAIN,
	  true, false, export_callgrind },
	{ "json", ".jsonl", "every event with all its fields, a line each", 0, false, false,
	  export_json },
	{ "csv", ".csv", "a row for every sample", EACH_SAMPLE, true, false, export_csv },
	{ 0 },
};

const struct export_format *export_find(const char *name)
{
	for (const struct export_format *f = export_formats; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

/* --- entries and stacks --- */

static int export_compare(const struct profile_entry *a, const struct profile_entry *b)
{
	int d = SORT_BY(a->time, b->time);

	d = d ? d : SORT_BY(a->type, b->type);
	d = d ? d : SORT_BY(a->tid, b->tid);
	d = d ? d : SORT_BY(a->cpu, b->cpu);
	return d ? d : SORT_BY(a->ip, b->ip);
}

static int export_by_time(const void *x, const void *y, void *ctx)
{
	const struct profile_entry *entries = ctx;

	return export_compare(&entries[*(const uint32_t *)x], &entries[*(const uint32_t *)y]);
}

void export_prepare(struct export_job *x)
{
	size_t n = x->profile->entries.n;

	x->order = mem_grow(NULL, (n + 1) * sizeof(*x->order));
	for (size_t i = 0; i < n; i++)
		x->order[i] = (uint32_t)i;
	qsort_r(x->order, n, sizeof(*x->order), export_by_time, x->profile->entries.data);
}

void export_free(struct export_job *x)
{
	free(x->order);
}

static bool same_chain(const struct profile *p, const struct profile_entry *en,
		       const struct event *ev)
{
	uint32_t n = ev->have & EVENT_HAVE_CHAIN ? ev->chain_n : 0;
	const struct profile_chain *c;

	if (en->chain == PROFILE_NO_CHAIN)
		return n == 0;
	c = &p->chains.data[en->chain];
	return c->n == n && memcmp(c->ip, ev->chain, n * sizeof(*c->ip)) == 0;
}

uint32_t export_entry(const struct export_job *x, const struct event *ev)
{
	const struct profile *p = x->profile;
	struct profile_entry want = { .type = ev->type,
				      .tid = ev->tid,
				      .cpu = ev->have & EVENT_HAVE_CPU ? ev->cpu : UINT32_MAX,
				      .time = ev->time,
				      .ip = ev->ip };
	size_t low = 0, high = p->entries.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (export_compare(&p->entries.data[x->order[mid]], &want) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < p->entries.n; low++) {
		const struct profile_entry *en = &p->entries.data[x->order[low]];

		if (export_compare(en, &want) != 0)
			break;
		if (en->pid == ev->pid && same_chain(p, en, ev))
			return x->order[low];
	}
	return UINT32_MAX;
}

uint32_t export_stack(const struct export_job *x, uint32_t entry, const uint32_t **sites,
		      uint32_t buf[EXPORT_INLINES])
{
	const struct names *n = x->names;
	uint32_t chain = x->profile->entries.data[entry].chain, site, k = 0;
	const struct name_site *s;

	if (chain != PROFILE_NO_CHAIN) {
		*sites = n->chain_sites + n->chains[chain].first;
		return n->chains[chain].n;
	}
	site = n->entry_site[entry];
	s = &n->sites.data[site];
	for (uint32_t i = 0; s->inlines && i + 1 < s->sym->nframes && k + 1 < EXPORT_INLINES; i++)
		buf[k++] = s->inlines + i;
	buf[k++] = site;
	*sites = buf;
	return k;
}

const char *export_function(const struct export_job *x, uint32_t site, char *buf)
{
	const struct name_site *s = &x->names->sites.data[site];
	const char *name = names_function(x->names, s->frame);

	if (name)
		return name;
	snprintf(buf, 32, "0x%" PRIx64, s->addr);
	return buf;
}

const char *export_build_id(const struct export_job *x, const struct task_map *map, char *buf)
{
	const struct task_dso *d = map ? tasks_get_dso(x->source->trace->tasks, map->dso) : NULL;

	buf[0] = '\0';
	for (unsigned i = 0; d && i < d->build_id_size && i < 20; i++)
		snprintf(buf + i * 2, 3, "%02x", d->build_id[i]);
	return buf;
}

char *export_counter_name(const struct event_type *t, const struct event *ev, char *buf,
			  size_t size)
{
	char cpu[24] = "", thread[24] = "";

	if (ev->have & EVENT_HAVE_CPU)
		snprintf(cpu, sizeof(cpu), " CPU %u", ev->cpu);
	if (ev->have & EVENT_HAVE_TASK)
		snprintf(thread, sizeof(thread), " thread %d", ev->tid);
	snprintf(buf, size, "%s%s%s", t->name, cpu, thread);
	return buf;
}

bool export_is_time(const struct event_type *t)
{
	if (t->unit)
		return strcmp(t->unit, "ns") == 0;
	return role_is_clock(t->role);
}

/* --- events --- */

struct reading {
	struct export_job *x;
	event_fn *fn;
	void *ctx;
	size_t done;
};

static int export_on_event(void *ctx, const struct event *ev)
{
	struct reading *r = ctx;

	if (ev->kind == EVENT_SAMPLE && ++r->done % 4096 == 0 && r->x->progress)
		r->x->progress(r->x->ctx, r->done, r->x->source->trace->n_samples);
	if (r->x->wants && !r->x->wants(r->x->ctx, ev))
		return 0;
	/* who reads the output may have gone: nothing more needs to be written then */
	return r->x->out->error ? 1 : r->fn(r->ctx, ev);
}

int export_events(struct export_job *x, bool all, event_fn *fn, void *ctx, struct err *e)
{
	struct reading r = { .x = x, .fn = fn, .ctx = ctx };
	int code = x->source->read_ordered(x->source, all, export_on_event, &r, e);

	return code < 0 ? code : 0;
}

/* --- JSON --- */

#define EXACT (1ll << 53) /* integers beyond are not, in the numbers of JavaScript */

static void put_int(struct json *j, const char *key, const struct field *f, int64_t v, bool exact)
{
	bool large = !exact && (f->is_signed ? v > EXACT || v < -EXACT : (uint64_t)v > EXACT);
	char text[24];

	if (f->is_pointer) {
		json_hex(j, key, (uint64_t)v);
	} else if (large) {
		snprintf(text, sizeof(text), f->is_signed ? "%" PRId64 : "%" PRIu64, v);
		json_str(j, key, text);
	} else if (f->is_signed) {
		json_i64(j, key, v);
	} else {
		json_u64(j, key, (uint64_t)v);
	}
}

static void export_put_value(struct json *j, const char *key, const struct field_value *v,
			     bool exact)
{
	struct field_value one;
	char text[32];

	switch (v->kind) {
	case VALUE_NONE: break;
	case VALUE_INT: put_int(j, key, v->field, v->i, exact); break;
	case VALUE_FLOAT:
		out_puts(json_raw(j, key),
			 isfinite(v->f) ? field_float_text(v, text, sizeof(text)) : "null");
		break;
	case VALUE_STRING: json_strn(j, key, v->data, v->n); break;
	case VALUE_ARRAY:
		json_array(j, key);
		for (size_t i = 0; (one = field_element(v, i)).kind; i++)
			export_put_value(j, NULL, &one, exact);
		json_end(j);
		break;
	}
}

void export_field(struct json *j, const char *key, const struct field *f, const struct event *ev,
		  bool exact)
{
	struct field_value v = field_value(f, ev->raw, ev->raw_size);

	export_put_value(j, key, &v, exact);
}

void export_fields(struct json *j, const char *key, const struct event_type *t,
		   const struct event *ev, bool exact)
{
	enum json_layout was = j->layout;

	json_object(j, key);
	j->layout = JSON_TIGHT;
	for (size_t i = 0; i < t->n_fields; i++)
		if (!t->fields[i].is_common)
			export_field(j, t->fields[i].name, &t->fields[i], ev, exact);
	json_end(j);
	j->layout = was;
}

static void export_put_fraction(struct out *o, uint64_t v, uint64_t unit, unsigned digits)
{
	out_u64(o, v / unit, 0);
	out_putc(o, '.');
	out_zeros(o, v % unit, digits);
}

void export_us(struct json *j, const char *key, uint64_t ns)
{
	export_put_fraction(json_raw(j, key), ns, 1000, 3);
}

void export_ms(struct json *j, const char *key, uint64_t ns)
{
	export_put_fraction(json_raw(j, key), ns, 1000000, 6);
}
