/* SPDX-License-Identifier: MIT */
/* Values as text. */
#include "view/run/show.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <pwd.h>
#include <time.h>

#include "base/guard.h"

static void show_int(const struct ltype *t, uint64_t v, struct strbuf *b)
{
	for (uint32_t i = 0; t->enum_name && i < t->n; i++)
		if ((uint64_t)t->enumerator[i].value == v) {
			strbuf_puts(b, t->enumerator[i].name);
			return;
		}
	if (t->is_bool)
		strbuf_puts(b, v ? "true" : "false");
	else if (t->is_signed)
		strbuf_printf(b, "%lld", (long long)v);
	else
		strbuf_printf(b, "%llu", (unsigned long long)v);
}

static void show_buf(const uint8_t *p, uint64_t n, struct strbuf *b)
{
	for (uint64_t i = 0; i < n; i++)
		if (isprint(p[i]))
			strbuf_putc(b, (char)p[i]);
		else
			strbuf_printf(b, "\\x%02x", p[i]);
}

bool show_name(const struct lang_out *o, bool user, int32_t pid, uint64_t addr, struct strbuf *b,
	       uint64_t *off, struct strbuf *module)
{
	if (user)
		return o->h->usym && o->h->usym(o->h->ctx, pid, addr, b, off, module);
	return o->h->ksym && o->h->ksym(o->h->ctx, addr, b, off);
}

static void show_symbol(const struct lang_out *o, const struct ltype *t, const void *data,
			struct strbuf *b)
{
	uint64_t addr = show_word(data, 0), off;
	bool user = t->kind == LT_USYM;

	if (!show_name(o, user, user ? (int32_t)show_word(data, 1) : 0, addr, b, &off, NULL))
		strbuf_printf(b, "%#llx", (unsigned long long)addr);
}

static bool show_is_number(const char *text)
{
	return strchr("-0123456789", *text) != NULL;
}

/* Names of files and arguments of programs are anybody's: they must not end a line, nor tell the
 * terminal what to do. */
static void show_string(const struct lang_out *o, const char *s, size_t n, struct strbuf *b)
{
	size_t from = 0;

	for (size_t i = 0; o->escape && i < n; i++) {
		const char *at;

		if ((unsigned char)s[i] >= 32 && s[i] != 127)
			continue;
		strbuf_add(b, s + from, i - from);
		from = i + 1;
		at = strchr("\nn\tt\rr", s[i]);
		if (at)
			strbuf_printf(b, "\\%c", at[1]);
		else
			strbuf_printf(b, "\\%03o", (unsigned char)s[i]);
	}
	strbuf_add(b, s + from, n - from);
}

/* A number of C's size, or some bits of one. */
static uint64_t c_number(const struct ltype *t, const struct lfield *f, const char *data,
			 size_t left)
{
	uint32_t size = f && f->bit_size ? 8 : t->size, bits = size * 8;
	uint64_t v = 0;

	memcpy(&v, data, size < left ? size : left);
	if (f && f->bit_size) {
		v >>= f->bit_offset;
		bits = f->bit_size;
	}
	if (!bits || bits >= 64)
		return v;
	v <<= 64 - bits;
	return t->is_signed ? (uint64_t)((int64_t)v >> (64 - bits)) : v >> (64 - bits);
}

static void show_fields(const struct lang_out *o, const struct ltype *t, const char *data,
			struct strbuf *b, bool json, unsigned depth, bool *first);

/* A field or element of C's size; what it is of ends after `left` bytes. */
static void show_c(const struct lang_out *o, const struct ltype *t, const struct lfield *f,
		   const char *data, size_t left, struct strbuf *b, bool json, unsigned depth)
{
	AUTO_STRBUF name = { 0 };
	bool first = true;

	if (t->kind == LT_RECORD) {
		strbuf_puts(b, json ? "{" : "{ ");
		show_fields(o, t, data, b, json, depth + 1, &first);
		strbuf_puts(b, json ? "}" : " }");
	} else if (t->kind == LT_STRING && json) {
		show_json_text(b, data, strnlen(data, t->size));
	} else if (t->kind == LT_STRING) {
		show_string(o, data, strnlen(data, t->size), b);
	} else if (t->kind == LT_ARRAY) {
		uint32_t step = t->elem->kind == LT_RECORD ? t->elem->rec->size : t->elem->size;

		strbuf_putc(b, '[');
		for (uint32_t i = 0; i < t->n && depth < 8; i++) {
			strbuf_puts(b, i ? "," : "");
			show_c(o, t->elem, NULL, data + (size_t)i * step, step, b, json, depth + 1);
		}
		strbuf_putc(b, ']');
	} else if (t->kind == LT_PTR) {
		strbuf_printf(b, json ? "\"0x%llx\"" : "0x%llx",
			      (unsigned long long)c_number(t, f, data, left));
	} else if (t->size <= 8) {
		show_int(t, c_number(t, f, data, left), &name);
		if (json && !show_is_number(strbuf_str(&name)) && !t->is_bool)
			show_json_text(b, strbuf_str(&name), name.n);
		else
			strbuf_puts(b, strbuf_str(&name));
	}
}

