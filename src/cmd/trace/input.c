/* SPDX-License-Identifier: MIT */
/*
 * kymo trace -i: the calls of a recording.
 *
 * raw_syscalls:* or syscalls:sys_enter_* and sys_exit_* are paired by thread. What
 * arguments led to was not recorded, so names of files are addresses there; numbers,
 * flags and results are as good as live.
 */
#include <string.h>

#include "calc/slices/slices.h"
#include "cmd/command.h"
#include "cmd/share/input.h"
#include "cmd/trace/trace.h"
#include "event/match.h"
#include "event/text.h"

struct event_of {
	bool is_call, shown;
	int nr; /* -1: in the record */
	const struct field *id, *args, *ret;
	const struct field *arg[SYSCALL_ARGS]; /* of syscalls:sys_enter_* */
};

struct reading {
	struct trace_show *show;
	const struct trace_pick *pick;
	const struct source *source;
	struct event_of *types;
	struct slices *calls;
	VEC(struct trace_record) begun; /* by slot */
};

static void trace_input_look_at(struct reading *p, const struct event_type *t, struct event_of *e)
{
	bool raw = e->is_call && str_starts(t->system, "raw_");
	const char *name = !e->is_call || raw ? NULL : strchr(t->event + strlen("sys_"), '_');

	e->nr = name ? syscall_number(p->show->words.abi[0], name + 1) : -1;
	e->id = type_field(t, raw ? "id" : "__syscall_nr");
	e->args = type_field(t, "args");
	e->ret = type_field(t, "ret");
	for (size_t i = 0, k = 0; name && i < t->n_fields && k < SYSCALL_ARGS; i++)
		if (!t->fields[i].is_common && &t->fields[i] != e->id)
			e->arg[k++] = &t->fields[i];
	for (size_t i = 0; !e->is_call && t->name && i < p->pick->others.n; i++)
		e->shown |= match_type(t, p->pick->others.data[i]);
}

/* Its number; -1 where that was not recorded. */
static int32_t number_of(const struct reading *p, const struct event *ev)
{
	const struct event_of *e = &p->types[ev->type];
	int64_t v = e->nr;

	if (e->nr < 0 && (!e->id || !field_int(e->id, ev->raw, ev->raw_size, &v)))
		v = -1;
	return (int32_t)v;
}

static struct trace_record record_of(const struct event *ev)
{
	return (struct trace_record){ .start = ev->time,
				      .end = ev->time,
				      .pid = (uint32_t)ev->pid,
				      .tid = (uint32_t)ev->tid,
				      .cpu = ev->cpu };
}

/* An exec changes names: it is that of the end. */
static void name_record(const struct reading *p, struct trace_record *r, uint64_t time)
{
	const char *comm = tasks_name_or(p->source->trace->tasks, (int32_t)r->tid, time, "");

	strncpy(r->comm, comm, sizeof(r->comm) - 1);
}

static uint64_t trace_input_begin(void *ctx, const struct event *ev, uint32_t slot)
{
	struct reading *p = ctx;
	const struct event_of *e = &p->types[ev->type];
	struct trace_record *r;
	const void *bytes;
	int64_t v;
	size_t n;

	while (p->begun.n <= slot)
		vec_add(&p->begun);
	r = &p->begun.data[slot];
	*r = record_of(ev);
	r->kind = TRACE_UNFINISHED;
	r->nr = number_of(p, ev);
	if (p->show->a->sums)
		return slot; /* nobody asks for arguments */
	if (e->args && field_bytes(e->args, ev->raw, ev->raw_size, &bytes, &n))
		memcpy(r->arg, bytes, n < sizeof(r->arg) ? n : sizeof(r->arg));
	for (size_t i = 0; i < SYSCALL_ARGS; i++)
		if (e->arg[i] && field_int(e->arg[i], ev->raw, ev->raw_size, &v))
			r->arg[i] = (uint64_t)v;
	return slot;
}

static bool trace_input_fits(void *ctx, const struct slice *s, const struct event *ev)
{
	const struct reading *p = ctx;

	return p->begun.data[s->note].nr == number_of(p, ev);
}

static bool trace_input_wanted(const struct reading *p, const struct trace_record *r)
{
	unsigned nr = r->nr >= 0 && r->nr < SYSCALL_MAX ? (unsigned)r->nr : SYSCALL_MAX - 1;
	const struct trace_args *a = p->show->a;

	return p->pick->wanted[0][nr] && (!a->failed || trace_failed(r)) &&
	       (!a->min_ns || r->end - r->start >= a->min_ns);
}

