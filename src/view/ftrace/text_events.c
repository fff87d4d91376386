/* SPDX-License-Identifier: MIT */
/* Events that have a layout of their own, other than their kernel's print format. */
#include <inttypes.h>
#include <string.h>

#include "event/match.h"
#include "view/ftrace/text_impl.h"

#define INDENT 2 /* of function_graph, for each depth */

static void put_spaces(struct strbuf *b, uint64_t n)
{
	static const char blanks[] =
		"                                                                ";

	n = n > 4096 ? 4096 : n;
	for (; n > sizeof(blanks) - 1; n -= sizeof(blanks) - 1)
		strbuf_add(b, blanks, sizeof(blanks) - 1);
	strbuf_add(b, blanks, (size_t)n);
}

static void put_dec(struct strbuf *b, uint64_t v)
{
	char buf[24], *end = buf + sizeof(buf), *s = end;

	do
		*--s = (char)('0' + v % 10);
	while (v /= 10);
	strbuf_add(b, s, (size_t)(end - s));
}

static void put_signed(struct strbuf *b, uint64_t v)
{
	if ((int64_t)v < 0) {
		strbuf_putc(b, '-');
		v = -v;
	}
	put_dec(b, v);
}

static const char *ftrace_text_events_name_of(struct ftrace_text *t, uint64_t addr)
{
	const struct ftrace_name *n = ftrace_names_find(t->names, addr);

	return n ? n->name : NULL;
}

/* --- function --- */

enum { FN_IP, FN_PARENT, FN_COUNT, FN_TOP, FN_BOTTOM };

static void set_name(struct ftrace_stack *s, size_t at, const char *name)
{
	if (!name)
		return;
	if (at >= s->cap) {
		size_t cap = s->cap + 16;

		s->name = mem_grow(s->name, cap * sizeof(*s->name));
		memset(s->name + s->cap, 0, (cap - s->cap) * sizeof(*s->name));
		s->cap = cap;
	}
	s->name[at] = name;
}

static size_t depth_of(struct ftrace_text *t, const char *parent, const char *child, uint32_t cpu)
{
	struct ftrace_stack *s;

	if (cpu > 65535)
		return 0;
	while (t->stacks.n <= cpu)
		vec_add(&t->stacks);
	s = &t->stacks.data[cpu];
	for (size_t i = 0; i < s->cap && s->name[i]; i++)
		if (s->name[i] == parent || strcmp(s->name[i], parent) == 0) {
			set_name(s, i + 1, child);
			return i;
		}
	set_name(s, 0, parent);
	set_name(s, 1, child);
	return 0;
}

static void put_function(struct ftrace_text *t, const struct ftrace_name *n, uint64_t addr)
{
	if (!n) {
		strbuf_printf(&t->b, "0x%" PRIx64, addr);
		return;
	}
	strbuf_puts(&t->b, n->name);
	if (t->opts.offset)
		strbuf_printf(&t->b, "+0x%x ", (int)(addr - n->addr));
}

static bool put_call(struct ftrace_text *t, const struct event *ev)
{
	const struct ftrace_name *func, *parent;
	uint64_t ip, parent_ip;

	if (!ftrace_text_number(t->now->field[FN_IP], ev, &ip) ||
	    !ftrace_text_number(t->now->field[FN_PARENT], ev, &parent_ip))
		return ftrace_text_bad(t);
	func = ftrace_names_find(t->names, ip);
	parent = ftrace_names_find(t->names, parent_ip);
	if (parent && !t->opts.no_indent)
		put_spaces(&t->b, 3 * depth_of(t, parent->name, func ? func->name : NULL, ev->cpu));
	put_function(t, func, ip);
	if (t->opts.parent) {
		strbuf_puts(&t->b, " <-- ");
		put_function(t, parent, parent_ip);
	}
	return true;
}

static bool ftrace_text_events_function(struct ftrace_text *t, const struct event *ev)
{
	put_call(t, ev);
	return false;
}

