/* SPDX-License-Identifier: MIT */
/* kymo heat: points from pairs of events, from fields, from samples. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cmd/command.h"
#include "cmd/picture/heat.h"
#include "cmd/share/input.h"
#include "cmd/share/open.h"
#include "event/match.h"

#define MAX_DETAILS 200000u /* a page with more points has no room for what each was */
#define SECOND 1000000000u

struct reader {
	const struct heat_args *a;
	const struct trace *trace;
	struct heat_points *p;
	const struct slice_rule *spec;
	struct heat_whom *whom;
	struct slices *slices;
	bool details;
	bool here; /* recorded on this machine: devices have names */
	struct strbuf text;
	char name[TASK_NAME];
	const struct field *field; /* --field */
	uint32_t field_type;
	bool field_found; /* the event, that is */
	double scale;
	uint64_t negative, seen;
};

/* Until the next one. */
static const char *heat_read_comm_of(struct reader *r, const struct event *ev, int32_t tid)
{
	const char *live = heat_whom_name(r->whom, tid);

	return live ? live : tasks_name_at(r->trace->tasks, tid, ev->time, r->name);
}

/* "vda", or "254:0" of another machine. */
static void put_device(struct reader *r, uint32_t dev)
{
	char path[64], target[256];
	ssize_t n = -1;
	const char *slash;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", dev >> 20, dev & 0xfffff);
	if (r->here)
		n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	slash = strrchr(target, '/');
	strbuf_puts(&r->text, slash ? slash + 1 : path + 15);
}

/* A field's value, or what is known of every event; false when there is none of that name. */
static bool heat_read_put_value(struct reader *r, const struct event *ev, const char *name)
{
	const struct field *f = type_field(&r->trace->types[ev->type], name);
	const char *s;
	int64_t v;
	size_t n;

	if (f && field_str(f, ev->raw, ev->raw_size, &s, &n))
		strbuf_add(&r->text, s, n);
	else if (f && strcmp(name, "dev") == 0 && field_int(f, ev->raw, ev->raw_size, &v))
		put_device(r, (uint32_t)v);
	else if (f && field_int(f, ev->raw, ev->raw_size, &v))
		strbuf_printf(&r->text, "%" PRId64, v);
	else if (strcmp(name, "comm") == 0)
		strbuf_puts(&r->text, heat_read_comm_of(r, ev, ev->tid));
	else if (strcmp(name, "tid") == 0 || strcmp(name, "pid") == 0)
		strbuf_printf(&r->text, "%d", name[0] == 't' ? ev->tid : ev->pid);
	else if (strcmp(name, "cpu") == 0)
		strbuf_printf(&r->text, "%u", ev->cpu);
	else
		return false;
	return true;
}

static const char *call_name(const struct reader *r, uint32_t type)
{
	const char *name = r->trace->types[type].event;

	return !name				? ""
	       : str_starts(name, "sys_enter_") ? name + 10
	       : str_starts(name, "sys_exit_")	? name + 9
						: name;
}

/* What groups the points: a device and a direction, a process, a system call. */
static uint32_t label_of(struct reader *r, const struct event *ev)
{
	strbuf_reset(&r->text);
	if (r->a->label) {
		if (!heat_read_put_value(r, ev, r->a->label))
			return STRTAB_NONE;
	} else if (r->a->kind == HEAT_BLOCK) {
		const char *rw = "";
		size_t at;

		heat_read_put_value(r, ev, "dev");
		strbuf_putc(&r->text, ' ');
		at = r->text.n;
		heat_read_put_value(r, ev, "rwbs");
		rw = strbuf_str(&r->text) + at;
		rw = strchr(rw, 'W')   ? "write"
		     : strchr(rw, 'R') ? "read"
		     : strchr(rw, 'D') ? "discard"
		     : strchr(rw, 'F') ? "flush"
				       : "other";
		r->text.n = at;
		strbuf_puts(&r->text, rw);
	} else if (r->a->kind == HEAT_SYSCALL && strchr(r->a->syscall, ',')) {
		strbuf_puts(&r->text, call_name(r, ev->type));
	} else {
		heat_read_put_value(r, ev, "comm"); /* of who is woken, not of who wakes */
	}
	return strtab_addn(&r->p->strings, strbuf_str(&r->text), r->text.n);
}

