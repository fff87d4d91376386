/* SPDX-License-Identifier: MIT */
/*
 * The perf.data file format: what linux/perf_event.h does not say, because it
 * is perf's own. Shared by the reader and the writer.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdint.h>

#define PERFDATA_MAGIC 0x32454c4946524550u /* "PERFILE2" read on a little-endian machine */
#define PERFDATA_MAGIC_SWAPPED 0x50455246494c4532u
#define PERFDATA_PIPE_SIZE 16 /* header size that says: a stream of records */

struct perfdata_section {
	uint64_t offset, size;
};

struct perfdata_header {
	uint64_t magic;
	uint64_t size;	    /* of this header */
	uint64_t attr_size; /* of a struct perfdata_attr as written: attr and its ids section */
	struct perfdata_section attrs, data, event_types;
	uint64_t features[4]; /* bitmap */
};

/* Records that user space writes; the kernel's go up to 63. */
enum perfdata_record {
	PERFDATA_HEADER_ATTR = 64,
	PERFDATA_HEADER_EVENT_TYPE = 65,
	PERFDATA_HEADER_TRACING_DATA = 66,
	PERFDATA_HEADER_BUILD_ID = 67,
	PERFDATA_FINISHED_ROUND = 68,
	PERFDATA_ID_INDEX = 69,
	PERFDATA_AUXTRACE_INFO = 70,
	PERFDATA_AUXTRACE = 71,
	PERFDATA_AUXTRACE_ERROR = 72,
	PERFDATA_THREAD_MAP = 73,
	PERFDATA_CPU_MAP = 74,
	PERFDATA_STAT_CONFIG = 75,
	PERFDATA_STAT = 76,
	PERFDATA_STAT_ROUND = 77,
	PERFDATA_EVENT_UPDATE = 78,
	PERFDATA_TIME_CONV = 79,
	PERFDATA_HEADER_FEATURE = 80,
	PERFDATA_COMPRESSED = 81,
	PERFDATA_FINISHED_INIT = 82,
	PERFDATA_COMPRESSED2 = 83,
	PERFDATA_RECORD_END, /* first number that is not known */
};
#define PERFDATA_KERNEL_RECORD_END 23 /* first kernel record that is not known */
#define PERFDATA_CALLCHAIN_DEFERRED 22

enum perfdata_feature {
	PERFDATA_TRACING_DATA = 1,
	PERFDATA_BUILD_ID,
	PERFDATA_HOSTNAME,
	PERFDATA_OSRELEASE,
	PERFDATA_VERSION,
	PERFDATA_ARCH,
	PERFDATA_NRCPUS,
	PERFDATA_CPUDESC,
	PERFDATA_CPUID,
	PERFDATA_TOTAL_MEM,
	PERFDATA_CMDLINE,
	PERFDATA_EVENT_DESC,
	PERFDATA_CPU_TOPOLOGY,
	PERFDATA_NUMA_TOPOLOGY,
	PERFDATA_BRANCH_STACK,
	PERFDATA_PMU_MAPPINGS,
	PERFDATA_GROUP_DESC,
	PERFDATA_AUXTRACE_INDEX,
	PERFDATA_STAT_FEATURE,
	PERFDATA_CACHE,
	PERFDATA_SAMPLE_TIME,
	PERFDATA_MEM_TOPOLOGY,
	PERFDATA_CLOCKID,
	PERFDATA_DIR_FORMAT,
	PERFDATA_BPF_PROG_INFO,
	PERFDATA_BPF_BTF,
	PERFDATA_COMPRESSED_INFO,
	PERFDATA_CPU_PMU_CAPS,
	PERFDATA_CLOCK_DATA,
	PERFDATA_HYBRID_TOPOLOGY,
	PERFDATA_PMU_CAPS,
	PERFDATA_FEATURE_END,
};

/*
 * kymo's own, see docs/perf-data.md. perf looks only at the features it knows, all
 * of them far below, and at nothing between the attrs and the data.
 */
#define PERFDATA_KALLSYMS 250 /* the kernel symbols that samples fell into */
#define PERFDATA_STACKS 251   /* u32 how user stacks were found: 1 walked by kymo */
#define PERFDATA_STACKS_WALKED 1u
#define PERFDATA_ENDED 252 /* struct perfdata_ended, written over when the recording ends */
struct perfdata_ended {
	uint32_t why; /* it ended before it was to: an errno; 0: it did not */
	uint32_t unused;
	uint64_t lost; /* events that there was no room for */
};
#define PERFDATA_EARLY_MAGIC 0x324145484f4d594bu /* "KYMOHEA2": features that precede the data */
struct perfdata_early {
	uint32_t
		feature; /* with PERFDATA_EARLY_LATER: a struct perfdata_section is there instead */
	uint32_t size;
};
#define PERFDATA_EARLY_LATER 0x80000000u
#define PERFDATA_EARLY_MAGIC_1 0x444145484f4d594bu /* "KYMOHEAD": until 0.1.0 */
struct perfdata_kallsyms {
	uint32_t packing; /* what follows */
	uint32_t size;	  /* of the columns, once unpacked; 0 for texts */
};
enum perfdata_kallsyms_packing {
	PERFDATA_KALLSYMS_TEXT,		  /* u64 size and as much of kallsyms */
	PERFDATA_KALLSYMS_PACKED_TEXT,	  /* u64 size of the text that zstd unpacks; until 0.1.0 */
	PERFDATA_KALLSYMS_COLUMNS,	  /* store/perfdata/kallsyms.c */
	PERFDATA_KALLSYMS_PACKED_COLUMNS, /* by zstd, with a dictionary of names */
};

/* PERFDATA_EVENT_UPDATE types. */
enum perfdata_update {
	PERFDATA_UPDATE_UNIT,
	PERFDATA_UPDATE_SCALE,
	PERFDATA_UPDATE_NAME,
	PERFDATA_UPDATE_CPUS,
	/* kymo's own, which perf passes over */
	PERFDATA_UPDATE_CGROUP = 0x4b590000, /* the cgroup an event was counted in */
	PERFDATA_UPDATE_USAGE,		     /* u64 user, system: a command's time in ns */
};

/* A build-id entry has this bit in misc when its size stands in byte 20. */
#define PERFDATA_MISC_BUILD_ID_SIZE (1u << 15)

/* Later than the headers this is built with. */
#define PERFDATA_SAMPLE_BRANCH_COUNTERS (1u << 19)

struct perfdata_event_header {
	uint32_t type;
	uint16_t misc, size;
};
