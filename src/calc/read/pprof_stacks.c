/* SPDX-License-Identifier: MIT */
#include "calc/read/pprof_stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct filler {
	const struct pprof *p;
	struct stacks *s;
	VEC(uint32_t) frames; /* of all locations seen, each outermost first */
	uint32_t *first, *n;  /* by location: its part of frames; n 0: not made yet */
	VEC(uint32_t) ids;
};

static bool pprof_stacks_is(struct pprof_text t, const char *s)
{
	return t.n == strlen(s) && memcmp(t.s, s, t.n) == 0;
}

static uint32_t pprof_stacks_text(struct filler *f, struct pprof_text t)
{
	return t.n ? strtab_addn(&f->s->strings, t.s, t.n) : STRTAB_NONE;
}

/* The same where there must be one. */
static uint32_t pprof_stacks_word(struct filler *f, struct pprof_text t)
{
	return strtab_addn(&f->s->strings, t.n ? t.s : "samples", t.n ? t.n : 7);
}

/* What collapse writes as _[k] is kernel code here, too; so is what was mapped from the kernel. */
static enum frame_kind pprof_stacks_kind_of(struct pprof_text mapping, struct pprof_text *name)
{
	static const struct {
		const char *mark;
		enum frame_kind kind;
	} marks[] = { { "_[k]", FRAME_KERNEL }, { "_[i]", FRAME_INLINED }, { "_[j]", FRAME_JIT } };

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (name->n > 4 && memcmp(name->s + name->n - 4, marks[i].mark, 4) == 0) {
			name->n -= 4;
			return marks[i].kind;
		}
	if (mapping.n > 8 && memcmp(mapping.s, "[kernel.", 8) == 0)
		return FRAME_KERNEL;
	return FRAME_USER;
}

static uint32_t frame_of_line(struct filler *f, const struct pprof_location *l, uint32_t i)
{
	const struct pprof_line *line = &f->p->lines.data[l->first + i];
	const struct pprof_function *fn = &f->p->functions.data[line->function];
	struct pprof_text name = fn->name;
	struct frame fr = { .module = pprof_stacks_text(f, l->mapping),
			    .file = pprof_stacks_text(f, fn->file) };

	fr.kind = pprof_stacks_kind_of(l->mapping, &name);
	if (i + 1 < l->n && fr.kind == FRAME_USER)
		fr.kind = FRAME_INLINED;
	fr.name = name.n ? pprof_stacks_text(f, name) : strtab_add(&f->s->strings, "[unknown]");
	if (!name.n)
		fr.kind = FRAME_UNKNOWN;
	fr.line = fr.file != STRTAB_NONE && line->line > 0 && line->line < UINT32_MAX
			  ? (uint32_t)line->line
			  : 0;
	return stacks_frame(f->s, &fr);
}

/* A location's frames, outermost first. */
static void make_location(struct filler *f, uint32_t at)
{
	const struct pprof_location *l = &f->p->locations.data[at];
	char hex[32];

	f->first[at] = (uint32_t)f->frames.n;
	for (uint32_t i = l->n; i > 0; i--)
		vec_push(&f->frames, frame_of_line(f, l, i - 1));
	if (!l->n) {
		struct frame fr = { .module = pprof_stacks_text(f, l->mapping),
				    .file = STRTAB_NONE,
				    .kind = FRAME_UNKNOWN };

		snprintf(hex, sizeof(hex), "0x%llx", (unsigned long long)l->address);
		fr.name = strtab_add(&f->s->strings, hex);
		vec_push(&f->frames, stacks_frame(f->s, &fr));
	}
	f->n[at] = (uint32_t)f->frames.n - f->first[at];
}

static int add_sample(struct filler *f, const struct pprof_sample *s, struct err *e)
{
	struct stack_entry en = {
		.comm = pprof_stacks_text(f, s->comm),
		.pid = s->pid >= 0 && s->pid <= INT32_MAX ? (int32_t)s->pid : -1,
		.tid = s->tid >= 0 && s->tid <= INT32_MAX ? (int32_t)s->tid : -1,
		.cpu = s->cpu >= 0 && s->cpu < UINT32_MAX ? (uint32_t)s->cpu : UINT32_MAX,
		.time = s->at > 0 ? (uint64_t)s->at : 0,
	};

	f->ids.n = 0;
	for (size_t i = s->locations.n; i > 0; i--) {
		uint32_t at = s->locations.data[i - 1];

		if (!f->n[at])
			make_location(f, at);
		for (uint32_t k = 0; k < f->n[at]; k++)
			vec_push(&f->ids, f->frames.data[f->first[at] + k]);
	}
	en.stack = stacks_stack(f->s, f->ids.data, f->ids.n);
	if (en.stack == STRTAB_NONE)
		return err_set(e, EFBIG, "more frames than kymo can hold");
	for (uint32_t t = 0; t < f->p->types.n; t++) {
		if (!s->value[t])
			continue;
		en.type = t;
		en.weight = s->value[t];
		en.count = pprof_stacks_is(f->p->types.data[t].unit, "count") && s->value[t] > 0
				   ? (uint64_t)s->value[t]
				   : 1;
		stacks_add(f->s, &en);
	}
	return 0;
}

static void add_types(struct filler *f, uint32_t *first)
{
	*first = (uint32_t)f->p->types.n - 1;
	for (uint32_t i = 0; i < f->p->types.n; i++) {
		const struct pprof_type *t = &f->p->types.data[i];
		struct pprof_text unit = pprof_stacks_is(t->unit, "count") ? t->type : t->unit;

		vec_push(&f->s->type_names, pprof_stacks_word(f, t->type));
		vec_push(&f->s->type_units, pprof_stacks_is(unit, "nanoseconds")
						    ? strtab_add(&f->s->strings, "ns")
						    : pprof_stacks_word(f, unit));
		if (t->type.n && t->type.n == f->p->default_type.n &&
		    memcmp(t->type.s, f->p->default_type.s, t->type.n) == 0)
			*first = i;
	}
}

int pprof_stacks(const struct pprof *p, struct stacks *s, uint32_t *first, struct err *e)
{
	struct filler f = { .p = p, .s = s };
	struct pprof_sample sample = { 0 };
	int r = 0;

	f.first = mem_alloc((p->locations.n + 1) * sizeof(*f.first));
	f.n = mem_alloc((p->locations.n + 1) * sizeof(*f.n));
	s->unit = "samples";
	add_types(&f, first);
	for (size_t i = 0; i < p->samples.n && r == 0; i++) {
		r = pprof_sample(p, i, &sample, e);
		if (r == 0)
			r = add_sample(&f, &sample, e);
	}
	vec_free(&sample.locations);
	vec_free(&f.frames);
	vec_free(&f.ids);
	free(f.first);
	free(f.n);
	return r;
}
