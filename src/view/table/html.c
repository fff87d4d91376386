/* SPDX-License-Identifier: MIT */
/* A table for pages; numbers carry their exact value for scripts that sort. */
#include <inttypes.h>

#include "view/markup.h"
#include "view/table/table.h"

static void table_html_put_stack(FILE *f, const struct table_stack *s)
{
	fputs("<ol>", f);
	for (size_t i = 0; i < s->n; i++) {
		fputs("<li>", f);
		markup_text(f, s->frame[i]);
		fputs("</li>", f);
	}
	fputs("</ol>", f);
}

static void table_html_put_stacks(FILE *f, const struct table_stacks *s)
{
	for (size_t i = 0; i < s->n; i++) {
		fprintf(f, "<details><summary>%" PRIu64 "</summary>", s->stack[i].count);
		table_html_put_stack(f, &s->stack[i]);
		fputs("</details>", f);
	}
}

static void table_html_put_hist(FILE *f, const struct table_hist *h)
{
	uint64_t most = 1;

	for (size_t i = 0; i < h->n; i++)
		most = h->bucket[i].count > most ? h->bucket[i].count : most;
	fputs("<dl>", f);
	for (size_t i = 0; i < h->n; i++)
		fprintf(f,
			"<dt>%" PRId64 "</dt><dd><meter max=\"%" PRIu64 "\" value=\"%" PRIu64
			"\"></meter> %" PRIu64 "</dd>",
			h->bucket[i].from, most, h->bucket[i].count, h->bucket[i].count);
	fputs("</dl>", f);
}

static void table_html_put_cell(FILE *f, const struct table_column *c, const struct table_cell *v)
{
	AUTO_STRBUF text = { 0 };

	if (c->kind == TABLE_TEXT || !v->known) {
		fputs("<td>", f);
	} else if (c->kind == TABLE_STACK) {
		fputs("<td>", f);
		table_html_put_stack(f, v->stack);
	} else if (c->kind == TABLE_STACKS) {
		fputs("<td>", f);
		table_html_put_stacks(f, v->stacks);
	} else if (c->kind == TABLE_HIST) {
		fputs("<td>", f);
		table_html_put_hist(f, v->hist);
	} else if (c->kind == TABLE_NUMBER) {
		fprintf(f, "<td class=\"n\" data-v=\"%" PRId64 "\">", v->i);
	} else if (c->kind == TABLE_REAL || c->kind == TABLE_SHARE) {
		fprintf(f, "<td class=\"n\" data-v=\"%.9g\">", v->f);
	} else {
		fprintf(f, "<td class=\"n\" data-v=\"%" PRIu64 "\">", v->u);
	}
	table_cell_text(c, v, &text);
	markup_text(f, strbuf_str(&text));
	fputs("</td>", f);
}

static void table_html_put_table(FILE *f, const struct table *t)
{
	fprintf(f, "<table id=\"%s\">\n", t->name);
	if (t->title) {
		fputs("<caption>", f);
		markup_text(f, t->title);
		fputs("</caption>\n", f);
	}
	fputs("<thead><tr>", f);
	for (size_t c = 0; c < t->n_columns; c++) {
		fputs("<th scope=\"col\">", f);
		markup_text(f, t->column[c].title);
		fputs("</th>", f);
	}
	fputs("</tr></thead>\n<tbody>\n", f);
	for (size_t row = 0; row < t->n_rows; row++) {
		fputs("<tr>", f);
		for (size_t c = 0; c < t->n_columns; c++)
			table_html_put_cell(f, &t->column[c], table_at(t, row, c));
		fputs("</tr>\n", f);
	}
	fputs("</tbody>\n</table>\n", f);
	vec_each (&t->notes, note) {
		fputs("<p class=\"note\">", f);
		markup_text(f, *note);
		fputs("</p>\n", f);
	}
}

void table_html_all(FILE *f, const struct tables *t)
{
	vec_each (t, one)
		table_html_put_table(f, *one);
}
