/* SPDX-License-Identifier: MIT */
/* A table for programs: an object a row, values as they are kept. */
#include "base/json.h"
#include "view/table/table.h"

static void table_json_put_stack(struct json *j, const char *key, const struct table_stack *s)
{
	json_array(j, key);
	for (size_t i = 0; i < s->n; i++)
		json_str(j, NULL, s->frame[i]);
	json_end(j);
}

static void table_json_put_stacks(struct json *j, const char *key, const struct table_stacks *s)
{
	json_array(j, key);
	for (size_t i = 0; i < s->n; i++) {
		json_object(j, NULL);
		json_u64(j, "count", s->stack[i].count);
		if (s->timed)
			json_u64(j, "total_ns", s->stack[i].total);
		table_json_put_stack(j, "frames", &s->stack[i]);
		json_end(j);
	}
	json_end(j);
}

static void table_json_put_hist(struct json *j, const char *key, const struct table_hist *h)
{
	json_array(j, key);
	for (size_t i = 0; i < h->n; i++) {
		const struct table_bucket *b = &h->bucket[i];

		json_object(j, NULL);
		if (b->from != INT64_MIN)
			json_i64(j, "min", b->from);
		if (b->to != INT64_MAX)
			json_i64(j, "max", b->to - 1);
		json_u64(j, "count", b->count);
		json_end(j);
	}
	json_end(j);
}

static void table_json_put_value(struct json *j, const struct table_column *c,
				 const struct table_cell *v)
{
	if (!v->known) {
		json_null(j, c->name);
		return;
	}
	switch (c->kind) {
	case TABLE_TEXT: json_str(j, c->name, v->text); break;
	case TABLE_STACK: table_json_put_stack(j, c->name, v->stack); break;
	case TABLE_STACKS: table_json_put_stacks(j, c->name, v->stacks); break;
	case TABLE_BOOL: json_bool(j, c->name, v->u); break;
	case TABLE_HIST: table_json_put_hist(j, c->name, v->hist); break;
	case TABLE_NUMBER: json_i64(j, c->name, v->i); break;
	case TABLE_REAL:
	case TABLE_SHARE: json_double(j, c->name, v->f); break;
	default: json_u64(j, c->name, v->u); break;
	}
}

static void table_json_put_rows(struct json *j, const char *key, const struct table *t)
{
	json_array(j, key);
	for (size_t row = 0; row < t->n_rows; row++) {
		json_object(j, NULL);
		for (size_t c = 0; c < t->n_columns; c++)
			table_json_put_value(j, &t->column[c], table_at(t, row, c));
		json_end(j);
	}
	json_end(j);
}

static void table_json_put_table(struct json *j, const struct table *t)
{
	json_object(j, t->name);
	table_json_put_rows(j, "rows", t);
	if (t->left_out)
		json_u64(j, "rows_left_out", t->left_out);
	json_array(j, "notes");
	vec_each (&t->notes, note)
		json_str(j, NULL, *note);
	json_end(j);
	json_end(j);
}

void table_json_rows(FILE *f, const struct table *t)
{
	struct json j = json_to(f, JSON_PRETTY);

	table_json_put_rows(&j, NULL, t);
	putc('\n', f);
}

void table_json_all(FILE *f, const struct tables *t)
{
	struct json j = json_to(f, JSON_SPACED);

	json_object(&j, NULL);
	vec_each (t, one)
		table_json_put_table(&j, *one);
	json_end(&j);
	putc('\n', f);
}
