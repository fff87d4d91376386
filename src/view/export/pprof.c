/* SPDX-License-Identifier: MIT */
/*
 * profile.proto, as pprof reads it: stacks leaf first, inlined functions as
 * several lines of one location, addresses of calls rather than of what follows
 * them. Each event has two values, its samples and what they count; a value
 * that is time is called so, and in nanoseconds.
 */
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/pb.h"
#include "base/str.h"
#include "view/export/export.h"
#include "view/gzip.h"

/* Field numbers, by message. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
	PROFILE_COMMENT,
	PROFILE_DEFAULT_TYPE
};
enum { VALUE_TYPE = 1, VALUE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STR, LABEL_NUM };
enum {
	MAPPING_ID = 1,
	MAPPING_START,
	MAPPING_LIMIT,
	MAPPING_OFFSET,
	MAPPING_FILE,
	MAPPING_BUILD_ID,
	MAPPING_HAS_FUNCTIONS,
	MAPPING_HAS_FILES,
	MAPPING_HAS_LINES,
	MAPPING_HAS_INLINES
};
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

#define FULL (256u << 10)

struct pprof {
	struct export_job *x;
	struct gzip *gzip;
	struct pb b;
	struct strtab strings; /* id 0 is "" */
	struct map functions;  /* name and file to id */
	struct map mappings;   /* hash of a mapping to id */
	uint32_t *location;    /* by site: its id, 0: none yet */
	uint32_t *value;       /* by type: where its two values stand */
	uint32_t n_values;
};

static uint64_t export_pprof_text(struct pprof *p, const char *s)
{
	return strtab_add(&p->strings, s);
}

static void export_pprof_drain(struct pprof *p, size_t limit)
{
	if (p->b.n <= limit)
		return;
	gzip_add(p->gzip, p->b.data, p->b.n);
	pb_reset(&p->b);
}

static void put_value_type(struct pprof *p, unsigned field, const char *type, const char *unit)
{
	size_t m = pb_begin(&p->b, field);

	pb_uint(&p->b, VALUE_TYPE, export_pprof_text(p, type));
	pb_uint(&p->b, VALUE_UNIT, export_pprof_text(p, unit));
	pb_end(&p->b, m);
}

/* What the second value of a type is called. */
static const char *value_name(const struct event_type *t)
{
	if (role_is_clock(t->role) && !t->unit)
		return "cpu";
	return t->name;
}

static void put_types(struct pprof *p)
{
	const struct trace *t = p->x->source->trace;
	const char *first = NULL;
	unsigned used = 0;

	for (size_t i = 0; i < t->n_types; i++)
		used += p->x->profile->total[i].count > 0;
	for (size_t i = 0; i < t->n_types; i++) {
		const struct event_type *type = &t->types[i];
		char samples[128];

		if (!p->x->profile->total[i].count && !(used == 0 && i == 0))
			continue;
		snprintf(samples, sizeof(samples), used > 1 ? "%s_samples" : "samples", type->name);
		p->value[i] = p->n_values;
		p->n_values += 2;
		put_value_type(p, PROFILE_SAMPLE_TYPE, samples, "count");
		put_value_type(p, PROFILE_SAMPLE_TYPE, value_name(type),
			       export_is_time(type) ? "nanoseconds" : "count");
		if (first)
			continue;
		first = value_name(type);
		put_value_type(p, PROFILE_PERIOD_TYPE, first,
			       export_is_time(type) ? "nanoseconds" : "count");
		if (!type->by_rate)
			pb_uint(&p->b, PROFILE_PERIOD, type->rate);
		else if (export_is_time(type) && type->rate)
			pb_uint(&p->b, PROFILE_PERIOD, 1000000000 / type->rate);
	}
	if (first)
		pb_uint(&p->b, PROFILE_DEFAULT_TYPE, export_pprof_text(p, first));
}

static uint64_t function_id(struct pprof *p, const char *name, const char *file)
{
	uint64_t n = export_pprof_text(p, name), f = export_pprof_text(p, file);
	uint64_t *at = map_at(&p->functions, n << 32 | f), id;
	size_t m;

	if (*at)
		return *at;
	id = *at = p->functions.n;
	m = pb_begin(&p->b, PROFILE_FUNCTION);
	pb_uint(&p->b, FUNCTION_ID, id);
	pb_uint(&p->b, FUNCTION_NAME, n);
	pb_uint(&p->b, FUNCTION_SYSTEM_NAME, n);
	pb_uint(&p->b, FUNCTION_FILE, f);
	pb_end(&p->b, m);
	return id;
}

