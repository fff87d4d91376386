/* SPDX-License-Identifier: MIT */
/* Lines about tracefs: tracepoints, probes, tracers, and what others left on. */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kern/ability/line.h"

/*
 * Can tracefs be looked into at all? If not, says so. A kernel that admits to
 * have been built without the thing (config) is the better reason.
 */
static bool reachable(const struct ability_facts *f, struct ability *a, const char *config)
{
	const struct try_trace *t = &f->trace;

	if (t->readable == 0)
		return true;
	if (kconfig_get(&f->config, config) == 'n') {
		ability_not_built(f, a, config);
	} else if (t->path[0] && priv_has(&f->priv, CAP_DAC_OVERRIDE)) {
		ability_refused(f, a, t->readable);
	} else if (t->path[0]) {
		ability_value(a, "root only");
		ability_missing(a, "tracefs is closed to you");
		ability_needs_root(f, a);
	} else if (t->possible) {
		ability_value(a, "not mounted");
		ability_missing(a, "tracefs is not mounted");
		ability_fix_root(f, a, "mount -t tracefs nodev /sys/kernel/tracing");
	} else {
		ability_not_built(f, a, "TRACING");
	}
	return false;
}

static void say_tracefs(const struct ability_facts *f, struct ability *a, int which)
{
	const struct try_trace *t = &f->trace;

	(void)which;
	if (!reachable(f, a, "TRACING"))
		return;
	ability_value(a, "mounted");
	if (t->writable == 0) {
		ability_ok(a, "%s, yours to use", t->path);
	} else {
		ability_limited(a, "can be read but not used: %s", strerror(-t->writable));
		ability_needs_root(f, a);
	}
}

static void say_debugfs(const struct ability_facts *f, struct ability *a, int which)
{
	(void)which;
	if (f->trace.debugfs[0]) {
		ability_value(a, "mounted");
		ability_ok(a, "%s", f->trace.debugfs);
	} else if (kconfig_get(&f->config, "DEBUG_FS") == 'n') {
		ability_value(a, "none");
		ability_off(a, "not built into this kernel; kymo does not need it");
	} else {
		ability_value(a, "not mounted");
		ability_off(a, "kymo does not need it, old tools and scripts may");
		ability_fix_root(f, a, "mount -t debugfs nodev /sys/kernel/debug");
	}
}

static void say_tracepoints(const struct ability_facts *f, struct ability *a, int which)
{
	char n[32];

	(void)which;
	if (!reachable(f, a, "EVENT_TRACING"))
		return;
	ability_value(a, "%s events", str_thousands(f->trace.events, n, sizeof(n)));
	if (f->trace.events)
		ability_ok(a, "the kernel's own trace points (kymo list)");
	else
		ability_not_built(f, a, "EVENT_TRACING");
}

/* The three kinds of probes, by `which`. */
static void say_probe(const struct ability_facts *f, struct ability *a, int which)
{
	static const struct {
		const char *config, *meaning;
	} kinds[] = {
		{ "KPROBE_EVENTS", "any kernel function, with arguments" },
		{ "UPROBE_EVENTS", "any function of any program" },
		{ "FPROBE_EVENTS", "kernel functions, many at once" },
	};
	const struct try_trace *t = &f->trace;
	int r = which == 0 ? t->kprobe : which == 1 ? t->uprobe : t->fprobe;

	if (r == -ENOENT || (r < 0 && kconfig_get(&f->config, kinds[which].config) == 'n')) {
		ability_not_built(f, a, kinds[which].config);
	} else if (r == 0 && which == 0 && t->kprobes_off) {
		ability_value(a, "switched off");
		ability_missing(a, "every kprobe is disarmed");
		ability_fix_root(f, a, "sh -c 'echo 1 > %s/kprobes/enabled'", t->debugfs);
	} else if (r == 0) {
		ability_value(a, "tried");
		ability_ok(a, "%s", kinds[which].meaning);
	} else if (which == 2 && !t->path[0] && t->possible) {
		reachable(f, a, kinds[which].config);
	} else if (!priv_has(&f->priv, CAP_SYS_ADMIN)) {
		ability_value(a, "root only");
		ability_missing(a, "%s", kinds[which].meaning);
		ability_needs_root(f, a);
	} else {
		ability_refused(f, a, r);
	}
}

