/* SPDX-License-Identifier: MIT */
/* A call tree as lines of a list: what is open, and how a line looks. */
#pragma once

#include "base/vec.h"
#include "calc/stacks/calls.h"
#include "view/tui/list.h"

struct tui_tree {
	struct calls *calls;
	VEC(uint8_t) shown; /* by node: its children are shown */
	uint64_t least;	    /* weight from which they are; set by tui_tree_list */
};

struct tui_tree_line {
	uint32_t node;
	uint32_t head;	/* of a run without a branch; the node itself when it is one */
	uint32_t depth; /* from 0 */
	uint32_t more;	/* not a node but so many that are too light to show, and matter in sum */
};
typedef VEC(struct tui_tree_line) tui_tree_lines;

void tui_tree_free(struct tui_tree *t);

/* The lines below the root, those from a weight on. */
void tui_tree_list(struct tui_tree *t, uint64_t least, tui_tree_lines *ret);

bool tui_tree_shown(const struct tui_tree *t, uint32_t node);
void tui_tree_show(struct tui_tree *t, uint32_t node, bool on);
/* Everything from a weight on, up to a number of nodes; returns how many were opened. */
size_t tui_tree_show_all(struct tui_tree *t, uint64_t least, size_t limit);

/* Would opening it show anything? */
bool tui_tree_opens(struct tui_tree *t, uint32_t node);

/* A line's text without its share: "+ main". */
const char *tui_tree_name(const struct names *n, uint32_t frame, char *buf, size_t size);
/* The same with its file's path, for the line below: "main  /usr/bin/true". */
void tui_tree_put_place(struct tui_line *l, const struct names *n, uint32_t frame);
void tui_tree_draw(struct tui_line *l, struct tui_tree *t, const struct names *n,
		   const struct tui_tree_line *line, uint64_t total, const struct tui_search *s);
const char *tui_tree_text(struct tui_tree *t, const struct names *n,
			  const struct tui_tree_line *line, uint64_t total, char *buf, size_t size);
