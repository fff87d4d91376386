/* SPDX-License-Identifier: MIT */
/*
 * Whole functions of the kernel are one place, but only where they are: what lies in front of
 * them, and a return address that is a function's first instruction, have names of their own.
 */
#include "calc/stacks/visible_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "tap.h"

#define START 0xffffffff81000000u
#define FIRST (START + 0x10000) /* function: not among the first bytes */
#define FUNCS 40u
#define EACH 0x108u /* bytes of a function and of what is in front: not all begin a grain */
#define PAD 16u
#define SAMPLES 9000u
#define CHUNKS 40u
#define PROGRAM (FIRST + FUNCS * EACH / 2) /* of BPF: in the midst of the kernel */

struct made {
	struct trace trace;
	struct event_type type;
	struct source source;
};

static uint64_t begin_of(unsigned func)
{
	return FIRST + (uint64_t)func * EACH + PAD;
}

static unsigned func_of(unsigned sample)
{
	return sample * 7 % FUNCS;
}

/* Where in a function a sample was. */
static uint64_t offset_of(unsigned sample)
{
	static const uint64_t at[] = { 0, 1, 15, 16, 17, 100, EACH - PAD - 1, 31 };

	return at[sample / FUNCS % ARRAY_SIZE(at)];
}

static int read_chunk(struct source *src, size_t chunk, event_fn *fn, void *ctx, struct err *e)
{
	int r = 0;

	(void)src;
	(void)e;
	for (unsigned i = (unsigned)chunk; i < SAMPLES && r == 0; i += CHUNKS) {
		unsigned func = func_of(i);
		/* interrupted, called from the start of the next, in front of the one after that */
		uint64_t chain[] = { EVENT_CHAIN_KERNEL, begin_of(func) + offset_of(i),
				     begin_of((func + 1) % FUNCS),
				     begin_of((func + 2) % FUNCS) - PAD / 2 };
		struct event ev = { .kind = EVENT_SAMPLE,
				    .have = EVENT_HAVE_CHAIN,
				    .mode = EVENT_MODE_KERNEL,
				    .pid = 10,
				    .tid = 10,
				    .time = 1000 + i,
				    .weight = 1,
				    .ip = chain[1],
				    .chain = chain,
				    .chain_n = ARRAY_SIZE(chain) };

		r = fn(ctx, &ev);
	}
	return r;
}

static void make(struct made *m)
{
	struct task_map kernel = { .start = START, .pgoff = START, .pid = -1 };
	struct task_dso code = { .kernel = true, .ksymbol = true };

	*m = (struct made){ .type = { .name = "hits" } };
	m->trace.tasks = tasks_new();
	m->trace.types = &m->type;
	m->trace.n_types = 1;
	m->trace.n_samples = SAMPLES;
	kernel.end = FIRST + (uint64_t)FUNCS * EACH;
	kernel.dso = tasks_dso(m->trace.tasks, "[kernel.kallsyms]", NULL, 0, true);
	tasks_mmap(m->trace.tasks, 1, -1, -1, &kernel);
	/* halfway through some code comes into the kernel's: it is in two parts from then on */
	kernel.start = PROGRAM;
	kernel.end = PROGRAM + 8;
	kernel.dso = tasks_dso_like(m->trace.tasks, "program", &code);
	tasks_mmap(m->trace.tasks, 1000 + SAMPLES / 2, -1, -1, &kernel);
	m->source = (struct source){ .trace = &m->trace,
				     .format = "made by hand",
				     .impl = m,
				     .n_chunks = CHUNKS,
				     .read_chunk = read_chunk };
}

static char *kallsyms(void)
{
	struct strbuf b = { 0 };

	for (unsigned i = 0; i < FUNCS; i++) {
		strbuf_printf(&b, "%llx t __pfx_k%u\n", (unsigned long long)(begin_of(i) - PAD), i);
		strbuf_printf(&b, "%llx t k%u\n", (unsigned long long)begin_of(i), i);
	}
	strbuf_printf(&b, "%llx t end\n", (unsigned long long)(FIRST + (uint64_t)FUNCS * EACH));
	return b.data;
}

static const char *function(const struct stacks *s, const struct stack *k, uint32_t at)
{
	const struct frame *f = &s->frames.data[s->frame_ids.data[k->first + at]];

	return strtab_get(&s->strings, f->name);
}

/* Samples of func, by path: outermost first. */
static uint64_t count(const struct stacks *s, unsigned func)
{
	char outer[16], middle[16], inner[16];
	uint64_t n = 0;

	snprintf(outer, sizeof(outer), "__pfx_k%u", (func + 2) % FUNCS);
	snprintf(middle, sizeof(middle), "k%u", (func + 1) % FUNCS);
	snprintf(inner, sizeof(inner), "k%u", func);
	vec_each (&s->entries, en) {
		const struct stack *k = &s->stacks.data[en->stack];

		if (k->n == 3 && strcmp(function(s, k, 0), outer) == 0 &&
		    strcmp(function(s, k, 1), middle) == 0 && strcmp(function(s, k, 2), inner) == 0)
			n += (uint64_t)en->weight;
	}
	return n;
}

