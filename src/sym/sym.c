/* SPDX-License-Identifier: MIT */
/*
 * The facade: which answers are known, and how the unknown ones are found by
 * several threads. Threads collect raw texts in memory of their own; interning
 * happens afterwards in one, so that nothing shared is written while they run.
 */
#include "sym/sym.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/pool.h"
#include "base/sort.h"
#include "sym/cache.h"
#include "sym/demangle.h"
#include "sym/dso.h"
#include "sym/sym_impl.h"

#define CHUNK 256 /* addresses of a file that a thread takes at a time */

/* A result before its texts are interned. */
struct raw {
	const char *name, *module;
	uint64_t addr, start, end, vaddr;
	uint32_t nframes;
	struct dso_frame *frames;
};

/* Texts that were interned are gone, and others may stand in their places. */
static void forget_recent(struct symbols *s)
{
	memset(s->recent, 0, sizeof(s->recent));
}

static void worker_free(struct worker *w)
{
	arena_free(&w->arena);
	map_free(&w->readable);
	vec_free(&w->texts);
	*w = (struct worker){ 0 };
}

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
	worker_free(&s->one);
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
		mem_printf("%d\n%d\n%s\n%s", kind, kind == DSO_ELF ? 0 : want->pid,
			   want->path ? want->path : "", build_id_text(&want->id, id));
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

/* ".../jit-1234.dump": what a runtime writes of the code it compiles. */
static bool is_jitdump(const char *path)
{
	const char *base = path ? strrchr(path, '/') : NULL;
	int pid, end = 0;

	return base && sscanf(base, "/jit-%d.dump%n", &pid, &end) == 1 && end && !base[end];
}

uint32_t symbols_dso(struct symbols *s, const struct find_want *file)
{
	pid_t pid = perfmap_pid(file->path);

	if (is_jitdump(file->path))
		return symbols_jitdump(s, file->path, (uid_t)-1);

	return pid ? symbols_perfmap(s, pid, NULL, (uid_t)-1) : known_dso(s, DSO_ELF, file, 0);
}

uint32_t symbols_perfmap(struct symbols *s, pid_t pid, const char *path, uid_t owner)
{
	return known_dso(s, DSO_PERFMAP, &(struct find_want){ .path = path, .pid = pid }, owner);
}

uint32_t symbols_jitdump(struct symbols *s, const char *path, uid_t owner)
{
	return known_dso(s, DSO_JITDUMP, &(struct find_want){ .path = path }, owner);
}

uint64_t symbols_jit_addr(struct symbols *s, uint32_t dso, uint64_t ip, uint64_t time)
{
	struct dso *d = dso < s->dsos.n ? s->dsos.data[dso] : NULL;

	return d && d->kind == DSO_JITDUMP && dso_open(d) ? dso_jit_addr(d, ip, time) : 0;
}

int symbols_kernel_text(struct symbols *s, char *text, size_t len, struct err *e)
{
	struct dso *d = s->dsos.data[SYMBOLS_KERNEL];
	int r;

	kallsyms_free(&d->kernel);
	forget_recent(s);
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
	forget_recent(s);
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
	forget_recent(s);
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
	return answers_kept(s->find.cache, &s->dsos.data[SYMBOLS_KERNEL]->want.id,
			    symbols_way_of_names(s));
}

const char *symbols_text(const struct symbols *s, uint32_t id)
{
	return strtab_get(&s->texts, id);
}

const struct sym_result *symbols_lookup(const struct symbols *s, uint32_t dso, uint64_t addr)
{
	const uint64_t *p = dso < s->known.n ? map_find(&s->known.data[dso], addr) : NULL;

	return p ? s->results.data[*p - 1] : NULL;
}

