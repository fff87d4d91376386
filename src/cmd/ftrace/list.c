/* SPDX-License-Identifier: MIT */
/* kymo ftrace list, options, check-events: what there is to trace with. */
#define OPT_ARGS struct list_args
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "cmd/command.h"
#include "cmd/ftrace/ftrace.h"
#include "cmd/share/accept.h"
#include "event/match.h"
#include "event/printfmt/printfmt.h"
#include "kern/tracefs.h"
#include "live/ftrace/ftrace.h"
#include "store/tracedat/tracedat.h"
#include "store/tracedat/write.h"

struct list_args {
	bool full, plugin_files, plugin_options, no_plugins;
	bool events, event_format, event_filter, event_trigger, tracers, options, functions,
		buffers, clocks, systems, packers;
	const char *pattern;
};

typedef struct list_args args_t;

/* --- options --- */

static int run_options(void *args, int argc, char **argv, struct err *e)
{
	puts("options of kymo ftrace report -O:\n"
	     "  fgraph:tailprint  the function's name behind its closing brace\n"
	     "  fgraph:depth      the depth behind each call\n"
	     "  ftrace:parent     who called the function\n"
	     "  ftrace:indent     calls below their callers (on; =0 turns it off)\n"
	     "  ftrace:offset     names with offsets\n"
	     "  sym-userobj       user stacks as files and offsets (record --proc-map)\n"
	     "kymo ftrace list -o lists the kernel's own options, for record -O.");
	return 0;
}

const struct command cmd_ftrace_options = {
	.name = "options",
	.group = "ftrace",
	.summary = "options that report -O takes",
	.run = run_options,
};

/* --- list --- */

static const struct opt list_opts[] = {
	OPT_FLAG('e', "events", events, "events (of a pattern)"),
	OPT_FLAG('F', "format", event_format, "with -e: their fields"),
	OPT_FLAG(0, "full", full, "with -F: their print formats, too"),
	OPT_FLAG('R', "triggers", event_trigger, "with -e: their triggers"),
	OPT_FLAG('l', "filters", event_filter, "with -e: their filters"),
	OPT_FLAG('s', "systems", systems, "systems of events"),
	OPT_FLAG('t', "tracers", tracers, "tracers"),
	OPT_FLAG('p', "plugins", tracers, "the same"),
	OPT_FLAG('o', "options", options, "trace options"),
	OPT_FLAG('f', "functions", functions, "functions that can be traced (of a pattern)"),
	OPT_FLAG('B', "buffers", buffers, "instances"),
	OPT_FLAG('C', "clocks", clocks, "clocks, [that of the top instance] marked"),
	OPT_FLAG('c', "compression", packers, "ways to compress a trace.dat"),
	OPT_FLAG('O', "plugin-options", plugin_options, "options that report -O takes"),
	OPT_FLAG('P', "plugin-files", plugin_files, "plugins of report (none: all is built in)"),
	OPT_END,
};

static bool ftrace_list_wanted(const args_t *a, const char *name)
{
	regex_t re;
	bool hit;

	if (!a->pattern || match_name(a->pattern, name))
		return true;
	if (str_has_glob(a->pattern) && !strpbrk(a->pattern, "^$.|("))
		return false;
	if (regcomp(&re, a->pattern, REG_EXTENDED | REG_NOSUB))
		return false;
	hit = regexec(&re, name, 0, NULL, 0) == 0;
	regfree(&re);
	return hit;
}

static int list_events(const args_t *a, const char *root, struct err *e)
{
	struct file_names all = { 0 };
	int r = tracefs_all(root, NULL, &all, e);

	for (size_t i = 0; r >= 0 && i < all.n; i++) {
		const char *file = a->event_format    ? "format"
				   : a->event_trigger ? "trigger"
				   : a->event_filter  ? "filter"
						      : NULL;
		AUTO_FREE char *event = mem_strdup(all.name[i]);
		AUTO_FREE char *path = NULL, *text = NULL;

		if (!ftrace_list_wanted(a, event))
			continue;
		*strchr(event, ':') = '/';
		if (a->event_format)
			printf("system: %.*s\n", (int)strcspn(event, "/"), event);
		else
			printf("%s\n", all.name[i]);
		path = mem_printf("events/%s/%s", event, file ? file : "");
		if (file && ftrace_get(root, path, &text, NULL, NULL) == 0) {
			char *print =
				a->event_format && !a->full ? strstr(text, "\nprint fmt:") : NULL;

			if (print)
				*print = '\0';
			printf("%s\n", text);
		}
	}
	file_names_free(&all);
	return r < 0 ? r : 0;
}

/* The names in a file, or those of a directory. */
static int list_words(const args_t *a, const char *root, const char *file, const char *breaks,
		      struct err *e)
{
	AUTO_FREE char *text = NULL;
	char *save = NULL;
	int r = ftrace_get(root, file, &text, NULL, e);

