/* SPDX-License-Identifier: MIT */
/*
 * The table of sort keys, and what their cells are: the value by which rows are told apart, its
 * text, and which of two stands first.
 */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/str.h"
#include "calc/rows/cell.h"
#include "event/memory.h"

#define CACHE_LINE 64 /* bytes */

static int key_order_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Addresses count from the kernel's, which are negative, upwards. */
static int key_order_signed(const struct cells *c, uint64_t a, uint64_t b)
{
	return (int64_t)a < (int64_t)b ? -1 : (int64_t)a > (int64_t)b;
}

/* Values that are small numbers, of which there may be many. */
static uint64_t key_guess_number(const struct cells *c, uint64_t v)
{
	return v;
}

/* --- texts, by their ids --- */

static const char *key_text_id(const struct cell_ask *a)
{
	return strtab_get(&a->c->texts, (uint32_t)a->v);
}

static int key_order_texts(const struct cells *c, uint64_t a, uint64_t b)
{
	return a == b ? 0
		      : strcmp(strtab_get(&c->texts, (uint32_t)a),
			       strtab_get(&c->texts, (uint32_t)b));
}

/* --- threads and CPUs --- */

/*
 * A thread whose name came late had it all the time, as perf's reports have it; what shows
 * samples as they come (script, folded stacks) cannot know it.
 */
static uint64_t key_of_comm(struct cells *c, const struct column *col,
			    const struct profile_entry *e)
{
	uint32_t later;

	if (!(e->comm & TASK_NAMELESS) || e->comm == TASK_NAMELESS || e->comm == STRTAB_NONE)
		return e->comm;
	later = tasks_later_comm(c->names->profile->trace->tasks, (int)(e->comm << 1) >> 1,
				 e->first);
	return later == STRTAB_NONE ? e->comm : later;
}

static const char *key_text_comm(const struct cell_ask *a)
{
	return tasks_who_name(a->c->names->profile->trace->tasks, (uint32_t)a->v, a->buf);
}

static int key_order_comms(const struct cells *c, uint64_t a, uint64_t b)
{
	const struct tasks *t = c->names->profile->trace->tasks;
	char x[TASK_NAME], y[TASK_NAME];

	return a == b ? 0
		      : strcmp(tasks_who_name(t, (uint32_t)a, x),
			       tasks_who_name(t, (uint32_t)b, y));
}

static uint64_t key_of_number(struct cells *c, const struct column *col,
			      const struct profile_entry *e)
{
	switch (col->key) {
	case KEY_PID: return (uint32_t)e->tid;
	case KEY_TGID: return (uint32_t)e->pid;
	case KEY_CPU: return e->cpu;
	case KEY_SOCKET:
		return c->opts.env.socket ? (uint32_t)c->opts.env.socket(c->opts.env.ctx, e->cpu)
					  : UINT32_MAX;
	default: return e->time;
	}
}

/* "   1234:name"; the thread's last name, as its number has no other. */
static const char *key_text_thread(const struct cell_ask *a)
{
	const struct tasks *tasks = a->c->names->profile->trace->tasks;
	char name[TASK_NAME];

	snprintf(a->buf, a->size, "%7d:%s", (int32_t)a->v,
		 tasks_name_at(tasks, (int32_t)a->v, UINT64_MAX, name));
	return a->buf;
}

static const char *key_text_cpu(const struct cell_ask *a)
{
	snprintf(a->buf, a->size, "%.3d", (int32_t)a->v);
	return a->buf;
}

static const char *key_text_time(const struct cell_ask *a)
{
	if (a->c->opts.ns)
		snprintf(a->buf, a->size, "%" PRIu64 ".%09" PRIu64, a->v / 1000000000,
			 a->v % 1000000000);
	else
		snprintf(a->buf, a->size, "%" PRIu64 ".%06" PRIu64, a->v / 1000000000,
			 a->v % 1000000000 / 1000);
	return a->buf;
}

static const struct key_type
	key_comm = { .of_entry = key_of_comm, .text = key_text_comm, .order = key_order_comms },
	key_thread = { .of_entry = key_of_number,
		       .text = key_text_thread,
		       .guess = key_guess_number },
	key_cpu = { .of_entry = key_of_number, .text = key_text_cpu, .guess = key_guess_number },
	key_time = { .of_entry = key_of_number, .text = key_text_time, .guess = key_guess_number };

