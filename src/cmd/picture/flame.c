/* SPDX-License-Identifier: MIT */
/* kymo flame: options and what they mean together; flame_draw.c draws. */
#define OPT_ARGS struct flame_args
#include "cmd/picture/flame.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "cmd/command.h"
#include "cmd/share/event_opts.h"
#include "cmd/share/input.h"

static int on_minwidth(const struct opt *o, const char *value, bool unset, void *args,
		       struct err *e)
{
	struct flame_args *a = args;
	size_t n = unset ? 0 : strlen(value);
	char buf[32];

	if (unset) {
		a->svg.minwidth = 0;
		return 0;
	}
	a->svg.minwidth_percent = n && value[n - 1] == '%';
	snprintf(buf, sizeof(buf), "%.*s", (int)(n - a->svg.minwidth_percent), value);
	if (!str_double(buf, &a->svg.minwidth) || a->svg.minwidth < 0)
		return err_set(e, EINVAL,
			       "--minwidth wants pixels or per cent, such as 0.5 or 0.1%%, "
			       "not '%s'",
			       value);
	return 0;
}

/* Options whose value is a number with a fraction: where it goes is known by the name. */
static int on_number(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct flame_args *a = args;
	double v;

	if (!str_double(value, &v) || !(v >= 0))
		return err_set(e, EINVAL, "--%s wants a number that is not negative, not '%s'",
			       o->name, value);
	*(strcmp(o->name, "total") == 0	   ? &a->svg.total
	  : strcmp(o->name, "factor") == 0 ? &a->svg.factor
					   : &a->svg.fontsize) = v;
	return 0;
}

static int on_choice(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct flame_args *a = args;
	const char *at = o->complete;
	int i = 0;

	for (size_t n = value ? strlen(value) : 0; at && value; i++) {
		size_t k = strcspn(at, "|");

		if (k == n && strncmp(at, value, n) == 0)
			break;
		at = at[k] ? at + k + 1 : NULL;
	}
	if (!at || !value) {
		err_set(e, EINVAL, "--%s has no '%s'", o->name, value ? value : "");
		return err_hint(e, "it is one of %s", o->complete);
	}
	if (strcmp(o->name, "format") == 0)
		a->format = FLAME_HTML + i;
	else if (strcmp(o->name, "widths") == 0)
		a->svg.widths = FLAME_BOTH + i;
	else if (strcmp(o->name, "sort") == 0)
		a->sort = CALLTREE_BY_NAME + i;
	else
		a->label = CALLTREE_LABEL_NONE + i;
	return 0;
}

#define CHOICE(l, m, h, list) OPT_FN_C(0, l, m, OPT_ARG_REQUIRED, on_choice, h, list)

