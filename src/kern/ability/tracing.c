/* SPDX-License-Identifier: MIT */
/* Lines about tracefs: tracepoints, probes, tracers, and what others left on. */
#include <errno.h>
#include <linux/capability.h>
#include <string.h>

#include "base/str.h"
#include "kern/ability/line.h"

bool ability_tracefs(const struct ability_facts *f, struct ability *a, const char *config)
{
	const struct try_trace *t = &f->trace;

	if (t->readable == 0)
		return true;
	if (kconfig_get(&f->config, config) == 'n') {
		ability_not_built(f, a, config);
	} else if (t->path[0] && priv_has(&f->priv, CAP_DAC_OVERRIDE)) {
		ability_refused(f, a, t->readable);
	} else if (t->path[0]) {
		ability_missing(a, "root only", "tracefs is closed to you");
		ability_needs_root(f, a);
	} else if (t->possible) {
		ability_missing(a, "not mounted", "tracefs is not mounted");
		ability_fix_root(f, a, "mount -t tracefs nodev /sys/kernel/tracing");
	} else {
		ability_not_built(f, a, "TRACING");
	}
	return false;
}

static void say_tracefs(const struct ability_facts *f, struct ability *a)
{
	const struct try_trace *t = &f->trace;

	ability_value(a, "mounted");
	if (t->writable == 0) {
		ability_ok(a, NULL, "%s, yours to use", t->path);
	} else {
		ability_limited(a, NULL, "can be read but not used: %s", strerror(-t->writable));
		ability_needs_root(f, a);
	}
}

static void say_debugfs(const struct ability_facts *f, struct ability *a)
{
	if (f->trace.debugfs[0]) {
		ability_ok(a, "mounted", "%s", f->trace.debugfs);
	} else if (kconfig_get(&f->config, "DEBUG_FS") == 'n') {
		ability_off(a, "none", "not built into this kernel; kymo does not need it");
	} else {
		ability_off(a, "not mounted", "kymo does not need it, old tools and scripts may");
		ability_fix_root(f, a, "mount -t debugfs nodev /sys/kernel/debug");
	}
}

static void say_tracepoints(const struct ability_facts *f, struct ability *a)
{
	char n[32];

	ability_value(a, "%s events", str_thousands(f->trace.events, n, sizeof(n)));
	if (f->trace.events)
		ability_ok(a, NULL, "the kernel's own trace points (kymo list)");
	else
		ability_not_built(f, a, "EVENT_TRACING");
}

static void say_probe(const struct ability_facts *f, struct ability *a)
{
	const struct try_trace *t = &f->trace;
	const char *config = a->line->config;
	int which = a->line->which, r = which == 0 ? t->kprobe : which == 1 ? t->uprobe : t->fprobe;

	if (r == -ENOENT || (r < 0 && kconfig_get(&f->config, config) == 'n')) {
		ability_not_built(f, a, config);
	} else if (r == 0 && which == 0 && t->kprobes_off) {
		ability_missing(a, "switched off", "every kprobe is disarmed");
		ability_fix_root(f, a, "sh -c 'echo 1 > %s/kprobes/enabled'", t->debugfs);
	} else if (r == 0) {
		ability_ok(a, "tried", "%s", a->line->meaning);
	} else if (which == 2 && !t->path[0] && t->possible) {
		ability_tracefs(f, a, config);
	} else if (!priv_has(&f->priv, CAP_SYS_ADMIN)) {
		ability_missing(a, "root only", "%s", a->line->meaning);
		ability_needs_root(f, a);
	} else {
		ability_refused(f, a, r);
	}
}

static void say_function(const struct ability_facts *f, struct ability *a)
{
	const struct try_trace *t = &f->trace;

	if (t->function == -ENOENT) {
		ability_not_built(f, a, "FUNCTION_TRACER");
	} else if (t->function < 0) {
		ability_refused(f, a, t->function);
	} else if (t->ftrace_enabled == 0) {
		ability_missing(a, "switched off",
				"kernel.ftrace_enabled is 0: it records nothing");
		ability_fix_root(f, a, "sysctl kernel.ftrace_enabled=1");
	} else {
		ability_ok(a, "tried", "every kernel function that is called");
	}
}

static void say_graph(const struct ability_facts *f, struct ability *a)
{
	const struct try_trace *t = &f->trace;

	if (!t->graph) {
		ability_not_built(f, a, "FUNCTION_GRAPH_TRACER");
	} else if (t->function < 0 && t->function != -ENOENT) {
		ability_refused(f, a, t->function);
	} else {
		ability_ok(a, "offered", "calls between kernel functions, and how long they take");
	}
}

/* Features that show as a file in tracefs. */
static void say_feature(const struct ability_facts *f, struct ability *a)
{
	if (a->line->which == 0 ? f->trace.hist : f->trace.snapshot)
		ability_ok(a, "offered", "%s", a->line->meaning);
	else
		ability_not_built(f, a, a->line->tracefs);
}

static void say_tracers(const struct ability_facts *f, struct ability *a)
{
	ability_ok(a, f->trace.tracers[0] ? f->trace.tracers : "none", "what current_tracer takes");
}

static void say_others(const struct ability_facts *f, struct ability *a)
{
	const struct try_trace *t = &f->trace;
	AUTO_STRBUF b = { 0 };

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
	ability_ok(a, b.n ? strbuf_str(&b) + 2 : "nothing",
		   b.n ? "set by other tools; kymo leaves it alone" : "no other tracer is at work");
	a->detail = !b.n;
	if (t->current[0]) {
		ability_limited(a, NULL, "another tracer is on and slows this machine down");
		ability_fix_root(f, a, "sh -c 'echo nop > %s/current_tracer'", t->path);
	} else if (t->stopped) {
		ability_off(a, NULL, "the shared trace buffer was stopped; kymo has its own");
		ability_fix_root(f, a, "sh -c 'echo 1 > %s/tracing_on'", t->path);
	}
}

const struct ability_line ability_tracing[] = {
	{ "tracefs", "tracefs", say_tracefs, .tracefs = "TRACING" },
	{ "debugfs", "debugfs", say_debugfs, .detail = true },
	{ "tracepoints", "tracepoints", say_tracepoints, .tracefs = "EVENT_TRACING" },
	{ "kprobes", "kprobes", say_probe, 0, "any kernel function, with arguments",
	  "KPROBE_EVENTS" },
	{ "uprobes", "uprobes", say_probe, 1, "any function of any program", "UPROBE_EVENTS" },
	{ "fprobe", "fprobe", say_probe, 2, "kernel functions, many at once", "FPROBE_EVENTS",
	  .detail = true },
	{ "function", "function", say_function, .tracefs = "FUNCTION_TRACER" },
	{ "function_graph", "function_graph", say_graph, .tracefs = "FUNCTION_GRAPH_TRACER" },
	{ "hist", "hist triggers", say_feature, 0,
	  "histograms and latencies counted inside the kernel", .tracefs = "HIST_TRIGGERS" },
	{ "snapshot", "snapshot", say_feature, 1, "keeping what led up to a moment",
	  .tracefs = "TRACER_SNAPSHOT" },
	{ "tracers", "tracers", say_tracers, .tracefs = "TRACING", .detail = true },
	{ "others", "other tracers", say_others, .tracefs = "TRACING", .detail = true },
	{ NULL },
};
