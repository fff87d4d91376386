/* SPDX-License-Identifier: MIT */
/* Reading PMUs and tracepoints, from captured trees and from this kernel. */
#include "kern/env.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "event/spec/int.h"
#include "kern/perf.h"
#include "kern/pfm.h"
#include "kern/tracefs.h"
#include "tap.h"

static void pmus(void)
{
	struct pmus p;
	const struct env_pmu *pmu;
	struct env_event ev;
	struct env_names names;

	pmus_init(&p, "tests/data/sysfs-intel");
	pmu = pmu_find(&p, "cpu");
	CHECK(pmu && pmu->type == 4 && pmu->core && !pmu->cpumask && !pmu->cpus);
	CHECK(pmu == pmu_find(&p, "cpu"));
	CHECK_STR(pmu_format(&p, pmu, "umask"), "config:8-15");
	CHECK_STR(pmu_format(&p, pmu, "nosuch"), NULL);
	CHECK_STR(pmu_format(&p, pmu, "../type"), NULL);
	CHECK_STR(pmu_format(&p, pmu, ""), NULL);
	CHECK(pmu_event(&p, pmu, "mem-loads", &ev));
	CHECK_STR(ev.terms, "event=0xcd,umask=0x1,ldlat=3");
	CHECK(!ev.unit && ev.scale == 1.0);
	CHECK(pmu_event(&p, pmu, "Mem-Loads", &ev) && !pmu_event(&p, pmu, "nosuch", &ev));
	CHECK(!pmu_event(&p, pmu, "topdown-total-slots.scale", &ev));
	names = pmu_events(&p, pmu);
	for (size_t i = 0; i < names.n; i++)
		if (strchr(names.name[i], '.'))
			CHECK_CASE(false, "%s is no event", names.name[i]);
	CHECK_INT(names.n, 21);
	CHECK_INT(pmu_formats(&p, pmu).n, 12);
	pmu = pmu_find(&p, "power");
	CHECK(pmu && !pmu->core && pmu_event(&p, pmu, "energy-pkg", &ev));
	CHECK_STR(pmu->cpumask, "0");
	CHECK_STR(ev.unit, "Joules");
	CHECK(ev.scale > 2.3e-10 && ev.scale < 2.4e-10);
	CHECK(!pmu_find(&p, "nosuch") && !pmu_find(&p, "nosuch") &&
	      !pmu_find(&p, "../devices/cpu"));
	CHECK(!pmu_find(&p, "") && !pmu_find(&p, "."));
	CHECK(pmu_has_core(&p));
	pmus_free(&p);
	pmus_init(&p, "tests/data/sysfs-arm");
	pmu = pmu_find(&p, "armv8_pmuv3_0");
	CHECK(pmu && pmu->core && pmu_has_core(&p));
	CHECK_STR(pmu->cpus, "0-3");
	pmus_free(&p);
	pmus_init(&p, "/nowhere");
	CHECK(!pmu_has_core(&p) && pmu_names(&p).n == 0);
	pmus_free(&p);
}

static void bits(void)
{
	struct spec_bits b;
	uint64_t w = ~0ull;

	CHECK(spec_bits_parse("config:0-7", &b) && b.word == 0 && b.mask == 0xff);
	CHECK(spec_bits_put(&b, 0x3c, &w) && w == ~0ull - 0xff + 0x3c);
	CHECK(!spec_bits_put(&b, 0x100, &w));
	CHECK(spec_bits_parse("config1:17-20,30", &b) && b.word == 1 && b.mask == 0x401e0000);
	CHECK_INT(spec_bits_max(&b), 31);
	w = 0;
	CHECK(spec_bits_put(&b, 0x11, &w) && w == 0x40020000);
	CHECK(spec_bits_parse("config2:0-63", &b) && b.word == 2 && b.mask == ~0ull);
	CHECK(spec_bits_put(&b, ~0ull, &w) && w == ~0ull);
	CHECK(spec_bits_parse("config3:63", &b) && b.word == 3 && b.mask == 1ull << 63);
	CHECK(!spec_bits_parse("config", &b) && !spec_bits_parse("config4:0", &b));
	CHECK(!spec_bits_parse("config:", &b) && !spec_bits_parse("config:5-3", &b));
	CHECK(!spec_bits_parse("config:64", &b) && !spec_bits_parse("config:0-64", &b));
	CHECK(!spec_bits_parse("config:1,", &b) && !spec_bits_parse("config:1-", &b));
	CHECK(!spec_bits_parse("conf:1", &b) && !spec_bits_parse("config:1x", &b));
}

