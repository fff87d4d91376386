/* SPDX-License-Identifier: MIT */
/* The texts of cells. */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/str.h"
#include "calc/rows/cell.h"
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

/* As much of a text as there is room for; where it ends. */
static char *cell_text_put(char *to, const char *end, const char *text)
{
	while (*text && to + 1 < end)
		*to++ = *text++;
	*to = '\0';
	return to;
}

/* "[.] 0x" and sixteen digits, but nothing before them when there are only zeros. */
#define ADDRESS_ROOM 23

static const char *symbol_text(const struct cells *c, uint32_t frame, char *buf, size_t size)
{
	const struct name_frame *f = &c->names->frames.data[frame];
	const char *name = names_function(c->names, frame);
	uint64_t addr = f->addr;
	char *to;

	if (size < ADDRESS_ROOM)
		return "";
	to = cell_text_put(buf, buf + size, name || !addr ? "[ ] " : "[ ] 0x");
	buf[1] = cell_level(f->mode);
	if (name) {
		to = cell_text_put(to, buf + size, name);
		cell_text_put(to, buf + size, f->inlined ? " (inlined)" : "");
		return buf;
	}
	for (int i = 16; i-- > 0; addr >>= 4)
		to[i] = "0123456789abcdef"[addr & 15];
	to[16] = '\0';
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
	char name[TASK_NAME];

	snprintf(buf, size, "%7d:%s", tid, tasks_name_at(tasks, tid, UINT64_MAX, name));
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
	case KEY_COMM: return tasks_who_name(c->names->profile->trace->tasks, (uint32_t)v, buf);
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

size_t cell_length(const struct cells *c, const struct column *col, struct cell_pair at,
		   uint64_t count)
{
	const struct name_frame *f;
	char buf[4096];

	if (col->key == KEY_SYM) {
		f = &c->names->frames.data[cell_value(c, col, at)];
		if (f->name == SYMBOLS_NONE)
			return f->addr ? ADDRESS_ROOM - 1 : ADDRESS_ROOM - 3;
	}
	return strlen(cell_text(c, col, at, count, buf, sizeof(buf)));
}
