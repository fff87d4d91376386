/* SPDX-License-Identifier: MIT */
/* Reports for programs: CSV and JSON. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "view/report/report.h"

static bool report_data_wanted(const struct report_style *s, const struct hist *h,
			       const struct hist_row *r)
{
	return !r->hidden && report_row_share(s, h, r) >= s->percent_limit;
}

/* What a column is called where programs read: perf's name of the key. */
static const char *key_name(const struct column *c)
{
	return c->key == KEY_FIELD ? c->title : key_infos[c->key].name;
}

/* --- CSV --- */

static void csv_text(FILE *f, const char *sep, const char *text)
{
	AUTO_STRBUF b = { 0 };

	text += strspn(text, " ");
	strbuf_csv(&b, text, strlen(text), sep);
	fputs(strbuf_str(&b), f);
}

static void csv_sum(FILE *f, const struct report_style *s, const struct hist *h,
		    const struct hist_row *r, const struct column *c)
{
	if (key_infos[c->key].counts)
		fprintf(f, "%" PRIu64, r ? hist_sum(h, r, c->key) : 0);
	else
		fprintf(f, "%.2f", r ? report_share(s, h, r, c->key) : 0.0);
}

static void csv_heads(FILE *f, const char *sep, const struct hist *h)
{
	const struct columns *cols = h->cells->opts.columns;
	const struct event_type *types = h->cells->names->profile->trace->types;

	fputs("event", f);
	for (unsigned i = 0; i < cols->n; i++) {
		const struct column *c = &cols->col[i];

		if (!report_shown(h, c))
			continue;
		fprintf(f, "%s%s", sep, key_name(c));
		for (unsigned m = 0; column_is_sum(c) && m < h->n_members; m++) {
			AUTO_STRBUF b = { 0 };

			strbuf_printf(&b, "%s %s", key_name(c), types[h->member[m].opts.type].name);
			fputs(sep, f);
			csv_text(f, sep, strbuf_str(&b));
		}
	}
	putc('\n', f);
}

void report_csv(FILE *f, const struct report_style *s, const char *sep, const struct hist *h)
{
	const struct columns *cols = h->cells->opts.columns;
	const char *event = h->cells->names->profile->trace->types[h->opts.type].name;
	char buf[4096];

	if (!s->quiet)
		csv_heads(f, sep, h);
	for (size_t k = 0; k < h->rows.n; k++) {
		const struct hist_row *r = &h->rows.data[k];

		if (!report_data_wanted(s, h, r))
			continue;
		csv_text(f, sep, event);
		for (unsigned i = 0; i < cols->n; i++) {
			const struct column *c = &cols->col[i];

			if (!report_shown(h, c))
				continue;
			fputs(sep, f);
			if (!column_is_sum(c)) {
				csv_text(f, sep,
					 cell_text(h->cells, c, r->at, r->count, buf, sizeof(buf)));
				continue;
			}
			csv_sum(f, s, h, r, c);
			for (unsigned m = 0; m < h->n_members; m++) {
				fputs(sep, f);
				csv_sum(f, s, &h->member[m], hist_pair(h, k, m), c);
			}
		}
		putc('\n', f);
	}
}

/* --- JSON --- */

/* The node's functions; those it hangs from first where every node stands alone. */
static void json_path(struct json *j, const struct graphs *g, const struct graph_node *n, bool flat)
{
	char buf[4096];

	if (flat && n->parent)
		json_path(j, g, n->parent, flat);
	for (uint32_t i = 0; i < n->n_places; i++)
		json_str(j, NULL, graphs_text(g, n->place[i], buf, sizeof(buf)));
}

static void json_nodes(struct json *j, const struct graphs *g, const struct graph_node *n,
		       const char *key)
{
	bool flat = g->opts.mode == GRAPH_FLAT || g->opts.mode == GRAPH_FOLDED;

	json_array(j, key);
	for (; n; n = n->next) {
		json_object(j, NULL);
		json_array(j, "functions");
		json_path(j, g, n, flat);
		json_end(j);
		json_u64(j, "period", flat ? n->here : n->weight);
		json_u64(j, "samples", flat ? n->here_count : n->count);
		if (n->child && !flat) {
			if (j->depth + 4 < JSON_DEPTH)
				json_nodes(j, g, n->child, "children");
			else
				json_bool(j, "cut", true);
		}
		json_end(j);
	}
	json_end(j);
}

