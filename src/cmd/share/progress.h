/* SPDX-License-Identifier: MIT */
/*
 * What takes long says how far it is: a line on the terminal, from half a second
 * on, gone when it is done. Nothing where stderr is no terminal.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
	const char *what;
	bool on, shown;
	uint64_t start;
	atomic_uint_fast64_t next; /* when to show it again */
};

/* what: "reading samples". The text must outlive it. */
void progress_begin(struct progress *p, const char *what, bool quiet);
/* By any thread. all 0: how far is not known. */
void progress_at(struct progress *p, size_t done, size_t all);
/* The same in other words. */
void progress_text(struct progress *p, const char *text);
/* This line now, cut to the terminal's width. */
void progress_line(struct progress *p, const char *text);
void progress_end(struct progress *p);
/* Something else is about to be written: the line that is shown goes, until it is shown again. */
void progress_clear(void);
