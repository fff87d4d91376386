/* SPDX-License-Identifier: MIT */
/*
 * Strings: a growing buffer, patterns, near misses, and numbers as people write them.
 */
#pragma once

#include <stddef.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A zeroed struct is the empty string. data is NUL-terminated once something was added. */
struct strbuf {
	char *data;
	size_t n, cap;
};
void strbuf_add(struct strbuf *b, const char *s, size_t n);
void strbuf_puts(struct strbuf *b, const char *s);
void strbuf_putc(struct strbuf *b, char c);
__attribute__((format(printf, 2, 3))) void strbuf_printf(struct strbuf *b, const char *fmt, ...);
void strbuf_vprintf(struct strbuf *b, const char *fmt, va_list ap);
void strbuf_fill(struct strbuf *b, char c, size_t n);
void strbuf_hex(struct strbuf *b, uint64_t v); /* %x, without "0x" */
/* %.0f to %.3f, without what printf() takes to get there. */
void strbuf_fixed(struct strbuf *b, double v, int digits);
void strbuf_reset(struct strbuf *b); /* empties, keeps the memory */
void strbuf_free(struct strbuf *b);
const char *strbuf_str(const struct strbuf *b); /* never NULL */
static inline void strbuf_cleanup(struct strbuf *b)
{
	strbuf_free(b);
}
#define AUTO_STRBUF __attribute__((cleanup(strbuf_cleanup))) struct strbuf

/* Shell pattern with * ? [a-z] [!x] and backslash. */
bool str_glob(const char *pattern, const char *s);
bool str_has_glob(const char *s);
bool str_icontains(const char *s, const char *part);
bool str_starts(const char *s, const char *prefix);
/* Is word one of those that sep stands between? */
bool str_has_word(const char *list, const char *word, char sep);
/*
 * Names of processes, files and functions are anybody's, and must not end the line they stand in:
 * s itself, or a copy with \n in the place of each line's end, which *made (caller frees) has then.
 */
const char *str_one_line(const char *s, char **made);
bool str_ends(const char *s, const char *suffix);

/* Edit distance (insert, delete, replace, swap), case ignored; limit + 1: more than limit. */
unsigned str_distance(const char *a, const char *b, unsigned limit);

/* Two digits a byte, and a NUL. Returns where that is. */
char *str_hex(char *to, const void *data, size_t n);
/* What a digit of hexadecimal numbers stands for; -1: it is none. */
static inline int str_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* What stands behind the last '/', or all of it. */
const char *str_base_name(const char *path);

/*
 * Collects the names nearest to what was typed: feed it every valid name, then
 * ask for the few best. Names are not copied and must outlive it.
 */
#define STR_NEAREST_MAX 3
struct str_nearest {
	const char *typed;
	const char *before; /* printed before each name, if any: -- */
	const char *name[STR_NEAREST_MAX];
	unsigned distance[STR_NEAREST_MAX];
	unsigned n;
};
void str_nearest_add(struct str_nearest *s, const char *name);
/* "a, b or c" into buf; false when nothing is near. */
bool str_nearest_list(const struct str_nearest *s, char *buf, size_t size);

/* The whole string must be a number; false leaves *ret untouched. 0x and decimal. */
bool str_u64(const char *s, uint64_t *ret);
bool str_i64(const char *s, int64_t *ret);
bool str_double(const char *s, double *ret);
/* 4096, 64K, 1M, 2GiB ... into bytes; unit is applied to a bare number (1 for bytes). */
bool str_size(const char *s, uint64_t unit, uint64_t *ret);
/* 10, 10s, 500ms, 20us, 1.5m, 2h into nanoseconds; unit is what a bare number means, in ns. */
bool str_duration(const char *s, uint64_t unit, uint64_t *ret);

/* Length of the valid UTF-8 sequence that s (of n > 0 bytes) begins with, or 0. */
size_t str_utf8_len(const char *s, size_t n);
bool str_is_utf8(const char *s, size_t n);
/* Append s; bytes that are not UTF-8 become U+FFFD. */
void strbuf_utf8(struct strbuf *b, const char *s, size_t n);
/* The same as a value of CSV: in quotes where it has some, a separator or the end of a line. */
void strbuf_csv(struct strbuf *b, const char *s, size_t n, const char *separator);

/* 1234567 -> "1,234,567" (buf of 32 is enough). Returns buf. */
char *str_thousands(uint64_t v, char *buf, size_t size);
/* 1, "sample" -> "1 sample"; 1234 -> "1,234 samples" (buf of 64). Returns buf. */
char *str_count(uint64_t n, const char *what, char *buf, size_t size);
/* "1 event was", "1,234 events were". */
char *str_were(uint64_t n, const char *what, char *buf, size_t size);
/*
 * A share as it is said everywhere: "33.7%". "0%" and "100%" are none and all, a little more or
 * less is "<0.1%" or ">99.9%" (buf of 16). Returns buf.
 */
char *str_percent(double part, double whole, char *buf, size_t size);
/* 1536 -> "1.5 KiB". Returns buf. */
char *str_bytes(uint64_t v, char *buf, size_t size);

/* Calls fn for each part between separators that is not empty. Stops at a non-zero answer. */
int str_split(const char *s, char sep, int (*fn)(void *ctx, const char *part, size_t n), void *ctx);

/* "0-3,7" into a sorted set of numbers below limit, by callback; -EINVAL on bad syntax. */
int str_ranges(const char *s, unsigned limit, int (*fn)(void *ctx, unsigned v), void *ctx);
