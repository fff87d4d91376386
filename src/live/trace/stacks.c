/* SPDX-License-Identifier: MIT */
#include "live/trace/stacks.h"

#include <string.h>
#include <time.h>

#include "base/mem.h"

#define NEVER (1ull << 62)
#define SETTLE_MS 300

static void trace_stacks_add_event(struct spec_list *l)
{
	struct event_spec s = { .name = "emulation-faults",
				.text = "emulation-faults",
				.kind = SPEC_SOFTWARE,
				.members = 1,
				.scale = 1.0,
				.terms = SPEC_TERM_PERIOD | SPEC_TERM_NAME,
				.period = NEVER };

	s.attr.type = PERF_TYPE_SOFTWARE;
	s.attr.config = PERF_COUNT_SW_EMULATION_FAULTS;
	l->cap = 8;
	l->spec = mem_alloc(l->cap * sizeof(*l->spec));
	l->spec[l->n++] = s;
}

static struct symbols *new_symbols(void)
{
	return symbols_new(&(struct symbols_opts){ .no_debuginfod = true, .threads = 1 });
}

int trace_stacks_open(struct trace_stacks *s, struct target *t, uint32_t max, struct err *e)
{
	struct capture_opts o = { .chain = max ? CAPTURE_AUTO : CAPTURE_NO_CHAIN,
				  .inherit = true,
				  .time = true,
				  .has_clock = true,
				  .clock_id = CLOCK_MONOTONIC,
				  .prompt = true,
				  .all_user = true };
	int r;

	*s = (struct trace_stacks){ .max = max };
	trace_stacks_add_event(&s->specs);
	r = monitor_open(&s->monitor, &s->specs, t, &o, e);
	if (r < 0)
		return r;
	s->open = true;
	if (max && !s->monitor.walked.walker) {
		struct err why = { 0 };
		struct walked probe = { 0 };

		/* say what it was */
		if (walked_open(&probe, &s->specs, t, &o, true, &why) < 0) {
			*e = why;
			return -e->code;
		}
		walked_close(&probe);
		return err_set(e, EOPNOTSUPP, "the stack walker does not work here");
	}
	s->symbols = new_symbols();
	return 0;
}

struct walker *trace_stacks_walker(const struct trace_stacks *s)
{
	return s->max ? s->monitor.walked.walker : NULL;
}

int trace_stacks_start(struct trace_stacks *s, struct err *e)
{
	return s->open ? capture_enable(&s->monitor.capture, e) : 0;
}

static uint64_t trace_stacks_key_of(uint32_t tid, uint64_t time)
{
	return map_hash(time) ^ tid;
}

static int trace_stacks_on_sample(void *ctx, const struct event *ev)
{
	struct trace_stacks *s = ctx;
	struct trace_stack st = { .tid = (uint32_t)ev->tid,
				  .pid = (uint32_t)ev->pid,
				  .time = ev->time };

	st.addr = arena_alloc(&s->arena, (ev->chain_n + 1) * sizeof(*st.addr));
	for (uint32_t i = 0; i < ev->chain_n && st.n < s->max; i++)
		if (ev->chain[i] < EVENT_CHAIN_MARK)
			st.addr[st.n++] = ev->chain[i];
	vec_push(&s->stacks, st);
	*map_at(&s->at, trace_stacks_key_of(st.tid, st.time)) = s->stacks.n;
	return 0;
}

int trace_stacks_poll(struct trace_stacks *s, struct err *e)
{
	struct source *source = s->monitor.source;

	return s->open ? source->poll(source, true, trace_stacks_on_sample, s, e) : 0;
}

void trace_stacks_settle(struct trace_stacks *s)
{
	if (s->open && trace_stacks_walker(s))
		walker_settle(trace_stacks_walker(s), SETTLE_MS);
}

const struct trace_stack *trace_stacks_find(const struct trace_stacks *s, uint32_t tid,
					    uint64_t time)
{
	const uint64_t *at = map_find(&s->at, trace_stacks_key_of(tid, time));

	return at && *at ? &s->stacks.data[*at - 1] : NULL;
}

static uint32_t dso_of(struct trace_stacks *s, uint32_t dso)
{
	const struct tasks *t = s->monitor.source->trace->tasks;
	const struct task_dso *d = tasks_get_dso(t, dso);
	struct find_want want = { .path = tasks_dso_file(t, dso) };

	while (s->dsos.n <= dso)
		vec_push(&s->dsos, 0);
	if (!s->dsos.data[dso]) {
		memcpy(want.id.data, d->build_id, d->build_id_size);
		want.id.len = d->build_id_size;
		s->dsos.data[dso] = symbols_dso(s->symbols, &want) + 1;
	}
	return s->dsos.data[dso] - 1;
}

void trace_stacks_name(struct trace_stacks *s, uint32_t pid, uint64_t time, uint64_t addr,
		       struct strbuf *b)
{
	const struct tasks *t = s->monitor.source->trace->tasks;
	uint32_t space = tasks_space_at(t, (int32_t)pid, time);
	const struct task_map *m = space == TASK_SPACE_NONE ? NULL : tasks_find(t, space, addr);
	const struct sym_result *r;
	uint64_t at;

	if (!m) {
		strbuf_printf(b, "0x%llx", (unsigned long long)addr);
		return;
	}
	at = addr - m->start + m->pgoff;
	r = symbols_resolve(s->symbols, dso_of(s, m->dso), at, SYMBOLS_NAMES);
	if (r->name != SYMBOLS_NONE)
		strbuf_printf(b, "%s+0x%llx", symbols_text(s->symbols, r->name),
			      (unsigned long long)at - r->start);
	else
		strbuf_printf(b, "0x%llx", (unsigned long long)at);
	strbuf_printf(b, " (%s)", tasks_dso_path(t, m->dso));
}

/* Days of tracing are days of new programs. */
static void renew(struct trace_stacks *s)
{
	struct tasks_wanted none;
	struct tasks_moved moved;

	if (!monitor_grown(&s->monitor) && !symbols_grown(s->symbols, (struct symbols_use){ 0 }))
		return;
	tasks_want_none(s->monitor.source->trace->tasks, &none);
	tasks_free(monitor_renew(&s->monitor, &none, &moved));
	tasks_wanted_free(&none);
	tasks_moved_free(&moved);
	s->dsos.n = 0;
	symbols_free(s->symbols);
	s->symbols = new_symbols();
}

void trace_stacks_forget(struct trace_stacks *s)
{
	s->stacks.n = 0;
	map_free(&s->at);
	arena_free(&s->arena);
	if (s->open && s->symbols)
		renew(s);
}

void trace_stacks_close(struct trace_stacks *s)
{
	trace_stacks_forget(s);
	vec_free(&s->stacks);
	vec_free(&s->dsos);
	if (s->symbols)
		symbols_free(s->symbols);
	if (s->open)
		monitor_close(&s->monitor);
	free(s->specs.spec);
}
