/* SPDX-License-Identifier: MIT */
/* Answers for the next run, in the cache folder. */

#include "sym/find/cache.h"
#include "sym/names/sym_impl.h"

enum answers_names symbols_way_of_names(const struct symbols *s)
{
	return (s->opts.raw_names ? ANSWERS_RAW
		: s->opts.params  ? ANSWERS_PARAMS
				  : ANSWERS_PLAIN) +
	       (s->opts.exact ? ANSWERS_EXACT : 0);
}

static uint32_t sym_save_keep_text(const struct symbols *s, struct answers_writer *w, uint32_t id)
{
	return answers_add_text(w, id == SYMBOLS_NONE ? NULL : strtab_get(&s->texts, id));
}

static void keep_result(const struct symbols *s, struct answers_writer *w, uint64_t addr,
			const struct sym_result *r)
{
	struct answers_frame frames[DSO_FRAMES_MAX];
	struct answers_entry e = { .addr = addr,
				   .start = r->start,
				   .end = r->end,
				   .vaddr = r->vaddr,
				   .before = r->before,
				   .after = r->after,
				   .name = sym_save_keep_text(s, w, r->name),
				   .module = sym_save_keep_text(s, w, r->module),
				   .nframes = (uint16_t)r->nframes,
				   .known = (uint16_t)r->known };

	for (uint32_t i = 0; i < r->nframes; i++)
		frames[i] = (struct answers_frame){ sym_save_keep_text(s, w, r->frames[i].name),
						    sym_save_keep_text(s, w, r->frames[i].file),
						    r->frames[i].line };
	answers_add(w, e, frames);
}

/* What earlier runs knew and nobody asked for now. */
static void keep_old(struct answers_writer *w, const struct answers *old)
{
	for (size_t i = 0; i < old->n; i++) {
		struct answers_entry e = old->entry[i];
		struct answers_frame frames[DSO_FRAMES_MAX];

		e.name = answers_add_text(w, answers_text(old, e.name));
		e.module = answers_add_text(w, answers_text(old, e.module));
		for (unsigned k = 0; k < e.nframes && k < DSO_FRAMES_MAX; k++) {
			const struct answers_frame *f = &old->frame[old->entry[i].first + k];

			frames[k] = (struct answers_frame){
				answers_add_text(w, answers_text(old, f->name)),
				answers_add_text(w, answers_text(old, f->file)), f->line
			};
		}
		if (e.nframes <= DSO_FRAMES_MAX)
			answers_add(w, e, frames);
	}
}

/*
 * Small files are read again as fast as their answers. Where a .dwo or dwz's file was missing,
 * answers are to be better once it is back.
 */
static bool worth_keeping(const struct dso *d)
{
	if (d->kind == DSO_KERNEL)
		return d->want.id.len && atomic_load(&d->news);
	if (d->dwarf && dwarf_lacks(d->dwarf))
		return false;
	return d->kind == DSO_ELF && d->file && d->file->key.kind && atomic_load(&d->news) &&
	       (d->dwarf || d->tab.n > 2000);
}

/*
 * The kernel's id stands for its boot and the modules that are loaded. BPF programs and
 * trampolines come and go without a change of it.
 */
static bool lasts(const struct symbols *s, const struct sym_result *r)
{
	const char *module = r->module == SYMBOLS_NONE ? "" : strtab_get(&s->texts, r->module);

	return r->name != SYMBOLS_NONE && strcmp(module, "bpf") != 0 &&
	       !str_starts(module, "__builtin__");
}

void symbols_save(struct symbols *s)
{
	bool wrote = false;

	for (size_t i = 0; i < s->dsos.n && s->find.cache > 0; i++) {
		struct dso *d = s->dsos.data[i];
		const struct map *known = &s->known.data[i];
		struct answers_writer w = { 0 };
		struct cache_key key;

		if (!worth_keeping(d))
			continue;
		for (size_t k = 0; k < known->cap; k++) {
			const struct sym_result *r;

			if (!known->slots[k].used)
				continue;
			r = s->results.data[known->slots[k].value - 1];
			if (d->kind != DSO_KERNEL || lasts(s, r))
				keep_result(s, &w, known->slots[k].key, r);
		}
		keep_old(&w, &d->answers);
		key = dso_key(d);
		answers_write(&w, s->find.cache, &key,
			      d->kind == DSO_KERNEL ? &d->want.id : &d->file->build_id,
			      symbols_way_of_names(s), dso_sources(d), NULL);
		atomic_store(&d->news, false);
		wrote = true;
	}
	if (wrote)
		cache_trim(s->find.cache, CACHE_LIMIT, false);
}
