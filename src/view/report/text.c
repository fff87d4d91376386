/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "base/pool.h"
#include "base/str.h"
#include "view/report/report.h"

static void report_text_put_row(struct strbuf *b, const struct report_style *s,
				const struct hist *h, const struct report_widths *w, size_t row)
{
	const struct columns *cols = h->cells->opts.columns;
	bool first = true;

	for (unsigned i = 0; i < cols->n; i++) {
		if (!report_shown(h, &cols->col[i]))
			continue;
		if (!s->sep || !first)
			strbuf_puts(b, s->sep ? s->sep : "  ");
		first = false;
		report_cell(b, s, h, row, &cols->col[i], w->w[i], i + 1 < cols->n);
	}
	strbuf_putc(b, '\n');
}

/* Rows are put into words by all threads, and written in their order. */
#define STEP 1024      /* rows a job */
#define STEP_GRAPHS 16 /* with their graphs, which are pages long, the first rows' above all */

struct writing {
	const struct report_style *s;
	const struct hist *h;
	const struct graphs *g;
	struct report_widths w;
	const struct column *symbol; /* NULL: there is none */
	size_t from;		     /* the first row of these jobs */
	size_t step;		     /* rows of each */
	struct strbuf *text;	     /* by job */
};

#define AHEAD 16 /* rows */

static void report_text_fetch(const struct writing *w, size_t row)
{
	const struct hist *h = w->h;

	if (!w->symbol || row + AHEAD >= h->rows.n)
		return;
	cell_fetch(h->cells, h->rows.data[row + AHEAD].at);
	cell_fetch_symbol(h->cells, w->symbol, h->rows.data[row + AHEAD / 2].at);
}

static int rows_job(void *ctx, size_t job, unsigned worker)
{
	struct writing *w = ctx;
	size_t first = w->from + job * w->step, n = w->h->rows.n;

	strbuf_reset(&w->text[job]);
	for (size_t i = first; i < n && i < first + w->step; i++) {
		const struct hist_row *r = &w->h->rows.data[i];

		report_text_fetch(w, i);
		if (r->hidden || report_row_share(w->s, w->h, r) < w->s->percent_limit)
			continue;
		report_text_put_row(&w->text[job], w->s, w->h, &w->w, i);
		if (w->g)
			report_graph(&w->text[job], w->s, w->h, w->g, i);
	}
	return 0;
}

void report_text(FILE *f, const struct report_style *s, const struct hist *h,
		 const struct graphs *g)
{
	struct writing w = {
		.s = s, .h = h, .g = g, .symbol = columns_find(h->cells->opts.columns, KEY_SYM)
	};
	unsigned threads = pool_threads();
	size_t most = threads * (g ? 32ul : 8ul);

	w.step = g ? STEP_GRAPHS : STEP;
	report_measure(&w.w, s, h);
	if (!s->quiet) {
		report_heading(f, s, h);
		report_heads(f, s, h, &w.w);
	}
	w.text = mem_alloc(most * sizeof(*w.text));
	for (; w.from < h->rows.n; w.from += most * w.step) {
		size_t jobs = (h->rows.n - w.from + w.step - 1) / w.step;

		jobs = jobs < most ? jobs : most;
		pool_run(jobs, threads, rows_job, &w);
		for (size_t i = 0; i < jobs; i++)
			fwrite(strbuf_str(&w.text[i]), 1, w.text[i].n, f);
	}
	for (size_t i = 0; i < most; i++)
		strbuf_free(&w.text[i]);
	free(w.text);
	fputs("\n\n", f);
}

static void put_part(struct strbuf *b, const char *what, uint64_t n, uint64_t of)
{
	char share[16];

	strbuf_printf(b, "%s: %" PRIu64 " (%s)", what, n,
		      str_percent((double)n, (double)of, share, sizeof(share)));
}

/* Were stacks followed by the kernel, which knows no other way than frame pointers? */
static bool by_frame_pointers(const struct trace *t)
{
	bool copies = false;

	for (size_t i = 0; i < t->n_types; i++)
		copies |= (t->types[i].has & TYPE_HAS_STACK) != 0;
	return !t->info.walked && !copies;
}

const char *report_deeper(const struct trace *t)
{
	bool asked = false;

	for (size_t i = 0; i < t->n_types; i++) {
		uint16_t max = t->types[i].max_stack;

		asked |= max && max < TRACE_WALK_DEPTH;
	}
	return t->info.walked && !asked ? TRACE_WALK_MOST
					: "kymo record --max-stack N allows for deeper ones";
}

