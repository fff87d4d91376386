/* SPDX-License-Identifier: MIT */
#include "sym/names/dso.h"

#include <sys/auxv.h>

#include "sym/find/archive.h"
#include "sym/find/cache.h"
#include "sym/names/sym.h"

void dso_init(struct dso *d, enum dso_kind kind, const struct find_want *want,
	      const struct find_opts *find)
{
	*d = (struct dso){ .kind = kind, .find = find };
	if (want) {
		d->want = *want;
		d->want.path = mem_strdup(want->path);
	}
	pthread_mutex_init(&d->lock, NULL);
	pthread_mutex_init(&d->answers_lock, NULL);
}

void dso_free(struct dso *d)
{
	answers_close(&d->answers);
	perfmap_free(&d->perfmap);
	jitdump_free(&d->jitdump);
	dwarf_close(d->dwarf);
	symtab_free(&d->tab);
	kallsyms_free(&d->kernel);
	elf_free(d->debug);
	elf_free(d->file);
	free((char *)d->want.path);
	if (d->load_end)
		d->load_end(d->load_ctx);
	pthread_mutex_destroy(&d->lock);
	pthread_mutex_destroy(&d->answers_lock);
}

/*
 * Run fn once, whichever thread comes first; the others wait and then see what
 * it did. fn does not take the lock again.
 */
static void once(struct dso *d, _Atomic bool *done, void (*fn)(struct dso *))
{
	if (atomic_load_explicit(done, memory_order_acquire))
		return;
	pthread_mutex_lock(&d->lock);
	if (!atomic_load_explicit(done, memory_order_relaxed)) {
		fn(d);
		atomic_store_explicit(done, true, memory_order_release);
	}
	pthread_mutex_unlock(&d->lock);
}

static void tell_taken(const struct dso *d, struct find_taken t)
{
	if (d->find->taken)
		d->find->taken(d->find->taken_ctx, &t);
}

/* The one that came with the recording. */
static bool archived_vdso(struct dso *d)
{
	size_t n = 0;
	const void *p = archive_by_id(d->find->archive, &d->want.id, "vdso", &n);

	if (!p)
		p = archive_by_path(d->find->archive, d->want.path, &n);
	return p && elf_open_memory(p, n, "[vdso]", &d->file, NULL) == 0;
}

/* The vDSO is no file; ours is the recorded one when their build-ids agree. */
static int open_vdso(struct dso *d)
{
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): that is what the kernel tells */
	const uint8_t *p = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *h = (const void *)p;
	uint64_t size;
	int r;

	if (archived_vdso(d))
		return 0;
	if (d->find->archive && !d->want.id.len)
		return err_set(&d->why, ENOENT, "the vDSO is not in the archive");
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
	if (r == 0)
		tell_taken(d, (struct find_taken){ .path = "[vdso]",
						   .id = &d->want.id,
						   .name = "vdso",
						   .by_path = true,
						   .data = p,
						   .n = size });
	return r;
}

static void open_elf(struct dso *d)
{
	int r;

	if (strcmp(d->want.path, "[vdso]") == 0) {
		open_vdso(d);
		return;
	}
	r = find_file(d->find, &d->want, &d->file, &d->stats, &d->why);
	if ((r < 0 && !d->want.id.len) ||
	    find_debug(d->find, &d->want, d->file, &d->debug, &d->stats, NULL) < 0)
		d->debug = NULL;
	/* A debug file alone has names too. */
	if (!d->file) {
		d->file = d->debug;
		d->debug = NULL;
	}
	/* What is mapped needs no descriptor, and a live view may ask hundreds of files. */
	elf_close_fd(d->file);
	elf_close_fd(d->debug);
}

