/* SPDX-License-Identifier: MIT */
/* What a filter of ftrace_filter.h is made of: its parser, its words and its asking share it. */
#pragma once

#include <regex.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "calc/read/ftrace_filter.h"

enum filter_kind {
	NODE_NUMBER,
	NODE_TEXT,
	NODE_FIELD,
	NODE_CPU,
	NODE_COMM,
	NODE_TIME,
	NODE_NOT,
	NODE_AND,
	NODE_OR,
	NODE_COMPARE, /* a op b */
	NODE_MATCH,   /* a =~ pattern */
	NODE_ARITH,
};

struct filter_node {
	enum filter_kind kind;
	char op[3];
	uint64_t number;
	const char *text, *at; /* at: where it stands */
	struct filter_node *a, *b;
	regex_t regex;
	bool has_regex;
	/* the field of the type that was asked for last */
	const struct event_type *type;
	const struct field *field;
};

struct ftrace_filter {
	struct arena arena;
	VEC(struct filter_node *) nodes;
	VEC(regex_t) events; /* system and name, in pairs; a name alone twice */
	VEC(bool) paired;
	struct filter_node *root; /* NULL: all records of these events */
	struct map chosen;	  /* type to 1: no, 2: yes */
};

struct filter_parser {
	struct ftrace_filter *f;
	const char *text, *p;
	int depth;
	struct err *e;
	bool failed;
};

/* The expression at p->p; p->failed and p->e when there is none. */
struct filter_node *ftrace_filter_parse(struct filter_parser *p);
bool ftrace_filter_is_for(const struct ftrace_filter *f, const char *system, const char *event);
/* Refuses what stands at p->p. */
struct filter_node *ftrace_filter_fail(struct filter_parser *p, const char *why);
