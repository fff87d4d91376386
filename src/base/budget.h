/* SPDX-License-Identifier: MIT */
/*
 * How much a run may take from what others have written: memory, disk and time.
 *
 * A few bytes can claim, or unpack to, more than a machine has. What comes out of an input is
 * counted against two bounds: what a file of that size may come to (BUDGET_FREE, and
 * BUDGET_RATIO times its size), and what all of a run may take together. These are half of the
 * machine's memory (of the control group's, where that is less), 8 GiB of disk or half of what
 * is free there, and BUDGET_SECONDS of unpacking. $KYMO_MAX_MEMORY, $KYMO_MAX_DISK (sizes such
 * as 20G) and $KYMO_MAX_SECONDS take the place of both.
 *
 * All of it may be called by several threads.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "base/err.h"

#define BUDGET_FREE ((uint64_t)256 << 20)
#define BUDGET_RATIO 64u
#define BUDGET_SECONDS 60u

enum budget_kind { BUDGET_MEMORY, BUDGET_DISK };

#define BUDGET_ANY UINT64_MAX /* as a size: only what all of a run may take counts */

/* One input: how large it is, and what was taken for it so far. */
struct budget {
	enum budget_kind kind;
	uint64_t size;
	_Atomic uint64_t taken;
};

/* The bytes that a file really has: one of holes has few, whatever its size is. */
uint64_t budget_size(const struct stat *st);

/* n bytes more, for what (a file's name). -EFBIG, and nothing is taken. e may be NULL. */
int budget_take(struct budget *b, uint64_t n, const char *what, struct err *e);
/* They are free again. */
void budget_give(struct budget *b, uint64_t n);
/* How many bytes may still be taken. */
uint64_t budget_room(const struct budget *b);

/* Time that unpacking takes: while it runs, -ETIME when that of the run is used up. */
struct budget_watch {
	uint64_t began; /* ns of this thread */
};
struct budget_watch budget_watch(void);
int budget_watch_look(const struct budget_watch *w, const char *what, struct err *e);
void budget_watch_end(const struct budget_watch *w);

/* What was refused first where e was NULL, and was not asked for yet; NULL: nothing. */
const char *budget_refused(void);
