/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/out.h"
#include "base/output.h"
#include "base/str.h"
#include "base/vec.h"
#include "calc/read/gate.h"
#include "calc/read/pick.h"
#include "calc/read/unwound.h"
#include "cmd/command.h"
#include "cmd/share/accept.h"
#include "cmd/share/input.h"
#include "cmd/share/open.h"
#include "store/perfdata/perfdata.h"
#include "view/script/script.h"

#define MAX_FIELD_ARGS 32
#define DEFAULT_STACK 127

struct args {
	struct vec_strs inputs;
	const char *input, *kallsyms, *vmlinux, *symfs;
	struct pick_opts pick;
	struct gate_opts gate;
	struct script_opts show;
	uint64_t addr_range;
	const char *fields[MAX_FIELD_ARGS];
	int n_fields;
	int max_stack, verbose;
	uint64_t max_events;
	bool force, raw, header, header_only, info, hide_chain, rounds, apart, demangle,
		no_debuginfod;
};

static int add_fields(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct args *a = args;

	if (a->n_fields == MAX_FIELD_ARGS)
		return err_set(e, EINVAL, "too many -F options");
	a->fields[a->n_fields++] = value;
	return 0;
}

static int on_inline(const struct opt *o, const char *value, bool unset, void *p, struct err *e)
{
	struct args *a = p;

	a->show.inlines = a->show.inlines_all = !unset;
	return 0;
}

