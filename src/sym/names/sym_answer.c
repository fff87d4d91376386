/* SPDX-License-Identifier: MIT */
/*
 * One question's answer: from an earlier run, or from the file; readable, and interned.
 */

#include "event/trace.h"
#include "sym/names/demangle.h"
#include "sym/names/sym_impl.h"

void symbols_forget_recent(struct symbols *s)
{
	memset(s->recent, 0, sizeof(s->recent));
}

void symbols_worker_free(struct worker *w)
{
	arena_free(&w->arena);
	map_free(&w->readable);
	vec_free(&w->texts);
	*w = (struct worker){ 0 };
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
static bool known_raw(struct worker *w, struct dso *d, uint64_t addr, struct dso_answer *r)
{
	const struct answers_entry *e = dso_known(d, symbols_way_of_names(w->s), addr, w->what);

	if (!e || e->nframes > DSO_FRAMES_MAX)
		return false;
	*r = (struct dso_answer){ .name = answers_text(&d->answers, e->name),
				  .module = answers_text(&d->answers, e->module),
				  .addr = addr,
				  .start = e->start,
				  .end = e->end,
				  .vaddr = e->vaddr + (addr - e->addr),
				  .before = e->after ? e->before + (uint32_t)(addr - e->addr) : 0,
				  .after = e->after ? e->after - (uint32_t)(addr - e->addr) : 0,
				  .nframes = e->nframes,
				  .frames = w->frames };
	for (unsigned i = 0; i < e->nframes; i++) {
		const struct answers_frame *f = &d->answers.frame[e->first + i];

		r->frames[i] = (struct dso_frame){ .name = answers_text(&d->answers, f->name) };
		if (e->addr != addr) /* its line is another */
			continue;
		r->frames[i].file = answers_text(&d->answers, f->file);
		r->frames[i].line = f->line;
	}
	return true;
}

/* What the recording itself calls it. */
static void own_raw(struct worker *w, uint64_t addr, struct dso_answer *r)
{
	const struct trace_frame *f = trace_own_frame(w->s->find.own, addr);

	*r = (struct dso_answer){ .addr = addr, .vaddr = UINT64_MAX, .frames = w->frames };
	if (!f)
		return;
	r->name = f->name;
	r->start = trace_own_start(w->s->find.own, f) - TRACE_OWN_SIZE / 2;
	r->end = addr / TRACE_OWN_SIZE * TRACE_OWN_SIZE + TRACE_OWN_SIZE;
	r->nframes = 1;
	r->frames[0] = (struct dso_frame){ .name = f->name, .file = f->file, .line = f->line };
}

void symbols_resolve_raw(struct worker *w, uint32_t dso, uint64_t addr, struct dso_answer *r)
{
	struct dso *d = w->s->dsos.data[dso];

	if (w->s->find.own) {
		own_raw(w, addr, r);
		return;
	}
	if (known_raw(w, d, addr, r))
		return;
	atomic_store_explicit(&d->news, true, memory_order_relaxed);
	r->frames = w->frames;
	dso_resolve(d, addr, w->what, r);
	if (dso == SYMBOLS_KERNEL) /* its names are C; perf does not demangle them either */
		return;
	for (unsigned i = 0; i < r->nframes; i++)
		r->frames[i].name = readable(w, r->frames[i].name);
	r->name = readable(w, r->name);
}

uint32_t symbols_add_text(struct symbols *s, const char *text)
{
	AUTO_FREE char *made = NULL;

	return text ? strtab_add(&s->texts, str_one_line(text, &made)) : SYMBOLS_NONE;
}

static uint32_t intern(struct symbols *s, const char *text)
{
	struct recent *r = &s->recent[map_hash((uintptr_t)text) % RECENT];

	if (!text)
		return SYMBOLS_NONE;
	if (r->text != text)
		*r = (struct recent){ text, symbols_add_text(s, text) };
	return r->id;
}

const struct sym_result *symbols_keep(struct symbols *s, uint32_t dso, const struct dso_answer *r,
				      unsigned what)
{
	uint64_t *at = map_at(&s->known.data[dso], r->addr);
	struct sym_result *kept = *at ? s->results.data[*at - 1] : NULL;
	struct sym_frame *frames = arena_alloc(&s->arena, r->nframes * sizeof(*frames));
	/* what is new is not read first: its page would be made twice */
	unsigned before = kept ? kept->known : 0;

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
				     .before = r->before,
				     .after = r->after,
				     .known = before | what,
				     .nframes = r->nframes,
				     .frames = frames };
	return kept;
}

unsigned symbols_all_of(unsigned what)
{
	return what & SYMBOLS_LINES ? what | SYMBOLS_INLINED : what;
}

const struct sym_result *symbols_resolve(struct symbols *s, uint32_t dso, uint64_t addr,
					 unsigned what)
{
	static const struct sym_result nothing = { .name = SYMBOLS_NONE, .module = SYMBOLS_NONE };
	const struct sym_result *known = symbols_lookup(s, dso, addr);
	struct dso_answer r;

	what = symbols_all_of(what);
	if (known && (known->known & what) == what)
		return known;
	if (dso >= s->dsos.n)
		return &nothing;
	s->one.s = s;
	s->one.what = what;
	symbols_resolve_raw(&s->one, dso, addr, &r);
	return symbols_keep(s, dso, &r, what);
}
