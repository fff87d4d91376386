/* SPDX-License-Identifier: MIT */
/* kymo export: a recording as a file for other programs. */
#include "view/export/export.h"

#include <inttypes.h>
#include <string.h>

#include "base/guard.h"
#include "base/str.h"
#include "calc/slices/switches.h"
#include "cmd/command.h"
#include "cmd/picture/picture.h"
#include "cmd/share/input.h"
#include "cmd/share/load.h"
#include "cmd/share/open.h"

struct args {
	struct load_opts load;
	const char *to, *output, *events;
	int max_stack;
	bool no_inlines, force;
};

#define FORMATS "folded|pprof|speedscope|firefox|perfetto|chrome|callgrind|json|csv"

static const struct opt opts[] = {
	OPT_STR_C(0, "to", "FORMAT", to,
		  "folded, pprof, speedscope, firefox, perfetto, chrome, callgrind, json or csv "
		  "(default: what -o's name says)",
		  FORMATS),
	OPT_STR_C('i', "input", "FILE", load.input, "read FILE (default: perf.data; -: stdin)",
		  "@files"),
	OPT_STR_C('o', "output", "FILE", output,
		  "write FILE (default: the recording's name with the format's; -: stdout)",
		  "@files"),
	OPT_FLAG('q', "quiet", load.quiet, "say nothing about what was written"),
	OPT_HEAD("Which events"),
	OPT_STR('e', "event", "LIST", events, "only these of the recording; sched:* is a pattern"),
	OPT_STR('c', "comms", "LIST", load.pick.comms, "of these commands; @FILE reads a list"),
	OPT_STR(0, "comm", "LIST", load.pick.comms, "of these commands"),
	OPT_STR(0, "pid", "LIST", load.pick.pids, "of these processes"),
	OPT_STR(0, "tid", "LIST", load.pick.tids, "of these threads"),
	OPT_STR('C', "cpu", "LIST", load.pick.cpus, "on these CPUs, as 0-3,5"),
	OPT_STR(0, "time", "RANGES", load.pick.time,
		"START,STOP in seconds, 10%/2, 10%-20%; several by comma"),
	OPT_STR('d', "dsos", "LIST", load.pick.dsos, "in these files"),
	OPT_STR('S', "symbols", "LIST", load.pick.symbols, "in these functions"),
	OPT_HEAD("Stacks and symbols"),
	OPT_INT(0, "max-stack", "N", max_stack, "keep no more than N frames of a stack"),
	OPT_FLAG(0, "no-inline", no_inlines, "leave inlined functions out"),
	OPT_STR_C(0, "symfs", "DIR", load.symfs, "look for files below DIR", "@dirs"),
	OPT_STR_C('k', "vmlinux", "FILE", load.vmlinux, "kernel symbols from an ELF file",
		  "@files"),
	OPT_STR_C(0, "kallsyms", "FILE", load.kallsyms, "kernel symbols from FILE", "@files"),
	OPT_FLAG(0, "no-demangle", load.raw_names, "C++ and Rust names as they stand in the file"),
	OPT_FLAG('f', "force", force, "read files of other users (kymo always does)"),
	OPT_END,
};

/* --- which format, which file --- */

static int unknown_format(const char *name, struct err *e)
{
	struct str_nearest near = { .typed = name };
	char list[80];

	for (const struct export_format *f = export_formats; f->name; f++)
		str_nearest_add(&near, f->name);
	err_set(e, EINVAL, "there is no format '%s'", name);
	if (str_nearest_list(&near, list, sizeof(list)))
		return err_hint(e, "did you mean %s?", list);
	return err_hint(e, "--to takes %s", FORMATS);
}

static int find_format(const struct args *a, const struct export_format **ret, struct err *e)
{
	if (a->to) {
		*ret = export_find(a->to);
		return *ret ? 0 : unknown_format(a->to, e);
	}
	for (const struct export_format *f = export_formats; a->output && f->name; f++)
		if (str_ends(a->output, f->suffix)) {
			*ret = f;
			return 0;
		}
	err_set(e, EINVAL,
		a->output ? "-o %s: the name does not say which format to write"
			  : "which format?%s",
		a->output ? a->output : "");
	return err_hint(e, "--to takes %s", FORMATS);
}