static uint64_t mapping_id(struct pprof *p, const struct name_site *s)
{
	const struct task_map *map = s->map;
	uint64_t key, *at, id;
	char hex[41];
	size_t m;

	if (!map)
		return 0;
	key = map_hash(map->start) ^ map_hash(map->end * 3) ^ map_hash(map->pgoff * 5 + map->dso);
	at = map_at(&p->mappings, key);
	if (*at)
		return *at;
	id = *at = p->mappings.n;
	m = pb_begin(&p->b, PROFILE_MAPPING);
	pb_uint(&p->b, MAPPING_ID, id);
	pb_uint(&p->b, MAPPING_START, map->start);
	pb_uint(&p->b, MAPPING_LIMIT, map->end);
	pb_uint(&p->b, MAPPING_OFFSET, map->pgoff);
	pb_uint(&p->b, MAPPING_FILE, export_pprof_text(p, names_path(p->x->names, s->dso)));
	pb_uint(&p->b, MAPPING_BUILD_ID, export_pprof_text(p, export_build_id(p->x, map, hex)));
	/* names were looked up; asking again would find no more */
	for (unsigned f = MAPPING_HAS_FUNCTIONS; f <= MAPPING_HAS_INLINES; f++)
		pb_uint(&p->b, f, 1);
	pb_end(&p->b, m);
	return id;
}

struct line {
	uint64_t function, line;
};

static bool export_pprof_line_of(struct pprof *p, uint32_t site, struct line *ret)
{
	const struct names *n = p->x->names;
	const struct name_site *s = &n->sites.data[site];
	const char *name = names_function(n, s->frame), *file = "";
	uint32_t line = 0;

	if (!name)
		return false;
	names_line(n, s, &file, &line);
	*ret = (struct line){ function_id(p, name, file), line };
	return true;
}

static uint32_t location_id(struct pprof *p, uint32_t site)
{
	const struct name_site *s = &p->x->names->sites.data[site];
	uint32_t n_inlined = s->inlines ? s->sym->nframes - 1 : 0, n_lines = 0;
	AUTO_FREE struct line *line = NULL;
	uint64_t mapping;
	size_t m;

	if (p->location[site])
		return p->location[site];
	p->location[site] = site + 1;
	/* what it refers to first, for a message cannot be begun inside another */
	line = mem_alloc((n_inlined + 1) * sizeof(*line));
	for (uint32_t i = 0; i < n_inlined; i++)
		n_lines += export_pprof_line_of(p, s->inlines + i, &line[n_lines]);
	n_lines += export_pprof_line_of(p, site, &line[n_lines]);
	mapping = mapping_id(p, s);
	m = pb_begin(&p->b, PROFILE_LOCATION);
	pb_uint(&p->b, LOCATION_ID, site + 1);
	if (mapping)
		pb_uint(&p->b, LOCATION_MAPPING, mapping);
	pb_uint(&p->b, LOCATION_ADDRESS, s->addr - s->caller);
	for (uint32_t i = 0; i < n_lines; i++) {
		size_t l = pb_begin(&p->b, LOCATION_LINE);

		pb_uint(&p->b, LINE_FUNCTION, line[i].function);
		pb_uint(&p->b, LINE_LINE, line[i].line);
		pb_end(&p->b, l);
	}
	pb_end(&p->b, m);
	return p->location[site];
}

static void export_pprof_put_label(struct pprof *p, const char *key, const char *str, int64_t num)
{
	size_t m = pb_begin(&p->b, SAMPLE_LABEL);

	pb_uint(&p->b, LABEL_KEY, export_pprof_text(p, key));
	if (str)
		pb_uint(&p->b, LABEL_STR, export_pprof_text(p, str));
	else
		pb_int(&p->b, LABEL_NUM, num);
	pb_end(&p->b, m);
}

static void export_pprof_put_sample(struct pprof *p, uint32_t entry)
{
	const struct profile_entry *en = &p->x->profile->entries.data[entry];
	const struct name_site *all = p->x->names->sites.data;
	uint32_t buf[EXPORT_INLINES], n, at = p->value[en->type];
	const uint32_t *sites;
	char comm[32];
	size_t m, list;

	n = export_stack(p->x, entry, &sites, buf);
	for (uint32_t i = 0; i < n; i++)
		if (!all[sites[i]].inlined)
			location_id(p, sites[i]);
	m = pb_begin(&p->b, PROFILE_SAMPLE);
	list = pb_begin(&p->b, SAMPLE_LOCATION);
	for (uint32_t i = 0; i < n; i++)
		if (!all[sites[i]].inlined)
			pb_varint(&p->b, p->location[sites[i]]);
	pb_end(&p->b, list);
	list = pb_begin(&p->b, SAMPLE_VALUE);
	for (uint32_t i = 0; i < p->n_values; i++)
		pb_varint(&p->b, i == at ? en->count : i == at + 1 ? en->weight : 0);
	pb_end(&p->b, list);
	if (!p->x->source->trace->own || en->comm != STRTAB_NONE)
		export_pprof_put_label(
			p, "thread", tasks_who_name(p->x->source->trace->tasks, en->comm, comm), 0);
	if (en->pid >= 0 || !p->x->source->trace->own)
		export_pprof_put_label(p, "pid", NULL, en->pid);
	if (en->tid >= 0 || !p->x->source->trace->own)
		export_pprof_put_label(p, "tid", NULL, en->tid);
	pb_end(&p->b, m);
	p->x->written += en->count;
}

