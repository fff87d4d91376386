/* SPDX-License-Identifier: MIT */
/*
 * The records of perf.data as they lie in memory, and as text.
 */
#pragma once

#include "base/str.h"
#include "store/perfdata/abi.h"

struct rec_mmap {
	struct perfdata_event_header h;
	uint32_t pid, tid;
	uint64_t start, size, pgoff;
	char path[];
};
struct rec_mmap2 {
	struct perfdata_event_header h;
	uint32_t pid, tid;
	uint64_t start, size, pgoff;
	union {
		struct {
			uint32_t maj, min;
			uint64_t ino, ino_generation;
		};
		struct {
			uint8_t build_id_size, reserved[3];
			uint8_t build_id[20];
		};
	};
	uint32_t prot, flags;
	char path[];
};
struct rec_comm {
	struct perfdata_event_header h;
	uint32_t pid, tid;
	char comm[];
};
struct rec_fork {
	struct perfdata_event_header h;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};
struct rec_lost {
	struct perfdata_event_header h;
	uint64_t id, lost;
};
struct rec_u64 {
	struct perfdata_event_header h;
	uint64_t value;
};
struct rec_aux {
	struct perfdata_event_header h;
	uint64_t offset, size, flags;
};
struct rec_task {
	struct perfdata_event_header h;
	uint32_t pid, tid;
};
struct rec_ksymbol {
	struct perfdata_event_header h;
	uint64_t addr;
	uint32_t len;
	uint16_t type, flags;
	char name[];
};
struct rec_bpf {
	struct perfdata_event_header h;
	uint16_t type, flags;
	uint32_t id;
	uint8_t tag[8];
};
struct rec_cgroup {
	struct perfdata_event_header h;
	uint64_t id;
	char path[];
};
struct rec_namespaces {
	struct perfdata_event_header h;
	uint32_t pid, tid;
	uint64_t n;
	struct {
		uint64_t dev, ino;
	} of[];
};
struct rec_text_poke {
	struct perfdata_event_header h;
	uint64_t addr;
	uint16_t old_len, new_len;
	uint8_t bytes[];
};

/* The text at p if it ends within the record, else NULL. */
static inline const char *record_text(const struct perfdata_event_header *h, const char *p)
{
	const char *end = (const char *)h + h->size;

	return p < end && __builtin_memchr(p, 0, (size_t)(end - p)) ? p : NULL;
}

/* "MMAP2", "FINISHED_ROUND"; NULL when not known. */
const char *records_name(uint32_t type);

/* "PERF_RECORD_COMM exec: ls:12/12\n": a whole record in perf's words; h is host endian. */
void records_text(const struct perfdata_event_header *h, struct strbuf *b);
/*
 * The fields of a record, one character each: 2, 4 and 8 are integers of that size, b is a byte, s
 * is text up to the trailer, * repeats the field before it up to the trailer.
 */
const char *records_shape(uint32_t type);
/* Has it all fields of its shape before those that need not be there? */
bool records_whole(const struct perfdata_event_header *h);
