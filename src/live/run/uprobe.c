/* SPDX-License-Identifier: MIT */
/* Probes in programs: functions by name or pattern, symbols, files. */
#include <glob.h>
#include <inttypes.h>
#include <string.h>

#include "live/run/env.h"
#include "sym/disasm/code.h"
#include "sym/disasm/disasm.h"
#include "sym/names/demangle.h"

/* Probes are called as they were written: links are not followed. */
static char *run_uprobe_absolute(const char *path)
{
	return *path == '/' ? mem_strdup(path) : realpath(path, NULL);
}

/* Of any version, in one of the folders where libraries are. */
static char *run_find_library(const char *name)
{
	AUTO_FREE char *pattern = mem_printf(
		"{/lib,/usr/lib}{/x86_64-linux-gnu,/aarch64-linux-gnu,64,,/../local/lib}/%s.so.*",
		name);
	char *found = NULL;
	glob_t g = { 0 };

	if (glob(pattern, GLOB_BRACE, NULL, &g) == 0 && g.gl_pathc)
		found = mem_strdup(g.gl_pathv[0]);
	globfree(&g);
	return found;
}

char *run_find_file(const char *name)
{
	const char *path = getenv("PATH");
	char *found;

	if (strchr(name, '/') && access(name, R_OK) < 0)
		return NULL;
	if (strchr(name, '/'))
		return run_uprobe_absolute(name);
	/* a library's bare name, as in libc: what the loader would find */
	if (str_starts(name, "lib")) {
		static const char *const dirs[] = { "/lib/x86_64-linux-gnu",
						    "/usr/lib/x86_64-linux-gnu",
						    "/lib/aarch64-linux-gnu",
						    "/lib64",
						    "/usr/lib64",
						    "/lib",
						    "/usr/lib" };
		static const char *const ends[] = { "", ".so.6", ".so", ".so.1", ".so.3" };

		for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
			for (size_t k = 0; k < ARRAY_SIZE(ends); k++) {
				AUTO_FREE char *full =
					mem_printf("%s/%s%s", dirs[i], name, ends[k]);

				if (access(full, R_OK) == 0)
					return run_uprobe_absolute(full);
			}
	}
	/* what became a part of the C library */
	if (strcmp(name, "libpthread") == 0 || strcmp(name, "libdl") == 0 ||
	    strcmp(name, "librt") == 0)
		return run_find_file("libc");
	if (str_starts(name, "lib") && (found = run_find_library(name)))
		return found;
	for (path = path ? path : "/usr/bin:/bin"; *path;
	     path += strcspn(path, ":"), path += *path == ':') {
		AUTO_FREE char *full = mem_printf("%.*s/%s", (int)strcspn(path, ":"), path, name);

		if (access(full, X_OK) == 0)
			return run_uprobe_absolute(full);
	}
	return str_starts(name, "lib") ? NULL : run_find_library(name);
}

struct program_file {
	struct elf *elf;
	struct symtab tab;
};

int run_open_elf(const char *path, struct elf **ret, struct err *e)
{
	AUTO_FREE char *full = run_find_file(path);

	if (full)
		return elf_open_path(full, ret, e);
	err_set(e, ENOENT, "there is no file '%s'", path);
	return err_hint(e, "give its path, or the name of a program in $PATH");
}

static int run_user_open_file(const char *path, struct program_file *f, struct err *e)
{
	struct err none = { 0 };
	int r;

	*f = (struct program_file){ 0 };
	r = run_open_elf(path, &f->elf, e);
	if (r == 0)
		symtab_load(&f->tab, f->elf, NULL, &none);
	return r;
}

static void close_file(struct program_file *f)
{
	symtab_free(&f->tab);
	elf_free(f->elf);
}

static bool run_uprobe_fits(const struct lang_point *p, const char *name)
{
	AUTO_FREE char *plain = NULL;

	if (str_glob(p->name, name))
		return true;
	if (!p->provider || strcmp(p->provider, "cpp") != 0)
		return false;
	plain = demangle_dup(name, 0);
	if (!plain)
		return false;
	plain[strcspn(plain, "(")] = '\0';
	return str_glob(p->name, plain);
}

