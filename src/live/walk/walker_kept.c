/* SPDX-License-Identifier: MIT */
/*
 * The function's code as libbpf completed it, kept in the cache: maps are made and bound here
 * without libbpf, which takes 2 ms. It names maps by their place in its list, and is for one kernel
 * (whose build-id it lies under), one object and one libbpf (in its name); what is damaged, or was
 * refused, is not used.
 */
#include <linux/bpf.h>
#include <string.h>

#include "kern/bpf.h"
#include "live/about/ksyms.h"
#include "live/walk/walker_priv.h"
#include "sym/find/cache.h"

#define MAX_BYTES (256u << 10)
#define MAGIC 0x326e66776f6d796bu /* kymowfn2 */

struct head {
	uint64_t magic, check; /* of all that follows */
	uint32_t n_maps, config_at, lost_at, pad;
	struct {
		uint32_t n_insn, main, n_subs;
	} code[WALKER_CODES];
};

static bool walker_kept_place(uint64_t object, struct cache_key *key, char *name, size_t size)
{
	struct build_id id;

	snprintf(name, size, "walk-fn-%016llx", (unsigned long long)object);
	if (!ksyms_build_id(&id))
		return false;
	*key = cache_key_kernel(&id);
	return true;
}

void walker_kept_write(const struct walker *w, const struct walker_fn_image *k)
{
	struct head h = { .magic = MAGIC,
			  .n_maps = k->n_maps,
			  .config_at = k->config_at,
			  .lost_at = k->lost_at };
	AUTO_STRBUF out = { 0 };
	struct cache_key key;
	char name[48];

	if (w->cache < 0 || !walker_kept_place(k->object, &key, name, sizeof(name)))
		return;
	strbuf_add(&out, (const char *)&h, sizeof(h));
	strbuf_add(&out, (const char *)k->map, k->n_maps * sizeof(*k->map));
	for (int i = 0; i < WALKER_CODES; i++) {
		const struct walker_code *c = &w->code[i];

		h.code[i].n_insn = (uint32_t)c->n;
		h.code[i].main = (uint32_t)c->main;
		h.code[i].n_subs = (uint32_t)c->subs.n;
		strbuf_add(&out, (const char *)c->subs.data, c->subs.n * sizeof(*c->subs.data));
		strbuf_add(&out, (const char *)k->insn[i], c->n * sizeof(*c->insn));
	}
	h.check = map_hash_bytes(out.data + sizeof(h), out.n - sizeof(h));
	memcpy(out.data, &h, sizeof(h));
	cache_write(w->cache, &key, name, out.data, out.n, NULL);
}

void walker_kept_drop(const struct walker *w)
{
	struct cache_key key;
	char name[48];

	if (w->cache >= 0 && w->kept.object &&
	    walker_kept_place(w->kept.object, &key, name, sizeof(name)))
		cache_write(w->cache, &key, name, "", 0, NULL);
}

static bool good(const char *data, size_t n, struct head *h)
{
	size_t rest = n - sizeof(*h), want;

	if (n < sizeof(*h))
		return false;
	memcpy(h, data, sizeof(*h));
	if (h->magic != MAGIC || h->n_maps > WALKER_KEPT_MAPS)
		return false;
	want = h->n_maps * sizeof(struct walker_kept_map);
	for (int i = 0; i < WALKER_CODES; i++) {
		if (h->code[i].n_insn >= 1u << 16 || h->code[i].n_subs >= 1u << 10 ||
		    h->code[i].main >= h->code[i].n_insn)
			return false;
		want += h->code[i].n_subs * sizeof(struct lang_sub) +
			h->code[i].n_insn * sizeof(struct bpf_insn);
	}
	return rest == want && map_hash_bytes(data + sizeof(*h), rest) == h->check;
}

/* How many of them, for what this walker is to do. */
static uint32_t entries(struct walker *w, const struct walker_kept_map *m)
{
	if (strcmp(m->name, "procs") == 0)
		return w->o.procs;
	if (strcmp(m->name, "maps") == 0)
		return w->o.maps;
	if (strcmp(m->name, "tables") == 0)
		return w->o.tables;
	if (strcmp(m->name, "ring") == 0)
		return (uint32_t)w->o.ring_bytes;
	if (strcmp(m->name, "states") == 0)
		return walker_states(w);
	return m->entries;
}

static int *known(struct walker *w, const char *name)
{
	static const char *const names[] = { "procs", "slabs", "maps",	  "tables",
					     "rules", "ring",  ".rodata", ".bss" };
	int *fd[] = { &w->procs_fd, &w->slabs_fd, &w->maps_fd,	   &w->tables_fd,
		      &w->rules_fd, &w->ring_fd,  &w->kept.rodata, &w->kept.bss };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], name) == 0)
			return fd[i];
	return NULL;
}

int walker_slab_map(const struct walker *w)
{
	return bpf_map_new(&(struct bpf_map_kind){ .name = "kymo_slab",
						   .type = BPF_MAP_TYPE_ARRAY,
						   .key = 4,
						   .value = sizeof(struct walk_block),
						   .entries = w->slab_blocks,
						   .flags = BPF_F_MMAPABLE });
}

