/* SPDX-License-Identifier: MIT */
/* Static probes in programs (USDT). A probe may stand at several places that keep its arguments
 * differently; the program is compiled once for each such way (lang_point.number). */
#include <ctype.h>
#include <string.h>

#include "kern/cpu.h"
#include "live/run/env.h"
#include "sym/elf/usdt.h"

struct reading {
	const struct elf *elf;
	VEC(struct run_usdt) list;
};

static int run_usdt_add(void *ctx, const struct usdt_probe *p)
{
	struct reading *r = ctx;
	struct run_usdt u = { 0 };

	if (!elf_offset(r->elf, p->pc, &u.offset))
		return 0;
	if (p->semaphore)
		elf_offset(r->elf, p->semaphore, &u.semaphore);
	u.provider = mem_strdup(p->provider);
	u.name = mem_strdup(p->name);
	u.args = mem_strdup(p->args);
	for (size_t i = r->list.n; i-- > 0;) /* how many other ways there were before */
		if (run_usdt_is(&r->list.data[i], u.provider, u.name)) {
			bool same = strcmp(r->list.data[i].args, u.args) == 0;

			if (same || r->list.data[i].way >= u.way)
				u.way = r->list.data[i].way + !same;
			if (same)
				break;
		}
	vec_push(&r->list, u);
	return 0;
}

bool run_usdt_is(const struct run_usdt *u, const char *provider, const char *name)
{
	return strcmp(u->provider, provider) == 0 && strcmp(u->name, name) == 0;
}

int run_usdt_list(const char *path, struct run_usdt **ret, size_t *n, struct err *e)
{
	struct reading r = { 0 };
	struct elf *elf;
	int k;

	*ret = NULL;
	*n = 0;
	k = run_open_elf(path, &elf, e);
	if (k < 0)
		return k;
	r.elf = elf;
	usdt_each(elf, run_usdt_add, &r);
	elf_free(elf);
	*ret = r.list.data;
	*n = r.list.n;
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

int run_usdt_match(struct run_env *r, const struct lang_point *p, lang_match_fn *fn, void *arg,
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
			again |= run_usdt_is(&list[j], list[i].provider, list[i].name) &&
				 list[j].way == list[i].way;
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

/* Where struct pt_regs has a register; -1: it has none of that name. */
static int register_at(const char *name)
{
#if defined(__x86_64__)
	static const char *const regs[] = { "r15", "r14", "r13", "r12", "bp", "bx", "r11",
					    "r10", "r9",  "r8",	 "ax",	"cx", "dx", "si",
					    "di",  "",	  "ip",	 "",	"",   "sp" };

	for (size_t i = 0; i < ARRAY_SIZE(regs); i++)
		if (name[0] && strcmp(regs[i], name) == 0)
			return (int)i * 8;
	return -1;
#else
	if (strcmp(name, "sp") == 0)
		return 248;
	return name[0] == 'x' && isdigit((unsigned char)name[1]) ? atoi(name + 1) * 8 : -1;
#endif
}

static bool run_usdt_convert(const struct usdt_arg *a, struct lang_usdt_arg *ret)
{
	*ret = (struct lang_usdt_arg){
		.size = a->size, .index_off = -1, .scale = 1, .value = a->off
	};
	if (a->kind == USDT_CONST)
		return true;
	if (a->symbol[0])
		return false;
	ret->kind = a->kind == USDT_REG ? 1 : 2;
	ret->reg_off = register_at(a->reg);
	if (a->index[0]) {
		ret->index_off = register_at(a->index);
		ret->scale = a->scale ? a->scale : 1;
		if (ret->index_off < 0)
			return false;
	}
	return ret->reg_off >= 0;
}

int run_usdt_args(void *ctx, const struct lang_point *p, struct lang_usdt_arg *arg, int max)
{
	struct run_usdt *list;
	struct err e = { 0 };
	size_t n;
	int k = 0;

	if (run_usdt_list(p->target, &list, &n, &e) < 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (run_usdt_is(&list[i], p->provider, p->name) && list[i].way == p->number) {
			const char *text = list[i].args;
			struct usdt_arg a;
			int r;

			while (k < max && (r = usdt_arg_next(&text, CPU_MACHINE, &a)) != 0) {
				if (r < 0 || !run_usdt_convert(&a, &arg[k]))
					arg[k] = (struct lang_usdt_arg){ .size = 8,
									 .index_off = -1 };
				k++;
			}
			break;
		}
	run_usdt_free(list, n);
	return k;
}
