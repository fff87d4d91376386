/* SPDX-License-Identifier: MIT */
/*
 * A program of the language over the events of a source, in user space.
 *
 *	replay_env(source, &env);
 *	lang_compile(..., &env, ..., &program, ...);
 *	replay_run(&(struct replay_opts){ ... }, &code, &notes, e);
 *
 * Probes are hit in the order of time; intervals go by the time of the events.
 */
#pragma once

#include "event/trace.h"
#include "lang/out.h"
#include "sym/names/sym.h"

struct replay_opts {
	struct source *source;
	struct lang_program *program;
	struct symbols *symbols; /* for the addresses of stacks */
	const struct lang_printer *printer;
	bool json, guard;   /* as in struct lang_out */
	uint64_t max_steps; /* of a hit, in instructions; 0: as lang/vm/vm.h has it */
	/* Writes what o->text and o->errors have, now and then and at the end; false: no more. */
	bool (*write)(void *ctx, struct lang_out *o);
	void *ctx;
};

/* What programs may ask of a recording. */
void replay_env(struct source *s, struct lang_env *env);
/* *code: to exit with. notes: what must be said, one line each. */
int replay_run(const struct replay_opts *o, int *code, struct strbuf *notes, struct err *e);
