/* SPDX-License-Identifier: MIT */
#include "kern/cpu.h"

#include <stdint.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/str.h"

static int cpu_add(void *ctx, unsigned v)
{
	struct cpus *c = ctx;

	c->cpu = mem_grow(c->cpu, (c->n + 1) * sizeof(*c->cpu));
	c->cpu[c->n++] = (int)v;
	return 0;
}

int cpus_parse_any(const char *text, struct cpus *ret, struct err *e)
{
	struct cpus c = { 0 };
	int r = str_ranges(text, CPU_MAX, cpu_add, &c);

	if (r < 0) {
		cpus_free(&c);
		err_set(e, EINVAL, "'%s' is no list of CPUs", text);
		return err_hint(e, "write it as 0-3,7");
	}
	c.n = sort_unique(c.cpu, c.n);
	*ret = c;
	return 0;
}

int cpus_online(struct cpus *ret, struct err *e)
{
	char line[1024];
	int r = file_line("/sys/devices/system/cpu/online", line, sizeof(line));

	if (r == 0)
		return cpus_parse_any(line, ret, e);
	/* no sysfs (a chroot): the C library counts through the scheduler */
	snprintf(line, sizeof(line), "0-%ld", sysconf(_SC_NPROCESSORS_ONLN) - 1);
	return cpus_parse_any(line, ret, e);
}

bool cpus_has(const struct cpus *c, int cpu)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->cpu[i] == cpu)
			return true;
	return false;
}

int cpus_parse(const char *text, struct cpus *ret, struct err *e)
{
	struct cpus online = { 0 }, c = { 0 };
	int r = cpus_online(&online, e);

	if (r == 0)
		r = cpus_parse_any(text, &c, e);
	for (size_t i = 0; r == 0 && i < c.n; i++)
		if (!cpus_has(&online, c.cpu[i])) {
			r = err_set(e, ENODEV, "CPU %d is not online", c.cpu[i]);
			err_hint(e, "online are %zu CPUs: see /sys/devices/system/cpu/online",
				 online.n);
		}
	cpus_free(&online);
	if (r < 0)
		cpus_free(&c);
	else
		*ret = c;
	return r;
}

void cpus_free(struct cpus *c)
{
	free(c->cpu);
	*c = (struct cpus){ 0 };
}

static int topology(int cpu, const char *file)
{
	char path[128];
	int64_t v;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, file);
	return file_i64(path, &v) == 0 ? (int)v : -1;
}

/* The directory of a CPU holds a link node<N> on machines that have nodes. */
static int node_of(int cpu)
{
	char path[64];
	struct file_names names;
	int node = -1;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d", cpu);
	if (file_list(path, &names) < 0)
		return -1;
	for (size_t i = 0; i < names.n && node < 0; i++)
		if (str_starts(names.name[i], "node") && names.name[i][4] >= '0' &&
		    names.name[i][4] <= '9')
			node = atoi(names.name[i] + 4);
	file_names_free(&names);
	return node;
}

struct cpu_place cpu_place(int cpu)
{
	return (struct cpu_place){
		.socket = topology(cpu, "physical_package_id"),
		.die = topology(cpu, "die_id"),
		.core = topology(cpu, "core_id"),
		.node = node_of(cpu),
	};
}
