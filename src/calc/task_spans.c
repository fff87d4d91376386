/* SPDX-License-Identifier: MIT */
#include "calc/task_spans.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "calc/pairs.h"
#include "event/text.h"

/* Whose time it is. */
enum who { WHO_BEGIN, WHO_END, WHO_FIELD, WHO_NOBODY };

enum label { LABEL_EVENT, LABEL_STATE, LABEL_TEXT, LABEL_ID };

struct rule {
	struct task_spans *all;
	struct pair_spec spec;
	struct pairs *pairs;
	enum who who;
	enum label label;
	bool idle_out; /* each CPU has an idle task, all of the same number: they make no pairs */
	const char *what;	   /* instead of the event's name */
	const struct field *field; /* of the beginning, for the label */
	const struct field *whose; /* of the end, for WHO_FIELD */
	struct map labels;	   /* value of the field to label + 1 */
};

struct chain {
	uint64_t *addr;
	uint32_t n;
};

/* Who is on a CPU, and since when. */
struct turn {
	int32_t tid;
	uint64_t since;
	bool known;
};

struct task_spans {
	const struct trace *trace;
	struct task_spans_opts o;
	VEC(struct rule *) rules;
	size_t n_usual; /* of them, before those that were asked for */
	bool *in_pair;	/* by type */
	const struct event_type *graph, *call, *function;
	const struct field *func, *call_at, *return_at, *call_func, *ip;
	struct strtab words;
	struct map index; /* task and word to row + 1 */
	VEC(struct task_span) rows;
	struct map chain_index; /* hash to chain + 1 */
	VEC(struct chain) chains;
	const struct event_type *sw;
	const struct field *prev, *next;
	VEC(struct turn) turns; /* by CPU */
	bool done;
	struct map stack_index; /* row and chain to index in its stacks, + 1 */
};

/* --- rows --- */

static const char *comm_of(const struct trace *t, int32_t tid)
{
	uint32_t id = tid ? tasks_comm_at(t->tasks, tid, UINT64_MAX - 1) : STRTAB_NONE;

	return !tid		   ? "<idle>"
	       : id == STRTAB_NONE ? "<...>"
				   : strtab_get(tasks_strings(t->tasks), id);
}

static size_t row_of(struct task_spans *s, int32_t tid, uint32_t word)
{
	const char *comm = tid == TASK_SPANS_NOBODY ? "" : comm_of(s->trace, tid);
	uint32_t task =
		s->o.by_comm && tid > 0 ? strtab_add(&s->words, comm) | 1u << 31 : (uint32_t)tid;
	uint64_t *at = map_at(&s->index, (uint64_t)task << 32 | word);

	if (!*at) {
		struct task_span *row = vec_add(&s->rows);

		*at = s->rows.n;
		row->tid = tid;
		row->comm = comm;
		row->what = strtab_get(&s->words, word);
		row->min = UINT64_MAX;
	}
	return *at - 1;
}

/* 0 for none; equal chains have equal numbers. */
static uint32_t chain_of(struct task_spans *s, const struct event *ev)
{
	struct chain c = { .n = (uint32_t)ev->chain_n };
	uint64_t *at;

	if (!ev->chain_n)
		return 0;
	c.addr = mem_dup(ev->chain, ev->chain_n * sizeof(*ev->chain));
	for (uint32_t i = 0; i < c.n && s->o.name; i++)
		if (c.addr[i] < EVENT_CHAIN_MARK)
			s->o.name(s->o.ctx, c.addr[i], &c.addr[i]);
	at = map_at(&s->chain_index, map_hash_bytes(c.addr, c.n * sizeof(*c.addr)));
	if (!*at) {
		vec_push(&s->chains, c);
		*at = s->chains.n;
	} else {
		free(c.addr);
	}
	return (uint32_t)*at;
}

static void add_stack(struct task_spans *s, size_t row, uint32_t chain, uint64_t took)
{
	uint64_t *at = map_at(&s->stack_index, (uint64_t)row << 32 | chain);
	struct task_span *r = &s->rows.data[row];
	struct task_span_stack *stack;

	if (!*at) {
		stack = vec_add(&r->stacks);
		stack->chain = s->chains.data[chain - 1].addr;
		stack->chain_n = s->chains.data[chain - 1].n;
		*at = r->stacks.n;
	}
	stack = &r->stacks.data[*at - 1];
	stack->n++;
	stack->sum += took;
}

