/* SPDX-License-Identifier: MIT */
/* kymo annotate: functions instruction by instruction, with their samples and source. */
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/str.h"
#include "calc/rows/annotate.h"
#include "calc/rows/hist.h"
#include "calc/stacks/calls.h"
#include "cmd/command.h"
#include "cmd/front/complete.h"
#include "cmd/report/report.h"
#include "cmd/share/accept.h"
#include "cmd/share/input.h"
#include "cmd/share/open.h"
#include "view/report/annotate.h"
#include "view/tui/tui.h"

struct args {
	struct load_opts load;
	struct annotate_style shown;
	const char *symbol, *dsos, *style, *prefix;
	bool stdio, source, samples, weights, quiet, skip_missing, demangle;
	bool group, group_given;
	int verbose, prefix_strip;
	double percent_limit;
};

static int on_percent_type(const struct opt *o, const char *value, bool unset, void *args,
			   struct err *e)
{
	return codestyle_parse_percent(value, &((struct args *)args)->shown.percent, e);
}

static int on_group(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct args *a = args;

	a->group = a->group_given = !unset;
	return 0;
}

static int on_percent_limit(const struct opt *o, const char *value, bool unset, void *args,
			    struct err *e)
{
	struct args *a = args;

	return str_double(value, &a->percent_limit)
		       ? 0
		       : err_set(e, EINVAL, "'%s' is no percentage", value);
}

static const struct opt opts[] = {
	OPT_STR_C('i', "input", "FILE", load.input, "read FILE (default: perf.data)", "@files"),
	OPT_STR_C('s', "symbol", "SYMBOL", symbol,
		  "only this function (default: all, hottest first)", "@symbols"),
	OPT_STR('d', "dsos", "DSO,...", dsos, "only functions of these files"),
	OPT_STR('C', "cpu", "LIST", load.pick.cpus, "only samples of these CPUs"),
	OPT_FLAG(0, "stdio", stdio, "as text"),
	OPT_FN_C(0, "stdio-color", "WHEN", OPT_ARG_LAST, accept_color, "always, never or auto",
		 "always|never|auto"),
	OPT_HEAD("What is shown"),
	OPT_FLAG('l', "print-line", shown.lines,
		 "sum by source line, and show the line at each instruction"),
	OPT_FLAG('P', "full-paths", shown.full_paths, "do not shorten the names of files"),
	OPT_FLAG(0, "source", source, "source lines between the instructions (default)"),
	OPT_FLAG(0, "asm-raw", shown.raw, "the bytes of instructions too"),
	OPT_FLAG(0, "arrows", shown.arrows, "arrows for the jumps within a function (default)"),
	OPT_FLAG('n', "show-nr-samples", samples, "numbers of samples in place of percentages"),
	OPT_FLAG(0, "show-total-period", weights, "sums of periods in place of percentages"),
	OPT_FN_C(0, "group", NULL, OPT_ARG_NONE, on_group,
		 "events side by side: those of a group (default), or all", NULL),
	OPT_FN_C(0, "percent-type", "TYPE", OPT_ARG_REQUIRED, on_percent_type,
		 "percent of what: local-period (of the function, the default), global-period (of "
		 "everything), local-hits, global-hits (samples, not periods)",
		 "local-period|global-period|local-hits|global-hits"),
	OPT_FN(0, "percent-limit", "PERCENT", on_percent_limit,
	       "leave out functions below it, as percent of everything"),
	OPT_STR_C('M', "disassembler-style", "STYLE", style, "att or intel (x86)", "att|intel"),
	OPT_COUNT('v', "verbose", verbose, "say where code comes from"),
	OPT_FLAG('q', "quiet", quiet, "do not tell what could not be annotated"),
	OPT_FLAG(0, "skip-missing", skip_missing, "the same"),
	OPT_HEAD("Where to look"),
	OPT_STR_C(0, "symfs", "DIR", load.symfs, "look for files below DIR", "@dirs"),
	OPT_FLAG(0, "no-debuginfod", load.no_debuginfod, "do not ask debuginfod servers"),
	OPT_STR_C('k', "vmlinux", "FILE", load.vmlinux, "the kernel's code and symbols", "@files"),
	OPT_STR_C(0, "kallsyms", "FILE", load.kallsyms, "the kernel's symbols", "@files"),
	OPT_STR_C(0, "prefix", "PREFIX", prefix, "put in front of names of source files", "@dirs"),
	OPT_INT(0, "prefix-strip", "N", prefix_strip, "folders taken off before that"),
	/* perf's, which need nothing here */
	OPT_ACCEPTED('f', "force"),
	OPT_ACCEPTED('m', "modules"),
	OPT_ACCEPTED(0, "tui"),
	OPT_ACCEPTED(0, "ignore-vmlinux"),
	OPT_ACCEPTED(0, "demangle-kernel"),
	OPT_ACCEPTED_ARG(0, "objdump"),
	OPT_OF_TRACES("itrace"),
	OPT_OF_DUMPS(),
	{ .kind = OPT_KIND_FLAG,
	  .name = "stdio2",
	  .flags = OPT_HIDDEN,
	  .field = offsetof(struct args, stdio),
	  .help = "as --stdio" },
	{ .kind = OPT_KIND_FLAG,
	  .name = "demangle",
	  .flags = OPT_HIDDEN,
	  .field = offsetof(struct args, demangle),
	  .help = "readable C++ names (default)" },
	OPT_END,
};