static void tell_perfmap(const struct dso *d, const char *path)
{
	AUTO_STRBUF b = { 0 };

	for (size_t i = 0; d->find->taken && i < d->perfmap.n; i++) {
		const struct perfmap_sym *s = &d->perfmap.sym[i];

		strbuf_printf(&b, "%llx %llx %s\n", (unsigned long long)s->start,
			      (unsigned long long)(s->end - s->start), s->name);
	}
	tell_taken(d, (struct find_taken){ .path = path, .data = strbuf_str(&b), .n = b.n });
}

/* A JIT's files go by their paths. */
static int open_perfmap(struct dso *d)
{
	AUTO_FREE char *path = d->want.path ? mem_strdup(d->want.path)
					    : mem_printf("/tmp/perf-%d.map", (int)d->want.pid);
	size_t n = 0;
	const void *p = archive_by_path(d->find->archive, path, &n);
	int kept, r;

	if (d->find->archive && !p)
		return err_set(&d->why, ENOENT, "%s is not in the archive", path);
	if (p) {
		char *text = mem_alloc(n + 1);

		memcpy(text, p, n);
		perfmap_parse(&d->perfmap, text, n);
		return 0;
	}
	kept = cache_kept(&d->want.id);
	r = kept >= 0 ? perfmap_read(&d->perfmap, kept, path, &d->why)
		      : perfmap_load(&d->perfmap, d->want.path, d->want.pid, d->owner, &d->why);
	if (r < 0 && d->find->living && !d->want.path)
		r = perfmap_from_jitdump(&d->perfmap, d->want.pid, &(struct err){ 0 });
	if (r == 0)
		tell_perfmap(d, path);
	return r;
}

static int open_jitdump(struct dso *d)
{
	size_t n = 0;
	const void *p = archive_by_path(d->find->archive, d->want.path, &n);
	int r;

	if (p)
		return jitdump_parse(&d->jitdump, p, n, &d->why);
	if (d->find->archive)
		return err_set(&d->why, ENOENT, "%s is not in the archive", d->want.path);
	r = jitdump_open(&d->jitdump, d->want.path, &d->want.id, d->owner, &d->why);
	if (r == 0)
		tell_taken(d, (struct find_taken){ .path = d->want.path,
						   .data = d->jitdump.mapped,
						   .n = d->jitdump.size });
	return r;
}

static void open_any(struct dso *d)
{
	if (d->find->own) {
		err_set(&d->why, ENOENT, "the recording has names, but no code");
		return;
	}
	switch (d->kind) {
	case DSO_KERNEL:
		if (d->load)
			d->load(d->load_ctx);
		break;
	case DSO_ELF: open_elf(d); break;
	case DSO_PERFMAP: d->symbols = open_perfmap(d) == 0; break;
	case DSO_JITDUMP: d->symbols = open_jitdump(d) == 0; break;
	}
}

bool dso_refresh(struct dso *d)
{
	struct perfmap map = d->perfmap;
	struct jitdump dump = d->jitdump;

	if ((d->kind != DSO_PERFMAP && d->kind != DSO_JITDUMP) || !d->opened ||
	    (d->symbols && !d->missed))
		return false;
	d->missed = false;
	d->perfmap = (struct perfmap){ 0 };
	d->jitdump = (struct jitdump){ 0 };
	if ((d->kind == DSO_PERFMAP ? open_perfmap(d) : open_jitdump(d)) < 0) {
		d->perfmap = map; /* the process has ended, and its file is gone */
		d->jitdump = dump;
		return false;
	}
	perfmap_free(&map);
	jitdump_free(&dump);
	d->symbols = true;
	return true;
}

bool dso_open(struct dso *d)
{
	once(d, &d->opened, open_any);
	return d->file || d->symbols;
}

static void load_symbols(struct dso *d)
{
	d->symbols = symtab_load(&d->tab, d->file, d->debug, NULL) == 0;
	elf_rest(d->file);
	elf_rest(d->debug);
}

