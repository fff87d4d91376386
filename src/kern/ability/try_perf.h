/* SPDX-License-Identifier: MIT */
/* What perf_event_open(2) grants this process, by asking it, and the settings that bound it.
 * Nothing is enabled. */
#ifndef KYMO_KERN_ABILITY_TRY_PERF_H
#define KYMO_KERN_ABILITY_TRY_PERF_H

#include <stdint.h>

#define TRY_ABSENT INT64_MIN /* a setting this kernel does not have or show */

struct try_perf {
	int software;	   /* page-faults of this thread in user space: 0 or -errno */
	int cycles;	   /* the CPU's cycles of this thread, kernel included */
	int cycles_user;   /* ... in user space only */
	int all;	   /* page-faults of everybody on one CPU */
	unsigned counters; /* hardware events that count at the same time; 0: not known */
	char core[32];	   /* the CPU's PMU as sysfs calls it; "" when there is none */
	char pmus[512];	   /* all PMUs, separated by spaces */
	int64_t precise;   /* highest precise_ip (PEBS, IBS), 0 when none */
	int64_t paranoid, mlock_kb, max_stack, max_rate, cpu_percent, nmi_watchdog, kptr;
};

/* The hardware part alone: cycles, cycles_user, counters, core, precise. */
void try_perf_pmu(struct try_perf *t);
/* All of it. */
void try_perf(struct try_perf *t);

#endif
