/* SPDX-License-Identifier: MIT */
#include "calc/program/replay.h"

#include "calc/profile/names.h"
#include "event/match.h"
#include "lang/vm/vm.h"

#define WRITE_BYTES 65536u

struct replay_timer {
	size_t code;
	uint64_t every, next;
};

struct replay {
	const struct replay_opts *o;
	struct lang_program *p;
	const struct trace *t;
	struct lang_vm *vm;
	struct lang_out out;
	struct lang_host host;
	VEC(size_t) * codes_of; /* by event type: indices into codes */
	VEC(struct replay_timer) timers;
	uint64_t time; /* of the event that is handled */
	uint64_t wall_offset;
	bool started;
	bool stopped; /* the output cannot be written */
};

static const struct event_type *replay_tracepoint(void *ctx, const char *system, const char *event)
{
	const struct trace *t = ((struct source *)ctx)->trace;

	uint32_t i = match_find_tracepoint(t, system, event);

	return i == MATCH_NONE ? NULL : &t->types[i];
}

static int replay_match(void *ctx, const struct lang_point *p, lang_match_fn *fn, void *arg,
			struct err *e)
{
	const struct trace *t = ((struct source *)ctx)->trace;
	struct str_nearest near = { .typed = p->name };
	char list[192];
	int n = 0;

	switch (p->kind) {
	case LP_TRACEPOINT:
		for (size_t i = 0; i < t->n_types; i++)
			if (t->types[i].system) {
				str_nearest_add(&near, t->types[i].event);
				if (str_glob(p->target, t->types[i].system) &&
				    str_glob(p->name, t->types[i].event)) {
					fn(arg, t->types[i].system, t->types[i].event);
					n++;
				}
			}
		break;
	case LP_SOFTWARE:
	case LP_HARDWARE: fn(arg, NULL, p->name); return 1;
	default:
		return err_set(e, EOPNOTSUPP, "a recording has no %s probes",
			       lang_kind_name[p->kind]);
	}
	if (!n) {
		err_set(e, ENOENT, "nothing");
		if (str_nearest_list(&near, list, sizeof(list)))
			err_hint(e, "the recording has %s", list);
		else
			err_hint(e, "kymo evlist shows what the recording has");
	}
	return n;
}

static const char *replay_refused(void *ctx, const struct lang_point *p, char *buf, size_t size)
{
	switch (p->kind) {
	case LP_BEGIN:
	case LP_END:
	case LP_INTERVAL:
	case LP_PROFILE:
	case LP_TRACEPOINT:
	case LP_SOFTWARE:
	case LP_HARDWARE: return NULL;
	default:
		snprintf(buf, size,
			 "tracepoint, profile, software, hardware, interval, BEGIN and END can be "
			 "asked of recordings");
		return "a recording has no probes of this kind";
	}
}

void replay_env(struct source *s, struct lang_env *env)
{
	*env = (struct lang_env){ .ctx = s,
				  .ncpus = 1,
				  .recorded = true,
				  .match = replay_match,
				  .refused = replay_refused,
				  .tp_type = replay_tracepoint };
}

static void replay_write(struct replay *r)
{
	r->stopped |= !r->o->write(r->o->ctx, &r->out);
	strbuf_reset(&r->out.errors);
	strbuf_reset(&r->out.text);
}

static bool replay_resolve(struct replay *r, const struct task_map *m, uint64_t addr,
			   struct strbuf *b, uint64_t *offset, struct strbuf *module)
{
	const struct tasks *t = r->t->tasks;
	const struct task_dso *d = m ? tasks_get_dso(t, m->dso) : NULL;
	uint32_t whose = m ? names_symbols_at(t, r->o->symbols, m, &addr) : SYMBOLS_KERNEL;
	const struct sym_result *s;

