/* SPDX-License-Identifier: MIT */
#include "live/walk/walker.h"

#include "live/walk/walker_priv.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>

#include "sym/find/cache.h"
#include "walk.skel.h"

int walker_open(const struct walker_opts *o, struct walker **ret, struct err *e)
{
	struct walker *w = mem_alloc(sizeof(*w));
	int err;

	w->o = *o;
	w->first_slab = -1;
	walker_defaults(&w->o);
	w->cache = o->cache ? cache_open(o->cache_dir, NULL) : -1;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->wake, NULL);
	err = walker_load(w, e);
	if (!err)
		err = walker_slab_init(w, e);
	if (!err)
		walker_proc_init(w);
	if (!err)
		err = walker_file_init(w, e);
	if (!err)
		err = walker_ring_open(w, e);
	if (err) {
		walker_close(w);
		return err;
	}
	pthread_mutex_lock(&w->lock);
	/* Nearly every process has the C library and the loader: this one's are built at once. */
	walker_proc_scan(w, getpid(), getpid());
	if (o->all)
		walker_proc_scan_all(w);
	for (size_t i = 0; i < o->n_pids; i++)
		walker_proc_scan(w, o->pids[i], o->pids[i]);
	walker_proc_flush(w);
	pthread_mutex_unlock(&w->lock);
	if (w->o.function && w->bpf)
		walker_fn_keep(w);
	*ret = w;
	return 0;
}

void walker_close(struct walker *w)
{
	if (!w)
		return;
	attached_close(&w->attached);
	walker_copy_free(w); /* what still waits has files */
	walker_file_free(w);
	ring_buffer__free(w->ring);
	walker_proc_free(w);
	walker_slab_free(w);
	walk_bpf__destroy(w->bpf);
	walker_kept_close(w);
	walker_fn_free(w);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->wake);
	if (w->cache > 0)
		close(w->cache);
	free(w);
}

int walker_attach(struct walker *w, int perf_fd, uint64_t id, struct err *e)
{
	uint32_t event = 0;
	int r;

	while (event < w->n_events && w->event_id[event] != id)
		event++;
	if (event == w->o.events)
		return err_set(e, E2BIG, "the stack walker was opened for %u events", w->o.events);
	r = attached_event(&w->attached, bpf_program__fd(walker_program(w, event)), perf_fd, 0);
	if (r == -EPROTO) {
		err_set(e, EPROTO,
			"the stack walker cannot take a precise event without a call chain");
		return err_hint(e, "leave out the event's :p, or use --call-graph fp");
	}
	if (r < 0)
		return err_set(e, -r, "cannot attach the stack walker: %s", strerror(-r));
	if (event == w->n_events)
		w->event_id[w->n_events++] = id;
	return 0;
}

static uint64_t kernel_bytes(const struct walker *w)
{
	uint64_t n = (uint64_t)w->slabs.n * w->o.slab_bytes;
	struct bpf_map *m;

	bpf_object__for_each_map(m, w->bpf->obj)
	{
		uint64_t value = (bpf_map__value_size(m) + 7) & ~7u;

		if (bpf_map__type(m) == BPF_MAP_TYPE_HASH)
			value += 64; /* key and bookkeeping */
		n += bpf_map__type(m) == BPF_MAP_TYPE_RINGBUF ? bpf_map__max_entries(m)
							      : value * bpf_map__max_entries(m);
	}
	return n;
}

void walker_stats(const struct walker *w, struct walker_stats *ret)
{
	struct bpf_prog_info info = { 0 };
	__u32 size;

	pthread_mutex_lock((pthread_mutex_t *)&w->lock);
	*ret = w->stats;
	if (w->bpf) {
		ret->lost = w->bpf->bss->lost;
		ret->known_checked = w->bpf->bss->check_done;
		ret->known_wrong = w->bpf->bss->check_wrong;
		walker_off_stats(w, ret);
		ret->kernel_bytes = kernel_bytes(w);
	} else if (w->kept.object) {
		ret->lost = walker_kept_lost(w);
	}
	ret->table_bytes = w->slab_used * sizeof(struct walk_block);
	ret->table_bytes_max = w->o.table_bytes;
	ret->rules = w->n_rules;
	ret->slabs = w->slabs.n;
	ret->procs = w->n_live;
	ret->pending = w->n_pending;
	for (size_t i = 0; i < w->procs.n; i++)
		if (w->procs.data[i].pid && !w->procs.data[i].dead)
			ret->maps += w->procs.data[i].maps.n;
	pthread_mutex_unlock((pthread_mutex_t *)&w->lock);
	for (uint32_t i = 0; w->bpf && i < w->o.events; i++) {
		size = sizeof(info);
		info = (struct bpf_prog_info){ 0 };
		if (bpf_obj_get_info_by_fd(bpf_program__fd(walker_program(w, i)), &info, &size) < 0)
			continue;
		ret->run_count += info.run_cnt;
		ret->run_ns += info.run_time_ns;
		ret->verified_insns = info.verified_insns;
	}
}
