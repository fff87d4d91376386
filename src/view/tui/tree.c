/* SPDX-License-Identifier: MIT */
#include "view/tui/tree.h"

#include <stdio.h>

#define DEPTH_MAX 512 /* deeper ones are cut, and end on the screen anyway */

void tui_tree_free(struct tui_tree *t)
{
	calls_free(t->calls);
	vec_free(&t->shown);
	*t = (struct tui_tree){ 0 };
}

bool tui_tree_shown(const struct tui_tree *t, uint32_t node)
{
	return node < t->shown.n && t->shown.data[node];
}

void tui_tree_show(struct tui_tree *t, uint32_t node, bool on)
{
	while (t->shown.n <= node)
		vec_push(&t->shown, 0);
	t->shown.data[node] = on;
}

/* The only child, when everything goes on through it. */
static uint32_t only_child(struct tui_tree *t, uint32_t node)
{
	struct calls_node n = *calls_open(t->calls, node);

	if (n.n_children != 1 || calls_get(t->calls, n.child)->weight != n.weight)
		return CALLS_NONE;
	return n.child;
}

/* Do the children from k on, each too light to show, weigh something together? */
static bool rest_matters(const struct tui_tree *t, const struct calls_node *n, uint32_t k)
{
	uint64_t sum = 0;

	for (; k < n->child + n->n_children; k++)
		sum += calls_get(t->calls, k)->weight;
	return sum && sum >= t->least;
}

bool tui_tree_opens(struct tui_tree *t, uint32_t node)
{
	struct calls_node n = *calls_open(t->calls, node);

	return n.n_children &&
	       (calls_get(t->calls, n.child)->weight >= t->least || rest_matters(t, &n, n.child));
}

static void list_children(struct tui_tree *t, uint32_t node, uint32_t depth, tui_tree_lines *ret)
{
	struct calls_node n = *calls_open(t->calls, node);

	for (uint32_t k = n.child; k < n.child + n.n_children; k++) {
		uint32_t end = k, next;

		if (calls_get(t->calls, k)->weight < t->least) {
			if (rest_matters(t, &n, k))
				vec_push(ret, (struct tui_tree_line){ .node = node,
								      .head = node,
								      .depth = depth,
								      .more = n.child +
									      n.n_children - k });
			return;
		}
		vec_push(ret, (struct tui_tree_line){ .node = k, .head = k, .depth = depth });
		if (!tui_tree_shown(t, k) || depth > DEPTH_MAX)
			continue;
		/* what does not branch needs no further level */
		while ((next = only_child(t, end)) != CALLS_NONE) {
			end = next;
			vec_push(ret,
				 (struct tui_tree_line){ .node = end, .head = k, .depth = depth });
		}
		list_children(t, end, depth + 1, ret);
	}
}

void tui_tree_list(struct tui_tree *t, uint64_t least, tui_tree_lines *ret)
{
	uint32_t only;

	/* a single way needs no key to be seen */
	if (!tui_tree_shown(t, CALLS_ROOT)) {
		only = only_child(t, CALLS_ROOT);
		if (only != CALLS_NONE)
			tui_tree_show(t, only, true);
		tui_tree_show(t, CALLS_ROOT, true);
	}
	t->least = least;
	list_children(t, CALLS_ROOT, 0, ret);
}

size_t tui_tree_show_all(struct tui_tree *t, uint64_t least, size_t limit)
{
	VEC(uint32_t) todo = { 0 };
	size_t done = 0;

	vec_push(&todo, CALLS_ROOT);
	while (todo.n && done < limit) {
		uint32_t node = todo.data[--todo.n];
		struct calls_node n = *calls_open(t->calls, node);

		tui_tree_show(t, node, true);
		done++;
		for (uint32_t k = n.child; k < n.child + n.n_children; k++)
			if (calls_get(t->calls, k)->weight >= least &&
			    calls_get(t->calls, k)->depth < DEPTH_MAX)
				vec_push(&todo, k);
	}
	vec_free(&todo);
	return done;
}

const char *tui_tree_name(const struct names *n, uint32_t frame, char *buf, size_t size)
{
	const char *name;

	if (frame == CALLS_NONE)
		return "(nobody: where the chains begin)";
	name = names_function(n, frame);
	if (name && !n->frames.data[frame].inlined)
		return name;
	if (name) {
		snprintf(buf, size, "%s (inlined)", name);
		return buf;
	}
	snprintf(buf, size, "%#llx [%s]", (unsigned long long)n->frames.data[frame].addr,
		 names_dso(n, n->frames.data[frame].dso));
	return buf;
}

void tui_tree_put_place(struct tui_line *l, const struct names *n, uint32_t frame)
{
	const struct name_frame *f = frame == CALLS_NONE ? NULL : &n->frames.data[frame];
	bool in_file = f && f->name != SYMBOLS_NONE && f->dso != NAMES_NONE;
	char name[1024], cut[4096];

	tui_put(l, TUI_DIM,
		tui_cut(tui_tree_name(n, frame, name, sizeof(name)), l->end - l->x, cut,
			sizeof(cut)));
	tui_put(l, TUI_DIM, "  ");
	if (in_file)
		tui_put(l, TUI_DIM,
			tui_cut_front(names_path(n, f->dso), l->end - l->x, cut, sizeof(cut)));
}

static char tui_tree_mark(struct tui_tree *t, const struct tui_tree_line *line)
{
	if (line->node != line->head || !tui_tree_opens(t, line->node))
		return ' ';
	return tui_tree_shown(t, line->node) ? '-' : '+';
}

static double tui_tree_share(const struct tui_tree *t, uint32_t node, uint64_t total)
{
	return profile_percent(calls_get(t->calls, node)->weight, total);
}

void tui_tree_draw(struct tui_line *l, struct tui_tree *t, const struct names *n,
		   const struct tui_tree_line *line, uint64_t total, const struct tui_search *s)
{
	char buf[1024];
	double p;

	tui_printf(l, TUI_PLAIN, "%*s", (int)(line->depth < 64 ? line->depth * 2 : 128), "");
	if (line->more) {
		tui_printf(l, TUI_DIM, "  (%u more below the least percentage)", line->more);
		return;
	}
	p = tui_tree_share(t, line->node, total);
	if (line->node != line->head) {
		tui_put(l, TUI_PLAIN, "         ");
	} else {
		tui_printf(l, TUI_BOLD, "%c ", tui_tree_mark(t, line));
		tui_printf(l, tui_heat(p), "%5.2f%% ", p);
	}
	tui_put_found(l, TUI_PLAIN,
		      tui_tree_name(n, calls_get(t->calls, line->node)->frame, buf, sizeof(buf)),
		      s);
}

const char *tui_tree_text(struct tui_tree *t, const struct names *n,
			  const struct tui_tree_line *line, uint64_t total, char *buf, size_t size)
{
	int indent = (int)(line->depth < 64 ? line->depth * 2 : 128);
	char name[1024];
	const char *text;

	if (line->more) {
		snprintf(buf, size, "%*s  (%u more)", indent, "", line->more);
		return buf;
	}
	text = tui_tree_name(n, calls_get(t->calls, line->node)->frame, name, sizeof(name));
	if (line->node != line->head)
		snprintf(buf, size, "%*s         %s", indent, "", text);
	else
		snprintf(buf, size, "%*s%c %5.2f%% %s", indent, "", tui_tree_mark(t, line),
			 tui_tree_share(t, line->node, total), text);
	return buf;
}
