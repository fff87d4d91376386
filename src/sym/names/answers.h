/* SPDX-License-Identifier: MIT */
/*
 * Answers of earlier runs, kept by file in the cache folder (cache_key.h) and mapped: an address
 * that was asked before costs a short search, and the file it is of need not even be opened.
 *
 * Layout, in this machine's byte order: a header with sizes and a checksum; answers sorted by
 * address; frames; texts, each ended by a NUL. What does not fit counts as absent.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "sym/elf/elf.h"

/* What the answers were made from; more than that now makes them stale. */
#define ANSWERS_SYMTAB 1u
#define ANSWERS_DWARF 2u

/* How names are written, and of exact addresses or of calls: a file for each way. */
enum answers_names {
	ANSWERS_PLAIN,
	ANSWERS_RAW,
	ANSWERS_PARAMS,
	ANSWERS_EXACT, /* those three again: added to them */
};

#define ANSWERS_NONE UINT32_MAX

struct answers_frame {
	uint32_t name, file, line; /* offsets of texts, or ANSWERS_NONE */
};
struct answers_entry {
	uint64_t addr, start, end, vaddr;
	uint32_t name;
	uint32_t first; /* frame */
	uint16_t nframes;
	uint16_t known;	 /* SYMBOLS_... */
	uint32_t module; /* a text: of a function of the kernel's; ANSWERS_NONE for all others */
	uint32_t before, after; /* [addr - before, addr + after) has the same names; 0: not known */
};

struct answers {
	const struct answers_entry *entry;
	size_t n;
	const struct answers_frame *frame;
	const char *text;
	uint32_t sources; /* ANSWERS_... */
	uint32_t *start;  /* by address >> shift: the first entry that may be it */
	unsigned shift;
	void *mapped;
	size_t size;
};

/* -ENOENT: there is none that can be used. id: what the file has to have; of len 0: anything. */
int answers_open(struct answers *a, int cache, const struct cache_key *key,
		 const struct build_id *id, enum answers_names names);
void answers_close(struct answers *a);
/* Are there any, in this way of names, or in any way? What they hold is not looked at. */
bool answers_kept(int cache, const struct cache_key *key, enum answers_names names);
bool answers_kept_any(int cache, const struct cache_key *key);
/* What such a file holds, which data must outlive. -EBADMSG. */
int answers_parse(struct answers *a, const void *data, size_t size, const struct build_id *id);
/* Such a file's bytes get the marks by which it is known. */
void answers_seal(void *data, size_t size);
const struct answers_entry *answers_find(const struct answers *a, uint64_t addr);
/* Or one for another address of the same function, before its last byte. */
const struct answers_entry *answers_find_near(const struct answers *a, uint64_t addr);
/* Or one for another address that is known to have the same names. */
const struct answers_entry *answers_find_same(const struct answers *a, uint64_t addr);
static inline const char *answers_text(const struct answers *a, uint32_t at)
{
	return at == ANSWERS_NONE ? NULL : a->text + at;
}

/* Making a new one. Entries in any order; of two with one address the first counts. */
struct answers_writer {
	VEC(struct answers_entry) entry;
	VEC(struct answers_frame) frame;
	VEC(char) text;
	struct map texts; /* address of a text to 1 + its offset: callers give interned ones */
};
uint32_t answers_add_text(struct answers_writer *w, const char *s); /* NULL gives ANSWERS_NONE */
/* frames' texts are already offsets. */
void answers_add(struct answers_writer *w, struct answers_entry e,
		 const struct answers_frame *frames);
/* Sorts, writes and frees. id: the file's own. */
int answers_write(struct answers_writer *w, int cache, const struct cache_key *key,
		  const struct build_id *id, enum answers_names names, uint32_t sources,
		  struct err *e);
void answers_writer_free(struct answers_writer *w);
