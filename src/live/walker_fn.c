/* SPDX-License-Identifier: MIT */
/*
 * The walk as code that other programs call (bpf/walk_fn.h).
 *
 * libbpf makes the program around it complete, as if to load it; what is loaded in its
 * place does nothing, because the code is verified as a part of the programs that call it.
 */
#include "config.h"
#if HAVE_WALKER

#	include "live/walker_priv.h"

#	include <bpf/bpf.h>
#	include <bpf/btf.h>
#	include <bpf/libbpf.h>

#	include "walk.skel.h"

#	define SECTION "kymo_fn"

/* The walker whose object is being loaded: one at a time in a thread. */
static __thread struct walker *loading;

/* What a function takes, as its type says. */
static void signature(const struct btf *b, const struct bpf_func_info *info, struct walker_sub *s)
{
	const struct btf_type *t = btf__type_by_id(b, info->type_id), *proto;
	const struct btf_param *p;

	if (!t || !btf_is_func(t))
		return;
	s->global = btf_vlen(t) == BTF_FUNC_GLOBAL;
	proto = btf__type_by_id(b, t->type);
	if (!proto || !btf_is_func_proto(proto) || btf_vlen(proto) > WALKER_ARGS_MAX) {
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
	uint32_t x = ((const struct walker_sub *)a)->at, y = ((const struct walker_sub *)b)->at;

	return x < y ? -1 : x > y;
}

/* All is in its place: keep it, and let the kernel have a program that does nothing. */
static int prepare(struct bpf_program *p, struct bpf_prog_load_opts *o, long cookie)
{
	static struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	const struct bpf_func_info *info = o->func_info;
	struct walker *w = loading;

	(void)cookie;
	if (!w)
		return -EINVAL;
	w->fn_n = bpf_program__insn_cnt(p);
	w->fn_insn = mem_dup(bpf_program__insns(p), w->fn_n * sizeof(*w->fn_insn));
	for (uint32_t i = 0; i < o->func_info_cnt && o->func_info_rec_size == sizeof(*info); i++) {
		struct walker_sub s = { .at = info[i].insn_off - (uint32_t)w->fn_main };

		if (info[i].insn_off < w->fn_main)
			continue;
		signature(bpf_object__btf(w->bpf->obj), &info[i], &s);
		vec_push(&w->fn_subs, s);
	}
	if (w->fn_subs.n)
		qsort(w->fn_subs.data, w->fn_subs.n, sizeof(*w->fn_subs.data), by_place);
	o->func_info_cnt = o->line_info_cnt = 0;
	return bpf_program__set_insns(p, nothing, ARRAY_SIZE(nothing));
}

static void register_section(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, o, .prog_prepare_load_fn = prepare);

	libbpf_register_prog_handler(SECTION, BPF_PROG_TYPE_RAW_TRACEPOINT, 0, &o);
}

void walker_fn_prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_section);
}

void walker_fn_configure(struct walker *w)
{
	struct bpf_program *p = w->bpf->progs.fn_program;
	struct walk_bpf *b = w->bpf;
	struct bpf_map *others[] = { b->maps.off_targets, b->maps.off_waits, b->maps.off_sums0,
				     b->maps.off_sums1, b->maps.off_cgroups };

	bpf_program__set_autoload(p, w->o.function);
	w->fn_main =
		bpf_program__insn_cnt(p); /* its functions are put behind it when it is loaded */
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
	free(w->fn_insn);
	vec_free(&w->fn_subs);
}

bool walker_function(const struct walker *w, struct walker_function *ret)
{
	const struct bpf_insn *insn = w->fn_insn;

	if (!w->o.function || w->fn_n <= w->fn_main)
		return false;
	for (size_t i = 0; i < w->fn_main; i++)
		if (insn[i].code == (BPF_JMP | BPF_CALL) && insn[i].src_reg == BPF_PSEUDO_CALL) {
			*ret = (struct walker_function){ .insn = insn + w->fn_main,
							 .n = w->fn_n - w->fn_main,
							 .entry = i + 1 + (size_t)insn[i].imm -
								  w->fn_main,
							 .sub = w->fn_subs.data,
							 .n_subs = w->fn_subs.n };
			return true;
		}
	return false;
}
#endif
