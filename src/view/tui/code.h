/* SPDX-License-Identifier: MIT */
/* The annotate view's own parts; others use view/tui/report.h. */
#pragma once

#include "view/arrows.h"
#include "view/report/annotate.h"
#include "view/tui/report.h"

enum tui_code_kind { TUI_CODE_INSTRUCTION, TUI_CODE_SOURCE, TUI_CODE_FUNCTION };

struct tui_code_line {
	enum tui_code_kind kind;
	uint32_t insn; /* itself, or the one below */
	uint32_t number;
	const char *text; /* of source and function lines; from the view's arena */
};

struct tui_code {
	const struct tui_model *m;
	const struct tui_table *t;
	struct srctext *src;
	struct annotate a;
	struct arrows arrows;
	VEC(struct tui_code_line) lines;
	struct arena arena;
	VEC(uint32_t) hot; /* instructions with samples, hottest first */
	size_t hot_at;	   /* which of them was gone to last; hot.n: none */
	struct tui_list list;
	struct tui_base base;
	/* how it is shown; kept from function to function */
	struct annotate_style style;
};

/* view/tui/code.c: lines and how they look */
void tui_code_lines(struct tui_code *c, uint32_t at); /* the cursor on that instruction */
void tui_code_find_hot(struct tui_code *c);
void tui_code_go_to(struct tui_code *c, uint32_t insn);
void tui_code_go_hot(struct tui_code *c, int step); /* 0: the hottest */
void tui_code_draw(void *code);
const char *tui_code_text(void *code, size_t line, char *buf, size_t size);