/* What else is known of one event, for the list behind an area. */
static uint32_t detail_of(struct reader *r, const struct event *ev)
{
	int32_t tid = r->a->kind == HEAT_BLOCK ? heat_whom_of(r->whom, r->trace, ev) : ev->tid;
	int64_t n, v;

	if (!r->details || r->p->points.n >= MAX_DETAILS)
		return STRTAB_NONE;
	strbuf_reset(&r->text);
	strbuf_printf(&r->text, "%s-%d", heat_read_comm_of(r, ev, tid), tid);
	if (r->a->kind == HEAT_BLOCK && heat_int(r->trace, ev, "nr_sector", &n)) {
		strbuf_puts(&r->text, ", ");
		heat_read_put_value(r, ev, "rwbs");
		if (n)
			strbuf_printf(&r->text, " %" PRId64 " sectors", n);
		if (n && heat_int(r->trace, ev, "sector", &v) && v >= 0)
			strbuf_printf(&r->text, " at %" PRId64, v);
	} else if (r->a->kind == HEAT_SCHED) {
		strbuf_reset(&r->text);
		strbuf_puts(&r->text, "tid ");
		heat_read_put_value(r, ev, "pid");
		strbuf_printf(&r->text, ", woken by %s-%d on CPU %u",
			      heat_read_comm_of(r, ev, ev->tid), ev->tid, ev->cpu);
	} else if (r->a->kind == HEAT_PAIR) {
		for (unsigned i = 0; i < r->spec->n_keys; i++) {
			strbuf_printf(&r->text, ", %s ", r->spec->key[i].begin);
			heat_read_put_value(r, ev, r->spec->key[i].begin);
		}
	} else {
		strbuf_printf(&r->text, ", CPU %u", ev->cpu);
	}
	return strtab_addn(&r->p->details, strbuf_str(&r->text), r->text.n);
}

static uint64_t note_begin(void *ctx, const struct event *ev, uint32_t slot)
{
	struct reader *r = ctx;
	uint64_t label = label_of(r, ev);

	return label | (uint64_t)detail_of(r, ev) << 32;
}

static bool hide_begin(void *ctx, const struct event *ev)
{
	const struct reader *r = ctx;

	/* a task that waits for a CPU has none yet */
	return !heat_whom_has(r->whom, r->trace, ev, r->a->kind == HEAT_SCHED);
}

/* A call whose end was lost is not ended by another one's. */
static bool is_same_call(void *ctx, const struct slice *s, const struct event *end)
{
	const struct reader *r = ctx;

	return strcmp(call_name(r, s->type), call_name(r, end->type)) == 0;
}

static int add_slice(void *ctx, const struct slice *s)
{
	struct reader *r = ctx;
	struct heat_point q = { .value = slice_time(s),
				.label = (uint32_t)s->note,
				.detail = (uint32_t)(s->note >> 32) };
	int64_t v;

	if (s->kind != SLICE_WHOLE || (r->a->kind == HEAT_SCHED && r->whom->cpus.n &&
				       !cpus_has(&r->whom->cpus, (int)s->end->cpu)))
		return 0;
	q.time = s->end->time;
	if (r->a->kind == HEAT_SYSCALL && q.detail != STRTAB_NONE && heat_int(r->trace, s->end, "ret", &v)) {
		strbuf_reset(&r->text);
		strbuf_printf(&r->text, "%s, returned %" PRId64,
			      strtab_get(&r->p->details, q.detail), v);
		q.detail = strtab_addn(&r->p->details, strbuf_str(&r->text), r->text.n);
	}
	vec_push(&r->p->points, q);
	return 0;
}

/* A request without sectors, such as a flush, begins at sector 0 and ends at none, which is -1. */
static void block_keys(void *ctx, const struct event *ev, uint64_t *key)
{
	int64_t n;

	if (key[1] == 0 && heat_int(((struct reader *)ctx)->trace, ev, "nr_sector", &n) && n == 0)
		key[1] = UINT64_MAX;
}

/*
 * Who asked for a flush is told, too, when it is done; so is who wrote behind or before one, a
 * second time. Neither went to the disk: they have no sectors, but one where they are.
 */
static bool is_no_request(const struct reader *r, const struct event *ev)
{
	int64_t n, sector;

	return r->a->kind == HEAT_BLOCK && ev->kind == EVENT_SAMPLE &&
	       ev->type < r->trace->n_types && r->trace->types[ev->type].event &&
	       strcmp(r->trace->types[ev->type].event, "block_rq_complete") == 0 &&
	       heat_int(r->trace, ev, "nr_sector", &n) && n == 0 &&
	       heat_int(r->trace, ev, "sector", &sector) && sector != -1;
}

