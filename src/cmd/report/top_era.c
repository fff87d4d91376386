/* SPDX-License-Identifier: MIT */
#include "cmd/report/top_era.h"

#include <malloc.h>

static struct top_era *top_era_begin(const struct trace *trace, struct symbols *symbols)
{
	struct top_era *e = mem_alloc(sizeof(*e));

	e->trace = *trace;
	e->symbols = symbols;
	e->users = 1;
	return e;
}

int top_eras_begin(struct top_eras *t, struct err *e)
{
	struct symbols *symbols = t->new_symbols(t->ctx, e);

	if (!symbols)
		return -e->code;
	t->now = top_era_begin(t->monitor->source->trace, symbols);
	return 0;
}

struct top_era *top_era_take(struct top_eras *t)
{
	t->now->trace.losses = t->monitor->source->trace->losses;
	t->now->users++;
	return t->now;
}

void top_era_put(struct top_era *e)
{
	if (!e || --e->users)
		return;
	symbols_free(e->symbols);
	if (e->ended) /* else they are the trace's own */
		tasks_free(e->trace.tasks);
	free(e);
	malloc_trim(0);
}

void top_eras_turn(struct top_eras *t)
{
	struct top_era *old = t->now;
	struct tasks_wanted wanted;
	struct tasks_moved moved;
	struct symbols *symbols;

	if (!old->has_begun) {
		old->has_begun = true;
		old->begun = symbols_use(old->symbols);
	}
	if (!monitor_grown(t->monitor) && !symbols_grown(old->symbols, old->begun))
		return;
	symbols = t->new_symbols(t->ctx, NULL);
	if (!symbols)
		return; /* names are worth more than memory */
	tasks_want_none(old->trace.tasks, &wanted);
	profile_builder_wants(t->counted, &wanted);
	monitor_renew(t->monitor, &wanted, &moved);
	profile_builder_move(t->counted, &moved);
	tasks_wanted_free(&wanted);
	tasks_moved_free(&moved);
	t->now = top_era_begin(t->monitor->source->trace, symbols);
	old->ended = true;
	top_era_put(old);
}

void top_eras_end(struct top_eras *t)
{
	top_era_put(t->now);
	t->now = NULL;
}
