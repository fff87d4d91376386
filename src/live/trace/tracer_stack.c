/* SPDX-License-Identifier: MIT */
/*
 * Stacks of callers: the tracing programs walk them with the walker's code over the
 * walker's tables, and send them through its ring.
 */
#include "config.h"
#if HAVE_WALKER

#	include <bpf/bpf.h>
#	include <bpf/libbpf.h>
#	include <string.h>

#	include "event/trace_abi.h"
#	include "live/trace/tracer_priv.h"
#	include "live/walk/walker_priv.h"

#	include "trace.skel.h"
#	include "walk.skel.h"

#	define COPY_NS                                                                           \
		1 /* a stack that cannot be walked at once is always copied: calls are rarer than \
		     samples */

int tracer_stack_prepare(struct trace_bpf *b, const struct walker *w, struct err *e)
{
	struct bpf_map *map[] = { b->maps.procs, b->maps.maps,	b->maps.tables,
				  b->maps.slabs, b->maps.rules, b->maps.ring };
	int fd[] = { w ? w->procs_fd : -1,  w ? w->maps_fd : -1,
		     w ? w->tables_fd : -1, w ? w->slabs_fd : -1,
		     w ? w->rules_fd : -1,  w ? bpf_map__fd(w->bpf->maps.ring) : -1 };

	bpf_program__set_autoload(b->progs.leave, !w);
	bpf_program__set_autoload(b->progs.leave_stack, w != NULL);
	bpf_program__set_autoload(b->progs.happened, !w);
	bpf_program__set_autoload(b->progs.happened_stack, w != NULL);
	bpf_program__set_autoload(b->progs.faulted, !w);
	bpf_program__set_autoload(b->progs.faulted_stack, w != NULL);
	bpf_map__set_max_entries(b->maps.states, w ? (uint32_t)libbpf_num_possible_cpus() : 1);
	if (!w)
		bpf_map__set_autocreate(b->maps.states, false);
	for (size_t i = 0; i < ARRAY_SIZE(map); i++) {
		int r = w ? bpf_map__reuse_fd(map[i], fd[i])
			  : bpf_map__set_autocreate(map[i], false);

		if (r < 0)
			return err_set(e, -r, "cannot share the stack walker's tables: %s",
				       strerror(-r));
	}
	if (w) {
		struct walk_config *c = (struct walk_config *)&b->rodata->config;

		memcpy(c, (const void *)&w->bpf->rodata->config, sizeof(*c));
		c->kernel = 0;
		c->copy_ns = COPY_NS;
	}
	return 0;
}

#endif
