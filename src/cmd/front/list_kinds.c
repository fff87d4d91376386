/* SPDX-License-Identifier: MIT */
/* Every kind of event of `kymo list`, in perf's order. */

#include "base/file.h"
#include "base/map.h"
#include "base/str.h"
#include "cmd/command.h"
#include "cmd/front/list.h"
#include "event/spec/spec.h"
#include "kern/perf.h"
#include "kern/pfm.h"
#include "kern/tracefs.h"

/* Does the PMU have it? Only asked when the answer is shown: each costs a system call. */
static bool can_open(const struct list *l, uint32_t type, uint64_t config)
{
	if (!l->core_pmu)
		return false;
	if (l->style == LIST_WORDS || (l->style == LIST_TEXT && !l->marks))
		return true;
	if (strcmp(l->env.roots.sysfs, "/sys") != 0)
		return true; /* another machine's tree: it cannot be tried */
	return perf_has(type, config);
}

static void fixed_names(struct list *l, enum spec_kind kind, const char *label)
{
	char encoding[64];

	for (size_t i = 0; i < spec_names_n; i++) {
		const struct spec_name *n = &spec_names[i];
		struct list_entry entry = {
			.name = n->name, .alias = n->alias, .kind = label, .about = n->about
		};

		if (n->kind != kind || !list_matches(l, &entry))
			continue;
		snprintf(encoding, sizeof(encoding), "type %u config %llu", n->type,
			 (unsigned long long)n->config);
		if (kind != SPEC_TOOL)
			entry.encoding = encoding;
		if (kind == SPEC_HARDWARE)
			entry.missing = !can_open(l, n->type, n->config);
		list_show(l, &entry);
	}
}

struct cache {
	char name[SPEC_CACHE_NAME_MAX];
	uint64_t config;
};

static int list_kinds_by_name(const void *a, const void *b)
{
	return strcmp(((const struct cache *)a)->name, ((const struct cache *)b)->name);
}

static void cache_names(struct list *l)
{
	size_t n = spec_cache_count();
	AUTO_FREE struct cache *all = mem_alloc(n * sizeof(*all));

	for (size_t i = 0; i < n; i++)
		all[i].config = spec_cache_name(i, all[i].name);
	qsort(all, n, sizeof(*all), list_kinds_by_name);
	for (size_t i = 0; i < n; i++) {
		char about[100], encoding[64];
		struct list_entry entry = { .name = all[i].name,
					    .kind = "Hardware cache event",
					    .about = about,
					    .encoding = encoding };

		if (!list_matches(l, &entry))
			continue;
		spec_cache_about(all[i].config, about, sizeof(about));
		snprintf(encoding, sizeof(encoding), "type %u config 0x%llx", SPEC_CACHE_TYPE,
			 (unsigned long long)all[i].config);
		entry.missing = !can_open(l, SPEC_CACHE_TYPE, all[i].config);
		list_show(l, &entry);
	}
}

