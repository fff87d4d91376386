/* SPDX-License-Identifier: MIT */
/* `kymo list`: the events that -e takes on this machine. */
#include <stdlib.h>

#include "base/str.h"
#include "base/term.h"
#include "calc/analysis/analysis.h"
#include "cmd/command.h"
#include "cmd/front/list.h"
#include "kern/virt.h"
#include "kern/why.h"
#include "view/table/table.h"

struct args {
	bool desc, details, long_desc, json, raw_dump, deprecated;
	const char *parse;
};

static const struct opt opts[] = {
	OPT_FLAG('v', "long-desc", long_desc,
		 "descriptions, encodings, a tracepoint's fields, what is not available here"),
	OPT_FLAG(0, "details", details, "the same as -v"),
	OPT_FLAG('d', "desc", desc, "with descriptions (default); --no-desc leaves them out"),
	OPT_FLAG('j', "json", json, "as JSON, with the keys of perf list -j"),
	OPT_FLAG(0, "raw-dump", raw_dump, "names alone, for scripts"),
	OPT_STR_C(0, "parse", "EVENTS", parse,
		  "show what the -e text EVENTS means here, in numbers", "@events"),
	{ .kind = OPT_KIND_FLAG,
	  .name = "deprecated",
	  .flags = OPT_HIDDEN,
	  .field = offsetof(struct args, deprecated),
	  .help = "as perf; kymo hides none" },
	OPT_END,
};

static const struct {
	const char *name;
	unsigned bits;
} classes[] = {
	{ "hw", LIST_HW },
	{ "hardware", LIST_HW },
	{ "sw", LIST_SW | LIST_TOOL },
	{ "software", LIST_SW | LIST_TOOL },
	{ "tool", LIST_TOOL },
	{ "cache", LIST_CACHE },
	{ "hwcache", LIST_CACHE },
	{ "pmu", LIST_PMU },
	{ "pfm", LIST_PFM },
	{ "raw", LIST_RAW },
	{ "tracepoint", LIST_TRACEPOINT | LIST_PROBE },
	{ "probe", LIST_PROBE },
	{ "sdt", LIST_SDT },
	{ "metric", LIST_METRIC },
	{ "metricgroup", LIST_METRIC },
};

static unsigned class_bits(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
		if (strcmp(word, classes[i].name) == 0)
			return classes[i].bits;
	return 0;
}

/* Words that are a class choose it; all others are patterns. */
static void list_choose(struct list *l, int argc, char **argv)
{
	l->patterns = mem_alloc(((size_t)argc + 1) * sizeof(*l->patterns));
	for (int i = 0; i < argc; i++) {
		unsigned bits = class_bits(argv[i]);

		l->classes |= bits;
		if (!bits)
			l->patterns[l->n_patterns++] = argv[i];
	}
	if (!l->classes) {
		l->classes = LIST_DEFAULT;
		/* thousands of vendor's names, and none of them usable without a PMU */
		if (l->core_pmu && l->n_patterns)
			l->classes |= LIST_PFM;
	}
}

static void top_line(const struct list *l)
{
	struct virt virt;

	if (l->style != LIST_TEXT || l->core_pmu ||
	    !(l->classes & (LIST_HW | LIST_CACHE | LIST_RAW)) || l->n_patterns)
		return;
	virt_read(&virt);
	printf("%s%s: hardware events cannot be counted here%s\n", l->yellow, why_no_pmu(virt.vm),
	       l->reset);
}

static int list_nothing(const struct list *l, struct err *e)
{
	if (l->classes == LIST_METRIC) {
		err_set(e, ENOTSUP, "kymo has no metric tables");
		return err_hint(e, "kymo stat computes IPC, miss rates and the like by itself");
	}
	if (!l->n_patterns)
		return 0;
	err_set(e, ENOENT, "no event matches '%s'%s", l->patterns[0],
		l->n_patterns > 1 ? " or the other patterns" : "");
	return err_hint(e, "a word matches anywhere in a name, a pattern (with *) all of it: "
			   "'sched:*', '*switch*'");
}

/* What can be made of recordings: no events, but what events are for. */
static void list_analyses(const struct args *a)
{
	struct tables t = { 0 };

	analyses_table(&t);
	if (a->json)
		table_json_all(stdout, &t);
	else if (a->raw_dump)
		for (const struct analysis *const *x = analyses; *x; x++)
			printf("%s%s", (*x)->name, x[1] ? " " : "\n");
	else
		table_text_all(stdout, &t);
	tables_free(&t);
}

static int list_run(void *args, int argc, char **argv, struct err *e)
{
	const struct args *a = args;
	struct list l = { 0 };
	int r = 0;

	if (argc == 1 && strcmp(argv[0], "analyses") == 0) {
		list_analyses(a);
		return 0;
	}
	env_init(&l.env, NULL);
	if (a->parse) {
		r = list_parse(&l.env, a->parse, a->json, e);
		env_free(&l.env);
		return r;
	}
	l.core_pmu = pmu_has_core(&l.env.pmus);
	l.style = a->json ? LIST_JSON : a->raw_dump ? LIST_WORDS : LIST_TEXT;
	l.details = a->details || a->long_desc;
	l.abouts = a->desc;
	l.bold = term_style(stdout, TERM_BOLD);
	l.dim = term_style(stdout, TERM_DIM);
	l.yellow = term_style(stdout, TERM_YELLOW);
	l.reset = term_style(stdout, TERM_RESET);
	list_choose(&l, argc, argv);
	/* who pipes the whole list has one line for all; who asks for these has it of each */
	l.marks = l.details || isatty(STDOUT_FILENO) || !(l.classes & LIST_TRACEPOINT);
	top_line(&l);
	l.json = json_to(stdout, JSON_PRETTY);
	if (l.style == LIST_JSON)
		json_array(&l.json, NULL);
	list_kinds(&l);
	if (l.style == LIST_JSON)
		json_end(&l.json);
	if (l.style != LIST_TEXT)
		putchar('\n');
	if (!l.shown)
		r = list_nothing(&l, e);
	free(l.patterns);
	env_free(&l.env);
	return r;
}

const struct command cmd_list = {
	.name = "list",
	.group = "Count",
	.summary = "show the events of this machine",
	.usage = "[OPTIONS] [hw|sw|tool|cache|pmu|pfm|raw|tracepoint|probe|sdt|analyses] "
		 "[PATTERN...]",
	.complete = "@events",
	.about = "A PATTERN with * or ? must match a whole name (or all that follows its "
		 "subsystem); a word without them matches anywhere. With classes and patterns, "
		 "only matches in these classes are shown.",
	.examples = EXAMPLES(
		{ "list", "every event of this machine" },
		{ "list sched:*", "the tracepoints of one subsystem" },
		{ "list -v openat", "whatever has openat in its name, with its fields" },
		{ "list hw cache", "hardware and cache events" },
		{ "list analyses", "what is made of recordings, and what it takes" },
		{ "list --parse cycles:u,sched:sched_switch", "what a -e text means here" }),
	.defaults = &(const struct args){ .desc = true },
	COMMAND_USUAL(list),
};
