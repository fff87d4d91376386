/* SPDX-License-Identifier: MIT */
/*
 * Call paths cut to what can be seen, of samples made by hand: every path that has
 * the share has its true sum, however little was kept of each path.
 */
#include "calc/stacks/visible_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "tap.h"

#define FUNCS 40
#define DEPTH 24
#define PAGE 0x1000u
#define BASE 0x400000u

struct shape {
	const char *name;
	unsigned samples, chunks;
	unsigned choice; /* callees of a function */
	unsigned shared; /* outer frames that are one path */
	unsigned depth;
	unsigned trunk; /* one in so many is one path all the way; 0: none */
};

struct made {
	const struct shape *shape;
	struct trace trace;
	struct event_type type;
	struct source source;
	uint64_t (*chains)[DEPTH + 2]; /* NULL: they are gone when the next sample is read */
};

static uint64_t mixed(uint64_t x)
{
	return map_hash(x + 0x1234567);
}

/* The function at a depth of a sample, outermost first: different ones only by and by. */
static unsigned func_at(const struct shape *s, unsigned sample, unsigned depth)
{
	if (depth < s->shared || (s->trunk && sample % s->trunk == 0))
		return depth % FUNCS;
	return (unsigned)(mixed((uint64_t)sample << 8 | depth) % s->choice + depth) % FUNCS;
}

static unsigned depth_of(const struct shape *s, unsigned sample)
{
	return 2 + (unsigned)(mixed(sample) % (s->depth - 1));
}

static uint64_t weight_of(unsigned sample)
{
	return 1 + sample % 3;
}

/* Two processes that have the same files elsewhere. */
static uint64_t where(unsigned sample, unsigned func)
{
	return BASE + (sample % 2 ? 0x10000000u : 0) + (uint64_t)func * 16 * PAGE;
}

static int read_chunk(struct source *src, size_t chunk, event_fn *fn, void *ctx, struct err *e)
{
	struct made *m = src->impl;
	const struct shape *s = m->shape;
	int r = 0;

	(void)e;
	for (unsigned i = (unsigned)chunk; i < s->samples && r == 0; i += s->chunks) {
		unsigned n = depth_of(s, i);
		uint64_t here[DEPTH + 2], *chain = m->chains ? m->chains[i] : here;
		struct event ev = { .kind = EVENT_SAMPLE,
				    .have = EVENT_HAVE_CHAIN,
				    .mode = EVENT_MODE_USER,
				    .pid = 10 + (int)(i % 2),
				    .tid = 10 + (int)(i % 2),
				    .time = 1000 + i,
				    .weight = weight_of(i),
				    .chain = chain };

		chain[0] = EVENT_CHAIN_USER;
		for (unsigned d = 0; d < n; d++) /* many addresses of a function */
			chain[n - d] = where(i, func_at(s, i, d)) + 16 + mixed(i * 31 + d) % 64;
		ev.chain_n = n + 1;
		ev.ip = chain[1];
		r = fn(ctx, &ev);
	}
	return r;
}

static void make(struct made *m, const struct shape *s, bool keep)
{
	*m = (struct made){ .shape = s, .type = { .name = "hits" } };
	m->trace.tasks = tasks_new();
	m->trace.types = &m->type;
	m->trace.n_types = 1;
	for (int pid = 10; pid < 12; pid++) {
		tasks_comm(m->trace.tasks, 1, pid, pid, pid == 10 ? "even" : "odd", false);
		for (unsigned f = 0; f < FUNCS; f++) {
			char path[32];
			struct task_map map = { .start = where((unsigned)pid, f), .pgoff = 0 };

			/* files that are not there: each is one frame without a name */
			snprintf(path, sizeof(path), "/nowhere/f%02u", f);
			map.end = map.start + PAGE;
			map.dso = tasks_dso(m->trace.tasks, path, NULL, 0, false);
			tasks_mmap(m->trace.tasks, 2, pid, pid, &map);
		}
	}
	m->trace.n_samples = s->samples;
	if (keep)
		m->chains = mem_alloc(s->samples * sizeof(*m->chains));
	m->source = (struct source){ .trace = &m->trace,
				     .stable = keep,
				     .format = "made by hand",
				     .impl = m,
				     .n_chunks = s->chunks,
				     .read_chunk = read_chunk };
}

/* Paths as text hashes: "comm", "comm f01", ... to sums. */
static uint64_t step(uint64_t hash, const char *name)
{
	return map_hash(hash ^ map_hash_bytes(name, strlen(name)));
}

static uint64_t all_paths(const struct shape *s, bool comm, struct map *sums)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < s->samples; i++) {
		uint64_t hash = 1;
		char name[16];

		all += weight_of(i);
		if (comm)
			*map_at(sums, hash = step(hash, i % 2 ? "odd" : "even")) += weight_of(i);
		for (unsigned d = 0; d < depth_of(s, i); d++) {
			snprintf(name, sizeof(name), "f%02u", func_at(s, i, d));
			*map_at(sums, hash = step(hash, name)) += weight_of(i);
		}
	}
	return all;
}

