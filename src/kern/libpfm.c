/* SPDX-License-Identifier: MIT */
/*
 * The part of libpfm4 that pfm.c uses, loaded at the first call: linked, its tables cost every
 * start 41,000 relocations. Static builds link it and leave this file empty. Where it is gone at
 * run time, pfm_initialize() fails.
 */
#include "config.h"

#if HAVE_LIBPFM && !KYMO_STATIC
#	include <dlfcn.h>
#	include <perfmon/pfmlib_perf_event.h>
#	include <pthread.h>
#	include <stdbool.h>

static struct {
	__typeof__(pfm_initialize) *initialize;
	__typeof__(pfm_strerror) *strerror;
	__typeof__(pfm_get_os_event_encoding) *encode;
	__typeof__(pfm_get_pmu_info) *pmu;
	__typeof__(pfm_get_event_next) *next;
	__typeof__(pfm_get_event_info) *event;
	__typeof__(pfm_get_event_attr_info) *attr;
	bool ready;
} lib;

static void libpfm_load(void)
{
	void *h = dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL);

	if (!h)
		return;
	lib.initialize = (__typeof__(lib.initialize))dlsym(h, "pfm_initialize");
	lib.strerror = (__typeof__(lib.strerror))dlsym(h, "pfm_strerror");
	lib.encode = (__typeof__(lib.encode))dlsym(h, "pfm_get_os_event_encoding");
	lib.pmu = (__typeof__(lib.pmu))dlsym(h, "pfm_get_pmu_info");
	lib.next = (__typeof__(lib.next))dlsym(h, "pfm_get_event_next");
	lib.event = (__typeof__(lib.event))dlsym(h, "pfm_get_event_info");
	lib.attr = (__typeof__(lib.attr))dlsym(h, "pfm_get_event_attr_info");
	lib.ready = lib.initialize && lib.strerror && lib.encode && lib.pmu && lib.next &&
		    lib.event && lib.attr;
}

/* Only this one has to ask: pfm.c calls no other where it failed. */
pfm_err_t pfm_initialize(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, libpfm_load);
	return lib.ready ? lib.initialize() : PFM_ERR_NOTSUPP;
}

const char *pfm_strerror(int code)
{
	return lib.strerror(code);
}

pfm_err_t pfm_get_os_event_encoding(const char *str, int dfl_plm, pfm_os_t os, void *args)
{
	return lib.encode(str, dfl_plm, os, args);
}

pfm_err_t pfm_get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t *output)
{
	return lib.pmu(pmu, output);
}

int pfm_get_event_next(int idx)
{
	return lib.next(idx);
}

pfm_err_t pfm_get_event_info(int idx, pfm_os_t os, pfm_event_info_t *output)
{
	return lib.event(idx, os, output);
}

pfm_err_t pfm_get_event_attr_info(int eidx, int aidx, pfm_os_t os, pfm_event_attr_info_t *output)
{
	return lib.attr(eidx, aidx, os, output);
}
#endif
