/* SPDX-License-Identifier: MIT */
/*
 * The header of a recording as text, line by line as perf 6.1 prints it. What a
 * feature holds is read again here, as text is all that most of them are for.
 */
#include "store/perfdata/impl.h"

#include <inttypes.h>

#include "event/attr.h"

typedef void info_fn(struct strbuf *b, struct cursor *c, const struct perfdata *pd,
		     const char *label);

static void put_string(struct strbuf *b, struct cursor *c, const struct perfdata *pd,
		       const char *label)
{
	AUTO_FREE char *made = NULL;
	const char *s = cursor_str(c);

	if (!c->bad)
		strbuf_printf(b, "# %s : %s\n", label, str_one_line(s, &made));
}

static void put_label(struct strbuf *b, struct cursor *c, const struct perfdata *pd,
		      const char *label)
{
	strbuf_printf(b, "# contains %s\n", label);
}

static void put_cpus(struct strbuf *b, struct cursor *c, const struct perfdata *pd,
		     const char *label)
{
	uint32_t available = cursor_u32(c), online = cursor_u32(c);

	strbuf_printf(b, "# nrcpus online : %u\n# nrcpus avail : %u\n", online, available);
}

/* label: a format of it. */
static void put_number(struct strbuf *b, struct cursor *c, const struct perfdata *pd,
		       const char *label)
{
	strbuf_printf(b, label, cursor_u64(c));
}

static void put_clock_rate(struct strbuf *b, struct cursor *c, const struct perfdata *pd,
			   const char *label)
{
	strbuf_printf(b, "# clockid frequency: %" PRIu64 " MHz\n", cursor_u64(c) * 1000);
}

static void put_cmdline(struct strbuf *b, struct cursor *c, const struct perfdata *pd,
			const char *label)
{
	uint32_t n = cursor_u32(c);

	strbuf_puts(b, "# cmdline : ");
	for (uint32_t i = 0; i < n && !c->bad; i++) {
		AUTO_FREE char *made = NULL;

		for (const char *s = str_one_line(cursor_str(c), &made); *s; s++)
			strbuf_printf(b, "%s%c", *s == '\'' ? "\\" : "", *s);
		strbuf_putc(b, ' ');
	}
	strbuf_putc(b, '\n');
}

static void put_attr(void *ctx, const char *name, const char *value)
{
	strbuf_printf(ctx, ", %s = %s", name, value);
}

static void put_events(struct strbuf *b, struct cursor *c, const struct perfdata *pd,
		       const char *label)
{
	uint32_t n = cursor_u32(c), size = cursor_u32(c);

	if (c->bad) {
		strbuf_puts(b, "# event desc: not available or unable to read\n");
		return;
	}
	for (uint32_t i = 0; i < n && !c->bad && size <= c->end - c->p; i++) {
		AUTO_FREE char *made = NULL;
		struct perf_event_attr attr = { 0 };
		uint32_t n_ids;

		memcpy(&attr, c->p, size < sizeof(attr) ? size : sizeof(attr));
		if (c->swap)
			swap_attr(&attr);
		c->p += size;
		n_ids = cursor_u32(c);
		strbuf_printf(b, "# event : name = %s, ", str_one_line(cursor_str(c), &made));
		if (n_ids)
			strbuf_puts(b, ", id = {");
		for (uint32_t k = 0; k < n_ids && !c->bad; k++)
			strbuf_printf(b, "%s %" PRIu64, k ? "," : "", cursor_u64(c));
		if (n_ids)
			strbuf_puts(b, " }");
		attr_each(&attr, put_attr, b);
		strbuf_putc(b, '\n');
	}
}

static void put_strings(struct strbuf *b, struct cursor *c, const char *label)
{
	const char *s;

	for (uint32_t n = cursor_u32(c); n && cursor_take(c, "s", &s); n--)
		strbuf_printf(b, "# %s: %s\n", label, s);
}