static uint64_t got_paths(const struct stacks *s, bool comm, struct map *sums)
{
	uint64_t all = 0;

	vec_each (&s->entries, en) {
		const struct stack *k = &s->stacks.data[en->stack];
		uint64_t hash = 1;

		all += (uint64_t)en->weight;
		if (comm && en->comm != STRTAB_NONE)
			*map_at(sums, hash = step(hash, strtab_get(&s->strings, en->comm))) +=
				(uint64_t)en->weight;
		for (uint32_t i = 0; i < k->n; i++) {
			const struct frame *f = &s->frames.data[s->frame_ids.data[k->first + i]];
			const char *module = strtab_get(&s->strings, f->module);

			*map_at(sums, hash = step(hash, strrchr(module, '/') + 1)) +=
				(uint64_t)en->weight;
		}
	}
	return all;
}

static void compare(const struct shape *s, uint32_t tail, double min_share, bool comm)
{
	struct recorded_opts o = {
		.min_share = min_share,
		.label = comm ? CALLTREE_LABEL_COMM : CALLTREE_LABEL_NONE,
		.tail = tail,
		.room = tail == 2 ? 1000 : 0,
		.few = 8500,
	};
	struct symbols *symbols = symbols_new(&(struct symbols_opts){ 0 });
	struct map want = { 0 }, got = { 0 };
	struct stacks stacks = { 0 };
	unsigned missing = 0, wrong = 0, small = 0;
	uint64_t all = all_paths(s, comm, &want);
	struct err e = { 0 };
	struct made m;
	uint32_t type;

	make(&m, s, comm);
	CHECK(visible_stacks(&m.source, symbols, &o, NULL, &stacks, &type, &e) == 0);
	CHECK(got_paths(&stacks, comm, &got) == all);
	for (size_t i = 0; i < want.cap; i++) {
		const struct map_slot *w = &want.slots[i];
		const uint64_t *g = w->used ? map_find(&got, w->key) : NULL;

		if (!w->used)
			continue;
		missing += !g && (double)w->value >= (double)all * min_share;
		wrong += g && *g != w->value;
		small += g && (double)w->value < (double)all * min_share * 0.9;
	}
	if (missing || wrong || small > 0)
		printf("# %s, tails of %u, %g: %u missing, %u wrong, %u too small\n", s->name, tail,
		       min_share, missing, wrong, small);
	CHECK(!missing);
	CHECK(!wrong);
	CHECK(!small);
	map_free(&want);
	map_free(&got);
	stacks_free(&stacks);
	symbols_free(symbols);
	tasks_free(m.trace.tasks);
	free(m.chains);
}

/* The i-th sample of the first process. */
static int hand_out(event_fn *fn, void *ctx, unsigned i, const uint64_t *chain, uint32_t n)
{
	return fn(ctx, &(struct event){ .kind = EVENT_SAMPLE,
					.have = EVENT_HAVE_CHAIN,
					.mode = EVENT_MODE_USER,
					.pid = 10,
					.tid = 10,
					.time = 1000 + i,
					.weight = 1,
					.chain = chain,
					.chain_n = n });
}

#define RUBBISH 20000u /* samples: names are there after the first few thousand */

/* Rubbish that is half of a mark's bits beside one that has them all, and is left out. */
static int read_rubbish(struct source *src, size_t chunk, event_fn *fn, void *ctx, struct err *e)
{
	static const uint64_t chain[2][3] = {
		{ EVENT_CHAIN_USER, BASE + 16, UINT64_MAX >> 1 },
		{ EVENT_CHAIN_USER, BASE + 16 * PAGE + 16, UINT64_MAX },
	};
	int r = 0;

	(void)src;
	(void)chunk;
	(void)e;
	for (unsigned i = 0; i < RUBBISH && r == 0; i++)
		r = hand_out(fn, ctx, i, chain[i % 4 > 0], 3);
	return r;
}

static void rubbish(void)
{
	static const struct shape shape = { "rubbish", RUBBISH, 1, 1, 1, 2, 0 };
	struct symbols *symbols = symbols_new(&(struct symbols_opts){ 0 });
	struct stacks stacks = { 0 };
	uint64_t by_depth[3] = { 0 };
	struct err e = { 0 };
	struct made m;
	uint32_t type;

	make(&m, &shape, true);
	m.source.read_chunk = read_rubbish;
	CHECK(visible_stacks(&m.source, symbols, &(struct recorded_opts){ .min_share = 0.001 },
			     NULL, &stacks, &type, &e) == 0);
	vec_each (&stacks.entries, en)
		by_depth[stacks.stacks.data[en->stack].n % 3] += en->count;
	CHECK_INT(by_depth[2], RUBBISH / 4);
	CHECK_INT(by_depth[1], RUBBISH - RUBBISH / 4);
	stacks_free(&stacks);
	symbols_free(symbols);
	tasks_free(m.trace.tasks);
	free(m.chains);
}

#define LISTS 12000u /* samples */
#define LIST 45u
static uint64_t list_chains[LISTS][LIST + 8];

