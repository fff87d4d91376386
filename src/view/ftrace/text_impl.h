/* SPDX-License-Identifier: MIT */
/* What the two halves of the printer of trace records share. */
#ifndef KYMO_VIEW_FTRACE_TEXT_IMPL_H
#define KYMO_VIEW_FTRACE_TEXT_IMPL_H

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "view/ftrace/text.h"

struct ftrace_text;
/* Prints what stands behind the name; true: the print format follows as well. */
typedef bool ftrace_handler(struct ftrace_text *t, const struct ftrace_record *rec,
			    const struct ftrace_next *next);

/* What is worked out once for each type. */
struct ftrace_kind {
	const struct event_type *type;
	ftrace_handler *handler; /* NULL: the print format */
	bool raw;
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
	struct ftrace_heads heads;
	void *tep;
	struct ftrace_names *names;
	struct map kinds; /* type pointer to index + 1 */
	VEC(struct ftrace_kind) kind;
	VEC(struct ftrace_comm) comms; /* by pid, once comms_sorted */
	bool comms_sorted;
	struct strtab comm_names;
	VEC(struct ftrace_stack) stacks; /* by CPU */
	const struct ftrace_kind *now;	 /* of the record that is being printed */
	struct strbuf b;		 /* what stands behind the name */
	uint64_t last_time;
};

struct ftrace_kind *ftrace_kind_of(const struct ftrace_text *t, const struct event_type *type);
/* The handler for a type; NULL when the print format does. */
void ftrace_handler_find(struct ftrace_text *t, struct ftrace_kind *k);
ftrace_handler ftrace_put_blk;	      /* sector, bytes, action, device, error, pdu_len, data */
ftrace_handler ftrace_put_futex;      /* uaddr, op, val, utime, uaddr2, val3 */
ftrace_handler ftrace_put_user_stack; /* caller */

#endif
