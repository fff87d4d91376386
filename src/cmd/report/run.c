/* SPDX-License-Identifier: MIT */
/* From a recording to what the rows of a report are made of, or to the terminal interface. */
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cmd/report/report.h"
#include "view/tui/tui.h"
#include "cmd/share/input.h"
#include "cmd/share/open.h"
#include "store/perfdata/perfdata.h"

#define DEFAULT_PARENT "^sys_|^do_page_fault"
#define DEFAULT_QUANTUM 100000000u /* ns */

static int compile(regex_t *re, const char *text, bool *has, const char *option, struct err *e)
{
	int code = regcomp(re, text, REG_EXTENDED | REG_NOSUB);
	char why[128];

	*has = code == 0;
	if (code == 0)
		return 0;
	regerror(code, re, why, sizeof(why));
	return err_set(e, EINVAL, "%s %s: %s", option, text, why);
}

static bool is_parent(void *ctx, const char *function)
{
	const struct report *r = ctx;

	return regexec(&r->parent, function, 0, NULL, 0) == 0;
}

static bool is_callee_root(void *ctx, const char *function)
{
	const struct report *r = ctx;

	return regexec(&r->callees, function, 0, NULL, 0) == 0;
}

/* --- what kind of report it is --- */

static bool has_branches(const struct load *l)
{
	for (size_t i = 0; i < l->source->trace->n_types; i++) {
		unsigned has = l->source->trace->types[i].has;

		if ((has & TYPE_HAS_BRANCHES) && !(has & TYPE_HAS_BRANCH_STACK))
			return true;
	}
	return false;
}

static int choose_mode(struct report *r, struct err *e)
{
	const struct report_args *a = r->a;
	bool branches = has_branches(&r->load);

	if (a->graph.branch_history) {
		err_set(e, EOPNOTSUPP, "--branch-history: branches are not put into call graphs");
		return err_hint(e, branches ? "-b sums the branches of this recording"
					    : "this recording has no branch records anyway");
	}
	if (a->branch_given && a->branch && !branches) {
		err_set(e, ENODATA, "-b: the recording has no branch records");
		return err_hint(e, "record with -b, on a CPU that has them");
	}
	if (a->memory && !load_has(&r->load, TYPE_HAS_DATA_SRC)) {
		err_set(e, ENODATA, "--mem-mode: the recording has no memory accesses");
		return err_hint(
			e,
			"kymo record -d keeps them, with an event that knows (mem-loads, ibs_op)");
	}
	if (a->memory)
		r->mode = KEY_MODE_MEMORY;
	else if (branches && (!a->branch_given || a->branch))
		r->mode = KEY_MODE_BRANCH;
	return 0;
}

/* Children and graphs need chains; a graph that was asked for must be there. */
static int choose_graphs(struct report *r, struct err *e)
{
	const struct report_args *a = r->a;

	r->chains = load_has(&r->load, EVENT_HAVE_CHAIN);
	if (a->graph_given && !a->graph.no_graph && !r->chains) {
		err_set(e, ENODATA, "-g: the recording has no call chains");
		return err_hint(e, "record with -g");
	}
	r->children = a->children && r->chains && !a->hierarchy && r->mode == KEY_MODE_CODE;
	r->graphs = r->chains && !a->graph.no_graph && r->mode != KEY_MODE_BRANCH;
	/* what -g says; with children from the outside in; -G always so */
	r->caller = a->inverted || (a->graph.order_given ? a->graph.caller : a->children);
	return 0;
}

static int check_group(const struct report *r, struct err *e)
{
	const struct report_args *a = r->a;
	const struct trace *t = r->load.source->trace;

	if (!a->group_sort || report_has_groups(t) || (a->group_given && t->n_types > 1))
		return 0;
	err_set(e, EINVAL, "--group-sort-idx %d: the recording has no group of events",
		a->group_sort);
	return err_hint(e, t->n_types > 1
				   ? "--group puts its events side by side"
				   : "it has one event; record with -e '{cycles,instructions}'");
}

struct columns_opts report_columns_opts(const struct report *r)
{
	struct columns_opts o = r->a->columns;

	o.mode = r->mode;
	o.children = r->children;
	o.parent = r->a->parent != NULL;
	o.trace = r->load.source->trace;
	return o;
}