/* What lies in a member without a name is the record's own. */
static void show_fields(const struct lang_out *o, const struct ltype *t, const char *data,
			struct strbuf *b, bool json, unsigned depth, bool *first)
{
	for (size_t i = 0; i < t->rec->n && depth < 8; i++) {
		const struct lfield *f = &t->rec->field[i];

		if (f->offset + f->type->size > t->rec->size || f->name[0] == '$')
			continue;
		if (!f->name[0] && f->type->kind == LT_RECORD) {
			show_fields(o, f->type, data + f->offset, b, json, depth + 1, first);
			continue;
		}
		strbuf_printf(b, json ? "%s\"%s\": " : "%s.%s = ", *first ? "" : ", ", f->name);
		*first = false;
		show_c(o, f->type, f, data + f->offset, t->rec->size - f->offset, b, json, depth);
	}
}

void show_json(const struct lang_out *o, const struct ltype *t, const void *data, struct strbuf *b)
{
	AUTO_STRBUF text = { 0 };

	if (t->kind == LT_TUPLE) {
		strbuf_putc(b, '[');
		for (uint32_t i = 0; i < t->n; i++) {
			strbuf_puts(b, i ? "," : "");
			show_json(o, t->item[i], (const char *)data + t->offset[i], b);
		}
		strbuf_putc(b, ']');
		return;
	}
	if (t->kind == LT_RECORD || t->kind == LT_ARRAY) {
		show_c(o, t, NULL, data, t->size, b, true, 0);
		return;
	}
	show_value(o, t, data, false, &text);
	if (t->kind == LT_INT && (!t->enum_name || show_is_number(strbuf_str(&text))))
		strbuf_puts(b, strbuf_str(&text));
	else
		show_json_text(b, strbuf_str(&text), text.n);
}

void show_wall(uint64_t wall, const char *fmt, struct strbuf *b)
{
	time_t s = (time_t)(wall / 1000000000);
	AUTO_STRBUF f = { 0 };
	char text[512];
	struct tm tm;

	for (const char *p = fmt; *p; p++) /* %f: microseconds */
		if (p[0] == '%' && p[1] == 'f') {
			strbuf_printf(&f, "%06llu", (unsigned long long)(wall % 1000000000 / 1000));
			p++;
		} else if (p[0] == '%' && p[1]) {
			strbuf_add(&f, p, 2);
			p++;
		} else {
			strbuf_putc(&f, *p);
		}
	localtime_r(&s, &tm);
	if (strftime(text, sizeof(text), strbuf_str(&f), &tm))
		strbuf_puts(b, text);
}

