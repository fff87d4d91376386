/* SPDX-License-Identifier: MIT */
/*
 * Functions for places: each place is made a chain of one frame of a profile, so
 * that they get their names as all others do.
 */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "calc/profile/stacks.h"
#include "calc/stacks/places_ask.h"

static void fill_profile(const struct place *place, size_t n, uint64_t *ip, struct profile *p)
{
	for (size_t i = 0; i < n; i++) {
		const struct place *at = &place[i];

		ip[2 * i] = names_mark_for(at->mode);
		ip[2 * i + 1] = at->addr;
		vec_push(&p->chains, (struct profile_chain){ .ip = &ip[2 * i],
							     .n = 2,
							     .space = at->space,
							     .kernel = at->space,
							     .headless = at->caller });
	}
}

/* What calltree.c takes for the same function has the same text. */
static void places_names_key_of(const struct profile_frame *f, struct strbuf *b)
{
	strbuf_reset(b);
	strbuf_putc(b, (char)('0' + f->kind));
	strbuf_puts(b, f->module ? stacks_module_name(f->module) : "");
	if (f->name) { /* code without a name is one frame a module */
		strbuf_putc(b, '\n');
		strbuf_puts(b, f->name);
	}
}

static uint32_t number_of(struct place_names *n, const struct profile_frame *f, struct strbuf *b)
{
	struct frame frame = { .file = STRTAB_NONE, .kind = f->kind };
	uint32_t func;

	places_names_key_of(f, b);
	func = strtab_addn(&n->keys, strbuf_str(b), b->n);
	if (func < n->named.frames.n)
		return func;
	frame.name = strtab_add(&n->named.strings, f->name ? f->name : "0x0");
	frame.module = f->module ? strtab_add(&n->named.strings, f->module) : STRTAB_NONE;
	if (func < PLACE_FUNCTIONS)
		n->unnamed[func] = !f->name;
	vec_push(&n->named.frames, frame);
	return func;
}

/* What the chain of a place became: functions, innermost first. */
static uint32_t add_list(struct place_names *n, const uint32_t *func, uint32_t count)
{
	uint32_t *to;

	if (PLACE_LIST - n->lists % PLACE_LIST < count + 1)
		n->lists += PLACE_LIST - n->lists % PLACE_LIST;
	if (n->lists / PLACE_LIST >= PLACE_LISTS)
		return func[count - 1]; /* without what was inlined */
	if (!n->list[n->lists / PLACE_LIST])
		n->list[n->lists / PLACE_LIST] = mem_alloc(PLACE_LIST * sizeof(*to));
	to = n->list[n->lists / PLACE_LIST] + n->lists % PLACE_LIST;
	to[0] = count;
	for (uint32_t i = 0; i < count; i++)
		to[1 + i] = func[count - 1 - i];
	n->lists += count + 1;
	return PLACE_SEVERAL | (uint32_t)(n->lists - count - 1);
}

/* As long as there are numbers for what stands in texts. */
static bool may_span(const struct place_names *n)
{
	return n->named.frames.n <= PLACE_FUNCTIONS && n->n_in_text < PLACE_INLINES;
}

/*
 * A function of the kernel is one place. Its table of names is not read for that: one name that
 * an earlier run has found says how far its function goes.
 */
static struct place_span kernel_span(const struct place_names *n, const struct name_site *s,
				     const struct place *p)
{
	uint64_t shift = p->addr - p->key_addr / 2, from, to;
	struct place_span r = { 0 };

	if (!s->map ||
	    !symbols_span(n->symbols, SYMBOLS_KERNEL, s->dso_addr - s->caller, &from, &to))
		return r;
	r.from = (from < s->map->start ? s->map->start : from) - shift;
	r.to = (to > s->map->end ? s->map->end : to) - shift;
	/* one that was interrupted before its first instruction has none of the bytes before that
	 */
	return place_at(p) >= r.from && place_at(p) < r.to ? r : (struct place_span){ 0 };
}

/* Code with debug info is one place as far as the same functions are inlined. */
static struct place_span span_found(const struct place_names *n, const struct name_site *s,
				    const struct place *p)
{
	uint64_t at = place_at(p);

	if (!may_span(n))
		return (struct place_span){ 0 };
	if (p->mode == EVENT_MODE_KERNEL)
		return kernel_span(n, s, p);
	if (!(p->key_space & PLACE_DSO) || !s->sym || !s->sym->after || s->sym->before > at ||
	    s->dso_addr - s->caller != at)
		return (struct place_span){ 0 };
	return (struct place_span){ at - s->sym->before, at + s->sym->after };
}

