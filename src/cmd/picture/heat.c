/* SPDX-License-Identifier: MIT */
/* kymo heat: options, and recording first where nothing was recorded. */
#define OPT_ARGS struct heat_args
#include "cmd/picture/heat.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cmd/command.h"
#include "cmd/share/event_opts.h"

static int on_kind(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct heat_args *a = args;
	static const struct {
		const char *name;
		enum heat_kind kind;
	} kinds[] = { { "block", HEAT_BLOCK }, { "syscall", HEAT_SYSCALL },
		      { "sched", HEAT_SCHED }, { "pair", HEAT_PAIR },
		      { "field", HEAT_FIELD }, { "subsecond", HEAT_SUBSECOND } };

	if (unset)
		return 0;
	if (a->kind != HEAT_NONE)
		return err_set(e, EINVAL, "--%s is a second picture: one at a time", o->name);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strcmp(kinds[i].name, o->name) == 0)
			a->kind = kinds[i].kind;
	*(a->kind == HEAT_SYSCALL ? &a->syscall
	  : a->kind == HEAT_PAIR  ? &a->pair
				  : &a->field) = value;
	return 0;
}

static const struct opt opts[] = {
	OPT_HEAD("What"),
	OPT_FN0(0, "block", on_kind, "disk I/O: from issue to completion, by device and sector"),
	OPT_FLAG('Q', "queue", insert, "with --block: from insertion into the queue instead"),
	OPT_FN_C(0, "syscall", "NAME,...", OPT_ARG_REQUIRED, on_kind,
		 "time in system calls, such as read,write", "@syscalls"),
	OPT_FN0(0, "sched", on_kind, "how long woken tasks wait for a CPU"),
	OPT_FN(0, "pair", "'A,B by FIELD,...'", on_kind,
	       "from event A to event B, matched by fields (FIELD of A=FIELD of B where they "
	       "differ; tid, pid, cpu and comm too); A|C,B: any of several"),
	OPT_FN(0, "field", "EVENT:FIELD", on_kind, "a number that events carry"),
	OPT_FN0(0, "subsecond", on_kind,
		"samples: a column for each second, up it the offset within; the page shows the "
		"flame graph of what is selected"),
	OPT_STR(0, "label", "FIELD", label, "what points are told apart by (default: by process)"),
	OPT_STR_C('i', "input", "FILE", input,
		  "read a recording, or points as text: a time, a value and a label a line "
		  "('-': standard input)",
		  "@files"),
	OPT_STR_C(0, "time-unit", "UNIT", time_unit, "of times in text: s (default), ms, us or ns",
		  "s|ms|us|ns"),
	OPT_STR_C(0, "unit", "UNIT", unit,
		  "of values in text and of fields: us (default for text), ns, ms, s, bytes, or a "
		  "word that is only shown",
		  "us|ns|ms|s|bytes"),
	OPT_STR(0, "what", "TEXT", what, "what the values are (default: latency)"),
	OPT_HEAD("Recording first, as kymo record"),
	OPT_STR('d', "duration", "SECONDS", duration, "the whole machine for so long"),
	PICTURE_RECORD_WHOM,
	PICTURE_RECORD('F', "freq", "N", "samples a second (--subsecond)", NULL),
	PICTURE_RECORD('m', "mmap-pages", "PAGES", "room for events between two looks", NULL),
	OPT_HEAD("The picture"),
	OPT_FLAG(0, "linear", linear, "equal steps of value, not equal factors"),
	OPT_STR(0, "min", "VALUE", min, "the lowest value that is drawn, in --unit"),
	OPT_STR(0, "max", "VALUE", max, "the highest value that is drawn, in --unit"),
	OPT_INT(0, "rows", "N", rows, "at most so many rows (text and SVG)"),
	OPT_INT(0, "columns", "N", columns, "at most so many columns (text and SVG)"),
	OPT_INT(0, "width", "PIXELS", width, "of an SVG (default: 1200)"),
	OPT_INT(0, "height", "PIXELS", height, "of an SVG (default: 560)"),
	OPT_STR(0, "title", "TEXT", title, "the heading"),
	OPT_STR(0, "subtitle", "TEXT", subtitle, "a second one below it"),
	OPT_HEAD("Output"),
	OPT_STR_C('o', "output", "FILE", output, "write FILE: .html or .svg (default: heat.html)",
		  "@files"),
	OPT_FLAG(0, "text", text, "draw on the terminal"),
	OPT_FLAG(0, "open", open, "show it in the browser"),
	PICTURE_MAX_SIZE("round times and values until an HTML file is no larger"),
	OPT_FLAG('q', "quiet", quiet, "say nothing about what was written"),
	OPT_END,
};

