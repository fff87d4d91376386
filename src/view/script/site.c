/* SPDX-License-Identifier: MIT */
/*
 * From an address to the text that is shown for it.
 *
 * A table by (file, address in the file) keeps every text it ever made. It is
 * the same for all processes that run a file, so it stays small on a machine
 * with thousands of them. Above it, for single addresses, is a small one by
 * (space, ip) that forgets.
 */
#include "view/script/impl.h"

#include <libgen.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

/* Symbols are looked up by one at a time. */
static void others_wait(struct script *s)
{
	if (s->lock)
		pthread_mutex_lock(s->lock);
}

static void others_go_on(struct script *s)
{
	if (s->lock)
		pthread_mutex_unlock(s->lock);
}

void site_init(struct script *s)
{
	s->sites = mem_alloc(SITE_SLOTS * sizeof(*s->sites));
	s->cap_lines = 4096;
	s->lines = mem_alloc(s->cap_lines * sizeof(*s->lines));
	s->n_dsos = tasks_n_dsos(s->trace->tasks);
	s->dso_symbols = mem_alloc((s->n_dsos + 1) * sizeof(*s->dso_symbols));
	s->dso_names = mem_alloc((s->n_dsos + 1) * sizeof(*s->dso_names));
	memset(s->dso_symbols, 0xff, s->n_dsos * sizeof(*s->dso_symbols));
}

void site_free(struct script *s)
{
	free(s->sites);
	free(s->lines);
	vec_free(&s->texts);
	free(s->dso_symbols);
	free(s->dso_names);
	arena_free(&s->arena);
}

uint32_t site_space(const struct script *s, const struct event *ev, enum event_mode mode)
{
	switch (mode) {
	case EVENT_MODE_KERNEL: return tasks_kernel_at(s->trace->tasks, ev->time);
	case EVENT_MODE_USER: return tasks_space_at(s->trace->tasks, ev->pid, ev->time);
	default: return TASK_SPACE_NONE;
	}
}

/* A module is shown by its name: /lib/modules/.../nf-nat.ko.xz is [nf_nat]. */
static const char *script_site_module_name(struct script *s, const char *path)
{
	char *name = arena_printf(&s->arena, "[%s]", str_base_name(path)), *dot;

	dot = strstr(name, ".ko");
	if (dot)
		memcpy(dot, "]", 2);
	for (char *p = name; *p; p++)
		if (*p == '-')
			*p = '_';
	return name;
}

const char *site_dso_name(struct script *s, uint32_t dso)
{
	const struct task_dso *d = tasks_get_dso(s->trace->tasks, dso);
	const char *path = tasks_dso_path(s->trace->tasks, dso);

	if (dso >= s->n_dsos || !d)
		return "[unknown]";
	if (!s->dso_names[dso])
		s->dso_names[dso] = d->kernel && path[0] == '/' && !s->o.kernel_path
					    ? script_site_module_name(s, path)
					    : path;
	return s->dso_names[dso];
}

static uint32_t symbols_number(struct script *s, uint32_t dso)
{
	const struct task_dso *d = tasks_get_dso(s->trace->tasks, dso);
	struct find_want want = { .path = tasks_dso_file(s->trace->tasks, dso) };

	if (d->kernel)
		return SYMBOLS_KERNEL;
	if (s->dso_symbols[dso] == SYMBOLS_NONE) {
		memcpy(want.id.data, d->build_id, d->build_id_size);
		want.id.len = d->build_id_size;
		s->dso_symbols[dso] = symbols_dso(s->symbols, &want);
	}
	return s->dso_symbols[dso];
}

/* A function that the recording itself names. */
static const struct sym_result *ksymbol(struct script *s, const struct task_map *map)
{
	struct sym_result *r = arena_alloc(&s->arena, sizeof(*r));

	*r = (struct sym_result){
		.name = SYMBOLS_NONE, .module = SYMBOLS_NONE, .start = map->start, .end = map->end
	};
	return r;
}

static const struct trace_frame *own_frame_of(const struct script *s, uint64_t addr)
{
	return s->trace->own ? trace_own_frame(s->trace->own, addr) : NULL;
}

uint64_t site_shown(const struct script *s, uint64_t addr)
{
	const struct trace_frame *own = own_frame_of(s, addr);

	return !s->trace->own ? addr : own && own->is_addr ? own->addr : 0;
}

