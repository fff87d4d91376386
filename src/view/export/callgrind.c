/* SPDX-License-Identifier: MIT */
/*
 * Callgrind's format, as kcachegrind and callgrind_annotate read it: what each
 * line of a function cost by itself, and what its calls cost altogether.
 *
 * A profile knows no numbers of calls; where one is wanted, the samples that
 * were below the call stand in. A call that is on a stack several times, by
 * recursion, counts once for the sample. Inlined functions are called, too.
 */
#include <ctype.h>
#include <string.h>

#include "base/map.h"
#include "base/sort.h"
#include "base/str.h"
#include "config.h"
#include "view/export/export.h"

struct function {
	uint32_t object, file, name; /* in strings */
	bool shown;		     /* was written with its name: from then on its number does */
};

/* A line of a function and what it cost; with a callee what the call cost. */
struct spot {
	uint32_t function, line, callee; /* callee NONE: the line itself */
	uint32_t seen;			 /* the entry that was counted last, + 1 */
	uint64_t samples;
};
#define NONE UINT32_MAX

struct callgrind {
	struct export_job *x;
	struct strtab strings;
	VEC(struct function) functions;
	VEC(struct spot) spots;
	VEC(uint64_t) costs; /* n_columns for each spot */
	uint32_t *column;    /* by type; NONE: it has no samples */
	uint32_t n_columns;
	struct map function_index, spot_index;
	uint32_t *function_of; /* by site, + 1 */
	bool *object_shown, *file_shown;
};

static uint32_t function_of(struct callgrind *c, uint32_t site)
{
	const struct names *n = c->x->names;
	const struct name_site *s = &n->sites.data[site];
	struct function f = { 0 };
	const char *file = "???";
	uint64_t key, *at;
	uint32_t line;
	char buf[32];

	if (c->function_of[site])
		return c->function_of[site] - 1;
	names_line(n, s, &file, &line);
	f.object = strtab_add(&c->strings, names_path(n, s->dso));
	f.file = strtab_add(&c->strings, file);
	f.name = strtab_add(&c->strings, export_function(c->x, site, buf));
	key = map_hash((uint64_t)f.object << 32 | f.file) ^ f.name;
	at = map_at(&c->function_index, key);
	if (!*at) {
		vec_push(&c->functions, f);
		*at = c->functions.n;
	}
	c->function_of[site] = (uint32_t)*at;
	return (uint32_t)*at - 1;
}

static uint32_t export_callgrind_line_of(const struct callgrind *c, uint32_t site)
{
	const char *file;
	uint32_t line = 0;

	return names_line(c->x->names, &c->x->names->sites.data[site], &file, &line) ? line : 0;
}

static void export_callgrind_add(struct callgrind *c, uint32_t entry, uint32_t site,
				 uint32_t callee)
{
	const struct profile_entry *en = &c->x->profile->entries.data[entry];
	struct spot want = { .function = function_of(c, site),
			     .line = export_callgrind_line_of(c, site),
			     .callee = callee };
	uint64_t key = map_hash((uint64_t)want.function << 32 | want.line) ^ callee;
	uint64_t *at = map_at(&c->spot_index, key);
	struct spot *s;

	if (!*at) {
		vec_push(&c->spots, want);
		for (uint32_t i = 0; i < c->n_columns; i++)
			vec_push(&c->costs, 0);
		*at = c->spots.n;
	}
	s = &c->spots.data[*at - 1];
	if (s->seen == entry + 1)
		return;
	s->seen = entry + 1;
	s->samples += en->count;
	c->costs.data[(*at - 1) * c->n_columns + c->column[en->type]] += en->weight;
}

static void export_callgrind_add_entry(struct callgrind *c, uint32_t entry)
{
	uint32_t buf[EXPORT_INLINES], n;
	const uint32_t *sites;

	n = export_stack(c->x, entry, &sites, buf);
	for (uint32_t i = 0; i < n; i++)
		export_callgrind_add(c, entry, sites[i], i ? function_of(c, sites[i - 1]) : NONE);
}

/* --- writing --- */

/* Names may hold anything but the end of a line. */
static void export_callgrind_put_name(struct callgrind *c, uint32_t id)
{
	const char *s = strtab_get(&c->strings, id);
	AUTO_STRBUF b = { 0 };

	strbuf_utf8(&b, s, strlen(s));
	for (size_t i = 0; i < b.n; i++)
		if ((unsigned char)b.data[i] < 0x20)
			b.data[i] = ' ';
	out_putc(c->x->out, ' ');
	out_add(c->x->out, strbuf_str(&b), b.n);
}

/* "fl=(3) name", without the name when it was said before. */
static void put_ref(struct callgrind *c, const char *key, uint32_t number, uint32_t name,
		    bool *shown)
{
	out_puts(c->x->out, key);
	out_puts(c->x->out, "=(");
	out_u64(c->x->out, (uint64_t)number + 1, 0);
	out_putc(c->x->out, ')');
	if (!*shown)
		export_callgrind_put_name(c, name);
	*shown = true;
	out_putc(c->x->out, '\n');
}

