/* SPDX-License-Identifier: MIT */
/* The record of a mapping, as the kernel writes it. */
#pragma once

#include <linux/perf_event.h>
#include <stdint.h>

/* With PERF_RECORD_MISC_MMAP_BUILD_ID it has a build-id, else the number of the file. */
struct mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	union {
		struct {
			uint8_t id_size, reserved[3], id[20];
		};
		struct {
			uint32_t maj, min;
			uint64_t ino, generation;
		} file;
	};
	uint32_t prot, flags;
	char name[];
};
