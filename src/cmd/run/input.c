/* SPDX-License-Identifier: MIT */
/*
 * kymo run -i: the same program over a recording. --record: what its probes see is also kept in a
 * file, for other questions. And the headers that a program includes.
 */
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/guard.h"
#include "calc/program/replay.h"
#include "cmd/record/record.h"
#include "cmd/run/run.h"
#include "cmd/share/event_opts.h"
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

/* --- --record: another process records the whole machine while the probes are attached --- */

/* The events of its probes, each once. */
static int run_record_events(const struct lang_program *p, struct spec_list *ret, struct err *e)
{
	vec_each (&p->points, pt) {
		AUTO_STRBUF b = { 0 };
		bool known = false;

		if (lang_kinds[pt->kind].flags & LANG_KIND_OWN)
			continue;
		if (!lang_point_event(pt, &b)) {
			err_set(e, EOPNOTSUPP, "%s cannot be recorded", pt->text);
			return err_hint(e, "tracepoint, profile, software and hardware probes can");
		}
		for (size_t i = 0; i < ret->n && !known; i++)
			known = strcmp(ret->spec[i].text, strbuf_str(&b)) == 0;
		if (!known && spec_parse(ret, strbuf_str(&b), events_env(), e) < 0)
			return -e->code;
	}
	if (!ret->n) {
		err_set(e, EINVAL, "the program has no probes whose events could be recorded");
		return err_hint(e, "tracepoint, profile, software and hardware probes have some");
	}
	return 0;
}

static int run_record_say(struct run_record *r, const char *word, struct err *e)
{
	char answer[8];

	if (write(r->control, word, strlen(word)) < 0 || read(r->ack, answer, sizeof(answer)) <= 0)
		return err_set(e, EPIPE, "the recording could not be started");
	return 0;
}

static void run_record_child(struct record_args *a)
{
	struct err e = { 0 };
	int code, exit_code = 0;

	/* Ctrl-C is for the program; this ends when the program has, or has died. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	code = record_run(a, NULL, &exit_code, &e);
	if (code < 0)
		exit_code = command_error("run --record", &e);
	fflush(NULL);
	_exit(exit_code);
}

/* All of the machine, from when it is told to. */
static int run_record_args(struct record_args *a, const struct lang_program *p, const char *path,
			   bool quiet, struct err *e)
{
	record_args_begin(a);
	a->o.target.all_cpus = true;
	a->o.delayed = true;
	a->o.output = path;
	a->quiet = quiet;
	if (p->uses_stacks && record_on_g(NULL, NULL, false, a, e) < 0)
		return -e->code;
	return run_record_events(p, &a->o.events, e);
}

int run_record_start(struct run_record *r, const struct lang_program *p, const char *path,
		     bool quiet, struct err *e)
{
	struct record_args a = { 0 };
	AUTO_FREE char *control = NULL;
	int to[2] = { -1, -1 }, from[2] = { -1, -1 };
	int k = run_record_args(&a, p, path, quiet, e);

	if (k == 0 && (pipe(to) < 0 || pipe(from) < 0))
		k = err_set(e, errno, "cannot make a pipe: %s", strerror(errno));
	if (k == 0) {
		a.o.control = control = mem_printf("fd:%d,%d", to[0], from[1]);
		fflush(NULL);
		r->pid = fork();
		if (r->pid == 0) {
			close(to[1]);
			close(from[0]);
			run_record_child(&a);
		}
		k = r->pid < 0 ? err_set(e, errno, "cannot fork: %s", strerror(errno)) : 0;
	}
	close(to[0]);
	close(from[1]);
	r->control = to[1];
	r->ack = from[0];
	record_args_drop(&a);
	return k == 0 ? run_record_say(r, "enable\n", e) : k;
}

int run_record_stop(struct run_record *r, struct err *e)
{
	int status = 0;

	if (r->pid <= 0)
		return 0;
	kill(r->pid, SIGINT);
	waitpid(r->pid, &status, 0);
	r->pid = 0;
	close(r->control);
	close(r->ack);
	if (WIFEXITED(status) && WEXITSTATUS(status) > 0 && WEXITSTATUS(status) < 128)
		return err_set(e, EIO, "the events could not be recorded");
	return 0;
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

/* Installed headers are not read, for what they define may be known by other names here; -I
 * /usr/include reads them. */
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
