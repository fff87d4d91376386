/* SPDX-License-Identifier: MIT */
/* The file that a recording goes to, written (out.c) and completed (end.c). */
#ifndef KYMO_LIVE_RECORD_OUT_H
#define KYMO_LIVE_RECORD_OUT_H

#include <pthread.h>

#include "base/str.h"
#include "live/about/keep.h"
#include "live/about/ksyms.h"
#include "live/capture/capture.h"
#include "live/capture/idle.h"
#include "live/capture/ring.h"
#include "live/walk/walked.h"
#include "store/perfdata/write.h"

struct record_opts;

/* The file (or files, one after the other) that a recording goes to. */
struct record_out {
	const struct record_opts *opts;
	struct capture *capture;
	struct walked *walked; /* NULL: the kernel makes the samples */
	struct idle_hits *idle;
	struct perfdata_writer *w;
	const char *tracefs; /* NULL: no tracepoints */
	char *path;	     /* of the file being written; NULL on a pipe */
	bool pipe;
	struct ksyms ksyms;
	struct keep *keep; /* NULL: -N */
	/*
	 * Going on in another file: who runs and what is mapped, looked up before the last records
	 * of this one are taken, and all that tells of tasks from then on. So the next file knows
	 * every task that its samples can be of.
	 */
	struct strbuf next;
	struct ring_records pieces, *ring_pieces; /* of what is written; by ring, with threads */
	unsigned threads;			  /* that empty the rings */
	pthread_mutex_t lock;			  /* for keep and next */
	bool looking_up, gathering;
	bool counting;	  /* somebody wants to know how many samples there are */
	uint64_t counted; /* so many */
	struct strbuf early[PERFDATA_FEATURE_END]; /* features that are the same in each file */
	bool described;
	uint64_t files;	  /* begun so far */
	uint64_t start;	  /* size of this one when it was begun: what tells of tasks */
	uint64_t rounded; /* and when its last round ended */
	uint64_t synth_drained;
	uint64_t wall_ns, clock_ns;
	/* a finished file being completed by a thread of its own */
	struct record_end *end;
	uint64_t bytes, samples; /* in all completed files */
	char *last;		 /* name of the last one */
	char **kept;		 /* names of finished files, when only the newest are kept */
	uint64_t *told;		 /* losses that were told in files so far, by event */
	size_t n_kept;
	void (*wrote)(void *ctx, const char *name); /* a file that got a name with the time */
	void *ctx;
};

int record_out_open(struct record_out *o, struct err *e);
/* Whole records. */
int record_out_bytes(void *o, const void *data, size_t n, struct err *e);
/* All that is in the rings now. Returns bytes. */
int64_t record_out_drain(struct record_out *o, struct err *e);
/* A record about a task, which may be one of many: rings are looked at meanwhile. */
int record_out_synth(void *o, const void *data, size_t n, struct err *e);
/* After each look at all rings. */
int record_out_round(struct record_out *o, struct err *e);
/* Complete the file: build-ids, features, header; failed: make the best of what is there. */
int record_out_close(struct record_out *o, bool failed, struct err *e);
/* Complete it under a name with the time, and begin the next. */
int record_out_next(struct record_out *o, struct err *e);
/* Forget what is in the file, and begin it anew. */
int record_out_restart(struct record_out *o, struct err *e);
/* How much was recorded into this file, without what stands at its start. */
uint64_t record_out_size(const struct record_out *o);
void record_out_free(struct record_out *o);

/* --- end.c --- */
/* Takes the writer over and completes the file, as name (NULL: as it is), in the background. */
int record_end_start(struct record_out *o, const char *name, struct err *e);
/* Wait for it; its counts are added to o. */
int record_end_wait(struct record_out *o, struct err *e);

#endif
