/* SPDX-License-Identifier: MIT */
#include "calc/profile/stacks.h"

#include <stdio.h>
#include <string.h>

#include "event/waker.h"

struct filler {
	const struct names *n;
	struct stacks *out;
	uint32_t *frame; /* by site: id + 1 in out; 0: not made yet */
	uint32_t *stack; /* by chain: id + 1 in out */
	bool merge;	 /* code without a name is one frame a module */
};

static uint32_t profile_stacks_text(struct filler *f, const char *s)
{
	return s ? strtab_add(&f->out->strings, s) : STRTAB_NONE;
}

/* JIT code has a map of names for a file, or was written to one by perf inject. */
static bool profile_stacks_is_jit(const char *name)
{
	return strncmp(name, "[JIT]", 5) == 0 || strncmp(name, "jitted-", 7) == 0;
}

static enum frame_kind profile_stacks_kind_of(const struct name_site *s, const char *dso)
{
	if (s->space == TASK_SPACE_LABEL)
		return FRAME_LABEL;
	if (s->mode == EVENT_MODE_KERNEL)
		return FRAME_KERNEL;
	return profile_stacks_is_jit(dso) ? FRAME_JIT : FRAME_USER;
}

_Static_assert((int)FRAME_LABEL == (int)TRACE_FRAME_LABEL, "the same kinds in the same order");

struct profile_frame profile_frame(const struct names *n, uint32_t site)
{
	const struct name_site *s = &n->sites.data[site];
	const char *dso = names_dso(n, s->dso);
	const struct trace_frame *own = names_own(n, s);
	struct profile_frame f = { .name = names_function(n, s->frame) };

	if (own)
		return (struct profile_frame){ own->name, own->module, (enum frame_kind)own->kind };
	f.module = s->space == TASK_SPACE_LABEL	  ? NULL
		   : s->mode == EVENT_MODE_KERNEL ? dso
						  : names_path(n, s->dso);
	f.kind = !f.name			    ? FRAME_UNKNOWN
		 : n->frames.data[s->frame].inlined ? FRAME_INLINED
						    : profile_stacks_kind_of(s, dso);
	return f;
}

static uint32_t profile_stacks_frame_of(struct filler *f, uint32_t site)
{
	const struct names *n = f->n;
	const struct name_site *s = &n->sites.data[site];
	struct frame fr = { .file = STRTAB_NONE };
	struct profile_frame is;
	const char *file;
	char hex[32];

	if (f->frame[site])
		return f->frame[site] - 1;
	is = profile_frame(n, site);
	fr.module = profile_stacks_text(f, is.module);
	fr.kind = is.kind;
	if (!is.name && !f->merge)
		snprintf(hex, sizeof(hex), "0x%llx", (unsigned long long)s->dso_addr);
	fr.name = profile_stacks_text(f, is.name ? is.name : f->merge ? "0x0" : hex);
	if (names_line(n, s, &file, &fr.line))
		fr.file = profile_stacks_text(f, file);
	f->frame[site] = stacks_frame(f->out, &fr) + 1;
	return f->frame[site] - 1;
}

/* A chain, innermost first, as a stack, outermost first. */
static uint32_t stack_of(struct filler *f, uint32_t chain)
{
	const struct names *n = f->n;
	const struct name_chain *c = &n->chains[chain];
	uint32_t *ids;

	if (f->stack[chain])
		return f->stack[chain] - 1;
	ids = mem_alloc((c->n + 1) * sizeof(*ids));
	for (uint32_t i = 0; i < c->n; i++)
		ids[c->n - 1 - i] = profile_stacks_frame_of(f, n->chain_sites[c->first + i]);
	f->stack[chain] = stacks_stack(f->out, ids, c->n) + 1;
	free(ids);
	return f->stack[chain] - 1;
}

