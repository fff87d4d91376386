/* SPDX-License-Identifier: MIT */
/*
 * What may follow on a half-typed line, for the shells' completion: lines
 * "WORD\tDESCRIPTION" on stdout, or one that begins with '@' and asks the
 * shell for its own: @files, @commands.
 */
#ifndef KYMO_CMD_FRONT_COMPLETE_H
#define KYMO_CMD_FRONT_COMPLETE_H

#include "cmd/command.h"

/* argv: the words after the program's name; the last is the one being typed, perhaps empty. */
void complete_line(int argc, char **argv);

/* The values of o that begin with typed; prefix ("--event=") stands before each word. */
void complete_value(const struct opt *o, const char *prefix, const char *typed);

/* The same for an -e text. */
void complete_events(const char *prefix, const char *typed);

/* annotate.c: the functions that samples of ./perf.data hit. */
void annotate_functions(void (*fn)(void *ctx, const char *name, const char *dso), void *ctx);

#endif
