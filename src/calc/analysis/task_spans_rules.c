/* SPDX-License-Identifier: MIT */
/* Which events make slices: the kernel's own that are known, and those the user hooks together. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "calc/analysis/task_spans_int.h"
#include "event/match.h"
#include "event/text.h"

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

/* The label, and the stack; of a turn, whose it is. */
static uint64_t rule_begin(void *ctx, const struct event *ev, uint32_t slot)
{
	struct rule *r = ctx;
	uint64_t *word;
	int64_t v = 0;

	if (r->field)
		field_int(r->field, ev->raw, ev->raw_size, &v);
	if (r->turns)
		return (uint32_t)v;
	word = map_at(&r->labels, (uint64_t)v);
	if (!*word)
		*word = make_word(r, ev, (uint64_t)v) + 1ull;
	return *word << 32 | task_spans_chain(r->all, ev);
}

/* Who is on a CPU when the recording begins was so from its beginning, as far as one can see. */
static void add_turn(struct rule *r, const struct slice *p, int32_t tid)
{
	struct task_spans *s = r->all;
	uint64_t from = p->kind == SLICE_LONE_END ? s->trace->first_time : p->from;

	if (p->kind == SLICE_OPEN)
		tid = p->to > p->from ? (int32_t)p->note : 0;
	if (tid)
		task_spans_add_time(s, tid, strtab_add(&s->words, r->what), p->to - from, p->to, 0);
}

static int rule_slice(void *ctx, const struct slice *p)
{
	struct rule *r = ctx;
	int32_t tid = p->tid;
	int64_t v;

	if (r->turns ? !r->whose : p->kind != SLICE_WHOLE)
		return 0;
	if (r->who == WHO_END)
		tid = p->end->tid;
	if (r->who == WHO_NOBODY)
		tid = TASK_SPANS_NOBODY;
	if (r->whose && p->end && field_int(r->whose, p->end->raw, p->end->raw_size, &v))
		tid = (int32_t)v;
	if (r->turns)
		add_turn(r, p, tid);
	else if (tid || !r->idle_out)
		task_spans_add_time(r->all, tid, (uint32_t)(p->note >> 32) - 1, slice_time(p),
				    p->end->time, (uint32_t)p->note);
	return 0;
}

/* --- rules --- */

const struct event_type *task_spans_type(const struct trace *t, const char *name)
{
	uint32_t i = match_find(t, name);

	return i != MATCH_NONE && t->types[i].event ? &t->types[i] : NULL;
}

void task_spans_rule_free(struct rule *r)
{
	slices_free(r->slices);
	slice_rule_free(&r->rule);
	map_free(&r->labels);
	free(r);
}

static struct rule *add_rule(struct task_spans *s, const char *text, struct err *e)
{
	struct rule *r = mem_alloc(sizeof(*r));
	struct slices_opts o = { .begin = rule_begin, .fn = rule_slice, .ctx = r };

	r->all = s;
	if (slice_rule_parse(text, &r->rule, e) < 0 ||
	    slices_new(s->trace, &r->rule, &o, &r->slices, e) < 0) {
		task_spans_rule_free(r);
		return NULL;
	}
	for (uint32_t i = 0; i < s->trace->n_types; i++)
		s->in_pair[i] |= slices_uses(r->slices, i);
	vec_push(&s->rules, r);
	return r;
}

static const struct field *field_of(const struct task_spans *s, const char *event, const char *name)
{
	const struct event_type *t = task_spans_type(s->trace, event);

	return t && name ? type_field(t, name) : NULL;
}

