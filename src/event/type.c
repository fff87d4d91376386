/* SPDX-License-Identifier: MIT */
/*
 * The kernel's format texts, and reading fields through them.
 *
 *	name: sched_wakeup
 *	ID: 317
 *	format:
 *		field:unsigned short common_type;	offset:0;	size:2;	signed:0;
 *
 *		field:char comm[16];	offset:8;	size:16;	signed:0;
 *
 *	print fmt: "comm=%s ...", REC->comm, ...
 */
#include "event/type.h"

#include <ctype.h>
#include <string.h>

#include "base/vec.h"

#define MAX_FIELDS 4096

struct slice {
	const char *s;
	size_t n;
};

static struct slice type_trim(struct slice t)
{
	while (t.n && isspace((unsigned char)t.s[0]))
		t.s++, t.n--;
	while (t.n && isspace((unsigned char)t.s[t.n - 1]))
		t.n--;
	return t;
}

static bool starts(struct slice t, const char *with)
{
	size_t n = strlen(with);

	return t.n >= n && memcmp(t.s, with, n) == 0;
}

static bool has_word(struct slice t, const char *word)
{
	return memmem(t.s, t.n, word, strlen(word)) != NULL;
}

/* "key:value;" anywhere in the line; false when it is missing or no number. */
static bool number_after(struct slice line, const char *key, uint32_t *ret)
{
	const char *p = memmem(line.s, line.n, key, strlen(key)), *end = line.s + line.n;
	uint64_t v = 0;

	if (!p)
		return false;
	p += strlen(key);
	if (p == end || !isdigit((unsigned char)*p))
		return false;
	for (; p < end && isdigit((unsigned char)*p) && v <= UINT32_MAX; p++)
		v = v * 10 + (uint64_t)(*p - '0');
	if (v > UINT32_MAX)
		return false;
	*ret = (uint32_t)v;
	return true;
}

static bool ident_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static uint32_t elem_size_of(struct slice type, uint32_t size, uint64_t count)
{
	if (count && size % count == 0)
		return (uint32_t)(size / count);
	if (has_word(type, "char") || has_word(type, "u8") || has_word(type, "s8") ||
	    has_word(type, "bool"))
		return 1;
	if (has_word(type, "short") || has_word(type, "u16") || has_word(type, "s16"))
		return 2;
	if (has_word(type, "64") || has_word(type, "long") || has_word(type, "*"))
		return 8;
	return has_word(type, "int") || has_word(type, "32") ? 4 : 1;
}

static bool is_char(struct slice type)
{
	return has_word(type, "char") && !has_word(type, "*") && !has_word(type, "unsigned char") &&
	       !has_word(type, "signed char");
}

static bool is_float(struct slice type)
{
	return (type.n == 5 && starts(type, "float")) || (type.n == 6 && starts(type, "double"));
}

/* What the declaration ("unsigned long args[6]") makes of the field; false when it is none. */
static bool parse_declaration(struct field *f, struct arena *a, struct slice decl)
{
	struct slice type, name, index = { 0 };
	const char *bracket;
	uint64_t count = 0;
	bool loc;

	decl = type_trim(decl);
	/* The last [] belongs to the name; __data_loc has its own before the name. */
	if (decl.n && decl.s[decl.n - 1] == ']' && (bracket = memrchr(decl.s, '[', decl.n))) {
		index = (struct slice){ bracket + 1, (size_t)(decl.s + decl.n - bracket) - 2 };
		decl = type_trim((struct slice){ decl.s, (size_t)(bracket - decl.s) });
	}
	name = (struct slice){ decl.s + decl.n, 0 };
	while (name.s > decl.s && (ident_char(name.s[-1]) || name.s[-1] == '.'))
		name.s--, name.n++;
	type = type_trim((struct slice){ decl.s, (size_t)(name.s - decl.s) });
	if (!name.n || *name.s == '.' || !type.n)
		return false;
	for (size_t i = 0; i < index.n && isdigit((unsigned char)index.s[i]) && count < 1u << 30;
	     i++)
		count = count * 10 + (uint64_t)(index.s[i] - '0');

	f->name = arena_strndup(a, name.s, name.n);
	f->type =
		index.s ? arena_printf(a, "%.*s[%.*s]", (int)type.n, type.s, (int)index.n, index.s)
			: arena_strndup(a, type.s, type.n);
	f->is_common = strncmp(f->name, "common_", 7) == 0;
	f->is_float = is_float(type);
	loc = starts(type, "__data_loc") || starts(type, "__rel_loc");
	f->is_pointer = !loc && !index.s && type.s[type.n - 1] == '*';
	if (loc) {
		f->kind = starts(type, "__rel_loc") ? FIELD_REL_LOC : FIELD_DATA_LOC;
		f->is_string = is_char(type);
		f->elem_size = elem_size_of(type, 0, 0);
		return f->size == 4;
	}
	if (index.s && is_char(type)) {
		f->kind = FIELD_STRING;
		f->elem_size = 1;
	} else if (index.s) {
		f->kind = FIELD_ARRAY;
		f->elem_size = elem_size_of(type, f->size, count);
		if (starts(type, "struct") || (f->elem_size & (f->elem_size - 1)) ||
		    f->elem_size > 8)
			f->kind = FIELD_OTHER;
	} else {
		bool plain = f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8;

		f->kind = f->is_float && f->size >= 4				? FIELD_FLOAT
			  : plain && (f->is_pointer || !starts(type, "struct")) ? FIELD_INT
										: FIELD_OTHER;
		f->elem_size = f->size;
	}
	return true;
}

