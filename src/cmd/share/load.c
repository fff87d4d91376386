/* SPDX-License-Identifier: MIT */
#include "cmd/share/load.h"

#include <string.h>

#include "calc/read/unwound.h"
#include "cmd/command.h"
#include "cmd/share/input.h"
#include "cmd/share/open.h"
#include "event/match.h"
#include "event/text.h"
#include "store/perfdata/perfdata.h"

int load_open(struct load *l, const struct load_opts *o, struct err *e)
{
	int r;

	*l = (struct load){ .opts = *o, .socket_wanted = -1 };
	l->opts.symfs = input_symfs(o->symfs);
	progress_begin(&l->progress, "opening the recording", o->quiet);
	r = o->inputs.n > 1 ? source_open_all(o->inputs.data, o->inputs.n, &l->source, e)
			    : input_open(o->input, &l->source, e);
	progress_end(&l->progress);
	if (r == 0 && gate_wanted(&o->gate)) {
		r = gate_make(&l->gate, &o->gate, l->source->trace, e);
		if (r == 0) /* in the order of time, before stacks are unwound */
			r = gate_learn(&l->gate, l->source, e);
	}
	if (r == 0 && !o->as_recorded) {
		l->unwound = unwound_needed(l->source) || l->source->trace->info.walked;
		input_unwind(&l->source, l->opts.symfs);
	}
	if (r == 0 && (o->off_cpu || o->wakers))
		r = input_off_cpu(&l->source, o->wakers, e);
	if (r == 0)
		r = pick_make(&l->pick, &o->pick, l->source->trace, e);
	return r;
}

bool load_has(const struct load *l, unsigned what)
{
	for (size_t i = 0; i < l->source->trace->n_types; i++)
		if (l->source->trace->types[i].has & what)
			return true;
	return false;
}

struct type_list {
	struct load *l;
	struct err *e;
};

static int pick_type(void *ctx, const char *part, size_t n)
{
	struct type_list *t = ctx;
	const struct trace *trace = t->l->source->trace;
	AUTO_FREE char *text = mem_strndup(part, n);
	AUTO_STRBUF names = { 0 };
	bool any = false;

	for (size_t i = 0; i < trace->n_types; i++)
		if (match_type(&trace->types[i], text))
			t->l->types[i] = any = true;
	if (any)
		return 0;
	match_list(trace, &names);
	err_set(t->e, ENOENT, "the recording has no event '%s'", text);
	return err_hint(t->e, "it has %s", names.n ? strbuf_str(&names) : "none at all");
}

int load_pick_types(struct load *l, const char *list, struct err *e)
{
	struct type_list t = { .l = l, .e = e };

	l->types = mem_alloc(l->source->trace->n_types + 1);
	return str_split(list, ',', pick_type, &t);
}

static bool is_perfdata(const struct load *l)
{
	return strcmp(l->source->format, "perf.data") == 0;
}

const char *load_cgroup(void *ctx, uint64_t id)
{
	const struct load *l = ctx;

	return is_perfdata(l) ? perfdata_cgroup(l->source, id) : NULL;
}

int load_socket(void *ctx, uint32_t cpu)
{
	const struct load *l = ctx;

	return is_perfdata(l) ? perfdata_socket(l->source, cpu) : -1;
}

static void load_namespace(void *ctx, int32_t tid, uint64_t time, uint64_t *dev, uint64_t *ino)
{
	const struct load *l = ctx;

	if (is_perfdata(l))
		perfdata_cgroup_namespace(l->source, tid, time, dev, ino);
}

void load_plan(struct load *l, const struct columns *c, struct extra_plan *ret)
{
	extra_plan(ret, c, l->source->trace);
	ret->namespace = load_namespace;
	ret->ctx = l;
}

enum profile_want load_wants(const struct load *l, const struct event *ev)
{
	enum profile_want w;

	if (l->types && ev->kind == EVENT_SAMPLE && !l->types[ev->type])
		return PROFILE_SKIP;
	if (gate_wanted(&l->opts.gate) && !gate_passed(&l->gate, ev))
		return PROFILE_SKIP;
	w = pick_event(&l->pick, ev);
	if (w == PROFILE_COUNT && l->socket_wanted >= 0 &&
	    load_socket((void *)(uintptr_t)l, ev->cpu) != l->socket_wanted)
		return PROFILE_ASIDE;
	return w;
}

static enum profile_want load_want(void *ctx, const struct event *ev)
{
	return load_wants(ctx, ev);
}

static size_t load_extra(void *ctx, const struct event *ev, const struct event_branch *branch,
			 uint64_t *buf)
{
	return extra_fill(((struct load *)ctx)->counting, ev, branch, buf);
}

