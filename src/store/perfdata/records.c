/* SPDX-License-Identifier: MIT */
#include "store/perfdata/records.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"

static const char *const names[] = {
	[PERF_RECORD_MMAP] = "MMAP",
	[PERF_RECORD_LOST] = "LOST",
	[PERF_RECORD_COMM] = "COMM",
	[PERF_RECORD_EXIT] = "EXIT",
	[PERF_RECORD_THROTTLE] = "THROTTLE",
	[PERF_RECORD_UNTHROTTLE] = "UNTHROTTLE",
	[PERF_RECORD_FORK] = "FORK",
	[PERF_RECORD_READ] = "READ",
	[PERF_RECORD_SAMPLE] = "SAMPLE",
	[PERF_RECORD_MMAP2] = "MMAP2",
	[PERF_RECORD_AUX] = "AUX",
	[PERF_RECORD_ITRACE_START] = "ITRACE_START",
	[PERF_RECORD_LOST_SAMPLES] = "LOST_SAMPLES",
	[PERF_RECORD_SWITCH] = "SWITCH",
	[PERF_RECORD_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
	[PERF_RECORD_NAMESPACES] = "NAMESPACES",
	[PERF_RECORD_KSYMBOL] = "KSYMBOL",
	[PERF_RECORD_BPF_EVENT] = "BPF_EVENT",
	[PERF_RECORD_CGROUP] = "CGROUP",
	[PERF_RECORD_TEXT_POKE] = "TEXT_POKE",
	[PERF_RECORD_AUX_OUTPUT_HW_ID] = "AUX_OUTPUT_HW_ID",
	[PERFDATA_CALLCHAIN_DEFERRED] = "CALLCHAIN_DEFERRED",
	[PERFDATA_HEADER_ATTR] = "ATTR",
	[PERFDATA_HEADER_EVENT_TYPE] = "EVENT_TYPE",
	[PERFDATA_HEADER_TRACING_DATA] = "TRACING_DATA",
	[PERFDATA_HEADER_BUILD_ID] = "BUILD_ID",
	[PERFDATA_FINISHED_ROUND] = "FINISHED_ROUND",
	[PERFDATA_ID_INDEX] = "ID_INDEX",
	[PERFDATA_AUXTRACE_INFO] = "AUXTRACE_INFO",
	[PERFDATA_AUXTRACE] = "AUXTRACE",
	[PERFDATA_AUXTRACE_ERROR] = "AUXTRACE_ERROR",
	[PERFDATA_THREAD_MAP] = "THREAD_MAP",
	[PERFDATA_CPU_MAP] = "CPU_MAP",
	[PERFDATA_STAT_CONFIG] = "STAT_CONFIG",
	[PERFDATA_STAT] = "STAT",
	[PERFDATA_STAT_ROUND] = "STAT_ROUND",
	[PERFDATA_EVENT_UPDATE] = "EVENT_UPDATE",
	[PERFDATA_TIME_CONV] = "TIME_CONV",
	[PERFDATA_HEADER_FEATURE] = "FEATURE",
	[PERFDATA_COMPRESSED] = "COMPRESSED",
	[PERFDATA_FINISHED_INIT] = "FINISHED_INIT",
	[PERFDATA_COMPRESSED2] = "COMPRESSED2",
};

const char *records_name(uint32_t type)
{
	return type < ARRAY_SIZE(names) ? names[type] : NULL;
}

/* 0 is written as "0", not "0x0": what %#llx does. */
#define HEX "%#" PRIx64

static const char *perfdata_records_one_line(const char *s, char **made)
{
	return str_one_line(s ? s : "", made);
}

static void text_mmap(const struct rec_mmap *r, struct strbuf *b)
{
	AUTO_FREE char *made = NULL;
	const char *path = perfdata_records_one_line(record_text(&r->h, r->path), &made);

	strbuf_printf(b, " %d/%d: [" HEX "(" HEX ") @ " HEX "]: %c %s\n", (int)r->pid, (int)r->tid,
		      r->start, r->size, r->pgoff,
		      r->h.misc & PERF_RECORD_MISC_MMAP_DATA ? 'r' : 'x', path);
}

static void text_mmap2(const struct rec_mmap2 *r, struct strbuf *b)
{
	AUTO_FREE char *made = NULL;
	const char *path = perfdata_records_one_line(record_text(&r->h, r->path), &made);

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

static void text_comm(const struct rec_comm *r, struct strbuf *b)
{
	AUTO_FREE char *made = NULL;
	const char *comm = perfdata_records_one_line(record_text(&r->h, r->comm), &made);

	strbuf_printf(b, "%s: %s:%d/%d\n", r->h.misc & PERF_RECORD_MISC_COMM_EXEC ? " exec" : "",
		      comm, (int)r->pid, (int)r->tid);
}

static void text_fork(const struct rec_fork *r, struct strbuf *b)
{
	strbuf_printf(b, "(%d:%d):(%d:%d)\n", (int)r->pid, (int)r->tid, (int)r->ppid, (int)r->ptid);
}

static void text_switch(const struct rec_task *r, struct strbuf *b)
{
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

static void text_namespaces(const struct rec_namespaces *r, struct strbuf *b)
{
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

static void text_ksymbol(const struct rec_ksymbol *r, struct strbuf *b)
{
	AUTO_FREE char *made = NULL;
	const char *name = perfdata_records_one_line(record_text(&r->h, r->name), &made);

	strbuf_printf(b, " addr %" PRIx64 " len %u type %u flags 0x%x name %s\n", r->addr, r->len,
		      r->type, r->flags, name);
}

static void text_cgroup(const struct rec_cgroup *r, struct strbuf *b)
{
	AUTO_FREE char *made = NULL;
	const char *path = perfdata_records_one_line(record_text(&r->h, r->path), &made);

	strbuf_printf(b, " cgroup: %" PRIu64 " %s\n", r->id, path);
}

static void text_poke(const struct rec_text_poke *r, struct strbuf *b)
{
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

/* Bytes a record must have before its fields may be read. */
static const uint16_t smallest[] = {
	[PERF_RECORD_MMAP] = sizeof(struct rec_mmap),
	[PERF_RECORD_LOST] = sizeof(struct rec_lost),
	[PERF_RECORD_COMM] = sizeof(struct rec_comm),
	[PERF_RECORD_EXIT] = sizeof(struct rec_fork),
	[PERF_RECORD_FORK] = sizeof(struct rec_fork),
	[PERF_RECORD_MMAP2] = sizeof(struct rec_mmap2),
	[PERF_RECORD_AUX] = sizeof(struct rec_aux),
	[PERF_RECORD_ITRACE_START] = sizeof(struct rec_task),
	[PERF_RECORD_LOST_SAMPLES] = sizeof(struct rec_u64),
	[PERF_RECORD_SWITCH_CPU_WIDE] = sizeof(struct rec_task),
	[PERF_RECORD_NAMESPACES] = sizeof(struct rec_namespaces),
	[PERF_RECORD_KSYMBOL] = sizeof(struct rec_ksymbol),
	[PERF_RECORD_BPF_EVENT] = sizeof(struct rec_bpf),
	[PERF_RECORD_CGROUP] = sizeof(struct rec_cgroup),
	[PERF_RECORD_TEXT_POKE] = sizeof(struct rec_text_poke),
	[PERF_RECORD_AUX_OUTPUT_HW_ID] = sizeof(struct rec_u64),
};

void records_text(const struct perfdata_event_header *h, struct strbuf *b)
{
	const void *r = h;
	const struct rec_aux *aux = r;
	const struct rec_bpf *bpf = r;
	const char *name = records_name(h->type);

	strbuf_printf(b, "PERF_RECORD_%s", name ? name : "UNKNOWN");
	if (h->type < ARRAY_SIZE(smallest) && h->size < smallest[h->type]) {
		strbuf_puts(b, " (too short)\n");
		return;
	}
	switch (h->type) {
	case PERF_RECORD_MMAP: text_mmap(r, b); break;
	case PERF_RECORD_MMAP2: text_mmap2(r, b); break;
	case PERF_RECORD_COMM: text_comm(r, b); break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT: text_fork(r, b); break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE: text_switch(r, b); break;
	case PERF_RECORD_NAMESPACES: text_namespaces(r, b); break;
	case PERF_RECORD_KSYMBOL: text_ksymbol(r, b); break;
	case PERF_RECORD_CGROUP: text_cgroup(r, b); break;
	case PERF_RECORD_TEXT_POKE: text_poke(r, b); break;
	case PERF_RECORD_LOST:
		strbuf_printf(b, " lost %" PRIu64 "\n", ((const struct rec_lost *)r)->lost);
		break;
	case PERF_RECORD_AUX:
		strbuf_printf(b, " offset: " HEX " size: " HEX " flags: " HEX " [%s%s%s]\n",
			      aux->offset, aux->size, aux->flags, aux->flags & 1 ? "T" : "",
			      aux->flags & 2 ? "O" : "", aux->flags & 4 ? "P" : "");
		break;
	case PERF_RECORD_ITRACE_START:
		strbuf_printf(b, " pid: %d tid: %d\n", (int)((const struct rec_task *)r)->pid,
			      (int)((const struct rec_task *)r)->tid);
		break;
	case PERF_RECORD_BPF_EVENT:
		strbuf_printf(b, " type %u, flags %u, id %u\n", bpf->type, bpf->flags, bpf->id);
		break;
	case PERF_RECORD_AUX_OUTPUT_HW_ID:
		strbuf_printf(b, " hw_id: " HEX "\n", ((const struct rec_u64 *)r)->value);
		break;
	default:
		if (!records_user_text(h, b))
			strbuf_putc(b, '\n');
		break;
	}
}
