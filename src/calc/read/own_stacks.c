/* SPDX-License-Identifier: MIT */
#include "calc/read/own_stacks.h"

#include <errno.h>
#include <stdlib.h>

#include "calc/profile/stacks.h"

struct own_reader {
	const struct trace *t;
	const struct trace_own *own;
	const struct own_stacks_opts *o;
	struct stacks *side;
	uint32_t *known[2]; /* by side and frame: its number there + 1 */
	VEC(uint32_t) ids;
};

static uint32_t own_text(struct stacks *s, const char *text)
{
	return text ? strtab_add(&s->strings, text) : STRTAB_NONE;
}

static uint32_t own_stacks_frame(const struct own_reader *r, int side, const struct trace_frame *is)
{
	uint32_t *known = &r->known[side][is - r->own->frame];
	struct stacks *s = &r->side[side];
	struct frame f = { .line = is->line, .kind = (enum frame_kind)is->kind };

	if (*known)
		return *known - 1;
	f.module = own_text(s, is->module);
	f.file = own_text(s, is->file);
	f.name = own_text(s, is->is_addr && r->o->merge_unknown ? "0x0" : is->name);
	*known = stacks_frame(s, &f) + 1;
	return *known - 1;
}

static int own_stacks_sample(void *ctx, const struct event *ev)
{
	struct own_reader *r = ctx;
	bool written = r->own->as_written, side = r->own->two && ev->type;
	struct stacks *s = &r->side[side];
	const char *comm = strtab_get(tasks_strings(r->t->tasks),
				      tasks_comm_at(r->t->tasks, ev->tid, ev->time));
	struct stack_entry en = {
		.type = r->own->two ? 0 : ev->type,
		.comm = own_text(s, *comm ? comm : NULL),
		.pid = ev->pid,
		.tid = ev->tid,
		.cpu = ev->cpu,
		.count = ev->have & EVENT_HAVE_COUNT ? ev->extra->count : 1,
		.weight = r->o->counts && !written ? 1 : (int64_t)ev->weight,
	};

	if (ev->have & EVENT_HAVE_TIME)
		en.time = r->o->time_quantum ? ev->time / r->o->time_quantum * r->o->time_quantum
			  : written	     ? ev->time
					     : 0;
	r->ids.n = 0;
	for (uint32_t i = ev->chain_n; i > 0; i--) {
		const struct trace_frame *f = trace_own_frame(r->own, ev->chain[i - 1]);

		if (f && (r->o->inlines || written || f->kind != TRACE_FRAME_INLINED))
			vec_push(&r->ids, own_stacks_frame(r, side, f));
	}
	en.stack = stacks_stack(s, r->ids.data, r->ids.n);
	if (en.stack == STRTAB_NONE)
		return -EFBIG;
	stacks_add(s, &en);
	return 0;
}

static void own_stacks_types(const struct own_reader *r, struct stacks *s)
{
	s->unit = "samples";
	for (size_t i = 0; i < r->t->n_types && !r->own->two; i++) {
		const struct event_type *t = &r->t->types[i];

		vec_push(&s->type_names, strtab_add(&s->strings, t->name));
		vec_push(&s->type_units,
			 profile_unit(&s->strings, t, r->o->counts && !r->own->as_written));
	}
	if (!r->own->two)
		return;
	vec_push(&s->type_names, strtab_add(&s->strings, "samples"));
	s->unit = r->t->types[0].unit;
}

int own_stacks(struct source *s, const struct own_stacks_opts *o, struct stacks side[2],
	       struct err *e)
{
	struct own_reader r = { .t = s->trace, .own = s->trace->own, .o = o, .side = side };
	int code = 0;

	for (int i = 0; i < 1 + r.own->two; i++)
		r.known[i] = mem_alloc((r.own->n + 1) * sizeof(*r.known[i]));

	for (size_t i = 0; i < s->n_chunks && code == 0; i++)
		code = s->read_chunk(s, i, own_stacks_sample, &r, e);
	for (int i = 0; i < 1 + r.own->two; i++)
		own_stacks_types(&r, &side[i]);
	free(r.known[0]);
	free(r.known[1]);
	vec_free(&r.ids);
	return code == -EFBIG ? err_set(e, EFBIG, "more frames than kymo can hold") : code;
}