static void progress(void *ctx, size_t done, size_t all)
{
	progress_at(&((struct load *)ctx)->progress, done, all);
}

int load_profile(struct load *l, const struct extra_plan *plan, const struct profile_opts *o,
		 struct profile *ret, struct err *e)
{
	bool some = pick_any(&l->pick) || l->socket_wanted >= 0 || l->types ||
		    gate_wanted(&l->opts.gate);
	struct profile_opts po = *o;
	int r;

	l->counting = plan;
	po.want = some ? load_want : NULL;
	po.progress = progress;
	po.extra = plan && plan->any ? load_extra : NULL;
	po.ctx = l;
	progress_begin(&l->progress, "reading samples", l->opts.quiet);
	r = profile_make(l->source, &po, ret, e);
	progress_end(&l->progress);
	return r;
}

int load_count(struct load *l, const struct profile_opts *o, struct err *e)
{
	int r = load_profile(l, &l->plan, o, &l->profile, e);

	l->counted = r == 0;
	return r;
}

/* Kernel functions in the texts of tracepoints. */
static const char *load_resolve_kernel(void *ctx, uint64_t addr, uint64_t *start,
				       const char **module)
{
	struct load *l = ctx;
	const struct sym_result *r;

	*module = NULL;
	if (!tasks_find(l->source->trace->tasks, TASK_SPACE_KERNEL, addr))
		return NULL;
	r = symbols_resolve(l->symbols, SYMBOLS_KERNEL, addr, SYMBOLS_NAMES);
	if (r->name == SYMBOLS_NONE)
		return NULL;
	*start = r->start;
	if (r->module != SYMBOLS_NONE)
		*module = symbols_text(l->symbols, r->module);
	return symbols_text(l->symbols, r->name);
}

static void on_servers(void *ctx, const struct debuginfod_stats *st)
{
	struct load *l = ctx;
	char text[128], size[32];

	snprintf(text, sizeof(text), "asking debuginfod: %u of %u files, %s", st->answered,
		 st->asked, str_bytes(st->bytes, size, sizeof(size)));
	progress_text(&l->progress, text);
}

/* What servers did not give in time is said, with what to do. */
static void tell_servers(const struct load *l)
{
	struct debuginfod_stats st = symbols_debuginfod(l->symbols);

	if (l->opts.quiet)
		return;
	if (st.wrong)
		command_note("debuginfod: %u of %u files that came were of another build, or none "
			     "at all, and are not used: $DEBUGINFOD_URLS names a server that "
			     "cannot be trusted, or a proxy that answers for it",
			     st.wrong, st.found);
	if (st.silent)
		command_note("debuginfod servers did not answer lately and are not asked for ten "
			     "minutes (--no-debuginfod, or another $DEBUGINFOD_URLS)");
	else if (st.out_of_time)
		command_note("debuginfod: %u of %u files came within %g s; names or lines of the "
			     "others may be missing (--no-debuginfod does not wait)",
			     st.found, st.asked, st.ms / 1000.0);
}

int load_symbols(struct load *l, struct err *e)
{
	struct symbols_opts so = { .find = input_find(l->source, l->opts.symfs),
				   .raw_names = l->opts.raw_names,
				   .no_debuginfod = l->opts.no_debuginfod,
				   .debuginfod_ms = (unsigned)(l->opts.debuginfod_seconds > 0
								       ? l->opts.debuginfod_seconds
								       : 0) *
						    1000,
				   .progress = on_servers,
				   .progress_ctx = l };
	struct input_kernel ko = { .kallsyms = l->opts.kallsyms,
				   .vmlinux = l->opts.vmlinux,
				   .symfs = l->opts.symfs };

	l->symbols = symbols_new(&so);
	text_set_resolver(l->source->trace->tep, load_resolve_kernel, l);
	return input_kernel_later(l->source, &ko, l->symbols, &l->note, e);
}

int load_name(struct load *l, const struct names_opts *o, struct err *e)
{
	int r;

	progress_begin(&l->progress, "looking up names", l->opts.quiet);
	progress_at(&l->progress, 0, 0);
	r = load_symbols(l, e);
	if (r == 0)
		r = names_make(&l->profile, l->symbols, o, &l->names, e);
	progress_end(&l->progress);
	if (l->symbols)
		tell_servers(l);
	l->named = r == 0;
	return r;
}

void load_free(struct load *l)
{
	if (l->named)
		names_free(&l->names);
	if (l->counted)
		profile_free(&l->profile);
	extra_plan_free(&l->plan);
	if (l->symbols)
		text_set_resolver(l->source->trace->tep, NULL, NULL);
	symbols_free(l->symbols);
	pick_free(&l->pick);
	gate_free(&l->gate);
	free(l->types);
	source_close(l->source);
}
