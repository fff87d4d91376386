/* SPDX-License-Identifier: MIT */
/*
 * Where tables live in the kernel: slabs, arrays that user space maps and writes, made as needed. A
 * larger table is cut into parts of equal numbers of chunks. All tables share the rules.
 */
#include "live/walk/walker_priv.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>
#include <sys/mman.h>

#include "walk.skel.h"

#define PIECE 65536u /* bytes of an area that are mapped at once; no page is larger */

/* ---- memory ---- */

static bool walker_area_open(struct walker_area *a, int fd, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	size = (size + page - 1) & ~(page - 1);
	a->base = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (a->base == MAP_FAILED) {
		a->base = NULL;
		return false;
	}
	a->fd = fd;
	a->size = size;
	a->there = mem_alloc((size / PIECE + 64) / 64 * 8);
	return true;
}

bool walker_area_touch(struct walker_area *a, size_t at, size_t n)
{
	for (size_t i = at / PIECE; i <= (at + n - 1) / PIECE; i++) {
		uint64_t bit = (uint64_t)1 << i % 64;

		if (a->there[i / 64] & bit)
			continue;
		if (i * PIECE >= a->size)
			return false;
		if (mmap(a->base + i * PIECE,
			 i * PIECE + PIECE < a->size ? PIECE : a->size - i * PIECE,
			 PROT_READ | PROT_WRITE,
			 MAP_FIXED | (a->fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED), a->fd,
			 a->fd < 0 ? 0 : (off_t)(i * PIECE)) == MAP_FAILED)
			return false;
		a->there[i / 64] |= bit;
	}
	return true;
}

static void walker_area_close(struct walker_area *a)
{
	if (a->base)
		munmap(a->base, a->size);
	free(a->there);
	*a = (struct walker_area){ 0 };
}

bool walker_table_touch(struct walker *w, uint32_t number)
{
	return walker_area_touch(&w->tables_area, number * sizeof(*w->tables), sizeof(*w->tables));
}

/* ---- rules ---- */

uint32_t walker_rule_direct(const struct ehframe_rule *r)
{
	int last = r->fp == EHFRAME_FP_SAME ? 0 : r->ra_off - r->fp_off, words = r->cfa_off / 8;
	bool from_fp = r->cfa == EHFRAME_CFA_FP;

	if (r->ra != EHFRAME_RA_CFA || r->ra_off >= 0 || (r->cfa != EHFRAME_CFA_SP && !from_fp) ||
	    r->extra ||
	    (r->fp != EHFRAME_FP_SAME && (r->fp != EHFRAME_FP_CFA || last < 1 || last > 7)) ||
	    words < 0 || words > (int)WALK_DIRECT_CFA(UINT32_MAX) || r->cfa_off != 8 * words)
		return 0;
	for (uint32_t at_register = 0; at_register < 2; at_register++) {
		uint32_t d = WALK_DIRECT_RULE((uint32_t)words, (uint32_t)last, at_register,
					      (uint32_t)from_fp);

		if (WALK_DIRECT_OFFSET(d) == r->ra_off - last)
			return d;
	}
	return 0;
}

/* The rule's number in the kernel; what does not fit needs full evaluation. With the lock. */
static uint32_t rule_id(struct walker *w, const struct ehframe_rule *r)
{
	uint32_t d = walker_rule_direct(r), k;
	uint64_t hash = map_hash_bytes(r, sizeof(*r));
	size_t at;

	if (d)
		return d;
	at = index_first(&w->rule_index, hash);
	index_each (&w->rule_index, hash, at, k)
		if (!memcmp(&w->rules[k - 1].rule, r, sizeof(*r)))
			return k - 1;
	if (w->n_rules == w->rules_cap ||
	    !walker_area_touch(&w->rules_area, w->n_rules * sizeof(*w->rules), sizeof(*w->rules)))
		return EHFRAME_RULE_FULL;
	w->rules[w->n_rules] = (struct walk_rule){ .rule = *r };
	index_set(&w->rule_index, at, hash, ++w->n_rules);
	return w->n_rules - 1;
}

/* ---- space ---- */

bool walker_space_take(struct walker_space *s, uint32_t n, uint32_t *ret)
{
	for (size_t i = 0; i < s->free.n; i++) {
		struct walker_range *r = &s->free.data[i];

		if (r->n < n)
			continue;
		*ret = r->start;
		r->start += n;
		r->n -= n;
		if (!r->n) {
			memmove(r, r + 1, (s->free.n - i - 1) * sizeof(*r));
			s->free.n--;
		}
		return true;
	}
	return false;
}

