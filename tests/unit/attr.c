/* SPDX-License-Identifier: MIT */
/* What an attr says to who knows types only. */
#include "event/attr.h"

#include "tap.h"

static enum event_role role(uint32_t type, uint64_t config)
{
	return attr_role(&(struct perf_event_attr){ .type = type, .config = config });
}

static void test_role(void)
{
	const uint64_t miss = PERF_COUNT_HW_CACHE_RESULT_MISS << 16;

	CHECK(role(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES) == ROLE_CYCLES);
	CHECK(role(PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES) == ROLE_OTHER);
	CHECK(role(PERF_TYPE_HARDWARE, 1ull << 32) == ROLE_OTHER);
	CHECK(role(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK) == ROLE_TASK_CLOCK);
	CHECK(role(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ) == ROLE_PAGE_FAULTS);
	CHECK(role(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES) == ROLE_OTHER);
	CHECK(role(PERF_TYPE_RAW, 0) == ROLE_OTHER);
	CHECK(role(PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1D) == ROLE_L1D_LOADS);
	CHECK(role(PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_ITLB | miss) == ROLE_ITLB_MISSES);
	/* stores, and what is no cache anybody asks for */
	CHECK(role(PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_OP_WRITE << 8) == ROLE_OTHER);
	CHECK(role(PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_NODE | miss) == ROLE_OTHER);
	CHECK(role_is_clock(ROLE_CPU_CLOCK) && !role_is_clock(ROLE_CYCLES));
}

static void test_type(void)
{
	struct perf_event_attr a = { .type = PERF_TYPE_TRACEPOINT,
				     .config = 317,
				     .freq = 1,
				     .sample_freq = 99,
				     .exclude_kernel = 1,
				     .enable_on_exec = 1,
				     .sample_max_stack = 12,
				     .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN |
						    PERF_SAMPLE_WEIGHT | PERF_SAMPLE_BRANCH_STACK };
	struct event_type t = { 0 };

	attr_type(&a, &t);
	CHECK(t.class == TYPE_TRACEPOINT && t.pmu == 2 && t.code == 317);
	CHECK(t.by_rate && t.rate == 99 && t.from_exec && t.max_stack == 12);
	CHECK_INT(t.excludes, EXCLUDES_KERNEL);
	CHECK_INT(t.has, EVENT_HAVE_TASK | EVENT_HAVE_CHAIN | TYPE_HAS_WEIGHT | TYPE_HAS_BRANCHES);
	a.sample_type |= PERF_SAMPLE_WEIGHT_STRUCT;
	a.branch_sample_type = PERF_SAMPLE_BRANCH_CALL_STACK;
	a.type = 0x80000000u;
	attr_type(&a, &t);
	CHECK(t.class == TYPE_SYNTH && (t.has & TYPE_HAS_WEIGHT_PARTS) &&
	      (t.has & TYPE_HAS_BRANCH_STACK));
	a.type = 11;
	attr_type(&a, &t);
	CHECK(t.class == TYPE_OTHER);
}

static void test_branches(void)
{
	struct err e = { 0 };
	uint64_t bits = 0;

	CHECK_INT(attr_branches("any_ret,u", &bits, &e), 0);
	CHECK_INT(bits, PERF_SAMPLE_BRANCH_ANY_RETURN | PERF_SAMPLE_BRANCH_USER);
	CHECK_INT(attr_branches("save_type", &bits, &e), 0);
	CHECK(bits & PERF_SAMPLE_BRANCH_TYPE_SAVE);
	CHECK_INT(attr_branches("any,sometimes", &bits, &e), -EINVAL);
	CHECK(strstr(e.msg, "'sometimes'"));
}

int main(void)
{
	test_role();
	test_type();
	test_branches();
	return tap_end();
}
