/* SPDX-License-Identifier: MIT */
/*
 * Which mapping an address is in, remembered by ranges: most addresses are near others. One a
 * thread.
 *
 * Code of a file is the same wherever processes mapped it. So an address becomes an offset in a
 * space of that file's own; where nothing is mapped, all processes are the same. Only what a
 * runtime compiled for one process stays in the process's space.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "event/task.h"

#define MAPPED_FILE 0x80000000u /* a space that is a file, and its number */

struct mapped_range {
	uint64_t from, size; /* of addresses that are in the same mapping, or in none */
	uint64_t shift;	     /* address less offset */
	uint32_t space, key; /* that they are in; that their offsets are in */
	/* Where the first process that was met with this mapping has the same code. */
	uint32_t home;
	uint64_t home_shift;	    /* address here less address there */
	const struct task_map *map; /* NULL: none, or one of a process's own */
};

struct mapped_home {
	uint64_t start;
	uint32_t space;
};

struct mapped {
	const struct tasks *tasks; /* to be set before the first question */
	struct mapped_range range[512];
	const struct mapped_range *last; /* of them; NULL: none yet */
	/* inner workings: mappings to what was met first */
	struct map index;
	VEC(struct mapped_home) homes;
};

const struct mapped_range *mapped_find(struct mapped *m, uint32_t space, uint64_t addr);

static inline const struct mapped_range *mapped_at(struct mapped *m, uint32_t space, uint64_t addr)
{
	const struct mapped_range *g = m->last; /* most code is of one program */

	return g && g->space == space && addr - g->from < g->size ? g : mapped_find(m, space, addr);
}

void mapped_free(struct mapped *m);