static void put_function(struct callgrind *c, uint32_t id, const char *const keys[3])
{
	struct function *f = &c->functions.data[id];

	put_ref(c, keys[0], f->object, f->object, &c->object_shown[f->object]);
	put_ref(c, keys[1], f->file, f->file, &c->file_shown[f->file]);
	put_ref(c, keys[2], id, f->name, &f->shown);
}

static void put_costs(struct callgrind *c, const uint64_t *cost)
{
	for (uint32_t i = 0; i < c->n_columns; i++) {
		out_putc(c->x->out, ' ');
		out_u64(c->x->out, cost[i], 0);
	}
	out_putc(c->x->out, '\n');
}

static void put_spot(struct callgrind *c, uint32_t i)
{
	static const char *const keys[] = { "cob", "cfi", "cfn" };
	const struct spot *s = &c->spots.data[i];

	if (s->callee != NONE) {
		put_function(c, s->callee, keys);
		out_puts(c->x->out, "calls=");
		out_u64(c->x->out, s->samples, 0);
		out_puts(c->x->out, " 0\n");
	}
	out_u64(c->x->out, s->line, 0);
	put_costs(c, &c->costs.data[(size_t)i * c->n_columns]);
}

/* What a function cost by itself stands before its calls. */
static int by_function(const void *x, const void *y, void *ctx)
{
	const struct spot *a = (struct spot *)ctx + *(const uint32_t *)x;
	const struct spot *b = (struct spot *)ctx + *(const uint32_t *)y;
	int d = SORT_BY(a->function, b->function);

	d = d ? d : SORT_BY(a->callee != NONE, b->callee != NONE);
	d = d ? d : SORT_BY(a->line, b->line);
	return d ? d : SORT_BY(a->callee, b->callee);
}

static void export_callgrind_put_head(struct callgrind *c)
{
	const struct trace *t = c->x->source->trace;
	struct out *o = c->x->out;
	AUTO_STRBUF names = { 0 };
	AUTO_STRBUF sums = { 0 };

	out_puts(o, "# callgrind format\nversion: 1\ncreator: kymo " KYMO_VERSION "\ncmd:");
	for (const char *const *w = t->info.cmdline; w && *w; w++)
		export_callgrind_put_name(c, strtab_add(&c->strings, *w));
	for (size_t i = 0; i < t->n_types; i++) {
		if (c->column[i] == NONE)
			continue;
		strbuf_putc(&names, ' ');
		for (const char *p = t->types[i].name; *p; p++)
			strbuf_putc(&names, isalnum((unsigned char)*p) ? *p : '_');
		strbuf_printf(&sums, " %llu", (unsigned long long)c->x->profile->total[i].weight);
	}
	out_printf(o, "\npositions: line\nevents:%s\nsummary:%s\n", strbuf_str(&names),
		   strbuf_str(&sums));
}

static void export_callgrind_put_all(struct callgrind *c)
{
	static const char *const keys[] = { "ob", "fl", "fn" };
	AUTO_FREE uint32_t *order = mem_grow(NULL, (c->spots.n + 1) * sizeof(*order));
	uint32_t last = NONE;

	for (size_t i = 0; i < c->spots.n; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, c->spots.n, sizeof(*order), by_function, c->spots.data);
	export_callgrind_put_head(c);
	c->object_shown = mem_alloc(c->strings.n + 1);
	c->file_shown = mem_alloc(c->strings.n + 1);
	for (size_t i = 0; i < c->spots.n && !c->x->out->error; i++) {
		uint32_t f = c->spots.data[order[i]].function;

		if (f != last) {
			out_putc(c->x->out, '\n');
			put_function(c, f, keys);
		}
		last = f;
		put_spot(c, order[i]);
	}
}

int export_callgrind(struct export_job *x, struct err *e)
{
	struct callgrind c = { .x = x };
	size_t n = x->profile->entries.n;

	c.function_of = mem_alloc((x->names->sites.n + 1) * sizeof(*c.function_of));
	c.column = mem_alloc((x->source->trace->n_types + 1) * sizeof(*c.column));
	for (size_t i = 0; i < x->source->trace->n_types; i++)
		c.column[i] = x->profile->total[i].count ? c.n_columns++ : NONE;
	for (size_t i = 0; i < n; i++) {
		export_callgrind_add_entry(&c, (uint32_t)i);
		x->written += x->profile->entries.data[i].count;
		if (x->progress && i % 4096 == 0)
			x->progress(x->ctx, i, n);
	}
	export_callgrind_put_all(&c);
	vec_free(&c.functions);
	vec_free(&c.spots);
	vec_free(&c.costs);
	map_free(&c.function_index);
	map_free(&c.spot_index);
	strtab_free(&c.strings);
	free(c.function_of);
	free(c.column);
	free(c.object_shown);
	free(c.file_shown);
	return 0;
}
