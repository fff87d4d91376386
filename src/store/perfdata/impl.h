/* SPDX-License-Identifier: MIT */
/* Inside the perf.data reader: what its files share. Not for others. */
#pragma once

#include <byteswap.h>
#include <string.h>

#include "base/budget.h"
#include "base/map.h"
#include "base/vec.h"
#include "event/count.h"
#include "store/perfdata/perfdata.h"

#define MAX_ATTRS 65536
#define MAX_RECORD 65536
#define CHUNK_BYTES (1u << 20)

/* Where things stand in the samples and trailers of one type; offset 0 means: has none. */
struct layout {
	uint64_t sample_type, read_format, branch_type, regs_user, regs_intr;
	uint64_t period; /* for samples that carry none */
	uint32_t type;
	uint32_t fixed; /* size of the part whose offsets never change, header included */
	unsigned have;	/* EVENT_HAVE_* of that part */
	uint16_t ident, ip, tid, time, addr, id, stream, cpu, period_at;
	/* The trailer of other records, counted back from their end. */
	uint16_t tail, tail_tid, tail_time, tail_id, tail_cpu;
	bool variable; /* something follows the fixed part */
	bool plain;    /* and that is a chain; place, task and time are there */
	bool per_task; /* counter values are a task's own */
};

struct perfdata_type {
	struct perf_event_attr attr;
	const char *name;
	const char *unit;
	double scale;
	const char *cgroup; /* kymo's own, of counts */
	int leader;
	const char *group;
	VEC(uint64_t) ids;
};

struct perfdata_file {
	const uint8_t *data;
	size_t size;
	const char *name; /* "data.3"; NULL for the only one */
	bool mapped;	  /* to be unmapped; else it is somebody else's */
	bool stays;	  /* mapped, and small enough to stay so */
	int fd;		  /* of a mapped one; -1: closed again */
};

/* A run of whole records in memory. */
struct chunk {
	const uint8_t *start, *end;
	uint64_t position; /* of start in its file */
	uint32_t file;
	bool unpacked; /* position is that of the compressed record */
	bool sorted;   /* its records are in time order */
	bool counted;  /* its bad samples are in trace->losses */
	uint64_t n_samples;
	uint64_t first, last; /* lowest and highest key */
	uint64_t flushed;     /* key of records without a time, see chunk_key() */
	/* Counter values at its start, by slot; only with PERF_SAMPLE_READ. */
	uint64_t *values;
	size_t n_values;
};

/* The namespace of control groups that a thread was in from some time on. */
struct namespace_seen {
	uint64_t time, dev, ino;
	size_t before; /* the one before it, + 1 */
};

struct side_record {
	uint64_t time;
	const uint8_t *at; /* NULL: compiled code, number chunk of pd->codes */
	uint32_t chunk;
};

/* Code of a jitdump file, to be mapped in its turn. */
struct jit_code {
	struct trace_code code;
	const char *path;
	int32_t pid;
};

/* Counter values go up; a sample counts for what was added since the last one of its id. */
struct readings {
	struct map slot; /* id, or id and tid, to slot + 1 */
	VEC(uint64_t) value;
};

struct section {
	const uint8_t *data;
	size_t size;
	uint64_t position;
	bool present;
};

struct perfdata_format {
	uint64_t id;
	const char *system, *text;
	size_t size;
};

struct unzip;

struct perfdata {
	struct source source;
	struct trace trace;
	struct perfdata_header header;
	bool pipe, swap;
	bool unaligned; /* some records are, and have to be copied to be read */
	VEC(struct perfdata_file) files;
	VEC(struct perfdata_type) types;
	VEC(struct layout) layouts;
	struct map ids;	    /* perf's id to type + 1 */
	uint16_t sample_id; /* offset of the id in every sample; 0 when it has none */
	uint16_t tail_id;
	bool mixed_time; /* types disagree on where the time is */
	bool any_read;	 /* some type has PERF_SAMPLE_READ */
	bool layouts_stale;

	/* pass 1 */
	VEC(struct chunk) chunks;
	VEC(struct side_record) sides;
	struct arena side_copies; /* those of a mapped file: they are few, and lie far apart */
	VEC(struct jit_code) codes;
	struct map jit_pids; /* processes that have some */
	struct chunk open;   /* start == NULL: none */
	uint64_t max_time, next_flush, flushed;
	uint64_t last_sample_time;
	struct readings readings;
	struct unzip *unzip;
	struct map unknown_types;

	struct chunk *done[8]; /* pass 2: were read last, and are still in memory */
	unsigned n_done;

