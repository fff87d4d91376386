/* SPDX-License-Identifier: MIT */
/*
 * From what is known of a system call (event/syscall/calls.h) to the steps in which
 * the kernel's half reads its arguments' memory.
 */
#include <string.h>

#include "base/map.h"
#include "base/vec.h"
#include "live/trace/tracer.h"

/* Structs that 32-bit programs see otherwise, where it is not "compat_" and the name. */
static const struct {
	const char *name, *name32;
} narrow[] = {
	{ "__kernel_timespec", "old_timespec32" },
	{ "__kernel_old_timeval", "old_timeval32" },
	{ "__kernel_itimerspec", "old_itimerspec32" },
	{ "__kernel_old_itimerval", "old_itimerval32" },
	{ "__kernel_timex", "old_timex32" },
	{ "long", "int" },
};

struct tracer_structs {
	const struct btf_types *types;
	struct strtab names;
	VEC(uint32_t) ids; /* by name */
};

static int add_struct(void *ctx, uint32_t id, const struct btf_type *t)
{
	struct tracer_structs *s = ctx;
	const char *name = btf_str(s->types, t->name_off);
	uint32_t at = *name ? strtab_add(&s->names, name) : STRTAB_NONE;

	if (at == STRTAB_NONE)
		return 0;
	if (at == s->ids.n)
		vec_push(&s->ids, id);
	else if (!BTF_INFO_VLEN(btf_type(s->types, s->ids.data[at])->info))
		s->ids.data[at] = id; /* the first one had no members */
	return 0;
}

struct tracer_structs *tracer_structs_new(const struct btf_types *types)
{
	struct tracer_structs *s = mem_alloc(sizeof(*s));

	s->types = types;
	btf_each(types, BTF_KIND_STRUCT, add_struct, s);
	return s;
}

void tracer_structs_free(struct tracer_structs *s)
{
	if (!s)
		return;
	strtab_free(&s->names);
	vec_free(&s->ids);
	free(s);
}

const struct btf_types *tracer_structs_types(const struct tracer_structs *s)
{
	return s ? s->types : NULL;
}

static uint32_t tracer_plan_find(const struct tracer_structs *s, const char *name)
{
	uint32_t at = strtab_find(&s->names, name);

	return at == STRTAB_NONE ? 0 : s->ids.data[at];
}

uint32_t tracer_struct(const struct tracer_structs *s, bool is32, const char *call,
		       const char *name)
{
	char compat[64];
	uint32_t id;

	if (!s || !*name)
		return 0;
	if (is32 && !str_ends(call, "64")) /* *_time64 calls have what 64-bit programs have */
		for (size_t i = 0; i < ARRAY_SIZE(narrow); i++)
			if (strcmp(name, narrow[i].name) == 0)
				name = narrow[i].name32;
	if (strcmp(name, "long_long") == 0)
		return btf_by_name(s->types, BTF_KIND_INT, "long long int");
	if (strcmp(name, "long") == 0)
		return btf_by_name(s->types, BTF_KIND_INT, "long int");
	if (strcmp(name, "int") == 0)
		return btf_by_name(s->types, BTF_KIND_INT, "int");
	if (is32) {
		snprintf(compat, sizeof(compat), "compat_%s", name);
		id = tracer_plan_find(s, compat);
		if (id)
			return id;
	}
	return tracer_plan_find(s, name);
}

static bool takes_struct(enum syscall_type t)
{
	return t == SYSCALL_STRUCT || t == SYSCALL_STRUCT_OUT || t == SYSCALL_STRUCT_IO ||
	       t == SYSCALL_STRUCT_LEFT || t == SYSCALL_ARRAY || t == SYSCALL_ARRAY_IO ||
	       t == SYSCALL_RESULTS;
}

static void tracer_plan_add(struct trace_plan *p, unsigned arg, enum trace_take take, int ref,
			    unsigned when, uint64_t size)
{
	if (p->n >= TRACE_STEPS || size > TRACE_STRING)
		return;
	p->step[p->n++] = (struct trace_step){ .arg = (uint8_t)arg,
					       .take = (uint8_t)take,
					       .ref = (uint8_t)(ref < 0 ? 0 : ref),
					       .when = (uint8_t)when,
					       .size = (uint32_t)size };
}

