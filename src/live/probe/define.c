/* SPDX-License-Identifier: MIT */
#include "live/probe/define.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "sym/disasm/code.h"
#include "sym/disasm/srctext.h"
#include "sym/elf/usdt.h"
#include "sym/names/demangle.h"

struct work {
	const struct probe_target *t;
	const struct probe_text *p;
	struct arena *arena;
	struct probe_defs *ret;
	struct err *e;
	struct srctext sources;
	bool alias; /* what was asked for has another name in the debug info */
	/* Places where an argument cannot be fetched; they matter only when there are no others. */
	unsigned left_out;
	unsigned gone; /* places in code that runs only at the start */
	struct err why;
};

void probe_defs_free(struct probe_defs *d)
{
	vec_free(&d->list);
	vec_free(&d->notes);
}

void probe_def_text(const struct probe_def *d, struct strbuf *out)
{
	strbuf_printf(out, "%c:%s/%s %s", d->ret ? 'r' : 'p', d->group, d->event, d->place);
	if (d->semaphore)
		strbuf_printf(out, "(0x%" PRIx64 ")", d->semaphore);
	strbuf_puts(out, d->args);
}

/*
 * Up to what an event's name cannot have: "foo.isra.0" is foo, "run<int>" run, a destructor _Foo.
 */
static char *plain_name(struct arena *a, const char *s)
{
	size_t n = *s == '~';

	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return *s == '~' ? arena_printf(a, "_%.*s", (int)n - 1, s + 1) : arena_strndup(a, s, n);
}

/* "run<A::B>" of "ns::Foo::run<A::B>(int)". */
static const char *last_part(const char *s)
{
	size_t n = strcspn(s, "<(");

	for (size_t i = 0; i + 1 < n; i++)
		if (s[i] == ':' && s[i + 1] == ':') {
			s += i + 2;
			n -= i + 2;
			i = (size_t)-1;
		}
	return s;
}

static const char *group_name(struct work *w)
{
	if (w->p->group)
		return w->p->group;
	if (!w->t->user)
		return "probe";
	if (w->p->usdt && w->p->file)
		return arena_printf(w->arena, "sdt_%s", plain_name(w->arena, w->p->file));
	return arena_printf(w->arena, "probe_%s", plain_name(w->arena, str_base_name(w->t->path)));
}

static const char *probe_define_event_name(struct work *w, const char *function)
{
	const struct probe_text *p = w->p;
	char *base;

	if (p->event) /* perf adds it to a name that was given, too */
		return p->ret ? arena_printf(w->arena, "%s__return", p->event) : p->event;
	if (p->has_address)
		return arena_printf(w->arena, "abs_%" PRIx64, p->address);
	if (w->alias || !function)
		function = p->function ? p->function : "probe";
	base = plain_name(w->arena, last_part(function));
	if (!*base || isdigit((unsigned char)*base))
		base = arena_printf(w->arena, "_%s", base);
	if (p->ret)
		return arena_printf(w->arena, "%s__return", base);
	if (p->function && p->has_line && p->line)
		return arena_printf(w->arena, "%s_L%" PRIu32, base, p->line);
	return base;
}

static int probe_define_add(struct work *w, uint64_t addr, const char *function, const char *symbol,
			    uint64_t start, const struct dwarf_point *point)
{
	struct probe_def d = { .group = group_name(w),
			       .event = probe_define_event_name(w, function),
			       .function = function ? arena_strdup(w->arena, function) : NULL,
			       .ret = w->p->ret };
	AUTO_STRBUF place = { 0 };
	AUTO_STRBUF args = { 0 };
	int err = 0;

	if (w->t->user && (w->p->offset || w->p->has_address))
		err = code_check(w->t->elf, &w->t->syms, w->t->path, addr, w->e);
	if (err < 0)
		return err;
	if (!probe_target_place(w->t, addr, symbol, start, &place))
		return err_set(w->e, ENOENT, "there is no code at 0x%" PRIx64 " in %s", addr,
			       w->t->path);
	err = probe_args(w->t, w->p, point, symbol, addr == start, w->arena, w->ret, &args, w->e);
	if (err < 0)
		return err;
	/* Calls that were inlined one into the other may begin at one place. */
	vec_each (&w->ret->list, o)
		if (strcmp(o->place, strbuf_str(&place)) == 0 &&
		    strcmp(o->args, strbuf_str(&args)) == 0)
			return 0;
	d.place = arena_strdup(w->arena, strbuf_str(&place));
	d.args = arena_strdup(w->arena, strbuf_str(&args));
	vec_push(&w->ret->list, d);
	return 0;
}

