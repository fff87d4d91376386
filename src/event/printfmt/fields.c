/* SPDX-License-Identifier: MIT */
/* Fields of a record, name=value: without a format, or each as its format shows it. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "event/printfmt/impl.h"

static bool printable(const char *s, size_t n)
{
	for (size_t i = 0; i < n && s[i]; i++)
		if (!isprint((unsigned char)s[i]) && !isspace((unsigned char)s[i]))
			return false;
	return true;
}

static void put_field(const struct field *f, const void *raw, size_t size, struct strbuf *b)
{
	bool is_long = strstr(f->type, "long") && !strstr(f->type, "long long");
	struct field_value v = field_value(f, raw, size);
	const void *p = NULL;
	char number[32];
	size_t n = 0;

	if (v.kind == VALUE_INT) {
		if (f->is_pointer || (is_long && !f->is_signed) || (is_long && f->size == 4))
			strbuf_printf(b, "0x%" PRIx64, (uint64_t)v.i);
		else
			strbuf_printf(b, f->is_signed ? "%" PRId64 : "%" PRIu64, v.i);
		return;
	}
	if (v.kind == VALUE_FLOAT) {
		strbuf_puts(b, field_float_text(&v, number, sizeof(number)));
		return;
	}
	if (!printfmt_bytes(f, raw, size, &p, &n))
		return;
	if ((f->kind == FIELD_STRING || f->is_string) && printable(p, n)) {
		strbuf_add(b, p, strnlen(p, n));
		return;
	}
	strbuf_puts(b, "ARRAY[");
	for (size_t i = 0; i < n; i++)
		strbuf_printf(b, i ? ", %02x" : "%02x", ((const uint8_t *)p)[i]);
	strbuf_putc(b, ']');
}

void printfmt_fields(const struct event_type *t, const void *raw, size_t size, struct strbuf *b)
{
	for (size_t i = 0; i < t->n_fields; i++) {
		if (t->fields[i].is_common)
			continue;
		strbuf_printf(b, " %s=", t->fields[i].name);
		put_field(&t->fields[i], raw, size, b);
	}
}

/* The conversion that shows the field as it is, at most cast. */
static const struct piece *piece_of(const struct printfmt *f, const struct field *field)
{
	for (size_t i = 0; f && i < f->n; i++) {
		const struct node *n = f->pieces[i].arg;

		while (n && n->kind == NODE_CAST)
			n = n->a;
		if (n && n->kind == NODE_FIELD && n->field == field)
			return &f->pieces[i];
	}
	return NULL;
}

/* Nothing stands behind it in the format. */
static bool ends_format(const struct printfmt *f, const struct piece *p)
{
	const struct piece *last = &f->pieces[f->n - 1];

	return p == last || (p == last - 1 && !last->conversion && !last->text_n);
}

/*
 * libtraceevent walks fields and format side by side: once it is at the format's end, what fields
 * are left are shown without it. Done in the same way, as people compare.
 */
void printfmt_fields_shown(const struct event_type *t, const struct printfmt_env *env,
			   const void *raw, size_t size, struct strbuf *b)
{
	bool ended = false;

	for (size_t i = 0; i < t->n_fields; i++) {
		const struct piece *p = ended ? NULL : piece_of(t->print, &t->fields[i]);

		if (t->fields[i].is_common)
			continue;
		strbuf_printf(b, " %s=", t->fields[i].name);
		if (p && p->text_n >= 2 && memcmp(p->text + p->text_n - 2, "0x", 2) == 0)
			strbuf_puts(b, "0x");
		if (p)
			printfmt_piece(t->print, p, env, raw, size, b);
		else
			put_field(&t->fields[i], raw, size, b);
		ended = ended || (p && ends_format(t->print, p));
	}
}