	if (r < 0)
		return r;
	for (char *p = strtok_r(text, breaks, &save); p; p = strtok_r(NULL, breaks, &save))
		if (ftrace_list_wanted(a, p))
			puts(p);
	return 0;
}

static int run_list(void *args, int argc, char **argv, struct err *e)
{
	args_t *a = args;
	const char *root;
	int r = 0;

	a->pattern = argc ? argv[0] : NULL;
	if (a->packers) {
		static const char *const names[] = { "zstd", "zlib", "none" };

		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (tracedat_can_pack(names[i]))
				puts(names[i]);
		return 0;
	}
	if (a->plugin_files)
		puts("(none: what events of the kernel mean is built in)");
	if (a->plugin_options)
		run_options(NULL, 0, NULL, e);
	if (a->plugin_files || a->plugin_options)
		return 0;
	root = ftrace_root(e);
	if (!root)
		return -ENOENT;
	if (a->tracers)
		r = list_words(a, root, "available_tracers", " \n", e);
	if (r >= 0 && a->options)
		r = ftrace_print_names(root, "options", "", true, e);
	if (r >= 0 && a->functions) {
		r = list_words(a, root, "available_filter_functions", "\n", e);
		if (r == -ENOENT)
			err_hint(e, "this kernel cannot trace functions (CONFIG_FUNCTION_TRACER)");
	}
	if (r >= 0 && a->buffers)
		r = ftrace_print_names(root, "instances", "", false, e);
	if (r >= 0 && a->clocks)
		r = list_words(a, root, "trace_clock", " \n", e);
	if (r >= 0 && a->systems) {
		struct file_names names = { 0 };

		r = tracefs_subsystems(root, &names, e);
		for (size_t i = 0; r >= 0 && i < names.n; i++)
			puts(names.name[i]);
		file_names_free(&names);
	}
	if (r >= 0 && (a->events || a->event_format || a->event_filter || a->event_trigger))
		r = list_events(a, root, e);
	if (r >= 0 && !a->tracers && !a->options && !a->functions && !a->buffers && !a->clocks &&
	    !a->systems && !a->events && !a->event_format && !a->event_filter &&
	    !a->event_trigger) {
		printf("tracers:\n");
		r = list_words(a, root, "available_tracers", " \n", e);
		printf("\nevents:\n");
		if (r >= 0)
			r = list_events(a, root, e);
	}
	return r < 0 ? r : 0;
}

const struct command cmd_ftrace_list = {
	.name = "list",
	.group = "ftrace",
	.summary = "tracers, events, functions, options, clocks, instances",
	.usage = "[OPTIONS] [PATTERN]",
	.opts = list_opts,
	.args_size = sizeof(args_t),
	.run = run_list,
};

/* --- check-events --- */

static int check_one(void *ctx, const char *system, const char *event, struct err *e)
{
	AUTO_FREE char *path = mem_printf("events/%s/%s/format", system, event);
	AUTO_FREE char *text = NULL;
	const struct printfmt *print;
	struct event_type t = { .system = system };
	struct arena a = { 0 };
	struct err why = { 0 };
	size_t n = 0, *bad = ctx;

	if (ftrace_get(ftrace_root(NULL), path, &text, &n, NULL) < 0)
		return 0;
	if (type_parse_format(&t, &a, text, n, &why) >= 0)
		t.print_fmt = tracedat_print_fmt(&a, t.print_fmt);
	if (why.code ||
	    (strcmp(system, "ftrace") != 0 && printfmt_compile(&t, &a, 8, &print, &why) < 0)) {
		printf("%s:%s: %s\n", system, event, why.msg);
		++*bad;
	}
	arena_free(&a);
	return 0;
}

static int run_check(void *args, int argc, char **argv, struct err *e)
{
	const char *root = ftrace_root(e);
	size_t bad = 0;
	int n;

	if (!root)
		return -ENOENT;
	n = ftrace_match_events(root, "all", check_one, &bad, e);
	if (n < 0)
		return n;
	if (bad)
		return err_set(e, EINVAL, "%zu of %d formats are not understood", bad, n);
	printf("all %d formats are understood\n", n);
	return 0;
}

static const struct opt check_opts[] = {
	OPT_FLAG('N', "no-plugins", no_plugins, "as trace-cmd has it: kymo needs no plugins"),
	OPT_ACCEPTED_OPTIONAL("verbose"),
	OPT_END,
};

const struct command cmd_ftrace_check_events = {
	.name = "check-events",
	.group = "ftrace",
	.summary = "whether the formats of all events are understood",
	.usage = "[-N]",
	.opts = check_opts,
	.args_size = sizeof(args_t),
	.run = run_check,
};
