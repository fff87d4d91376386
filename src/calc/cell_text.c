/* SPDX-License-Identifier: MIT */
/* The texts of cells, and which of two stands first. */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/str.h"
#include "calc/cell.h"
#include "event/memory.h"

char cell_level(uint8_t mode)
{
	switch (mode) {
	case EVENT_MODE_KERNEL: return 'k';
	case EVENT_MODE_USER: return '.';
	case EVENT_MODE_GUEST_KERNEL: return 'g';
	case EVENT_MODE_GUEST_USER: return 'u';
	default: return 'H';
	}
}

char cell_origin(const struct name_site *s)
{
	if (!s->map)
		return '!';
	if (s->mode == EVENT_MODE_KERNEL)
		return 'k';
	return s->addr == s->dso_addr ? 'j' : 'd';
}

static const char *symbol_text(const struct cells *c, uint32_t frame, char *buf, size_t size)
{
	const struct name_frame *f = &c->names->frames.data[frame];
	const char *name = names_function(c->names, frame);

	if (name)
		snprintf(buf, size, "[%c] %s%s", cell_level(f->mode), name,
			 f->inlined ? " (inlined)" : "");
	else
		snprintf(buf, size, "[%c] %#.16" PRIx64, cell_level(f->mode), f->addr);
	return buf;
}

/* An address with the name of what is there, if it has one; data with how far behind it. */
static const char *address_text(const struct cells *c, uint32_t site, char level, uint64_t shown,
				bool offsets, char *buf, size_t size)
{
	const struct name_site *s = &c->names->sites.data[site];
	const char *name = names_function(c->names, s->frame);
	uint64_t offset = s->dso_addr - c->names->frames.data[s->frame].addr;
	bool data = s->map && !(s->map->prot & PROT_EXEC);

	if (name && (data || (offsets && offset)))
		snprintf(buf, size, "[%c] %s+0x%" PRIx64, level, name, offset);
	else if (name)
		snprintf(buf, size, "[%c] %s", level, name);
	else
		snprintf(buf, size, "[%c] %#.16" PRIx64, level, shown);
	return buf;
}

static const char *cache_line_text(const struct cells *c, uint32_t site, char *buf, size_t size)
{
	const struct name_site *s = &c->names->sites.data[site];
	char level = cell_level(s->mode);

	if (!s->map)
		level = 'X';
	else if (s->mode != EVENT_MODE_KERNEL && !(s->map->prot & PROT_EXEC) &&
		 (s->map->flags & MAP_SHARED))
		level = 's';
	return address_text(c, site, level, s->dso_addr & ~(CELL_CACHE_LINE - 1ull), false, buf,
			    size);
}

static const char *transaction_text(uint64_t t, char *buf, size_t size)
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
	AUTO_STRBUF b = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (t & flags[i].flag)
			strbuf_puts(&b, flags[i].name);
	if (t && !(t & (PERF_TXN_SYNC | PERF_TXN_ASYNC)))
		strbuf_puts(&b, "NEITHER ");
	if (t & PERF_TXN_ABORT_MASK)
		strbuf_printf(&b, ":%" PRIx64,
			      (uint64_t)((t & PERF_TXN_ABORT_MASK) >> PERF_TXN_ABORT_SHIFT));
	snprintf(buf, size, "%s", strbuf_str(&b));
	return buf;
}

static const char *memory_text(enum key key, uint64_t word, char *buf, size_t size)
{
	AUTO_STRBUF b = { 0 };

	switch (key) {
	case KEY_LOCKED: memory_lock(&b, word); break;
	case KEY_TLB: memory_tlb(&b, word); break;
	case KEY_SNOOP: memory_snoop(&b, word); break;
	case KEY_BLOCKED: memory_blocked(&b, word); break;
	default: memory_level(&b, word);
	}
	snprintf(buf, size, "%s", strbuf_str(&b));
	return buf;
}

/* "   1234:name"; the thread's last name, as its number has no other. */
static const char *task_text(const struct cells *c, int32_t tid, char *buf, size_t size)
{
	const struct tasks *tasks = c->names->profile->trace->tasks;
	uint32_t comm = tasks_comm_at(tasks, tid, UINT64_MAX);
	char number[32];

	snprintf(buf, size, "%7d:%s", tid,
		 profile_comm(c->names->profile->trace,
			      comm != STRTAB_NONE
				      ? comm
				      : PROFILE_NAMELESS | ((uint32_t)tid & ~PROFILE_NAMELESS),
			      number, sizeof(number)));
	return buf;
}

static const char *cgroup_text(const struct cells *c, uint64_t id)
{
	const char *name;

	if (!id)
		return "N/A";
	name = c->opts.env.cgroup ? c->opts.env.cgroup(c->opts.env.ctx, id) : NULL;
	return name ? name : "unknown";
}

