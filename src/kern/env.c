/* SPDX-License-Identifier: MIT */
#include "kern/env.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "event/symline.h"
#include "kern/pfm.h"
#include "kern/tracefs.h"

struct env_group {
	const char *subsys; /* "": the list of subsystems */
	struct env_names names;
	struct env_group *next;
};

const char *env_tracefs(struct env *env, struct err *e)
{
	return env->roots.tracefs ? env->roots.tracefs : tracefs_find(e);
}

static int tracepoint(void *ctx, const char *subsys, const char *name, uint64_t *id, struct err *e)
{
	const char *root = env_tracefs(ctx, e);

	return root ? tracefs_id(root, subsys, name, id, e) : -(e && e->code ? e->code : ENOTSUP);
}

static int tracepoints(void *ctx, const char *subsys, struct env_names *ret, struct err *e)
{
	struct env *env = ctx;
	struct arena *a = &env->pmus.arena;
	struct file_names files = { 0 };
	const char *root = env_tracefs(env, e);
	struct env_group *g;
	const char **list;
	int r;

	if (!root)
		return -(e && e->code ? e->code : ENOTSUP);
	for (g = env->groups; g; g = g->next)
		if (strcmp(g->subsys, subsys ? subsys : "") == 0) {
			*ret = g->names;
			return 0;
		}
	r = tracefs_events(root, subsys ? subsys : "", &files, e);
	if (r < 0)
		return r;
	list = arena_alloc(a, (files.n + 1) * sizeof(*list));
	for (size_t i = 0; i < files.n; i++)
		list[i] = arena_strdup(a, files.name[i]);
	g = arena_alloc(a, sizeof(*g));
	g->subsys = arena_strdup(a, subsys ? subsys : "");
	g->names = (struct env_names){ list, files.n };
	g->next = env->groups;
	env->groups = g;
	file_names_free(&files);
	*ret = g->names;
	return 0;
}

static int symbol(void *ctx, const char *name, uint64_t *addr, struct err *e)
{
	const struct env *env = ctx;

	return ksym_find(env->roots.kallsyms, name, addr, e);
}

static int pfm(void *ctx, const char *text, struct perf_event_attr *attr, struct err *e)
{
	return pfm_encode(text, attr, e);
}

void env_init(struct env *env, const struct env_roots *roots)
{
	*env = (struct env){ 0 };
	if (roots)
		env->roots = *roots;
	if (!roots) {
		env->roots.sysfs = getenv("SYSFS_PATH");
		env->roots.tracefs = getenv("TRACEFS_PATH");
	}
	if (!env->roots.sysfs)
		env->roots.sysfs = "/sys";
	if (!env->roots.kallsyms)
		env->roots.kallsyms = "/proc/kallsyms";
	pmus_init(&env->pmus, env->roots.sysfs);
	env->spec = (struct spec_env){
		.ctx = env,
		.pmu = pmu_find,
		.pmu_names = pmu_names,
		.pmu_format = pmu_format,
		.pmu_formats = pmu_formats,
		.pmu_event = pmu_event,
		.pmu_events = pmu_events,
		.tracepoint = tracepoint,
		.tracepoints = tracepoints,
		.symbol = symbol,
		.pfm = pfm,
	};
}

void env_free(struct env *env)
{
	pmus_free(&env->pmus);
	*env = (struct env){ 0 };
}

int ksym_find(const char *path, const char *name, uint64_t *addr, struct err *e)
{
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	AUTO_FREE char *line = NULL;
	struct str_nearest near = { .typed = name };
	struct arena names = { 0 };
	struct symline l = { 0 };
	size_t cap = 0, want = strlen(name);
	ssize_t n;
	char list[300];
	bool any = false;
	int r = -ENOENT;

	if (!f)
		return err_set(e, errno, "cannot read %s: %s", path, strerror(errno));
	while ((n = getline(&line, &cap, f)) > 0) {
		if (!symline_parse(&l, line, line + n - (line[n - 1] == '\n')))
			continue;
		any |= l.addr != 0;
		if (l.name_n == want && memcmp(l.name, name, want) == 0) {
			*addr = l.addr;
			r = 0;
			break;
		}
		line[l.name + l.name_n - line] = '\0';
		if (str_distance(l.name, name, 2) <= 2)
			str_nearest_add(&near, arena_strdup(&names, l.name));
	}
	if (r == 0 && *addr == 0 && !any) {
		err_set(e, EPERM, "the kernel hides its addresses from this user");
		r = err_hint(e, "run it with sudo, or: sudo sysctl kernel.kptr_restrict=0");
	} else if (r < 0) {
		err_set(e, ENOENT, "there is no kernel symbol '%s'", name);
		if (str_nearest_list(&near, list, sizeof(list)))
			err_hint(e, "did you mean %s?", list);
		else
			err_hint(e, "'grep %s %s' searches; a user address is given as a number",
				 name, path);
	}
	arena_free(&names);
	return r;
}
