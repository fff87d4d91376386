/* SPDX-License-Identifier: MIT */
#include "calc/unwound.h"

#include <elf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "sym/archive.h"

#define DEFAULT_FRAMES 1024u

/* A file's tables, made when the first stack goes through it. */
struct file {
	atomic_bool ready;
	struct ehframe *cfi; /* NULL: none to be had */
	struct ehframe_table *table;
};

/* source.impl stays the inner one's, so that what only that format has can still be asked for. */
struct unwound {
	struct source source, *inner;
	struct find_opts find;
	struct file *file; /* by dso */
	size_t n_files;
	pthread_mutex_t lock;
	uint16_t machine;
	unsigned max;
	atomic_uint_fast64_t ends[UNWIND_END_MAX];
};

/* One reading: a thread's own. */
struct reader {
	struct unwound *u;
	event_fn *fn;
	void *ctx;
	struct unwind_cache cache;
	uint32_t space;	 /* that the cache is of */
	uint64_t *chain; /* user frames as unwound */
	uint64_t *words; /* the whole chain with markers */
	size_t words_cap;
	uint64_t ends[UNWIND_END_MAX];
};

bool unwound_needed(const struct source *s)
{
	const uint64_t both = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;

	for (size_t i = 0; i < s->trace->n_types; i++)
		if ((s->trace->types[i].attr.sample_type & both) == both)
			return true;
	return false;
}

static int open_file(struct unwound *u, uint32_t dso, struct ehframe **ret)
{
	const struct tasks *tasks = u->inner->trace->tasks;
	const struct task_dso *d = tasks_get_dso(tasks, dso);
	struct find_want want = { .path = tasks_dso_path(tasks, dso) };
	struct find_stats stats = { 0 };
	struct elf *elf;
	int r;

	/* the page every process has from the kernel: ours is as good as any of this boot */
	if (strcmp(want.path, "[vdso]") == 0) {
		const void *image = (const void *)getauxval(AT_SYSINFO_EHDR); // NOLINT
		size_t n = 0;
		const void *came = archive_by_path(u->find.archive, want.path, &n);

		if (u->find.archive)
			return came ? ehframe_open_mem(came, n, 0, ret, NULL) : -ENOENT;
		return image ? ehframe_open_mem(image, 8192, EHFRAME_LOADED, ret, NULL) : -ENOENT;
	}
	memcpy(want.id.data, d->build_id, d->build_id_size);
	want.id.len = d->build_id_size;
	r = find_file(&u->find, &want, &elf, &stats, NULL);
	if (r < 0)
		return r;
	/* what is in an archive stays in memory */
	r = elf->fd >= 0 ? ehframe_open_fd(elf->fd, ret, NULL)
			 : ehframe_open_mem(elf->data, elf->size, 0, ret, NULL);
	elf_free(elf);
	return r;
}

static const struct file *file_of(struct unwound *u, uint32_t dso)
{
	struct file *f = &u->file[dso];

	if (atomic_load_explicit(&f->ready, memory_order_acquire))
		return f;
	pthread_mutex_lock(&u->lock);
	if (!atomic_load_explicit(&f->ready, memory_order_relaxed)) {
		if (open_file(u, dso, &f->cfi) == 0 && ehframe_build(f->cfi, &f->table, NULL) < 0)
			f->table = NULL;
		atomic_store_explicit(&f->ready, true, memory_order_release);
	}
	pthread_mutex_unlock(&u->lock);
	return f;
}

static bool find_map(void *ctx, uint64_t pc, struct unwind_map *ret)
{
	struct reader *r = ctx;
	const struct task_map *m = tasks_find(r->u->inner->trace->tasks, r->space, pc);
	const struct file *f;

	if (!m || m->dso >= r->u->n_files || (m->prot && !(m->prot & PROT_EXEC)))
		return false;
	f = file_of(r->u, m->dso);
	*ret = (struct unwind_map){ .start = m->start,
				    .end = m->end,
				    .pgoff = m->pgoff,
				    .table = f->table,
				    .cfi = f->cfi };
	return true;
}

/* The kernel's part as recorded, then the user's as unwound. */
static void give_chain(struct reader *r, struct event *ev, uint32_t frames)
{
	uint32_t n = 0, kept = ev->have & EVENT_HAVE_CHAIN ? ev->chain_n : 0;

	if (r->words_cap < kept + frames + 1u) {
		r->words_cap = kept + frames + 64u;
		r->words = mem_grow(r->words, r->words_cap * sizeof(*r->words));
	}
	for (uint32_t i = 0; i < kept && ev->chain[i] != EVENT_CHAIN_USER; i++)
		r->words[n++] = ev->chain[i];
	r->words[n++] = EVENT_CHAIN_USER;
	/* callers by the call, not by where it returns to, as perf shows them */
	for (uint32_t i = 0; i < frames; i++)
		r->words[n++] = r->chain[i] - (i > 0 && r->chain[i]);
	ev->chain = r->words;
	ev->chain_n = n;
	ev->have |= EVENT_HAVE_CHAIN | EVENT_UNWOUND;
}

