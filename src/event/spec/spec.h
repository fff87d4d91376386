/* SPDX-License-Identifier: MIT */
/*
 * The -e grammar: text to event specifications, one parser for every command.
 *
 * A spec says what to open, not how: sampling, read format, inheritance and
 * the like are the business of whoever opens it. What the text can mean on a
 * machine (PMUs, tracepoints, symbols) comes through struct spec_env, so that
 * this parser opens nothing and is tested and fuzzed without privilege.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

struct spec_env; /* event/env.h */

enum spec_kind {
	SPEC_HARDWARE,
	SPEC_CACHE,
	SPEC_SOFTWARE,
	SPEC_TRACEPOINT, /* probes too: the kernel shows them as tracepoints */
	SPEC_RAW,
	SPEC_PMU,
	SPEC_BREAKPOINT,
	SPEC_TOOL, /* counted by kymo itself: duration_time, user_time, system_time */
};

/* To the kernel a tool event is a dummy, as in perf: its figure is not the count. */
enum spec_tool { SPEC_TOOL_DURATION = 1, SPEC_TOOL_USER, SPEC_TOOL_SYSTEM };

/* The one length the CPU takes for breakpoints on execution. */
#if defined(__aarch64__) || defined(__arm__)
#	define SPEC_BP_EXEC_LEN 4
#else
#	define SPEC_BP_EXEC_LEN sizeof(long)
#endif

/* Which per-event terms the text gave (spec->terms). */
#define SPEC_TERM_PERIOD (1u << 0)
#define SPEC_TERM_FREQ (1u << 1)
#define SPEC_TERM_CALL_GRAPH (1u << 2)
#define SPEC_TERM_STACK_SIZE (1u << 3)
#define SPEC_TERM_TIME (1u << 4)
#define SPEC_TERM_INHERIT (1u << 5)
#define SPEC_TERM_OVERWRITE (1u << 6)
#define SPEC_TERM_MAX_STACK (1u << 7)
#define SPEC_TERM_MAX_EVENTS (1u << 8) /* nr= */
#define SPEC_TERM_NAME (1u << 9)
#define SPEC_TERM_BRANCH_TYPE (1u << 10)
#define SPEC_TERM_PERCORE (1u << 11)
#define SPEC_TERM_AUX_OUTPUT (1u << 12)

/* Strings live in the list's arena. */
struct event_spec {
	/* as perf shows it: "cycles:u", "sched:sched_switch", or the name= term */
	const char *name;
	/* what the user wrote for it, modifiers included; the same pointer in all events of it */
	const char *text;
	const char *subsys, *event; /* of a tracepoint: "sched", "sched_switch"; NULL otherwise */
	enum spec_kind kind;
	enum spec_tool tool; /* of SPEC_TOOL; else 0 */
	/* type, config*, bp_*, exclude_*, precise_ip, pinned, exclusive are set; the rest is 0 */
	struct perf_event_attr attr;
	/* The modifiers named user or kernel, so a fallback must not narrow it on its own. */
	bool modified;
	/* G or H was named: exclude_guest and exclude_host must stay when opening is retried. */
	bool guest_host;
	bool precise_max; /* :P, the highest precise_ip that opens */
	bool sample_read; /* :S */
	bool weak;	  /* :W, the group may be broken up when it does not fit */
	bool bpf;	  /* :b, counted by a BPF program shared between users */
	int leader;	  /* index in the list of the group's leader; its own index when alone */
	int members;	  /* of a leader: how many events in its group, itself included; else 1 */
	const char *group_name; /* of a leader, from name{...}; NULL when none */

	const char *pmu;      /* PMU that counts it, NULL when the type says all */
	const char *pmu_cpus; /* its cpumask ("0,12"): counts system-wide only; NULL: any CPU */
	const char *unit;     /* "Joules", "MiB"; NULL when none */
	double scale;	      /* counts times this is the figure in unit; 1.0 when none */
	const char *on_cpus;  /* CPUs that have this core PMU (hybrid machines); NULL: all */
	bool snapshot;	      /* the count is a level, not a sum: show the last one */
	bool per_pkg;	      /* one count a package is the whole count */
	/* One text can mean an event on each of several PMUs, whose counts are shown as one sum:
	 * index of the first of them, its own when there is no other. */
	int first;
	uint64_t config3; /* not in every system's perf_event_attr: see perf_open_config3() */

	unsigned terms;
	uint64_t period, freq, max_stack, max_events, stack_size;
	const char *call_graph; /* fp, dwarf, lbr, no, auto */
	const char *branch_type;
	bool time, inherit, overwrite, percore, aux_output;

	const char *filter; /* set by --filter; NULL when none */
};

struct spec_list {
	struct arena arena;
	struct event_spec *spec;
	size_t n, cap;
};

/*
 * Parse one -e argument ("cycles:u,{instructions,branches}:S,sched:*") and add
 * its events. On failure the list is as before, and e->msg shows the text with a
 * caret below the spot; e->hint names the nearest valid names or the fix.
 */
int spec_parse(struct spec_list *list, const char *text, const struct spec_env *env, struct err *e);

void spec_list_free(struct spec_list *list);

/* Only what happens in user space, or in the kernel; neither: both. */
void spec_only(struct event_spec *s, bool user, bool kernel);
/* Do all sample who runs, whatever it does? */
bool spec_samples_running(const struct spec_list *list);

/* Calls fn with each number that was made of the text; what is 0 and says nothing is left out. */
typedef void spec_number_fn(void *ctx, const char *name, uint64_t value, bool hex);
void spec_numbers(const struct event_spec *s, spec_number_fn *fn, void *ctx);

/* --- names that mean the same on every machine (event/spec/names.c) --- */

struct spec_name {
	const char *name;
	const char *alias; /* NULL when it has one name only */
	enum spec_kind kind;
	uint32_t type;	 /* attr.type */
	uint64_t config; /* of a tool event: enum spec_tool */
	const char *about;
};

/* Sorted by kind, then by name. */
extern const struct spec_name spec_names[];
extern const size_t spec_names_n;

/* NULL when it is no such name or alias. */
const struct spec_name *spec_name_find(const char *s, size_t n);

/* A cache event in any spelling (L1-dcache-load-misses, l1d-read-miss, LLC): 1 and *config; 0: no
 * cache's name; -EINVAL with *at at the part that is wrong. */
int spec_cache_parse(const char *s, size_t n, uint64_t *config, size_t *at);

/* The names of the matrix as perf lists them, in its order: fill name[] for index 0, 1, ... */
#define SPEC_CACHE_NAME_MAX 48
#define SPEC_CACHE_TYPE PERF_TYPE_HW_CACHE /* attr.type of them all */
size_t spec_cache_count(void);
uint64_t spec_cache_name(size_t index, char name[static SPEC_CACHE_NAME_MAX]);
/* A sentence about it. */
void spec_cache_about(uint64_t config, char *buf, size_t size);
