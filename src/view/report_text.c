/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "base/term.h"
#include "view/report.h"

static const char *const titles[HIST_KEYS] = {
	[HIST_COMM] = "Command",	[HIST_PID] = "    Pid:Command",
	[HIST_TID] = "    Tid:Command", [HIST_DSO] = "Shared Object",
	[HIST_SYM] = "Symbol",		[HIST_CPU] = "CPU",
	[HIST_SRCLINE] = "Source:Line", [HIST_SRCFILE] = "Source File",
	[HIST_TIME] = "Time",		[HIST_EXTRA] = "Trace output",
};

/* The letter behind a symbol's row: where its code runs. */
static char mode_letter(const struct hist *h, const struct hist_row *r)
{
	switch (h->names->frames.data[r->frame].mode) {
	case EVENT_MODE_KERNEL: return 'k';
	case EVENT_MODE_USER: return '.';
	case EVENT_MODE_GUEST_KERNEL: return 'g';
	case EVENT_MODE_GUEST_USER: return 'u';
	case EVENT_MODE_HYPERVISOR: return 'H';
	default: return '!';
	}
}

/* The text of a cell as perf words it. */
static const char *cell(const struct hist *h, const struct hist_row *r, unsigned key, char *buf,
			size_t size)
{
	char text[1024];
	const char *s = hist_text(h, r, key, text, sizeof(text));

	if (h->opts.key[key] == HIST_SYM) {
		snprintf(buf, size, "[%c] %s", mode_letter(h, r), s);
		return buf;
	}
	if (h->opts.key[key] == HIST_TID || h->opts.key[key] == HIST_PID) {
		const struct tasks *tasks = h->names->profile->trace->tasks;
		int32_t tid = (int32_t)r->value[key];

		snprintf(buf, size, "%7d:%s", tid,
			 strtab_get(tasks_strings(tasks), tasks_comm_at(tasks, tid, UINT64_MAX)));
		return buf;
	}
	snprintf(buf, size, "%s", s);
	return buf;
}

static double percent(const struct report_style *s, const struct hist *h, uint64_t weight)
{
	const struct profile_total *t = &h->names->profile->total[h->opts.type];
	uint64_t of = s->relative ? t->weight : t->all_weight;

	return of ? 100.0 * (double)weight / (double)of : 0;
}

static bool shown(const struct report_style *s, const struct hist *h, const struct hist_row *r)
{
	return percent(s, h, h->opts.children ? r->total : r->self) >= s->percent_limit;
}

/* Perf shortens large numbers of samples: 12K of event. */
static void heading(FILE *f, const struct hist *h)
{
	const struct profile *p = h->names->profile;
	uint64_t n = h->count;
	const char *units = " KMGT";

	while (n >= 1000 && units[1]) {
		n /= 1000;
		units++;
	}
	fprintf(f, "# Samples: %llu%c of event '%s'\n# Event count (approx.): %llu\n#\n",
		(unsigned long long)n, *units, p->trace->types[h->opts.type].name,
		(unsigned long long)h->total);
}

static void widths(const struct report_style *s, const struct hist *h, size_t *w)
{
	char buf[1100];

	for (unsigned k = 0; k < h->opts.n_keys; k++)
		w[k] = strlen(titles[h->opts.key[k]]);
	for (size_t i = 0; i < h->rows.n; i++) {
		if (!shown(s, h, &h->rows.data[i]))
			continue;
		for (unsigned k = 0; k < h->opts.n_keys; k++) {
			size_t n = strlen(cell(h, &h->rows.data[i], k, buf, sizeof(buf)));

			if (n > w[k])
				w[k] = n;
		}
	}
}

static void columns(FILE *f, const struct report_style *s, const struct hist *h, const size_t *w)
{
	static const char dots[] = "..............................................................."
				   "................................."
				   "..............................................................."
				   "................................."
				   "..............................................................."
				   ".................................";

	fprintf(f, h->opts.children ? "# Children      Self" : "# Overhead");
	if (s->samples)
		fprintf(f, "  %12s", "Samples");
	if (s->weights)
		fprintf(f, "  %12s", "Period");
	for (unsigned k = 0; k < h->opts.n_keys; k++)
		fprintf(f, "  %-*s", (int)w[k], titles[h->opts.key[k]]);
	fprintf(f, h->opts.children ? "\n# ........  ........" : "\n# ........");
	if (s->samples)
		fprintf(f, "  ............");
	if (s->weights)
		fprintf(f, "  ............");
	for (unsigned k = 0; k < h->opts.n_keys; k++)
		fprintf(f, "  %.*s", (int)(w[k] < sizeof(dots) ? w[k] : sizeof(dots) - 1), dots);
	fputs("\n#\n", f);
}

/* Hot rows stand out on a terminal, with perf's limits. */
static void share(FILE *f, double p)
{
	enum term_style c = p >= 5 ? TERM_RED : p > 0.5 ? TERM_GREEN : TERM_RESET;

	if (c == TERM_RESET)
		fprintf(f, "  %7.2f%%", p);
	else
		fprintf(f, "  %s%7.2f%%%s", term_style(f, c), p, term_style(f, TERM_RESET));
}

