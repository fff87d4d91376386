/* SPDX-License-Identifier: MIT */
#include "calc/table/table.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "base/str.h"

static void free_table(struct table *t)
{
	arena_free(&t->arena);
	strtab_free(&t->frames);
	vec_free(&t->cells);
	vec_free(&t->notes);
	free(t);
}

void tables_free(struct tables *t)
{
	vec_each (t, one)
		free_table(*one);
	vec_free(t);
}

struct table *table_new(struct tables *to, const char *name, const struct table_column *columns,
			size_t n)
{
	struct table *t = mem_alloc(sizeof(*t));

	t->name = name;
	t->column = columns;
	t->n_columns = n < TABLE_COLUMNS ? n : TABLE_COLUMNS;
	vec_push(to, t);
	return t;
}

/* --- filling --- */

void table_row(struct table *t)
{
	t->n_rows++;
	for (t->filled = 0; t->cells.n < t->n_rows * t->n_columns;)
		vec_add(&t->cells);
}

/* The next cell of the row, or one that nobody looks at when it has all. */
static struct table_cell *next_cell(struct table *t)
{
	static _Thread_local struct table_cell beyond;

	if (!t->n_rows || t->filled == t->n_columns)
		return &beyond;
	return &t->cells.data[(t->n_rows - 1) * t->n_columns + t->filled++];
}

/* Column sums are kept as rows come: they hold for rows that are cut later, too. */
static void table_put_number(struct table *t, struct table_cell value)
{
	struct table_cell *c = next_cell(t);
	const struct table_column *column = &t->column[t->filled ? t->filled - 1 : 0];
	struct table_cell *sum = &t->sum[column - t->column];

	*c = value;
	if (!column->sum || !t->n_rows)
		return;
	sum->known = true;
	if (column->kind == TABLE_NUMBER)
		sum->i += value.i;
	else if (column->kind == TABLE_REAL || column->kind == TABLE_SHARE)
		sum->f += value.f;
	else
		sum->u += value.u;
}

void table_text(struct table *t, const char *s)
{
	struct table_cell *c = next_cell(t);

	c->known = s != NULL;
	c->text = s ? arena_strdup(&t->arena, s) : NULL;
}

void table_u64(struct table *t, uint64_t v)
{
	table_put_number(t, (struct table_cell){ .known = true, .u = v });
}

void table_i64(struct table *t, int64_t v)
{
	table_put_number(t, (struct table_cell){ .known = true, .i = v });
}

void table_real(struct table *t, double v)
{
	table_put_number(t, (struct table_cell){ .known = true, .f = v });
}

void table_stack(struct table *t, const char *const *frames, size_t n)
{
	struct table_cell *c = next_cell(t);
	struct table_stack *s = arena_alloc(&t->arena, sizeof(*s));
	const char **names = arena_alloc(&t->arena, (n + 1) * sizeof(*names));

	for (size_t i = 0; i < n; i++)
		names[i] = table_frame(t, frames[i]);
	*s = (struct table_stack){ .n = n, .frame = names };
	*c = (struct table_cell){ .known = true, .stack = s };
}

struct table_stack *table_stacks(struct table *t, uint64_t count, size_t n, bool timed)
{
	struct table_cell *c = next_cell(t);
	struct table_stacks *s = arena_alloc(&t->arena, sizeof(*s));

	*s = (struct table_stacks){ .n = n,
				    .stack = arena_alloc(&t->arena, n * sizeof(*s->stack)),
				    .count = count,
				    .timed = timed };
	*c = (struct table_cell){ .known = true, .stacks = s };
	return s->stack;
}

const char *table_frame(struct table *t, const char *name)
{
	return strtab_get(&t->frames, strtab_add(&t->frames, name));
}

void table_hist(struct table *t, enum table_kind kind, const struct table_bucket *b, size_t n)
{
	struct table_cell *c = next_cell(t);
	struct table_hist *h = arena_alloc(&t->arena, sizeof(*h));

	*h = (struct table_hist){ .n = n,
				  .bucket = arena_dup(&t->arena, b, n * sizeof(*b)),
				  .kind = kind };
	*c = (struct table_cell){ .known = true, .hist = h };
}

void table_unknown(struct table *t)
{
	next_cell(t);
}

void table_note(struct table *t, const char *fmt, ...)
{
	AUTO_STRBUF text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	strbuf_vprintf(&text, fmt, ap);
	va_end(ap);
	vec_push(&t->notes, arena_strdup(&t->arena, strbuf_str(&text)));
}

/* --- sorting --- */

/* "Max delay", "max-delay" and "max_delay" are the same name. */
static bool same_name(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		int x = *a == ' ' || *a == '-' ? '_' : tolower((unsigned char)*a);
		int y = *b == ' ' || *b == '-' ? '_' : tolower((unsigned char)*b);

		if (x != y)
			return false;
	}
	return !*a && !*b;
}