	struct section feature[256];
	VEC(struct perfdata_build_id) build_ids;
	VEC(struct perfdata_format) formats;
	bool raw_swapped; /* tracepoint records are of the other endian */
	VEC(struct namespace_seen) namespaces;
	struct map namespace_of; /* a thread's last in namespaces, + 1 */
	struct map cgroups;	 /* id to id in cgroup_paths, + 1 */
	struct strtab cgroup_paths;
	struct count_cpu *cpus; /* where each sits; NULL: not recorded */
	uint32_t n_cpus;
	uint64_t user_ns, sys_ns; /* of a command that was counted; what stat record says */
	bool has_usage, has_counts;
};

/* --- perfdata.c --- */
void perfdata_close(struct source *s);

/* --- store/perfdata/attr.c --- */
/* size is what the file says an attr has; longer ones are cut, shorter zero-extended. */
int attr_add(struct perfdata *pd, const uint8_t *attr, size_t size, const uint8_t *ids,
	     size_t n_ids, struct err *e);
void attr_layouts(struct perfdata *pd);
/* Fill trace->types; called once, when names and groups are known. */
void attr_finish(struct perfdata *pd);
void attr_settings(const struct source *s, size_t type, setting_fn *fn, void *ctx);
static inline const struct layout *layout_of_id(const struct perfdata *pd, uint64_t id)
{
	const uint64_t *at;

	if (!id)
		return &pd->layouts.data[0];
	at = map_find(&pd->ids, id);
	return at ? &pd->layouts.data[*at - 1] : NULL;
}

/* --- store/perfdata/scan.c --- */
int scan_all(struct perfdata *pd, struct err *e);
/* Where the records of the first file stand. */
void scan_range(const struct perfdata *pd, uint64_t *offset, uint64_t *size);
/* How many bytes belong to a record but follow it. */
uint64_t scan_bytes_after(const struct perfdata *pd, const uint8_t *p,
			  struct perfdata_event_header h);
/* The next FINISHED_ROUND record, where reading can go on; NULL when there is none. */
const uint8_t *scan_next_round(const struct perfdata *pd, const uint8_t *p, const uint8_t *end);
/* What unzip found; start..end are whole records. */
int scan_unpacked(struct perfdata *pd, const uint8_t **start, const uint8_t *end, uint32_t file,
		  uint64_t position, struct err *e);

/* --- decoding: begins as { .pd = pd } --- */
struct decoder {
	struct perfdata *pd;
	uint64_t last_id;
	const struct layout *last;
	const struct layout *plain; /* ev is a sample of this one, which is so */
	struct event ev;
	struct event_extra extra;
	struct event_side side;
	struct readings *readings; /* pass 1's; NULL: own */
	struct readings own;
	uint64_t *scratch; /* MAX_RECORD bytes, for records that must be copied */
};
void decoder_free(struct decoder *d);
/* A record in host endian and aligned: p itself, or its copy in d->scratch. */
const struct perfdata_event_header *decoder_record(struct decoder *d, const uint8_t *p);
/* Numbers of the file, wherever they lie. */
static inline uint64_t file_u64(const struct perfdata *pd, const void *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return pd->swap ? bswap_64(v) : v;
}
static inline uint32_t file_u32(const struct perfdata *pd, const void *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return pd->swap ? bswap_32(v) : v;
}
/* Header of the record at p, host endian. */
static inline struct perfdata_event_header record_header(const struct perfdata *pd,
							 const uint8_t *p)
{
	struct perfdata_event_header h;

	memcpy(&h, p, sizeof(h));
	if (pd->swap) {
		h.type = bswap_32(h.type);
		h.misc = bswap_16(h.misc);
		h.size = bswap_16(h.size);
	}
	return h;
}
/* The records of a run that are whole, each as h at p; what is not ends it. */
#define record_each(pd, p, h, end)                                                              \
	for (struct perfdata_event_header h;                                                    \
	     (end) - (p) >= 8 && (h = record_header(pd, p)).size >= 8 && h.size <= (end) - (p); \
	     (p) += h.size)
static inline bool record_in_kernel(uint16_t misc)
{
	unsigned mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_GUEST_KERNEL;
}
/* The layout a record is to be read with; NULL for an id nobody knows. */
const struct layout *decoder_layout(struct decoder *d, const uint8_t *p, uint32_t type,
				    uint32_t size);
/* false: the sample is damaged or of no known type. */
bool sample_decode(struct decoder *d, const uint8_t *p, struct perfdata_event_header h);
/* Deliver d->ev: once, or once for each counter of the group it read. */
int sample_deliver(struct decoder *d, event_fn *fn, void *ctx);
void side_decode(struct decoder *d, const uint8_t *p, struct perfdata_event_header h);
/* The time of any kernel record: 0 when it has none. */
uint64_t record_time(struct decoder *d, const uint8_t *p, struct perfdata_event_header h);

