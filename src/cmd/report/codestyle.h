/* SPDX-License-Identifier: MIT */
/* How code is shown: the options that report, top and annotate have in common. */
#pragma once

#include "calc/rows/annotate.h"
#include "view/report/annotate.h"
#include "view/tui/tui.h"

struct codestyle {
	const char *style;  /* of the disassembler: att or intel; NULL: att */
	const char *prefix; /* in front of names of source files; NULL */
	int prefix_strip;   /* folders taken off before that */
	bool no_source, raw;
	enum annotate_percent percent;
};

/* Its options, for a command whose args have it as code. */
#define CODESTYLE_OPTS                                                                  \
	OPT_STR_C('M', "disassembler-style", "STYLE", code.style, "att or intel (x86)", \
		  "att|intel"),                                                         \
		OPT_FLAG(0, "no-source", code.no_source,                                \
			 "no source lines between the instructions"),                   \
		OPT_FLAG(0, "asm-raw", code.raw, "the bytes of instructions too"),      \
		OPT_STR_C(0, "prefix", "PREFIX", code.prefix,                           \
			  "put in front of names of source files", "@dirs"),            \
		OPT_INT(0, "prefix-strip", "N", code.prefix_strip,                      \
			"folders taken off before that")

/* "local-period" ... */
int codestyle_parse_percent(const char *text, enum annotate_percent *ret, struct err *e);
/* Is there such a style? */
int codestyle_check(const struct codestyle *o, struct err *e);
/* For the interface's model; what else it has there stays. */
void codestyle_apply(const struct codestyle *o, struct tui_model *m);
