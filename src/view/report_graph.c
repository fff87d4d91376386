/* SPDX-License-Identifier: MIT */
/*
 * Call graphs in characters, in the layout perf's users know:
 *
 *	|--30.64%--top2
 *	|          main
 *	 --12.46%--main
 */
#include <inttypes.h>

#include "base/term.h"
#include "view/report.h"

#define MAX_LEVELS 64

struct tree {
	FILE *f;
	const struct report_style *s;
	const struct graphs *g;
	bool bar[MAX_LEVELS]; /* does this level's line go on below? */
	int margin;
};

static void put_place(const struct tree *t, uint32_t place)
{
	char buf[4096];

	fputs(graphs_text(t->g, place, buf, sizeof(buf)), t->f);
}

static void margin(const struct tree *t)
{
	fprintf(t->f, "%*s", 12 + t->margin, "");
}

static void bars(const struct tree *t, int levels)
{
	margin(t);
	for (int i = 0; i < levels; i++)
		fputs(i < MAX_LEVELS && t->bar[i] ? "|          " : "           ", t->f);
}

static void put_value(const struct tree *t, uint64_t weight, uint64_t count, uint64_t total)
{
	double p = total ? (double)weight * 100.0 / (double)total : 0;
	enum term_style c = p >= 5 ? TERM_RED : p > 0.5 ? TERM_GREEN : TERM_RESET;

	switch (t->g->opts.value) {
	case GRAPH_PERIOD: fprintf(t->f, "%" PRIu64, weight); break;
	case GRAPH_COUNT: fprintf(t->f, "%" PRIu64, count); break;
	default:
		if (c == TERM_RESET)
			fprintf(t->f, "%.2f%%", p);
		else
			fprintf(t->f, "%s%.2f%%%s", term_style(t->f, c), p,
				term_style(t->f, TERM_RESET));
	}
}

/* The first line of a node carries its share on the last level's line. */
static void first_line(const struct tree *t, int depth, uint64_t weight, uint64_t count,
		       uint64_t total)
{
	bars(t, depth - 1);
	fprintf(t->f, "%c--", t->bar[depth - 1] ? '|' : ' ');
	put_value(t, weight, count, total);
	fputs("--", t->f);
}

/* Fractal: what was too light to show, so that the shares add up. */
static void put_rest(struct tree *t, int depth, uint64_t rest, int64_t count, uint64_t total)
{
	if (t->g->opts.value == GRAPH_COUNT && count <= 0)
		return;
	t->bar[depth - 1] = false;
	first_line(t, depth, rest, (uint64_t)count, total);
	fputs("[...]\n", t->f);
}

static void siblings(struct tree *t, const struct graph_node *node, uint64_t below_count,
		     uint64_t total, int depth)
{
	bool fractal = t->g->opts.mode == GRAPH_FRACTAL;
	uint64_t rest = total;
	int64_t count = (int64_t)below_count;
	unsigned shown = 0;

	if (depth > MAX_LEVELS)
		return;
	t->bar[depth - 1] = node != NULL;
	for (; node; node = node->next) {
		rest -= node->weight;
		count -= (int64_t)node->count;
		bars(t, depth);
		putc('\n', t->f);
		if (!node->next && !(fractal && rest))
			t->bar[depth - 1] = false;
		first_line(t, depth, node->weight, node->count, total);
		put_place(t, node->place[0]);
		putc('\n', t->f);
		for (uint32_t i = 1; i < node->n_places; i++) {
			bars(t, depth);
			put_place(t, node->place[i]);
			putc('\n', t->f);
		}
		siblings(t, node->child, node->below_count, fractal ? node->below : total,
			 depth + 1);
		if (++shown == t->g->opts.limit)
			break;
	}
	if (fractal && rest && rest != total)
		put_rest(t, depth, rest, count, total);
}

/* A chain from its beginning to this node's end. */
static bool put_path(const struct tree *t, const struct graph_node *node, const char *before,
		     const char *between, bool any)
{
	if (node->parent)
		any = put_path(t, node->parent, before, between, any);
	for (uint32_t i = 0; i < node->n_places; i++) {
		fputs(any ? between : before, t->f);
		put_place(t, node->place[i]);
		any = true;
	}
	return any;
}

/* Every chain with its share, one function a line (flat) or all on one (folded). */
static void chains(const struct tree *t, const struct graph_node *node, uint64_t total)
{
	bool flat = t->g->opts.mode == GRAPH_FLAT;
	unsigned shown = 0;

	for (; node; node = node->next) {
		if (flat) {
			fputs("           ", t->f);
			put_value(t, node->weight, node->count, total);
			put_path(t, node, "\n                ", "\n                ", false);
			fputs("\n\n", t->f);
		} else {
			put_value(t, node->here, node->here_count, total);
			putc(' ', t->f);
			put_path(t, node, "", t->s->sep ? t->s->sep : ";", false);
			putc('\n', t->f);
		}
		if (++shown == t->g->opts.limit)
			break;
	}
}

/* One chain that carries all of the row needs no share. Returns whether anything was printed. */
static bool put_single(struct tree *t, const struct graph_node *root)
{
	const struct columns *cols = t->g->cells->opts.columns;
	bool printed = false;
	unsigned shown = 0;

	for (uint32_t i = 0; i < root->n_places; i++) {
		/* a row that is the function need not name it again */
		if (i == 0 && cols->symbol_first)
			continue;
		margin(t);
		if (!printed) {
			fputs("|\n", t->f);
			margin(t);
			fputs("---", t->f);
			t->margin = 3;
			printed = true;
		}
		put_place(t, root->place[i]);
		putc('\n', t->f);
		if (++shown == t->g->opts.limit)
			break;
	}
	return printed;
}

void report_graph(FILE *f, const struct report_style *s, const struct hist *h,
		  const struct graphs *g, size_t row)
{
	struct tree t = { .f = f, .s = s, .g = g };
	const struct graph_node *root = g->root[row], *from = root;
	uint64_t total = h->all_weight, row_weight = hist_weight(h, &h->rows.data[row]);
	uint64_t count = g->count ? g->count[row] : 0;
	bool printed = false;

	if (!root)
		return;
	if (g->opts.mode == GRAPH_FLAT || g->opts.mode == GRAPH_FOLDED) {
		chains(&t, root, total);
		return;
	}
	if (!root->next && root->weight == row_weight) {
		printed = put_single(&t, root);
		count = root->below_count;
		from = root->child;
	}
	siblings(&t, from, count, g->opts.mode == GRAPH_FRACTAL ? row_weight : total, 1);
	if (printed || from)
		putc('\n', f);
}
