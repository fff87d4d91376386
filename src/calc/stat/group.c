/* SPDX-License-Identifier: MIT */
#include "calc/stat/group.h"

#include <stdio.h>

#include "kern/cpu.h"

static struct count_cpu where(const struct count_set *set, int cpu)
{
	struct cpu_place here;

	if (cpu < 0 || (set->cpu && (size_t)cpu >= set->n_cpus))
		return (struct count_cpu){ 0 };
	if (set->cpu)
		return set->cpu[cpu];
	here = cpu_place(cpu);
	return (struct count_cpu){ here.socket, here.die, here.core, here.node };
}

void stat_group_key(const struct stat_opts *o, const struct count_set *set,
		    const struct count_place *p, char *key, size_t size)
{
	struct count_cpu at = { 0 };

	if (o->by != STAT_GLOBAL && o->by != STAT_CPU && o->by != STAT_THREAD)
		at = where(set, p->cpu);
	switch (o->by) {
	case STAT_GLOBAL: key[0] = '\0'; break;
	case STAT_CPU: snprintf(key, size, "CPU%d", p->cpu); break;
	case STAT_CORE:
		snprintf(key, size, "S%d-D%d-C%d", at.socket, at.die < 0 ? 0 : at.die, at.core);
		break;
	case STAT_DIE: snprintf(key, size, "S%d-D%d", at.socket, at.die < 0 ? 0 : at.die); break;
	case STAT_SOCKET: snprintf(key, size, "S%d", at.socket); break;
	case STAT_NODE: snprintf(key, size, "N%d", at.node < 0 ? 0 : at.node); break;
	case STAT_THREAD: {
		const char *name = o->thread_name ? o->thread_name(o->thread_ctx, p->tid) : "";

		snprintf(key, size, "%.31s-%d", name, p->tid);
		break;
	}
	}
}
