/* SPDX-License-Identifier: MIT */
/*
 * kymo trace -i: the calls of a recording.
 *
 * raw_syscalls:* or syscalls:sys_enter_* and sys_exit_* are paired by thread. What
 * arguments led to was not recorded, so names of files are addresses there; numbers,
 * flags and results are as good as live.
 */
#include <string.h>

#include "cmd/command.h"
#include "cmd/share/input.h"
#include "cmd/trace/trace.h"
#include "event/match.h"
#include "event/text.h"

enum what { OTHER, ENTER, LEAVE };

struct event_of {
	enum what what;
	int nr; /* -1: in the record */
	bool shown;
	const struct field *id, *args, *ret;
	const struct field *arg[SYSCALL_ARGS]; /* of syscalls:sys_enter_* */
};

struct pairing {
	struct trace_show *show;
	const struct trace_pick *pick;
	const struct source *source;
	struct event_of *types;
	VEC(struct trace_record) pending;
	struct map by_tid; /* index + 1 */
	uint64_t calls;
};

static void trace_input_look_at(struct pairing *p, const struct event_type *t, struct event_of *e)
{
	bool raw = t->system && strcmp(t->system, "raw_syscalls") == 0;
	bool each = t->system && strcmp(t->system, "syscalls") == 0;
	const char *name =
		each ? strchr(t->event + (str_starts(t->event, "sys_e") ? 4 : 0), '_') : NULL;

	e->nr = -1;
	if (raw || each) {
		e->what = str_starts(t->event, "sys_enter")  ? ENTER
			  : str_starts(t->event, "sys_exit") ? LEAVE
							     : OTHER;
		e->nr = name ? syscall_number(p->show->words.abi[0], name + 1) : -1;
		e->id = type_field(t, raw ? "id" : "__syscall_nr");
		e->args = type_field(t, "args");
		e->ret = type_field(t, "ret");
		for (size_t i = 0, k = 0; each && i < t->n_fields && k < SYSCALL_ARGS; i++)
			if (!t->fields[i].is_common && &t->fields[i] != e->id)
				e->arg[k++] = &t->fields[i];
	}
	if (e->what == OTHER && t->name)
		for (size_t i = 0; i < p->pick->others.n; i++)
			e->shown |= match_type(t, p->pick->others.data[i]);
}

static void begin_record(const struct pairing *p, const struct event *ev, struct trace_record *r)
{
	const char *comm = tasks_name_or(p->source->trace->tasks, ev->tid, ev->time, "");

	*r = (struct trace_record){ .start = ev->time,
				    .end = ev->time,
				    .pid = (uint32_t)ev->pid,
				    .tid = (uint32_t)ev->tid,
				    .cpu = ev->cpu };
	strncpy(r->comm, comm, sizeof(r->comm) - 1);
}

static void on_enter(struct pairing *p, const struct event *ev, const struct event_of *e)
{
	uint64_t *at = map_at(&p->by_tid, (uint32_t)ev->tid);
	struct trace_record *r;
	int64_t v = e->nr;
	const void *bytes;
	size_t n;

	if (!*at) {
		vec_add(&p->pending);
		*at = p->pending.n;
	}
	r = &p->pending.data[*at - 1];
	begin_record(p, ev, r);
	r->kind = TRACE_UNFINISHED;
	if (e->nr < 0 && (!e->id || !field_int(e->id, ev->raw, ev->raw_size, &v)))
		v = -1;
	r->nr = (int32_t)v;
	if (e->args && field_bytes(e->args, ev->raw, ev->raw_size, &bytes, &n))
		memcpy(r->arg, bytes, n < sizeof(r->arg) ? n : sizeof(r->arg));
	for (size_t i = 0; i < SYSCALL_ARGS; i++)
		if (e->arg[i] && field_int(e->arg[i], ev->raw, ev->raw_size, &v))
			r->arg[i] = (uint64_t)v;
}

static bool trace_input_wanted(const struct pairing *p, const struct trace_record *r)
{
	unsigned nr = r->nr >= 0 && r->nr < SYSCALL_MAX ? (unsigned)r->nr : SYSCALL_MAX - 1;
	const struct trace_args *a = p->show->a;

	return p->pick->wanted[0][nr] && (!a->failed || trace_failed(r)) &&
	       (!a->min_ns || r->end - r->start >= a->min_ns);
}

static int trace_input_finish(struct pairing *p, struct trace_record *r)
{
	struct trace_sum_key key = { .nr = r->nr };
	const struct trace_args *a = p->show->a;

	if (!trace_input_wanted(p, r))
		return 0;
	p->calls++;
	if ((a->sums || a->with_sums) && r->kind == TRACE_CALL) {
		if (!a->mode || strcmp(a->mode, "total") != 0)
			key.id = a->mode && strcmp(a->mode, "thread") == 0 ? r->tid : r->pid;
		if (!(r->flags & TRACE_NO_START))
			syscalls_add_call(&p->show->sums, &key, r->end - r->start, r->ret);
		if (key.id)
			syscalls_name(&p->show->sums, key.id, r->comm);
	}
	return trace_show_record(p->show, r, r + 1);
}

