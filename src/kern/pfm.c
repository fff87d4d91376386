/* SPDX-License-Identifier: MIT */
#include "kern/pfm.h"

#include <stdbool.h>

#include "config.h"

#if HAVE_LIBPFM
#	include <dlfcn.h>
#	include <perfmon/pfmlib_perf_event.h>
#	include <stdio.h>
#	include <stdlib.h>
#	include <string.h>

static struct {
	__typeof__(pfm_initialize) *initialize;
	__typeof__(pfm_strerror) *strerror;
	__typeof__(pfm_get_os_event_encoding) *encode;
	__typeof__(pfm_get_pmu_info) *pmu;
	__typeof__(pfm_get_event_next) *next;
	__typeof__(pfm_get_event_info) *event;
	__typeof__(pfm_get_event_attr_info) *attr;
} lib;

/*
 * At the first use: linked, its tables cost every start 41,000 relocations. Static builds link it.
 * False: it is gone.
 */
static bool libpfm_load(void)
{
#	if KYMO_STATIC
#		define FIND(function, name) function
#	else
#		define FIND(function, name) (__typeof__(&(function)))dlsym(h, name)
	void *h = dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL);

	if (!h)
		return false;
#	endif
	lib.initialize = FIND(pfm_initialize, "pfm_initialize");
	lib.strerror = FIND(pfm_strerror, "pfm_strerror");
	lib.encode = FIND(pfm_get_os_event_encoding, "pfm_get_os_event_encoding");
	lib.pmu = FIND(pfm_get_pmu_info, "pfm_get_pmu_info");
	lib.next = FIND(pfm_get_event_next, "pfm_get_event_next");
	lib.event = FIND(pfm_get_event_info, "pfm_get_event_info");
	lib.attr = FIND(pfm_get_event_attr_info, "pfm_get_event_attr_info");
	return lib.initialize && lib.strerror && lib.encode && lib.pmu && lib.next && lib.event &&
	       lib.attr;
}

static bool ready(void)
{
	static int state; /* 1: works, -1: does not */

	if (!state) {
		/* The grammar has these names itself. Left on, every tracepoint would be read at
		 * the start. */
		setenv("LIBPFM_DISABLED_PMUS", "perf,perf_raw", 0);
		state = libpfm_load() && lib.initialize() == PFM_SUCCESS ? 1 : -1;
	}
	return state > 0;
}

int pfm_encode(const char *text, struct perf_event_attr *attr, struct err *e)
{
	char *full = NULL;
	pfm_perf_encode_arg_t arg = { .attr = attr, .fstr = &full, .size = sizeof(arg) };
	int r;

	if (!ready())
		return -ENOENT;
	r = lib.encode(text, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg);
	free(full);
	switch (r) {
	case PFM_SUCCESS: return 0;
	case PFM_ERR_ATTR:
	case PFM_ERR_ATTR_VAL:
	case PFM_ERR_ATTR_SET:
	case PFM_ERR_UMASK:
	case PFM_ERR_FEATCOMB:
		err_set(e, EINVAL, "libpfm4 knows the event, but not all of '%s': %s", text,
			lib.strerror(r));
		return err_hint(e, "'kymo list pfm %.*s' shows what it may have",
				(int)strcspn(text, ":"), text);
	default: return -ENOENT;
	}
}

/* An event with unit masks is useful only with one of them. */
static int each_umask(const pfm_event_info_t *ev, const char *pmu,
		      int (*fn)(void *ctx, const char *pmu, const char *name, const char *about),
		      void *ctx)
{
	bool any = false;
	char name[256], about[1024];
	int r = 0;

	for (int i = 0; i < ev->nattrs && r == 0; i++) {
		pfm_event_attr_info_t at = { .size = sizeof(at) };

		if (lib.attr(ev->idx, i, PFM_OS_PERF_EVENT_EXT, &at) != PFM_SUCCESS ||
		    at.type != PFM_ATTR_UMASK)
			continue;
		any = true;
		snprintf(name, sizeof(name), "%s:%s", ev->name, at.name);
		snprintf(about, sizeof(about), "%s: %s", ev->desc ? ev->desc : "",
			 at.desc ? at.desc : "");
		r = fn(ctx, pmu, name, about);
	}
	return any ? r : fn(ctx, pmu, ev->name, ev->desc);
}

int pfm_each(int (*fn)(void *ctx, const char *pmu, const char *name, const char *about), void *ctx)
{
	int r = 0;

	if (!ready())
		return -ENOENT;
	for (int p = PFM_PMU_NONE; p < PFM_PMU_MAX && r == 0; p++) {
		pfm_pmu_info_t pmu = { .size = sizeof(pmu) };

		if (lib.pmu((pfm_pmu_t)p, &pmu) != PFM_SUCCESS || !pmu.is_present)
			continue;
		for (int i = pmu.first_event; i != -1 && r == 0; i = lib.next(i)) {
			pfm_event_info_t ev = { .size = sizeof(ev) };

			if (lib.event(i, PFM_OS_PERF_EVENT_EXT, &ev) == PFM_SUCCESS)
				r = each_umask(&ev, pmu.name, fn, ctx);
		}
	}
	return r;
}

#else

int pfm_encode(const char *text, struct perf_event_attr *attr, struct err *e)
{
	return -ENOENT;
}

int pfm_each(int (*fn)(void *ctx, const char *pmu, const char *name, const char *about), void *ctx)
{
	return -ENOENT;
}

#endif