/* Sockets, threads, a core and socket for each CPU; newer ones: dies, and a die for each. */
static void put_cpu_topology(struct strbuf *b, struct cursor *c, const struct perfdata *pd,
			     const char *label)
{
	AUTO_STRBUF threads = { 0 };
	uint32_t cpus = pd->trace.info.cpus_available;
	struct cursor id;

	put_strings(b, c, "sibling sockets ");
	put_strings(&threads, c, "sibling threads ");
	id = *c;
	if (!cursor_bytes(&id, cpus * 8ull))
		return;
	if (id.p < id.end)
		put_strings(b, &id, "sibling dies    ");
	strbuf_add(b, strbuf_str(&threads), threads.n);
	for (uint32_t i = 0; i < cpus; i++) {
		uint32_t core = cursor_u32(c), socket = cursor_u32(c);

		if (id.end - id.p >= 4)
			strbuf_printf(b, "# CPU %u: Core ID %d, Die ID %d, Socket ID %d\n", i,
				      (int)core, (int)cursor_u32(&id), (int)socket);
		else
			strbuf_printf(b, "# CPU %u: Core ID %d, Socket ID %d\n", i, (int)core,
				      (int)socket);
	}
}

static void put_numa_topology(struct strbuf *b, struct cursor *c, const struct perfdata *pd,
			      const char *label)
{
	uint32_t node;
	uint64_t total, left;
	const char *cpus;

	for (uint32_t n = cursor_u32(c); n && cursor_take(c, "488s", &node, &total, &left, &cpus);
	     n--)
		strbuf_printf(b,
			      "# node%u meminfo  : total = %" PRIu64 " kB, free = %" PRIu64
			      " kB\n# node%u cpu list : %s\n",
			      node, total, left, node, cpus);
}

static void put_pmu_mappings(struct strbuf *b, struct cursor *c, const struct perfdata *pd,
			     const char *label)
{
	uint32_t n = cursor_u32(c), type;
	const char *name, *sep = "";

	strbuf_printf(b, "# pmu mappings: %s", n ? "" : "not available");
	for (; n && cursor_take(c, "4s", &type, &name); n--, sep = ", ")
		strbuf_printf(b, "%s%s = %u", sep, name, type);
	strbuf_putc(b, '\n');
}

static void put_groups(struct strbuf *b, struct cursor *c, const struct perfdata *pd,
		       const char *label)
{
	for (size_t i = 0; i < pd->types.n; i++) {
		const struct perfdata_type *t = &pd->types.data[i];
		size_t members = 1;

		while (i + members < pd->types.n && pd->types.data[i + members].leader == (int)i)
			members++;
		if (t->leader != (int)i || members < 2)
			continue;
		strbuf_printf(b, "# group: %s{", t->group ? t->group : "");
		for (size_t k = 0; k < members; k++)
			strbuf_printf(b, "%s%s", k ? "," : "", pd->trace.types[i + k].name);
		strbuf_puts(b, "}\n");
	}
}

static void put_cache(struct strbuf *b, struct cursor *c, const struct perfdata *pd,
		      const char *label)
{
	const char *type, *size, *map;
	uint32_t n, level;

	cursor_take(c, "44", NULL, &n); /* the first is the version */
	strbuf_puts(b, "# CPU cache info:\n");
	for (; n && cursor_take(c, "4444sss", &level, NULL, NULL, NULL, &type, &size, &map); n--)
		strbuf_printf(b, "#  L%u %-15s %8s [%s]\n", level, type, size, map);
}

static void put_sample_time(struct strbuf *b, struct cursor *c, const struct perfdata *pd,
			    const char *label)
{
	uint64_t first, last;

	if (!cursor_take(c, "88", &first, &last))
		return;
	strbuf_printf(b, "# time of first sample : %" PRIu64 ".%06" PRIu64 "\n", first / 1000000000,
		      first % 1000000000 / 1000);
	strbuf_printf(b, "# time of last sample : %" PRIu64 ".%06" PRIu64 "\n", last / 1000000000,
		      last % 1000000000 / 1000);
	strbuf_printf(b, "# sample duration : %10.3f ms\n", (double)(last - first) / 1e6);
}