static const struct opt opts[] = {
	OPT_STRS_C('i', "input", "FILE", inputs,
		   "read FILE (default: perf.data; -: stdin); several are merged by time",
		   "@files"),
	OPT_FN_C('F', "fields", "LIST", OPT_ARG_REQUIRED, add_fields,
		 "fields to show; +NAME, -NAME change the default; 'help' lists them", "@fields"),
	OPT_FLAG('D', "dump-raw-trace", raw,
		 "every record with its bytes, as it stands in the file"),
	OPT_FLAG(0, "dump-unsorted-raw-trace", show.unsorted, "the same, in the order of the file"),
	OPT_FLAG('j', "json", show.json, "one JSON object a line"),
	OPT_FLAG(0, "header", header, "show the header first"),
	OPT_FLAG(0, "header-only", header_only, "show only the header"),
	OPT_FLAG('I', "show-info", info, "the whole header, with topology and caches"),
	OPT_HEAD("Which events"),
	OPT_STR(0, "time", "RANGES", pick.time,
		"START,STOP in seconds, 10%/2, 10%-20%; several by comma"),
	OPT_STR(0, "pid", "LIST", pick.pids, "only these processes"),
	OPT_STR(0, "tid", "LIST", pick.tids, "only these threads"),
	OPT_STR('c', "comms", "LIST", pick.comms, "only these commands"),
	OPT_STR(0, "comm", "LIST", pick.comms, "only these commands"),
	OPT_STR('C', "cpu", "LIST", pick.cpus, "only these CPUs, as 0-3,5"),
	OPT_STR('S', "symbols", "LIST", pick.symbols, "only samples in these functions"),
	OPT_STR(0, "dsos", "LIST", pick.dsos, "only samples in these files"),
	OPT_U64(0, "addr-range", "N", addr_range,
		"take addresses in -S for the N bytes from there on"),
	OPT_STR(0, "switch-on", "EVENT", gate.on, "from when EVENT happens on"),
	OPT_STR(0, "switch-off", "EVENT", gate.off, "until EVENT happens"),
	OPT_FLAG(0, "show-on-off-events", gate.show, "these two events, too"),
	OPT_U64(0, "max-events", "N", max_events, "stop after N events"),
	OPT_HEAD("How they are shown"),
	OPT_FLAG(0, "per-event-dump", apart,
		 "the events of each name into a file of their own, FILE.EVENT.dump"),
	OPT_FLAG(0, "ns", show.ns, "times with nine digits"),
	OPT_FLAG(0, "reltime", show.reltime, "times from the first event on"),
	OPT_FLAG(0, "deltatime", show.deltatime, "times since the event before"),
	OPT_FLAG('L', "Latency", show.latency, "narrow columns, as ftrace's latency format"),
	OPT_FLAG('G', "hide-call-graph", hide_chain, "no call chains"),
	OPT_INT(0, "max-stack", "N", max_stack, "frames of a call chain (default: 127)"),
	OPT_FN_C(
		0, "inline", NULL, OPT_ARG_NONE, on_inline,
		"show inlined functions (default: in stacks that were copied, as perf; --no-inline "
		"turns it off)",
		NULL),
	OPT_STR(0, "stop-bt", "LIST", show.stop_at, "end call chains at these functions"),
	OPT_FLAG(0, "show-kernel-path", show.kernel_path, "paths of kernel modules"),
	OPT_FLAG(0, "full-source-path", show.full_path, "whole paths of source files"),
	OPT_FLAG(0, "demangle", demangle, "C++ and Rust names as they were written (default)"),
	OPT_HEAD("Records that are no samples"),
	OPT_FLAG(0, "show-task-events", show.show_task, "fork, exec and exit"),
	OPT_FLAG(0, "show-mmap-events", show.show_mmap, "mappings"),
	OPT_FLAG(0, "show-switch-events", show.show_switch,
		 "context switches (record --switch-events)"),
	OPT_FLAG(0, "show-lost-events", show.show_lost, "where events were lost"),
	OPT_FLAG(0, "show-namespace-events", show.show_namespace,
		 "namespaces (record --namespaces)"),
	OPT_FLAG(0, "show-cgroup-events", show.show_cgroup,
		 "control groups (record --all-cgroups)"),
	OPT_FLAG(0, "show-bpf-events", show.show_bpf, "BPF programs that came and went"),
	OPT_FLAG(0, "show-text-poke-events", show.show_text_poke, "changes of kernel code"),
	OPT_FLAG(0, "show-round-events", rounds,
		 "where the recorder had emptied all buffers; all in the file's order"),
	OPT_HEAD("Symbols"),
	OPT_STR_C(0, "kallsyms", "FILE", kallsyms, "kernel symbols from FILE", "@files"),
	OPT_STR_C('k', "vmlinux", "FILE", vmlinux, "kernel symbols from an ELF file", "@files"),
	OPT_STR_C(0, "symfs", "DIR", symfs, "look for files below DIR", "@dirs"),
	OPT_FLAG(0, "no-debuginfod", no_debuginfod, "do not ask debuginfod servers"),
	OPT_FLAG('f', "force", force, "read files of other users (kymo always does)"),
	OPT_COUNT('v', "verbose", verbose, "say what was left out, and why"),
	OPT_ACCEPTED('a', "all-cpus"),
	OPT_ACCEPTED('d', "debug-mode"),
	OPT_ACCEPTED_ARG(0, "max-blocks"),
	OPT_ACCEPTED(0, "demangle-kernel"),
	OPT_ACCEPTED(0, "stitch-lbr"),
	OPT_OF_TRACES("itrace"),
	OPT_OF_TRACES("call-trace"),
	OPT_OF_TRACES("call-ret-trace"),
	OPT_OF_TRACES("insn-trace"),
	OPT_OF_TRACES("xed"),
	OPT_OF_TRACES_ARG("graph-function"),
	OPT_OF_SCRIPTS('s', "script", OPT_ARG_REQUIRED),
	OPT_OF_SCRIPTS('g', "gen-script", OPT_ARG_REQUIRED),
	OPT_OF_SCRIPTS('l', "list", OPT_ARG_NONE),
	OPT_OF_SCRIPTS(0, "dlfilter", OPT_ARG_REQUIRED),
	OPT_OF_SCRIPTS(0, "dlarg", OPT_ARG_REQUIRED),
	OPT_OF_SCRIPTS(0, "list-dlfilters", OPT_ARG_NONE),
	OPT_OF_GUESTS("guestmount", OPT_ARG_REQUIRED),
	OPT_OF_GUESTS("guestkallsyms", OPT_ARG_REQUIRED),
	OPT_OF_GUESTS("guestmodules", OPT_ARG_REQUIRED),
	OPT_OF_GUESTS("guestvmlinux", OPT_ARG_REQUIRED),
	OPT_OF_GUESTS("guest-code", OPT_ARG_NONE),
	OPT_END,
};

/* --- --per-event-dump: the events of each name in a file of their own --- */

