/* SPDX-License-Identifier: MIT */
/*
 * Whatever can be read, by name or from standard input ("-"): the reader is picked by what the
 * file holds, not by how it is called. What comes through a pipe goes to a file without a name
 * first, perf.data into memory, and is there for who opens it again.
 */
#pragma once

#include "event/trace.h"

/* "-" is standard input. On failure *ret is untouched. */
int source_open(const char *path, struct source **ret, struct err *e);

/* Several as one (calc/read/merge.h); of one it is that. */
int source_open_all(const char *const *paths, size_t n, struct source **ret, struct err *e);

/* Does it hold a recording, with events of its own, and no text that was made of one? */
bool source_is_recording(const char *path);

/* What "-" is called in messages. */
const char *source_name(const char *path);

/* A whole file ("-": standard input), mapped. */
struct source_file {
	const char *data; /* never NULL once open */
	size_t n;
};
int source_file_open(const char *path, struct source_file *f, struct err *e);
void source_file_close(struct source_file *f);