/* A function that was called again and again: only the last time is told. */
static bool repeats(struct ftrace_text *t, const struct event *ev)
{
	uint64_t count, top, bottom, time;

	if (!put_call(t, ev))
		return false;
	if (!ftrace_text_number(t->now->field[FN_COUNT], ev, &count) ||
	    !ftrace_text_number(t->now->field[FN_TOP], ev, &top) ||
	    !ftrace_text_number(t->now->field[FN_BOTTOM], ev, &bottom))
		return ftrace_text_bad(t);
	time = ev->time - (top << 32 | bottom);
	strbuf_printf(&t->b, " (count: %" PRIu64 "  last_ts: ", count);
	if (t->opts.raw_time)
		put_dec(&t->b, time);
	else if (t->opts.nsec)
		strbuf_printf(&t->b, "%5" PRIu64 ".%09" PRIu64, time / 1000000000,
			      time % 1000000000);
	else
		strbuf_printf(&t->b, "%5" PRIu64 ".%06" PRIu64, (time + 500) / 1000 / 1000000,
			      (time + 500) / 1000 % 1000000);
	strbuf_putc(&t->b, ')');
	return false;
}

/* --- stacks --- */

static bool ftrace_text_events_stack(struct ftrace_text *t, const struct event *ev)
{
	const struct field *f = t->now->field[0];
	uint32_t step = t->opts.long_size;

	if (!f) {
		strbuf_puts(&t->b, "<CANT FIND FIELD caller>");
		return false;
	}
	strbuf_puts(&t->b, "<stack trace >\n");
	for (uint32_t at = f->offset; at + step <= ev->raw_size; at += step) {
		uint64_t v = ftrace_text_word(t, ev, at);
		const struct ftrace_name *name;

		if ((step == 8 && v == UINT64_MAX) || (int32_t)v == -1)
			break;
		name = ftrace_names_find(t->names, v);
		strbuf_puts(&t->b, "=> ");
		if (name) {
			put_function(t, name, v);
			strbuf_printf(&t->b, " (%" PRIx64 ")\n", v);
		} else {
			strbuf_printf(&t->b, "%" PRIx64 "\n", v);
		}
	}
	return false;
}

/* User stacks as files and offsets, as the kernel's option sym-userobj words them. */
static bool ftrace_put_user_stack(struct ftrace_text *t, const struct event *ev)
{
	const struct tasks *tasks = t->opts.mapped;
	const struct field *f = t->now->field[0];
	int32_t pid = tasks ? tasks_pid_at(tasks, ev->tid, 0) : -1;
	uint32_t space, at;

	if (!tasks || !f)
		return true;
	space = tasks_space_at(tasks, pid < 0 ? ev->tid : pid, 0);
	strbuf_puts(&t->b, "<user stack trace>\n");
	for (at = f->offset; at + t->opts.long_size <= ev->raw_size; at += t->opts.long_size) {
		uint64_t v = ftrace_text_word(t, ev, at);
		const struct task_map *m = v ? tasks_find(tasks, space, v) : NULL;

		if (!v)
			break;
		if (m)
			strbuf_printf(&t->b, "=> %s[+0x%" PRIx64 "] (%" PRIx64 ")\n",
				      tasks_dso_path(tasks, m->dso), v - m->start, v);
		else
			strbuf_printf(&t->b, "=> %" PRIx64 "\n", v);
	}
	return false;
}

/* --- function_graph --- */

static ftrace_handler graph_entry;

enum { GRAPH_FUNC, GRAPH_DEPTH, GRAPH_BEGIN, GRAPH_END };

static void put_mark(struct strbuf *b, uint64_t took)
{
	strbuf_puts(b, took > 1000000000 ? "$ "
		       : took > 1000000	 ? "# "
		       : took > 100000	 ? "! "
		       : took > 10000	 ? "+ "
					 : "  ");
}

static void put_took(struct strbuf *b, uint64_t took)
{
	size_t before;

	put_mark(b, took);
	before = b->n;
	put_dec(b, took / 1000);
	if (b->n - before < 7) {
		unsigned ns = (unsigned)(took % 1000);

		strbuf_putc(b, '.');
		strbuf_putc(b, (char)('0' + ns / 100));
		strbuf_putc(b, (char)('0' + ns / 10 % 10));
		strbuf_putc(b, (char)('0' + ns % 10));
	}
	before = b->n - before;
	strbuf_puts(b, " us ");
	if (before < 7)
		put_spaces(b, 7 - before);
	strbuf_puts(b, "|  ");
}

static void put_graph_name(struct ftrace_text *t, uint64_t func, const char *after, uint64_t depth)
{
	const char *name = ftrace_text_events_name_of(t, func);

	put_spaces(&t->b, depth * INDENT);
	if (name)
		strbuf_puts(&t->b, name);
	else
		strbuf_printf(&t->b, "%" PRIx64, func);
	strbuf_puts(&t->b, after);
	if (t->opts.depth)
		strbuf_printf(&t->b, " (%" PRId64 ")", (int64_t)depth);
}

