/* SPDX-License-Identifier: MIT */
/*
 * jitdump files: JIT-compiled code as it came and went, with names, lines and
 * the machine code itself.
 *
 * Addresses are used again and again: which code was where and when is for those who know the time
 * of a sample (struct trace_code). Both byte orders are read; records of unknown kinds are stepped
 * over; a file cut in the middle (the runtime was killed, or is still writing) gives what it has up
 * to its last whole record.
 */
#pragma once

#include "sym/elf/elf.h"

struct jitdump_line {
	uint64_t addr;
	uint32_t line;
	const char *file;
};

struct jitdump_code {
	uint64_t start, end;
	uint64_t time;	      /* from when on it was there */
	uint64_t index;	      /* the runtime's own number, which MOVE refers to */
	const char *name;     /* lives as long as the handle */
	const uint8_t *bytes; /* the code, end - start bytes; NULL when it was not recorded */
	uint32_t first_line, nlines;
};

struct jitdump {
	struct jitdump_code *code; /* as the file has it: numbers stay when more is written */
	size_t ncode;
	struct jitdump_line *lines;
	uint32_t machine, pid;
	bool arch_time; /* times are the CPU's counter, not CLOCK_MONOTONIC: cannot be compared */
	bool cut;	/* the file ended within a record */
	bool closed;	/* the runtime said it was done */
	void *mapped;
	size_t size;
};

/* -EBADMSG when it is no jitdump. data stays the caller's and must outlive it. */
int jitdump_parse(struct jitdump *j, const void *data, size_t size, struct err *e);
/*
 * The copy that was kept of it while recording (cache.h), by the id it goes by, or a file that
 * belongs to owner or root; see perfmap.h for why. id of len 0, or NULL: none is known.
 */
int jitdump_open(struct jitdump *j, const char *path, const struct build_id *id, uid_t owner,
		 struct err *e);
/*
 * The file that a process has mapped there, where we may ask for it, else what its path leads to
 * here: open for reading, and trusted.
 */
int jitdump_open_mapped(pid_t pid, const char *path, uint64_t start, uint64_t end, struct err *e);
/* From a file that is trusted; fd is taken over. */
int jitdump_open_fd(struct jitdump *j, int fd, const char *path, struct err *e);
void jitdump_free(struct jitdump *j);

/* The source line of an address within it; NULL when not known. */
const struct jitdump_line *jitdump_line(const struct jitdump *j, const struct jitdump_code *c,
					uint64_t addr);
