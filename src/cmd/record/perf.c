/* SPDX-License-Identifier: MIT */
/* kymo record: options of perf's that mean more there, or something that kymo does not do. */
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "cmd/record/record.h"
#include "kern/cpu.h"

#define MAX_THREADS 256

static const struct {
	const char *name, *why, *hint;
} refused[] = {
	{ "snapshot", "hardware traces (Intel PT, CoreSight) are not recorded",
	  "--overwrite --switch-output keeps the newest samples and writes them on SIGUSR2" },
	{ "aux-sample", "hardware traces (Intel PT, CoreSight) are not recorded",
	  "-g has the stack of each sample, -b the branches before it" },
	{ "kcore", "the kernel's code is not copied",
	  "kymo annotate reads /proc/kcore of this machine itself; kymo archive takes a vmlinux "
	  "along" },
	{ "setup-filter", "filters of samples are not kept in the kernel",
	  "--filter needs no preparation" },
};

int record_on_refused(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused) && !unset; i++)
		if (strcmp(refused[i].name, o->name) == 0) {
			err_set(e, EOPNOTSUPP, "--%s: %s", o->name, refused[i].why);
			return err_hint(e, "%s", refused[i].hint);
		}
	return 0;
}

/* "0,2-4/2-4:1/1": CPUs, and those that their thread runs on; a thread for each pair. */
static bool count_pairs(const char *text, uint64_t *ret)
{
	AUTO_FREE char *copy = mem_strdup(text);
	char *save = NULL;

	*ret = 0;
	for (char *pair = strtok_r(copy, ":", &save); pair; pair = strtok_r(NULL, ":", &save)) {
		char *runs_on = strchr(pair, '/');
		struct cpus of = { 0 }, on = { 0 };
		bool ok = runs_on != NULL;

		if (ok)
			*runs_on++ = '\0';
		ok = ok && cpus_parse_any(pair, &of, NULL) == 0 &&
		     cpus_parse_any(runs_on, &on, NULL) == 0;
		cpus_free(&of);
		cpus_free(&on);
		if (!ok)
			return false;
		++*ret;
	}
	return *ret > 0;
}

/* How many of these the CPUs that are online belong to. */
static bool count_places(const char *what, uint64_t *ret)
{
	static const char *const words[] = { "cpu", "core", "package", "numa" };
	struct map seen = { 0 };
	struct cpus cpus;
	unsigned kind = 0;

	while (kind < ARRAY_SIZE(words) && strcmp(words[kind], what) != 0)
		kind++;
	if (kind == ARRAY_SIZE(words) || cpus_online(&cpus, NULL) < 0)
		return false;
	*ret = 0;
	for (size_t i = 0; i < cpus.n; i++) {
		struct cpu_place at = cpu_place(cpus.cpu[i]);
		uint64_t key = kind == 0   ? (uint64_t)cpus.cpu[i]
			       : kind == 1 ? (uint64_t)(uint32_t)at.socket << 32 | (uint32_t)at.core
			       : kind == 2 ? (uint32_t)at.socket
					   : (uint32_t)at.node;
		uint64_t *slot = map_at(&seen, key);

		*ret += !*slot;
		*slot = 1;
	}
	map_free(&seen);
	cpus_free(&cpus);
	return true;
}

int record_on_threads(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct record_args *a = args;
	uint64_t n = 0;

	if (unset || !value) {
		a->o.threads = unset;
		return 0;
	}
	if (!str_u64(value, &n) && !count_places(value, &n) && !count_pairs(value, &n)) {
		err_set(e, EINVAL, "--threads does not understand '%s'", value);
		return err_hint(e, "a number, cpu, core, package, numa, or CPUS/CPUS:...");
	}
	if (n < 1 || n > MAX_THREADS)
		return err_set(e, EINVAL, "--threads wants 1 to %d, not '%s'", MAX_THREADS, value);
	a->o.threads = (int)n;
	return 0;
}
