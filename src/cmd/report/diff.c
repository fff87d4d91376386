/* SPDX-License-Identifier: MIT */
/* kymo diff: what changed between recordings. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "cmd/command.h"
#include "cmd/share/accept.h"
#include "cmd/share/load.h"
#include "view/report/report.h"

#define MAX_FILES 64

struct args {
	struct load_opts load;
	struct diff_opts diff;
	struct diff_style style;
	const char *sort, *percentage;
	bool json;
	int verbose, order;
};

static int weights(struct args *a, const char *text, struct err *e)
{
	char *end = NULL;

	a->diff.weight[0] = text ? strtoll(text, &end, 10) : 0;
	a->diff.weight[1] = end && *end == ',' ? strtoll(end + 1, &end, 10) : 0;
	if (a->diff.weight[0] && a->diff.weight[1] && !*end)
		return 0;
	err_set(e, EINVAL, "wdiff needs two weights that are not 0");
	return err_hint(e, "-c wdiff:1,2 weighs the base 1 and the others 2");
}

static int on_compute(const struct opt *o, const char *value, bool unset, void *p, struct err *e)
{
	static const char *const names[] = { [DIFF_DELTA] = "delta",
					     [DIFF_DELTA_ABS] = "delta-abs",
					     [DIFF_RATIO] = "ratio",
					     [DIFF_WEIGHTED] = "wdiff" };
	struct args *a = p;
	size_t n = strcspn(value, ":");

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strlen(names[i]) != n || memcmp(names[i], value, n) != 0)
			continue;
		a->diff.compute = (enum diff_compute)i;
		if (i == DIFF_WEIGHTED)
			return weights(a, value[n] ? value + n + 1 : NULL, e);
		return value[n] ? err_set(e, EINVAL, "-c %s takes nothing behind it", names[i]) : 0;
	}
	if (strcmp(value, "cycles") == 0) {
		err_set(e, EOPNOTSUPP, "-c cycles needs branch records with cycles in all files");
		return err_hint(e, "delta, delta-abs, ratio and wdiff need none");
	}
	err_set(e, EINVAL, "-c %s: no way to compute", value);
	return err_hint(e, "delta, delta-abs, ratio or wdiff:W1,W2");
}

static const struct opt opts[] = {
	OPT_FN_C('c', "compute", "HOW", OPT_ARG_REQUIRED, on_compute,
		 "delta, delta-abs (default), ratio, wdiff:W1,W2",
		 "delta|delta-abs|ratio|wdiff:1,1"),
	OPT_INT('o', "order", "N", order, "order by file N (default: 1; 0: the base's shares)"),
	OPT_FLAG('b', "baseline-only", diff.baseline_only, "only rows that the base has too"),
	OPT_FLAG('p', "period", style.period, "also the sums of periods"),
	OPT_FLAG('F', "formula", style.formula, "also how it was computed"),
	OPT_STR_C('s', "sort", "KEY,...", sort, "sum by these keys (default: dso,symbol)", "@keys"),
	OPT_STR('t', "field-separator", "SEP", style.sep, "text with SEP between columns"),
	OPT_FLAG('j', "json", json, "as JSON"),
	OPT_FLAG('q', "quiet", style.quiet, "only the rows"),
	OPT_COUNT('v', "verbose", verbose, "list the files, whole paths of dsos"),
	OPT_HEAD("Which samples"),
	OPT_STR('C', "comms", "LIST", load.pick.comms, "of these commands; @FILE reads a list"),
	OPT_STR('d', "dsos", "LIST", load.pick.dsos, "in these files"),
	OPT_STR('S', "symbols", "LIST", load.pick.symbols, "in these functions"),
	OPT_STR(0, "pid", "LIST", load.pick.pids, "of these processes"),
	OPT_STR(0, "tid", "LIST", load.pick.tids, "of these threads"),
	OPT_STR(0, "cpu", "LIST", load.pick.cpus, "on these CPUs, as 0-3,5"),
	OPT_STR(0, "time", "RANGES", load.pick.time,
		"10%/2 or 10%-20% of each; or START,STOP:START,STOP, one for each file"),
	OPT_STR_C(0, "percentage", "HOW", percentage,
		  "shares of what filters left (relative) or of everything (absolute, default)",
		  "relative|absolute"),
	OPT_HEAD("Symbols"),
	OPT_STR_C(0, "symfs", "DIR", load.symfs, "look for files below DIR", "@dirs"),
	OPT_STR_C(0, "kallsyms", "FILE", load.kallsyms, "kernel symbols from FILE", "@files"),
	OPT_ACCEPTED('f', "force"),
	OPT_ACCEPTED('m', "modules"),
	OPT_OF_CYCLES("cycles-hist"),
	OPT_OF_CYCLES("stream"),
	OPT_OF_DUMPS(),
	OPT_END,
};

/* One recording, all its events summed. */
struct side {
	struct load load;
	struct cells cells;
	struct hist *hist; /* by type */
	bool *site_wanted;
	bool ready;
};

