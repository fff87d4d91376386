/* SPDX-License-Identifier: MIT */
/* A report as an indented tree (--hierarchy). */
#include <string.h>

#include "base/str.h"
#include "view/report/report.h"

#define INDENT 3 /* blanks a level */

struct printing {
	FILE *f;
	const struct report_style *s;
	const struct hist *h;
	const struct graphs *g;
	struct hier t;
	struct report_widths w;
	int sums; /* columns the sums take */
};

static void report_tree_blanks(const struct printing *p, int n, char c)
{
	for (int i = 0; i < n; i++)
		putc(c, p->f);
}

static void put_sums(const struct printing *p, uint32_t node)
{
	const struct columns *cols = p->h->cells->opts.columns;
	AUTO_STRBUF b = { 0 };
	bool first = true;

	for (unsigned i = 0; i < cols->n; i++) {
		if (!column_is_sum(&cols->col[i]))
			continue;
		if (!p->s->sep || !first)
			strbuf_puts(&b, p->s->sep ? p->s->sep : "  ");
		first = false;
		report_cell(&b, p->s, &p->t.sums, node, &cols->col[i], p->w.w[i], true);
	}
	fputs(strbuf_str(&b), p->f);
}

static const char *report_tree_trim(const char *text)
{
	return text + strspn(text, " ");
}

static void put_node(const struct printing *p, uint32_t node)
{
	const struct columns *cols = p->h->cells->opts.columns;
	const struct hier_node *n = &p->t.node[node];
	const struct hist_row *r = &p->t.sums.rows.data[node];
	char buf[4096];

	report_tree_blanks(p, (int)n->depth * INDENT, ' ');
	put_sums(p, node);
	if (!p->s->sep)
		report_tree_blanks(p, ((int)p->t.n_levels - 1) * INDENT, ' ');
	for (unsigned i = 0; i < p->t.level_n[n->depth]; i++) {
		unsigned col = p->t.level[n->depth][i];
		bool pad = !p->s->sep && i + 1 < p->t.level_n[n->depth] &&
			   !key_infos[cols->col[col].key].right;

		fprintf(p->f, "%s%-*s", p->s->sep ? p->s->sep : "  ", pad ? p->w.w[col] : 0,
			report_tree_trim(cell_text(p->h->cells, &cols->col[col], r->at, r->count,
						   buf, sizeof(buf))));
	}
	putc('\n', p->f);
	if (n->row != HIST_NO_ROW && p->g) {
		AUTO_STRBUF b = { 0 };

		report_graph(&b, p->s, p->h, p->g, n->row);
		fputs(strbuf_str(&b), p->f);
	}
}

static bool is_shown(const struct printing *p, uint32_t node)
{
	const struct hist_row *r = &p->t.sums.rows.data[node];

	return !r->hidden && report_row_share(p->s, p->h, r) >= p->s->percent_limit;
}

static void put_nodes(const struct printing *p, uint32_t node)
{
	for (; node != HIST_NO_ROW; node = p->t.node[node].next) {
		const struct hier_node *n = &p->t.node[node];
		bool any = false;

		if (!is_shown(p, node)) {
			/* what is below it is even less, or as hidden */
			continue;
		}
		put_node(p, node);
		for (uint32_t c = n->child; c != HIST_NO_ROW && !any; c = p->t.node[c].next)
			any = is_shown(p, c);
		if (n->child != HIST_NO_ROW && !any) {
			if (!p->s->sep)
				report_tree_blanks(p, ((int)p->t.n_levels + (int)n->depth) * INDENT,
						   ' ');
			fprintf(p->f, "%*sno entry >= %.2f%%\n", p->sums + 4, "",
				p->s->percent_limit);
		}
		put_nodes(p, n->child);
	}
}

/* Titles of the levels, joined. Returns their width. */
static int put_titles(const struct printing *p)
{
	const struct columns *cols = p->h->cells->opts.columns;
	int width = 0;

	for (unsigned l = 0; l < p->t.n_levels; l++) {
		width += l ? fprintf(p->f, " / ") : 0;
		for (unsigned i = 0; i < p->t.level_n[l]; i++) {
			const char *title = report_tree_trim(cols->col[p->t.level[l][i]].title);
			int n = (int)strlen(title);

			while (n && title[n - 1] == ' ')
				n--;
			width += fprintf(p->f, "%s%.*s", i ? "+" : "", n, title);
		}
	}
	return width;
}

static void put_heads(const struct printing *p)
{
	const struct columns *cols = p->h->cells->opts.columns;
	const char *sep = p->s->sep;
	int width, indent = sep ? 0 : ((int)p->t.n_levels - 1) * INDENT;
	bool first = true;

	fputs("# ", p->f);
	report_tree_blanks(p, indent, ' ');
	for (unsigned i = 0; i < cols->n; i++)
		if (column_is_sum(&cols->col[i]))
			fprintf(p->f, "%*s%s", p->w.w[i], cols->col[i].title, sep ? sep : "  ");
	width = put_titles(p);
	fputs("\n# ", p->f);
	report_tree_blanks(p, indent, '.');
	for (unsigned i = 0; i < cols->n; i++) {
		if (!column_is_sum(&cols->col[i]))
			continue;
		if (!first)
			fputs(sep ? sep : "..", p->f);
		first = false;
		report_tree_blanks(p, p->w.w[i], '.');
	}
	for (unsigned l = 0; l < p->t.n_levels; l++) {
		int level = (int)l * INDENT + (int)p->t.level_n[l] - 1;

		for (unsigned i = 0; i < p->t.level_n[l]; i++)
			level += p->w.w[p->t.level[l][i]];
		width = level > width ? level : width;
	}
	fputs(sep ? sep : "  ", p->f);
	report_tree_blanks(p, width, '.');
	fputs("\n#\n", p->f);
}

void report_tree(FILE *f, const struct report_style *s, const struct hist *h,
		 const struct graphs *g)
{
	const struct columns *cols = h->cells->opts.columns;
	struct printing p = { .f = f, .s = s, .h = h, .g = g };

	hier_make(&p.t, h);
	report_measure(&p.w, s, h);
	for (unsigned i = 0; i < cols->n; i++)
		if (column_is_sum(&cols->col[i]))
			p.sums += p.w.w[i] + (p.sums ? 2 : 0);
	p.t.sums.count = h->count;
	p.t.sums.weight = h->weight;
	p.t.sums.all_count = h->all_count;
	p.t.sums.all_weight = h->all_weight;
	for (unsigned m = 0; m < h->n_members; m++) {
		p.t.sums.member[m].weight = h->member[m].weight;
		p.t.sums.member[m].all_weight = h->member[m].all_weight;
	}
	if (!s->quiet) {
		report_heading(f, s, h);
		put_heads(&p);
	}
	put_nodes(&p, p.t.top);
	fputs("\n\n", f);
	hier_free(&p.t);
}