void walker_space_give(struct walker_space *s, uint32_t start, uint32_t n)
{
	struct walker_range *r;
	size_t i = 0;

	while (i < s->free.n && s->free.data[i].start < start)
		i++;
	vec_reserve(&s->free, s->free.n + 1);
	r = &s->free.data[i];
	memmove(r + 1, r, (s->free.n - i) * sizeof(*r));
	*r = (struct walker_range){ start, n };
	s->free.n++;
	if (i + 1 < s->free.n && r[1].start == start + n) {
		r->n += r[1].n;
		memmove(r + 1, r + 2, (s->free.n - i - 2) * sizeof(*r));
		s->free.n--;
	}
	if (i && r[-1].start + r[-1].n == start) {
		r[-1].n += r->n;
		memmove(r, r + 1, (s->free.n - i - 1) * sizeof(*r));
		s->free.n--;
	}
}

int walker_slab_first(struct walker *w)
{
	w->slab_blocks = w->o.slab_bytes / sizeof(struct walk_block);
	if (w->first_slab < 0)
		w->first_slab = walker_slab_map(w);
	if (w->first_slab < 0 || !w->bpf)
		return w->first_slab < 0 ? w->first_slab : 0;
	return bpf_map__set_inner_map_fd(w->bpf->maps.slabs, w->first_slab);
}

/* One more slab, in force before anything points to it. Without the lock: it takes milliseconds. */
static int slab_new(struct walker *w)
{
	struct walker_slab s = { 0 };
	uint32_t number = (uint32_t)w->slabs.n;
	int err;

	if ((number + 1) * (uint64_t)w->slab_blocks * sizeof(struct walk_block) >
		    w->o.table_bytes ||
	    number == WALK_SLABS)
		return -ENOSPC;
	s.fd = number ? walker_slab_map(w) : w->first_slab;
	if (s.fd < 0)
		return s.fd;
	if (!number)
		w->first_slab = -1;
	if (bpf_map_update_elem(w->slabs_fd, &number, &s.fd, BPF_ANY) < 0) {
		err = -errno;
		close(s.fd);
		return err;
	}
	walker_space_give(&s.space, 0, w->slab_blocks);
	pthread_mutex_lock(&w->lock);
	vec_push(&w->slabs, s);
	pthread_mutex_unlock(&w->lock);
	return 0;
}

/* The least wanted table that no process has mapped any more goes. With the lock. */
static bool evict(struct walker *w)
{
	struct walker_file *old = walker_file_unused(w, true);

	if (old)
		walker_slab_release(w, old);
	return old;
}

/* n blocks somewhere. */
static int space(struct walker *w, uint32_t n, uint32_t *slab, uint32_t *block)
{
	for (;;) {
		bool found = false, freed = false;
		int err;

		pthread_mutex_lock(&w->lock);
		for (uint32_t i = 0; i < w->slabs.n && !found; i++) {
			found = walker_space_take(&w->slabs.data[i].space, n, block);
			*slab = i;
		}
		w->slab_used += found ? n : 0;
		pthread_mutex_unlock(&w->lock);
		if (found)
			return 0;
		err = slab_new(w);
		if (err == -ENOSPC) {
			pthread_mutex_lock(&w->lock);
			freed = evict(w);
			pthread_mutex_unlock(&w->lock);
		}
		if (err && !freed)
			return err;
	}
}

/* ---- tables ---- */

/* The part [c0, c1) of a table's chunks into the space at word. */
static void write_part(uint32_t *word, const struct ehframe_table *t, const uint16_t *rule,
		       uint32_t c0, uint32_t c1)
{
	/* One row before the part's first is in force at its start. */
	uint32_t first = t->index[c0] ? t->index[c0] - 1 : 0, n = c1 - c0;
	uint32_t *rows = word + ((n + 15) & ~15u);

	for (uint32_t c = 0; c < n; c++) {
		uint32_t at = t->index[c0 + c], rows_n = t->index[c0 + c + 1] - at;

		word[c] = rows_n || !at ? WALK_INDEX(at - first, rows_n)
					: WALK_INDEX_RULE | rule[EHFRAME_ROW_RULE(t->rows[at - 1])];
	}
	for (uint32_t i = first; i < t->index[c1]; i++)
		rows[i - first] = (t->rows[i] & 0xffff0000u) | rule[EHFRAME_ROW_RULE(t->rows[i])];
}

