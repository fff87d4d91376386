/* SPDX-License-Identifier: MIT */
/*
 * The header of a recording as text, line by line as perf 6.1 prints it. What a
 * feature holds is read again here, as text is all that most of them are for.
 */
#include "store/perfdata/impl.h"

#include <inttypes.h>
#include <time.h>

#include "event/attr.h"

static const char *const names[PERFDATA_FEATURE_END] = {
	[PERFDATA_TRACING_DATA] = "TRACING_DATA",
	[PERFDATA_BUILD_ID] = "BUILD_ID",
	[PERFDATA_HOSTNAME] = "HOSTNAME",
	[PERFDATA_OSRELEASE] = "OSRELEASE",
	[PERFDATA_VERSION] = "VERSION",
	[PERFDATA_ARCH] = "ARCH",
	[PERFDATA_NRCPUS] = "NRCPUS",
	[PERFDATA_CPUDESC] = "CPUDESC",
	[PERFDATA_CPUID] = "CPUID",
	[PERFDATA_TOTAL_MEM] = "TOTAL_MEM",
	[PERFDATA_CMDLINE] = "CMDLINE",
	[PERFDATA_EVENT_DESC] = "EVENT_DESC",
	[PERFDATA_CPU_TOPOLOGY] = "CPU_TOPOLOGY",
	[PERFDATA_NUMA_TOPOLOGY] = "NUMA_TOPOLOGY",
	[PERFDATA_BRANCH_STACK] = "BRANCH_STACK",
	[PERFDATA_PMU_MAPPINGS] = "PMU_MAPPINGS",
	[PERFDATA_GROUP_DESC] = "GROUP_DESC",
	[PERFDATA_AUXTRACE_INDEX] = "AUXTRACE",
	[PERFDATA_STAT_FEATURE] = "STAT",
	[PERFDATA_CACHE] = "CACHE",
	[PERFDATA_SAMPLE_TIME] = "SAMPLE_TIME",
	[PERFDATA_MEM_TOPOLOGY] = "MEM_TOPOLOGY",
	[PERFDATA_CLOCKID] = "CLOCKID",
	[PERFDATA_DIR_FORMAT] = "DIR_FORMAT",
	[PERFDATA_BPF_PROG_INFO] = "BPF_PROG_INFO",
	[PERFDATA_BPF_BTF] = "BPF_BTF",
	[PERFDATA_COMPRESSED_INFO] = "COMPRESSED",
	[PERFDATA_CPU_PMU_CAPS] = "CPU_PMU_CAPS",
	[PERFDATA_CLOCK_DATA] = "CLOCK_DATA",
	[PERFDATA_HYBRID_TOPOLOGY] = "HYBRID_TOPOLOGY",
	[PERFDATA_PMU_CAPS] = "PMU_CAPS",
};

static void perfdata_info_put_string(struct strbuf *b, struct cursor *c, const char *label)
{
	AUTO_FREE char *made = NULL;
	const char *s = cursor_str(c);

	if (!c->bad)
		strbuf_printf(b, "# %s : %s\n", label, str_one_line(s, &made));
}

static void put_cmdline(struct strbuf *b, struct cursor *c)
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

static void perfdata_info_put_attr(void *ctx, const char *name, const char *value)
{
	strbuf_printf(ctx, ", %s = %s", name, value);
}

static void put_events(struct strbuf *b, struct cursor *c)
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
		attr_each(&attr, perfdata_info_put_attr, b);
		strbuf_putc(b, '\n');
	}
}

static void put_strings(struct strbuf *b, struct cursor *c, const char *label)
{
	uint32_t n = cursor_u32(c);

	for (uint32_t i = 0; i < n && !c->bad; i++) {
		const char *s = cursor_str(c);

		if (!c->bad)
			strbuf_printf(b, "# %s: %s\n", label, s);
	}
}

