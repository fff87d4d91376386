/* SPDX-License-Identifier: MIT */
/*
 * Changes to the kernel's files that are taken back, whatever happens: before one is made, how to
 * undo it is written to a journal that only root can write. undo_all() takes all back, the last
 * first, and removes it. After kill -9 the next kymo, whatever its command, finds it and does it
 * then.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"

struct undo;
/* Also takes back what dead processes left. On failure *ret is untouched. */
int undo_open(struct undo **ret, struct err *e);
/* A journal by name, for changes that outlive the process: only undo_named() takes them back. It
 * is continued. */
int undo_open_named(const char *name, struct undo **ret, struct err *e);
/* Take back what the journal says; 0 also when there is none. */
int undo_named(const char *name);
/* The same for what is below a directory (an instance); the journal keeps the rest. */
int undo_named_below(const char *name, const char *dir);
/* Leave the changes and the journal: after undo_open_named(). */
void undo_leave(struct undo *u);
/* Write value to a file; its content now comes back later. */
int undo_write(struct undo *u, const char *path, const char *value, struct err *e);
/* The same, with what to write back. */
int undo_write_back(struct undo *u, const char *path, const char *value, const char *back,
		    struct err *e);
/* Add a line to a list (kprobe_events, trigger); back takes it out again. */
int undo_append(struct undo *u, const char *path, const char *line, const char *back,
		struct err *e);
/* The caller is about to add a line; back takes it out again. */
int undo_later(struct undo *u, const char *path, const char *back, struct err *e);
/* Make a directory (an instance); it is removed later. -EEXIST when it is there. */
int undo_mkdir(struct undo *u, const char *path, struct err *e);
/* Take everything back and free u. The number of things that could not be taken back. */
int undo_all(struct undo *u);

/* Take nothing back, and free u. */
void undo_forget(struct undo *u);

/* What dead processes left. Cheap when there is nothing; does nothing unless root. */
void undo_recover(void);

/* Write to a file of tracefs, failing with what it means. */
int undo_put(const char *path, const char *value, bool append, struct err *e);
