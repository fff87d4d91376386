/* SPDX-License-Identifier: MIT */
/* Events that wait until it is known whether the next one belongs to their line. */
#include <string.h>

#include "view/ftrace/text.h"

/* What events point to may be gone by then: records are copied. */
struct ftrace_waiting {
	struct ftrace_text *text;
	struct event ev, end;
	int64_t missed;
	bool waits, ends;
};

static struct event keep(const struct event *ev)
{
	struct event copy = *ev;

	copy.raw = mem_dup(ev->raw, ev->raw_size);
	copy.chain = NULL;
	copy.chain_n = 0;
	copy.extra = NULL;
	return copy;
}

/* Shows the first ones, up to one that waits. */
static int show(struct ftrace_queue *q)
{
	int answer = 0;

	while (q->first < q->list.n && !q->list.data[q->first].waits && answer == 0) {
		struct ftrace_waiting *w = &q->list.data[q->first++];
		struct ftrace_line l = { w->text, &w->ev, w->ends ? &w->end : NULL, w->missed };

		answer = q->fn(q->ctx, &l);
		free((void *)(uintptr_t)w->ev.raw);
		free((void *)(uintptr_t)w->end.raw);
	}
	if (q->first == q->list.n)
		q->first = q->list.n = 0;
	return answer;
}

/* The one of this part that waits. */
static struct ftrace_waiting *find(struct ftrace_queue *q, const struct ftrace_text *t,
				   uint32_t part)
{
	for (size_t i = q->first; i < q->list.n; i++) {
		struct ftrace_waiting *w = &q->list.data[i];

		if (w->waits && w->text == t && w->ev.part == part)
			return w;
	}
	return NULL;
}

int ftrace_queue_add(struct ftrace_queue *q, struct ftrace_text *t, const struct event *ev,
		     bool shown)
{
	int64_t missed = q->missed;
	struct ftrace_waiting *before;
	bool waits;

	if (ev->kind == EVENT_LOST) {
		q->missed = ev->side->count ? (int64_t)ev->side->count : -1;
		return 0;
	}
	q->missed = 0;
	waits = shown && ftrace_text_waits(t, ev);
	if (q->first == q->list.n && !waits)
		return shown ? q->fn(q->ctx, &(struct ftrace_line){ t, ev, NULL, missed }) : 0;
	before = find(q, t, ev->part);
	if (before) {
		before->waits = false;
		before->ends = ftrace_text_ends(t, &before->ev, ev);
		if (before->ends) {
			before->end = keep(ev);
			return show(q);
		}
	}
	if (shown)
		vec_push(&q->list,
			 (struct ftrace_waiting){
				 .text = t, .ev = keep(ev), .missed = missed, .waits = waits });
	return show(q);
}

int ftrace_queue_flush(struct ftrace_queue *q)
{
	for (size_t i = q->first; i < q->list.n; i++)
		q->list.data[i].waits = false;
	return show(q);
}

void ftrace_queue_free(struct ftrace_queue *q)
{
	for (size_t i = q->first; i < q->list.n; i++)
		free((void *)(uintptr_t)q->list.data[i].ev.raw);
	vec_free(&q->list);
}
