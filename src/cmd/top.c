/* SPDX-License-Identifier: MIT */
/* kymo top: the hottest functions now, refreshed. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/guard.h"
#include "base/str.h"
#include "base/term.h"
#include "calc/hist.h"
#include "cmd/command.h"
#include "cmd/event_opts.h"
#include "cmd/top_tui.h"
#include "live/capture_attr.h"
#include "live/monitor.h"
#include "view/top_text.h"

struct args {
	struct spec_list events;
	struct target_opts target;
	struct capture_opts capture;
	const char *sort;
	bool stdio, chains, hide_kernel, hide_user, samples, zero, no_inherit, children;
	int delay_s, freq, iterations, entries;
	double min_percent;
};

static int on_event(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	(void)o;
	(void)unset;
	return spec_parse(&((struct args *)args)->events, value, events_env(), e);
}

static int on_freq(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	uint64_t v = capture_max_freq();

	(void)o;
	(void)unset;
	if (strcmp(value, "max") != 0 && (!str_u64(value, &v) || !v || v > INT32_MAX))
		return err_set(e, EINVAL, "-F wants samples a second or max, not '%s'", value);
	((struct args *)args)->freq = (int)v;
	return 0;
}

static int on_limit(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct args *a = args;

	(void)o;
	(void)unset;
	if (!str_double(value, &a->min_percent) || a->min_percent < 0)
		return err_set(e, EINVAL, "--percent-limit %s: no percentage", value);
	return 0;
}

/* What follows the mode, as perf has it, is for printing graphs: those are opened by keys here. */
static int on_chain(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	static const struct {
		const char *name;
		enum capture_chain chain;
	} modes[] = { { "auto", CAPTURE_AUTO },
		      { "fp", CAPTURE_FP },
		      { "dwarf", CAPTURE_AUTO }, /* its tables, without copies of stacks */
		      { "lbr", CAPTURE_LBR } };
	struct args *a = args;
	size_t n = strcspn(value, ",");

	(void)o;
	(void)unset;
	a->chains = true;
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		if (strlen(modes[i].name) == n && memcmp(modes[i].name, value, n) == 0) {
			a->capture.chain = modes[i].chain;
			return 0;
		}
	err_set(e, EINVAL, "top --call-graph does not know '%.*s'", (int)n, value);
	return err_hint(e, "auto, fp, dwarf or lbr");
}

static int on_nothing(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	(void)o, (void)value, (void)unset, (void)args, (void)e;
	return 0;
}

/* Scripts written for perf give these; what they ask for is so anyway. */
#define ACCEPTED(c, l)                                                                            \
	{                                                                                         \
		.kind = OPT_KIND_FN, .letter = (c), .name = (l), .help = "", .flags = OPT_HIDDEN, \
		.fn = on_nothing                                                                  \
	}

static const struct opt opts[] = {
	OPT_FN_C('e', "event", "EVENT", OPT_ARG_REQUIRED, on_event, "events (default: cycles)",
		 "@events"),
	OPT_FN('F', "freq", "N|max", on_freq, "samples a second (default: 4000)"),
	OPT_U64('c', "count", "N", capture.period, "a sample every N events"),
	OPT_FLAG('a', "all-cpus", target.all_cpus, "the whole machine (default)"),
	OPT_STR_C('p', "pid", "PID,...", target.pids, "these processes", "@pids"),
	OPT_STR_C('t', "tid", "TID,...", target.tids, "these threads", "@pids"),
	OPT_STR_C('C', "cpu", "LIST", target.cpus, "these CPUs", "@cpus"),
	OPT_STR_C('u', "uid", "USER", target.user, "a user's processes", "@users"),
	OPT_FLAG('i', "no-inherit", no_inherit, "not their children"),
	OPT_FLAG('g', NULL, chains, "count callers too"),
	OPT_FN_C(0, "call-graph", "MODE", OPT_ARG_REQUIRED, on_chain,
		 "the same, found by: auto, fp, dwarf, lbr", "auto fp dwarf lbr"),
	OPT_STR('s', "sort", "KEY,...", sort,
		"sum by comm, pid, tid, dso, symbol, cpu (default: dso,symbol)"),
	OPT_FLAG('K', "hide_kernel_symbols", hide_kernel, "hide the kernel's functions"),
	OPT_FLAG('U', "hide_user_symbols", hide_user, "hide user functions"),
	OPT_FLAG('n', "show-nr-samples", samples, "also the number of samples"),
	OPT_FN(0, "percent-limit", "PERCENT", on_limit, "leave out what is below it"),
	OPT_INT('E', "entries", "N", entries, "at most N functions, as text"),
	OPT_FLAG('z', "zero", zero, "start anew at each refresh"),
	OPT_INT('d', "delay", "SECONDS", delay_s, "refresh every so often (default: 2)"),
	OPT_INT(0, "iterations", "N", iterations, "end after N refreshes"),
	OPT_FLAG(0, "stdio", stdio, "as text, one screen after the other"),
	ACCEPTED(0, "tui"),
	ACCEPTED(0, "children"),
	ACCEPTED(0, "no-bpf-event"),
	ACCEPTED(0, "force"),
	ACCEPTED('v', "verbose"),
	OPT_END,
};