static int trace_input_finish(struct reading *p, struct trace_record *r)
{
	struct trace_sum_key key = trace_show_key(p->show, r);
	const struct trace_args *a = p->show->a;

	if (!trace_input_wanted(p, r))
		return 0;
	if ((a->sums || a->with_sums) && r->kind == TRACE_CALL) {
		if (!(r->flags & TRACE_NO_START))
			syscalls_add_call(&p->show->sums, &key, r->end - r->start, r->ret);
		if (key.id)
			syscalls_name(&p->show->sums, key.id, r->comm);
	}
	return trace_show_record(p->show, r, r + 1);
}

static int trace_input_slice(void *ctx, const struct slice *s)
{
	struct reading *p = ctx;
	const struct event *ev = s->end;
	struct trace_record r;
	int64_t ret = 0;

	if (s->kind == SLICE_LOST_END)
		return 0;
	if (s->kind == SLICE_OPEN) {
		name_record(p, &p->begun.data[s->note], s->from);
		p->begun.data[s->note].end = s->to;
		return trace_input_finish(p, &p->begun.data[s->note]);
	}
	r = record_of(ev);
	name_record(p, &r, ev->time);
	r.nr = s->kind == SLICE_WHOLE ? p->begun.data[s->note].nr : number_of(p, ev);
	r.kind = TRACE_CALL;
	if (p->types[ev->type].ret)
		field_int(p->types[ev->type].ret, ev->raw, ev->raw_size, &ret);
	r.ret = ret;
	if (s->kind == SLICE_WHOLE) {
		r.start = s->from;
		memcpy(r.arg, p->begun.data[s->note].arg, sizeof(r.arg));
	} else if (r.nr < 0) {
		return 0;
	} else {
		r.flags = TRACE_NO_START;
	}
	return trace_input_finish(p, &r);
}

static int trace_input_on_event(void *ctx, const struct event *ev)
{
	struct reading *p = ctx;
	const struct event_of *e = &p->types[ev->type];
	const struct event_type *t = &p->source->trace->types[ev->type];
	struct trace_record r;
	AUTO_STRBUF b = { 0 };

	if (ev->kind != EVENT_SAMPLE)
		return 0;
	if (!p->show->lines.begin && !p->show->a->full_time)
		p->show->lines.begin = ev->time;
	if (e->is_call)
		return slices_add(p->calls, ev);
	if (e->shown && !p->show->a->sums) {
		r = record_of(ev);
		name_record(p, &r, ev->time);
		text_print(p->source->trace->tep, t, ev->raw, ev->raw_size, &b);
		(p->show->a->json ? trace_json_event : trace_text_event)(&p->show->lines, &r,
									 t->name, strbuf_str(&b));
	}
	return 0;
}

static int trace_input_none(const char *input, struct err *e)
{
	err_set(e, EINVAL, "%s has no system calls", input);
	return err_hint(e, "kymo record -e 'raw_syscalls:*' records them");
}

static int show_all(struct reading *p, struct source *s, struct err *e)
{
	const struct trace_args *a = p->show->a;
	bool any = false;
	int r;

	p->calls = slices_calls(s->trace, (struct slices_opts){ .begin = trace_input_begin,
								.fits = trace_input_fits,
								.misfits_pass = true,
								.fn = trace_input_slice,
								.ctx = p });
	p->types = mem_alloc((s->trace->n_types + 1) * sizeof(*p->types));
	for (uint32_t i = 0; i < s->trace->n_types; i++) {
		p->types[i].is_call = slices_uses(p->calls, i);
		trace_input_look_at(p, &s->trace->types[i], &p->types[i]);
		any |= p->types[i].is_call || p->types[i].shown;
	}
	if (any)
		r = s->read_ordered(s, false, trace_input_on_event, p, e);
	else
		r = trace_input_none(a->input, e);
	if (r >= 0 && !p->show->full)
		slices_finish(p->calls, s->trace->last_time);
	slices_free(p->calls);
	if (r >= 0 && (a->sums || a->with_sums))
		trace_show_sums(p->show);
	return r < 0 ? r : 0;
}

int trace_input(const struct trace_args *a, const struct trace_pick *pick, struct err *e)
{
	struct trace_show show = { 0 };
	struct reading p = { .show = &show, .pick = pick };
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
	vec_free(&p.begun);
	free(p.types);
	return r;
}