static const char *sample_text(const struct cells *c, const struct column *col, uint64_t v,
			       uint64_t count, char *buf, size_t size)
{
	const struct extra_values *x = &c->extras.column[col - c->opts.columns->col];

	switch (col->key) {
	case KEY_COMM: return profile_comm(c->names->profile->trace, (uint32_t)v, buf, size);
	case KEY_PID:
	case KEY_TGID: return task_text(c, (int32_t)v, buf, size);
	case KEY_CPU: snprintf(buf, size, "%.3d", (int32_t)v); return buf;
	case KEY_SOCKET: snprintf(buf, size, "%.3d", (int32_t)v); return buf;
	case KEY_TIME:
		if (c->opts.ns)
			snprintf(buf, size, "%" PRIu64 ".%09" PRIu64, v / 1000000000,
				 v % 1000000000);
		else
			snprintf(buf, size, "%" PRIu64 ".%06" PRIu64, v / 1000000000,
				 v % 1000000000 / 1000);
		return buf;
	case KEY_WEIGHT:
	case KEY_INS_LAT: snprintf(buf, size, "%" PRIu64, v * count); return buf;
	case KEY_TRANSACTION: return transaction_text(v, buf, size);
	case KEY_CGROUP: return cgroup_text(c, v);
	case KEY_CGROUP_ID: return strtab_get(&c->texts, (uint32_t)v);
	case KEY_CODE_PAGE_SIZE: return memory_page_size(v, buf, size);
	case KEY_PARENT: return v ? strtab_get(&c->texts, (uint32_t)v - 1) : "[other]";
	case KEY_TRACE:
	case KEY_FIELD: return v < x->n ? x->text[v] : "N/A";
	default: snprintf(buf, size, "%" PRIu64, v); return buf;
	}
}

static const char *site_text(const struct cells *c, enum key key, uint64_t v, char *buf,
			     size_t size)
{
	switch (key) {
	case KEY_SYM: return symbol_text(c, (uint32_t)v, buf, size);
	case KEY_SYM_SIZE:
	case KEY_DSO_SIZE:
		if (!v)
			return "unknown";
		snprintf(buf, size, "%" PRIu64, v);
		return buf;
	case KEY_ADDR: snprintf(buf, size, "%#" PRIx64, v); return buf;
	case KEY_IPC: return "-      -";
	default: return strtab_get(&c->texts, (uint32_t)v);
	}
}

static const char *place_text(const struct cells *c, enum key key, uint64_t v, char *buf,
			      size_t size)
{
	const struct name_site *s = &c->names->sites.data[v < c->names->sites.n ? v : 0];
	uint32_t site = (uint32_t)v;

	switch (key) {
	case KEY_SYM_FROM:
	case KEY_SYM_TO: return symbol_text(c, site, buf, size);
	case KEY_ADDR_FROM:
	case KEY_ADDR_TO:
		return address_text(c, site, cell_level(s->mode), s->dso_addr, true, buf, size);
	case KEY_SYM_DADDR:
	case KEY_SYM_IADDR:
		return address_text(c, site, cell_level(s->mode), s->addr, false, buf, size);
	case KEY_DCACHELINE: return cache_line_text(c, site, buf, size);
	case KEY_MISPREDICT: return v & 2 ? "N" : v & 1 ? "Y" : "N/A";
	case KEY_IN_TX: return v ? "T" : ".";
	case KEY_ABORT: return v ? "A" : ".";
	case KEY_CYCLES:
		if (!v)
			return "-";
		snprintf(buf, size, "%" PRIu64, v);
		return buf;
	case KEY_LOCKED:
	case KEY_TLB:
	case KEY_MEM:
	case KEY_SNOOP:
	case KEY_BLOCKED: return memory_text(key, v, buf, size);
	case KEY_PHYS_DADDR: snprintf(buf, size, "[%c] %#.16" PRIx64, '.', v); return buf;
	case KEY_DATA_PAGE_SIZE: return memory_page_size(v, buf, size);
	default: return strtab_get(&c->texts, site);
	}
}

const char *cell_text(const struct cells *c, const struct column *col, struct cell_pair at,
		      uint64_t count, char *buf, size_t size)
{
	uint64_t v = cell_value(c, col, at);

	switch (key_infos[col->key].kind) {
	case KEY_OF_SAMPLE: return sample_text(c, col, v, count, buf, size);
	case KEY_OF_SITE: return site_text(c, col->key, v, buf, size);
	case KEY_OF_BRANCH:
	case KEY_OF_MEMORY: return place_text(c, col->key, v, buf, size);
	default: return "";
	}
}

/* --- order --- */

static int number_order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Addresses count from the kernel's, which are negative, upwards. */
static int signed_order(uint64_t a, uint64_t b)
{
	return (int64_t)a < (int64_t)b ? -1 : (int64_t)a > (int64_t)b;
}

