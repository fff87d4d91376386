/* SPDX-License-Identifier: MIT */
/* bpf(2) for what runs: maps, rings, links. */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kern/bpf.h"

int bpf_map_new(const struct bpf_map_kind *k)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.map_type = k->type;
	a.key_size = k->key;
	a.value_size = k->value;
	a.max_entries = k->entries;
	a.map_flags = k->flags;
	if (k->name)
		strncpy(a.map_name, k->name, sizeof(a.map_name) - 1);
	a.inner_map_fd = (uint32_t)k->inner;
	a.btf_fd = (uint32_t)k->btf;
	a.btf_key_type_id = k->key_type;
	a.btf_value_type_id = k->value_type;
	return bpf_call(BPF_MAP_CREATE, &a);
}

int bpf_btf_new(const void *data, uint32_t size)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.btf = (uintptr_t)data;
	a.btf_size = size;
	return bpf_call(BPF_BTF_LOAD, &a);
}

static int bpf_map_element(enum bpf_cmd cmd, int map, const void *key, const void *value)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.map_fd = (uint32_t)map;
	a.key = (uintptr_t)key;
	a.value = (uintptr_t)value; /* and next_key, which lies in its place */
	return bpf_call(cmd, &a);
}

int bpf_map_get(int map, const void *key, void *value)
{
	return bpf_map_element(BPF_MAP_LOOKUP_ELEM, map, key, value);
}

int bpf_map_set(int map, const void *key, const void *value)
{
	return bpf_map_element(BPF_MAP_UPDATE_ELEM, map, key, value);
}

int bpf_map_drop(int map, const void *key)
{
	return bpf_map_element(BPF_MAP_DELETE_ELEM, map, key, NULL);
}

int bpf_map_batch(int map, bool first, uint32_t *place, void *keys, void *values, uint32_t *n)
{
	union bpf_attr a;
	int r;

	memset(&a, 0, sizeof(a));
	a.batch.map_fd = (uint32_t)map;
	a.batch.in_batch = first ? 0 : (uintptr_t)place;
	a.batch.out_batch = (uintptr_t)place;
	a.batch.keys = (uintptr_t)keys;
	a.batch.values = (uintptr_t)values;
	a.batch.count = *n;
	r = bpf_call(BPF_MAP_LOOKUP_BATCH, &a);
	*n = r < 0 && r != -ENOENT ? 0 : a.batch.count;
	return r;
}

int bpf_map_next(int map, const void *key, void *next)
{
	return bpf_map_element(BPF_MAP_GET_NEXT_KEY, map, key, next);
}

int bpf_map_pinned(const char *path, uint32_t *key_size)
{
	struct bpf_map_info info = { 0 };
	union bpf_attr a;
	int fd;

	memset(&a, 0, sizeof(a));
	a.pathname = (uintptr_t)path;
	fd = bpf_call(BPF_OBJ_GET, &a);
	if (fd < 0)
		return fd;
	memset(&a, 0, sizeof(a));
	a.info.bpf_fd = (uint32_t)fd;
	a.info.info_len = sizeof(info);
	a.info.info = (uintptr_t)&info;
	bpf_call(BPF_OBJ_GET_INFO_BY_FD, &a);
	*key_size = info.key_size;
	return fd;
}

static bool prog_info(int prog, struct bpf_prog_info *info)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.info.bpf_fd = (uint32_t)prog;
	a.info.info_len = sizeof(*info);
	a.info.info = (uintptr_t)info;
	return bpf_call(BPF_OBJ_GET_INFO_BY_FD, &a) == 0;
}

uint64_t bpf_missed(int prog)
{
	struct bpf_prog_info info = { 0 };

	return prog_info(prog, &info) ? info.recursion_misses : 0;
}

bool bpf_about(int prog, struct bpf_about *ret)
{
	struct bpf_prog_info info = { 0 };

	if (!prog_info(prog, &info))
		return false;
	*ret = (struct bpf_about){ .id = info.id,
				   .machine_bytes = info.jited_prog_len,
				   .verified = info.verified_insns };
	return true;
}

size_t bpf_code(int prog, uint64_t *start, uint32_t *size, size_t max)
{
	struct bpf_prog_info info = { .nr_jited_ksyms = (uint32_t)max,
				      .jited_ksyms = (uintptr_t)start,
				      .nr_jited_func_lens = (uint32_t)max,
				      .jited_func_lens = (uintptr_t)size };
	size_t n;

	if (!prog_info(prog, &info))
		return 0;
	n = info.nr_jited_ksyms < info.nr_jited_func_lens ? info.nr_jited_ksyms
							  : info.nr_jited_func_lens;
	return n < max ? n : max;
}