/* 24G: whole units of the largest kind. */
static void put_unit(struct strbuf *b, uint64_t n)
{
	static const char units[] = "BKMGTPE";
	unsigned u = 0;

	while (u < 6 && n >= 1024) {
		n /= 1024;
		u++;
	}
	strbuf_printf(b, "%" PRIu64 "%c", n, units[u]);
}

static void put_mem_topology(struct strbuf *b, struct cursor *c, const struct perfdata *pd,
			     const char *label)
{
	uint64_t block, n, node, bits;

	if (!cursor_take(c, "888", NULL, &block, &n)) /* the first is the version */
		return;
	strbuf_printf(b, "# memory nodes (nr %d, block size 0x%" PRIx64 "):\n", (int)n, block);
	for (; n && cursor_take(c, "888", &node, NULL, &bits); n--) {
		uint64_t words = bits / 64 + (bits % 64 != 0), used = 0, from = UINT64_MAX;
		AUTO_STRBUF list = { 0 };
		const uint8_t *map = c->p;

		if (words > (uint64_t)(c->end - c->p) / 8)
			return;
		for (uint64_t k = 0; k <= bits; k++) {
			struct cursor w = { .p = map + k / 64 * 8, .end = c->end, .swap = c->swap };
			bool set = k < bits && (cursor_u64(&w) >> k % 64 & 1);

			used += set;
			if (set && from == UINT64_MAX)
				from = k;
			if (set || from == UINT64_MAX)
				continue;
			strbuf_printf(&list, "%s%" PRIu64, list.n ? "," : "", from);
			if (k - 1 > from)
				strbuf_printf(&list, "-%" PRIu64, k - 1);
			from = UINT64_MAX;
		}
		c->p += words * 8;
		strbuf_printf(b, "#  %3" PRIu64 " [", node);
		put_unit(b, block * used);
		strbuf_printf(b, "]: %s\n", strbuf_str(&list));
	}
}

static const char *clock_name(uint32_t id)
{
	static const char *const clocks[] = {
		[CLOCK_REALTIME] = "realtime",
		[CLOCK_MONOTONIC] = "monotonic",
		[CLOCK_PROCESS_CPUTIME_ID] = "process",
		[CLOCK_THREAD_CPUTIME_ID] = "thread",
		[CLOCK_MONOTONIC_RAW] = "monotonic_raw",
		[CLOCK_REALTIME_COARSE] = "real_coarse",
		[CLOCK_MONOTONIC_COARSE] = "mono_coarse",
		[CLOCK_BOOTTIME] = "boottime",
		[CLOCK_TAI] = "tai",
	};

	return id < ARRAY_SIZE(clocks) && clocks[id] ? clocks[id] : "(not found)";
}

static void put_clock(struct strbuf *b, struct cursor *c, const struct perfdata *pd,
		      const char *label)
{
	uint32_t version, id;
	uint64_t wall, clock;
	char date[64] = "failed";
	struct tm tm;

	if (!cursor_take(c, "4488", &version, &id, &wall, &clock) || version != 1)
		return;
	if (localtime_r(&(time_t){ (time_t)(wall / 1000000000) }, &tm))
		strftime(date, sizeof(date), "%F %T", &tm);
	strbuf_printf(b, "# clockid: %s (%u)\n", clock_name(id), id);
	strbuf_printf(b,
		      "# reference time: %s.%06" PRIu64 " = %" PRIu64 ".%06" PRIu64
		      " (TOD) = %" PRIu64 ".%09" PRIu64 " (%s)\n",
		      date, wall % 1000000000 / 1000, wall / 1000000000, wall % 1000000000 / 1000,
		      clock / 1000000000, clock % 1000000000, clock_name(id));
}

/* The programs' numbers; what they are is in the structs that follow them. */
static void put_bpf_programs(struct strbuf *b, struct cursor *c, const struct perfdata *pd,
			     const char *label)
{
	uint32_t info, data, id;

	for (uint32_t n = cursor_u32(c); n && cursor_take(c, "448", &info, &data, NULL); n--) {
		if (info < 8 || (uint64_t)info + data > (uint64_t)(c->end - c->p))
			return;
		cursor_take(c, "44", NULL, &id);
		cursor_bytes(c, info - 8ull + data);
		strbuf_printf(b, "# bpf_prog_info of id %u\n", id);
	}
}