static const struct opt opts[] = {
	OPT_HEAD("What"),
	OPT_STRS_C('i', "input", "FILE", inputs,
		   "read FILE ('-': standard input); several are merged by time", "@files"),
	OPT_STR(0, "event-filter", "EVENT", event, "only stacks of this event"),
	OPT_FLAG(0, "counts", counts,
		 "count samples (default: what they stand for, such as cycles or time)"),
	OPT_FLAG(0, "off-cpu", off_cpu,
		 "where threads wait, and how long: of a recording with --off-cpu or with "
		 "sched_switch, or recorded now"),
	OPT_FLAG(0, "wakers", wakers, "the same, and on it the stacks of who ended the waits"),
	OPT_FLAG(0, "wall", wall,
		 "on and off the CPU in one picture, thread by thread: all of their time"),
	OPT_FLAG(0, "idle", idle, "also CPUs that had nothing to do"),
	CHOICE("label", "WHAT", "the lowest frame: none, comm, pid or tid (default: comm)",
	       "none|comm|pid|tid"),
	OPT_HEAD("Recording first, as kymo record"),
	PICTURE_RECORD_WHOM,
	PICTURE_RECORD('e', "event", "EVENT", "events (default: cycles)", "@events"),
	PICTURE_RECORD('F', "freq", "N", "samples a second", NULL),
	PICTURE_RECORD('c', "count", "N", "a sample every N events", NULL),
	PICTURE_RECORD(0, "call-graph", "MODE", "auto (default), fp, dwarf[,SIZE] or lbr",
		       "auto|fp|dwarf|lbr"),
	OPT_FN('d', "duration", "SECONDS", picture_on_record,
	       "for so long; the whole machine where nothing else is named"),
	PICTURE_RECORD('D', "delay", "MS", "start MS milliseconds after the command", NULL),
	OPT_HEAD("Output"),
	OPT_STR_C('o', "output", "FILE", output,
		  "write FILE: .html, .svg or .folded (default: flame.html; an SVG to standard "
		  "output "
		  "when a file is read and that is a file or a pipe)",
		  "@files"),
	CHOICE("format", "FORMAT", "html, svg or folded, where the name does not say it",
	       "html|svg|folded"),
	OPT_FLAG(0, "open", open, "show it in the browser"),
	PICTURE_MAX_SIZE("leave out detail until an HTML file is no larger"),
	OPT_FLAG('q', "quiet", quiet, "say nothing about what was written"),
	OPT_HEAD("The picture"),
	OPT_STR(0, "title", "TEXT", svg.title, "the heading"),
	OPT_STR(0, "subtitle", "TEXT", svg.subtitle, "a second one below it"),
	OPT_STR(0, "countname", "TEXT", countname,
		"what is counted (default: what is known of it; samples)"),
	OPT_FLAG(0, "reverse", reverse, "merge stacks from their innermost frame"),
	OPT_FLAG(0, "inverted", svg.inverted, "root at the top: an icicle graph"),
	OPT_FLAG(0, "flamechart", svg.flamechart,
		 "every stack when it was, thread by thread, with an axis of time; folded text has "
		 "only the order of its lines"),
	CHOICE("sort", "BY", "order of neighbours: name or size", "name|size"),
	OPT_FLAG(0, "collapse-recursion", collapse, "a function that calls itself is one frame"),
	OPT_STR(0, "notes", "TEXT", svg.notes, "a remark that is kept in the file"),
	OPT_HEAD("Comparisons"),
	CHOICE("widths", "OF", "SVG: whose widths frames have: both (the mean), after or before",
	       "both|after|before"),
	OPT_FLAG(0, "no-normalize", no_normalize, "compare counts, not shares of the whole"),
	OPT_FLAG(0, "negate", svg.negate, "swap the colours: blue is more, red is less"),
	OPT_HEAD("SVG, as flamegraph.pl"),
	OPT_INT(0, "width", "PIXELS", svg.width, "of the picture (default: 1200)"),
	OPT_INT(0, "height", "PIXELS", svg.height, "of a frame (default: 16)"),
	OPT_FN_UNDO(0, "minwidth", "PIXELS", on_minwidth,
		    "leave out narrower frames (default: 0.1), or per cent of the whole: 0.5%",
		    NULL),
	OPT_STR(0, "fonttype", "FONT", svg.fonttype, "of all text (default: Verdana)"),
	OPT_FN(0, "fontsize", "SIZE", on_number, "of frames (default: 12)"),
	OPT_STR(0, "nametype", "TEXT", svg.nametype, "what frames are (default: 'Function:')"),
	OPT_STR_C(0, "colors", "PALETTE", colors,
		  "hot (default; io for time off the CPU), mem, io, wakeup, chain, java, js, perl, "
		  "red, green, blue, aqua, "
		  "yellow, purple or orange",
		  "hot|mem|io|wakeup|chain|java|js|perl|red|green|blue|aqua|yellow|purple|orange"),
	OPT_STR_C(0, "bgcolors", "COLOR", svg.bgcolors,
		  "background: yellow, blue, green, grey or #rrggbb (default: by palette)",
		  "yellow|blue|green|grey"),
	OPT_FLAG(0, "hash", svg.hash, "names that begin alike get colours that are alike"),
	OPT_FLAG(0, "random", svg.random, "random colours"),
	OPT_FLAG(0, "cp", cp, "keep the colours of names in palette.map, and take them from there"),
	OPT_FN(0, "total", "COUNT", on_number, "what 100% is, when it is more than the sum"),
	OPT_FN(0, "factor", "NUMBER", on_number, "multiply the counts that are shown"),
	OPT_HEAD("Folded output"),
	OPT_FLAG(0, "kernel", kernel, "mark kernel functions with _[k]"),
	OPT_FLAG(0, "jit", jit, "mark functions of just-in-time compilers with _[j]"),
	OPT_FLAG(0, "inline", inlined, "mark inlined functions with _[i]"),
	OPT_FLAG(0, "all", all, "all marks"),
	OPT_END,
};