/* Functions that could not be shown, by reason; told once each, below the rest. */
struct left_out {
	struct err why;
	uint64_t weight;
	unsigned n;
	char first[128];
};

/* Code of a stripped file, of which each address has a row: a function is shown once. */
struct shown {
	uint32_t dso;
	uint64_t start, end;
};

/* A recording with all that annotating needs. */
struct work {
	const struct args *a;
	struct load load;
	struct srctext src;
	VEC(struct left_out) left_out;
	VEC(struct shown) unnamed;
	bool in_terminal; /* the screen is not ours to write to */
	uint32_t *leader; /* by type: the event beside which it is shown */
};

/* A stripped vmlinux has code but no names: those then come from elsewhere. */
static int load_kernel(struct work *w, struct err *e)
{
	struct input_kernel k = { .kallsyms = w->a->load.kallsyms,
				  .vmlinux = w->a->load.vmlinux,
				  .symfs = w->load.opts.symfs,
				  .all = true };
	const char *note = NULL;
	int r = input_kernel_symbols(w->load.source, &k, w->load.symbols, &note, e);

	if (r == -ENOENT && k.vmlinux && file_exists(k.vmlinux)) {
		k.vmlinux = NULL;
		r = input_kernel_symbols(w->load.source, &k, w->load.symbols, &note, e);
	}
	if (r == 0 && note && !w->a->quiet && !w->in_terminal)
		command_note("%s", note);
	return r;
}

static int open_work(struct work *w, struct args *a, struct err *e)
{
	struct load_opts o = a->load;
	int r;

	w->a = a;
	o.quiet = true;
	o.as_recorded = true; /* no stack is asked for */
	o.pick.cpus = NULL;
	r = load_open(&w->load, &o, e);
	/* samples that do not say where they were taken are of any CPU */
	if (r == 0 && load_has(&w->load, EVENT_HAVE_CPU)) {
		pick_free(&w->load.pick);
		r = pick_make(&w->load.pick, &a->load.pick, w->load.source->trace, e);
	}
	w->src.opts =
		(struct srctext_opts){ .symfs = a->load.symfs,
				       .prefix = a->prefix,
				       .strip = a->prefix_strip > 0 ? (unsigned)a->prefix_strip
								    : 0 };
	if (r == 0)
		w->src.opts.archive = w->load.source->trace->files;
	return r;
}

/* What takes time: counting and naming. */
static int count_work(struct work *w, struct err *e)
{
	struct load *l = &w->load;
	struct symbols_opts so = { .find = input_find(l->source, l->opts.symfs),
				   .raw_names = !w->a->demangle,
				   .no_debuginfod = l->opts.no_debuginfod };
	int r = load_count(l, &(struct profile_opts){ .by = PROFILE_BY_CODE }, e);

	if (r < 0)
		return r;
	l->symbols = symbols_new(&so);
	r = load_kernel(w, e);
	if (r == 0)
		r = names_make(&l->profile, l->symbols, &(struct names_opts){ 0 }, &l->names, e);
	l->named = r == 0;
	return r;
}

