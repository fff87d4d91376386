/* SPDX-License-Identifier: MIT */
/*
 * The columns of a report: what rows are told apart by, what they add up to, in
 * which order they are shown and compared. One table holds every key, under the
 * names perf has for them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "event/trace.h"

enum key {
#define KEY(id, ...) KEY_##id,
#include "calc/rows/keys.h"
#undef KEY
	KEYS
};

enum key_kind { KEY_SUM, KEY_OF_SAMPLE, KEY_OF_SITE, KEY_OF_BRANCH, KEY_OF_MEMORY };

/* What a profile keeps of a sample or branch for a key (calc/profile/extra.h). */
struct key_word {
	enum {
		KEY_WORD_NONE,
		KEY_WORD_ADDR,	    /* the address of an access */
		KEY_WORD_EXTRA,	    /* a part of struct event_extra */
		KEY_WORD_WEIGHT,    /* of its weight, which may have parts */
		KEY_WORD_BRANCH,    /* of struct event_branch */
		KEY_WORD_NAMESPACE, /* of cgroups: device and inode, two words */
	} of;
	uint8_t at, shift; /* its offset; bits */
	uint64_t mask;	   /* only what the column shows, so that rows do not differ in more */
};

struct key_type; /* what the cells of a column are: calc/rows/key.c */

struct key_info {
	const char *name, *title;
	enum key_kind kind;
	const struct key_type *type; /* NULL: numbers */
	struct key_word word;
	unsigned by;	   /* PROFILE_BY_*, beside what the kind needs */
	const char *brief; /* a short title where `title` is made for wide columns, or NULL */
	/* What types of events must have (EVENT_HAVE_*), and what that is called; 0: nothing. */
	unsigned have;
	const char *what;
	uint8_t width; /* the least one; of sums, that of one number */
	bool right;    /* numbers stand to the right */
	bool padded;   /* at the end of a line, too */
	bool falls;    /* the largest comes first */
	bool times;    /* cells show the value times the row's samples */
	bool counts;   /* a sum that is a number, and no share */
	bool other;    /* of the other address of a branch or access */
	bool live;     /* of samples: top has it, too */
};
/* What rows are made of. */
enum key_mode { KEY_MODE_CODE, KEY_MODE_BRANCH, KEY_MODE_MEMORY, KEY_MODE_DIFF };

extern const struct key_info key_infos[KEYS];

struct column {
	enum key key;
	const char *title;
	int level;   /* in a hierarchy: 0 for sums, then one a sort key or {group} of them */
	int width;   /* that the user wants; 0: what is needed */
	int value;   /* which of a row's values it is; -1 for sums */
	bool hidden; /* by a filter that makes all its cells equal */
	/* KEY_FIELD: only for events of this type */
	uint32_t type;
	const struct field *field;
	bool raw; /* not as the event's text has it */
};

#define KEY_COLUMNS 64

struct columns {
	struct column col[KEY_COLUMNS]; /* in the order of output */
	unsigned n;
	uint8_t sort[KEY_COLUMNS]; /* the same in the order of comparison */
	unsigned n_values;
	bool by_default;   /* nobody named sort keys or fields */
	bool symbol_first; /* the user's sort keys begin with the symbol */
};

struct columns_opts {
	const char *sort, *fields; /* as the user gave them; NULL */
	enum key_mode mode;
	bool children, samples, periods, cpu_modes;
	bool raw_trace;
	bool parent; /* a pattern for KEY_PARENT was given: add it */
	const char *widths;
	const struct trace *trace; /* for fields of tracepoints; may be NULL */
};

/* An unknown key is -EINVAL with the nearest names as a hint. */
int columns_make(struct columns *c, const struct columns_opts *o, struct err *e);
/* NULL when it has none. */
const struct column *columns_find(const struct columns *c, enum key key);
static inline bool columns_have(const struct columns *c, enum key key)
{
	return columns_find(c, key) != NULL;
}
/* Is a column about source lines or files? */
bool columns_have_lines(const struct columns *c);
static inline bool column_is_sum(const struct column *c)
{
	return key_infos[c->key].kind == KEY_SUM;
}
/* A key that is the same in all rows says nothing; was it shown? */
bool columns_hide(struct columns *c, enum key key);
/* Unless nothing would be left but sums. */
void columns_show_some(struct columns *c);
/* Has the column cells in rows of events of this type? */
static inline bool column_applies(const struct column *c, uint32_t type)
{
	return c->key != KEY_FIELD || c->type == type;
}