static const char *function_name(struct script *s, const struct site_text *t)
{
	const struct task_dso *d = tasks_get_dso(s->trace->tasks, t->dso);

	const struct trace_frame *own = own_frame_of(s, t->addr);

	if (d && d->ksymbol)
		return tasks_dso_path(s->trace->tasks, t->dso);
	if (own && own->is_addr)
		return NULL;
	return t->sym && t->sym->name != SYMBOLS_NONE ? symbols_text(s->symbols, t->sym->name)
						      : NULL;
}

static void source_line(struct script *s, const struct site_text *t, struct strbuf *b)
{
	const struct sym_frame *f = t->sym && t->sym->nframes ? &t->sym->frames[0] : NULL;
	const char *file;

	if (f && f->file != SYMBOLS_NONE) {
		file = symbols_text(s->symbols, f->file);
		if (!s->o.full_path)
			file = str_base_name(file);
		strbuf_printf(b, "\n  %s:%u", file, f->line);
		return;
	}
	file = site_dso_name(s, t->dso);
	file = str_base_name(file);
	strbuf_printf(b, "\n  %s[%llx]", file,
		      (unsigned long long)(t->sym && t->sym->vaddr ? t->sym->vaddr : t->addr));
}

static void script_site_make_text(struct script *s, struct site_text *t)
{
	struct strbuf *b = &s->text;
	const char *name = function_name(s, t);
	const struct trace_frame *own = own_frame_of(s, t->addr);

	strbuf_reset(b);
	if (t->what & SCRIPT_SYM) {
		strbuf_putc(b, ' ');
		strbuf_puts(b, name ? name : "[unknown]");
		if (name && (t->what & SCRIPT_SYMOFF))
			strbuf_printf(b, "+0x%llx", (unsigned long long)(t->addr - t->sym->start));
	}
	if (t->what & SCRIPT_DSO)
		strbuf_printf(b, " (%s)",
			      own && own->kind == TRACE_FRAME_INLINED ? "inlined"
								      : site_dso_name(s, t->dso));
	if (t->what & SCRIPT_SRCLINE)
		source_line(s, t, b);
	t->text = arena_dup(&s->arena, strbuf_str(b), b->n);
	t->text_n = (uint32_t)b->n;
}

/*
 * A line for each function that was inlined at the address. Behind a call that does not return
 * another function may begin: nothing of the one before is said then.
 */
static void make_inlined(struct script *s, struct site_text *t, const struct sym_result *at)
{
	struct strbuf *b = &s->text;
	bool same = t->sym && at && at->start == t->sym->start;

	strbuf_reset(b);
	for (uint32_t i = 0; same && i + 1 < at->nframes; i++) {
		const struct sym_frame *f = &at->frames[i];

		strbuf_printf(b, "\t%16llx", (unsigned long long)t->addr);
		if (t->what & SCRIPT_SYM)
			strbuf_printf(b, " %s", symbols_text(s->symbols, f->name));
		if ((t->what & SCRIPT_SYMOFF) && t->sym->name != SYMBOLS_NONE)
			strbuf_printf(b, "+0x%llx", (unsigned long long)(t->addr - t->sym->start));
		strbuf_puts(b, " (inlined)\n");
	}
	t->inlined = b->n ? arena_dup(&s->arena, b->data, b->n) : NULL;
	t->inlined_n = (uint32_t)b->n;
}

/* Both as one text. */
static void make_line(struct script *s, struct site_text *t)
{
	struct strbuf *b = &s->text;

	strbuf_reset(b);
	if (t->inlined_n)
		strbuf_add(b, t->inlined, t->inlined_n);
	strbuf_add(b, "\t                ", 17);
	for (uint64_t rest = site_shown(s, t->addr), at = 0; at == 0 || rest; rest >>= 4, at++)
		b->data[b->n - 1 - at] = "0123456789abcdef"[rest & 15];
	strbuf_add(b, t->text, t->text_n);
	strbuf_putc(b, '\n');
	t->text = arena_dup(&s->arena, strbuf_str(b), b->n);
	t->text_n = (uint32_t)b->n;
}

static size_t line_hash(const struct script *s, uint32_t dso, uint64_t addr, uint32_t what)
{
	return ((addr ^ (uint64_t)dso << 44 ^ (uint64_t)what << 56) * 0x9e3779b97f4a7c15u >> 32) &
	       (s->cap_lines - 1);
}

