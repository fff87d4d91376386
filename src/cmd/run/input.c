/* SPDX-License-Identifier: MIT */
/* kymo run -i: the same program over a recording. */
#include <string.h>

#include "base/file.h"
#include "base/guard.h"
#include "calc/program/replay.h"
#include "cmd/command.h"
#include "cmd/run/run.h"
#include "cmd/share/input.h"
#include "view/run/show.h"

struct run_input {
	const struct run_input_opts *o;
	int write_error;
};

static bool run_input_write(void *ctx, struct lang_out *out)
{
	struct run_input *r = ctx;
	int k = 0;

	fputs(strbuf_str(&out->errors), stderr);
	if (out->text.n && !r->write_error)
		k = r->o->guard ? file_write_all(r->o->out_fd, out->text.data, out->text.n)
				: guard_write(r->o->out_fd, out->text.data, out->text.n);
	if (k < 0)
		r->write_error = -k;
	return !r->write_error;
}

static int run_input_replay(struct source *s, struct lang_program *p,
			    const struct run_input_opts *o, int *code, struct err *e)
{
	struct run_input input = { .o = o };
	struct replay_opts replay = { .source = s,
				      .program = p,
				      .printer = &show_printer,
				      .json = o->json,
				      .guard = o->guard,
				      .write = run_input_write,
				      .ctx = &input };
	struct input_kernel kernel = { 0 };
	AUTO_STRBUF notes = { 0 };
	const char *note;
	int k;

	replay.symbols =
		symbols_new(&(struct symbols_opts){ .find = input_find(s, input_symfs(NULL)) });
	input_kernel_symbols(s, &kernel, replay.symbols, &note, e);
	k = replay_run(&replay, code, &notes, e);
	run_say_notes(&notes);
	if (k == 0)
		input_warn(s);
	if (k == 0 && input.write_error && input.write_error != EPIPE)
		k = err_set(e, input.write_error, "cannot write the output: %s",
			    strerror(input.write_error));
	symbols_free(replay.symbols);
	return k;
}

int run_input(const char *path, const struct lang_source *src, const struct run_input_opts *o,
	      int *code, struct err *e)
{
	struct lang_program *p = NULL;
	struct lang_env env;
	struct source *s;
	int k = input_open(path, &s, e);

	if (k < 0)
		return k;
	replay_env(s, &env);
	k = o->compile(o->ctx, &env, src, &p, e);
	if (k == 0 && p->stack_depth)
		input_unwind(&s, input_symfs(NULL));
	if (k == 0 && !o->only_compile)
		k = run_input_replay(s, p, o, code, e);
	lang_program_free(p);
	source_close(s);
	return k;
}