const struct symtab *dso_symtab(struct dso *d)
{
	if (!dso_open(d) || d->kind != DSO_ELF)
		return d->kind == DSO_KERNEL && d->file ? &d->tab : NULL;
	once(d, &d->symbols_tried, load_symbols);
	return d->symbols ? &d->tab : NULL;
}

static int find_more(void *ctx, const struct dwarf_need *need, struct elf **ret)
{
	struct dso *d = ctx;
	int r = find_part(d->find, d->debug ? d->debug : d->file, need, ret, &d->stats);

	if (r == 0)
		elf_close_fd(*ret);
	return r;
}

static void load_dwarf(struct dso *d)
{
	if (dwarf_open(d->file, find_more, d, &d->dwarf, NULL) < 0 &&
	    (!d->debug || dwarf_open(d->debug, find_more, d, &d->dwarf, NULL) < 0))
		d->dwarf = NULL;
	elf_rest(d->file); /* sections are unpacked by now, and headers read */
	elf_rest(d->debug);
}

struct dwarf *dso_dwarf(struct dso *d)
{
	if (!dso_open(d) || !d->file)
		return NULL;
	once(d, &d->dwarf_tried, load_dwarf);
	return d->dwarf;
}

static bool has_section(const struct dso *d, const char *name)
{
	return (d->file && elf_section(d->file, name)) || (d->debug && elf_section(d->debug, name));
}

uint32_t dso_sources(const struct dso *d)
{
	return (has_section(d, ".symtab") ? ANSWERS_SYMTAB : 0) |
	       (has_section(d, ".debug_info") || has_section(d, ".zdebug_info") ? ANSWERS_DWARF
										: 0);
}

struct cache_key dso_key(const struct dso *d)
{
	if (d->kind == DSO_KERNEL)
		return cache_key_kernel(&d->want.id);
	return d->file ? d->file->key : (struct cache_key){ 0 };
}

static bool open_answers_of(struct dso *d, const struct cache_key *key, enum answers_names names)
{
	return answers_open(&d->answers, d->find->cache, key, &d->want.id, names) == 0;
}

/*
 * Full answers are good without a look at the file. Others may have been made
 * when no debug file was there: they are good if there still is none.
 */
static void open_answers(struct dso *d, enum answers_names names)
{
	struct cache_key key = d->kind == DSO_KERNEL ? dso_key(d) : find_key(d->find, &d->want);
	bool known = open_answers_of(d, &key, names);

	if (d->kind == DSO_KERNEL ||
	    (known && d->answers.sources == (ANSWERS_SYMTAB | ANSWERS_DWARF)))
		return;
	answers_close(&d->answers);
	if (!dso_open(d))
		return;
	/* of the file that was really found */
	key = dso_key(d);
	if (open_answers_of(d, &key, names) && dso_sources(d) & ~d->answers.sources)
		answers_close(&d->answers);
}

/* Are there answers of earlier runs? */
static bool has_answers(struct dso *d, enum answers_names names)
{
	if (!(d->kind == DSO_ELF || (d->kind == DSO_KERNEL && d->want.id.len)) ||
	    d->find->cache <= 0 || d->find->taken)
		return false;
	if (!atomic_load_explicit(&d->answers_tried, memory_order_acquire)) {
		pthread_mutex_lock(&d->answers_lock);
		if (!atomic_load(&d->answers_tried))
			open_answers(d, names);
		atomic_store_explicit(&d->answers_tried, true, memory_order_release);
		pthread_mutex_unlock(&d->answers_lock);
	}
	return d->answers.n;
}

const struct answers_entry *dso_known(struct dso *d, enum answers_names names, uint64_t addr,
				      unsigned what)
{
	const struct answers *a = &d->answers;
	const struct answers_entry *e;

	if (!has_answers(d, names))
		return NULL;
	/* without debug info a function of the kernel is the same all over */
	e = d->kind == DSO_KERNEL && !d->file ? answers_find_near(a, addr) : answers_find(a, addr);
	if (!e && d->kind == DSO_ELF && !(what & SYMBOLS_LINES))
		e = answers_find_same(a, addr);
	return e && (e->known & what) == what ? e : NULL;
}