static void json_sum(struct json *j, const struct report_style *s, const struct hist *h,
		     const struct hist_row *r)
{
	if (h->opts.children) {
		json_double(j, "overhead_children", report_share(s, h, r, KEY_CHILDREN));
		json_u64(j, "period_children", r->total);
	}
	json_double(j, "overhead", report_share(s, h, r, KEY_OVERHEAD));
	json_u64(j, "period", r->self);
	json_u64(j, "samples", r->count);
}

static void json_cell(struct json *j, const struct hist *h, const struct hist_row *r,
		      const struct column *c)
{
	char buf[4096];
	const char *text = cell_text(h->cells, c, r->at, r->count, buf, sizeof(buf));
	uint64_t v = cell_value(h->cells, c, r->at);

	switch (c->key) {
	case KEY_PID:
	case KEY_TGID:
	case KEY_CPU:
	case KEY_SOCKET: json_i64(j, key_name(c), (int32_t)v); break;
	case KEY_SYM:
		/* the name alone; unnamed addresses in hex */
		json_str(j, "symbol", text + 4);
		json_strn(j, "level", text + 1, 1);
		break;
	case KEY_IPC: break;
	default: json_str(j, key_name(c), text + strspn(text, " "));
	}
}

void report_json_begin(struct json *j, const struct trace *t)
{
	json_object(j, NULL);
	if (t->info.hostname)
		json_str(j, "hostname", t->info.hostname);
	if (t->info.os_release)
		json_str(j, "os_release", t->info.os_release);
	json_array(j, "events");
}

void report_json(struct json *j, const struct report_style *s, const struct hist *h,
		 const struct graphs *g)
{
	const struct columns *cols = h->cells->opts.columns;
	const struct event_type *types = h->cells->names->profile->trace->types;

	json_object(j, NULL);
	json_str(j, "event", types[h->opts.type].name);
	json_u64(j, "samples", s->relative ? h->count : h->all_count);
	json_u64(j, "period", hist_total(h, s->relative));
	json_array(j, "rows");
	for (size_t i = 0; i < h->rows.n; i++) {
		const struct hist_row *r = &h->rows.data[i];

		if (!report_data_wanted(s, h, r))
			continue;
		json_object(j, NULL);
		json_sum(j, s, h, r);
		for (unsigned k = 0; k < cols->n; k++)
			if (!column_is_sum(&cols->col[k]) && report_shown(h, &cols->col[k]))
				json_cell(j, h, r, &cols->col[k]);
		for (unsigned m = 0; m < h->n_members; m++) {
			const struct hist_row *p = hist_pair(h, i, m);

			json_object(j, types[h->member[m].opts.type].name);
			json_sum(j, s, &h->member[m], p ? p : &(struct hist_row){ 0 });
			json_end(j);
		}
		if (g && g->root[i])
			json_nodes(j, g, g->root[i], "callgraph");
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

void report_json_end(struct json *j, const struct report_end *e)
{
	char advice[320];

	json_end(j);
	json_u64(j, "samples", e->samples);
	json_u64(j, "lost", e->lost);
	json_u64(j, "stacks", e->stacks);
	json_u64(j, "stacks_cut", e->full_stacks);
	json_u64(j, "stacks_ending_early", e->abrupt_stacks);
	json_u64(j, "without_name", e->unresolved);
	if (e->note && e->note[0])
		json_str(j, "note", e->note);
	if (e->stacks && report_stacks_advice(e, advice, sizeof(advice)))
		json_str(j, "stacks_advice", advice);
	if (e->code && e->where_unnamed[0]) {
		snprintf(advice, sizeof(advice), "most of these addresses are %s",
			 e->where_unnamed);
		json_str(j, "names_advice", advice);
	}
	if (e->code && e->inlines_advice[0])
		json_str(j, "inlines_advice", e->inlines_advice);
	if (e->symbols_note && e->symbols_note[0])
		json_str(j, "symbols_note", e->symbols_note);
	json_end(j);
	putc('\n', j->file);
}