/* "dir/perf.data" becomes "perf.pb.gz", here. */
static char *default_output(const char *input, const struct export_format *f)
{
	const char *slash = strrchr(input, '/');
	AUTO_FREE char *base = mem_strdup(slash && slash[1] ? slash + 1 : input);

	if (strcmp(input, "-") == 0)
		return mem_printf("perf%s", f->suffix);
	/* "perf.data", "trace.dat" */
	for (unsigned i = 0; i < 2; i++) {
		const char *end = i ? ".dat" : ".data";

		if (strlen(base) > strlen(end) && str_ends(base, end))
			base[strlen(base) - strlen(end)] = '\0';
	}
	return mem_printf("%s%s", base, f->suffix);
}

/* --- the work --- */

struct work {
	struct load load;
	struct switches switches;
};

static bool wants_thread(void *ctx, const struct event *ev, int32_t tid)
{
	const struct work *w = ctx;
	struct event as = *ev;

	as.tid = tid;
	as.pid = tasks_pid_at(w->load.source->trace->tasks, tid, ev->time);
	return tid >= 0 && load_wants(&w->load, &as) == PROFILE_COUNT;
}

/*
 * A switch belongs to him who leaves, and to him who comes. The event itself may name
 * neither: a thread that ends has no number any more when it leaves.
 */
static bool wants(void *ctx, const struct event *ev)
{
	struct work *w = ctx;
	struct switch_seen s;
	bool is_switch = switches_look(&w->switches, ev, &s); /* which remembers who runs */

	return load_wants(&w->load, ev) == PROFILE_COUNT ||
	       (is_switch && (wants_thread(w, ev, s.prev) || wants_thread(w, ev, s.next)));
}

static void progress(void *ctx, size_t done, size_t all)
{
	progress_at(&((struct work *)ctx)->load.progress, done, all);
}

static const char *cgroup(void *ctx, uint64_t id)
{
	return load_cgroup(&((struct work *)ctx)->load, id);
}

/* --dsos and --symbols: what was counted elsewhere is forgotten. */
static void keep_wanted(struct load *l)
{
	AUTO_FREE bool *ok = pick_sites(&l->pick, &l->names);
	struct profile *p = &l->profile;
	size_t n = 0;

	if (!ok)
		return;
	for (size_t i = 0; i < p->entries.n; i++) {
		const struct profile_entry *en = &p->entries.data[i];

		if (!ok[l->names.entry_site[i]]) {
			p->total[en->type].count -= en->count;
			p->total[en->type].weight -= en->weight;
			continue;
		}
		l->names.entry_site[n] = l->names.entry_site[i];
		p->entries.data[n++] = *en;
	}
	p->entries.n = n;
}

static int count_and_name(struct work *w, const struct args *a, const struct export_format *f,
			  struct err *e)
{
	struct profile_opts po = { .by = f->by,
				   .max_stack = a->max_stack > 0 ? (unsigned)a->max_stack : 0 };
	struct names_opts no = { .lines = true,
				 .inlines = f->inlines && !a->no_inlines,
				 .by_file = f->by_file };
	int r;

	if (!f->by)
		return load_symbols(&w->load, e);
	r = load_count(&w->load, &po, e);
	if (r == 0)
		r = load_name(&w->load, &no, e);
	if (r == 0)
		keep_wanted(&w->load);
	return r;
}

static int write_all(struct work *w, const struct export_format *f, const char *input,
		     const struct picture_output *to, struct export_job *x, struct err *e)
{
	struct out out;
	int r;

	out_init(&out, guard_fileno(to->f));
	*x = (struct export_job){ .source = w->load.source,
				  .profile = &w->load.profile,
				  .names = &w->load.names,
				  .symbols = w->load.symbols,
				  .out = &out,
				  .input = strcmp(input, "-") == 0 ? "standard input" : input,
				  .wants = wants,
				  .wants_thread = wants_thread,
				  .progress = progress,
				  .cgroup = cgroup,
				  .ctx = w };
	switches_init(&w->switches, w->load.source->trace);
	if (f->by)
		export_prepare(x);
	progress_begin(&w->load.progress, "writing", w->load.opts.quiet);
	r = f->write(x, e);
	out_flush(&out);
	progress_end(&w->load.progress);
	if (r >= 0 && out.error && out.error != EPIPE)
		r = err_cannot_write(e, out.error, to->path);
	export_free(x);
	switches_free(&w->switches);
	out_free(&out);
	return r;
}

