/* SPDX-License-Identifier: MIT */
/* What the files of kymo run share. */
#pragma once

#include "base/vec.h"
#include "live/run/env.h"
#include "live/run/run.h"

/* How a program is run, beside what it is run with. */
struct run_manner {
	bool verbose; /* the verifier's words when it refuses */
	bool quiet;
	const char *record; /* keep the events in this file too; NULL: no */
};
/* Loads, attaches and runs to the end; what was lost is told. *code: to exit with. */
int run_compiled(struct lang_program *p, struct run_env *env, const struct run_opts *o,
		 const struct run_manner *m, int *code, struct err *e);
/* What a session must say, one line each. */
void run_say_notes(const struct strbuf *notes);

/* Where headers are looked for: beside what includes them, and in these. */
struct run_includes {
	const char *program; /* its path; NULL: it has none */
	struct vec_strs dirs;
};
/* lang_source's include; ctx is a struct run_includes. */
char *run_include(void *ctx, const char *from, const char *name, bool quoted, size_t *n,
		  char **path);

/* Probes that fit a pattern, one a line; with their arguments when verbose. */
int run_list(struct run_env *env, const char *pattern, bool verbose, struct err *e);

struct run_input_opts {
	int out_fd;
	bool json, only_compile;
	bool guard; /* as in struct run_opts */
	/* Compiles, and shows what was wrong. */
	int (*compile)(void *ctx, const struct lang_env *env, const struct lang_source *src,
		       struct lang_program **ret, struct err *e);
	void *ctx;
};
int run_input(const char *path, const struct lang_source *src, const struct run_input_opts *o,
	      int *code, struct err *e);

struct run_record {
	pid_t pid; /* of who records; 0: nobody does */
	int control, ack;
};
/* What the program's probes will see goes to a file from now on, until it is stopped. */
int run_record_start(struct run_record *r, const struct lang_program *p, const char *path,
		     bool quiet, struct err *e);
int run_record_stop(struct run_record *r, struct err *e);
