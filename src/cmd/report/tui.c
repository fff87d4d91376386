/* SPDX-License-Identifier: MIT */
/* A recording as the terminal interface's model. */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/str.h"
#include "cmd/report/report.h"
#include "cmd/share/input.h"
#include "view/report/report.h"
#include "view/tui/tui.h"

#define NO_COUNTERS "the recording has no counters by thread (record -s makes them)\n"

/* What was counted and named; shared by the tables made from it. */
struct batch {
	struct profile profile;
	struct names names;
	struct columns columns; /* that the plan is for */
	struct extra_plan plan;
	bool *site_wanted;
	struct idle idle;
	unsigned by, users;
};

struct state {
	struct report *r;
	struct batch *newest;
	bool chains;	/* the recording has some, and they are wanted */
	char *counters; /* of threads (-T), to read with the header; NULL: not wanted */
};

static void batch_put(void *batch)
{
	struct batch *b = batch;

	if (!b || --b->users)
		return;
	names_free(&b->names);
	profile_free(&b->profile);
	extra_plan_free(&b->plan);
	free(b->site_wanted);
	free(b);
}

/* Counted by at least what the columns need: the newest batch, or one more. */
static int batch_for(struct state *s, const struct columns *c, unsigned by, struct batch **ret,
		     struct err *e)
{
	struct report *r = s->r;
	struct profile_opts po = report_profile_opts(r, by);
	struct names_opts no = report_names_opts(r);
	struct batch *b = mem_alloc(sizeof(*b));
	int code;

	no.by_file = false; /* one can ask for other columns later */
	po.outermost = po.max_stack && r->children;
	b->columns = *c;
	load_plan(&r->load, &b->columns, &b->plan);
	if (s->newest && (s->newest->by & by) == by && !b->plan.any && !s->newest->plan.any) {
		extra_plan_free(&b->plan);
		free(b);
		*ret = s->newest;
		return 0;
	}
	b->by = by;
	b->users = 1;
	code = load_profile(&r->load, &b->plan, &po, &b->profile, e);
	if (code == 0) {
		report_now_named(r, &b->profile, &b->plan);
		code = names_make(&b->profile, r->load.symbols, &no, &b->names, e);
		if (code < 0)
			profile_free(&b->profile);
	}
	if (code < 0) {
		extra_plan_free(&b->plan);
		free(b);
		return code;
	}
	if (r->without_idle)
		idle_leave_out(&b->profile, &b->names, &b->idle);
	b->site_wanted = pick_sites(&r->load.pick, &b->names);
	batch_put(s->newest);
	*ret = s->newest = b;
	return 0;
}

static int report_tui_make(void *ctx, const struct tui_query *q, struct tui_table *ret,
			   struct err *e)
{
	struct state *s = ctx;
	struct report *r = s->r;
	const struct report_args *a = r->a;
	struct columns_opts co = report_columns_opts(r);
	struct tui_hist_opts o = { .cells = report_cells_opts(r),
				   .hist = { .type = q->type,
					     .use_chains = r->graphs,
					     .hide_unresolved = a->hide_unresolved,
					     .exclude_other = a->exclude_other,
					     .symbol_part = a->symbol_part },
				   .chains = s->chains,
				   .tree = a->hierarchy,
				   .leader = r->leader,
				   .order_member = (unsigned)a->group_sort,
				   .forced_group = !report_has_groups(r->load.source->trace),
				   .drop = batch_put };
	struct columns columns;
	struct batch *b = NULL;
	int code;

	o.hist.children = s->chains && (q->children < 0 ? r->children : q->children > 0);
	o.hist.caller = o.cells.caller = o.hist.children;
	co.children = o.hist.children;
	if (q->sort) {
		co.sort = q->sort;
		co.fields = NULL;
	}
	code = columns_make(&columns, &co, e);
	if (code == 0)
		code = batch_for(s, &columns,
				 cells_needs(&columns) | PROFILE_BY_CODE |
					 (s->chains ? PROFILE_BY_CHAIN : 0),
				 &b, e);
	if (code < 0)
		return code;
	o.cells.columns = &columns;
	o.cells.plan = &b->plan;
	o.hist.site_wanted = b->site_wanted;
	o.ctx = b;
	b->users++;
	tui_hist_make(&b->names, &o, ret);
	return 0;
}