static int on_leave(struct pairing *p, const struct event *ev, const struct event_of *e)
{
	uint64_t *at = map_at(&p->by_tid, (uint32_t)ev->tid);
	struct trace_record r;
	int64_t v = e->nr, ret = 0;

	if (e->nr < 0 && (!e->id || !field_int(e->id, ev->raw, ev->raw_size, &v)))
		v = -1;
	if (e->ret)
		field_int(e->ret, ev->raw, ev->raw_size, &ret);
	if (*at && p->pending.data[*at - 1].kind == TRACE_UNFINISHED &&
	    p->pending.data[*at - 1].nr == (int32_t)v) {
		uint64_t start = p->pending.data[*at - 1].start;

		begin_record(p, ev, &r); /* an exec changes names */
		r.start = start;
		memcpy(r.arg, p->pending.data[*at - 1].arg, sizeof(r.arg));
		p->pending.data[*at - 1].kind = TRACE_CALL;
	} else if (e->nr >= 0 || (int32_t)v >= 0) { /* it began before */
		begin_record(p, ev, &r);
		r.flags = TRACE_NO_START;
	} else {
		return 0;
	}
	r.nr = (int32_t)v;
	r.kind = TRACE_CALL;
	r.ret = ret;
	return trace_input_finish(p, &r);
}

static int trace_input_on_event(void *ctx, const struct event *ev)
{
	struct pairing *p = ctx;
	const struct event_of *e = &p->types[ev->type];
	const struct event_type *t = &p->source->trace->types[ev->type];
	struct trace_record r;
	AUTO_STRBUF b = { 0 };

	if (ev->kind != EVENT_SAMPLE)
		return 0;
	if (!p->show->lines.begin && !p->show->a->full_time)
		p->show->lines.begin = ev->time;
	if (e->what == ENTER)
		on_enter(p, ev, e);
	else if (e->what == LEAVE)
		return on_leave(p, ev, e);
	else if (e->shown && !p->show->a->sums) {
		begin_record(p, ev, &r);
		text_print(p->source->trace->tep, t, ev->raw, ev->raw_size, &b);
		(p->show->a->json ? trace_json_event : trace_text_event)(&p->show->lines, &r,
									 t->name, strbuf_str(&b));
	}
	return 0;
}

static int show_all(struct pairing *p, struct source *s, struct err *e)
{
	const struct trace_args *a = p->show->a;
	bool any = false;
	int r;

	p->types = mem_alloc((s->trace->n_types + 1) * sizeof(*p->types));
	for (size_t i = 0; i < s->trace->n_types; i++) {
		trace_input_look_at(p, &s->trace->types[i], &p->types[i]);
		any |= p->types[i].what != OTHER || p->types[i].shown;
	}
	if (!any) {
		err_set(e, EINVAL, "%s has no system calls", a->input);
		return err_hint(e, "kymo record -e 'raw_syscalls:*' records them");
	}
	r = s->read_ordered(s, false, trace_input_on_event, p, e);
	vec_each (&p->pending, u)
		if (r >= 0 && !p->show->full && u->kind == TRACE_UNFINISHED) {
			u->end = s->trace->last_time;
			r = trace_input_finish(p, u);
		}
	if (r >= 0 && (a->sums || a->with_sums))
		trace_show_sums(p->show);
	return r < 0 ? r : 0;
}

int trace_input(const struct trace_args *a, const struct trace_pick *pick, struct err *e)
{
	struct trace_show show = { 0 };
	struct pairing p = { .show = &show, .pick = pick };
	struct source *s = NULL;
	int r = input_open(a->input, &s, e);

	if (r < 0)
		return r;
	p.source = s;
	r = trace_show_open(&show, a, false, e);
	if (r == 0) {
		trace_words_init(&show.words, NULL);
		if (s->trace->info.arch && strcmp(s->trace->info.arch, "aarch64") == 0)
			show.words.abi[0] = SYSCALL_AARCH64;
		else if (s->trace->info.arch && strcmp(s->trace->info.arch, "x86_64") == 0)
			show.words.abi[0] = SYSCALL_X86_64;
		r = show_all(&p, s, e);
		if (r == 0)
			r = trace_show_close(&show, e);
		else
			trace_show_close(&show, &(struct err){ 0 });
	}
	input_warn(s);
	source_close(s);
	vec_free(&p.pending);
	map_free(&p.by_tid);
	free(p.types);
	return r;
}
