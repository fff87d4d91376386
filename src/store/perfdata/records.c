/* SPDX-License-Identifier: MIT */
#include "store/perfdata/records.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"

/* 0 is written as "0", not "0x0": what %#llx does. */
#define HEX "%#" PRIx64

/* A text of the record on one line; *made is the caller's to free. */
static const char *records_line(const void *r, const char *p, char **made)
{
	const char *s = record_text(r, p);

	return str_one_line(s ? s : "", made);
}

static void text_mmap(const void *p, struct strbuf *b)
{
	const struct rec_mmap *r = p;
	AUTO_FREE char *made = NULL;
	const char *path = records_line(r, r->path, &made);

	strbuf_printf(b, " %d/%d: [" HEX "(" HEX ") @ " HEX "]: %c %s\n", (int)r->pid, (int)r->tid,
		      r->start, r->size, r->pgoff,
		      r->h.misc & PERF_RECORD_MISC_MMAP_DATA ? 'r' : 'x', path);
}

static void text_mmap2(const void *p, struct strbuf *b)
{
	const struct rec_mmap2 *r = p;
	AUTO_FREE char *made = NULL;
	const char *path = records_line(r, r->path, &made);

	strbuf_printf(b, " %d/%d: [" HEX "(" HEX ") @ " HEX " ", (int)r->pid, (int)r->tid, r->start,
		      r->size, r->pgoff);
	if (r->h.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		strbuf_putc(b, '<');
		for (unsigned i = 0; i < r->build_id_size && i < 20; i++)
			strbuf_printf(b, "%02x", r->build_id[i]);
		strbuf_putc(b, '>');
	} else {
		strbuf_printf(b, "%02x:%02x %" PRIu64 " %" PRIu64, r->maj, r->min, r->ino,
			      r->ino_generation);
	}
	strbuf_printf(b, "]: %c%c%c%c %s\n", r->prot & PROT_READ ? 'r' : '-',
		      r->prot & PROT_WRITE ? 'w' : '-', r->prot & PROT_EXEC ? 'x' : '-',
		      r->flags & MAP_SHARED ? 's' : 'p', path);
}

static void text_comm(const void *p, struct strbuf *b)
{
	const struct rec_comm *r = p;
	AUTO_FREE char *made = NULL;
	const char *comm = records_line(r, r->comm, &made);

	strbuf_printf(b, "%s: %s:%d/%d\n", r->h.misc & PERF_RECORD_MISC_COMM_EXEC ? " exec" : "",
		      comm, (int)r->pid, (int)r->tid);
}

static void text_fork(const void *p, struct strbuf *b)
{
	const struct rec_fork *r = p;

	strbuf_printf(b, "(%d:%d):(%d:%d)\n", (int)r->pid, (int)r->tid, (int)r->ppid, (int)r->ptid);
}

static void text_switch(const void *p, struct strbuf *b)
{
	const struct rec_task *r = p;
	bool out = r->h.misc & PERF_RECORD_MISC_SWITCH_OUT;
	const char *way = !out						    ? "IN         "
			  : r->h.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? "OUT preempt"
									    : "OUT        ";

	if (r->h.type == PERF_RECORD_SWITCH)
		strbuf_printf(b, " %s\n", way);
	else
		strbuf_printf(b, " %s  %s pid/tid: %5d/%-5d\n", way, out ? "next" : "prev",
			      (int)r->pid, (int)r->tid);
}

static void text_namespaces(const void *p, struct strbuf *b)
{
	const struct rec_namespaces *r = p;
	static const char *const kinds[] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };
	uint64_t room = (r->h.size - sizeof(*r)) / sizeof(r->of[0]);
	uint64_t n = r->n < room ? r->n : room;

	strbuf_printf(b, " %d/%d - nr_namespaces: %u\n\t\t[", (int)r->pid, (int)r->tid,
		      (unsigned)n);
	for (uint64_t i = 0; i < n; i++) {
		if (i && i % 4 == 0)
			strbuf_puts(b, "\n\t\t ");
		strbuf_printf(b, "%u/%s: %" PRIu64 "/" HEX "%s", (unsigned)i,
			      i < ARRAY_SIZE(kinds) ? kinds[i] : "unknown", r->of[i].dev,
			      r->of[i].ino, i + 1 != n ? ", " : "]\n");
	}
}

