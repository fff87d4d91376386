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
#include "view/report/report.h"

#define MAX_LEVELS 64

struct tree {
	struct strbuf *b;
	const struct report_style *s;
	const struct graphs *g;
	bool bar[MAX_LEVELS]; /* does this level's line go on below? */
	int margin;
};

static void put_place(const struct tree *t, uint32_t place)
{
	char buf[4096];

	strbuf_puts(t->b, graphs_text(t->g, place, buf, sizeof(buf)));
}

static void margin(const struct tree *t)
{
	strbuf_fill(t->b, ' ', (size_t)t->margin + 12);
}

static void bars(const struct tree *t, int levels)
{
	margin(t);
	for (int i = 0; i < levels; i++)
		strbuf_puts(t->b, i < MAX_LEVELS && t->bar[i] ? "|          " : "           ");
}

static void report_graph_put_value(const struct tree *t, uint64_t weight, uint64_t count,
				   uint64_t total)
{
	double p = profile_percent(weight, total);
	enum term_style c = term_heat(p);

	switch (t->g->opts.value) {
	case GRAPH_PERIOD: strbuf_printf(t->b, "%" PRIu64, weight); break;
	case GRAPH_COUNT: strbuf_printf(t->b, "%" PRIu64, count); break;
	default:
		if (c == TERM_RESET || !t->s->color)
			strbuf_printf(t->b, "%.2f%%", p);
		else
			strbuf_printf(t->b, "%s%.2f%%%s", term_code(c), p, term_code(TERM_RESET));
	}
}

/* The first line of a node carries its share on the last level's line. */
static void first_line(const struct tree *t, int depth, uint64_t weight, uint64_t count,
		       uint64_t total)
{
	bars(t, depth - 1);
	strbuf_printf(t->b, "%c--", t->bar[depth - 1] ? '|' : ' ');
	report_graph_put_value(t, weight, count, total);
	strbuf_puts(t->b, "--");
}

/* Fractal: what was too light to show, so that the shares add up. */
static void put_rest(struct tree *t, int depth, uint64_t rest, int64_t count, uint64_t total)
{
	if (t->g->opts.value == GRAPH_COUNT && count <= 0)
		return;
	t->bar[depth - 1] = false;
	first_line(t, depth, rest, (uint64_t)count, total);
	strbuf_puts(t->b, "[...]\n");
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
		strbuf_putc(t->b, '\n');
		if (!node->next && !(fractal && rest))
			t->bar[depth - 1] = false;
		first_line(t, depth, node->weight, node->count, total);
		put_place(t, node->place[0]);
		strbuf_putc(t->b, '\n');
		for (uint32_t i = 1; i < node->n_places; i++) {
			bars(t, depth);
			put_place(t, node->place[i]);
			strbuf_putc(t->b, '\n');
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
		strbuf_puts(t->b, any ? between : before);
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
			strbuf_puts(t->b, "           ");
			report_graph_put_value(t, node->weight, node->count, total);
			put_path(t, node, "\n                ", "\n                ", false);
			strbuf_puts(t->b, "\n\n");
		} else {
			report_graph_put_value(t, node->here, node->here_count, total);
			strbuf_putc(t->b, ' ');
			put_path(t, node, "", t->s->sep ? t->s->sep : ";", false);
			strbuf_putc(t->b, '\n');
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
			strbuf_puts(t->b, "|\n");
			margin(t);
			strbuf_puts(t->b, "---");
			t->margin = 3;
			printed = true;
		}
		put_place(t, root->place[i]);
		strbuf_putc(t->b, '\n');
		if (++shown == t->g->opts.limit)
			break;
	}
	return printed;
}

void report_graph(struct strbuf *b, const struct report_style *s, const struct hist *h,
		  const struct graphs *g, size_t row)
{
	struct tree t = { .b = b, .s = s, .g = g };
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
		strbuf_putc(b, '\n');
}
