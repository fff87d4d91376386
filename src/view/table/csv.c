/* SPDX-License-Identifier: MIT */
/* A table for spreadsheets and scripts: values as they are kept, names for programs. */
#include <inttypes.h>
#include <string.h>

#include "view/table/table.h"

static void table_csv_put_text(FILE *f, const char *s, const char *separator)
{
	AUTO_STRBUF clean = { 0 };

	strbuf_utf8(&clean, s, strlen(s));
	s = strbuf_str(&clean);
	if (!strpbrk(s, "\"\r\n") && !strstr(s, separator)) {
		fputs(s, f);
		return;
	}
	putc('"', f);
	for (; *s; s++) {
		if (*s == '"')
			putc('"', f);
		putc(*s, f);
	}
	putc('"', f);
}

/* Outermost first with semicolons, as folded stacks are. */
static void table_csv_put_stack(FILE *f, const struct table_stack *s, const char *separator)
{
	AUTO_STRBUF text = { 0 };

	for (size_t i = s->n; i-- > 0;)
		strbuf_printf(&text, "%s%s", s->frame[i], i ? ";" : "");
	table_csv_put_text(f, strbuf_str(&text), separator);
}

/* from:count from:count ... */
static void table_csv_put_hist(FILE *f, const struct table_hist *h, const char *separator)
{
	AUTO_STRBUF text = { 0 };

	for (size_t i = 0; i < h->n; i++)
		strbuf_printf(&text, "%s%" PRId64 ":%" PRIu64, i ? " " : "", h->bucket[i].from,
			      h->bucket[i].count);
	table_csv_put_text(f, strbuf_str(&text), separator);
}

static void table_csv_put_value(FILE *f, const struct table_column *c, const struct table_cell *v,
				const char *separator)
{
	if (!v->known)
		return;
	switch (c->kind) {
	case TABLE_TEXT: table_csv_put_text(f, v->text, separator); break;
	case TABLE_STACK: table_csv_put_stack(f, v->stack, separator); break;
	case TABLE_HIST: table_csv_put_hist(f, v->hist, separator); break;
	case TABLE_NUMBER: fprintf(f, "%" PRId64, v->i); break;
	case TABLE_REAL:
	case TABLE_SHARE: fprintf(f, "%.9g", v->f); break;
	case TABLE_ADDRESS: fprintf(f, "0x%" PRIx64, v->u); break;
	default: fprintf(f, "%" PRIu64, v->u); break;
	}
}

static void table_csv_put_table(FILE *f, const struct table *t, const char *separator)
{
	for (size_t c = 0; c < t->n_columns; c++)
		fprintf(f, "%s%s", c ? separator : "", t->column[c].name);
	putc('\n', f);
	for (size_t row = 0; row < t->n_rows; row++) {
		for (size_t c = 0; c < t->n_columns; c++) {
			fputs(c ? separator : "", f);
			table_csv_put_value(f, &t->column[c], table_at(t, row, c), separator);
		}
		putc('\n', f);
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
