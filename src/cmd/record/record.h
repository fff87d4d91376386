/* SPDX-License-Identifier: MIT */
/*
 * kymo record's options (opts.c), how a recording is begun and ended (run.c), and what is
 * said of it (say.c). Who draws what was recorded just now fills the same options, and calls
 * record_run().
 */
#pragma once

#include "cmd/command.h"
#include "cmd/share/watching.h"
#include "live/record/record.h"

struct record_args {
	struct record_opts o;
	const char *cgroups, *duration;
	const char *chain_default; /* hidden: how -g finds callers, of the configuration */
	const char *regs_list;	   /* of -I?: print it and leave */
	bool no_summary;	   /* the recording is not what the user asked for, a picture is */
	bool quiet, dry_run, group, strict_freq;
	bool begun; /* defaults and settings are there */
	uint64_t off_thresh_ms, off_room;
	int verbose;
};

/* --- record.c --- */
/* For other commands that record: what holds where nothing is said, once. */
void record_args_begin(struct record_args *a);
/* One of record's options, by its long name. */
int record_args_set(struct record_args *a, const char *name, const char *value, bool unset,
		    struct err *e);
void record_args_drop(void *args); /* a struct record_args */

/* --- opts.c --- */
opt_fn record_on_event, record_on_filter, record_on_freq, record_on_chain, record_on_g,
	record_on_mmap, record_on_clock, record_on_zstd, record_on_switch, record_on_max_size,
	record_on_branch, record_on_period, record_on_regs, record_on_delay, record_on_synth,
	record_on_exclude, record_on_trigger, record_on_threads;

/* --- run.c --- */
/*
 * What the options mean together, then the recording. command: NULL: none. *exit_code: the
 * command's, or the shell's where it cannot be run, which is a failure, too.
 */
int record_run(struct record_args *a, char **command, int *exit_code, struct err *e);

/* --- say.c --- */
/* As they were opened, with -v. */
void record_say_opened(const struct record_args *a, const struct recording *r);
/* record_listen's. */
void record_say_events(void *ctx, const struct recording *r, const char *how);
/* What is lost, and what its stacks lack: when all is in the file. */
void record_say_end(const struct record_args *a, struct recording *r);
void record_say_result(const struct record_args *a, struct recording *r);
