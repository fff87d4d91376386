/* SPDX-License-Identifier: MIT */
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <string.h>

#include "base/vec.h"

static inline void strbuf_reserve(struct strbuf *b, size_t more)
{
	vec_reserve(b, b->cap || more >= 64 ? b->n + more + 1 : 64);
}

void strbuf_add(struct strbuf *b, const char *s, size_t n)
{
	strbuf_reserve(b, n);
	if (n)
		memcpy(b->data + b->n, s, n);
	b->n += n;
	b->data[b->n] = '\0';
}

void strbuf_puts(struct strbuf *b, const char *s)
{
	strbuf_add(b, s, strlen(s));
}

void strbuf_putc(struct strbuf *b, char c)
{
	strbuf_add(b, &c, 1);
}

void strbuf_fill(struct strbuf *b, char c, size_t n)
{
	strbuf_reserve(b, n);
	memset(b->data + b->n, c, n);
	b->n += n;
	b->data[b->n] = '\0';
}

void strbuf_vprintf(struct strbuf *b, const char *fmt, va_list ap)
{
	size_t room = b->cap - b->n;
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(room ? b->data + b->n : NULL, room, fmt, ap);
	if (n > 0 && (size_t)n >= room) {
		strbuf_reserve(b, (size_t)n);
		vsnprintf(b->data + b->n, (size_t)n + 1, fmt, again);
	}
	va_end(again);
	if (n > 0)
		b->n += (size_t)n;
	else if (room)
		b->data[b->n] = '\0';
}

void strbuf_hex(struct strbuf *b, uint64_t v)
{
	char buf[16], *end = buf + sizeof(buf), *s = end;

	do
		*--s = "0123456789abcdef"[v & 15];
	while (v >>= 4);
	strbuf_add(b, s, (size_t)(end - s));
}

void strbuf_printf(struct strbuf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strbuf_vprintf(b, fmt, ap);
	va_end(ap);
}

void strbuf_fixed(struct strbuf *b, double v, int digits)
{
	static const double scale[] = { 1, 10, 100, 1000 };
	char buf[32], *p = buf + sizeof(buf);
	double scaled = v * scale[digits], whole = floor(scaled);
	uint64_t n;

	/* what is half way, or may be, printf() knows: it looks at all digits of the number */
	if (!(v >= 0 && scaled < 1e12) || signbit(v) || fabs(scaled - whole - 0.5) < 1e-3) {
		strbuf_printf(b, "%.*f", digits, v);
		return;
	}
	n = (uint64_t)whole + (scaled - whole > 0.5);
	for (int i = 0; i <= digits || n; i++, n /= 10) {
		if (i == digits && digits)
			*--p = '.';
		*--p = (char)('0' + n % 10);
	}
	strbuf_add(b, p, (size_t)(buf + sizeof(buf) - p));
}

void strbuf_reset(struct strbuf *b)
{
	b->n = 0;
	if (b->data)
		b->data[0] = '\0';
}

void strbuf_free(struct strbuf *b)
{
	free(b->data);
	*b = (struct strbuf){ 0 };
}

const char *strbuf_str(const struct strbuf *b)
{
	return b->data ? b->data : "";
}

bool str_glob(const char *pattern, const char *s)
{
	return fnmatch(pattern, s, 0) == 0;
}

bool str_has_glob(const char *s)
{
	return strpbrk(s, "*?[") != NULL;
}

bool str_icontains(const char *s, const char *part)
{
	return strcasestr(s, part) != NULL;
}

const char *str_one_line(const char *s, char **made)
{
	struct strbuf b = { 0 };
	const char *end = strchr(s, '\n');

	*made = NULL;
	if (__builtin_expect(!end, 1))
		return s;
	for (; end; s = end + 1, end = strchr(s, '\n')) {
		strbuf_add(&b, s, (size_t)(end - s));
		strbuf_puts(&b, "\\n");
	}
	strbuf_puts(&b, s);
	return *made = b.data;
}

bool str_has_word(const char *list, const char *word, char sep)
{
	size_t n = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += n)
		if ((at == list || at[-1] == sep) && (!at[n] || at[n] == sep))
			return true;
	return false;
}

bool str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

unsigned str_distance(const char *a, const char *b, unsigned limit)
{
	enum { MAX = 64 }; /* longer names are never "nearly" typed */
	unsigned rows[3][MAX + 1];
	size_t n = strlen(a), m = strlen(b);
	unsigned *before = rows[0], *last = rows[1], *now = rows[2];

	if (n > MAX || m > MAX || (n > m ? n - m : m - n) > limit)
		return limit + 1;
	for (size_t j = 0; j <= m; j++)
		last[j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned best = now[0] = (unsigned)i, *spare;

		for (size_t j = 1; j <= m; j++) {
			int ca = tolower((unsigned char)a[i - 1]),
			    cb = tolower((unsigned char)b[j - 1]);

			now[j] = min3(last[j] + 1, now[j - 1] + 1, last[j - 1] + (ca != cb));
			if (i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) &&
			    cb == tolower((unsigned char)a[i - 2]) && before[j - 2] + 1 < now[j])
				now[j] = before[j - 2] + 1;
			if (now[j] < best)
				best = now[j];
		}
		if (best > limit)
			return limit + 1;
		spare = before;
		before = last;
		last = now;
		now = spare;
	}
	return last[m] > limit ? limit + 1 : last[m];
}