/* Hardware trace units are used as a whole: intel_pt//. */
static bool is_trace_unit(const char *pmu)
{
	static const char *const names[] = { "intel_pt", "intel_bts", "arm_spe", "cs_etm",
					     "hisi_ptt" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (str_starts(pmu, names[i]))
			return true;
	return false;
}

static void pmu_event_entry(struct list *l, const struct env_pmu *pmu, const char *event)
{
	AUTO_FREE char *full = mem_printf("%s/%s/", pmu->name, event);
	struct list_entry entry = { .name = pmu->core ? event : full,
				    .alias = pmu->core ? full : NULL,
				    .kind = "Kernel PMU event",
				    .pmu = pmu->name };
	struct env_event ev;

	if (!list_matches(l, &entry))
		return;
	if ((l->details || l->style == LIST_JSON) && pmu_event(&l->env.pmus, pmu, event, &ev)) {
		entry.encoding = ev.terms;
		entry.unit = ev.unit;
		entry.scale = ev.unit || ev.scale != 1.0 ? ev.scale : 0;
	}
	list_show(l, &entry);
}

static void pmu_entries(struct list *l)
{
	struct env_names pmus = pmu_names(&l->env.pmus);

	for (unsigned others = 0; others < 2; others++) /* perf shows the CPU's own first */
		for (size_t i = 0; i < pmus.n; i++) {
			const struct env_pmu *pmu = pmu_find(&l->env.pmus, pmus.name[i]);
			struct env_names events;

			if (!pmu || pmu->core == others)
				continue;
			events = pmu_events(&l->env.pmus, pmu);
			for (size_t j = 0; j < events.n; j++)
				pmu_event_entry(l, pmu, events.name[j]);
			if (is_trace_unit(pmu->name)) {
				AUTO_FREE char *name = mem_printf("%s//", pmu->name);

				list_show(l, &(struct list_entry){ .name = name,
								   .kind = "Kernel PMU event",
								   .pmu = pmu->name });
			}
		}
}

static int pfm_entry(void *ctx, const char *pmu, const char *name, const char *about)
{
	list_show(ctx, &(struct list_entry){ .name = name,
					     .kind = "CPU event (libpfm4)",
					     .pmu = pmu,
					     .about = about,
					     .cryptic = true });
	return 0;
}

/* The terms of every PMU, for those who write PMU/term=value/. */
static void pmu_terms(struct list *l)
{
	struct env_names pmus = pmu_names(&l->env.pmus);

	for (size_t i = 0; i < pmus.n; i++) {
		const struct env_pmu *pmu = pmu_find(&l->env.pmus, pmus.name[i]);
		struct env_names terms = { 0 };
		AUTO_STRBUF name = { 0 };

		if (pmu)
			terms = pmu_formats(&l->env.pmus, pmu);
		for (size_t j = 0; j < terms.n; j++)
			strbuf_printf(&name, "%s%s", j ? "," : "", terms.name[j]);
		if (terms.n) {
			AUTO_FREE char *text = mem_printf("%s/%s/", pmu->name, strbuf_str(&name));

			list_show(l, &(struct list_entry){ .name = text,
							   .kind = "Terms of this PMU",
							   .is_pattern = true });
		}
	}
}

static void raw_entries(struct list *l)
{
	list_show(l,
		  &(struct list_entry){ .name = "rNNN",
					.kind = "Raw hardware event descriptor",
					.about = "NNN is hexadecimal, as in the CPU's manual: r13c",
					.is_pattern = true });
	list_show(l, &(struct list_entry){ .name = "cpu/t1=v1[,t2=v2,t3 ...]/modifier",
					   .kind = "Raw hardware event descriptor",
					   .about = "as in cpu/event=0x3c,umask=0x1/u",
					   .is_pattern = true });
	if (l->details)
		pmu_terms(l);
	list_show(l, &(struct list_entry){
			     .name = "mem:<addr>[/len][:access]",
			     .kind = "Hardware breakpoint",
			     .about = "access is any of r, w, x; addr a number or a kernel symbol",
			     .is_pattern = true });
}

static void show_tracepoint(struct list *l, const char *root, const char *name, bool probe)
{
	AUTO_FREE char *format = NULL;
	char *colon;

	if (!list_matches_name(l, name))
		return;
	if (l->details) {
		format = mem_printf("%s/events/%s/format", root, name);
		colon = strchr(format + strlen(root), ':');
		if (colon)
			*colon = '/';
	}
	list_show(l, &(struct list_entry){ .name = name,
					   .kind = probe ? "Probe event" : "Tracepoint event",
					   .format = format });
}

/* "sched:*" can only be in one place: its subsystem's name, which the caller frees, or NULL. */
static char *only_subsystem(const struct list *l)
{
	const char *colon = l->n_patterns == 1 ? strchr(l->patterns[0], ':') : NULL;
	char *subsys = colon ? mem_strndup(l->patterns[0], (size_t)(colon - l->patterns[0])) : NULL;

	/* a word without * may begin anywhere in a name */
	if (!subsys || (!strpbrk(subsys, "*?[/.\\") && str_has_glob(colon)))
		return subsys;
	free(subsys);
	return NULL;
}

static void tracepoints(struct list *l)
{
	struct file_names all = { 0 }, found = { 0 };
	struct strtab probes = { 0 };
	struct err e = { 0 };
	const char *root = env_tracefs(&l->env, &e);
	AUTO_FREE char *subsys = only_subsystem(l);
	int r = root ? tracefs_all(root, subsys, &all, &e) : -e.code;

	if (root && subsys && r == -ENOENT)
		return;
	if (r < 0) {
		if (l->style != LIST_WORDS)
			command_note("tracepoints are missing from this list: %s (%s)", e.msg,
				     e.hint);
		return;
	}
	if (tracefs_probes(root, &found) == 0)
		for (size_t i = 0; i < found.n; i++)
			strtab_add(&probes, found.name[i]);
	for (unsigned probe = 0; probe < 2; probe++) {
		if (!(l->classes & (probe ? LIST_PROBE : LIST_TRACEPOINT)))
			continue;
		for (size_t i = 0; i < all.n; i++)
			if ((strtab_find(&probes, all.name[i]) != STRTAB_NONE) == probe)
				show_tracepoint(l, root, all.name[i], probe);
	}
	strtab_free(&probes);
	file_names_free(&found);
	file_names_free(&all);
}

void list_kinds(struct list *l)
{
	if (l->classes & LIST_HW)
		fixed_names(l, SPEC_HARDWARE, "Hardware event");
	if (l->classes & LIST_SW)
		fixed_names(l, SPEC_SOFTWARE, "Software event");
	if (l->classes & LIST_TOOL)
		fixed_names(l, SPEC_TOOL, "Tool event");
	if (l->classes & LIST_CACHE)
		cache_names(l);
	if (l->classes & LIST_PMU)
		pmu_entries(l);
	if (l->classes & LIST_PFM)
		pfm_each(pfm_entry, l);
	if (l->classes & LIST_RAW)
		raw_entries(l);
	if (l->classes & (LIST_TRACEPOINT | LIST_PROBE))
		tracepoints(l);
	if (l->classes & LIST_SDT)
		list_sdt(l);
}
