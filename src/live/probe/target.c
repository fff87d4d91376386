/* SPDX-License-Identifier: MIT */
#include "live/probe/target.h"

#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "sym/find/find.h"
#include "sym/names/demangle.h"

static int find_more(void *ctx, const struct dwarf_need *need, struct elf **ret)
{
	const struct probe_target *t = ctx;
	struct find_stats st = { 0 };

	return find_part(t->find, t->debug ? t->debug : t->elf, need, ret, &st);
}

/* A bare name is looked for as the shell does. */
static char *find_program(const char *name)
{
	const char *path = getenv("PATH");
	char *real;

	if (strchr(name, '/') || file_exists(name) || !path)
		return realpath(name, NULL);
	while (*path) {
		size_t n = strcspn(path, ":");
		AUTO_FREE char *full = mem_printf("%.*s/%s", (int)n, path, name);

		real = n ? realpath(full, NULL) : NULL;
		if (real)
			return real;
		path += n + (path[n] == ':');
	}
	errno = ENOENT;
	return NULL;
}

void probe_target_read(struct probe_target *t, const struct probe_target_opts *o)
{
	struct find_want want = { .path = t->elf->path, .id = t->elf->build_id };
	struct find_stats st = { 0 };
	struct err ignored;

	t->find = mem_alloc(sizeof(*t->find));
	t->debuginfod = o->no_debuginfod
				? NULL
				: debuginfod_new(&(struct debuginfod_opts){
					  .progress = o->progress, .ctx = o->progress_ctx });
	*t->find =
		(struct find_opts){ .symfs = o->symfs, .cache = -1, .debuginfod = t->debuginfod };
	if (find_debug(t->find, &want, t->elf, &t->debug, &st, &ignored) < 0)
		t->debug = NULL;
	if (dwarf_open(t->elf, find_more, t, &t->dwarf, NULL) < 0 &&
	    (!t->debug || dwarf_open(t->debug, find_more, t, &t->dwarf, NULL) < 0))
		t->dwarf = NULL;
	if (symtab_load(&t->syms, t->elf, t->debug, &ignored) < 0)
		t->syms.n = 0;
	if (ehframe_open_mem(t->elf->data, t->elf->size, 0, &t->cfi, &ignored) < 0)
		t->cfi = NULL;
	t->syntax.machine = t->elf->machine;
}

static uint64_t text_slide(const struct elf *e)
{
	for (size_t i = 0; i < e->nsegment; i++)
		if (e->segment[i].type == PT_LOAD && (e->segment[i].flags & PF_X))
			return e->segment[i].vaddr - e->segment[i].offset;
	return 0;
}

static int open_program(const struct probe_target_opts *o, struct probe_target *t, struct err *e)
{
	AUTO_FREE char *below = o->symfs ? mem_printf("%s/%s", o->symfs, o->exec) : NULL;
	int err;

	t->user = true;
	t->path = find_program(o->exec);
	if (!t->path && !below)
		return err_set(e, errno, "cannot find %s: %s", o->exec, strerror(errno));
	if (!t->path)
		t->path = mem_strdup(o->exec);
	err = elf_open_path(below ? below : t->path, &t->elf, e);
	if (err < 0)
		return err;
	if (t->elf->type != ET_EXEC && t->elf->type != ET_DYN)
		return err_set(e, ENOEXEC, "%s is neither a program nor a library", t->path);
	probe_target_read(t, o);
	t->syntax.user = true;
	t->syntax.slide = text_slide(t->elf);
	return 0;
}

/* How many symbols have that name; only whether there are several matters. */
static unsigned times(const struct symtab *tab, const char *name)
{
	unsigned n = 0;

	for (size_t i = 0; i < tab->n && n < 2; i++)
		n += tab->sym[i].name[0] == name[0] && strcmp(tab->sym[i].name, name) == 0;
	return n;
}

static const struct symtab_sym *first_named(const struct symtab *tab, const char *name)
{
	for (size_t i = 0; i < tab->n; i++)
		if (strcmp(tab->sym[i].name, name) == 0)
			return &tab->sym[i];
	return NULL;
}

/* One of several symbols of a name is told by its distance from the kernel's start; the kernel
 * would take the first. */
static bool from_start(const struct symtab *tab, uint64_t addr, const char *name,
		       struct strbuf *out)
{
	const struct symtab_sym *text;

	if (times(tab, name) < 2 || !(text = first_named(tab, "_text")) || !text->start ||
	    text->start > addr)
		return false;
	strbuf_printf(out, "_text+%" PRIu64, addr - text->start);
	return true;
}

bool probe_target_data(const struct probe_target *t, uint64_t addr, struct strbuf *out)
{
	const struct symtab_sym *s = t->elf ? symtab_find(&t->syms, addr) : NULL;

	if (!s)
		return false;
	if (t->module || !from_start(&t->syms, addr, s->name, out))
		strbuf_printf(out, "%s+%" PRIu64, s->name, addr - s->start);
	return true;
}

void probe_target_resolve(const struct probe_target *t, struct dwarf_var *v)
{
	const struct symtab_sym *s = v->declared ? first_named(&t->syms, v->name) : NULL;

	if (!s)
		return;
	v->why = NULL;
	v->fetch = (struct dwarf_fetch){ .base = DWARF_ADDR, .value = s->start, .n = 1 };
}