uint64_t show_now(const struct lang_out *o)
{
	struct timespec t;

	if (o->h->now)
		return o->h->now(o->h->ctx);
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void show_time(const struct lang_out *o, const struct ltype *t, uint64_t boot,
		      struct strbuf *b)
{
	show_wall(o->h->wall ? o->h->wall(o->h->ctx, boot) : boot,
		  t->format ? t->format : "%H:%M:%S", b);
}

static void show_user(uint64_t uid, struct strbuf *b)
{
	struct passwd pw, *found = NULL;
	char buf[2048];

	if (getpwuid_r((uid_t)uid, &pw, buf, sizeof(buf), &found) == 0 && found)
		strbuf_puts(b, pw.pw_name);
	else
		strbuf_printf(b, "%llu", (unsigned long long)uid);
}

/* From a place of b on: as base/guard.h has it, and on one line. */
void show_made_safe(const struct lang_out *o, bool lines, size_t from, struct strbuf *b)
{
	AUTO_FREE char *safe = NULL, *made = NULL;

	if (o->json || b->n == from)
		return;
	if (o->guard) {
		safe = guard_text(b->data + from, b->n - from);
		b->n = from;
		strbuf_puts(b, safe);
	}
	if (lines || !memchr(b->data + from, '\n', b->n - from))
		return;
	free(safe);
	safe = mem_strndup(b->data + from, b->n - from);
	b->n = from;
	strbuf_puts(b, str_one_line(safe, &made));
}

static void value_text(const struct lang_out *o, const struct ltype *t, const void *data,
		       bool is_key, struct strbuf *b);

void show_value(const struct lang_out *o, const struct ltype *t, const void *data, bool is_key,
		struct strbuf *b)
{
	size_t from = b->n;

	value_text(o, t, data, is_key, b);
	if (t->kind != LT_INT)
		show_made_safe(o,
			       o->whole || t->kind == LT_KSTACK || t->kind == LT_USTACK ||
				       t->kind == LT_TUPLE || t->kind == LT_TIMESTAMP,
			       from, b);
}

static void value_text(const struct lang_out *o, const struct ltype *t, const void *data,
		       bool is_key, struct strbuf *b)
{
	const uint8_t *p = data;
	char text[INET6_ADDRSTRLEN];
	uint64_t v;

	switch (t->kind) {
	case LT_INT: show_int(t, show_word(data, 0), b); break;
	case LT_PTR: strbuf_printf(b, "0x%llx", (unsigned long long)show_word(data, 0)); break;
	case LT_STRING: show_string(o, data, strnlen(data, t->size), b); break;
	case LT_TUPLE:
		strbuf_putc(b, '(');
		for (uint32_t i = 0; i < t->n; i++) {
			strbuf_puts(b, i ? ", " : "");
			show_value(o, t->item[i], p + t->offset[i], is_key, b);
		}
		strbuf_putc(b, ')');
		break;
	case LT_KSYM:
	case LT_USYM: show_symbol(o, t, data, b); break;
	case LT_KSTACK:
	case LT_USTACK: show_stack(o, t, data, is_key, b); break;
	case LT_INET:
		if (inet_ntop((int)show_word(data, 0) == AF_INET6 ? AF_INET6 : AF_INET, p + 8, text,
			      sizeof(text)))
			strbuf_puts(b, text);
		break;
	case LT_MAC:
		strbuf_printf(b, "%02X:%02X:%02X:%02X:%02X:%02X", p[0], p[1], p[2], p[3], p[4],
			      p[5]);
		break;
	case LT_BUF:
		v = show_word(data, 0);
		show_buf(p + 8, v > t->size - 8 ? t->size - 8 : v, b);
		break;
	case LT_USERNAME: show_user(show_word(data, 0), b); break;
	case LT_PROBE:
		v = show_word(data, 0);
		strbuf_puts(b, v < o->p->points.n ? o->p->points.data[v].text : "?");
		break;
	case LT_TIMESTAMP: show_time(o, t, show_word(data, 0), b); break;
	case LT_STRERROR:
		v = show_word(data, 0);
		strbuf_puts(b, strerrordesc_np((int)v) ? strerrordesc_np((int)v) : "Unknown error");
		break;
	case LT_NAME: show_number_name(o, t, (int64_t)show_word(data, 0), b); break;
	case LT_CGROUP_PATH:
		if (!o->h->cgroup || !o->h->cgroup(o->h->ctx, show_word(data, 0), b))
			strbuf_printf(b, "%llu", (unsigned long long)show_word(data, 0));
		break;
	case LT_RECORD:
	case LT_ARRAY: show_c(o, t, NULL, data, t->size, b, false, 0); break;
	default: break;
	}
}

void show_key(const struct lang_out *o, const struct lang_map *m, const void *key, const char *sep,
	      struct strbuf *b)
{
	for (uint32_t i = 0; m->key && i < m->key->n; i++) {
		strbuf_puts(b, i ? sep : "");
		show_value(o, m->key->item[i], (const char *)key + m->key->offset[i], true, b);
	}
}

void show_json_text(struct strbuf *b, const char *s, size_t n)
{
	strbuf_putc(b, '"');
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == '"' || c == '\\')
			strbuf_printf(b, "\\%c", c);
		else if (c == '\n')
			strbuf_puts(b, "\\n");
		else if (c == '\t')
			strbuf_puts(b, "\\t");
		else if (c == '\r')
			strbuf_puts(b, "\\r");
		else if (c < 32 || c >= 127) /* bytes of unknown encoding stay readable and valid */
			strbuf_printf(b, "\\u%04x", c);
		else
			strbuf_putc(b, (char)c);
	}
	strbuf_putc(b, '"');
}