static int see_pair(void *ctx, const struct event *ev)
{
	struct reader *r = ctx;

	if (is_no_request(r, ev))
		return 0;
	return heat_whom_see(r->whom, r->trace, ev) ? slices_add(r->slices, ev) : 0;
}

static int read_pairs(struct reader *r, struct source *s, struct err *e)
{
	struct slice_rule spec = { 0 };
	struct slices_opts o = { .begin = note_begin,
				 .hide = hide_begin,
				 .keys = r->a->kind == HEAT_BLOCK ? block_keys : NULL,
				 .fits = r->a->kind == HEAT_SYSCALL ? is_same_call : NULL,
				 .fn = add_slice,
				 .ctx = r,
				 .may_lack = r->whom->live };
	struct slices_counts c;
	int k = heat_spec(r->a, &spec, e);

	r->spec = &spec; // cppcheck-suppress autoVariables ; as long as this function
	if (k == 0)
		k = slices_new(s->trace, &spec, &o, &r->slices, e);
	if (k == 0)
		k = s->read_ordered(s, false, see_pair, r, e);
	if (k == 0) {
		slices_count(r->slices, &c);
		/* a switch to a task that was not woken, only preempted, ends nothing */
		if (r->a->kind == HEAT_SCHED)
			c.lone_ends = 0;
		heat_say_pairs(r->a, r->spec, &c, r->p);
	}
	slices_free(r->slices);
	slice_rule_free(&spec);
	r->spec = NULL;
	return k;
}

static int add_field(void *ctx, const struct event *ev)
{
	struct reader *r = ctx;
	int64_t v;

	if (!heat_whom_see(r->whom, r->trace, ev) || ev->type != r->field_type)
		return 0;
	r->seen++;
	if (!heat_whom_has(r->whom, r->trace, ev, false) ||
	    !field_int(r->field, ev->raw, ev->raw_size, &v))
		return 0;
	if (v < 0 && r->field->is_signed) {
		r->negative++;
		return 0;
	}
	vec_push(&r->p->points, (struct heat_point){ .time = ev->time,
						     .value = (uint64_t)llround(fmin(
							     (double)(uint64_t)v * r->scale, 9e18)),
						     .label = label_of(r, ev),
						     .detail = detail_of(r, ev) });
	return 0;
}

static int heat_read_find_field(struct reader *r, const char *event, const char *name,
				struct err *e)
{
	AUTO_STRBUF b = { 0 };
	const struct trace *t = r->trace;

	const struct event_type *type;

	r->field_type = match_find(t, event);
	if (r->field_type == MATCH_NONE) {
		match_list(t, &b);
		err_set(e, ENOENT, "there is no event %s here", event);
		return err_hint(e, "there is %s", b.n ? strbuf_str(&b) : "none");
	}
	type = &t->types[r->field_type];
	r->field = type_field(type, name);
	r->field_found = true;
	if (r->field && (r->field->kind == FIELD_INT))
		return 0;
	for (size_t k = 0; k < type->n_fields; k++)
		if (type->fields[k].kind == FIELD_INT && !type->fields[k].is_common)
			strbuf_printf(&b, "%s%s", b.n ? ", " : "", type->fields[k].name);
	err_set(e, ENOENT, "the event %s has no numeric field %s", event, name);
	return err_hint(e, "it has %s", b.n ? strbuf_str(&b) : "none");
}

static int read_field(struct reader *r, struct source *s, struct err *e)
{
	AUTO_FREE char *event = NULL;
	const char *name = NULL, *unit = r->a->unit, *fmt;
	int k = heat_field(r->a->field, &event, &name, e);

	if (k == 0)
		k = heat_read_find_field(r, event, name, e);
	if (k == -ENOENT && r->whom->live && !r->field_found) {
		heat_say_no_values(r->a, event, name, 0, r->p);
		return 0;
	}
	if (k < 0)
		return k;
	fmt = s->trace->types[r->field_type].print_fmt;
	if (!unit) /* the scheduler's events say what they count */
		unit = fmt && strstr(fmt, "[ns]") ? "ns" : "";
	r->scale = heat_in_ns(unit);
	r->p->unit = r->scale > 0 ? "ns" : unit;
	r->scale = r->scale > 0 ? r->scale : 1;
	r->p->what = r->a->what ? r->a->what : name;
	k = s->read_ordered(s, false, add_field, r, e);
	if (k == 0 && r->negative && !r->a->quiet)
		command_note("not drawn: %llu negative values", (unsigned long long)r->negative);
	if (k == 0 && !r->p->points.n)
		heat_say_no_values(r->a, event, name, r->seen, r->p);
	return k;
}