int table_find(const struct table *t, const char *name)
{
	for (size_t i = 0; i < t->n_columns; i++)
		if (same_name(t->column[i].name, name))
			return (int)i;
	for (size_t i = 0; i < t->n_columns; i++)
		if (t->column[i].title && same_name(t->column[i].title, name))
			return (int)i;
	return -1;
}

struct sort_by {
	size_t column;
	bool turned;
};
struct sorter {
	const struct table *t;
	VEC(struct sort_by) keys;
	struct err *e;
};

static int add_key(void *ctx, const char *part, size_t n)
{
	struct sorter *s = ctx;
	AUTO_FREE char *name = mem_strndup(part, n);
	bool turned = name[0] == '-';
	int column = table_find(s->t, name + turned);
	AUTO_STRBUF all = { 0 };

	if (column >= 0) {
		vec_push(&s->keys, (struct sort_by){ .column = (size_t)column, .turned = turned });
		return 0;
	}
	for (size_t i = 0; i < s->t->n_columns; i++)
		strbuf_printf(&all, "%s%s", i ? ", " : "", s->t->column[i].name);
	err_set(s->e, EINVAL, "there is no column '%s' to sort by", name + turned);
	return err_hint(s->e, "it has %s", strbuf_str(&all));
}

/* Largest first; texts in the order of letters. */
static int compare_cells(enum table_kind kind, const struct table_cell *a,
			 const struct table_cell *b)
{
	switch (kind) {
	case TABLE_TEXT: return strcmp(a->text, b->text);
	case TABLE_NUMBER: return a->i > b->i ? -1 : a->i < b->i;
	case TABLE_REAL:
	case TABLE_SHARE: return a->f > b->f ? -1 : a->f < b->f;
	case TABLE_STACK:
	case TABLE_STACKS:
	case TABLE_HIST: return 0;
	default: return a->u > b->u ? -1 : a->u < b->u;
	}
}

static int compare_rows(const void *x, const void *y, void *ctx)
{
	const struct sorter *s = ctx;
	size_t a = *(const size_t *)x, b = *(const size_t *)y;

	vec_each (&s->keys, k) {
		const struct table_cell *p = table_at(s->t, a, k->column);
		const struct table_cell *q = table_at(s->t, b, k->column);
		int r;

		if (p->known != q->known)
			return p->known ? -1 : 1;
		r = p->known ? compare_cells(s->t->column[k->column].kind, p, q) : 0;
		if (r)
			return k->turned ? -r : r;
	}
	return a < b ? -1 : 1;
}

/* The first row behind those that belong to the heading of row `at`. */
static size_t heading_end(const struct table *t, size_t at)
{
	size_t end = at + 1;

	for (; end < t->n_rows; end++)
		for (size_t c = 0; c < t->n_heading; c++) {
			const struct table_cell *a = table_at(t, at, c), *b = table_at(t, end, c);

			if (a->known != b->known ||
			    (a->known && compare_cells(t->column[c].kind, a, b) != 0))
				return end;
		}
	return end;
}

int table_sort(struct table *t, const char *keys, struct err *e)
{
	struct sorter s = { .t = t, .e = e };
	AUTO_FREE size_t *order = NULL;
	struct table_cell *sorted;
	int r = str_split(keys, ',', add_key, &s);

	if (r < 0 || t->n_rows < 2) {
		vec_free(&s.keys);
		return r < 0 ? r : 0;
	}
	order = mem_grow(NULL, t->n_rows * sizeof(*order));
	for (size_t i = 0; i < t->n_rows; i++)
		order[i] = i;
	for (size_t i = 0, end; i < t->n_rows; i = end) {
		end = t->n_heading ? heading_end(t, i) : t->n_rows;
		qsort_r(order + i, end - i, sizeof(*order), compare_rows, &s);
	}
	sorted = mem_grow(NULL, t->cells.n * sizeof(*sorted));
	for (size_t i = 0; i < t->n_rows; i++)
		memcpy(sorted + i * t->n_columns, table_at(t, order[i], 0),
		       t->n_columns * sizeof(*sorted));
	free(t->cells.data);
	t->cells.data = sorted;
	t->cells.cap = t->cells.n;
	vec_free(&s.keys);
	return 0;
}

void table_cut(struct table *t, size_t rows)
{
	size_t kept = 0;

	for (size_t i = 0, end; i < t->n_rows; i = end) {
		size_t n;

		end = t->n_heading ? heading_end(t, i) : t->n_rows;
		n = end - i < rows ? end - i : rows;
		memmove(&t->cells.data[kept * t->n_columns], table_at(t, i, 0),
			n * t->n_columns * sizeof(*t->cells.data));
		kept += n;
	}
	t->left_out += t->n_rows - kept;
	t->n_rows = kept;
	t->cells.n = kept * t->n_columns;
}
