/* SPDX-License-Identifier: MIT */
/*
 * The rows of a report: a named profile summed by its columns.
 *
 * With children, a row's total also counts the samples that passed through its
 * function on the way to another one, each sample once a row.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/index.h"
#include "calc/rows/cell.h"

struct hist_opts {
	uint32_t type; /* which of the trace's events */
	bool children;
	bool caller;	 /* chains are looked at from the outside in */
	bool use_chains; /* rows have graphs: of equal rows callers stand above what they call */
	bool hide_unresolved; /* samples without a name are left out, also of the total */
	bool exclude_other;   /* those without a KEY_PARENT only count for the total */
	/* By site: samples elsewhere only count for the total. NULL: all sites. */
	const bool *site_wanted;
	/* Rows of other functions are hidden: a part of the name. NULL: none is. */
	const char *symbol_part;
};

#define HIST_MODES 4 /* kernel, user, guest kernel, guest user */

struct hist_row {
	/* What a chain that passes by touches, in one line of the cache. */
	struct cell_pair at;
	uint32_t site;	 /* of its first sample */
	uint32_t depth;	 /* of the deepest chain behind it */
	uint32_t chains; /* entries with a chain that count for it */
	int32_t tid;	 /* of its first sample */
	union {
		uint64_t first;	   /* while they are summed: its time */
		uint64_t *by_mode; /* then: parts of self, or NULL where no column shows them */
	};
	uint64_t total; /* weight here and below */
	uint32_t stamp; /* inner workings: the last entry that counted for it */
	bool hidden, dummy;
	uint64_t self, count; /* here */
};
_Static_assert(sizeof(struct hist_row) == 64, "there may be millions");

#define HIST_NO_ROW UINT32_MAX

struct hist {
	const struct cells *cells;
	struct hist_opts opts;
	VEC(struct hist_row) rows;	/* heaviest first */
	uint64_t count, weight;		/* of what was wanted */
	uint64_t all_count, all_weight; /* and what was set aside */
	/* A group's other events: their row for each of these, or HIST_NO_ROW. */
	struct hist *member;
	unsigned n_members;
	uint32_t *pair;	      /* by row and member */
	unsigned sort_member; /* the event whose sums decide the order; 0: the leader */
	struct arena modes;   /* the rows' by_mode */
	/* inner workings */
	size_t direct, direct_cap; /* classes of sites, and pairs; 0: too many for an array */
	uint32_t *slot;		   /* that array: row + 1 */
	struct index index;	   /* instead of it */
};

/*
 * The profile must have been made by at least what the columns need: see cells_needs. leader: by
 * type, the event beside whose rows it is shown, with rows of nothing for what that has not; NULL:
 * each is alone. sort_member: the one whose sums decide the order, as in struct hist.
 */
void hist_make(struct hist *h, const struct cells *c, const struct hist_opts *o,
	       const uint32_t *leader, unsigned sort_member);
void hist_free(struct hist *h);

/* The sum a column shows (KEY_CHILDREN ... KEY_PERIOD), as a weight or count. */
uint64_t hist_sum(const struct hist *h, const struct hist_row *r, enum key key);
/* What shares are of: everything, or only what filters left. */
static inline uint64_t hist_total(const struct hist *h, bool relative)
{
	return relative ? h->weight : h->all_weight;
}
/* The weight a row is shown by. */
static inline uint64_t hist_weight(const struct hist *h, const struct hist_row *r)
{
	return h->opts.children ? r->total : r->self;
}
/* The member's row beside row i; NULL when it has none. */
static inline const struct hist_row *hist_pair(const struct hist *h, size_t i, unsigned member)
{
	uint32_t p = h->pair[i * h->n_members + member];

	return p == HIST_NO_ROW ? NULL : &h->member[member].rows.data[p];
}

/* The row of a pair of classes; HIST_NO_ROW: none. */
uint32_t hist_find(const struct hist *h, struct cell_pair at);
/* Does a column show what a row's by_mode has? */
bool hist_has_modes(const struct hist *h);
/* Does the profile's entry i count for rows? */
bool hist_counts(const struct hist *h, size_t i);
/* The classes of an entry's own row. */
static inline struct cell_pair hist_pair_of(const struct hist *h, size_t i)
{
	const struct cells *c = h->cells;

	return (struct cell_pair){ c->entry_class[i], c->site_class[c->names->entry_site[i]] };
}

/* Calls fn for each row that an entry counts for, as far as its class matters: its own first (at
 * -1), then those on the way, each once: outermost first when opts.caller, else innermost. */
struct hist_walk {
	const struct hist *h;
	const bool *classes; /* of sites: whose rows matter; NULL: all */
	uint32_t *stamp;     /* by row */
	uint32_t now;
};
void hist_walk_init(struct hist_walk *w, const struct hist *h, const bool *classes);
void hist_walk_free(struct hist_walk *w);
typedef void hist_walk_fn(void *ctx, uint32_t row, int64_t chain_at);
void hist_walk(struct hist_walk *w, size_t entry, hist_walk_fn *fn, void *ctx);

/* --- between hist.c and hist_sum.c --- */
static inline uint64_t pair_hash(struct cell_pair at)
{
	uint64_t x = ((uint64_t)at.entry << 32 | at.site) * 0x9e3779b97f4a7c15u;

	return x ^ x >> 32;
}

static inline bool same_pair(struct cell_pair a, struct cell_pair b)
{
	return a.entry == b.entry && a.site == b.site;
}

/* Rows in any order, and what they add up to; h->direct says how they are to be found. */
void hist_sum_up(struct hist *h);

/* --- hist_order.c --- */
/* Rows into the order of output. */
void hist_order(struct hist *h);
/* Indices of rows (n of them, any selection) in that order; for views that sort parts. */
void hist_order_some(const struct hist *h, uint32_t *rows, size_t n);

/* Counts and sums of one row into another; that has a by_mode of its own if this has one. */
void hist_add_sums(struct hist_row *to, const struct hist_row *r);