/* --- what else a sample says --- */

static void key_put_transaction(struct strbuf *b, uint64_t t)
{
	static const struct {
		uint64_t flag;
		const char *name;
	} flags[] = {
		{ PERF_TXN_ELISION, "EL " },
		{ PERF_TXN_TRANSACTION, "TX " },
		{ PERF_TXN_SYNC, "SYNC " },
		{ PERF_TXN_ASYNC, "ASYNC " },
		{ PERF_TXN_RETRY, "RETRY " },
		{ PERF_TXN_CONFLICT, "CON " },
		{ PERF_TXN_CAPACITY_WRITE, "CAP-WRITE " },
		{ PERF_TXN_CAPACITY_READ, "CAP-READ " },
	};

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (t & flags[i].flag)
			strbuf_puts(b, flags[i].name);
	if (t && !(t & (PERF_TXN_SYNC | PERF_TXN_ASYNC)))
		strbuf_puts(b, "NEITHER ");
	if (t & PERF_TXN_ABORT_MASK)
		strbuf_printf(b, ":%" PRIx64,
			      (uint64_t)((t & PERF_TXN_ABORT_MASK) >> PERF_TXN_ABORT_SHIFT));
}

static void key_put_page_size(struct strbuf *b, uint64_t v)
{
	char buf[32];

	strbuf_puts(b, memory_page_size(v, buf, sizeof(buf)));
}

static const char *key_text_cgroup(const struct cell_ask *a)
{
	const char *name;

	if (!a->v)
		return "N/A";
	name = a->c->opts.env.cgroup ? a->c->opts.env.cgroup(a->c->opts.env.ctx, a->v) : NULL;
	return name ? name : "unknown";
}

static uint64_t key_of_namespace(struct cells *c, const struct column *col,
				 const struct profile_entry *e)
{
	const uint64_t *w;
	char text[64];

	if (e->extra == PROFILE_NO_EXTRA)
		return 0;
	w = &c->names->profile->extras.data[e->extra].data[c->opts.plan->word[col->key]];
	snprintf(text, sizeof(text), "%" PRIu64 "/0x%" PRIx64, w[0], w[1]);
	return strtab_add(&c->texts, text);
}

/* A function that a pattern chose, or none, which comes last. */
static uint64_t key_of_parent(struct cells *c, const struct column *col,
			      const struct profile_entry *e)
{
	return e->chain == PROFILE_NO_CHAIN ? 0 : c->parent_of[e->chain];
}

static const char *key_text_parent(const struct cell_ask *a)
{
	return a->v ? strtab_get(&a->c->texts, (uint32_t)a->v - 1) : "[other]";
}

static int key_order_parents(const struct cells *c, uint64_t a, uint64_t b)
{
	return a && b ? key_order_texts(c, a - 1, b - 1) : a ? -1 : 1;
}

/* Fields of tracepoints, and all of them as text: ranks that calc/profile/extra_values.c made. */
static uint64_t key_of_extra(struct cells *c, const struct column *col,
			     const struct profile_entry *e)
{
	return e->extra != PROFILE_NO_EXTRA && column_applies(col, e->type)
		       ? c->extras.column[col - c->opts.columns->col].by_extra[e->extra]
		       : UINT32_MAX;
}

static const char *key_text_extra(const struct cell_ask *a)
{
	const struct extra_values *x = &a->c->extras.column[a->col - a->c->opts.columns->col];

	return a->v < x->n ? x->text[a->v] : "N/A";
}

static const struct key_type key_transaction = { .put = key_put_transaction },
			     key_page_size = { .put = key_put_page_size },
			     key_cgroup = { .text = key_text_cgroup },
			     key_namespace = { .of_entry = key_of_namespace,
					       .text = key_text_id,
					       .order = key_order_texts },
			     key_parent = { .of_entry = key_of_parent,
					    .text = key_text_parent,
					    .order = key_order_parents },
			     key_extra = { .of_entry = key_of_extra, .text = key_text_extra };

/* --- files, functions and lines --- */

static uint64_t key_of_dso(struct cells *c, uint32_t site)
{
	return c->dso_text[c->names->sites.data[site].dso + 1];
}

