/* SPDX-License-Identifier: MIT */
/* What the two halves of the printer of trace records share. */
#pragma once

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "view/ftrace/text.h"

/* Prints what stands behind the name; true: the print format follows as well. */
typedef bool ftrace_handler(struct ftrace_text *t, const struct event *ev);

/* What is worked out once for each type. */
struct ftrace_kind {
	ftrace_handler *handler; /* NULL: the print format */
	bool raw, graph_exit;
	size_t name_n;
	const struct field *field[8]; /* what the handler looks at, by its own order */
};

/* The last functions of a CPU, each called by the one before. */
struct ftrace_stack {
	const char **name;
	size_t n, cap;
};

struct ftrace_comm {
	int32_t pid;
	uint32_t name; /* in comm_names */
};

struct ftrace_text {
	struct ftrace_text_opts opts;
	struct ftrace_names *names;
	const struct event_type *types;
	struct ftrace_kind *kind; /* by type */
	size_t n_kinds;
	VEC(struct ftrace_comm) comms; /* by pid, once comms_sorted */
	bool comms_sorted;
	struct strtab comm_names;
	struct {
		int32_t pid; /* 0: none */
		const char *name;
	} cache[256];			 /* those that were asked for last */
	VEC(struct ftrace_stack) stacks; /* by CPU */
	const struct ftrace_kind *now;	 /* of the event that is being printed */
	const struct event *end;	 /* of that function; NULL: it comes later */
	struct strbuf b;		 /* what stands behind the name */
	uint64_t last_time;
};

/* NULL: no format describes it. */
static inline const struct ftrace_kind *ftrace_kind_of(const struct ftrace_text *t,
						       const struct event *ev)
{
	return ev->type < t->n_kinds ? &t->kind[ev->type] : NULL;
}

/* False when there is no such field, or it lies outside of the record. */
bool ftrace_text_number(const struct field *f, const struct event *ev, uint64_t *ret);
/* An address in the record, of the recorded machine's size. */
uint64_t ftrace_text_word(const struct ftrace_text *t, const struct event *ev, uint32_t at);
/* What a record without the usual fields is shown as; always false. */
bool ftrace_text_bad(struct ftrace_text *t);

/* Sets the handler for a type; NULL when the print format does. */
void ftrace_handler_find(struct ftrace_text *t, const struct event_type *type,
			 struct ftrace_kind *k);
ftrace_handler ftrace_put_blk;	 /* sector, bytes, action, device, error, pdu_len, data */
ftrace_handler ftrace_put_futex; /* uaddr, op, val, utime, uaddr2, val3 */
