/* SPDX-License-Identifier: MIT */
/* What a recording does not tell: stacks that are not whole, addresses without a name, and where.
 */
#include "base/pool.h"
#include "base/str.h"
#include "calc/profile/names.h"

/* Do threads begin there? A chain of user code that ends elsewhere lost its outer part. */
static bool names_is_start(const char *name)
{
	static const char *const starts[] = {
		"_start",
		"__libc_start",
		"start_thread",
		"clone",
		"__clone",
		"thread_start",
		"_dl_start",
		"_dl_relocate",
		"runtime.goexit",
		"runtime.mstart",
		"runtime.rt0_go",
		"runtime.mcall",
		"__pthread_trampoline",
	};

	for (size_t i = 0; name && i < ARRAY_SIZE(starts); i++)
		if (str_starts(name, starts[i]))
			return true;
	return false;
}

/* What a site says of the chain it is the last of. */
enum ending { END_UNNAMED, END_NAMED, END_START, END_LIBC_START };
#define END_USER 0x80 /* in user code */

/*
 * Does a program begin at this site, by its header? Its first function is a few instructions that
 * call the C library's.
 */
#define ENTRY_SIZE 64
static bool is_entry(const struct names *n, const struct name_site *s, uint64_t *entry)
{
	const struct elf *e;

	if (s->mode != EVENT_MODE_USER || s->dso == NAMES_NONE || !s->sym)
		return false;
	if (!entry[s->dso]) {
		e = symbols_elf(n->symbols, names_file(n, s->dso, s->mode));
		entry[s->dso] = e && e->entry ? e->entry : UINT64_MAX;
	}
	return s->sym->vaddr >= entry[s->dso] && s->sym->vaddr - entry[s->dso] < ENTRY_SIZE;
}

static uint8_t *find_endings(const struct names *n)
{
	AUTO_FREE uint8_t *end = mem_grow(NULL, n->frames.n + 1);
	AUTO_FREE uint64_t *entry = mem_alloc((n->dsos.n + 1) * sizeof(*entry));
	uint8_t *by_site = mem_grow(NULL, n->sites.n + 1);

	for (uint32_t i = 0; i < n->frames.n; i++) {
		const char *name = names_function(n, i);

		end[i] = !name					 ? END_UNNAMED
			 : !names_is_start(name)		 ? END_NAMED
			 : str_starts(name, "__libc_start_main") ? END_LIBC_START
								 : END_START;
	}
	for (size_t i = 0; i < n->sites.n; i++) {
		const struct name_site *s = &n->sites.data[i];

		by_site[i] = end[s->frame] | (s->mode == EVENT_MODE_USER ? END_USER : 0);
		if (end[s->frame] == END_UNNAMED && is_entry(n, s, entry))
			by_site[i] = END_START | END_USER;
	}
	return by_site;
}

static bool ends_abruptly(const struct names *n, const uint8_t *end, const struct name_chain *c)
{
	uint8_t last;

	if (!c->n)
		return false;
	last = end[n->chain_sites[c->first + c->n - 1]];
	if (!(last & END_USER) || (last & ~END_USER) >= END_START)
		return false;
	/* the start of a stripped program has no name: the C library's stands before it */
	return (last & ~END_USER) != END_UNNAMED || c->n < 2 ||
	       (end[n->chain_sites[c->first + c->n - 2]] & ~END_USER) != END_LIBC_START;
}

#define KERNEL_MAX_STACK 127 /* kernel.perf_event_max_stack, unless changed */

/* Frames that the recorder took of a stack at most, said or not; 0: all. */
static uint32_t names_max_stack(const struct trace *t, uint32_t type)
{
	const struct event_type *of = &t->types[type];

	if (of->max_stack || (of->has & TYPE_HAS_STACK))
		return of->max_stack;
	return t->info.walked ? TRACE_WALK_DEPTH : KERNEL_MAX_STACK;
}

/* The kernel counts all frames, the walker those of the user's stack. */
static bool is_full(const uint64_t *ip, uint32_t n, uint32_t max, bool walked)
{
	uint32_t frames = 0;
	bool counts = !walked;

	if (!max || n < max)
		return false;
	for (uint32_t k = 0; k < n; k++) {
		if (ip[k] < EVENT_CHAIN_MARK)
			frames += counts;
		else
			counts = !walked || ip[k] == EVENT_CHAIN_USER;
	}
	return frames >= max;
}

void names_depth(const struct trace *t, uint32_t type, const uint64_t *ip, uint32_t n, bool *cut,
		 bool *deep)
{
	bool walked = t->info.walked;

	/* one that was walked and is as deep as asked for may be whole */
	*cut = is_full(ip, n, walked ? 0 : t->types[type].max_stack, walked);
	*deep = is_full(ip, n, names_max_stack(t, type), walked);
}

/* By file: is it code that a runtime compiled? */
static bool *find_jits(const struct names *n)
{
	bool *jit = mem_alloc((n->dsos.n + 1) * sizeof(*jit));

	for (size_t i = 0; i < n->dsos.n; i++)
		jit[i] = str_starts(n->dsos.data[i].name, "[JIT]") ||
			 names_from(n->dsos.data[i].path) != NAMES_FROM_FILE;
	return jit;
}

