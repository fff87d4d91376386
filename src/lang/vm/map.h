/* SPDX-License-Identifier: MIT */
/* BPF maps in user space: what a program finds stays where it is until it is deleted. */
#pragma once

#include "lang/out.h"

struct vm_entry {
	struct vm_entry *next;
	uint64_t data[]; /* the key, rounded up to 8 bytes, then the value */
};

struct vm_map {
	const struct lang_map *m;
	size_t key_words, value_words;
	struct vm_entry **bucket; /* hash maps */
	size_t n_buckets, n;
	uint64_t *array; /* arrays */
};

void vm_map_init(struct vm_map *v, const struct lang_map *m);
void vm_map_free(struct vm_map *v);
void *vm_map_find(const struct vm_map *v, const void *key);
int vm_map_set(struct vm_map *v, const void *key, const void *value, uint64_t flags);
int vm_map_drop(struct vm_map *v, const void *key);
void vm_map_each(struct vm_map *v, lang_entry_fn *fn, void *arg);
void vm_map_clear(struct vm_map *v);
void vm_map_zero(struct vm_map *v);
/* How many bytes of an array map can be read from p on; 0: it is not in it. */
size_t vm_map_readable(const struct vm_map *v, const void *p);