/* Where it stands, or is to stand. */
static struct site_line *line_slot(const struct script *s, uint32_t dso, uint64_t addr,
				   uint32_t what)
{
	size_t at = line_hash(s, dso, addr, what);

	for (; s->lines[at].text; at = (at + 1) & (s->cap_lines - 1)) {
		const struct site_line *l = &s->lines[at];

		if (l->addr == addr && l->dso == dso && l->what == what)
			break;
	}
	return &s->lines[at];
}

static void grow_lines(struct script *s)
{
	struct site_line *old = s->lines;
	size_t n = s->cap_lines;

	s->cap_lines *= 2;
	s->lines = mem_table(s->cap_lines * sizeof(*s->lines), true);
	for (size_t i = 0; i < n; i++)
		if (old[i].text)
			*line_slot(s, old[i].dso, old[i].addr, old[i].what) = old[i];
	free(old);
}

static const struct site_line *script_site_keep_text(struct script *s, const struct site_text *t)
{
	struct site_line *l;

	vec_push(&s->texts, *t);
	if (s->texts.n * 2 > s->cap_lines)
		grow_lines(s);
	l = line_slot(s, t->dso, t->addr, t->what);
	*l = (struct site_line){ t->addr, t->dso,    t->what,
				 t->text, t->text_n, (uint32_t)s->texts.n - 1 };
	return l;
}

void site_learn(struct script *s, const struct site_text *t)
{
	if (!line_slot(s, t->dso, t->addr, t->what)->text)
		script_site_keep_text(s, t);
}

static const struct site_line *make_site(struct script *s, const struct task_map *map,
					 uint64_t addr, uint32_t what)
{
	const struct task_dso *d = tasks_get_dso(s->trace->tasks, map->dso);
	struct site_text t = { .addr = addr, .dso = map->dso, .what = what };
	unsigned want = SYMBOLS_NAMES | (what & SCRIPT_SRCLINE ? SYMBOLS_LINES : 0) |
			(what & SITE_INLINED ? SYMBOLS_INLINED : 0);
	uint32_t file = 0;

	others_wait(s);
	if (!d->ksymbol)
		file = symbols_number(s, map->dso);
	t.sym = d->ksymbol ? ksymbol(s, map) : symbols_resolve(s->symbols, file, addr, want);
	script_site_make_text(s, &t);
	if (what & SITE_INLINED)
		make_inlined(s, &t,
			     what & SITE_CALLER && addr && !d->ksymbol
				     ? symbols_resolve(s->symbols, file, addr - 1, want)
				     : t.sym);
	if (what & SITE_LINE)
		make_line(s, &t);
	others_go_on(s);
	return script_site_keep_text(s, &t);
}

static const struct site_line *script_site_text_of(struct script *s, const struct task_map *map,
						   uint64_t addr, uint32_t what)
{
	const struct site_line *l = line_slot(s, map->dso, addr, what);

	return l->text ? l : make_site(s, map, addr, what);
}

static void site_unknown(struct site *x)
{
	static const char *const texts[] = { "", " [unknown]", " ([unknown])",
					     " [unknown] ([unknown])" };

	x->t.text = texts[(x->what & SCRIPT_SYM ? 1 : 0) + (x->what & SCRIPT_DSO ? 2 : 0)];
	x->t.text_n = (uint32_t)strlen(x->t.text);
	x->t.addr = x->ip;
	x->t.dso = TASK_DSO_NONE;
	x->t.sym = NULL;
}

/*
 * The recorded mapping of the kernel ends with its text; what its symbols name
 * beyond (code of the start-up) is the kernel's too. Modules are farther away.
 */
#define KERNEL_MORE (256u << 20)
static const struct task_map *beyond_kernel(struct script *s, uint32_t space, uint64_t ip)
{
	const struct sym_result *r;
	bool known;

	if (space != tasks_kernel_at(s->trace->tasks, UINT64_MAX) && space != TASK_SPACE_KERNEL)
		return NULL;
	if (!s->kernel_map)
		s->kernel_map = tasks_find(s->trace->tasks, TASK_SPACE_KERNEL,
					   tasks_kernel_start(s->trace->tasks));
	if (!s->kernel_map || ip < s->kernel_map->start || ip - s->kernel_map->end > KERNEL_MORE)
		return NULL;
	others_wait(s);
	r = symbols_resolve(s->symbols, SYMBOLS_KERNEL, ip, SYMBOLS_NAMES);
	known = r->name != SYMBOLS_NONE && r->module == SYMBOLS_NONE;
	others_go_on(s);
	return known ? s->kernel_map : NULL;
}

