/* SPDX-License-Identifier: MIT */
#include "sym/names/demangle.h"

#include <ctype.h>
#include <setjmp.h>
#include <string.h>

#include "base/mem.h"
#include "config.h"

#if HAVE_LIBIBERTY
#	include <libiberty/demangle.h>
#endif

/* libiberty's own limit stops at 1 KiB; the largest template names are several. */
#define NAME_MAX_LEN 8192
#define OUTPUT_MAX (64u << 10)

bool demangle_likely(const char *name)
{
	if (name[0] == '_')
		return name[1] == 'Z' || name[1] == 'R' || strncmp(name, "_GLOBAL_", 8) == 0;
	return strncmp(name, "caml", 4) == 0;
}

#if HAVE_LIBIBERTY
struct output {
	struct strbuf *b;
	size_t start;
	jmp_buf full;
};

/*
 * A short hostile name can expand without end, and the callback cannot say
 * stop; libiberty keeps all its state on the stack, so leaving by longjmp
 * loses nothing.
 */
static void demangle_collect(const char *s, size_t n, void *opaque)
{
	struct output *o = opaque;

	if (o->b->n - o->start + n > OUTPUT_MAX)
		longjmp(o->full, 1);
	strbuf_add(o->b, s, n);
}

/* Old Rust names are C++ names too: try Rust first. */
static bool try_both(const char *name, int options, struct output *o)
{
	if (setjmp(o->full))
		return false;
	return rust_demangle_callback(name, options, demangle_collect, o) ||
	       (o->b->n = o->start, cplus_demangle_v3_callback(name, options, demangle_collect, o));
}

static bool with_libiberty(const char *name, unsigned flags, struct strbuf *b)
{
	struct output o = { .b = b, .start = b->n };
	size_t len = strlen(name);
	int options = flags & DEMANGLE_PARAMS ? DMGL_PARAMS | DMGL_ANSI : DMGL_NO_OPTS;

	if (len > NAME_MAX_LEN)
		return false;
	if (len >= 1024)
		options |= DMGL_NO_RECURSE_LIMIT;
	if (try_both(name, options, &o) && b->n > o.start) /* a name of nothing is no name */
		return true;
	b->n = o.start;
	if (b->data)
		b->data[b->n] = 0;
	return false;
}
#else
static bool with_libiberty(const char *name, unsigned flags, struct strbuf *b)
{
	return false;
}
#endif

/* camlStdlib__List__iter_507 is Stdlib.List.iter; $xx is a byte in hex. */
static bool ocaml(const char *name, struct strbuf *b)
{
	size_t len = strlen(name), start = b->n;
	const char *p = name + 4, *end;

	if (strncmp(name, "caml", 4) != 0 || !isupper((unsigned char)*p))
		return false;
	end = name + len;
	while (end > p && isdigit((unsigned char)end[-1]))
		end--;
	if (end == name + len || end[-1] != '_')
		end = name + len;
	else
		end--;
	while (p < end) {
		unsigned v;

		if (end - p >= 2 && p[0] == '_' && p[1] == '_') {
			strbuf_putc(b, '.');
			p += 2;
		} else if (end - p >= 3 && p[0] == '$' && isxdigit((unsigned char)p[1]) &&
			   isxdigit((unsigned char)p[2]) && sscanf(p + 1, "%2x", &v) == 1 && v) {
			strbuf_putc(b, (char)v);
			p += 3;
		} else {
			strbuf_putc(b, *p++);
		}
	}
	return b->n > start;
}

bool demangle(const char *name, unsigned flags, struct strbuf *b)
{
	const char *at;

	if (!demangle_likely(name))
		return false;
	if (name[0] == 'c')
		return ocaml(name, b);
	/* "name@plt" and, with parameters, "name@@VERSION": what follows @ is no part of it. */
	at = strchr(name, '@');
	if (at && ((flags & DEMANGLE_PARAMS) || strcmp(at, "@plt") == 0)) {
		AUTO_FREE char *base = mem_strndup(name, (size_t)(at - name));

		if (!with_libiberty(base, flags, b))
			return false;
		strbuf_puts(b, at);
		return true;
	}
	return with_libiberty(name, flags, b);
}

bool demangle_is_written(const char *want)
{
	return strstr(want, "::") || strpbrk(want, "<(~");
}

/* The whole of it, or its end from a name on: a return type may be in front. */
static bool demangle_is_called(const char *full, const char *want)
{
	size_t n = strlen(full), m = strlen(want);

	if (str_has_glob(want) && str_glob(want, full))
		return true;
	return n >= m && strcmp(full + n - m, want) == 0 &&
	       (n == m || full[n - m - 1] == ' ' || full[n - m - 1] == ':');
}

bool demangle_fits(const char *name, const char *want)
{
	AUTO_STRBUF b = { 0 };

	if (!demangle(name, 0, &b))
		return false;
	if (demangle_is_called(strbuf_str(&b), want))
		return true;
	strbuf_reset(&b);
	return strchr(want, '(') && demangle(name, DEMANGLE_PARAMS, &b) &&
	       demangle_is_called(strbuf_str(&b), want);
}

char *demangle_dup(const char *name, unsigned flags)
{
	struct strbuf b = { 0 };

	if (demangle(name, flags, &b))
		return b.data;
	strbuf_free(&b);
	return NULL;
}
