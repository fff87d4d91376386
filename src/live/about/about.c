/* SPDX-License-Identifier: MIT */
#include "live/about/about.h"

#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/file.h"
#include "config.h"
#include "kern/cpu.h"
#include "kern/perf.h"
#include "kern/proc.h"

static void about_u32(struct strbuf *b, uint32_t v)
{
	strbuf_add(b, (const char *)&v, sizeof(v));
}

static void u64(struct strbuf *b, uint64_t v)
{
	strbuf_add(b, (const char *)&v, sizeof(v));
}

/*
 * The length says how long with its NULs, so that what is aligned stays so. perf pads to 64 bytes,
 * but counts on that only in the list of cores, to know whether more follows.
 */
static void padded_string(struct strbuf *b, const char *s, size_t align)
{
	size_t n = strlen(s) + 1, padded = (n + align - 1) & ~(align - 1);

	about_u32(b, (uint32_t)padded);
	strbuf_add(b, s, n);
	strbuf_fill(b, '\0', padded - n);
}

static void about_string(struct strbuf *b, const char *s)
{
	padded_string(b, s, 4);
}

/* How many, and then they. */
static bool counted(struct strbuf *b, uint32_t n, const struct strbuf *list)
{
	about_u32(b, n);
	strbuf_add(b, strbuf_str(list), list->n);
	return n > 0;
}

static bool cpuid(struct strbuf *b)
{
	char vendor[64], family[16], model[16], step[16], text[160];
	AUTO_FREE char *info = NULL;

	if (file_read("/proc/cpuinfo", 1 << 20, &info, NULL) < 0 ||
	    !proc_value(info, "vendor_id", ':', vendor, sizeof(vendor)) ||
	    !proc_value(info, "cpu family", ':', family, sizeof(family)) ||
	    !proc_value(info, "model", ':', model, sizeof(model)) ||
	    !proc_value(info, "stepping", ':', step, sizeof(step)))
		return false;
	snprintf(text, sizeof(text), "%s,%s,%s,%s", vendor, family, model, step);
	about_string(b, text);
	return true;
}

static bool cpu_desc(struct strbuf *b)
{
	AUTO_FREE char *info = NULL;
	char text[128];

	if (file_read("/proc/cpuinfo", 1 << 20, &info, NULL) < 0 ||
	    (!proc_value(info, "model name", ':', text, sizeof(text)) &&
	     !proc_value(info, "Processor", ':', text, sizeof(text)) &&
	     !proc_value(info, "CPU implementer", ':', text, sizeof(text))))
		return false;
	about_string(b, text);
	return true;
}

static void command_line(const struct about *a, struct strbuf *b)
{
	uint32_t n = 0;

	while (a->cmdline[n])
		n++;
	about_u32(b, n);
	for (uint32_t i = 0; i < n; i++)
		about_string(b, a->cmdline[i]);
}

static void event_desc(const struct about *a, struct strbuf *b)
{
	about_u32(b, (uint32_t)a->n_events);
	about_u32(b, sizeof(struct perf_event_attr));
	for (size_t i = 0; i < a->n_events; i++) {
		const struct perfdata_event *t = &a->events[i];

		strbuf_add(b, (const char *)&t->attr, sizeof(t->attr));
		about_u32(b, (uint32_t)t->n_ids);
		about_string(b, t->name);
		strbuf_add(b, (const char *)t->ids, t->n_ids * sizeof(*t->ids));
	}
}

/* Lists of CPUs that share a package or core, each once. */
static void sibling_lists(struct strbuf *b, const struct cpus *cpus, const char *file)
{
	AUTO_STRBUF lists = { 0 };
	char seen[64][64];
	uint32_t n = 0;

	for (size_t i = 0; i < cpus->n && n < 64; i++) {
		char path[128], text[64];
		uint32_t k = 0;

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s",
			 cpus->cpu[i], file);
		if (file_line(path, text, sizeof(text)) < 0)
			continue;
		while (k < n && strcmp(seen[k], text) != 0)
			k++;
		if (k < n)
			continue;
		memcpy(seen[n++], text, sizeof(text));
		padded_string(&lists, text, 64);
	}
	counted(b, n, &lists);
}

static bool cpu_topology(struct strbuf *b)
{
	AUTO_STRBUF dies = { 0 };
	struct cpus cpus;

	if (cpus_online(&cpus, NULL) < 0)
		return false;
	sibling_lists(b, &cpus, "package_cpus_list");
	sibling_lists(b, &cpus, "core_cpus_list");
	for (size_t i = 0; i < cpus.n; i++) {
		struct cpu_place at = cpu_place(cpus.cpu[i]);

		about_u32(b, (uint32_t)at.core);
		about_u32(b, (uint32_t)at.socket);
		about_u32(&dies, (uint32_t)at.die);
	}
	sibling_lists(b, &cpus, "die_cpus_list");
	strbuf_add(b, strbuf_str(&dies), dies.n);
	cpus_free(&cpus);
	return true;
}