static void add_time(struct task_spans *s, int32_t tid, uint32_t word, uint64_t took, uint64_t at,
		     uint32_t chain)
{
	size_t i = row_of(s, tid, word);
	struct task_span *r = &s->rows.data[i];

	r->timed = true;
	r->n++;
	r->sum += took;
	if (took >= r->max) {
		r->max = took;
		r->max_at = at;
	}
	if (took < r->min) {
		r->min = took;
		r->min_at = at;
	}
	if (chain)
		add_stack(s, i, chain, took);
}

/* --- what a beginning is called --- */

static uint32_t state_word(struct task_spans *s, uint64_t state)
{
	static const char letters[] = "SDTtXZPI";
	char name[32] = "sched_switch:";
	size_t n = strlen(name);

	for (unsigned bit = 0; bit < 8; bit++)
		if (state >> bit & 1)
			name[n++] = letters[bit];
	if (!(state & 0xff))
		name[n++] = 'R';
	name[n] = '\0';
	return strtab_add(&s->words, name);
}

static uint32_t make_word(const struct rule *r, const struct event *ev, uint64_t v)
{
	struct task_spans *s = r->all;
	const struct event_type *type = &s->trace->types[ev->type];
	const char *name = r->what ? r->what : type->event;
	AUTO_STRBUF b = { 0 };

	if (r->label == LABEL_STATE)
		return state_word(s, v);
	strbuf_puts(&b, name);
	switch (r->label) {
	case LABEL_TEXT:
		strbuf_putc(&b, ' ');
		text_print(s->trace->tep, type, ev->raw, ev->raw_size, &b);
		break;
	case LABEL_ID: strbuf_printf(&b, ":%" PRId64, (int64_t)v); break;
	default: break;
	}
	return strtab_add(&s->words, strbuf_str(&b));
}

static uint64_t note(void *ctx, const struct event *ev)
{
	struct rule *r = ctx;
	uint64_t *word;
	int64_t v = 0;

	if (r->field)
		field_int(r->field, ev->raw, ev->raw_size, &v);
	word = map_at(&r->labels, (uint64_t)v);
	if (!*word)
		*word = make_word(r, ev, (uint64_t)v) + 1ull;
	return *word << 32 | chain_of(r->all, ev);
}

static int on_pair(void *ctx, const struct pair *p)
{
	struct rule *r = ctx;
	int32_t tid = p->begin.tid;
	int64_t v;

	if (r->who == WHO_END)
		tid = p->end->tid;
	if (r->who == WHO_NOBODY)
		tid = TASK_SPANS_NOBODY;
	if (r->who == WHO_FIELD && r->whose &&
	    field_int(r->whose, p->end->raw, p->end->raw_size, &v))
		tid = (int32_t)v;
	if (!tid && r->idle_out)
		return 0;
	add_time(r->all, tid, (uint32_t)(p->begin.note >> 32) - 1, p->time, p->end->time,
		 (uint32_t)p->begin.note);
	return 0;
}

/* --- on CPUs --- */

/* Who is on a CPU when the recording begins was so from its beginning, as far as one can see. */
static void switched(struct task_spans *s, const struct event *ev)
{
	int64_t prev, next;
	struct turn *t;

	if (!s->prev || !s->next || ev->cpu > 65535 ||
	    !field_int(s->prev, ev->raw, ev->raw_size, &prev) ||
	    !field_int(s->next, ev->raw, ev->raw_size, &next))
		return;
	while (s->turns.n <= ev->cpu)
		vec_add(&s->turns);
	t = &s->turns.data[ev->cpu];
	if (prev)
		add_time(s, (int32_t)prev, strtab_add(&s->words, "on CPU"),
			 ev->time - (t->known ? t->since : s->trace->first_time), ev->time, 0);
	*t = (struct turn){ .tid = (int32_t)next, .since = ev->time, .known = true };
}

static void end_turns(struct task_spans *s)
{
	vec_each (&s->turns, t)
		if (t->known && t->tid && s->trace->last_time > t->since)
			add_time(s, t->tid, strtab_add(&s->words, "on CPU"),
				 s->trace->last_time - t->since, s->trace->last_time, 0);
	s->done = true;
}

/* --- rules --- */

static const struct event_type *type_of(const struct trace *t, const char *name)
{
	for (size_t i = 0; i < t->n_types; i++)
		if (t->types[i].event &&
		    strcmp(strchr(name, ':') ? t->types[i].name : t->types[i].event, name) == 0)
			return &t->types[i];
	return NULL;
}