static void take_names(struct place_names *n, const struct names *names, const struct place *place,
		       struct place_span *span)
{
	AUTO_FREE uint32_t *known = mem_alloc((names->frames.n + 1) * sizeof(*known));
	AUTO_STRBUF text = { 0 };

	for (size_t i = 0; i < names->profile->chains.n; i++) {
		const struct name_chain *c = &names->chains[i];
		uint32_t func[256], count = c->n < ARRAY_SIZE(func) ? c->n : ARRAY_SIZE(func), is;

		if (place_names_get(n, &place[i]) != PLACE_UNKNOWN)
			continue; /* another's span has it */
		for (uint32_t k = 0; k < count; k++) {
			/* of more than fit, the outermost */
			uint32_t site = names->chain_sites[c->first + c->n - count + k];
			uint32_t *at = &known[names->sites.data[site].frame];

			if (!*at) {
				struct profile_frame f = profile_frame(names, site);

				*at = number_of(n, &f, &text) + 1;
			}
			func[k] = *at - 1;
		}
		if (!count) /* an address that looks like a mark, and is none */
			func[count++] = number_of(
				n, &(struct profile_frame){ .kind = FRAME_UNKNOWN }, &text);
		is = count == 1 ? func[0] : add_list(n, func, count);
		if (!span[i].to && c->n)
			span[i] = span_found(
				n, &names->sites.data[names->chain_sites[c->first + c->n - 1]],
				&place[i]);
		if (span[i].to)
			place_names_put_span(n, &place[i], span[i], is);
		if (place_names_get(n, &place[i]) == PLACE_UNKNOWN)
			place_names_put(n, &place[i], is);
	}
}

static int by_key(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->key_space != y->key_space)
		return x->key_space < y->key_space ? -1 : 1;
	return x->key_addr < y->key_addr ? -1 : x->key_addr > y->key_addr;
}

static size_t each_once(struct place *p, size_t count)
{
	size_t kept = 0;

	qsort(p, count, sizeof(*p), by_key);
	for (size_t i = 0; i < count; i++)
		if (!kept || by_key(&p[kept - 1], &p[i]) != 0)
			p[kept++] = p[i];
	return kept;
}

/* Without what another thread has asked for meanwhile. */
static size_t only_new(const struct place_names *n, struct place *p, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (place_names_get(n, &p[i]) == PLACE_UNKNOWN)
			p[kept++] = p[i];
	return kept;
}

static struct place_span span_of(struct place_names *n, const struct place *p)
{
	const struct tasks *tasks = n->trace->tasks;
	uint32_t file = p->key_space & ~PLACE_DSO;
	struct place_span s = { 0 };

	/* all of a file that nobody can have names for is one place already; what has a number that
	 * is too large for a span has single places */
	if (!(p->key_space & PLACE_DSO) || p->mode == EVENT_MODE_KERNEL || file >= n->n_texts ||
	    !p->key_addr || !may_span(n))
		return s;
	if (!n->symbols_of[file])
		n->symbols_of[file] = names_symbols_of(tasks, n->symbols, file) + 1;
	if (!symbols_span(n->symbols, n->symbols_of[file] - 1, place_at(p), &s.from, &s.to))
		s.to = 0;
	return s;
}

/* Of a span always the first address is asked for: it is the same in every run, and known then. */
static void to_start(const struct place_names *n, struct place *p, const struct place_span *s)
{
	const struct tasks *tasks = n->trace->tasks;
	uint64_t back = place_at(p) - s->from;

	if (s->to && back <= p->addr &&
	    tasks_find(tasks, p->space, p->addr - back) == tasks_find(tasks, p->space, p->addr))
		p->addr -= back;
}

/* One of each span, without those that it says the name of. */
static size_t one_a_span(struct place_names *n, struct place *p, size_t count,
			 struct place_span *span)
{
	size_t kept = 0, last = 0;