/* What nothing is known of comes last. */
static int key_order_dsos(const struct cells *c, uint64_t a, uint64_t b)
{
	uint32_t none = c->dso_text[0];

	if (a != b && (a == none || b == none))
		return a == none ? 1 : -1;
	return key_order_texts(c, a, b);
}

static uint64_t key_of_symbol(struct cells *c, uint32_t site)
{
	return c->symbol_of[c->names->sites.data[site].frame];
}

/* As much of a text as there is room for; where it ends. */
static char *key_text_put(char *to, const char *end, const char *text)
{
	while (*text && to + 1 < end)
		*to++ = *text++;
	*to = '\0';
	return to;
}

static const char *key_text_symbol(const struct cell_ask *a)
{
	const struct name_frame *f = &a->c->names->frames.data[a->v];
	const char *name = names_function(a->c->names, (uint32_t)a->v);
	uint64_t addr = f->addr;
	char *to, *end = a->buf + a->size;

	if (a->size < CELL_ADDRESS)
		return "";
	to = key_text_put(a->buf, end, name || !addr ? "[ ] " : "[ ] 0x");
	a->buf[1] = cell_level(f->mode);
	if (name) {
		to = key_text_put(to, end, name);
		key_text_put(to, end, f->inlined ? " (inlined)" : "");
		return a->buf;
	}
	for (int i = 16; i-- > 0; addr >>= 4)
		to[i] = "0123456789abcdef"[addr & 15];
	to[16] = '\0';
	return a->buf;
}

/* What has no name comes last. Files decide where no column of files stands beside the symbols. */
static int key_order_symbols(const struct cells *c, uint64_t a, uint64_t b)
{
	const struct name_frame *x = &c->names->frames.data[a], *y = &c->names->frames.data[b];
	bool x_named = x->name != SYMBOLS_NONE, y_named = y->name != SYMBOLS_NONE;
	int by_addr = key_order_signed(c, x->addr, y->addr), by_dso = 0;

	if (a == b)
		return 0;
	if (x_named != y_named)
		return x_named ? -1 : 1;
	if (!x_named && by_addr)
		return by_addr;
	if (!x_named || !c->has_dsos)
		by_dso = key_order_dsos(c, c->dso_text[x->dso + 1], c->dso_text[y->dso + 1]);
	if (!x_named || by_dso)
		return by_dso;
	if (by_addr)
		return by_addr;
	return x->size == y->size ? key_order_numbers(a, b) : key_order_numbers(x->size, y->size);
}

/* Many symbols are common. */
static uint64_t key_guess_symbol(const struct cells *c, uint64_t v)
{
	const struct name_frame *f = &c->names->frames.data[v];

	if (f->name == SYMBOLS_NONE)
		return (f->addr ^ INT64_MIN) >> 1 | 1ull << 63;
	return c->has_dsos ? (f->addr ^ INT64_MIN) >> 1 : 0;
}

/* "file.c:12", or where that is not known "function+4", "libc.so.6[1f00]". */
static uint64_t key_of_line(struct cells *c, uint32_t site)
{
	const struct names *n = c->names;
	const struct name_site *s = &n->sites.data[site];
	const char *file, *name = names_function(n, s->frame);
	AUTO_STRBUF b = { 0 };
	uint32_t line;

	if (names_code_line(n, s, &file, &line))
		strbuf_printf(&b, "%s:%u", c->opts.full_lines ? file : str_base_name(file), line);
	else if (!s->map)
		strbuf_puts(&b, "??:0");
	else if (name)
		strbuf_printf(&b, "%s+%" PRIu64, name, s->dso_addr - n->frames.data[s->frame].addr);
	else
		strbuf_printf(&b, "%s[%" PRIx64 "]", names_dso(n, s->dso), s->dso_addr);
	return strtab_add(&c->texts, strbuf_str(&b));
}

static uint64_t key_of_source(struct cells *c, uint32_t site)
{
	const char *file;
	uint32_t line;

	if (!names_code_line(c->names, &c->names->sites.data[site], &file, &line))
		return strtab_add(&c->texts, "");
	return strtab_add(&c->texts, c->opts.full_lines ? file : str_base_name(file));
}

