/* SPDX-License-Identifier: MIT */
#include "event/text.h"

#include <string.h>

#include "base/map.h"

struct text {
	unsigned long_size;
	struct printfmt_env env;
	struct map printk; /* address to id in texts, + 1 */
	struct strtab texts;
};

static const char *printk_text(void *ctx, uint64_t addr)
{
	const struct text *t = ctx;
	const uint64_t *at = map_find(&t->printk, addr);

	return at ? strtab_get(&t->texts, (uint32_t)*at - 1) : NULL;
}

void *text_new(const struct text_opts *o)
{
	struct text *t = mem_alloc(sizeof(*t));

	t->long_size = o->long_size ? o->long_size : 8;
	t->env.string = printk_text;
	t->env.string_ctx = t;
	return t;
}

void text_free(void *tep)
{
	struct text *t = tep;

	if (!t)
		return;
	map_free(&t->printk);
	strtab_free(&t->texts);
	free(t);
}

/* 0xffffffff82a0f0c0 : "Rescheduling interrupts" */
void text_printk(void *tep, const char *text, size_t n)
{
	struct text *t = tep;
	const char *end = text + n;

	while (t && text < end) {
		const char *line = text, *stop = memchr(text, '\n', (size_t)(end - text));
		AUTO_FREE char *copy = mem_strndup(line, (size_t)((stop ? stop : end) - line));
		char *quote = strchr(copy, '"'), *last, *after;
		uint64_t addr = strtoull(copy, &after, 0);

		text = stop ? stop + 1 : end;
		if (!quote || after == copy)
			continue;
		last = strrchr(quote + 1, '"');
		if (last)
			*last = '\0';
		/* perf drops the end of the line as well */
		if (last && last - quote > 2 && strcmp(last - 2, "\\n") == 0)
			last[-2] = '\0';
		*map_at(&t->printk, addr) = strtab_add(&t->texts, quote + 1) + 1ull;
	}
}

void text_prepare(void *tep, struct event_type *t, struct arena *a)
{
	const struct text *x = tep;

	if (t->n_fields)
		printfmt_compile(t, a, x ? x->long_size : 8, &t->print, NULL);
}

void text_set_resolver(void *tep, printfmt_resolve_fn *fn, void *ctx)
{
	struct text *t = tep;

	if (!t)
		return;
	t->env.resolve = fn;
	t->env.ctx = ctx;
}

void text_print(const void *tep, const struct event_type *t, const void *raw, size_t size,
		struct strbuf *b)
{
	static const struct printfmt_env nobody;
	const struct text *x = tep;

	if (t->print) {
		printfmt_run(t->print, x ? &x->env : &nobody, raw, size, b);
	} else if (t->n_fields) {
		strbuf_puts(b, "[FAILED TO PARSE]");
		printfmt_fields(t, raw, size, b);
	}
}

void text_fields(const void *tep, const struct event_type *t, const void *raw, size_t size,
		 struct strbuf *b)
{
	static const struct printfmt_env nobody;
	const struct text *x = tep;

	printfmt_fields_shown(t, x ? &x->env : &nobody, raw, size, b);
}
