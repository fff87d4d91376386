/* SPDX-License-Identifier: MIT */
#include "event/attr.h"

#include <inttypes.h>
#include <string.h>

struct bit {
	uint64_t bit;
	const char *name;
	const char *option; /* what record -j calls it; NULL: it does not know it */
	unsigned has;	    /* what it means for a type */
};

/* In perf's order, which is not that of the bits. */
static const struct bit sample_bits[] = {
	{ PERF_SAMPLE_IP, "IP", .has = EVENT_HAVE_IP },
	{ PERF_SAMPLE_TID, "TID", .has = EVENT_HAVE_TASK },
	{ PERF_SAMPLE_TIME, "TIME", .has = EVENT_HAVE_TIME },
	{ PERF_SAMPLE_ADDR, "ADDR", .has = EVENT_HAVE_ADDR },
	{ PERF_SAMPLE_READ, "READ", .has = TYPE_HAS_READ },
	{ PERF_SAMPLE_CALLCHAIN, "CALLCHAIN", .has = EVENT_HAVE_CHAIN },
	{ PERF_SAMPLE_ID, "ID", .has = EVENT_HAVE_ID },
	{ PERF_SAMPLE_CPU, "CPU", .has = EVENT_HAVE_CPU },
	{ PERF_SAMPLE_PERIOD, "PERIOD", .has = EVENT_HAVE_PERIOD },
	{ PERF_SAMPLE_STREAM_ID, "STREAM_ID", .has = TYPE_HAS_STREAM_ID },
	{ PERF_SAMPLE_RAW, "RAW", .has = EVENT_HAVE_RAW },
	{ PERF_SAMPLE_BRANCH_STACK, "BRANCH_STACK", .has = TYPE_HAS_BRANCHES },
	{ PERF_SAMPLE_REGS_USER, "REGS_USER", .has = TYPE_HAS_USER_REGS },
	{ PERF_SAMPLE_STACK_USER, "STACK_USER", .has = TYPE_HAS_STACK },
	{ PERF_SAMPLE_IDENTIFIER, "IDENTIFIER", .has = EVENT_HAVE_ID },
	{ PERF_SAMPLE_REGS_INTR, "REGS_INTR", .has = TYPE_HAS_INTR_REGS },
	{ PERF_SAMPLE_DATA_SRC, "DATA_SRC", .has = TYPE_HAS_DATA_SRC },
	{ PERF_SAMPLE_WEIGHT, "WEIGHT", .has = TYPE_HAS_WEIGHT },
	{ PERF_SAMPLE_PHYS_ADDR, "PHYS_ADDR", .has = TYPE_HAS_PHYS_ADDR },
	{ PERF_SAMPLE_AUX, "AUX", .has = TYPE_HAS_AUX },
	{ PERF_SAMPLE_CGROUP, "CGROUP", .has = TYPE_HAS_CGROUP },
	{ PERF_SAMPLE_DATA_PAGE_SIZE, "DATA_PAGE_SIZE", .has = TYPE_HAS_DATA_PAGE },
	{ PERF_SAMPLE_CODE_PAGE_SIZE, "CODE_PAGE_SIZE", .has = TYPE_HAS_CODE_PAGE },
	{ PERF_SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT", .has = TYPE_HAS_WEIGHT_PARTS },
};
static const struct bit read_bits[] = {
	{ PERF_FORMAT_TOTAL_TIME_ENABLED, "TOTAL_TIME_ENABLED" },
	{ PERF_FORMAT_TOTAL_TIME_RUNNING, "TOTAL_TIME_RUNNING" },
	{ PERF_FORMAT_ID, "ID" },
	{ PERF_FORMAT_GROUP, "GROUP" },
	{ PERF_FORMAT_LOST, "LOST" },
};
static const struct bit branch_bits[] = {
	{ PERF_SAMPLE_BRANCH_USER, "USER", "u" },
	{ PERF_SAMPLE_BRANCH_KERNEL, "KERNEL", "k" },
	{ PERF_SAMPLE_BRANCH_HV, "HV", "hv" },
	{ PERF_SAMPLE_BRANCH_ANY, "ANY", "any" },
	{ PERF_SAMPLE_BRANCH_ANY_CALL, "ANY_CALL", "any_call" },
	{ PERF_SAMPLE_BRANCH_ANY_RETURN, "ANY_RETURN", "any_ret" },
	{ PERF_SAMPLE_BRANCH_IND_CALL, "IND_CALL", "ind_call" },
	{ PERF_SAMPLE_BRANCH_ABORT_TX, "ABORT_TX", "abort_tx" },
	{ PERF_SAMPLE_BRANCH_IN_TX, "IN_TX", "in_tx" },
	{ PERF_SAMPLE_BRANCH_NO_TX, "NO_TX", "no_tx" },
	{ PERF_SAMPLE_BRANCH_COND, "COND", "cond" },
	{ PERF_SAMPLE_BRANCH_CALL_STACK, "CALL_STACK", "stack" },
	{ PERF_SAMPLE_BRANCH_IND_JUMP, "IND_JUMP", "ind_jmp" },
	{ PERF_SAMPLE_BRANCH_CALL, "CALL", "call" },
	{ PERF_SAMPLE_BRANCH_NO_FLAGS, "NO_FLAGS", "no_flags" },
	{ PERF_SAMPLE_BRANCH_NO_CYCLES, "NO_CYCLES", "no_cycles" },
	{ PERF_SAMPLE_BRANCH_TYPE_SAVE, "TYPE_SAVE", "save_type" },
	{ PERF_SAMPLE_BRANCH_HW_INDEX, "HW_INDEX", "hw_index" },
	{ PERF_SAMPLE_BRANCH_PRIV_SAVE, "PRIV_SAVE" },
};

struct to {
	setting_fn *fn;
	void *ctx;
};

static void attr_put_bits(struct to *t, const char *name, uint64_t v, const struct bit *bits,
			  size_t n)
{
	AUTO_STRBUF b = { 0 };

	if (!v)
		return;
	for (size_t i = 0; i < n; i++)
		if (v & bits[i].bit)
			strbuf_printf(&b, "%s%s", b.n ? "|" : "", bits[i].name);
	t->fn(t->ctx, name, strbuf_str(&b));
}

enum base { DEC, HEX, SIGNED };

static void attr_put(struct to *t, const char *name, uint64_t v, enum base base)
{
	char text[32];

	if (!v)
		return;
	if (base == HEX)
		snprintf(text, sizeof(text), "%#" PRIx64, v);
	else if (base == DEC)
		snprintf(text, sizeof(text), "%" PRIu64, v);
	else
		snprintf(text, sizeof(text), "%" PRId64, (int64_t)v);
	t->fn(t->ctx, name, text);
}

/* By bit, from the lowest of the word behind read_format; precise_ip has two. */
static const char *const flag_bits[] = { "disabled",
					 "inherit",
					 "pinned",
					 "exclusive",
					 "exclude_user",
					 "exclude_kernel",
					 "exclude_hv",
					 "exclude_idle",
					 "mmap",
					 "comm",
					 "freq",
					 "inherit_stat",
					 "enable_on_exec",
					 "task",
					 "watermark",
					 "precise_ip",
					 "mmap_data",
					 "sample_id_all",
					 "exclude_host",
					 "exclude_guest",
					 "exclude_callchain_kernel",
					 "exclude_callchain_user",
					 "mmap2",
					 "comm_exec",
					 "use_clockid",
					 "context_switch",
					 "write_backward",
					 "namespaces",
					 "ksymbol",
					 "bpf_event",
					 "aux_output",
					 "cgroup",
					 "text_poke",
					 "build_id",
					 "inherit_thread",
					 "remove_on_exec",
					 "sigtrap" };

void attr_each(const struct perf_event_attr *a, setting_fn *fn, void *ctx)
{
	struct to t = { fn, ctx };
	uint64_t flags;

	attr_put(&t, "type", a->type, DEC);
	attr_put(&t, "size", a->size, DEC);
	attr_put(&t, "config", a->config, HEX);
	attr_put(&t, "{ sample_period, sample_freq }", a->sample_period, DEC);
	attr_put_bits(&t, "sample_type", a->sample_type, sample_bits, ARRAY_SIZE(sample_bits));
	attr_put_bits(&t, "read_format", a->read_format, read_bits, ARRAY_SIZE(read_bits));
	memcpy(&flags, (const char *)a + offsetof(struct perf_event_attr, read_format) + 8, 8);
	for (size_t i = 0; i < ARRAY_SIZE(flag_bits); i++) {
		unsigned bits = strcmp(flag_bits[i], "precise_ip") == 0 ? 2 : 1;

		attr_put(&t, flag_bits[i], flags & ((1u << bits) - 1), DEC);
		flags >>= bits;
	}
	attr_put(&t, "{ wakeup_events, wakeup_watermark }", a->wakeup_events, DEC);
	attr_put(&t, "bp_type", a->bp_type, DEC);
	attr_put(&t, "{ bp_addr, config1 }", a->bp_addr, HEX);
	attr_put(&t, "{ bp_len, config2 }", a->bp_len, HEX);
	attr_put_bits(&t, "branch_sample_type", a->branch_sample_type, branch_bits,
		      ARRAY_SIZE(branch_bits));
	attr_put(&t, "sample_regs_user", a->sample_regs_user, HEX);
	attr_put(&t, "sample_stack_user", a->sample_stack_user, DEC);
	attr_put(&t, "clockid", (uint64_t)(int64_t)a->clockid, SIGNED);
	attr_put(&t, "sample_regs_intr", a->sample_regs_intr, HEX);
	attr_put(&t, "aux_watermark", a->aux_watermark, DEC);
	attr_put(&t, "sample_max_stack", a->sample_max_stack, DEC);
	attr_put(&t, "aux_sample_size", a->aux_sample_size, DEC);
	attr_put(&t, "sig_data", a->sig_data, DEC);
}

int attr_branches(const char *list, uint64_t *ret, struct err *e)
{
	while (*list) {
		size_t n = strcspn(list, ","), i = 0;

		while (i < ARRAY_SIZE(branch_bits) &&
		       (!branch_bits[i].option || strlen(branch_bits[i].option) != n ||
			memcmp(branch_bits[i].option, list, n) != 0))
			i++;
		if (i == ARRAY_SIZE(branch_bits)) {
			err_set(e, EINVAL, "no kind of branch '%.*s'", (int)n, list);
			return err_hint(e,
					"any, any_call, any_ret, ind_call, cond, call, u, k ...");
		}
		*ret |= branch_bits[i].bit;
		list += n;
		list += *list == ',';
	}
	return 0;
}

/* --- as a type --- */

enum event_role attr_role(const struct perf_event_attr *a)
{
	static const enum event_role hardware[] = {
		[PERF_COUNT_HW_CPU_CYCLES] = ROLE_CYCLES,
		[PERF_COUNT_HW_INSTRUCTIONS] = ROLE_INSTRUCTIONS,
		[PERF_COUNT_HW_CACHE_REFERENCES] = ROLE_CACHE_REFERENCES,
		[PERF_COUNT_HW_CACHE_MISSES] = ROLE_CACHE_MISSES,
		[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = ROLE_BRANCHES,
		[PERF_COUNT_HW_BRANCH_MISSES] = ROLE_BRANCH_MISSES,
		[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = ROLE_STALLED_FRONTEND,
		[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = ROLE_STALLED_BACKEND,
	};
	static const enum event_role software[] = {
		[PERF_COUNT_SW_CPU_CLOCK] = ROLE_CPU_CLOCK,
		[PERF_COUNT_SW_TASK_CLOCK] = ROLE_TASK_CLOCK,
		[PERF_COUNT_SW_PAGE_FAULTS] = ROLE_PAGE_FAULTS,
		[PERF_COUNT_SW_PAGE_FAULTS_MIN] = ROLE_PAGE_FAULTS,
		[PERF_COUNT_SW_PAGE_FAULTS_MAJ] = ROLE_PAGE_FAULTS,
		[PERF_COUNT_SW_DUMMY] = ROLE_DUMMY,
		[PERF_COUNT_SW_BPF_OUTPUT] = ROLE_BPF_OUTPUT,
	};
	static const enum event_role loads[] = {
		[PERF_COUNT_HW_CACHE_L1D] = ROLE_L1D_LOADS,
		[PERF_COUNT_HW_CACHE_L1I] = ROLE_L1I_LOADS,
		[PERF_COUNT_HW_CACHE_LL] = ROLE_LLC_LOADS,
		[PERF_COUNT_HW_CACHE_DTLB] = ROLE_DTLB_LOADS,
		[PERF_COUNT_HW_CACHE_ITLB] = ROLE_ITLB_LOADS,
	};
	uint64_t cache = a->config & 0xff, how = a->config >> 8;

	if (a->type == PERF_TYPE_HARDWARE && a->config < ARRAY_SIZE(hardware))
		return hardware[a->config];
	if (a->type == PERF_TYPE_SOFTWARE && a->config < ARRAY_SIZE(software))
		return software[a->config];
	/* of reads: all, or those that missed */
	if (a->type == PERF_TYPE_HW_CACHE && cache < ARRAY_SIZE(loads) &&
	    (how == 0 || how == PERF_COUNT_HW_CACHE_RESULT_MISS << 8))
		return how ? loads[cache] + 1 : loads[cache];
	return ROLE_OTHER;
}

unsigned attr_excludes(const struct perf_event_attr *a)
{
	return (a->exclude_user ? EXCLUDES_USER : 0) | (a->exclude_kernel ? EXCLUDES_KERNEL : 0) |
	       (a->exclude_hv ? EXCLUDES_HYPERVISOR : 0);
}

static unsigned attr_has(const struct perf_event_attr *a)
{
	uint64_t bits = a->sample_type;
	unsigned has = bits & PERF_SAMPLE_TRANSACTION ? TYPE_HAS_TRANSACTION : 0;

	/* Either form of a weight is one. */
	bits |= bits & PERF_SAMPLE_WEIGHT_STRUCT ? PERF_SAMPLE_WEIGHT : 0;
	for (size_t i = 0; i < ARRAY_SIZE(sample_bits); i++)
		has |= bits & sample_bits[i].bit ? sample_bits[i].has : 0;
	if ((has & TYPE_HAS_BRANCHES) && (a->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK))
		has |= TYPE_HAS_BRANCH_STACK;
	return has;
}

static enum type_class attr_class(uint32_t type)
{
	static const enum type_class kernels[] = {
		[PERF_TYPE_HARDWARE] = TYPE_HARDWARE,
		[PERF_TYPE_SOFTWARE] = TYPE_SOFTWARE,
		[PERF_TYPE_TRACEPOINT] = TYPE_TRACEPOINT,
		[PERF_TYPE_HW_CACHE] = TYPE_CACHE,
		[PERF_TYPE_RAW] = TYPE_RAW,
		[PERF_TYPE_BREAKPOINT] = TYPE_BREAKPOINT,
	};

	if (type < ARRAY_SIZE(kernels))
		return kernels[type];
	return type == 0x80000000u ? TYPE_SYNTH : TYPE_OTHER; /* perf's, of hardware traces */
}

void attr_type(const struct perf_event_attr *a, struct event_type *t)
{
	t->class = attr_class(a->type);
	t->role = attr_role(a);
	t->has = attr_has(a);
	t->excludes = attr_excludes(a);
	t->from_exec = a->enable_on_exec;
	t->by_rate = a->freq;
	t->rate = a->sample_period; /* or freq: it is a union */
	t->max_stack = a->sample_max_stack;
	t->pmu = a->type;
	t->code = a->config;
}