/* Sockets, threads, a core and socket for each CPU; newer ones: dies, and a die for each. */
static void put_cpu_topology(struct strbuf *b, const struct perfdata *pd, struct cursor *c)
{
	AUTO_STRBUF threads = { 0 };
	uint32_t cpus = pd->trace.info.cpus_available;
	const uint8_t *place;
	struct cursor dies, id;

	put_strings(b, c, "sibling sockets ");
	put_strings(&threads, c, "sibling threads ");
	place = c->p;
	if (c->bad || cpus > (uint64_t)(c->end - c->p) / 8)
		return;
	dies = *c;
	dies.p += cpus * 8ull;
	id = dies;
	if (dies.p < dies.end) {
		AUTO_STRBUF text = { 0 };

		put_strings(&text, &dies, "sibling dies    ");
		strbuf_add(b, strbuf_str(&text), text.n);
		id = dies;
	}
	strbuf_add(b, strbuf_str(&threads), threads.n);
	c->p = place;
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

static void put_numa_topology(struct strbuf *b, struct cursor *c)
{
	uint32_t n = cursor_u32(c);

	for (uint32_t i = 0; i < n && !c->bad; i++) {
		uint32_t node = cursor_u32(c);
		uint64_t total = cursor_u64(c), left = cursor_u64(c);
		const char *cpus = cursor_str(c);

		if (!c->bad)
			strbuf_printf(b,
				      "# node%u meminfo  : total = %" PRIu64 " kB, free = %" PRIu64
				      " kB\n# node%u cpu list : %s\n",
				      node, total, left, node, cpus);
	}
}

static void put_pmu_mappings(struct strbuf *b, struct cursor *c)
{
	uint32_t n = cursor_u32(c);

	if (c->bad || !n) {
		strbuf_puts(b, "# pmu mappings: not available\n");
		return;
	}
	strbuf_puts(b, "# pmu mappings: ");
	for (uint32_t i = 0; i < n && !c->bad; i++) {
		uint32_t type = cursor_u32(c);
		const char *name = cursor_str(c);

		if (!c->bad)
			strbuf_printf(b, "%s%s = %u", i ? ", " : "", name, type);
	}
	strbuf_putc(b, '\n');
}

static void put_groups(struct strbuf *b, const struct perfdata *pd)
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

static void put_cache(struct strbuf *b, struct cursor *c)
{
	uint32_t n;

	cursor_u32(c); /* version */
	n = cursor_u32(c);
	strbuf_puts(b, "# CPU cache info:\n");
	for (uint32_t i = 0; i < n && !c->bad; i++) {
		uint32_t level = cursor_u32(c);
		const char *type, *size, *map;

		cursor_u32(c);
		cursor_u32(c);
		cursor_u32(c);
		type = cursor_str(c);
		size = cursor_str(c);
		map = cursor_str(c);
		if (!c->bad)
			strbuf_printf(b, "#  L%u %-15s %8s [%s]\n", level, type, size, map);
	}
}

static void put_sample_time(struct strbuf *b, struct cursor *c)
{
	uint64_t first = cursor_u64(c), last = cursor_u64(c);

	if (c->bad)
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

static void put_mem_topology(struct strbuf *b, struct cursor *c)
{
	uint64_t block, n;

	cursor_u64(c); /* version */
	block = cursor_u64(c);
	n = cursor_u64(c);
	if (c->bad)
		return;
	strbuf_printf(b, "# memory nodes (nr %d, block size 0x%" PRIx64 "):\n", (int)n, block);
	for (uint64_t i = 0; i < n && !c->bad; i++) {
		uint64_t node = cursor_u64(c), bits, words, used = 0, from = UINT64_MAX;
		AUTO_STRBUF list = { 0 };
		const uint8_t *map;

		cursor_u64(c); /* size */
		bits = cursor_u64(c);
		words = bits / 64 + (bits % 64 != 0);
		map = c->p;
		if (c->bad || words > (uint64_t)(c->end - c->p) / 8)
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

static const char *perfdata_info_clock_name(uint32_t id)
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

static void put_clock(struct strbuf *b, struct cursor *c)
{
	uint32_t version = cursor_u32(c), id = cursor_u32(c);
	uint64_t wall = cursor_u64(c), clock = cursor_u64(c);
	time_t sec = (time_t)(wall / 1000000000);
	char date[64] = "failed";
	struct tm tm;

	if (c->bad || version != 1)
		return;
	if (localtime_r(&sec, &tm))
		strftime(date, sizeof(date), "%F %T", &tm);
	strbuf_printf(b, "# clockid: %s (%u)\n", perfdata_info_clock_name(id), id);
	strbuf_printf(b,
		      "# reference time: %s.%06" PRIu64 " = %" PRIu64 ".%06" PRIu64
		      " (TOD) = %" PRIu64 ".%09" PRIu64 " (%s)\n",
		      date, wall % 1000000000 / 1000, wall / 1000000000, wall % 1000000000 / 1000,
		      clock / 1000000000, clock % 1000000000, perfdata_info_clock_name(id));
}

/* The programs' numbers; what they are is in the structs that follow them. */
static void put_bpf_programs(struct strbuf *b, struct cursor *c)
{
	uint32_t n = cursor_u32(c);

	for (uint32_t i = 0; i < n && !c->bad; i++) {
		uint32_t info = cursor_u32(c), data = cursor_u32(c), id;

		cursor_u64(c);
		if (c->bad || info < 8 || (uint64_t)info + data > (uint64_t)(c->end - c->p))
			return;
		id = (cursor_u32(c), cursor_u32(c));
		c->p += info - 8 + data;
		strbuf_printf(b, "# bpf_prog_info of id %u\n", id);
	}
}

static void put_bpf_btf(struct strbuf *b, struct cursor *c)
{
	uint32_t n = cursor_u32(c);

	for (uint32_t i = 0; i < n && !c->bad; i++) {
		uint32_t id = cursor_u32(c), size = cursor_u32(c);

		if (c->bad || size > c->end - c->p)
			return;
		c->p += size;
		strbuf_printf(b, "# btf info of id %u\n", id);
	}
}

static void put_compressed(struct strbuf *b, struct cursor *c)
{
	uint32_t type, level, ratio;

	cursor_u32(c); /* version */
	type = cursor_u32(c);
	level = cursor_u32(c);
	ratio = cursor_u32(c);
	if (!c->bad)
		strbuf_printf(b, "# compressed : %s, level = %u, ratio = %u\n",
			      type == 1 ? "Zstd" : "Unknown", level, ratio);
}

static void put_caps(struct strbuf *b, struct cursor *c, const char *pmu)
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
static void put_pmu_caps(struct strbuf *b, struct cursor *c)
{
	uint32_t n = cursor_u32(c);

	for (uint32_t i = 0; i < n && !c->bad; i++) {
		struct cursor again = *c;
		uint32_t pairs = cursor_u32(c);

		for (uint32_t k = 0; k < pairs * 2 && !c->bad; k++)
			cursor_str(c);
		put_caps(b, &again, cursor_str(c));
	}
}

static void put_hybrid(struct strbuf *b, struct cursor *c)
{
	uint32_t n = cursor_u32(c);

	strbuf_puts(b, "# hybrid cpu system:\n");
	for (uint32_t i = 0; i < n && !c->bad; i++) {
		const char *pmu = cursor_str(c), *cpus = cursor_str(c);

		if (!c->bad)
			strbuf_printf(b, "# %s cpu list : %s\n", pmu, cpus);
	}
}

static bool is_long(unsigned feature)
{
	return feature == PERFDATA_CPU_TOPOLOGY || feature == PERFDATA_NUMA_TOPOLOGY ||
	       feature == PERFDATA_CACHE || feature == PERFDATA_MEM_TOPOLOGY;
}

static void put_feature(struct strbuf *b, const struct perfdata *pd, unsigned feature, bool full)
{
	struct cursor c = feature_cursor(pd, feature);
	uint32_t a, o;

	if (is_long(feature) && !full) {
		strbuf_printf(b, "# %s info available, use -I to display\n", names[feature]);
		return;
	}
	switch (feature) {
	case PERFDATA_HOSTNAME: perfdata_info_put_string(b, &c, "hostname"); break;
	case PERFDATA_OSRELEASE: perfdata_info_put_string(b, &c, "os release"); break;
	case PERFDATA_VERSION: perfdata_info_put_string(b, &c, "perf version"); break;
	case PERFDATA_ARCH: perfdata_info_put_string(b, &c, "arch"); break;
	case PERFDATA_NRCPUS:
		a = cursor_u32(&c);
		o = cursor_u32(&c);
		strbuf_printf(b, "# nrcpus online : %u\n# nrcpus avail : %u\n", o, a);
		break;
	case PERFDATA_CPUDESC: perfdata_info_put_string(b, &c, "cpudesc"); break;
	case PERFDATA_CPUID: perfdata_info_put_string(b, &c, "cpuid"); break;
	case PERFDATA_TOTAL_MEM:
		strbuf_printf(b, "# total memory : %" PRIu64 " kB\n", cursor_u64(&c));
		break;
	case PERFDATA_CMDLINE: put_cmdline(b, &c); break;
	case PERFDATA_EVENT_DESC: put_events(b, &c); break;
	case PERFDATA_CPU_TOPOLOGY: put_cpu_topology(b, pd, &c); break;
	case PERFDATA_NUMA_TOPOLOGY: put_numa_topology(b, &c); break;
	case PERFDATA_BRANCH_STACK: strbuf_puts(b, "# contains samples with branch stack\n"); break;
	case PERFDATA_PMU_MAPPINGS: put_pmu_mappings(b, &c); break;
	case PERFDATA_GROUP_DESC: put_groups(b, pd); break;
	case PERFDATA_AUXTRACE_INDEX:
		strbuf_puts(b, "# contains AUX area data (e.g. instruction trace)\n");
		break;
	case PERFDATA_STAT_FEATURE: strbuf_puts(b, "# contains stat data\n"); break;
	case PERFDATA_CACHE: put_cache(b, &c); break;
	case PERFDATA_SAMPLE_TIME: put_sample_time(b, &c); break;
	case PERFDATA_MEM_TOPOLOGY: put_mem_topology(b, &c); break;
	case PERFDATA_CLOCKID:
		strbuf_printf(b, "# clockid frequency: %" PRIu64 " MHz\n", cursor_u64(&c) * 1000);
		break;
	case PERFDATA_DIR_FORMAT:
		strbuf_printf(b, "# directory data version : %" PRIu64 "\n", cursor_u64(&c));
		break;
	case PERFDATA_BPF_PROG_INFO: put_bpf_programs(b, &c); break;
	case PERFDATA_BPF_BTF: put_bpf_btf(b, &c); break;
	case PERFDATA_COMPRESSED_INFO: put_compressed(b, &c); break;
	case PERFDATA_CPU_PMU_CAPS: put_caps(b, &c, "cpu"); break;
	case PERFDATA_CLOCK_DATA: put_clock(b, &c); break;
	case PERFDATA_HYBRID_TOPOLOGY: put_hybrid(b, &c); break;
	case PERFDATA_PMU_CAPS: put_pmu_caps(b, &c); break;
	default: break;
	}
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
			strbuf_printf(b, "%s ", names[i]);
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