struct comparing {
	struct args *a;
	struct columns columns;
	struct side *side;
	const char *file[MAX_FILES];
	unsigned n;
	struct json json;
};

/* The file's own part of "a,b:c,d"; shares are for all. */
static const char *time_for(struct comparing *c, unsigned n, char *buf, size_t size)
{
	const char *text = c->a->load.pick.time;

	if (!text || !strchr(text, ':'))
		return text;
	for (; n && *text; text++)
		n -= *text == ':';
	if (!*text)
		return NULL;
	snprintf(buf, size, "%.*s", (int)strcspn(text, ":"), text);
	return buf;
}

static int open_side(struct comparing *c, unsigned n, struct err *e)
{
	struct load_opts o = c->a->load;
	char time[256];

	o.input = c->file[n];
	o.pick.time = time_for(c, n, time, sizeof(time));
	return load_open(&c->side[n].load, &o, e);
}

static int check_keys(const struct columns *c, struct err *e)
{
	for (unsigned i = 0; i < c->n; i++) {
		const struct key_info *k = &key_infos[c->col[i].key];

		if (k->kind != KEY_SUM)
			continue;
		err_set(e, EINVAL, "--sort %s: rows cannot be matched by a sum", k->name);
		return err_hint(e, "sort by what has a name: dso, symbol, comm ...");
	}
	return 0;
}

/* The columns that all of them have something for. */
static int choose_columns(struct comparing *c, struct err *e)
{
	struct columns_opts o = { .sort = c->a->sort, .mode = KEY_MODE_DIFF };
	int r;

	for (unsigned i = 0; i < c->n; i++)
		if (!o.trace || c->side[i].load.source->trace->own)
			o.trace = c->side[i].load.source->trace;
	for (unsigned i = 0; i < c->n; i++) {
		const struct trace *t = c->side[i].load.source->trace;

		if (t->own && !t->own->modules)
			o.trace = t;
	}
	r = columns_make(&c->columns, &o, e);
	return r < 0 ? r : check_keys(&c->columns, e);
}

static int load_side(struct comparing *c, unsigned n, struct err *e)
{
	struct side *s = &c->side[n];
	struct profile_opts po = { .by = cells_needs(&c->columns) | PROFILE_BY_CODE };
	struct names_opts no = { .lines = columns_have_lines(&c->columns) };
	const struct trace *t;
	int r;

	load_plan(&s->load, &c->columns, &s->load.plan);
	r = load_count(&s->load, &po, e);
	if (r == 0)
		r = load_name(&s->load, &no, e);
	if (r < 0)
		return r;
	t = s->load.source->trace;
	cells_make(&s->cells, &s->load.names,
		   &(struct cells_opts){ .columns = &c->columns,
					 .plan = &s->load.plan,
					 .env = { load_cgroup, load_socket, &s->load },
					 .long_names = c->a->verbose > 0 });
	s->site_wanted = pick_sites(&s->load.pick, &s->load.names);
	s->hist = mem_alloc((t->n_types + 1) * sizeof(*s->hist));
	for (uint32_t i = 0; i < t->n_types; i++)
		hist_make(&s->hist[i], &s->cells,
			  &(struct hist_opts){ .type = i, .site_wanted = s->site_wanted }, NULL, 0);
	s->ready = true;
	if (s->load.note)
		command_note("%s: %s", c->file[n], s->load.note);
	return 0;
}