static bool parse_field(struct field *f, struct arena *a, struct slice line)
{
	const char *semicolon = memchr(line.s, ';', line.n);
	const char *colon = memchr(line.s, ':', line.n);
	uint32_t is_signed = 0;

	*f = (struct field){ 0 };
	if (!semicolon || !colon || colon > semicolon ||
	    !number_after(line, "offset:", &f->offset) || !number_after(line, "size:", &f->size) ||
	    f->size > 1u << 20 || f->offset > 1u << 20)
		return false;
	number_after(line, "signed:", &is_signed); /* old kernels have none */
	f->is_signed = is_signed;
	return parse_declaration(f, a,
				 (struct slice){ colon + 1, (size_t)(semicolon - colon) - 1 });
}

int type_parse_format(struct event_type *t, struct arena *a, const char *text, size_t n,
		      struct err *e)
{
	VEC(struct field) fields = { 0 };
	struct slice name = { 0 };
	const char *fmt = NULL;
	uint32_t id = 0;
	int line_no = 0;

	n = strnlen(text, n);
	while (n) {
		const char *end = memchr(text, '\n', n);
		struct slice line = { text, end ? (size_t)(end - text) : n };
		struct slice bare = type_trim(line);
		struct field f;

		line_no++;
		text += line.n + (end != NULL);
		n -= line.n + (end != NULL);
		if (starts(bare, "name:")) {
			name = type_trim((struct slice){ bare.s + 5, bare.n - 5 });
		} else if (starts(bare, "ID:")) {
			struct slice number = type_trim((struct slice){ bare.s + 3, bare.n - 3 });

			number_after(number, "", &id);
		} else if (starts(bare, "print fmt:")) {
			/* It may hold newlines: the rest of the text is its. */
			fmt = arena_strndup(a, bare.s + 10, bare.n - 10 + (n ? 1 + n : 0));
			while (isspace((unsigned char)*fmt))
				fmt++;
			break;
		} else if ((starts(bare, "field:") || starts(bare, "field special:")) &&
			   parse_field(&f, a, bare) && fields.n < MAX_FIELDS) {
			vec_push(&fields, f);
		} else if (bare.n && !starts(bare, "format:")) {
			vec_free(&fields);
			return err_set(e, EINVAL, "format line %d makes no sense: %.*s", line_no,
				       (int)(bare.n > 200 ? 200 : bare.n), bare.s);
		}
	}
	if (!fields.n)
		return err_set(e, EINVAL, "the format has no fields");
	t->fields = arena_dup(a, fields.data, fields.n * sizeof(*fields.data));
	t->n_fields = fields.n;
	t->print_fmt = fmt ? fmt : "";
	t->format_id = id;
	if (!t->event && name.n)
		t->event = arena_strndup(a, name.s, name.n);
	vec_free(&fields);
	return 0;
}

const struct field *type_field(const struct event_type *t, const char *name)
{
	for (size_t i = 0; i < t->n_fields; i++)
		if (strcmp(t->fields[i].name, name) == 0)
			return &t->fields[i];
	return NULL;
}
