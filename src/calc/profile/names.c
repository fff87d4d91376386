/* SPDX-License-Identifier: MIT */
#include "calc/profile/names.h"

#include <stdio.h>
#include <string.h>

#include "base/index.h"
#include "base/str.h"

/*
 * When code runs in such memory a runtime compiled it; perf.data readers name it
 * after the file in which runtimes write what they compiled.
 */
static bool names_is_jit(const char *path)
{
	int pid, end = 0;

	return str_starts(path, "/tmp/perf-") &&
	       sscanf(path, "/tmp/perf-%d.map%n", &pid, &end) == 1 && end && !path[end];
}

enum names_from names_from(const char *path)
{
	return task_is_anonymous(path) ? NAMES_FROM_NOBODY
	       : names_is_jit(path)    ? NAMES_FROM_PROCESS
				       : NAMES_FROM_FILE;
}

/* "/lib/modules/.../nf-tables.ko.xz" is shown as "[nf_tables]". */
static char *names_module_name(struct arena *a, const char *base)
{
	const char *dot = strstr(base, ".ko");
	char *name;

	if (!dot || (dot[3] && dot[3] != '.'))
		return NULL;
	name = arena_printf(a, "[%.*s]", (int)(dot - base), base);
	for (char *c = name; *c; c++)
		if (*c == '-')
			*c = '_';
	return name;
}

/*
 * Was there another file of that path, in a container? The path leads to one of them at most. Only
 * then their numbers are compared: a file that was copied has another one, and is good for names.
 */
static bool has_namesake(const struct tasks *tasks, uint32_t dso)
{
	const struct task_dso *d = tasks_get_dso(tasks, dso);

	for (uint32_t i = 0; i < tasks_n_dsos(tasks); i++) {
		const struct task_dso *o = tasks_get_dso(tasks, i);

		if (i != dso && o->name == d->name && !o->kernel && !o->build_id_size &&
		    o->ino != d->ino)
			return true;
	}
	return false;
}

uint32_t names_symbols_of(const struct tasks *tasks, struct symbols *symbols, uint32_t dso)
{
	const struct task_dso *d = tasks_get_dso(tasks, dso);
	struct find_want want = { .path = tasks_dso_file(tasks, dso) };

	memcpy(want.id.data, d->build_id, d->build_id_size);
	want.id.len = d->build_id_size;
	if (!d->build_id_size && has_namesake(tasks, dso))
		want.ino = d->ino;
	return symbols_dso(symbols, &want);
}

/* What a runtime compiled for a process has the names that it wrote to path. */
static uint32_t names_symbols_jit(struct symbols *symbols, const struct task_dso *d,
				  const char *path)
{
	struct find_want want = { .path = path };

	memcpy(want.id.data, d->build_id, d->build_id_size);
	want.id.len = d->build_id_size;
	return symbols_dso(symbols, &want);
}

uint32_t names_symbols_at(const struct tasks *tasks, struct symbols *symbols,
			  const struct task_map *m, uint64_t *addr)
{
	const struct task_dso *d = tasks_get_dso(tasks, m->dso);
	const char *path = tasks_dso_path(tasks, m->dso);
	char jit[32];

	if (d->kernel)
		return SYMBOLS_KERNEL;
	if (task_is_anonymous(path))
		return SYMBOLS_NONE;
	if (names_is_jit(path)) {
		snprintf(jit, sizeof(jit), "/tmp/perf-%d.map", m->pid);
		return names_symbols_jit(symbols, d, jit);
	}
	*addr = *addr - m->start + m->pgoff;
	return names_symbols_of(tasks, symbols, m->dso);
}

static struct name_dso dso_of_file(struct names *n, uint32_t dso)
{
	const struct tasks *tasks = n->profile->trace->tasks;
	const struct task_dso *d = tasks_get_dso(tasks, dso);
	const char *path = tasks_dso_path(tasks, dso);
	const char *slash = path[0] == '[' ? NULL : strrchr(path, '/');
	struct name_dso r = { .path = path, .name = slash ? slash + 1 : path, .order = dso };
	int pid, end = 0;

	if (d->kernel) {
		const char *module = names_module_name(&n->texts, r.name);

		r.symbols = SYMBOLS_KERNEL;
		if (module)
			r.name = module;
		return r;
	}
	r.symbols = SYMBOLS_NONE;
	if (task_is_anonymous(path) && !n->profile->trace->own)
		return r;
	r.symbols = names_symbols_of(tasks, n->symbols, dso);
	if (sscanf(r.name, "jit-%d.dump%n", &pid, &end) == 1 && end && !r.name[end])
		r.name = arena_printf(&n->texts, "[JIT] tid %d", pid);
	return r;
}

static struct name_dso dso_of_jit(struct names *n, uint32_t dso, int32_t pid)
{
	const struct task_dso *d = tasks_get_dso(n->profile->trace->tasks, dso);
	const char *path = arena_printf(&n->texts, "/tmp/perf-%d.map", pid);

