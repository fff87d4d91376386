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
#ifndef KYMO_LIVE_RECORD_RECORD_H
#define KYMO_LIVE_RECORD_RECORD_H

#include "event/spec/spec.h"
#include "live/capture/capture.h"
#include "live/capture/idle.h"
#include "live/control.h"
#include "live/loop.h"
#include "live/record/out.h"
#include "live/target.h"
#include "live/walk/walked.h"
#include "live/workload.h"

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

#endif
