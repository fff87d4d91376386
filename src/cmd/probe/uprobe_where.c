/* SPDX-License-Identifier: MIT */
#include "cmd/probe/probe.h"

#include <ctype.h>
#include <string.h>

#include "live/run/env.h"
#include "sym/disasm/code.h"
#include "sym/elf/elf.h"
#include "sym/elf/symtab.h"
#include "sym/names/demangle.h"

int uprobe_path(const char *target, char **ret, struct err *e)
{
	AUTO_FREE char *found = run_find_file(target);
	char *real = found ? realpath(found, NULL) : NULL;

	if (!real) {
		err_set(e, ENOENT, "there is no program or library '%s'", target);
		return err_hint(e, "give its path");
	}
	*ret = real;
	return 0;
}

struct object {
	struct elf *elf;
	struct symtab tab;
};

static int uprobe_where_load(const char *path, struct object *o, struct err *e)
{
	int r = elf_open_path(path, &o->elf, e);

	if (r < 0)
		return r;
	r = symtab_load(&o->tab, o->elf, NULL, e);
	if (r < 0) {
		elf_free(o->elf);
		err_hint(e, "it was stripped of its symbols; give an offset: %s:0x...", path);
	}
	return r;
}

static void unload(struct object *o)
{
	symtab_free(&o->tab);
	elf_free(o->elf);
}

static bool is_function(const struct symtab_sym *s)
{
	return (s->type == STT_FUNC || s->type == STT_GNU_IFUNC) && !str_ends(s->name, "@plt");
}

/* open64 is open64@@GLIBC_2.2.5 in a library. */
static bool uprobe_where_named(const char *symbol, const char *name, size_t n)
{
	return strncmp(symbol, name, n) == 0 && (symbol[n] == '\0' || symbol[n] == '@');
}

static int uprobe_where_no_function(const struct object *o, const char *path, const char *wanted,
				    struct err *e)
{
	struct str_nearest near = { .typed = wanted };
	bool written = demangle_is_written(wanted);
	struct arena names = { 0 };
	char list[256];

	for (size_t i = 0; i < o->tab.n; i++) {
		const struct symtab_sym *s = &o->tab.sym[i];
		AUTO_FREE char *full = is_function(s) && written ? demangle_dup(s->name, 0) : NULL;

		if (is_function(s))
			str_nearest_add(&near, full ? arena_strdup(&names, full) : s->name);
	}
	err_set(e, ENOENT, "%s has no function '%s'", path, wanted);
	if (str_nearest_list(&near, list, sizeof(list)))
		err_hint(e, "did you mean %s?", list);
	else
		err_hint(e, "kymo uprobe -l %s lists them", path);
	arena_free(&names);
	return -ENOENT;
}

/* By the name in the symbol table, or by what a programmer calls it. */
static int find_symbol(const struct object *o, const char *path, const char *wanted,
		       const struct symtab_sym **ret, struct err *e)
{
	const struct symtab_sym *found = NULL;

	for (size_t i = 0; i < o->tab.n; i++)
		if (is_function(&o->tab.sym[i]) &&
		    uprobe_where_named(o->tab.sym[i].name, wanted, strlen(wanted))) {
			*ret = &o->tab.sym[i];
			return 0;
		}
	for (size_t i = 0; i < o->tab.n; i++) {
		const struct symtab_sym *s = &o->tab.sym[i];
		AUTO_FREE char *one = NULL, *other = NULL;

		if (!is_function(s) || !demangle_fits(s->name, wanted) ||
		    (found && found->start == s->start))
			continue;
		if (!found) {
			found = s;
			continue;
		}
		one = demangle_dup(found->name, DEMANGLE_PARAMS);
		other = demangle_dup(s->name, DEMANGLE_PARAMS);
		err_set(e, EINVAL, "%s has several functions '%s'", path, wanted);
		if (strcmp(one, other) == 0) /* a destructor has several */
			return err_hint(e, "give one by the linker's name, %s or %s", found->name,
					s->name);
		return err_hint(e,
				"give one with its parameters, %s or %s, or probe all with kymo "
				"probe -x %s '%s'",
				one, other, path, wanted);
	}
	if (!found)
		return uprobe_where_no_function(o, path, wanted, e);
	*ret = found;
	return 0;
}

/* SYMBOL[+OFFSET] as an offset in the file. */
static int find_offset(const char *path, const char *symbol, uint64_t *ret, struct err *e)
{
	size_t n = strcspn(symbol, "+");
	uint64_t more = symbol[n] ? strtoull(symbol + n + 1, NULL, 0) : 0;
	AUTO_FREE char *wanted = mem_strndup(symbol, n);
	const struct symtab_sym *s = NULL;
	struct object o = { 0 };
	struct code_led led = { 0 };
	int r = uprobe_where_load(path, &o, e);

	if (r < 0)
		return r;
	r = find_symbol(&o, path, wanted, &s, e);
	if (r >= 0 && !elf_offset(o.elf, symbol[n] ? s->start : code_entry(o.elf, s, &led), ret))
		r = uprobe_where_no_function(&o, path, wanted, e);
	if (r >= 0 && s && more)
		r = code_check(o.elf, &o.tab, path, s->start + more, e);
	if (r >= 0)
		*ret += more;
	code_led_free(&led);
	unload(&o);
	return r;
}

