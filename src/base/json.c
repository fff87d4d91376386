/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <math.h>

#include "base/str.h"

#define MUCH (64u << 10) /* is passed on to the file before the end */
#define KEY 28

/* What is known of a level. */
enum { ARRAY = 1, ANY = 2 };

struct json json_to(FILE *file, enum json_layout layout)
{
	return (struct json){ .file = file, .layout = layout, .own.fd = -1 };
}

struct json json_to_out(struct out *to, enum json_layout layout)
{
	return (struct json){ .to = to, .layout = layout };
}

static struct out *json_sink(struct json *j)
{
	return j->to ? j->to : &j->own;
}

static void json_pass_on(struct json *j)
{
	if (j->own.n)
		fwrite(j->own.data, 1, j->own.n, j->file);
	j->own.n = 0;
	if (!j->depth)
		out_free(&j->own);
}

/* What stands for the character at p, of *len bytes, in a string; NULL: itself. */
static const char *escape(const char *p, size_t n, size_t *len, char buf[8])
{
	*len = str_utf8_len(p, n);
	if (!*len) {
		*len = 1;
		return "\\ufffd";
	}
	switch (*p) {
	case '"': return "\\\"";
	case '\\': return "\\\\";
	case '\n': return "\\n";
	case '\t': return "\\t";
	case '\r': return "\\r";
	default: break;
	}
	if ((unsigned char)*p >= 0x20 && *p != 0x7f)
		return NULL;
	snprintf(buf, 8, "\\u%04x", (unsigned char)*p);
	return buf;
}

/* Those that stand for themselves in a string. */
static const bool plain[256] = { [' ' ... '!'] = true, ['#' ... '['] = true, [']' ... '~'] = true };

/* Whether eight of them do: none below ' ', none from 0x7f on, neither of the two between. */
static bool plain_eight(uint64_t v)
{
	const uint64_t each = UINT64_C(0x0101010101010101);

	return !(((v - each * ' ') | (v + each) | ((v ^ each * '"') - each) |
		  ((v ^ each * '\\') - each) | v) &
		 each << 7);
}

static void json_quote(struct out *o, const char *s, size_t n)
{
	char *to = out_room(o, n + 2), buf[8];
	const char *e;
	uint64_t eight;
	size_t i = 0, len;

	*to++ = '"';
	for (; i + sizeof(eight) <= n; i += sizeof(eight)) {
		memcpy(&eight, s + i, sizeof(eight));
		if (!plain_eight(eight))
			break;
		memcpy(to + i, &eight, sizeof(eight));
	}
	for (; i < n && plain[(unsigned char)s[i]]; i++)
		to[i] = s[i];
	o->n += i + 1;
	while (i < n) {
		e = escape(s + i, n - i, &len, buf);
		if (e)
			out_puts(o, e);
		else
			out_add(o, s + i, len);
		i += len;
	}
	out_putc(o, '"');
}

/* Keys are short and nearly always plain. */
static void json_put_key(struct json *j, struct out *o, const char *key)
{
	char *to = out_room(o, KEY + 4);
	size_t n = 0;

	for (; n < KEY && plain[(unsigned char)key[n]]; n++)
		to[n + 1] = key[n];
	if (key[n]) {
		json_quote(o, key, strlen(key));
		to = out_room(o, 2);
	} else {
		to[0] = to[n + 1] = '"';
		to += n + 2;
		o->n += n + 2;
	}
	to[0] = ':';
	to[1] = ' ';
	o->n += j->layout == JSON_TIGHT ? 1 : 2;
}

static void json_indent(struct json *j)
{
	struct out *o = json_sink(j);

	out_putc(o, '\n');
	out_pad(o, 2 * j->depth);
}

struct out *json_raw(struct json *j, const char *key)
{
	struct out *o = json_sink(j);

	if (j->file && j->own.n > MUCH)
		json_pass_on(j);
	if (j->depth) {
		uint8_t *level = &j->level[j->depth - 1];

		if (*level & ANY) {
			out_putc(o, ',');
			if (j->layout == JSON_SPACED && !j->line)
				out_putc(o, ' ');
		}
		*level |= ANY;
		if (j->layout == JSON_PRETTY)
			json_indent(j);
		else if (j->line)
			out_putc(o, '\n');
	}
	j->line = false;
	if (key)
		json_put_key(j, o, key);
	return o;
}

/* After a value: a file has the outermost one at once. */
static void json_done(struct json *j)
{
	if (j->file && !j->depth)
		json_pass_on(j);
}

static void open_level(struct json *j, const char *key, char c, uint8_t level)
{
	out_putc(json_raw(j, key), c);
	if (j->depth < JSON_DEPTH)
		j->level[j->depth++] = level;
}

void json_object(struct json *j, const char *key)
{
	open_level(j, key, '{', 0);
}

void json_array(struct json *j, const char *key)
{
	open_level(j, key, '[', ARRAY);
}

void json_end(struct json *j)
{
	uint8_t level;

	if (!j->depth)
		return;
	level = j->level[--j->depth];
	if ((level & ANY) && j->layout == JSON_PRETTY)
		json_indent(j);
	out_putc(json_sink(j), level & ARRAY ? ']' : '}');
	json_done(j);
}

void json_line(struct json *j)
{
	j->line = true;
}

void json_strn(struct json *j, const char *key, const char *value, size_t n)
{
	json_quote(json_raw(j, key), value, n);
	json_done(j);
}

void json_str(struct json *j, const char *key, const char *value)
{
	if (!value)
		json_null(j, key);
	else
		json_strn(j, key, value, strlen(value));
}

void json_u64(struct json *j, const char *key, uint64_t v)
{
	out_u64(json_raw(j, key), v, 0);
	json_done(j);
}

void json_i64(struct json *j, const char *key, int64_t v)
{
	out_i64(json_raw(j, key), v, 0);
	json_done(j);
}

void json_double(struct json *j, const char *key, double v)
{
	if (!isfinite(v)) {
		json_null(j, key);
		return;
	}
	out_printf(json_raw(j, key), "%.10g", v);
	json_done(j);
}

void json_bool(struct json *j, const char *key, bool v)
{
	out_puts(json_raw(j, key), v ? "true" : "false");
	json_done(j);
}

void json_null(struct json *j, const char *key)
{
	out_puts(json_raw(j, key), "null");
	json_done(j);
}

void json_hex(struct json *j, const char *key, uint64_t v)
{
	struct out *o = json_raw(j, key);

	out_add(o, "\"0x", 3);
	out_hex(o, v, 0);
	out_putc(o, '"');
}

void json_bytes(struct json *j, const char *key, const void *data, size_t n)
{
	struct out *o = json_raw(j, key);
	char *to = out_room(o, 2 * n + 3);

	*to++ = '"';
	to = str_hex(to, data, n);
	*to++ = '"';
	o->n = (size_t)(to - o->data);
}
