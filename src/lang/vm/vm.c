/* SPDX-License-Identifier: MIT */
/*
 * Instructions come from our own compiler and are trusted: constant offsets, checked
 * indices. What comes from a recording is not: records are copied into a buffer
 * larger than any field may lie (lang/check/builtin.c), and helpers that read memory read
 * only from there and from the program's own.
 */
#include "lang/vm/vm.h"

#include <string.h>

#include "lang/gen/ir.h"
#include "lang/vm/map.h"

#define CTX_SIZE 65536u
#define STACK_SIZE 512u
#define DEPTH_MAX 8
#define STEPS_MAX 20000000u
#define MESSAGE_MAX 65536u

struct lang_vm {
	struct lang_program *p;
	struct lang_out *o;
	void *user;
	struct vm_map *map;
	uint8_t *ctx;
	size_t ctx_used;
	uint64_t message[MESSAGE_MAX / 8];
	uint64_t stack[DEPTH_MAX][STACK_SIZE / 8];
	const struct lang_code *code;
	const struct lang_vm_event *ev;
	uint64_t steps, max_steps;
	uint64_t random;
};

static int vm_execute(struct lang_vm *vm, uint32_t at, unsigned depth, const uint64_t arg[4],
		      uint64_t *ret);

static struct vm_map *map_at_ref(struct lang_vm *vm, uint64_t ref)
{
	return &vm->map[ref & 0xffff];
}

/* Memory that may be read by a helper: the record, the stack, and map values (scratch). */
static size_t vm_readable(const struct lang_vm *vm, uint64_t addr)
{
	const uint8_t *p = (const uint8_t *)(uintptr_t)addr;

	const struct {
		const void *start;
		size_t n;
	} parts[] = { { vm->ctx, vm->ctx_used },
		      { vm->stack, sizeof(vm->stack) },
		      { vm->message, sizeof(vm->message) } };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (addr - (uintptr_t)parts[i].start < parts[i].n)
			return parts[i].n - (addr - (uintptr_t)parts[i].start);
	return vm_map_readable(&vm->map[LANG_MAP_SCRATCH], p);
}

static uint64_t probe_read(struct lang_vm *vm, const uint64_t *r, bool text)
{
	void *to = (void *)(uintptr_t)r[1];
	uint64_t size = r[2];
	size_t have = vm_readable(vm, r[3]), n;

	if (!size)
		return 0;
	if (text) {
		n = have ? strnlen((const char *)(uintptr_t)r[3], have < size ? have : size) : 0;
		if (n >= size)
			n = size - 1;
		if (!have) {
			((char *)to)[0] = '\0';
			return (uint64_t)-EFAULT;
		}
		memmove(to, (const void *)(uintptr_t)r[3], n);
		((char *)to)[n] = '\0';
		return n + 1;
	}
	if (have < size) {
		memset(to, 0, size);
		return (uint64_t)-EFAULT;
	}
	memmove(to, (const void *)(uintptr_t)r[3], size);
	return 0;
}

/* The kernel's or the user's part of the recorded chain. */
static uint64_t get_stack(struct lang_vm *vm, const uint64_t *r)
{
	uint64_t *to = (uint64_t *)(uintptr_t)r[2], max = r[3] / 8, n = 0;
	bool user = r[4] & BPF_F_USER_STACK, in_user = false;

	for (uint32_t i = 0; i < vm->ev->chain_n && n < max; i++) {
		uint64_t a = vm->ev->chain[i];

		if (a >= EVENT_CHAIN_MARK) {
			in_user = a == EVENT_CHAIN_USER;
			continue;
		}
		if (in_user == user)
			to[n++] = a;
	}
	return n ? n * 8 : (uint64_t)-EFAULT;
}

struct each {
	struct lang_vm *vm;
	uint64_t ref, func, ctx;
	unsigned depth;
	int r;
	uint64_t n;
};

static int each_entry(void *arg, const void *key, const void *value)
{
	struct each *e = arg;
	uint64_t a[4] = { e->ref, (uintptr_t)key, (uintptr_t)value, e->ctx }, ret = 0;

	e->n++;
	e->r = vm_execute(e->vm, (uint32_t)e->func, e->depth + 1, a, &ret);
	return e->r < 0 || ret;
}

static int vm_loop(struct lang_vm *vm, const uint64_t *r, unsigned depth, uint64_t *ret)
{
	for (uint64_t i = 0; i < r[1] && i < 1u << 23; i++) {
		uint64_t a[4] = { i, r[3], 0, 0 }, stop = 0;
		int k = vm_execute(vm, (uint32_t)r[2], depth + 1, a, &stop);

		*ret = i + 1;
		if (k < 0)
			return k;
		if (stop)
			break;
	}
	return 0;
}