static int probe_define_add_point(void *ctx, const struct dwarf_point *p)
{
	struct work *w = ctx;
	int err;

	/* of the many places of an inlined function, those that are still there */
	if (probe_target_gone(w->t, p->addr)) {
		w->gone++;
		return 0;
	}
	/* and have what is asked for */
	err = probe_define_add(w, p->addr, p->function, p->symbol, p->entry, p);
	if (err != -ENOENT)
		return err;
	if (!w->left_out++)
		w->why = *w->e;
	return 0;
}

static bool has_variables(const struct probe_text *p)
{
	vec_each (&p->args, a)
		if (!a->raw || strcmp(a->what, "$vars") == 0 || strcmp(a->what, "$params") == 0)
			return true;
	return false;
}

static void add_no_blanks(struct strbuf *b, const char *s, size_t n)
{
	for (const char *end = s + n; s < end; s++)
		if (!isspace((unsigned char)*s))
			strbuf_putc(b, *s);
}

/* A source line against a pattern in which blanks do not count. */
static bool line_matches(void *ctx, const char *file, uint32_t line)
{
	struct work *w = ctx;
	size_t n;
	const char *s = srctext_line(&w->sources, file, line, &n);
	AUTO_STRBUF text = { 0 };
	AUTO_STRBUF pattern = { 0 };

	if (!s)
		return false;
	add_no_blanks(&text, s, n);
	add_no_blanks(&pattern, w->p->pattern, strlen(w->p->pattern));
	return str_glob(strbuf_str(&pattern), strbuf_str(&text));
}

struct shifted {
	dwarf_point_fn *fn;
	void *ctx;
	const struct work *w;
	unsigned n;
};

static int shift(void *ctx, const struct dwarf_point *p)
{
	struct shifted *s = ctx;
	struct dwarf_point moved = *p, there;

	moved.addr += s->w->p->offset;
	s->n++;
	if (s->w->p->offset &&
	    (!dwarf_point_at(s->w->t->dwarf, moved.addr, &there) || there.entry != p->entry))
		return err_set(s->w->e, EINVAL, "%s is shorter than %" PRIu64 " bytes", p->function,
			       s->w->p->offset);
	return s->fn(s->ctx, &moved);
}

/* By debug info; how many places there were, or an error of fn's. */
static int dwarf_places(struct work *w, dwarf_point_fn *fn, void *ctx)
{
	const struct probe_text *p = w->p;
	struct dwarf_where where = { .function = p->function,
				     .file = p->file,
				     .line = p->line,
				     .has_line = p->has_line && (p->line || !p->function),
				     .no_inlines = w->t->no_inlines,
				     .wanted = p->pattern ? line_matches : NULL,
				     .ctx = w };
	struct shifted s = { fn, ctx, w, 0 };
	struct dwarf_point point;
	int err;

	if (!w->t->dwarf)
		return 0;
	if (p->has_address) {
		if (!dwarf_point_at(w->t->dwarf, p->address, &point))
			return 0;
		err = fn(ctx, &point);
		return err < 0 ? err : 1;
	}
	where.after_prologue = w->t->user && has_variables(p) && !where.has_line && !p->ret &&
			       !p->offset && !p->pattern;
	err = dwarf_points(w->t->dwarf, &where, shift, &s);
	if (err >= 0 && !s.n && p->function && probe_target_alias(w->t, p->function, &point)) {
		where.function = point.function;
		w->alias = true;
		err = dwarf_points(w->t->dwarf, &where, shift, &s);
	}
	return err < 0 ? err : (int)s.n;
}

/* By the symbol table. */
static int symbols_named(struct work *w, const char *wanted)
{
	const struct probe_text *p = w->p;
	const struct symtab_sym *s;
	uint64_t last = UINT64_MAX;
	size_t at = 0;
	int n = 0;

	while ((s = probe_target_symbol(w->t, wanted, &at))) {
		AUTO_FREE char *name = mem_strndup(s->name, strcspn(s->name, "@"));
		AUTO_FREE char *written = NULL;
		int err;

		if (s->start == last) /* another name of the same */
			continue;
		last = s->start;
		if (s->end > s->start && p->offset >= s->end - s->start)
			return err_set(w->e, EINVAL, "%s is only %" PRIu64 " bytes long", name,
				       s->end - s->start);
		written = demangle_is_written(wanted) ? demangle_dup(s->name, 0) : NULL;
		err = probe_define_add(w, s->start + p->offset, written ? written : name,
				       arena_strdup(w->arena, name), s->start, NULL);
		if (err < 0)
			return err;
		n++;
	}
	return n;
}

