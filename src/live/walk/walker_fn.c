/* SPDX-License-Identifier: MIT */
/*
 * The walk as code that other programs call (bpf/walk_fn.h). libbpf makes the program around it
 * complete, as if to load it; what is loaded does nothing, because the code is verified as a part
 * of the programs that call it.
 */
#include "live/walk/walker_priv.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <string.h>

#include "kern/bpf_insn.h"
#include "walk.skel.h"

#define SECTION "kymo_fn"

/* The walker whose object is being loaded: one at a time in a thread. */
static __thread struct walker *loading;

/* What a function takes, as its type says. */
static void signature(const struct btf *b, const struct bpf_func_info *info, struct lang_sub *s)
{
	const struct btf_type *t = btf__type_by_id(b, info->type_id), *proto;
	const struct btf_param *p;

	if (!t || !btf_is_func(t))
		return;
	s->global = btf_vlen(t) == BTF_FUNC_GLOBAL;
	proto = btf__type_by_id(b, t->type);
	if (!proto || !btf_is_func_proto(proto) || btf_vlen(proto) > LANG_SUB_ARGS) {
		s->global = false;
		return;
	}
	p = btf_params(proto);
	for (s->n = 0; s->n < btf_vlen(proto); s->n++) {
		int id = btf__resolve_type(b, p[s->n].type);
		const struct btf_type *a = id < 0 ? NULL : btf__type_by_id(b, (uint32_t)id);
		long long size = 0;

		if (a && btf_is_ptr(a)) {
			size = a->type ? btf__resolve_size(b, a->type) : 0;
			size = size > 8 ? size : 0;
		} else if (a) {
			size = a->size;
		}
		if (size <= 0)
			s->global = false;
		s->arg[s->n] = size > 0 ? (uint32_t)size : 8;
	}
}

static int by_place(const void *a, const void *b)
{
	uint32_t x = ((const struct lang_sub *)a)->at, y = ((const struct lang_sub *)b)->at;

	return x < y ? -1 : x > y;
}

static struct bpf_program *program(const struct walker *w, enum walker_which which)
{
	return which == WALKER_EARLY ? w->bpf->progs.fn_early_program : w->bpf->progs.fn_program;
}

/* All is in its place: keep it, and let the kernel have a program that does nothing. */
static int walk_walker_fn_prepare(struct bpf_program *p, struct bpf_prog_load_opts *o, long cookie)
{
	static struct bpf_insn nothing[] = { INSN_MOV_K(0, 0), INSN_EXIT };
	const struct bpf_func_info *info = o->func_info;
	struct walker *w = loading;
	struct walker_code *c;

	if (!w)
		return -EINVAL;
	c = &w->code[p == program(w, WALKER_EARLY) ? WALKER_EARLY : WALKER_WHOLE];
	c->n = bpf_program__insn_cnt(p);
	c->insn = mem_dup(bpf_program__insns(p), c->n * sizeof(*c->insn));
	for (uint32_t i = 0; i < o->func_info_cnt && o->func_info_rec_size == sizeof(*info); i++) {
		struct lang_sub s = { .at = info[i].insn_off - (uint32_t)c->main };

		if (info[i].insn_off < c->main)
			continue;
		signature(bpf_object__btf(w->bpf->obj), &info[i], &s);
		vec_push(&c->subs, s);
	}
	if (c->subs.n)
		qsort(c->subs.data, c->subs.n, sizeof(*c->subs.data), by_place);
	o->func_info_cnt = o->line_info_cnt = 0;
	return bpf_program__set_insns(p, nothing, ARRAY_SIZE(nothing));
}

static void register_section(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, o, .prog_prepare_load_fn = walk_walker_fn_prepare);

	libbpf_register_prog_handler(SECTION, BPF_PROG_TYPE_RAW_TRACEPOINT, 0, &o);
}

void walker_fn_prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_section);
}

void walker_fn_configure(struct walker *w)
{
	struct walk_bpf *b = w->bpf;
	struct bpf_map *others[] = { b->maps.off_targets, b->maps.off_waits, b->maps.off_sums0,
				     b->maps.off_sums1, b->maps.off_cgroups };

	for (int i = 0; i < WALKER_CODES; i++) {
		bpf_program__set_autoload(program(w, i), w->o.function);
		/* its functions are put behind it when it is loaded */
		w->code[i].main = bpf_program__insn_cnt(program(w, i));
	}
	if (!w->o.function)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		bpf_map__set_autocreate(others[i], false);
	bpf_map__set_max_entries(b->maps.off_stacks, 8192);
	bpf_map__set_map_flags(b->maps.off_stacks, BPF_F_NO_PREALLOC);
	loading = w;
}

