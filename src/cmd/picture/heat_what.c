/* SPDX-License-Identifier: MIT */
/* kymo heat: what the options measure, what a recording is good for, and points as lines of text.
 */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "cmd/picture/heat.h"
#include "cmd/share/open.h"
#include "store/text/points.h"

char *heat_words(const struct heat_args *a)
{
	switch (a->kind) {
	case HEAT_BLOCK:
		return mem_strdup(a->insert ? "disk I/O, from insert to completion"
					    : "disk I/O, from issue to completion");
	case HEAT_SYSCALL: return mem_printf("time in %s", a->syscall);
	case HEAT_SCHED: return mem_strdup("from wakeup to running");
	case HEAT_PAIR: return mem_strdup(a->pair);
	case HEAT_FIELD: return mem_strdup(a->field);
	case HEAT_SUBSECOND: return mem_strdup("samples by second");
	case HEAT_NONE: break;
	}
	return mem_strdup("values");
}

struct calls {
	struct strbuf enter, leave;
	const char *bad;
};

static int add_call(void *ctx, const char *name, size_t n)
{
	struct calls *c = ctx;

	for (size_t i = 0; i < n; i++)
		if (!(name[i] == '_' || (name[i] >= 'a' && name[i] <= 'z') ||
		      (name[i] >= '0' && name[i] <= '9')))
			c->bad = name;
	strbuf_printf(&c->enter, "%ssyscalls:sys_enter_%.*s", c->enter.n ? "|" : "", (int)n, name);
	strbuf_printf(&c->leave, "%ssyscalls:sys_exit_%.*s", c->leave.n ? "|" : "", (int)n, name);
	return 0;
}

static int syscall_spec(const char *names, struct slice_rule *ret, struct err *e)
{
	struct calls c = { 0 };
	AUTO_FREE char *text = NULL;
	int r;

	str_split(names, ',', add_call, &c);
	text = mem_printf("%s,%s by tid", strbuf_str(&c.enter), strbuf_str(&c.leave));
	if (!c.enter.n || c.bad) {
		err_set(e, EINVAL, "--syscall wants names such as read,write, not '%s'", names);
		r = err_hint(e, "kymo list syscalls: shows all");
	} else {
		r = slice_rule_parse(text, ret, e);
	}
	strbuf_free(&c.enter);
	strbuf_free(&c.leave);
	return r;
}

int heat_spec(const struct heat_args *a, struct slice_rule *ret, struct err *e)
{
	int r;

	switch (a->kind) {
	case HEAT_BLOCK:
		return slice_rule_parse(
			a->insert ? "block:block_rq_insert,block:block_rq_complete by "
				    "dev,sector"
				  : "block:block_rq_issue,block:block_rq_complete by "
				    "dev,sector",
			ret, e);
	case HEAT_SYSCALL: return syscall_spec(a->syscall, ret, e);
	case HEAT_SCHED:
		r = slice_rule_parse(
			"sched:sched_wakeup|sched:sched_wakeup_new,sched:sched_switch by "
			"pid=next_pid",
			ret, e);
		ret->again = SLICE_KEEPS;
		return r;
	default: return slice_rule_parse(a->pair, ret, e);
	}
}

int heat_field(const char *text, char **event, const char **field, struct err *e)
{
	const char *colon = strrchr(text, ':');

	if (!colon || colon == text || !colon[1]) {
		err_set(e, EINVAL, "--field wants an event and one of its fields, not '%s'", text);
		return err_hint(e, "such as sched:sched_stat_runtime:runtime");
	}
	*event = mem_strndup(text, (size_t)(colon - text));
	*field = colon + 1;
	return 0;
}

int heat_events(const struct heat_args *a, char **ret, struct err *e)
{
	struct slice_rule s = { 0 };
	const char *field;
	int r;

	*ret = NULL;
	if (a->kind == HEAT_SUBSECOND)
		return 0;
	if (a->kind == HEAT_FIELD)
		return heat_field(a->field, ret, &field, e);
	r = heat_spec(a, &s, e);
	if (r == 0)
		*ret = slice_rule_events(&s);
	slice_rule_free(&s);
	return r;
}

static bool heat_what_has(const struct trace *t, const char *name)
{
	for (size_t i = 0; i < t->n_types; i++)
		if (t->types[i].event && strcmp(t->types[i].event, name) == 0)
			return true;
	return false;
}

