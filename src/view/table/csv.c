/* SPDX-License-Identifier: MIT */
/* A table for spreadsheets and scripts: values as they are kept, names for programs. */
#include <inttypes.h>

#include "view/table/table.h"

/* Outermost first with semicolons, as folded stacks are. */
static void table_csv_put_stack(struct strbuf *b, const struct table_stack *s)
{
	for (size_t i = s->n; i-- > 0;)
		strbuf_printf(b, "%s%s", s->frame[i], i ? ";" : "");
}

/* A line each, as in files of folded stacks. */
static void table_csv_put_stacks(struct strbuf *b, const struct table_stacks *s)
{
	for (size_t i = 0; i < s->n; i++) {
		strbuf_puts(b, i ? "\n" : "");
		table_csv_put_stack(b, &s->stack[i]);
		strbuf_printf(b, " %" PRIu64, s->stack[i].count);
	}
}

/* from:count from:count ... */
static void table_csv_put_hist(struct strbuf *b, const struct table_hist *h)
{
	for (size_t i = 0; i < h->n; i++)
		strbuf_printf(b, "%s%" PRId64 ":%" PRIu64, i ? " " : "", h->bucket[i].from,
			      h->bucket[i].count);
}

static void table_csv_put_value(struct strbuf *line, const struct table_column *c,
				const struct table_cell *v, const char *separator)
{
	AUTO_STRBUF text = { 0 };

	if (!v->known)
		return;
	switch (c->kind) {
	case TABLE_TEXT: strbuf_puts(&text, v->text); break;
	case TABLE_STACK: table_csv_put_stack(&text, v->stack); break;
	case TABLE_STACKS: table_csv_put_stacks(&text, v->stacks); break;
	case TABLE_HIST: table_csv_put_hist(&text, v->hist); break;
	case TABLE_NUMBER: strbuf_printf(line, "%" PRId64, v->i); break;
	case TABLE_REAL:
	case TABLE_SHARE: strbuf_printf(line, "%.9g", v->f); break;
	case TABLE_BOOL: strbuf_puts(line, v->u ? "true" : "false"); break;
	case TABLE_ADDRESS: strbuf_printf(line, "0x%" PRIx64, v->u); break;
	default: strbuf_printf(line, "%" PRIu64, v->u); break;
	}
	strbuf_csv(line, strbuf_str(&text), text.n, separator);
}

static void table_csv_put_table(FILE *f, const struct table *t, const char *separator)
{
	AUTO_STRBUF line = { 0 };

	for (size_t c = 0; c < t->n_columns; c++)
		fprintf(f, "%s%s", c ? separator : "", t->column[c].name);
	putc('\n', f);
	for (size_t row = 0; row < t->n_rows; row++) {
		strbuf_reset(&line);
		for (size_t c = 0; c < t->n_columns; c++) {
			strbuf_puts(&line, c ? separator : "");
			table_csv_put_value(&line, &t->column[c], table_at(t, row, c), separator);
		}
		strbuf_putc(&line, '\n');
		fwrite(line.data, 1, line.n, f);
	}
}

void table_csv_all(FILE *f, const struct tables *t, const char *separator)
{
	for (size_t i = 0; i < t->n; i++) {
		if (i)
			putc('\n', f);
		table_csv_put_table(f, t->data[i], separator);
	}
}