static void say_function(const struct ability_facts *f, struct ability *a, int which)
{
	const struct try_trace *t = &f->trace;

	(void)which;
	if (!reachable(f, a, "FUNCTION_TRACER"))
		return;
	if (t->function == -ENOENT) {
		ability_not_built(f, a, "FUNCTION_TRACER");
	} else if (t->function < 0) {
		ability_refused(f, a, t->function);
	} else if (t->ftrace_enabled == 0) {
		ability_value(a, "switched off");
		ability_missing(a, "kernel.ftrace_enabled is 0: it records nothing");
		ability_fix_root(f, a, "sysctl kernel.ftrace_enabled=1");
	} else {
		ability_value(a, "tried");
		ability_ok(a, "every kernel function that is called");
	}
}

static void say_graph(const struct ability_facts *f, struct ability *a, int which)
{
	const struct try_trace *t = &f->trace;

	(void)which;
	if (!reachable(f, a, "FUNCTION_GRAPH_TRACER"))
		return;
	if (!t->graph) {
		ability_not_built(f, a, "FUNCTION_GRAPH_TRACER");
	} else if (t->function < 0 && t->function != -ENOENT) {
		ability_refused(f, a, t->function);
	} else {
		ability_value(a, "offered");
		ability_ok(a, "calls between kernel functions, and how long they take");
	}
}

/* Features that show as a file in tracefs, by `which`. */
static void say_feature(const struct ability_facts *f, struct ability *a, int which)
{
	static const struct {
		const char *config, *meaning;
	} kinds[] = {
		{ "HIST_TRIGGERS", "histograms and latencies counted inside the kernel" },
		{ "TRACER_SNAPSHOT", "keeping what led up to a moment" },
	};
	bool there = which == 0 ? f->trace.hist : f->trace.snapshot;

	if (!reachable(f, a, kinds[which].config))
		return;
	if (!there) {
		ability_not_built(f, a, kinds[which].config);
		return;
	}
	ability_value(a, "offered");
	ability_ok(a, "%s", kinds[which].meaning);
}

static void say_tracers(const struct ability_facts *f, struct ability *a, int which)
{
	(void)which;
	if (!reachable(f, a, "TRACING"))
		return;
	ability_value(a, "%s", f->trace.tracers[0] ? f->trace.tracers : "none");
	ability_ok(a, "what current_tracer takes");
}

static void say_others(const struct ability_facts *f, struct ability *a, int which)
{
	const struct try_trace *t = &f->trace;
	AUTO_STRBUF b = { 0 };

	(void)which;
	a->detail = true;
	if (!reachable(f, a, "TRACING"))
		return;
	if (t->current[0])
		strbuf_printf(&b, ", tracer %s", t->current);
	if (t->enabled)
		strbuf_printf(&b, ", %u event%s on", t->enabled, t->enabled == 1 ? "" : "s");
	if (t->probes)
		strbuf_printf(&b, ", %u probe%s", t->probes, t->probes == 1 ? "" : "s");
	if (t->instances)
		strbuf_printf(&b, ", %u instance%s", t->instances, t->instances == 1 ? "" : "s");
	if (t->stopped)
		strbuf_puts(&b, ", tracing_on 0");
	ability_value(a, "%s", b.n ? strbuf_str(&b) + 2 : "nothing");
	ability_ok(a,
		   b.n ? "set by other tools; kymo leaves it alone" : "no other tracer is at work");
	a->detail = !b.n;
	if (t->current[0]) {
		ability_limited(a, "another tracer is on and slows this machine down");
		ability_fix_root(f, a, "sh -c 'echo nop > %s/current_tracer'", t->path);
	} else if (t->stopped) {
		ability_off(a, "the shared trace buffer was stopped; kymo has its own");
		ability_fix_root(f, a, "sh -c 'echo 1 > %s/tracing_on'", t->path);
	}
}

const struct ability_line ability_tracing[] = {
	{ "tracefs", "tracefs", say_tracefs },
	{ "debugfs", "debugfs", say_debugfs, .detail = true },
	{ "tracepoints", "tracepoints", say_tracepoints },
	{ "kprobes", "kprobes", say_probe, .which = 0 },
	{ "uprobes", "uprobes", say_probe, .which = 1 },
	{ "fprobe", "fprobe", say_probe, .which = 2, .detail = true },
	{ "function", "function", say_function },
	{ "function_graph", "function_graph", say_graph },
	{ "hist", "hist triggers", say_feature, .which = 0 },
	{ "snapshot", "snapshot", say_feature, .which = 1 },
	{ "tracers", "tracers", say_tracers, .detail = true },
	{ "others", "other tracers", say_others },
	{ NULL },
};
