/* SPDX-License-Identifier: MIT */
/*
 * Call graphs in characters, in the layout perf's users know:
 *
 *	|--30.64%--top2
 *	|          main
 *	 --12.46%--main
 */
#include "view/report.h"

#define MAX_LEVELS 64

struct tree {
	FILE *f;
	const struct hist *h;
	const struct graph_opts *o;
	bool bar[MAX_LEVELS]; /* does this level's line go on below? */
	int margin;
};

static void function(const struct tree *t, uint32_t frame)
{
	const char *name = names_function(t->h->names, frame);

	if (name)
		fprintf(t->f, "%s\n", name);
	else
		fprintf(t->f, "%#llx\n", (unsigned long long)t->h->names->frames.data[frame].addr);
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

/* The first line of a node carries its share on the last level's line. */
static void first_line(const struct tree *t, int depth, double percent)
{
	bars(t, depth - 1);
	fprintf(t->f, "%c--%.2f%%--", depth <= MAX_LEVELS && t->bar[depth - 1] ? '|' : ' ',
		percent);
}

static void siblings(struct tree *t, const struct graph_node *node, uint64_t total, int depth)
{
	uint64_t rest = total;

	if (depth > MAX_LEVELS)
		return;
	t->bar[depth - 1] = node != NULL;
	for (; node; node = node->next) {
		bool more = node->next != NULL;

		rest -= node->weight < rest ? node->weight : rest;
		bars(t, depth);
		putc('\n', t->f);
		if (!more && !(t->o->mode == GRAPH_FRACTAL && rest))
			t->bar[depth - 1] = false;
		first_line(t, depth, total ? 100.0 * (double)node->weight / (double)total : 0);
		function(t, node->frame[0]);
		for (uint32_t i = 1; i < node->n_frames; i++) {
			bars(t, depth);
			function(t, node->frame[i]);
		}
		siblings(t, node->child, t->o->mode == GRAPH_FRACTAL ? node->below : total,
			 depth + 1);
	}
	/* fractal: what was too light to show, so that the shares add up */
	if (t->o->mode == GRAPH_FRACTAL && rest && rest != total) {
		t->bar[depth - 1] = false;
		first_line(t, depth, 100.0 * (double)rest / (double)total);
		fputs("[...]\n", t->f);
	}
}

/* Every chain to its end with its share, one function a line (flat) or all on one (folded). */
static void chains(const struct tree *t, const struct graph_node *node, uint32_t *path, size_t n)
{
	for (; node; node = node->next) {
		size_t len = n;
		uint64_t here = node->weight;

		for (uint32_t i = 0; i < node->n_frames && len < 1024; i++)
			path[len++] = node->frame[i];
		for (const struct graph_node *c = node->child; c; c = c->next)
			here -= c->weight < here ? c->weight : here;
		chains(t, node->child, path, len);
		if (!here)
			continue;
		if (t->o->mode == GRAPH_FLAT)
			fprintf(t->f, "%18.2f%%\n", 100.0 * (double)here / (double)t->h->total);
		else
			fprintf(t->f, "%.2f%% ", 100.0 * (double)here / (double)t->h->total);
		for (size_t i = 0; i < len; i++) {
			const char *name = names_function(t->h->names, path[i]);
			char hex[32];

			snprintf(hex, sizeof(hex), "%#llx",
				 (unsigned long long)t->h->names->frames.data[path[i]].addr);
			if (t->o->mode == GRAPH_FLAT)
				fprintf(t->f, "                %s\n", name ? name : hex);
			else
				fprintf(t->f, "%s%s", i ? ";" : "", name ? name : hex);
		}
		putc('\n', t->f);
	}
}

void report_print_graph(FILE *f, const struct hist *h, const struct graph_opts *o,
			const struct graph_node *root, uint64_t row_weight, bool skip_first)
{
	struct tree t = { .f = f, .h = h, .o = o };
	const struct graph_node *from = root;
	bool printed = false;

	if (!root)
		return;
	if (o->mode == GRAPH_FLAT || o->mode == GRAPH_FOLDED) {
		uint32_t path[1024];

		chains(&t, root, path, 0);
		return;
	}
	/* one chain that carries all of the row needs no share */
	if (!root->next && root->weight == row_weight) {
		for (uint32_t i = 0; i < root->n_frames; i++) {
			if (i == 0 && skip_first)
				continue;
			if (!printed) {
				margin(&t);
				fputs("|\n", f);
				margin(&t);
				fputs("---", f);
				t.margin = 3;
				printed = true;
			} else {
				margin(&t);
			}
			function(&t, root->frame[i]);
		}
		from = root->child;
	}
	siblings(&t, from, o->mode == GRAPH_FRACTAL ? row_weight : h->total, 1);
	if (printed || from)
		putc('\n', f);
}