	return (struct name_dso){ .path = path,
				  .name = arena_printf(&n->texts, "[JIT] tid %d", pid),
				  .symbols = names_symbols_jit(n->symbols, d, path),
				  .order = dso };
}

/* Which file each site is in, and the address there. */
static void find_dsos(struct names *n)
{
	const struct tasks *tasks = n->profile->trace->tasks;
	struct map index = { 0 }; /* dso, or dso and process, to n->dsos + 1 */

	vec_each (&n->sites, s) {
		const struct task_map *m = s->map ? s->map
					   : s->space == TASK_SPACE_LABEL
						   ? NULL
						   : tasks_find(tasks, s->space, s->addr);
		uint64_t key, *at;
		const char *path;

		s->dso_addr = s->addr;
		s->map = m;
		if (!m)
			continue;
		path = tasks_dso_path(tasks, m->dso);
		key = m->dso;
		if (names_is_jit(path))
			key |= (uint64_t)((uint32_t)m->pid | 0x80000000u) << 32;
		at = map_at(&index, key);
		if (!*at) {
			vec_push(&n->dsos, names_is_jit(path) ? dso_of_jit(n, m->dso, m->pid)
							      : dso_of_file(n, m->dso));
			*at = n->dsos.n;
		}
		s->dso = (uint32_t)*at - 1;
		if (s->mode != EVENT_MODE_KERNEL && !names_is_jit(path) && !task_is_anonymous(path))
			s->dso_addr = s->addr - m->start + m->pgoff;
	}
	map_free(&index);
}

/* A function that the kernel made while it was recorded (BPF), which the recording itself names. */
static bool is_made(const struct names *n, const struct name_site *s)
{
	const struct task_dso *d =
		s->map ? tasks_get_dso(n->profile->trace->tasks, s->map->dso) : NULL;

	return d && d->ksymbol;
}

/*
 * Is there anybody who may know its name? Rubbish that is not in the kernel's half of all
 * addresses is nobody's, and no list of its names need be read for that.
 */
static bool can_ask(const struct names *n, const struct name_site *s, uint64_t kernel, bool made)
{
	if (s->mode == EVENT_MODE_KERNEL)
		return s->map ? made || !is_made(n, s) : !kernel || !((s->addr ^ kernel) >> 63);
	return s->dso != NAMES_NONE && n->dsos.data[s->dso].symbols != NAMES_NONE;
}

/* made: also for what the recording names, of which only the kernel knows the module. */
static void ask_symbols(struct names *n, unsigned what, bool made)
{
	uint64_t kernel = tasks_kernel_start(n->profile->trace->tasks);
	AUTO_FREE struct sym_query *q = NULL;
	size_t used = 0;

	vec_each (&n->sites, s)
		used += can_ask(n, s, kernel, made);
	q = mem_table(used * sizeof(*q), false);
	used = 0;
	vec_each (&n->sites, s)
		/* the call before a return address may be its function's last instruction */
		if (can_ask(n, s, kernel, made))
			q[used++] = (struct sym_query){ .dso = names_file(n, s->dso, s->mode),
							.addr = s->dso_addr - s->caller };
	symbols_resolve_many(n->symbols, q, used, what);
	used = 0;
	vec_each (&n->sites, s)
		if (can_ask(n, s, kernel, made))
			s->sym = q[used++].result;
}

/* Sites for the functions inlined at a site, next to each other. */
static void add_inlines(struct names *n)
{
	size_t all = n->sites.n;

	for (size_t i = 0; i < all; i++) {
		struct name_site s = n->sites.data[i];

		if (!s.sym || s.sym->nframes < 2 || s.sym->name == SYMBOLS_NONE)
			continue;
		n->sites.data[i].inlines = (uint32_t)n->sites.n;
		s.inlined = true;
		for (uint32_t k = 0; k + 1 < s.sym->nframes; k++) {
			s.depth = (uint16_t)k;
			vec_push(&n->sites, s);
		}
	}
}

/* No code, but whom a wait ended by. */
static struct name_frame frame_of_label(struct names *n, const struct name_site *s)
{
	struct name_frame f = {
		.module = SYMBOLS_NONE, .dso = NAMES_NONE, .mode = s->mode, .addr = s->addr
	};
	char text[64];

	snprintf(text, sizeof(text), "[woken by %s]", n->profile->trace->wakers[s->addr].comm);
	f.name = symbols_add_text(n->symbols, text);
	return f;
}

static struct name_frame names_frame_of(const struct names *n, const struct name_site *s)
{
	const struct trace_frame *own = names_own(n, s);
	bool named = s->sym && s->sym->name != SYMBOLS_NONE;
	struct name_frame f = { .name = SYMBOLS_NONE,
				.module = s->sym ? s->sym->module : SYMBOLS_NONE,
				.dso = s->dso,
				.mode = s->mode,
				.addr = s->dso_addr,
				.ip = s->addr };

