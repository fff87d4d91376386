/* SPDX-License-Identifier: MIT */
/*
 * The facade: which files there are, and what is known of them. Questions about addresses are
 * answered in sym_answer.c, many at once in sym_batch.c.
 */
#include "sym/names/sym.h"

#include "event/task.h"
#include "sym/find/cache.h"
#include "sym/names/sym_impl.h"

static uint32_t add_dso(struct symbols *s, enum dso_kind kind, const struct find_want *want)
{
	struct dso *d = mem_alloc(sizeof(*d));

	dso_init(d, kind, want, &s->find);
	d->exact = s->opts.exact;
	vec_push(&s->dsos, d);
	vec_push(&s->known, (struct map){ 0 });
	return (uint32_t)s->dsos.n - 1;
}

struct symbols *symbols_new(const struct symbols_opts *o)
{
	struct symbols *s = mem_alloc(sizeof(*s));

	if (o)
		s->opts = *o;
	s->find = s->opts.find;
	s->find.cache = s->opts.no_cache ? -1 : cache_open(s->opts.cache_dir, NULL);
	if (!s->opts.no_debuginfod)
		s->find.debuginfod =
			debuginfod_new(&(struct debuginfod_opts){ .ms = s->opts.debuginfod_ms,
								  .cache = s->find.cache,
								  .progress = s->opts.progress,
								  .ctx = s->opts.progress_ctx });
	add_dso(s, DSO_KERNEL, NULL);
	return s;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	symbols_save(s);
	symbols_worker_free(&s->one);
	vec_each (&s->dsos, d) {
		dso_free(*d);
		free(*d);
	}
	vec_each (&s->known, m)
		map_free(m);
	vec_free(&s->dsos);
	vec_free(&s->known);
	vec_free(&s->results);
	strtab_free(&s->dso_names);
	strtab_free(&s->texts);
	arena_free(&s->arena);
	debuginfod_free(s->find.debuginfod);
	if (s->find.cache > 0)
		close(s->find.cache);
	free(s);
}

static uint32_t known_dso(struct symbols *s, enum dso_kind kind, const struct find_want *want,
			  uid_t owner)
{
	char id[BUILD_ID_TEXT];
	AUTO_FREE char *key =
		mem_printf("%d\n%d\n%s\n%s\n%llu", kind, kind == DSO_ELF ? 0 : want->pid,
			   want->path ? want->path : "", build_id_text(&want->id, id),
			   (unsigned long long)want->ino);
	uint32_t at = strtab_add(&s->dso_names, key);

	if (at + 1 == s->dsos.n) {
		uint32_t dso = add_dso(s, kind, want); /* moves s->dsos.data */

		s->dsos.data[dso]->owner = owner;
	}
	return at + 1;
}

/* Code without a file is called after the map that names it. */
static pid_t perfmap_pid(const char *path)
{
	int pid, end = 0;

	return path && sscanf(path, "/tmp/perf-%d.map%n", &pid, &end) == 1 && end && !path[end] &&
			       pid > 0
		       ? pid
		       : 0;
}

uint32_t symbols_dso(struct symbols *s, const struct find_want *file)
{
	pid_t pid = perfmap_pid(file->path);

	if (file->path && task_is_jitdump(file->path))
		return known_dso(s, DSO_JITDUMP,
				 &(struct find_want){ .path = file->path, .id = file->id },
				 PERFMAP_OWNER_UNKNOWN);
	if (pid)
		return known_dso(s, DSO_PERFMAP, &(struct find_want){ .pid = pid, .id = file->id },
				 PERFMAP_OWNER_UNKNOWN);
	return known_dso(s, DSO_ELF, file, 0);
}

uint32_t symbols_perfmap(struct symbols *s, pid_t pid, const char *path, uid_t owner)
{
	return known_dso(s, DSO_PERFMAP, &(struct find_want){ .path = path, .pid = pid }, owner);
}

uint32_t symbols_jitdump(struct symbols *s, const char *path, uid_t owner)
{
	return known_dso(s, DSO_JITDUMP, &(struct find_want){ .path = path }, owner);
}

int symbols_kernel_text(struct symbols *s, char *text, size_t len, struct err *e)
{
	struct dso *d = s->dsos.data[SYMBOLS_KERNEL];
	int r;

	kallsyms_free(&d->kernel);
	symbols_forget_recent(s);
	r = kallsyms_parse(&d->kernel, text, len, &d->why);
	free(text);
	d->symbols = r == 0;
	if (r < 0 && e)
		*e = d->why;
	return r;
}

void symbols_kernel_list(struct symbols *s, struct kallsyms *list)
{
	struct dso *d = s->dsos.data[SYMBOLS_KERNEL];

	kallsyms_free(&d->kernel);
	symbols_forget_recent(s);
	d->kernel = *list;
	d->symbols = true;
	*list = (struct kallsyms){ 0 };
}

