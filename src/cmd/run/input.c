/* SPDX-License-Identifier: MIT */
/* kymo run -i: the same program over a recording. And the headers that a program includes. */

#include "base/file.h"
#include "base/guard.h"
#include "calc/program/replay.h"
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

/* --- headers of a program --- */

#define HEADER_MAX (4u << 20)

static char *run_include_text_of(char *path, size_t *n, char **found)
{
	char *text = NULL;

	if (file_read_input(path, HEADER_MAX, &text, n) < 0) {
		free(path);
		return NULL;
	}
	*found = path;
	return text;
}

/*
 * Headers of the C library and others that are installed are not read: what they define may be
 * known by other names here than there. -I /usr/include reads them.
 */
static bool is_of_system(const char *name)
{
	static const char *const dirs[] = { "/usr/include", "/usr/local/include" };

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		AUTO_FREE char *path = mem_printf("%s/%s", dirs[i], name);

		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

char *run_include(void *ctx, const char *from, const char *name, bool quoted, size_t *n,
		  char **path)
{
	const struct run_includes *in = ctx;
	const char *file = from ? from : in->program, *slash = file ? strrchr(file, '/') : NULL;
	char *text = NULL;

	if (*name == '/')
		return run_include_text_of(mem_strdup(name), n, path);
	if (quoted)
		text = run_include_text_of(
			slash ? mem_printf("%.*s/%s", (int)(slash - file), file, name)
			      : mem_strdup(name),
			n, path);
	for (size_t i = 0; i < in->dirs.n && !text; i++)
		text = run_include_text_of(mem_printf("%s/%s", in->dirs.data[i], name), n, path);
	if (!text && !quoted && is_of_system(name)) {
		text = mem_strdup("");
		*n = 0;
	}
	return text;
}
