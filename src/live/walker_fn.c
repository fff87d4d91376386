/* SPDX-License-Identifier: MIT */
/* The walk as code that other programs call (bpf/walk_fn.h). */
#include "config.h"
#if HAVE_WALKER

#	include "live/walker_priv.h"

#	include <bpf/libbpf.h>

#	include "walk.skel.h"

void walker_fn_configure(struct walker *w)
{
	struct bpf_program *p = w->bpf->progs.fn_program;

	bpf_program__set_autoload(p, w->o.function);
	w->fn_main =
		bpf_program__insn_cnt(p); /* its functions are put behind it when it is loaded */
	if (!w->o.function)
		return;
	bpf_map__set_max_entries(w->bpf->maps.off_stacks, 65536);
}

bool walker_function(const struct walker *w, struct walker_function *ret)
{
	const struct bpf_program *p = w->bpf->progs.fn_program;
	const struct bpf_insn *insn = bpf_program__insns(p);
	size_t n = bpf_program__insn_cnt(p);

	if (!w->o.function || n <= w->fn_main)
		return false;
	for (size_t i = 0; i < w->fn_main; i++)
		if (insn[i].code == (BPF_JMP | BPF_CALL) && insn[i].src_reg == BPF_PSEUDO_CALL) {
			*ret = (struct walker_function){ .insn = insn + w->fn_main,
							 .n = n - w->fn_main,
							 .entry = i + 1 + (size_t)insn[i].imm -
								  w->fn_main };
			return true;
		}
	return false;
}

#else

#	include "live/walker.h"

bool walker_function(const struct walker *w, struct walker_function *ret)
{
	(void)w, (void)ret;
	return false;
}

#endif
