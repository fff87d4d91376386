/* SPDX-License-Identifier: MIT */
#include "view/script/impl.h"

#include "base/mem.h"
#include "event/text.h"

/* What a tracepoint prints as a function is named by us. */
static const char *script_resolve_kernel(void *ctx, uint64_t addr, uint64_t *start,
					 const char **module)
{
	struct script *s = ctx;
	const struct task_map *map = tasks_find(s->trace->tasks, TASK_SPACE_KERNEL, addr);
	const struct sym_result *r;

	*module = NULL;
	if (!map)
		return NULL;
	r = symbols_resolve(s->symbols, SYMBOLS_KERNEL, addr, SYMBOLS_NAMES);
	if (r->name == SYMBOLS_NONE)
		return NULL;
	*start = r->start;
	*module = site_dso_name(s, map->dso);
	if (strcmp(*module, "[kernel.kallsyms]") == 0)
		*module = NULL;
	return symbols_text(s->symbols, r->name);
}

static int add_stop(void *ctx, const char *part, size_t n)
{
	strtab_addn(ctx, part, n);
	return 0;
}

struct script *script_make(struct trace *t, struct symbols *symbols, const struct script_opts *o,
			   struct out *out)
{
	struct script *s = mem_alloc(sizeof(*s));

	s->trace = t;
	s->symbols = symbols;
	s->o = *o;
	s->out = out;
	s->types = mem_alloc((t->n_types + 1) * sizeof(*s->types));
	for (size_t i = 0; i < t->n_types; i++) {
		const struct event_type *from = &t->types[i];
		struct script_type *to = &s->types[i];

		to->name = from->name;
		to->name_n = (uint32_t)strlen(from->name);
		to->show = o->fields.of[from->class].show;
		to->chains = o->chains && (from->has & EVENT_HAVE_CHAIN) && (to->show & SCRIPT_IP);
		to->plain_addr = from->role != ROLE_PAGE_FAULTS;
		to->bpf_output = from->role == ROLE_BPF_OUTPUT;
		if (to->name_n > s->name_width)
			s->name_width = to->name_n;
	}
	if (o->stop_at)
		str_split(o->stop_at, ',', add_stop, &s->stop_at);
	site_init(s);
	return s;
}

struct script *script_new(struct trace *t, struct symbols *symbols, const struct script_opts *o,
			  struct out *out)
{
	struct script *s = script_make(t, symbols, o, out);

	text_set_resolver(t->tep, script_resolve_kernel, s);
	return s;
}

void script_to(struct script *s, struct out *out)
{
	s->out = out;
}

void script_free(struct script *s)
{
	if (!s)
		return;
	if (!s->lock)
		text_set_resolver(s->trace->tep, NULL, NULL);
	site_free(s);
	strbuf_free(&s->text);
	strtab_free(&s->stop_at);
	map_free(&s->early);
	free(s->types);
	free(s);
}

static void print_time(struct script *s, uint64_t time)
{
	struct out *o = s->out;
	uint64_t t = time, sec;

	if (s->o.reltime) {
		if (!s->start_time)
			s->start_time = time;
		t = time - s->start_time;
	} else if (s->o.deltatime) {
		t = s->last_time ? time - s->last_time : 0;
		s->last_time = time;
	}
	sec = t / 1000000000;
	out_u64(o, sec, 5);
	out_putc(o, '.');
	if (s->o.ns)
		out_zeros(o, t % 1000000000, 9);
	else
		out_zeros(o, t % 1000000000 / 1000, 6);
	out_add(o, ": ", 2);
}

void script_comm(struct script *s, const struct script_type *t, const char *name)
{
	struct out *o = s->out;

	if (s->o.latency)
		out_printf(o, "%8.8s ", name);
	else if (t->chains)
		out_puts(o, name), out_putc(o, ' ');
	else
		out_right(o, name, 16), out_putc(o, ' ');
}

void script_start(struct script *s, const struct event *ev, const struct script_type *t,
		  uint64_t show)
{
	struct out *o = s->out;
	char buf[TASK_NAME];

	if (show & SCRIPT_COMM)
		script_comm(s, t, tasks_name_at(s->trace->tasks, ev->tid, ev->time, buf));
	if ((show & SCRIPT_PID) && (show & SCRIPT_TID)) {
		out_printf(o, "%5d/%-5d ", ev->pid, ev->tid);
	} else if (show & (SCRIPT_PID | SCRIPT_TID)) {
		out_i64(o, show & SCRIPT_PID ? ev->pid : ev->tid, 5);
		out_putc(o, ' ');
	}
	if (show & SCRIPT_CPU) {
		if (s->o.latency) {
			out_i64(o, (int32_t)ev->cpu, 3);
			out_putc(o, ' ');
		} else if (ev->cpu > INT32_MAX) {
			out_printf(o, "[%03d] ", (int32_t)ev->cpu);
		} else {
			out_putc(o, '[');
			out_zeros(o, ev->cpu, 3);
			out_add(o, "] ", 2);
		}
	}
	if (show & SCRIPT_MISC)
		extra_misc(s, ev);
	if (show & SCRIPT_TOD)
		extra_tod(s, ev->time);
	if (show & SCRIPT_TIME)
		print_time(s, ev->time);
}