struct top {
	struct args *a;
	struct monitor m;
	struct target target;
	struct loop loop;
	struct profile_builder *counted;
	struct symbols *symbols;
	struct columns columns;
	uint64_t samples, kernel, since;
	char event[128], whom[64], title[256];
	bool tui;
};

static int on_sample(void *ctx, const struct event *ev)
{
	struct top *t = ctx;
	bool kernel = ev->mode == EVENT_MODE_KERNEL;

	t->samples++;
	t->kernel += kernel;
	if ((kernel && t->a->hide_kernel) || (!kernel && t->a->hide_user))
		return 0;
	return profile_builder_add(t->counted, ev);
}

static unsigned height(void)
{
	struct winsize w;

	return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 ? w.ws_row : 0;
}

static int show(struct top *t, struct err *e)
{
	struct profile *p = profile_builder_look(t->counted);
	double seconds = (double)(loop_now() - t->since) / 1e9;
	struct top_state s = {
		.event = t->event,
		.whom = t->whom,
		.rate = seconds > 0 ? (double)t->samples / seconds : 0,
		.kernel = t->samples ? 100.0 * (double)t->kernel / (double)t->samples : 0,
		.lost = t->m.source->trace->losses.lost_events,
		.samples = t->a->samples,
	};
	struct names n = { 0 };
	struct cells c;
	struct hist h;
	int r;

	r = names_make(p, t->symbols, &(struct names_opts){ 0 }, &n, e);
	if (r == 0 && symbols_refresh(t->symbols)) { /* code that was compiled meanwhile */
		names_free(&n);
		r = names_make(p, t->symbols, &(struct names_opts){ 0 }, &n, e);
	}
	if (r == 0) {
		cells_make(&c, &n, &(struct cells_opts){ .columns = &t->columns });
		hist_make(&h, &c, &(struct hist_opts){ .children = t->a->chains });
		if (isatty(STDOUT_FILENO))
			guard_tell(stdout, "\033[H\033[2J");
		if (t->a->entries > 0 && (size_t)t->a->entries < h.rows.n)
			h.rows.n = (size_t)t->a->entries;
		top_print(stdout, &s, &h, height(), t->a->min_percent);
		fflush(stdout);
		hist_free(&h);
		cells_free(&c);
	}
	names_free(&n);
	profile_builder_fade(t->counted, t->a->zero ? 0 : 0.875);
	t->samples = t->kernel = 0;
	t->since = loop_now();
	return r < 0 ? r : ferror(stdout) ? err_set(e, EPIPE, "cannot write the output") : 0;
}

enum { TIMER_POLL, TIMER_SHOW, WATCH_RING };

