/* SPDX-License-Identifier: MIT */
#include "calc/read/unfold.h"

#include <string.h>

struct unfold {
	const char *name;
	struct stacks *side;
	const struct folded_info *info;
	VEC(uint32_t) ids;
	int64_t total[2];
};

static bool is_address(const char *s, size_t n)
{
	if (n < 3 || s[0] != '0' || s[1] != 'x')
		return false;
	for (size_t i = 2; i < n; i++)
		if (!strchr("0123456789abcdefABCDEF", s[i]) || !s[i])
			return false;
	return true;
}

static uint32_t unfold_add_frame(struct stacks *s, const struct folded_name *name)
{
	struct frame f = { .module = STRTAB_NONE, .file = STRTAB_NONE };
	const char *t = name->s;
	size_t n = name->n;

	if (n > 4 && memcmp(t + n - 4, "_[", 2) == 0 && t[n - 1] == ']' &&
	    strchr("kij", t[n - 2]) && t[n - 2]) {
		f.kind = t[n - 2] == 'k'   ? FRAME_KERNEL
			 : t[n - 2] == 'i' ? FRAME_INLINED
					   : FRAME_JIT;
		n -= 4;
	} else if (n == 0 || is_address(t, n)) {
		f.kind = FRAME_UNKNOWN;
	} else if (n > 2 && t[0] == '[' && t[n - 1] == ']') {
		const char *addr = memmem(t, n, " <", 2);
		size_t file = (addr ? (size_t)(addr - t) : n - 1) - 1;

		f.kind = FRAME_UNKNOWN;
		if (file && !(file == 7 && memcmp(t + 1, "unknown", 7) == 0))
			f.module = strtab_addn(&s->strings, t + 1, file);
	} else if (t[0] == '-' && (n == 1 || (n == 2 && t[1] == '-'))) {
		f.kind = FRAME_LABEL; /* what bcc's tools put between user and kernel */
	}
	f.name = strtab_addn(&s->strings, t, n);
	return stacks_frame(s, &f);
}

static int unfold_add_side(struct unfold *u, int side, const struct folded_stack *st, struct err *e)
{
	struct stacks *s = &u->side[side];
	struct stack_entry entry = { .comm = STRTAB_NONE, .pid = -1, .tid = -1, .cpu = UINT32_MAX };

	if (__builtin_add_overflow(u->total[side], st->count[side], &u->total[side]))
		return err_set(e, ERANGE, "%s:%llu: the sum of the counts is too large", u->name,
			       (unsigned long long)st->line);
	u->ids.n = 0;
	for (size_t i = 0; i < st->n; i++)
		vec_push(&u->ids, unfold_add_frame(s, &st->frame[i]));
	entry.stack = stacks_stack(s, u->ids.data, u->ids.n);
	if (entry.stack == STRTAB_NONE)
		return err_set(e, EFBIG, "%s:%llu: more frames than kymo can hold", u->name,
			       (unsigned long long)st->line);
	entry.weight = st->count[side];
	entry.count = (uint64_t)st->count[side];
	stacks_add(s, &entry);
	return 0;
}

static int unfold_add_stack(void *ctx, const struct folded_stack *st, struct err *e)
{
	struct unfold *u = ctx;
	int r = unfold_add_side(u, 0, st, e);

	return r == 0 && u->info->two ? unfold_add_side(u, 1, st, e) : r;
}

int unfold_text(const char *name, const char *data, size_t n, struct stacks side[2],
		struct folded_info *info, struct err *e)
{
	struct unfold u = { .name = name, .side = side, .info = info };
	int r = folded_read(name, data, n, info, unfold_add_stack, &u, e);

	for (int i = 0; i < 1 + info->two; i++) {
		if (!side[i].type_names.n)
			vec_push(&side[i].type_names, strtab_add(&side[i].strings, "samples"));
		side[i].unit = "samples";
	}
	vec_free(&u.ids);
	return r;
}
