/* SPDX-License-Identifier: MIT */
/* kymo stat report: recorded counts, summed as they were or in another way. */
#define OPT_ARGS struct stat_args
#include "cmd/stat/stat.h"

#include "base/str.h"
#include "cmd/share/input.h"
#include "cmd/share/open.h"
#include "store/stat/statdata.h"

/* clang-format off: one option a line, as in other tables */
static const struct opt opts[] = {
	OPT_STR_C('i', "input", "FILE", input, "read FILE (default: perf.data; -: a pipe)",
		  "@files"),
	OPT_HEAD("Sums"),
	OPT_FLAG('A', "no-aggr", no_aggr, "each CPU by itself"),
	OPT_FLAG(0, "per-thread", per_thread, "each thread by itself"),
	OPT_FLAG(0, "per-core", per_core, "sum per core"),
	OPT_FLAG(0, "per-die", per_die, "sum per die"),
	OPT_FLAG(0, "per-socket", per_socket, "sum per socket"),
	OPT_FLAG(0, "per-node", per_node, "sum per memory node"),
	OPT_FLAG(0, "no-scale", no_scale,
		 "do not scale counts of counters that shared the hardware"),
	OPT_FLAG(0, "no-merge", no_merge, "show like PMUs (uncore_imc_0, ...) one by one"),
	OPT_FLAG(0, "metric-only", style.metric_only, "only the derived figures"),
	OPT_HEAD("Output"),
	OPT_FN('x', "field-separator", "SEP", stat_on_sep, "fields with a separator, for scripts"),
	OPT_FLAG('j', "json-output", json, "a JSON object a line"),
	OPT_STR_C('o', "output", "FILE", output, "write to FILE", "@files"),
	OPT_FLAG(0, "append", append, "append to FILE"),
	OPT_INT(0, "log-fd", "FD", log_fd, "write to this descriptor"),
	OPT_FLAG('B', "big-num", style.big_num, "group the digits of large numbers (default)"),
	OPT_FLAG(0, "quiet", quiet, "no notes"),
	OPT_END,
};
/* clang-format on */

struct report {
	struct stat_args *a;
	struct source *source;
	struct statdata *data;
	FILE *out;
	struct stat_style style;
	uint64_t last_ns;
	unsigned lines;
};

/* Were counts taken on each CPU, or thread, by itself? */
static bool has_places(const struct count_set *set, bool threads)
{
	for (size_t i = 0; i < set->n; i++)
		for (size_t k = 0; k < set->event[i].n_places; k++)
			if (threads ? set->event[i].place[k].tid > 0
				    : set->event[i].place[k].cpu >= 0)
				return true;
	return false;
}

static int choose_sums(struct report *r, struct err *e)
{
	const struct stat_args *a = r->a;
	enum stat_by by = stat_by(a);
	bool asked = by != STAT_GLOBAL;

	if (stat_n_sums(a) > 1)
		return err_set(e, EINVAL, STAT_ONE_SUM);
	if (!asked)
		by = r->data->config.by == STAT_UNSET ? STAT_GLOBAL : r->data->config.by;
	if (by != STAT_GLOBAL && !has_places(&r->data->set, by == STAT_THREAD)) {
		if (asked && !a->quiet)
			command_note("the counts were not taken by %s: they are summed",
				     by == STAT_THREAD ? "thread" : "CPU");
		by = STAT_GLOBAL;
	}
	r->style = stat_style(a, by);
	return 0;
}

static const char *thread_name(void *ctx, pid_t tid)
{
	return statdata_thread(ctx, tid);
}

/* The recorder's words; a stream has none. */
static const char *subject(const struct source *s, struct strbuf *b)
{
	const char *const *word = s->trace->info.cmdline;

	if (!word)
		return "'pipe'";
	strbuf_putc(b, '\'');
	for (size_t i = 0; word[i]; i++)
		strbuf_printf(b, "%s%s", i ? " " : "", word[i]);
	strbuf_putc(b, '\'');
	return strbuf_str(b);
}

static int on_round(void *ctx, struct statdata *d, uint64_t time_ns, bool final, struct err *e)
{
	struct report *r = ctx;
	struct stat_opts o = {
		.by = r->style.by,
		.no_scale = r->a->no_scale || d->config.no_scale,
		.no_merge = r->a->no_merge,
		.wall_ns = (double)(time_ns - r->last_ns),
		.thread_name = thread_name,
		.thread_ctx = d,
	};
	AUTO_STRBUF b = { 0 };
	struct stat_subject about = { .what = subject(r->source, &b),
				      .user_s = d->user_s,
				      .sys_s = d->sys_s };
	struct stat_table t;

	stat_summarise(&d->set, &o, &t);
	if (!final) {
		stat_out_interval(r->out, &r->style, false, &t, (double)time_ns, &r->lines);
	} else {
		stat_print_head(r->out, &r->style, &about, 1);
		stat_print_rows(r->out, &r->style, &t, -1);
		stat_print_end(r->out, &r->style, &about, &t);
	}
	r->last_ns = time_ns;
	stat_table_free(&t);
	return stat_out_flush(r->out, r->a->output, e);
}

static int stat_report_show(struct report *r, struct err *e)
{
	const struct trace_losses *losses = &r->source->trace->losses;
	struct err later = { 0 };
	int code = statdata_open(r->source, &r->data, e), closed;

	if (code == 0)
		code = choose_sums(r, e);
	if (code == 0)
		code = stat_out_open(r->a, r->a->output, &r->out, e);
	if (code < 0)
		return code;
	code = statdata_each(r->data, on_round, r, e);
	closed = stat_out_close(r->out, r->a->output, &later);
	if (code == 0 && closed < 0)
		*e = later;
	if (code == 0 && losses->note[0] && !r->a->quiet)
		command_note("%s", losses->note);
	return code < 0 ? code : closed;
}

static int stat_report_run(void *args, int argc, char **argv, struct err *e)
{
	struct stat_args *a = args;
	struct report r = { .a = a };
	const char *path = a->input ? a->input : argc ? argv[0] : "perf.data";
	int code;

	if (a->style.sep && a->json)
		return err_set(e, EINVAL, "-x and -j cannot be used together");
	code = source_open(path, &r.source, e);
	if (code < 0)
		return code;
	code = input_only_perfdata(r.source, "stat report", e);
	if (code == 0)
		code = stat_report_show(&r, e);
	statdata_close(r.data);
	source_close(r.source);
	return code;
}

static void stat_report_drop(void *args)
{
	spec_list_free(&((struct stat_args *)args)->events);
}

static const struct stat_args defaults = { .repeat = 1,
					   .style = { .big_num = true },
					   .log_fd = -1 };

static const struct example examples[] = {
	{ "stat report", "the counts in perf.data, as they were shown" },
	{ "stat report --per-socket", "summed in another way" },
	{ "stat report -i counts.data -x,", "for scripts" },
	{ NULL, NULL },
};

const struct command cmd_stat_report = {
	.name = "report",
	.summary = "show the counts that stat record kept",
	.usage = "[OPTIONS] [-i FILE]",
	.about = "Reads what kymo stat record or perf stat record wrote. Without options it is "
		 "summed as it was recorded; counts of CPUs can be summed in any other way.",
	.examples = examples,
	.opts = opts,
	.args_size = sizeof(struct stat_args),
	.defaults = &defaults,
	.run = stat_report_run,
	.drop = stat_report_drop,
};