static int picture_heat_check(const struct heat_args *a, const char *output, struct err *e)
{
	if (!a->text && !str_ends(output, ".html") && !str_ends(output, ".svg") &&
	    strcmp(output, "-") != 0) {
		err_set(e, EINVAL, "-o %s: the name does not say what to write", output);
		return err_hint(e, "end it in .html or .svg");
	}
	if (a->width < 300 || a->width > 20000 || a->height < 200 || a->height > 20000)
		return err_set(e, EINVAL,
			       "an SVG is 300 to 20000 pixels wide and 200 to 20000 high");
	if (a->insert && a->kind != HEAT_BLOCK)
		return err_set(e, EINVAL, "-Q belongs to --block");
	if (a->open && (a->text || strcmp(output, "-") == 0))
		return err_set(e, EINVAL, "--open needs a file");
	return 0;
}

/* Through perf, into a file. */
static int record_file(struct heat_args *a, char **command, struct picture_recorded *ret,
		       struct err *e)
{
	struct record_args *rec = &a->record;
	struct target_opts *to = &rec->o.target;
	AUTO_FREE char *events = NULL;
	char *sleep[] = { (char *)"sleep", (char *)a->duration, NULL };
	int r = heat_events(a, &events, e);

	record_args_begin(rec);
	if (r == 0 && events)
		r = spec_parse(&rec->o.events, events, events_env(), e);
	/* interrupts complete what others issued, and wakers are others */
	if ((heat_crosses_tasks(a) || a->duration) && !to->cpus && !to->pids && !to->tids)
		to->all_cpus = true;
	rec->quiet = a->quiet;
	return r < 0 ? r
		     : picture_record(rec, a->kind == HEAT_SUBSECOND, a->duration ? sleep : command,
				      a->output, ret, e);
}

/* Where the points come from, when not from a file of the user's. */
struct taken {
	struct heat_whom whom;
	struct source *source; /* NULL: recorded */
	struct picture_recorded recorded;
};

/* What is asked for, taken while the command runs. */
static int record_first(struct heat_args *a, char **command, struct taken *t, struct err *e)
{
	struct err why = { 0 };
	int r = 0;

	if (a->kind == HEAT_NONE) {
		err_set(e, EINVAL, "what should be measured?");
		return err_hint(e,
				"--block, --sched, --syscall NAME, --pair, --field or --subsecond");
	}
	if (a->duration && command)
		return err_set(e, EINVAL, "-d and a command exclude each other");
	if (!a->text)
		r = picture_can_write(a->output ? a->output : "heat.html", e);
	if (r == 0 && a->kind != HEAT_SUBSECOND)
		r = heat_live(a, command, &t->whom, &t->source, &why, e);
	if (r == 0)
		r = record_file(a, command, &t->recorded, e);
	if (r == 0 && why.code && !a->quiet)
		command_note("measured through perf, which on some kernels misses what happens "
			     "while a CPU idles: %s",
			     why.msg);
	return r < 0 ? r : 0;
}

/* The heading: what was named, what was measured, or the file's name. */
static char *title_of(const struct heat_args *a, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (a->kind != HEAT_NONE)
		return heat_words(a);
	return mem_strdup(strcmp(path, "-") == 0 ? (a->what ? a->what : "latency")
			  : slash		 ? slash + 1
						 : path);
}

