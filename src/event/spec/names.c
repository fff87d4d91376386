/* SPDX-License-Identifier: MIT */
#include "event/spec/spec.h"

#include <string.h>

#define HW(n, a, c, about)                                                        \
	{                                                                         \
		n, a, SPEC_HARDWARE, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##c, about \
	}
#define SW(n, a, c, about)                                                        \
	{                                                                         \
		n, a, SPEC_SOFTWARE, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##c, about \
	}
#define TOOL(n, c, about)                                                    \
	{                                                                    \
		n, NULL, SPEC_TOOL, PERF_TYPE_SOFTWARE, SPEC_TOOL_##c, about \
	}

const struct spec_name spec_names[] = {
	HW("branch-instructions", "branches", BRANCH_INSTRUCTIONS, "branches retired"),
	HW("branch-misses", NULL, BRANCH_MISSES, "branches the CPU predicted wrongly"),
	HW("bus-cycles", NULL, BUS_CYCLES, "bus cycles; differs from CPU to CPU"),
	HW("cache-misses", NULL, CACHE_MISSES, "accesses the last cache level could not answer"),
	HW("cache-references", NULL, CACHE_REFERENCES, "accesses to the last cache level"),
	HW("cpu-cycles", "cycles", CPU_CYCLES, "CPU cycles; their length follows the frequency"),
	HW("instructions", NULL, INSTRUCTIONS, "instructions retired"),
	HW("ref-cycles", NULL, REF_CPU_CYCLES, "CPU cycles of a fixed frequency"),
	HW("stalled-cycles-backend", "idle-cycles-backend", STALLED_CYCLES_BACKEND,
	   "cycles without progress because results or memory were awaited"),
	HW("stalled-cycles-frontend", "idle-cycles-frontend", STALLED_CYCLES_FRONTEND,
	   "cycles without progress because instructions were awaited"),
	SW("alignment-faults", NULL, ALIGNMENT_FAULTS, "unaligned accesses the kernel repaired"),
	SW("bpf-output", NULL, BPF_OUTPUT, "data that BPF programs send through perf"),
	SW("cgroup-switches", NULL, CGROUP_SWITCHES, "context switches to another cgroup"),
	SW("context-switches", "cs", CONTEXT_SWITCHES, "switches to another task"),
	SW("cpu-clock", NULL, CPU_CLOCK, "time on a CPU, by its high-resolution timer"),
	SW("cpu-migrations", "migrations", CPU_MIGRATIONS, "moves of a task to another CPU"),
	SW("dummy", NULL, DUMMY, "counts nothing; carries side-band records"),
	SW("emulation-faults", NULL, EMULATION_FAULTS, "instructions the kernel emulated"),
	SW("major-faults", NULL, PAGE_FAULTS_MAJ, "page faults that read from a disk"),
	SW("minor-faults", NULL, PAGE_FAULTS_MIN, "page faults that needed no disk"),
	SW("page-faults", "faults", PAGE_FAULTS, "page faults"),
	SW("task-clock", NULL, TASK_CLOCK, "time the task ran"),
	TOOL("duration_time", DURATION, "wall-clock time, in nanoseconds"),
	TOOL("user_time", USER, "CPU time in user space, in nanoseconds"),
	TOOL("system_time", SYSTEM, "CPU time in the kernel, in nanoseconds"),
};
const size_t spec_names_n = sizeof(spec_names) / sizeof(spec_names[0]);

static bool spec_names_is(const char *word, const char *s, size_t n)
{
	return word && strlen(word) == n && memcmp(word, s, n) == 0;
}

const struct spec_name *spec_name_find(const char *s, size_t n)
{
	for (size_t i = 0; i < spec_names_n; i++)
		if (spec_names_is(spec_names[i].name, s, n) ||
		    spec_names_is(spec_names[i].alias, s, n))
			return &spec_names[i];
	return NULL;
}

