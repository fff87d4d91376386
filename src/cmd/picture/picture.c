/* SPDX-License-Identifier: MIT */
#include "cmd/picture/picture.h"

#include <fcntl.h>
#include <malloc.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "calc/profile/gaps.h"
#include "calc/profile/stacks.h"
#include "calc/read/own_stacks.h"
#include "calc/stacks/paths.h"
#include "calc/stacks/visible.h"
#include "cmd/command.h"
#include "cmd/share/input.h"
#include "cmd/share/open.h"
#include "event/match.h"
#include "event/waker.h"

#define TIME_STEPS 16384u   /* of a recording: finer than any picture */
#define TIME_FINE 10000000u /* ns */

/* Of samples that were read (code, when that went well), what they lack. */
static int say_counted(struct source *s, struct symbols *symbols, const struct picture_opts *o,
		       struct gaps *g, int code, struct err *e)
{
	struct profile p;
	struct names n = { 0 };
	struct idle idle;

	if (code == 0 && g->entries.n && gaps_names(g, s->trace, symbols, &p, &n, e) == 0) {
		if (o->without_idle) /* shares of what is shown */
			idle_leave_out(&p, &n, &idle);
		picture_say_gaps(s->trace, &n);
		names_free(&n);
		profile_free(&p);
	}
	gaps_free(g);
	return code;
}

/* Only what can be seen, in passes over the recording. */
static int read_visible(struct source *s, struct symbols *symbols, const struct picture_opts *o,
			struct stacks *ret, struct picture_input *in, struct err *e)
{
	struct gaps gaps = { 0 };
	struct visible_opts v = { .gaps = o->gaps_said ? NULL : &gaps,
				  .min_share = o->min_share,
				  .by_comm = o->label != CALLTREE_LABEL_NONE,
				  .by_pid = o->label == CALLTREE_LABEL_PID,
				  .by_tid = o->label == CALLTREE_LABEL_TID,
				  .counts = o->counts,
				  .inlines = o->inlines,
				  .collapse_recursion = o->collapse_recursion,
				  .type = o->event ? match_find(s->trace, o->event) : MATCH_NONE };
	int r = visible_stacks(s, symbols, &v, ret, &in->first_type, e);

	in->cut = r == 0;
	return say_counted(s, symbols, o, &gaps, r, e);
}

/* Of the times that are kept; 0: none are. */
static uint64_t time_quantum(uint64_t first, uint64_t last, const struct picture_opts *o)
{
	uint64_t quantum;

	if (!o->times || last <= first)
		return 0;
	quantum = (last - first) / TIME_STEPS + 1;
	/* seconds are drawn with what is inside them */
	return quantum > TIME_FINE ? TIME_FINE : quantum;
}

/* All stacks, where code without a name need not be told apart. */
static int read_paths(struct source *s, struct symbols *symbols, const struct picture_opts *o,
		      struct stacks *ret, struct picture_input *in, struct err *e)
{
	struct gaps gaps = { 0 };
	struct paths_opts p = { .gaps = &gaps,
				.counts = o->counts,
				.inlines = o->inlines,
				.lines = o->times,
				.time_quantum = time_quantum(s->trace->first_time,
							     s->trace->last_time, o) };

	return say_counted(s, symbols, o, &gaps,
			   paths_stacks(s, symbols, &p, ret, &in->first_type, e), e);
}

/* All stacks: counted, named, and the chains as stacks. */
static int read_stacks(struct source *s, struct symbols *symbols, const struct picture_opts *o,
		       struct stacks *ret, struct picture_input *in, struct err *e)
{
	struct profile_opts po = { .by = PROFILE_BY_COMM | PROFILE_BY_PID | PROFILE_BY_TID |
					 PROFILE_BY_CPU | PROFILE_BY_CHAIN,
				   .known_times = true };
	struct profile p = { 0 };
	struct names n = { 0 };
	int r;