static bool numa_node(struct strbuf *b, int node)
{
	char path[128], total[64], available[64], list[256];
	AUTO_FREE char *info = NULL;
	AUTO_FREE char *all = mem_printf("Node %d MemTotal", node);
	AUTO_FREE char *unused = mem_printf("Node %d MemFree", node);

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/meminfo", node);
	if (file_read(path, 1 << 20, &info, NULL) < 0 ||
	    !proc_value(info, all, ':', total, sizeof(total)) ||
	    !proc_value(info, unused, ':', available, sizeof(available)))
		return false;
	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", node);
	if (file_line(path, list, sizeof(list)) < 0)
		return false;
	about_u32(b, (uint32_t)node);
	u64(b, strtoull(total, NULL, 10));
	u64(b, strtoull(available, NULL, 10));
	about_string(b, list);
	return true;
}

static bool numa_topology(struct strbuf *b)
{
	AUTO_STRBUF nodes = { 0 };
	struct cpus online; /* nodes, in a list like those of CPUs */
	char list[4096];
	uint32_t n = 0;

	if (file_line("/sys/devices/system/node/online", list, sizeof(list)) < 0 ||
	    cpus_parse_any(list, &online, NULL) < 0)
		return false;
	for (size_t i = 0; i < online.n; i++)
		n += numa_node(&nodes, online.cpu[i]);
	cpus_free(&online);
	return counted(b, n, &nodes);
}

static bool pmu_mappings(struct strbuf *b)
{
	AUTO_STRBUF list = { 0 };
	struct file_names names;
	uint32_t n = 0;

	if (file_list("/sys/bus/event_source/devices", &names) < 0)
		return false;
	for (size_t i = 0; i < names.n; i++) {
		int type = perf_pmu(names.name[i]);

		if (type < 0)
			continue;
		about_u32(&list, (uint32_t)type);
		about_string(&list, names.name[i]);
		n++;
	}
	file_names_free(&names);
	return counted(b, n, &list);
}

static bool group_desc(const struct about *a, struct strbuf *b)
{
	AUTO_STRBUF list = { 0 };
	uint32_t n = 0;

	for (size_t i = 0; i < a->n_events; i++) {
		const struct perfdata_event *t = &a->events[i];
		uint32_t members = 0;

		for (size_t k = i; k < a->n_events && t->leader == (int)i; k++)
			members += a->events[k].leader == (int)i;
		if (members < 2)
			continue;
		about_string(&list, t->group_name ? t->group_name : "{anon_group}");
		about_u32(&list, (uint32_t)i);
		about_u32(&list, members);
		n++;
	}
	return counted(b, n, &list);
}

/* A cache: level, line, sets, ways, type, size, CPUs. A shared one is told of by its first CPU. */
static bool cache(struct strbuf *b, const char *dir, int cpu, uint32_t *n)
{
	static const char *const numbers[] = { "level", "coherency_line_size", "number_of_sets",
					       "ways_of_associativity" };
	static const char *const texts[] = { "type", "size" };
	char path[128], text[128], cpus[128];
	int64_t v[4];

	snprintf(path, sizeof(path), "%s/shared_cpu_list", dir);
	if (file_line(path, cpus, sizeof(cpus)) < 0)
		return false;
	if (atoi(cpus) != cpu)
		return true;
	for (unsigned k = 0; k < ARRAY_SIZE(numbers); k++) {
		snprintf(path, sizeof(path), "%s/%s", dir, numbers[k]);
		if (file_i64(path, &v[k]) < 0)
			return true;
	}
	for (unsigned k = 0; k < ARRAY_SIZE(numbers); k++)
		about_u32(b, (uint32_t)v[k]);
	for (unsigned k = 0; k < ARRAY_SIZE(texts); k++) {
		snprintf(path, sizeof(path), "%s/%s", dir, texts[k]);
		about_string(b, file_line(path, text, sizeof(text)) == 0 ? text : "");
	}
	about_string(b, cpus);
	++*n;
	return true;
}

/* Each distinct cache of the first CPUs. */
static bool caches(struct strbuf *b)
{
	AUTO_STRBUF list = { 0 };
	uint32_t n = 0;
	struct cpus cpus;

	if (cpus_online(&cpus, NULL) < 0)
		return false;
	for (size_t c = 0; c < cpus.n && c < 256; c++)
		for (unsigned i = 0; i < 8; i++) {
			char dir[96];

			snprintf(dir, sizeof(dir), "/sys/devices/system/cpu/cpu%d/cache/index%u",
				 cpus.cpu[c], i);
			if (!cache(&list, dir, cpus.cpu[c], &n))
				break;
		}
	cpus_free(&cpus);
	about_u32(b, 1);
	return counted(b, n, &list);
}