/* Texts may not say what a column is about: it would be one of nothing. */
static int check_has(const struct report *r, struct err *e)
{
	const struct trace *t = r->load.source->trace;
	unsigned has = 0;

	for (size_t i = 0; i < t->n_types; i++)
		has |= t->types[i].has;
	for (unsigned i = 0; t->own && i < r->columns.n; i++) {
		const struct key_info *k = &key_infos[r->columns.col[i].key];

		if (!k->have || (has & k->have))
			continue;
		err_set(e, ENODATA, "--sort %s: %s has no %s", k->name,
			source_name(input_path(r->a->load.input)), k->what);
		return err_hint(e,
				"sort by what it has: symbol%s; kymo record makes a recording, "
				"which has all of them",
				t->own->modules ? ", dso" : "");
	}
	return 0;
}

static int make_columns(struct report *r, struct err *e)
{
	const struct report_args *a = r->a;
	struct columns_opts o = report_columns_opts(r);
	int code;

	if (a->hierarchy && a->columns.fields)
		return err_set(e, EINVAL, "--hierarchy and --fields do not go together");
	code = columns_make(&r->columns, &o, e);
	if (code < 0)
		return code;
	code = check_has(r, e);
	if (code < 0)
		return code;
	if (columns_have(&r->columns, KEY_PARENT) && !r->chains) {
		err_set(e, ENODATA, "--sort parent: the recording has no call chains");
		return err_hint(e, "record with -g");
	}
	if (columns_have(&r->columns, KEY_PARENT) || a->exclude_other)
		code = compile(&r->parent, a->parent ? a->parent : DEFAULT_PARENT, &r->has_parent,
			       "--parent", e);
	if (code == 0 && a->ignore_callees)
		code = compile(&r->callees, a->ignore_callees, &r->has_callees, "--ignore-callees",
			       e);
	return code;
}

static void hide(struct report *r, enum key key, const char *one, FILE *f)
{
	if (one && columns_hide(&r->columns, key) && !r->a->quiet)
		fprintf(f, "# %s: %s\n", key_infos[key].name, one);
}

/* A filter for one thing makes its column say nothing. */
static void hide_columns(struct report *r, FILE *f)
{
	const struct pick *p = &r->load.pick;

	hide(r, KEY_COMM, p->one_comm, f);
	if (!r->children) { /* callers are elsewhere */
		hide(r, KEY_DSO, p->one_dso, f);
		hide(r, KEY_SYM, p->one_symbol, f);
	}
	columns_show_some(&r->columns);
	/* children that nobody can have counted are not worth a column that was not asked for */
	if (r->a->children && !r->chains && !r->a->columns.fields && !r->a->hierarchy &&
	    r->mode == KEY_MODE_CODE)
		columns_hide(&r->columns, KEY_CHILDREN);
}

/* --- counting and naming --- */

/* The other address of a branch or an access. */
static void other_address(void *ctx, const struct profile_entry *e, uint64_t *addr, uint8_t *mode)
{
	const struct report *r = ctx;
	const struct profile_extra *x =
		e->extra == PROFILE_NO_EXTRA ? NULL : &r->named->extras.data[e->extra];

	for (unsigned i = 0; x && i < r->columns.n && !addr[0]; i++)
		if (key_infos[r->columns.col[i].key].other)
			addr[0] = extra_word(r->named_plan, x, r->columns.col[i].key);
	mode[0] = (int64_t)addr[0] < 0 ? EVENT_MODE_KERNEL : EVENT_MODE_USER;
}

void report_now_named(struct report *r, const struct profile *p, const struct extra_plan *plan)
{
	r->named = p;
	r->named_plan = plan;
}

/* Does anything show where a process had its code? */
static bool shows_addresses(const struct report *r)
{
	return r->mode != KEY_MODE_CODE || r->load.pick.by_symbol ||
	       columns_have(&r->columns, KEY_ADDR) || columns_have(&r->columns, KEY_DSO_SIZE) ||
	       (r->graphs && r->a->graph.opts.key != GRAPH_BY_FUNCTION);
}

