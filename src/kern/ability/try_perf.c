/* SPDX-License-Identifier: MIT */
#include "kern/ability/try.h"

#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "kern/perf.h"

#define PMUS "/sys/bus/event_source/devices"
#define COUNTERS_MAX 64

static struct perf_event_attr asleep(uint32_t type, uint64_t config, bool user_only)
{
	return (struct perf_event_attr){
		.type = type,
		.config = config,
		.disabled = 1,
		.exclude_kernel = user_only,
		.exclude_hv = user_only,
	};
}

static int try_event(uint32_t type, uint64_t config, bool user_only, pid_t pid, int cpu)
{
	struct perf_event_attr attr = asleep(type, config, user_only);
	int fd = perf_open(&attr, pid, cpu, -1, 0);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/*
 * How many counters there are: the kernel refuses a group that could never be on the PMU at once.
 * Instructions fill those that take anything, cycles may have one of their own.
 */
static unsigned count_counters(void)
{
	static const uint64_t events[] = { PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CPU_CYCLES,
					   PERF_COUNT_HW_REF_CPU_CYCLES };
	int fds[COUNTERS_MAX];
	unsigned n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		while (n < COUNTERS_MAX) {
			struct perf_event_attr attr = asleep(PERF_TYPE_HARDWARE, events[i], true);

			/* Kernels leave sleeping members out of the sum, so only the leader is
			 * disabled: while it sleeps its group does not count either. */
			attr.disabled = n == 0;
			attr.enable_on_exec = n == 0;
			fds[n] = perf_open(&attr, 0, -1, n ? fds[0] : -1, 0);
			if (fds[n] < 0)
				break;
			n++;
		}
	}
	for (unsigned i = 0; i < n; i++)
		close(fds[i]);
	return n < COUNTERS_MAX ? n : 0;
}

/* Sysfs marks no PMU as the CPU's own, but there are only so many ways to call it. */
static bool is_core(const char *name)
{
	return strcmp(name, "cpu") == 0 || strcmp(name, "cpu_core") == 0 ||
	       str_starts(name, "armv") || str_starts(name, "apple_") ||
	       str_starts(name, "cpum_cf");
}

static void list_pmus(struct try_perf *t)
{
	struct file_names names;
	size_t n = 0;

	if (file_list(PMUS, &names) < 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		if (n < sizeof(t->pmus))
			n += (size_t)snprintf(t->pmus + n, sizeof(t->pmus) - n, "%s%s",
					      n ? " " : "", names.name[i]);
		if (!t->core[0] && is_core(names.name[i]))
			snprintf(t->core, sizeof(t->core), "%s", names.name[i]);
	}
	file_names_free(&names);
}

static int64_t setting(const char *name)
{
	AUTO_FREE char *path = mem_printf("/proc/sys/kernel/%s", name);
	int64_t v = TRY_ABSENT;

	file_i64(path, &v);
	return v;
}

void try_perf(struct try_perf *t)
{
	*t = (struct try_perf){ 0 };
	list_pmus(t);
	t->cycles = try_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, 0, -1);
	t->cycles_user = try_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true, 0, -1);
	if (t->cycles_user == 0)
		t->counters = count_counters();
	if (t->core[0]) {
		AUTO_FREE char *path = mem_printf(PMUS "/%s/caps/max_precise", t->core);

		file_i64(path, &t->precise);
	}
	t->software = try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, true, 0, -1);
	t->all = try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false, -1, 0);
	t->paranoid = setting("perf_event_paranoid");
	t->mlock_kb = setting("perf_event_mlock_kb");
	t->max_stack = setting("perf_event_max_stack");
	t->max_rate = setting("perf_event_max_sample_rate");
	t->cpu_percent = setting("perf_cpu_time_max_percent");
	t->nmi_watchdog = setting("nmi_watchdog");
	t->kptr = setting("kptr_restrict");
}
