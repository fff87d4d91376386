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

static const char *resolve(void *ctx, uint64_t addr, uint64_t *start, const char **module)
{
	const struct ftrace_name *n = ftrace_names_find(ctx, addr);

	if (!n)
		return NULL;
	*start = n->addr;
	*module = n->module;
	return n->name;
}

struct ftrace_text *ftrace_text_new(const struct ftrace_text_opts *o, const struct trace *trace,
				    struct ftrace_names *names)
{
	struct ftrace_text *t = mem_alloc(sizeof(*t));

	t->opts = *o;
	t->names = names;
	t->types = trace->types;
	t->n_kinds = trace->n_types;
	t->kind = mem_alloc((t->n_kinds + 1) * sizeof(*t->kind));
	for (size_t i = 0; i < t->n_kinds; i++) {
		t->kind[i].name_n = strlen(trace->types[i].event);
		ftrace_handler_find(t, &trace->types[i], &t->kind[i]);
	}
	text_set_resolver(o->tep, resolve, names);
	return t;
}

void ftrace_text_free(struct ftrace_text *t)
{
	if (!t)
		return;
	vec_each (&t->stacks, s)
		free(s->name);
	vec_free(&t->stacks);
	free(t->kind);
	vec_free(&t->comms);
	strtab_free(&t->comm_names);
	strbuf_free(&t->b);
	free(t);
}

void ftrace_text_raw(struct ftrace_text *t, size_t type)
{
	t->kind[type].raw = true;
}

void ftrace_text_plain(struct ftrace_text *t, size_t type)
{
	t->kind[type].handler = NULL;
}

bool ftrace_text_number(const struct field *f, const struct event *ev, uint64_t *ret)
{
	int64_t v;

	if (!f || !field_int(f, ev->raw, ev->raw_size, &v))
		return false;
	*ret = (uint64_t)v;
	return true;
}

uint64_t ftrace_text_word(const struct ftrace_text *t, const struct event *ev, uint32_t at)
{
	const uint8_t *p = (const uint8_t *)ev->raw + at;
	uint64_t v64;
	uint32_t v32;

	if (t->opts.long_size == 4) {
		memcpy(&v32, p, 4);
		return t->opts.swap ? __builtin_bswap32(v32) : v32;
	}
	memcpy(&v64, p, 8);
	return t->opts.swap ? __builtin_bswap64(v64) : v64;
}

bool ftrace_text_bad(struct ftrace_text *t)
{
	strbuf_putc(&t->b, '!');
	return false;
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
	t->cache[(uint32_t)pid % ARRAY_SIZE(t->cache)].pid = 0;
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
	size_t slot = (uint32_t)pid % ARRAY_SIZE(t->cache);
	const struct ftrace_comm *c;

	if (!pid)
		return "<idle>";
	if (t->cache[slot].pid == pid)
		return t->cache[slot].name;
	if (!t->comms_sorted)
		sort_comms(t);
	c = find_comm(t, pid);
	t->cache[slot].pid = pid;
	t->cache[slot].name = c ? strtab_get(&t->comm_names, c->name) : "<...>";
	return t->cache[slot].name;
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

static void ftrace_text_put_task(struct ftrace_text *t, const struct event *ev, struct out *o)
{
	const char *comm = ftrace_text_comm_of(t, ev->tid);
	size_t n = strlen(comm);

	if (t->opts.latency) {
		n = n > 8 ? 8 : n;
		out_pad(o, 8 - n);
		out_add(o, comm, n);
	} else {
		out_right(o, comm, 16);
	}
	out_putc(o, '-');
	put_pid(o, ev->tid);
	if (t->opts.latency) {
		out_putc(o, ' ');
		out_u64(o, ev->cpu, 3);
	} else {
		out_add(o, " [", 2);
		out_zeros(o, ev->cpu, 3);
		out_putc(o, ']');
	}
}

static void put_latency(struct ftrace_text *t, const struct event *ev, struct out *o)
{
	unsigned flags = ev->irq_state, count = ev->preempt_count;
	bool hard, soft;

	if (t->opts.raw) {
		out_printf(o, "-0x%x", flags);
		return;
	}
	hard = flags & EVENT_IN_HARDIRQ;
	soft = flags & EVENT_IN_SOFTIRQ;
	out_putc(o, flags & EVENT_IRQS_OFF ? 'd' : flags & EVENT_IRQS_NOT_KNOWN ? 'X' : '.');
	out_putc(o, flags & EVENT_NEED_RESCHED ? 'N' : '.');
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

static void put_info(struct ftrace_text *t, const struct event *ev, struct out *o)
{
	const struct event_type *type = &t->types[ev->type];
	const struct ftrace_kind *k = t->now;
	bool more = true;

	strbuf_reset(&t->b);
	if (t->opts.raw || k->raw) {
		text_fields(t->opts.tep, type, ev->raw, ev->raw_size, &t->b);
		more = false;
	} else if (k->handler) {
		more = k->handler(t, ev);
	}
	if (more)
		text_print(t->opts.tep, type, ev->raw, ev->raw_size, &t->b);
	if (t->b.n && t->b.data[t->b.n - 1] == '\n')
		t->b.n--;
	if (t->b.n)
		out_add(o, t->b.data, t->b.n);
}

void ftrace_text_line(struct ftrace_text *t, const struct event *ev, int64_t missed,
		      const struct event *end, struct out *o)
{
	t->now = ftrace_kind_of(t, ev);
	t->end = end;
	if (missed > 0)
		out_printf(o, "CPU:%u [%lld EVENTS DROPPED]\n", ev->cpu, (long long)missed);
	else if (missed < 0)
		out_printf(o, "CPU:%u [EVENTS DROPPED]\n", ev->cpu);
	if (t->opts.boundaries && ev->have & EVENT_STARTS_PAGE)
		out_printf(o, "CPU:%u [SUBBUFFER START]\n", ev->cpu);
	ftrace_text_put_task(t, ev, o);
	if (t->opts.latency)
		put_latency(t, ev, o);
	if (!t->opts.raw_time)
		out_putc(o, ' ');
	ftrace_text_time(ev->time, t->opts.raw_time, t->opts.nsec, o);
	out_putc(o, ':');
	if (t->opts.diff)
		put_diff(t, ev->time, o);
	if (!t->now) {
		out_puts(o, " [UNKNOWN EVENT]");
		return;
	}
	out_putc(o, ' ');
	out_add(o, t->types[ev->type].event, t->now->name_n);
	out_add(o, ": ", 2);
	if (t->now->name_n < NAME_WIDTH)
		out_pad(o, NAME_WIDTH - t->now->name_n);
	put_info(t, ev, o);
}