struct names_opts report_names_opts(struct report *r)
{
	const struct report_args *a = r->a;
	struct names_opts no = { .lines = columns_have_lines(&r->columns) ||
					  (r->graphs && a->graph.opts.key != GRAPH_BY_FUNCTION),
				 .inlines = a->inlines_given ? a->inlines : r->load.unwound,
				 .hide_unresolved = a->hide_unresolved,
				 .by_file = !shows_addresses(r),
				 .ignore_callees = r->has_callees ? is_callee_root : NULL,
				 .ctx = r };

	if (r->mode != KEY_MODE_CODE) {
		no.more = other_address;
		no.n_more = 1;
	}
	return no;
}

/* Frames of a stack that are looked at; 0: all. */
static unsigned max_stack(const struct report_args *a)
{
	return a->max_stack > 0 && a->max_stack != REPORT_ALL_FRAMES ? (unsigned)a->max_stack : 0;
}

/* As perf has it, no more than 0 frames are none: rows have neither graphs nor what they called. */
bool report_has_no_frames(const struct report_args *a)
{
	return a->max_stack <= 0;
}

/*
 * Of a whole machine, for somebody to read, unless it was asked for one way or another. Who calls
 * it perf has perf's rows.
 */
static bool leaves_idle_out(const struct report *r)
{
	const struct report_args *a = r->a;
	const struct pick_opts *p = &a->load.pick;
	const struct trace *t = r->load.source->trace;
	bool machine = false;

	for (size_t i = 0; i < t->n_types; i++) /* a command's own begin with its exec */
		machine |= !t->types[i].from_exec;
	return machine && !a->idle && !a->json && !a->csv && !a->sep && !a->quiet &&
	       r->mode == KEY_MODE_CODE && !p->comms && !p->pids && !p->tids && !p->symbols &&
	       !p->dsos && !a->symbol_part && !command_is_perf();
}

struct profile_opts report_profile_opts(const struct report *r, unsigned by)
{
	return (struct profile_opts){ .by = by,
				      .max_stack = max_stack(r->a),
				      .outermost = r->caller && max_stack(r->a),
				      .time_quantum = r->quantum,
				      .unit = r->mode == KEY_MODE_BRANCH   ? PROFILE_BRANCHES
					      : r->mode == KEY_MODE_MEMORY ? PROFILE_ACCESSES
									   : PROFILE_SAMPLES };
}

static int count_and_name(struct report *r, struct err *e)
{
	const struct report_args *a = r->a;
	struct profile_opts po = report_profile_opts(
		r, cells_needs(&r->columns) | (r->children || r->graphs ? PROFILE_BY_CHAIN : 0));
	struct names_opts no = report_names_opts(r);
	int code;

	po.by_file = !shows_addresses(r);
	if (a->exclude_other || r->has_callees)
		po.by |= r->chains ? PROFILE_BY_CHAIN : 0;
	if (r->load.pick.by_dso || r->load.pick.by_symbol || a->hide_unresolved || a->symbol_part)
		po.by |= PROFILE_BY_CODE;
	if (r->without_idle)
		po.by |= PROFILE_BY_CODE;
	if (report_has_no_frames(a))
		po.by &= ~PROFILE_BY_CHAIN;
	report_now_named(r, &r->load.profile, &r->load.plan);
	load_plan(&r->load, &r->columns, &r->load.plan);
	code = load_count(&r->load, &po, e);
	if (code == 0)
		code = load_name(&r->load, &no, e);
	if (code == 0 && r->without_idle)
		idle_leave_out(&r->load.profile, &r->load.names, &r->idle);
	if (code == 0) { /* all that is still to be asked of addresses */
		r->end = report_end_of(&r->load.names);
		profile_drop_chains(&r->load.profile);
		names_drop_samples(&r->load.names);
	}
	return code;
}

struct cells_opts report_cells_opts(struct report *r)
{
	const struct report_args *a = r->a;

	return (struct cells_opts){ .columns = &r->columns,
				    .plan = &r->load.plan,
				    .env = { load_cgroup, load_socket, &r->load },
				    .caller = r->caller,
				    .long_names = a->verbose > 0,
				    .full_lines = a->full_lines,
				    .ns = a->ns,
				    .parent = r->has_parent ? is_parent : NULL,
				    .ctx = r };
}