static const char *readable(struct worker *w, const char *raw)
{
	AUTO_STRBUF b = { 0 };
	uint64_t *known;

	if (!raw || w->s->opts.raw_names || !demangle_likely(raw))
		return raw;
	known = map_at(&w->readable, (uintptr_t)raw);
	if (!*known) {
		bool changed = demangle(raw, w->s->opts.params ? DEMANGLE_PARAMS : 0, &b);

		vec_push(&w->texts, changed ? arena_strdup(&w->arena, b.data) : raw);
		*known = w->texts.n;
	}
	return w->texts.data[*known - 1];
}

/* From an earlier run: texts are in the mapped file, and readable already. */
static bool known_raw(struct worker *w, struct dso *d, uint64_t addr, struct raw *r)
{
	const struct answers_entry *e = dso_known(d, symbols_way_of_names(w->s), addr, w->what);

	if (!e || e->nframes > DSO_FRAMES_MAX)
		return false;
	*r = (struct raw){ .name = answers_text(&d->answers, e->name),
			   .module = answers_text(&d->answers, e->module),
			   .addr = addr,
			   .start = e->start,
			   .end = e->end,
			   .vaddr = e->vaddr + (addr - e->addr),
			   .nframes = e->nframes,
			   .frames = w->answer.frames };
	for (unsigned i = 0; i < e->nframes; i++) {
		const struct answers_frame *f = &d->answers.frame[e->first + i];

		r->frames[i] = (struct dso_frame){ answers_text(&d->answers, f->name),
						   answers_text(&d->answers, f->file), f->line };
	}
	return true;
}

/* The frames hold until the next question. */
static void resolve_raw(struct worker *w, uint32_t dso, uint64_t addr, struct raw *r)
{
	struct dso_answer *a = &w->answer;

	if (known_raw(w, w->s->dsos.data[dso], addr, r))
		return;
	atomic_store_explicit(&w->s->dsos.data[dso]->news, true, memory_order_relaxed);
	dso_resolve(w->s->dsos.data[dso], addr, w->what, a);
	/* The kernel's names are C; perf does not demangle them either. */
	for (unsigned i = 0; i < a->nframes && dso != SYMBOLS_KERNEL; i++)
		a->frames[i].name = readable(w, a->frames[i].name);
	*r = (struct raw){ .name = dso == SYMBOLS_KERNEL ? a->name : readable(w, a->name),
			   .module = a->module,
			   .addr = addr,
			   .start = a->start,
			   .end = a->end,
			   .vaddr = a->vaddr,
			   .nframes = a->nframes,
			   .frames = a->frames };
}

static uint32_t intern(struct symbols *s, const char *text)
{
	struct recent *r = &s->recent[map_hash((uintptr_t)text) % RECENT];

	if (!text)
		return SYMBOLS_NONE;
	if (r->text != text)
		*r = (struct recent){ text, strtab_add(&s->texts, text) };
	return r->id;
}

uint32_t symbols_add_text(struct symbols *s, const char *text)
{
	return text ? strtab_add(&s->texts, text) : SYMBOLS_NONE;
}

/* An answer that is there already (names, and now lines too) is written over in its place. */
static const struct sym_result *keep(struct symbols *s, uint32_t dso, const struct raw *r,
				     unsigned what)
{
	uint64_t *at = map_at(&s->known.data[dso], r->addr);
	struct sym_result *kept = *at ? s->results.data[*at - 1] : NULL;
	struct sym_frame *frames = arena_alloc(&s->arena, r->nframes * sizeof(*frames));

	if (!kept) {
		kept = arena_alloc(&s->arena, sizeof(*kept));
		vec_push(&s->results, kept);
		*at = s->results.n;
	}
	for (uint32_t i = 0; i < r->nframes; i++)
		frames[i] = (struct sym_frame){ .name = intern(s, r->frames[i].name),
						.file = intern(s, r->frames[i].file),
						.line = r->frames[i].line };
	*kept = (struct sym_result){ .name = intern(s, r->name),
				     .module = intern(s, r->module),
				     .start = r->start,
				     .end = r->end,
				     .vaddr = r->vaddr,
				     .known = kept->known | what,
				     .nframes = r->nframes,
				     .frames = frames };
	return kept;
}

