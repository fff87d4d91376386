/* SPDX-License-Identifier: MIT */
/*
 * kymo run --record: what a program's probes see is also kept in a file, so that other
 * questions can be asked of the same events later (kymo run -i, and every other command).
 *
 * A process of its own records the whole machine from before the probes are attached
 * until after they are gone.
 */
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"
#include "cmd/command.h"
#include "cmd/run/run.h"

struct run_words {
	char **data;
	size_t n, cap;
};

static bool makes_no_events(const struct lang_point *p)
{
	return p->kind == LP_BEGIN || p->kind == LP_END || p->kind == LP_INTERVAL ||
	       p->kind == LP_SELF;
}

/* The words of `kymo record`; the events among them are different ones. */
static int words_for(const struct lang_program *p, struct run_words *words, struct err *e)
{
	size_t first = words->n;

	vec_each (&p->points, pt) {
		AUTO_STRBUF b = { 0 };
		bool known = false;

		if (makes_no_events(pt))
			continue;
		if (!lang_point_event(pt, &b)) {
			err_set(e, EOPNOTSUPP, "%s cannot be recorded", pt->text);
			return err_hint(e, "tracepoint, profile, software and hardware probes can");
		}
		for (size_t i = first + 1; i < words->n && !known; i += 2)
			known = strcmp(words->data[i], strbuf_str(&b)) == 0;
		if (known)
			continue;
		vec_push(words, mem_strdup("-e"));
		vec_push(words, mem_strdup(strbuf_str(&b)));
	}
	if (words->n == first) {
		err_set(e, EINVAL, "the program has no probes whose events could be recorded");
		return err_hint(e, "tracepoint, profile, software and hardware probes have some");
	}
	if (p->uses_stacks)
		vec_push(words, mem_strdup("-g"));
	return 0;
}

static int run_record_say(struct run_record *r, const char *word, struct err *e)
{
	char answer[8];

	if (write(r->control, word, strlen(word)) < 0 || read(r->ack, answer, sizeof(answer)) <= 0)
		return err_set(e, EPIPE, "the recording could not be started");
	return 0;
}

static void run_record_record(struct run_words *words)
{
	int code;

	/* Ctrl-C is for the program; this ends when the program has, or has died. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	vec_push(words, NULL);
	code = command_run(&cmd_record, "run --record", (int)words->n - 1, words->data);
	fflush(NULL);
	_exit(code);
}

int run_record_start(struct run_record *r, const struct lang_program *p, const char *path,
		     bool quiet, struct err *e)
{
	struct run_words words = { 0 };
	int to[2] = { -1, -1 }, from[2] = { -1, -1 }, k;
	const char *fixed[] = { "record", "-a", "-D", "-1", "-o", path };

	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		vec_push(&words, mem_strdup(fixed[i]));
	if (quiet)
		vec_push(&words, mem_strdup("-q"));
	if (pipe(to) < 0 || pipe(from) < 0) {
		k = err_set(e, errno, "cannot make a pipe: %s", strerror(errno));
	} else {
		vec_push(&words, mem_strdup("--control"));
		vec_push(&words, mem_printf("fd:%d,%d", to[0], from[1]));
		k = words_for(p, &words, e);
	}
	if (k == 0) {
		fflush(NULL);
		r->pid = fork();
		if (r->pid == 0) {
			close(to[1]);
			close(from[0]);
			run_record_record(&words);
		}
		k = r->pid < 0 ? err_set(e, errno, "cannot fork: %s", strerror(errno)) : 0;
	}
	close(to[0]);
	close(from[1]);
	r->control = to[1];
	r->ack = from[0];
	vec_each (&words, w)
		free(*w);
	vec_free(&words);
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