static uint64_t key_of_symbol_size(struct cells *c, uint32_t site)
{
	return c->names->frames.data[c->names->sites.data[site].frame].size;
}

static uint64_t key_of_dso_size(struct cells *c, uint32_t site)
{
	const struct task_map *map = c->names->sites.data[site].map;

	return map ? map->end - map->start : 0;
}

static void key_put_size(struct strbuf *b, uint64_t v)
{
	if (v)
		strbuf_printf(b, "%" PRIu64, v);
	else
		strbuf_puts(b, "unknown");
}

static uint64_t key_of_address(struct cells *c, uint32_t site)
{
	return c->names->sites.data[site].addr;
}

static void key_put_address(struct strbuf *b, uint64_t v)
{
	strbuf_printf(b, "%#" PRIx64, v);
}

static void key_put_ipc(struct strbuf *b, uint64_t v)
{
	strbuf_puts(b, "-      -");
}

static const struct key_type
	key_dso = { .of_site = key_of_dso, .text = key_text_id, .order = key_order_dsos },
	key_symbol = { .of_site = key_of_symbol,
		       .text = key_text_symbol,
		       .order = key_order_symbols,
		       .guess = key_guess_symbol },
	key_ipc = { .of_site = key_of_symbol, .put = key_put_ipc, .order = key_order_symbols },
	key_line = { .of_site = key_of_line, .text = key_text_id, .order = key_order_texts },
	key_source = { .of_site = key_of_source, .text = key_text_id, .order = key_order_texts },
	key_symbol_size = { .of_site = key_of_symbol_size, .put = key_put_size },
	key_dso_size = { .of_site = key_of_dso_size, .put = key_put_size },
	key_address = { .of_site = key_of_address,
			.put = key_put_address,
			.order = key_order_signed };

/* --- places: a site that stands for all with the same address or cache line --- */

static uint64_t key_place_at(struct cells *c, uint64_t hash, uint32_t site)
{
	uint64_t *at = map_at(&c->place_of, hash);

	if (!*at)
		*at = site + 1ull;
	return *at - 1;
}

static uint64_t key_of_place(struct cells *c, uint32_t site)
{
	return key_place_at(c, map_hash(c->names->sites.data[site].addr), site);
}

static uint64_t key_of_cache_line(struct cells *c, uint32_t site)
{
	const struct name_site *s = &c->names->sites.data[site];

	return key_place_at(c, map_hash(s->dso_addr / CACHE_LINE) ^ ((uint64_t)s->dso + 2), site);
}

/* An address with the name of what is there, if it has one; data with how far behind it. */
static const char *key_text_at(const struct cell_ask *a, char level, uint64_t shown, bool offsets)
{
	const struct names *n = a->c->names;
	const struct name_site *s = &n->sites.data[a->v];
	const char *name = names_function(n, s->frame);
	uint64_t offset = s->dso_addr - n->frames.data[s->frame].addr;
	bool data = s->map && !(s->map->prot & PROT_EXEC);

	if (name && (data || (offsets && offset)))
		snprintf(a->buf, a->size, "[%c] %s+0x%" PRIx64, level, name, offset);
	else if (name)
		snprintf(a->buf, a->size, "[%c] %s", level, name);
	else
		snprintf(a->buf, a->size, "[%c] %#.16" PRIx64, level, shown);
	return a->buf;
}

static const char *key_text_branch_place(const struct cell_ask *a)
{
	const struct name_site *s = &a->c->names->sites.data[a->v];

	return key_text_at(a, cell_level(s->mode), s->dso_addr, true);
}

static const char *key_text_place(const struct cell_ask *a)
{
	const struct name_site *s = &a->c->names->sites.data[a->v];

	return key_text_at(a, cell_level(s->mode), s->addr, false);
}

static const char *key_text_cache_line(const struct cell_ask *a)
{
	const struct name_site *s = &a->c->names->sites.data[a->v];
	char level = cell_level(s->mode);

	if (!s->map)
		level = 'X';
	else if (s->mode != EVENT_MODE_KERNEL && !(s->map->prot & PROT_EXEC) &&
		 (s->map->flags & MAP_SHARED))
		level = 's';
	return key_text_at(a, level, s->dso_addr & ~(CACHE_LINE - 1ull), false);
}

