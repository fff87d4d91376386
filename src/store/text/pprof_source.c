/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "store/text/own.h"
#include "store/text/pprof.h"

struct unpprof {
	const struct pprof *p;
	struct own *own;
	VEC(uint32_t) frames; /* of all locations seen, each innermost first */
	uint32_t *first, *n;  /* by location: its part of frames; n 0: not made yet */
	uint32_t *type;	      /* by type of the profile */
	VEC(uint32_t) ids;
};

static bool unpprof_of_kernel(struct text_part mapping)
{
	return mapping.n > 8 && memcmp(mapping.s, "[kernel.", 8) == 0;
}

/* What collapse writes as _[k] is kernel code here, too; so is what was mapped from the kernel. */
static enum trace_frame_kind unpprof_kind(struct text_part mapping, struct text_part *name)
{
	static const struct {
		const char *mark;
		enum trace_frame_kind kind;
	} marks[] = { { "_[k]", TRACE_FRAME_KERNEL },
		      { "_[i]", TRACE_FRAME_INLINED },
		      { "_[j]", TRACE_FRAME_JIT } };

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (name->n > 4 && memcmp(name->s + name->n - 4, marks[i].mark, 4) == 0) {
			name->n -= 4;
			return marks[i].kind;
		}
	return unpprof_of_kernel(mapping) ? TRACE_FRAME_KERNEL : TRACE_FRAME_USER;
}

static uint32_t unpprof_line(struct unpprof *u, const struct pprof_location *l, uint32_t i)
{
	const struct pprof_line *line = &u->p->lines.data[l->first + i];
	const struct pprof_function *fn = &u->p->functions.data[line->function];
	struct text_part name = fn->name;
	struct own_frame f = { .module = l->mapping, .file = fn->file };

	f.kind = unpprof_kind(l->mapping, &name);
	f.kernel = f.kind == TRACE_FRAME_KERNEL || unpprof_of_kernel(l->mapping);
	if (i + 1 < l->n && f.kind == TRACE_FRAME_USER)
		f.kind = TRACE_FRAME_INLINED;
	f.name = name.n ? name : (struct text_part){ "[unknown]", 9 };
	if (!name.n)
		f.kind = TRACE_FRAME_UNNAMED;
	if (f.file.n && line->line > 0 && line->line < UINT32_MAX)
		f.line = (uint32_t)line->line;
	return own_frame(u->own, &f);
}

/* A location's frames, innermost first. */
static void unpprof_location(struct unpprof *u, uint32_t at)
{
	const struct pprof_location *l = &u->p->locations.data[at];
	char hex[32];

	u->first[at] = (uint32_t)u->frames.n;
	for (uint32_t i = 0; i < l->n; i++)
		vec_push(&u->frames, unpprof_line(u, l, i));
	if (!l->n) {
		struct own_frame f = { .module = l->mapping,
				       .kind = TRACE_FRAME_UNNAMED,
				       .name.s = hex };

		f.name.n = (size_t)snprintf(hex, sizeof(hex), "0x%llx",
					    (unsigned long long)l->address);
		vec_push(&u->frames, own_frame(u->own, &f));
	}
	u->n[at] = (uint32_t)u->frames.n - u->first[at];
}

static int unpprof_sample(struct unpprof *u, const struct pprof_sample *s, struct err *e)
{
	struct own_sample is = {
		.comm = s->comm,
		.pid = s->pid >= 0 && s->pid <= INT32_MAX ? (int32_t)s->pid : -1,
		.tid = s->tid >= 0 && s->tid <= INT32_MAX ? (int32_t)s->tid : -1,
		.cpu = s->cpu >= 0 && s->cpu < UINT32_MAX ? (uint32_t)s->cpu : UINT32_MAX,
		.timed = s->at > 0,
		.time = s->at > 0 ? (uint64_t)s->at : 0,
	};

	u->ids.n = 0;
	for (size_t i = 0; i < s->locations.n; i++) {
		uint32_t at = s->locations.data[i];

		if (!u->n[at])
			unpprof_location(u, at);
		for (uint32_t k = 0; k < u->n[at]; k++)
			vec_push(&u->ids, u->frames.data[u->first[at] + k]);
	}
	for (uint32_t t = 0; t < u->p->types.n; t++) {
		if (!s->value[t])
			continue;
		is.type = u->type[t];
		is.weight = (uint64_t)s->value[t];
		is.count = text_part_is(u->p->types.data[t].unit, "count") && s->value[t] > 0
				   ? (uint64_t)s->value[t]
				   : 1;
		if (own_sample(u->own, u->ids.data, u->ids.n, &is) < 0)
			return err_set(e, EFBIG, "more frames than kymo can hold");
	}
	return 0;
}

/* Types of one name are one only by mistake: they stay apart. */
static uint32_t unpprof_type(struct unpprof *u, struct text_part name, uint32_t i)
{
	AUTO_FREE char *text = name.n ? mem_strndup(name.s, name.n) : mem_strdup("samples");
	uint32_t type = own_type(u->own, text, strlen(text));

	for (uint32_t k = i; type < i; k++) {
		AUTO_FREE char *other = mem_printf("%s#%u", text, k + 1);

		type = own_type(u->own, other, strlen(other));
	}
	return type;
}

static void unpprof_types(struct unpprof *u)
{
	struct trace_own *about = own_about(u->own);

	u->type = mem_alloc((u->p->types.n + 1) * sizeof(*u->type));
	for (uint32_t i = 0; i < u->p->types.n; i++) {
		const struct pprof_type *t = &u->p->types.data[i];
		struct text_part unit = text_part_is(t->unit, "count") ? t->type : t->unit;

		u->type[i] = unpprof_type(u, t->type, i);
		own_type_at(u->own, u->type[i])->unit =
			text_part_is(unit, "nanoseconds") ? "ns"
			: unit.n ? arena_strndup(own_arena(u->own), unit.s, unit.n)
				 : "samples";
		about->first_type = u->type[i];
	}
	for (uint32_t i = 0; i < u->p->types.n; i++)
		if (u->p->types.data[i].type.n &&
		    u->p->types.data[i].type.n == u->p->default_type.n &&
		    memcmp(u->p->types.data[i].type.s, u->p->default_type.s,
			   u->p->default_type.n) == 0)
			about->first_type = u->type[i];
	about->as_written = about->several = true;
}

static int unpprof_all(struct unpprof *u, struct err *e)
{
	struct pprof_sample sample = { 0 };
	int r = 0;

	u->first = mem_alloc((u->p->locations.n + 1) * sizeof(*u->first));
	u->n = mem_alloc((u->p->locations.n + 1) * sizeof(*u->n));
	unpprof_types(u);
	for (size_t i = 0; i < u->p->samples.n && r == 0; i++) {
		r = pprof_sample(u->p, i, &sample, e);
		if (r == 0)
			r = unpprof_sample(u, &sample, e);
	}
	vec_free(&sample.locations);
	vec_free(&u->frames);
	vec_free(&u->ids);
	free(u->first);
	free(u->n);
	free(u->type);
	return r;
}

int pprof_source(const char *name, const char *data, size_t n, struct source **ret, struct err *e)
{
	struct unpprof u = { 0 };
	struct pprof p;
	int r = pprof_open(name, data, n, &p, e);

	if (r < 0)
		return r;
	u.p = &p;
	u.own = own_new("pprof");
	r = unpprof_all(&u, e);
	if (r == 0)
		*ret = own_source(u.own);
	else
		own_free(u.own);
	pprof_close(&p);
	return r < 0 ? err_wrap(e, "%s", name) : 0;
}