	po.time_quantum = time_quantum(s->trace->first_time, s->trace->last_time, o);
	if (po.time_quantum)
		po.by |= PROFILE_BY_TIME;
	r = profile_make(s, &po, &p, e);
	if (r < 0)
		return r;
	in->first_type = profile_first_type(&p);
	r = names_make(&p, symbols, &(struct names_opts){ .inlines = o->inlines, .by_file = true },
		       &n, e);
	if (r == 0)
		profile_stacks(&n, o->counts, o->merge_unknown, ret);
	if (r == 0)
		picture_say_gaps(s->trace, &n);
	ret->time_quantum = po.time_quantum;
	names_free(&n);
	profile_free(&p);
	return r;
}

static uint32_t off_type(const struct trace *t)
{
	for (uint32_t i = 0; i < t->n_types; i++)
		if (waker_is_event(t->types[i].name))
			return i;
	return UINT32_MAX;
}

/*
 * Threads that only count ask for memory seldom, and what each had a heap of its own for would not
 * be used by another.
 */
static void share_heap(void)
{
#ifdef __GLIBC__
	mallopt(M_ARENA_MAX, 1);
#endif
}

static struct idle leave_out_idle(struct stacks *s, struct picture_input *in)
{
	struct idle idle = { 0 };

	idle_leave_out_stacks(s, &idle);
	in->idle.weight += idle.weight;
	in->idle.all += idle.all;
	return idle;
}

static int read_some_way(struct source *s, struct symbols *symbols, const struct picture_opts *o,
			 bool plain, struct stacks *ret, struct picture_input *in, struct err *e)
{
	struct picture_opts less = *o;
	struct idle idle;
	int r = -EOPNOTSUPP;

	if (o->min_share > 0 && plain)
		r = read_visible(s, symbols, o, ret, in, e);
	else if (o->merge_unknown && !o->wakers)
		r = read_paths(s, symbols, o, ret, in, e);
	if (r == -EOPNOTSUPP)
		r = read_stacks(s, symbols, o, ret, in, e);
	if (r < 0 || !o->without_idle)
		return r;
	idle = leave_out_idle(ret, in);
	/* what is left is the whole picture, of which smaller shares can be seen then */
	if (in->cut && idle.weight > idle.all / 4 && idle.weight < idle.all) {
		stacks_free(ret);
		*ret = (struct stacks){ 0 };
		less.gaps_said = true;
		less.min_share *= 1 - idle.weight / idle.all;
		r = read_visible(s, symbols, &less, ret, in, e);
		if (r == 0)
			idle_leave_out_stacks(ret, &idle);
	}
	return r;
}

/* What has names already is not counted before it is named. */
static int read_own(struct source *s, const struct picture_opts *o, struct stacks side[2],
		    struct picture_input *in, struct err *e)
{
	const struct trace_own *own = s->trace->own;
	struct own_stacks_opts so = { .counts = o->counts,
				      .inlines = o->inlines,
				      .merge_unknown = o->merge_unknown };
	int r;

	if (!own->as_written)
		so.time_quantum = time_quantum(s->trace->first_time, s->trace->last_time, o);
	r = own_stacks(s, &so, side, e);
	side[0].time_quantum = so.time_quantum;
	in->first_type = own->first_type;
	in->several = own->several;
	in->folded = own->keep_text;
	in->two = own->two;
	if (r == 0 && o->without_idle && !own->as_written)
		leave_out_idle(&side[0], in);
	return r;
}

static int read_named(struct source *s, bool plain, const struct picture_opts *o,
		      struct stacks *ret, struct picture_input *in, const char **note,
		      struct err *e)
{
	struct symbols *symbols =
		symbols_new(&(struct symbols_opts){ .find = input_find(s, NULL) });
	int r = input_kernel_later(s, &(struct input_kernel){ 0 }, symbols, note, e);

	if (r == 0)
		r = read_some_way(s, symbols, o, plain, ret, in, e);
	symbols_free(symbols);
	return r;
}

static int read_source(struct source *s, bool plain, const struct picture_opts *o,
		       struct stacks side[2], struct picture_input *in, struct err *e)
{
	const struct trace *t = s->trace;
	const char *note = NULL;
	int r;

