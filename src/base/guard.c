/* SPDX-License-Identifier: MIT */
#include "base/guard.h"

#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#define HELD 24 /* longer than any sequence that passes */

/* One of the two terminals. What a write ends within is held back until the next one. */
struct guard {
	bool on;
	FILE *real;
	unsigned char held[HELD];
	size_t n;
};

static struct guard guards[2]; /* stdout, stderr */

static bool is_plain(unsigned char c)
{
	return (c >= ' ' && c < 0x7f) || c == '\n' || c == '\t';
}

/* The colours of base/term.c, and the heat map's grounds. s stands behind "ESC [". */
static bool is_color(const unsigned char *s, size_t n)
{
	static const char *const codes[] = { "0", "1", "2", "31", "32", "33", "34", "36" };

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (strlen(codes[i]) == n && memcmp(codes[i], s, n) == 0)
			return true;
	return n > 5 && n <= 8 && memcmp(s, "48;5;", 5) == 0 && !memchr(s + 5, ';', n - 5);
}

/* Bytes of the colour that s begins with; 0: it is none; SIZE_MAX: it may become one. */
static size_t color_len(const unsigned char *s, size_t n)
{
	size_t i = 2;

	if (n > 1 && s[1] != '[')
		return 0;
	while (i < n && i < HELD && ((s[i] >= '0' && s[i] <= '9') || s[i] == ';'))
		i++;
	if (i >= n && n < HELD)
		return SIZE_MAX;
	return i < n && s[i] == 'm' && is_color(s + 2, i - 2) ? i + 1 : 0;
}

/* The same of a character beyond ASCII. C1 controls and the signs that turn text are none. */
static size_t char_len(const unsigned char *s, size_t n)
{
	size_t len = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;

	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if (i == n)
			return SIZE_MAX;
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	}
	if (s[0] == 0xc2 && s[1] < 0xa0)
		return 0;
	if (s[0] == 0xe2 && ((s[1] == 0x80 && s[2] >= 0xaa && s[2] <= 0xae) ||
			     (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9)))
		return 0;
	return len;
}

/* How much of s was taken; the rest, if there is any, is the beginning of something. */
static size_t clean(const unsigned char *s, size_t n, bool last, struct strbuf *b)
{
	size_t i = 0;

	while (i < n) {
		size_t from = i, len;

		while (i < n && is_plain(s[i]))
			i++;
		strbuf_add(b, (const char *)s + from, i - from);
		if (i == n)
			break;
		len = s[i] == '\033' ? color_len(s + i, n - i)
		      : s[i] >= 0x80 ? char_len(s + i, n - i)
				     : 0;
		if (len == SIZE_MAX && !last)
			break;
		if (len && len != SIZE_MAX)
			strbuf_add(b, (const char *)s + i, len);
		else
			strbuf_printf(b, "\\%03o", s[i]);
		i += len && len != SIZE_MAX ? len : 1;
	}
	return i;
}

char *guard_text(const void *data, size_t n)
{
	struct strbuf b = { 0 };

	strbuf_puts(&b, ""); /* never NULL */
	clean(data, n, true, &b);
	return b.data;
}

static int guarded(struct guard *g, int fd, const void *data, size_t n)
{
	AUTO_STRBUF in = { 0 };
	AUTO_STRBUF out = { 0 };
	size_t taken;

	strbuf_add(&in, (const char *)g->held, g->n);
	strbuf_add(&in, data, n);
	taken = clean((const unsigned char *)in.data, in.n, false, &out);
	g->n = in.n - taken;
	if (g->n)
		memcpy(g->held, in.data + taken, g->n);
	return out.n ? file_write_all(fd, out.data, out.n) : 0;
}

int guard_write(int fd, const void *data, size_t n)
{
	struct guard *g = fd == STDOUT_FILENO	? &guards[0]
			  : fd == STDERR_FILENO ? &guards[1]
						: NULL;

	return g && g->on ? guarded(g, fd, data, n) : file_write_all(fd, data, n);
}

void guard_tell(FILE *f, const char *s)
{
	struct guard *g = f == stdout ? &guards[0] : f == stderr ? &guards[1] : NULL;

	if (g && g->on) {
		fflush(f);
		(void)!file_write_all(guard_fileno(f), s, strlen(s));
	} else {
		fputs(s, f);
	}
}

int guard_fileno(FILE *f)
{
	return f == stdout ? STDOUT_FILENO : f == stderr ? STDERR_FILENO : fileno(f);
}

FILE *guard_stdout(void)
{
	return guards[0].on ? guards[0].real : stdout;
}

static ssize_t stream_write(void *cookie, const char *data, size_t n)
{
	const struct guard *g = cookie;
	int r = guard_write(g == &guards[0] ? STDOUT_FILENO : STDERR_FILENO, data, n);

	if (r < 0) {
		errno = -r;
		return 0;
	}
	return (ssize_t)n;
}

static void base_guard_start(struct guard *g, FILE **f, int fd, int buffering)
{
	FILE *s;

	if (!isatty(fd))
		return;
	s = fopencookie(g, "w", (cookie_io_functions_t){ .write = stream_write });
	if (!s)
		return;
	setvbuf(s, NULL, buffering, BUFSIZ);
	*g = (struct guard){ .on = true, .real = *f };
	*f = s;
}

/* What was held to the end belongs to nothing. */
static void guard_finish(void)
{
	fflush(stdout);
	for (int i = 0; i < 2; i++) {
		AUTO_FREE char *rest = guard_text(guards[i].held, guards[i].n);

		if (guards[i].n)
			(void)!file_write_all(i ? STDERR_FILENO : STDOUT_FILENO, rest,
					      strlen(rest));
		guards[i].n = 0;
	}
}

void guard_start(void)
{
	base_guard_start(&guards[0], &stdout, STDOUT_FILENO, _IOLBF);
	base_guard_start(&guards[1], &stderr, STDERR_FILENO, _IONBF);
	if (guards[0].on || guards[1].on)
		atexit(guard_finish);
}
