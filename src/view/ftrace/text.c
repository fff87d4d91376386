/* SPDX-License-Identifier: MIT */
/* The columns before an event's own text. */
#include "view/ftrace/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "event/text.h"
#include "view/ftrace/text_impl.h"

#define NAME_WIDTH 20

/* common_flags */
enum {
	FLAG_IRQS_OFF = 1,
	FLAG_IRQS_NOSUPPORT = 2,
	FLAG_NEED_RESCHED = 4,
	FLAG_HARDIRQ = 8,
	FLAG_SOFTIRQ = 16
};

static const char *resolve(void *ctx, uint64_t addr, uint64_t *start, const char **module)
{
	const struct ftrace_name *n = ftrace_names_find(ctx, addr);

	if (!n)
		return NULL;
	*start = n->addr;
	*module = n->module;
	return n->name;
}

struct ftrace_text *ftrace_text_new(const struct ftrace_text_opts *o, const struct ftrace_heads *h,
				    void *tep, struct ftrace_names *names)
{
	struct ftrace_text *t = mem_alloc(sizeof(*t));

	t->opts = *o;
	t->heads = *h;
	t->tep = tep;
	t->names = names;
	if (names)
		text_set_resolver(tep, resolve, names);
	return t;
}

void ftrace_text_free(struct ftrace_text *t)
{
	if (!t)
		return;
	vec_each (&t->stacks, s)
		free(s->name);
	vec_free(&t->stacks);
	vec_free(&t->kind);
	map_free(&t->kinds);
	vec_free(&t->comms);
	strtab_free(&t->comm_names);
	strbuf_free(&t->b);
	free(t);
}

struct ftrace_kind *ftrace_kind_of(const struct ftrace_text *t, const struct event_type *type)
{
	const uint64_t *at = type ? map_find(&t->kinds, (uintptr_t)type) : NULL;

	return at ? &t->kind.data[*at - 1] : NULL;
}

void ftrace_text_type(struct ftrace_text *t, const struct event_type *type)
{
	uint64_t *at = map_at(&t->kinds, (uintptr_t)type);
	struct ftrace_kind *k;

	if (*at)
		return;
	k = vec_add(&t->kind);
	*at = t->kind.n;
	k->type = type;
	k->name_n = strlen(type->event);
	ftrace_handler_find(t, k);
}

void ftrace_text_raw(struct ftrace_text *t, const struct event_type *type)
{
	struct ftrace_kind *k = ftrace_kind_of(t, type);

	if (k)
		k->raw = true;
}

void ftrace_text_plain(struct ftrace_text *t, const struct event_type *type)
{
	struct ftrace_kind *k = ftrace_kind_of(t, type);

	if (k)
		k->handler = NULL;
}

/* Halved as bsearch() does, so that of several names the same one is met. */
static const struct ftrace_comm *find_comm(const struct ftrace_text *t, int32_t pid)
{
	size_t low = 0, high = t->comms.n;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct ftrace_comm *c = &t->comms.data[middle];

		if (c->pid == pid)
			return c;
		if (pid < c->pid)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/* A name that comes before the first lookup counts as much as one that was saved. */
void ftrace_text_comm(struct ftrace_text *t, int32_t pid, const char *name, size_t n)
{
	AUTO_FREE char *copy = NULL, *made = NULL;
	struct ftrace_comm c = { pid, 0 };
	size_t at;

	if (t->comms_sorted && find_comm(t, pid))
		return;
	copy = mem_strndup(name, strnlen(name, n));
	c.name = strtab_add(&t->comm_names, str_one_line(copy, &made));
	vec_push(&t->comms, c);
	for (at = t->comms.n - 1; t->comms_sorted && at && t->comms.data[at - 1].pid > pid; at--)
		t->comms.data[at] = t->comms.data[at - 1];
	if (t->comms_sorted)
		t->comms.data[at] = c;
}

void ftrace_text_comms(struct ftrace_text *t, const char *text, size_t n)
{
	const char *end = text + n;

	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text)), *p = text;
		uint64_t pid = 0;

		stop = stop ? stop : end;
		for (; p < stop && *p >= '0' && *p <= '9' && pid < UINT32_MAX; p++)
			pid = pid * 10 + (uint64_t)(*p - '0');
		if (p < stop && *p == ' ')
			ftrace_text_comm(t, (int32_t)pid, p + 1, (size_t)(stop - p) - 1);
		text = stop + 1;
	}
}

/* Of several names the last one that was told comes first. */
static void sort_comms(struct ftrace_text *t)
{
	size_t n = t->comms.n;
	struct sort_key *keys = mem_alloc((n + 1) * sizeof(*keys));
	struct ftrace_comm *all = mem_dup(t->comms.data, n * sizeof(*all));

	for (size_t i = 0; i < n; i++)
		keys[i] = (struct sort_key){ (uint32_t)all[n - 1 - i].pid, (uint32_t)(n - 1 - i) };
	sort_keys(keys, n);
	for (size_t i = 0; i < n; i++)
		t->comms.data[i] = all[keys[i].index];
	t->comms_sorted = true;
	free(keys);
	free(all);
}

const char *ftrace_text_comm_of(struct ftrace_text *t, int32_t pid)
{
	const struct ftrace_comm *c;

	if (!pid)
		return "<idle>";
	if (!t->comms_sorted)
		sort_comms(t);
	c = find_comm(t, pid);
	return c ? strtab_get(&t->comm_names, c->name) : "<...>";
}

/* %-5d */
static void put_pid(struct out *o, int32_t pid)
{
	char buf[16], *end = buf + sizeof(buf), *s = end;
	uint32_t v = pid < 0 ? -(uint32_t)pid : (uint32_t)pid;
	size_t n;

	do
		*--s = (char)('0' + v % 10);
	while (v /= 10);
	if (pid < 0)
		*--s = '-';
	n = (size_t)(end - s);
	out_add(o, s, n);
	if (n < 5)
		out_pad(o, 5 - n);
}