int heat_check(const struct heat_args *a, const struct trace *t, struct err *e)
{
	struct slice_rule spec = { 0 };
	struct reader r = { .a = a, .trace = t };
	AUTO_FREE char *event = NULL;
	const char *name;
	int k;

	if (a->kind == HEAT_FIELD) {
		k = heat_field(a->field, &event, &name, e);
		if (k == 0)
			k = heat_read_find_field(&r, event, name, e);
		if (k == -ENOENT && !r.field_found) {
			*e = (struct err){ 0 };
			k = 0;
		}
		return k;
	}
	k = heat_spec(a, &spec, e);
	if (k == 0)
		k = slices_new(t, &spec, &(struct slices_opts){ .may_lack = true }, &r.slices, e);
	slices_free(r.slices);
	slice_rule_free(&spec);
	return k;
}

static int add_second(void *ctx, const struct event *ev)
{
	struct reader *r = ctx;

	if (ev->kind == EVENT_SAMPLE && ev->type == r->field_type) {
		uint64_t since = ev->time - r->trace->first_time;

		vec_push(&r->p->points, (struct heat_point){ .time = since / SECOND * SECOND,
							     .value = since % SECOND,
							     .label = STRTAB_NONE,
							     .detail = STRTAB_NONE });
	}
	return 0;
}

static int read_source(struct reader *r, struct heat_args *a, struct source *s, struct err *e)
{
	int k;

	r->trace = s->trace;
	r->p->unit = "ns";
	r->p->what = a->what ? a->what : a->kind == HEAT_SUBSECOND ? "offset" : "latency";
	k = heat_guess(a, s->trace, e);
	if (k == 0)
		k = a->kind == HEAT_SUBSECOND ? s->read_ordered(s, false, add_second, r, e)
		    : a->kind == HEAT_FIELD   ? read_field(r, s, e)
					      : read_pairs(r, s, e);
	strbuf_free(&r->text);
	return k;
}

/* Texts that were made of recordings may have none. */
static int heat_has_times(const struct trace *t, const char *path, struct err *e)
{
	if (!t->own || t->last_time)
		return 0;
	err_set(e, ENODATA, "%s does not say when anything was: it has no times",
		source_name(path));
	return err_hint(e, "kymo record -e EVENTS -o FILE -- COMMAND makes a recording, which has");
}

/* Lines of a time and a value; what is none of them may be a text of stacks. */
static int heat_read_text(struct heat_args *a, const char *path, struct heat_points *p,
			  struct err *e)
{
	int k = heat_read_lines(a, path, p, e), has;
	struct err other = { 0 };
	struct source *s;

	if (k >= 0 || source_open(path, &s, &other) < 0)
		return k;
	has = heat_has_times(s->trace, path, e);
	source_close(s);
	return has < 0 ? has : k;
}

int heat_read(struct heat_args *a, const char *path, bool details, struct heat_points *p,
	      struct err *e)
{
	struct heat_whom all = { 0 };
	struct reader r = { .a = a, .p = p, .whom = &all, .details = details };
	struct source *s;
	char host[256] = "";
	bool recording;
	int k;

	recording = source_is_recording(path);
	if (!recording && a->kind == HEAT_NONE)
		return heat_read_text(a, path, p, e);
	k = source_open(path, &s, e);
	if (k < 0 && !recording && e->code != ENOENT && e->code != EACCES) {
		err_set(e, EINVAL, "%s is no recording", source_name(path));
		return err_hint(e, "kymo record -e EVENTS -o FILE makes one; seconds, or -- and a "
				   "command, measure now");
	}
	if (k < 0)
		return k;
	k = heat_has_times(s->trace, path, e);
	if (k < 0) {
		source_close(s);
		return k;
	}
	gethostname(host, sizeof(host) - 1);
	r.here = s->trace->info.hostname && strcmp(host, s->trace->info.hostname) == 0;
	k = read_source(&r, a, s, e);
	if (k == 0)
		input_warn(s);
	source_close(s);
	return k;
}

int heat_read_live(struct heat_args *a, struct source *s, struct heat_whom *w, bool details,
		   struct heat_points *p, struct err *e)
{
	return read_source(
		&(struct reader){ .a = a, .p = p, .whom = w, .details = details, .here = true }, a,
		s, e);
}
