/* SPDX-License-Identifier: MIT */
/*
 * Writing trace.dat, version 6 or 7, so that trace-cmd and KernelShark open it.
 *
 * The pages of each CPU come from files that were filled while tracing; everything
 * else is texts of the kernel's own. The file is made under another name and takes
 * its place when it is whole.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

struct tracedat_out_cpu {
	uint32_t cpu;
	int fd;	       /* pages from its beginning; -1: none */
	uint64_t size; /* a multiple of the page size */
	/* pages that go before them (a ring of two files); -1: none */
	int older_fd;
	uint64_t older_size;
};

struct tracedat_out_buffer {
	const char *name;  /* "" for the first one */
	const char *clock; /* "local" */
	uint32_t page_size;
	const struct tracedat_out_cpu *cpus;
	size_t n_cpus;
	const struct strbuf *text; /* latency tracers: the trace as text, in place of pages; NULL */
	const struct strbuf *stats; /* one for each CPU, n_cpus of them; may be NULL */
	const pid_t *without;	    /* threads whose records are left out */
	size_t n_without;
};

struct tracedat_out {
	int version;		 /* 6 or 7 */
	const char *compression; /* version 7: "none", "zstd", "zlib" */
	uint32_t page_size;	 /* of the machine */
	uint32_t n_cpus;	 /* that the machine has */
	const char *uname, *tool;
	const char *clocks; /* trace_clock as the kernel shows it: "[local] global ..." */
	const char *date;   /* "0x..." microseconds from the clock to 1970; NULL: none */
	const char *offset; /* to be added to stamps, as a number; NULL: none */
	/* stamps are ticks: ns = ticks * tsc_mult >> tsc_shift; tsc_mult 0: no */
	uint32_t tsc_mult, tsc_shift;
	uint64_t trace_id;
	/* what processes had mapped, a text each (live/ftrace/maps.h) */
	char *const *maps;
	size_t n_maps;
	const char *const *hooks; /* events that report --profile takes together */
	size_t n_hooks;
	/* as the file has them, with numbers and sizes */
	struct strbuf header;				 /* header_page and header_event */
	struct strbuf ftrace;				 /* ftrace's formats */
	struct strbuf formats;				 /* systems and their formats */
	struct strbuf kallsyms, printk, cmdlines, tgids; /* the texts alone */
	struct tracedat_out_buffer *buffers;
	size_t n_buffers;
};

/* Whether this kymo can compress so. */
bool tracedat_can_pack(const char *compression);
/* "zstd", or what there is; "none". */
const char *tracedat_best_packing(void);

int tracedat_write(const char *path, const struct tracedat_out *o, struct err *e);
void tracedat_out_free(struct tracedat_out *o); /* the texts */