/* The system calls whose beginning and end were recorded: "read,write". */
static char *calls_of(const struct trace *t)
{
	AUTO_STRBUF b = { 0 };

	for (size_t i = 0; i < t->n_types; i++) {
		const char *name = t->types[i].event;
		AUTO_FREE char *end = NULL;

		if (!name || !str_starts(name, "sys_enter_"))
			continue;
		end = mem_printf("sys_exit_%s", name + 10);
		if (heat_what_has(t, end))
			strbuf_printf(&b, "%s%s", b.n ? "," : "", name + 10);
	}
	return b.n ? mem_strdup(strbuf_str(&b)) : NULL;
}

int heat_guess(struct heat_args *a, const struct trace *t, struct err *e)
{
	if (a->kind != HEAT_NONE)
		return 0;
	a->guessed = calls_of(t);
	if (heat_what_has(t, "block_rq_complete") &&
	    (heat_what_has(t, "block_rq_issue") || heat_what_has(t, "block_rq_insert"))) {
		a->kind = HEAT_BLOCK;
		a->insert = !heat_what_has(t, "block_rq_issue");
	} else if (a->guessed) {
		a->kind = HEAT_SYSCALL;
		a->syscall = a->guessed;
	} else if (heat_what_has(t, "sched_switch") && heat_what_has(t, "sched_wakeup")) {
		a->kind = HEAT_SCHED;
	} else if (t->n_types && !t->types[0].system) {
		a->kind = HEAT_SUBSECOND;
	} else {
		err_set(e, EINVAL, "what should be drawn of this recording?");
		return err_hint(
			e, "--pair 'A,B by FIELD' measures the time between two of its events, "
			   "--field EVENT:FIELD takes a value");
	}
	return 0;
}

bool heat_crosses_tasks(const struct heat_args *a)
{
	struct slice_rule s;
	bool own = false;

	if (a->kind == HEAT_BLOCK || a->kind == HEAT_SCHED)
		return true;
	if (a->kind != HEAT_PAIR || heat_spec(a, &s, NULL) < 0)
		return false;
	for (unsigned i = 0; i < s.n_keys; i++)
		own |= strcmp(s.key[i].begin, s.key[i].end) == 0 &&
		       (strcmp(s.key[i].begin, "tid") == 0 || strcmp(s.key[i].begin, "pid") == 0);
	slice_rule_free(&s);
	return !own;
}

/* --- points as lines of text --- */

double heat_in_ns(const char *unit)
{
	return strcmp(unit, "ns") == 0	 ? 1
	       : strcmp(unit, "us") == 0 ? 1e3
	       : strcmp(unit, "ms") == 0 ? 1e6
	       : strcmp(unit, "s") == 0	 ? 1e9
					 : 0;
}

struct reading {
	const char *name;
	struct heat_points *points;
	double time_scale, value_scale;
};

static int heat_lines_add_point(void *ctx, const struct points_line *l, struct err *e)
{
	struct reading *r = ctx;
	double time = l->time * r->time_scale, value = l->value * r->value_scale;

	if (time >= 1.8e19 || value >= 1.8e19)
		return err_set(e, ERANGE, "%s:%llu: a time or a value is too large", r->name,
			       (unsigned long long)l->line);
	vec_push(&r->points->points,
		 (struct heat_point){ .time = (uint64_t)llround(fmin(time, 9e18)),
				      .value = (uint64_t)llround(fmin(value, 9e18)),
				      .label = l->label_n ? strtab_addn(&r->points->strings,
									l->label, l->label_n)
							  : STRTAB_NONE,
				      .detail = STRTAB_NONE });
	return 0;
}

int heat_read_lines(const struct heat_args *a, const char *path, struct heat_points *p,
		    struct err *e)
{
	struct reading r = { .name = source_name(path), .points = p };
	struct source_file f = { 0 };
	int k;

	r.time_scale = heat_in_ns(a->time_unit);
	r.value_scale = heat_in_ns(a->unit ? a->unit : "us");
	p->unit = r.value_scale > 0 ? "ns" : a->unit;
	p->what = a->what ? a->what : "latency";
	if (r.time_scale <= 0)
		return err_set(e, EINVAL, "--time-unit is s, ms, us or ns, not '%s'", a->time_unit);
	if (r.value_scale <= 0)
		r.value_scale = 1;
	k = source_file_open(path, &f, e);
	if (k < 0)
		return k;
	k = points_read(r.name, f.data, f.n, heat_lines_add_point, &r, e);
	source_file_close(&f);
	return k;
}