void walker_fn_free(struct walker *w)
{
	for (int i = 0; i < WALKER_CODES; i++) {
		free(w->code[i].insn);
		vec_free(&w->code[i].subs);
	}
}

uint64_t walker_fn_object(void)
{
	uint32_t version = libbpf_major_version() << 16 | libbpf_minor_version();
	size_t n;
	const void *bytes = walk_bpf__elf_bytes(&n);

	return map_hash_bytes(bytes, n) + version;
}

static int walker_fn_place_of(struct walker_fn_image *k, const struct walker *w, int fd)
{
	struct bpf_map *m;
	uint32_t i = 0;

	bpf_object__for_each_map(m, w->bpf->obj)
	{
		const char *name = bpf_map__name(m);

		if (bpf_map__fd(m) != fd || !bpf_map__autocreate(m))
			continue;
		if (bpf_map__is_internal(m)) /* theirs have the object's name in front */
			name = strchr(name, '.');
		while (i < k->n_maps && name && strcmp(k->map[i].name, name) != 0)
			i++;
		if (!name || i == WALKER_KEPT_MAPS || strlen(name) >= sizeof(k->map[i].name))
			return -1;
		if (i == k->n_maps) {
			k->n_maps++;
			k->map[i] = (struct walker_kept_map){ .type = bpf_map__type(m),
							      .key = bpf_map__key_size(m),
							      .value = bpf_map__value_size(m),
							      .entries = bpf_map__max_entries(m),
							      .flags = bpf_map__map_flags(m) };
			memcpy(k->map[i].name, name, strlen(name));
		}
		return (int)i;
	}
	return -1;
}

/* Maps by their place in the list instead of descriptors; false: that cannot be done. */
static bool unbind(struct walker_fn_image *k, const struct walker *w, struct bpf_insn *insn,
		   size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (insn[i].code != (BPF_LD | BPF_DW | BPF_IMM))
			continue;
		if (insn[i].src_reg == BPF_PSEUDO_MAP_FD ||
		    insn[i].src_reg == BPF_PSEUDO_MAP_VALUE) {
			insn[i].imm = walker_fn_place_of(k, w, insn[i].imm);
			if (insn[i].imm < 0)
				return false;
		} else if (insn[i].src_reg && insn[i].src_reg != BPF_PSEUDO_FUNC) {
			return false; /* the kernel's types, by a number of theirs */
		}
		i++;
	}
	return true;
}

void walker_fn_keep(const struct walker *w)
{
	struct walker_fn_image k = { .object = walker_fn_object(),
				     .config_at = offsetof(struct walk_bpf__rodata, config),
				     .lost_at = offsetof(struct walk_bpf__bss, lost) };
	struct bpf_insn *insn[WALKER_CODES];
	bool good = true;

	_Static_assert(sizeof(struct walk_bpf__rodata) == sizeof(struct walk_config),
		       "nothing else is to be kept of it");
	for (int i = 0; i < WALKER_CODES; i++) {
		const struct walker_code *c = &w->code[i];

		insn[i] = mem_dup(c->insn, c->n * sizeof(*c->insn));
		k.insn[i] = insn[i];
		good = good && unbind(&k, w, insn[i], c->n);
	}
	if (good)
		walker_kept_write(w, &k);
	for (int i = 0; i < WALKER_CODES; i++)
		free(insn[i]);
}

bool walker_function(const struct walker *w, enum walker_which which, struct walker_function *ret)
{
	const struct walker_code *c = &w->code[which];

	if (!w->o.function || c->n <= c->main)
		return false;
	for (size_t i = 0; i < c->main; i++)
		if (c->insn[i].code == (BPF_JMP | BPF_CALL) &&
		    c->insn[i].src_reg == BPF_PSEUDO_CALL) {
			*ret = (struct walker_function){ .insn = c->insn + c->main,
							 .n = c->n - c->main,
							 .entry = i + 1 + (size_t)c->insn[i].imm -
								  c->main,
							 .sub = c->subs.data,
							 .n_subs = c->subs.n };
			return true;
		}
	return false;
}
