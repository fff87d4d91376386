/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/vec.h"
#include "store/text/folded.h"
#include "store/text/own.h"

/* A frame's text that was met: its number + 1, in user code and inlined into the kernel's. */
struct unfold_known {
	uint32_t id[2];
	enum trace_frame_kind kind;
};

struct unfold {
	const char *name;
	struct own *own;
	struct strtab texts;
	VEC(struct unfold_known) known;
	const struct folded_info *info;
	VEC(uint32_t) ids;
	int64_t total[2];
};

static bool unfold_is_address(const char *s, size_t n)
{
	if (n < 3 || s[0] != '0' || s[1] != 'x')
		return false;
	for (size_t i = 2; i < n; i++)
		if (!strchr("0123456789abcdefABCDEF", s[i]) || !s[i])
			return false;
	return true;
}

/* kernel: of the frame it was inlined into, if it was; set for the next. */
static uint32_t unfold_frame(struct unfold *u, const struct text_part *name, bool *kernel)
{
	uint32_t at =
		name->n ? strtab_addn(&u->texts, name->s, name->n) : strtab_add(&u->texts, "");
	struct unfold_known *k;
	struct own_frame f = { .kind = TRACE_FRAME_USER };
	const char *t = name->s;
	size_t n = name->n;

	if (at == u->known.n)
		vec_push(&u->known, (struct unfold_known){ 0 });
	k = &u->known.data[at];
	if (k->id[0] || k->id[1]) {
		if (k->kind != TRACE_FRAME_INLINED)
			*kernel = k->kind == TRACE_FRAME_KERNEL;
		if (k->id[*kernel])
			return k->id[*kernel] - 1;
	}
	if (n > 4 && memcmp(t + n - 4, "_[", 2) == 0 && t[n - 1] == ']' &&
	    strchr("kij", t[n - 2]) && t[n - 2]) {
		f.kind = t[n - 2] == 'k'   ? TRACE_FRAME_KERNEL
			 : t[n - 2] == 'i' ? TRACE_FRAME_INLINED
					   : TRACE_FRAME_JIT;
		n -= 4;
	} else if (n == 0 || unfold_is_address(t, n)) {
		f.kind = TRACE_FRAME_UNNAMED;
	} else if (n > 2 && t[0] == '[' && t[n - 1] == ']') {
		const char *addr = memmem(t, n, " <", 2);
		size_t file = (addr ? (size_t)(addr - t) : n - 1) - 1;

		f.kind = TRACE_FRAME_UNNAMED;
		if (!(file == 7 && memcmp(t + 1, "unknown", 7) == 0))
			f.module = (struct text_part){ t + 1, file };
	} else if (t[0] == '-' && (n == 1 || (n == 2 && t[1] == '-'))) {
		f.kind = TRACE_FRAME_LABEL; /* what bcc's tools put between user and kernel */
	}
	f.name = (struct text_part){ t, n };
	k->kind = f.kind;
	if (f.kind != TRACE_FRAME_INLINED)
		*kernel = f.kind == TRACE_FRAME_KERNEL;
	f.kernel = *kernel;
	k->id[f.kernel] = own_frame(u->own, &f) + 1;
	return k->id[f.kernel] - 1;
}

static int unfold_stack(void *ctx, const struct folded_stack *st, struct err *e)
{
	struct unfold *u = ctx;
	bool kernel = false;
	int r = 0;

	u->ids.n = 0;
	for (size_t i = 0; i < st->n; i++)
		vec_push(&u->ids, 0);
	for (size_t i = 0; i < st->n; i++)
		u->ids.data[st->n - 1 - i] = unfold_frame(u, &st->frame[i], &kernel);
	for (uint32_t side = 0; side < 1u + u->info->two && r == 0; side++) {
		struct own_sample s = { .type = side,
					.pid = -1,
					.tid = -1,
					.cpu = UINT32_MAX,
					.weight = (uint64_t)st->count[side],
					.count = (uint64_t)st->count[side] };

		if (__builtin_add_overflow(u->total[side], st->count[side], &u->total[side]))
			return text_refuse(e, ERANGE, u->name, st->line,
					   "the sum of the counts is too large");
		r = own_sample(u->own, u->ids.data, u->ids.n, &s);
	}
	return r < 0 ? text_refuse(e, -r, u->name, st->line, "more frames than kymo can hold") : 0;
}

int folded_source(const char *name, const char *data, size_t n, struct source **ret, struct err *e)
{
	struct folded_info info = { 0 };
	struct unfold u = { .name = name, .own = own_new("folded"), .info = &info };
	struct trace_own *about = own_about(u.own);
	struct source *s;
	uint32_t type;
	int r = folded_read(name, data, n, &info, unfold_stack, &u, e);

	vec_free(&u.ids);
	vec_free(&u.known);
	strtab_free(&u.texts);
	if (r < 0) {
		own_free(u.own);
		if (r == -EINVAL && !info.stacks) /* not one line is a stack */
			err_wrap(e, "%s is no recording that kymo knows", name);
		return r;
	}
	for (int i = 0; i < 1 + info.two; i++) {
		const char *is = !info.two ? "samples" : i ? "after" : "before";

		type = own_type(u.own, is, strlen(is));
		own_type_at(u.own, type)->unit = "counts"; /* of what, the text does not say */
	}
	about->as_written = about->keep_text = true;
	about->two = info.two;
	s = own_source(u.own);
	if (info.fractions)
		snprintf(s->trace->losses.note, sizeof(s->trace->losses.note),
			 "%llu counts have a fraction; they were rounded",
			 (unsigned long long)info.fractions);
	*ret = s;
	return 0;
}