struct script_part {
	struct out out;
	char *path;
	uint64_t n; /* samples in it */
};

struct script_apart {
	struct script_part *part; /* by type */
	size_t n;
};

static int open_part(struct script_part *p, const char *recording, const char *event, struct err *e)
{
	AUTO_STRBUF b = { 0 };
	size_t at;
	int fd;

	strbuf_printf(&b, "%s.", recording);
	at = b.n;
	strbuf_printf(&b, "%s.dump", event);
	for (char *c = b.data + at; *c; c++) /* a name may not lead to another folder */
		if (*c == '/')
			*c = '_';
	p->path = mem_strdup(strbuf_str(&b));
	fd = output_growing(p->path, 0, 0600, e);
	if (fd < 0)
		return fd;
	out_init(&p->out, fd);
	return 0;
}

/* Writes what is left and, with e, tells on stdout what was written; NULL after a failure. */
static int script_apart_close(struct script_apart *a, struct err *e)
{
	int r = 0;

	for (size_t i = 0; i < a->n; i++) {
		struct script_part *p = &a->part[i];
		struct stat st = { 0 };

		out_flush(&p->out);
		if (e && r == 0 && p->out.error)
			r = err_set(e, p->out.error, "cannot write %s: %s", p->path,
				    strerror(p->out.error));
		fstat(p->out.fd, &st);
		if (e && r == 0)
			printf("[ kymo script: Wrote %.3f MB %s (%llu samples) ]\n",
			       (double)st.st_size / 1024 / 1024, p->path, (unsigned long long)p->n);
		close(p->out.fd);
		out_free(&p->out);
		free(p->path);
	}
	free(a->part);
	*a = (struct script_apart){ 0 };
	return r;
}

/* Makes a file for each event of the recording at path. */
static int script_apart_open(struct script_apart *a, const struct trace *t, const char *path,
			     struct err *e)
{
	int r = 0;

	if (strcmp(path, "-") == 0)
		path = "perf.data";
	a->part = mem_alloc((t->n_types + 1) * sizeof(*a->part));
	for (size_t i = 0; i < t->n_types && r == 0; i++) {
		r = open_part(&a->part[i], path, t->types[i].name, e);
		if (r == 0)
			a->n++;
		else
			free(a->part[i].path);
	}
	if (r < 0)
		script_apart_close(a, NULL);
	return r;
}

/* Where the event goes; what is no sample goes to the first. */
static struct out *script_apart_of(struct script_apart *a, const struct event *ev)
{
	struct script_part *p = &a->part[ev->kind == EVENT_SAMPLE ? ev->type : 0];

	p->n += ev->kind == EVENT_SAMPLE;
	return &p->out;
}

/* --- printing --- */

struct printing {
	struct script *script;
	struct pick pick;
	struct script_team *team;
	struct gate gate;
	bool gated;
	struct script_apart apart;
	struct out *out;
	uint64_t left;
	bool limited;
};

static bool script_wants(const struct pick *p, struct script *s, const struct event *ev)
{
	struct pick_place at = { .ip = ev->ip };

	/* Like perf: all but CPUs choose among samples only. */
	if (ev->kind != EVENT_SAMPLE && ev->kind != EVENT_COUNTER)
		return pick_cpu(p, ev);
	if (pick_event(p, ev) != PROFILE_COUNT)
		return false;
	if (ev->kind != EVENT_SAMPLE || (!p->by_symbol && !p->by_dso))
		return true;
	script_names(s, ev, &at.function, &at.dso, &at.start);
	at.path = at.dso ? str_base_name(at.dso) : NULL;
	return pick_code(p, &at);
}

static int print_event(void *ctx, const struct event *ev)
{
	struct printing *p = ctx;

	if (ev->kind == EVENT_ROUND) {
		out_puts(p->out, "PERF_RECORD_FINISHED_ROUND\n");
		return 0;
	}
	if (!script_wants(&p->pick, p->script, ev) || (p->gated && !gate_passes(&p->gate, ev)))
		return 0;
	if ((ev->kind == EVENT_SAMPLE || ev->kind == EVENT_COUNTER) && p->limited) {
		if (!p->left)
			return 1;
		p->left--;
	}
	if (p->apart.n)
		script_to(p->script, script_apart_of(&p->apart, ev));
	if (p->team)
		script_team_event(p->team, ev);
	else
		script_event(p->script, ev);
	return p->out->error ? 1 : 0;
}