/* What nothing is known of comes last. */
static int dso_order(const struct cells *c, uint64_t a, uint64_t b)
{
	uint32_t none = c->dso_text[0];

	if (a == b)
		return 0;
	if (a == none || b == none)
		return a == none ? 1 : -1;
	return strcmp(strtab_get(&c->texts, (uint32_t)a), strtab_get(&c->texts, (uint32_t)b));
}

static int symbol_order(const struct cells *c, uint32_t a, uint32_t b)
{
	const struct name_frame *x = &c->names->frames.data[a], *y = &c->names->frames.data[b];
	bool x_named = x->name != SYMBOLS_NONE, y_named = y->name != SYMBOLS_NONE;
	int r;

	if (a == b)
		return 0;
	if (!x_named && !y_named) {
		r = signed_order(x->addr, y->addr);
		return r ? r : dso_order(c, c->dso_text[x->dso + 1], c->dso_text[y->dso + 1]);
	}
	if (!columns_have(c->opts.columns, KEY_DSO)) {
		r = dso_order(c, c->dso_text[x->dso + 1], c->dso_text[y->dso + 1]);
		if (r)
			return r;
	}
	if (!x_named || !y_named)
		return x_named ? -1 : 1;
	r = signed_order(x->addr, y->addr);
	if (r)
		return r;
	r = number_order(x->size, y->size);
	return r ? r : number_order(a, b);
}

static int text_order(const struct cells *c, uint64_t a, uint64_t b)
{
	return a == b ? 0
		      : strcmp(strtab_get(&c->texts, (uint32_t)a),
			       strtab_get(&c->texts, (uint32_t)b));
}

static int comm_order(const struct cells *c, uint64_t a, uint64_t b)
{
	const struct trace *t = c->names->profile->trace;
	char x[32], y[32];

	return a == b ? 0
		      : strcmp(profile_comm(t, (uint32_t)a, x, sizeof(x)),
			       profile_comm(t, (uint32_t)b, y, sizeof(y)));
}

static int address_order(const struct cells *c, uint64_t a, uint64_t b)
{
	return signed_order(c->names->sites.data[a].addr, c->names->sites.data[b].addr);
}

static int level_order(uint64_t a, uint64_t b)
{
	union perf_mem_data_src x = { .val = a }, y = { .val = b };
	int r = number_order(x.mem_lvl, y.mem_lvl);

	return r ? r : number_order(a, b);
}

int cell_compare(const struct cells *c, const struct column *col, struct cell_pair pa,
		 struct cell_pair pb)
{
	uint64_t a = cell_value(c, col, pa), b = cell_value(c, col, pb);

	if (a == b)
		return 0;
	switch (col->key) {
	case KEY_COMM: return comm_order(c, a, b);
	case KEY_DSO: return dso_order(c, a, b);
	case KEY_DSO_FROM:
	case KEY_DSO_TO:
	case KEY_DSO_DADDR: return dso_order(c, b, a);
	case KEY_SYM:
	case KEY_IPC:
	case KEY_SYM_FROM:
	case KEY_SYM_TO: return symbol_order(c, (uint32_t)a, (uint32_t)b);
	case KEY_SRCLINE:
	case KEY_SRCFILE:
	case KEY_SRCLINE_FROM:
	case KEY_SRCLINE_TO: return text_order(c, a, b);
	case KEY_CGROUP_ID: return text_order(c, b, a);
	case KEY_PARENT: /* without one last */
		return a && b ? text_order(c, a - 1, b - 1) : a ? -1 : 1;
	case KEY_LOCAL_WEIGHT: /* heavy ones first */
	case KEY_WEIGHT:
	case KEY_LOCAL_INS_LAT:
	case KEY_INS_LAT:
	case KEY_TRANSACTION:
	case KEY_CYCLES: return number_order(b, a);
	case KEY_ADDR_FROM:
	case KEY_ADDR_TO:
	case KEY_SYM_DADDR:
	case KEY_SYM_IADDR:
	case KEY_DCACHELINE: return address_order(c, a, b);
	case KEY_ADDR: return signed_order(a, b);
	case KEY_MEM: return level_order(a, b);
	default: return number_order(a, b);
	}
}

int cell_compare_shown(const struct cells *c, const struct column *col, struct cell_pair pa,
		       struct cell_pair pb)
{
	uint32_t a, b;

	if (col->key != KEY_SYM)
		return cell_compare(c, col, pa, pb);
	a = c->names->frames.data[cell_value(c, col, pa)].name;
	b = c->names->frames.data[cell_value(c, col, pb)].name;
	if (a == SYMBOLS_NONE || b == SYMBOLS_NONE)
		return a == b ? 0 : a == SYMBOLS_NONE ? 1 : -1;
	return a == b ? 0
		      : strcmp(symbols_text(c->names->symbols, a),
			       symbols_text(c->names->symbols, b));
}
