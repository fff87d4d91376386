/* SPDX-License-Identifier: MIT */
/* What each recording keeps of the kernel's symbols, as one list in the order of addresses. */
#include "calc/read/merge_kallsyms.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/sort.h"
#include "base/str.h"
#include "base/vec.h"
#include "event/symline.h"

struct merge_sym {
	struct symline line;
	size_t from; /* which recording */
};

static int merge_sym_order(const void *a, const void *b)
{
	const struct merge_sym *x = a, *y = b;
	int order = SORT_BY(x->line.addr, y->line.addr);

	order = order ?: SORT_BY(x->line.type == SYMLINE_END, y->line.type == SYMLINE_END);
	return order ?: SORT_BY(x->from, y->from) ?: SORT_BY(x->line.name, y->line.name);
}

void merge_kallsyms(struct trace *t, const struct trace *const *from, size_t n)
{
	VEC(struct merge_sym) all = { 0 };
	const struct merge_sym *first = NULL;
	AUTO_STRBUF text = { 0 };

	for (size_t i = 0; i < n; i++) {
		const char *at = from[i]->info.kallsyms;
		const char *end = at ? at + from[i]->info.kallsyms_size : NULL;
		struct merge_sym s = { .from = i };

		while (at && symline_next(&s.line, &at, end))
			vec_push(&all, s);
	}
	if (all.n)
		qsort(all.data, all.n, sizeof(*all.data), merge_sym_order);
	/* An address has the names that one recording tells; where none has one, a function ends.
	 */
	vec_each (&all, s) {
		const struct symline *l = &s->line;

		if (!first || first->line.addr != l->addr)
			first = s;
		else if (s->from != first->from || l->type == SYMLINE_END)
			continue;
		strbuf_printf(&text, "%" PRIx64 " %c %.*s", l->addr, l->type, (int)l->name_n,
			      l->name);
		if (l->module)
			strbuf_printf(&text, "\t[%.*s]", (int)l->module_n, l->module);
		strbuf_add(&text, "\n", 1);
	}
	vec_free(&all);
	t->info.kallsyms_size = text.n;
	t->info.kallsyms = text.n ? arena_strndup(&t->arena, text.data, text.n) : NULL;
}
