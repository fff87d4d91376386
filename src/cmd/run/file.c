/* SPDX-License-Identifier: MIT */
/* kymo run -i: the same program over a recording. */
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/guard.h"
#include "calc/profile/names.h"
#include "cmd/command.h"
#include "cmd/run/run.h"
#include "cmd/share/input.h"
#include "lang/vm/vm.h"
#include "view/run/show.h"

#define FLUSH_BYTES 65536u

struct timer {
	size_t code;
	uint64_t every, next;
};

struct replay {
	struct source *source;
	struct lang_program *p;
	struct lang_vm *vm;
	struct lang_out out;
	struct lang_host host;
	struct symbols *symbols;
	/* Which codes an event type runs: by type, indices into codes, -1 at the end. */
	VEC(size_t) * by_type;
	VEC(struct timer) timers;
	uint64_t time; /* of the event that is handled */
	uint64_t wall_offset;
	int out_fd, write_error;
	bool started;
};

static const struct event_type *run_file_find_type(const struct trace *t, const char *system,
						   const char *event)
{
	for (size_t i = 0; i < t->n_types; i++)
		if (t->types[i].system && strcmp(t->types[i].system, system) == 0 &&
		    strcmp(t->types[i].event, event) == 0)
			return &t->types[i];
	return NULL;
}

static const struct event_type *tp_type(void *ctx, const char *system, const char *event)
{
	return run_file_find_type(((struct source *)ctx)->trace, system, event);
}

static int match(void *ctx, const struct lang_point *p, lang_match_fn *fn, void *arg, struct err *e)
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