static int watch(struct top *t, struct err *e)
{
	const uint64_t ms = 1000000;
	int shown = 0, r;

	r = loop_timer(&t->loop, TIMER_POLL, 100 * ms, 100 * ms, e);
	if (r >= 0)
		r = loop_timer(&t->loop, TIMER_SHOW, (uint64_t)t->a->delay_s * 1000 * ms,
			       (uint64_t)t->a->delay_s * 1000 * ms, e);
	if (r >= 0)
		r = capture_watch(&t->m.capture, &t->loop, WATCH_RING, e);
	if (r >= 0 && t->m.walked.walker && walker_fd(t->m.walked.walker) >= 0)
		r = loop_watch(&t->loop, WATCH_RING, walker_fd(t->m.walked.walker), e);
	while (r >= 0) {
		struct loop_event ev;

		r = loop_wait(&t->loop, -1, &ev, e);
		if (r < 0)
			break;
		if (ev.kind == LOOP_SIGNAL && ev.id != SIGCHLD)
			return 0;
		r = monitor_poll(&t->m, on_sample, t, e);
		if (r >= 0 && ev.kind == LOOP_TIMER && ev.id == TIMER_SHOW) {
			r = show(t, e);
			if (t->a->iterations && ++shown >= t->a->iterations)
				return r;
		}
	}
	return r;
}

/* Keys that live samples have; report knows more. */
static int parse_sort(void *ctx, const char *text, struct columns *ret, struct err *e)
{
	const struct top *t = ctx;
	struct columns_opts o = { .sort = text, .children = t->a->chains };
	int r = columns_make(ret, &o, e);

	for (unsigned i = 0; r == 0 && i < ret->n; i++) {
		struct column *c = &ret->col[i];

		if (c->key > KEY_CPU && c->key != KEY_DSO && c->key != KEY_SYM &&
		    c->key != KEY_SYM_SIZE && c->key != KEY_DSO_SIZE && c->key != KEY_ADDR &&
		    c->key != KEY_IPC) {
			err_set(e, EINVAL, "top cannot sort by '%s'", key_infos[c->key].name);
			r = err_hint(e, "comm, pid, tgid, dso, symbol, cpu, addr");
		}
		c->hidden = c->key == KEY_IPC;
	}
	return r;
}

static void on_fallback(void *ctx, const char *wanted, const char *taken, const char *why)
{
	(void)ctx;
	(void)wanted;
	(void)taken;
	(void)why; /* the heading names the event that is counted */
}

/* As it is sampled: so often a second, or so many of them at a time. */
static void name_event(struct top *t)
{
	const struct capture_event *ev = &t->m.capture.event[0];
	const char *name = ev->spec->name;
	unsigned long long n = ev->attr.sample_period; /* or freq: it is a union */

	if (ev->attr.freq)
		snprintf(t->event, sizeof(t->event), "%llu Hz %s", n, name);
	else if (n == 1)
		snprintf(t->event, sizeof(t->event), "each %s", name);
	else
		snprintf(t->event, sizeof(t->event), "every %llu %s", n, name);
}

static int start(struct top *t, struct err *e)
{
	struct args *a = t->a;
	struct kallsyms list;
	int r;

	if (!a->events.n && spec_parse(&a->events, "cycles:P", events_env(), e) < 0)
		return -e->code;
	if (!a->target.pids && !a->target.tids && !a->target.cpus && !a->target.user)
		a->target.all_cpus = true;
	r = parse_sort(t, a->sort ? a->sort : "dso,sym", &t->columns, e);
	if (r == 0)
		r = target_make(&a->target, &t->target, e);
	if (r == 0 && !t->tui) /* it takes the signals, which the terminal interface needs */
		r = loop_open(&t->loop, e);
	if (r < 0)
		return r;
	if (a->freq > 0)
		a->capture.freq = (uint64_t)a->freq;
	else /* also with -c: it takes the place of a period that means nothing to a clock */
		a->capture.freq = capture_max_freq() < 4000 ? capture_max_freq() : 4000;
	if (!a->chains)
		a->capture.chain = CAPTURE_NO_CHAIN;
	else if (a->capture.chain == CAPTURE_NO_CHAIN)
		a->capture.chain = CAPTURE_AUTO;
	a->capture.inherit = !a->no_inherit;
	a->capture.time = true;
	a->capture.fallback = on_fallback;
	r = monitor_open(&t->m, &a->events, &t->target, &a->capture, e);
	if (r < 0)
		return r;
	t->counted = profile_builder_new(
		t->m.source->trace,
		&(struct profile_opts){ .by = cells_needs(&t->columns) |
					      (a->chains ? PROFILE_BY_CHAIN : 0) });
	/* a screen that is drawn anew each second cannot wait for servers */
	t->symbols = symbols_new(&(struct symbols_opts){ .no_debuginfod = true });
	if (kallsyms_load(&list, "/proc/kallsyms", NULL) == 0)
		symbols_kernel_list(t->symbols, &list);
	name_event(t);
	snprintf(t->whom, sizeof(t->whom), t->target.system_wide ? "all, %zu CPUs" : "%zu threads",
		 t->target.system_wide ? t->target.cpus.n : t->target.threads.n);
	t->since = loop_now();
	return capture_enable(&t->m.capture, e);
}