int probe_target_open(const struct probe_target_opts *o, struct probe_target *ret, struct err *e)
{
	int err;

	*ret = (struct probe_target){ .source = o->source,
				      .symfs = o->symfs,
				      .no_inlines = o->no_inlines };
	err = o->exec ? open_program(o, ret, e) : probe_target_kernel(o, ret, e);
	if (err < 0)
		probe_target_close(ret);
	return err;
}

void probe_target_close(struct probe_target *t)
{
	dwarf_close(t->dwarf);
	ehframe_close(t->cfi);
	symtab_free(&t->syms);
	elf_free(t->debug);
	elf_free(t->elf);
	if (t->has_kallsyms)
		kallsyms_free(&t->kallsyms);
	btf_types_free(t->module_btf);
	btf_types_free(t->btf);
	debuginfod_free(t->debuginfod);
	free(t->find);
	free(t->path);
	free(t->module);
	*t = (struct probe_target){ 0 };
}

static const struct elf_section *code_section(const struct elf *e, uint64_t addr)
{
	for (size_t i = 1; i < e->nsection; i++)
		if ((e->section[i].flags & SHF_EXECINSTR) && addr >= e->section[i].addr &&
		    addr - e->section[i].addr < e->section[i].size)
			return &e->section[i];
	return NULL;
}

bool probe_target_gone(const struct probe_target *t, uint64_t addr)
{
	const struct elf_section *s = t->user || !t->elf ? NULL : code_section(t->elf, addr);

	return s && (str_starts(s->name, ".init") || str_starts(s->name, ".exit"));
}

static bool is_function(const struct probe_target *t, const struct symtab_sym *s)
{
	if (t->user)
		return s->type == STT_FUNC || s->type == STT_GNU_IFUNC;
	if (t->elf) /* what is written in assembler may lack its type */
		return (s->type == STT_FUNC ||
			(s->type == STT_NOTYPE && code_section(t->elf, s->start))) &&
		       !probe_target_gone(t, s->start);
	if (!t->module)
		return true;
	return strcmp(strtab_get(&t->kallsyms.modules, s->module), t->module) == 0;
}

/* "name@@GLIBC_2.2" is called "name". */
static bool same_name(const char *symbol, const char *name)
{
	size_t n = strlen(name);

	return strncmp(symbol, name, n) == 0 && (symbol[n] == '\0' || symbol[n] == '@') &&
	       !str_ends(symbol, "@plt");
}

const struct symtab_sym *probe_target_symbol(const struct probe_target *t, const char *name,
					     size_t *at)
{
	const struct symtab *tab = &t->syms;
	bool glob = str_has_glob(name), written = demangle_is_written(name);

	if (!t->elf && !t->has_kallsyms)
		return NULL;
	for (; *at < tab->n; (*at)++) {
		const struct symtab_sym *s = &tab->sym[*at];

		if ((same_name(s->name, name) || (glob && str_glob(name, s->name)) ||
		     (written && demangle_fits(s->name, name))) &&
		    is_function(t, s)) {
			(*at)++;
			return s;
		}
	}
	return NULL;
}

bool probe_target_alias(const struct probe_target *t, const char *name, struct dwarf_point *ret)
{
	const struct symtab_sym *s;
	size_t at = 0;

	if (str_has_glob(name))
		return false;
	s = probe_target_symbol(t, name, &at);
	return s && dwarf_point_at(t->dwarf, s->start, ret) && ret->entry == s->start &&
	       ret->function && strcmp(ret->function, name) != 0;
}

/* The function's symbol at an address: the one that is asked for, if it is one of those there. */
static const struct symtab_sym *symbol_at(const struct symtab *tab, uint64_t addr, const char *want)
{
	const struct symtab_sym *s = symtab_find(tab, addr), *last = tab->sym + tab->n;

	if (!s || !want)
		return s;
	while (s > tab->sym && s[-1].start == s->start)
		s--;
	for (const struct symtab_sym *a = s; a < last && a->start == s->start; a++)
		if (addr < a->end && strcmp(a->name, want) == 0)
			return a;
	return symtab_find(tab, addr);
}

const char *probe_target_near(const struct probe_target *t, uint64_t addr, const char *symbol,
			      uint64_t start, uint64_t *offset)
{
	const struct symtab_sym *s = t->user ? NULL : symbol_at(&t->syms, addr, symbol);

	*offset = addr - (s ? s->start : start);
	return s ? s->name : symbol;
}

/* The symbol is the table's, not the debug info's: parts of functions are their own (foo.cold),
 * and foo would be another place. */
static void kernel_place(const struct probe_target *t, uint64_t addr, const char *symbol,
			 uint64_t start, struct strbuf *out)
{
	uint64_t offset;
	const char *name = probe_target_near(t, addr, symbol, start, &offset);

	if (!t->module && from_start(&t->syms, addr, name, out))
		return;
	strbuf_printf(out, "%s%s%s+%" PRIu64, t->module ? t->module : "", t->module ? ":" : "",
		      name, offset);
}

bool probe_target_place(const struct probe_target *t, uint64_t addr, const char *symbol,
			uint64_t start, struct strbuf *out)
{
	uint64_t offset;

	if (!t->user) {
		kernel_place(t, addr, symbol, start, out);
		return true;
	}
	if (!elf_offset(t->elf, addr, &offset))
		return false;
	strbuf_printf(out, "%s:0x%" PRIx64, t->path, offset);
	return true;
}