static void show_header(const struct report_args *a, const struct source *s)
{
	AUTO_STRBUF b = { 0 };

	if (strcmp(s->format, "perf.data") != 0)
		return;
	perfdata_header_text(s, a->info, &b);
	fputs(strbuf_str(&b), stdout);
}

static int parse_quantum(const char *text, uint64_t *ret, struct err *e)
{
	*ret = DEFAULT_QUANTUM;
	if (text && (!str_duration(text, 1, ret) || !*ret))
		return err_set(e, EINVAL, "--time-quantum %s: a time as 10ms", text);
	return 0;
}

static int check_args(const struct report_args *a, struct err *e)
{
	if (a->percentage && strcmp(a->percentage, "relative") != 0 &&
	    strcmp(a->percentage, "absolute") != 0)
		return err_set(e, EINVAL, "--percentage %s: relative or absolute", a->percentage);
	if (a->sep && (!*a->sep || strcmp(a->sep, ".") == 0))
		return err_set(e, EINVAL, "-t needs a separator other than '.'");
	if (codestyle_check(&a->code, e) < 0)
		return -e->code;
	if (a->csv && !*a->csv)
		return err_set(e, EINVAL, "-x needs a separator");
	if (a->stats && (a->tasks || a->mmaps))
		return err_set(e, EINVAL, "--stats does not go with --tasks or --mmaps");
	return 0;
}

/* --- on a terminal --- */

static bool wants_tui(const struct report *r)
{
	const struct report_args *a = r->a;

	return !a->stdio && !a->sep && !a->csv && !a->json && !a->header && !a->info && !a->quiet &&
	       tui_usable(NULL) == 0;
}

static int report_samples(struct report *r, struct err *e)
{
	const struct report_args *a = r->a;
	int code = choose_mode(r, e);

	if (code == 0)
		code = choose_graphs(r, e);
	if (code == 0)
		code = check_group(r, e);
	if (code == 0)
		code = parse_quantum(a->time_quantum, &r->quantum, e);
	if (code == 0)
		code = make_columns(r, e);
	if (code < 0)
		return code;
	r->load.socket_wanted = a->socket;
	report_find_leaders(r);
	r->without_idle = leaves_idle_out(r);
	if (wants_tui(r))
		return report_tui_run(r, e);
	if (!a->quiet && !a->json && !a->csv && !a->header)
		fputs("# To display the perf.data header info, please use --header/--header-only "
		      "options.\n#\n",
		      stdout);
	hide_columns(r, a->json || a->csv ? stderr : stdout);
	code = count_and_name(r, e);
	if (code == 0) {
		struct cells_opts o = report_cells_opts(r);

		cells_make(&r->cells, &r->load.names, &o);
		r->site_wanted = pick_sites(&r->load.pick, &r->load.names);
		code = report_show(r, e);
		free(r->site_wanted);
		cells_free(&r->cells);
	}
	return code;
}

int report_run(struct report_args *a, struct err *e)
{
	static char pieces[1 << 16]; /* without one of ours the C library takes 4 KiB */
	struct report r = { .a = a };
	int code = check_args(a, e);

	a->load.symfs = input_symfs(a->load.symfs);
	if (!isatty(STDOUT_FILENO)) /* reports can be long */
		setvbuf(stdout, pieces, _IOFBF, sizeof(pieces));
	if (code == 0)
		code = load_open(&r.load, &a->load, e);
	if (code == 0) {
		if ((a->header || a->header_only || a->info) && !a->quiet)
			show_header(a, r.load.source);
		if (a->header_only)
			code = 0;
		else if (a->stats)
			code = report_stats(&r.load, a, e);
		else if (a->tasks || a->mmaps)
			code = report_tasks(&r.load, a, e);
		else if (a->dump)
			code = report_dump(&r.load, a, e);
		else
			code = report_samples(&r, e);
		if (code == 0 && !a->quiet && (a->header_only || a->stats || a->tasks || a->mmaps))
			input_warn(r.load.source);
	}
	if (r.has_parent)
		regfree(&r.parent);
	if (r.has_callees)
		regfree(&r.callees);
	free(r.leader);
	load_free(&r.load);
	return code;
}