static void close_work(struct work *w)
{
	free(w->leader);
	srctext_free(&w->src);
	load_free(&w->load);
}

struct match {
	const char *path, *shown;
};

static int same_dso(void *ctx, const char *part, size_t n)
{
	const struct match *m = ctx;

	return (strlen(m->path) == n && memcmp(m->path, part, n) == 0) ||
	       (strlen(m->shown) == n && memcmp(m->shown, part, n) == 0);
}

static bool chosen(const struct work *w, uint32_t frame)
{
	const struct name_frame *f = &w->load.names.frames.data[frame];
	const char *name = names_function(&w->load.names, frame);
	struct match m = { .path = names_path(&w->load.names, f->dso),
			   .shown = names_dso(&w->load.names, f->dso) };

	if (w->a->symbol && (!name || strcmp(name, w->a->symbol) != 0))
		return false;
	return !w->a->dsos || str_split(w->a->dsos, ',', same_dso, &m);
}

/* Nothing of that name: say what there is. */
static int no_such_symbol(const struct work *w, struct err *e)
{
	struct str_nearest near = { .typed = w->a->symbol };
	char list[256];

	if (!w->a->symbol)
		return err_set(e, ENOENT, "no samples%s%s", w->a->dsos ? " in " : "",
			       w->a->dsos ? w->a->dsos : "");
	for (size_t i = 0; i < w->load.names.frames.n; i++) {
		const char *name = names_function(&w->load.names, (uint32_t)i);

		if (name)
			str_nearest_add(&near, name);
	}
	err_set(e, ENOENT, "no samples in a function called '%s'%s%s", w->a->symbol,
		w->a->dsos ? " of " : "", w->a->dsos ? w->a->dsos : "");
	if (str_nearest_list(&near, list, sizeof(list)))
		return err_hint(e, "did you mean %s? 'kymo report --sort symbol' shows all", list);
	return err_hint(e, "'kymo report --sort symbol' shows the functions that have some");
}