static unsigned all_of(unsigned what)
{
	return what & SYMBOLS_LINES ? what | SYMBOLS_INLINED : what;
}

const struct sym_result *symbols_resolve(struct symbols *s, uint32_t dso, uint64_t addr,
					 unsigned what)
{
	static const struct sym_result nothing = { .name = SYMBOLS_NONE, .module = SYMBOLS_NONE };
	const struct sym_result *known = symbols_lookup(s, dso, addr);
	struct raw r;

	what = all_of(what);
	if (known && (known->known & what) == what)
		return known;
	if (dso >= s->dsos.n)
		return &nothing;
	s->one.s = s;
	s->one.what = what;
	resolve_raw(&s->one, dso, addr, &r);
	return keep(s, dso, &r, what);
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
	return dso < s->dsos.n && dso_span(s->dsos.data[dso], addr, from, to);
}

/* The queries that are new, sorted so that neighbours are asked together. */
struct batch {
	struct symbols *s;
	unsigned what;
	struct sym_query *q;
	uint32_t *order; /* into q */
	uint32_t *asked; /* by dso: how many questions */
	bool *awaited;	 /* by dso: servers are being asked for it */
	struct raw **raw;
	size_t n;
	VEC(size_t) jobs; /* where in order each begins */
	struct worker *workers;
};

/* What has to be waited for last; of each the file with the most questions first. */
static int by_wish(const void *a, const void *b, void *ctx)
{
	const struct batch *batch = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t nx = batch->asked[x], ny = batch->asked[y];

	if (batch->awaited[x] != batch->awaited[y])
		return batch->awaited[x] ? 1 : -1;
	return nx != ny ? (nx > ny ? -1 : 1) : x < y ? -1 : 1;
}

/* File by file, and in each by address. */
static void sort_places(struct batch *b)
{
	size_t n_dsos = b->s->dsos.n, at = 0;
	AUTO_FREE uint32_t *dso = mem_grow(NULL, n_dsos * sizeof(*dso));
	AUTO_FREE size_t *end = mem_grow(NULL, n_dsos * sizeof(*end));
	AUTO_FREE struct sort_key *keys = mem_table(b->n * sizeof(*keys), false);

	for (uint32_t i = 0; i < n_dsos; i++)
		dso[i] = i;
	qsort_r(dso, n_dsos, sizeof(*dso), by_wish, b);
	for (size_t i = 0; i < n_dsos; i++) {
		end[dso[i]] = at;
		at += b->asked[dso[i]];
	}
	for (size_t i = 0; i < b->n; i++) {
		const struct sym_query *q = &b->q[b->order[i]];

		keys[end[q->dso]++] = (struct sort_key){ q->addr, b->order[i] };
	}
	for (size_t i = 0; i < n_dsos; i++)
		sort_keys(keys + end[i] - b->asked[i], b->asked[i]);
	for (size_t i = 0; i < b->n; i++)
		b->order[i] = keys[i].index;
}

static bool same_place(const struct batch *b, size_t i, size_t j)
{
	const struct sym_query *x = &b->q[b->order[i]], *y = &b->q[b->order[j]];

	return x->dso == y->dso && x->addr == y->addr;
}

static int work(void *ctx, size_t job, unsigned worker)
{
	struct batch *b = ctx;
	struct worker *w = &b->workers[worker];
	size_t from = b->jobs.data[job];
	uint32_t dso = b->q[b->order[from]].dso;
	struct raw *r;

	for (size_t i = from; i < b->n && i < from + CHUNK; i++) {
		const struct sym_query *q = &b->q[b->order[i]];

		if (q->dso != dso)
			break;
		if (i && same_place(b, i - 1, i))
			continue;
		b->raw[i] = r = arena_alloc(&w->arena, sizeof(*r));
		resolve_raw(w, q->dso, q->addr, r);
		r->frames = arena_dup(&w->arena, r->frames, r->nframes * sizeof(*r->frames));
	}
	return 0;
}

