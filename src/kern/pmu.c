/* SPDX-License-Identifier: MIT */
#include "kern/pmu.h"

#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/str.h"

struct pmu {
	struct env_pmu pub; /* first: what is handed out is cast back */
	bool missing;
	struct pmu_list {
		struct env_names names;
		bool read;
	} formats, events;
	struct pmu *next;
};

void pmus_init(struct pmus *p, const char *sysfs)
{
	*p = (struct pmus){ 0 };
	p->dir = arena_printf(&p->arena, "%s/bus/event_source/devices", sysfs);
}

void pmus_free(struct pmus *p)
{
	arena_free(&p->arena);
	*p = (struct pmus){ 0 };
}

/* What the user typed becomes a path: it may not leave its directory. */
static bool is_file_name(const char *s)
{
	return *s && *s != '.' && !strchr(s, '/') && strlen(s) < 256;
}

/* The first line of DIR/PMU/REST, or NULL. */
static char *read_line(struct pmus *p, const char *pmu, const char *rest)
{
	AUTO_FREE char *path = mem_printf("%s/%s/%s", p->dir, pmu, rest);
	char buf[1024];

	if (file_line(path, buf, sizeof(buf)) < 0)
		return NULL;
	return arena_strdup(&p->arena, buf);
}

static bool is_core(const char *name, const char *cpus)
{
	return cpus || strcmp(name, "cpu") == 0 || str_starts(name, "cpum_cf");
}

const struct env_pmu *pmu_find(void *pmus, const char *name)
{
	struct pmus *p = pmus;
	struct pmu *m;
	const char *type;
	uint64_t number = 0;

	for (m = p->list; m; m = m->next)
		if (strcmp(m->pub.name, name) == 0)
			return m->missing ? NULL : &m->pub;
	if (!is_file_name(name))
		return NULL;
	m = arena_alloc(&p->arena, sizeof(*m));
	m->pub.name = arena_strdup(&p->arena, name);
	m->next = p->list;
	p->list = m;
	type = read_line(p, name, "type");
	m->missing = !type || !str_u64(type, &number) || number > UINT32_MAX;
	if (m->missing)
		return NULL;
	m->pub.type = (uint32_t)number;
	m->pub.cpumask = read_line(p, name, "cpumask");
	m->pub.cpus = read_line(p, name, "cpus");
	m->pub.alias = read_line(p, name, "alias");
	m->pub.core = is_core(name, m->pub.cpus);
	return &m->pub;
}

static bool is_attachment(const char *name)
{
	return str_ends(name, ".scale") || str_ends(name, ".unit") || str_ends(name, ".snapshot") ||
	       str_ends(name, ".per-pkg");
}

static struct env_names read_dir(struct pmus *p, const char *path)
{
	struct file_names files = { 0 };
	const char **names;
	size_t n = 0;

	if (file_list(path, &files) < 0)
		return (struct env_names){ 0 };
	names = arena_alloc(&p->arena, (files.n + 1) * sizeof(*names));
	for (size_t i = 0; i < files.n; i++)
		if (!is_attachment(files.name[i]))
			names[n++] = arena_strdup(&p->arena, files.name[i]);
	file_names_free(&files);
	return (struct env_names){ names, n };
}

struct env_names pmu_names(void *pmus)
{
	struct pmus *p = pmus;

	if (!p->listed)
		p->names = read_dir(p, p->dir);
	p->listed = true;
	return p->names;
}

static struct env_names pmu_read(struct pmus *p, const struct env_pmu *pmu, const char *dir,
				 struct pmu_list *l)
{
	AUTO_FREE char *path = mem_printf("%s/%s/%s", p->dir, pmu->name, dir);

	if (!l->read)
		l->names = read_dir(p, path);
	l->read = true;
	return l->names;
}

struct env_names pmu_formats(void *pmus, const struct env_pmu *pmu)
{
	return pmu_read(pmus, pmu, "format", &((struct pmu *)pmu)->formats);
}

struct env_names pmu_events(void *pmus, const struct env_pmu *pmu)
{
	return pmu_read(pmus, pmu, "events", &((struct pmu *)pmu)->events);
}

const char *pmu_format(void *pmus, const struct env_pmu *pmu, const char *term)
{
	char rest[300];

	if (!is_file_name(term))
		return NULL;
	snprintf(rest, sizeof(rest), "format/%s", term);
	return read_line(pmus, pmu->name, rest);
}

static char *attachment(struct pmus *p, const struct env_pmu *pmu, const char *name,
			const char *suffix)
{
	char rest[300];

	snprintf(rest, sizeof(rest), "events/%s%s", name, suffix);
	return read_line(p, pmu->name, rest);
}

bool pmu_event(void *pmus, const struct env_pmu *pmu, const char *name, struct env_event *ret)
{
	struct pmus *p = pmus;
	struct env_event ev = { .scale = 1.0 };
	const char *scale;
	char *end;

	if (!is_file_name(name) || is_attachment(name))
		return false;
	ev.terms = attachment(p, pmu, name, "");
	if (!ev.terms) {
		struct env_names all = pmu_events(p, pmu);
		size_t i = 0;

		while (i < all.n && strcasecmp(all.name[i], name) != 0)
			i++;
		if (i == all.n)
			return false;
		name = all.name[i];
		ev.terms = attachment(p, pmu, name, "");
	}
	scale = attachment(p, pmu, name, ".scale");
	if (scale) {
		ev.scale = strtod(scale, &end);
		if (end == scale || !(ev.scale > 0))
			ev.scale = 1.0;
	}
	ev.unit = attachment(p, pmu, name, ".unit");
	ev.snapshot = attachment(p, pmu, name, ".snapshot") != NULL;
	ev.per_pkg = attachment(p, pmu, name, ".per-pkg") != NULL;
	*ret = ev;
	return true;
}

bool pmu_has_core(struct pmus *p)
{
	struct env_names all;

	if (pmu_find(p, "cpu"))
		return true;
	all = pmu_names(p);
	for (size_t i = 0; i < all.n; i++) {
		const struct env_pmu *pmu = pmu_find(p, all.name[i]);

		if (pmu && pmu->core)
			return true;
	}
	return false;
}