static void put_bpf_btf(struct strbuf *b, struct cursor *c, const struct perfdata *pd,
			const char *label)
{
	uint32_t id, size;

	for (uint32_t n = cursor_u32(c); n && cursor_take(c, "44", &id, &size); n--)
		if (cursor_bytes(c, size))
			strbuf_printf(b, "# btf info of id %u\n", id);
}

static void put_compressed(struct strbuf *b, struct cursor *c, const struct perfdata *pd,
			   const char *label)
{
	uint32_t type, level, ratio;

	if (cursor_take(c, "4444", NULL, &type, &level, &ratio))
		strbuf_printf(b, "# compressed : %s, level = %u, ratio = %u\n",
			      type == 1 ? "Zstd" : "Unknown", level, ratio);
}

static void put_caps(struct strbuf *b, struct cursor *c, const struct perfdata *pd, const char *pmu)
{
	uint32_t n = cursor_u32(c);

	if (c->bad)
		return;
	if (!n) {
		strbuf_printf(b, "# %s pmu capabilities: not available\n", pmu);
		return;
	}
	strbuf_printf(b, "# %s pmu capabilities: ", pmu);
	for (uint32_t i = 0; i < n && !c->bad; i++) {
		const char *name = cursor_str(c), *value = cursor_str(c);

		strbuf_printf(b, "%s%s=%s", i ? ", " : "", name, value);
	}
	strbuf_putc(b, '\n');
}

/* Each: count, pairs, and the PMU's name behind them. */
static void put_pmu_caps(struct strbuf *b, struct cursor *c, const struct perfdata *pd,
			 const char *label)
{
	uint32_t n = cursor_u32(c);

	for (uint32_t i = 0; i < n && !c->bad; i++) {
		struct cursor again = *c;
		uint32_t pairs = cursor_u32(c);

		for (uint32_t k = 0; k < pairs * 2 && !c->bad; k++)
			cursor_str(c);
		put_caps(b, &again, pd, cursor_str(c));
	}
}

static void put_hybrid(struct strbuf *b, struct cursor *c, const struct perfdata *pd,
		       const char *label)
{
	const char *pmu, *cpus;

	strbuf_puts(b, "# hybrid cpu system:\n");
	for (uint32_t n = cursor_u32(c); n && cursor_take(c, "ss", &pmu, &cpus); n--)
		strbuf_printf(b, "# %s cpu list : %s\n", pmu, cpus);
}