static void free_side(struct side *s)
{
	if (s->ready) {
		for (size_t i = 0; i < s->load.source->trace->n_types; i++)
			hist_free(&s->hist[i]);
		free(s->hist);
		free(s->site_wanted);
		cells_free(&s->cells);
	}
	load_free(&s->load);
}

/* Without what behind a colon says whose code was counted: "cycles:u". */
static bool same_name(const char *a, const char *b)
{
	size_t n = strcspn(a, ":");

	return n == strcspn(b, ":") && memcmp(a, b, n) == 0;
}

/* Are all its events about the same samples? */
static bool is_single(const struct trace *t)
{
	return t->n_types == 1 || (t->own && t->own->several);
}

/*
 * The other recording's events are the same when they count the same. Texts only have names for
 * them; the only event of one may be compared with the only one of another, in shares.
 */
static const struct hist *same_event(const struct side *base, const struct side *s,
				     const struct event_type *of)
{
	const struct trace *t = s->load.source->trace, *from = base->load.source->trace;

	for (size_t i = 0; (t->own || from->own) && i < t->n_types; i++)
		if (strcmp(t->types[i].name, of->name) == 0 ||
		    (!of->system && same_name(t->types[i].name, of->name)))
			return &s->hist[i];
	if ((t->own || from->own) && is_single(t) && is_single(from))
		return &s->hist[t->own ? t->own->first_type : 0];
	if (t->own || from->own)
		return NULL;

	for (size_t i = 0; i < t->n_types; i++) {
		const struct event_type *o = &t->types[i];

		if (of->system ? o->system && strcmp(o->name, of->name) == 0
			       : o->pmu == of->pmu && o->code == of->code)
			return &s->hist[i];
	}
	return NULL;
}

static void compare_event(struct comparing *c, uint32_t type)
{
	const struct event_type *t = &c->side[0].load.source->trace->types[type];
	const struct hist *hists[MAX_FILES];
	struct diff d;

	hists[0] = &c->side[0].hist[type];
	for (unsigned i = 1; i < c->n; i++)
		hists[i] = same_event(&c->side[0], &c->side[i], t);
	diff_make(&d, hists, c->n, &c->a->diff);
	if (c->a->json) {
		json_object(&c->json, NULL);
		json_str(&c->json, "event", t->name);
		diff_json(&c->json, &c->a->style, &d);
		json_end(&c->json);
	} else {
		if (!c->a->style.quiet)
			printf("%s# Event '%s'\n#\n", type ? "\n" : "", t->name);
		diff_text(stdout, &c->a->style, &d);
	}
	diff_free(&d);
}

/* A filter for one thing makes its column say nothing, unless it is the only one. */
static void hide_columns(struct comparing *c)
{
	const struct pick *p = &c->side[0].load.pick;

	if (p->one_comm)
		columns_hide(&c->columns, KEY_COMM);
	if (p->one_dso)
		columns_hide(&c->columns, KEY_DSO);
	if (p->one_symbol)
		columns_hide(&c->columns, KEY_SYM);
	columns_show_some(&c->columns);
}

/* What a reader must know of the numbers above. */
static void print_end(const struct comparing *c)
{
	for (unsigned i = 0; i < c->n; i++) {
		const struct trace *t = c->side[i].load.source->trace;
		uint64_t lost = trace_lost(&t->losses);
		char n[64], share[2][16];

		printf("%s# %s: %s, lost: %llu (%s); addresses without a name: %llu (%s)\n",
		       i ? "" : "\n#\n", c->file[i],
		       str_count(t->n_samples, "sample", n, sizeof(n)), (unsigned long long)lost,
		       str_percent((double)lost, (double)(t->n_samples + lost), share[0],
				   sizeof(share[0])),
		       (unsigned long long)c->side[i].load.names.unresolved,
		       str_percent((double)c->side[i].load.names.unresolved, (double)t->n_samples,
				   share[1], sizeof(share[1])));
		if (t->losses.note[0])
			printf("# %s\n", t->losses.note);
	}
	fputs("#\n", stdout);
}

