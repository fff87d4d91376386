/* SPDX-License-Identifier: MIT */
/*
 * Stacks: as lines, as one line from the outermost frame, and whole maps of them.
 *
 * stacks() prints the frames, then whose they are and the value, as the profilers of old do; or
 * folded, a line for each. Functions stand there without offsets, so stacks that differ only in
 * these are one: their values are put together.
 */
#include "view/run/show.h"

#define FRAMES 128

/* Frames of the tracing machinery itself, on top of a kernel stack. */
static bool is_machinery(const char *s)
{
	return str_starts(s, "bpf_prog_") || str_starts(s, "bpf_trace_run") ||
	       str_starts(s, "__bpf_trace_") || str_starts(s, "__traceiter_") ||
	       str_starts(s, "bpf_trampoline_") || str_starts(s, "bpf_get_stack");
}

static size_t show_stack_frames(const struct lang_out *o, const void *data, uint64_t *addr)
{
	return o->h->stack ? o->h->stack(o->h->ctx, show_word(data, 0), addr, FRAMES) : 0;
}

/* The functions' names in order, each behind lead and before end; what is not known has a name,
 * too. outer: from the outermost frame. */
static void show_stack_names(const struct lang_out *o, const struct ltype *t, const void *data,
			     bool outer, bool annotate, const char *lead, const char *end,
			     struct strbuf *b)
{
	uint64_t addr[FRAMES], off;
	bool user = t->kind == LT_USTACK;
	int32_t pid = user ? (int32_t)show_word(data, 1) : 0;
	size_t n = show_stack_frames(o, data, addr), first = 0, last;
	char *name[FRAMES];

	for (size_t i = 0; i < n; i++) {
		AUTO_STRBUF s = { 0 };
		bool known = show_name(o, user, pid, addr[i], &s, &off, NULL);

		if (!user && known && first == i && is_machinery(strbuf_str(&s)))
			first = i + 1;
		name[i] = mem_strdup(known ? strbuf_str(&s) : "[unknown]");
	}
	last = n < first + t->n ? n : first + t->n;
	for (size_t i = first; i < last; i++)
		strbuf_printf(b, "%s%s%s%s", lead, name[outer ? first + last - 1 - i : i],
			      annotate && !user ? "_[k]" : "", end);
	for (size_t i = 0; i < n; i++)
		free(name[i]);
}

static void show_lines(const struct lang_out *o, const struct ltype *t, const void *data,
		       bool is_key, struct strbuf *b)
{
	uint64_t addr[FRAMES];
	bool user = t->kind == LT_USTACK, top = true;
	int32_t pid = user ? (int32_t)show_word(data, 1) : 0;
	size_t n = show_stack_frames(o, data, addr);

	strbuf_putc(b, '\n');
	for (size_t i = 0, shown = 0; i < n && shown < t->n; i++) {
		AUTO_STRBUF name = { 0 };
		AUTO_STRBUF module = { 0 };
		uint64_t off = 0;
		bool known =
			!(user && t->raw_stack) && show_name(o, user, pid, addr[i], &name, &off,
							     t->user_stack_perf ? &module : NULL);

		if (!user && top && known && is_machinery(strbuf_str(&name)))
			continue;
		top = false;
		shown++;
		if (t->raw_stack) {
			strbuf_printf(b, "%s%llx\n", is_key ? "    " : "        ",
				      (unsigned long long)addr[i]);
			continue;
		}
		if (t->user_stack_perf) {
			strbuf_printf(b, "\t%llx ", (unsigned long long)addr[i]);
			if (known)
				strbuf_printf(b, "%s+%llu", strbuf_str(&name),
					      (unsigned long long)off);
			else
				strbuf_puts(b, "[unknown]");
			show_made_safe(o, false, 0, &module);
			if (user)
				strbuf_printf(b, " (%s)",
					      module.n ? strbuf_str(&module) : "[unknown]");
			strbuf_putc(b, '\n');
			continue;
		}
		strbuf_puts(b, is_key ? "    " : "        ");
		if (known)
			strbuf_printf(b, "%s+%llu\n", strbuf_str(&name), (unsigned long long)off);
		else
			strbuf_printf(b, "0x%llx\n", (unsigned long long)addr[i]);
	}
}

