/* SPDX-License-Identifier: MIT */
/*
 * The columns of a report: what rows are told apart by, what they add up to, in
 * which order they are shown and compared. One table holds every key, under the
 * names perf has for them.
 */
#ifndef KYMO_CALC_ROWS_KEY_H
#define KYMO_CALC_ROWS_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "event/trace.h"

enum key {
	/* sums */
	KEY_OVERHEAD,
	KEY_OVERHEAD_SYS,
	KEY_OVERHEAD_US,
	KEY_OVERHEAD_GUEST_SYS,
	KEY_OVERHEAD_GUEST_US,
	KEY_CHILDREN,
	KEY_SAMPLES,
	KEY_PERIOD,
	/* of the task and the sample */
	KEY_PID, /* perf's word for the thread */
	KEY_TGID,
	KEY_COMM,
	KEY_CPU,
	KEY_SOCKET,
	KEY_TIME,
	KEY_LOCAL_WEIGHT,
	KEY_WEIGHT,
	KEY_LOCAL_INS_LAT,
	KEY_INS_LAT,
	KEY_LOCAL_P_STAGE_CYC,
	KEY_P_STAGE_CYC,
	KEY_TRANSACTION,
	KEY_CGROUP,
	KEY_CGROUP_ID,
	KEY_CODE_PAGE_SIZE,
	KEY_TRACE,
	KEY_FIELD, /* of a tracepoint, by its own name */
	KEY_PARENT,
	/* of the code */
	KEY_DSO,
	KEY_SYM,
	KEY_SRCLINE,
	KEY_SRCFILE,
	KEY_SYM_SIZE,
	KEY_DSO_SIZE,
	KEY_ADDR,
	KEY_IPC, /* what perf shows beside symbols; nothing without branch records */
	/* of a branch */
	KEY_DSO_FROM,
	KEY_DSO_TO,
	KEY_SYM_FROM,
	KEY_SYM_TO,
	KEY_ADDR_FROM,
	KEY_ADDR_TO,
	KEY_SRCLINE_FROM,
	KEY_SRCLINE_TO,
	KEY_MISPREDICT,
	KEY_IN_TX,
	KEY_ABORT,
	KEY_CYCLES,
	/* of a memory access */
	KEY_SYM_DADDR,
	KEY_SYM_IADDR,
	KEY_DSO_DADDR,
	KEY_LOCKED,
	KEY_TLB,
	KEY_MEM,
	KEY_SNOOP,
	KEY_DCACHELINE,
	KEY_PHYS_DADDR,
	KEY_DATA_PAGE_SIZE,
	KEY_BLOCKED,
	KEYS
};

enum key_kind { KEY_SUM, KEY_OF_SAMPLE, KEY_OF_SITE, KEY_OF_BRANCH, KEY_OF_MEMORY };

struct key_info {
	const char *name, *title;
	enum key_kind kind;
};
extern const struct key_info key_infos[KEYS];

/* What rows are made of. */
enum key_mode { KEY_MODE_CODE, KEY_MODE_BRANCH, KEY_MODE_MEMORY, KEY_MODE_DIFF };

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
/* Has the column cells in rows of events of this type? */
static inline bool column_applies(const struct column *c, uint32_t type)
{
	return c->key != KEY_FIELD || c->type == type;
}

#endif