	if (d && d->ksymbol) { /* the recording itself names it */
		strbuf_puts(b, tasks_dso_path(t, m->dso));
		*offset = addr - m->start;
		return true;
	}
	if (d && !d->kernel && module)
		strbuf_puts(module, tasks_dso_path(t, m->dso));
	if (whose == SYMBOLS_NONE)
		return false;
	s = symbols_resolve(r->o->symbols, whose, addr, SYMBOLS_NAMES);
	if (s->name == SYMBOLS_NONE)
		return false;
	strbuf_puts(b, symbols_text(r->o->symbols, s->name));
	*offset = addr - s->start;
	return true;
}

static bool replay_ksym(void *ctx, uint64_t addr, struct strbuf *b, uint64_t *offset)
{
	struct replay *r = lang_vm_user(ctx);
	const struct tasks *t = r->t->tasks;

	return replay_resolve(r, tasks_find(t, tasks_kernel_at(t, r->time), addr), addr, b, offset,
			      NULL);
}

static bool replay_usym(void *ctx, int32_t pid, uint64_t addr, struct strbuf *b, uint64_t *offset,
			struct strbuf *module)
{
	struct replay *r = lang_vm_user(ctx);
	const struct tasks *t = r->t->tasks;
	const struct task_map *m = tasks_find(t, tasks_space_at(t, pid, r->time), addr);

	return m && replay_resolve(r, m, addr, b, offset, module);
}

static uint64_t replay_wall(void *ctx, uint64_t ns)
{
	return ns + ((struct replay *)lang_vm_user(ctx))->wall_offset;
}

static uint64_t replay_now(void *ctx)
{
	return replay_wall(ctx, ((struct replay *)lang_vm_user(ctx))->time);
}

static void replay_code(struct replay *r, size_t code, const struct lang_vm_event *ev)
{
	if (!r->out.exit)
		lang_vm_run(r->vm, code, ev);
	if (r->out.text.n > WRITE_BYTES)
		replay_write(r);
}

static void replay_kind(struct replay *r, enum lang_kind kind)
{
	struct lang_vm_event ev = { .time = r->time, .comm = "kymo" };

	for (size_t i = 0; i < r->p->codes.n; i++)
		if (r->p->points.data[r->p->codes.data[i].point[0]].kind == kind)
			replay_code(r, i, &ev);
}

static void replay_timer_set(struct replay_timer *t, uint64_t now)
{
	if (__builtin_add_overflow(now, t->every, &t->next))
		t->next = UINT64_MAX; /* never */
}

/* Intervals go by the recording's own time. */
static void replay_timers(struct replay *r, uint64_t time)
{
	vec_each (&r->timers, t)
		while (t->next <= time && t->next != UINT64_MAX && !r->out.exit) {
			r->time = t->next;
			replay_code(r, t->code,
				    &(struct lang_vm_event){ .time = t->next, .comm = "kymo" });
			replay_timer_set(t, t->next);
		}
	r->time = time;
}

static int replay_event(void *ctx, const struct event *ev)
{
	struct replay *r = ctx;
	struct lang_vm_event e = { .time = ev->time,
				   .pid = ev->pid,
				   .tid = ev->tid,
				   .cpu = ev->cpu,
				   .raw = ev->raw,
				   .raw_size = ev->raw_size,
				   .chain = ev->chain,
				   .chain_n = ev->chain_n };
	char idle[20];

	if (ev->kind != EVENT_SAMPLE || ev->type >= r->t->n_types)
		return 0;
	if (!r->started) {
		r->started = true;
		vec_each (&r->timers, k)
			replay_timer_set(k, ev->time);
	}
	replay_timers(r, ev->time);
	if (r->codes_of[ev->type].n) {
		e.comm = ev->tid ? tasks_name_or(r->t->tasks, ev->tid, ev->time, "") : idle;
		if (ev->tid == 0)
			snprintf(idle, sizeof(idle), "swapper/%u", ev->cpu);
		vec_each (&r->codes_of[ev->type], code)
			replay_code(r, *code, &e);
	}
	return r->out.exit || r->stopped;
}

static bool replay_is_clock(const struct event_type *t)
{
	return match_type(t, "cpu-clock") || match_type(t, "task-clock") ||
	       match_type(t, "cycles") || match_type(t, "cpu-cycles") ||
	       match_type(t, "instructions") || match_type(t, "ref-cycles");
}

