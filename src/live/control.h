/* SPDX-License-Identifier: MIT */
/*
 * --control: another program switches measuring on and off, with perf's words
 * over a pipe or FIFO, and gets "ack\n" when a word has taken effect.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"

enum control_word {
	CONTROL_NONE,
	CONTROL_ENABLE,
	CONTROL_DISABLE,
	CONTROL_SNAPSHOT,
	CONTROL_STOP,
	CONTROL_PING,
	CONTROL_EVLIST,
	CONTROL_UNKNOWN,
};

struct control {
	int fd, ack_fd; /* -1: none */
	bool opened;	/* by us, so ours to close */
	char line[256];
	unsigned n;
	char argument[256]; /* what stood behind the last word: an event's name, an option; or "" */
};

/* "fd:3[,4]" or "fifo:PATH[,PATH]". */
int control_open(struct control *c, const char *text, struct err *e);
/*
 * Calls fn for each word that has arrived whole, and acknowledges it; words that
 * nobody knows are passed over. c->argument is what stood behind the word. Ends
 * after a stop. -errno of fn ends it too, unacknowledged.
 */
typedef int control_fn(void *ctx, enum control_word word, struct err *e);
int control_obey(struct control *c, control_fn *fn, void *ctx, struct err *e);
void control_close(struct control *c);