static int key_order_places(const struct cells *c, uint64_t a, uint64_t b)
{
	return key_order_signed(c, c->names->sites.data[a].addr, c->names->sites.data[b].addr);
}

static const struct key_type key_place = { .of_site = key_of_place,
					   .text = key_text_place,
					   .order = key_order_places },
			     key_branch_place = { .of_site = key_of_place,
						  .text = key_text_branch_place,
						  .order = key_order_places },
			     key_cache_line = { .of_site = key_of_cache_line,
						.text = key_text_cache_line,
						.order = key_order_places };

/* --- parts of words: branches and memory accesses --- */

static void key_put_mispredict(struct strbuf *b, uint64_t v)
{
	strbuf_puts(b, v & 2 ? "N" : v & 1 ? "Y" : "N/A");
}

static void key_put_in_tx(struct strbuf *b, uint64_t v)
{
	strbuf_putc(b, v ? 'T' : '.');
}

static void key_put_abort(struct strbuf *b, uint64_t v)
{
	strbuf_putc(b, v ? 'A' : '.');
}

static void key_put_cycles(struct strbuf *b, uint64_t v)
{
	if (v)
		strbuf_printf(b, "%" PRIu64, v);
	else
		strbuf_putc(b, '-');
}

static void key_put_physical(struct strbuf *b, uint64_t v)
{
	strbuf_printf(b, "[.] %#.16" PRIx64, v);
}

static int key_order_levels(const struct cells *c, uint64_t a, uint64_t b)
{
	union perf_mem_data_src x = { .val = a }, y = { .val = b };

	return x.mem_lvl == y.mem_lvl ? key_order_numbers(a, b)
				      : key_order_numbers(x.mem_lvl, y.mem_lvl);
}

static const struct key_type key_mispredict = { .put = key_put_mispredict },
			     key_in_tx = { .put = key_put_in_tx },
			     key_abort = { .put = key_put_abort },
			     key_cycles = { .put = key_put_cycles },
			     key_locked = { .put = memory_lock }, key_tlb = { .put = memory_tlb },
			     key_level = { .put = memory_level, .order = key_order_levels },
			     key_snoop = { .put = memory_snoop },
			     key_blocked = { .put = memory_blocked },
			     key_physical = { .put = key_put_physical };

#define EXTRA(word) KEY_WORD_EXTRA, offsetof(struct event_extra, word)
#define WORD(word)                              \
	{                                       \
		EXTRA(word), .mask = UINT64_MAX \
	}
#define MEMORY(part)                                   \
	{                                              \
		EXTRA(data_src), .mask = MEMORY_##part \
	}
#define MEMORY_LOCKED (3ull << PERF_MEM_LOCK_SHIFT)
#define MEMORY_TLB (0x7full << PERF_MEM_TLB_SHIFT)
#define MEMORY_LEVEL                                                        \
	(0x3fffull << PERF_MEM_LVL_SHIFT | 15ull << PERF_MEM_LVLNUM_SHIFT | \
	 1ull << PERF_MEM_REMOTE_SHIFT | 7ull << PERF_MEM_HOPS_SHIFT)
#define MEMORY_SNOOP (31ull << PERF_MEM_SNOOP_SHIFT | 3ull << PERF_MEM_SNOOPX_SHIFT)
#define MEMORY_BLOCKED (7ull << PERF_MEM_BLK_SHIFT)
#define BRANCH(word)                                                                     \
	{                                                                                \
		KEY_WORD_BRANCH, offsetof(struct event_branch, word), .mask = UINT64_MAX \
	}
#define FLAGS(shift, mask)                                                         \
	{                                                                          \
		KEY_WORD_BRANCH, offsetof(struct event_branch, flags), shift, mask \
	}

const struct key_info key_infos[KEYS] = {
#define KEY(id, ...) [KEY_##id] = { __VA_ARGS__ },
#include "calc/rows/keys.h"
#undef KEY
};

int key_compare(const struct cells *c, enum key key, uint64_t a, uint64_t b)
{
	const struct key_info *k = &key_infos[key];
	uint64_t x = k->falls ? b : a, y = k->falls ? a : b;

	return k->type && k->type->order ? k->type->order(c, x, y) : key_order_numbers(x, y);
}
