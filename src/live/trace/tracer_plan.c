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

/*
 * What is read of an argument, when, and how much. What fcntl, ioctl and prctl take are numbers and
 * pointers alike; what leads nowhere is not read. When such a call returns, what it filled is
 * there, and what it took still is.
 */
#define OF_STRUCT UINT32_MAX
static const struct {
	uint8_t take, when; /* when 0: nothing */
	uint32_t size;
} steps[SYSCALL_TYPES] = {
#define IN TRACE_AT_ENTRY
#define OUT TRACE_AT_EXIT
#define LEFT (TRACE_AT_EXIT | TRACE_EVEN_FAILED)
	[SYSCALL_PATH] = { TRACE_TAKE_STRING, IN },
	[SYSCALL_BUF] = { TRACE_TAKE_BUFFER, IN },
	[SYSCALL_OUT] = { TRACE_TAKE_BUFFER, OUT },
	[SYSCALL_ARGV] = { TRACE_TAKE_STRINGS, IN },
	[SYSCALL_ADDR] = { TRACE_TAKE_ARRAY, IN, 1 },
	[SYSCALL_ADDR_OUT] = { TRACE_TAKE_POINTED, OUT },
	[SYSCALL_LENGTH] = { TRACE_TAKE_MEMORY, IN | OUT, 4 },
	[SYSCALL_INT_OUT] = { TRACE_TAKE_MEMORY, OUT, 4 },
	[SYSCALL_IOV] = { TRACE_TAKE_VECTORS, IN },
	[SYSCALL_IOV_OUT] = { TRACE_TAKE_VECTORS, OUT },
	[SYSCALL_MSG] = { TRACE_TAKE_MESSAGE, IN },
	[SYSCALL_MSG_OUT] = { TRACE_TAKE_MESSAGE, OUT },
	[SYSCALL_SIGSET] = { TRACE_TAKE_MEMORY, IN, 8 },
	[SYSCALL_SIGSET_OUT] = { TRACE_TAKE_MEMORY, OUT, 8 },
	[SYSCALL_PAIR] = { TRACE_TAKE_MEMORY, OUT, 8 },
	[SYSCALL_CPUS] = { TRACE_TAKE_BUFFER, IN },
	[SYSCALL_CPUS_OUT] = { TRACE_TAKE_BUFFER, OUT },
	[SYSCALL_WORDS] = { TRACE_TAKE_MEMORY, IN, 24 },
	[SYSCALL_TIMES] = { TRACE_TAKE_MEMORY, IN, 32 },
	[SYSCALL_PRCTL] = { TRACE_TAKE_STRING, LEFT },
	[SYSCALL_FCNTL] = { TRACE_TAKE_MEMORY, LEFT, TRACE_FLOCK },
	[SYSCALL_IOCTL] = { TRACE_TAKE_MEMORY, LEFT, TRACE_IFREQ },
	[SYSCALL_FDSET] = { TRACE_TAKE_MEMORY, IN | OUT, 128 },
	[SYSCALL_STRUCT] = { TRACE_TAKE_MEMORY, IN, OF_STRUCT },
	[SYSCALL_STRUCT_OUT] = { TRACE_TAKE_MEMORY, OUT, OF_STRUCT },
	[SYSCALL_STRUCT_LEFT] = { TRACE_TAKE_MEMORY, LEFT, OF_STRUCT },
	[SYSCALL_STRUCT_IO] = { TRACE_TAKE_MEMORY, LEFT, OF_STRUCT },
	[SYSCALL_ARRAY] = { TRACE_TAKE_ARRAY, IN, OF_STRUCT },
	[SYSCALL_ARRAY_IO] = { TRACE_TAKE_ARRAY, LEFT, OF_STRUCT },
	[SYSCALL_RESULTS] = { TRACE_TAKE_RESULTS, OUT, OF_STRUCT },
};

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

/* A struct that is not known is not read. */
static void tracer_plan_arg(struct trace_plan *p, unsigned i, const struct syscall_arg *a,
			    const struct tracer_structs *s, bool is32, const char *call)
{
	uint64_t size = steps[a->type].size;
	uint32_t type;

	if (size == OF_STRUCT) {
		type = tracer_struct(s, is32, call, a->set);
		size = type ? btf_size(s->types, type) : 0;
		if (!size)
			return;
	}
	if (steps[a->type].when)
		tracer_plan_add(p, i, steps[a->type].take, a->ref, steps[a->type].when, size);
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
	for (unsigned i = 0; i < sig.n; i++)
		tracer_plan_arg(ret, i, &sig.arg[i], structs, is32, name);
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