/* What was typed against the first word of a compound name: intervl and interval-print. */
static bool near_first_word(const char *typed, const char *name)
{
	char word[32];
	size_t len = strcspn(name, "-_");

	if (!name[len] || len < 4 || len >= sizeof(word))
		return false;
	memcpy(word, name, len);
	word[len] = '\0';
	return str_distance(typed, word, 1) <= 1;
}

void str_nearest_add(struct str_nearest *s, const char *name)
{
	/* A third of the letters wrong is still a typo; a prefix of some length, or the first word
	 * of several, is a good guess too. */
	size_t len = strlen(s->typed);
	unsigned limit = len < 3 ? 1 : len < 6 ? 2 : (unsigned)(len / 3);
	unsigned d = str_distance(s->typed, name, limit), i;

	/* of three letters one may be wrong, or two more missing (cnt for count) */
	if (len == 3 && d == 2 && (strlen(name) != len + d || name[0] != s->typed[0]))
		return;
	if (d > limit && len >= 3 && strncasecmp(s->typed, name, len) == 0)
		d = limit;
	else if (d > limit && near_first_word(s->typed, name))
		d = limit + 1; /* when nothing else is near */
	else if (d > limit)
		return;
	if (s->n && d <= limit && s->distance[0] > limit)
		s->n = 0;
	if (s->n && d > limit && s->distance[0] <= limit)
		return;
	for (i = 0; i < s->n; i++)
		if (strcmp(s->name[i], name) == 0)
			return;
	for (i = s->n; i > 0 && s->distance[i - 1] > d; i--)
		if (i < STR_NEAREST_MAX) {
			s->name[i] = s->name[i - 1];
			s->distance[i] = s->distance[i - 1];
		}
	if (i >= STR_NEAREST_MAX)
		return;
	s->name[i] = name;
	s->distance[i] = d;
	if (s->n < STR_NEAREST_MAX)
		s->n++;
}

bool str_nearest_list(const struct str_nearest *s, char *buf, size_t size)
{
	size_t used = 0;

	if (!s->n || !size)
		return false;
	for (unsigned i = 0; i < s->n && used < size; i++) {
		int n = snprintf(buf + used, size - used, "%s%s%s",
				 i == 0		 ? ""
				 : i + 1 == s->n ? " or "
						 : ", ",
				 s->before ? s->before : "", s->name[i]);

		used += n > 0 ? (size_t)n : 0;
	}
	return true;
}

char *str_hex(char *to, const void *data, size_t n)
{
	for (const uint8_t *p = data; n; n--, p++) {
		*to++ = "0123456789abcdef"[*p >> 4];
		*to++ = "0123456789abcdef"[*p & 15];
	}
	*to = '\0';
	return to;
}

const char *str_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool str_u64(const char *s, uint64_t *ret)
{
	char *end;
	unsigned long long v;

	if (!isdigit((unsigned char)*s))
		return false;
	errno = 0;
	v = strtoull(s, &end, s[0] == '0' && (s[1] == 'x' || s[1] == 'X') ? 16 : 10);
	if (errno || *end)
		return false;
	*ret = v;
	return true;
}

bool str_i64(const char *s, int64_t *ret)
{
	uint64_t v;
	bool negative = *s == '-';

	if (!str_u64(s + negative, &v) || v > (uint64_t)INT64_MAX + negative)
		return false;
	*ret = negative ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

bool str_double(const char *s, double *ret)
{
	char *end;
	double v;

	if (!isdigit((unsigned char)*s) && *s != '.')
		return false;
	errno = 0;
	v = strtod(s, &end);
	if (errno || *end || end == s)
		return false;
	*ret = v;
	return true;
}

/* The number at the start of s, and where its unit begins. */
static bool number_and_unit(const char *s, double *v, const char **unit)
{
	char *end;

	if (!isdigit((unsigned char)*s) && *s != '.')
		return false;
	errno = 0;
	*v = strtod(s, &end);
	if (errno || end == s)
		return false;
	while (*end == ' ')
		end++;
	*unit = end;
	return true;
}

static bool scaled(double v, double scale, uint64_t *ret)
{
	if (v < 0 || v * scale >= 18446744073709551615.0)
		return false;
	*ret = (uint64_t)(v * scale + 0.5);
	return true;
}

bool str_size(const char *s, uint64_t unit, uint64_t *ret)
{
	static const char letters[] = "kmgtpe";
	const char *u, *at;
	double v, scale;

	if (!number_and_unit(s, &v, &u))
		return false;
	if (!*u)
		return scaled(v, (double)unit, ret);
	if ((*u == 'b' || *u == 'B') && !u[1])
		return scaled(v, 1, ret);
	at = strchr(letters, tolower((unsigned char)*u));
	if (!at || !*at)
		return false;
	scale = 1024;
	for (const char *p = letters; p < at; p++)
		scale *= 1024;
	u++;
	if (*u == 'i')
		u++;
	if (*u == 'b' || *u == 'B')
		u++;
	return *u ? false : scaled(v, scale, ret);
}

bool str_duration(const char *s, uint64_t unit, uint64_t *ret)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 },   { "us", 1e3 },   { "ms", 1e6 },   { "s", 1e9 },
		      { "m", 60e9 }, { "min", 60e9 }, { "h", 3600e9 }, { "d", 86400e9 } };
	const char *u;
	double v;

	if (!number_and_unit(s, &v, &u))
		return false;
	if (!*u)
		return scaled(v, (double)unit, ret);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (strcmp(u, units[i].name) == 0)
			return scaled(v, units[i].ns, ret);
	return false;
}