int symbols_kernel_file(struct symbols *s, const char *vmlinux, uint64_t slide, struct err *e)
{
	struct dso *d = s->dsos.data[SYMBOLS_KERNEL];
	struct symtab tab;
	struct elf *file;
	int r = elf_open_path(vmlinux, &file, e);

	if (r < 0)
		return r;
	r = symtab_load(&tab, file, NULL, e);
	if (r < 0) {
		elf_free(file);
		return r;
	}
	symtab_free(&d->tab);
	elf_free(d->file);
	symbols_forget_recent(s);
	d->tab = tab;
	d->file = file;
	d->slide = slide;
	d->symbols = true;
	return 0;
}

void symbols_kernel_later(struct symbols *s, void (*load)(void *ctx), void (*end)(void *ctx),
			  void *ctx)
{
	struct dso *d = s->dsos.data[SYMBOLS_KERNEL];

	if (d->load_end)
		d->load_end(d->load_ctx);
	d->load = load;
	d->load_end = end;
	d->load_ctx = ctx;
}

void symbols_kernel_id(struct symbols *s, const struct build_id *id)
{
	s->dsos.data[SYMBOLS_KERNEL]->want.id = *id;
}

bool symbols_kernel_kept(const struct symbols *s)
{
	struct cache_key key = dso_key(s->dsos.data[SYMBOLS_KERNEL]);

	return answers_kept(s->find.cache, &key, symbols_way_of_names(s));
}

/* Of names that were asked for. The end of the padding in front of a function may be the
 * function's.
 */
static bool kernel_span(const struct symbols *s, uint64_t addr, uint64_t *from, uint64_t *to)
{
	const struct sym_result *r = symbols_lookup(s, SYMBOLS_KERNEL, addr);

	if (!r || r->name == SYMBOLS_NONE || s->dsos.data[SYMBOLS_KERNEL]->file ||
	    addr < r->start || addr >= r->end || str_starts(symbols_text(s, r->name), "__pfx_"))
		return false;
	*from = r->start;
	*to = r->end;
	return true;
}

bool symbols_span(struct symbols *s, uint32_t dso, uint64_t addr, uint64_t *from, uint64_t *to)
{
	if (dso == SYMBOLS_KERNEL)
		return kernel_span(s, addr, from, to);
	return dso < s->dsos.n &&
	       dso_span(s->dsos.data[dso], symbols_way_of_names(s), addr, from, to);
}

bool symbols_refresh(struct symbols *s)
{
	bool any = false;

	for (size_t i = 0; i < s->dsos.n; i++) {
		if (!dso_refresh(s->dsos.data[i]))
			continue;
		symbols_worker_free(&s->one); /* it knows names by their addresses */
		symbols_forget_recent(s);
		map_free(&s->known.data[i]);
		any = true;
	}
	return any;
}

struct symbols_use symbols_use(const struct symbols *s)
{
	return (struct symbols_use){ .files = s->dsos.n,
				     .bytes = s->arena.used + s->texts.arena.used +
					      s->dso_names.arena.used +
					      s->results.cap * sizeof(*s->results.data) };
}

bool symbols_grown(const struct symbols *s, struct symbols_use then)
{
	struct symbols_use now = symbols_use(s);

	return now.files > 2 * then.files + 256 || now.bytes > 2 * then.bytes + (8u << 20);
}

struct debuginfod_stats symbols_debuginfod(struct symbols *s)
{
	return s->find.debuginfod ? debuginfod_stats(s->find.debuginfod)
				  : (struct debuginfod_stats){ 0 };
}

const struct elf *symbols_elf(struct symbols *s, uint32_t dso)
{
	if (dso >= s->dsos.n)
		return NULL;
	dso_open(s->dsos.data[dso]);
	return s->dsos.data[dso]->file;
}

const char *symbols_missing(struct symbols *s, uint32_t dso)
{
	struct dwarf *d = dso < s->dsos.n ? s->dsos.data[dso]->dwarf : NULL;

	return d && dwarf_lacks(d) ? dwarf_missing(d) : NULL;
}

struct symbols_status symbols_status(struct symbols *s, uint32_t dso)
{
	struct symbols_status st = { .why = "no such file" };
	struct dso *d;

	if (dso >= s->dsos.n)
		return st;
	d = s->dsos.data[dso];
	st.opened = dso_open(d);
	dso_symtab(d);
	st.symtab = d->symbols && (d->kind != DSO_ELF || d->tab.has_symtab);
	st.dwarf = dso_dwarf(d);
	st.missing = st.dwarf ? dwarf_missing(d->dwarf) : NULL;
	st.mismatch = d->stats.mismatched;
	st.why = st.opened ? "" : d->why.msg;
	st.file = d->file ? d->file->path : NULL;
	st.debug = d->debug ? d->debug->path : NULL;
	return st;
}