static void add_arg(struct trace_plan *p, unsigned i, const struct syscall_arg *a, uint64_t size)
{
	const unsigned in = TRACE_AT_ENTRY, out = TRACE_AT_EXIT;

	switch (a->type) {
	case SYSCALL_PATH: tracer_plan_add(p, i, TRACE_TAKE_STRING, -1, in, 0); break;
	case SYSCALL_BUF: tracer_plan_add(p, i, TRACE_TAKE_BUFFER, a->ref, in, 0); break;
	case SYSCALL_OUT: tracer_plan_add(p, i, TRACE_TAKE_BUFFER, a->ref, out, 0); break;
	case SYSCALL_ARGV: tracer_plan_add(p, i, TRACE_TAKE_STRINGS, -1, in, 0); break;
	case SYSCALL_ADDR: tracer_plan_add(p, i, TRACE_TAKE_ARRAY, a->ref, in, 1); break;
	case SYSCALL_ADDR_OUT: tracer_plan_add(p, i, TRACE_TAKE_POINTED, a->ref, out, 0); break;
	case SYSCALL_LENGTH: tracer_plan_add(p, i, TRACE_TAKE_MEMORY, -1, in | out, 4); break;
	case SYSCALL_INT_OUT: tracer_plan_add(p, i, TRACE_TAKE_MEMORY, -1, out, 4); break;
	case SYSCALL_IOV: tracer_plan_add(p, i, TRACE_TAKE_VECTORS, a->ref, in, 0); break;
	case SYSCALL_IOV_OUT: tracer_plan_add(p, i, TRACE_TAKE_VECTORS, a->ref, out, 0); break;
	case SYSCALL_MSG: tracer_plan_add(p, i, TRACE_TAKE_MESSAGE, -1, in, 0); break;
	case SYSCALL_MSG_OUT: tracer_plan_add(p, i, TRACE_TAKE_MESSAGE, -1, out, 0); break;
	case SYSCALL_SIGSET: tracer_plan_add(p, i, TRACE_TAKE_MEMORY, -1, in, 8); break;
	case SYSCALL_SIGSET_OUT:
	case SYSCALL_PAIR: tracer_plan_add(p, i, TRACE_TAKE_MEMORY, -1, out, 8); break;
	case SYSCALL_CPUS: tracer_plan_add(p, i, TRACE_TAKE_BUFFER, a->ref, in, 0); break;
	case SYSCALL_CPUS_OUT: tracer_plan_add(p, i, TRACE_TAKE_BUFFER, a->ref, out, 0); break;
	case SYSCALL_WORDS: tracer_plan_add(p, i, TRACE_TAKE_MEMORY, -1, in, 24); break;
	case SYSCALL_TIMES: tracer_plan_add(p, i, TRACE_TAKE_MEMORY, -1, in, 32); break;
	/* Numbers and pointers alike; what leads nowhere is not read. When it returns, what the
	 * call filled is there, and what it took still is. */
	case SYSCALL_PRCTL:
		tracer_plan_add(p, i, TRACE_TAKE_STRING, -1, out | TRACE_EVEN_FAILED, 0);
		break;
	case SYSCALL_FCNTL:
		tracer_plan_add(p, i, TRACE_TAKE_MEMORY, -1, out | TRACE_EVEN_FAILED, TRACE_FLOCK);
		break;
	case SYSCALL_IOCTL:
		tracer_plan_add(p, i, TRACE_TAKE_MEMORY, -1, out | TRACE_EVEN_FAILED, TRACE_IFREQ);
		break;
	case SYSCALL_FDSET: tracer_plan_add(p, i, TRACE_TAKE_MEMORY, -1, in | out, 128); break;
	default: break;
	}
	if (!size)
		return;
	switch (a->type) {
	case SYSCALL_STRUCT: tracer_plan_add(p, i, TRACE_TAKE_MEMORY, -1, in, size); break;
	case SYSCALL_STRUCT_OUT: tracer_plan_add(p, i, TRACE_TAKE_MEMORY, -1, out, size); break;
	case SYSCALL_STRUCT_LEFT:
	case SYSCALL_STRUCT_IO:
		tracer_plan_add(p, i, TRACE_TAKE_MEMORY, -1, out | TRACE_EVEN_FAILED, size);
		break;
	case SYSCALL_ARRAY: tracer_plan_add(p, i, TRACE_TAKE_ARRAY, a->ref, in, size); break;
	case SYSCALL_ARRAY_IO:
		tracer_plan_add(p, i, TRACE_TAKE_ARRAY, a->ref, out | TRACE_EVEN_FAILED, size);
		break;
	case SYSCALL_RESULTS: tracer_plan_add(p, i, TRACE_TAKE_RESULTS, -1, out, size); break;
	default: break;
	}
}

void tracer_plan(enum syscall_abi abi, int nr, const struct tracer_structs *structs, bool paths,
		 struct trace_plan *ret)
{
	const char *name = syscall_name(abi, nr);
	bool is32 = abi == syscall_compat();
	struct syscall_sig sig;

	*ret = (struct trace_plan){ 0 };
	if (!name)
		return;
	syscall_sig_of(abi, name, &sig);
	if (strcmp(name, "execve") == 0 || strcmp(name, "execveat") == 0)
		ret->flags |= TRACE_IS_EXEC;
	if (strcmp(name, "exit") == 0 || strcmp(name, "exit_group") == 0)
		ret->flags |= TRACE_NO_RETURN;
	for (unsigned i = 0; i < sig.n; i++) {
		const struct syscall_arg *a = &sig.arg[i];

		uint32_t type =
			takes_struct(a->type) ? tracer_struct(structs, is32, name, a->set) : 0;

		add_arg(ret, i, a, type ? btf_size(structs->types, type) : 0);
	}
	/* The names of files last: they are what is left out when there is no room. */
	for (unsigned i = 0; i < sig.n && paths; i++)
		if (sig.arg[i].type == SYSCALL_FD || sig.arg[i].type == SYSCALL_AT)
			tracer_plan_add(ret, i, TRACE_TAKE_FD, -1, TRACE_AT_ENTRY, 0);
		else if (sig.arg[i].type == SYSCALL_PAIR)
			tracer_plan_add(ret, i, TRACE_TAKE_FDS, -1, TRACE_AT_EXIT, 4);
		else if (strcmp(sig.arg[i].set, "pollfd") == 0)
			tracer_plan_add(ret, i, TRACE_TAKE_FDS, sig.arg[i].ref, TRACE_AT_ENTRY, 8);
	if (sig.ret == SYSCALL_FD && paths)
		tracer_plan_add(ret, 6, TRACE_TAKE_FD, -1, TRACE_AT_EXIT, 0);
}