/* What is missing looks like gaps. */
static void say_sampled(const struct trace *t)
{
	for (size_t i = 0; i < t->n_types; i++) {
		if (type_is_thinned(&t->types[i])) {
			command_note("%s was sampled: lanes and slices have gaps; record it "
				     "without -F and -c",
				     t->types[i].name);
			return;
		}
	}
}

static bool has_other_events(const struct trace *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_types; i++)
		n += !type_is_dummy(&t->types[i]);
	return n > 1;
}

static void export_say_written(const struct work *w, const struct export_job *x,
			       const struct export_format *f, const struct args *a,
			       const char *path)
{
	char n[32], size[32];
	struct stat st;

	if (w->load.opts.quiet)
		return;
	if (w->load.note && f->by)
		command_note("%s", w->load.note);
	if (x->only && !a->events && has_other_events(w->load.source->trace))
		command_note("only stacks of the event %s were written; -e names another", x->only);
	if (f->by & PROFILE_BY_TIME)
		say_sampled(w->load.source->trace);
	if (strcmp(path, "-") != 0 && stat(path, &st) == 0)
		command_note("wrote %s: %s, %s %s", path,
			     str_bytes((uint64_t)st.st_size, size, sizeof(size)),
			     str_thousands(x->written, n, sizeof(n)),
			     x->written == 1 ? "event" : "events");
	input_warn(w->load.source);
}

static int export_to(const struct args *a, const struct export_format *f, const char *input,
		     const char *path, struct err *e)
{
	struct work w = { 0 };
	struct picture_output out = { 0 };
	struct export_job x = { 0 };
	int r = load_open(&w.load, &a->load, e), closed;

	if (r == 0 && f->timed && w.load.source->trace->own && !w.load.source->trace->last_time) {
		err_set(e, ENODATA, "%s does not say when anything was, and %s shows times",
			source_name(input), f->name);
		r = err_hint(e, "--to folded, pprof, speedscope, firefox and callgrind need none; "
				"kymo record makes a recording, which has them");
	}
	if (r == 0 && a->events)
		r = load_pick_types(&w.load, a->events, e);
	if (r == 0)
		r = count_and_name(&w, a, f, e);
	if (r == 0)
		r = picture_open(&out, path, e);
	if (r == 0) {
		r = write_all(&w, f, input, &out, &x, e);
		closed = picture_close(&out, r == 0, e);
		r = r == 0 ? closed : r;
	}
	if (r == 0)
		export_say_written(&w, &x, f, a, path);
	load_free(&w.load);
	return r;
}

static int export_run(void *args, int argc, char **argv, struct err *e)
{
	struct args *a = args;
	const struct export_format *f = NULL;
	AUTO_FREE char *made = NULL;
	const char *path;
	int r;

	if (argc > (a->load.input ? 0 : 1))
		return err_set(e, EINVAL, "one file at a time: '%s' is too many", argv[argc - 1]);
	if (argc > 0)
		a->load.input = argv[0];
	a->load.input = input_path(a->load.input);
	r = find_format(a, &f, e);
	if (r < 0)
		return r;
	made = default_output(a->load.input, f);
	path = a->output ? a->output : made;
	if (f->binary && strcmp(path, "-") == 0 && isatty(STDOUT_FILENO)) {
		err_set(e, EINVAL, "%s is no text, and stdout is a terminal", f->name);
		return err_hint(e, "-o %s, or a pipe", made);
	}
	return export_to(a, f, a->load.input, path, e);
}

const struct command cmd_export = {
	.name = "export",
	.group = "Pictures",
	.summary = "write a recording for other programs",
	.usage = "--to FORMAT [OPTIONS] [FILE]",
	.about = "Turns a recording into a file that pprof, speedscope, the Firefox Profiler, "
		 "Perfetto, Chrome, kcachegrind, flamegraph.pl, a spreadsheet or a script of yours "
		 "reads.",
	.examples = EXAMPLES(
		{ "export --to pprof", "perf.data as perf.pb.gz, for go tool pprof" },
		{ "export --to perfetto -i sched.data",
		  "CPU lanes and thread states, for ui.perfetto.dev" },
		{ "export --to firefox --pid 1234 -o one.json",
		  "one process, for profiler.firefox.com" },
		{ "export --to csv -o - --time 10%-20%", "the samples of a tenth as rows" }),
	COMMAND_USUAL(export),
};