/* What a list of rubbish is interrupted by. */
enum midst { NOTHING, MARK, CODE, CODE_TWICE, ELSEWHERE, KERNEL_AFTER, MIDSTS };
static enum midst midst_of(unsigned i)
{
	return mixed(i) >> 8 & 1 ? NOTHING : mixed(i) % MIDSTS;
}
static unsigned list_of(unsigned i)
{
	return 1 + (unsigned)(mixed(i) >> 16) % LIST;
}

/* A frame pointer that is none leads along a list of addresses that are nowhere. */
static int read_lists(struct source *src, size_t chunk, event_fn *fn, void *ctx, struct err *e)
{
	int r = 0;

	(void)e;
	for (unsigned i = (unsigned)chunk; i < LISTS && r == 0; i += (unsigned)src->n_chunks) {
		uint64_t *chain = list_chains[i];
		uint32_t at = 0;
		unsigned n = list_of(i);

		if (midst_of(i) == KERNEL_AFTER) {
			chain[at++] = EVENT_CHAIN_KERNEL;
			chain[at++] = UINT64_MAX << 32;
		}
		chain[at++] = EVENT_CHAIN_USER;
		if (i % 5)
			chain[at++] = where(10, i % 2) + 16;
		for (unsigned d = n; d-- > 0;) {
			uint64_t list = i % 3 ? 0x1000 : UINT64_MAX >> 2;
			enum midst m = d == n / 2 ? midst_of(i) : NOTHING;

			chain[at++] = m == MARK			     ? UINT64_MAX - 16
				      : m == CODE || m == CODE_TWICE ? where(10, 2) + 32
				      : m == ELSEWHERE		     ? UINT64_MAX >> 3
								     : list + d * 64;
			if (m == CODE_TWICE)
				chain[at++] = where(10, 2) + 32;
		}
		r = hand_out(fn, ctx, i, chain, at);
	}
	return r;
}

static void want_list(unsigned i, struct map *sums)
{
	uint64_t hash = 1;

	for (unsigned d = 0; d < list_of(i); d++) {
		enum midst m = d == list_of(i) / 2 ? midst_of(i) : NOTHING;

		if (m != MARK)
			hash = step(hash, m == CODE || m == CODE_TWICE ? "f02" : "");
		if (m == CODE_TWICE)
			hash = step(hash, "f02");
	}
	if (i % 5)
		hash = step(hash, i % 2 ? "f01" : "f00");
	if (midst_of(i) == KERNEL_AFTER)
		hash = step(hash, "");
	++*map_at(sums, hash);
}

static void lists(void)
{
	static const struct shape shape = { "lists", LISTS, 7, 1, 1, 2, 0 };
	struct recorded_opts o = { .min_share = 1e-6, .few = 8500 };
	struct symbols *symbols = symbols_new(&(struct symbols_opts){ 0 });
	struct map want = { 0 }, got = { 0 };
	struct stacks s = { 0 };
	struct err e = { 0 };
	unsigned wrong = 0;
	struct made m;
	uint32_t type;

	make(&m, &shape, true);
	m.source.read_chunk = read_lists;
	CHECK(visible_stacks(&m.source, symbols, &o, NULL, &s, &type, &e) == 0);
	for (unsigned i = 0; i < LISTS; i++)
		want_list(i, &want);
	vec_each (&s.entries, en) {
		const struct stack *k = &s.stacks.data[en->stack];
		uint64_t hash = 1;

		for (uint32_t i = 0; i < k->n; i++) {
			const struct frame *f = &s.frames.data[s.frame_ids.data[k->first + i]];
			const char *slash = strrchr(strtab_get(&s.strings, f->module), '/');

			hash = step(hash, slash ? slash + 1 : "");
		}
		*map_at(&got, hash) += en->count;
	}
	CHECK_INT(got.n, want.n);
	for (size_t i = 0; i < want.cap; i++) {
		const uint64_t *g = want.slots[i].used ? map_find(&got, want.slots[i].key) : NULL;

		wrong += want.slots[i].used && (!g || *g != want.slots[i].value);
	}
	CHECK_INT(wrong, 0);
	map_free(&want);
	map_free(&got);
	stacks_free(&s);
	symbols_free(symbols);
	tasks_free(m.trace.tasks);
	free(m.chains);
}

int main(void)
{
	static const struct shape shapes[] = {
		{ "all different", 8000, 7, 12, 1, 20, 0 },
		{ "one path", 3000, 3, 1, 12, 20, 0 },
		{ "different, and one path", 8000, 5, 30, 1, 24, 3 },
		{ "deep, then different", 8000, 5, 3, 12, 24, 0 },
		{ "shallow", 8000, 4, 30, 0, 3, 0 },
		{ "a few", 5, 2, 3, 0, 4, 0 },
	};
	static const struct shape many = { "many", 9000, 40, 6, 2, 10, 5 };

	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
		for (unsigned k = 0; k < 6; k++)
			compare(&shapes[i],
				k % 3 == 0   ? 0
				: k % 3 == 1 ? 1
					     : 2,
				i % 2 ? 0.01 : 0.0005, k >= 3);
	compare(&many, 0, 0.001, true);
	compare(&many, 1, 0.001, false);
	rubbish();
	lists();
	return tap_end();
}
