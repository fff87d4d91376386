/* SPDX-License-Identifier: MIT */
/* Probes in programs: functions by name or pattern, USDT notes, their arguments. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/run_env.h"
#include "sym/demangle.h"
#include "sym/elf.h"
#include "sym/symtab.h"

char *run_find_file(const char *name)
{
	const char *path = getenv("PATH");

	if (strchr(name, '/'))
		return access(name, R_OK) == 0 ? realpath(name, NULL) : NULL;
	/* libc: as the loader would find it */
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
					return realpath(full, NULL);
			}
	}
	for (path = path ? path : "/usr/bin:/bin"; *path;
	     path += strcspn(path, ":"), path += *path == ':') {
		AUTO_FREE char *full = mem_printf("%.*s/%s", (int)strcspn(path, ":"), path, name);

		if (access(full, X_OK) == 0)
			return realpath(full, NULL);
	}
	return NULL;
}

struct program_file {
	struct elf *elf;
	struct symtab tab;
};

static int open_file(const char *path, struct program_file *f, struct err *e)
{
	AUTO_FREE char *full = run_find_file(path);
	struct err none = { 0 };
	int r;

	*f = (struct program_file){ 0 };
	if (!full) {
		err_set(e, ENOENT, "there is no file '%s'", path);
		return err_hint(e, "give its path, or the name of a program in $PATH");
	}
	r = elf_open_path(full, &f->elf, e);
	if (r < 0)
		return r;
	symtab_load(&f->tab, f->elf, NULL, &none);
	return 0;
}

static void close_file(struct program_file *f)
{
	symtab_free(&f->tab);
	elf_free(f->elf);
}

static bool fits(const struct lang_point *p, const char *name)
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

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int match_functions(const struct lang_point *p, lang_match_fn *fn, void *arg, struct err *e)
{
	AUTO_FREE char *full = run_find_file(p->target);
	struct str_nearest near = { .typed = p->name };
	struct program_file f;
	VEC(const char *) names = { 0 };
	char list[192];
	int r = open_file(p->target, &f, e), n = 0;

	if (r < 0)
		return r;
	if (p->is_addr) {
		fn(arg, full, p->name);
		close_file(&f);
		return 1;
	}
	for (size_t i = 0; i < f.tab.n; i++) {
		const struct symtab_sym *s = &f.tab.sym[i];

		if (s->type != STT_FUNC && s->type != STT_GNU_IFUNC)
			continue;
		str_nearest_add(&near, s->name);
		if (fits(p, s->name))
			vec_push(&names, s->name);
	}
	if (names.n)
		qsort(names.data, names.n, sizeof(*names.data), by_name);
	for (size_t i = 0; i < names.n; i++)
		if (i == 0 || strcmp(names.data[i], names.data[i - 1]) != 0) {
			fn(arg, full, names.data[i]);
			n++;
		}
	if (!n && str_nearest_list(&near, list, sizeof(list)))
		err_set(e, ENOENT, "nothing"), err_hint(e, "did you mean %s?", list);
	else if (!n && !f.tab.n)
		err_set(e, ENOENT, "nothing"),
			err_hint(e, "%s has no symbols; an offset works: %s:0x...", p->target,
				 p->target);
	vec_free(&names);
	close_file(&f);
	return n;
}

int run_user_offset(const struct lang_point *p, uint64_t *offset, struct err *e)
{
	struct program_file f;
	uint64_t addr = 0;
	bool found = p->is_addr;
	int r = open_file(p->target, &f, e);

	if (r < 0)
		return r;
	if (!p->is_addr)
		for (size_t i = 0; i < f.tab.n && !found; i++)
			if (strcmp(f.tab.sym[i].name, p->name) == 0 &&
			    (f.tab.sym[i].type == STT_FUNC || f.tab.sym[i].type == STT_GNU_IFUNC)) {
				addr = f.tab.sym[i].start;
				found = true;
			}
	if (!found)
		r = err_set(e, ENOENT, "there is no function '%s' in %s", p->name, p->target);
	else if (!elf_offset(f.elf, addr + p->offset, offset))
		r = err_set(e, EINVAL, "%#" PRIx64 " is no place in %s", addr + p->offset,
			    p->target);
	close_file(&f);
	return r;
}

