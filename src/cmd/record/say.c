/* SPDX-License-Identifier: MIT */
/* kymo record: what is said of a recording. */
#include "cmd/record/record.h"

#include <string.h>

#include "cmd/file/evlist.h"

static void record_say_put_attr(void *ctx, const char *name, const char *value)
{
	fprintf(stderr, "  %-32s %s\n", name, value);
}

void record_say_opened(const struct record_args *a, const struct recording *r)
{
	char size[32];

	for (size_t i = 0; a->verbose > 1 && i < r->capture.n; i++) {
		const struct capture_event *ev = &r->capture.event[i];

		fprintf(stderr, "perf_event_attr of %s, opened %zu times:\n", ev->spec->name,
			ev->n_ids);
		capture_settings(&r->capture, ev, record_say_put_attr, NULL);
	}
	if (a->verbose && r->capture.n_rings)
		command_note("%zu rings of %s", r->capture.n_rings,
			     str_bytes(r->capture.ring_size, size, sizeof(size)));
}

void record_say_events(void *ctx, const struct recording *r, const char *how)
{
	AUTO_STRBUF b = { 0 };

	for (size_t i = 0; i < r->capture.n; i++) {
		const struct capture_event *ev = &r->capture.event[i];
		bool first = ev->spec->leader == (int)i && ev->spec->members > 1;
		bool group = strcmp(how, "-g") == 0 && (first || ev->spec->leader != (int)i);
		struct evlist_line line;
		struct event_type type;

		if (group)
			strbuf_puts(&b, first ? "{" : ",");
		type = capture_type(ev);
		line = evlist_begin(&b, &type, strcmp(how, "-F") == 0);
		if (strcmp(how, "-v") == 0)
			capture_settings(&r->capture, ev, evlist_setting, &line);
		if (!group)
			strbuf_putc(&b, '\n');
		else if (i + 1 == (size_t)(ev->spec->leader +
					   r->capture.event[ev->spec->leader].spec->members))
			strbuf_puts(&b, "}\n");
	}
	fputs(strbuf_str(&b), stdout);
	fflush(stdout);
}

/* Stacks are not whole: what most of the others ended for, and what helps. */
#define NEARLY_ALL 95.0
static void tell_broken(const struct walker_stats *s, uint32_t max_stack)
{
	const char *advice[UNWIND_END_MAX] = {
		[UNWIND_DEPTH] = max_stack && max_stack < TRACE_WALK_DEPTH
					 ? "--max-stack N allows for deeper ones"
					 : TRACE_WALK_MOST,
		[UNWIND_NO_TABLE] =
			"kymo doctor -p PID shows where; build with -fasynchronous-unwind-tables "
			"or -fno-omit-frame-pointer, run Java with -XX:+PreserveFramePointer",
		[UNWIND_PENDING] = "tables are kept: the next recording has them from its start",
		[UNWIND_TRUNCATED] = "--call-graph dwarf,65528 copies more",
		[UNWIND_ABI] = "--call-graph fp has those with frame pointers",
	};
	unsigned most = UNWIND_DEPTH;
	char n[32];

	for (unsigned i = UNWIND_DEPTH; i < UNWIND_END_MAX; i++)
		most = s->end[i] > s->end[most] ? i : most;
	if (s->end[most])
		command_note("%s stacks are not whole: %s%s%s%s",
			     str_thousands(s->end[most], n, sizeof(n)), unwind_end_text(most),
			     advice[most] ? " (" : "", advice[most] ? advice[most] : "",
			     advice[most] ? ")" : "");
}

static void tell_stacks(const struct record_args *a, struct recording *r)
{
	struct walker_stats s;
	char lost[32], used[32], most[32];

	if (!r->walked.walker)
		return;
	walked_stats(&r->walked, &s);
	if (!a->quiet && s.samples)
		command_note("stacks %s: %.1f%% reached the bottom",
			     r->walked.copies ? "unwound" : "walked in the kernel",
			     walked_whole(&s));
	if (!a->quiet && !a->verbose && s.samples && walked_whole(&s) < NEARLY_ALL)
		tell_broken(&s, r->walked.max_stack);
	for (unsigned i = 0; a->verbose && i < UNWIND_END_MAX; i++)
		if (s.end[i])
			command_note("  %8llu stacks: %s", (unsigned long long)s.end[i],
				     unwind_end_text(i));
	if (a->verbose && s.tables && !r->walked.copies)
		command_note("  tables of %llu files (%llu were kept): %s, %s at most; %s of the "
			     "kernel's memory in all",
			     (unsigned long long)s.tables, (unsigned long long)s.tables_cached,
			     str_bytes(s.table_bytes, used, sizeof(used)),
			     str_bytes(s.table_bytes_max, most, sizeof(most)),
			     str_bytes(s.kernel_bytes, lost, sizeof(lost)));
	if (a->verbose && s.wakers)
		command_note("  %8llu stacks of who ended waits, %llu of them whole",
			     (unsigned long long)s.wakers, (unsigned long long)s.wakers_whole);
	if (r->walked.hits.without)
		command_note("%s without a user stack",
			     str_count(r->walked.hits.without, "hit", lost, sizeof(lost)));
	if (s.lost)
		command_note("%s %s were lost: the walker's ring ran full",
			     str_thousands(s.lost, lost, sizeof(lost)),
			     r->walked.hits.on ? "user stacks" : "samples");
}

