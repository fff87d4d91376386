/* SPDX-License-Identifier: MIT */
/*
 * Profiles with known contents, for the browser tests:
 *	flame-fixture rich|million|samples OUT.html [N [MAX-BYTES]]
 *
 * rich: two processes, four threads, two CPUs, ten seconds, two events, modules
 * and source lines. million: a tree of a million nodes, from random stacks.
 * samples: a million samples with times, threads and CPUs.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/picture/flame_html.h"

static uint32_t seed = 12345;
static uint32_t dice(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed % n;
}

static uint32_t frame(struct stacks *s, const char *name, const char *module, const char *file,
		      uint32_t line, enum frame_kind kind)
{
	struct frame f = { .name = strtab_add(&s->strings, name),
			   .module = module ? strtab_add(&s->strings, module) : STRTAB_NONE,
			   .file = file ? strtab_add(&s->strings, file) : STRTAB_NONE,
			   .line = line,
			   .kind = kind };

	return stacks_frame(s, &f);
}

/* Every combination has a weight that the tests can work out. */
static void rich(struct stacks *s)
{
	static const char server[] = "/usr/sbin/server", libc[] = "/lib/libc.so.6";
	uint32_t start = frame(s, "start", server, "server.c", 10, FRAME_USER);
	uint32_t loop = frame(s, "Loop::run", server, "loop.cc", 44, FRAME_USER);
	uint32_t parse = frame(s, "Parser::parse", server, "parse.cc", 120, FRAME_USER);
	uint32_t next = frame(s, "Parser::next", server, "parse.cc", 88, FRAME_INLINED);
	uint32_t copy = frame(s, "memcpy", libc, NULL, 0, FRAME_USER);
	uint32_t sys = frame(s, "do_syscall_64", "[kernel.kallsyms]", NULL, 0, FRAME_KERNEL);
	uint32_t rd = frame(s, "ksys_read", "[kernel.kallsyms]", NULL, 0, FRAME_KERNEL);
	uint32_t jit = frame(s, "Lcom/shop/Cart;::total", "/tmp/perf-77.map", NULL, 0, FRAME_JIT);
	uint32_t anon = frame(s, "0x7f0012345678", libc, NULL, 0, FRAME_UNKNOWN);
	const uint32_t path[5][6] = {
		{ start, loop, parse, next, copy, 0 }, { start, loop, parse, parse, parse, 0 },
		{ start, loop, sys, rd, 0, 0 },	       { start, jit, copy, 0, 0, 0 },
		{ start, loop, anon, 0, 0, 0 },
	};
	static const uint32_t length[5] = { 5, 5, 4, 3, 3 };
	uint32_t id[5];

	for (int i = 0; i < 5; i++)
		id[i] = stacks_stack(s, path[i], length[i]);
	vec_push(&s->type_names, strtab_add(&s->strings, "cycles"));
	vec_push(&s->type_names, strtab_add(&s->strings, "page-faults"));
	s->unit = "samples";
	/* one sample of each stack each 10 ms; thread and CPU turn round */
	for (uint32_t t = 0; t < 1000; t++) {
		for (uint32_t i = 0; i < 5; i++) {
			uint32_t thread = (t + i) % 4;
			struct stack_entry e = {
				.stack = id[i],
				.comm = strtab_add(&s->strings,
						   thread < 3 ? "server" : "shop java"),
				.pid = thread < 3 ? 100 : 77,
				.tid = thread < 3 ? (int32_t)(100 + thread) : 77,
				.cpu = t % 2,
				.time = 5000000000ull + t * 10000000ull,
				.count = 1,
				.weight = i + 1,
			};

			stacks_add(s, &e);
		}
		if (t % 10 == 0) {
			struct stack_entry e = { .stack = id[2],
						 .type = 1,
						 .comm = strtab_add(&s->strings, "server"),
						 .pid = 100,
						 .tid = 100,
						 .time = 5000000000ull + t * 10000000ull,
						 .count = 1,
						 .weight = 1 };

			stacks_add(s, &e);
		}
	}
}

/*
 * Random walks whose steps prefer the first choices, until there are as many
 * different prefixes (nodes), or as many samples, which then have times too.
 */
static void million(struct stacks *s, uint64_t nodes, uint64_t samples)
{
	struct map seen = { 0 };
	uint32_t *names = mem_alloc(20000 * sizeof(*names));

	for (uint32_t i = 0; i < 20000; i++) {
		char buf[64];

		snprintf(buf, sizeof(buf), "%s::%s_%u", i % 3 ? "engine" : "storage",
			 i % 7 ? "step" : "visit", i);
		names[i] = frame(s, buf, i % 5 ? "/usr/bin/engine" : "/usr/lib/libstorage.so", NULL,
				 0, i % 11 ? FRAME_USER : FRAME_KERNEL);
	}
	vec_push(&s->type_names, strtab_add(&s->strings, "cycles"));
	s->unit = "samples";
	while (seen.n < nodes && s->entries.n < samples) {
		uint32_t ids[80],
			depth = 5 + (uint32_t)((uint64_t)dice(1000) * dice(1000) * 60 / 1000000);
		uint64_t hash = 0;
		struct stack_entry e = { .comm = STRTAB_NONE,
					 .pid = -1,
					 .tid = -1,
					 .cpu = UINT32_MAX,
					 .count = 1,
					 .weight = 1 };

		for (uint32_t i = 0; i < depth; i++) {
			double r = dice(1000000) / 1e6;
			uint32_t k = (uint32_t)(r * r * r * (i < 8 ? 12 : 40)) + (i % 7) * 97;

			ids[i] = names[(k * 31 + i * 7) % 20000];
			hash = map_hash(hash ^ ids[i]) + 1;
			if (nodes < UINT64_MAX)
				*map_at(&seen, hash) = 1;
		}
		e.stack = stacks_stack(s, ids, depth);
		if (samples < UINT64_MAX) {
			e.comm = strtab_add(&s->strings, "engine");
			e.pid = 4000;
			e.tid = 4000 + (int32_t)dice(16);
			e.cpu = dice(8);
			e.time = 1000000000 + s->entries.n * 50000;
		}
		stacks_add(s, &e);
	}
	map_free(&seen);
	free(names);
}

int main(int argc, char **argv)
{
	struct stacks s = { 0 };
	struct flame_html_opts o = { .title = "fixture",
				     .type = CALLTREE_ALL_TYPES,
				     .normalize = true,
				     .label = CALLTREE_LABEL_TID,
				     .merge_unknown = true,
				     .max_bytes = 64 << 20 };
	struct flame_html_info info;
	struct err e;
	FILE *f;

	if (argc < 3 || !(f = fopen(argv[2], "w")))
		return 2;
	if (strcmp(argv[1], "rich") == 0)
		rich(&s);
	else if (strcmp(argv[1], "samples") == 0)
		million(&s, UINT64_MAX, argc > 3 ? strtoull(argv[3], NULL, 10) : 1000000);
	else
		million(&s, argc > 3 ? strtoull(argv[3], NULL, 10) : 1000000, UINT64_MAX);
	if (argc > 4)
		o.max_bytes = strtoull(argv[4], NULL, 10);
	if (flame_html_write(f, &s, NULL, &o, &info, &e) < 0) {
		fprintf(stderr, "%s\n", e.msg);
		return 1;
	}
	printf("%llu nodes, %llu bytes, %zu samples, pruned %llu stacks\n",
	       (unsigned long long)info.nodes, (unsigned long long)info.bytes, s.entries.n,
	       (unsigned long long)info.pruned_stacks);
	fclose(f);
	stacks_free(&s);
	return 0;
}
