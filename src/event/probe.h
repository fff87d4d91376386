/* SPDX-License-Identifier: MIT */
/*
 * The text of a dynamic probe, as perf probe takes it:
 *
 *	[[GROUP:]EVENT=]FUNC[@SRC][:LINE | +OFFSET | %return | ;PATTERN] [ARG ...]
 *	[[GROUP:]EVENT=]SRC:LINE | SRC;PATTERN | 0xADDRESS               [ARG ...]
 *	[[GROUP:]EVENT=]%[PROVIDER:]NAME                                 [ARG ...]
 *
 *	ARG: [NAME=]WHAT[:TYPE][@user]
 *	WHAT: VAR[->FIELD | .FIELD | [N]]..., $vars, $params, or what the kernel takes
 *	      itself: %REG $retval $argN $stack[N] $comm @SYM[+-N] +-N(WHAT) \N
 *
 * Only the text: what it means on a machine is found out by others. Everything
 * points into the arena.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

struct probe_field {
	const char *name; /* NULL: an element of an array */
	uint64_t index;
	bool pointer; /* reached with -> */
};

struct probe_arg {
	const char *text; /* all of it */
	const char *name; /* NULL: not given */
	const char *what; /* a variable's name, or the kernel's own form */
	const char *type; /* NULL: not given */
	bool user;	  /* user memory: @user */
	bool raw;	  /* goes to the kernel as it is */
	VEC(struct probe_field) fields;
	size_t at; /* where it stands in the text */
};

struct probe_text {
	const char *text;	   /* all of it, with single blanks */
	const char *group, *event; /* NULL: not given */
	const char *function, *file, *pattern;
	uint32_t line; /* of the file; with a function, counted from its first line (which is 0) */
	bool has_line, ret, usdt;
	uint64_t offset;  /* from the function's start */
	uint64_t address; /* absolute; when has_address */
	bool has_address;
	VEC(struct probe_arg) args;
};

/* words is one probe, split as the shell did or in one piece. Errors show the text with a caret. */
int probe_parse(struct arena *a, char *const *words, size_t n, struct probe_text *ret,
		struct err *e);
void probe_text_free(struct probe_text *p); /* the vectors; the rest is the arena's */

/* A range of lines: FUNC[@SRC][:FROM[-TO | +N]] or SRC:FROM[-TO | +N], as -L takes it. */
struct probe_lines {
	const char *function, *file;
	uint32_t from, to; /* to: UINT32_MAX, as far as it goes */
};
int probe_lines_parse(struct arena *a, const char *text, struct probe_lines *ret, struct err *e);

/* Whether text can be the name of an event, and of a variable. */
bool probe_is_name(const char *s);

/* Is it a group that probes are put into: "probe", "probe_libc"? */
bool probe_is_group(const char *name, size_t n);
/* How to come by the probe "GROUP:EVENT" that is not there; have: those that are. */
void probe_missing(const char *name, const char *const *have, size_t n, struct strbuf *hint);