static void tell_losses(struct recording *r)
{
	uint64_t lost = capture_losses(&r->capture), more = r->capture.ring_size * 4 >> 20;
	size_t rings = 0;
	char n[64], size[32];

	for (size_t i = 0; i < r->capture.n_rings; i++)
		rings += r->capture.ring[i].lost > 0;
	if (!lost || r->opts->capture.overwrite)
		return;
	command_note(
		"%s lost: %zu of %zu rings (%s each) ran full. Larger ones keep them: -m %lluM",
		str_were(lost, "event", n, sizeof(n)), rings, r->capture.n_rings,
		str_bytes(r->capture.ring_size, size, sizeof(size)),
		(unsigned long long)(more ? more : 1));
}

/* On kernels that keep from perf what happens while a CPU idles: what was taken by other means. */
static void tell_idle(const struct record_args *a, const struct recording *r)
{
	const struct idle_hits *i = &r->idle;
	uint64_t missed = idle_missed(i);
	char n[64];

	if (i->added && a->verbose)
		command_note("%s taken by BPF: this kernel keeps from perf what happens while a "
			     "CPU idles",
			     str_were(i->added, "hit", n, sizeof(n)));
	if (missed)
		command_note("%s lost: they came faster than they could be taken",
			     str_were(missed, "hit", n, sizeof(n)));
	if (i->lost.n && i->filtered && !a->quiet)
		command_note(
			"this kernel keeps from perf what happens while a CPU idles, and a filter "
			"holds for perf only: without --filter, or by 'kymo run', it is seen");
}

/* An empty recording of a process that waits puzzles who asked why it is slow. With -B nobody
 * counted. */
static void tell_none(const struct record_args *a, struct recording *r)
{
	if (!r->out.samples && !r->out.pipe && !a->o.no_buildid && !a->o.capture.no_samples &&
	    !a->o.delayed && !a->o.control && !a->o.switch_signal && !a->o.switch_bytes &&
	    !a->o.switch_ns && !capture_losses(&r->capture) && spec_samples_running(&a->o.events))
		command_note("what was recorded hardly ran in that time: --off-cpu shows where "
			     "threads wait that run now and then, /proc/PID/stack where others do");
}

void record_say_result(const struct record_args *a, struct recording *r)
{
	const struct record_out *o = &r->out;
	char n[64];

	if (a->quiet || a->no_summary)
		return;
	if (a->verbose)
		command_note("woken up %llu times", (unsigned long long)r->wakeups);
	fprintf(stderr, "[ kymo record: Captured and wrote %.3f MB %s", (double)o->bytes / 1048576,
		o->pipe	  ? "to the pipe"
		: o->last ? o->last
			  : o->path);
	if (!o->pipe && !r->opts->no_buildid)
		fprintf(stderr, " (%s)", str_count(o->samples, "sample", n, sizeof(n)));
	fputs(" ]\n", stderr);
	tell_none(a, r);
}

static void tell_off(const struct record_args *a, const struct recording *r)
{
	const struct offcpu *off = &r->walked.off;
	struct walker_stats s;
	char n[64], m[32];

	if (!off->walker)
		return;
	walker_stats(off->walker, &s);
	if (!a->quiet)
		command_note("off the CPU: %.3f s in %s", (double)off->ns / 1e9,
			     str_count(off->stacks.n, "different stack", n, sizeof(n)));
	if (off->stackless)
		command_note(
			"%s samples of time off the CPU have no stack: the walker's ring was full",
			str_thousands(off->stackless, n, sizeof(n)));
	if (s.off_lost_sums || s.off_lost_tasks)
		command_note("time off the CPU is not complete: there was no room for %s waits and "
			     "%s threads (--off-cpu-room N gives more)",
			     str_thousands(s.off_lost_sums, n, sizeof(n)),
			     str_thousands(s.off_lost_tasks, m, sizeof(m)));
	if (s.off_lost_ends)
		command_note(
			"%s whose end this kernel did not tell: left out of the time off the CPU",
			str_count(s.off_lost_ends, "wait", n, sizeof(n)));
}

void record_say_end(const struct record_args *a, struct recording *r)
{
	tell_losses(r);
	tell_stacks(a, r);
	tell_idle(a, r);
	tell_off(a, r);
}
