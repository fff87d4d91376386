/* SPDX-License-Identifier: MIT */
/*
 * What the -e grammar asks of the machine it runs on.
 *
 * The parser opens nothing itself; kern/env.h answers from the running kernel
 * (or from a captured sysfs tree), tests and the fuzzer from memory. A callback
 * that is NULL means "there are none of these". Everything handed out lives as
 * long as the environment does.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct env_pmu {
	const char *name;
	uint32_t type;
	bool core;	     /* counts what CPUs do: cpu, cpu_atom, armv8_pmuv3_0 ... */
	const char *cpumask; /* CPUs on which it is opened, system-wide only ("0,12"); NULL: any */
	const char *cpus;    /* of a core PMU: the CPUs that have it; NULL: all */
	const char *alias;   /* another name for it; NULL when none */
};

/* A PMU's own named event: a file below events/ and its .scale, .unit, .snapshot, .per-pkg. */
struct env_event {
	const char *terms; /* "event=0xcd,umask=0x1,ldlat=3" */
	const char *unit;  /* NULL when none */
	double scale;	   /* 1.0 when none */
	bool snapshot, per_pkg;
};

/* Sorted. */
struct env_names {
	const char *const *name;
	size_t n;
};

struct spec_env {
	void *ctx;

	/* NULL when there is no such PMU. */
	const struct env_pmu *(*pmu)(void *ctx, const char *name);
	struct env_names (*pmu_names)(void *ctx);
	/* Where a term's bits go ("config:0-7,32-35"); NULL when the PMU has no such term. */
	const char *(*pmu_format)(void *ctx, const struct env_pmu *pmu, const char *term);
	struct env_names (*pmu_formats)(void *ctx, const struct env_pmu *pmu);
	/* False when the PMU has no such event. Upper and lower case are the same here. */
	bool (*pmu_event)(void *ctx, const struct env_pmu *pmu, const char *name,
			  struct env_event *ret);
	struct env_names (*pmu_events)(void *ctx, const struct env_pmu *pmu);

	/* The id that goes into attr.config. -ENOENT when there is none; else -errno and why. */
	int (*tracepoint)(void *ctx, const char *subsys, const char *event, uint64_t *id,
			  struct err *e);
	/* The events of a subsystem; with NULL the subsystems. */
	int (*tracepoints)(void *ctx, const char *subsys, struct env_names *ret, struct err *e);

	/* The address of a kernel symbol, for breakpoints. */
	int (*symbol)(void *ctx, const char *name, uint64_t *addr, struct err *e);

	/* Encode an event name of libpfm4. -ENOENT when it does not know it. */
	int (*pfm)(void *ctx, const char *text, struct perf_event_attr *attr, struct err *e);
};
