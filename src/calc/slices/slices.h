/* SPDX-License-Identifier: MIT */
/*
 * Slices: whatever has a beginning and an end, made of the events that begin and end it.
 *
 * Which two belong together is told by keys, fields whose values agree: a request's device and
 * sector, a system call's thread, the task that was woken and later switched to. A rule in words:
 *
 *	block:block_rq_issue,block:block_rq_complete by dev,sector
 *	sched:sched_wakeup|sched:sched_wakeup_new,sched:sched_switch by pid=next_pid
 *
 * A key is a field of both events, or BEGIN=END where it has two names; tid, pid, cpu and comm are
 * known of every event that has no such field. An event may be on both sides: it ends one slice
 * and begins the next.
 *
 * Nothing is guessed. Ends that nothing began, beginnings that were begun again and those that
 * are open at the end are handed out as what they are, and counted. calc/slices/lanes.h keeps
 * slices, to be drawn at any scale.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "event/trace.h"

#define SLICE_KEYS 8
#define SLICE_EVENTS 16
#define SLICE_DEPTH 64 /* more are not kept inside each other */

/* System calls of either kind of event, of one call or of all. */
#define SLICE_CALLS "*syscalls:sys_enter*,*syscalls:sys_exit* by tid"

/* What a beginning is whose keys are those of one that has not ended. */
enum slice_again {
	SLICE_REPLACES, /* the first one ended, and nobody saw it */
	SLICE_KEEPS,	/* nothing: who is woken twice waits since the first time */
	SLICE_NESTS,	/* inside of it: the last one ends first */
};

struct slice_rule {
	char *text; /* owned; all below leads into it */
	const char *begin[SLICE_EVENTS], *end[SLICE_EVENTS];
	unsigned n_begin, n_end;
	struct {
		const char *begin, *end; /* the fields' names */
	} key[SLICE_KEYS];
	unsigned n_keys;
	enum slice_again again;
};

/* On failure *ret is untouched. */
int slice_rule_parse(const char *text, struct slice_rule *ret, struct err *e);
void slice_rule_free(struct slice_rule *r);
/* The events of a rule, each once, as -e takes them: "a,b". To be freed. */
char *slice_rule_events(const struct slice_rule *r);

enum slice_kind {
	SLICE_WHOLE,
	SLICE_LONE_END, /* nothing was seen to begin it: only to and end are known */
	SLICE_MISFIT,	/* slices_opts.fits: the event is the end of something else */
	SLICE_LOST_END, /* another one began in its place */
	SLICE_OPEN,	/* had not ended when the events did */
};
struct slice {
	enum slice_kind kind;
	uint32_t cpu, type; /* of the event that began it, as pid and tid */
	int32_t pid, tid;
	uint64_t from, to;	 /* never less than from; of a lost end: when the other one began */
	uint64_t note;		 /* what slices_opts.begin gave */
	const struct event *end; /* the event that shows the end; NULL: SLICE_OPEN */
};
static inline uint64_t slice_time(const struct slice *s)
{
	return s->to - s->from;
}

struct slices_opts {
	/* What is to be remembered of a beginning, which is gone when the end comes. slot: a small
	 * number that no other has which is open. May be NULL. */
	uint64_t (*begin)(void *ctx, const struct event *begin, uint32_t slot);
	/* Is what begins here of no interest? Nor are its end, or the lack of it. NULL: all are. */
	bool (*hide)(void *ctx, const struct event *begin);
	/* Where events say the same in two ways: the values of the keys may be changed. May be
	 * NULL. */
	void (*keys)(void *ctx, const struct event *ev, uint64_t *key);
	/* Can the event be the end of what began? If not, that ended unseen, unless misfits_pass:
	 * then it is still open. NULL: all can. */
	bool (*fits)(void *ctx, const struct slice *s, const struct event *end);
	bool misfits_pass;
	int (*fn)(void *ctx, const struct slice *s); /* non-zero stops */
	bool may_lack;				     /* an event that the trace has not */
	void *ctx;
};

struct slices_counts {
	uint64_t matched;
	uint64_t begins, ends; /* events of either side, hidden ones left out */
	uint64_t lone_ends;    /* and misfits */
	uint64_t again;	       /* beginnings of what had begun already */
	uint64_t open;	       /* not ended yet */
};

struct slices;
/* t and r must outlive it. An event or a field that t has not is an error that lists what it has;
 * with may_lack, an event that t has not just did not happen. */
int slices_new(const struct trace *t, const struct slice_rule *r, const struct slices_opts *o,
	       struct slices **ret, struct err *e);
/* What events of a type do. */
bool slices_begins(const struct slices *s, uint32_t type);
bool slices_uses(const struct slices *s, uint32_t type); /* begin or end something */
/* An event_fn. Events must come in order of time; those of other types are passed over. */
int slices_add(void *slices, const struct event *ev);
/* Hands out what is open, in the order of beginnings, as lasting until `time`. */
int slices_finish(struct slices *s, uint64_t time);
void slices_count(const struct slices *s, struct slices_counts *ret);
void slices_free(struct slices *s); /* NULL is fine */

/* The name of a system call: "read", or "syscall 17" where only its number was recorded. */
const char *slices_call_name(const struct event_type *t, const struct event *ev, char *buf,
			     size_t size);
/* System calls by SLICE_CALLS, of a trace that may have none. */
struct slices *slices_calls(const struct trace *t, struct slices_opts o);
