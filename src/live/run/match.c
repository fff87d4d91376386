/* SPDX-License-Identifier: MIT */
/* Which probes of the running kernel a pattern means. */
#include <linux/perf_event.h>
#include <string.h>

#include "event/symline.h"
#include "event/syscall/syscall.h"
#include "kern/tracefs.h"
#include "live/run/env.h"

#define LINES_LIMIT (64u << 20)

int run_syscall(void *ctx, const char *name)
{
	return syscall_number(syscall_native(), name);
}

/* The events that are listed, in order; behind them what some are called, too. */
struct counted {
	const char *name;
	int id;
	bool too;
};
static const struct counted software[] = {
	{ "alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "bpf-output", PERF_COUNT_SW_BPF_OUTPUT },
	{ "context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-clock", PERF_COUNT_SW_CPU_CLOCK },
	{ "cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "dummy", PERF_COUNT_SW_DUMMY },
	{ "emulation-faults", PERF_COUNT_SW_EMULATION_FAULTS },
	{ "major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "page-faults", PERF_COUNT_SW_PAGE_FAULTS },
	{ "task-clock", PERF_COUNT_SW_TASK_CLOCK },
	{ "cpu", PERF_COUNT_SW_CPU_CLOCK, true },
	{ "faults", PERF_COUNT_SW_PAGE_FAULTS, true },
	{ "cs", PERF_COUNT_SW_CONTEXT_SWITCHES, true },
	{ NULL },
};
static const struct counted hardware[] = {
	{ "backend-stalls", PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", PERF_COUNT_HW_BUS_CYCLES },
	{ "cache-misses", PERF_COUNT_HW_CACHE_MISSES },
	{ "cache-references", PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cpu-cycles", PERF_COUNT_HW_CPU_CYCLES },
	{ "frontend-stalls", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "instructions", PERF_COUNT_HW_INSTRUCTIONS },
	{ "ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "cycles", PERF_COUNT_HW_CPU_CYCLES, true },
	{ "branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, true },
	{ NULL },
};

static int id_of(const struct counted *c, const char *name)
{
	while (c->name && strcmp(c->name, name) != 0)
		c++;
	return c->name ? c->id : -1;
}

int run_software(const char *name)
{
	return id_of(software, name);
}

int run_hardware(const char *name)
{
	return id_of(hardware, name);
}

/* What is near to the name, or how to see all. */
static void run_match_nothing(const struct lang_point *p, struct str_nearest *near, struct err *e)
{
	char list[192];

	err_set(e, ENOENT, "nothing");
	if (str_nearest_list(near, list, sizeof(list)))
		err_hint(e, "did you mean %s?", list);
	else
		err_hint(e, "kymo run -l '%s:*' lists them", lang_kind_name[p->kind]);
}

static int run_match_listed(const struct counted *c, const struct lang_point *p, lang_match_fn *fn,
			    void *arg, struct err *e)
{
	struct str_nearest near = { .typed = p->name };
	int n = 0;

	if (!str_has_glob(p->name) && id_of(c, p->name) >= 0)
		return fn(arg, NULL, p->name), 1;
	for (; c->name && !c->too; c++) {
		str_nearest_add(&near, c->name);
		if (str_glob(p->name, c->name)) {
			fn(arg, NULL, c->name);
			n++;
		}
	}
	if (!n)
		run_match_nothing(p, &near, e);
	return n;
}

/* A name that fits nothing: what is near it. */
static void suggest_event(struct run_env *r, const struct lang_point *p, struct err *e)
{
	struct str_nearest near = { .typed = p->name };
	struct file_names names = { 0 };
	char list[192];

	e->hint[0] = '\0';
	if (tracefs_events(r->tracefs, p->target, &names, NULL) < 0) {
		err_hint(e, "kymo run -l 'tracepoint:*' lists them all");
		return;
	}
	for (size_t i = 0; i < names.n; i++)
		str_nearest_add(&near, names.name[i]);
	if (str_nearest_list(&near, list, sizeof(list)))
		err_hint(e, "did you mean %s?", list);
	else
		err_hint(e, "kymo run -l 'tracepoint:%s:*' lists them", p->target);
	file_names_free(&names);
}

static int match_tracepoint(struct run_env *r, const struct lang_point *p, lang_match_fn *fn,
			    void *arg, struct err *e)
{
	AUTO_FREE char *events = NULL;
	struct file_names all = { 0 };
	int n = 0, k;

	if (!r->tracefs) {
		*e = r->err;
		return -(e->code ? e->code : ENOENT);
	}
	events = mem_printf("%s/events", r->tracefs);
	if (access(events, R_OK | X_OK) < 0 && errno == EACCES) {
		err_set(e, EACCES, "this user may not see the kernel's tracepoints");
		return err_hint(e, "tracing needs root; kymo doctor says what else is possible");
	}
	if (!str_has_glob(p->target) && !str_has_glob(p->name)) {
		AUTO_FREE char *path =
			mem_printf("%s/events/%s/%s/format", r->tracefs, p->target, p->name);

		if (file_exists(path))
			return fn(arg, p->target, p->name), 1;
		suggest_event(r, p, e);
		return 0;
	}
	k = tracefs_all(r->tracefs, str_has_glob(p->target) ? NULL : p->target, &all, e);
	if (k < 0)
		return k;
	for (size_t i = 0; i < all.n; i++) {
		char *colon = strchr(all.name[i], ':');

		if (!colon)
			continue;
		*colon = '\0';
		/* one cannot attach to the events of subsystem ftrace */
		if (strcmp(all.name[i], "ftrace") != 0 && str_glob(p->target, all.name[i]) &&
		    str_glob(p->name, colon + 1)) {
			fn(arg, all.name[i], colon + 1);
			n++;
		}
	}
	file_names_free(&all);
	return n;
}

struct by_btf {
	struct run_env *r;
	const struct lang_point *p;
	lang_match_fn *fn;
	void *arg;
	const char *prefix;
	int n;
	struct str_nearest near;
};

static int one_btf(void *ctx, uint32_t id, const struct btf_type *t)
{
	struct by_btf *m = ctx;
	const char *name = btf_str(m->r->btf, t->name_off);

	if (!str_starts(name, m->prefix))
		return 0;
	name += strlen(m->prefix);
	/* the type by which the verifier describes fields, not an iterator */
	if (strstr(name, "__safe"))
		return 0;
	str_nearest_add(&m->near, name);
	if (str_has_glob(m->p->name) ? str_glob(m->p->name, name) : strcmp(m->p->name, name) == 0) {
		m->fn(m->arg, NULL, name);
		m->n++;
		return !str_has_glob(m->p->name);
	}
	return 0;
}

static int match_btf(struct run_env *r, const struct lang_point *p, unsigned kind,
		     const char *prefix, lang_match_fn *fn, void *arg, struct err *e)
{
	struct by_btf m = { r, p, fn, arg, prefix, 0, { .typed = p->name } };

	if (!run_env_btf(r))
		return err_set(e, ENOENT, RUN_NO_TYPES);
	btf_each(r->btf, kind, one_btf, &m);
	if (!m.n)
		run_match_nothing(p, &m.near, e);
	return m.n;
}

/* Functions that can have a kprobe: one a line, maybe with "[module]" behind. */
static int match_function(struct run_env *r, const struct lang_point *p, lang_match_fn *fn,
			  void *arg, struct err *e)
{
	AUTO_FREE char *path =
		mem_printf("%s/available_filter_functions", r->tracefs ? r->tracefs : "");
	AUTO_FREE char *text = NULL;
	struct str_nearest near = { .typed = p->name };
	bool kallsyms = false;
	struct symline l = { 0 };
	char *save = NULL;
	int n = 0;

	if (file_read(path, LINES_LIMIT, &text, NULL) < 0 || !text[0]) {
		free(text);
		text = NULL;
		kallsyms = true;
		if (file_read("/proc/kallsyms", LINES_LIMIT, &text, NULL) < 0)
			return fn(arg, p->target, p->name), 1;
	}
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *name = line, *end, *module;

		if (kallsyms) {
			if (!symline_parse(&l, line, strchr(line, '\0')) || (l.type | 0x20) != 't')
				continue;
			name = line + (l.name - line);
		}
		end = name + strcspn(name, " \t");
		module = strchr(end, '[');
		*end = '\0';
		if (module)
			module[strcspn(module, "]")] = '\0';
		if (p->target && (!module || !str_glob(p->target, module + 1)))
			continue;
		str_nearest_add(&near, name);
		if (str_glob(p->name, name)) {
			fn(arg, module ? module + 1 : NULL, name);
			n++;
			if (!str_has_glob(p->name))
				break;
		}
	}
	if (!n && !str_has_glob(p->name) &&
	    !kallsyms) { /* not listed as traceable, yet it may exist: let the kernel say */
		fn(arg, p->target, p->name);
		n = 1;
	}
	if (!n)
		run_match_nothing(p, &near, e);
	return n;
}

int run_match(void *ctx, const struct lang_point *p, lang_match_fn *fn, void *arg, struct err *e)
{
	struct run_env *r = ctx;

	switch (p->kind) {
	case LP_TRACEPOINT: return match_tracepoint(r, p, fn, arg, e);
	case LP_RAWTP: return match_btf(r, p, BTF_KIND_TYPEDEF, "btf_trace_", fn, arg, e);
	case LP_FENTRY:
	case LP_FEXIT: return match_btf(r, p, BTF_KIND_FUNC, "", fn, arg, e);
	case LP_ITER: return match_btf(r, p, BTF_KIND_STRUCT, "bpf_iter__", fn, arg, e);
	case LP_KPROBE:
	case LP_KRETPROBE: return match_function(r, p, fn, arg, e);
	case LP_SOFTWARE: return run_match_listed(software, p, fn, arg, e);
	case LP_HARDWARE: return run_match_listed(hardware, p, fn, arg, e);
	case LP_UPROBE:
	case LP_URETPROBE:
	case LP_USDT: return run_match_user(r, p, fn, arg, e);
	default: fn(arg, p->target, p->name); return 1;
	}
}