static bool utf8(void)
{
	setlocale(LC_CTYPE, "");
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static uint32_t annotate_frame_of(const struct work *w, const struct hist_row *row)
{
	return w->load.names.sites.data[row->site].frame;
}

static void leave_out(struct work *w, const struct hist_row *row, const struct err *why)
{
	const char *name = names_function(&w->load.names, annotate_frame_of(w, row));
	struct left_out *l;

	vec_each (&w->left_out, o)
		if (strcmp(o->why.msg, why->msg) == 0) {
			o->n++;
			o->weight += row->self;
			return;
		}
	l = vec_add(&w->left_out);
	l->why = *why;
	l->n = 1;
	l->weight = row->self;
	snprintf(l->first, sizeof(l->first), "%s", name ? name : "an unnamed address");
}

static void tell_left_out(struct work *w, uint64_t total)
{
	vec_each (&w->left_out, l) {
		if (!w->a->quiet && !w->a->skip_missing)
			command_note("%s%s%.0u%s left out (%.2f%% of all): %s%s%s", l->first,
				     l->n > 1 ? " and " : "", l->n - 1,
				     l->n == 1	 ? " is"
				     : l->n == 2 ? " other function are"
						 : " other functions are",
				     profile_percent(l->weight, total), l->why.msg,
				     l->why.hint[0] ? "\n  hint: " : "", l->why.hint);
	}
	vec_free(&w->left_out);
}

static bool was_shown(const struct work *w, const struct hist_row *row)
{
	const struct name_site *s = &w->load.names.sites.data[row->site];

	if (!s->sym || names_function(&w->load.names, s->frame))
		return false;
	vec_each (&w->unnamed, u)
		if (u->dso == s->dso && s->sym->vaddr >= u->start && s->sym->vaddr < u->end)
			return true;
	return false;
}

static void note_shown(struct work *w, const struct annotate *a)
{
	if (!names_function(&w->load.names, a->frame))
		vec_push(&w->unnamed, (struct shown){ w->load.names.frames.data[a->frame].dso,
						      a->start, a->end });
}

/* Whose numbers stand beside whose. */
static void find_leaders(struct work *w)
{
	const struct trace *t = w->load.source->trace;
	bool groups = report_has_groups(t);

	w->leader = mem_alloc((t->n_types + 1) * sizeof(*w->leader));
	for (uint32_t i = 0; i < t->n_types; i++)
		w->leader[i] = !w->a->group	   ? i
			       : groups		   ? (uint32_t)t->types[i].leader
			       : w->a->group_given ? 0
						   : i;
}

static struct annotate_opts opts_of(const struct work *w, uint32_t type)
{
	return (struct annotate_opts){ .type = type,
				       .intel = w->a->style && strcmp(w->a->style, "intel") == 0,
				       .leader = w->leader,
				       .vmlinux = w->a->load.vmlinux,
				       .symfs = w->load.opts.symfs };
}

/* How it is shown: as text, and at first on a terminal. */
static struct annotate_style style_of(const struct work *w)
{
	const struct args *a = w->a;
	struct annotate_style s = a->shown;

	s.column = a->samples	? ANNOTATE_SHOW_SAMPLES
		   : a->weights ? ANNOTATE_SHOW_WEIGHT
				: ANNOTATE_SHOW_PERCENT;
	s.no_source = !a->source;
	s.ascii = !utf8();
	s.forced_group = !report_has_groups(w->load.source->trace);
	s.verbose = a->verbose > 0;
	return s;
}

/* One after the other, hottest first. What cannot be shown is told, and is an error when asked for
 * by name. */
static int annotate_print_all(struct work *w, uint32_t type, unsigned *found, struct err *e)
{
	const struct args *a = w->a;
	struct columns columns;
	struct cells cells;
	struct annotate_opts ao = opts_of(w, type);
	struct annotate_style style = style_of(w);
	struct hist h;
	int r = columns_make(&columns, &(struct columns_opts){ .sort = "dso,sym" }, e);

	ao.no_lines = !a->source && !a->shown.lines;
	if (r < 0)
		return r;
	cells_make(&cells, &w->load.names, &(struct cells_opts){ .columns = &columns });
	/* functions that only the group's other events hit have rows, too */
	hist_make(&h, &cells, &(struct hist_opts){ .type = type }, w->leader, 0);
	for (size_t i = 0; r == 0 && i < h.rows.n; i++) {
		const struct hist_row *row = &h.rows.data[i];
		struct annotate ann;

		if (!chosen(w, annotate_frame_of(w, row)) ||
		    100.0 * (double)row->self < a->percent_limit * (double)h.weight)
			continue;
		++*found;
		if (was_shown(w, row))
			continue;
		r = annotate_make(&w->load.names, annotate_frame_of(w, row), &ao, &ann, e);
		if (r == 0) {
			annotate_print(stdout, &style, &ann, &w->src);
			note_shown(w, &ann);
			annotate_free(&ann);
		} else if (!a->symbol && r != -ENOTSUP) {
			leave_out(w, row, e);
			r = 0;
		}
	}
	tell_left_out(w, h.weight);
	vec_free(&w->unnamed);
	hist_free(&h);
	cells_free(&cells);
	return r;
}

static int make_table(void *ctx, const struct tui_query *q, struct tui_table *ret, struct err *e)
{
	struct work *w = ctx;
	int r = count_work(w, e);
	uint32_t type = 0;

	if (r < 0)
		return r;
	while (type + 1 < w->load.source->trace->n_types && !w->load.profile.total[type].count)
		type++;
	type = w->leader[type];
	*ret = (struct tui_table){ .names = &w->load.names,
				   .type = type,
				   .total = w->load.profile.total[type].weight,
				   .count = w->load.profile.total[type].count };
	return 0;
}

#define TRIES 64 /* functions without code that are passed over */

static bool has_code(const struct work *w, const struct tui_table *t, uint32_t frame)
{
	struct annotate_opts ao = opts_of(w, t->type);
	struct annotate ann;

	ao.no_lines = true;
	if (annotate_make(&w->load.names, frame, &ao, &ann, NULL) < 0)
		return false;
	annotate_free(&ann);
	return true;
}

/* The hottest of those that were asked for, and that can be shown; else the hottest. */
static uint32_t annotate_choose(void *ctx, const struct tui_table *t, struct err *e)
{
	struct work *w = ctx;
	functions_list all = { 0 };
	uint32_t frame = CALLS_NONE;
	unsigned tried = 0;
	bool shown = false;

	functions_make(t->names, t->type, &all);
	functions_by_self(&all);
	for (size_t i = 0; i < all.n && !shown && tried < TRIES; i++) {
		if (!all.data[i].self || !chosen(w, all.data[i].frame))
			continue;
		shown = has_code(w, t, all.data[i].frame);
		if (shown || !tried++)
			frame = all.data[i].frame;
	}
	vec_free(&all);
	if (frame == CALLS_NONE)
		no_such_symbol(w, e);
	return frame;
}

static int annotate_walk_through(struct work *w, struct err *e)
{
	const struct args *a = w->a;
	struct tui_model m = { .ctx = w,
			       .name = input_path(a->load.input),
			       .trace = w->load.source->trace,
			       .leader = w->leader,
			       .make = make_table,
			       .annotate = opts_of(w, 0),
			       .style = style_of(w),
			       .source = w->src.opts };

	return tui_annotate(&m, annotate_choose, e);
}

static int annotate_run(void *args, int argc, char **argv, struct err *e)
{
	struct args *a = args;
	struct work w = { 0 };
	unsigned found = 0;
	int r;

	if (argc > 1)
		return err_set(e, EINVAL, "one function at a time, not '%s' and '%s'", argv[0],
			       argv[1]);
	if (argc == 1)
		a->symbol = argv[0];
	if (codestyle_check(&(struct codestyle){ .style = a->style }, e) < 0)
		return -e->code;
	a->load.symfs = input_symfs(a->load.symfs);
	r = open_work(&w, a, e);
	if (r < 0) {
		close_work(&w);
		return r;
	}
	if (w.load.source->trace->own) {
		err_set(e, ENODATA, "%s has names of functions, but no addresses in their code",
			source_name(input_path(a->load.input)));
		close_work(&w);
		return err_hint(e, "kymo record makes a recording, which has; kymo report shows "
				   "the functions");
	}
	find_leaders(&w);
	if (!a->stdio && !a->shown.lines && tui_usable(NULL) == 0) {
		w.in_terminal = true;
		r = annotate_walk_through(&w, e);
		close_work(&w);
		return r;
	}
	r = count_work(&w, e);
	for (uint32_t t = 0; r == 0 && t < w.load.source->trace->n_types; t++)
		if (w.leader[t] == t)
			r = annotate_print_all(&w, t, &found, e);
	if (r == 0 && !found)
		r = no_such_symbol(&w, e);
	if (r == 0 && !a->quiet)
		input_warn(w.load.source);
	close_work(&w);
	return r;
}

static const struct args defaults;

#define COMPLETE_MAX (64u << 20) /* a Tab is no time to read more */

void annotate_functions(const char *input, void (*fn)(void *ctx, const char *name, const char *dso),
			void *ctx)
{
	struct args a = defaults;
	struct work w = { .in_terminal = true };
	struct stat st;

	a.load.no_debuginfod = a.quiet = true;
	a.load.input = input ? input : "perf.data";
	if (stat(a.load.input, &st) == 0 && st.st_size <= COMPLETE_MAX &&
	    open_work(&w, &a, NULL) == 0 && count_work(&w, NULL) == 0)
		for (size_t i = 0; i < w.load.names.frames.n; i++) {
			const char *name = names_function(&w.load.names, (uint32_t)i);

			if (name)
				fn(ctx, name,
				   names_dso(&w.load.names, w.load.names.frames.data[i].dso));
		}
	close_work(&w);
}

static const struct args defaults = {
	.shown = { .arrows = true }, .source = true, .demangle = true, .group = true
};

static const struct example examples[] = {
	{ "annotate --stdio", "every function that has samples, hottest first" },
	{ "annotate --stdio -s main -l", "one function, with its source lines by share" },
	{ "annotate -d libc.so.6 --percent-limit 5", "the hot functions of one library" },
	{ NULL, NULL },
};

const struct command cmd_annotate = {
	.name = "annotate",
	.group = "Profile",
	.summary = "show where in its code a function spends its time",
	.usage = "[-i FILE] [OPTIONS] [SYMBOL]",
	.about = "Disassembles the functions of a recording and shows for each instruction its "
		 "share of the samples, between the source lines it comes from.",
	.examples = examples,
	.opts = opts,
	.complete = "@symbols",
	.args_size = sizeof(struct args),
	.defaults = &defaults,
	.run = annotate_run,
};
