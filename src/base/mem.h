/* SPDX-License-Identifier: MIT */
/*
 * Memory: plain allocation that cannot fail, arenas, and cleanup attributes.
 *
 * Running out of memory ends the program (the one exception to "libraries
 * never exit"); so a size that comes from a file or the kernel is checked
 * against a limit before it gets here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *mem_alloc(size_t size);		/* zeroed */
void *mem_grow(void *old, size_t size); /* the new part is not zeroed */
void *mem_dup(const void *src, size_t size);
/* Zeroed, and in lines of a cache that nothing else is in. */
#define MEM_LINE 64
void *mem_lines(size_t size);
/*
 * For a large table that will be filled all over: in huge pages where the kernel has them. When
 * zeroed, its pages are there at once, which is cheaper than when each is first read and then
 * written.
 */
void *mem_table(size_t size, bool zeroed);
/*
 * Whole pages among n bytes are given back: what is mapped from a file comes again when it is
 * needed, what is not is lost.
 */
void mem_drop(const void *start, size_t n);
/*
 * It will be read, or written, soon: have it in the cache by then. Of a function that only has
 * __builtin_prefetch() gcc thinks that it does nothing, and leaves its calls out.
 */
static inline void mem_fetch(const void *p)
{
	__builtin_prefetch(p);
	__asm__ volatile("");
}
static inline void mem_fetch_to_write(const void *p)
{
	__builtin_prefetch(p, 1);
	__asm__ volatile("");
}
char *mem_strdup(const char *s); /* NULL gives NULL */
char *mem_strndup(const char *s, size_t n);
__attribute__((format(printf, 1, 2))) char *mem_printf(const char *fmt, ...);

/* What must be done before running out of memory ends the program: put a terminal back. NULL:
 * nothing.
 */
void mem_on_end(void (*fn)(void));
/* Do it now: something else ends the program. */
void mem_last_words(void);

/* Everything allocated from an arena goes at once, with arena_free(). A zeroed struct is empty. */
struct arena_block;
struct arena {
	struct arena_block *top;
	size_t used; /* bytes handed out, for statistics and limits */
};
void *arena_alloc(struct arena *a, size_t size); /* zeroed, aligned to 16 */
void *arena_dup(struct arena *a, const void *src, size_t size);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
__attribute__((format(printf, 2, 3))) char *arena_printf(struct arena *a, const char *fmt, ...);
void arena_free(struct arena *a);
/* What is in from belongs to a now. */
void arena_join(struct arena *a, struct arena *from);

static inline void mem_cleanup_free(void *p)
{
	free(*(void **)p);
}
static inline void mem_cleanup_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
static inline void mem_cleanup_fclose(FILE **f)
{
	if (*f)
		fclose(*f);
}
#define AUTO_FREE __attribute__((cleanup(mem_cleanup_free)))
#define AUTO_CLOSE __attribute__((cleanup(mem_cleanup_close)))
#define AUTO_FCLOSE __attribute__((cleanup(mem_cleanup_fclose)))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