static int run_user_by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A probe within an instruction would crash the program. 0 also where it cannot be told. */
static int at_instruction(const struct program_file *f, const struct symtab_sym *s, uint64_t addr,
			  struct err *e)
{
	struct arena arena = { 0 };
	disasm_list list = { 0 };
	AUTO_STRBUF starts = { 0 };
	bool found = false;

	for (size_t i = 0; i < f->elf->nsection; i++) {
		const struct elf_section *t = &f->elf->section[i];
		struct disasm_code code = { .machine = f->elf->machine, .addr = s->start };
		size_t n;
		const uint8_t *data;

		if (t->type != SHT_PROGBITS || s->start < t->addr || addr < t->addr ||
		    addr - t->addr >= t->size)
			continue;
		data = elf_section_data(f->elf, t, &n);
		if (!data || addr - t->addr + 1 > n)
			continue;
		code.bytes = data + (s->start - t->addr);
		code.n = n - (s->start - t->addr);
		if (code.n > addr - s->start + 16)
			code.n = addr - s->start + 16;
		disasm(&code, &arena, &list, &(struct err){ 0 });
		break;
	}
	found = !list.n;
	vec_each (&list, in) {
		found |= in->addr == addr;
		if (in->addr + 40 > addr && in->addr < addr + 12)
			strbuf_printf(&starts, " +%llu", (unsigned long long)(in->addr - s->start));
	}
	vec_free(&list);
	arena_free(&arena);
	if (found)
		return 0;
	err_set(e, EILSEQ,
		"no instruction begins at %s+%llu: a probe there would crash the program", s->name,
		(unsigned long long)(addr - s->start));
	return err_hint(e, "instructions near it begin at%s", strbuf_str(&starts));
}

static int match_functions(const struct lang_point *p, lang_match_fn *fn, void *arg, struct err *e)
{
	AUTO_FREE char *full = run_find_file(p->target);
	struct str_nearest near = { .typed = p->name };
	struct program_file f;
	VEC(const char *) names = { 0 };
	char list[192];
	int r = run_user_open_file(p->target, &f, e), n = 0;

	if (r < 0)
		return r;
	if (p->is_addr) {
		const struct symtab_sym *s = symtab_find(&f.tab, p->offset);

		r = s ? at_instruction(&f, s, p->offset, e) : 0;
		if (r == 0)
			fn(arg, full, p->name);
		close_file(&f);
		return r < 0 ? r : 1;
	}
	for (size_t i = 0; i < f.tab.n; i++) {
		const struct symtab_sym *s = &f.tab.sym[i];

		if (s->type != STT_FUNC && s->type != STT_GNU_IFUNC)
			continue;
		str_nearest_add(&near, s->name);
		if (!run_uprobe_fits(p, s->name))
			continue;
		/* _start has no return address: the number of arguments lies there. */
		if (p->kind == LP_URETPROBE && strcmp(s->name, "_start") == 0 &&
		    strcmp(p->name, "_start") != 0)
			continue;
		vec_push(&names, s->name);
		if (p->has_offset && r == 0)
			r = at_instruction(&f, s, s->start + p->offset, e);
	}
	if (r < 0)
		goto out;
	if (names.n)
		qsort(names.data, names.n, sizeof(*names.data), run_user_by_name);
	for (size_t i = 0; i < names.n; i++)
		if (i == 0 || strcmp(names.data[i], names.data[i - 1]) != 0) {
			fn(arg, full, names.data[i]);
			n++;
		}
	if (!n) {
		err_set(e, ENOENT, "nothing");
		if (str_nearest_list(&near, list, sizeof(list)))
			err_hint(e, "did you mean %s?", list);
		else if (!f.tab.n)
			err_hint(e, "%s has no symbols; an offset works: %s:0x...", p->target,
				 p->target);
		else
			err_hint(e, "kymo run -l 'uprobe:%s:*' lists its functions", p->target);
	}
out:
	vec_free(&names);
	close_file(&f);
	return r < 0 ? r : n;
}

struct run_user_file {
	char *target;
	struct program_file f;
	const struct symtab_sym **by_name; /* functions */
	size_t n;
	struct code_led led;
};