/* full: not shown unless asked for. */
static const struct {
	const char *name;
	info_fn *put;
	const char *label;
	bool full;
} features[PERFDATA_FEATURE_END] = {
	[PERFDATA_TRACING_DATA] = { "TRACING_DATA" },
	[PERFDATA_BUILD_ID] = { "BUILD_ID" },
	[PERFDATA_HOSTNAME] = { "HOSTNAME", put_string, "hostname" },
	[PERFDATA_OSRELEASE] = { "OSRELEASE", put_string, "os release" },
	[PERFDATA_VERSION] = { "VERSION", put_string, "perf version" },
	[PERFDATA_ARCH] = { "ARCH", put_string, "arch" },
	[PERFDATA_NRCPUS] = { "NRCPUS", put_cpus },
	[PERFDATA_CPUDESC] = { "CPUDESC", put_string, "cpudesc" },
	[PERFDATA_CPUID] = { "CPUID", put_string, "cpuid" },
	[PERFDATA_TOTAL_MEM] = { "TOTAL_MEM", put_number, "# total memory : %" PRIu64 " kB\n" },
	[PERFDATA_CMDLINE] = { "CMDLINE", put_cmdline },
	[PERFDATA_EVENT_DESC] = { "EVENT_DESC", put_events },
	[PERFDATA_CPU_TOPOLOGY] = { "CPU_TOPOLOGY", put_cpu_topology, NULL, true },
	[PERFDATA_NUMA_TOPOLOGY] = { "NUMA_TOPOLOGY", put_numa_topology, NULL, true },
	[PERFDATA_BRANCH_STACK] = { "BRANCH_STACK", put_label, "samples with branch stack" },
	[PERFDATA_PMU_MAPPINGS] = { "PMU_MAPPINGS", put_pmu_mappings },
	[PERFDATA_GROUP_DESC] = { "GROUP_DESC", put_groups },
	[PERFDATA_AUXTRACE_INDEX] = { "AUXTRACE", put_label,
				      "AUX area data (e.g. instruction trace)" },
	[PERFDATA_STAT_FEATURE] = { "STAT", put_label, "stat data" },
	[PERFDATA_CACHE] = { "CACHE", put_cache, NULL, true },
	[PERFDATA_SAMPLE_TIME] = { "SAMPLE_TIME", put_sample_time },
	[PERFDATA_MEM_TOPOLOGY] = { "MEM_TOPOLOGY", put_mem_topology, NULL, true },
	[PERFDATA_CLOCKID] = { "CLOCKID", put_clock_rate },
	[PERFDATA_DIR_FORMAT] = { "DIR_FORMAT", put_number,
				  "# directory data version : %" PRIu64 "\n" },
	[PERFDATA_BPF_PROG_INFO] = { "BPF_PROG_INFO", put_bpf_programs },
	[PERFDATA_BPF_BTF] = { "BPF_BTF", put_bpf_btf },
	[PERFDATA_COMPRESSED_INFO] = { "COMPRESSED", put_compressed },
	[PERFDATA_CPU_PMU_CAPS] = { "CPU_PMU_CAPS", put_caps, "cpu" },
	[PERFDATA_CLOCK_DATA] = { "CLOCK_DATA", put_clock },
	[PERFDATA_HYBRID_TOPOLOGY] = { "HYBRID_TOPOLOGY", put_hybrid },
	[PERFDATA_PMU_CAPS] = { "PMU_CAPS", put_pmu_caps },
};

static void put_feature(struct strbuf *b, const struct perfdata *pd, unsigned feature, bool full)
{
	struct cursor c = feature_cursor(pd, feature);

	if (features[feature].full && !full)
		strbuf_printf(b, "# %s info available, use -I to display\n",
			      features[feature].name);
	else if (features[feature].put)
		features[feature].put(b, &c, pd, features[feature].label);
}

void perfdata_header_text(const struct source *s, bool full, struct strbuf *b)
{
	const struct perfdata *pd = s->impl;
	const struct perfdata_header *h = &pd->header;
	time_t captured = (time_t)pd->trace.info.captured;
	char date[64] = "unknown\n";

	ctime_r(&captured, date);
	strbuf_printf(b, "# ========\n# captured on    : %s", date);
	strbuf_printf(b,
		      "# header version : 1\n# data offset    : %" PRIu64
		      "\n# data size      : %" PRIu64 "\n# feat offset    : %" PRIu64 "\n",
		      h->data.offset, h->data.size, h->data.offset + h->data.size);
	if (pd->pipe)
		strbuf_puts(b, "# ========\n#\n");
	for (unsigned i = 1; i < PERFDATA_FEATURE_END; i++)
		if (pd->feature[i].present)
			put_feature(b, pd, i, full);
	if (pd->pipe)
		return;
	strbuf_puts(b, "# missing features: ");
	for (unsigned i = 1; i < PERFDATA_FEATURE_END; i++)
		if (!(h->features[0] >> i & 1))
			strbuf_printf(b, "%s ", features[i].name);
	strbuf_puts(b, "\n# ========\n#\n");
}

/* The same for those who know nothing of perf.data: no '#', no frame. */
const char *info_text(struct perfdata *pd)
{
	AUTO_STRBUF b = { 0 };
	AUTO_STRBUF plain = { 0 };
	const char *p;

	perfdata_header_text(&pd->source, false, &b);
	for (p = strbuf_str(&b); *p; p += strcspn(p, "\n"), p += *p == '\n') {
		size_t n = strcspn(p, "\n");

		if (n > 2 && strncmp(p, "# =", 3) != 0)
			strbuf_printf(&plain, "%.*s\n", (int)n - 2, p + 2);
	}
	return arena_strdup(&pd->trace.arena, strbuf_str(&plain));
}
