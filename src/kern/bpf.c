/* SPDX-License-Identifier: MIT */
#include "kern/bpf.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/mem.h"
#include "kern/bpf_insn.h"

/* attr may be less than a whole union: the kernel takes the rest for zero. */
static int bpf_call_part(enum bpf_cmd cmd, const void *attr, size_t size)
{
	long r = syscall(SYS_bpf, cmd, attr, size);

	return r < 0 ? -errno : (int)r;
}

int bpf_call(enum bpf_cmd cmd, union bpf_attr *attr)
{
	return bpf_call_part(cmd, attr, sizeof(*attr));
}

/* With fields set. All else is zero, padding included, or the kernel refuses what it does not know.
 */
#define BPF_WITH(cmd, ...)                        \
	({                                        \
		union bpf_attr a;                 \
		memset(&a, 0, sizeof(a));         \
		__VA_ARGS__, bpf_call((cmd), &a); \
	})

#define LOAD_TRIES 5

int bpf_load(const struct bpf_program *p)
{
	union bpf_attr a;
	int r, tries = 0;

	/* The kernel wants the bytes it does not know to be zero, padding included. */
	memset(&a, 0, sizeof(a));
	a.prog_type = p->type;
	a.expected_attach_type = p->attach;
	a.attach_btf_id = p->btf_id;
	a.insns = (uintptr_t)p->insns;
	a.insn_cnt = p->n;
	a.license = (uintptr_t) "Dual MIT/GPL";
	if (p->log && p->log_size) {
		p->log[0] = '\0';
		a.log_buf = (uintptr_t)p->log;
		a.log_size = p->log_size;
		a.log_level = p->log_level ? p->log_level : 1;
	}
	a.prog_flags = p->flags;
	if (p->name)
		strncpy(a.prog_name, p->name, sizeof(a.prog_name) - 1);
	if (p->btf_fd > 0) {
		a.prog_btf_fd = (uint32_t)p->btf_fd;
		a.func_info = (uintptr_t)p->func;
		a.func_info_cnt = p->n_func;
		a.func_info_rec_size = sizeof(*p->func);
		a.line_info = (uintptr_t)p->line;
		a.line_info_cnt = p->n_line;
		a.line_info_rec_size = sizeof(*p->line);
	}
	/* A signal ends the verifier's work, and it asks to be called again. */
	do
		r = bpf_call(BPF_PROG_LOAD, &a);
	while (r == -EAGAIN && ++tries < LOAD_TRIES);
	return r;
}

int bpf_load_empty(enum bpf_prog_type type, unsigned attach, uint32_t btf_id)
{
	const struct bpf_insn insns[] = { INSN_MOV_K(0, 0), INSN_EXIT };

	return bpf_load(&(struct bpf_program){ .type = type,
					       .attach = attach,
					       .btf_id = btf_id,
					       .insns = insns,
					       .n = ARRAY_SIZE(insns) });
}

int bpf_attach_raw(int prog, const char *name)
{
	return BPF_WITH(BPF_RAW_TRACEPOINT_OPEN, a.raw_tracepoint.prog_fd = (uint32_t)prog,
			a.raw_tracepoint.name = (uintptr_t)name);
}

/* Without arguments the verifier always refuses the call; its complaint tells whether it knew
 * the helper. */
int bpf_try_helper(enum bpf_prog_type type, int helper)
{
	return bpf_try_helper_at(type, 0, 0, helper);
}

int bpf_try_helper_at(enum bpf_prog_type type, unsigned attach, uint32_t btf_id, int helper)
{
	const struct bpf_insn insns[] = { INSN_CALL(helper), INSN_MOV_K(0, 0), INSN_EXIT };
	char log[4096];
	int fd = bpf_load(&(struct bpf_program){ .type = type,
						 .attach = attach,
						 .btf_id = btf_id,
						 .insns = insns,
						 .n = ARRAY_SIZE(insns),
						 .log = log,
						 .log_size = sizeof(log) });

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (!log[0])
		return fd;
	return strstr(log, "unknown func") || strstr(log, "invalid func") ||
			       strstr(log, "cannot use helper")
		       ? -ENOENT
		       : 0;
}

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
	return BPF_WITH(BPF_BTF_LOAD, a.btf = (uintptr_t)data, a.btf_size = size);
}

