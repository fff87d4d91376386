/* SPDX-License-Identifier: MIT */
/* kymo report: a recording summed and shown. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "calc/graph.h"
#include "calc/hist.h"
#include "calc/names.h"
#include "calc/profile.h"
#include "cmd/command.h"
#include "cmd/input.h"
#include "cmd/report_tui.h"
#include "store/perfdata.h"
#include "view/report.h"

struct args {
	const char *input, *sort, *graph, *sep, *symfs, *kallsyms, *vmlinux;
	bool stdio, children, no_children, samples, weights, json, graph_given;
	double percent_limit;
	int max_stack;
};

static int on_graph(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct args *a = args;

	(void)o;
	(void)e;
	a->graph = unset ? "none" : value ? value : "graph,0.5,caller";
	a->graph_given = true;
	return 0;
}

static const struct opt opts[] = {
	OPT_STR_C('i', "input", "FILE", input, "read FILE (default: perf.data)", "@files"),
	OPT_FLAG(0, "stdio", stdio, "as text"),
	OPT_STR('s', "sort", "KEY,...", sort,
		"sum by comm, pid, tid, dso, symbol, cpu, srcline (default: comm,dso,symbol)"),
	OPT_FN_C('g', "call-graph", "MODE,...", OPT_ARG_LAST, on_graph,
		 "graph, fractal, flat, folded or none; least %; caller or callee", NULL),
	OPT_FLAG(0, "children", children, "also count what functions called (default with chains)"),
	OPT_FLAG('n', "show-nr-samples", samples, "also the number of samples"),
	OPT_FLAG(0, "show-total-period", weights, "also the weight"),
	OPT_FLAG('j', "json", json, "as JSON"),
	OPT_STR('x', "field-separator", "SEP", sep, "fields with a separator"),
	OPT_INT(0, "max-stack", "N", max_stack, "look at no more than N frames of a stack"),
	OPT_STR(0, "symfs", "DIR", symfs, "look for files below DIR"),
	OPT_STR(0, "kallsyms", "FILE", kallsyms, "kernel symbols"),
	OPT_END,
};

static int parse_sort(const char *text, struct hist_opts *o, struct err *e)
{
	static const struct {
		const char *name;
		enum hist_key key;
	} keys[] = {
		{ "comm", HIST_COMM }, { "pid", HIST_TID },	    { "tid", HIST_TID },
		{ "dso", HIST_DSO },   { "sym", HIST_SYM },	    { "symbol", HIST_SYM },
		{ "cpu", HIST_CPU },   { "srcline", HIST_SRCLINE }, { "srcfile", HIST_SRCFILE },
	};

	while (*text) {
		size_t n = strcspn(text, ", "), i;

		for (i = 0; i < ARRAY_SIZE(keys); i++)
			if (strlen(keys[i].name) == n && memcmp(keys[i].name, text, n) == 0)
				break;
		if (i == ARRAY_SIZE(keys) || o->n_keys == 16)
			return err_set(e, EINVAL, "no sort key '%.*s'", (int)n, text);
		o->key[o->n_keys++] = keys[i].key;
		text += n;
		text += strspn(text, ", ");
	}
	return 0;
}

static int run(void *args, int argc, char **argv, struct err *e)
{
	struct args *a = args;
	struct source *s = NULL;
	struct profile p = { 0 };
	struct names n = { 0 };
	struct hist_opts ho = { 0 };
	struct report_style style = { .form = a->json  ? REPORT_JSON
					      : a->sep ? REPORT_CSV
						       : REPORT_TEXT,
				      .sep = a->sep,
				      .samples = a->samples,
				      .weights = a->weights };
	struct graph_opts go = { .min_percent = 0.5 };
	struct symbols_opts so = { .find = { .symfs = a->symfs } };
	struct symbols *symbols;
	bool chains = false;
	int r;

	(void)argc;
	(void)argv;
	r = parse_sort(a->sort ? a->sort : "comm,dso,symbol", &ho, e);
	if (r == 0)
		r = input_open(a->input, &s, e);
	if (r < 0)
		return r;
	input_unwind(&s, a->symfs);
	for (size_t i = 0; i < s->trace->n_types; i++)
		chains = chains || (s->trace->types[i].attr.sample_type & PERF_SAMPLE_CALLCHAIN);
	if (a->graph && strcmp(a->graph, "none") == 0)
		chains = false;
	ho.children = a->children && chains;
	go.caller = ho.children;
	if (!a->stdio && !a->sep && !a->json && tui_usable(NULL) == 0) {
		struct report_tui t = { .source = s,
					.name = a->input ? a->input : "perf.data",
					.sort = a->sort ? a->sort : "comm,dso,symbol",
					.children = a->children,
					.chains = chains,
					.max_stack = (unsigned)a->max_stack,
					.parse_sort = parse_sort,
					.model = { .percent_limit = a->percent_limit,
						   .graph_percent_limit = go.min_percent,
						   .samples = a->samples,
						   .source = { .symfs = a->symfs },
						   .annotate = { .symfs = a->symfs,
								 .vmlinux = a->vmlinux } } };
		const char *note;

		t.symbols = symbols = symbols_new(&so);
		r = input_kernel_symbols(s,
					 &(struct input_kernel){ .kallsyms = a->kallsyms,
								 .vmlinux = a->vmlinux,
								 .symfs = a->symfs },
					 symbols, &note, e);
		if (r == 0)
			r = report_tui_run(&t, e);
		symbols_free(symbols);
		source_close(s);
		return r;
	}
	r = profile_make(
		s,
		&(struct profile_opts){ .by = hist_needs(&ho) | (chains ? PROFILE_BY_CHAIN : 0),
					.max_stack = (unsigned)a->max_stack },
		&p, e);
	if (r < 0)
		return r;
	symbols = symbols_new(&so);
	char *text;
	size_t len;
	if (file_read(a->kallsyms ? a->kallsyms : "/proc/kallsyms", 1u << 30, &text, &len) == 0)
		symbols_kernel_text(symbols, text, len, e);
	names_make(&p, symbols, &(struct names_opts){ 0 }, &n, e);
	for (size_t t = 0; t < s->trace->n_types; t++) {
		struct hist h;
		struct graphs g = { 0 };

		ho.type = (uint32_t)t;
		hist_make(&n, &ho, &h, e);
		if (chains)
			graphs_make(&h, &go, &g);
		report_print(stdout, &style, &h, chains ? &g : NULL, &go);
		if (chains)
			graphs_free(&g);
		hist_free(&h);
	}
	if (style.form == REPORT_TEXT)
		report_print_end(stdout, &(struct report_end){ .samples = s->trace->n_samples,
							       .lost = s->trace->losses.lost_events,
							       .unresolved = n.unresolved,
							       .note = s->trace->losses.note });
	names_free(&n);
	profile_free(&p);
	symbols_free(symbols);
	source_close(s);
	return 0;
}

static const struct args defaults = { .children = true };

const struct command cmd_report = {
	.name = "report",
	.group = "Profile",
	.summary = "summarise a recording",
	.usage = "[-i FILE] [OPTIONS]",
	.opts = opts,
	.args_size = sizeof(struct args),
	.defaults = &defaults,
	.run = run,
};
