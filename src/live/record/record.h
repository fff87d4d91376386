/* SPDX-License-Identifier: MIT */
/*
 * A recording: options in, a perf.data file (or several, or a stream) out. It prints nothing:
 * failures go up by struct err, what a user should know of goes to the notes of struct
 * record_listen, and what there is to say at the end is read from struct recording.
 *
 *	record_open() -> record_start() -> record_loop() -> record_stop() -> record_close()
 *	-> record_free()
 *
 * Bytes of a ring go to the file unread, where nobody has asked to look at them.
 */
#pragma once

#include <pthread.h>

#include "base/str.h"
#include "event/spec/spec.h"
#include "live/about/keep.h"
#include "live/about/ksyms.h"
#include "live/capture/capture.h"
#include "live/capture/idle.h"
#include "live/capture/ring.h"
#include "live/control.h"
#include "live/loop.h"
#include "live/target.h"
#include "live/walk/walked.h"
#include "live/workload.h"
#include "store/perfdata/write.h"

#define RECORD_MAX_SPANS 32

struct record_opts {
	struct spec_list events, triggers; /* triggers: when they happen, the next file begins */
	struct target_opts target;
	struct capture_opts capture;
	const char *output;  /* NULL: perf.data; "-": a stream to standard output */
	const char *control; /* as control_open() takes it; NULL: none */
	bool no_inherit, no_buildid, no_cache, buildid_all;
	bool timestamp_file, tail_synth;
	int exclude_perf; /* 1: yes, -1: no, 0: where it does no harm */
	int zstd_level, threads, switch_max_files, realtime;
	uint64_t max_size, limit_ns; /* 0: none */
	struct {
		bool none, no_tasks, no_maps, no_cgroups;
	} synth;
	/* of -D: when to record, in ms from the start; the end of the last may be 0, never */
	struct {
		uint64_t from, to;
	} span[RECORD_MAX_SPANS];
	unsigned n_spans;
	bool delayed; /* begin switched off */
	/* when to go on in another file */
	bool switch_signal;
	uint64_t switch_bytes, switch_ns;
	char **cmdline; /* kymo's own words, for the header; NULL: not told */
};

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

struct recording;

/* What is told while it is recorded; each may be NULL. */
struct record_listen {
	/* A line for the user. urgent: also for one who wants no messages. */
	void (*note)(void *ctx, bool urgent, const char *text);
	/* Twice a second. */
	void (*tick)(void *ctx, const struct recording *r);
	/* --control asks for the events; how is what stood behind the word. */
	void (*list)(void *ctx, const struct recording *r, const char *how);
	void *ctx;
};

struct recording {
	struct record_opts *opts;
	struct record_listen listen;
	struct target target;
	struct capture capture, triggers;
	struct walked walked; /* walker NULL: the kernel makes the samples */
	struct idle_hits idle;
	struct record_out out;
	struct loop loop;
	struct control control;
	struct workload child;
	char **argv; /* its words; NULL: no command */
	uint64_t wakeups;
	bool busy; /* much came the last time */
	int exit_code, signal;
	bool stopped, enabled, started;
};

/*
 * Opens everything, and begins the file with what runs and what is mapped. argv: a command that
 * will be run; NULL: none. The events of o may get more, lose some and change their names; o must
 * outlive r. After a failure, too, r goes to record_close() and record_free(). r->exit_code is
 * the shell's code where the command cannot be run.
 */
int record_open(struct recording *r, struct record_opts *o, char **argv,
		const struct record_listen *listen, struct err *e);
/* Lets the command run. */
int record_start(struct recording *r, struct err *e);
/* Until it is over, or a signal ends it. */
int record_loop(struct recording *r, struct err *e);
/* Nothing more is recorded; what the rings still have goes to the file. failed: only the first. */
int record_stop(struct recording *r, bool failed, struct err *e);
/* Completes the file, and waits for the command. A file for a command that never ran is dropped. */
int record_close(struct recording *r, bool failed, struct err *e);
void record_free(struct recording *r);

/* --- out.c, drain.c --- */
int record_out_open(struct record_out *o, struct err *e);
/* Whole records. */
int record_out_bytes(void *o, const void *data, size_t n, struct err *e);
/* All that is in the rings now. Returns bytes. */
int64_t record_out_drain(struct record_out *o, struct err *e);
/* How many threads are worth it for so many rings; 1: none but the caller's. */
unsigned record_drain_threads(size_t rings);
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

/* --- of the engine's own files --- */
/* What its loop is told by. */
enum record_wakeup {
	RECORD_WATCH_RING,
	RECORD_WATCH_WALKER,
	RECORD_WATCH_CONTROL,
	RECORD_WATCH_TRIGGER,
	RECORD_TIMER_ENABLE,
	RECORD_TIMER_DISABLE,
	RECORD_TIMER_SWITCH,
	RECORD_TIMER_FLUSH,
	RECORD_TIMER_END,
};
__attribute__((format(printf, 3, 4))) void record_note(const struct recording *r, bool urgent,
						       const char *fmt, ...);
int record_enable(struct recording *r, struct err *e);