/* Those that the recording lacks are passed over. */
static void add_usual(struct task_spans *s)
{
	static const struct {
		const char *rule, *what;
		const char *field, *whose; /* of the beginning, of the end */
		enum label label;
		bool irq, turns;
	} usual[] = {
		{ "sched:sched_switch,sched:sched_switch by cpu", "on CPU", "next_pid", "prev_pid",
		  .turns = true },
		{ "sched:sched_switch,sched:sched_switch by prev_pid=next_pid", NULL, "prev_state",
		  .label = LABEL_STATE },
		{ "sched:sched_wakeup,sched:sched_switch by pid=next_pid", "sched_wakeup",
		  .whose = "next_pid" },
		{ "sched:sched_wakeup_new,sched:sched_switch by pid=next_pid", "sched_wakeup_new",
		  .whose = "next_pid" },
		{ "irq:irq_handler_entry,irq:irq_handler_exit by cpu,irq", NULL, "irq",
		  .label = LABEL_TEXT, .irq = true },
		{ "irq:softirq_entry,irq:softirq_exit by cpu,vec", NULL, "vec", .label = LABEL_TEXT,
		  .irq = true },
		{ "irq:softirq_raise,irq:softirq_entry by cpu,vec", NULL, "vec",
		  .label = LABEL_TEXT, .irq = true },
		{ "raw_syscalls:sys_enter,raw_syscalls:sys_exit by tid,id", NULL, "id",
		  .label = LABEL_ID },
	};

	for (size_t i = 0; i < ARRAY_SIZE(usual); i++) {
		struct rule *r = add_rule(s, usual[i].rule, NULL);

		if (!r)
			continue;
		r->what = usual[i].what;
		r->who = usual[i].irq && s->o->global_irqs ? WHO_NOBODY : WHO_BEGIN;
		r->label = usual[i].label;
		r->turns = usual[i].turns;
		r->idle_out = str_starts(usual[i].rule, "sched:");
		r->field = field_of(s, r->rule.begin[0], usual[i].field);
		r->whose = field_of(s, r->rule.end[0], usual[i].whose);
		if (!r->turns && r->whose)
			r->rule.again = SLICE_KEEPS;
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

void task_spans_usual(struct task_spans *s)
{
	add_usual(s);
	add_syscalls(s);
}

/* --- hooks --- */

struct hook {
	const char *begin, *match, *pid, *end, *end_match, *flags;
};

/* Cuts text, into which the parts lead. */
static int hook_parse(char *text, struct hook *h, struct err *e)
{
	AUTO_FREE char *whole = mem_strdup(text);
	char *end = text, *begin = strsep(&end, "/");

	*h = (struct hook){ .begin = strsep(&begin, ","),
			    .match = strsep(&begin, ","),
			    .pid = strsep(&begin, ","),
			    .end = strsep(&end, ","),
			    .end_match = strsep(&end, ","),
			    .flags = strsep(&end, ",") };
	if (*h->begin && h->match && *h->match && h->end && *h->end && h->end_match &&
	    *h->end_match)
		return 0;
	err_set(e, EINVAL, "'%s' hooks no two events together", whole);
	return err_hint(e, "as in -H block_rq_issue,sector/block_rq_complete,sector,g");
}

int task_spans_hook_events(const char *hook, char **ret, struct err *e)
{
	AUTO_FREE char *copy = mem_strdup(hook);
	struct hook h;
	int r = hook_parse(copy, &h, e);

	if (r == 0)
		*ret = mem_printf("%s,%s", h.begin, h.end);
	return r;
}

/* What is usual for these two gives way: each end would count twice. */
static void drop_usual(struct task_spans *s, const char *begin, const char *end)
{
	for (size_t i = 0; i < s->n_usual; i++) {
		struct rule *r = s->rules.data[i];

		if (r->turns || r->rule.n_begin != 1 || r->rule.n_end != 1 ||
		    strcmp(r->rule.begin[0], begin) != 0 || strcmp(r->rule.end[0], end) != 0)
			continue;
		task_spans_rule_free(r);
		s->n_usual--;
		memmove(&s->rules.data[i], &s->rules.data[i + 1],
			(--s->rules.n - i) * sizeof(*s->rules.data));
		return;
	}
}

int task_spans_hook(struct task_spans *s, const char *text, struct err *e)
{
	AUTO_FREE char *copy = mem_strdup(text), *rule = NULL;
	const struct event_type *begin, *end;
	struct rule *r;
	struct hook h;
	bool global, pinned, own;
	int code = hook_parse(copy, &h, e);

	if (code < 0)
		return code;
	begin = task_spans_type(s->trace, h.begin);
	end = task_spans_type(s->trace, h.end);
	if (!begin || !end)
		return err_set(e, ENOENT, "the recording has no event '%s'",
			       begin ? h.end : h.begin);
	global = h.flags && strchr(h.flags, 'g');
	pinned = h.flags && strchr(h.flags, 'p');
	own = !global && !h.pid && strcmp(h.match, "common_pid") != 0;
	drop_usual(s, begin->name, end->name);
	rule = mem_printf("%s,%s by %s=%s%s%s", begin->name, end->name, h.match, h.end_match,
			  pinned ? ",cpu" : "", own ? ",tid" : "");
	r = add_rule(s, rule, e);
	if (r)
		r->who = global ? WHO_NOBODY : h.pid ? WHO_END : WHO_BEGIN;
	return r ? 0 : -EINVAL;
}