bool run_uaddr(void *ctx, const char *path, const char *name, uint64_t *addr, uint64_t *size)
{
	struct program_file f;
	struct err e = { 0 };
	bool found = false;

	(void)ctx;
	if (open_file(path, &f, &e) < 0)
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

/* .note.stapsdt: address, base, semaphore, then three texts. */
int run_usdt_list(const char *path, struct run_usdt **ret, size_t *n, struct err *e)
{
	const struct elf_section *note, *base;
	struct program_file f;
	VEC(struct run_usdt) v = { 0 };
	const uint8_t *d;
	size_t len, at = 0;
	int r = open_file(path, &f, e);

	*ret = NULL;
	*n = 0;
	if (r < 0)
		return r;
	note = elf_section(f.elf, ".note.stapsdt");
	base = elf_section(f.elf, ".stapsdt.base");
	d = note ? elf_section_data(f.elf, note, &len) : NULL;
	while (d && len - at >= 12) {
		uint32_t namesz = elf_u32(f.elf, d + at), descsz = elf_u32(f.elf, d + at + 4),
			 type = elf_u32(f.elf, d + at + 8);
		size_t desc = at + 12 + ((namesz + 3ull) & ~3ull);

		if (namesz > len || descsz > len || desc > len || desc + descsz > len)
			break;
		if (type == 3 && descsz > 24) {
			uint64_t addr = elf_u64(f.elf, d + desc),
				 was = elf_u64(f.elf, d + desc + 8),
				 sem = elf_u64(f.elf, d + desc + 16), off = 0, sem_off = 0;
			const char *s = (const char *)d + desc + 24,
				   *end = (const char *)d + desc + descsz;
			const char *text[3];
			int k = 0;

			for (; k < 3 && s < end && memchr(s, 0, (size_t)(end - s)); k++) {
				text[k] = s;
				s += strlen(s) + 1;
			}
			if (base) /* prelink moved it */
				addr += base->addr - was;
			if (sem && base)
				sem += base->addr - was;
			if (k == 3 && elf_offset(f.elf, addr, &off)) {
				if (sem)
					elf_offset(f.elf, sem, &sem_off);
				vec_push(&v, (struct run_usdt){
						     mem_strdup(text[0]), mem_strdup(text[1]),
						     mem_strdup(text[2]), off, sem_off });
			}
		}
		at = desc + ((descsz + 3ull) & ~3ull);
		if (at > len)
			break;
	}
	close_file(&f);
	*ret = v.data;
	*n = v.n;
	return 0;
}

void run_usdt_free(struct run_usdt *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(list[i].provider);
		free(list[i].name);
		free(list[i].args);
	}
	free(list);
}

static int match_usdt(struct run_env *r, const struct lang_point *p, lang_match_fn *fn, void *arg,
		      struct err *e)
{
	AUTO_FREE char *exe = NULL;
	AUTO_FREE char *full = NULL;
	struct str_nearest near = { .typed = p->name };
	struct run_usdt *list;
	const char *path = p->target;
	size_t n;
	int k, found = 0;

	if (!*path && r->env.pid) {
		exe = mem_printf("/proc/%d/exe", r->env.pid);
		path = exe;
	}
	k = run_usdt_list(path, &list, &n, e);
	if (k < 0)
		return k;
	full = run_find_file(path);
	for (size_t i = 0; i < n; i++) {
		bool again = false;

		str_nearest_add(&near, list[i].name);
		if (!str_glob(p->provider, list[i].provider) || !str_glob(p->name, list[i].name))
			continue;
		for (size_t j = 0; j < i; j++)
			again |= strcmp(list[j].name, list[i].name) == 0 &&
				 strcmp(list[j].provider, list[i].provider) == 0;
		if (!again) {
			AUTO_FREE char *target =
				mem_printf("%s:%s", full ? full : path, list[i].provider);

			fn(arg, target, list[i].name);
			found++;
		}
	}
	if (!found) {
		char names[160];

		err_set(e, ENOENT, "nothing");
		if (!n)
			err_hint(e, "%s has no USDT probes", path);
		else if (str_nearest_list(&near, names, sizeof(names)))
			err_hint(e, "did you mean %s?", names);
	}
	run_usdt_free(list, n);
	return found;
}

int run_match_user(struct run_env *r, const struct lang_point *p, lang_match_fn *fn, void *arg,
		   struct err *e)
{
	return p->kind == LP_USDT ? match_usdt(r, p, fn, arg, e) : match_functions(p, fn, arg, e);
}

