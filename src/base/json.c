/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/str.h"

/* What stands for the character at p in a string: text of its own, or itself (NULL). *len: its
 * bytes. */
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

/* How many bytes from p on stand for themselves in a string. */
static size_t plain(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && (unsigned char)p[i] >= 0x20 && (unsigned char)p[i] < 0x7f && p[i] != '"' &&
	       p[i] != '\\')
		i++;
	return i;
}

static void json_put_string(FILE *out, const char *s, size_t n)
{
	putc('"', out);
	while (n) {
		size_t len = plain(s, n);
		char buf[8];
		const char *e = len ? NULL : escape(s, n, &len, buf);

		if (e)
			fputs(e, out);
		else
			fwrite(s, 1, len, out);
		s += len;
		n -= len;
	}
	putc('"', out);
}

void json_quote(struct out *out, const char *s, size_t n)
{
	out_putc(out, '"');
	while (n) {
		size_t len = plain(s, n);
		char buf[8];
		const char *e = len ? NULL : escape(s, n, &len, buf);

		if (e)
			out_puts(out, e);
		else
			out_add(out, s, len);
		s += len;
		n -= len;
	}
	out_putc(out, '"');
}

static void line_break(struct json *j)
{
	if (!j->pretty || (j->depth && j->inline_level[j->depth - 1]))
		return;
	putc('\n', j->out);
	for (unsigned i = 0; i < j->depth; i++)
		fputs("  ", j->out);
}

static void json_begin(struct json *j, const char *key)
{
	if (j->depth) {
		bool one_line = j->pretty && j->inline_level[j->depth - 1];

		if (j->any[j->depth - 1])
			fputs(one_line || !j->pretty ? ", " : ",", j->out);
		j->any[j->depth - 1] = true;
		line_break(j);
	}
	if (key) {
		json_put_string(j->out, key, strlen(key));
		fputs(": ", j->out);
	}
}

static void open_level(struct json *j, const char *key, char open, char close)
{
	json_begin(j, key);
	putc(open, j->out);
	if (j->depth >= JSON_DEPTH)
		return;
	j->any[j->depth] = false;
	j->close[j->depth] = close;
	j->inline_level[j->depth] = j->depth && j->inline_level[j->depth - 1];
	j->depth++;
}

void json_object(struct json *j, const char *key)
{
	open_level(j, key, '{', '}');
}

void json_array(struct json *j, const char *key)
{
	open_level(j, key, '[', ']');
}

void json_end(struct json *j)
{
	bool any;

	if (!j->depth)
		return;
	any = j->any[j->depth - 1];
	if (any && j->pretty && !j->inline_level[j->depth - 1]) {
		j->depth--;
		putc('\n', j->out);
		for (unsigned i = 0; i < j->depth; i++)
			fputs("  ", j->out);
	} else {
		j->depth--;
	}
	putc(j->close[j->depth], j->out);
}

void json_strn(struct json *j, const char *key, const char *value, size_t n)
{
	json_begin(j, key);
	json_put_string(j->out, value, n);
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
	json_begin(j, key);
	fprintf(j->out, "%" PRIu64, v);
}

void json_i64(struct json *j, const char *key, int64_t v)
{
	json_begin(j, key);
	fprintf(j->out, "%" PRId64, v);
}

void json_double(struct json *j, const char *key, double v)
{
	json_begin(j, key);
	if (isfinite(v))
		fprintf(j->out, "%.10g", v);
	else
		fputs("null", j->out);
}

void json_bool(struct json *j, const char *key, bool v)
{
	json_begin(j, key);
	fputs(v ? "true" : "false", j->out);
}

void json_null(struct json *j, const char *key)
{
	json_begin(j, key);
	fputs("null", j->out);
}