static bool is_mark(uint64_t ip)
{
	return ip == EVENT_CHAIN_KERNEL || ip == EVENT_CHAIN_USER || ip == EVENT_CHAIN_HV;
}

/* A marker that is none means that the walk went astray; perf then drops the whole chain. */
static bool is_astray(const struct event *ev, uint32_t n, unsigned max)
{
	unsigned frames = 0;

	for (uint32_t i = 0; i < n && frames < max; i++) {
		if (ev->chain[i] < EVENT_CHAIN_MARK)
			frames++;
		else if (!is_mark(ev->chain[i]))
			return true;
	}
	return false;
}

/*
 * Copied stacks were unwound with the caller's own address. Others have return addresses, but for
 * where the program itself was.
 */
uint32_t script_inlined(const struct script *s, const struct event *ev, bool first)
{
	if (ev->have & EVENT_UNWOUND)
		return s->o.inlines ? SITE_INLINED : 0;
	return s->o.inlines_all ? SITE_INLINED | (first ? 0 : SITE_CALLER) : 0;
}

void script_chain(struct script *s, const struct event *ev, uint32_t n, chain_fn *fn, void *ctx)
{
	enum event_mode mode = EVENT_MODE_USER;
	uint32_t space = TASK_SPACE_NONE, inlined;
	bool looked = false;
	bool unwound = ev->have & EVENT_UNWOUND;
	unsigned frames = 0;

	if (!s->o.everything && is_astray(ev, n, s->o.max_stack))
		return;
	for (uint32_t i = 0; i < n && (unwound || frames < s->o.max_stack); i++) {
		uint64_t ip = ev->chain[i];

		if (ip >= EVENT_CHAIN_MARK) {
			mode = ip == EVENT_CHAIN_KERNEL ? EVENT_MODE_KERNEL
			       : ip == EVENT_CHAIN_USER ? EVENT_MODE_USER
							: EVENT_MODE_HYPERVISOR;
			looked = false;
			if (unwound && mode == EVENT_MODE_USER)
				frames = 0; /* the kernel's were counted by themselves */
			continue;
		}
		if (frames >= s->o.max_stack)
			continue;
		if (!looked)
			space = site_space(s, ev, mode);
		inlined = mode == EVENT_MODE_USER ? script_inlined(s, ev, !looked) : 0;
		looked = true;
		frames++;
		if (!fn(s, &ev->chain[i], ev->chain_n - i - 1, space, inlined, ctx))
			return;
	}
}

static void print_ip(struct script *s, const struct event *ev, const struct script_type *t)
{
	const struct site *x;
	uint64_t show = t->show;

	if (t->chains) {
		out_putc(s->out, '\n');
		stack_print(s, ev, show);
		return;
	}
	out_putc(s->out, ' ');
	out_hex(s->out, site_shown(s, ev->ip), 16);
	x = site_find(s, site_space(s, ev, ev->mode), ev->ip, site_what(show));
	out_add(s->out, x->t.text, x->t.text_n);
}

/* Fields that most events do not have. */
static void print_extra(struct script *s, const struct event *ev, const struct script_type *t)
{
	const struct event_extra *x = ev->extra;
	uint64_t show = t->show;
	struct out *o = s->out;

	if ((show & SCRIPT_IREGS) && x)
		extra_regs(s, x->regs_intr_abi, x->regs_intr_mask, x->regs_intr);
	if ((show & SCRIPT_UREGS) && x)
		extra_regs(s, x->regs_abi, x->regs_mask, x->regs);
	if (show & (SCRIPT_BRSTACK | SCRIPT_BRSTACKSYM | SCRIPT_BRSTACKOFF))
		extra_branches(s, ev, show);
	if (t->bpf_output && (show & SCRIPT_BPF_OUTPUT))
		extra_bpf_output(s, ev);
	if (show & SCRIPT_PHYS_ADDR)
		out_hex(o, x ? x->phys_addr : 0, 16);
	if (show & SCRIPT_DATA_PAGE_SIZE)
		extra_page_size(s, x ? x->data_page_size : 0);
	if (show & SCRIPT_CODE_PAGE_SIZE)
		extra_page_size(s, x ? x->code_page_size : 0);
	if ((show & SCRIPT_CGROUP) && x) {
		const char *path = s->o.cgroup ? s->o.cgroup(s->o.ctx, x->cgroup) : NULL;

		out_printf(o, " %s", path ? path : "unknown");
	}
}