	r = t->own ? read_own(s, o, side, in, e) :
		   /* copies of stacks are not unwound three times */
		    read_named(s, plain, o, &side[0], in, &note, e);
	in->off_type = off_type(t);
	if (r == 0 && o->marks && in->off_type != UINT32_MAX)
		stacks_mark_off(&side[0], in->off_type);
	if (r == 0 && o->wakers && !t->n_wakers)
		note = "the recording does not say who ended the waits: record with --off-cpu "
		       "--wakers, or with sched:sched_waking, too";
	if (r == 0 && note)
		snprintf(in->note, sizeof(in->note), "%s", note);
	if (r == 0)
		input_warn(s);
	return r;
}

/* One file into side[0], and into side[1] when it has two counts. */
static int picture_read_one(const char *path, const struct picture_opts *o, struct stacks side[2],
			    struct picture_input *in, struct err *e)
{
	struct source *s, *plain;
	int r;

	if (o->min_share > 0)
		share_heap();
	r = source_open(path, &s, e);
	if (r < 0)
		return r;
	plain = s;
	input_unwind(&s, NULL);
	if (o->off_cpu || o->wakers)
		r = input_off_cpu(&s, o->wakers, e);
	else if (o->wall)
		r = input_wall(&s, e);
	if (r == 0)
		r = read_source(s, s == plain, o, side, in, e);
	source_close(s);
	return r;
}

/* Up to the modifiers: "cycles:P" and "cycles" count the same, "sched:sched_switch" has none. */
static size_t event_length(const char *name)
{
	const char *colon = strrchr(name, ':');

	return colon && colon[1] && strspn(colon + 1, "ukhGHIpPSDWeb") == strlen(colon + 1)
		       ? (size_t)(colon - name)
		       : strlen(name);
}

/* Which event of a one of b is compared with; UINT32_MAX: none. */
static uint32_t event_like(const struct stacks *a, const struct stacks *b, uint32_t type)
{
	const char *name = strtab_get(&b->strings, b->type_names.data[type]);
	size_t n = event_length(name);
	uint32_t like = UINT32_MAX;

	for (uint32_t i = 0; i < a->type_names.n; i++) {
		const char *other = strtab_get(&a->strings, a->type_names.data[i]);

		if (strcmp(name, other) == 0)
			return i;
		if (like == UINT32_MAX && event_length(other) == n && memcmp(name, other, n) == 0)
			like = i;
	}
	/* shares of time and of cycles can be compared, when there is nothing else */
	return like == UINT32_MAX && a->type_names.n == 1 && b->type_names.n == 1 ? 0 : like;
}

/* Give the events of b the numbers and names that they have in a. */
static void match_events(const struct stacks *a, struct stacks *b)
{
	AUTO_FREE uint32_t *to = mem_alloc((b->type_names.n + 1) * sizeof(*to));
	VEC(uint32_t) names = { 0 }, units = { 0 };

	for (uint32_t i = 0; i < a->type_names.n; i++) {
		vec_push(&names,
			 strtab_add(&b->strings, strtab_get(&a->strings, a->type_names.data[i])));
		vec_push(&units, strtab_add(&b->strings, stacks_unit(a, i)));
	}
	for (uint32_t i = 0; i < b->type_names.n; i++) {
		to[i] = event_like(a, b, i);
		if (to[i] != UINT32_MAX)
			continue;
		to[i] = (uint32_t)names.n;
		vec_push(&names, b->type_names.data[i]);
		vec_push(&units, strtab_add(&b->strings, stacks_unit(b, i)));
	}
	vec_each (&b->entries, en)
		en->type = en->type < b->type_names.n ? to[en->type] : en->type;
	vec_free(&b->type_names);
	vec_free(&b->type_units);
	memcpy(&b->type_names, &names, sizeof(names));
	memcpy(&b->type_units, &units, sizeof(units));
}

