/* SPDX-License-Identifier: MIT */
#include "sym/dso.h"

#include <string.h>
#include <sys/auxv.h>

#include "sym/sym.h"

void dso_init(struct dso *d, enum dso_kind kind, const struct find_want *want)
{
	*d = (struct dso){ .kind = kind };
	if (want) {
		d->want = *want;
		d->want.path = mem_strdup(want->path);
	}
	pthread_mutex_init(&d->lock, NULL);
}

void dso_free(struct dso *d)
{
	dwarf_close(d->dwarf);
	symtab_free(&d->tab);
	kallsyms_free(&d->kernel);
	elf_free(d->debug);
	elf_free(d->file);
	free((char *)d->want.path);
	pthread_mutex_destroy(&d->lock);
}

/* The vDSO is no file; ours is the recorded one when their build-ids agree. */
static int open_vdso(struct dso *d)
{
	const uint8_t *p = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *h = (const void *)p;
	uint64_t size;
	int r;

	if (!p || h->e_ident[EI_CLASS] != ELFCLASS64)
		return err_set(&d->why, ENOENT, "this process has no 64-bit vDSO");
	size = h->e_shoff + (uint64_t)h->e_shnum * h->e_shentsize;
	r = elf_open_memory(p, size, "[vdso]", &d->file, &d->why);
	if (r == 0 && d->want.id.len && !build_id_match(&d->file->build_id, &d->want.id)) {
		elf_free(d->file);
		d->file = NULL;
		d->stats.mismatched++;
		return err_set(&d->why, ESTALE, "the vDSO is of another kernel");
	}
	return r;
}

static void open_elf(struct dso *d, const struct find_opts *o)
{
	int r;

	if (strcmp(d->want.path, "[vdso]") == 0) {
		r = open_vdso(d);
	} else {
		r = find_file(o, &d->want, &d->file, &d->stats, &d->why);
		if ((r < 0 && !d->want.id.len) ||
		    find_debug(o, &d->want, d->file, &d->debug, &d->stats, NULL) < 0)
			d->debug = NULL;
	}
	/* A debug file alone has names too; its segments are those of the file. */
	if (!d->file && d->debug) {
		d->file = d->debug;
		d->debug = NULL;
	}
	if (!d->file)
		return;
	err_clear(&d->why);
	d->symbols = symtab_load(&d->tab, d->file, d->debug, &d->why) == 0;
}

bool dso_open(struct dso *d, const struct find_opts *o)
{
	if (d->kind == DSO_KERNEL)
		return d->symbols;
	pthread_mutex_lock(&d->lock);
	if (!d->tried)
		open_elf(d, o);
	d->tried = true;
	pthread_mutex_unlock(&d->lock);
	return d->file;
}

static int find_more(void *ctx, const struct dwarf_need *need, struct elf **ret)
{
	struct dso *d = ctx;

	return find_part(d->find, d->debug ? d->debug : d->file, need, ret, &d->stats);
}

struct dwarf *dso_dwarf(struct dso *d, const struct find_opts *o)
{
	if (!d->file)
		return NULL;
	if (!atomic_load_explicit(&d->tried_lines, memory_order_acquire)) {
		pthread_mutex_lock(&d->lock);
		if (!d->tried_lines) {
			d->find = o;
			if (dwarf_open(d->file, find_more, d, &d->dwarf, NULL) < 0 && d->debug &&
			    dwarf_open(d->debug, find_more, d, &d->dwarf, NULL) < 0)
				d->dwarf = NULL;
			atomic_store_explicit(&d->tried_lines, true, memory_order_release);
		}
		pthread_mutex_unlock(&d->lock);
	}
	return d->dwarf;
}

static void resolve_lines(struct dso *d, const struct find_opts *o, struct dso_answer *a)
{
	struct dwarf *dw = dso_dwarf(d, o);
	struct dwarf_frame frames[DSO_FRAMES_MAX];

	if (!dw)
		return;
	a->nframes = dwarf_lookup(dw, a->vaddr, frames, DSO_FRAMES_MAX);
	for (unsigned i = 0; i < a->nframes; i++)
		a->frames[i] = (struct dso_frame){ frames[i].name, frames[i].file, frames[i].line };
	/* The symbol says which clone it is (.cold, .isra.0), and is what reports show without
	 * lines. */
	if (a->nframes && a->name)
		a->frames[a->nframes - 1].name = a->name;
	else if (a->nframes)
		a->name = a->frames[a->nframes - 1].name;
}

static void resolve_kernel(const struct dso *d, uint64_t addr, struct dso_answer *a)
{
	const struct symtab_sym *s;

	a->vaddr = addr - d->slide;
	if (d->file) {
		s = symtab_find(&d->tab, a->vaddr);
		a->module = "";
	} else {
		s = kallsyms_find(&d->kernel, addr, &a->module);
	}
	if (a->module && !*a->module)
		a->module = NULL;
	if (!s)
		return;
	a->name = s->name;
	a->start = s->start + d->slide;
	a->end = s->end + d->slide;
}

static void resolve_elf(const struct dso *d, uint64_t addr, struct dso_answer *a)
{
	const struct symtab_sym *s;

	if (!elf_vaddr(d->file, addr, &a->vaddr)) {
		a->vaddr = UINT64_MAX;
		return;
	}
	if (!d->symbols || !(s = symtab_find(&d->tab, a->vaddr)))
		return;
	a->name = s->name;
	a->start = addr - (a->vaddr - s->start);
	a->end = addr + (s->end - a->vaddr);
}

void dso_resolve(struct dso *d, const struct find_opts *o, uint64_t addr, unsigned what,
		 struct dso_answer *a)
{
	a->name = a->module = NULL;
	a->start = a->end = 0;
	a->vaddr = addr;
	a->nframes = 0;
	if (!dso_open(d, o))
		return;
	if (d->kind == DSO_KERNEL)
		resolve_kernel(d, addr, a);
	else
		resolve_elf(d, addr, a);
	if ((what & SYMBOLS_LINES) && a->vaddr != UINT64_MAX)
		resolve_lines(d, o, a);
	if (a->nframes == 0 && a->name)
		a->frames[a->nframes++] = (struct dso_frame){ .name = a->name };
}
