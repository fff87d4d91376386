/* SPDX-License-Identifier: MIT */
#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static void (*last_words)(void);

void mem_on_end(void (*fn)(void))
{
	last_words = fn;
}

void mem_last_words(void)
{
	if (last_words)
		last_words();
}

static void *checked(void *p)
{
	if (!p) {
		static const char text[] = "kymo: out of memory\n";

		mem_last_words();
		if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
			_exit(70);
		_exit(70);
	}
	return p;
}

void *mem_alloc(size_t size)
{
	return checked(calloc(1, size ? size : 1));
}

void *mem_grow(void *old, size_t size)
{
	return checked(realloc(old, size ? size : 1));
}

void *mem_lines(size_t size)
{
	size_t whole = (size / MEM_LINE + 1) * MEM_LINE;
	void *p = checked(aligned_alloc(MEM_LINE, whole));

	memset(p, 0, whole);
	return p;
}

#define HUGE (2u << 20)
#define FEW_PAGES (64u << 10)
#ifndef MADV_POPULATE_WRITE
#	define MADV_POPULATE_WRITE 23
#endif

/* What the kernel is to do with the whole pages among n bytes, if there are so many. */
static void mem_advise(const void *start, size_t n, size_t least, int advice)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t lead = (page - (uintptr_t)start % page) % page;

	if (n >= lead + (least ? least : page))
		madvise((char *)start + lead, (n - lead) / page * page, advice);
}

/*
 * All pages of it now: one by one takes several times as long, and a table's even more, for most
 * are read before they are written. Kernels before 5.14 do not know this.
 */
static void *mem_present(void *start, size_t n)
{
	mem_advise(start, n, FEW_PAGES, MADV_POPULATE_WRITE);
	return start;
}

void *mem_table(size_t size, bool zeroed)
{
	void *p;

	if (size < 2 * HUGE)
		return zeroed ? mem_present(mem_alloc(size), size) : mem_grow(NULL, size);
	p = checked(aligned_alloc(HUGE, (size + HUGE - 1) / HUGE * HUGE));
	/* what is behind the last whole one is not made larger */
	madvise(p, size / HUGE * HUGE, MADV_HUGEPAGE);
	if (zeroed)
		memset(p, 0, size);
	return p;
}

void mem_drop(const void *start, size_t n)
{
	mem_advise(start, n, 0, MADV_DONTNEED);
}

void *mem_dup(const void *src, size_t size)
{
	void *p = mem_alloc(size);

	if (size)
		memcpy(p, src, size);
	return p;
}

char *mem_strdup(const char *s)
{
	return s ? checked(strdup(s)) : NULL;
}

char *mem_strndup(const char *s, size_t n)
{
	return checked(strndup(s, n));
}

char *mem_printf(const char *fmt, ...)
{
	char *s = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	return checked(n < 0 ? NULL : s);
}

/* Blocks double up to 1 MiB; an allocation larger than that gets a block of its own. */
struct arena_block {
	struct arena_block *next;
	size_t size;
	size_t used;
	_Alignas(16) unsigned char data[];
};

#define ARENA_BLOCK ((size_t)1 << 20) /* they grow up to this */

void *arena_alloc(struct arena *a, size_t size)
{
	struct arena_block *b = a->top;
	void *p;

	size = (size + 15) & ~(size_t)15;
	if (!b || b->size - b->used < size) {
		size_t want = b ? b->size * 2 : 4096;

		if (want > ARENA_BLOCK)
			want = ARENA_BLOCK;
		if (want < size)
			want = size;
		b = mem_alloc(sizeof(*b) + want);
		if (want == ARENA_BLOCK)
			mem_present(b, sizeof(*b) + want);
		b->size = want;
		b->next = a->top;
		a->top = b;
	}
	p = b->data + b->used;
	b->used += size;
	a->used += size;
	return p;
}

void *arena_dup(struct arena *a, const void *src, size_t size)
{
	void *p = arena_alloc(a, size);

	if (size)
		memcpy(p, src, size);
	return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *p = arena_alloc(a, len + 1);

	memcpy(p, s, len);
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return s ? arena_strndup(a, s, SIZE_MAX) : NULL;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	char *p;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	p = arena_alloc(a, (size_t)(n < 0 ? 0 : n) + 1);
	va_start(ap, fmt);
	vsnprintf(p, (size_t)(n < 0 ? 0 : n) + 1, fmt, ap);
	va_end(ap);
	return p;
}

void arena_join(struct arena *a, struct arena *from)
{
	struct arena_block **end = &a->top;

	while (*end)
		end = &(*end)->next;
	*end = from->top;
	a->used += from->used;
	*from = (struct arena){ 0 };
}

void arena_free(struct arena *a)
{
	struct arena_block *b = a->top, *next;

	for (; b; b = next) {
		next = b->next;
		free(b);
	}
	a->top = NULL;
	a->used = 0;
}
