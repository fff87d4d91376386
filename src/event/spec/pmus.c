/* SPDX-License-Identifier: MIT */
/*
 * Which PMUs an event is for: PMU/TERMS/ where one name stands for many PMUs
 * (uncore_imc for uncore_imc_0 and _1), PMU events by their bare names, and the
 * names that hybrid machines count once for each kind of core.
 */
#include "event/spec/int.h"

#include <ctype.h>
#include <string.h>

bool spec_pmu_is_hybrid(const struct env_pmu *pmu)
{
	return pmu->core && str_starts(pmu->name, "cpu_");
}

static int by_type(const void *a, const void *b)
{
	const struct env_pmu *x = *(const struct env_pmu *const *)a,
			     *y = *(const struct env_pmu *const *)b;

	return x->type < y->type ? -1 : x->type > y->type;
}

/* "uncore_imc" is the name of uncore_imc_0, uncore_imc_1 and uncore_imc1 alike. */
static bool same_family(const char *pmu, const char *family)
{
	size_t n = strlen(family);

	if (strncmp(pmu, family, n) != 0)
		return false;
	pmu += n;
	if (*pmu == '_')
		pmu++;
	return *pmu && pmu[strspn(pmu, "0123456789")] == '\0';
}

static size_t family_length(const char *pmu)
{
	size_t n = strlen(pmu);

	while (n && isdigit((unsigned char)pmu[n - 1]))
		n--;
	return n && pmu[n] && pmu[n - 1] == '_' ? n - 1 : n;
}

/* Cores first; like PMUs together, in the order the kernel made them. */
static int by_family(const void *a, const void *b)
{
	const struct env_pmu *x = *(const struct env_pmu *const *)a,
			     *y = *(const struct env_pmu *const *)b;
	size_t n = family_length(x->name), m = family_length(y->name);
	int d = strncmp(x->name, y->name, n < m ? n : m);

	if (x->core != y->core)
		return x->core ? -1 : 1;
	if (x->core || (n == m && d == 0))
		return by_type(a, b);
	return d ? d : n < m ? -1 : 1;
}

/* "uncore_" may be left out. */
static bool spec_pmus_is_called(const char *pmu, const char *want, bool glob)
{
	const char *rest = pmu;

	if (!str_starts(want, "uncore_") && str_starts(pmu, "uncore_"))
		rest = pmu + strlen("uncore_");
	if (glob)
		return str_glob(want, pmu) || str_glob(want, rest);
	return strcmp(pmu, want) == 0 || strcmp(rest, want) == 0 || same_family(pmu, want) ||
	       same_family(rest, want);
}

/* The PMUs a name stands for; those of a family in the order the kernel made them. */
static void find_pmus(struct spec_parser *p, struct slice name, struct spec_pmus *set)
{
	const char *want = slice_dup(p, name);
	bool glob = str_has_glob(want);
	struct env_names all;
	const struct env_pmu *pmu;

	set->n = 0;
	if (!p->env->pmu || !*want)
		return;
	pmu = glob ? NULL : p->env->pmu(p->env->ctx, want);
	if (pmu) {
		set->pmu[set->n++] = pmu;
		return;
	}
	if (!p->env->pmu_names)
		return;
	all = p->env->pmu_names(p->env->ctx);
	for (size_t i = 0; i < all.n && set->n < SPEC_PMUS_MAX; i++) {
		pmu = p->env->pmu(p->env->ctx, all.name[i]);
		if (pmu && (spec_pmus_is_called(pmu->name, want, glob) ||
			    (pmu->alias && spec_pmus_is_called(pmu->alias, want, glob))))
			set->pmu[set->n++] = pmu;
	}
	qsort(set->pmu, set->n, sizeof(set->pmu[0]), by_family);
}

/* "cycles/period=5/u" on cpu_core is "cpu_core/cycles,period=5/u". */
static const char *hybrid_name(struct spec_parser *p, const struct spec_item *item,
			       const struct env_pmu *pmu)
{
	struct slice name, mods = item->mods;
	bool terms = item->has_terms && slice_trim(item->terms).n;

	if (item->has_terms)
		name = item->head;
	else
		slice_cut(item->head, ':', &name, &mods);
	return arena_printf(&p->list->arena, "%s/%.*s%s%.*s/%.*s", pmu->name, (int)name.n, name.s,
			    terms ? "," : "", terms ? (int)item->terms.n : 0, item->terms.s,
			    (int)mods.n, mods.n ? mods.s : "");
}

