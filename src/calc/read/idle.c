/* SPDX-License-Identifier: MIT */
#include "calc/read/idle.h"

#include <stdio.h>
#include <string.h>

#include "event/event.h"

bool idle_is_function(const char *name)
{
	/* x86, arm64, s390, powerpc, and what all of them come through */
	static const char *const names[] = {
		"default_idle",
		"pv_native_safe_halt",
		"native_safe_halt",
		"default_idle_call",
		"default_enter_idle",
		"do_idle",
		"cpu_startup_entry",
		"cpu_idle_poll",
		"cpuidle_enter",
		"cpuidle_enter_state",
		"cpuidle_idle_call",
		"poll_idle",
		"arch_cpu_idle",
		"intel_idle",
		"intel_idle_irq",
		"intel_idle_ibrs",
		"intel_idle_xstate",
		"mwait_idle",
		"mwait_idle_with_hints",
		"acpi_idle_enter",
		"acpi_idle_do_entry",
		"acpi_safe_halt",
		"acpi_processor_ffh_cstate_enter",
		"amd_e400_idle",
		"tdx_safe_halt",
		"xen_safe_halt",
		"cpu_do_idle",
		"psci_enter_idle_state",
		"psci_cpu_suspend_enter",
		"arm_cpuidle_simple_enter",
		"psw_idle",
		"enabled_wait",
		"snooze_loop",
		"shared_cede_loop",
		"dedicated_cede_loop",
		"pseries_dedicated_idle_sleep",
	};
	size_t n = strcspn(name, "."); /* .constprop.0 and the like */

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(name, names[i], n) == 0 && !names[i][n])
			return true;
	return false;
}

static bool is_idle_site(const struct names *n, uint32_t site)
{
	const struct name_site *s = site < n->sites.n ? &n->sites.data[site] : NULL;
	const char *name;

	if (!s || s->mode != EVENT_MODE_KERNEL || s->frame >= n->frames.n)
		return false;
	name = names_function(n, s->frame);
	return name && idle_is_function(name);
}

void idle_leave_out(struct profile *p, struct names *n, struct idle *ret)
{
	AUTO_FREE bool *idle = mem_alloc(n->sites.n + 1);
	size_t to = 0;

	*ret = (struct idle){ 0 };
	for (uint32_t i = 0; i < n->sites.n; i++)
		idle[i] = is_idle_site(n, i);
	for (size_t i = 0; i < p->entries.n; i++) {
		const struct profile_entry *e = &p->entries.data[i];
		struct profile_total *t = &p->total[e->type];
		uint32_t site = n->entry_site[i];

		ret->all += (double)e->weight;
		if (site < n->sites.n && idle[site]) {
			ret->weight += (double)e->weight;
			t->count -= e->count;
			t->weight -= e->weight;
			t->all_count -= e->count;
			t->all_weight -= e->weight;
			continue;
		}
		p->entries.data[to] = *e;
		n->entry_site[to] = site;
		if (n->n_more)
			memmove(n->more_sites + to * n->n_more, n->more_sites + i * n->n_more,
				n->n_more * sizeof(*n->more_sites));
		to++;
	}
	p->entries.n = to;
}

void idle_leave_out_stacks(struct stacks *s, struct idle *ret)
{
	AUTO_FREE bool *idle = mem_alloc(s->frames.n + 1);
	size_t to = 0;

	for (size_t i = 0; i < s->frames.n; i++)
		idle[i] = s->frames.data[i].kind == FRAME_KERNEL &&
			  idle_is_function(strtab_get(&s->strings, s->frames.data[i].name));
	for (size_t i = 0; i < s->entries.n; i++) {
		const struct stack_entry *e = &s->entries.data[i];
		const struct stack *k = e->stack < s->stacks.n ? &s->stacks.data[e->stack] : NULL;

		ret->all += (double)e->weight;
		if (k && k->n && idle[s->frame_ids.data[k->first + k->n - 1]])
			ret->weight += (double)e->weight;
		else
			s->entries.data[to++] = *e;
	}
	s->entries.n = to;
}

const char *idle_words(const struct idle *i, char *buf, size_t size)
{
	buf[0] = '\0';
	if (i->weight > 0)
		snprintf(buf, size,
			 "%.1f%% was idle: CPUs without work; it is left out, --idle shows it",
			 100.0 * i->weight / i->all);
	return buf;
}
