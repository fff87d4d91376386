/* SPDX-License-Identifier: MIT */
/*
 * A growing array of any type: VEC(int) v = {0}; vec_push(&v, 7); v.data[0]; v.n.
 */
#pragma once

#include "base/mem.h"

#define VEC(T)                 \
	struct {               \
		T *data;       \
		size_t n, cap; \
	}

/* VEC(const char *) with a name, for those who hand it on: words that are somebody else's. */
struct vec_strs {
	const char **data;
	size_t n, cap;
};

#define vec_reserve(v, want)                                              \
	((v)->cap >= (want)                                               \
		 ? (void)0                                                \
		 : (void)((v)->cap = (v)->cap * 2 > (want) ? (v)->cap * 2 \
				     : (want) < 8	   ? 8            \
							   : (want),               \
			  (v)->data = mem_grow((v)->data, (v)->cap * sizeof(*(v)->data))))

#define vec_push(v, ...) (vec_reserve(v, (v)->n + 1), (v)->data[(v)->n++] = (__VA_ARGS__))

/* A zeroed element at the end; the pointer holds until the next push. */
#define vec_add(v)                                                                                \
	(vec_reserve(v, (v)->n + 1), __builtin_memset(&(v)->data[(v)->n], 0, sizeof(*(v)->data)), \
	 &(v)->data[(v)->n++])

/* It will not grow any more: no memory for that. */
#define vec_fit(v)                           \
	((v)->n == (v)->cap || !(v)->n       \
		 ? (void)0                   \
		 : (void)((v)->cap = (v)->n, \
			  (v)->data = mem_grow((v)->data, (v)->cap * sizeof(*(v)->data))))

/* An empty vector has data == NULL, to which nothing may be added, not even 0. */
#define vec_each(v, it) \
	for (__typeof__(*(v)->data) *it = (v)->data; it && it < (v)->data + (v)->n; it++)

#define vec_free(v) (free((v)->data), (v)->data = NULL, (v)->n = (v)->cap = 0)
