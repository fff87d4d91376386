/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/str.h"
#include "base/vec.h"
#include "event/waker.h"
#include "store/text/own.h"
#include "store/text/script_text.h"

struct unscript {
	const char *name;
	struct own *own;
	VEC(uint32_t) ids;
	size_t n_types;
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
static bool unscript_is_kernel(const char *file, uint64_t addr)
{
	const char *ko = strstr(file, ".ko");

	return str_starts(file, "[kernel") || str_starts(file, "[guest.kernel") ||
	       str_ends(file, "vmlinux") || (ko && (!ko[3] || ko[3] == '.')) ||
	       (addr >> 63 && strcmp(file, "[vsyscall]") != 0);
}

/* outer: the function it is inlined into; itself when it is not. */
static uint32_t unscript_frame(struct unscript *u, const struct script_frame *from,
			       const struct script_frame *outer)
{
	struct own_frame f = { .module = from->file, .home = outer->file };
	AUTO_FREE char *file = mem_strndup(outer->file.s ? outer->file.s : "", outer->file.n);
	char hex[32];

	f.kernel = outer->name.s && unscript_is_kernel(file, outer->addr);

	if (from->name.s) {
		f.name = from->name;
		f.kind = from->inlined				? TRACE_FRAME_INLINED
			 : f.kernel				? TRACE_FRAME_KERNEL
			 : unscript_is_jit(str_base_name(file)) ? TRACE_FRAME_JIT
								: TRACE_FRAME_USER;
	} else {
		f.name.n = (size_t)snprintf(hex, sizeof(hex), "0x%llx",
					    (unsigned long long)from->addr);
		f.name.s = hex;
		f.kind = TRACE_FRAME_UNNAMED;
		f.is_addr = true;
		f.addr = from->addr;
	}
	return own_frame(u->own, &f);
}

static uint32_t unscript_type(struct unscript *u, const struct script_sample *s)
{
	uint32_t type = s->event.s ? own_type(u->own, s->event.s, s->event.n)
				   : own_type(u->own, "samples", 7);
	struct event_type *t = own_type_at(u->own, type);

	if (type < u->n_types)
		return type;
	u->n_types++;
	if (s->tracepoint) {
		const char *colon = strchr(t->name, ':');

		t->event = colon + 1;
		t->system = arena_strndup(own_arena(u->own), t->name, (size_t)(colon - t->name));
	}
	if (!s->counted && !s->tracepoint)
		t->unit = "samples";
	else if (waker_is_event(t->name))
		t->unit = "ns";
	return type;
}

/* The earliest sample's event is shown first; one of waiting only where there is no other. */
static void unscript_first(struct unscript *u, const struct script_sample *s, uint32_t type)
{
	bool waits = waker_is_event(own_type_at(u->own, type)->name);

	if (u->any && (waits == u->waits ? s->time >= u->first : waits))
		return;
	own_about(u->own)->first_type = type;
	u->first = s->time;
	u->waits = waits;
	u->any = true;
}

static int unscript_sample(void *ctx, const struct script_sample *s, struct err *e)
{
	struct unscript *u = ctx;
	struct own_sample is = { .pid = s->pid,
				 .tid = s->tid,
				 .cpu = s->cpu,
				 .comm = s->comm,
				 .timed = s->timed,
				 .time = s->time,
				 .count = 1 };
	int r;

	is.weight = s->counted && s->period ? s->period : 1;
	if (__builtin_add_overflow(u->total, (int64_t)is.weight, &u->total))
		return text_refuse(e, ERANGE, u->name, s->line,
				   "the sum of the counts is too large");
	is.type = unscript_type(u, s);
	unscript_first(u, s, is.type);
	u->ids.n = 0;
	for (size_t i = 0, outer = 0; i < s->n; i++) {
		for (outer = outer < i ? i : outer; outer + 1 < s->n && s->frame[outer].inlined;)
			outer++;
		vec_push(&u->ids, unscript_frame(u, &s->frame[i], &s->frame[outer]));
	}
	r = own_sample(u->own, u->ids.data, u->ids.n, &is);
	return r < 0 ? text_refuse(e, -r, u->name, s->line, "more frames than kymo can hold") : 0;
}

int script_text_source(const char *name, const char *data, size_t n, struct source **ret,
		       struct err *e)
{
	struct unscript u = { .name = name, .own = own_new("script text") };
	int r = script_text_read(name, data, n, unscript_sample, &u, e);

	vec_free(&u.ids);
	if (r < 0) {
		own_free(u.own);
		return r;
	}
	if (!u.n_types)
		own_type_at(u.own, own_type(u.own, "samples", 7))->unit = "samples";
	*ret = own_source(u.own);
	return 0;
}