bool ftrace_text_waits(const struct ftrace_text *t, const struct event *ev)
{
	const struct ftrace_kind *k = ftrace_kind_of(t, ev);

	return k && k->handler == graph_entry && !t->opts.raw && !k->raw;
}

bool ftrace_text_ends(const struct ftrace_text *t, const struct event *entry,
		      const struct event *ev)
{
	const struct ftrace_kind *k = ftrace_kind_of(t, ev);
	uint64_t func, end;

	return k && k->graph_exit && entry->tid == ev->tid &&
	       ftrace_text_number(k->field[GRAPH_FUNC], ev, &end) &&
	       ftrace_text_number(ftrace_kind_of(t, entry)->field[GRAPH_FUNC], entry, &func) &&
	       func == end;
}

static bool graph_entry(struct ftrace_text *t, const struct event *ev)
{
	uint64_t func, depth, from, to;
	const struct ftrace_kind *k = t->end ? ftrace_kind_of(t, t->end) : NULL;

	if (!ftrace_text_number(t->now->field[GRAPH_FUNC], ev, &func) ||
	    !ftrace_text_number(t->now->field[GRAPH_DEPTH], ev, &depth))
		return ftrace_text_bad(t);
	if (k) {
		put_took(&t->b, ftrace_text_number(k->field[GRAPH_BEGIN], t->end, &from) &&
						ftrace_text_number(k->field[GRAPH_END], t->end, &to)
					? to - from
					: 0);
		put_graph_name(t, func, "();", depth);
	} else {
		strbuf_puts(&t->b, "             |  ");
		put_graph_name(t, func, "() {", depth);
	}
	return false;
}

static bool graph_exit(struct ftrace_text *t, const struct event *ev)
{
	uint64_t func, depth, from, to;
	const char *name;

	if (!ftrace_text_number(t->now->field[GRAPH_BEGIN], ev, &from) ||
	    !ftrace_text_number(t->now->field[GRAPH_END], ev, &to) ||
	    !ftrace_text_number(t->now->field[GRAPH_DEPTH], ev, &depth))
		return ftrace_text_bad(t);
	put_took(&t->b, to - from);
	put_spaces(&t->b, depth * INDENT);
	strbuf_putc(&t->b, '}');
	if (t->opts.tail) {
		if (!ftrace_text_number(t->now->field[GRAPH_FUNC], ev, &func) ||
		    !(name = ftrace_text_events_name_of(t, func)))
			return false;
		strbuf_printf(&t->b, " /* %s */", name);
	}
	if (t->opts.depth)
		strbuf_printf(&t->b, " (%" PRId64 ")", (int64_t)depth);
	return false;
}

/* --- scheduling --- */

static void put_comm(struct ftrace_text *t, const struct field *f, const struct event *ev,
		     uint64_t pid)
{
	AUTO_FREE char *name = NULL, *made = NULL;
	const char *s;
	size_t n;

	if (!f || !field_str(f, ev->raw, ev->raw_size, &s, &n))
		return;
	name = mem_strndup(s, n);
	strbuf_puts(&t->b, str_one_line(name, &made));
	strbuf_putc(&t->b, ':');
	/* later records have a name for it */
	ftrace_text_comm(t, (int32_t)pid, s, n);
}

enum { WAKE_PID, WAKE_COMM, WAKE_PRIO, WAKE_SUCCESS, WAKE_CPU };

static bool wakeup(struct ftrace_text *t, const struct event *ev)
{
	const struct field *const *f = t->now->field;
	uint64_t v;

	if (!ftrace_text_number(f[WAKE_PID], ev, &v))
		return ftrace_text_bad(t);
	put_comm(t, f[WAKE_COMM], ev, v);
	put_signed(&t->b, v);
	if (ftrace_text_number(f[WAKE_PRIO], ev, &v))
		strbuf_printf(&t->b, " [%" PRId64 "]", (int64_t)v);
	if (ftrace_text_number(f[WAKE_SUCCESS], ev, &v))
		strbuf_printf(&t->b, " success=%" PRId64, (int64_t)v);
	if (ftrace_text_number(f[WAKE_CPU], ev, &v))
		strbuf_printf(&t->b, " CPU:%03" PRIu64, v);
	return false;
}

