/* SPDX-License-Identifier: MIT */
/*
 * The PMUs below /sys/bus/event_source/devices: types, terms (format/), named events. A file is
 * read when it is asked for: a lookup of one event must not cost a walk over all.
 */
#pragma once

#include "base/mem.h"
#include "event/env.h"

struct pmu;
struct pmus {
	struct arena arena; /* all that is handed out lives here */
	char *dir;
	struct pmu *list; /* those looked up so far, missing ones too */
	struct env_names names;
	bool listed;
};

/* sysfs: "/sys", or a captured tree. */
void pmus_init(struct pmus *p, const char *sysfs);
void pmus_free(struct pmus *p);

/* As the grammar asks (event/env.h): pmus is a struct pmus. */
const struct env_pmu *pmu_find(void *pmus, const char *name); /* NULL when there is none */
struct env_names pmu_names(void *pmus);
const char *pmu_format(void *pmus, const struct env_pmu *pmu, const char *term);
struct env_names pmu_formats(void *pmus, const struct env_pmu *pmu);
bool pmu_event(void *pmus, const struct env_pmu *pmu, const char *name, struct env_event *ret);
struct env_names pmu_events(void *pmus, const struct env_pmu *pmu);
/* Is there a PMU that counts what CPUs do (cycles, instructions)? */
bool pmu_has_core(struct pmus *p);