/*
 * First the beginning of each file's, so that threads open different files, then the rest;
 * files that servers are asked for last.
 */
static void make_jobs(struct batch *b)
{
	for (int pass = 0; pass < 3; pass++)
		for (size_t i = 0, first = 0; i < b->n; i++) {
			uint32_t dso = b->q[b->order[i]].dso;
			bool begins = i == 0 || dso != b->q[b->order[i - 1]].dso;

			first = begins ? i : first;
			if ((i - first) % CHUNK == 0 && pass == (b->awaited[dso] ? 2
								 : begins	 ? 0
										 : 1))
				vec_push(&b->jobs, i);
		}
}

static void run_batch(struct batch *b)
{
	unsigned threads = b->s->opts.threads ? b->s->opts.threads : pool_threads();
	AUTO_FREE struct worker *workers = NULL;

	make_jobs(b);
	if (threads > b->jobs.n)
		threads = (unsigned)b->jobs.n;
	workers = mem_alloc(threads * sizeof(*workers));
	b->workers = workers;
	for (unsigned i = 0; i < threads; i++) {
		workers[i].s = b->s;
		workers[i].what = b->what;
	}
	pool_run(b->jobs.n, threads, work, b);
	vec_free(&b->jobs);
	for (size_t i = 0; i < b->n; i++) {
		struct sym_query *q = &b->q[b->order[i]];

		q->result = b->raw[i] ? keep(b->s, q->dso, b->raw[i], b->what)
				      : b->q[b->order[i - 1]].result;
	}
	for (unsigned i = 0; i < threads; i++)
		worker_free(&workers[i]);
	forget_recent(b->s);
}

/*
 * Servers are asked in the background for all that is missing, the most wanted
 * first, while what is here is looked up.
 */
static void ask_servers(struct batch *b)
{
	struct symbols *s = b->s;
	AUTO_FREE bool *looked = mem_alloc(s->dsos.n * sizeof(*looked));

	for (size_t i = 0; s->find.debuginfod && i < b->n; i++) {
		const struct sym_query *q = &b->q[b->order[i]];
		struct dso *d = s->dsos.data[q->dso];

		if (looked[q->dso] || d->kind != DSO_ELF || atomic_load(&d->opened))
			continue;
		looked[q->dso] = true;
		b->awaited[q->dso] = find_ahead(&s->find, &d->want, b->asked[q->dso]);
	}
}

void symbols_resolve_many(struct symbols *s, struct sym_query *q, size_t n, unsigned what)
{
	struct batch b = { .s = s, .what = all_of(what), .q = q };
	AUTO_FREE uint32_t *order = mem_table(n * sizeof(*order), false);
	AUTO_FREE uint32_t *asked = mem_alloc(s->dsos.n * sizeof(*asked));
	AUTO_FREE bool *awaited = mem_alloc(s->dsos.n * sizeof(*awaited));
	AUTO_FREE struct raw **raw = NULL;

	b.order = order;
	b.asked = asked;
	b.awaited = awaited;
	for (size_t i = 0; i < n; i++) {
		q[i].result = symbols_lookup(s, q[i].dso, q[i].addr);
		if (q[i].dso >= s->dsos.n)
			q[i].result = symbols_resolve(s, q[i].dso, q[i].addr, what);
		else if (!q[i].result || (q[i].result->known & b.what) != b.what) {
			order[b.n++] = (uint32_t)i;
			asked[q[i].dso]++;
		}
	}
	if (!b.n)
		return;
	ask_servers(&b);
	sort_places(&b);
	raw = mem_alloc(b.n * sizeof(*raw));
	b.raw = raw;
	run_batch(&b);
}

bool symbols_refresh(struct symbols *s)
{
	bool any = false;

	for (size_t i = 0; i < s->dsos.n; i++) {
		if (!dso_refresh(s->dsos.data[i]))
			continue;
		worker_free(&s->one); /* it knows names by their addresses */
		forget_recent(s);
		map_free(&s->known.data[i]);
		any = true;
	}
	return any;
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
