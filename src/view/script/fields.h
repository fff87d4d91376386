/* SPDX-License-Identifier: MIT */
/*
 * Which fields `script` shows, for each class of events: perf's defaults, changed
 * by -F, checked against what the recording has.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "event/trace.h"

#define SCRIPT_COMM (1ull << 0)
#define SCRIPT_TID (1ull << 1)
#define SCRIPT_PID (1ull << 2)
#define SCRIPT_TIME (1ull << 3)
#define SCRIPT_CPU (1ull << 4)
#define SCRIPT_EVENT (1ull << 5)
#define SCRIPT_TRACE (1ull << 6)
#define SCRIPT_IP (1ull << 7)
#define SCRIPT_SYM (1ull << 8)
#define SCRIPT_DSO (1ull << 9)
#define SCRIPT_ADDR (1ull << 10)
#define SCRIPT_SYMOFF (1ull << 11)
#define SCRIPT_SRCLINE (1ull << 12)
#define SCRIPT_PERIOD (1ull << 13)
#define SCRIPT_IREGS (1ull << 14)
#define SCRIPT_UREGS (1ull << 15)
#define SCRIPT_BRSTACK (1ull << 16)
#define SCRIPT_BRSTACKSYM (1ull << 17)
#define SCRIPT_BRSTACKOFF (1ull << 18)
#define SCRIPT_DATA_SRC (1ull << 19)
#define SCRIPT_WEIGHT (1ull << 20)
#define SCRIPT_BPF_OUTPUT (1ull << 21)
#define SCRIPT_PHYS_ADDR (1ull << 22)
#define SCRIPT_MISC (1ull << 23)
#define SCRIPT_SRCCODE (1ull << 24)
#define SCRIPT_TOD (1ull << 25)
#define SCRIPT_DATA_PAGE_SIZE (1ull << 26)
#define SCRIPT_CODE_PAGE_SIZE (1ull << 27)
#define SCRIPT_INS_LAT (1ull << 28)
#define SCRIPT_RETIRE_LAT (1ull << 29)
#define SCRIPT_FLAGS (1ull << 30)
#define SCRIPT_CGROUP (1ull << 31)
#define SCRIPT_METRIC (1ull << 32)

struct script_fields {
	struct {
		uint64_t show;
		uint64_t asked, refused; /* what the user named with or without '-' */
		bool set;		 /* the user named fields for this class */
		bool by_name;		 /* and the class: it must be there */
	} of[TYPE_CLASSES];
};

void script_fields_init(struct script_fields *f);
/* One -F argument. notes (may be NULL) gets lines about what was left out. */
int script_fields_parse(struct script_fields *f, const char *arg, struct strbuf *notes,
			struct err *e);
/* Take away what the recording does not have; notes gets a line for what was asked for by name. */
int script_fields_check(struct script_fields *f, const struct trace *t, bool chains,
			struct strbuf *notes, struct err *e);
/* Every field with its meaning, a line each, for -F help. */
void script_fields_help(struct strbuf *b);