char *str_thousands(uint64_t v, char *buf, size_t size)
{
	char digits[32];
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)v);
	size_t out = 0;

	for (int i = 0; i < n && out + 2 < size; i++) {
		if (i && (n - i) % 3 == 0)
			buf[out++] = ',';
		buf[out++] = digits[i];
	}
	if (size)
		buf[out] = '\0';
	return buf;
}

char *str_count(uint64_t n, const char *what, char *buf, size_t size)
{
	char number[32];

	snprintf(buf, size, "%s %s%s", str_thousands(n, number, sizeof(number)), what,
		 n == 1 ? "" : "s");
	return buf;
}

char *str_were(uint64_t n, const char *what, char *buf, size_t size)
{
	char count[64];

	snprintf(buf, size, "%s %s", str_count(n, what, count, sizeof(count)),
		 n == 1 ? "was" : "were");
	return buf;
}

char *str_percent(double part, double whole, char *buf, size_t size)
{
	double v = whole > 0 ? 100 * part / whole : 0;

	if (part <= 0 || whole <= 0)
		snprintf(buf, size, "0%%");
	else if (part >= whole)
		snprintf(buf, size, "100%%");
	else if (v < 0.05)
		snprintf(buf, size, "<0.1%%");
	else if (v >= 99.95)
		snprintf(buf, size, ">99.9%%");
	else
		snprintf(buf, size, "%.1f%%", v);
	return buf;
}

char *str_bytes(uint64_t v, char *buf, size_t size)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double d = (double)v;
	unsigned u = 0;

	while (d >= 1024 && u + 1 < ARRAY_SIZE(units)) {
		d /= 1024;
		u++;
	}
	snprintf(buf, size, u && d < 100 ? "%.1f %s" : "%.0f %s", d, units[u]);
	return buf;
}

int str_split(const char *s, char sep, int (*fn)(void *ctx, const char *part, size_t n), void *ctx)
{
	while (*s) {
		const char *end = strchrnul(s, sep);
		int r = end > s ? fn(ctx, s, (size_t)(end - s)) : 0;

		if (r)
			return r;
		s = *end ? end + 1 : end;
	}
	return 0;
}

int str_ranges(const char *s, unsigned limit, int (*fn)(void *ctx, unsigned v), void *ctx)
{
	do {
		char *end;
		unsigned long lo, hi;

		if (!isdigit((unsigned char)*s))
			return -EINVAL;
		hi = lo = strtoul(s, &end, 10);
		if (*end == '-') {
			s = end + 1;
			if (!isdigit((unsigned char)*s))
				return -EINVAL;
			hi = strtoul(s, &end, 10);
		}
		if (hi < lo || hi >= limit)
			return -ERANGE;
		for (unsigned long v = lo; v <= hi; v++) {
			int r = fn(ctx, (unsigned)v);

			if (r)
				return r;
		}
		s = end;
		while (*s == '\n' || *s == ' ')
			s++;
	} while (*s == ',' && s++);
	return *s ? -EINVAL : 0;
}

size_t str_utf8_len(const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;
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

bool str_is_utf8(const char *s, size_t n)
{
	for (size_t i = 0, len; i < n; i += len) {
		len = (unsigned char)s[i] < 0x80 ? 1 : str_utf8_len(s + i, n - i);
		if (!len)
			return false;
	}
	return true;
}

void strbuf_utf8(struct strbuf *b, const char *s, size_t n)
{
	for (size_t i = 0, len; i < n; i += len) {
		len = str_utf8_len(s + i, n - i);
		if (len)
			strbuf_add(b, s + i, len);
		else
			strbuf_puts(b, "\xef\xbf\xbd"); /* U+FFFD */
		len = len ? len : 1;
	}
}

void strbuf_csv(struct strbuf *b, const char *s, size_t n, const char *separator)
{
	AUTO_STRBUF clean = { 0 };

	if (!str_is_utf8(s, n)) {
		strbuf_utf8(&clean, s, n);
		s = clean.data;
		n = clean.n;
	}
	if (!memchr(s, '"', n) && !memchr(s, '\n', n) && !memchr(s, '\r', n) &&
	    !memmem(s, n, separator, strlen(separator))) {
		strbuf_add(b, s, n);
		return;
	}
	strbuf_putc(b, '"');
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '"')
			strbuf_putc(b, '"');
		strbuf_putc(b, s[i]);
	}
	strbuf_putc(b, '"');
}
