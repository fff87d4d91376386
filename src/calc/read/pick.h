/* SPDX-License-Identifier: MIT */
/*
 * Which samples are looked at: by reports, pictures, exports and script.
 *
 * Times, CPUs and sockets leave samples out altogether; tasks, files and functions
 * set them aside, so that shares stay those of the whole recording (perf's
 * --percentage decides). Lists are NAME,NAME or @FILE with a name a line.
 */
#pragma once

#include "base/map.h"
#include "calc/profile/names.h"
#include "calc/profile/profile.h"
#include "calc/read/ftrace_filter.h"
#include "event/span.h"

/* Each NULL when it does not matter. */
struct pick_opts {
	const char *time, *cpus, *pids, *tids, *comms, *dsos, *symbols;
	uint64_t addr_range; /* symbols may be addresses, each of so many bytes; 0: they are not */
};

struct pick {
	const struct trace *trace;
	struct spans times;
	struct map cpus, pids, tids, comms; /* of comms: for tasks_who_name() */
	struct strtab dsos, symbols;
	VEC(uint64_t) addrs; /* among the symbols */
	uint64_t addr_range;
	bool by_cpu, by_pid, by_tid, by_comm, by_dso, by_symbol;
	/* What the user named when it was one alone, else NULL: all rows then show it. */
	const char *one_comm, *one_dso, *one_symbol;
	struct strtab comm_names;
	/*
	 * For pick_record(): trace-cmd's filters, of which any one that holds is enough, to show an
	 * event as to hide it; and what interrupts were doing (enum event_irq) in those left out.
	 */
	VEC(struct ftrace_filter *) in, out;
	unsigned irqs_out;
	ftrace_comm_fn *comm;
	void *ctx;
	struct map shown; /* parts and CPUs of which an event was: so are its stacks */
};

int pick_make(struct pick *p, const struct pick_opts *o, const struct trace *t, struct err *e);
void pick_free(struct pick *p);

/* Does it leave any event out at all? */
bool pick_any(const struct pick *p);
/* Is it of a wanted CPU? What does not say its CPU is. */
bool pick_cpu(const struct pick *p, const struct event *ev);
enum profile_want pick_event(const struct pick *p, const struct event *ev);
/* Of events in order, also those of EVENT_OTHER: is it wanted, by all of the above? */
bool pick_record(struct pick *p, const struct event *ev);
/* Where an event was: a function, which begins at start, of a file. */
struct pick_place {
	const char *function, *dso,
		*path; /* function NULL: not known; dso NULL: it does not matter */
	uint64_t start, ip;
};
bool pick_code(const struct pick *p, const struct pick_place *at);
/* By site, whether samples there are wanted; NULL when all are. */
bool *pick_sites(const struct pick *p, const struct names *n);