static void print_weights(struct script *s, const struct event *ev, const struct script_type *t)
{
	uint64_t w = ev->extra ? ev->extra->weight : 0;
	bool parts = s->trace->types[ev->type].has & TYPE_HAS_WEIGHT_PARTS;

	if (t->show & SCRIPT_WEIGHT)
		out_u64(s->out, parts ? w & UINT32_MAX : w, 16);
	if (t->show & SCRIPT_INS_LAT)
		out_u64(s->out, parts ? w >> 32 & 0xffff : 0, 16);
	if (t->show & SCRIPT_RETIRE_LAT)
		out_u64(s->out, parts ? w >> 48 : 0, 16);
}

static void print_sample(struct script *s, const struct event *ev)
{
	const struct script_type *t = &s->types[ev->type];
	struct out *o = s->out;
	uint64_t show = t->show;

	if (!show)
		return;
	script_start(s, ev, t, show);
	if (show & SCRIPT_PERIOD) {
		out_u64(o, ev->weight, 10);
		out_putc(o, ' ');
	}
	if (show & SCRIPT_EVENT) {
		out_pad(o, s->name_width - t->name_n);
		out_add(o, t->name, t->name_n);
		out_add(o, ": ", 2);
	}
	if (show & SCRIPT_FLAGS)
		out_printf(o, "  %-19s ", "");
	if ((show & SCRIPT_TRACE) && (ev->have & EVENT_HAVE_RAW)) {
		strbuf_reset(&s->text);
		text_print(s->trace->tep, &s->trace->types[ev->type], ev->raw, ev->raw_size,
			   &s->text);
		out_add(o, strbuf_str(&s->text), s->text.n);
	}
	if (show & SCRIPT_ADDR)
		extra_addr(s, ev, show);
	if (show & SCRIPT_DATA_SRC)
		extra_data_src(s, ev->extra ? ev->extra->data_src : 0);
	if (show & (SCRIPT_WEIGHT | SCRIPT_INS_LAT | SCRIPT_RETIRE_LAT))
		print_weights(s, ev, t);
	if (show & SCRIPT_IP)
		print_ip(s, ev, t);
	print_extra(s, ev, t);
	out_putc(o, '\n');
	if (show & SCRIPT_SRCCODE)
		extra_srccode(s, ev);
}

void script_event(struct script *s, const struct event *ev)
{
	/* part of the sample before it, or without a format */
	if (ev->kind == EVENT_OTHER && !ev->record)
		return;
	if (ev->kind != EVENT_SAMPLE && !side_wanted(s, ev)) {
		side_note(s, ev);
		return;
	}
	if (s->o.json)
		json_event(s, ev);
	else if (ev->kind == EVENT_SAMPLE)
		print_sample(s, ev);
	else
		side_print(s, ev);
}

/* --- -D --- */

struct lines {
	struct script *s;
	bool (*wants)(void *ctx, const struct event *ev);
	void *ctx;
};

static int put_sample_line(void *ctx, const struct event *ev)
{
	struct lines *l = ctx;
	struct script *s = l->s;
	const struct site *x;
	char comm[TASK_NAME];

	if (l->wants && !l->wants(l->ctx, ev))
		return 0;
	out_printf(s->out, " ... thread: %s:%d\n",
		   tasks_name_at(s->trace->tasks, ev->tid, ev->time, comm), ev->tid);
	x = site_find(s, site_space(s, ev, ev->mode), ev->ip, 0);
	out_printf(s->out, " ...... dso: %s\n",
		   x->map			       ? site_dso_name(s, x->t.dso)
		   : ev->mode == EVENT_MODE_HYPERVISOR ? "[hypervisor]"
						       : "<not found>");
	script_event(s, ev);
	return s->out->error ? 1 : 0;
}

int script_dump(struct script *s, struct source *src, const char *file,
		bool (*wants)(void *ctx, const struct event *ev), void *ctx, struct err *e)
{
	struct lines lines = { s, wants, ctx };
	struct source_dump d = { .out = s->out,
				 .file = file,
				 .unsorted = s->o.unsorted,
				 .sample = put_sample_line,
				 .ctx = &lines };

	if (!src->dump)
		return err_set(e, EOPNOTSUPP, "-D: %s has no records of perf's kind", src->format);
	return src->dump(src, &d);
}
