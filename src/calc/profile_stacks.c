/* SPDX-License-Identifier: MIT */
#include "calc/profile_stacks.h"

#include <stdio.h>
#include <string.h>

struct filler {
	const struct names *n;
	struct stacks *out;
	uint32_t *frame; /* by site: id + 1 in out; 0: not made yet */
	uint32_t *stack; /* by chain: id + 1 in out */
};

static uint32_t text(struct filler *f, const char *s)
{
	return s ? strtab_add(&f->out->strings, s) : STRTAB_NONE;
}

/* JIT code has a map of names for a file. */
static bool is_jit(const char *path)
{
	return path && (strstr(path, "/perf-") || strncmp(path, "jitted-", 7) == 0) &&
	       strstr(path, ".map");
}

static uint32_t frame_of(struct filler *f, uint32_t site)
{
	const struct names *n = f->n;
	const struct name_site *s = &n->sites.data[site];
	const char *name = names_function(n, s->frame), *dso = names_dso(n, s->dso);
	struct frame fr = { .file = STRTAB_NONE, .module = text(f, dso) };
	char hex[32];

	if (f->frame[site])
		return f->frame[site] - 1;
	fr.kind = s->mode == EVENT_MODE_KERNEL ? FRAME_KERNEL
		  : is_jit(dso)		       ? FRAME_JIT
					       : FRAME_USER;
	if (!name) {
		fr.kind = FRAME_UNKNOWN;
		snprintf(hex, sizeof(hex), "0x%llx", (unsigned long long)s->addr);
		name = hex;
	}
	fr.name = text(f, name);
	if (s->sym && s->sym->nframes && s->sym->frames[0].file != SYMBOLS_NONE) {
		fr.file = text(f, symbols_text(n->symbols, s->sym->frames[0].file));
		fr.line = s->sym->frames[0].line;
	}
	f->frame[site] = stacks_frame(f->out, &fr) + 1;
	return f->frame[site] - 1;
}

/* A chain, innermost first, as a stack, outermost first. */
static uint32_t stack_of(struct filler *f, uint32_t chain)
{
	const struct names *n = f->n;
	uint64_t first = n->chain_first[chain], len = n->chain_first[chain + 1] - first;
	uint32_t *ids;

	if (f->stack[chain])
		return f->stack[chain] - 1;
	ids = mem_alloc((len + 1) * sizeof(*ids));
	for (uint64_t i = 0; i < len; i++)
		ids[len - 1 - i] = frame_of(f, n->chain_sites[first + i]);
	f->stack[chain] = stacks_stack(f->out, ids, len) + 1;
	free(ids);
	return f->stack[chain] - 1;
}

void profile_stacks(const struct names *n, struct stacks *ret)
{
	const struct profile *p = n->profile;
	struct filler f = { .n = n, .out = ret };
	char buf[32];

	f.frame = mem_alloc((n->sites.n + 1) * sizeof(*f.frame));
	f.stack = mem_alloc((p->chains.n + 1) * sizeof(*f.stack));
	ret->unit = "samples";
	for (size_t i = 0; i < p->trace->n_types; i++)
		vec_push(&ret->type_names, text(&f, p->trace->types[i].name));
	for (size_t i = 0; i < p->entries.n; i++) {
		const struct profile_entry *e = &p->entries.data[i];
		const struct event_type *t = &p->trace->types[e->type];
		uint32_t own = frame_of(&f, n->entry_site[i]);
		struct stack_entry out = {
			.type = e->type,
			.comm = text(&f, profile_comm(p->trace, e->comm, buf, sizeof(buf))),
			.pid = e->pid,
			.tid = e->tid,
			.cpu = e->cpu,
			.time = e->time,
			.count = e->count,
			.weight = (int64_t)(t->unit ? e->weight : e->count),
		};

		out.stack = e->chain == PROFILE_NO_CHAIN ? stacks_stack(ret, &own, 1)
							 : stack_of(&f, e->chain);
		if (t->unit)
			ret->unit = t->unit;
		stacks_add(ret, &out);
	}
	free(f.frame);
	free(f.stack);
}
