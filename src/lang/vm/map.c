/* SPDX-License-Identifier: MIT */
#include "lang/vm/map.h"

#include <string.h>

#include "base/map.h"

static bool is_array(const struct lang_map *m)
{
	return m->type == BPF_MAP_TYPE_ARRAY || m->type == BPF_MAP_TYPE_PERCPU_ARRAY;
}

void vm_map_init(struct vm_map *v, const struct lang_map *m)
{
	*v = (struct vm_map){ .m = m,
			      .key_words = (m->key_size + 7) / 8,
			      .value_words = (m->value_size + 7) / 8 };
	if (is_array(m))
		v->array = mem_alloc(v->value_words * 8 * (m->entries ? m->entries : 1) + 8);
	else if (m->key_size) {
		v->n_buckets = 1024;
		v->bucket = mem_alloc(v->n_buckets * sizeof(*v->bucket));
	}
}

void vm_map_clear(struct vm_map *v)
{
	if (v->array)
		memset(v->array, 0, v->value_words * 8 * v->m->entries);
	for (size_t i = 0; i < v->n_buckets; i++) {
		for (struct vm_entry *e = v->bucket[i], *next; e; e = next) {
			next = e->next;
			free(e);
		}
		v->bucket[i] = NULL;
	}
	v->n = 0;
}

void vm_map_free(struct vm_map *v)
{
	vm_map_clear(v);
	free(v->bucket);
	free(v->array);
}

static size_t vm_map_slot(const struct vm_map *v, const void *key)
{
	return map_hash_bytes(key, v->m->key_size) & (v->n_buckets - 1);
}

static void vm_map_grow(struct vm_map *v)
{
	struct vm_entry **old = v->bucket;
	size_t n = v->n_buckets;

	v->n_buckets = n * 4;
	v->bucket = mem_alloc(v->n_buckets * sizeof(*v->bucket));
	for (size_t i = 0; i < n; i++)
		for (struct vm_entry *e = old[i], *next; e; e = next) {
			size_t k = vm_map_slot(v, e->data);

			next = e->next;
			e->next = v->bucket[k];
			v->bucket[k] = e;
		}
	free(old);
}

void *vm_map_find(const struct vm_map *v, const void *key)
{
	uint32_t i;

	if (v->array) {
		memcpy(&i, key, sizeof(i));
		return i < v->m->entries ? v->array + i * v->value_words : NULL;
	}
	if (!v->n_buckets)
		return NULL;
	for (struct vm_entry *e = v->bucket[vm_map_slot(v, key)]; e; e = e->next)
		if (memcmp(e->data, key, v->m->key_size) == 0)
			return e->data + v->key_words;
	return NULL;
}

int vm_map_set(struct vm_map *v, const void *key, const void *value, uint64_t flags)
{
	void *old = vm_map_find(v, key);
	struct vm_entry *e;
	size_t k;

	if (old) {
		if (flags == BPF_NOEXIST)
			return -EEXIST;
		memcpy(old, value, v->m->value_size);
		return 0;
	}
	if (!v->n_buckets || v->n >= v->m->entries)
		return -E2BIG;
	if (v->n > v->n_buckets * 2)
		vm_map_grow(v);
	e = mem_alloc(sizeof(*e) + (v->key_words + v->value_words) * 8);
	memcpy(e->data, key, v->m->key_size);
	memcpy(e->data + v->key_words, value, v->m->value_size);
	k = vm_map_slot(v, key);
	e->next = v->bucket[k];
	v->bucket[k] = e;
	v->n++;
	return 0;
}

int vm_map_drop(struct vm_map *v, const void *key)
{
	struct vm_entry **at;

	if (!v->n_buckets)
		return -EINVAL;
	for (at = &v->bucket[vm_map_slot(v, key)]; *at; at = &(*at)->next)
		if (memcmp((*at)->data, key, v->m->key_size) == 0) {
			struct vm_entry *e = *at;

			*at = e->next;
			free(e);
			v->n--;
			return 0;
		}
	return -ENOENT;
}

void vm_map_each(struct vm_map *v, lang_entry_fn *fn, void *arg)
{
	for (uint32_t i = 0; v->array && i < v->m->entries; i++)
		if (fn(arg, &i, v->array + i * v->value_words))
			return;
	for (size_t i = 0; i < v->n_buckets; i++)
		for (struct vm_entry *e = v->bucket[i], *next; e; e = next) {
			next = e->next; /* fn may delete this one */
			if (fn(arg, e->data, e->data + v->key_words))
				return;
		}
}

void vm_map_zero(struct vm_map *v)
{
	for (uint32_t i = 0; v->array && i < v->m->entries; i++) {
		memset(v->array + i * v->value_words, 0, v->value_words * 8);
		if (v->m->present_word)
			v->array[i * v->value_words] = 1;
	}
	for (size_t i = 0; i < v->n_buckets; i++)
		for (struct vm_entry *e = v->bucket[i]; e; e = e->next)
			memset(e->data + v->key_words, 0, v->value_words * 8);
}

size_t vm_map_readable(const struct vm_map *v, const void *p)
{
	const uint8_t *a = (const uint8_t *)v->array, *at = p,
		      *end = a ? a + v->value_words * 8 * v->m->entries : NULL;

	return a && at >= a && at < end ? (size_t)(end - at) : 0;
}