int picture_read(const char *path, const char *after, const struct picture_opts *o,
		 struct picture_input *in, struct err *e)
{
	struct stacks other[2] = { 0 };
	uint32_t first;
	int r;

	*in = (struct picture_input){ .off_type = UINT32_MAX };
	if (strcmp(path, "-") == 0 && after && strcmp(after, "-") == 0)
		return err_set(e, EINVAL, "only one of the two files can be standard input");
	r = picture_read_one(path, o, in->side, in, e);
	if (r < 0 || !after)
		return r;
	if (!in->two) {
		first = in->first_type;
		r = picture_read_one(after, o, other, in, e);
		in->first_type = first;
		in->side[1] = other[0];
		stacks_free(&other[1]);
		if (r == 0 && in->side[0].type_names.n && in->side[1].type_names.n)
			match_events(&in->side[0], &in->side[1]);
	}
	if (r == 0 && in->two) {
		err_set(e, EINVAL, "a file that has two counts a line is a comparison already");
		r = err_hint(e, "give only that file: kymo flame FILE");
	}
	in->two = true;
	return r;
}

void picture_input_free(struct picture_input *in)
{
	stacks_free(&in->side[0]);
	stacks_free(&in->side[1]);
}

/* Is it the event NAME, whole or without its modifiers? */
static bool picture_is_event(const char *t, const char *name)
{
	size_t n = strlen(name);

	return strncmp(t, name, n) == 0 && (!t[n] || t[n] == ':');
}

unsigned picture_events(const struct stacks *s)
{
	unsigned n = 0;

	vec_each (&s->type_names, id)
		n += !picture_is_event(strtab_get(&s->strings, *id), "dummy");
	return n;
}

int picture_event(const struct stacks *s, const char *name, uint32_t *ret, struct err *e)
{
	AUTO_STRBUF list = { 0 };

	for (uint32_t i = 0; i < s->type_names.n; i++) {
		const char *t = strtab_get(&s->strings, s->type_names.data[i]);

		if (picture_is_event(t, name)) {
			*ret = i;
			return 0;
		}
		if (!picture_is_event(t, "dummy"))
			strbuf_printf(&list, "%s%s", list.n ? ", " : "", t);
	}
	err_set(e, ENOENT, "there are no stacks of the event '%s'", name);
	return err_hint(e, "there are %s", list.n ? strbuf_str(&list) : "none at all");
}

int picture_can_write(const char *path, struct err *e)
{
	AUTO_FREE char *folder = NULL;
	const char *slash;
	struct stat st;

	if (!path || strcmp(path, "-") == 0)
		return 0;
	slash = strrchr(path, '/');
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		folder = mem_strdup(path); /* a device or a pipe itself is written to */
	else
		folder = slash ? mem_strndup(path, (size_t)(slash - path) + 1) : mem_strdup(".");
	return access(folder, W_OK) < 0 ? err_cannot_write(e, errno, path) : 0;
}

int picture_open(struct picture_output *o, const char *path, struct err *e)
{
	*o = (struct picture_output){ .path = path, .f = stdout, .file = OUTPUT_NONE };
	if (!path || strcmp(path, "-") == 0)
		return 0;
	if (output_open(&o->file, path, O_WRONLY, e) < 0)
		return -e->code;
	o->f = fdopen(o->file.fd, "w");
	if (o->f)
		return 0;
	err_cannot_write(e, errno, path);
	output_close(&o->file);
	return -e->code;
}

int picture_close(struct picture_output *o, bool ok, struct err *e)
{
	int code = 0;

	if (o->f == stdout)
		return 0; /* main() checks it */
	if (fflush(o->f) != 0 || ferror(o->f))
		code = errno ? errno : EIO;
	if (ok && !code)
		code = -output_publish(&o->file);
	if (fclose(o->f) != 0 && !code)
		code = errno;
	o->file.fd = -1; /* the stream closed it */
	output_close(&o->file);
	if (!ok || !code)
		return 0;
	return err_cannot_write(e, code, o->path);
}