	for (size_t i = 0; i < count; i++) {
		if (kept && p[i].key_space == p[last].key_space &&
		    place_span_has(&span[last], place_at(&p[i])) &&
		    place_at(&p[i]) - place_at(&p[last]) < PLACE_NEAR)
			continue;
		p[kept] = p[i];
		span[kept] = span_of(n, &p[kept]);
		to_start(n, &p[kept], &span[kept]);
		last = kept++;
	}
	return kept;
}

static int learn(struct place_names *n, struct place *place, size_t count, struct err *e)
{
	AUTO_FREE struct place_span *span = mem_alloc((count + 1) * sizeof(*span));
	AUTO_FREE uint64_t *ip = NULL;
	struct profile p = { .trace = n->trace };
	struct names names = { 0 };
	int r;

	count = one_a_span(n, place, count, span);
	ip = mem_alloc((2 * count + 1) * sizeof(*ip));
	fill_profile(place, count, ip, &p);
	r = names_make(&p, n->symbols,
		       &(struct names_opts){ .inlines = n->inlines, .no_lines = true }, &names, e);
	if (r == 0)
		take_names(n, &names, place, span);
	names_free(&names);
	vec_free(&p.chains);
	return r;
}

int place_learn(struct place_reader *r, struct err *e)
{
	struct place_names *n = r->names;
	int code = 0;

	r->fresh.n = each_once(r->fresh.data, r->fresh.n);
	pthread_mutex_lock(&n->lock);
	r->fresh.n = only_new(n, r->fresh.data, r->fresh.n);
	if (r->fresh.n)
		code = learn(n, r->fresh.data, r->fresh.n, e);
	pthread_mutex_unlock(&n->lock);
	r->fresh.n = 0;
	memset(r->recent, 0, sizeof(r->recent));
	return code;
}

/* --- lines --- */

struct liner {
	struct place_names *n;
	const struct names *names;
	uint32_t *known; /* by frame of names: its function + 1 */
	bool *met;	 /* by function */
	struct strbuf text;
};

static uint32_t function_of(struct liner *l, uint32_t site)
{
	uint32_t *at = &l->known[l->names->sites.data[site].frame], func;
	struct profile_frame f;

	if (*at)
		return *at - 1;
	f = profile_frame(l->names, site);
	places_names_key_of(&f, &l->text);
	func = strtab_find(&l->n->keys, strbuf_str(&l->text));
	/* of a file of the same name elsewhere: a frame that no stack has says so */
	if (func != STRTAB_NONE && f.module) {
		struct frame other = l->n->named.frames.data[func];
		uint32_t module = strtab_add(&l->n->named.strings, f.module);

		if (module != other.module) {
			other.module = module;
			vec_push(&l->n->named.frames, other);
		}
	}
	*at = func + 1;
	return func;
}

static void places_names_add_line(struct liner *l, uint32_t site)
{
	uint32_t func = function_of(l, site), line = 0, text = STRTAB_NONE;
	struct frame *f = func == STRTAB_NONE ? NULL : &l->n->named.frames.data[func];
	const char *file;

	if (!f)
		return;
	if (names_line(l->names, &l->names->sites.data[site], &file, &line))
		text = strtab_add(&l->n->named.strings, file);
	if (!l->met[func]) {
		f->file = text;
		f->line = line;
	}
	l->met[func] = true;
	if (f->file != text || f->line != line)
		f->line = 0;
	if (f->file != text)
		f->file = STRTAB_NONE;
}

int place_names_lines(struct place_names *n, const struct place *place, size_t count, struct err *e)
{
	AUTO_FREE uint64_t *ip = mem_alloc((2 * count + 1) * sizeof(*ip));
	struct profile p = { .trace = n->trace };
	struct names names = { 0 };
	struct liner l = { .n = n, .names = &names };
	int r;

	fill_profile(place, count, ip, &p);
	r = names_make(&p, n->symbols, &(struct names_opts){ .lines = true, .inlines = n->inlines },
		       &names, e);
	l.known = mem_alloc((names.frames.n + 1) * sizeof(*l.known));
	l.met = mem_alloc(n->named.frames.n + 1);
	for (size_t i = 0; i < count && r == 0; i++)
		for (uint32_t k = 0; k < names.chains[i].n; k++)
			places_names_add_line(&l, names.chain_sites[names.chains[i].first + k]);
	free(l.known);
	free(l.met);
	strbuf_free(&l.text);
	names_free(&names);
	vec_free(&p.chains);
	return r;
}