static int poll_rings(void *ctx, struct err *e)
{
	struct top *t = ctx;

	return monitor_poll(&t->m, on_sample, t, e);
}

static const char *live_title(void *ctx)
{
	struct top *t = ctx;
	double seconds = (double)(loop_now() - t->since) / 1e9;
	uint64_t lost = t->m.source->trace->losses.lost_events;

	snprintf(t->title, sizeof(t->title), "%.0f samples/s  kernel %.1f%%  %s  (%s)%s%.0llu",
		 seconds > 0 ? (double)t->samples / seconds : 0,
		 t->samples ? 100.0 * (double)t->kernel / (double)t->samples : 0, t->event, t->whom,
		 lost ? "  lost: " : "", (unsigned long long)lost);
	t->samples = t->kernel = 0;
	t->since = loop_now();
	return t->title;
}

/* On a terminal: the rows to walk through. */
static int walk_through(struct top *t, struct err *e)
{
	return top_tui_run(&(struct top_tui){ .trace = t->m.source->trace,
					      .counted = t->counted,
					      .symbols = t->symbols,
					      .columns = &t->columns,
					      .chains = t->a->chains,
					      .keep = t->a->zero ? 0 : 0.875,
					      .refresh_ms = t->a->delay_s * 1000,
					      .samples = t->a->samples,
					      .percent_limit = t->a->min_percent,
					      .parse_sort = parse_sort,
					      .poll = poll_rings,
					      .poll_ms = 100,
					      .title = live_title,
					      .ctx = t },
			   e);
}

static int run(void *args, int argc, char **argv, struct err *e)
{
	struct top t = { .a = args };
	int r;

	if (argc)
		return err_set(e, EINVAL, "top takes no '%s': it watches what runs", argv[0]);
	if (t.a->delay_s < 1)
		return err_set(e, EINVAL, "-d wants at least one second");
	t.tui = !t.a->stdio && !t.a->iterations && tui_usable(NULL) == 0;
	r = start(&t, e);
	if (r == 0)
		r = t.tui ? walk_through(&t, e) : watch(&t, e);
	profile_builder_free(t.counted);
	symbols_free(t.symbols);
	monitor_close(&t.m);
	target_free(&t.target);
	return r;
}

static void drop(void *args)
{
	spec_list_free(&((struct args *)args)->events);
}

static const struct args defaults = { .delay_s = 2 };

static const struct example examples[] = {
	{ "top", "the hottest functions of the machine" },
	{ "top -p 1234 -g", "of a process, with what they called" },
	{ "top -e raw_syscalls:sys_enter -ns comm", "who makes the most system calls" },
	{ "top --stdio --iterations 1", "one screen for a script" },
	{ NULL, NULL },
};

const struct command cmd_top = {
	.name = "top",
	.group = "Profile",
	.summary = "show the hottest functions now",
	.usage = "[OPTIONS]",
	.examples = examples,
	.opts = opts,
	.args_size = sizeof(struct args),
	.defaults = &defaults,
	.run = run,
	.drop = drop,
};
