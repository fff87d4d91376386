/* SPDX-License-Identifier: MIT */
/*
 * Pairs of events: where something began and where it ended.
 *
 * Which two belong together is told by keys, fields whose values agree: a
 * request's device and sector, a system call's thread, the task that was woken
 * and later switched to. A pair in words:
 *
 *	block:block_rq_issue,block:block_rq_complete by dev,sector
 *	sched:sched_wakeup|sched:sched_wakeup_new,sched:sched_switch by pid=next_pid
 *
 * A key is a field of both events, or BEGIN=END where it has two names; tid, pid,
 * cpu and comm are known of every event that has no such field. An event may be
 * on both sides: it ends one pair and begins the next.
 *
 * Nothing is guessed: ends that nothing began, beginnings that were begun again
 * and those still open are counted, and whoever shows pairs can say so.
 */
#ifndef KYMO_CALC_TIME_PAIRS_H
#define KYMO_CALC_TIME_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "event/trace.h"

#define PAIR_KEYS 8
#define PAIR_EVENTS 16

struct pair_spec {
	char *text; /* owned; all below leads into it */
	const char *begin[PAIR_EVENTS], *end[PAIR_EVENTS];
	unsigned n_begin, n_end;
	struct {
		const char *begin, *end; /* the fields' names */
	} key[PAIR_KEYS];
	unsigned n_keys;
	/* A second beginning does not replace the first: who is woken twice waits since the first.
	 */
	bool keep_first;
};

/* On failure *ret is untouched. */
int pair_parse(const char *text, struct pair_spec *ret, struct err *e);
void pair_spec_free(struct pair_spec *s);

/* The events of a spec, each once, as -e takes them: "a,b". To be freed. */
char *pair_events(const struct pair_spec *s);

struct pair_begin {
	uint64_t time;
	int32_t pid, tid;
	uint32_t cpu, type;
	uint64_t note; /* whatever pairs_opts.note gave */
};

struct pair {
	struct pair_begin begin;
	const struct event *end;
	uint64_t time; /* between them, ns */
};

struct pairs_opts {
	/* What is to be remembered of a beginning, which is gone when the end comes. NULL: nothing
	 */
	uint64_t (*note)(void *ctx, const struct event *begin);
	/* Is what begins here of no interest? Nor are its end, or the lack of it. NULL: all are. */
	bool (*hide)(void *ctx, const struct event *begin);
	/* Where events say the same in two ways: the values of the keys may be changed. NULL: as
	 * they are. */
	void (*keys)(void *ctx, const struct event *ev, uint64_t *key);
	int (*fn)(void *ctx, const struct pair *p); /* non-zero stops */
	bool may_lack;
	void *ctx;
};

struct pairs_counts {
	uint64_t matched;
	uint64_t begins, ends; /* events of either side, hidden ones left out */
	uint64_t lone_ends;    /* nothing was seen to begin them */
	uint64_t again;	       /* beginnings of what had begun already */
	uint64_t open;	       /* not ended yet */
};

struct pairs;
/* t and s must outlive it. An event or a field that t has not is an error that lists what it has;
 * with may_lack, an event that t has not just did not happen. */
int pairs_new(const struct trace *t, const struct pair_spec *s, const struct pairs_opts *o,
	      struct pairs **ret, struct err *e);
/* An event_fn. Events must come in order of time; those of other types are passed over. */
int pairs_add(void *pairs, const struct event *ev);
void pairs_count(const struct pairs *p, struct pairs_counts *ret);
void pairs_free(struct pairs *p); /* NULL is fine */

#endif