static void text_ksymbol(const void *p, struct strbuf *b)
{
	const struct rec_ksymbol *r = p;
	AUTO_FREE char *made = NULL;
	const char *name = records_line(r, r->name, &made);

	strbuf_printf(b, " addr %" PRIx64 " len %u type %u flags 0x%x name %s\n", r->addr, r->len,
		      r->type, r->flags, name);
}

static void text_cgroup(const void *p, struct strbuf *b)
{
	const struct rec_cgroup *r = p;
	AUTO_FREE char *made = NULL;
	const char *path = records_line(r, r->path, &made);

	strbuf_printf(b, " cgroup: %" PRIu64 " %s\n", r->id, path);
}

static void text_poke(const void *p, struct strbuf *b)
{
	const struct rec_text_poke *r = p;
	size_t room = r->h.size - sizeof(*r);
	size_t old = r->old_len < room ? r->old_len : room;
	size_t new = r->new_len < room - old ? r->new_len : room - old;

	strbuf_printf(b, " " HEX " old len %u new len %u\n", r->addr, r->old_len, r->new_len);
	for (size_t i = 0; i < old + new; i++)
		strbuf_printf(b, "%s%02x%s",
			      i == 0	 ? "            old bytes: "
			      : i == old ? "            new bytes: "
					 : "",
			      r->bytes[i], i + 1 == old || i + 1 == old + new ? "\n" : " ");
}

static void text_lost(const void *p, struct strbuf *b)
{
	strbuf_printf(b, " lost %" PRIu64 "\n", ((const struct rec_lost *)p)->lost);
}

static void text_aux(const void *p, struct strbuf *b)
{
	const struct rec_aux *r = p;

	strbuf_printf(b, " offset: " HEX " size: " HEX " flags: " HEX " [%s%s%s]\n", r->offset,
		      r->size, r->flags, r->flags & 1 ? "T" : "", r->flags & 2 ? "O" : "",
		      r->flags & 4 ? "P" : "");
}

static void text_itrace(const void *p, struct strbuf *b)
{
	const struct rec_task *r = p;

	strbuf_printf(b, " pid: %d tid: %d\n", (int)r->pid, (int)r->tid);
}

static void text_bpf(const void *p, struct strbuf *b)
{
	const struct rec_bpf *r = p;

	strbuf_printf(b, " type %u, flags %u, id %u\n", r->type, r->flags, r->id);
}

static void text_hw_id(const void *p, struct strbuf *b)
{
	strbuf_printf(b, " hw_id: " HEX "\n", ((const struct rec_u64 *)p)->value);
}

/* --- what perf writes itself --- */

struct rec_id_index {
	struct perfdata_event_header h;
	uint64_t n;
	struct {
		uint64_t id, idx, cpu, tid;
	} of[];
};
struct rec_update {
	struct perfdata_event_header h;
	uint64_t what, id;
	char data[];
};
struct rec_threads {
	struct perfdata_event_header h;
	uint64_t n;
	struct {
		uint64_t pid;
		char comm[16];
	} of[];
};
struct rec_cpus {
	struct perfdata_event_header h;
	uint16_t kind;
	union {
		struct {
			uint16_t n, cpu[];
		} list;
		struct {
			uint16_t n, long_size;
			uint8_t bits[];
		} mask;
		struct {
			uint8_t any, pad;
			uint16_t first, last;
		} range;
	};
};
struct rec_words {
	struct perfdata_event_header h;
	uint64_t word[];
};
struct rec_auxtrace {
	struct perfdata_event_header h;
	uint64_t size, offset, reference;
	uint32_t idx, tid, cpu;
};

static void text_id_index(const void *p, struct strbuf *b)
{
	const struct rec_id_index *r = p;
	uint64_t room = (r->h.size - sizeof(*r)) / sizeof(r->of[0]);

	strbuf_printf(b, " nr: %" PRIu64 "\n", r->n);
	for (uint64_t i = 0; i < r->n && i < room; i++)
		strbuf_printf(b,
			      " ... id: %" PRIu64 "  idx: %" PRIu64 "  cpu: %" PRId64
			      "  tid: %" PRId64 "\n",
			      r->of[i].id, r->of[i].idx, (int64_t)r->of[i].cpu,
			      (int64_t)r->of[i].tid);
}

static void put_cpus(struct strbuf *b, const uint8_t *bits, size_t n)
{
	const char *sep = "";

	for (size_t i = 0; i < n; i++) {
		size_t end = i;

		if (!(bits[i / 8] >> i % 8 & 1))
			continue;
		while (end + 1 < n && (bits[(end + 1) / 8] >> (end + 1) % 8 & 1))
			end++;
		strbuf_printf(b, end > i ? "%s%zu-%zu" : "%s%zu", sep, i, end);
		sep = ",";
		i = end;
	}
}

