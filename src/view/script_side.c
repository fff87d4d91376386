/* SPDX-License-Identifier: MIT */
/* Records that are no samples, in the words of perf's --show-*-events. */
#include "view/script_impl.h"

#include <inttypes.h>
#include <sys/mman.h>

#include "store/perfdata.h"
#include "store/perfdata_records.h"

bool side_wanted(const struct script *s, const struct event *ev)
{
	const struct perfdata_event_header *h = ev->record;

	switch (ev->kind) {
	case EVENT_MMAP: return s->o.show_mmap;
	case EVENT_COMM:
	case EVENT_FORK:
	case EVENT_EXIT: return s->o.show_task;
	case EVENT_SWITCH: return s->o.show_switch;
	case EVENT_LOST: return s->o.show_lost && h && h->type == PERF_RECORD_LOST;
	case EVENT_OTHER: break;
	default: return false;
	}
	switch (h ? h->type : 0) {
	case PERF_RECORD_NAMESPACES: return s->o.show_namespace;
	case PERF_RECORD_CGROUP: return s->o.show_cgroup;
	case PERF_RECORD_KSYMBOL: return s->o.show_bpf || s->o.show_text_poke;
	case PERF_RECORD_BPF_EVENT: return s->o.show_bpf;
	case PERF_RECORD_TEXT_POKE: return s->o.show_text_poke;
	default: return false;
	}
}

void side_print(struct script *s, const struct event *ev)
{
	const struct script_type *t = &s->types[ev->type];
	AUTO_STRBUF b = { 0 };
	struct event start = *ev;
	char comm[16];

	/* The name is that of the task the record is about, the numbers those of who wrote it. */
	start.pid = ev->side->by_pid;
	start.tid = ev->side->by_tid;
	if (t->show & SCRIPT_COMM) {
		const char *name = script_comm(s, ev->tid, ev->time, comm, sizeof(comm));

		if (s->o.latency)
			out_printf(s->out, "%8.8s ", name);
		else if (t->chains)
			out_printf(s->out, "%s ", name);
		else
			out_printf(s->out, "%16s ", name);
	}
	script_start(s, &start, t, t->show & ~SCRIPT_COMM);
	records_text(ev->record, &b);
	out_add(s->out, strbuf_str(&b), b.n);
}