/* A sample without a chain: its function, and what was inlined there. */
static uint32_t stack_of_site(struct filler *f, uint32_t site)
{
	const struct name_site *s = &f->n->sites.data[site];
	uint32_t inlined = s->inlines ? s->sym->nframes - 1 : 0, ids[64], n = 0;

	ids[n++] = profile_stacks_frame_of(f, site);
	for (uint32_t i = inlined; i > 0 && n < 64; i--)
		ids[n++] = profile_stacks_frame_of(f, s->inlines + i - 1);
	return stacks_stack(f->out, ids, n);
}

static bool profile_stacks_is_clock(const struct event_type *t)
{
	return strncmp(t->name, "cpu-clock", 9) == 0 || strncmp(t->name, "task-clock", 10) == 0;
}

uint32_t profile_unit(struct strtab *to, const struct event_type *t, bool counts)
{
	AUTO_FREE char *name = NULL;

	if (counts)
		return strtab_add(to, "samples");
	/* samples of clocks count ns, whatever unit their sums are shown in */
	if (profile_stacks_is_clock(t))
		return strtab_add(to, "ns");
	if (t->unit)
		return strtab_add(to, t->unit);
	if (t->system)
		return strtab_add(to, "hits");
	name = mem_strndup(t->name, strcspn(t->name, ":"));
	return strtab_add(to, *name ? name : "events");
}

/* The lengths of what lasted are its weights, unless those are counts. */
static struct stack_clock clock_of(const struct event_type *t, bool counts)
{
	struct stack_clock c = { .spans = t->spans && !counts };

	if (t->by_rate && !t->system)
		c.period = t->rate ? 1000000000u / t->rate : 0;
	else if (profile_stacks_is_clock(t))
		c.period = t->rate;
	return c;
}

void profile_types(const struct trace *t, bool counts, struct stacks *ret)
{
	ret->unit = "samples";
	for (size_t i = 0; i < t->n_types; i++) {
		vec_push(&ret->type_names, strtab_add(&ret->strings, t->types[i].name));
		vec_push(&ret->type_units, profile_unit(&ret->strings, &t->types[i], counts));
		vec_push(&ret->clocks, clock_of(&t->types[i], counts));
	}
}

void profile_stacks(const struct names *n, bool counts, bool merge_unknown, struct stacks *ret)
{
	const struct profile *p = n->profile;
	struct filler f = { .n = n, .out = ret, .merge = merge_unknown };
	uint32_t last = STRTAB_NONE, comm = STRTAB_NONE; /* neighbours mostly have the same */
	char buf[32];

	f.frame = mem_alloc((n->sites.n + 1) * sizeof(*f.frame));
	f.stack = mem_alloc((p->chains.n + 1) * sizeof(*f.stack));
	profile_types(p->trace, counts, ret);
	for (size_t i = 0; i < p->entries.n; i++) {
		const struct profile_entry *e = &p->entries.data[i];
		struct stack_entry out = {
			.type = e->type,
			.pid = e->pid,
			.tid = e->tid,
			.cpu = e->cpu,
			.time = counts && p->trace->types[e->type].spans ? 0 : e->time,
			.count = e->count,
			.weight = (int64_t)(counts || (!e->weight && !p->trace->own) ? e->count
										     : e->weight),
		};

		if (e->comm != last || !i)
			comm = p->trace->own && e->comm == STRTAB_NONE
				       ? STRTAB_NONE
				       : profile_stacks_text(
						 &f, tasks_who_name(p->trace->tasks, e->comm, buf));
		last = e->comm;
		out.comm = comm;
		out.stack = e->chain == PROFILE_NO_CHAIN ? stack_of_site(&f, n->entry_site[i])
							 : stack_of(&f, e->chain);
		stacks_add(ret, &out);
	}
	free(f.frame);
	free(f.stack);
}

void first_type_see(struct first_type *f, const struct trace *t, uint32_t type, uint64_t time)
{
	bool waits = waker_is_event(t->types[type].name);

	if (!f->any || (waits != f->waits ? f->waits : time < f->time))
		*f = (struct first_type){ time, type, true, waits };
}

uint32_t profile_first_type(const struct profile *p)
{
	struct first_type f = { 0 };

	vec_each (&p->entries, en)
		first_type_see(&f, p->trace, en->type, en->first);
	return f.type;
}
