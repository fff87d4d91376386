/* SPDX-License-Identifier: MIT */
/*
 * What -e texts mean. Where perf 6.1 takes the text too, tests/diff/grammar.py
 * compares these with what it opens.
 *
 * A spec is written NAME=TYPE/CONFIG[/CONFIG1...] -EXCLUDED and what else it
 * has; a breakpoint's address, length and type follow an '@'.
 */
#include "event/spec/spec.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "kern/env.h"
#include "tap.h"

struct good {
	const char *text, *want;
};

#include "spec_good.h"

static void show_attr(struct strbuf *b, const struct event_spec *s)
{
	const struct perf_event_attr *a = &s->attr;
	uint64_t more[] = { a->config1, a->config2, s->config3 };
	int n = 3;

	strbuf_printf(b, "%s=%u/%llx", s->name, a->type, (unsigned long long)a->config);
	if (s->kind == SPEC_BREAKPOINT && a->bp_type) {
		strbuf_printf(b, "/@%llx/%llu/%u", (unsigned long long)a->bp_addr,
			      (unsigned long long)a->bp_len, a->bp_type);
		n = 0;
	}
	while (n && !more[n - 1])
		n--;
	for (int i = 0; i < n; i++)
		strbuf_printf(b, "/%llx", (unsigned long long)more[i]);
	strbuf_printf(b, " -%s%s%s%s%s%s", a->exclude_user ? "u" : "", a->exclude_kernel ? "k" : "",
		      a->exclude_hv ? "h" : "", a->exclude_idle ? "i" : "",
		      a->exclude_host ? "H" : "", a->exclude_guest ? "G" : "");
	if (a->precise_ip)
		strbuf_printf(b, " p%u", a->precise_ip);
	strbuf_printf(b, "%s%s%s%s%s%s", a->pinned ? " pinned" : "",
		      a->exclusive ? " exclusive" : "", s->precise_max ? " P" : "",
		      s->sample_read ? " S" : "", s->weak ? " W" : "", s->bpf ? " b" : "");
}

static void show_place(struct strbuf *b, const struct event_spec *s, int index)
{
	if (s->leader != index)
		strbuf_printf(b, " in%d", s->leader);
	if (s->members > 1)
		strbuf_printf(b, " of%d", s->members);
	if (s->first != index)
		strbuf_printf(b, " sum%d", s->first);
	if (s->group_name)
		strbuf_printf(b, " %s{}", s->group_name);
	if (s->pmu)
		strbuf_printf(b, " %s", s->pmu);
	if (s->pmu_cpus)
		strbuf_printf(b, " cpus%s", s->pmu_cpus);
	if (s->on_cpus)
		strbuf_printf(b, " on%s", s->on_cpus);
	if (s->unit)
		strbuf_printf(b, " %s", s->unit);
	if (s->scale != 1.0)
		strbuf_printf(b, " x%g", s->scale);
}

static void show_terms(struct strbuf *b, const struct event_spec *s)
{
	static const struct {
		unsigned bit;
		const char *name;
	} bits[] = {
		{ SPEC_TERM_PERIOD, "period" },
		{ SPEC_TERM_FREQ, "freq" },
		{ SPEC_TERM_CALL_GRAPH, "call-graph" },
		{ SPEC_TERM_STACK_SIZE, "stack-size" },
		{ SPEC_TERM_TIME, "time" },
		{ SPEC_TERM_INHERIT, "inherit" },
		{ SPEC_TERM_OVERWRITE, "overwrite" },
		{ SPEC_TERM_MAX_STACK, "max-stack" },
		{ SPEC_TERM_MAX_EVENTS, "nr" },
		{ SPEC_TERM_BRANCH_TYPE, "branch_type" },
		{ SPEC_TERM_PERCORE, "percore" },
		{ SPEC_TERM_AUX_OUTPUT, "aux-output" },
	};
	uint64_t numbers[] = { s->period,
			       s->freq,
			       0,
			       s->stack_size,
			       s->time,
			       s->inherit,
			       s->overwrite,
			       s->max_stack,
			       s->max_events,
			       0,
			       s->percore,
			       s->aux_output };
	const char *words[ARRAY_SIZE(bits)] = { [2] = s->call_graph, [9] = s->branch_type };

	for (size_t i = 0; i < ARRAY_SIZE(bits); i++) {
		if (!(s->terms & bits[i].bit))
			continue;
		if (words[i])
			strbuf_printf(b, " %s=%s", bits[i].name, words[i]);
		else
			strbuf_printf(b, " %s=%llu", bits[i].name, (unsigned long long)numbers[i]);
	}
}

static void check_all(const char *tree, const struct good *g, size_t n)
{
	AUTO_FREE char *sysfs = mem_printf("tests/data/%s", tree);
	struct env_roots roots = { .sysfs = sysfs,
				   .tracefs = "tests/data/tracefs",
				   .kallsyms = "tests/data/kallsyms" };
	struct spec_list list = { 0 };
	struct env env;

	env_init(&env, &roots);
	for (; n; n--, g++) {
		AUTO_STRBUF got = { 0 };
		struct err e = { 0 };
		int r = spec_parse(&list, g->text, &env.spec, &e);

		for (size_t i = 0; i < list.n && r == 0; i++) {
			strbuf_puts(&got, i ? "; " : "");
			show_attr(&got, &list.spec[i]);
			show_place(&got, &list.spec[i], (int)i);
			show_terms(&got, &list.spec[i]);
		}
		tap_str(r ? e.msg : strbuf_str(&got), g->want, g->text, __FILE__, __LINE__);
		list.n = 0;
	}
	spec_list_free(&list);
	env_free(&env);
}