static void rule_free(struct rule *r)
{
	pairs_free(r->pairs);
	pair_spec_free(&r->spec);
	map_free(&r->labels);
	free(r);
}

static struct rule *add_rule(struct task_spans *s, const char *text, struct err *e)
{
	struct rule *r = mem_alloc(sizeof(*r));
	struct pairs_opts o = { .note = note, .fn = on_pair, .ctx = r };

	r->all = s;
	if (pair_parse(text, &r->spec, e) < 0 ||
	    pairs_new(s->trace, &r->spec, &o, &r->pairs, e) < 0) {
		pair_spec_free(&r->spec);
		free(r);
		return NULL;
	}
	for (unsigned i = 0; i < r->spec.n_begin + r->spec.n_end; i++) {
		const struct event_type *t =
			type_of(s->trace, i < r->spec.n_begin ? r->spec.begin[i]
							      : r->spec.end[i - r->spec.n_begin]);

		if (t)
			s->in_pair[t - s->trace->types] = true;
	}
	vec_push(&s->rules, r);
	return r;
}

/* What is known of the kernel's own events; those that the recording lacks are passed over. */
static void add_usual(struct task_spans *s)
{
	static const struct {
		const char *begin, *pair, *what, *field;
		enum who who;
		enum label label;
		bool irq;
	} usual[] = {
		{ "sched:sched_switch",
		  "sched:sched_switch,sched:sched_switch by prev_pid=next_pid", NULL, "prev_state",
		  WHO_BEGIN, LABEL_STATE, false },
		{ "sched:sched_wakeup", "sched:sched_wakeup,sched:sched_switch by pid=next_pid",
		  "sched_wakeup", NULL, WHO_FIELD, LABEL_EVENT, false },
		{ "sched:sched_wakeup_new",
		  "sched:sched_wakeup_new,sched:sched_switch by pid=next_pid", "sched_wakeup_new",
		  NULL, WHO_FIELD, LABEL_EVENT, false },
		{ "irq:irq_handler_entry", "irq:irq_handler_entry,irq:irq_handler_exit by cpu,irq",
		  NULL, "irq", WHO_BEGIN, LABEL_TEXT, true },
		{ "irq:softirq_entry", "irq:softirq_entry,irq:softirq_exit by cpu,vec", NULL, "vec",
		  WHO_BEGIN, LABEL_TEXT, true },
		{ "irq:softirq_raise", "irq:softirq_raise,irq:softirq_entry by cpu,vec", NULL,
		  "vec", WHO_BEGIN, LABEL_TEXT, true },
		{ "raw_syscalls:sys_enter",
		  "raw_syscalls:sys_enter,raw_syscalls:sys_exit by tid,id", NULL, "id", WHO_BEGIN,
		  LABEL_ID, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(usual); i++) {
		const struct event_type *t = type_of(s->trace, usual[i].begin);
		struct rule *r = t ? add_rule(s, usual[i].pair, NULL) : NULL;

		if (!r)
			continue;
		r->what = usual[i].what;
		r->who = usual[i].irq && s->o.global_irqs ? WHO_NOBODY : usual[i].who;
		r->label = usual[i].label;
		r->idle_out = strstr(usual[i].pair, "sched:") != NULL;
		r->field = usual[i].field ? type_field(t, usual[i].field) : NULL;
		if (r->who == WHO_FIELD)
			r->whose = type_field(type_of(s->trace, "sched:sched_switch"), "next_pid");
		r->spec.keep_first = r->who == WHO_FIELD;
	}
}

/* syscalls:sys_enter_NAME ends with sys_exit_NAME. */
static void add_syscalls(struct task_spans *s)
{
	for (size_t i = 0; i < s->trace->n_types; i++) {
		const struct event_type *t = &s->trace->types[i];
		AUTO_FREE char *text = NULL;

		if (!t->system || strcmp(t->system, "syscalls") != 0 ||
		    strncmp(t->event, "sys_enter_", 10) != 0)
			continue;
		text = mem_printf("%s,syscalls:sys_exit_%s by tid", t->name, t->event + 10);
		add_rule(s, text, NULL);
	}
}

static void find_graph(struct task_spans *s)
{
	s->graph = type_of(s->trace, "ftrace:funcgraph_exit");
	s->call = type_of(s->trace, "ftrace:funcgraph_entry");
	s->function = type_of(s->trace, "ftrace:function");
	s->call_func = s->call ? type_field(s->call, "func") : NULL;
	s->ip = s->function ? type_field(s->function, "ip") : NULL;
	if (!s->graph)
		return;
	s->func = type_field(s->graph, "func");
	s->call_at = type_field(s->graph, "calltime");
	s->return_at = type_field(s->graph, "rettime");
}

/* --- hooks --- */

struct hook {
	char *text; /* the parts lead into it */
	char *begin, *match, *pid, *end, *end_match, *flags;
};

static int hook_parse(const char *text, struct hook *h, struct err *e)
{
	char *slash, *part;

	*h = (struct hook){ .text = mem_strdup(text) };
	slash = strchr(h->text, '/');
	if (slash) {
		*slash = '\0';
		part = h->text;
		h->begin = strsep(&part, ",");
		h->match = strsep(&part, ",");
		h->pid = strsep(&part, ",");
		part = slash + 1;
		h->end = strsep(&part, ",");
		h->end_match = strsep(&part, ",");
		h->flags = strsep(&part, ",");
	}
	if (h->begin && *h->begin && h->match && *h->match && h->end && *h->end && h->end_match &&
	    *h->end_match)
		return 0;
	free(h->text);
	err_set(e, EINVAL, "'%s' hooks no two events together", text);
	err_hint(e, "as in -H block_rq_issue,sector/block_rq_complete,sector,g");
	return -EINVAL;
}

int task_spans_hook_events(const char *hook, char **ret, struct err *e)
{
	struct hook h;
	int r = hook_parse(hook, &h, e);

	if (r < 0)
		return r;
	*ret = mem_printf("%s,%s", h.begin, h.end);
	free(h.text);
	return 0;
}

/* What is usual for these two gives way: each end would count twice. */
static void drop_usual(struct task_spans *s, const char *begin, const char *end)
{
	for (size_t i = 0; i < s->n_usual; i++) {
		struct rule *r = s->rules.data[i];

		if (r->spec.n_begin != 1 || r->spec.n_end != 1 ||
		    strcmp(r->spec.begin[0], begin) != 0 || strcmp(r->spec.end[0], end) != 0)
			continue;
		rule_free(r);
		s->n_usual--;
		memmove(&s->rules.data[i], &s->rules.data[i + 1],
			(--s->rules.n - i) * sizeof(*s->rules.data));
		return;
	}
}

static int add_hook(struct task_spans *s, const char *text, struct err *e)
{
	AUTO_STRBUF b = { 0 };
	const struct event_type *begin, *end;
	struct rule *r;
	struct hook h;
	bool global, pinned;
	int code = hook_parse(text, &h, e);

	if (code < 0)
		return code;
	begin = type_of(s->trace, h.begin);
	end = type_of(s->trace, h.end);
	if (!begin || !end) {
		code = err_set(e, ENOENT, "the recording has no event '%s'",
			       begin ? h.end : h.begin);
		free(h.text);
		return code;
	}
	global = h.flags && strchr(h.flags, 'g');
	pinned = h.flags && strchr(h.flags, 'p');
	drop_usual(s, begin->name, end->name);
	strbuf_printf(&b, "%s,%s by ", begin->name, end->name);
	if (strcmp(h.match, h.end_match) == 0)
		strbuf_puts(&b, h.match);
	else
		strbuf_printf(&b, "%s=%s", h.match, h.end_match);
	if (pinned)
		strbuf_puts(&b, ",cpu");
	if (!global && !h.pid && strcmp(h.match, "common_pid") != 0)
		strbuf_puts(&b, ",tid");
	r = add_rule(s, strbuf_str(&b), e);
	if (r) {
		r->who = global ? WHO_NOBODY : h.pid ? WHO_END : WHO_BEGIN;
		r->label = LABEL_EVENT;
	}
	free(h.text);
	return r ? 0 : -EINVAL;
}

/* --- all of it --- */

int task_spans_new(const struct trace *t, const struct task_spans_opts *o, struct task_spans **ret,
		   struct err *e)
{
	struct task_spans *s = mem_alloc(sizeof(*s));
	int r = 0;

	s->trace = t;
	s->o = *o;
	s->in_pair = mem_alloc((t->n_types + 1) * sizeof(*s->in_pair));
	if (!o->counts) {
		s->sw = type_of(t, "sched:sched_switch");
		s->prev = s->sw ? type_field(s->sw, "prev_pid") : NULL;
		s->next = s->sw ? type_field(s->sw, "next_pid") : NULL;
		add_usual(s);
		add_syscalls(s);
	}
	s->n_usual = s->rules.n;
	find_graph(s);
	for (size_t i = 0; r >= 0 && i < o->n_hooks; i++)
		r = add_hook(s, o->hooks[i], e);
	if (r < 0) {
		task_spans_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

static uint32_t function_word(struct task_spans *s, uint64_t addr)
{
	uint64_t start;
	const char *name = s->o.name ? s->o.name(s->o.ctx, addr, &start) : NULL;
	char hex[32];

	if (name)
		return strtab_add(&s->words, name);
	snprintf(hex, sizeof(hex), "0x%" PRIx64, addr);
	return strtab_add(&s->words, hex);
}

static void add_graph(struct task_spans *s, const struct event *ev)
{
	int64_t func, from, to;

	if (!s->func || !s->call_at || !s->return_at ||
	    !field_int(s->func, ev->raw, ev->raw_size, &func) ||
	    !field_int(s->call_at, ev->raw, ev->raw_size, &from) ||
	    !field_int(s->return_at, ev->raw, ev->raw_size, &to))
		return;
	add_time(s, ev->tid, function_word(s, (uint64_t)func),
		 to > from ? (uint64_t)(to - from) : 0, ev->time, 0);
}

/* The end of a function is no event of its own. */
static void add_count(struct task_spans *s, const struct event *ev, const struct event_type *t)
{
	const struct field *f = t == s->call ? s->call_func : t == s->function ? s->ip : NULL;
	uint32_t word, chain = s->o.counts ? chain_of(s, ev) : 0;
	int64_t addr;
	size_t row;

	if (t == s->graph || (t == s->call && !s->o.counts))
		return;
	word = f && field_int(f, ev->raw, ev->raw_size, &addr)
		       ? function_word(s, (uint64_t)addr)
		       : strtab_add(&s->words, t->event ? t->event : t->name);
	row = row_of(s, s->o.all_tasks ? TASK_SPANS_NOBODY : ev->tid, word);
	s->rows.data[row].n++;
	if (chain)
		add_stack(s, row, chain, 0);
}

int task_spans_add(void *spans, const struct event *ev)
{
	struct task_spans *s = spans;
	const struct event_type *t;

	if (ev->kind != EVENT_SAMPLE || ev->type >= s->trace->n_types)
		return 0;
	t = &s->trace->types[ev->type];
	if (t == s->sw)
		switched(s, ev);
	vec_each (&s->rules, r)
		pairs_add((*r)->pairs, ev);
	if (t == s->graph && !s->o.counts)
		add_graph(s, ev);
	else if (!s->in_pair[ev->type])
		add_count(s, ev, t);
	return 0;
}

static int by_sum(const void *a, const void *b)
{
	const struct task_span_stack *x = a, *y = b;

	return x->sum != y->sum ? (x->sum > y->sum ? -1 : 1) : x->n > y->n ? -1 : x->n < y->n;
}

static int by_task(const void *a, const void *b)
{
	const struct task_span *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->timed != y->timed)
		return x->timed ? -1 : 1;
	if (x->sum != y->sum)
		return x->sum > y->sum ? -1 : 1;
	return x->n != y->n ? (x->n > y->n ? -1 : 1) : strcmp(x->what, y->what);
}

const struct task_span *task_spans_rows(struct task_spans *s, size_t *n)
{
	if (!s->done)
		end_turns(s);
	vec_each (&s->rows, r)
		if (r->stacks.n)
			qsort(r->stacks.data, r->stacks.n, sizeof(*r->stacks.data), by_sum);
	if (s->rows.n)
		qsort(s->rows.data, s->rows.n, sizeof(*s->rows.data), by_task);
	*n = s->rows.n;
	return s->rows.data;
}

void task_spans_free(struct task_spans *s)
{
	if (!s)
		return;
	vec_each (&s->rules, x)
		rule_free(*x);
	vec_each (&s->rows, r)
		vec_free(&r->stacks);
	vec_each (&s->chains, c)
		free(c->addr);
	vec_free(&s->rules);
	vec_free(&s->rows);
	vec_free(&s->chains);
	vec_free(&s->turns);
	map_free(&s->index);
	map_free(&s->chain_index);
	map_free(&s->stack_index);
	strtab_free(&s->words);
	free(s->in_pair);
	free(s);
}