/* A file or a pipe that somebody made for what we write; a log's socket and /dev/null are none. */
static bool output_is_wanted(void)
{
	struct stat st;

	return fstat(STDOUT_FILENO, &st) == 0 && (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode));
}

/*
 * The format by -o's ending, when --format did not say it. What is read, not recorded, can go
 * where flamegraph.pl puts it: a command's own output would be in its way.
 */
static int choose_format(struct flame_args *a, bool recording, struct err *e)
{
	const char *dot;

	if (!a->output && !recording && !a->open && output_is_wanted()) {
		a->output = "-";
		a->format = a->format == FLAME_BY_NAME ? FLAME_SVG : a->format;
	}
	if (!a->output)
		a->output = a->format == FLAME_SVG	? "flame.svg"
			    : a->format == FLAME_FOLDED ? "flame.folded"
							: "flame.html";
	if (a->format != FLAME_BY_NAME)
		return 0;
	dot = strrchr(a->output, '.');
	if (strcmp(a->output, "-") == 0 ||
	    (dot && (strcmp(dot, ".html") == 0 || strcmp(dot, ".htm") == 0)))
		a->format = FLAME_HTML;
	else if (dot && strcmp(dot, ".svg") == 0)
		a->format = FLAME_SVG;
	else if (dot && (strcmp(dot, ".folded") == 0 || strcmp(dot, ".txt") == 0))
		a->format = FLAME_FOLDED;
	else {
		err_set(e, EINVAL, "-o %s: the name does not say what to write", a->output);
		return err_hint(e, "end it in .html, .svg or .folded, or add --format");
	}
	return 0;
}

static int flame_check(const struct flame_args *a, bool compare, struct err *e)
{
	if (compare && a->svg.flamechart)
		return err_set(e, EINVAL, "--flamechart cannot compare: two runs share no time");
	if (a->svg.flamechart && a->reverse)
		return err_set(e, EINVAL, "--flamechart and --reverse exclude each other");
	if (a->open && strcmp(a->output, "-") == 0)
		return err_set(e, EINVAL, "--open needs a file, not standard output");
	if (a->wall && (a->off_cpu || a->wakers))
		return err_set(e, EINVAL, "--wall shows both; --off-cpu only the waits");
	return flame_svg_check(&a->svg,
			       e); /* a wrong word is told, also where it would not be used */
}

/* Does the picture show when stacks were? */
static bool has_times(const struct flame_args *a)
{
	return a->format == FLAME_HTML || a->svg.flamechart;
}

/* What record is told for pictures of waiting. */
static int record_off(struct flame_args *a, struct err *e)
{
	record_args_begin(&a->record);
	if (!a->off_cpu && !a->wakers && !a->wall)
		return 0;
	a->record.o.capture.off.on = true;
	a->record.o.capture.off.wakers = a->wakers;
	/* shorter waits are summed up, and have no time that could be drawn */
	if (has_times(a))
		a->record.off_thresh_ms = 1;
	/* counted in ns, as waits are */
	if (a->wall && !a->record.o.events.n)
		return spec_parse(&a->record.o.events, "cpu-clock", events_env(), e);
	return 0;
}

/* What the picture shows is recorded now. */
static int flame_record(struct flame_args *a, char **command, struct picture_recorded *ret,
			struct err *e)
{
	int r = picture_can_write(a->output, e);

	if (r == 0)
		r = record_off(a, e);
	a->record.quiet = a->quiet;
	return r < 0 ? r : picture_record(&a->record, !a->chains_said, command, a->output, ret, e);
}