static void text_cpu_map(const void *p, struct strbuf *b)
{
	const struct rec_cpus *r = p;
	size_t room = r->h.size - offsetof(struct rec_cpus, list.cpu);

	strbuf_puts(b, ": ");
	if (r->kind == 0) {
		for (size_t i = 0; i < r->list.n && i < room / 2; i++)
			strbuf_printf(b, "%s%u", i ? "," : "", r->list.cpu[i]);
	} else if (r->kind == 1 && room >= 2) {
		size_t bytes = (size_t)r->mask.n * r->mask.long_size;

		put_cpus(b, r->mask.bits, (bytes < room - 2 ? bytes : room - 2) * 8);
	} else if (r->kind == 2 && room >= 4) {
		strbuf_printf(b, r->range.last > r->range.first ? "%u-%u" : "%u", r->range.first,
			      r->range.last);
	}
	strbuf_putc(b, '\n');
}

static void text_threads(const void *p, struct strbuf *b)
{
	const struct rec_threads *r = p;
	uint64_t room = (r->h.size - sizeof(*r)) / sizeof(r->of[0]);

	strbuf_printf(b, " nr: %d thread%s: ", (int)r->n, r->n > 1 ? "s" : "");
	for (uint64_t i = 0; i < r->n && i < room; i++)
		strbuf_printf(b, "%s%d", i ? ", " : "", (int)r->of[i].pid);
	strbuf_putc(b, '\n');
}

static void text_update(const void *p, struct strbuf *b)
{
	const struct rec_update *r = p;
	size_t room = r->h.size - sizeof(*r);
	double scale = 0;

	strbuf_printf(b, "\n... id:    %" PRIu64 "\n", r->id);
	if (r->what == PERFDATA_UPDATE_SCALE && room >= 8) {
		memcpy(&scale, r->data, 8);
		strbuf_printf(b, "... scale: %f\n", scale);
	} else if (r->what == PERFDATA_UPDATE_UNIT || r->what == PERFDATA_UPDATE_NAME) {
		strbuf_printf(b, "... %s  %.*s\n",
			      r->what == PERFDATA_UPDATE_UNIT ? "unit:" : "name:",
			      (int)strnlen(r->data, room), r->data);
	}
}

static void text_time_conv(const void *p, struct strbuf *b)
{
	const struct rec_words *r = p;
	static const char *const names[] = { "Shift      ", "Muliplier  ", "Zero       ",
					     "Cycles     ", "Mask       " };
	size_t n = (r->h.size - sizeof(*r)) / 8;

	strbuf_putc(b, '\n');
	for (size_t i = 0; i < n && i < ARRAY_SIZE(names); i++)
		strbuf_printf(b, i == 4 ? "... Time %s%#" PRIx64 "\n" : "... Time %s%" PRIu64 "\n",
			      names[i], r->word[i]);
}

static void text_init(const void *p, struct strbuf *b)
{
	strbuf_puts(b, ": unhandled!\n");
}

static void text_auxtrace(const void *p, struct strbuf *b)
{
	const struct rec_auxtrace *r = p;

	strbuf_printf(b,
		      " size: " HEX "  offset: " HEX "  ref: " HEX "  idx: %u  tid: %d  cpu: %d\n",
		      r->size, r->offset, r->reference, r->idx, (int)r->tid, (int)r->cpu);
}

