/* SPDX-License-Identifier: MIT */
/*
 * What record's files share: options (record.c, cmd/record/opts.c), the recording
 * (cmd/record/open.c, cmd/record/run.c), its file (cmd/record/out.c) and that file's completion
 * (cmd/record/end.c).
 */
#ifndef KYMO_CMD_RECORD_RECORD_H
#define KYMO_CMD_RECORD_RECORD_H

#include <pthread.h>

#include "base/str.h"
#include "base/vec.h"
#include "cmd/command.h"
#include "cmd/share/watching.h"
#include "event/spec/spec.h"
#include "live/about/about.h"
#include "live/about/keep.h"
#include "live/about/ksyms.h"
#include "live/capture/capture.h"
#include "live/capture/idle.h"
#include "live/capture/ring_records.h"
#include "live/control.h"
#include "live/loop.h"
#include "live/target.h"
#include "live/walk/walked.h"
#include "live/workload.h"
#include "store/perfdata/write.h"

#define RECORD_MAX_SPANS 32

struct record_args {
	struct spec_list events, triggers;
	struct target_opts target;
	struct capture_opts capture;
	const char *cgroups, *output, *control, *duration;
	const char *chain_default; /* hidden: how -g finds callers, of the configuration */
	const char *regs_list;	   /* of -I?: print it and leave */
	bool no_summary; /* hidden: the recording is not what the user asked for, a picture is */
	bool no_inherit, quiet, no_buildid, no_cache, buildid_all, dry_run, group;
	bool timestamp_file, tail_synth, strict_freq;
	uint64_t off_thresh_ms, off_room;
	int exclude_perf; /* 1: yes, -1: no, 0: where it does no harm */
	int verbose, zstd_level, threads, switch_max_files, realtime;
	uint64_t max_size, limit_ns;
	struct {
		bool none, no_tasks, no_maps, no_cgroups;
	} synth;
	/* of -D: when to record, in ms from the start; the end of the last may be 0, never */
	struct {
		uint64_t from, to;
	} span[RECORD_MAX_SPANS];
	unsigned n_spans;
	bool delayed; /* begin switched off */
	/* of --switch-output */
	bool switch_signal;
	uint64_t switch_bytes, switch_ns;
	char **cmdline; /* kymo's own words */
};

/* The file (or files, one after the other) that a recording goes to. */
struct record_out {
	const struct record_args *a;
	struct capture *capture;
	struct walked *walked; /* NULL: the kernel makes the samples */
	struct idle *idle;
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
};

/* --- cmd/record/opts.c --- */
opt_fn record_on_event, record_on_filter, record_on_freq, record_on_chain, record_on_g,
	record_on_mmap, record_on_clock, record_on_zstd, record_on_switch, record_on_max_size,
	record_on_branch, record_on_period, record_on_regs, record_on_delay, record_on_synth,
	record_on_exclude, record_on_trigger;

/* --- cmd/record/perf.c --- */
opt_fn record_on_threads, record_on_refused;

/* --- cmd/record/out.c --- */
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

/* --- cmd/record/end.c --- */
/* Takes the writer over and completes the file, as name (NULL: as it is), in the background. */
int record_end_start(struct record_out *o, const char *name, struct err *e);
/* Wait for it; its counts are added to o. */
int record_end_wait(struct record_out *o, struct err *e);

/* --- cmd/record/open.c --- */
struct recording {
	struct record_args *a;
	struct target target;
	struct capture capture, triggers;
	struct walked walked; /* walker NULL: the kernel makes the samples */
	struct idle idle;
	struct record_out out;
	struct loop loop;
	struct control control;
	struct workload child;
	uint64_t wakeups;
	bool busy; /* much came the last time */
	int exit_code, signal;
	bool stopped, enabled;
	struct watching watching;
};

/* Everything but the command, which waits for its start. */
int record_open(struct recording *r, char **argv, struct err *e);

/* --- cmd/record/off.c: --off-cpu --- */
int record_off_prepare(struct record_args *a, struct err *e);
void record_off_flush(struct recording *r);
int record_off_wakers(struct recording *r, struct err *e);
void record_off_tell(const struct recording *r);

/* --- cmd/record/run.c --- */
int record_enable(struct recording *r, struct err *e);
int record_run(struct record_args *a, char **argv, struct err *e);

#endif
