/* SPDX-License-Identifier: MIT */
/* Which events make pairs: the kernel's own that are known, and those the user hooks together. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "calc/time/task_spans_int.h"
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

static uint64_t task_spans_rules_note(void *ctx, const struct event *ev)
{
	struct rule *r = ctx;
	uint64_t *word;
	int64_t v = 0;

	if (r->field)
		field_int(r->field, ev->raw, ev->raw_size, &v);
	word = map_at(&r->labels, (uint64_t)v);
	if (!*word)
		*word = make_word(r, ev, (uint64_t)v) + 1ull;
	return *word << 32 | task_spans_chain(r->all, ev);
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
	task_spans_add_time(r->all, tid, (uint32_t)(p->begin.note >> 32) - 1, p->time, p->end->time,
			    (uint32_t)p->begin.note);
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
	pairs_free(r->pairs);
	pair_spec_free(&r->spec);
	map_free(&r->labels);
	free(r);
}

static struct rule *add_rule(struct task_spans *s, const char *text, struct err *e)
{
	struct rule *r = mem_alloc(sizeof(*r));
	struct pairs_opts o = { .note = task_spans_rules_note, .fn = on_pair, .ctx = r };

	r->all = s;
	if (pair_parse(text, &r->spec, e) < 0 ||
	    pairs_new(s->trace, &r->spec, &o, &r->pairs, e) < 0) {
		pair_spec_free(&r->spec);
		free(r);
		return NULL;
	}
	for (unsigned i = 0; i < r->spec.n_begin + r->spec.n_end; i++) {
		const struct event_type *t = task_spans_type(
			s->trace,
			i < r->spec.n_begin ? r->spec.begin[i] : r->spec.end[i - r->spec.n_begin]);

		if (t)
			s->in_pair[t - s->trace->types] = true;
	}
	vec_push(&s->rules, r);
	return r;
}

/* Those that the recording lacks are passed over. */
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
		const struct event_type *t = task_spans_type(s->trace, usual[i].begin);
		struct rule *r = t ? add_rule(s, usual[i].pair, NULL) : NULL;

		if (!r)
			continue;
		r->what = usual[i].what;
		r->who = usual[i].irq && s->o.global_irqs ? WHO_NOBODY : usual[i].who;
		r->label = usual[i].label;
		r->idle_out = strstr(usual[i].pair, "sched:") != NULL;
		r->field = usual[i].field ? type_field(t, usual[i].field) : NULL;
		if (r->who == WHO_FIELD)
			r->whose = type_field(task_spans_type(s->trace, "sched:sched_switch"),
					      "next_pid");
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

void task_spans_usual(struct task_spans *s)
{
	add_usual(s);
	add_syscalls(s);
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
		task_spans_rule_free(r);
		s->n_usual--;
		memmove(&s->rules.data[i], &s->rules.data[i + 1],
			(--s->rules.n - i) * sizeof(*s->rules.data));
		return;
	}
}

int task_spans_hook(struct task_spans *s, const char *text, struct err *e)
{
	AUTO_STRBUF b = { 0 };
	const struct event_type *begin, *end;
	struct rule *r;
	struct hook h;
	bool global, pinned;
	int code = hook_parse(text, &h, e);

	if (code < 0)
		return code;
	begin = task_spans_type(s->trace, h.begin);
	end = task_spans_type(s->trace, h.end);
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