	if (is_made(n, s)) {
		f.name = symbols_add_text(n->symbols, n->dsos.data[s->dso].path);
		f.addr = s->map->start;
		f.size = s->map->end - s->map->start;
		return f;
	}
	if (!named)
		return f;
	f.name = s->sym->name;
	f.addr = s->sym->start;
	f.size = s->sym->end > s->sym->start ? s->sym->end - s->sym->start : 0;
	f.inlined = own && own->kind == TRACE_FRAME_INLINED;
	if (s->inlined) {
		f.name = s->sym->frames[s->depth].name;
		/* the function's own name again is itself, not one inlined into it */
		f.inlined = f.name != s->sym->name;
	}
	return f;
}

/* Of one file, with one start, or one unnamed address; wakers of one name are one. */
static bool same_frame(const struct name_frame *a, const struct name_frame *b, bool label)
{
	if (label)
		return a->name == b->name && a->dso == b->dso && a->mode == b->mode;
	return a->addr == b->addr && a->dso == b->dso && a->mode == b->mode &&
	       a->inlined == b->inlined && (a->name == SYMBOLS_NONE) == (b->name == SYMBOLS_NONE) &&
	       (!a->inlined || a->name == b->name);
}

/* Sites of one function become one frame. */
static void make_frames(struct names *n)
{
	struct index index = { 0 };

	vec_each (&n->sites, s) {
		bool label = s->space == TASK_SPACE_LABEL;
		struct name_frame f = label ? frame_of_label(n, s) : names_frame_of(n, s);
		uint64_t hash = map_hash(label ? f.name : f.addr + ((uint64_t)f.dso << 40));
		size_t at = index_first(&index, hash);
		uint32_t k;

		index_each (&index, hash, at, k)
			if (same_frame(&n->frames.data[k - 1], &f, label))
				break;
		if (!k) {
			vec_push(&n->frames, f);
			k = (uint32_t)n->frames.n;
			index_set(&index, at, hash, k);
		}
		s->frame = k - 1;
	}
	index_free(&index);
}

static void names_count_samples(struct names *n)
{
	const struct profile *p = n->profile;

	n->samples = mem_table((n->sites.n + 1) * sizeof(*n->samples), true);
	for (size_t i = 0; i < p->entries.n; i++)
		n->samples[n->entry_site[i]] += p->entries.data[i].count;
	for (size_t i = 0; i < n->sites.n; i++)
		if (n->samples[i] && names_is_unnamed(n, &n->sites.data[i]))
			n->unresolved += n->samples[i];
}

int names_make(const struct profile *p, struct symbols *symbols, const struct names_opts *o,
	       struct names *ret, struct err *e)
{
	struct names n = { .profile = p, .symbols = symbols };
	bool lines = o->lines || (o->inlines && !o->no_lines);

	sites_collect(&n, o);
	find_dsos(&n);
	ask_symbols(&n,
		    SYMBOLS_NAMES | (lines	  ? SYMBOLS_LINES
				     : o->inlines ? SYMBOLS_INLINED
						  : 0),
		    !o->no_lines);
	if (o->inlines)
		add_inlines(&n);
	make_frames(&n);
	sites_rewrite(&n, o);
	names_count_samples(&n);
	*ret = n;
	return 0;
}

void names_free(struct names *n)
{
	vec_free(&n->sites);
	vec_free(&n->frames);
	vec_free(&n->dsos);
	free(n->entry_site);
	free(n->more_sites);
	free(n->samples);
	free(n->chain_sites);
	free(n->chains);
	arena_free(&n->texts);
}

uint32_t names_file(const struct names *n, uint32_t dso, uint8_t mode)
{
	if (mode == EVENT_MODE_KERNEL)
		return SYMBOLS_KERNEL;
	return dso == NAMES_NONE ? SYMBOLS_NONE : n->dsos.data[dso].symbols;
}

const char *names_dso(const struct names *n, uint32_t dso)
{
	return dso == NAMES_NONE ? "[unknown]" : n->dsos.data[dso].name;
}

const char *names_path(const struct names *n, uint32_t dso)
{
	return dso == NAMES_NONE ? "[unknown]" : n->dsos.data[dso].path;
}

static bool names_line_of(const struct names *n, const struct name_site *s, size_t frame,
			  const char **file, uint32_t *line)
{
	const struct sym_frame *f;

	if (!s->sym || !s->sym->nframes)
		return false;
	f = &s->sym->frames[frame];
	if (f->file == SYMBOLS_NONE)
		return false;
	*file = symbols_text(n->symbols, f->file);
	*line = f->line;
	return true;
}

bool names_line(const struct names *n, const struct name_site *s, const char **file, uint32_t *line)
{
	size_t frame = s->inlined ? s->depth : s->inlines ? s->sym->nframes - 1 : 0;

	return names_line_of(n, s, frame, file, line);
}

bool names_code_line(const struct names *n, const struct name_site *s, const char **file,
		     uint32_t *line)
{
	return s->caller || s->inlined ? names_line(n, s, file, line)
				       : names_line_of(n, s, 0, file, line);
}

void names_drop_samples(struct names *n)
{
	free(n->samples);
	n->samples = NULL;
}