static uint32_t part_blocks(const struct ehframe_table *t, uint32_t c0, uint32_t c1)
{
	uint32_t first = t->index[c0] ? t->index[c0] - 1 : 0;

	return (c1 - c0 + 15) / 16 + (t->index[c1] - first + 15) / 16;
}

/* The largest power of two of chunks whose parts all fit; 32 when the whole table does. */
static uint32_t part_shift(const struct walker *w, const struct ehframe_table *t)
{
	uint32_t shift = 32, n = t->n_chunks;

	if (part_blocks(t, 0, n) <= w->slab_blocks)
		return shift;
	for (shift = 31; shift > 8; shift--) {
		bool fits = true;

		for (uint64_t c = 0; c < n && fits; c += (uint64_t)1 << shift) {
			uint64_t end = c + ((uint64_t)1 << shift);

			fits = part_blocks(t, (uint32_t)c, end < n ? (uint32_t)end : n) <=
			       w->slab_blocks;
		}
		if (fits)
			break;
	}
	return shift;
}

static void give_back(struct walker *w, const struct walker_part *p)
{
	walker_space_give(&w->slabs.data[p->slab].space, p->block, p->n_blocks);
	w->slab_used -= p->n_blocks;
}

static int publish_part(struct walker *w, const struct ehframe_table *t, const uint16_t *rule,
			uint32_t c0, uint32_t c1, struct walker_part *p, struct walk_table *out)
{
	uint32_t n = part_blocks(t, c0, c1);
	size_t at, from;
	char *mem;
	int err = space(w, n, &p->slab, &p->block);

	if (err)
		return err;
	p->n_blocks = n;
	at = (size_t)p->block * sizeof(struct walk_block);
	from = at & ~(size_t)(PIECE - 1); /* where a page begins, whatever its size */
	/* slabs.data moves only when the builder, which we are, adds one. */
	mem = mmap(NULL, at - from + n * sizeof(struct walk_block), PROT_READ | PROT_WRITE,
		   MAP_SHARED, w->slabs.data[p->slab].fd, (off_t)from);
	if (mem == MAP_FAILED) {
		err = -errno;
		pthread_mutex_lock(&w->lock);
		give_back(w, p);
		pthread_mutex_unlock(&w->lock);
		return err;
	}
	write_part((uint32_t *)(mem + (at - from)), t, rule, c0, c1);
	munmap(mem, at - from + n * sizeof(struct walk_block));
	*out = (struct walk_table){
		.kind = WALK_TABLE_READY,
		.slab = p->slab,
		.index = p->block * 16,
		.rows = p->block * 16 + ((c1 - c0 + 15) & ~15u),
		.base = (uint32_t)(t->base >> EHFRAME_CHUNK_SHIFT) + c0,
		.n = c1 - c0,
	};
	return 0;
}

/* The kind last, so that a reader never sees a half-written entry as ready. */
static void walker_slab_put_table(struct walker *w, uint32_t number, const struct walk_table *t)
{
	struct walk_table *to = &w->tables[number];

	if (!walker_table_touch(w, number))
		return; /* it stays as it was: not there */
	__atomic_store_n(&to->kind, WALK_TABLE_PENDING, __ATOMIC_RELEASE);
	to->slab = t->slab;
	to->index = t->index;
	to->rows = t->rows;
	to->base = t->base;
	to->n = t->n;
	to->sub = t->sub;
	to->shift = t->shift;
	__atomic_store_n(&to->kind, t->kind, __ATOMIC_RELEASE);
}

/* Room for n parts with consecutive table numbers. With the lock. */
static bool part_numbers(struct walker *w, uint32_t n, struct walker_part *parts, uint32_t own)
{
	if (n == 1) {
		parts[0].table = own;
		return true;
	}
	if (w->next_table + n > w->n_tables)
		return false;
	for (uint32_t i = 0; i < n; i++)
		parts[i].table = w->next_table++;
	return true;
}

