/* SPDX-License-Identifier: MIT */
/* kymo trace: from records to lines and tables. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/output.h"
#include "base/term.h"
#include "cmd/trace/trace.h"
#include "live/loop.h"

#define STACK_WAIT 500000000 /* ns: a stack that has not come by then will not */

int trace_show_open(struct trace_show *s, const struct trace_args *a, bool live, struct err *e)
{
	int fd = live ? STDERR_FILENO : STDOUT_FILENO;

	if (a->output && strcmp(a->output, "-") == 0)
		fd = STDOUT_FILENO;
	else if (a->output)
		fd = output_growing(a->output, 0, 0600, e);
	if (fd < 0)
		return fd;
	out_init(&s->out, fd);
	s->a = a;
	s->lines = (struct trace_lines){ .words = &s->words, .out = &s->out, .names = a->names };
	s->lines.color = fd <= STDERR_FILENO && term_color(fd == STDOUT_FILENO ? stdout : stderr);
	return 0;
}

static void show_other(struct trace_show *s, const struct trace_record *r, const void *data)
{
	AUTO_STRBUF b = { 0 };
	const char *name;

	if (r->kind == TRACE_FAULT) {
		name = r->arg[2] ? "majfault" : "minfault";
		trace_stacks_name(&s->stacks, r->pid, r->start, r->arg[1], &b);
		strbuf_puts(&b, " => ");
		trace_stacks_name(&s->stacks, r->pid, r->start, r->arg[0], &b);
	} else {
		name = trace_points_text(&s->points, r, data, &b);
	}
	if (s->a->signals && !s->a->json && strcmp(name, TRACE_SIGNAL) == 0 &&
	    trace_text_signal(&s->lines, r, strbuf_str(&b)))
		return;
	if (s->a->json)
		trace_json_event(&s->lines, r, name, strbuf_str(&b));
	else
		trace_text_event(&s->lines, r, name, strbuf_str(&b));
}

static void show_one(struct trace_show *s, const struct trace_record *r, const void *data)
{
	const struct trace_stack *st = trace_stacks_find(&s->stacks, r->tid, r->end);
	VEC(char *) frames = { 0 };

	for (uint32_t i = 0; st && i < st->n; i++) {
		struct strbuf b = { 0 };

		/* callers: the call itself, not where it returns to */
		trace_stacks_name(&s->stacks, st->pid, st->time, st->addr[i] - (i > 0), &b);
		vec_push(&frames, b.data);
	}
	s->lines.frames = frames.data;
	s->lines.n_frames = frames.n;
	if (r->kind == TRACE_EVENT || r->kind == TRACE_FAULT)
		show_other(s, r, data);
	else if (s->a->json)
		trace_json_call(&s->lines, r, data);
	else
		trace_text_call(&s->lines, r, data);
	s->lines.n_frames = 0;
	vec_each (&frames, f)
		free(*f);
	vec_free(&frames);
}

void trace_show_queued(struct trace_show *s, bool all)
{
	bool stacks = trace_stacks_walker(&s->stacks);
	size_t i = 0;

	for (; i < s->queue.n; i++) {
		struct trace_record *r = s->queue.data[i];

		if (!all && stacks && r->kind != TRACE_UNFINISHED && r->kind != TRACE_EXITED &&
		    !trace_stacks_find(&s->stacks, r->tid, r->end) &&
		    loop_now() - r->end < STACK_WAIT)
			break;
		show_one(s, r, r + 1);
		free(r);
	}
	if (i)
		memmove(s->queue.data, s->queue.data + i,
			(s->queue.n - i) * sizeof(*s->queue.data));
	s->queue.n -= i;
	if (!s->queue.n)
		trace_stacks_forget(&s->stacks);
}

struct trace_sum_key trace_show_key(const struct trace_show *s, const struct trace_record *r)
{
	const uint32_t id[] = { [TRACE_BY_PROCESS] = r->pid, [TRACE_BY_THREAD] = r->tid, 0 };

	return (struct trace_sum_key){ .id = id[s->a->by], .nr = r->nr, .abi = r->abi };
}

int trace_show_record(void *ctx, const struct trace_record *r, const void *data)
{
	struct trace_show *s = ctx;
	struct trace_sum_key key;

	if (s->full)
		return 1;
	if ((s->a->sums || s->a->with_sums) && r->kind == TRACE_UNFINISHED) {
		key = trace_show_key(s, r);
		syscalls_add_unfinished(&s->sums, &key, r->end - r->start);
	}
	if (s->a->sums)
		return 0;
	s->shown++;
	if (s->stacks.open) {
		struct trace_record *copy = mem_alloc(sizeof(*copy) + r->n);

		*copy = *r;
		memcpy(copy + 1, data, r->n);
		vec_push(&s->queue, copy);
	} else {
		show_one(s, r, data);
	}
	s->full = s->a->max_events && s->shown >= s->a->max_events;
	return s->full || s->out.error;
}

void trace_show_sums(struct trace_show *s)
{
	syscalls_finish(&s->sums);
	if (s->a->json)
		trace_sums_json(&s->out, &s->sums, &s->words);
	else
		trace_sums_text(&s->out, &s->sums, &s->words);
}

int trace_show_close(struct trace_show *s, struct err *e)
{
	int error;

	out_flush(&s->out);
	error = s->out.error;
	if (s->out.fd > STDERR_FILENO)
		close(s->out.fd);
	out_free(&s->out);
	trace_words_free(&s->words);
	syscalls_free(&s->sums);
	trace_points_free(&s->points);
	trace_stacks_close(&s->stacks);
	vec_free(&s->queue);
	if (error && error != EPIPE)
		return err_set(e, error, "cannot write the output: %s", strerror(error));
	return 0;
}
