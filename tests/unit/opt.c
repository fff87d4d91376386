/* SPDX-License-Identifier: MIT */
#include "base/opt.h"

#include "base/vec.h"
#include "tap.h"

struct args {
	bool all, big;
	int detail, freq;
	uint64_t period;
	const char *output, *graph;
	int calls, unsets;
	struct vec_strs names;
};

static int on_graph(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct args *a = args;

	(void)o;
	(void)e;
	a->calls++;
	a->unsets += unset;
	a->graph = value;
	return value && strcmp(value, "bad") == 0 ? err_set(e, EINVAL, "bad graph") : 0;
}

static const struct opt opts[] = {
	OPT_HEAD("Where"),
	OPT_FLAG('a', "all-cpus", all, "all"),
	OPT_COUNT('d', "detailed", detail, "more"),
	OPT_INT('F', "freq", "N", freq, "rate"),
	OPT_U64('c', "count", "N", period, "period"),
	OPT_STR('o', "output", "FILE", output, "file"),
	OPT_FLAG(0, "no-big-num", big, "plain numbers"),
	OPT_STR(0, "sort", "KEYS", output, "comes before its --no-sort"),
	OPT_FLAG(0, "no-sort", big, "not the negation of the one before"),
	OPT_FN_C('g', "call-graph", "MODE", OPT_ARG_LAST, on_graph, "chains", NULL),
	OPT_FN_C(0, "switch-output", "X", OPT_ARG_OPTIONAL, on_graph, "rotate", NULL),
	OPT_FN_C(0, "how", "HOW", OPT_ARG_CHOICE, on_graph, "which", "fp|dwarf"),
	OPT_FN('k', "keep", "WHAT", on_graph, "is not called without a value"),
	OPT_FN_UNDO(0, "mode", "MODE", on_graph, "is, to take it back", NULL),
	OPT_STRS('B', "buffer", "NAME", names, "several"),
	OPT_END,
};

/* Split a line into words and parse them. */
static int parse(const char *line, unsigned flags, struct args *a, struct err *e, char **argv)
{
	static char copy[256];
	int argc = 1;

	snprintf(copy, sizeof(copy), "%s", line);
	argv[0] = (char[]){ "x" };
	for (char *w = strtok(copy, " "); w; w = strtok(NULL, " "))
		argv[argc++] = w;
	argv[argc] = NULL;
	*a = (struct args){ 0 };
	err_clear(e);
	return opt_parse(opts, flags, argc, argv, a, e);
}

int main(void)
{
	struct args a;
	struct err e = { 0 };
	char *argv[32];

	CHECK_INT(parse("-adF99 -o out --count=5 cmd -a", OPT_STOP_AT_ARG, &a, &e, argv), 2);
	CHECK(a.all && a.detail == 1 && a.freq == 99 && a.period == 5);
	CHECK_STR(a.output, "out");
	CHECK_STR(argv[1], "cmd");
	CHECK_STR(argv[2], "-a");
	CHECK_INT(parse("cmd -a x -ddd -- -q", 0, &a, &e, argv), 3);
	CHECK(a.all && a.detail == 3);
	CHECK_STR(argv[3], "-q");
	CHECK_INT(parse("--all --no-all", 0, &a, &e, argv), 0);
	CHECK(!a.all);
	CHECK_INT(parse("--no-big-num", 0, &a, &e, argv), 0);
	CHECK(a.big);
	CHECK_INT(parse("--no-big-num --big-num", 0, &a, &e, argv), 0);
	CHECK(!a.big);
	CHECK_INT(parse("--sort x --no-sort", 0, &a, &e, argv), 0);
	CHECK(a.big);
	CHECK_STR(a.output, "x");
	CHECK_INT(parse("-g -a", 0, &a, &e, argv), 0);
	CHECK(a.calls == 1 && !a.graph && a.all);
	CHECK_INT(parse("-g caller", 0, &a, &e, argv), 0);
	CHECK_STR(a.graph, "caller");
	CHECK_INT(parse("--no-call-graph", 0, &a, &e, argv), 0);
	CHECK_INT(a.unsets, 1);
	CHECK_INT(parse("--switch-output word", 0, &a, &e, argv), 1);
	CHECK(!a.graph);
	CHECK_INT(parse("--switch-output=1G", 0, &a, &e, argv), 0);
	CHECK_STR(a.graph, "1G");
	CHECK_INT(parse("--how dwarf,8192 -a", 0, &a, &e, argv), 0);
	CHECK_STR(a.graph, "dwarf,8192");
	CHECK(a.all);
	CHECK_INT(parse("--how dwar", 0, &a, &e, argv), 1);
	CHECK(!a.graph);
	CHECK_INT(parse("--how -a", 0, &a, &e, argv), 0);
	CHECK(!a.graph && a.all);
	CHECK_INT(parse("-g bad", 0, &a, &e, argv), -EINVAL);

	CHECK_INT(parse("--no-mode", 0, &a, &e, argv), 0);
	CHECK(a.unsets == 1 && !a.graph);
	CHECK_INT(parse("--no-keep", 0, &a, &e, argv), -EINVAL);
	CHECK_STR(e.msg, "unknown option --no-keep");
	CHECK_INT(a.calls, 0);
	CHECK_INT(parse("--no-mode=x", 0, &a, &e, argv), -EINVAL);

	CHECK_INT(parse("-B one --buffer=two -Bthree", 0, &a, &e, argv), 0);
	CHECK_INT((int)a.names.n, 3);
	CHECK_STR(a.names.data[1], "two");
	vec_free(&a.names);
	CHECK_INT(parse("-B one --no-buffer -B two", 0, &a, &e, argv), 0);
	CHECK_INT((int)a.names.n, 1);
	CHECK_STR(a.names.data[0], "two");
	vec_free(&a.names);

	CHECK_INT(parse("-F ninety", 0, &a, &e, argv), -EINVAL);
	CHECK_STR(e.msg, "-F/--freq wants a number, not 'ninety'");
	CHECK_INT(parse("-F", 0, &a, &e, argv), -EINVAL);
	CHECK_STR(e.msg, "-F/--freq needs a value (N)");
	CHECK_INT(parse("--all-cpus=3", 0, &a, &e, argv), -EINVAL);
	CHECK_STR(e.msg, "-a/--all-cpus takes no value");
	CHECK_INT(parse("--outptu x", 0, &a, &e, argv), -EINVAL);
	CHECK_STR(e.msg, "unknown option --outptu");
	CHECK_STR(e.hint, "did you mean --output?");
	CHECK_INT(parse("--no-all-cpsu x", 0, &a, &e, argv), -EINVAL);
	CHECK_STR(e.hint, "did you mean --no-all-cpus?");
	CHECK_INT(parse("-q", 0, &a, &e, argv), -EINVAL);
	CHECK_STR(e.msg, "unknown option -q");
	CHECK_INT(parse("-c -5", 0, &a, &e, argv), -EINVAL);
	CHECK_INT(parse("-F 99999999999", 0, &a, &e, argv), -EINVAL);
	CHECK_INT(parse("-F 9 -h", OPT_STOP_AT_ARG, &a, &e, argv), -ECANCELED);
	CHECK_INT(parse("--help", 0, &a, &e, argv), -ECANCELED);
	CHECK_INT(parse("cmd -h", OPT_STOP_AT_ARG, &a, &e, argv), 2);
	return tap_end();
}