static int draw_all(struct heat_args *a, struct taken *t, const char *path, const char *output,
		    struct err *e)
{
	bool page = !a->text && !str_ends(output, ".svg");
	struct heat_points p = { 0 };
	AUTO_FREE char *title = NULL;
	int r = 0;

	if (!(page && a->kind == HEAT_SUBSECOND))
		r = t->source ? heat_read_live(a, t->source, &t->whom, page, &p, e)
			      : heat_read(a, path, page, &p, e);
	if (!a->title)
		a->title = title = title_of(a, path ? path : "");
	if (r == 0)
		r = page && a->kind == HEAT_SUBSECOND ? heat_draw_seconds(a, path, output, e)
						      : heat_draw(a, &p, output, e);
	if (r == 0 && a->open)
		r = picture_show(output, e);
	heat_points_free(&p);
	return r;
}

/* "kymo heat --block 5": no file, but how long. */
static bool is_seconds(const struct heat_args *a, const char *path)
{
	double v;

	return path && !a->input && !a->duration && a->kind != HEAT_NONE && str_double(path, &v) &&
	       access(path, F_OK) < 0;
}

static int heat_run(void *args, int argc, char **argv, struct err *e)
{
	struct heat_args *a = args;
	const char *output = a->output ? a->output : "heat.html", *path;
	struct picture_given given = { .file = { a->input }, .n = a->input != NULL };
	struct taken taken = { 0 };
	char **command;
	int r = picture_heat_check(a, output, e);

	if (r == 0)
		r = picture_arguments(&given, 1, argc, argv, a->recording || a->duration,
				      "kymo heat -i FILE, or kymo heat [OPTIONS] -- COMMAND", e);
	path = given.file[0];
	command = given.command;
	if (r == 0 && is_seconds(a, path) && !command) {
		a->duration = path;
		path = NULL;
	}
	if (r == 0 && !path && (command || a->recording || a->duration || a->kind != HEAT_NONE))
		r = record_first(a, command, &taken, e);
	else if (r == 0 && !path) {
		err_set(e, EINVAL, "what should be drawn?");
		return err_hint(e, "kymo heat --block -d 10, or kymo heat -i FILE");
	}
	if (r == 0)
		r = draw_all(a, &taken, taken.recorded.path ? taken.recorded.path : path, output,
			     e);
	picture_recorded_free(&taken.recorded);
	source_close(taken.source);
	heat_whom_free(&taken.whom);
	return r;
}

static void heat_drop(void *args)
{
	free(((struct heat_args *)args)->guessed);
	picture_drop(args);
}

static const struct heat_args defaults = {
	.time_unit = "s",
	.width = 1200,
	.height = 560,
	.max_size = PICTURE_SIZE,
};

static const struct example examples[] = {
	{ "heat --block -d 10", "how long disks take, for ten seconds" },
	{ "heat --syscall read,write --text -- make", "time in system calls, on the terminal" },
	{ "heat --sched -a -- sleep 5", "how long woken tasks wait for a CPU" },
	{ "heat --pair 'block:block_rq_issue,block:block_rq_complete by dev,sector' -i perf.data",
	  "any two events of a recording" },
	{ "heat --field sched:sched_stat_runtime:runtime -a -- sleep 5", "any number" },
	{ "heat --subsecond -i perf.data", "samples second by second, and their flame graph" },
	{ "heat --text -i io.txt --unit ms", "points from a text file" },
	{ NULL, NULL },
};

const struct command cmd_heat = {
	.name = "heat",
	.group = "Pictures",
	.summary = "draw latencies over time as a heat map",
	.usage = "[OPTIONS] [FILE | SECONDS] | [OPTIONS] -- COMMAND",
	.about = "Time goes across, the value up, and the colour of a cell is how many events fell "
		 "into it, with the percentiles beside. Selecting an area of the page lists the "
		 "events behind it. Without a file, it records first: a command, or the machine.",
	.examples = examples,
	.opts = opts,
	.parse = OPT_KEEP_DASHES,
	.args_size = sizeof(struct heat_args),
	.defaults = &defaults,
	.run = heat_run,
	.drop = heat_drop,
};