static void ftrace_text_put_task(struct ftrace_text *t, const struct ftrace_record *rec,
				 struct out *o)
{
	const char *comm = ftrace_text_comm_of(t, rec->pid);
	size_t n = strlen(comm);

	if (t->opts.latency) {
		n = n > 8 ? 8 : n;
		out_pad(o, 8 - n);
		out_add(o, comm, n);
	} else {
		out_right(o, comm, 16);
	}
	out_putc(o, '-');
	put_pid(o, rec->pid);
	if (t->opts.latency) {
		out_putc(o, ' ');
		out_u64(o, rec->cpu, 3);
	} else {
		out_add(o, " [", 2);
		out_zeros(o, rec->cpu, 3);
		out_putc(o, ']');
	}
}

static void put_latency(struct ftrace_text *t, const struct ftrace_record *rec, struct out *o)
{
	const struct ftrace_heads *h = &t->heads;
	unsigned flags = 0, count = 0;
	bool hard, soft;

	if (rec->r.size > h->flags_at && rec->r.size > h->preempt_at) {
		flags = rec->r.data[h->flags_at];
		count = rec->r.data[h->preempt_at];
	}
	if (t->opts.raw) {
		out_printf(o, "-0x%x", flags);
		return;
	}
	hard = flags & FLAG_HARDIRQ;
	soft = flags & FLAG_SOFTIRQ;
	out_putc(o, flags & FLAG_IRQS_OFF ? 'd' : flags & FLAG_IRQS_NOSUPPORT ? 'X' : '.');
	out_putc(o, flags & FLAG_NEED_RESCHED ? 'N' : '.');
	out_putc(o, hard && soft ? 'H' : hard ? 'h' : soft ? 's' : '.');
	if (count & 0xf)
		out_hex(o, count & 0xf, 1);
	else
		out_putc(o, '.');
	if (count & 0xf0)
		out_hex(o, count >> 4, 1);
	else
		out_putc(o, '.');
}

static int64_t to_us(uint64_t ns)
{
	return (int64_t)ns < 0 ? -(int64_t)((-ns + 500) / 1000) : (int64_t)((ns + 500) / 1000);
}

void ftrace_text_time(uint64_t time, bool raw, bool nsec, struct out *o)
{
	uint64_t unit = nsec ? 1000000000 : 1000000;
	int64_t shown = nsec ? (int64_t)time : to_us(time);

	if (raw) {
		out_u64(o, time, 12);
		return;
	}
	time = shown < 0 ? -(uint64_t)shown : (uint64_t)shown;
	if (shown < 0) { /* of a file whose times were moved back (--ts-offset) */
		char seconds[24];

		snprintf(seconds, sizeof(seconds), "-%" PRIu64, time / unit);
		out_right(o, seconds, 5);
	} else {
		out_u64(o, time / unit, 5);
	}
	out_putc(o, '.');
	out_zeros(o, time % unit, nsec ? 9 : 6);
}

static void put_diff(struct ftrace_text *t, uint64_t time, struct out *o)
{
	char buf[50] = "";

	/* counters too, as trace-cmd does */
	if (!t->opts.nsec && !t->opts.diff_nsec)
		time = (uint64_t)to_us(time);
	if (t->last_time)
		snprintf(buf, sizeof(buf), "(+%lld)", (long long)(time - t->last_time));
	t->last_time = time;
	out_printf(o, " %-8s", buf);
}

static void put_info(struct ftrace_text *t, const struct ftrace_record *rec,
		     const struct ftrace_next *next, struct out *o)
{
	const struct ftrace_kind *k = t->now;
	bool more = true;

	strbuf_reset(&t->b);
	if (t->opts.raw || k->raw) {
		text_fields(t->tep, rec->type, rec->r.data, rec->r.size, &t->b);
		more = false;
	} else if (k->handler) {
		more = k->handler(t, rec, next);
	}
	if (more)
		text_print(t->tep, rec->type, rec->r.data, rec->r.size, &t->b);
	if (t->b.n && t->b.data[t->b.n - 1] == '\n')
		t->b.n--;
	if (t->b.n)
		out_add(o, t->b.data, t->b.n);
}

void ftrace_text_line(struct ftrace_text *t, const struct ftrace_record *rec,
		      const struct ftrace_next *next, struct out *o)
{
	t->now = ftrace_kind_of(t, rec->type);
	if (rec->r.missed > 0)
		out_printf(o, "CPU:%u [%lld EVENTS DROPPED]\n", rec->cpu, (long long)rec->r.missed);
	else if (rec->r.missed < 0)
		out_printf(o, "CPU:%u [EVENTS DROPPED]\n", rec->cpu);
	if (t->opts.boundaries && rec->r.first)
		out_printf(o, "CPU:%u [SUBBUFFER START]\n", rec->cpu);
	ftrace_text_put_task(t, rec, o);
	if (t->opts.latency)
		put_latency(t, rec, o);
	if (!t->opts.raw_time)
		out_putc(o, ' ');
	ftrace_text_time(rec->time, t->opts.raw_time, t->opts.nsec, o);
	out_putc(o, ':');
	if (t->opts.diff)
		put_diff(t, rec->time, o);
	if (!t->now) {
		out_puts(o, " [UNKNOWN EVENT]");
		return;
	}
	out_putc(o, ' ');
	out_add(o, rec->type->event, t->now->name_n);
	out_add(o, ": ", 2);
	if (t->now->name_n < NAME_WIDTH)
		out_pad(o, NAME_WIDTH - t->now->name_n);
	put_info(t, rec, next, o);
}
