/* SPDX-License-Identifier: MIT */
/*
 * kymo run --record: what a program's probes see is also kept in a file, so that other
 * questions can be asked of the same events later (kymo run -i, and every other command).
 *
 * A process of its own records the whole machine from before the probes are attached
 * until after they are gone.
 */
#include <sys/prctl.h>
#include <sys/wait.h>

#include "cmd/record/record.h"
#include "cmd/run/run.h"
#include "cmd/share/event_opts.h"

struct run_words {
	char **data;
	size_t n, cap;
};

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