#if defined(__x86_64__)
static int register_at(const char *s, size_t n)
{
	static const struct {
		const char *names;
		int off;
	} regs[] = { { " rax eax ax al ", 80 },
		     { " rbx ebx bx bl ", 40 },
		     { " rcx ecx cx cl ", 88 },
		     { " rdx edx dx dl ", 96 },
		     { " rsi esi si sil ", 104 },
		     { " rdi edi di dil ", 112 },
		     { " rbp ebp bp bpl ", 32 },
		     { " rsp esp sp spl ", 152 },
		     { " r8 r8d r8w r8b ", 72 },
		     { " r9 r9d r9w r9b ", 64 },
		     { " r10 r10d r10w r10b ", 56 },
		     { " r11 r11d r11w r11b ", 48 },
		     { " r12 r12d r12w r12b ", 24 },
		     { " r13 r13d r13w r13b ", 16 },
		     { " r14 r14d r14w r14b ", 8 },
		     { " r15 r15d r15w r15b ", 0 },
		     { " rip eip ", 128 } };
	char word[16];

	if (n > 8)
		return -1;
	snprintf(word, sizeof(word), " %.*s ", (int)n, s);
	for (size_t i = 0; i < ARRAY_SIZE(regs); i++)
		if (strstr(regs[i].names, word))
			return regs[i].off;
	return -1;
}
#else
static int register_at(const char *s, size_t n)
{
	if (n == 2 && memcmp(s, "sp", 2) == 0)
		return 248;
	return n >= 2 && n <= 3 && (s[0] == 'x' || s[0] == 'w') && isdigit((unsigned char)s[1])
		       ? atoi(s + 1) * 8
		       : -1;
}
#endif

/* "-4@%edi", "8@-16(%rbp)", "4@$5", "8@8(%rax,%rbx,4)"; aarch64: "8@x0", "8@[sp, 16]". */
static bool one_arg(const char *s, size_t n, struct lang_usdt_arg *a)
{
	const char *end = s + n, *open;
	char *rest;
	size_t k;

	*a = (struct lang_usdt_arg){ .index_off = -1, .scale = 1 };
	a->size = (int)strtol(s, &rest, 10);
	if (*rest != '@' || rest >= end)
		return false;
	s = rest + 1;
	if (*s == '$') {
		a->value = strtoll(s + 1, NULL, 0);
		return true;
	}
	if (*s == '%' || isalpha((unsigned char)*s)) {
		s += *s == '%';
		a->kind = 1;
		a->reg_off = register_at(s, (size_t)(end - s));
		return a->reg_off >= 0;
	}
	if (isdigit((unsigned char)*s) && !memchr(s, '(', (size_t)(end - s))) {
		a->value = strtoll(s, NULL, 0);
		return true;
	}
	a->kind = 2;
	if (*s == '[') {
		k = strcspn(s + 1, ",]");
		a->reg_off = register_at(s + 1, k);
		if (s[1 + k] == ',')
			a->value = strtoll(s + 2 + k, NULL, 0);
		return a->reg_off >= 0;
	}
	open = memchr(s, '(', (size_t)(end - s));
	if (!open || open[1] != '%')
		return false;
	a->value = s < open ? strtoll(s, NULL, 0) : 0;
	k = strcspn(open + 2, ",)");
	a->reg_off = register_at(open + 2, k);
	open += 2 + k;
	if (*open == ',' && open[1] == '%') {
		k = strcspn(open + 2, ",)");
		a->index_off = register_at(open + 2, k);
		if (open[2 + k] == ',')
			a->scale = atoi(open + 3 + k);
	}
	return a->reg_off >= 0;
}

int run_usdt_args(void *ctx, const struct lang_point *p, struct lang_usdt_arg *arg, int max)
{
	struct run_usdt *list;
	struct err e = { 0 };
	size_t n;
	int k = 0;

	(void)ctx;
	if (run_usdt_list(p->target, &list, &n, &e) < 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i].name, p->name) == 0 &&
		    strcmp(list[i].provider, p->provider) == 0) {
			for (const char *s = list[i].args; *s && k < max;) {
				size_t len = strcspn(s, " ");

				/* aarch64 writes a blank inside brackets */
				if (memchr(s, '[', len) && !memchr(s, ']', len))
					len = strcspn(s, "]") + 1;
				if (!len || !one_arg(s, len, &arg[k]))
					break;
				k++;
				s += len;
				s += strspn(s, " ");
			}
			break;
		}
	run_usdt_free(list, n);
	return k;
}