struct cut_work {
	const struct names *n;
	const uint8_t *end;
	const bool *jit;
	struct names_cut *cut; /* by worker */
	uint64_t *in_file;     /* by worker and dso: stacks that end early there */
};

#define STEP 16384 /* entries a job */

static int cut_job(void *ctx, size_t job, unsigned worker)
{
	const struct cut_work *w = ctx;
	const struct names *n = w->n;
	const struct profile *p = n->profile;
	size_t end = (job + 1) * STEP < p->entries.n ? (job + 1) * STEP : p->entries.n;
	struct names_cut cut = w->cut[worker];

	for (size_t i = job * STEP; i < end; i++) {
		const struct profile_entry *e = &p->entries.data[i];
		const struct name_chain *x;
		const struct profile_chain *c;
		bool full, deep;
		uint32_t dso;

		if (e->chain == PROFILE_NO_CHAIN)
			continue;
		x = &n->chains[e->chain];
		c = &p->chains.data[e->chain];
		cut.chains += e->count;
		names_depth(p->trace, e->type, c->ip, c->n, &full, &deep);
		if (full || c->cut)
			cut.full += e->count;
		else if (ends_abruptly(n, w->end, x)) {
			if (deep || c->deep) {
				cut.full += e->count;
				continue;
			}
			cut.abrupt += e->count;
			dso = n->sites.data[n->chain_sites[x->first + x->n - 1]].dso;
			if (dso == NAMES_NONE)
				continue;
			if (w->jit[dso])
				cut.in_jit += e->count;
			else
				w->in_file[worker * n->dsos.n + dso] += e->count;
		}
	}
	w->cut[worker] = cut;
	return 0;
}

static void find_worst(const struct names *n, const uint64_t *in_file, unsigned workers,
		       struct names_cut *cut)
{
	for (uint32_t i = 0; i < n->dsos.n; i++) {
		uint64_t count = 0;

		for (unsigned t = 0; t < workers; t++)
			count += in_file[t * n->dsos.n + i];
		if (count > cut->in_file) {
			cut->in_file = count;
			cut->file = i;
		}
	}
}

struct names_cut names_count_cut(const struct names *n)
{
	size_t jobs = (n->profile->entries.n + STEP - 1) / STEP;
	unsigned threads = pool_threads();
	struct names_cut all = { .file = NAMES_NONE };
	AUTO_FREE struct names_cut *cut = mem_alloc(threads * sizeof(*cut));
	AUTO_FREE uint64_t *in_file = mem_alloc((threads * n->dsos.n + 1) * sizeof(*in_file));
	AUTO_FREE uint8_t *end = find_endings(n);
	AUTO_FREE bool *jit = find_jits(n);
	struct cut_work w = { .n = n, .end = end, .jit = jit, .cut = cut, .in_file = in_file };

	pool_run(jobs, threads, cut_job, &w);
	for (unsigned t = 0; t < threads; t++) {
		all.chains += cut[t].chains;
		all.full += cut[t].full;
		all.abrupt += cut[t].abrupt;
		all.in_jit += cut[t].in_jit;
	}
	find_worst(n, in_file, threads, &all);
	return all;
}

struct names_missing names_count_missing(const struct names *n)
{
	struct names_missing m = { .file = NAMES_NONE };
	AUTO_FREE uint64_t *count = mem_alloc((n->dsos.n + 1) * sizeof(*count));
	AUTO_FREE bool *jit = find_jits(n);

	for (size_t i = 0; i < n->sites.n; i++) {
		const struct name_site *s = &n->sites.data[i];

		if (!n->samples[i] || s->dso == NAMES_NONE || s->mode != EVENT_MODE_USER ||
		    !names_is_unnamed(n, s))
			continue;
		if (jit[s->dso])
			m.in_jit += n->samples[i];
		else
			count[s->dso] += n->samples[i];
	}
	for (uint32_t i = 0; i < n->dsos.n; i++)
		if (count[i] > m.in_file) {
			m.in_file = count[i];
			m.file = i;
		}
	return m;
}

struct names_partly names_count_partly(const struct names *n)
{
	struct names_partly most = { .file = NAMES_NONE };
	AUTO_FREE uint64_t *count = mem_alloc((n->dsos.n + 1) * sizeof(*count));

	for (size_t i = 0; i < n->sites.n; i++) {
		const struct name_site *s = &n->sites.data[i];

		if (s->dso != NAMES_NONE && s->mode == EVENT_MODE_USER)
			count[s->dso] += n->samples[i];
	}
	for (uint32_t i = 0; i < n->dsos.n; i++) {
		const char *part =
			count[i] > most.samples
				? symbols_missing(n->symbols, names_file(n, i, EVENT_MODE_USER))
				: NULL;

		if (part)
			most = (struct names_partly){ count[i], i, part };
	}
	return most;
}