/* A function that is met as a caller, in every chunk elsewhere: asked for once, not each time. */
#define AGAIN_CHUNKS 64u    /* more than threads */
#define AGAIN_SAMPLES 2100u /* in each: names are asked for before they end */

static uint64_t again_at(size_t chunk)
{
	return begin_of(5) + 20 + chunk;
}

static int read_again(struct source *src, size_t chunk, event_fn *fn, void *ctx, struct err *e)
{
	const uint64_t chain[] = { EVENT_CHAIN_KERNEL, begin_of(7), again_at(chunk) };
	const struct event ev = { .kind = EVENT_SAMPLE,
				  .have = EVENT_HAVE_CHAIN,
				  .mode = EVENT_MODE_KERNEL,
				  .pid = 10,
				  .tid = 10,
				  .time = 1000,
				  .weight = 1,
				  .ip = chain[1],
				  .chain = chain,
				  .chain_n = ARRAY_SIZE(chain) };
	int r = 0;

	(void)src;
	(void)e;
	for (unsigned i = 0; i < AGAIN_SAMPLES && r == 0; i++)
		r = fn(ctx, &ev);
	return r;
}

static void again(void)
{
	struct recorded_opts o = { .min_share = 0.1, .few = UINT32_MAX };
	struct symbols *symbols = symbols_new(&(struct symbols_opts){ 0 });
	struct stacks stacks = { 0 };
	char *text = kallsyms();
	struct err e = { 0 };
	struct made m;
	uint32_t type;
	unsigned asked = 0;

	make(&m);
	m.source.n_chunks = AGAIN_CHUNKS;
	m.source.read_chunk = read_again;
	m.trace.n_samples = AGAIN_CHUNKS * AGAIN_SAMPLES;
	CHECK_INT(symbols_kernel_text(symbols, text, strlen(text), &e), 0);
	CHECK_INT(visible_stacks(&m.source, symbols, &o, NULL, &stacks, &type, &e), 0);
	for (size_t i = 0; i < AGAIN_CHUNKS; i++)
		asked += symbols_lookup(symbols, SYMBOLS_KERNEL, again_at(i) - 1) != NULL;
	CHECK(asked > 0 && asked < AGAIN_CHUNKS / 2);
	stacks_free(&stacks);
	symbols_free(symbols);
	tasks_free(m.trace.tasks);
}

/* Addresses that no kernel has: its names, which may be a long list, are not loaded for them. */
static uint64_t strange;

static int read_strange(struct source *src, size_t chunk, event_fn *fn, void *ctx, struct err *e)
{
	const uint64_t chain[] = { EVENT_CHAIN_KERNEL, strange };

	(void)src;
	(void)chunk;
	(void)e;
	return fn(ctx, &(struct event){ .kind = EVENT_SAMPLE,
					.have = EVENT_HAVE_CHAIN,
					.mode = EVENT_MODE_KERNEL,
					.pid = 10,
					.tid = 10,
					.time = 1000 + SAMPLES,
					.weight = 1,
					.ip = strange,
					.chain = chain,
					.chain_n = ARRAY_SIZE(chain) });
}

static void on_load(void *ctx)
{
	*(bool *)ctx = true;
}

static bool loads_for(uint64_t addr)
{
	struct recorded_opts o = { .min_share = 0.1 };
	struct symbols *symbols = symbols_new(&(struct symbols_opts){ 0 });
	struct stacks stacks = { 0 };
	struct err e = { 0 };
	struct made m;
	uint32_t type;
	bool loaded = false;

	make(&m);
	m.source.n_chunks = 1;
	m.source.read_chunk = read_strange;
	strange = addr;
	symbols_kernel_later(symbols, on_load, NULL, &loaded);
	CHECK_INT(visible_stacks(&m.source, symbols, &o, NULL, &stacks, &type, &e), 0);
	CHECK_INT(stacks.entries.n, 1);
	stacks_free(&stacks);
	symbols_free(symbols);
	tasks_free(m.trace.tasks);
	return loaded;
}

int main(void)
{
	struct recorded_opts o = { .min_share = 0.0001, .few = 8500 };
	struct symbols *symbols = symbols_new(&(struct symbols_opts){ 0 });
	struct stacks stacks = { 0 };
	char *text = kallsyms();
	struct err e = { 0 };
	struct made m;
	uint32_t type;

	make(&m);
	CHECK_INT(symbols_kernel_text(symbols, text, strlen(text), &e), 0);
	CHECK_INT(visible_stacks(&m.source, symbols, &o, NULL, &stacks, &type, &e), 0);
	for (unsigned i = 0; i < FUNCS; i++)
		CHECK_CASE(count(&stacks, i) == SAMPLES / FUNCS, "k%u has %llu samples of %u", i,
			   (unsigned long long)count(&stacks, i), SAMPLES / FUNCS);
	stacks_free(&stacks);
	symbols_free(symbols);
	tasks_free(m.trace.tasks);
	again();
	CHECK(!loads_for(0));
	CHECK(!loads_for(0x7f3e02167e70));
	CHECK(!loads_for(PROGRAM + 2)); /* the recording names it */
	CHECK(loads_for(begin_of(3)));
	CHECK(loads_for(UINT64_MAX << 16)); /* what was loaded later is mapped nowhere */
	return tap_end();
}
