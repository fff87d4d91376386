/* SPDX-License-Identifier: MIT */
#include "view/picture/folded.h"

#include <string.h>

#include "base/str.h"

/* Lines are stacks of tidied names; ids in `lines` strings, no other part of a frame is used. */
struct fold {
	const struct folded_opts *o;
	struct stacks lines;
	int64_t *weight[2];
	size_t cap;
	uint32_t *tidied[2]; /* by java: frame -> name id + 1; 0: not known yet; SKIP: left out */
	VEC(uint32_t) ids;
	struct strbuf text;
};
#define SKIP UINT32_MAX

static void put_unknown(struct fold *f, const struct stacks *s, const struct frame *fr)
{
	const char *name = strtab_get(&s->strings, fr->name);
	const char *module = fr->module == STRTAB_NONE
				     ? "unknown"
				     : str_base_name(strtab_get(&s->strings, fr->module));

	if (strcmp(module, "[unknown]") == 0)
		module = "unknown";
	strbuf_printf(&f->text, "[%s", module); /* "[[vdso]]" is what the script writes */
	if (f->o->addrs && str_starts(name, "0x"))
		strbuf_printf(&f->text, " <%s>", name + 2);
	strbuf_putc(&f->text, ']');
}

/* Does it hold ".(x)." as Go's methods do? Their parentheses are no arguments. */
static bool is_go_method(const char *s)
{
	const char *open = strstr(s, ".("), *close = NULL;

	for (const char *p = open; p && (p = strstr(p, ").")); p++)
		close = p;
	return open && close && close >= open + 2;
}

/* Cut the arguments off, but not "(anonymous namespace)". */
static size_t without_arguments(const char *s)
{
	const char *p = s;

	if (is_go_method(s))
		return strlen(s);
	while ((p = strchr(p, '(')) && str_starts(p, "(anonymous namespace)"))
		p++;
	return p ? (size_t)(p - s) : strlen(s);
}

static void put_tidy(struct fold *f, const char *name, bool java)
{
	size_t n = without_arguments(name);

	if (java && name[0] == 'L' && memchr(name, '/', n)) {
		name++;
		n--;
	}
	for (size_t i = 0; i < n; i++)
		if (name[i] != '"' && name[i] != '\'')
			strbuf_putc(&f->text, name[i] == ';' ? ':' : name[i]);
}

/* As it is, but for what would break the line. */
static void put_plain(struct fold *f, const char *name)
{
	for (; *name; name++)
		strbuf_putc(&f->text, *name == ';'		       ? ':'
				      : *name == '\n' || *name == '\r' ? ' '
								       : *name);
}

/* The script's rule: what is no file but has a name in brackets, the vDSO included, or vmlinux. */
static bool is_kernel(const struct stacks *s, const struct frame *fr)
{
	const char *module = fr->module == STRTAB_NONE ? "" : strtab_get(&s->strings, fr->module);

	if (fr->kind == FRAME_KERNEL)
		return true;
	return (fr->kind == FRAME_USER || fr->kind == FRAME_UNKNOWN) &&
	       (module[0] == '[' || str_ends(module, "vmlinux")) && !strstr(module, "unknown");
}

static bool folded_is_jit(const struct stacks *s, const struct frame *fr)
{
	return fr->kind == FRAME_JIT ||
	       (fr->kind == FRAME_UNKNOWN && fr->module != STRTAB_NONE &&
		str_starts(strtab_get(&s->strings, fr->module), "/tmp/perf-"));
}

/* The name as it stands in a line; SKIP when it does not. */
static uint32_t tidy_frame(struct fold *f, const struct stacks *s, const struct frame *fr,
			   bool java)
{
	const char *name = strtab_get(&s->strings, fr->name);

	strbuf_reset(&f->text);
	if (!f->o->tidy)
		put_plain(f, name);
	else if (fr->kind == FRAME_UNKNOWN)
		put_unknown(f, s, fr);
	else if (name[0] == '(')
		return SKIP;
	else
		put_tidy(f, name, java);
	if (f->o->kernel && is_kernel(s, fr))
		strbuf_puts(&f->text, "_[k]");
	else if (f->o->inlined && fr->kind == FRAME_INLINED)
		strbuf_puts(&f->text, "_[i]");
	else if (f->o->jit && folded_is_jit(s, fr))
		strbuf_puts(&f->text, "_[j]");
	return strtab_addn(&f->lines.strings, strbuf_str(&f->text), f->text.n) + 1;
}

static void put_comm(struct fold *f, const struct stacks *s, const struct stack_entry *en)
{
	const char *comm = strtab_get(&s->strings, en->comm);

	strbuf_reset(&f->text);
	put_plain(f, comm);
	if (f->o->tidy)
		for (size_t i = 0; i < f->text.n; i++)
			f->text.data[i] = f->text.data[i] == ' ' ? '_' : f->text.data[i];
	if ((f->o->tid || f->o->pid) && en->pid < 0)
		strbuf_puts(&f->text, "-?"); /* perf script's text mostly has only the thread */
	else if (f->o->tid || f->o->pid)
		strbuf_printf(&f->text, "-%d", en->pid);
	if (f->o->tid)
		strbuf_printf(&f->text, "/%d", en->tid);
	vec_push(&f->ids, strtab_addn(&f->lines.strings, strbuf_str(&f->text), f->text.n));
}