/* Between file and function: the last colon by itself, before templates and parameters. */
static const char *separator(const char *where)
{
	const char *last = NULL;

	for (const char *c = where; *c && !strchr("<(", *c); c++) {
		if (c[0] == ':' && c[1] == ':')
			c++;
		else if (*c == ':')
			last = c;
	}
	return last;
}

/* An event's name for it: "over" of "ns::over(int)". */
static char *uprobe_where_event_name(const char *symbol)
{
	size_t n = strcspn(symbol, "<(+@.");
	const char *s = symbol + n;

	while (s > symbol && (isalnum((unsigned char)s[-1]) || s[-1] == '_'))
		s--;
	n = (size_t)(symbol + n - s);
	return isdigit((unsigned char)*s) ? mem_printf("p_%.*s", (int)n, s)
	       : n			  ? mem_strndup(s, n)
					  : mem_strdup("probe");
}

/* An offset in the file: of code, and not within an instruction. */
static int check_offset(const char *path, uint64_t offset, struct err *e)
{
	struct object o = { 0 };
	uint64_t addr;
	int r = uprobe_where_load(path, &o, NULL);

	if (r < 0) /* nobody knows; the kernel may still refuse it */
		return 0;
	r = elf_vaddr(o.elf, offset, &addr) ? code_check(o.elf, &o.tab, path, addr, e)
					    : err_set(e, ENOENT, "there is no code at 0x%llx in %s",
						      (unsigned long long)offset, path);
	unload(&o);
	return r;
}

int uprobe_definition(const char *text, char **ret, struct err *e)
{
	AUTO_FREE char *path = NULL, *where = NULL, *name = NULL, *target = NULL;
	size_t kind = strcspn(text, ": \t"), word = strcspn(text, " \t");
	const char *rest = text + word, *colon, *symbol;
	uint64_t offset;
	int r;

	while (isspace((unsigned char)*rest))
		rest++;
	colon = text[kind] == ':' ? memchr(text + kind + 1, ':', word - kind - 1) : NULL;
	if (colon) { /* p:TARGET:SYMBOL */
		where = mem_strndup(text + kind + 1, word - kind - 1);
	} else { /* p[:NAME] TARGET:SYMBOL */
		size_t n = strcspn(rest, " \t");

		if (text[kind] == ':' && word > kind + 1)
			name = mem_strndup(text + kind + 1, word - kind - 1);
		where = mem_strndup(rest, n);
		rest += n;
		while (isspace((unsigned char)*rest))
			rest++;
	}
	symbol = separator(where);
	if (!symbol) {
		err_set(e, EINVAL, "'%s' does not say which function of which file", text);
		return err_hint(e, "p:TARGET:SYMBOL, for instance p:bash:readline");
	}
	target = mem_strndup(where, (size_t)(symbol - where));
	symbol++;
	r = uprobe_path(target, &path, e);
	if (r < 0)
		return r;
	if (isdigit((unsigned char)*symbol)) {
		offset = strtoull(symbol, NULL, 0);
		r = check_offset(path, offset, e);
		if (r < 0)
			return r;
	} else if ((r = find_offset(path, symbol, &offset, e)) < 0)
		return r;
	if (!name)
		name = uprobe_where_event_name(symbol);
	*ret = mem_printf("%.*s:%s %s:0x%llx%s%s", (int)kind, text, name, path,
			  (unsigned long long)offset, *rest ? " " : "", rest);
	return 0;
}

int uprobe_list(const char *target, const char *pattern, struct err *e)
{
	AUTO_FREE char *path = NULL;
	struct object o = { 0 };
	struct strtab names = { 0 };
	int r = uprobe_path(target, &path, e);

	if (r >= 0)
		r = uprobe_where_load(path, &o, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < o.tab.n; i++) {
		const char *name = o.tab.sym[i].name;
		AUTO_FREE char *full = demangle_dup(name, 0);

		if (!is_function(&o.tab.sym[i]) ||
		    (pattern && !str_glob(pattern, name) && !strstr(name, pattern) &&
		     !(full && (str_glob(pattern, full) || strstr(full, pattern)))))
			continue;
		strtab_add(&names, full ? full : name);
	}
	probe_sort(&names);
	for (size_t i = 0; i < names.n; i++)
		puts(names.name[i]);
	strtab_free(&names);
	unload(&o);
	return 0;
}
