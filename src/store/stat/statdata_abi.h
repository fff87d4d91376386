/* SPDX-License-Identifier: MIT */
/* The records of counts, shared by their reader and writer. */
#ifndef KYMO_STORE_STATDATA_ABI_H
#define KYMO_STORE_STATDATA_ABI_H

#include <stdint.h>

struct statdata_thread {
	uint64_t tid;
	char name[16];
};

struct statdata_term {
	uint64_t tag, value;
};
enum { STATDATA_TAG_BY, STATDATA_TAG_INTERVAL, STATDATA_TAG_SCALE };

struct statdata_count {
	uint64_t id;
	uint32_t cpu, thread; /* thread: its place in the map */
	uint64_t value, enabled, running;
};

struct statdata_round {
	uint64_t type, time;
};
enum { STATDATA_INTERVAL, STATDATA_FINAL };

#endif
