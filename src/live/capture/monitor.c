/* SPDX-License-Identifier: MIT */
#include "live/capture/monitor.h"

#include <signal.h>
#include <string.h>

#include "event/text.h"
#include "kern/tracefs.h"
#include "live/about/synth.h"
#include "store/perfdata/live.h"

static int64_t monitor_drain(void *ctx, perfdata_live_put_fn *put, void *to, struct err *e)
{
	struct monitor *m = ctx;

	return m->walked.walker ? walked_drain(&m->walked, false, put, to, e)
				: capture_drain(&m->capture, put, to, e);
}

static int no_event(void *ctx, const struct event *ev)
{
	return 0;
}

static int tell_of_tasks(struct monitor *m, struct err *e)
{
	const struct capture_event *ev = capture_tracking(&m->capture);
	const struct target *t = m->capture.target;
	struct synth s = { .fn = perfdata_live_put, .ctx = m->source };
	struct ksyms ksyms;
	int r;

	if (!ev || !ev->n_ids)
		return 0;
	capture_synth(ev, &s);
	ksyms_open(&ksyms);
	r = synth_kernel(&s, &ksyms, e);
	ksyms_close(&ksyms);
	if (r >= 0 && t->system_wide)
		r = synth_all(&s, e);
	else if (r >= 0 && !t->command)
		r = synth_threads(&s, &t->threads, e);
	return r < 0 ? r : m->source->poll(m->source, true, no_event, NULL, e);
}

/* "sched:sched_switch:u": the file that tells its fields. */
static char *format_path(const char *root, const char *name)
{
	size_t system = strcspn(name, ":");
	const char *event = name + system + (name[system] == ':');

	return mem_printf("%s/events/%.*s/%.*s/format", root, (int)system, name,
			  (int)strcspn(event, ":"), event);
}

/* The fields of tracepoints; those that cannot be read are counted without. */
static void read_formats(struct trace *t)
{
	const char *root = NULL;

	for (size_t i = 0; i < t->n_types; i++) {
		struct event_type *type = &t->types[i];
		AUTO_FREE char *path = NULL, *text = NULL;
		size_t n = 0;

		if (type->class != TYPE_TRACEPOINT)
			continue;
		root = root ? root : tracefs_find(NULL);
		if (!root)
			return;
		path = format_path(root, type->name);
		if (file_read(path, 1u << 20, &text, &n) < 0 ||
		    type_parse_format(type, &t->arena, text, n, NULL) < 0)
			continue;
		if (!t->tep)
			t->tep = text_new(&(struct text_opts){ 0 });
		text_prepare(t->tep, type, &t->arena);
	}
}

int monitor_open(struct monitor *m, struct spec_list *specs, struct target *t,
		 const struct capture_opts *o, struct err *e)
{
	AUTO_FREE struct perfdata_event *events = NULL;
	struct capture_opts opts = *o;
	int r;

	*m = (struct monitor){ 0 };
	if (opts.chain == CAPTURE_AUTO) {
		opts.chain = CAPTURE_FP;
		if (walked_fits(specs, o, NULL) == 0 &&
		    walked_open(&m->walked, specs, t, o, true, NULL) == 0)
			walked_prepare(&m->walked, specs, &opts);
	}
	r = capture_open(specs, t, &opts, &m->capture, e);
	if (r == 0 && m->walked.walker)
		r = walked_attach(&m->walked, &m->capture, e);
	if (r < 0) {
		monitor_close(m);
		return r;
	}
	m->source = perfdata_live_new(monitor_drain, m);
	events = capture_events(&m->capture);
	for (size_t i = 0; r == 0 && i < m->capture.n; i++)
		r = perfdata_live_event(m->source, &events[i], e);
	perfdata_live_start(m->source);
	read_formats(m->source->trace);
	if (r == 0)
		r = tell_of_tasks(m, e);
	if (r < 0)
		monitor_close(m);
	return r;
}

void monitor_close(struct monitor *m)
{
	walked_close(&m->walked);
	capture_close(&m->capture);
	source_close(m->source);
	*m = (struct monitor){ 0 };
}

#define GROWN_LEAST (4u << 20) /* bytes that are not worth the work */
#define RECENT_NS 5000000000u  /* samples are not later than that */

bool monitor_grown(const struct monitor *m)
{
	return tasks_size(m->source->trace->tasks) > 2 * m->tasks_size + GROWN_LEAST;
}

typedef VEC(struct task_seen) ended_list;

/* Records get lost, and with them that a task has ended. */
static void note_ended(void *ctx, const struct task_seen *s)
{
	if (s->end == UINT64_MAX && s->tid > 0 && kill(s->tid, 0) < 0 && errno == ESRCH)
		vec_push((ended_list *)ctx, *s);
}

struct tasks *monitor_renew(struct monitor *m, const struct tasks_wanted *w,
			    struct tasks_moved *ret)
{
	struct trace *trace = m->source->trace;
	struct tasks *old = trace->tasks;
	uint64_t now = perfdata_live_time(m->source);
	ended_list ended = { 0 };

	tasks_each(old, note_ended, &ended);
	vec_each (&ended, s)
		tasks_exit(old, now, s->pid, s->tid);
	vec_free(&ended);
	trace->tasks = tasks_renew(old, w, now > RECENT_NS ? now - RECENT_NS : 0, ret);
	m->tasks_size = tasks_size(trace->tasks);
	return old;
}