/* Rounds mean something only among records as they stand in the file. */
static int check_rounds(const struct args *a, const struct source *s, struct err *e)
{
	if (!a->rounds || a->raw)
		return 0;
	if (a->show.json || !s->read_stored)
		return err_set(e, EINVAL, "--show-round-events: only perf.data has rounds%s",
			       a->show.json ? ", and JSON does not show them" : "");
	if (a->hide_chain || !unwound_needed(s))
		return 0;
	err_set(e, EOPNOTSUPP,
		"--show-round-events: stacks that were copied are unwound in the order of time "
		"only");
	return err_hint(e, "-G hides the stacks");
}

static bool dump_wants(void *ctx, const struct event *ev)
{
	struct printing *p = ctx;

	return script_wants(&p->pick, p->script, ev);
}

static const char *cgroup_path(void *ctx, uint64_t id)
{
	const struct source *s = ctx;

	return strcmp(s->format, "perf.data") == 0 ? perfdata_cgroup(s, id) : NULL;
}

static int parse_fields(const struct args *a, struct script_opts *o, struct err *e)
{
	AUTO_STRBUF notes = { 0 };
	int r = 0;

	script_fields_init(&o->fields);
	for (int i = 0; i < a->n_fields && r >= 0; i++)
		r = script_fields_parse(&o->fields, a->fields[i], &notes, e);
	if (r >= 0 && a->verbose && notes.n)
		fputs(notes.data, stderr);
	return r;
}

static struct script_opts make_opts(const struct args *a, struct source *s)
{
	struct script_opts o = a->show;

	o.max_stack = (unsigned)a->max_stack;
	o.cgroup = cgroup_path;
	o.ctx = s;
	for (size_t i = 0; i < s->trace->n_types && !a->hide_chain; i++)
		o.chains = o.chains || (s->trace->types[i].has & EVENT_HAVE_CHAIN);
	return o;
}

static int script_print_all(const struct args *a, struct source *s, struct symbols *symbols,
			    struct script_opts *o, struct out *out, struct err *e)
{
	struct printing p = { .out = out, .left = a->max_events, .limited = a->max_events > 0 };
	bool side = o->show_task || o->show_mmap || o->show_switch || o->show_lost ||
		    o->show_namespace || o->show_cgroup || o->show_bpf || o->show_text_poke ||
		    (s->trace->n_types && (s->trace->types[0].has & TYPE_HAS_VALUES));
	struct pick_opts po = a->pick;
	int r = check_rounds(a, s, e);

	/* -S with addresses takes so many bytes from there; 0: that one */
	po.addr_range = a->addr_range ? a->addr_range : 1;
	if (r == 0)
		r = pick_make(&p.pick, &po, s->trace, e);
	if (r == 0 && gate_wanted(&a->gate)) {
		p.gated = true;
		r = gate_make(&p.gate, &a->gate, s->trace, e);
	}
	if (r == 0 && a->apart && !a->raw)
		r = script_apart_open(&p.apart, s->trace, input_path(a->input), e);
	if (r == 0) {
		p.script = script_new(s->trace, symbols, o, out);
		if (!p.apart.n && !a->rounds)
			p.team = script_team_new(p.script, s->stable);
		r = a->raw ? script_dump(p.script, s, input_path(a->input), dump_wants, &p, e)
			   : (a->rounds ? s->read_stored : s->read_ordered)(s, side, print_event,
									    &p, e);
		if (p.team)
			script_team_free(p.team);
		if (p.apart.n && r >= 0)
			r = script_apart_close(&p.apart, e);
		else if (p.apart.n)
			script_apart_close(&p.apart, NULL);
		script_free(p.script);
	}
	pick_free(&p.pick);
	return r < 0 ? r : 0;
}

