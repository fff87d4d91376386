/* SPDX-License-Identifier: MIT */
#include "calc/stacks/recorded.h"

#include "calc/profile/gaps.h"
#include "calc/profile/stacks.h"
#include "calc/read/own_stacks.h"
#include "calc/stacks/visible_read.h"
#include "event/waker.h"

#define TIME_STEPS 16384u   /* of a recording: finer than any picture */
#define TIME_FINE 10000000u /* ns: seconds are drawn with what is inside them */

/* Of the times that are kept; 0: none are. */
static uint64_t time_quantum(const struct trace *t, const struct recorded_opts *o)
{
	uint64_t quantum;

	if (!o->times || t->last_time <= t->first_time)
		return 0;
	quantum = (t->last_time - t->first_time) / TIME_STEPS + 1;
	return quantum > TIME_FINE ? TIME_FINE : quantum;
}

static void say_gaps(struct source *s, struct symbols *symbols, const struct recorded_opts *o,
		     const struct gaps *g)
{
	struct profile p;
	struct names n = { 0 };
	struct idle idle;

	if (!g->entries.n || gaps_names(g, s->trace, symbols, &p, &n, NULL) < 0)
		return;
	if (o->without_idle) /* shares of what is shown */
		idle_leave_out(&p, &n, &idle);
	o->say_gaps(s->trace, &n);
	names_free(&n);
	profile_free(&p);
}

/* As paths of functions: those that can be seen, or all. */
static int recorded_paths(struct source *s, struct symbols *symbols, const struct recorded_opts *o,
			  struct stacks *ret, struct recorded *about, struct err *e)
{
	struct gaps gaps = { 0 }, *g = o->say_gaps ? &gaps : NULL;
	bool cut = o->min_share > 0 && !o->once;
	int r = (cut ? visible_stacks : paths_stacks)(s, symbols, o, g, ret, &about->first_type, e);

	about->cut = r == 0 && cut;
	if (r == 0 && g)
		say_gaps(s, symbols, o, g);
	gaps_free(&gaps);
	return r;
}

/* Counted by address, named, and the chains as stacks. */
static int recorded_profile(struct source *s, struct symbols *symbols,
			    const struct recorded_opts *o, struct stacks *ret,
			    struct recorded *about, struct err *e)
{
	struct profile_opts po = { .by = PROFILE_BY_COMM | PROFILE_BY_PID | PROFILE_BY_TID |
					 PROFILE_BY_CPU | PROFILE_BY_CHAIN |
					 (ret->time_quantum ? PROFILE_BY_TIME : 0),
				   .time_quantum = ret->time_quantum,
				   .known_times = true };
	struct profile p = { 0 };
	struct names n = { 0 };
	int r = profile_make(s, &po, &p, e);

	if (r < 0)
		return r;
	about->first_type = profile_first_type(&p);
	r = names_make(&p, symbols, &(struct names_opts){ .inlines = o->inlines, .by_file = true },
		       &n, e);
	if (r == 0) {
		profile_stacks(&n, o->counts, o->merge_unknown, ret);
		if (o->say_gaps)
			o->say_gaps(s->trace, &n);
	}
	names_free(&n);
	profile_free(&p);
	return r;
}

static int leave_out_idle(struct source *s, struct symbols *symbols, const struct recorded_opts *o,
			  struct stacks *ret, struct recorded *about, struct err *e)
{
	struct recorded_opts less = *o;
	struct idle idle = { 0 };
	int r;

	idle_leave_out_stacks(ret, &idle);
	about->idle.weight += idle.weight;
	about->idle.all += idle.all;
	/* what is left is the whole picture, of which smaller shares can be seen then */
	if (!about->cut || idle.weight <= idle.all / 4 || idle.weight >= idle.all)
		return 0;
	stacks_free(ret);
	*ret = (struct stacks){ 0 };
	less.say_gaps = NULL; /* they were told */
	less.min_share *= 1 - idle.weight / idle.all;
	r = recorded_paths(s, symbols, &less, ret, about, e);
	if (r == 0)
		idle_leave_out_stacks(ret, &idle);
	return r;
}

/* What has names already is not counted before it is named. */
static int recorded_own(struct source *s, const struct recorded_opts *o, struct stacks side[2],
			struct recorded *about, struct err *e)
{
	const struct trace_own *own = s->trace->own;

	about->first_type = own->first_type;
	about->several = own->several;
	about->folded = own->keep_text;
	about->two = own->two;
	if (own->as_written)
		side[0].time_quantum = 0;
	return own_stacks(s,
			  &(struct own_stacks_opts){ .counts = o->counts,
						     .inlines = o->inlines,
						     .merge_unknown = o->merge_unknown,
						     .time_quantum = side[0].time_quantum },
			  side, e);
}

static int recorded_named(struct source *s, struct symbols *symbols, const struct recorded_opts *o,
			  struct stacks *ret, struct recorded *about, struct err *e)
{
	int r = -EOPNOTSUPP;

	if ((o->min_share > 0 && !o->once) || (o->merge_unknown && !o->wakers))
		r = recorded_paths(s, symbols, o, ret, about, e);
	return r == -EOPNOTSUPP ? recorded_profile(s, symbols, o, ret, about, e) : r;
}

int recorded_stacks(struct source *s, struct symbols *symbols, const struct recorded_opts *o,
		    struct stacks side[2], struct recorded *about, struct err *e)
{
	const struct trace *t = s->trace;
	int r;

	about->off_type = UINT32_MAX;
	for (uint32_t i = t->n_types; i-- > 0;)
		if (waker_is_event(t->types[i].name))
			about->off_type = i;
	side[0].time_quantum = time_quantum(t, o);
	r = t->own ? recorded_own(s, o, side, about, e)
		   : recorded_named(s, symbols, o, &side[0], about, e);
	if (r == 0 && o->without_idle && !(t->own && t->own->as_written))
		r = leave_out_idle(s, symbols, o, &side[0], about, e);
	if (r == 0 && o->marks && about->off_type != UINT32_MAX)
		stacks_mark_off(&side[0], about->off_type);
	return r;
}

void recorded_free(struct recorded *r)
{
	stacks_free(&r->side[0]);
	stacks_free(&r->side[1]);
}
