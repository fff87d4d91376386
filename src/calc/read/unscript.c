/* SPDX-License-Identifier: MIT */
#include "calc/read/unscript.h"

#include <string.h>

#include "base/str.h"
#include "calc/profile/stacks.h"
#include "event/waker.h"

struct unscript {
	const char *name;
	const struct unscript_opts *o;
	struct stacks *out;
	struct unscript_info *info;
	struct map types; /* name's id -> type + 1 */
	VEC(uint32_t) ids;
	int64_t total;
	bool any, waits; /* a first type is known; it is of waiting */
	uint64_t first;	 /* the time of its sample */
};

static bool unscript_is_jit(const char *base)
{
	return str_starts(base, "[JIT]") || str_starts(base, "jitted-") ||
	       (str_starts(base, "perf-") && str_ends(base, ".map"));
}

/* Addresses of user code may be those in the file, but the kernel's are what they are. */
static bool is_kernel(const char *file, uint64_t addr)
{
	const char *ko = strstr(file, ".ko");

	return str_starts(file, "[kernel") || str_starts(file, "[guest.kernel") ||
	       str_ends(file, "vmlinux") || (ko && (!ko[3] || ko[3] == '.')) ||
	       (addr >> 63 && strcmp(file, "[vsyscall]") != 0);
}

static uint32_t unscript_add_frame(struct unscript *u, const struct script_frame *from)
{
	struct strtab *t = &u->out->strings;
	struct frame f = { .module = STRTAB_NONE, .file = STRTAB_NONE };
	const char *file = "";
	char hex[32];

	if (from->file.s) {
		f.module = strtab_addn(t, from->file.s, from->file.n);
		file = strtab_get(t, f.module);
	}
	if (from->name.s) {
		f.name = strtab_addn(t, from->name.s, from->name.n);
		f.kind = from->inlined				? FRAME_INLINED
			 : is_kernel(file, from->addr)		? FRAME_KERNEL
			 : unscript_is_jit(str_base_name(file)) ? FRAME_JIT
								: FRAME_USER;
	} else {
		snprintf(hex, sizeof(hex), "0x%llx",
			 u->o->merge_unknown ? 0 : (unsigned long long)from->addr);
		f.name = strtab_add(t, hex);
		f.kind = FRAME_UNKNOWN;
	}
	return stacks_frame(u->out, &f);
}

static uint32_t unscript_type_of(struct unscript *u, const struct script_sample *s)
{
	struct strtab *t = &u->out->strings;
	uint32_t name =
		s->event.s ? strtab_addn(t, s->event.s, s->event.n) : strtab_add(t, "samples");
	uint64_t *type = map_at(&u->types, name);

	if (!*type) {
		struct event_type is = { .name = strtab_get(t, name) };

		is.system = s->tracepoint ? is.name : NULL;
		is.unit = waker_is_event(is.name) ? "ns" : NULL;
		vec_push(&u->out->type_names, name);
		vec_push(&u->out->type_units,
			 profile_unit(t, &is, u->o->counts || !(s->counted || s->tracepoint)));
		*type = u->out->type_names.n;
	}
	return (uint32_t)(*type - 1);
}

static void note_time(struct unscript *u, const struct script_sample *s, uint32_t type)
{
	struct unscript_info *i = u->info;
	const char *name = strtab_get(&u->out->strings, u->out->type_names.data[type]);
	bool waits = waker_is_event(name);

	if (!u->any || (waits == u->waits ? s->time < u->first : !waits)) {
		i->first_type = type;
		u->first = s->time;
		u->waits = waits;
		u->any = true;
	}
	if (!s->timed)
		return;
	if (!i->last_time || s->time < i->first_time)
		i->first_time = s->time;
	if (s->time > i->last_time)
		i->last_time = s->time;
}

static int add_sample(void *ctx, const struct script_sample *s, struct err *e)
{
	struct unscript *u = ctx;
	struct stack_entry en = { .pid = s->pid, .tid = s->tid, .cpu = s->cpu, .count = 1 };

	u->ids.n = 0;
	for (size_t i = s->n; i-- > 0;)
		if (u->o->inlines || !s->frame[i].inlined)
			vec_push(&u->ids, unscript_add_frame(u, &s->frame[i]));
	en.stack = stacks_stack(u->out, u->ids.data, u->ids.n);
	if (en.stack == STRTAB_NONE)
		return err_set(e, EFBIG, "%s:%llu: more frames than kymo can hold", u->name,
			       (unsigned long long)s->line);
	en.type = unscript_type_of(u, s);
	en.comm = strtab_addn(&u->out->strings, s->comm.s, s->comm.n);
	en.time = u->o->times ? s->time : 0;
	en.weight = u->o->counts || !s->counted || !s->period ? 1 : (int64_t)s->period;
	if (__builtin_add_overflow(u->total, en.weight, &u->total))
		return err_set(e, ERANGE, "%s:%llu: the sum of the counts is too large", u->name,
			       (unsigned long long)s->line);
	note_time(u, s, en.type);
	stacks_add(u->out, &en);
	return 0;
}

int unscript_text(const char *name, const char *data, size_t n, const struct unscript_opts *o,
		  struct stacks *ret, struct unscript_info *info, struct err *e)
{
	struct unscript u = { .name = name, .o = o, .out = ret, .info = info };
	int r;

	*info = (struct unscript_info){ 0 };
	r = script_text_read(name, data, n, add_sample, &u, e);
	if (!ret->type_names.n)
		vec_push(&ret->type_names, strtab_add(&ret->strings, "samples"));
	ret->unit = "samples";
	map_free(&u.types);
	vec_free(&u.ids);
	return r;
}