static int folded_add_entry(struct fold *f, const struct stacks *s, int side,
			    const struct stack_entry *en, struct err *e)
{
	const struct stack *k = &s->stacks.data[en->stack];
	bool java = en->comm != STRTAB_NONE && f->o->tidy &&
		    strcmp(strtab_get(&s->strings, en->comm), "java") == 0;
	uint32_t line;

	f->ids.n = 0;
	if (en->comm != STRTAB_NONE)
		put_comm(f, s, en);
	for (uint32_t i = 0; i < k->n; i++) {
		uint32_t id = s->frame_ids.data[k->first + i];
		uint32_t *name = &f->tidied[java][id];

		if (!*name)
			*name = tidy_frame(f, s, &s->frames.data[id], java);
		if (*name != SKIP)
			vec_push(&f->ids, *name - 1);
	}
	line = stacks_stack(&f->lines, f->ids.data, f->ids.n);
	if (line == STRTAB_NONE)
		return err_set(e, EFBIG, "more frames than kymo can hold");
	if (line >= f->cap) {
		size_t cap = f->cap ? f->cap * 2 : 1024;

		for (int i = 0; i < 2; i++) {
			f->weight[i] = mem_grow(f->weight[i], cap * sizeof(int64_t));
			memset(f->weight[i] + f->cap, 0, (cap - f->cap) * sizeof(int64_t));
		}
		f->cap = cap;
	}
	if (__builtin_add_overflow(f->weight[side][line], en->weight, &f->weight[side][line]))
		return err_set(e, ERANGE, "the sum of the stacks' weights is too large");
	return 0;
}

static int folded_add_side(struct fold *f, const struct stacks *s, int side, struct err *e)
{
	int r = 0;

	for (int i = 0; i < 2; i++)
		f->tidied[i] = mem_alloc(s->frames.n * sizeof(uint32_t));
	vec_each (&s->entries, en) {
		if (f->o->type != FOLDED_ALL_TYPES && en->type != f->o->type)
			continue;
		r = folded_add_entry(f, s, side, en, e);
		if (r < 0)
			break;
	}
	for (int i = 0; i < 2; i++)
		free(f->tidied[i]);
	return r;
}

/* As the finished lines compare: a name is followed by a semicolon, or by the end. */
static int folded_by_text(const void *x, const void *y, void *ctx)
{
	const struct stacks *s = ctx;
	const struct stack *a = &s->stacks.data[*(const uint32_t *)x];
	const struct stack *b = &s->stacks.data[*(const uint32_t *)y];
	const unsigned char *p, *q;
	uint32_t i = 0;
	int c, d;

	while (i < a->n && i < b->n &&
	       s->frame_ids.data[a->first + i] == s->frame_ids.data[b->first + i])
		i++;
	if (i == a->n || i == b->n)
		return (i < a->n) - (i < b->n);
	p = (const unsigned char *)strtab_get(&s->strings, s->frame_ids.data[a->first + i]);
	q = (const unsigned char *)strtab_get(&s->strings, s->frame_ids.data[b->first + i]);
	while (*p && *p == *q)
		p++, q++;
	c = *p ? *p : i + 1 < a->n ? ';' : 0;
	d = *q ? *q : i + 1 < b->n ? ';' : 0;
	return c - d;
}

static void put_lines(struct fold *f, FILE *out, bool two)
{
	size_t n = f->lines.stacks.n;
	AUTO_FREE uint32_t *order = mem_alloc(n * sizeof(*order));

	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, n, sizeof(*order), folded_by_text, &f->lines);
	for (size_t i = 0; i < n; i++) {
		const struct stack *k = &f->lines.stacks.data[order[i]];

		for (uint32_t j = 0; j < k->n; j++) {
			if (j)
				putc_unlocked(';', out);
			fputs_unlocked(strtab_get(&f->lines.strings,
						  f->lines.frame_ids.data[k->first + j]),
				       out);
		}
		fprintf(out, " %lld", (long long)f->weight[0][order[i]]);
		if (two)
			fprintf(out, " %lld", (long long)f->weight[1][order[i]]);
		putc_unlocked('\n', out);
	}
}

int folded_write(FILE *out, const struct stacks *s, const struct stacks *after,
		 const struct folded_opts *o, struct err *e)
{
	struct fold f = { .o = o };
	int r = folded_add_side(&f, s, 0, e);

	if (r == 0 && after)
		r = folded_add_side(&f, after, 1, e);
	if (r == 0)
		put_lines(&f, out, after != NULL);
	stacks_free(&f.lines);
	free(f.weight[0]);
	free(f.weight[1]);
	vec_free(&f.ids);
	strbuf_free(&f.text);
	return r;
}