static void resolve_lines(struct dso *d, bool lines, struct dso_answer *a)
{
	struct dwarf *dw = dso_dwarf(d);
	struct dwarf_frame frames[DSO_FRAMES_MAX];

	if (!dw)
		return;
	a->nframes = dwarf_lookup(dw, a->vaddr, lines, frames, DSO_FRAMES_MAX);
	for (unsigned i = 0; i < a->nframes; i++)
		a->frames[i] = (struct dso_frame){ frames[i].name, frames[i].file, frames[i].line };
	/* The symbol says which clone it is (.cold, .isra.0), and is shown without lines, too. */
	if (a->nframes && a->name)
		a->frames[a->nframes - 1].name = a->name;
	else if (a->nframes)
		a->name = a->frames[a->nframes - 1].name;
}

static void answer(struct dso_answer *a, const char *name, uint64_t start, uint64_t end)
{
	a->name = name;
	a->start = start;
	a->end = end;
}

static void dso_resolve_kernel(const struct dso *d, uint64_t addr, struct dso_answer *a)
{
	const struct symtab_sym *s;
	struct kallsyms_sym k;

	a->vaddr = addr - d->slide;
	s = d->file ? symtab_find(&d->tab, a->vaddr) : NULL;
	if (s) {
		answer(a, s->name, s->start + d->slide, s->end + d->slide);
		return;
	}
	/* modules are not in vmlinux */
	if (!kallsyms_find(&d->kernel, addr, &k))
		return;
	/* The end of the padding in front of a function was asked for as one less than its first
	 * instruction: it did not call anything, but was interrupted there. */
	if (!d->exact && k.end == addr + 1 && strncmp(k.name, "__pfx_", 6) == 0 &&
	    !kallsyms_find(&d->kernel, addr + 1, &k))
		return;
	answer(a, k.name, k.start, k.end);
	a->module = *k.module ? k.module : NULL;
}

/*
 * What lies right in front of a function, in nobody's code, was asked for as one less than its
 * first instruction. Nothing was called from there: a signal handler returns to __restore_rt, which
 * no one has called, and a signal may come before a function's first instruction.
 */
static const struct symtab_sym *entered(const struct symtab *t, uint64_t vaddr)
{
	const struct symtab_sym *s = vaddr == UINT64_MAX ? NULL : symtab_find(t, vaddr + 1);

	return s && s->start == vaddr + 1 && s->type == STT_FUNC ? s : NULL;
}

static void resolve_elf(struct dso *d, uint64_t addr, struct dso_answer *a)
{
	const struct symtab *t = dso_symtab(d);
	const struct symtab_sym *s;
	uint64_t bias;

	if (!elf_vaddr(d->file, addr, &a->vaddr)) {
		a->vaddr = UINT64_MAX;
		return;
	}
	bias = addr - a->vaddr;
	s = t ? symtab_find(t, a->vaddr) : NULL;
	if (!s && t && !d->exact && (s = entered(t, a->vaddr)))
		a->vaddr++;
	if (s)
		answer(a, s->name, s->start + bias, s->end + bias);
}

static void resolve_perfmap(struct dso *d, uint64_t addr, struct dso_answer *a)
{
	const struct perfmap_sym *s = perfmap_find(&d->perfmap, addr);

	if (s)
		answer(a, s->name, s->start, s->end);
	else
		d->missed = true;
}