enum { SW_PREV_PID, SW_PREV_COMM, SW_PREV_PRIO, SW_STATE, SW_NEXT_PID, SW_NEXT_COMM, SW_NEXT_PRIO };

static void put_state(struct strbuf *b, uint64_t state)
{
	static const char letters[] = "SDTtZXxW";
	bool any = false;

	for (int i = 0; letters[i]; i++)
		if (state >> i & 1) {
			if (any)
				strbuf_putc(b, '|');
			strbuf_putc(b, letters[i]);
			any = true;
		}
	if (!any)
		strbuf_putc(b, 'R');
}

static bool sched_switch(struct ftrace_text *t, const struct event *ev)
{
	const struct field *const *f = t->now->field;
	uint64_t v;

	if (!ftrace_text_number(f[SW_PREV_PID], ev, &v))
		return ftrace_text_bad(t);
	put_comm(t, f[SW_PREV_COMM], ev, v);
	put_signed(&t->b, v);
	strbuf_putc(&t->b, ' ');
	if (ftrace_text_number(f[SW_PREV_PRIO], ev, &v)) {
		strbuf_putc(&t->b, '[');
		put_signed(&t->b, (uint64_t)(int64_t)(int)v);
		strbuf_puts(&t->b, "] ");
	}
	if (ftrace_text_number(f[SW_STATE], ev, &v))
		put_state(&t->b, v);
	strbuf_puts(&t->b, " ==> ");
	if (!ftrace_text_number(f[SW_NEXT_PID], ev, &v))
		return ftrace_text_bad(t);
	put_comm(t, f[SW_NEXT_COMM], ev, v);
	put_signed(&t->b, v);
	if (ftrace_text_number(f[SW_NEXT_PRIO], ev, &v)) {
		strbuf_puts(&t->b, " [");
		put_signed(&t->b, (uint64_t)(int64_t)(int)v);
		strbuf_putc(&t->b, ']');
	}
	return false;
}

/* --- others --- */

/* The caller by name, then the print format. */
static bool kmem(struct ftrace_text *t, const struct event *ev)
{
	const struct ftrace_name *n;
	uint64_t site;

	if (ftrace_text_number(t->now->field[0], ev, &site) &&
	    (n = ftrace_names_find(t->names, site))) {
		strbuf_putc(&t->b, '(');
		strbuf_puts(&t->b, n->name);
		strbuf_puts(&t->b, "+0x");
		strbuf_hex(&t->b, (uint32_t)(site - n->addr));
		strbuf_puts(&t->b, ") ");
	}
	return true;
}

static void ftrace_text_events_put_value(struct ftrace_text *t, const char *before,
					 const struct field *f, const struct event *ev,
					 bool hexadecimal)
{
	uint64_t v;

	strbuf_puts(&t->b, before);
	if (ftrace_text_number(f, ev, &v))
		strbuf_printf(&t->b, hexadecimal ? "0x%" PRIx64 : "%" PRIu64, v);
}

static void put_timer_function(struct ftrace_text *t, const struct field *f, const struct event *ev)
{
	const struct ftrace_name *n;
	uint64_t v;

	if (!ftrace_text_number(f, ev, &v))
		return;
	n = ftrace_names_find(t->names, v);
	if (n)
		strbuf_printf(&t->b, " function=%s/0x%" PRIx64, n->name, v - n->addr);
	else
		strbuf_printf(&t->b, " function=0x%0*" PRIx64, (int)t->opts.long_size * 2, v);
}

enum { HR_TIMER, HR_FUNCTION, HR_NOW, HR_EXPIRES, HR_SOFT };

static bool hrtimer_expire(struct ftrace_text *t, const struct event *ev)
{
	ftrace_text_events_put_value(t, "hrtimer=", t->now->field[HR_TIMER], ev, true);
	ftrace_text_events_put_value(t, " now=", t->now->field[HR_NOW], ev, false);
	put_timer_function(t, t->now->field[HR_FUNCTION], ev);
	return false;
}

static bool hrtimer_start(struct ftrace_text *t, const struct event *ev)
{
	ftrace_text_events_put_value(t, "hrtimer=", t->now->field[HR_TIMER], ev, true);
	put_timer_function(t, t->now->field[HR_FUNCTION], ev);
	ftrace_text_events_put_value(t, " expires=", t->now->field[HR_EXPIRES], ev, false);
	ftrace_text_events_put_value(t, " softexpires=", t->now->field[HR_SOFT], ev, false);
	return false;
}