/* Events of one name may be of unlike PMUs: then each family has a name and a sum of its own. */
static void name_families(struct spec_parser *p, const struct spec_item *item, struct slice terms,
			  size_t from)
{
	size_t families = 0;
	bool bare = terms.s != item->terms.s;

	for (size_t i = from; i < p->list->n; i++) {
		struct event_spec *s = &p->list->spec[i];
		size_t n = family_length(s->pmu), j;

		for (j = from; j < i; j++)
			if (family_length(p->list->spec[j].pmu) == n &&
			    strncmp(p->list->spec[j].pmu, s->pmu, n) == 0)
				break;
		s->first = (int)j;
		families += j == i;
	}
	for (size_t i = from; i < p->list->n; i++) {
		struct event_spec *s = &p->list->spec[i];
		const struct env_pmu *pmu = p->env->pmu(p->env->ctx, s->pmu);

		if (pmu && spec_pmu_is_hybrid(pmu) && bare) {
			s->name = hybrid_name(p, item, pmu);
			s->first = (int)i;
		} else if (families > 1 || (pmu && spec_pmu_is_hybrid(pmu))) {
			s->name = arena_printf(&p->list->arena, "%.*s/%.*s/%.*s",
					       (int)family_length(s->pmu), s->pmu, (int)terms.n,
					       terms.s, (int)item->mods.n,
					       item->mods.n ? item->mods.s : "");
		}
	}
}

int spec_pmu_event(struct spec_parser *p, const struct spec_item *item, struct slice name,
		   const struct spec_terms *terms)
{
	struct spec_pmus set;
	size_t from = p->list->n;
	int r;

	find_pmus(p, name, &set);
	if (!set.n)
		return 0;
	r = spec_pmu_add(p, item, &set, terms);
	if (r > 0 && str_has_glob(slice_dup(p, name)))
		name_families(p, item, item->terms, from);
	return r;
}

int spec_pmu_alias(struct spec_parser *p, const struct spec_item *item, struct slice name,
		   const struct spec_terms *terms)
{
	struct spec_terms all;
	struct env_names names;
	struct env_event event;
	struct spec_pmus set = { .n = 0 };
	size_t from = p->list->n;
	int r;

	if (!p->env->pmu_names || !p->env->pmu || !name.n)
		return 0;
	names = p->env->pmu_names(p->env->ctx);
	for (size_t i = 0; i < names.n && set.n < SPEC_PMUS_MAX; i++) {
		const struct env_pmu *pmu = p->env->pmu(p->env->ctx, names.name[i]);

		if (pmu && spec_pmu_has(p, pmu, name, &event))
			set.pmu[set.n++] = pmu;
	}
	if (!set.n)
		return 0;
	qsort(set.pmu, set.n, sizeof(set.pmu[0]), by_family);
	all.n = terms->n + 1;
	all.t = arena_alloc(&p->list->arena, all.n * sizeof(*all.t));
	all.t[0] = (struct spec_term){ .all = name, .key = name };
	if (terms->n)
		memcpy(all.t + 1, terms->t, terms->n * sizeof(*all.t));
	r = spec_pmu_add(p, item, &set, &all);
	if (r > 0)
		name_families(p, item, name, from);
	return r;
}

int spec_pmu_hybrid(struct spec_parser *p, const struct spec_item *item, enum spec_kind kind,
		    uint32_t type, uint64_t config)
{
	static const char *const names[] = { "cpu_core", "cpu_atom", "cpu_lowpower" };
	int added = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names) && p->env->pmu; i++) {
		const struct env_pmu *pmu = p->env->pmu(p->env->ctx, names[i]);
		struct event_spec *s;

		if (!pmu)
			continue;
		if (type == PERF_TYPE_RAW)
			s = spec_add(p, kind, pmu->type, config, item);
		else
			s = spec_add(p, kind, type, config | (uint64_t)pmu->type << 32, item);
		s->name = hybrid_name(p, item, pmu);
		s->pmu = arena_strdup(&p->list->arena, pmu->name);
		s->on_cpus = pmu->cpus ? arena_strdup(&p->list->arena, pmu->cpus) : NULL;
		added = 1;
	}
	return added;
}

void spec_pmu_regroup(struct spec_parser *p, size_t from)
{
	struct event_spec *spec = p->list->spec;
	size_t n = p->list->n - from, done = 0;
	bool spread = false;
	AUTO_FREE struct event_spec *sorted = NULL;
	AUTO_FREE int *place = NULL; /* where an event went; 0: not yet anywhere */

	for (size_t i = from + 1; i < from + n && n > 1; i++)
		if (spec[i].text == spec[i - 1].text && spec[i].pmu && spec[i - 1].pmu)
			spread = true;
	if (!spread)
		return;
	sorted = mem_alloc(n * sizeof(*sorted));
	place = mem_alloc(n * sizeof(*place));
	while (done < n) {
		size_t leader = done;
		const char *pmu = NULL;

		for (size_t i = 0; i < n; i++) {
			struct event_spec *s = &spec[from + i];

			if (place[i] || (s->pmu && pmu && strcmp(s->pmu, pmu) != 0))
				continue;
			pmu = s->pmu ? s->pmu : pmu;
			sorted[done] = *s;
			sorted[done].leader = (int)(from + leader);
			sorted[done].members = 1;
			sorted[done].group_name = NULL;
			place[i] = (int)++done;
		}
		sorted[leader].members = (int)(done - leader);
		sorted[leader].group_name = spec[from].group_name;
		sorted[leader].attr.pinned = spec[from].attr.pinned;
		sorted[leader].attr.exclusive = spec[from].attr.exclusive;
	}
	for (size_t i = 0; i < n; i++)
		sorted[i].first = (int)from + place[sorted[i].first - (int)from] - 1;
	memcpy(spec + from, sorted, n * sizeof(*sorted));
}
