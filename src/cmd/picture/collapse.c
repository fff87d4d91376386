/* SPDX-License-Identifier: MIT */
/* kymo collapse: folded stacks, as stackcollapse-perf.pl writes them. */
#include "base/str.h"
#include "cmd/command.h"
#include "cmd/picture/picture.h"
#include "cmd/share/input.h"
#include "view/picture/folded.h"

struct args {
	const char *input, *output, *event;
	bool off_cpu, wakers, kernel, jit, all, inlined, pid, tid, addrs, tidy, no_tidy, counts;
};

static const struct opt opts[] = {
	OPT_HEAD("What"),
	OPT_STR_C('i', "input", "FILE", input, "read FILE ('-': standard input)", "@files"),
	OPT_STR(0, "event-filter", "EVENT", event,
		"only stacks of this event (default: the first one's)"),
	OPT_FLAG(0, "counts", counts,
		 "count samples (default: what they stand for, such as cycles or ns)"),
	OPT_FLAG(0, "off-cpu", off_cpu,
		 "only where threads waited, in ns: of record --off-cpu, or from "
		 "sched:sched_switch with -g"),
	OPT_FLAG(0, "wakers", wakers, "the same, on to the stacks of those who ended the waits"),
	OPT_HEAD("How frames are written"),
	OPT_FLAG(0, "kernel", kernel, "mark kernel functions with _[k]"),
	OPT_FLAG(0, "jit", jit, "mark functions of just-in-time compilers with _[j]"),
	OPT_FLAG(0, "inline", inlined, "show inlined functions as frames of their own"),
	OPT_FLAG(0, "all", all, "all marks: --kernel --jit, and _[i] for inlined functions"),
	OPT_FLAG(0, "pid", pid, "process names with their PID: java-1234"),
	OPT_FLAG(0, "tid", tid, "process names with PID and TID: java-1234/1240"),
	OPT_FLAG(0, "addrs", addrs, "addresses of code without a name: [libc.so.6 <7f12ab>]"),
	OPT_FLAG(0, "tidy", tidy,
		 "shorten names as stackcollapse-perf.pl does: no arguments, no "
		 "quotes (default for recordings; folded text stays as it is)"),
	OPT_FLAG(0, "no-tidy", no_tidy, "leave names as they are"),
	OPT_HEAD("Output"),
	OPT_STR_C('o', "output", "FILE", output, "write to FILE (default: standard output)",
		  "@files"),
	OPT_END,
};

static int collapse_run(void *args, int argc, char **argv, struct err *e)
{
	const struct args *a = args;
	const char *path = a->input ? a->input : input_path(argc > 0 ? argv[0] : NULL);
	struct recorded in;
	struct picture_output out;
	struct folded_opts fo = { 0 };
	int r;

	if (argc > (a->input ? 0 : 1)) {
		err_set(e, EINVAL, "one file at a time: '%s' is too many", argv[argc - 1]);
		return err_hint(e, "kymo flame BEFORE AFTER compares two");
	}
	r = picture_read(path, NULL,
			 &(struct picture_opts){ .stacks = { .inlines = a->inlined,
							     .counts = a->counts,
							     .wakers = a->wakers },
						 .off_cpu = a->off_cpu },
			 &in, e);
	fo.type = in.first_type;
	if (r == 0 && a->event)
		r = picture_event(&in.side[0], a->event, &fo.type, e);
	if (r == 0)
		r = picture_open(&out, a->output, e);
	if (r == 0) {
		int closed;

		/* marks that the text has already stay, unless they are unwished */
		fo.kernel = a->kernel || a->all || in.folded;
		fo.jit = a->jit || a->all || in.folded;
		fo.inlined = a->all || in.folded;
		fo.pid = a->pid;
		fo.tid = a->tid;
		fo.addrs = a->addrs;
		fo.tidy = (a->tidy || !in.folded) && !a->no_tidy;
		r = folded_write(out.f, &in.side[0], in.two ? &in.side[1] : NULL, &fo, e);
		closed = picture_close(&out, r == 0, e);
		r = r == 0 ? closed : r;
	}
	if (r == 0 && in.note)
		command_note("%s", in.note);
	if (r == 0 && !a->event && picture_events(&in.side[0]) > 1)
		command_note(
			"only stacks of the event %s were written; --event-filter names another",
			strtab_get(&in.side[0].strings, in.side[0].type_names.data[fo.type]));
	recorded_free(&in);
	return r;
}

static const struct example examples[] = {
	{ "collapse -i perf.data > out.folded", "every stack on a line of its own" },
	{ "collapse --wakers | kymo flame -o waits.html -",
	  "what was waited for, as a flame graph" },
	{ "collapse --all --tid -i perf.data", "kinds marked, threads apart" },
	{ NULL, NULL },
};

const struct command cmd_collapse = {
	.name = "collapse",
	.group = "Pictures",
	.summary = "write folded stacks, one a line with its count",
	.usage = "[OPTIONS] [FILE]",
	.about =
		"Writes what stackcollapse-perf.pl would: 'process;outermost;...;innermost COUNT', "
		"sorted. Reads the text of perf script, folded stacks and pprof profiles, too.",
	.examples = examples,
	.opts = opts,
	.args_size = sizeof(struct args),
	.run = collapse_run,
};