static int publish(struct walker *w, uint32_t file, const struct ehframe_table *t)
{
	uint32_t shift = part_shift(w, t), size = shift == 32 ? t->n_chunks : 1u << shift;
	uint32_t n = (t->n_chunks + size - 1) / size, own;
	AUTO_FREE uint16_t *rule = mem_alloc(t->n_rules * sizeof(*rule));
	AUTO_FREE struct walk_table *out = mem_alloc(n * sizeof(*out));
	struct walker_part *parts = mem_alloc(n * sizeof(*parts));
	uint32_t done = 0;
	int err = 0;

	pthread_mutex_lock(&w->lock);
	for (uint32_t i = 0; i < t->n_rules; i++)
		rule[i] = (uint16_t)rule_id(w, &t->rules[i]);
	own = w->files.data[file].table;
	if (t->base >> EHFRAME_CHUNK_SHIFT > UINT32_MAX - t->n_chunks ||
	    !part_numbers(w, n, parts, own))
		err = -ENOSPC;
	pthread_mutex_unlock(&w->lock);
	for (; done < n && !err; done++) {
		uint32_t c0 = done * size, c1 = c0 + size < t->n_chunks ? c0 + size : t->n_chunks;

		err = publish_part(w, t, rule, c0, c1, &parts[done], &out[done]);
		if (err)
			break;
	}
	pthread_mutex_lock(&w->lock);
	if (err) {
		while (done--)
			give_back(w, &parts[done]);
		free(parts);
	} else {
		struct walk_table all = { .kind = WALK_TABLE_PARTS,
					  .sub = parts[0].table,
					  .base = out[0].base,
					  .n = t->n_chunks,
					  .shift = shift };

		for (uint32_t i = 0; i < n; i++)
			walker_slab_put_table(w, parts[i].table, &out[i]);
		if (n > 1)
			walker_slab_put_table(w, own, &all);
		w->files.data[file].parts = parts;
		w->files.data[file].n_parts = n;
	}
	pthread_mutex_unlock(&w->lock);
	return err;
}

int walker_slab_publish(struct walker *w, uint32_t file, const struct ehframe_table *t)
{
	if (!w->o.plain)
		return publish(w, file, t);
	/* nobody but walker_copy.c needs it, which has the rows themselves */
	pthread_mutex_lock(&w->lock);
	walker_slab_put_table(w, w->files.data[file].table,
			      &(struct walk_table){ .kind = WALK_TABLE_READY });
	pthread_mutex_unlock(&w->lock);
	return 0;
}

void walker_slab_release(struct walker *w, struct walker_file *f)
{
	for (uint32_t i = 0; i < f->n_parts; i++) {
		walker_slab_put_table(w, f->parts[i].table,
				      &(struct walk_table){ .kind = WALK_TABLE_FREE });
		give_back(w, &f->parts[i]);
		if (f->parts[i].table != f->table)
			vec_push(&w->free_tables, f->parts[i].table);
	}
	if (f->n_parts) {
		/* Whoever maps it again gets it built again. */
		walker_slab_put_table(w, f->table,
				      &(struct walk_table){ .kind = WALK_TABLE_PENDING });
		w->stats.rows -= f->n_rows;
		w->stats.tables--;
		f->state = WALKER_FILE_FREE;
	}
	free(f->parts);
	f->parts = NULL;
	f->n_parts = 0;
}

int walker_slab_init(struct walker *w, struct err *e)
{
	static const struct ehframe_rule fixed[EHFRAME_RULES_FIXED] = {
		[EHFRAME_RULE_NONE] = { .cfa = EHFRAME_CFA_NONE },
		[EHFRAME_RULE_FULL] = { .cfa = EHFRAME_CFA_FULL },
		[EHFRAME_RULE_BOTTOM] = { .cfa = EHFRAME_CFA_BOTTOM },
	};

	if (!walker_area_open(&w->maps_area, w->maps_fd, w->n_maps * sizeof(*w->maps)) ||
	    !walker_area_open(&w->tables_area, w->tables_fd, w->n_tables * sizeof(*w->tables)) ||
	    !walker_area_open(&w->rules_area, w->rules_fd, w->rules_cap * sizeof(*w->rules)) ||
	    !walker_table_touch(w, WALKER_TABLE_NONE))
		return err_set(e, errno, "cannot map the walker's tables: %s", strerror(errno));
	w->maps = (struct walk_map *)w->maps_area.base;
	w->tables = (struct walk_table *)w->tables_area.base;
	w->rules = (void *)w->rules_area.base;
	for (unsigned i = 0; i < EHFRAME_RULES_FIXED; i++)
		rule_id(w, &fixed[i]);
	w->next_table = WALKER_TABLE_FIRST;
	w->tables[WALKER_TABLE_NONE].kind = WALK_TABLE_NONE;
	return 0;
}

void walker_slab_free(struct walker *w)
{
	vec_each (&w->slabs, s) {
		close(s->fd);
		vec_free(&s->space.free);
	}
	if (w->first_slab >= 0)
		close(w->first_slab);
	vec_free(&w->slabs);
	vec_free(&w->free_tables);
	walker_area_close(&w->maps_area);
	walker_area_close(&w->tables_area);
	walker_area_close(&w->rules_area);
	index_free(&w->rule_index);
}