static char *ending(void *ctx)
{
	const struct state *s = ctx;
	struct report_end end;
	struct strbuf b = { 0 };

	if (!s->newest)
		return NULL;
	end = report_end_of(&s->newest->names);
	end.symbols_note = s->r->load.note;
	idle_words(&s->newest->idle, end.idle, sizeof(end.idle));
	report_end_lines(&end, &b);
	return b.data;
}

static char *report_tui_header(void *ctx)
{
	const struct state *s = ctx;
	const struct trace *t = s->r->load.source->trace;
	const struct trace_info *i = &t->info;
	struct strbuf b = { 0 };
	AUTO_FREE char *end = ending(ctx);
	char text[64];

	if (s->counters)
		strbuf_printf(&b, "%s\n", *s->counters ? s->counters : NO_COUNTERS);
	if (end)
		strbuf_printf(&b, "%s\n", end);
	if (i->header_text) {
		strbuf_puts(&b, i->header_text);
		return b.data;
	}
	if (i->captured) {
		time_t when = (time_t)i->captured;

		strbuf_printf(&b, "captured on: %s", ctime_r(&when, text));
	}
	if (i->hostname)
		strbuf_printf(&b, "hostname: %s\n", i->hostname);
	if (i->os_release)
		strbuf_printf(&b, "os release: %s\n", i->os_release);
	if (i->version)
		strbuf_printf(&b, "recorded by: %s\n", i->version);
	if (i->arch)
		strbuf_printf(&b, "arch: %s\n", i->arch);
	strbuf_printf(&b, "cpus online: %u of %u\n", i->cpus_online, i->cpus_available);
	if (i->cpu_desc)
		strbuf_printf(&b, "cpu: %s\n", i->cpu_desc);
	if (i->total_mem)
		strbuf_printf(&b, "memory: %s\n",
			      str_bytes(i->total_mem * 1024, text, sizeof(text)));
	if (i->cmdline) {
		strbuf_puts(&b, "command:");
		for (const char *const *w = i->cmdline; *w; w++)
			strbuf_printf(&b, " %s", *w);
		strbuf_putc(&b, '\n');
	}
	for (size_t k = 0; k < t->n_types; k++)
		strbuf_printf(&b, "event: %s\n", t->types[k].name);
	strbuf_printf(&b, "samples: %s\n", str_thousands(t->n_samples, text, sizeof(text)));
	strbuf_printf(&b, "lost: %s\n", str_thousands(trace_lost(&t->losses), text, sizeof(text)));
	if (t->losses.note[0])
		strbuf_printf(&b, "note: %s\n", t->losses.note);
	return b.data;
}

/* What -T shows; "" when there is nothing. */
static int read_counters(struct state *s, struct err *e)
{
	size_t n;
	FILE *f = open_memstream(&s->counters, &n);
	int code = f ? report_counters(f, &s->r->load, s->r->a, e) : err_set(e, errno, "no memory");

	if (f)
		fclose(f);
	return code;
}

int report_tui_run(struct report *r, struct err *e)
{
	const struct report_args *a = r->a;
	const struct trace *trace = r->load.source->trace;
	struct state s = { .r = r, .chains = r->graphs && !report_has_no_frames(a) };
	struct tui_model m = { .ctx = &s,
			       .name = input_path(a->load.input),
			       .trace = trace,
			       .leader = r->leader,
			       .make = report_tui_make,
			       .header = report_tui_header,
			       .ending = ending,
			       .percent_limit = a->percent_limit,
			       .graph_percent_limit = a->graph.opts.min_percent,
			       .samples = columns_have(&r->columns, KEY_SAMPLES),
			       .source = { .symfs = a->load.symfs, .archive = trace->files },
			       .annotate = { .symfs = a->load.symfs, .vmlinux = a->load.vmlinux } };
	int code = load_symbols(&r->load, e);

	if (code == 0 && a->threads)
		code = read_counters(&s, e);
	codestyle_apply(&a->code, &m);
	m.note = s.counters ? "i shows the counters of the threads" : NULL;
	r->load.opts.quiet = true; /* the interface shows how far it is */
	if (code == 0)
		code = tui_report(&m, e);
	batch_put(s.newest);
	free(s.counters);
	return code;
}