static int sym_by_name(const void *a, const void *b)
{
	const struct symtab_sym *x = *(const struct symtab_sym *const *)a,
				*y = *(const struct symtab_sym *const *)b;
	int r = strcmp(x->name, y->name);

	return r ? r : (x > y) - (x < y);
}

static int user_file(struct run_user_file **file, const char *target, struct err *e)
{
	struct run_user_file *f = *file;
	int r;

	if (f && strcmp(f->target, target) == 0)
		return 0;
	run_user_forget(file);
	f = mem_alloc(sizeof(*f));
	r = run_user_open_file(target, &f->f, e);
	if (r < 0) {
		free(f);
		return r;
	}
	f->target = mem_strdup(target);
	f->by_name = mem_alloc((f->f.tab.n + 1) * sizeof(*f->by_name));
	for (size_t i = 0; i < f->f.tab.n; i++) {
		const struct symtab_sym *s = &f->f.tab.sym[i];

		if (s->type == STT_FUNC || s->type == STT_GNU_IFUNC)
			f->by_name[f->n++] = s;
	}
	qsort(f->by_name, f->n, sizeof(*f->by_name), sym_by_name);
	*file = f;
	return 0;
}

void run_user_forget(struct run_user_file **file)
{
	if (!*file)
		return;
	close_file(&(*file)->f);
	code_led_free(&(*file)->led);
	free((*file)->by_name);
	free((*file)->target);
	free(*file);
	*file = NULL;
}

/* The first of that name. */
static const struct symtab_sym *run_user_named(const struct run_user_file *f, const char *name)
{
	size_t low = 0, high = f->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(f->by_name[mid]->name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low < f->n && strcmp(f->by_name[low]->name, name) == 0 ? f->by_name[low] : NULL;
}

int run_user_offset(struct run_user_file **file, const struct lang_point *p, uint64_t *offset,
		    uint64_t *behind, struct err *e)
{
	const struct symtab_sym *s = NULL;
	uint64_t addr = 0;
	int r = user_file(file, p->target, e);

	if (r < 0)
		return r;
	if (!p->is_addr) {
		s = run_user_named(*file, p->name);
		if (!s)
			return err_set(e, ENOENT, "there is no function '%s' in %s", p->name,
				       p->target);
		addr = p->has_offset ? s->start : code_entry((*file)->f.elf, s, &(*file)->led);
	}
	*behind = s ? addr - s->start : 0;
	if (!elf_offset((*file)->f.elf, addr + p->offset, offset))
		return err_set(e, EINVAL, "%#" PRIx64 " is no place in %s", addr + p->offset,
			       p->target);
	return 0;
}

bool run_uaddr(void *ctx, const char *path, const char *name, uint64_t *addr, uint64_t *size)
{
	struct program_file f;
	struct err e = { 0 };
	bool found = false;

	if (run_user_open_file(path, &f, &e) < 0)
		return false;
	for (size_t i = 0; i < f.elf->nsection && !found; i++) {
		const struct elf_section *s = &f.elf->section[i];
		const uint8_t *data, *strings;
		size_t n, strings_n;

		if ((s->type != SHT_SYMTAB && s->type != SHT_DYNSYM) ||
		    s->link >= f.elf->nsection || !f.elf->is64)
			continue;
		data = elf_section_data(f.elf, s, &n);
		strings = elf_section_data(f.elf, &f.elf->section[s->link], &strings_n);
		for (size_t k = 0; data && strings && k + sizeof(Elf64_Sym) <= n;
		     k += sizeof(Elf64_Sym)) {
			uint32_t at = elf_u32(f.elf, data + k);

			if (at < strings_n &&
			    strncmp((const char *)strings + at, name, strings_n - at) == 0) {
				*addr = elf_u64(f.elf, data + k + 8);
				*size = elf_u64(f.elf, data + k + 16);
				found = *addr != 0;
			}
		}
	}
	close_file(&f);
	return found;
}

int run_match_user(struct run_env *r, const struct lang_point *p, lang_match_fn *fn, void *arg,
		   struct err *e)
{
	return p->kind == LP_USDT ? run_usdt_match(r, p, fn, arg, e)
				  : match_functions(p, fn, arg, e);
}