static int vm_helper(struct lang_vm *vm, int id, uint64_t *r, unsigned depth)
{
	uint64_t ret = 0;

	switch (id) {
	case BPF_FUNC_map_lookup_elem:
	case BPF_FUNC_map_lookup_percpu_elem:
		ret = (uintptr_t)vm_map_find(map_at_ref(vm, r[1]), (void *)(uintptr_t)r[2]);
		break;
	case BPF_FUNC_map_update_elem:
		ret = (uint64_t)(int64_t)vm_map_set(map_at_ref(vm, r[1]), (void *)(uintptr_t)r[2],
						    (void *)(uintptr_t)r[3], r[4]);
		break;
	case BPF_FUNC_map_delete_elem:
		ret = (uint64_t)(int64_t)vm_map_drop(map_at_ref(vm, r[1]), (void *)(uintptr_t)r[2]);
		break;
	case BPF_FUNC_probe_read:
	case BPF_FUNC_probe_read_kernel: ret = probe_read(vm, r, false); break;
	case BPF_FUNC_probe_read_str:
	case BPF_FUNC_probe_read_kernel_str: ret = probe_read(vm, r, true); break;
	case BPF_FUNC_probe_read_user:
		memset((void *)(uintptr_t)r[1], 0, r[2]);
		ret = (uint64_t)-EFAULT;
		break;
	case BPF_FUNC_probe_read_user_str: ret = (uint64_t)-EFAULT; break;
	case BPF_FUNC_ktime_get_ns:
	case BPF_FUNC_ktime_get_boot_ns:
	case BPF_FUNC_ktime_get_tai_ns: ret = vm->ev->time; break;
	case BPF_FUNC_get_current_pid_tgid:
		ret = (uint64_t)(uint32_t)vm->ev->pid << 32 | (uint32_t)vm->ev->tid;
		break;
	case BPF_FUNC_get_current_comm:
		memset((void *)(uintptr_t)r[1], 0, r[2]);
		if (vm->ev->comm)
			memcpy((void *)(uintptr_t)r[1], vm->ev->comm,
			       strnlen(vm->ev->comm, r[2] ? r[2] - 1 : 0));
		break;
	case BPF_FUNC_get_smp_processor_id: ret = vm->ev->cpu; break;
	case BPF_FUNC_get_prandom_u32:
		vm->random = vm->random * 6364136223846793005u + 1442695040888963407u;
		ret = vm->random >> 32;
		break;
	case BPF_FUNC_get_stack: ret = get_stack(vm, r); break;
	case BPF_FUNC_ringbuf_reserve:
		ret = r[2] <= sizeof(vm->message) ? (uintptr_t)vm->message : 0;
		break;
	case BPF_FUNC_ringbuf_submit: lang_message(vm->o, vm->message, sizeof(vm->message)); break;
	case BPF_FUNC_loop: return vm_loop(vm, r, depth, &r[0]);
	case BPF_FUNC_for_each_map_elem: {
		struct each e = { vm, r[1], r[2], r[3], depth, 0, 0 };

		vm_map_each(map_at_ref(vm, r[1]), each_entry, &e);
		r[0] = e.n;
		return e.r;
	}
	default: ret = 0; /* what recordings do not tell */
	}
	r[0] = ret;
	return 0;
}

static unsigned size_of(uint8_t code)
{
	switch (code & 0x18) {
	case BPF_B: return 1;
	case BPF_H: return 2;
	case BPF_W: return 4;
	default: return 8;
	}
}

static uint64_t vm_swapped(uint64_t v, int bits)
{
	return bits == 16   ? __builtin_bswap16((uint16_t)v)
	       : bits == 32 ? __builtin_bswap32((uint32_t)v)
			    : __builtin_bswap64(v);
}

static void vm_memory(const struct bpf_insn *i, uint64_t *r)
{
	unsigned size = size_of(i->code), class = i->code & 7;
	uint64_t v = 0;
	void *p = (void *)(uintptr_t)((class == BPF_LDX ? r[i->src_reg] : r[i->dst_reg]) +
				      (uint64_t)(int64_t)i->off);

	if (class == BPF_LDX) {
		memcpy(&v, p, size); /* little endian, as our targets are */
		r[i->dst_reg] = v;
	} else if ((i->code & 0xe0) == 0xc0 && class == BPF_STX) {
		memcpy(&v, p, 8);
		v += r[i->src_reg];
		memcpy(p, &v, 8);
	} else {
		v = class == BPF_ST ? (uint64_t)(int64_t)i->imm : r[i->src_reg];
		memcpy(p, &v, size);
	}
}

