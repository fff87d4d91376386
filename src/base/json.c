/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Length of the valid UTF-8 sequence at p (of n bytes), or 0. */
static size_t utf8_len(const unsigned char *p, size_t n)
{
	size_t len = p[0] < 0x80		   ? 1
		     : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
		     : (p[0] & 0xf0) == 0xe0	   ? 3
		     : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
						   : 0;

	if (!len || len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if (len == 3 && ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0)))
		return 0;
	if (len == 4 && ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90)))
		return 0;
	return len;
}

static void put_string(FILE *out, const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s, *end = p + n;

	putc('"', out);
	while (p < end) {
		size_t len = utf8_len(p, (size_t)(end - p));

		if (!len) {
			fputs("\\ufffd", out);
			p++;
		} else if (len > 1) {
			fwrite(p, 1, len, out);
			p += len;
		} else {
			switch (*p) {
			case '"': fputs("\\\"", out); break;
			case '\\': fputs("\\\\", out); break;
			case '\n': fputs("\\n", out); break;
			case '\t': fputs("\\t", out); break;
			case '\r': fputs("\\r", out); break;
			default:
				if (*p < 0x20 || *p == 0x7f)
					fprintf(out, "\\u%04x", *p);
				else
					putc(*p, out);
			}
			p++;
		}
	}
	putc('"', out);
}

static void line_break(struct json *j)
{
	if (!j->pretty || (j->depth && j->inline_level[j->depth - 1]))
		return;
	putc('\n', j->out);
	for (unsigned i = 0; i < j->depth; i++)
		fputs("  ", j->out);
}

static void begin(struct json *j, const char *key)
{
	if (j->depth) {
		bool one_line = j->pretty && j->inline_level[j->depth - 1];

		if (j->any[j->depth - 1])
			fputs(one_line || !j->pretty ? ", " : ",", j->out);
		j->any[j->depth - 1] = true;
		line_break(j);
	}
	if (key) {
		put_string(j->out, key, strlen(key));
		fputs(": ", j->out);
	}
}

static void open_level(struct json *j, const char *key, char open, char close)
{
	begin(j, key);
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
	begin(j, key);
	put_string(j->out, value, n);
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
	begin(j, key);
	fprintf(j->out, "%" PRIu64, v);
}

void json_i64(struct json *j, const char *key, int64_t v)
{
	begin(j, key);
	fprintf(j->out, "%" PRId64, v);
}

void json_double(struct json *j, const char *key, double v)
{
	begin(j, key);
	if (isfinite(v))
		fprintf(j->out, "%.10g", v);
	else
		fputs("null", j->out);
}

void json_bool(struct json *j, const char *key, bool v)
{
	begin(j, key);
	fputs(v ? "true" : "false", j->out);
}

void json_null(struct json *j, const char *key)
{
	begin(j, key);
	fputs("null", j->out);
}