static void export_pprof_put_about(struct pprof *p)
{
	const struct trace *t = p->x->source->trace;
	const struct trace_info *i = &t->info;
	uint64_t start = i->captured * 1000000000;
	struct strbuf b = { 0 };

	if (i->wall_time && t->first_time)
		start = i->wall_time + (t->first_time - i->wall_clock_time);
	if (start)
		pb_uint(&p->b, PROFILE_TIME_NANOS, start);
	pb_uint(&p->b, PROFILE_DURATION, t->last_time - t->first_time);
	for (const char *const *w = i->cmdline; w && *w; w++)
		strbuf_printf(&b, "%s%s", b.n ? " " : "recorded by ", *w);
	if (b.n)
		pb_uint(&p->b, PROFILE_COMMENT, export_pprof_text(p, strbuf_str(&b)));
	strbuf_reset(&b);
	if (i->hostname)
		strbuf_printf(&b, "on %s, %s %s", i->hostname, i->os_release ? i->os_release : "",
			      i->arch ? i->arch : "");
	if (b.n)
		pb_uint(&p->b, PROFILE_COMMENT, export_pprof_text(p, strbuf_str(&b)));
	strbuf_free(&b);
}

/* The site of an entry that says whose work it was: the outermost one in a program. */
static uint32_t program_site(const struct pprof *p, uint32_t entry)
{
	const struct names *n = p->x->names;
	uint32_t buf[EXPORT_INLINES], count;
	const uint32_t *sites;

	count = export_stack(p->x, entry, &sites, buf);
	while (count-- > 0) {
		const struct name_site *s = &n->sites.data[sites[count]];

		if (s->map && s->mode == EVENT_MODE_USER && !strstr(names_dso(n, s->dso), ".so") &&
		    names_dso(n, s->dso)[0] != '[')
			return sites[count];
	}
	return NAMES_NONE;
}

/* pprof takes the first mapping for the program: the one with the most samples. */
static void put_main_mapping(struct pprof *p)
{
	const struct names *n = p->x->names;
	AUTO_FREE uint64_t *count = mem_alloc((n->dsos.n + 1) * sizeof(*count));
	uint32_t best = NAMES_NONE;

	for (uint32_t i = 0; i < p->x->profile->entries.n; i++) {
		uint32_t site = program_site(p, i), dso;

		if (site == NAMES_NONE)
			continue;
		dso = n->sites.data[site].dso;
		count[dso] += p->x->profile->entries.data[i].count;
		if (best == NAMES_NONE || count[dso] > count[n->sites.data[best].dso])
			best = site;
	}
	if (best != NAMES_NONE)
		mapping_id(p, &n->sites.data[best]);
}

int export_pprof(struct export_job *x, struct err *e)
{
	struct pprof p = { .x = x, .gzip = gzip_new(x->out) };
	size_t n = x->profile->entries.n;
	int r;

	p.location = mem_alloc((x->names->sites.n + 1) * sizeof(*p.location));
	p.value = mem_alloc((x->source->trace->n_types + 1) * sizeof(*p.value));
	export_pprof_text(&p, "");
	put_types(&p);
	export_pprof_put_about(&p);
	put_main_mapping(&p);
	for (size_t i = 0; i < n && !x->out->error; i++) {
		export_pprof_put_sample(&p, (uint32_t)i);
		export_pprof_drain(&p, FULL);
		if (x->progress && i % 4096 == 0)
			x->progress(x->ctx, i, n);
	}
	for (size_t i = 0; i < p.strings.n; i++) {
		pb_str(&p.b, PROFILE_STRING, strtab_get(&p.strings, (uint32_t)i));
		export_pprof_drain(&p, FULL);
	}
	export_pprof_drain(&p, 0);
	r = gzip_end(p.gzip);
	pb_free(&p.b);
	strtab_free(&p.strings);
	map_free(&p.functions);
	map_free(&p.mappings);
	free(p.location);
	free(p.value);
	return r < 0 ? err_set(e, -r, "zlib cannot compress: %s", strerror(-r)) : 0;
}
