/* SPDX-License-Identifier: MIT */
/* Numbers that stand in trace.dat files. */
#pragma once

#include <stdint.h>

#define TRACEDAT_MAGIC "\x17\x08\x44tracing"
#define TRACEDAT_MAGIC_SIZE 10

/* In the text of a TRACEDAT_CPUSTAT, with the reason behind it: this CPU was not recorded to the
 * end. */
#define TRACEDAT_STOPPED "recording stopped too soon: "

/* Options, and in version 7 sections too. */
enum {
	TRACEDAT_DONE = 0,
	TRACEDAT_DATE = 1,
	TRACEDAT_CPUSTAT = 2,
	TRACEDAT_BUFFER = 3,
	TRACEDAT_TRACECLOCK = 4,
	TRACEDAT_UNAME = 5,
	TRACEDAT_HOOK = 6,
	TRACEDAT_OFFSET = 7,
	TRACEDAT_CPUCOUNT = 8,
	TRACEDAT_VERSION = 9,
	TRACEDAT_PROCMAPS = 10,
	TRACEDAT_TRACEID = 11,
	TRACEDAT_TIME_SHIFT = 12,
	TRACEDAT_GUEST = 13,
	TRACEDAT_TSC2NSEC = 14,
	TRACEDAT_STRINGS = 15,
	TRACEDAT_HEADER_INFO = 16,
	TRACEDAT_FTRACE_EVENTS = 17,
	TRACEDAT_EVENT_FORMATS = 18,
	TRACEDAT_KALLSYMS = 19,
	TRACEDAT_PRINTK = 20,
	TRACEDAT_CMDLINES = 21,
	TRACEDAT_BUFFER_TEXT = 22,
	TRACEDAT_SAVED_TGIDS = 23,
};

/* Before each section of version 7. */
struct tracedat_section {
	uint16_t id, flags;
	uint32_t description; /* offset into the strings */
	uint64_t size;	      /* of what follows */
};
#define TRACEDAT_COMPRESSED 1u
