/* SPDX-License-Identifier: MIT */
#include "store/text/folded.h"

#include <string.h>

#include "base/str.h"
#include "base/vec.h"

struct reader {
	const char *name;
	uint64_t line;
	VEC(struct text_part) frames;
	struct strbuf text; /* names of this line whose escapes were undone */
	struct folded_info *info;
	struct err *e;
};

/*
 * If the line ends in a number behind a space: its length is cut off from *n,
 * and the text of the number (with a sign, with a fraction) is given.
 */
static bool cut_number(const char *s, size_t *n, const char **num, size_t *num_n)
{
	size_t end = *n, at;

	while (end && text_is_space(s[end - 1]))
		end--;
	for (at = end; at && (text_is_digit(s[at - 1]) || s[at - 1] == '.'); at--)
		;
	if (at == end || s[at] == '.' ||
	    memchr(s + at, '.', end - at) != memrchr(s + at, '.', end - at))
		return false;
	if (at && (s[at - 1] == '-' || s[at - 1] == '+'))
		at--;
	if (!at || !text_is_space(s[at - 1]))
		return false;
	*num = s + at;
	*num_n = end - at;
	while (at && text_is_space(s[at - 1]))
		at--;
	*n = at;
	return true;
}

static int folded_number(struct reader *r, const char *s, size_t n, int64_t *ret)
{
	const char *dot = memchr(s, '.', n);
	size_t whole = dot ? (size_t)(dot - s) : n;
	uint64_t v = 0;
	size_t i = s[0] == '+';

	if (s[0] == '-') {
		text_refuse(r->e, EINVAL, r->name, r->line, "the count %.*s is negative",
			    (int)(n > 24 ? 24 : n), s);
		return err_hint(r->e, "a comparison has two counts a line, or is made by "
				      "'kymo flame BEFORE AFTER'");
	}
	for (; i < whole; i++)
		if (__builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s[i] - '0'), &v) || v > INT64_MAX)
			return text_refuse(r->e, ERANGE, r->name, r->line,
					   "the count is too large");
	if (dot && whole + 1 < n) {
		bool exact = true;

		for (i = whole + 1; i < n; i++)
			exact = exact && s[i] == '0';
		r->info->fractions += !exact;
		v += s[whole + 1] >= '5' && v < INT64_MAX;
	}
	*ret = (int64_t)v;
	return 0;
}

/* Add the frame s[0..n). more: a semicolon ended it, so backslashes at its end were doubled. */
static void folded_add_frame(struct reader *r, const char *s, size_t n, bool escaped, bool more)
{
	size_t from = r->text.n;

	if (!escaped) {
		vec_push(&r->frames, (struct text_part){ .s = s, .n = n });
		return;
	}
	for (size_t i = 0; i < n;) {
		size_t run = i;

		while (run < n && s[run] == '\\')
			run++;
		if (run > i && (run == n ? more : s[run] == ';')) {
			for (size_t k = 0; k < (run - i) / 2; k++)
				strbuf_putc(&r->text, '\\');
			i = run;
			continue;
		}
		if (run == i)
			run++;
		strbuf_add(&r->text, s + i, run - i);
		i = run;
	}
	/* the buffer may move: the offset is turned into a pointer when the line is complete */
	vec_push(&r->frames, (struct text_part){ .s = NULL, .n = r->text.n - from });
}