static bool tlb_flush(struct ftrace_text *t, const struct event *ev)
{
	static const char *const reasons[] = { "flush on task switch", "remote shootdown",
					       "local shootdown", "local mm shootdown" };
	uint64_t v;

	strbuf_puts(&t->b, "pages=");
	if (ftrace_text_number(t->now->field[0], ev, &v))
		put_signed(&t->b, v);
	if (!ftrace_text_number(t->now->field[1], ev, &v))
		return false;
	strbuf_puts(&t->b, " reason=");
	strbuf_printf(&t->b, "%s (%" PRId64 ")", v < 4 ? reasons[v] : "", (int64_t)v);
	return false;
}

static bool raw_data(struct ftrace_text *t, const struct event *ev)
{
	const struct field *buf = t->now->field[1];
	uint64_t id;

	if (!ftrace_text_number(t->now->field[0], ev, &id) || !buf)
		return ftrace_text_bad(t);
	strbuf_printf(&t->b, "# %" PRIx64, id);
	for (uint32_t i = buf->offset; i < ev->raw_size; i++)
		strbuf_printf(&t->b, " %02x", ((const uint8_t *)ev->raw)[i]);
	return false;
}

/* --- which --- */

static const struct {
	const char *system, *event;
	ftrace_handler *handler;
	const char *fields[8];
} layouts[] = {
	{ "ftrace", "function", ftrace_text_events_function, { "ip", "parent_ip" } },
	{ "ftrace",
	  "func_repeats",
	  repeats,
	  { "ip", "parent_ip", "count", "top_delta_ts", "bottom_delta_ts" } },
	{ "ftrace", "kernel_stack", ftrace_text_events_stack, { "caller" } },
	{ "ftrace", "user_stack", ftrace_put_user_stack, { "caller" } },
	{ "ftrace", "raw_data", raw_data, { "id", "buf" } },
	{ "ftrace", "funcgraph_entry", graph_entry, { "func", "depth" } },
	{ "ftrace", "funcgraph_exit", graph_exit, { "func", "depth", "calltime", "rettime" } },
	{ "ftrace",
	  "blktrace",
	  ftrace_put_blk,
	  { "sector", "bytes", "action", "device", "error", "pdu_len", "data", "pid" } },
	{ "sched",
	  "sched_switch",
	  sched_switch,
	  { "prev_pid", "prev_comm", "prev_prio", "prev_state", "next_pid", "next_comm",
	    "next_prio" } },
	{ "sched", "sched_wakeup", wakeup, { "pid", "comm", "prio", "success", "target_cpu" } },
	{ "sched", "sched_wakeup_new", wakeup, { "pid", "comm", "prio", "success", "target_cpu" } },
	{ "kmem", "kfree", kmem, { "call_site" } },
	{ "kmem", "kmalloc", kmem, { "call_site" } },
	{ "kmem", "kmalloc_node", kmem, { "call_site" } },
	{ "kmem", "kmem_cache_alloc", kmem, { "call_site" } },
	{ "kmem", "kmem_cache_alloc_node", kmem, { "call_site" } },
	{ "kmem", "kmem_cache_free", kmem, { "call_site" } },
	{ "timer", "hrtimer_expire_entry", hrtimer_expire, { "hrtimer", "function", "now" } },
	{ "timer",
	  "hrtimer_start",
	  hrtimer_start,
	  { "hrtimer", "function", NULL, "expires", "softexpires" } },
	{ "syscalls",
	  "sys_enter_futex",
	  ftrace_put_futex,
	  { "uaddr", "op", "val", "utime", "uaddr2", "val3" } },
	{ "tlb", "tlb_flush", tlb_flush, { "pages", "reason" } },
};

void ftrace_handler_find(struct ftrace_text *t, const struct event_type *type,
			 struct ftrace_kind *k)
{
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		if (!match_tracepoint(type, layouts[i].system, layouts[i].event))
			continue;
		for (size_t f = 0; f < ARRAY_SIZE(k->field); f++)
			k->field[f] = layouts[i].fields[f] ? type_field(type, layouts[i].fields[f])
							   : NULL;
		k->graph_exit = !strcmp(layouts[i].event, "funcgraph_exit");
		/* blk has no format in the kernel: what stands for one is trace-cmd's */
		if (!t->opts.plain || layouts[i].handler == ftrace_put_blk)
			k->handler = layouts[i].handler;
	}
}