bool about_feature(const struct about *a, enum perfdata_feature f, struct strbuf *b)
{
	struct utsname uts;
	struct timespec res;
	AUTO_FREE char *info = NULL;
	char text[64];

	strbuf_reset(b);
	uname(&uts);
	switch (f) {
	case PERFDATA_HOSTNAME: about_string(b, uts.nodename); return true;
	case PERFDATA_OSRELEASE: about_string(b, uts.release); return true;
	case PERFDATA_VERSION: about_string(b, "kymo " KYMO_VERSION); return true;
	case PERFDATA_ARCH: about_string(b, uts.machine); return true;
	case PERFDATA_NRCPUS:
		about_u32(b, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
		about_u32(b, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
		return true;
	case PERFDATA_CPUDESC: return cpu_desc(b);
	case PERFDATA_CPUID: return cpuid(b);
	case PERFDATA_TOTAL_MEM:
		if (file_read("/proc/meminfo", 1 << 20, &info, NULL) < 0 ||
		    !proc_value(info, "MemTotal", ':', text, sizeof(text)))
			return false;
		u64(b, strtoull(text, NULL, 10));
		return true;
	case PERFDATA_CMDLINE:
		if (a->cmdline)
			command_line(a, b);
		return a->cmdline != NULL;
	case PERFDATA_EVENT_DESC: event_desc(a, b); return true;
	case PERFDATA_CPU_TOPOLOGY: return cpu_topology(b);
	case PERFDATA_NUMA_TOPOLOGY: return numa_topology(b);
	case PERFDATA_PMU_MAPPINGS: return pmu_mappings(b);
	case PERFDATA_GROUP_DESC: return group_desc(a, b);
	case PERFDATA_CACHE: return caches(b);
	case PERFDATA_SAMPLE_TIME:
		u64(b, a->first_time);
		u64(b, a->last_time);
		return a->last_time != 0;
	case PERFDATA_CLOCKID:
		if (!a->has_clock || clock_getres(a->clock_id, &res) < 0)
			return false;
		u64(b, (uint64_t)res.tv_sec * 1000000000u + (uint64_t)res.tv_nsec);
		return true;
	case PERFDATA_CLOCK_DATA:
		about_u32(b, 1);
		about_u32(b, (uint32_t)a->clock_id);
		u64(b, a->wall_ns);
		u64(b, a->clock_ns);
		return a->has_clock;
	case PERFDATA_COMPRESSED_INFO:
		about_u32(b, 1);
		about_u32(b, 1); /* zstd */
		about_u32(b, (uint32_t)a->zstd_level);
		about_u32(b, (uint32_t)(a->zstd_ratio + 0.5));
		about_u32(b, 1 << 20); /* the most that one record unpacks to */
		return a->zstd_level != 0;
	default: return false;
	}
}

static void tracing_data_u32(struct strbuf *b, uint32_t v)
{
	strbuf_add(b, (const char *)&v, sizeof(v));
}

/* A file's content behind its size, in 4 or 8 bytes; nothing but a 0 when it cannot be read. */
static void file_part(struct strbuf *b, const char *tracefs, const char *name, size_t width)
{
	AUTO_FREE char *path = mem_printf("%s/%s", tracefs, name), *text = NULL;
	size_t n = 0;
	uint64_t size;

	if (file_read(path, 64u << 20, &text, &n) < 0)
		n = 0;
	size = n;
	strbuf_add(b, (const char *)&size, width);
	if (n)
		strbuf_add(b, text, n);
}

static bool same_system(const struct event_spec *a, const struct event_spec *b)
{
	return a->subsys && b->subsys && strcmp(a->subsys, b->subsys) == 0;
}

void tracing_data(const char *tracefs, const struct spec_list *specs, struct strbuf *b)
{
	static const char magic[] = { 23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	AUTO_STRBUF systems = { 0 };
	uint32_t n_systems = 0;

	strbuf_add(b, magic, sizeof(magic));
	strbuf_add(b, "0.6", 4);
	strbuf_putc(b, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	strbuf_putc(b, sizeof(long));
	tracing_data_u32(b, (uint32_t)sysconf(_SC_PAGESIZE));
	strbuf_add(b, "header_page", 12);
	file_part(b, tracefs, "events/header_page", 8);
	strbuf_add(b, "header_event", 13);
	file_part(b, tracefs, "events/header_event", 8);
	tracing_data_u32(b, 0); /* ftrace's own events are not recorded through perf */
	for (size_t i = 0; i < specs->n; i++) {
		const struct event_spec *s = &specs->spec[i];
		AUTO_STRBUF formats = { 0 };
		uint32_t n = 0;
		bool first = s->subsys != NULL;

		for (size_t k = 0; k < i && first; k++)
			first = !same_system(s, &specs->spec[k]);
		for (size_t k = i; first && k < specs->n; k++)
			if (same_system(s, &specs->spec[k])) {
				AUTO_FREE char *path = mem_printf("events/%s/%s/format", s->subsys,
								  specs->spec[k].event);

				file_part(&formats, tracefs, path, 8);
				n++;
			}
		if (!n)
			continue;
		n_systems++;
		strbuf_add(&systems, s->subsys, strlen(s->subsys) + 1);
		tracing_data_u32(&systems, n);
		strbuf_add(&systems, strbuf_str(&formats), formats.n);
	}
	tracing_data_u32(b, n_systems);
	strbuf_add(b, strbuf_str(&systems), systems.n);
	tracing_data_u32(b, 0); /* kernel symbols are kept elsewhere */
	file_part(b, tracefs, "printk_formats", 4);
	file_part(b, tracefs, "saved_cmdlines", 8);
}
