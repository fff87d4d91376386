/* SPDX-License-Identifier: MIT */
/* kymo ftrace dump: what a trace.dat holds beside its events. */
#define OPT_ARGS struct dump_args
#include "view/ftrace/dump.h"

#include <unistd.h>

#include "base/mem.h"
#include "base/opt.h"
#include "cmd/command.h"
#include "cmd/ftrace/ftrace.h"
#include "cmd/share/accept.h"
#include "cmd/share/input.h"
#include "store/tracedat/raw.h"
#include "store/tracedat/tracedat.h"

struct dump_args {
	const char *input;
	bool summary, head_page, head_event, ftrace_events, systems, events, kallsyms, printk;
	bool cmd_lines, options, flyrecord, clock, strings, sections, all;
	bool validate;
};

typedef struct dump_args args_t;

static const struct opt opts[] = {
	OPT_STR_C('i', "input", "FILE", input, "read FILE (default: trace.dat)", "@files"),
	OPT_FLAG(0, "summary", summary, "a line for each part (default)"),
	OPT_FLAG(0, "head-page", head_page, "how a page begins"),
	OPT_FLAG(0, "head-event", head_event, "how a record begins"),
	OPT_FLAG(0, "ftrace-events", ftrace_events, "formats of ftrace's own records"),
	OPT_FLAG(0, "systems", systems, "systems, and how many events each has"),
	OPT_FLAG(0, "events", events, "formats of events"),
	OPT_FLAG(0, "kallsyms", kallsyms, "the kernel's symbols"),
	OPT_FLAG(0, "printk", printk, "formats of trace_printk()"),
	OPT_FLAG(0, "cmd-lines", cmd_lines, "names of threads"),
	OPT_FLAG(0, "options", options, "options, with what they say"),
	OPT_FLAG(0, "flyrecord", flyrecord, "where the pages of each CPU are"),
	OPT_FLAG(0, "clock", clock, "the clock that was traced with"),
	OPT_FLAG(0, "strings", strings, "descriptions of sections (version 7)"),
	OPT_FLAG(0, "sections", sections, "all sections (version 7)"),
	OPT_FLAG('a', "all", all, "all of these"),
	OPT_FLAG('v', "validate", validate, "only say whether the file is whole, pages too"),
	OPT_ACCEPTED_OPTIONAL("verbose"),
	OPT_END,
};

static unsigned items_of(const args_t *a)
{
	const struct {
		bool on;
		enum ftrace_dump_item item;
	} all[] = {
		{ a->summary, FTRACE_DUMP_SUMMARY },
		{ a->head_page, FTRACE_DUMP_HEAD_PAGE },
		{ a->head_event, FTRACE_DUMP_HEAD_EVENT },
		{ a->ftrace_events, FTRACE_DUMP_FTRACE_EVENTS },
		{ a->systems, FTRACE_DUMP_SYSTEMS },
		{ a->events, FTRACE_DUMP_EVENTS },
		{ a->kallsyms, FTRACE_DUMP_KALLSYMS },
		{ a->printk, FTRACE_DUMP_PRINTK },
		{ a->cmd_lines, FTRACE_DUMP_CMD_LINES },
		{ a->options, FTRACE_DUMP_OPTIONS },
		{ a->flyrecord, FTRACE_DUMP_FLYRECORD },
		{ a->clock, FTRACE_DUMP_CLOCK },
		{ a->strings, FTRACE_DUMP_STRINGS },
		{ a->sections, FTRACE_DUMP_SECTIONS },
		{ a->all, FTRACE_DUMP_ALL },
	};
	unsigned items = 0;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		items |= all[i].on ? (unsigned)all[i].item : 0;
	return items || a->validate ? items : FTRACE_DUMP_SUMMARY;
}

/* All of it is read, as for a report. */
static int validate(const char *path, struct out *out, struct err *e)
{
	struct source *s;
	int r = ftrace_input(path, &s, e);

	if (r < 0)
		return r;
	if (s->trace->losses.cut || s->trace->losses.bad_records)
		r = err_set(e, EINVAL, "%s is not whole: %s", path,
			    s->trace->losses.note[0] ? s->trace->losses.note : "parts are damaged");
	else
		out_printf(out, "File %s is a valid trace-cmd file\n", path);
	source_close(s);
	return r;
}

static int ftrace_dump_run(void *args, int argc, char **argv, struct err *e)
{
	const args_t *a = args;
	const char *path = argc ? argv[0] : a->input ? a->input : "trace.dat";
	unsigned items = items_of(a);
	struct source *s;
	struct out out;
	int r;

	if (argc > 1 || (argc && a->input))
		return err_set(e, EINVAL, "what is '%s'? one file is read", argv[argc - 1]);
	r = tracedat_open_raw(path, &s, e);
	if (r < 0)
		return r;
	out_init(&out, STDOUT_FILENO);
	r = ftrace_dump(s, path, items, &out, e);
	if (r >= 0 && a->validate)
		r = validate(path, &out, e);
	out_flush(&out);
	out_free(&out);
	source_close(s);
	return r;
}

static const struct example examples[] = {
	{ "ftrace dump", "what trace.dat consists of" },
	{ "ftrace dump --options --clock -i old.dat", "where and how it was recorded" },
	{ "ftrace dump -v -i copied.dat", "whether it is whole" },
	{ NULL, NULL },
};

const struct command cmd_ftrace_dump = {
	.name = "dump",
	.group = "ftrace",
	.summary = "what a trace.dat holds beside its events: formats, symbols, options, places",
	.usage = "[OPTIONS] [FILE]",
	.examples = examples,
	.opts = opts,
	.args_size = sizeof(args_t),
	.run = ftrace_dump_run,
};