static int bpf_map_element(enum bpf_cmd cmd, int map, const void *key, const void *value)
{
	/* next_key lies in the value's place */
	return BPF_WITH(cmd, a.map_fd = (uint32_t)map, a.key = (uintptr_t)key,
			a.value = (uintptr_t)value);
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
	__typeof__(((union bpf_attr *)0)->batch) a = { .map_fd = (uint32_t)map,
						       .in_batch = first ? 0 : (uintptr_t)place,
						       .out_batch = (uintptr_t)place,
						       .keys = (uintptr_t)keys,
						       .values = (uintptr_t)values,
						       .count = *n };
	int r = bpf_call_part(BPF_MAP_LOOKUP_BATCH, &a, sizeof(a));

	*n = r < 0 && r != -ENOENT ? 0 : a.count;
	return r;
}

int bpf_map_next(int map, const void *key, void *next)
{
	return bpf_map_element(BPF_MAP_GET_NEXT_KEY, map, key, next);
}

static bool bpf_info(int fd, void *info, uint32_t size)
{
	return BPF_WITH(BPF_OBJ_GET_INFO_BY_FD, a.info.bpf_fd = (uint32_t)fd,
			a.info.info_len = size, a.info.info = (uintptr_t)info) == 0;
}

int bpf_map_pinned(const char *path, uint32_t *key_size)
{
	struct bpf_map_info info = { 0 };
	int fd = BPF_WITH(BPF_OBJ_GET, a.pathname = (uintptr_t)path);

	if (fd >= 0 && bpf_info(fd, &info, sizeof(info)))
		*key_size = info.key_size;
	return fd;
}

uint64_t bpf_missed(int prog)
{
	struct bpf_prog_info info = { 0 };

	return bpf_info(prog, &info, sizeof(info)) ? info.recursion_misses : 0;
}

bool bpf_about(int prog, struct bpf_about *ret)
{
	struct bpf_prog_info info = { 0 };

	if (!bpf_info(prog, &info, sizeof(info)))
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

	if (!bpf_info(prog, &info, sizeof(info)))
		return 0;
	n = info.nr_jited_ksyms < info.nr_jited_func_lens ? info.nr_jited_ksyms
							  : info.nr_jited_func_lens;
	return n < max ? n : max;
}

int bpf_run(int prog)
{
	return BPF_WITH(BPF_PROG_TEST_RUN, a.test.prog_fd = (uint32_t)prog);
}

int bpf_link(int prog, int target, enum bpf_attach_type type)
{
	return BPF_WITH(BPF_LINK_CREATE, a.link_create.prog_fd = (uint32_t)prog,
			a.link_create.target_fd = (uint32_t)target,
			a.link_create.attach_type = type);
}

/* What links to many places and to events are made with is newer than the oldest headers. */
int bpf_link_uprobes(int prog, const char *path, const uint64_t *offset, const uint64_t *cookie,
		     uint32_t n, bool at_return, int32_t pid)
{
	struct {
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

	return bpf_call_part(BPF_LINK_CREATE, &a, sizeof(a));
}

int bpf_link_kprobes(int prog, const char *const *name, uint32_t n)
{
	struct {
		uint32_t prog, target, type, flags;
		uint32_t how, n;
		uint64_t names, addresses, cookies;
	} a = {
		.prog = (uint32_t)prog, .type = BPF_KPROBE_MULTI, .n = n, .names = (uintptr_t)name
	};

	return bpf_call_part(BPF_LINK_CREATE, &a, sizeof(a));
}

int bpf_link_event(int prog, int event, uint64_t cookie)
{
	struct {
		uint32_t prog, target, type, flags;
		uint64_t cookie;
	} a = { .prog = (uint32_t)prog,
		.target = (uint32_t)event,
		.type = BPF_EVENT_LINK,
		.cookie = cookie };

	return bpf_call_part(BPF_LINK_CREATE, &a, sizeof(a));
}

int bpf_iter(int link)
{
	return BPF_WITH(BPF_ITER_CREATE, a.iter_create.link_fd = (uint32_t)link);
}

int bpf_ring_open(struct bpf_ring *r, int map, uint32_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	r->size = size;
	r->consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
	/* The data is mapped twice in a row, so that no record is split. */
	r->producer = r->consumer == MAP_FAILED ? MAP_FAILED
						: mmap(NULL, page + 2ull * size, PROT_READ,
						       MAP_SHARED, map, (off_t)page);
	if (r->producer == MAP_FAILED) {
		int code = errno;

		if (r->consumer != MAP_FAILED)
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