static bool walker_kept_make_maps(struct walker *w, const struct walker_kept_map *map, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct walker_kept_map *m = &map[i];
		struct bpf_map_kind k = { .name = m->name,
					  .type = m->type,
					  .key = m->key,
					  .value = m->value,
					  .entries = entries(w, m),
					  .flags = m->flags };
		int *to;

		if (m->name[sizeof(m->name) - 1])
			return false;
		to = known(w, m->name);
		if (m->type == BPF_MAP_TYPE_ARRAY_OF_MAPS)
			k.inner = w->first_slab;
		w->kept.fd[i] = bpf_map_new(&k);
		if (w->kept.fd[i] < 0)
			return false;
		w->kept.n++;
		if (to)
			*to = w->kept.fd[i];
		if (strcmp(m->name, "rules") == 0)
			w->rules_cap = m->entries;
		if (strcmp(m->name, ".rodata") == 0)
			w->kept.rodata_size = m->value;
		if (strcmp(m->name, ".bss") == 0)
			w->kept.bss_size = m->value;
	}
	return w->procs_fd >= 0 && w->slabs_fd >= 0 && w->maps_fd >= 0 && w->tables_fd >= 0 &&
	       w->rules_fd >= 0 && w->ring_fd >= 0 && w->kept.rodata >= 0 && w->kept.bss >= 0;
}

/* Places in the list become descriptors. */
static bool bind(const struct walker *w, struct walker_code *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct bpf_insn *in = &c->insn[i];

		if (in->code != (BPF_LD | BPF_DW | BPF_IMM))
			continue;
		if (in->src_reg == BPF_PSEUDO_MAP_FD || in->src_reg == BPF_PSEUDO_MAP_VALUE) {
			if ((uint32_t)in->imm >= w->kept.n)
				return false;
			in->imm = w->kept.fd[in->imm];
		}
		i++;
	}
	return true;
}

static bool open_kept(struct walker *w, const char *data, size_t n)
{
	bool good_maps = true;
	struct head h;

	if (!good(data, n, &h))
		return false;
	data += sizeof(h);
	w->procs_fd = w->slabs_fd = w->maps_fd = w->tables_fd = w->rules_fd = w->ring_fd = -1;
	w->kept.rodata = w->kept.bss = -1;
	w->kept.config_at = h.config_at;
	w->kept.lost_at = h.lost_at;
	if (!walker_kept_make_maps(w, (const struct walker_kept_map *)data, h.n_maps) ||
	    h.config_at + sizeof(w->config) > w->kept.rodata_size ||
	    h.lost_at + sizeof(uint64_t) > w->kept.bss_size)
		return false;
	data += h.n_maps * sizeof(struct walker_kept_map);
	for (int i = 0; i < WALKER_CODES; i++) {
		const struct lang_sub *sub = (const struct lang_sub *)data;
		struct walker_code *c = &w->code[i];

		for (uint32_t k = 0; k < h.code[i].n_subs; k++)
			vec_push(&c->subs, sub[k]);
		data += h.code[i].n_subs * sizeof(*sub);
		c->main = h.code[i].main;
		c->n = h.code[i].n_insn;
		c->insn = mem_dup(data, c->n * sizeof(*c->insn));
		data += c->n * sizeof(*c->insn);
		good_maps = good_maps && bind(w, c);
	}
	return good_maps;
}

void walker_kept_close(struct walker *w)
{
	for (uint32_t i = 0; i < w->kept.n; i++)
		close(w->kept.fd[i]);
	w->kept.n = 0;
}

bool walker_kept_open(struct walker *w, uint64_t object)
{
	AUTO_FREE char *data = NULL;
	struct cache_key key;
	char name[48];
	ssize_t got;
	int fd = -1;

	if (w->cache < 0 || !walker_kept_place(object, &key, name, sizeof(name)) ||
	    (fd = cache_get(w->cache, &key, name)) < 0)
		return false;
	data = mem_grow(NULL, MAX_BYTES); /* most of it is never touched */
	got = read(fd, data, MAX_BYTES);
	close(fd);
	if (got > 0 && open_kept(w, data, (size_t)got)) {
		w->kept.object = object;
		return true;
	}
	walker_kept_close(w);
	walker_fn_free(w);
	memset(w->code, 0, sizeof(w->code));
	return false;
}

bool walker_kept_configure(struct walker *w)
{
	AUTO_FREE char *value = mem_alloc(w->kept.rodata_size);
	union bpf_attr a;
	uint32_t key = 0;

	memcpy(value + w->kept.config_at, &w->config, sizeof(w->config));
	if (bpf_map_set(w->kept.rodata, &key, value) < 0)
		return false;
	memset(&a, 0, sizeof(a));
	a.map_fd = (uint32_t)w->kept.rodata;
	return bpf_call(BPF_MAP_FREEZE, &a) == 0; /* so its numbers are constants to the verifier */
}

uint64_t walker_kept_lost(const struct walker *w)
{
	AUTO_FREE char *value = mem_alloc(w->kept.bss_size);
	uint32_t key = 0;
	uint64_t lost = 0;

	if (bpf_map_get(w->kept.bss, &key, value) == 0)
		memcpy(&lost, value + w->kept.lost_at, sizeof(lost));
	return lost;
}