/* Several arguments make one list; a failure leaves it as it was; indices are the list's. */
static void check_list(void)
{
	struct env_roots roots = { .sysfs = "tests/data/sysfs-intel",
				   .tracefs = "tests/data/tracefs" };
	struct spec_list list = { 0 };
	struct err e = { 0 };
	struct env env;

	env_init(&env, &roots);
	CHECK_INT(spec_parse(&list, "cs,{faults,dummy}", &env.spec, &e), 0);
	CHECK_INT(list.n, 3);
	CHECK_INT(spec_parse(&list, "{cs:u,sched:*,nosuch}", &env.spec, &e), -ENOENT);
	CHECK_INT(list.n, 3);
	CHECK_STR(list.spec[1].name, "faults");
	CHECK_INT(spec_parse(&list, "{uncore_imc/clockticks/,uncore_imc/cas_count_read/}",
			     &env.spec, &e),
		  0);
	CHECK_INT(list.n, 7);
	CHECK_INT(list.spec[3].leader, 3);
	CHECK_INT(list.spec[6].leader, 5);
	CHECK_INT(list.spec[5].first, 3);
	CHECK_INT(list.spec[6].first, 4);
	CHECK(list.spec[3].inherit && !list.spec[3].terms && !list.spec[3].modified);
	CHECK_INT(spec_parse(&list, "cs:G,cs:u,duration_time,power/energy-pkg/", &env.spec, &e), 0);
	CHECK(list.spec[7].guest_host && !list.spec[7].modified);
	CHECK(list.spec[8].modified && !list.spec[8].guest_host);
	CHECK_STR(list.spec[8].text, "cs:u");
	CHECK_INT(list.spec[9].tool, SPEC_TOOL_DURATION);
	CHECK_INT(list.spec[9].kind, SPEC_TOOL);
	CHECK(list.spec[10].scale > 2.328e-10 && list.spec[10].scale < 2.329e-10);
	CHECK_INT(spec_parse(&list, "topdown-total-slots", &env.spec, &e), 0);
	CHECK(list.spec[11].snapshot && !list.spec[11].per_pkg);
	spec_list_free(&list);
	/* no machine at all */
	CHECK_INT(spec_parse(&list, "cycles:u,{cs,r1}", NULL, &e), 0);
	CHECK_INT(spec_parse(&list, "sched:sched_switch", NULL, &e), -ENOENT);
	CHECK_INT(spec_parse(&list, "cpu/event=1/", NULL, &e), -ENOENT);
	CHECK_INT(spec_parse(&list, "mem:jiffies", NULL, &e), -EINVAL);
	CHECK_INT(spec_parse(&list, "cpu/event=1/", NULL, NULL), -ENOENT);
	spec_list_free(&list);
	env_free(&env);
}

static void check_symbols(void)
{
	struct env_roots roots = { .sysfs = "/nowhere", .kallsyms = "tests/data/kallsyms" };
	struct spec_list list = { 0 };
	struct err e = { 0 };
	struct env env;

	env_init(&env, &roots);
	CHECK_INT(spec_parse(&list,
			     "mem:jiffies:w,mem:do_exit:x,mem:system_state+4/4:rw:k,"
			     "mem:my_reset:x",
			     &env.spec, &e),
		  0);
	CHECK_INT(list.spec[0].attr.bp_addr, 0xffffffff82a0c040);
	CHECK_INT(list.spec[1].attr.bp_addr, 0xffffffff811a2b40);
	CHECK_INT(list.spec[1].attr.bp_len, SPEC_BP_EXEC_LEN);
	CHECK_INT(list.spec[2].attr.bp_addr, 0xffffffff83123404);
	CHECK_INT(list.spec[3].attr.bp_addr, 0xffffffffc0401000);
	CHECK_INT(spec_parse(&list, "mem:jiffie:w", &env.spec, &e), -ENOENT);
	CHECK_STR(e.hint, "did you mean jiffies?");
	CHECK_INT(spec_parse(&list, "mem:jiffies+x:w", &env.spec, &e), -EINVAL);
	env_free(&env);
	roots.kallsyms = "tests/data/kallsyms-hidden";
	env_init(&env, &roots);
	CHECK_INT(spec_parse(&list, "mem:jiffies:w", &env.spec, &e), -EPERM);
	CHECK(strstr(e.hint, "kptr_restrict"));
	spec_list_free(&list);
	env_free(&env);
}

int main(void)
{
	setenv("LIBPFM_FORCE_PMU", "skl", 1);
	check_all("nothing", plain, ARRAY_SIZE(plain));
	check_all("sysfs-intel", intel, ARRAY_SIZE(intel));
	check_all("sysfs-hybrid", hybrid, ARRAY_SIZE(hybrid));
	check_all("sysfs-arm", arm, ARRAY_SIZE(arm));
	check_list();
	check_symbols();
	return tap_end();
}