void show_stack(const struct lang_out *o, const struct ltype *t, const void *data, bool is_key,
		struct strbuf *b)
{
	AUTO_STRBUF line = { 0 };

	if (t->ftrace_stack) {
		show_stack_names(o, t, data, false, false, " => ", "\n", b);
		return;
	}
	if (!t->folded_stack) {
		show_lines(o, t, data, is_key, b);
		return;
	}
	show_stack_names(o, t, data, true, t->annotated_stack, ";", "", &line);
	strbuf_puts(b, line.n ? strbuf_str(&line) + 1 : "-");
}

/* --- stacks() --- */

enum { FOLDED = 1, DELIMITED = 2, ANNOTATED = 4 };

/* The stacks of a key: user frames are the outer ones. */
static void put_frames(const struct lang_out *o, const struct lang_map *m, const void *key, int how,
		       struct strbuf *b)
{
	bool folded = how & FOLDED;
	AUTO_STRBUF kernel = { 0 };
	AUTO_STRBUF user = { 0 };

	for (uint32_t i = 0; i < m->key->n; i++) {
		const struct ltype *t = m->key->item[i];

		if (lt_is_stack(t))
			show_stack_names(o, t, (const char *)key + m->key->offset[i], folded,
					 how & ANNOTATED, folded ? ";" : "    ", folded ? "" : "\n",
					 t->kind == LT_USTACK ? &user : &kernel);
	}
	strbuf_puts(b, strbuf_str(folded ? &user : &kernel));
	if (kernel.n && user.n && (how & DELIMITED))
		strbuf_puts(b, folded ? ";-" : "    --\n");
	strbuf_puts(b, strbuf_str(folded ? &kernel : &user));
}

/* Whose they are: texts as they are, numbers in brackets. */
static void put_owner(const struct lang_out *o, const struct lang_map *m, const void *key,
		      bool numbers, struct strbuf *b)
{
	size_t from = b->n;

	for (uint32_t i = 0; i < m->key->n; i++) {
		const struct ltype *t = m->key->item[i];
		bool number = lt_is_num(t);

		if (lt_is_stack(t) || (number && !numbers))
			continue;
		strbuf_puts(b, b->n > from ? numbers ? " " : ";" : "");
		strbuf_puts(b, number ? "(" : "");
		show_value(o, t, (const char *)key + m->key->offset[i], true, b);
		strbuf_puts(b, number ? ")" : "");
	}
}

static char *row_text(const struct lang_out *o, const struct lang_map *m, const void *key, int how)
{
	AUTO_STRBUF b = { 0 };
	AUTO_STRBUF owner = { 0 };

	put_owner(o, m, key, !(how & FOLDED), &owner);
	if (how & FOLDED) {
		put_frames(o, m, key, how, &b);
		strbuf_putc(&b, ' ');
		return mem_printf("%s%s", strbuf_str(&owner), strbuf_str(&b) + !owner.n);
	}
	put_frames(o, m, key, how, &b);
	strbuf_printf(&b, "    %-16s %s\n        ", "-", strbuf_str(&owner));
	return mem_strdup(strbuf_str(&b));
}

void show_stacks(struct lang_out *o, int map, int how)
{
	const struct lang_map *m = &o->p->maps.data[map];
	struct show_rows t;
	size_t n = 0;

	if (o->json) {
		show_map(o, map, 0, 0);
		return;
	}
	show_rows_take(&t, o, map, 0, 0);
	for (size_t i = 0; i < t.rows.n; i++) {
		struct show_row *r = &t.rows.data[i], *same = NULL;
		uint64_t *at;

		r->text = row_text(o, m, r->key, how);
		at = map_at(&t.by_text, map_hash_bytes(r->text, strlen(r->text)));
		if (*at && strcmp(t.rows.data[*at - 1].text, r->text) == 0)
			same = &t.rows.data[*at - 1];
		if (same && m->is_agg) {
			show_rows_add(&t, same, r);
			r->joined = true;
		} else {
			*at = i + 1;
			n++;
		}
	}
	show_rows_sort(&t, false);
	for (size_t i = t.rows.n - n; i < t.rows.n; i++) {
		strbuf_puts(&o->text, t.rows.data[i].text);
		show_map_value(&t, t.rows.data[i].value, &o->text);
		strbuf_puts(&o->text, how & FOLDED ? "\n" : "\n\n");
	}
	show_rows_free(&t);
}
