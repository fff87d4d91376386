/* SPDX-License-Identifier: MIT */
#include "calc/stackwalk.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "base/vec.h"
#include "sym/ehframe.h"
#include "sym/unwind.h"

struct table {
	bool tried;
	struct ehframe *cfi;
	struct ehframe_table *rows;
};

struct stackwalk {
	const struct trace *trace;
	struct symbols *symbols;
	uint16_t machine;
	struct table *tables; /* by dso */
	size_t n_tables;
	struct unwind_cache cache;
	uint32_t space; /* that the cache is of */
	VEC(uint64_t) chain;
	uint64_t cut, all;
};

struct stackwalk *stackwalk_new(const struct trace *t, struct symbols *symbols)
{
	struct stackwalk *w = mem_alloc(sizeof(*w));
	const char *arch = t->info.arch;

	w->trace = t;
	w->symbols = symbols;
	w->machine = arch && strcmp(arch, "aarch64") == 0 ? EM_AARCH64 : EM_X86_64;
	w->n_tables = tasks_n_dsos(t->tasks);
	w->tables = mem_alloc((w->n_tables + 1) * sizeof(*w->tables));
	w->space = TASK_SPACE_NONE;
	return w;
}

void stackwalk_free(struct stackwalk *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->n_tables; i++) {
		ehframe_table_free(w->tables[i].rows);
		ehframe_close(w->tables[i].cfi);
	}
	free(w->tables);
	vec_free(&w->chain);
	free(w);
}

bool stackwalk_can(const struct event *ev)
{
	return ev->extra && ev->extra->regs && ev->extra->stack_size;
}

static const struct table *table_of(struct stackwalk *w, uint32_t dso)
{
	const struct task_dso *d = tasks_get_dso(w->trace->tasks, dso);
	struct find_want want = { .path = tasks_dso_path(w->trace->tasks, dso) };
	struct table *t = &w->tables[dso];
	const struct elf *elf;

	if (t->tried || !d)
		return t;
	t->tried = true;
	memcpy(want.id.data, d->build_id, d->build_id_size);
	want.id.len = d->build_id_size;
	elf = symbols_elf(w->symbols, symbols_dso(w->symbols, &want));
	if (elf && ehframe_open_mem(elf->data, elf->size, 0, &t->cfi, NULL) == 0 &&
	    ehframe_build(t->cfi, &t->rows, NULL) < 0)
		t->rows = NULL;
	return t;
}

static bool find(void *ctx, uint64_t pc, struct unwind_map *ret)
{
	struct stackwalk *w = ctx;
	const struct task_map *m = tasks_find(w->trace->tasks, w->space, pc);
	const struct table *t;

	if (!m || (m->prot && !(m->prot & PROT_EXEC)))
		return false;
	t = table_of(w, m->dso);
	*ret = (struct unwind_map){
		.start = m->start, .end = m->end, .pgoff = m->pgoff, .table = t->rows, .cfi = t->cfi
	};
	return true;
}

void stackwalk_chain(struct stackwalk *w, const struct event *ev, uint32_t max,
		     const uint64_t **chain, uint32_t *n)
{
	const struct event_extra *x = ev->extra;
	uint32_t space = tasks_space_at(w->trace->tasks, ev->pid, ev->time);
	struct unwind_regs regs;
	struct unwind_result r = { 0 };
	struct unwind_input in = { .regs = &regs,
				   .stack = x->stack,
				   .stack_size = x->stack_size,
				   .find = find,
				   .ctx = w };
	uint64_t *user;

	if (space != w->space)
		unwind_cache_reset(&w->cache);
	w->space = space;
	vec_reserve(&w->chain, ev->chain_n + 1 + (size_t)max);
	w->chain.n = 0;
	/* The kernel recorded its own part; the user's, if any, is found better here. */
	for (uint32_t i = 0; i < ev->chain_n && ev->chain[i] != EVENT_CHAIN_USER; i++)
		w->chain.data[w->chain.n++] = ev->chain[i];
	w->chain.data[w->chain.n++] = EVENT_CHAIN_USER;
	user = w->chain.data + w->chain.n;
	if (unwind_regs_from_perf(w->machine, x->regs_abi, x->regs_mask, x->regs, &regs) == 0)
		unwind_stack(&in, &w->cache, user, max, &r);
	for (uint32_t i = 1; i < r.n; i++)
		user[i] -= user[i] != 0;
	w->all++;
	w->cut += r.end != UNWIND_BOTTOM;
	w->chain.n += r.n;
	*chain = w->chain.data;
	*n = (uint32_t)w->chain.n;
}

void stackwalk_counts(const struct stackwalk *w, uint64_t *cut, uint64_t *all)
{
	*cut = w->cut;
	*all = w->all;
}