static int script_show(const struct args *a, struct source *s, struct out *out, struct err *e)
{
	struct symbols_opts so = { .find = input_find(s, a->symfs),
				   .raw_names = !a->demangle,
				   .exact = true, /* return addresses are shown as they are */
				   .no_debuginfod = a->no_debuginfod };
	struct input_kernel ko = { .kallsyms = a->kallsyms,
				   .vmlinux = a->vmlinux,
				   .symfs = a->symfs };
	struct script_opts o = make_opts(a, s);
	AUTO_STRBUF notes = { 0 };
	struct symbols *symbols;
	const char *note;
	int r = parse_fields(a, &o, e);

	if (r >= 0)
		r = script_fields_check(&o.fields, s->trace, o.chains, &notes, e);
	if (r < 0)
		return r;
	if (notes.n)
		command_note("%.*s", (int)notes.n - 1, notes.data);
	symbols = symbols_new(&so);
	r = input_kernel_later(s, &ko, symbols, &note, e);
	if (r >= 0)
		r = script_print_all(a, s, symbols, &o, out, e);
	if (r >= 0 && note)
		command_note("%s", note);
	symbols_free(symbols);
	return r;
}

/* perf has the names of its scripts there. */
static int no_words(const char *word, struct err *e)
{
	err_set(e, EINVAL, "what is '%s'? script takes options only", word);
	return err_hint(e,
			"perf's scripts are not run here: kymo run -i FILE runs a program over a "
			"recording, kymo tools lists those that are ready");
}

static int script_run(void *args, int argc, char **argv, struct err *e)
{
	struct args *a = args;
	struct source *s = NULL;
	struct out out;
	int r;

	if (a->inputs.n)
		a->input = a->inputs.data[0];
	if (argc == 1 && !a->input && (strcmp(argv[0], "-") == 0 || file_exists(argv[0])))
		a->input = argv[0];
	else if (argc > 0)
		return no_words(argv[0], e);
	if (a->max_stack < 0)
		return err_set(e, EINVAL, "--max-stack %d: frames are at least 0", a->max_stack);
	for (int i = 0; i < a->n_fields; i++)
		if (strcmp(a->fields[i], "help") == 0) {
			AUTO_STRBUF b = { 0 };

			script_fields_help(&b);
			fputs(b.data, stdout);
			return 0;
		}
	a->symfs = input_symfs(a->symfs);
	a->raw = a->raw || a->show.unsorted;
	r = a->inputs.n > 1 ? source_open_all(a->inputs.data, a->inputs.n, &s, e)
			    : input_open(a->input, &s, e);
	if (r < 0)
		return r;
	input_unwind(&s, a->symfs);
	out_init(&out, STDOUT_FILENO);
	if (a->header || a->header_only || a->info) {
		AUTO_STRBUF b = { 0 };

		if (strcmp(s->format, "perf.data") == 0) /* others have no such header */
			perfdata_header_text(s, a->info, &b);
		out_add(&out, b.data, b.n);
	}
	if (!a->header_only)
		r = script_show(a, s, &out, e);
	out_flush(&out);
	if (r >= 0)
		input_warn(s);
	if (r >= 0 && out.error && out.error != EPIPE)
		r = err_set(e, out.error, "cannot write the output: %s", strerror(out.error));
	out_free(&out);
	source_close(s);
	return r < 0 ? r : 0;
}

static void script_drop(void *args)
{
	vec_free(&((struct args *)args)->inputs);
}

static const struct example examples[] = {
	{ "script", "all events of perf.data" },
	{ "script -F comm,tid,pid,time,cpu,event,ip,sym,dso", "with these fields" },
	{ "script --time 10%-20% --comm gcc", "the second tenth, of one command" },
	{ "script -j --max-events 10", "ten events as JSON" },
	{ NULL, NULL },
};

static const struct args defaults = { .show = { .inlines = true },
				      .demangle = true,
				      .max_stack = DEFAULT_STACK };

const struct command cmd_script = {
	.name = "script",
	.group = "Profile",
	.summary = "show a recording event by event",
	.usage = "[OPTIONS] [FILE]",
	.about = "Prints each event with its fields in the layout of perf script. Without -i it "
		 "reads "
		 "perf.data, or stdin when that is a pipe.",
	.examples = examples,
	.opts = opts,
	.args_size = sizeof(struct args),
	.defaults = &defaults,
	.run = script_run,
	.drop = script_drop,
};
