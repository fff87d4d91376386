/* SPDX-License-Identifier: MIT */
#include "cmd/picture/picture.h"

#include <fcntl.h>
#include <malloc.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "cmd/command.h"
#include "cmd/share/input.h"
#include "cmd/share/open.h"

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

static int read_source(struct source *s, const struct recorded_opts *o, struct stacks side[2],
		       struct recorded *in, struct err *e)
{
	const struct trace *t = s->trace;
	struct symbols *symbols =
		t->own ? NULL : symbols_new(&(struct symbols_opts){ .find = input_find(s, NULL) });
	const char *note = NULL;
	int r = t->own ? 0 : input_kernel_later(s, &(struct input_kernel){ 0 }, symbols, &note, e);

	if (r == 0)
		r = recorded_stacks(s, symbols, o, side, in, e);
	symbols_free(symbols);
	if (o->wakers && !t->n_wakers)
		note = "the recording does not say who ended the waits: record with --off-cpu "
		       "--wakers, or with sched:sched_waking, too";
	if (r < 0)
		return r;
	in->note = note ? note : in->note;
	input_warn(s);
	return 0;
}

/* One file into side[0], and into side[1] when it has two counts. */
static int picture_read_one(const char *path, const struct picture_opts *o, struct stacks side[2],
			    struct recorded *in, struct err *e)
{
	struct recorded_opts so = o->stacks;
	struct source *s, *plain;
	int r;

	if (so.min_share > 0)
		share_heap();
	r = o->inputs.n > 1 && path == o->inputs.data[0]
		    ? source_open_all(o->inputs.data, o->inputs.n, &s, e)
		    : source_open(path, &s, e);
	if (r < 0)
		return r;
	plain = s;
	input_unwind(&s, NULL);
	if (o->off_cpu || so.wakers)
		r = input_off_cpu(&s, so.wakers, e);
	else if (o->wall)
		r = input_wall(&s, e);
	so.once = s != plain; /* copies of stacks are not unwound three times */
	so.say_gaps = picture_say_gaps;
	if (r == 0)
		r = read_source(s, &so, side, in, e);
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
		 struct recorded *in, struct err *e)
{
	struct stacks other[2] = { 0 };
	uint32_t first;
	int r;

	*in = (struct recorded){ .off_type = UINT32_MAX };
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