/* exact: only the event that --record takes for such a probe. */
static bool replay_is_hit(const struct lang_point *p, const struct event_type *t, bool exact)
{
	AUTO_STRBUF b = { 0 };

	if (p->kind == LP_TRACEPOINT)
		return match_tracepoint(t, p->target, p->name);
	if (t->system || !t->name || !lang_point_event(p, &b))
		return false;
	if (exact)
		return strcmp(strbuf_str(&b), t->name) == 0;
	return p->kind == LP_PROFILE ? replay_is_clock(t) : match_type(t, p->name);
}

static void replay_wire_point(struct replay *r, size_t code, const struct lang_point *p)
{
	bool exact = false;

	if (p->kind == LP_INTERVAL)
		vec_push(&r->timers,
			 (struct replay_timer){ .code = code, .every = lang_point_every(p) });
	for (size_t i = 0; i < r->t->n_types; i++)
		exact |= replay_is_hit(p, &r->t->types[i], true);
	for (size_t i = 0; i < r->t->n_types; i++)
		if (replay_is_hit(p, &r->t->types[i], exact))
			vec_push(&r->codes_of[i], code);
}

/* Which events run which code. */
static void replay_wire(struct replay *r)
{
	r->codes_of = mem_alloc((r->t->n_types + 1) * sizeof(*r->codes_of));
	for (size_t c = 0; c < r->p->codes.n; c++)
		for (size_t k = 0; k < r->p->codes.data[c].n_points; k++)
			replay_wire_point(r, c, &r->p->points.data[r->p->codes.data[c].point[k]]);
}

static void replay_notes(const struct replay *r, struct strbuf *notes)
{
	for (size_t i = LANG_MAP_FIXED; i < r->p->maps.n; i++) {
		const struct lang_map *m = &r->p->maps.data[i];
		uint64_t n = m->name ? lang_vm_counter(r->vm, m->full_counter) : 0;

		if (n)
			strbuf_printf(notes,
				      "%s is full (%u keys): %llu updates were refused; "
				      "BPFTRACE_MAP_KEYS_MAX=%u allows more\n",
				      m->name, m->entries, (unsigned long long)n, m->entries * 4);
	}
}

/* From BEGIN to END, and the maps. */
static int replay_all(struct replay *r, struct err *e)
{
	struct source *s = r->o->source;
	int k;

	lang_vm_start(r->vm, r->time);
	replay_kind(r, LP_BEGIN);
	k = r->out.exit ? 0 : s->read_ordered(s, false, replay_event, r, e);
	if (k < 0)
		return k;
	r->out.exit = false;
	r->out.ending = true;
	replay_kind(r, LP_END);
	if (!r->out.json)
		strbuf_puts(&r->out.text, "\n\n");
	r->out.printer->maps(&r->out);
	replay_write(r);
	return 0;
}

int replay_run(const struct replay_opts *o, int *code, struct strbuf *notes, struct err *e)
{
	struct replay r = { .o = o,
			    .p = o->program,
			    .t = o->source->trace,
			    .time = o->source->trace->first_time,
			    .out = { .p = o->program,
				     .h = &r.host,
				     .printer = o->printer,
				     .json = o->json,
				     .guard = o->guard } };
	int k = lang_vm_open(r.p, &r.out, &r, o->max_steps, &r.vm, e);

	if (k < 0)
		return k;
	lang_vm_host(r.vm, &r.host);
	r.host.ksym = replay_ksym;
	r.host.usym = replay_usym;
	r.host.wall = replay_wall;
	r.host.now = replay_now;
	if (r.t->info.wall_time)
		r.wall_offset = r.t->info.wall_time - r.t->info.wall_clock_time;
	replay_wire(&r);
	k = replay_all(&r, e);
	if (k == 0) {
		*code = r.out.exit_code;
		replay_notes(&r, notes);
	}
	lang_vm_close(r.vm);
	lang_out_free(&r.out);
	for (size_t i = 0; i < r.t->n_types; i++)
		vec_free(&r.codes_of[i]);
	free(r.codes_of);
	vec_free(&r.timers);
	return k;
}