/* Stacks that end early: where most of them do, and what helps. */
static void advise_stacks(const struct names *n, const struct names_cut *cut, struct report_end *e)
{
	const struct trace *t = n->profile->trace;
	size_t size = sizeof(e->where_early);
	bool java = false;

	for (size_t i = 0; i < n->dsos.n && !java; i++)
		java = strcmp(n->dsos.data[i].name, "libjvm.so") == 0;
	if (cut->in_jit * 2 > cut->abrupt)
		snprintf(e->where_early, size, "in code that a runtime compiled%s",
			 java ? ": run Java with -XX:+PreserveFramePointer"
			      : " without frame pointers");
	else if (by_frame_pointers(t))
		snprintf(e->where_early, size,
			 "where code keeps no frame pointers: kymo record -g needs none");
	else if (t->losses.short_copies * 2 > cut->abrupt)
		snprintf(e->where_early, size,
			 "where their copies do: kymo record -g needs none, or copy more "
			 "(--call-graph dwarf,65528)");
	else if (cut->file != NAMES_NONE && cut->in_file * 2 > cut->abrupt)
		snprintf(e->where_early, size,
			 "in %.80s, for want of unwinding tables: kymo doctor -p PID tells of them",
			 names_dso(n, cut->file));
}

static void advise(const struct names *n, const struct names_cut *cut, struct report_end *e)
{
	struct names_missing m = names_count_missing(n);
	struct names_partly partly = names_count_partly(n);

	if (partly.part && partly.samples * REPORT_WORTH >= e->samples)
		snprintf(e->inlines_advice, sizeof(e->inlines_advice),
			 "functions that were inlined in %.80s are not shown: %.300s is missing",
			 n->dsos.data[partly.file].name, partly.part);
	if (cut->abrupt && cut->abrupt * REPORT_WORTH >= cut->chains)
		advise_stacks(n, cut, e);
	else if (cut->full && cut->full * REPORT_WORTH >= cut->chains)
		e->deeper = report_deeper(n->profile->trace);
	if (n->unresolved * REPORT_WORTH < e->samples)
		return;
	if (m.in_jit * 2 > n->unresolved)
		snprintf(e->where_unnamed, sizeof(e->where_unnamed),
			 "in code that a runtime compiled: run Node.js with --perf-basic-prof, "
			 "Java with "
			 "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit");
	else if (m.in_file * 2 > n->unresolved)
		snprintf(e->where_unnamed, sizeof(e->where_unnamed),
			 "in %.80s: install its debug symbols%s", n->dsos.data[m.file].name,
			 getenv("DEBUGINFOD_URLS") ? "" : ", or set DEBUGINFOD_URLS");
}

struct report_end report_end_of(const struct names *n)
{
	const struct profile *p = n->profile;
	const struct trace_losses *l = &p->trace->losses;
	struct names_cut cut = names_count_cut(n);
	struct report_end end = { .lost = trace_lost(l),
				  .unresolved = n->unresolved,
				  .stacks = cut.chains,
				  .full_stacks = cut.full,
				  .abrupt_stacks = cut.abrupt,
				  .code = true,
				  .note = l->note };

	for (size_t i = 0; i < p->trace->n_types; i++)
		end.samples += p->total[i].all_count;
	advise(n, &cut, &end);
	return end;
}

bool report_stacks_advice(const struct report_end *e, char *buf, size_t size)
{
	if (e->where_early[0])
		snprintf(buf, size, "most of these stacks end %s", e->where_early);
	else if (e->deeper)
		snprintf(buf, size, "stacks were cut: %s", e->deeper);
	return e->where_early[0] || e->deeper;
}

void report_end_lines(const struct report_end *e, struct strbuf *b)
{
	char n[64], advice[256];

	strbuf_printf(b, "%s, ", str_count(e->samples, "sample", n, sizeof(n)));
	put_part(b, "lost", e->lost, e->samples + e->lost);
	if (e->stacks) {
		put_part(b, "; stacks cut", e->full_stacks, e->stacks);
		put_part(b, ", ending early", e->abrupt_stacks, e->stacks);
	}
	if (e->code)
		put_part(b, "; addresses without a name", e->unresolved, e->samples);
	strbuf_putc(b, '\n');
	if (e->idle[0])
		strbuf_printf(b, "%s\n", e->idle);
	if (e->stacks && report_stacks_advice(e, advice, sizeof(advice)))
		strbuf_printf(b, "%s\n", advice);
	if (e->code && e->where_unnamed[0])
		strbuf_printf(b, "most of these addresses are %s\n", e->where_unnamed);
	if (e->code && e->inlines_advice[0])
		strbuf_printf(b, "%s\n", e->inlines_advice);
	if (e->note && e->note[0])
		strbuf_printf(b, "%s\n", e->note);
	if (e->symbols_note && e->symbols_note[0])
		strbuf_printf(b, "%s\n", e->symbols_note);
}

void report_text_end(FILE *f, const struct report_end *e)
{
	AUTO_STRBUF b = { 0 };
	char *rest = NULL;

	report_end_lines(e, &b);
	fputs("#\n", f);
	for (char *line = strtok_r(b.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		fprintf(f, "# %s\n", line);
	fputs("#\n", f);
}
