/* SPDX-License-Identifier: MIT */
/*
 * Where samples were, as small numbers of functions: what call paths can be counted
 * by without keeping any.
 *
 * A place is an instruction of a file, whichever process mapped it wherever: a
 * thousand runs of a compiler have the places of one. Only code that a runtime
 * compiled, and that of the kernel, has places of its address space. Every thread
 * finds the names that any has asked for; what is new is named in batches, and what
 * nobody asks for never.
 */
#pragma once

#include <pthread.h>

#include "calc/profile/profile.h"
#include "calc/stacks/stacks.h"
#include "sym/names/sym.h"

/* A sample's chain in parts of one mode each; innermost first, as the chain is. */
#define PLACE_PARTS 32
struct place_part {
	uint32_t first, end; /* in ip; all but the first are return addresses */
	uint32_t space;
	uint8_t mode;
};
struct place_parts {
	const uint64_t *ip;
	uint32_t n;
	struct place_part part[PLACE_PARTS + 1];
};
/* What is needed of a sample: where it was, and whose. */
struct place_sample {
	struct event_brief b;	/* chain_n 0: only where it was */
	uint32_t comm;		/* for tasks_who_name() */
	uint32_t space, kernel; /* that user and kernel addresses are in */
};
/* False when the chain has too many parts. What ret points at is the sample's. */
bool places_split(const struct place_sample *s, struct place_parts *ret);

/* What a place is: a function, or PLACE_SEVERAL and where they stand in a list. */
#define PLACE_SEVERAL 0x80000000u
#define PLACE_UNKNOWN UINT32_MAX /* not named yet */

#define PLACE_DSO 0x80000000u	       /* a space that is a file, and its number */
#define PLACE_NOWHERE (UINT32_MAX - 2) /* and one for where nothing is mapped */
struct place_slot {
	uint64_t addr; /* twice, and one more for a return address */
	uint32_t space;
	uint32_t func; /* + 1; 0: free. Written last */
};

/* Read by all threads at any time; written by the one that has the lock. */
struct place_map {
	struct place_map *before; /* smaller ones that somebody may still read */
	size_t mask, n;
	struct place_slot *slot;
};

/*
 * Code of a file of which whole functions are the same place: a number for every 16 bytes
 * that lie in one. The memory is there once something near has a name. Written as the map is.
 */
#define PLACE_GRAIN 4	       /* bits of an address */
#define PLACE_TEXT (1u << 28)  /* numbers: of 4 GB; what is behind has single places */
#define PLACE_FUNCTIONS 0xe000 /* that have names: later ones have single places */
#define PLACE_INLINES (UINT16_MAX - PLACE_FUNCTIONS) /* and so many lists of them */
struct place_text {
	size_t n;
	/* Of functions + 1, and of lists behind all of these; 0: not known, or not one, or too
	 * large. The first is for the byte in front of the file, where a call would be that returns
	 * to its start. */
	uint16_t number[];
};

/* A place that has no name yet, and an address that is there. */
struct place {
	uint64_t key_addr, addr;
	uint32_t key_space, space;
	uint8_t mode;
	bool caller;
};

#define PLACE_LIST 16384 /* numbers in a part of the lists */
#define PLACE_LISTS (PLACE_SEVERAL / PLACE_LIST)
struct place_names {
	struct trace *trace;
	struct symbols *symbols;
	bool inlines;
	pthread_mutex_t lock;
	struct place_map *map;
	struct place_text **text; /* by file; NULL: none */
	uint16_t *single; /* by file, and one for nowhere: what all of it is, + 1; 0: not known */
	uint32_t *symbols_of; /* by file: its number among symbols, + 1; 0: not asked yet */
	size_t n_texts;
	uint64_t kernel_start; /* the kernel's image is a file that begins there */
	uint32_t kernel_dso;
	uint32_t **list;   /* parts; each list is a count, then functions, outermost first */
	size_t lists;	   /* numbers used, over all parts */
	uint32_t *in_text; /* PLACE_INLINES: lists that have a number in texts, as places */
	bool *unnamed;	   /* by function below PLACE_FUNCTIONS: code without a name */
	uint32_t n_in_text;
	struct strtab keys;  /* functions: they are the same when calltree.h says so */
	struct stacks named; /* a frame for each function, by its number */
};

void place_names_init(struct place_names *n, struct trace *t, struct symbols *symbols, bool inlines,
		      bool counts);
/*
 * Source lines for functions: those of places, which have names by now. What has several has
 * none, and a function of several files none of these, as calltree.h has it.
 */
int place_names_lines(struct place_names *n, const struct place *place, size_t count,
		      struct err *e);
/* No more places are asked for; what functions are stays. */
void place_names_close(struct place_names *n);
void place_names_free(struct place_names *n);

/* Addresses of a space that are in the same mapping, or in none. */
struct place_range {
	_Alignas(MEM_LINE) uint64_t from; /* each is in one line */
	uint64_t size, shift;
	const uint16_t *number; /* place_number() stands here; it stays there whatever becomes of
				   the range, which others may take the place of meanwhile */
	uint64_t several;	/* all bits set: there are many of them; 0: all have the first */
	uint32_t space, key;
	bool one; /* all are the same place */
};
#define PLACE_RANGES 512
#define PLACE_NOWHERES 16
#define PLACE_RECENT 1024

/* What a thread has met. */
struct place_reader {
	struct place_names *names;
	VEC(struct place) fresh;       /* and was not named then */
	uint64_t recent[PLACE_RECENT]; /* some of them */
	struct place_range range[PLACE_RANGES];
	/* Where nothing is mapped: a few wide ones, into which all rubbish in chains falls. */
	struct place_range nowhere[PLACE_NOWHERES];
	unsigned n_nowhere;
	uint8_t nearest[64]; /* the one of them that rubbish like this fell into */
};

/* What is at an address; PLACE_UNKNOWN: that can be said after place_learn(). */
uint32_t place_find(struct place_reader *r, const struct place_part *part, uint64_t addr,
		    bool caller);
/* The functions of PLACE_SEVERAL: their count and themselves, outermost first. */
static inline const uint32_t *place_list(const struct place_names *n, uint32_t several)
{
	several &= ~PLACE_SEVERAL;
	return n->list[several / PLACE_LIST] + several % PLACE_LIST;
}
/* Name all that is fresh. */
int place_learn(struct place_reader *r, struct err *e);
