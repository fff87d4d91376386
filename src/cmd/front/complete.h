/* SPDX-License-Identifier: MIT */
/*
 * What may follow on a half-typed line, for the shells' completion: lines
 * "WORD\tDESCRIPTION" on stdout, or one that begins with '@' and asks the
 * shell for its own: @files, @commands.
 */
#pragma once

#include "cmd/command.h"

/* A value that is being typed; lists have commas. */
struct typed {
	const char *prefix; /* stands before each word: "--event=" */
	const char *before; /* what stays as it is */
	int before_n;
	const char *part;  /* what is completed */
	const char *input; /* -i FILE of the same line; NULL: none */
};
/* A word of n bytes, if it begins with what was typed. */
void complete_word(const struct typed *t, const char *word, size_t n, const char *end,
		   const char *about);

/* argv: the words after the program's name; the last is the one being typed, perhaps empty. */
void complete_line(int argc, char **argv);

/* The values of o that begin with typed. */
void complete_value(const struct opt *o, const char *prefix, const char *typed, const char *input);

/* The same for an -e text, all of which is t->before. */
void complete_events(const struct typed *t);

/* annotate.c: the functions that samples of a recording hit; input NULL: of ./perf.data. */
void annotate_functions(const char *input, void (*fn)(void *ctx, const char *name, const char *dso),
			void *ctx);