static void diff_print_all(struct comparing *c)
{
	const struct trace *t = c->side[0].load.source->trace;

	if (c->a->json) {
		c->json = json_to(stdout, JSON_PRETTY);
		json_object(&c->json, NULL);
		json_array(&c->json, "events");
	}
	for (uint32_t i = 0; i < t->n_types; i++)
		if (c->side[0].load.profile.total[i].all_count || t->n_types == 1)
			compare_event(c, i);
	if (c->a->json) {
		json_end(&c->json);
		json_end(&c->json);
		putchar('\n');
	} else if (!c->a->style.quiet && !c->a->style.sep) {
		print_end(c);
	}
}

/* Rows of two recordings are one when their words are the same; sums never are. */
static int diff_check(struct comparing *c, int argc, char **argv, struct err *e)
{
	struct args *a = c->a;

	if (argc > MAX_FILES)
		return err_set(e, E2BIG, "more than %d files", MAX_FILES);
	c->file[0] = "perf.data.old";
	c->file[1] = argc == 1 ? argv[0] : "perf.data";
	c->n = 2;
	if (argc > 1)
		for (c->n = 0; c->n < (unsigned)argc; c->n++)
			c->file[c->n] = argv[c->n];
	if (a->order < 0 || (unsigned)a->order >= c->n)
		return err_set(e, EINVAL, "-o %d: there are files 0 to %u", a->order, c->n - 1);
	if (a->percentage && strcmp(a->percentage, "relative") != 0 &&
	    strcmp(a->percentage, "absolute") != 0)
		return err_set(e, EINVAL, "--percentage %s: relative or absolute", a->percentage);
	a->diff.order = (unsigned)a->order;
	a->diff.relative = a->percentage && strcmp(a->percentage, "relative") == 0;
	a->load.quiet = a->style.quiet;
	a->style.list_files = c->n > 2 || a->verbose;
	a->style.addresses = a->verbose > 0;
	a->style.files = c->file;
	return 0;
}

static int diff_run(void *p, int argc, char **argv, struct err *e)
{
	struct comparing c = { .a = p };
	int r = diff_check(&c, argc, argv, e);

	if (r < 0)
		return r;
	c.side = mem_alloc(c.n * sizeof(*c.side));
	for (unsigned i = 0; i < c.n && r == 0; i++)
		r = open_side(&c, i, e);
	if (r == 0)
		r = choose_columns(&c, e);
	for (unsigned i = 0; i < c.n && r == 0; i++)
		r = load_side(&c, i, e);
	if (r == 0) {
		hide_columns(&c);
		diff_print_all(&c);
	}
	for (unsigned i = 0; i < c.n; i++)
		free_side(&c.side[i]);
	free(c.side);
	return r;
}

static const struct args defaults = { .diff = { .compute = DIFF_DELTA_ABS }, .order = 1 };

static const struct example examples[] = {
	{ "diff", "perf.data against perf.data.old" },
	{ "diff before.data after.data", "two recordings" },
	{ "diff -c ratio -s sym a.data b.data c.data", "ratios of two against the first" },
	{ NULL, NULL },
};

const struct command cmd_diff = {
	.name = "diff",
	.group = "Profile",
	.summary = "show what changed between recordings",
	.usage = "[OPTIONS] [BASE [FILE...]]",
	.about = "Rows are matched by the names of files and functions. Without files it compares "
		 "perf.data with perf.data.old, with one that file. Shares are of all samples of "
		 "their file, also with -b, which only leaves rows out: perf makes the base's "
		 "shares, and no others, shares of the rows that are left.",
	.examples = examples,
	.opts = opts,
	.args_size = sizeof(struct args),
	.defaults = &defaults,
	.run = diff_run,
};
