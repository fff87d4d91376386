/* SPDX-License-Identifier: MIT */
/*
 * A tracing program at work: loaded, attached, its messages printed, its maps shown.
 *
 *	lang_compile(..., &env.env, ..., &program, ...);
 *	run_open(program, &env, &opts, &run, e);
 *	run_go(run, e);                            // until exit(), a signal or the command's end
 *	run_close(run);
 *
 * Nothing stays attached when it is closed, or when the process dies.
 */
#pragma once

#include "lang/out.h"
#include "live/run/env.h"
#include "live/walk/walker.h"
#include "live/workload.h"

struct run;

/* When text is written: soon, after each message, with each line, or when there is much. */
enum run_buffer { RUN_BUFFER_SOON, RUN_BUFFER_NONE, RUN_BUFFER_LINE, RUN_BUFFER_FULL };

struct run_opts {
	enum run_buffer buffer;
	int out_fd;			    /* where text goes */
	const struct lang_printer *printer; /* who makes it; NULL: only with dry */
	bool json;
	bool quiet;	   /* no "Attaching ..." */
	bool escape;	   /* control characters in texts */
	bool guard;	   /* the program's own text may drive the terminal, nothing else */
	bool plain;	   /* no empty lines before the maps, as bpftrace has */
	bool dry;	   /* load, but do not run */
	bool verbose;	   /* run_about() will be called */
	bool self;	   /* what kymo itself does, too */
	bool no_sideband;  /* user stacks by frame pointers, names from /proc alone */
	int32_t pid;	   /* of -p; 0: none */
	uint64_t limit_ns; /* end after so long; 0: never */
	char **command;	   /* of -c; NULL: none */
	/* Begun already, for a program that may want it; taken over like child. NULL: none is. */
	struct run_walker *walker;
	struct workload child; /* the same, prepared; run_open takes it over, also on failure */
	void (*attached)(void *ctx); /* when all is in place; may be NULL */
	void *ctx;
};

/* Loads maps and programs. When the kernel refuses one, e names the source line, and *log (caller
 * frees) has its words. */
int run_open(struct lang_program *p, struct run_env *env, const struct run_opts *o,
	     struct run **ret, char **log, struct err *e);
/* Attaches, runs until the end, prints the maps. *code: what kymo is wanted to exit with. */
int run_go(struct run *r, int *code, struct err *e);
/* What was loaded: maps, programs with the verifier's words, what each is attached to and how. */
void run_about(const struct run *r, struct strbuf *b);
/* What must be said: lost messages, full maps. One line each. */
void run_notes(const struct run *r, struct strbuf *b);
void run_close(struct run *r);

/* What the running kernel can do for tracing programs, in words (kymo run --info). */

void run_info(struct run_env *env, struct strbuf *b);
int run_task_map(void); /* live/run/task_maps.c: one that keeps values with threads */

/* A stack walker opened in a thread while the program that will call it is compiled, which takes
 * as long. */

struct run_walker;

/* pid: whose tables are wanted at once; 0: nobody's. NULL when there can be no thread. */
struct run_walker *run_walker_begin(int32_t pid);
/* How many frames are wanted: it waits for that; 0: it is not wanted at all. */
void run_walker_depth(struct run_walker *r, uint32_t depth);
/* Waits until walker_function() works, and nothing else yet; NULL: that cannot be had. */
struct walker *run_walker_loaded(struct run_walker *r);
/* Waits until it is complete and hands it over; NULL: why says it. r is freed. */
struct walker *run_walker_end(struct run_walker *r, struct err *why);
/* It was not needed. NULL is fine. */
void run_walker_cancel(struct run_walker *r);
