/* SPDX-License-Identifier: MIT */
/*
 * Completing event names.
 *
 * The part after the last comma or brace is completed. Tracepoints come in two
 * steps, subsystem and event: two thousand words at once help nobody. Within
 * slashes, a PMU's events and terms.
 */
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "cmd/front/complete.h"
#include "event/spec/spec.h"
#include "kern/env.h"
#include "kern/tracefs.h"

static void event_word(const struct typed *t, const char *name, const char *end, const char *about)
{
	complete_word(t, name, strlen(name), end, about ? about : "");
}

/* Where the item under the cursor begins; commas between slashes do not end one. */
static const char *item_start(const char *typed, const char **slash)
{
	const char *start = typed;

	*slash = NULL;
	for (const char *s = typed; *s; s++) {
		if (*s == '/')
			*slash = *slash ? NULL : s;
		if (!*slash && strchr(",{}", *s))
			start = s + 1;
	}
	return start;
}

static void pmu_words(struct env *env, const struct typed *t, const char *pmu_name)
{
	const struct env_pmu *pmu = pmu_find(&env->pmus, pmu_name);
	struct env_names names;

	if (!pmu)
		return;
	names = pmu_events(&env->pmus, pmu);
	for (size_t i = 0; i < names.n; i++)
		event_word(t, names.name[i], "/", "event");
	names = pmu_formats(&env->pmus, pmu);
	for (size_t i = 0; i < names.n; i++)
		event_word(t, names.name[i], "=", "term");
}

static void plain_words(struct env *env, const struct typed *t)
{
	struct env_names pmus = pmu_names(&env->pmus);
	char name[SPEC_CACHE_NAME_MAX], about[100];

	for (size_t i = 0; i < spec_names_n; i++) {
		event_word(t, spec_names[i].name, "", spec_names[i].about);
		if (spec_names[i].alias)
			event_word(t, spec_names[i].alias, "", spec_names[i].about);
	}
	for (size_t i = 0; i < spec_cache_count(); i++) {
		spec_cache_about(spec_cache_name(i, name), about, sizeof(about));
		event_word(t, name, "", about);
	}
	for (size_t i = 0; i < pmus.n; i++) {
		const struct env_pmu *pmu = pmu_find(&env->pmus, pmus.name[i]);
		struct env_names events;

		if (!pmu)
			continue;
		events = pmu_events(&env->pmus, pmu);
		for (size_t j = 0; j < events.n; j++) {
			AUTO_FREE char *full = mem_printf("%s/%s/", pmu->name, events.name[j]);

			event_word(t, full, "", "PMU event");
			if (pmu->core && !spec_name_find(events.name[j], strlen(events.name[j])))
				event_word(t, events.name[j], "", "PMU event");
		}
	}
}

static void subsystem_words(const char *root, const struct typed *t, const char *subsys)
{
	struct file_names events = { 0 };

	if (tracefs_events(root, subsys, &events, NULL) < 0)
		return;
	for (size_t i = 0; i < events.n; i++) {
		AUTO_FREE char *full = mem_printf("%s:%s", subsys, events.name[i]);

		event_word(t, full, "", "tracepoint");
	}
	file_names_free(&events);
}

static void tracepoint_words(struct env *env, const struct typed *t)
{
	const char *root = env_tracefs(env, NULL), *colon = strchr(t->part, ':');
	struct file_names subs = { 0 };
	size_t matching = 0, only = 0;

	if (!root)
		return;
	if (colon) {
		AUTO_FREE char *subsys = mem_strndup(t->part, (size_t)(colon - t->part));

		if (*subsys && *subsys != '.' && !strchr(subsys, '/'))
			subsystem_words(root, t, subsys);
		return;
	}
	if (tracefs_subsystems(root, &subs, NULL) < 0)
		return;
	for (size_t i = 0; i < subs.n; i++)
		if (str_starts(subs.name[i], t->part)) {
			matching++;
			only = i;
		}
	/* A single "sched:" would end the word; its events go on from there. */
	if (matching == 1)
		subsystem_words(root, t, subs.name[only]);
	else
		for (size_t i = 0; i < subs.n; i++)
			event_word(t, subs.name[i], ":", "tracepoints");
	file_names_free(&subs);
}

void complete_events(const struct typed *of)
{
	const char *typed = of->before, *slash, *start = item_start(typed, &slash);
	struct typed t = *of;
	struct env env;

	env_init(&env, NULL);
	if (slash && slash > start) {
		AUTO_FREE char *pmu = mem_strndup(start, (size_t)(slash - start));
		const char *comma = strrchr(slash, ',');

		t.part = comma ? comma + 1 : slash + 1;
		t.before_n = (int)(t.part - typed);
		pmu_words(&env, &t, pmu);
	} else {
		t.part = start;
		t.before_n = (int)(start - typed);
		if (!strchr(start, ':'))
			plain_words(&env, &t);
		tracepoint_words(&env, &t);
	}
	env_free(&env);
}