/* Spellings; the first two of an op are what lists show ("load", "loads"). */
static const struct {
	const char *names[6];
	unsigned ops; /* which of the three the kernel has for it */
} caches[] = {
	[PERF_COUNT_HW_CACHE_L1D] = { { "L1-dcache", "l1-d", "l1d", "L1-data" }, 7 },
	[PERF_COUNT_HW_CACHE_L1I] = { { "L1-icache", "l1-i", "l1i", "L1-instruction" }, 5 },
	[PERF_COUNT_HW_CACHE_LL] = { { "LLC", "L2" }, 7 },
	[PERF_COUNT_HW_CACHE_DTLB] = { { "dTLB", "d-tlb", "Data-TLB" }, 7 },
	[PERF_COUNT_HW_CACHE_ITLB] = { { "iTLB", "i-tlb", "Instruction-TLB" }, 1 },
	[PERF_COUNT_HW_CACHE_BPU] = { { "branch", "branches", "bpu", "btb", "bpc" }, 1 },
	[PERF_COUNT_HW_CACHE_NODE] = { { "node" }, 7 },
};
static const char *const ops[][6] = {
	[PERF_COUNT_HW_CACHE_OP_READ] = { "load", "loads", "read" },
	[PERF_COUNT_HW_CACHE_OP_WRITE] = { "store", "stores", "write" },
	[PERF_COUNT_HW_CACHE_OP_PREFETCH] = { "prefetch", "prefetches", "speculative-read",
					      "speculative-load" },
};
static const char *const results[][6] = {
	[PERF_COUNT_HW_CACHE_RESULT_ACCESS] = { "refs", "Reference", "ops", "access" },
	[PERF_COUNT_HW_CACHE_RESULT_MISS] = { "misses", "miss" },
};
#define N_CACHES (sizeof(caches) / sizeof(caches[0]))

/* The longest of six words that stands at s and ends at '-' or at the end; 0 when none does. */
static size_t word_at(const char *const *words, const char *s, size_t n)
{
	size_t best = 0;

	for (unsigned i = 0; i < 6 && words[i]; i++) {
		size_t len = strlen(words[i]);

		if (len <= n && len > best && strncasecmp(words[i], s, len) == 0 &&
		    (len == n || s[len] == '-'))
			best = len;
	}
	return best;
}

int spec_cache_parse(const char *s, size_t n, uint64_t *config, size_t *at)
{
	size_t pos = 0, len;
	int type = -1, op = -1, result = -1;

	for (unsigned i = 0; i < N_CACHES; i++) {
		len = word_at(caches[i].names, s, n);
		if (len > pos) {
			type = (int)i;
			pos = len;
		}
	}
	if (type < 0)
		return 0;
	while (pos < n) {
		*at = ++pos; /* over the '-' */
		len = 0;
		for (int i = 0; i < 3 && op < 0 && !len; i++) {
			len = word_at(ops[i], s + pos, n - pos);
			if (len)
				op = i;
		}
		for (int i = 0; i < 2 && result < 0 && !len; i++) {
			len = word_at(results[i], s + pos, n - pos);
			if (len)
				result = i;
		}
		if (!len)
			return -EINVAL;
		pos += len;
	}
	op = op < 0 ? PERF_COUNT_HW_CACHE_OP_READ : op;
	result = result < 0 ? PERF_COUNT_HW_CACHE_RESULT_ACCESS : result;
	if (!(caches[type].ops & (1u << op)))
		return -EINVAL;
	*config = (uint64_t)type | (uint64_t)op << 8 | (uint64_t)result << 16;
	return 1;
}

size_t spec_cache_count(void)
{
	size_t count = 0;

	for (unsigned i = 0; i < N_CACHES; i++)
		count += 2 * (size_t)__builtin_popcount(caches[i].ops);
	return count;
}

uint64_t spec_cache_name(size_t index, char name[static SPEC_CACHE_NAME_MAX])
{
	for (unsigned type = 0; type < N_CACHES; type++)
		for (unsigned op = 0; op < 3; op++)
			for (unsigned miss = 0; miss < 2; miss++) {
				if (!(caches[type].ops & (1u << op)) || index-- != 0)
					continue;
				snprintf(name, SPEC_CACHE_NAME_MAX, "%s-%s%s",
					 caches[type].names[0], ops[op][!miss],
					 miss ? "-misses" : "");
				return type | op << 8 | (uint64_t)miss << 16;
			}
	name[0] = '\0';
	return 0;
}

void spec_cache_about(uint64_t config, char *buf, size_t size)
{
	static const char *const what[] = {
		"the first-level data cache", "the first-level instruction cache",
		"the last-level cache",	      "the TLB for data",
		"the TLB for instructions",   "the branch predictor",
		"memory of this node (NUMA)",
	};
	static const char *const how[] = { "loads from", "stores to", "prefetches into" };
	unsigned type = config & 0xff, op = config >> 8 & 0xff;

	if (type >= N_CACHES || op >= 3)
		snprintf(buf, size, "a cache event");
	else
		snprintf(buf, size, "%s %s%s", how[op], what[type],
			 config >> 16 ? " that missed" : "");
}
