/* SPDX-License-Identifier: MIT */
/*
 * Records about what was there before the recording began: tasks and their
 * mappings from /proc, the kernel's and its modules' places. They look like the
 * kernel's own, with time 0.
 */
#ifndef KYMO_LIVE_SYNTH_H
#define KYMO_LIVE_SYNTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "sym/elf.h"

/* Takes a whole record: struct perf_event_header and what follows. */
typedef int synth_fn(void *ctx, const void *record, size_t n, struct err *e);

struct synth_opts {
	size_t id_size;	      /* bytes of sample_id that every record ends with (sample_id_all) */
	uint64_t sample_type; /* that fills them */
	uint64_t event_id;    /* of the event that tracks tasks */
	bool data_maps;	      /* data mappings too (-d) */
};

/* The kernel and its modules; nothing when addresses are hidden from this user. */
int synth_kernel(const struct synth_opts *o, synth_fn *fn, void *ctx, struct err *e);
/* A process: names of all its threads, and its mappings. One that has gone is no error. */
int synth_process(const struct synth_opts *o, pid_t pid, synth_fn *fn, void *ctx, struct err *e);
int synth_all(const struct synth_opts *o, synth_fn *fn, void *ctx, struct err *e);

/* Size of the sample_id trailer that sample_type makes. */
size_t synth_id_size(uint64_t sample_type);

/* The running kernel's build-id, from /sys/kernel/notes. */
bool synth_kernel_build_id(struct build_id *ret);

#endif
