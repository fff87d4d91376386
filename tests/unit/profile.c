/* SPDX-License-Identifier: MIT */
/* Counts of a live view: what fades is bounded, and sums stay true. */
#include "calc/profile/profile.h"
#include "calc/read/idle.h"
#include "tap.h"

#define WEIGHT 250000u

static void add(struct profile_builder *b, int32_t tid, const uint64_t *chain, uint32_t n)
{
	struct event ev = { .kind = EVENT_SAMPLE,
			    .mode = EVENT_MODE_USER,
			    .have = EVENT_HAVE_CHAIN,
			    .pid = tid,
			    .tid = tid,
			    .time = 1,
			    .ip = chain[1],
			    .weight = WEIGHT,
			    .chain = chain,
			    .chain_n = n };

	profile_builder_add(b, &ev);
}

/* The weight of entries with this address. */
static uint64_t weight_of(struct profile_builder *b, uint64_t from, uint64_t to)
{
	const struct profile *p = profile_builder_look(b);
	uint64_t sum = 0;

	vec_each (&p->entries, e)
		sum += e->ip >= from && e->ip < to ? e->weight : 0;
	return sum;
}

/*
 * Half of the samples have one stack, the other half a stack each: both must stay the half,
 * and the second half must not be kept for ever.
 */
static void fades(unsigned half)
{
	struct event_type type = { 0 };
	struct trace t = { .types = &type, .n_types = 1, .tasks = tasks_new() };
	struct profile_builder *b =
		profile_builder_new(&t, &(struct profile_opts){ .by = PROFILE_BY_CHAIN });
	uint64_t other = 1u << 20;
	size_t most = 0;
	double share;

	for (unsigned round = 0; round < 120; round++) {
		for (unsigned i = 0; i < half; i++) {
			uint64_t one[] = { EVENT_CHAIN_USER, 0x1000, 0x2000 };
			uint64_t two[] = { EVENT_CHAIN_USER, other++, 0x2000, 0x3000 };

			add(b, 1, one, 3);
			add(b, 1, two, 4);
		}
		profile_builder_fade(b, 0.875);
		if (profile_builder_look(b)->entries.n > most)
			most = profile_builder_look(b)->entries.n;
	}
	/* 7 rounds' worth are left of each half */
	CHECK_CASE(most <= PROFILE_FADED_MAX * 11 / 10 && most <= half * 9ull + 100,
		   "%u stacks a round: %zu are kept", half, most);
	share = (double)weight_of(b, 0x1000, 0x1001) /
		(double)(profile_builder_look(b)->total[0].weight);
	CHECK_CASE(share > 0.48 && share < 0.52, "%u a round: a half is %.3f", half, share);
	share = (double)profile_builder_look(b)->total[0].weight / (2.0 * half * WEIGHT * 7);
	CHECK_CASE(share > 0.95 && share < 1.05, "%u a round: all are %.3f", half, share);
	share = (double)profile_builder_look(b)->total[0].count / (2.0 * half * 7);
	CHECK_CASE(share > 0.9 && share < 1.1, "%u a round: counts are %.3f", half, share);
	profile_builder_fade(b, 0);
	CHECK_INT(profile_builder_look(b)->entries.n, 0);
	profile_builder_free(b);
	tasks_free(t.tasks);
}

/* Tasks are made anew: what was counted is still the same code, and comes together with more. */
static void moves(void)
{
	struct event_type type = { 0 };
	struct trace t = { .types = &type, .n_types = 1, .tasks = tasks_new() };
	struct task_map m = { .start = 0x1000, .end = 0x3000 };
	struct profile_builder *b = profile_builder_new(
		&t, &(struct profile_opts){ .by = PROFILE_BY_CHAIN | PROFILE_BY_COMM });
	uint64_t chain[] = { EVENT_CHAIN_USER, 0x1000, 0x2000 };
	struct tasks_wanted want;
	struct tasks_moved moved;
	const struct profile *p;
	struct tasks *old;

	m.dso = tasks_dso(t.tasks, "/gone", NULL, 0, false);
	tasks_mmap(t.tasks, 0, 5, 5, &m);
	tasks_comm(t.tasks, 0, 5, 5, "gone", false);
	tasks_exit(t.tasks, 0, 5, 5);
	m.dso = tasks_dso(t.tasks, "/here", NULL, 0, false);
	tasks_comm(t.tasks, 0, 7, 7, "here", false);
	tasks_mmap(t.tasks, 0, 7, 7, &m);
	add(b, 7, chain, 3);
	old = t.tasks;
	tasks_want_none(old, &want);
	profile_builder_wants(b, &want);
	t.tasks = tasks_renew(old, &want, 1, &moved);
	profile_builder_move(b, &moved);
	tasks_free(old);
	tasks_wanted_free(&want);
	tasks_moved_free(&moved);
	CHECK_INT(tasks_n_dsos(t.tasks), 1);
	add(b, 7, chain, 3);
	p = profile_builder_look(b);
	CHECK_INT(p->entries.n, 1);
	CHECK_INT(p->chains.n, 1);
	CHECK_INT(p->entries.data[0].count, 2);
	CHECK_STR(strtab_get(tasks_strings(t.tasks), p->entries.data[0].comm), "here");
	CHECK_STR(
		tasks_dso_path(t.tasks, tasks_find(t.tasks, p->chains.data[0].space, 0x1000)->dso),
		"/here");
	profile_builder_free(b);
	tasks_free(t.tasks);
}

static uint32_t frame(struct stacks *s, const char *name, enum frame_kind kind)
{
	return stacks_frame(s, &(struct frame){ .name = strtab_add(&s->strings, name),
						.module = STRTAB_NONE,
						.file = STRTAB_NONE,
						.kind = kind });
}

/* Idle is what was in the idle loop itself: not what it was interrupted by, nor a namesake. */
static void idle(void)
{
	static const struct {
		const char *leaf;
		enum frame_kind kind;
		int64_t weight;
	} of[] = { { "default_idle", FRAME_KERNEL, 60 },
		   { "handle_softirqs", FRAME_KERNEL, 5 },
		   { "mwait_idle_with_hints.constprop.0", FRAME_KERNEL, 15 },
		   { "default_idle", FRAME_USER, 20 } };
	struct stacks s = { 0 };
	struct idle i = { 0 };
	char text[128];

	for (unsigned k = 0; k < ARRAY_SIZE(of); k++) {
		uint32_t ids[] = { frame(&s, "do_idle", FRAME_KERNEL),
				   frame(&s, of[k].leaf, of[k].kind) };

		stacks_add(&s, &(struct stack_entry){ .stack = stacks_stack(&s, ids, 2),
						      .count = 1,
						      .weight = of[k].weight });
	}
	idle_leave_out_stacks(&s, &i);
	CHECK_INT(s.entries.n, 2);
	CHECK_INT(s.entries.data[0].weight, 5);
	CHECK_INT(s.entries.data[1].weight, 20);
	CHECK(strstr(idle_words(&i, text, sizeof(text)), "75.0% was idle") == text);
	CHECK_STR(idle_words(&(struct idle){ .all = 5 }, text, sizeof(text)), "");
	CHECK(!idle_is_function("default_idler") && !idle_is_function("default") &&
	      !idle_is_function(""));
	stacks_free(&s);
}

int main(void)
{
	idle();
	fades(1000);
	fades(20000);
	moves();
	return tap_end();
}