/* Where ip is mapped; NULL: nowhere. */
static const struct site_near *map_of(struct script *s, uint32_t space, uint64_t ip)
{
	const struct task_map *map;
	uint64_t from, until;
	bool kernel;

	for (unsigned i = 0; i < SITE_NEAR && s->near[i].map; i++)
		if (ip >= s->near[i].start && ip < s->near[i].end && s->near[i].space == space) {
			struct site_near x = s->near[i];

			s->near[i] = s->near[0];
			s->near[0] = x;
			return s->near;
		}
	map = tasks_find_range(s->trace->tasks, space, ip, &from, &until);
	if (!map) {
		map = beyond_kernel(s, space, ip);
		from = ip;
		until = ip + 1;
	}
	if (!map)
		return NULL;
	memmove(s->near + 1, s->near, sizeof(s->near) - sizeof(*s->near));
	kernel = tasks_get_dso(s->trace->tasks, map->dso)->kernel;
	s->near[0] = (struct site_near){ .map = map,
					 .start = from,
					 .end = until,
					 .bias = kernel ? 0 : map->pgoff - map->start,
					 .space = space };
	return s->near;
}

const struct site *site_find(struct script *s, uint32_t space, uint64_t ip, uint32_t what)
{
	struct site *x = &s->sites[map_hash(ip ^ (uint64_t)space << 48 ^ what) & (SITE_SLOTS - 1)];
	const struct site_near *m;
	const struct site_line *l;

	if (x->ip == ip && x->space == space && x->what == (what | 1))
		return x;
	*x = (struct site){ .ip = ip, .space = space, .what = what | 1 };
	m = map_of(s, space, ip);
	if (!m) {
		site_unknown(x);
		return x;
	}
	l = script_site_text_of(s, m->map, ip + m->bias, what); /* may move the texts */
	x->map = m->map;
	x->t = s->texts.data[l->at];
	return x;
}

const struct site_line *site_line(struct script *s, uint32_t space, uint64_t ip, uint32_t what)
{
	const struct site_near *m = map_of(s, space, ip);

	return m ? script_site_text_of(s, m->map, ip + m->bias, what | SITE_LINE) : NULL;
}

/* So many frames of a chain are fetched before its turn; the others as it goes. */
#define EXPECT_FRAMES 8u

/* The mapping of the frame before them is likely to be theirs. */
void site_expect(const struct script *s, uint64_t later, uint64_t soon, uint32_t what)
{
	const struct site_near *m = &s->near[0];
	const struct site_line *l;

	if (!m->map)
		return;
	what |= SITE_LINE;
	__builtin_prefetch(&s->lines[line_hash(s, m->map->dso, later + m->bias, what)]);
	l = &s->lines[line_hash(s, m->map->dso, soon + m->bias, what)];
	if (l->text) {
		__builtin_prefetch(l->text);
		__builtin_prefetch(l->text + 64);
	}
}

void site_expect_event(const struct script *s, const struct event *ev, uint32_t what, bool near)
{
	what |= SITE_LINE;
	for (uint32_t i = 0; i < ev->chain_n && i < EXPECT_FRAMES; i++) {
		uint64_t ip = ev->chain[i];
		const struct site_line *l;
		unsigned k = 0;

		while (k < SITE_NEAR && !(ip >= s->near[k].start && ip < s->near[k].end))
			k++;
		if (k == SITE_NEAR || !s->near[k].map)
			continue;
		l = &s->lines[line_hash(s, s->near[k].map->dso, ip + s->near[k].bias, what)];
		if (!near) {
			__builtin_prefetch(l);
		} else if (l->text) {
			__builtin_prefetch(l->text);
			__builtin_prefetch(l->text + 64);
		}
	}
}

const char *site_function(struct script *s, const struct site *x)
{
	const struct site_text t = { .dso = x->t.dso, .sym = x->t.sym };

	return x->map ? function_name(s, &t) : NULL;
}

void script_names(struct script *s, const struct event *ev, const char **function, const char **dso,
		  uint64_t *start)
{
	const struct site *x = site_find(s, site_space(s, ev, ev->mode), ev->ip, SCRIPT_SYM);

	*function = site_function(s, x);
	*dso = x->map ? site_dso_name(s, x->t.dso) : NULL;
	*start = x->t.sym ? ev->ip - (x->t.addr - x->t.sym->start) : 0;
}