static int symbol_places(struct work *w)
{
	AUTO_FREE char *within = NULL;
	int n = symbols_named(w, w->p->function);

	if (n || !w->t->user || demangle_is_written(w->p->function))
		return n;
	/* debug info calls ns::run just run, too */
	within = mem_printf("*::%s", w->p->function);
	return symbols_named(w, within);
}

struct near_names {
	struct str_nearest near;
	struct arena arena; /* of names that were demangled */
};

/* What is typed with its namespace is near to what has one. */
static int near_function(void *ctx, const char *name, const char *symbol)
{
	struct near_names *n = ctx;
	AUTO_STRBUF full = { 0 };

	str_nearest_add(&n->near, name);
	if (symbol && demangle_is_written(n->near.typed) && demangle(symbol, 0, &full))
		str_nearest_add(&n->near, arena_strdup(&n->arena, strbuf_str(&full)));
	return 0;
}

static int probe_define_no_function(struct work *w)
{
	const struct probe_text *p = w->p;
	struct near_names n = { .near.typed = p->function ? p->function : "" };
	const struct symtab_sym *s;
	char list[200];
	size_t at = 0;

	err_set(w->e, ENOENT, "there is no function %s in %s", p->function,
		w->t->user     ? w->t->path
		: w->t->module ? w->t->module
			       : "the kernel");
	while ((s = probe_target_symbol(w->t, "*", &at)))
		near_function(&n, s->name, s->name);
	if (w->t->dwarf)
		dwarf_function_names(w->t->dwarf, near_function, &n);
	if (str_nearest_list(&n.near, list, sizeof(list)))
		err_hint(w->e, "did you mean %s?", list);
	else
		err_hint(w->e, "-F lists all functions");
	arena_free(&n.arena);
	return -ENOENT;
}

static int is_there(void *ctx, const struct dwarf_point *p)
{
	return 1;
}

/* Whether any source file has the function, or code that it was inlined into. */
static bool elsewhere(struct work *w)
{
	struct dwarf_where where = { .function = w->p->function };

	return w->t->dwarf && w->p->function &&
	       dwarf_points(w->t->dwarf, &where, is_there, NULL) > 0;
}

static int not_found(struct work *w)
{
	const struct probe_text *p = w->p;

	if (p->has_line || p->pattern || (p->file && (!w->t->dwarf || elsewhere(w)))) {
		if (!w->t->dwarf) {
			err_set(w->e, ENOENT, "%s are not known: %s has no debug info",
				p->has_line || p->pattern ? "lines" : "source files",
				w->t->user ? w->t->path : "the kernel");
			return err_hint(w->e, "%s",
					w->t->user ? "compile it with -g, install its "
						     "-dbgsym package, or set "
						     "DEBUGINFOD_URLS"
						   : "give its debug file with -k "
						     "VMLINUX");
		}
		if (!p->has_line && !p->pattern) {
			err_set(w->e, ENOENT, "there is no function %s in a source file %s",
				p->function, p->file);
			return err_hint(w->e, "probe %s, or see with -L %s which file it is in",
					p->function, p->function);
		}
		err_set(w->e, ENOENT, "nothing can be probed at %s", p->text);
		return err_hint(w->e, "see the lines that can be with -L %s",
				p->function ? p->function : p->file);
	}
	if (w->t->no_inlines && elsewhere(w)) {
		err_set(w->e, ENOENT, "%s is only where it was inlined", p->function);
		return err_hint(w->e, "leave out --no-inlines");
	}
	return probe_define_no_function(w);
}

/* --- static probes --- */

/* "libc" and "sdt_libc", as the group of its events is called; patterns too. */
static bool provider_wanted(const char *want, const char *provider)
{
	return !want || str_glob(want, provider) ||
	       (strncmp(want, "sdt_", 4) == 0 && str_glob(want + 4, provider));
}

