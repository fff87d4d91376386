/* SPDX-License-Identifier: MIT */
/*
 * Fuzzing the -e grammar, with a machine that exists in memory only: PMUs of
 * several kinds, a few tracepoints, one symbol, one vendor's name.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "event/env.h"
#include "event/spec/spec.h"
#include "fuzz.h"

static const struct env_pmu pmus[] = {
	{ "cpu", 4, true, NULL, NULL },
	{ "msr", 9, false, NULL, NULL },
	{ "uncore_imc_0", 12, false, "0", NULL },
	{ "uncore_imc_1", 13, false, "0", NULL },
};
static const struct env_pmu hybrid_pmus[] = {
	{ "cpu_atom", 10, true, NULL, "4-7" },
	{ "cpu_core", 4, true, NULL, "0-3" },
};
static const char *const pmu_list[] = { "cpu", "msr", "uncore_imc_0", "uncore_imc_1" };
static const char *const hybrid_list[] = { "cpu_atom", "cpu_core" };
static const char *const formats[] = { "event", "ldlat", "odd", "umask" };
static const char *const events[] = { "bad", "mem-loads", "param", "ticks" };
static const char *const subsystems[] = { "ftrace", "my-driver", "sched", "syscalls" };
static const char *const tracepoints[] = { "sched_switch", "sched_wakeup", "sys_enter_openat" };

static const struct env_pmu *pmu(void *ctx, const char *name)
{
	const struct env_pmu *list = ctx ? hybrid_pmus : pmus;

	for (size_t i = 0; i < (ctx ? ARRAY_SIZE(hybrid_pmus) : ARRAY_SIZE(pmus)); i++)
		if (strcmp(list[i].name, name) == 0)
			return &list[i];
	return NULL;
}

static struct env_names pmu_names(void *ctx)
{
	return ctx ? (struct env_names){ hybrid_list, ARRAY_SIZE(hybrid_list) }
		   : (struct env_names){ pmu_list, ARRAY_SIZE(pmu_list) };
}

static const char *pmu_format(void *ctx, const struct env_pmu *p, const char *term)
{
	static const char *const where[] = { "config:0-7", "config1:0-15", "config2:5-1",
					     "config:8-15,32-35" };

	(void)ctx;
	(void)p;
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (strcmp(formats[i], term) == 0)
			return where[i];
	return NULL;
}

static struct env_names pmu_formats(void *ctx, const struct env_pmu *p)
{
	(void)ctx;
	(void)p;
	return (struct env_names){ formats, ARRAY_SIZE(formats) };
}

static bool pmu_event(void *ctx, const struct env_pmu *p, const char *name, struct env_event *ret)
{
	static const char *const terms[] = { "event=0x100,nosuch=1,,=",
					     "event=0xcd,umask=0x1,ldlat=3", "event=?,umask=1",
					     "config=0xff" };

	(void)ctx;
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		if (strcasecmp(events[i], name) == 0 && strcmp(p->name, "uncore_imc_1") != 0) {
			*ret = (struct env_event){ .terms = terms[i], .scale = 0.5, .unit = "MiB" };
			return true;
		}
	return false;
}

static struct env_names pmu_events(void *ctx, const struct env_pmu *p)
{
	(void)ctx;
	(void)p;
	return (struct env_names){ events, ARRAY_SIZE(events) };
}

static int tracepoint(void *ctx, const char *subsys, const char *event, uint64_t *id, struct err *e)
{
	(void)ctx;
	FUZZ_CHECK(!strchr(subsys, '/') && !strchr(event, '/'));
	FUZZ_CHECK(subsys[0] != '.' && event[0] != '.');
	if (strcmp(subsys, "ftrace") == 0)
		return err_set(e, EACCES, "not for you");
	for (size_t i = 0; i < ARRAY_SIZE(tracepoints); i++)
		if (strcmp(event, tracepoints[i]) == 0 && strcmp(subsys, "my-driver") != 0) {
			*id = i + 1;
			return 0;
		}
	return -ENOENT;
}

static int tracepoint_names(void *ctx, const char *subsys, struct env_names *ret, struct err *e)
{
	(void)ctx;
	if (subsys && strcmp(subsys, "nosuch") == 0)
		return err_set(e, ENOENT, "nothing");
	*ret = subsys ? (struct env_names){ tracepoints, ARRAY_SIZE(tracepoints) }
		      : (struct env_names){ subsystems, ARRAY_SIZE(subsystems) };
	return 0;
}

static int symbol(void *ctx, const char *name, uint64_t *addr, struct err *e)
{
	(void)ctx;
	*addr = 0xffffffff81000000;
	return strcmp(name, "jiffies") == 0 ? 0 : err_set(e, ENOENT, "no symbol '%s'", name);
}

static int pfm(void *ctx, const char *text, struct perf_event_attr *attr, struct err *e)
{
	(void)ctx;
	if (strncmp(text, "INST", 4) != 0)
		return -ENOENT;
	if (strchr(text, '='))
		return err_set(e, EINVAL, "bad attribute in '%s'", text);
	*attr = (struct perf_event_attr){ .type = 4, .config = 0xc0, .sample_period = 5 };
	return 0;
}

/* What must hold for every list, whatever was parsed. */
static void check_list(const struct spec_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct event_spec *s = &l->spec[i];

		FUZZ_CHECK(s->name && s->text && s->scale > 0);
		FUZZ_CHECK(s->leader >= 0 && s->leader <= (int)i);
		FUZZ_CHECK(l->spec[s->leader].leader == s->leader);
		FUZZ_CHECK(s->first >= 0 && s->first < (int)l->n);
		FUZZ_CHECK(l->spec[s->first].first == s->first);
		FUZZ_CHECK(s->members >= 1 && (s->members == 1 || s->leader == (int)i));
		FUZZ_CHECK(i + (size_t)s->members <= l->n);
		for (size_t j = i; j < i + (size_t)s->members; j++)
			FUZZ_CHECK(s->members == 1 || l->spec[j].leader == (int)i);
		FUZZ_CHECK(s->attr.size == 0 && s->attr.sample_period == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct spec_env env = {
		.ctx = size && data[0] & 1 ? &env : NULL, /* hybrid or not */
		.pmu = pmu,
		.pmu_names = pmu_names,
		.pmu_format = pmu_format,
		.pmu_formats = pmu_formats,
		.pmu_event = pmu_event,
		.pmu_events = pmu_events,
		.tracepoint = tracepoint,
		.tracepoints = tracepoint_names,
		.symbol = symbol,
		.pfm = pfm,
	};
	struct spec_list list = { 0 };
	struct err e = { 0 };
	char *text = mem_strndup((const char *)data, size);
	size_t before;

	FUZZ_CHECK(spec_parse(&list, "{cs,faults}", &env, &e) == 0);
	before = list.n;
	if (spec_parse(&list, text, &env, &e) < 0) {
		FUZZ_CHECK(list.n == before && e.code > 0);
		FUZZ_CHECK(strchr(e.msg, '\n') && strrchr(e.msg, '^') && e.hint[0]);
	} else {
		FUZZ_CHECK(list.n > before);
	}
	check_list(&list);
	/* without any machine */
	err_clear(&e);
	spec_parse(&list, text, NULL, &e);
	check_list(&list);
	spec_list_free(&list);
	free(text);
	return 0;
}