static int on_event(void *ctx, const struct event *ev)
{
	struct reader *r = ctx;
	const struct event_extra *x = ev->extra;
	struct unwind_regs regs;
	struct unwind_result result;
	struct event with = *ev;
	uint32_t space;

	if (ev->kind != EVENT_SAMPLE || !x || !x->stack || !x->regs ||
	    unwind_regs_from_perf(r->u->machine, x->regs_abi, x->regs_mask, x->regs, &regs) < 0)
		return r->fn(r->ctx, ev);
	space = tasks_space_at(r->u->inner->trace->tasks, ev->pid, ev->time);
	if (space != r->space) {
		r->space = space;
		unwind_cache_reset(&r->cache);
	}
	unwind_stack(&(struct unwind_input){ .regs = &regs,
					     .stack = x->stack,
					     .stack_size = x->stack_size,
					     .find = find_map,
					     .ctx = r },
		     &r->cache, r->chain, r->u->max, &result);
	r->ends[result.end]++;
	give_chain(r, &with, result.n);
	return r->fn(r->ctx, &with);
}

static void reader_open(struct reader *r, struct unwound *u, event_fn *fn, void *ctx)
{
	*r = (struct reader){ .u = u, .fn = fn, .ctx = ctx, .space = TASK_SPACE_NONE };
	r->chain = mem_alloc(u->max * sizeof(*r->chain));
}

static void reader_close(struct reader *r)
{
	for (unsigned i = 0; i < UNWIND_END_MAX; i++)
		atomic_fetch_add(&r->u->ends[i], r->ends[i]);
	free(r->chain);
	free(r->words);
}

static int read_chunk(struct source *s, size_t chunk, event_fn *fn, void *ctx, struct err *e)
{
	struct unwound *u = (struct unwound *)s;
	struct reader r;
	int code;

	reader_open(&r, u, fn, ctx);
	code = u->inner->read_chunk(u->inner, chunk, on_event, &r, e);
	reader_close(&r);
	return code;
}

static int read_ordered(struct source *s, bool all, event_fn *fn, void *ctx, struct err *e)
{
	struct unwound *u = (struct unwound *)s;
	struct reader r;
	int code;

	reader_open(&r, u, fn, ctx);
	code = u->inner->read_ordered(u->inner, all, on_event, &r, e);
	reader_close(&r);
	return code;
}

static void close_source(struct source *s)
{
	struct unwound *u = (struct unwound *)s;

	for (size_t i = 0; i < u->n_files; i++) {
		ehframe_table_free(u->file[i].table);
		ehframe_close(u->file[i].cfi);
	}
	source_close(u->inner);
	pthread_mutex_destroy(&u->lock);
	free(u->file);
	free(u);
}

static uint16_t machine_of(const char *arch)
{
	if (arch && strcmp(arch, "aarch64") == 0)
		return EM_AARCH64;
	if (arch && strcmp(arch, "x86_64") == 0)
		return EM_X86_64;
#if defined(__aarch64__)
	return EM_AARCH64;
#else
	return EM_X86_64;
#endif
}

struct source *unwound_new(struct source *s, const struct find_opts *o, unsigned max_frames)
{
	struct unwound *u = mem_alloc(sizeof(*u));

	u->inner = s;
	u->find = *o;
	u->max = max_frames ? max_frames : DEFAULT_FRAMES;
	u->machine = machine_of(s->trace->info.arch);
	u->n_files = tasks_n_dsos(s->trace->tasks);
	u->file = mem_alloc((u->n_files + 1) * sizeof(*u->file));
	pthread_mutex_init(&u->lock, NULL);
	u->source = *s;
	u->source.stable = false; /* chains are made for each event */
	u->source.read_chunk = read_chunk;
	u->source.read_ordered = read_ordered;
	u->source.close = close_source;
	return &u->source;
}

void unwound_ends(const struct source *s, uint64_t ends[UNWIND_END_MAX])
{
	const struct unwound *u = (struct unwound *)s;

	for (unsigned i = 0; i < UNWIND_END_MAX; i++)
		ends[i] = atomic_load(&u->ends[i]);
}