static int add_static(void *ctx, const struct usdt_probe *s)
{
	struct work *w = ctx;
	struct probe_def d = { .group = group_name(w), .event = w->p->event, .semaphore = 0 };
	AUTO_STRBUF place = { 0 };
	AUTO_STRBUF args = { 0 };
	uint64_t semaphore;

	if (!str_glob(w->p->function, s->name) || !provider_wanted(w->p->file, s->provider))
		return 0;
	if (!w->p->group)
		d.group = arena_printf(w->arena, "sdt_%s", plain_name(w->arena, s->provider));
	if (!d.event)
		d.event = plain_name(w->arena, s->name);
	if (s->semaphore && elf_offset(w->t->elf, s->semaphore, &semaphore))
		d.semaphore = semaphore;
	if (!probe_target_place(w->t, s->pc, NULL, 0, &place))
		return 0;
	if (!w->p->args.n)
		usdt_args_text(s, w->t->elf->machine, &args);
	vec_each (&w->p->args, arg)
		strbuf_printf(&args, " %s", arg->text);
	d.place = arena_strdup(w->arena, strbuf_str(&place));
	d.args = arena_strdup(w->arena, strbuf_str(&args));
	d.function = arena_strdup(w->arena, s->name);
	vec_push(&w->ret->list, d);
	return 0;
}

static int near_static(void *ctx, const struct usdt_probe *s)
{
	str_nearest_add(ctx, s->name);
	return 0;
}

static int static_places(struct work *w)
{
	struct str_nearest near = { .typed = w->p->function };
	char list[200];

	if (!w->t->user)
		return err_set(w->e, EINVAL,
			       "static probes are those of programs: give one with -x");
	usdt_each(w->t->elf, add_static, w);
	if (w->ret->list.n)
		return 0;
	usdt_each(w->t->elf, near_static, &near);
	err_set(w->e, ENOENT, "%s has no static probe %s", w->t->path, w->p->function);
	if (str_nearest_list(&near, list, sizeof(list)))
		return err_hint(w->e, "did you mean %s?", list);
	return err_hint(w->e, "kymo list sdt lists the static probes of programs");
}

static int places(struct work *w)
{
	const struct probe_text *p = w->p;
	int n;

	if (p->usdt)
		return static_places(w);
	n = dwarf_places(w, probe_define_add_point, w);
	if (n > 0 && !w->ret->list.n && !w->left_out)
		return err_set(w->e, ENOENT, "%s is only in code that runs when the kernel starts",
			       p->function ? p->function : p->file);
	if (n > 0 && !w->ret->list.n) {
		*w->e = w->why;
		return -w->e->code;
	}
	if (w->gone)
		vec_push(&w->ret->notes,
			 arena_printf(w->arena,
				      "%u of %d places of %s left out: in code that runs only when "
				      "the kernel starts",
				      w->gone, n, p->function ? p->function : p->file));
	if (w->left_out)
		vec_push(&w->ret->notes,
			 arena_printf(w->arena, "%u of %d places of %s left out: %.*s", w->left_out,
				      n, p->function ? p->function : p->file,
				      (int)strcspn(w->why.msg, "\n"), w->why.msg));
	if (n)
		return n < 0 ? n : 0;
	if (p->has_address)
		return w->t->user ? probe_define_add(w, p->address, NULL, NULL, p->address, NULL)
				  : err_set(w->e, EINVAL,
					    "addresses can be given for programs "
					    "only; use FUNC+OFFSET");
	/* symbols know nothing of lines and files */
	n = p->function && !p->has_line && !p->pattern && !p->file ? symbol_places(w) : 0;
	return n < 0 ? n : n == 0 ? not_found(w) : 0;
}

static struct work begin(const struct probe_target *t, const struct probe_text *p, struct err *e)
{
	return (struct work){ .t = t,
			      .p = p,
			      .e = e,
			      .sources.opts = {
				      .symfs = t->symfs, .prefix = t->source, .any_depth = true } };
}

int probe_define(const struct probe_target *t, const struct probe_text *p, struct arena *a,
		 struct probe_defs *ret, struct err *e)
{
	struct work w = begin(t, p, e);
	int err;

	w.arena = a;
	w.ret = ret;
	err = places(&w);
	srctext_free(&w.sources);
	return err;
}

int probe_points(const struct probe_target *t, const struct probe_text *p, dwarf_point_fn *fn,
		 void *ctx, struct err *e)
{
	struct work w = begin(t, p, e);
	int n = dwarf_places(&w, fn, ctx);

	srctext_free(&w.sources);
	return n < 0 ? n : n == 0 ? not_found(&w) : 0;
}