/* shape: as records_shape() has it; "": none. text: all but the name; NULL: nothing. */
static const struct {
	const char *name, *shape;
	void (*text)(const void *r, struct strbuf *b);
} records[] = {
	[PERF_RECORD_MMAP] = { "MMAP", "44888s", text_mmap },
	[PERF_RECORD_LOST] = { "LOST", "88", text_lost },
	[PERF_RECORD_COMM] = { "COMM", "44s", text_comm },
	[PERF_RECORD_EXIT] = { "EXIT", "44448", text_fork },
	[PERF_RECORD_THROTTLE] = { "THROTTLE", "888" },
	[PERF_RECORD_UNTHROTTLE] = { "UNTHROTTLE", "888" },
	[PERF_RECORD_FORK] = { "FORK", "44448", text_fork },
	[PERF_RECORD_READ] = { "READ", "448*" },
	[PERF_RECORD_SAMPLE] = { "SAMPLE" },
	[PERF_RECORD_MMAP2] = { "MMAP2", "44888448844s", text_mmap2 },
	[PERF_RECORD_AUX] = { "AUX", "888", text_aux },
	[PERF_RECORD_ITRACE_START] = { "ITRACE_START", "44", text_itrace },
	[PERF_RECORD_LOST_SAMPLES] = { "LOST_SAMPLES", "8" },
	[PERF_RECORD_SWITCH] = { "SWITCH", "", text_switch },
	[PERF_RECORD_SWITCH_CPU_WIDE] = { "SWITCH_CPU_WIDE", "44", text_switch },
	[PERF_RECORD_NAMESPACES] = { "NAMESPACES", "4488*", text_namespaces },
	[PERF_RECORD_KSYMBOL] = { "KSYMBOL", "8422s", text_ksymbol },
	[PERF_RECORD_BPF_EVENT] = { "BPF_EVENT", "224bbbbbbbb", text_bpf },
	[PERF_RECORD_CGROUP] = { "CGROUP", "8s", text_cgroup },
	[PERF_RECORD_TEXT_POKE] = { "TEXT_POKE", "822bbbbs", text_poke },
	[PERF_RECORD_AUX_OUTPUT_HW_ID] = { "AUX_OUTPUT_HW_ID", "8", text_hw_id },
	[PERFDATA_CALLCHAIN_DEFERRED] = { "CALLCHAIN_DEFERRED" },
	[PERFDATA_HEADER_ATTR] = { "ATTR" },
	[PERFDATA_HEADER_EVENT_TYPE] = { "EVENT_TYPE" },
	[PERFDATA_HEADER_TRACING_DATA] = { "TRACING_DATA", "4" },
	[PERFDATA_HEADER_BUILD_ID] = { "BUILD_ID" },
	[PERFDATA_FINISHED_ROUND] = { "FINISHED_ROUND" },
	[PERFDATA_ID_INDEX] = { "ID_INDEX", "88*", text_id_index },
	[PERFDATA_AUXTRACE_INFO] = { "AUXTRACE_INFO", "448*" },
	[PERFDATA_AUXTRACE] = { "AUXTRACE", "8884444", text_auxtrace },
	[PERFDATA_AUXTRACE_ERROR] = { "AUXTRACE_ERROR", "44444488s" },
	[PERFDATA_THREAD_MAP] = { "THREAD_MAP", "8", text_threads },
	[PERFDATA_CPU_MAP] = { "CPU_MAP", "bbbb", text_cpu_map },
	[PERFDATA_STAT_CONFIG] = { "STAT_CONFIG", "8*" },
	[PERFDATA_STAT] = { "STAT", "844888" },
	[PERFDATA_STAT_ROUND] = { "STAT_ROUND", "88" },
	[PERFDATA_EVENT_UPDATE] = { "EVENT_UPDATE", "88s", text_update },
	[PERFDATA_TIME_CONV] = { "TIME_CONV", "8*", text_time_conv },
	[PERFDATA_HEADER_FEATURE] = { "FEATURE", "8s" },
	[PERFDATA_COMPRESSED] = { "COMPRESSED" },
	[PERFDATA_FINISHED_INIT] = { "FINISHED_INIT", "", text_init },
	[PERFDATA_COMPRESSED2] = { "COMPRESSED2", "8s" },
};

const char *records_name(uint32_t type)
{
	return type < ARRAY_SIZE(records) ? records[type].name : NULL;
}

const char *records_shape(uint32_t type)
{
	return type < ARRAY_SIZE(records) && records[type].shape ? records[type].shape : "";
}

bool records_whole(const struct perfdata_event_header *h)
{
	size_t n = sizeof(*h);

	for (const char *s = records_shape(h->type); *s && *s != 's'; s++)
		if (*s != '*' && s[1] != '*')
			n += *s == 'b' ? 1 : (size_t)(*s - '0');
	return h->size >= n;
}

void records_text(const struct perfdata_event_header *h, struct strbuf *b)
{
	const char *name = records_name(h->type);

	strbuf_printf(b, "PERF_RECORD_%s", name ? name : "UNKNOWN");
	if (!name || !records[h->type].text)
		strbuf_putc(b, '\n');
	else if (!records_whole(h))
		strbuf_puts(b, h->type < 64 ? " (too short)\n" : "\n");
	else
		records[h->type].text(h, b);
}
