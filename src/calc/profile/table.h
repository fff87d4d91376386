/* SPDX-License-Identifier: MIT */
/* Inside profile.c: what one worker has counted. Not for others. */
#pragma once

#include "base/index.h"
#include "calc/profile/mapped.h"
#include "calc/profile/profile.h"

struct task_answer {
	int32_t pid, tid;
	uint32_t version; /* of the tasks, + 1; 0: nothing here yet */
	struct task_view view;
};

/* The last answers about tasks, by tid: most samples come between two changes. */
struct task_cache {
	struct task_answer answer[64];
};
const struct task_view *task_cache_look(struct task_answer *a, const struct tasks *tasks,
					int32_t pid, int32_t tid, uint64_t time);
/* What is known of a task; good until the next one is asked for. */
static inline const struct task_view *task_cache_view(struct task_cache *c,
						      const struct tasks *tasks, uint32_t version,
						      int32_t pid, int32_t tid, uint64_t time)
{
	struct task_answer *a = &c->answer[(uint32_t)tid % ARRAY_SIZE(c->answer)];

	return a->version == version + 1 && tid == a->tid && pid == a->pid &&
			       time >= a->view.from && time < a->view.until
		       ? &a->view
		       : task_cache_look(a, tasks, pid, tid, time);
}
/* Its space, kernel and comm, into out. */
void task_cache_ask(struct task_cache *c, const struct tasks *tasks, const struct event *ev,
		    struct profile_entry *out);

struct tables {
	VEC(struct profile_entry) entries;
	VEC(struct profile_chain) chains;
	VEC(struct profile_extra) extras;
	struct index entry_index, chain_index, extra_index;
	struct profile_total *total;
	struct arena copies;
	uint64_t *buf; /* for extra() and chain() */
	struct task_cache tasks;
	struct mapped mapped;
};

/* The hash of a chain, to be set before it is interned. */
uint64_t table_chain_hash(const struct profile_chain *c);
uint64_t table_extra_hash(const struct profile_extra *x);
/*
 * Have the memory fetched where a chain of this hash will be looked for; then the chain found
 * there; then what it is compared with and counted by.
 */
void table_fetch(const struct tables *t, uint64_t hash);
void table_fetch_chain(const struct tables *t, uint64_t hash);
void table_fetch_entry(const struct tables *t, uint64_t hash);
/* copy: the words do not outlive the callback. */
uint32_t table_chain(struct tables *t, const struct profile_chain *c, bool copy);
uint32_t table_extra(struct tables *t, const struct profile_extra *x, bool copy_raw);
void table_count(struct tables *t, const struct profile_entry *e);
/* The same of one without a chain in two steps, between which its entry can be fetched. */
uint64_t table_entry_hash(const struct profile_entry *e);
void table_fetch_counted(const struct tables *t, uint64_t hash);
void table_count_hashed(struct tables *t, const struct profile_entry *e, uint64_t hash);
/* Add what another worker counted to t, and free the other. */
void table_merge(struct tables *t, struct tables *other, size_t n_types);
void table_free(struct tables *t);

/* calc/profile/fade.c: see profile_builder_fade() and profile_builder_move(). */
void table_fade(struct tables *t, size_t n_types, double keep, uint64_t *random);
void table_move(struct tables *t, const struct tasks_moved *m);