static int flame_run(void *args, int argc, char **argv, struct err *e)
{
	struct flame_args *a = args;
	struct picture_given given = { .n = a->inputs.n > 0 };
	const char **file = given.file;
	struct recorded in = { 0 };
	struct picture_opts o;
	struct picture_recorded recorded = { 0 };
	AUTO_STRBUF title = { 0 };
	char **command;
	int r;

	if (given.n)
		file[0] = a->inputs.data[0];
	r = picture_arguments(&given, 2, argc, argv, a->recording,
			      "kymo flame FILE, or kymo flame [OPTIONS] -- COMMAND", e);
	if (r < 0)
		return r;
	command = given.command;
	if (a->colors)
		a->svg.colors = a->colors;
	r = choose_format(a, command || a->recording, e);
	if (r == 0 && (command || a->recording))
		r = flame_record(a, command, &recorded, e);
	if (recorded.path && !a->svg.title) { /* not the name of a file that is gone */
		for (int i = 0; command && command[i]; i++)
			strbuf_printf(&title, "%s%s", i ? " " : "", command[i]);
		a->svg.title = title.n ? strbuf_str(&title) : "kymo flame";
	}
	if (!given.n)
		file[0] = recorded.path ? recorded.path : input_path(NULL);
	o = (struct picture_opts){
		.off_cpu = a->off_cpu,
		.wall = a->wall,
		.inputs = a->inputs,
		.stacks = { .times = has_times(a),
			    .inlines = true,
			    /* a chart's widths are times, whatever is counted */
			    .counts = a->counts && !(a->svg.flamechart && a->format == FLAME_SVG),
			    .wakers = a->wakers,
			    .marks = a->format != FLAME_FOLDED,
			    .without_idle = a->format != FLAME_FOLDED && !a->idle,
			    .merge_unknown = a->format != FLAME_FOLDED,
			    .collapse_recursion = a->collapse,
			    .event = a->event },
	};
	if (a->wall && a->label == CALLTREE_LABEL_COMM)
		a->label = CALLTREE_LABEL_TID;
	o.stacks.label = a->label;
	if (a->format == FLAME_SVG && !a->wall && !file[1] && !a->reverse && !a->svg.flamechart)
		o.stacks.min_share = flame_svg_min_share(&a->svg);
	if (r == 0)
		r = picture_read(file[0], file[1], &o, &in, e);
	if (r == 0)
		r = flame_check(a, in.two, e);
	if (r == 0)
		r = flame_draw(a, &in, file, e);
	if (r == 0 && a->open)
		r = picture_show(a->output, e);
	recorded_free(&in);
	picture_recorded_free(&recorded);
	return r;
}

static void flame_drop(void *args)
{
	vec_free(&((struct flame_args *)args)->inputs);
	picture_drop(args);
}

static const struct flame_args defaults = {
	.svg = FLAME_SVG_DEFAULTS,
	.label = CALLTREE_LABEL_COMM,
	.max_size = PICTURE_SIZE,
};

static const struct example examples[] = {
	{ "flame -i out.folded", "an interactive page, flame.html" },
	{ "flame -i out.folded -o out.svg --colors java", "the classic picture" },
	{ "flame --title=x out.folded > graph.svg", "the same, as flamegraph.pl is called" },
	{ "flame before.folded after.folded --open", "what got slower (red) and faster (blue)" },
	{ "flame --off-cpu -p 1234 -- sleep 10", "what a process waits for" },
	{ "flame --wall -- make", "all of its time, on the CPU and off it" },
	{ NULL, NULL },
};

const struct command cmd_flame = {
	.name = "flame",
	.group = "Pictures",
	.summary = "draw a flame graph, or compare two",
	.usage = "[OPTIONS] [FILE [AFTER]] | [OPTIONS] -- COMMAND",
	.about = "Draws where the time goes: one self-contained HTML page with search, zoom, "
		 "tables and "
		 "filters, or an SVG in the look and with the options of flamegraph.pl. Two files "
		 "are "
		 "compared: shares that grew are red, those that shrank are blue.",
	.examples = examples,
	.opts = opts,
	.parse = OPT_KEEP_DASHES,
	.args_size = sizeof(struct flame_args),
	.defaults = &defaults,
	.run = flame_run,
	.drop = flame_drop,
};
