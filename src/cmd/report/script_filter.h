/* SPDX-License-Identifier: MIT */
/* Which events `script` shows: by time, task, CPU, function and file. */
#ifndef KYMO_CMD_REPORT_SCRIPT_FILTER_H
#define KYMO_CMD_REPORT_SCRIPT_FILTER_H

#include "base/map.h"
#include "base/vec.h"
#include "event/span.h"
#include "view/script/script.h"

/* Each NULL when it does not matter. */
struct script_filter_opts {
	const char *time, *pids, *tids, *comms, *cpus, *symbols, *dsos;
	uint64_t addr_range; /* -S with addresses: so many bytes from there; 0: that one */
};

struct script_filter {
	const struct trace *trace;
	struct spans spans;
	struct map pids, tids, cpus;
	struct strtab comms, symbols, dsos;
	VEC(uint64_t) addrs; /* among the symbols */
	uint64_t addr_range;
	bool by_pid, by_tid, by_cpu, by_comm, by_symbol, by_dso;
};

int script_filter_init(struct script_filter *f, const struct script_filter_opts *o,
		       const struct trace *t, struct err *e);
bool script_filter_wants(struct script_filter *f, struct script *s, const struct event *ev);
void script_filter_free(struct script_filter *f);

#endif
