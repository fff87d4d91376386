/* SPDX-License-Identifier: MIT */
/*
 * A recording from file to names: what report, diff and the pictures do before
 * they differ. Each step needs the one before it.
 */
#pragma once

#include "calc/profile/extra.h"
#include "calc/profile/names.h"
#include "calc/profile/profile.h"
#include "calc/read/gate.h"
#include "calc/read/pick.h"
#include "cmd/share/progress.h"

struct load_opts {
	const char *input;	/* NULL: stdin when it is a pipe, else perf.data */
	struct vec_strs inputs; /* -i: of several, input is the first */
	struct pick_opts pick;
	struct gate_opts gate;
	const char *symfs, *kallsyms, *vmlinux;
	bool raw_names; /* no demangling */
	bool no_debuginfod;
	int debuginfod_seconds; /* 0: the default */
	bool quiet;		/* no progress */
	bool as_recorded;	/* copies of stacks are not unwound */
	bool off_cpu, wakers;	/* time off the CPU only (input_off_cpu) */
};

struct load {
	struct load_opts opts;
	struct source *source;
	struct pick pick;
	struct gate gate;	/* when opts.gate wants one */
	struct extra_plan plan; /* extra_plan() before load_count(); zero: nothing extra */
	const struct extra_plan *counting; /* that of the profile that is being made */
	struct symbols *symbols;
	struct profile profile;
	struct names names;
	const char *note; /* why kernel addresses have no names; NULL */
	struct progress progress;
	bool counted, named;
	bool unwound;	   /* user stacks were walked, or come from copies of them */
	int socket_wanted; /* -1: any */
	bool *types;	   /* by type: whether it is wanted; NULL: all are. load_free() frees it */
};

int load_open(struct load *l, const struct load_opts *o, struct err *e);
/* o's callbacks and ctx are set here. */
int load_count(struct load *l, const struct profile_opts *o, struct err *e);
int load_name(struct load *l, const struct names_opts *o, struct err *e);

/*
 * The same parts for views that count again and again: a profile of one's own, with
 * the extras of any plan (NULL: none), and the symbols to name it with.
 */
int load_profile(struct load *l, const struct extra_plan *plan, const struct profile_opts *o,
		 struct profile *ret, struct err *e);
int load_symbols(struct load *l, struct err *e);
void load_free(struct load *l); /* after any of them, also when it failed */

/* What only perf.data knows; NULL, -1 when it does not say or is none. */
const char *load_cgroup(void *l, uint64_t id);
int load_socket(void *l, uint32_t cpu);
/* What columns need of samples, with what the recording knows of threads. */
void load_plan(struct load *l, const struct columns *c, struct extra_plan *ret);

/* Is the event wanted, by what load_opts and types say? */
enum profile_want load_wants(const struct load *l, const struct event *ev);
/* Only events of these names ("cycles", "sched:*"), with or without their modifiers. */
int load_pick_types(struct load *l, const char *list, struct err *e);

/* Do samples of the recording have one of these (event_type.has)? */
bool load_has(const struct load *l, unsigned what);