static int vm_execute(struct lang_vm *vm, uint32_t at, unsigned depth, const uint64_t arg[4],
		      uint64_t *ret)
{
	const struct bpf_insn *code = vm->code->insn;
	uint64_t r[11] = { 0 };

	if (depth >= DEPTH_MAX)
		return -ELOOP;
	memcpy(&r[1], arg, 4 * sizeof(*arg));
	r[10] = (uintptr_t)vm->stack[depth] + STACK_SIZE;
	for (;; at++) {
		const struct bpf_insn *i = &code[at];
		uint64_t b = i->code & BPF_X ? r[i->src_reg] : (uint64_t)(int64_t)i->imm;
		unsigned op = i->code & 0xf0;
		int k;

		if (at >= vm->code->n || ++vm->steps > vm->max_steps)
			return -ELOOP;
		switch (i->code & 7) {
		case BPF_LD:
			r[i->dst_reg] = i->src_reg == BPF_PSEUDO_FUNC
						? at + (uint32_t)i->imm + 1
						: (uint32_t)i->imm | (uint64_t)(uint32_t)i[1].imm
									     << 32;
			at++;
			break;
		case BPF_LDX:
		case BPF_ST:
		case BPF_STX: vm_memory(i, r); break;
		case BPF_ALU:
			r[i->dst_reg] = vm_swapped(r[i->dst_reg], i->imm);
			break; /* the only one we make */
		case BPF_ALU64: r[i->dst_reg] = ir_compute(op, r[i->dst_reg], b); break;
		default:
			if (op == BPF_EXIT) {
				*ret = r[0];
				return 0;
			}
			if (op == BPF_CALL) {
				k = vm_helper(vm, i->imm, r, depth);
				if (k < 0)
					return k;
			} else if (op == BPF_JA || (op != 0xe0 && ir_holds(op, r[i->dst_reg], b))) {
				at += (uint32_t)(int32_t)i->off;
			}
		}
	}
}

int lang_vm_run(struct lang_vm *vm, size_t code, const struct lang_vm_event *ev)
{
	uint64_t arg[4] = { (uintptr_t)vm->ctx, 0, 0, 0 }, ret;
	size_t n = ev->raw_size < CTX_SIZE / 2 ? ev->raw_size : CTX_SIZE / 2;

	vm->code = &vm->p->codes.data[code];
	vm->ev = ev;
	vm->steps = 0;
	if (ev->raw)
		memcpy(vm->ctx, ev->raw, n);
	else
		n = 0;
	if (n < vm->ctx_used)
		memset(vm->ctx + n, 0, vm->ctx_used - n);
	vm->ctx_used = n;
	return vm_execute(vm, 0, 0, arg, &ret);
}

int lang_vm_open(struct lang_program *p, struct lang_out *o, void *user, uint64_t max_steps,
		 struct lang_vm **ret, struct err *e)
{
	struct lang_vm *vm;

	if (p->maps.n > 0xffff)
		return err_set(e, E2BIG, "the program has too many maps");
	vm = mem_alloc(sizeof(*vm));
	vm->p = p;
	vm->o = o;
	vm->user = user;
	vm->max_steps = max_steps ? max_steps : STEPS_MAX;
	vm->random = 88172645463325252u;
	vm->ctx = mem_alloc(CTX_SIZE + 64);
	vm->map = mem_alloc((p->maps.n + 1) * sizeof(*vm->map));
	for (size_t i = 0; i < p->maps.n; i++)
		vm_map_init(&vm->map[i], &p->maps.data[i]);
	*ret = vm;
	return 0;
}

void lang_vm_close(struct lang_vm *vm)
{
	if (!vm)
		return;
	for (size_t i = 0; i < vm->p->maps.n; i++)
		vm_map_free(&vm->map[i]);
	free(vm->map);
	free(vm->ctx);
	free(vm);
}

static int host_each(void *ctx, int map, lang_entry_fn *fn, void *arg)
{
	vm_map_each(&((struct lang_vm *)ctx)->map[map], fn, arg);
	return 0;
}

static void host_clear(void *ctx, int map)
{
	vm_map_clear(&((struct lang_vm *)ctx)->map[map]);
}

static void host_zero(void *ctx, int map)
{
	vm_map_zero(&((struct lang_vm *)ctx)->map[map]);
}

static size_t host_stack(void *ctx, uint64_t id, uint64_t *addr, size_t max)
{
	struct lang_vm *vm = ctx;
	const uint64_t *v = id ? vm_map_find(&vm->map[LANG_MAP_STACKS], &id) : NULL;
	size_t n = v ? (size_t)v[0] : 0;

	n = n > max ? max : n;
	if (n)
		memcpy(addr, v + 1, n * 8);
	return n;
}

void lang_vm_host(struct lang_vm *vm, struct lang_host *h)
{
	h->ctx = vm;
	h->ncpus = 1;
	h->map_each = host_each;
	h->map_clear = host_clear;
	h->map_zero = host_zero;
	h->stack = host_stack;
}

void *lang_vm_user(const struct lang_vm *vm)
{
	return vm->user;
}

uint64_t lang_vm_counter(const struct lang_vm *vm, uint32_t which)
{
	uint64_t key = which;
	const uint64_t *v =
		which < vm->p->n_counters ? vm_map_find(&vm->map[LANG_MAP_COUNTERS], &key) : NULL;

	return v ? *v : 0;
}

void lang_vm_start(struct lang_vm *vm, uint64_t time)
{
	uint64_t key = LANG_INFO_START;

	vm_map_set(&vm->map[LANG_MAP_INFO], &key, &time, BPF_ANY);
}