static const char *run_file_refused(void *ctx, const struct lang_point *p, char *buf, size_t size)
{
	(void)ctx;
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

static void run_file_flush(struct replay *r)
{
	if (r->out.errors.n) {
		fputs(strbuf_str(&r->out.errors), stderr);
		strbuf_reset(&r->out.errors);
	}
	if (r->out.text.n && !r->write_error) {
		int k = r->out.guard ? file_write_all(r->out_fd, r->out.text.data, r->out.text.n)
				     : guard_write(r->out_fd, r->out.text.data, r->out.text.n);

		r->write_error = k < 0 ? -k : 0;
	}
	strbuf_reset(&r->out.text);
}

static bool resolve(struct replay *r, const struct task_map *m, uint64_t addr, struct strbuf *b,
		    uint64_t *offset, struct strbuf *module)
{
	const struct tasks *t = r->source->trace->tasks;
	const struct task_dso *d = m ? tasks_get_dso(t, m->dso) : NULL;
	uint32_t whose = m ? names_symbols_at(t, r->symbols, m, &addr) : SYMBOLS_KERNEL;
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
	s = symbols_resolve(r->symbols, whose, addr, SYMBOLS_NAMES);
	if (s->name == SYMBOLS_NONE)
		return false;
	strbuf_puts(b, symbols_text(r->symbols, s->name));
	*offset = addr - s->start;
	return true;
}

/* The host's ctx is the machine's; names come from here. */
static struct replay *current;

static bool ksym(void *ctx, uint64_t addr, struct strbuf *b, uint64_t *offset)
{
	const struct tasks *t = current->source->trace->tasks;

	(void)ctx;
	return resolve(current, tasks_find(t, tasks_kernel_at(t, current->time), addr), addr, b,
		       offset, NULL);
}

static bool usym(void *ctx, int32_t pid, uint64_t addr, struct strbuf *b, uint64_t *offset,
		 struct strbuf *module)
{
	const struct tasks *t = current->source->trace->tasks;
	const struct task_map *m = tasks_find(t, tasks_space_at(t, pid, current->time), addr);

	(void)ctx;
	return m && resolve(current, m, addr, b, offset, module);
}

static uint64_t wall(void *ctx, uint64_t ns)
{
	(void)ctx;
	return ns + current->wall_offset;
}

static uint64_t now(void *ctx)
{
	(void)ctx;
	return current->time + current->wall_offset;
}

static void run_code(struct replay *r, size_t code, const struct lang_vm_event *ev)
{
	if (!r->out.exit)
		lang_vm_run(r->vm, code, ev);
	if (r->out.text.n > FLUSH_BYTES)
		run_file_flush(r);
}

static void run_kind(struct replay *r, enum lang_kind kind)
{
	struct lang_vm_event ev = { .time = r->time, .comm = "kymo" };

	for (size_t i = 0; i < r->p->codes.n; i++)
		if (r->p->points.data[r->p->codes.data[i].point[0]].kind == kind)
			run_code(r, i, &ev);
}

/* Intervals go by the recording's own time. */
static void run_timers(struct replay *r, uint64_t time)
{
	vec_each (&r->timers, t)
		while (t->next <= time && !r->out.exit) {
			r->time = t->next;
			run_code(r, t->code,
				 &(struct lang_vm_event){ .time = t->next, .comm = "kymo" });
			t->next += t->every;
		}
	r->time = time;
}

static int run_file_on_event(void *ctx, const struct event *ev)
{
	struct replay *r = ctx;
	const struct trace *t = r->source->trace;
	struct lang_vm_event e = { .time = ev->time,
				   .pid = ev->pid,
				   .tid = ev->tid,
				   .cpu = ev->cpu,
				   .raw = ev->raw,
				   .raw_size = ev->raw_size,
				   .chain = ev->chain,
				   .chain_n = ev->chain_n };
	uint32_t comm;

	if (ev->kind != EVENT_SAMPLE || ev->type >= t->n_types)
		return 0;
	if (!r->started) {
		r->started = true;
		vec_each (&r->timers, k)
			k->next = ev->time + k->every;
	}
	run_timers(r, ev->time);
	r->time = ev->time;
	if (r->by_type[ev->type].n) {
		comm = tasks_comm_at(t->tasks, ev->tid, ev->time);
		e.comm = ev->tid == 0	       ? "swapper"
			 : comm == STRTAB_NONE ? ""
					       : strtab_get(tasks_strings(t->tasks), comm);
		if (ev->tid == 0) {
			static char idle[16];

			snprintf(idle, sizeof(idle), "swapper/%u", ev->cpu);
			e.comm = idle;
		}
		for (size_t i = 0; i < r->by_type[ev->type].n; i++)
			run_code(r, r->by_type[ev->type].data[i], &e);
	}
	return r->out.exit || r->write_error ? 1 : 0;
}

/* A name without what stands behind it: "page-faults/period=7/", "cycles:u". */
static bool run_file_is_named(const struct event_type *t, const char *name)
{
	size_t n = strlen(name);

	return t->name && strncmp(t->name, name, n) == 0 && strchr("/:", t->name[n]);
}

static bool run_file_is_clock(const struct event_type *t)
{
	return run_file_is_named(t, "cpu-clock") || run_file_is_named(t, "task-clock") ||
	       run_file_is_named(t, "cycles") || run_file_is_named(t, "cpu-cycles") ||
	       run_file_is_named(t, "instructions") || run_file_is_named(t, "ref-cycles");
}

/* exact: only the event that --record takes for such a probe. */
static bool samples(const struct lang_point *p, const struct event_type *t, bool exact)
{
	AUTO_STRBUF b = { 0 };

	if (p->kind == LP_TRACEPOINT)
		return t->system && strcmp(t->system, p->target) == 0 &&
		       strcmp(t->event, p->name) == 0;
	if (t->system || !t->name || !run_record_event(p, &b))
		return false;
	if (exact)
		return strcmp(strbuf_str(&b), t->name) == 0;
	return p->kind == LP_PROFILE ? run_file_is_clock(t) : run_file_is_named(t, p->name);
}

static void wire_point(struct replay *r, size_t code, const struct lang_point *p)
{
	const struct trace *t = r->source->trace;
	bool exact = false;

	for (size_t i = 0; i < t->n_types; i++)
		exact |= samples(p, &t->types[i], true);
	for (size_t i = 0; i < t->n_types; i++)
		if (samples(p, &t->types[i], exact))
			vec_push(&r->by_type[i], code);
}

static void wire(struct replay *r)
{
	const struct trace *t = r->source->trace;

	r->by_type = mem_alloc((t->n_types + 1) * sizeof(*r->by_type));
	for (size_t c = 0; c < r->p->codes.n; c++)
		for (size_t k = 0; k < r->p->codes.data[c].n_points; k++) {
			const struct lang_point *p =
				&r->p->points.data[r->p->codes.data[c].point[k]];

			if (p->kind == LP_INTERVAL) {
				uint64_t unit = strcmp(p->target, "s") == 0    ? 1000000000
						: strcmp(p->target, "ms") == 0 ? 1000000
						: strcmp(p->target, "us") == 0 ? 1000
									       : 1;

				vec_push(&r->timers,
					 (struct timer){ .code = c,
							 .every = strcmp(p->target, "hz") == 0
									  ? 1000000000 / p->number
									  : p->number * unit });
			}
			wire_point(r, c, p);
		}
}

static void notes(const struct replay *r)
{
	for (size_t i = LANG_MAP_FIXED; i < r->p->maps.n; i++) {
		const struct lang_map *m = &r->p->maps.data[i];
		uint64_t n = m->name ? lang_vm_counter(r->vm, m->full_counter) : 0;

		if (n)
			command_note("%s is full (%u keys): %llu updates were refused; "
				     "BPFTRACE_MAP_KEYS_MAX=%u allows more",
				     m->name, m->entries, (unsigned long long)n, m->entries * 4);
	}
	input_warn(r->source);
}

static int replay(struct replay *r, bool quiet, int *code, struct err *e)
{
	const struct trace *t = r->source->trace;
	struct input_kernel kernel = { 0 };
	const char *note;
	int k;

	current = r;
	r->out.p = r->p;
	r->out.h = &r->host;
	k = lang_vm_open(r->p, &r->out, &r->vm, e);
	if (k < 0)
		return k;
	lang_vm_host(r->vm, &r->host);
	r->host.ksym = ksym;
	r->host.usym = usym;
	r->host.syscall = run_syscall_name;
	r->host.wall = wall;
	r->host.now = now;
	if (t->info.wall_time)
		r->wall_offset = t->info.wall_time - t->info.wall_clock_time;
	r->symbols = symbols_new(
		&(struct symbols_opts){ .find = input_find(r->source, input_symfs(NULL)) });
	input_kernel_symbols(r->source, &kernel, r->symbols, &note, e);
	wire(r);
	(void)quiet;
	r->time = t->first_time;
	lang_vm_start(r->vm, r->time);
	run_kind(r, LP_BEGIN);
	k = r->out.exit ? 0 : r->source->read_ordered(r->source, false, run_file_on_event, r, e);
	if (k >= 0) {
		*code = r->out.exit_code;
		r->out.exit = false;
		r->out.ending = true;
		run_kind(r, LP_END);
		if (!r->out.json)
			strbuf_puts(&r->out.text, "\n\n");
		show_maps(&r->out);
		run_file_flush(r);
		notes(r);
	}
	lang_vm_close(r->vm);
	symbols_free(r->symbols);
	for (size_t i = 0; i < t->n_types; i++)
		vec_free(&r->by_type[i]);
	free(r->by_type);
	vec_free(&r->timers);
	return k < 0 ? k : 0;
}

int run_over_file(const char *path, const struct lang_source *src, const struct run_file_opts *o,
		  int *code, struct err *e)
{
	struct replay r = { .out_fd = o->out_fd, .out = { .printer = &show_printer, .json = o->json, .guard = o->guard } };
	struct lang_env env = { .ncpus = 1,
				.recorded = true,
				.match = match,
				.refused = run_file_refused,
				.tp_type = tp_type };
	int k = input_open(path, &r.source, e);

	if (k < 0)
		return k;
	env.ctx = r.source;
	k = o->compile(o->ctx, &env, src, &r.p, e);
	if (k == 0 && r.p->stack_depth)
		input_unwind(&r.source, input_symfs(NULL));
	if (k == 0 && !o->only_compile)
		k = replay(&r, o->quiet, code, e);
	if (k == 0 && r.write_error && r.write_error != EPIPE)
		k = err_set(e, r.write_error, "cannot write the output: %s",
			    strerror(r.write_error));
	lang_out_free(&r.out);
	lang_program_free(r.p);
	source_close(r.source);
	return k;
}
