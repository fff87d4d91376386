/* SPDX-License-Identifier: MIT */
/* kymo probe -L, -V, -F, -l: what can be probed, and what is. */
#include <inttypes.h>

#include "base/sort.h"
#include "cmd/command.h"
#include "cmd/probe/probe.h"
#include "kern/probe_events.h"
#include "kern/tracefs.h"
#include "sym/disasm/srctext.h"
#include "sym/names/demangle.h"

#define LINES_MORE 2 /* shown behind the last that can be probed */

bool probe_filter(const char *filter, const char *name)
{
	if (!filter || !*filter)
		return true;
	do {
		size_t n = strcspn(filter, "|");
		bool fits = true;

		for (size_t at = 0; at < n && fits;) {
			size_t len = strcspn(filter + at, "&|");
			AUTO_FREE char *part = mem_strndup(filter + at, len);
			const char *p = part + strspn(part, " !");
			bool negated = strchr(part, '!') && strchr(part, '!') < p;

			part[strlen(part) - (str_ends(part, " ") ? 1 : 0)] = '\0';
			fits = str_glob(p, name) != negated;
			at += len + 1;
		}
		if (fits)
			return true;
		filter += n + (filter[n] == '|');
	} while (*filter);
	return false;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void probe_sort(struct strtab *t)
{
	if (t->n)
		qsort(t->name, t->n, sizeof(*t->name), by_text);
}

static int needs_debug_info(const struct probe_target *t, const char *what, struct err *e)
{
	err_set(e, ENOENT, "%s: %s has no debug info", what, t->user ? t->path : "the kernel");
	return err_hint(
		e, "%s",
		t->user ? "compile it with -g, install its -dbgsym package, or set DEBUGINFOD_URLS"
			: "give its debug file with -k VMLINUX");
}

/* --- -L --- */

static int keep_line(void *ctx, const char *file, uint32_t line)
{
	*map_at(ctx, line) = 1;
	return 0;
}

static int print_lines(const struct probe_opts *o, const struct probe_lines *range,
		       const struct map *lines, const char *path, uint32_t first, uint32_t last,
		       struct err *e)
{
	struct srctext sources = {
		.opts = { .symfs = o->target.symfs, .prefix = o->target.source, .any_depth = true }
	};
	uint32_t from = first + range->from,
		 to = range->to == UINT32_MAX ? last + LINES_MORE : first + range->to;
	const char *text;
	size_t n;

	if (!first && !range->from)
		from = 1;
	if (!srctext_line(&sources, path, from, &n)) {
		srctext_free(&sources);
		err_set(e, ENOENT, "the source file %s is not here", path);
		return err_hint(e, "say where it is with -s DIR");
	}
	if (range->function)
		printf("<%s@%s:%" PRIu32 ">\n", range->function, srctext_path(&sources, path),
		       from - first);
	else
		printf("<%s:%" PRIu32 ">\n", srctext_path(&sources, path), from);
	for (uint32_t line = from; line <= to && (text = srctext_line(&sources, path, line, &n));
	     line++) {
		if (map_find(lines, line))
			printf("%7" PRIu32 "  %.*s\n", line - first, (int)n, text);
		else
			printf("         %.*s\n", (int)n, text);
		/* the end of a function is the end of what was asked for */
		if (range->function && range->to == UINT32_MAX && line >= last && n && *text == '}')
			break;
	}
	srctext_free(&sources);
	return 0;
}

int probe_show_lines(const struct probe_opts *o, const char *text, struct err *e)
{
	struct arena arena = { 0 };
	struct probe_lines range;
	struct probe_target t = { 0 };
	struct map lines = { 0 };
	struct dwarf_point point;
	const char *path = NULL;
	uint32_t first, last;
	int err = probe_lines_parse(&arena, text, &range, e);

	if (err == 0)
		err = probe_target_open(&o->target, &t, e);
	if (err < 0) {
		arena_free(&arena);
		return err;
	}
	if (!t.dwarf) {
		err = needs_debug_info(&t, "lines are not known", e);
	} else {
		dwarf_stmts(t.dwarf, range.function, range.file, &path, &first, &last, keep_line,
			    &lines);
		if (!path && range.function && probe_target_alias(&t, range.function, &point))
			dwarf_stmts(t.dwarf, point.function, range.file, &path, &first, &last,
				    keep_line, &lines);
		if (path)
			err = print_lines(o, &range, &lines, path, first, last, e);
		else
			err = err_set(e, ENOENT, "%s is not in the debug info", text);
	}
	map_free(&lines);
	probe_target_close(&t);
	arena_free(&arena);
	return err;
}

/* --- -V --- */

struct vars {
	const struct probe_opts *o;
	const struct probe_target *t;
	struct strtab texts;
	const struct dwarf_point *point;
	struct strbuf ranges;
	const char *title; /* shown before the first of them; NULL: it was */
};

static void add_span(void *ctx, uint64_t lo, uint64_t hi)
{
	struct vars *v = ctx;

	strbuf_printf(&v->ranges, "%s%" PRIu64 "-%" PRIu64, v->ranges.n ? "," : "",
		      lo - v->point->entry, hi - v->point->entry);
}

static int keep_var(void *ctx, const struct dwarf_var *var)
{
	struct vars *v = ctx;
	struct dwarf_var found;
	AUTO_STRBUF line = { 0 };

	if (var->declared && v->o->externs) {
		found = *var;
		probe_target_resolve(v->t, &found);
		var = &found;
	}
	if ((var->why && !v->o->range) || (var->global && !v->o->externs) ||
	    !probe_filter(v->o->filter, var->name))
		return 0;
	if (v->o->range)
		strbuf_printf(&line, "[%s]\t", var->why ? "INV" : "VAL");
	dwarf_type_text(var->type, &line);
	strbuf_printf(&line, "\t%s", var->name);
	if (v->o->range && !var->global) {
		strbuf_reset(&v->ranges);
		dwarf_var_spans(v->point, var, add_span, v);
		if (v->ranges.n)
			strbuf_printf(&line, "\t@<%s+[%s]>", v->point->symbol,
				      strbuf_str(&v->ranges));
	}
	strtab_add(&v->texts, strbuf_str(&line));
	return 0;
}

static void print_vars(struct vars *v, const char *symbol, uint64_t offset)
{
	if (v->title)
		printf("Available variables at %s\n", v->title);
	v->title = NULL;
	printf("\t@<%s+%" PRIu64 ">\n", symbol, offset);
	probe_sort(&v->texts);
	if (!v->texts.n)
		puts("\t\t(No matched variables)");
	for (size_t i = 0; i < v->texts.n; i++)
		printf("\t\t%s\n", v->texts.name[i]);
	strtab_free(&v->texts);
	v->texts = (struct strtab){ 0 };
}

static int vars_at(void *ctx, const struct dwarf_point *p)
{
	struct vars *v = ctx;
	AUTO_FREE char *written = NULL;
	const char *symbol;
	uint64_t offset;

	v->point = p;
	dwarf_vars(v->t->dwarf, p, v->t->cfi, v->o->externs, keep_var, v);
	symbol = probe_target_near(v->t, p->addr, p->symbol, p->entry, &offset);
	written = v->o->demangle ? demangle_dup(symbol, 0) : NULL;
	print_vars(v, written ? written : symbol, offset);
	return 0;
}

/* Without debug info: the parameters the kernel's BTF knows. */
static int vars_by_btf(struct vars *v, const struct probe_text *p, struct err *e)
{
	const struct btf_types *b = probe_target_btf(v->t);
	uint32_t func = b && p->function && !p->has_line && !p->offset
				? btf_by_name(b, BTF_KIND_FUNC, p->function)
				: 0;
	const struct btf_param *params;
	unsigned n;

	if (!func)
		return needs_debug_info(v->t, "variables are not known", e);
	params = btf_params(b, func, &n);
	for (unsigned i = 0; i < n; i++) {
		AUTO_STRBUF line = { 0 };

		if (!probe_filter(v->o->filter, btf_str(b, params[i].name_off)))
			continue;
		btf_text(b, params[i].type, &line);
		strbuf_printf(&line, "\t%s", btf_str(b, params[i].name_off));
		strtab_add(&v->texts, strbuf_str(&line));
	}
	print_vars(v, p->function, 0);
	return 0;
}

int probe_show_vars(const struct probe_opts *o, const char *text, struct err *e)
{
	struct arena arena = { 0 };
	struct probe_text p = { 0 };
	struct probe_target t;
	struct vars v = { .o = o, .t = &t, .title = text };
	char *word = (char *)text;
	int err = probe_parse(&arena, &word, 1, &p, e);

	if (err == 0)
		err = probe_target_open(&o->target, &t, e);
	if (err == 0) {
		err = t.dwarf ? probe_points(&t, &p, vars_at, &v, e) : vars_by_btf(&v, &p, e);
		strbuf_free(&v.ranges);
		strtab_free(&v.texts);
		probe_target_close(&t);
	}
	probe_text_free(&p);
	arena_free(&arena);
	return err;
}

/* --- -F --- */

struct names {
	struct strtab texts;
	const char *filter;
	bool demangle;
};

/* By its whole name, its own, or the linker's. */
static bool name_wanted(const char *filter, const char *full, const char *name, const char *symbol)
{
	if (probe_filter(filter, full))
		return true;
	return !strchr(filter, '!') &&
	       (probe_filter(filter, name) || (symbol && probe_filter(filter, symbol)));
}

static int keep_name(void *ctx, const char *name, const char *symbol)
{
	struct names *n = ctx;
	const char *shown = symbol ? symbol : name;
	AUTO_FREE char *plain = mem_strndup(shown, strcspn(shown, "@"));
	AUTO_FREE char *full = n->demangle ? demangle_dup(plain, 0) : NULL;

	shown = full ? full : plain;
	if (name_wanted(n->filter, shown, name, symbol))
		strtab_add(&n->texts, shown);
	return 0;
}

int probe_show_functions(const struct probe_opts *o, const char *filter, struct err *e)
{
	struct names n = { .filter = filter, .demangle = o->demangle };
	const struct symtab_sym *s;
	struct probe_target t;
	size_t at = 0;
	int err = probe_target_open(&o->target, &t, e);

	if (err < 0)
		return err;
	while ((s = probe_target_symbol(&t, "*", &at)))
		if (!str_ends(s->name, "@plt")) /* those are other files' */
			keep_name(&n, s->name, NULL);
	/* functions that exist only inside of others */
	if (t.dwarf && t.user && !o->target.no_inlines)
		dwarf_function_names(t.dwarf, keep_name, &n);
	probe_sort(&n.texts);
	for (size_t i = 0; i < n.texts.n; i++) {
		AUTO_FREE char *made = NULL;

		puts(str_one_line(n.texts.name[i], &made));
	}
	strtab_free(&n.texts);
	probe_target_close(&t);
	return 0;
}

/* --- -l --- */

/* The file of the last event, which most often is the next one's too. */
struct opened {
	struct probe_target t;
	char *path;
};

static const struct probe_target *open_again(struct opened *o, const char *path)
{
	struct probe_target_opts want = { .exec = path, .no_debuginfod = true };
	struct err ignored;

	if (o->path && strcmp(o->path, path) == 0)
		return o->t.elf ? &o->t : NULL;
	if (o->path && o->t.elf)
		probe_target_close(&o->t);
	free(o->path);
	o->path = mem_strdup(path);
	return probe_target_open(&want, &o->t, &ignored) < 0 ? NULL : &o->t;
}

static void opened_close(struct opened *o)
{
	if (o->path && o->t.elf)
		probe_target_close(&o->t);
	free(o->path);
}

/* "work:3@/src/t.c" from debug info, "work+7" from symbols. */
static bool place_text(const struct probe_target *t, uint64_t offset, bool ret, struct strbuf *out)
{
	const char *end = ret ? "%return" : "";
	const struct symtab_sym *s;
	struct dwarf_point p;
	struct dwarf_frame f[16];
	uint64_t vaddr;
	unsigned n;

	if (!elf_vaddr(t->elf, offset, &vaddr))
		return false;
	n = t->dwarf ? dwarf_lookup(t->dwarf, vaddr, true, f, ARRAY_SIZE(f)) : 0;
	if (n > 1 && f[0].name && f[0].file) { /* inlined: the line says more than an offset */
		strbuf_printf(out, "%s@%s:%" PRIu32, f[0].name, f[0].file, f[0].line);
		return true;
	}
	if (n && dwarf_point_at(t->dwarf, vaddr, &p) && p.file) {
		strbuf_puts(out, p.function);
		if (vaddr != p.entry && f[0].line > p.line)
			strbuf_printf(out, ":%" PRIu32, f[0].line - p.line);
		strbuf_printf(out, "%s@%s", end, p.file);
		return true;
	}
	s = symtab_find(&t->syms, vaddr);
	if (!s)
		return false;
	strbuf_printf(out, "%.*s", (int)strcspn(s->name, "@"), s->name);
	if (vaddr != s->start)
		strbuf_printf(out, "+%" PRIu64, vaddr - s->start);
	strbuf_puts(out, end);
	return true;
}

static void print_event(struct opened *o, const struct probe_event *p)
{
	AUTO_FREE char *name = mem_printf("%s:%s", p->group, p->event);
	AUTO_FREE char *where = mem_strndup(p->where, strcspn(p->where, " "));
	const char *args = p->where + strcspn(p->where, " ");
	char *colon = p->user ? strrchr(where, ':') : NULL;
	AUTO_STRBUF place = { 0 };
	AUTO_STRBUF with = { 0 };
	const struct probe_target *t;

	if (colon) {
		uint64_t offset = strtoull(colon + 1, NULL, 16);

		*colon = '\0';
		t = open_again(o, where);
		if (!t || !place_text(t, offset, p->ret, &place))
			strbuf_printf(&place, "0x%" PRIx64, offset);
	} else {
		strbuf_add(&place, where, strlen(where) - (str_ends(where, "+0") ? 2 : 0));
	}
	if (!colon && p->ret)
		strbuf_puts(&place, "%return");
	printf("  %-20s (on %s", name, strbuf_str(&place));
	if (colon)
		printf(" in %s", where);
	probe_arg_names(args, &with);
	printf("%s)\n", strbuf_str(&with));
}

int probe_show_list(const struct probe_opts *o, const char *filter, struct err *e)
{
	const char *root = tracefs_find(e);
	struct probe_events have;
	struct opened opened = { 0 };
	int err;

	if (!root)
		return -e->code;
	err = probe_events_read(root, &have, e);
	if (err < 0)
		return err;
	vec_each (&have.list, p) {
		AUTO_FREE char *full = mem_printf("%s:%s", p->group, p->event);

		if (probe_filter(filter, strchr(filter ? filter : "", ':') ? full : p->event))
			print_event(&opened, p);
	}
	opened_close(&opened);
	probe_events_free(&have);
	return 0;
}