/* 1 + the number of the code in the dump stands in the upper half (SYMBOLS_JIT_ADDR). */
static void resolve_jitdump(const struct dso *d, uint64_t addr, struct dso_answer *a)
{
	const struct jitdump_code *c;
	const struct jitdump_line *l;
	uint64_t at = (addr >> 32) - 1;

	if (at >= d->jitdump.ncode)
		return;
	c = &d->jitdump.code[at];
	addr &= ~(uint64_t)UINT32_MAX;
	answer(a, c->name, addr, addr + (c->end - c->start));
	a->vaddr = c->start + (a->addr & UINT32_MAX);
	l = jitdump_line(&d->jitdump, c, a->vaddr);
	if (l)
		a->frames[a->nframes++] = (struct dso_frame){ c->name, l->file, l->line };
}

/* Around an address of an ELF file that is open. */
static bool span_in(struct dso *d, uint64_t addr, uint64_t *from, uint64_t *to)
{
	uint64_t vaddr, first, end, low = 0, high = UINT64_MAX;
	const struct symtab *t;

	if (!elf_code_span(d->file, addr, &first, &end) || !elf_vaddr(d->file, addr, &vaddr))
		return false;
	t = dso_symtab(d);
	/* what is not a function's ends a byte before the next one, whose entry that byte is */
	if (t && !symtab_span(t, vaddr, &low, &high) && high != UINT64_MAX) {
		low = vaddr + 1 == high ? vaddr : low;
		high = vaddr + 1 == high ? high : high - 1;
	}
	if (d->dwarf)
		dwarf_span(d->dwarf, vaddr, &low, &high);
	/* back to offsets, within the segment */
	*from = vaddr - low > addr - first ? first : addr - (vaddr - low);
	*to = high - vaddr > end - addr ? end : addr + (high - vaddr);
	return true;
}

/* For the next run, which then need not look at the file's tables. */
static void say_span(struct dso *d, uint64_t addr, struct dso_answer *a)
{
	uint64_t from, to;

	if (!span_in(d, addr, &from, &to))
		return;
	a->before = addr - from < UINT32_MAX ? (uint32_t)(addr - from) : UINT32_MAX;
	a->after = to - addr < UINT32_MAX ? (uint32_t)(to - addr) : UINT32_MAX;
}

void dso_resolve(struct dso *d, uint64_t addr, unsigned what, struct dso_answer *a)
{
	*a = (struct dso_answer){ .addr = addr, .vaddr = addr, .frames = a->frames };
	if (!dso_open(d))
		return;
	switch (d->kind) {
	case DSO_KERNEL: dso_resolve_kernel(d, addr, a); break;
	case DSO_ELF: resolve_elf(d, addr, a); break;
	case DSO_PERFMAP: resolve_perfmap(d, addr, a); break;
	case DSO_JITDUMP: resolve_jitdump(d, addr, a); break;
	}
	if (d->file && (what & (SYMBOLS_LINES | SYMBOLS_INLINED)) && a->vaddr != UINT64_MAX)
		resolve_lines(d, what & SYMBOLS_LINES, a);
	if (d->kind == DSO_ELF && d->file && (what & SYMBOLS_INLINED))
		say_span(d, addr, a);
	if (a->nframes == 0 && a->name)
		a->frames[a->nframes++] = (struct dso_frame){ .name = a->name };
}

static void look_for_lines(struct dso *d)
{
	d->lines = dso_sources(d) & ANSWERS_DWARF;
}

bool dso_span(struct dso *d, enum answers_names names, uint64_t addr, uint64_t *from, uint64_t *to)
{
	const struct answers_entry *e;

	if (d->kind != DSO_ELF)
		return false;
	e = has_answers(d, names) ? answers_find_same(&d->answers, addr) : NULL;
	if (e) {
		*from = e->addr - e->before;
		*to = e->addr + e->after;
		return true;
	}
	*from = 0;
	*to = UINT64_MAX;
	if (!dso_open(d))
		return true; /* nothing is known of any */
	/* debug info is read by many threads, when names are asked for: they say it then */
	once(d, &d->lines_tried, look_for_lines);
	return !d->lines && span_in(d, addr, from, to);
}
