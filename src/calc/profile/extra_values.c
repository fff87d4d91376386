/* SPDX-License-Identifier: MIT */
/* Distinct values of tracepoints' fields and texts, ranked and worded. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "calc/profile/extra.h"
#include "event/text.h"

struct value {
	const char *bytes;
	size_t n;
	uint32_t extra; /* the first that has it */
	uint32_t id;	/* in order of first sight */
	uint32_t next;	/* id + 1 of another one with the same hash */
	uint64_t first;
};

struct value_set {
	VEC(struct value) v;
	struct map index; /* hash of the bytes to id + 1 */
};

static void value_set_free(struct value_set *s)
{
	vec_free(&s->v);
	map_free(&s->index);
}

static uint32_t value_add(struct value_set *s, const char *bytes, size_t n, uint32_t extra,
			  uint64_t first)
{
	uint64_t *at = map_at(&s->index, map_hash_bytes(bytes, n));
	uint32_t id = (uint32_t)s->v.n;
	struct value *v;

	for (uint64_t i = *at; i; i = s->v.data[i - 1].next) {
		v = &s->v.data[i - 1];
		if (v->n != n || memcmp(v->bytes, bytes, n) != 0)
			continue;
		if (first < v->first) {
			v->first = first;
			v->extra = extra;
		}
		return (uint32_t)i - 1;
	}
	vec_push(&s->v, (struct value){ .bytes = bytes,
					.n = n,
					.extra = extra,
					.id = id,
					.next = (uint32_t)*at,
					.first = first });
	*at = id + 1ull;
	return id;
}

/* Fields are compared by their bytes, the higher first. */
static int by_bytes(const void *a, const void *b)
{
	const struct value *x = a, *y = b;
	int c = memcmp(x->bytes, y->bytes, x->n < y->n ? x->n : y->n);

	if (c)
		return c < 0 ? 1 : -1;
	return x->n < y->n ? 1 : x->n > y->n ? -1 : 0;
}

static int extra_values_by_text(const void *a, const void *b)
{
	const struct value *x = a, *y = b;

	return strcmp(x->bytes, y->bytes);
}

/* The part of the event's text that reads NAME=value. */
static bool from_text(const char *text, const char *name, struct strbuf *b)
{
	size_t n = strlen(name);

	while (text) {
		if (strncmp(text, name, n) == 0 && (text[n] == '=' || text[n] == ':')) {
			strbuf_add(b, text + n + 1, strcspn(text + n + 1, " "));
			return true;
		}
		text = strchr(text, ' ');
		text = text ? text + 1 : NULL;
	}
	return false;
}

static void extra_values_put_number(const struct field *f, int64_t v, struct strbuf *b)
{
	bool is_long = f->type && strstr(f->type, "long");

	if (f->is_pointer || (is_long && !f->is_signed))
		strbuf_printf(b, "0x%" PRIx64, (uint64_t)v);
	else if (f->is_signed)
		strbuf_printf(b, "%" PRId64, v);
	else
		strbuf_printf(b, "%" PRIu64, (uint64_t)v);
}

/* A field as the event's own text words it; strings whole, also where they hold blanks. */
static void field_text(const struct extra_plan *plan, const struct column *c,
		       const struct profile_extra *x, struct strbuf *b)
{
	const struct event_type *t = &plan->trace->types[c->type];
	AUTO_STRBUF text = { 0 };
	struct field_value v = { 0 };
	char number[32];

	if (x->raw)
		v = field_value(c->field, x->raw, x->raw_size);
	if (v.kind == VALUE_STRING)
		strbuf_add(b, v.data, v.n);
	if (v.kind == VALUE_STRING || !x->raw)
		return;
	if (!c->raw) {
		text_print(plan->trace->tep, t, x->raw, x->raw_size, &text);
		if (from_text(strbuf_str(&text), c->field->name, b))
			return;
	}
	if (v.kind == VALUE_INT) {
		extra_values_put_number(c->field, v.i, b);
	} else if (v.kind == VALUE_FLOAT) {
		strbuf_puts(b, field_float_text(&v, number, sizeof(number)));
	} else if (v.kind == VALUE_ARRAY) {
		strbuf_puts(b, "ARRAY[");
		for (size_t i = 0; i < v.n; i++)
			strbuf_printf(b, "%s%02x", i ? ", " : "", ((const uint8_t *)v.data)[i]);
		strbuf_putc(b, ']');
	}
}

static void extra_values_keep_text(struct extras *x, struct extra_values *v, uint32_t rank,
				   const char *text)
{
	v->text[rank] = arena_strdup(&x->arena, text);
	if (strlen(text) > v->widest)
		v->widest = (uint32_t)strlen(text);
}