static int split_frames(struct reader *r, const char *s, size_t n)
{
	size_t start = 0, at = 0, text = 0;
	bool escaped = false;

	r->frames.n = 0;
	strbuf_reset(&r->text);
	while (n && s[n - 1] == ';' && (n < 2 || s[n - 2] != '\\'))
		n--; /* nothing stands behind it */
	for (;;) {
		const char *semi = at < n ? memchr(s + at, ';', n - at) : NULL;
		size_t end = semi ? (size_t)(semi - s) : n, slashes = 0;

		while (semi && slashes < end - start && s[end - 1 - slashes] == '\\')
			slashes++;
		escaped = escaped || slashes;
		if (slashes % 2) {
			at = end + 1;
			continue;
		}
		if (r->frames.n == FOLDED_MAX_DEPTH)
			return text_refuse(r->e, E2BIG, r->name, r->line,
					   "the stack has more than %u frames", FOLDED_MAX_DEPTH);
		folded_add_frame(r, s + start, end - start, escaped, semi != NULL);
		if (!semi)
			break;
		at = start = end + 1;
		escaped = false;
	}
	vec_each (&r->frames, f) {
		if (f->s)
			continue;
		f->s = r->text.data ? r->text.data + text : "";
		text += f->n;
	}
	return 0;
}

static int no_count(struct reader *r, const char *s, size_t n, const char *which)
{
	char buf[TEXT_LINE_EXCERPT];

	text_refuse(r->e, EINVAL, r->name, r->line, "no %s behind the stack: '%s'", which,
		    text_line_excerpt(s, n, buf));
	return err_hint(r->e, "folded stacks are lines such as 'main;parse;read 42'");
}

static bool is_comment(const char *s, size_t n)
{
	const char *num;
	size_t num_n;

	return n && s[0] == '#' && !cut_number(s, &n, &num, &num_n);
}

static int folded_one_line(struct reader *r, const char *s, size_t n, folded_fn *fn, void *ctx)
{
	struct folded_stack st = { .line = r->line };
	const char *last, *first;
	size_t last_n, first_n, left = n;
	int k;

	if (memchr(s, '\0', n)) {
		text_refuse(r->e, EINVAL, r->name, r->line, "a NUL byte: this is no text");
		return err_hint(r->e, "folded stacks are lines such as 'main;parse;read 42'");
	}
	if (is_comment(s, n))
		return 0;
	if (!cut_number(s, &left, &last, &last_n))
		return no_count(r, s, n, "count");
	k = folded_number(r, last, last_n, &st.count[r->info->two]);
	if (k == 0 && r->info->two) {
		if (!cut_number(s, &left, &first, &first_n))
			return no_count(r, s, n, "second count");
		k = folded_number(r, first, first_n, &st.count[0]);
	}
	if (k == 0)
		k = split_frames(r, s, left);
	if (k < 0)
		return k;
	st.frame = r->frames.data;
	st.n = left ? r->frames.n : 0;
	r->info->stacks++;
	return fn(ctx, &st, r->e);
}

/* A comparison has two numbers in every line: a name may end in one, but not all of them do. */
static bool has_two_columns(const char *data, const char *end)
{
	const char *s, *num;
	size_t n, num_n;
	bool any = false;

	while (text_line_next(&data, end, &s, &n)) {
		if (!n || is_comment(s, n))
			continue;
		for (int i = 0; i < 2; i++)
			if (!cut_number(s, &n, &num, &num_n))
				return false;
		any = true;
	}
	return any;
}

int folded_read(const char *name, const char *data, size_t n, struct folded_info *info,
		folded_fn *fn, void *ctx, struct err *e)
{
	struct folded_info own = { 0 };
	struct reader r = { .name = name, .info = info ? info : &own, .e = e };
	const char *end = data + n, *s;
	size_t len;
	int k = 0;

	*r.info = (struct folded_info){ .two = has_two_columns(data, end) };
	while (k == 0 && text_line_next(&data, end, &s, &len)) {
		r.line++;
		if (len > FOLDED_MAX_LINE) {
			text_refuse(e, E2BIG, name, r.line, "the line is longer than %u MiB",
				    FOLDED_MAX_LINE >> 20);
			k = err_hint(e, "is this file folded stacks, one a line?");
		} else if (len) {
			k = folded_one_line(&r, s, len, fn, ctx);
		}
	}
	vec_free(&r.frames);
	strbuf_free(&r.text);
	return k;
}
