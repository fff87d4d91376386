/* SPDX-License-Identifier: MIT */
#include "live/probe/functime.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <inttypes.h>
#include <string.h>

#include "kern/bpf.h"
#include "kern/btf_types.h"
#include "live/attached.h"
#include "live/ourselves.h"
#include "time.skel.h"

struct functime {
	struct time_bpf *bpf;
	struct attached attached;
	struct btf_types *types; /* NULL: none */
	uint32_t func;
};

static int functime_load(struct functime *t, const struct functime_opts *o, struct err *e)
{
	uint8_t one = 1;
	int r;

	t->bpf->rodata->only_some = o->n_who > 0;
	t->bpf->rodata->by_process = o->by_process;
	t->bpf->rodata->own = (uint32_t)ourselves_pid();
	r = bpf_program__set_attach_target(t->bpf->progs.enter, 0, o->function);
	if (r == 0)
		r = bpf_program__set_attach_target(t->bpf->progs.leave, 0, o->function);
	if (r == 0)
		r = time_bpf__load(t->bpf);
	for (size_t i = 0; i < o->n_who && r == 0; i++) {
		uint32_t id = (uint32_t)o->who[i];

		r = bpf_map_update_elem(bpf_map__fd(t->bpf->maps.who), &id, &one, BPF_ANY);
	}
	/* The exit first: calls that are under way end without a beginning then, and are counted
	 * as such; the other way round their beginnings would stay for good. */
	if (r == 0)
		r = attached_raw(&t->attached, bpf_program__fd(t->bpf->progs.leave), NULL);
	if (r == 0)
		r = attached_raw(&t->attached, bpf_program__fd(t->bpf->progs.enter), NULL);
	return r ? err_set(e, -r, "the kernel takes no programs at %s: %s", o->function,
			   strerror(-r))
		 : 0;
}

int functime_open(const struct functime_opts *o, struct functime **ret, struct err *e)
{
	libbpf_print_fn_t before = libbpf_set_print(NULL);
	struct functime *t = mem_alloc(sizeof(*t));
	int r;

	t->bpf = time_bpf__open();
	r = t->bpf ? functime_load(t, o, e)
		   : err_set(e, errno, "cannot open the programs: %s", strerror(errno));
	libbpf_set_print(before);
	if (r < 0) {
		functime_close(t);
		return r;
	}
	if (btf_types_open(NULL, NULL, &t->types, NULL) < 0)
		t->types = NULL;
	t->func = t->types ? btf_by_name(t->types, BTF_KIND_FUNC, o->function) : 0;
	*ret = t;
	return 0;
}

int functime_read(const struct functime *t, struct functime_cpu **ret, size_t *n, struct err *e)
{
	int cpus = libbpf_num_possible_cpus(), r;
	struct functime_cpu *all;
	uint32_t zero = 0;

	if (cpus < 1)
		return err_set(e, EINVAL, "the number of CPUs is not known");
	_Static_assert(sizeof(*all) % 8 == 0, "as the kernel lays them out");
	all = mem_alloc((size_t)cpus * sizeof(*all));
	r = bpf_map_lookup_elem(bpf_map__fd(t->bpf->maps.sums), &zero, all);
	if (r < 0) {
		free(all);
		return err_set(e, -r, "cannot read what was summed up: %s", strerror(-r));
	}
	*ret = all;
	*n = (size_t)cpus;
	return 0;
}

uint64_t functime_missed(const struct functime *t)
{
	return bpf_missed(bpf_program__fd(t->bpf->progs.enter)) +
	       bpf_missed(bpf_program__fd(t->bpf->progs.leave));
}

static void functime_argument(const struct functime *t, uint32_t type, uint64_t v,
			      struct strbuf *out)
{
	uint64_t size = btf_size(t->types, type);
	unsigned unused = size && size < 8 ? 64 - (unsigned)size * 8 : 0;

	if (btf_is_signed(t->types, btf_strip(t->types, type)))
		strbuf_printf(out, "%" PRId64, (int64_t)(v << unused) >> unused);
	else
		strbuf_printf(out, "0x%" PRIx64, v << unused >> unused);
}

void functime_args(const struct functime *t, const struct functime_slow *s, struct strbuf *out)
{
	const struct btf_param *params = NULL;
	unsigned n = 0;

	if (t->func)
		params = btf_params(t->types, t->func, &n);
	for (uint32_t i = 0; i < s->n_args && i < FUNCTIME_ARGS; i++) {
		const char *name = i < n ? btf_str(t->types, params[i].name_off) : "";

		if (*name)
			strbuf_printf(out, " %s=", name);
		else
			strbuf_printf(out, " arg%u=", i + 1);
		if (i < n)
			functime_argument(t, params[i].type, s->args[i], out);
		else
			strbuf_printf(out, "0x%" PRIx64, (uint64_t)s->args[i]);
	}
}

void functime_close(struct functime *t)
{
	if (!t)
		return;
	attached_close(&t->attached);
	time_bpf__destroy(t->bpf);
	btf_types_free(t->types);
	free(t);
}