/* Sort what was collected, and turn ids in by_extra into ranks. */
static void rank(struct extra_values *v, struct value_set *s, const struct profile *p,
		 int (*compare)(const void *a, const void *b))
{
	AUTO_FREE uint32_t *rank_of = mem_alloc((s->v.n + 1) * sizeof(*rank_of));

	if (s->v.n)
		qsort(s->v.data, s->v.n, sizeof(*s->v.data), compare);
	for (uint32_t i = 0; i < s->v.n; i++)
		rank_of[s->v.data[i].id] = i;
	for (size_t i = 0; i < p->extras.n; i++)
		if (v->by_extra[i] != UINT32_MAX)
			v->by_extra[i] = rank_of[v->by_extra[i]];
	v->n = (uint32_t)s->v.n;
}

/* The nth field column's bytes of an extra of that type. */
static bool nth_bytes(const struct extra_plan *plan, const struct profile_extra *x, unsigned nth,
		      const char **bytes, size_t *n)
{
	const char *at = (const char *)(x->data + plan->n_words);
	const char *end = (const char *)x->data + x->size;

	for (;; nth--) {
		uint64_t len;

		if (end - at < 8)
			return false;
		memcpy(&len, at, 8);
		at += 8;
		if (len > (size_t)(end - at))
			return false;
		if (!nth)
			break;
		at += (len + 7) & ~7ul;
		if (at > end)
			return false;
	}
	*bytes = at;
	memcpy(n, at - 8, 8);
	return true;
}

static void make_field(struct extras *x, const struct extra_plan *plan, const struct profile *p,
		       unsigned column, unsigned nth)
{
	const struct column *c = &plan->columns->col[column];
	struct extra_values *v = &x->column[column];
	struct value_set set = { 0 };

	v->by_extra = mem_alloc((p->extras.n + 1) * sizeof(*v->by_extra));
	for (uint32_t i = 0; i < p->extras.n; i++) {
		const struct profile_extra *e = &p->extras.data[i];
		const char *bytes;
		size_t n;

		v->by_extra[i] = UINT32_MAX;
		if (e->data[0] == c->type && nth_bytes(plan, e, nth, &bytes, &n))
			v->by_extra[i] = value_add(&set, bytes, n, i, e->first);
	}
	rank(v, &set, p, by_bytes);
	v->text = mem_alloc((set.v.n + 1) * sizeof(*v->text));
	for (uint32_t i = 0; i < set.v.n; i++) {
		AUTO_STRBUF b = { 0 };

		field_text(plan, c, &p->extras.data[set.v.data[i].extra], &b);
		extra_values_keep_text(x, v, i, strbuf_str(&b));
	}
	value_set_free(&set);
}

static void make_trace(struct extras *x, const struct extra_plan *plan, const struct profile *p,
		       unsigned column)
{
	void (*print)(const void *tep, const struct event_type *t, const void *raw, size_t size,
		      struct strbuf *b) = plan->columns->col[column].raw ? text_fields : text_print;
	struct extra_values *v = &x->column[column];
	struct value_set set = { 0 };
	struct strtab texts = { 0 };

	v->by_extra = mem_alloc((p->extras.n + 1) * sizeof(*v->by_extra));
	for (uint32_t i = 0; i < p->extras.n; i++) {
		const struct profile_extra *e = &p->extras.data[i];
		const struct event_type *t = &plan->trace->types[e->data[0]];
		AUTO_STRBUF b = { 0 };
		const char *text = "N/A";

		if (t->class == TYPE_TRACEPOINT && e->raw) {
			print(plan->trace->tep, t, e->raw, e->raw_size, &b);
			text = strbuf_str(&b);
		}
		text = strtab_get(&texts, strtab_add(&texts, text));
		v->by_extra[i] = value_add(&set, text, strlen(text), i, e->first);
	}
	rank(v, &set, p, extra_values_by_text);
	v->text = mem_alloc((set.v.n + 1) * sizeof(*v->text));
	for (uint32_t i = 0; i < set.v.n; i++)
		extra_values_keep_text(x, v, i, set.v.data[i].bytes);
	value_set_free(&set);
	strtab_free(&texts);
}

void extras_make(struct extras *x, const struct extra_plan *plan, const struct profile *p)
{
	AUTO_FREE unsigned *nth = mem_alloc((plan->trace->n_types + 1) * sizeof(*nth));

	*x = (struct extras){ 0 };
	for (unsigned i = 0; i < plan->columns->n; i++) {
		const struct column *c = &plan->columns->col[i];

		if (c->key == KEY_FIELD)
			make_field(x, plan, p, i, nth[c->type]++);
		else if (c->key == KEY_TRACE)
			make_trace(x, plan, p, i);
	}
}

void extras_free(struct extras *x)
{
	for (unsigned i = 0; i < KEY_COLUMNS; i++) {
		free(x->column[i].by_extra);
		free(x->column[i].text);
	}
	arena_free(&x->arena);
}