/* --- store/perfdata/scan.c and scan_parts.c --- */
struct scan {
	struct perfdata *pd;
	struct decoder d;
	uint32_t file;
	const uint8_t *base; /* of the file or unpacked block p lies in */
	uint64_t base_position;
	bool unpacked;
	bool part; /* not from the start: what needs more than the record itself ends it */
	struct err *e;
};

/*
 * Walk whole records from *at to the first one at or behind stop, no further than end; *at is
 * where it stopped.
 */
int scan_run(struct scan *s, const uint8_t **at, const uint8_t *stop, const uint8_t *end);

/*
 * Walk a large file in parts, by several threads; *at is where the rest begins, which may be all.
 */
int scan_parts(struct scan *s, const uint8_t **at, const uint8_t *end);
/* Less than this is not worth a thread; tests set it. */
extern size_t scan_part_bytes;

void side_apply(struct perfdata *pd);
void code_free(struct perfdata *pd);

/* --- store/perfdata/swap.c: h is the copy to change, its header done already --- */
void swap_words(void *p, size_t bytes);
void swap_record(struct perfdata_event_header *h, size_t tail);
void swap_attr(struct perf_event_attr *attr);
uint64_t swap_branch_flags(uint64_t v);

/* --- store/perfdata/read.c --- */
int read_chunk(struct source *s, size_t chunk, event_fn *fn, void *ctx, struct err *e);
int read_ordered(struct source *s, bool all, event_fn *fn, void *ctx, struct err *e);
/* The samples of all chunks up to a key, in order; the records of the others, in order, to rest. */
int read_until(struct perfdata *pd, uint64_t limit, struct strbuf *rest, event_fn *fn, void *ctx);
/* Damaged samples are counted the first time their chunk is read to its end. */
static inline void chunk_bad(struct perfdata *pd, const struct chunk *c)
{
	if (!__atomic_load_n(&c->counted, __ATOMIC_RELAXED))
		__atomic_fetch_add(&pd->trace.losses.bad_records, 1, __ATOMIC_RELAXED);
}
static inline void chunk_counted(struct chunk *c)
{
	__atomic_store_n(&c->counted, true, __ATOMIC_RELAXED);
}

/* --- store/perfdata/brief.c --- */
int read_brief(struct source *s, size_t chunk, event_brief_fn *fn, void *ctx);

/* --- store/perfdata/feature.c --- */
struct cursor {
	const uint8_t *p, *end;
	bool swap, bad;
};
uint32_t cursor_u32(struct cursor *c);
uint64_t cursor_u64(struct cursor *c);
const char *cursor_str(struct cursor *c); /* u32 length and that many bytes; "" when bad */
const uint8_t *cursor_bytes(struct cursor *c, uint64_t n); /* NULL and bad: not so many are left */
/* Several: 4 and 8 into uint32_t and uint64_t (NULL: left out), s into const char *. False: bad. */
bool cursor_take(struct cursor *c, const char *shape, ...);
void feature_sections(struct perfdata *pd);
void feature_parse(struct perfdata *pd);
struct cursor feature_cursor(const struct perfdata *pd, unsigned feature);
/* One entry of the BUILD_ID feature or a HEADER_BUILD_ID record, in file endian. */
void feature_build_id(struct perfdata *pd, const uint8_t *p, size_t size);
/* All of the list; they are applied by feature_parse(). */
void feature_build_ids(struct perfdata *pd);
const char *info_text(struct perfdata *pd);

/* --- store/perfdata/tracing.c --- */
void tracing_parse(struct perfdata *pd, const uint8_t *data, size_t size);
void tracing_finish(struct perfdata *pd);
/* "sched:sched_switch" by the number of its format; NULL when there is none. */
const char *tracing_name(struct perfdata *pd, uint64_t id);

/* --- store/perfdata/dump.c --- */
int perfdata_dump(struct source *s, const struct source_dump *o);
int perfdata_read_stored(struct source *s, bool all, event_fn *fn, void *ctx, struct err *e);

/* --- store/perfdata/unzip.c --- */
int unzip_record(struct perfdata *pd, const uint8_t *data, size_t size, uint32_t file,
		 uint64_t position, struct err *e);
void unzip_free(struct perfdata *pd);

__attribute__((format(printf, 2, 3))) void perfdata_note(struct perfdata *pd, const char *fmt, ...);