static void text_row(FILE *f, const struct report_style *s, const struct hist *h,
		     const struct hist_row *r, const size_t *w)
{
	char buf[1100];

	if (h->opts.children)
		share(f, percent(s, h, r->total));
	share(f, percent(s, h, r->self));
	if (s->samples)
		fprintf(f, "  %12llu", (unsigned long long)r->count);
	if (s->weights)
		fprintf(f, "  %12llu", (unsigned long long)r->self);
	for (unsigned k = 0; k < h->opts.n_keys; k++) {
		const char *text = cell(h, r, k, buf, sizeof(buf));
		/* perf pads all but a last symbol */
		bool pad = k + 1 < h->opts.n_keys || h->opts.key[k] != HIST_SYM;

		fprintf(f, "  %-*s", pad ? (int)w[k] : 0, text);
	}
	putc('\n', f);
}

static void csv_row(FILE *f, const struct report_style *s, const struct hist *h,
		    const struct hist_row *r)
{
	char buf[1100];

	if (h->opts.children)
		fprintf(f, "%.2f%%%s", percent(s, h, r->total), s->sep);
	fprintf(f, "%.2f%%", percent(s, h, r->self));
	if (s->samples)
		fprintf(f, "%s%llu", s->sep, (unsigned long long)r->count);
	if (s->weights)
		fprintf(f, "%s%llu", s->sep, (unsigned long long)r->self);
	for (unsigned k = 0; k < h->opts.n_keys; k++)
		fprintf(f, "%s%s", s->sep, cell(h, r, k, buf, sizeof(buf)));
	putc('\n', f);
}

static void json_graph(struct json *j, const struct hist *h, const struct graph_node *n,
		       const char *key)
{
	json_array(j, key);
	for (; n; n = n->next) {
		json_object(j, NULL);
		json_array(j, "functions");
		for (uint32_t i = 0; i < n->n_frames; i++)
			json_str(j, NULL, names_function(h->names, n->frame[i]));
		json_end(j);
		json_u64(j, "period", n->weight);
		json_u64(j, "samples", n->count);
		if (n->child && j->depth + 4 < JSON_DEPTH)
			json_graph(j, h, n->child, "children");
		json_end(j);
	}
	json_end(j);
}

static void json_report(FILE *f, const struct report_style *s, const struct hist *h,
			const struct graphs *g)
{
	static const char *const keys[HIST_KEYS] = {
		"comm", "pid", "tid", "dso", "symbol", "cpu", "srcline", "srcfile", "time", "extra"
	};
	struct json j = json_to(f);
	char buf[1100];

	j.pretty = true;
	json_object(&j, NULL);
	json_str(&j, "event", h->names->profile->trace->types[h->opts.type].name);
	json_u64(&j, "samples", h->count);
	json_u64(&j, "period", h->total);
	json_array(&j, "rows");
	for (size_t i = 0; i < h->rows.n; i++) {
		const struct hist_row *r = &h->rows.data[i];

		if (!shown(s, h, r))
			continue;
		json_object(&j, NULL);
		if (h->opts.children) {
			json_double(&j, "children", percent(s, h, r->total));
			json_u64(&j, "children_period", r->total);
		}
		json_double(&j, "self", percent(s, h, r->self));
		json_u64(&j, "period", r->self);
		json_u64(&j, "samples", r->count);
		for (unsigned k = 0; k < h->opts.n_keys; k++)
			json_str(&j, keys[h->opts.key[k]], hist_text(h, r, k, buf, sizeof(buf)));
		if (g && g->root[i])
			json_graph(&j, h, g->root[i], "callgraph");
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	putc('\n', f);
}

void report_print(FILE *f, const struct report_style *s, const struct hist *h,
		  const struct graphs *g, const struct graph_opts *go)
{
	size_t w[16];

	if (s->form == REPORT_JSON) {
		json_report(f, s, h, g);
		return;
	}
	if (s->form == REPORT_TEXT) {
		heading(f, h);
		widths(s, h, w);
		columns(f, s, h, w);
	}
	for (size_t i = 0; i < h->rows.n; i++) {
		const struct hist_row *r = &h->rows.data[i];

		if (!shown(s, h, r))
			continue;
		if (s->form == REPORT_CSV) {
			csv_row(f, s, h, r);
			continue;
		}
		text_row(f, s, h, r, w);
		if (g && g->root[i])
			report_print_graph(f, h, go, g->root[i],
					   h->opts.children ? r->total : r->self, s->skip_first);
	}
	if (s->form == REPORT_TEXT)
		fputs("\n\n", f);
}

void report_print_end(FILE *f, const struct report_end *e)
{
	double n = e->samples ? (double)e->samples : 1;

	fprintf(f, "#\n# %llu samples; lost: %llu", (unsigned long long)e->samples,
		(unsigned long long)e->lost);
	if (e->lost)
		fprintf(f, " (%.2f%%)", 100.0 * (double)e->lost / (n + (double)e->lost));
	if (e->stacks)
		fprintf(f, "; stacks cut: %llu (%.2f%%)", (unsigned long long)e->cut_stacks,
			100.0 * (double)e->cut_stacks / (double)e->stacks);
	fprintf(f, "; without a name: %llu (%.2f%%)\n", (unsigned long long)e->unresolved,
		100.0 * (double)e->unresolved / n);
	if (e->note && e->note[0])
		fprintf(f, "# %s\n", e->note);
	fputs("#\n", f);
}