int bpf_run(int prog)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.test.prog_fd = (uint32_t)prog;
	return bpf_call(BPF_PROG_TEST_RUN, &a);
}

int bpf_link(int prog, int target, enum bpf_attach_type type)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.link_create.prog_fd = (uint32_t)prog;
	a.link_create.target_fd = (uint32_t)target;
	a.link_create.attach_type = type;
	return bpf_call(BPF_LINK_CREATE, &a);
}

int bpf_link_uprobes(int prog, const char *path, const uint64_t *offset, const uint64_t *cookie,
		     uint32_t n, bool at_return, int32_t pid)
{
	struct { /* newer than the oldest headers this builds with */
		uint32_t prog, target, type, flags;
		uint64_t path, offsets, counters, cookies;
		uint32_t n, how, pid, path_fd;
	} a = { .prog = (uint32_t)prog,
		.type = BPF_UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)offset,
		.cookies = (uintptr_t)cookie,
		.n = n,
		.how = at_return,
		.pid = (uint32_t)pid };
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	memcpy(&attr, &a, sizeof(a));
	return bpf_call(BPF_LINK_CREATE, &attr);
}

int bpf_link_kprobes(int prog, const char *const *name, uint32_t n)
{
	struct { /* newer than the oldest headers this builds with */
		uint32_t prog, target, type, flags;
		uint32_t how, n;
		uint64_t names, addresses, cookies;
	} a = {
		.prog = (uint32_t)prog, .type = BPF_KPROBE_MULTI, .n = n, .names = (uintptr_t)name
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	memcpy(&attr, &a, sizeof(a));
	return bpf_call(BPF_LINK_CREATE, &attr);
}

int bpf_link_event(int prog, int event, uint64_t cookie)
{
	struct { /* newer than the oldest headers this builds with */
		uint32_t prog, target, type, flags;
		uint64_t cookie;
	} a = { .prog = (uint32_t)prog,
		.target = (uint32_t)event,
		.type = BPF_EVENT_LINK,
		.cookie = cookie };
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	memcpy(&attr, &a, sizeof(a));
	return bpf_call(BPF_LINK_CREATE, &attr);
}

int bpf_iter(int link)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.iter_create.link_fd = (uint32_t)link;
	return bpf_call(BPF_ITER_CREATE, &a);
}

int bpf_ring_open(struct bpf_ring *r, int map, uint32_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	r->size = size;
	r->consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
	if (r->consumer == MAP_FAILED) {
		r->consumer = NULL;
		return -errno;
	}
	/* The data is mapped twice in a row, so that no record is split. */
	r->producer = mmap(NULL, page + 2ull * size, PROT_READ, MAP_SHARED, map, (off_t)page);
	if (r->producer == MAP_FAILED) {
		int code = errno;

		munmap(r->consumer, page);
		*r = (struct bpf_ring){ 0 };
		return -code;
	}
	return 0;
}

void bpf_ring_close(struct bpf_ring *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!r->consumer)
		return;
	munmap(r->consumer, page);
	munmap(r->producer, page + 2ull * r->size);
	*r = (struct bpf_ring){ 0 };
}

int bpf_ring_drain(struct bpf_ring *r, bpf_ring_fn *fn, void *ctx)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const char *data = (const char *)r->producer + page;
	_Atomic unsigned long *tail = r->consumer;
	const _Atomic unsigned long *head = r->producer;
	unsigned long at = atomic_load_explicit(tail, memory_order_acquire);
	unsigned long end = atomic_load_explicit(head, memory_order_acquire);
	int n = 0;

	while (at < end) {
		const char *rec = data + (at & (r->size - 1));
		uint32_t len =
			atomic_load_explicit((const _Atomic uint32_t *)rec, memory_order_acquire);
		int stop = 0;

		if (len & BPF_RINGBUF_BUSY_BIT)
			break;
		at += ((len & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT)) +
		       BPF_RINGBUF_HDR_SZ + 7) &
		      ~7u;
		if (!(len & BPF_RINGBUF_DISCARD_BIT)) {
			stop = fn(ctx, rec + BPF_RINGBUF_HDR_SZ, len);
			n++;
		}
		atomic_store_explicit(tail, at, memory_order_release);
		if (stop)
			break;
	}
	return n;
}