static void tracepoints(void)
{
	const char *root = "tests/data/tracefs";
	struct file_names names = { 0 };
	struct err e = { 0 };
	uint64_t id;

	CHECK_INT(tracefs_id(root, "sched", "sched_switch", &id, &e), 0);
	CHECK_INT(id, 107);
	CHECK_INT(tracefs_id(root, "sched", "nosuch", &id, &e), -ENOENT);
	CHECK_INT(tracefs_id(root, "sched", "enable", &id, &e), -ENOENT);
	CHECK_INT(tracefs_events(root, "sched", &names, &e), 0);
	CHECK_INT(names.n, 4);
	CHECK_STR(names.name[0], "sched_process_exec");
	file_names_free(&names);
	CHECK_INT(tracefs_events(root, "nosuch", &names, &e), -ENOENT);
	CHECK_INT(tracefs_all(root, "ftrace", &names, &e), 0);
	CHECK_INT(names.n, 1);
	file_names_free(&names);
	CHECK_INT(tracefs_all(root, "nosuch", &names, &e), -ENOENT);
	CHECK_INT(tracefs_all(root, NULL, &names, &e), 0);
	CHECK_INT(names.n, 17);
	CHECK_STR(names.name[0], "ftrace:function");
	file_names_free(&names);
	CHECK_INT(tracefs_probes(root, &names), 0);
	CHECK_INT(names.n, 1);
	CHECK_STR(names.name[0], "probe_libc:malloc");
	file_names_free(&names);
	CHECK_INT(tracefs_failed(root, EACCES, &e), -EACCES);
	CHECK(strstr(e.hint, "remount,mode=750,gid="));
}

static void live_tracefs(void)
{
	struct err e = { 0 };
	const char *root = tracefs_find(&e);
	uint64_t id = 0;

	if (!root || access(root, R_OK) < 0) {
		SKIP("tracefs is not readable here");
		return;
	}
	CHECK_INT(tracefs_id(root, "sched", "sched_switch", &id, &e), 0);
	CHECK(id > 0);
}

static void vendor_names(void)
{
#if HAVE_LIBPFM
	struct env_roots roots = { .sysfs = "/nowhere", .tracefs = "tests/data/tracefs" };
	struct spec_list list = { 0 };
	struct err e = { 0 };
	struct env env;

	env_init(&env, &roots);
	CHECK_INT(spec_parse(&list,
			     "INST_RETIRED:ANY_P,INST_RETIRED:ANY_P:u,INST_RETIRED:ANY_P:uk,"
			     "INST_RETIRED:ANY_P:k:c=1:i,skl::INST_RETIRED:ANY_P:period=9,"
			     "OFFCORE_RESPONSE_0:DMND_DATA_RD:pp",
			     &env.spec, &e),
		  0);
	CHECK_STR(e.msg, "");
	CHECK(list.n == 6 && list.spec[0].kind == SPEC_RAW && list.spec[0].attr.type == 4);
	CHECK_STR(list.spec[0].name, "INST_RETIRED:ANY_P");
	CHECK_INT(list.spec[0].attr.config, 0xc0);
	CHECK(list.spec[0].attr.exclude_guest && !list.spec[0].attr.exclude_kernel);
	CHECK(list.spec[1].attr.exclude_kernel && !list.spec[1].attr.exclude_user);
	CHECK(!list.spec[2].attr.exclude_kernel && !list.spec[2].attr.exclude_user &&
	      list.spec[2].attr.exclude_hv);
	CHECK_INT(list.spec[3].attr.config, 0x18000c0);
	CHECK(list.spec[4].terms == SPEC_TERM_PERIOD && list.spec[4].period == 9 &&
	      !list.spec[4].attr.sample_period);
	CHECK(list.spec[5].attr.config1 == 0x10001 && list.spec[5].attr.precise_ip == 2);
	list.n = 0;
	CHECK_INT(spec_parse(&list, "INST_RETIRED:NOSUCH", &env.spec, &e), -EINVAL);
	CHECK(strstr(e.hint, "kymo list pfm INST_RETIRED"));
	CHECK_INT(spec_parse(&list, "INST_NOSUCH:ANY", &env.spec, &e), -ENOENT);
	/* its own copies of the general names do not loosen ours */
	CHECK_INT(spec_parse(&list, "CYCLES", &env.spec, &e), -ENOENT);
	spec_list_free(&list);
	env_free(&env);
#else
	SKIP("built without libpfm4");
#endif
}

static void opening(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_DUMMY,
					.exclude_kernel = 1,
					.exclude_hv = 1 };
	int fd = perf_open(&attr, 0, -1, -1, 0);

	if (fd == -EACCES || fd == -EPERM || fd == -ENOSYS) {
		SKIP("no perf events for this user");
		return;
	}
	CHECK(fd >= 0 && attr.size == sizeof(attr));
	close(fd);
	fd = perf_open_config3(&attr, 0, 0, -1, -1, 0);
	CHECK(fd >= 0);
	close(fd);
	/* software events ignore it; kernels before 6.3 do not know it */
	fd = perf_open_config3(&attr, 1, 0, -1, -1, 0);
	CHECK(fd >= 0 || fd == -E2BIG);
	if (fd >= 0)
		close(fd);
}

int main(void)
{
	setenv("LIBPFM_FORCE_PMU", "skl", 1);
	pmus();
	bits();
	tracepoints();
	live_tracefs();
	vendor_names();
	opening();
	return tap_end();
}
