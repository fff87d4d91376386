/* SPDX-License-Identifier: MIT */
#include "live/capture_attr.h"

#include <string.h>

#include "base/file.h"
#include "base/str.h"

/* perf's numbers of user registers, all but segment registers that cannot be sampled. */
#if defined(__x86_64__)
#	define ALL_REGS 0xff0fffull /* ax..ss without ds es fs gs, r8..r15 */
#elif defined(__aarch64__)
#	define ALL_REGS ((1ull << 33) - 1)
#else
#	define ALL_REGS 0
#endif

#define DEFAULT_STACK 8192u

uint64_t capture_max_freq(void)
{
	int64_t v;

	return file_i64("/proc/sys/kernel/perf_event_max_sample_rate", &v) == 0 && v > 0
		       ? (uint64_t)v
		       : 100000;
}

/* A call chain as --call-graph or an event's own call-graph= term wants it. */
static int chain_attr(const struct capture_opts *o, const struct event_spec *s,
		      struct perf_event_attr *a, struct err *e)
{
	enum capture_chain chain = o->chain;
	uint32_t stack = o->stack_size ? o->stack_size : DEFAULT_STACK;

	if (s->terms & SPEC_TERM_CALL_GRAPH) {
		const char *w = s->call_graph;

		chain = strcmp(w, "no") == 0	  ? CAPTURE_NO_CHAIN
			: strcmp(w, "dwarf") == 0 ? CAPTURE_DWARF
			: strcmp(w, "lbr") == 0	  ? CAPTURE_LBR
						  : CAPTURE_FP;
	}
	if (s->terms & SPEC_TERM_STACK_SIZE)
		stack = (uint32_t)s->stack_size;
	if (chain == CAPTURE_NO_CHAIN)
		return 0;
	a->sample_type |= PERF_SAMPLE_CALLCHAIN;
	a->sample_max_stack =
		(uint16_t)(s->terms & SPEC_TERM_MAX_STACK ? s->max_stack : o->max_stack);
	if (chain == CAPTURE_DWARF) {
		if (!ALL_REGS)
			return err_set(e, EOPNOTSUPP,
				       "stack copies are not supported on this architecture");
		a->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		a->sample_regs_user |= ALL_REGS;
		a->sample_stack_user = (stack + 7) & ~7u;
		a->exclude_callchain_user = 1;
	} else if (chain == CAPTURE_LBR) {
		a->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		a->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
					PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_NO_FLAGS;
		a->exclude_callchain_user = 1;
	}
	return 0;
}

static void fields(const struct capture_opts *o, const struct event_spec *s, const struct target *t,
		   struct perf_event_attr *a)
{
	const struct {
		bool want;
		uint64_t bit;
	} extra[] = {
		{ o->time, PERF_SAMPLE_TIME },
		{ o->data_addr, PERF_SAMPLE_ADDR },
		{ o->weight, PERF_SAMPLE_WEIGHT },
		{ o->phys_addr, PERF_SAMPLE_PHYS_ADDR },
		{ o->raw, PERF_SAMPLE_RAW },
		{ o->period_field, PERF_SAMPLE_PERIOD },
		{ o->cpu || t->system_wide, PERF_SAMPLE_CPU },
		{ o->cgroup, PERF_SAMPLE_CGROUP },
		{ o->data_page, PERF_SAMPLE_DATA_PAGE_SIZE },
		{ o->code_page, PERF_SAMPLE_CODE_PAGE_SIZE },
	};

	a->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	for (size_t i = 0; i < ARRAY_SIZE(extra); i++)
		if (extra[i].want)
			a->sample_type |= extra[i].bit;
	if (s->kind == SPEC_TRACEPOINT)
		a->sample_type |=
			PERF_SAMPLE_RAW | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	if (o->intr_regs) {
		a->sample_type |= PERF_SAMPLE_REGS_INTR;
		a->sample_regs_intr = ALL_REGS;
	}
	if (o->user_regs) {
		a->sample_type |= PERF_SAMPLE_REGS_USER;
		a->sample_regs_user = ALL_REGS;
	}
	if (o->branch_type) {
		a->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		a->branch_sample_type = o->branch_type;
	}
	if (s->terms & SPEC_TERM_TIME)
		a->sample_type = s->time ? a->sample_type | PERF_SAMPLE_TIME
					 : a->sample_type & ~(uint64_t)PERF_SAMPLE_TIME;
}

/* How often: the event's own terms, then -c, then -F; tracepoints every time. */
static void rate(const struct capture_opts *o, const struct event_spec *s,
		 struct perf_event_attr *a)
{
	if (s->terms & SPEC_TERM_PERIOD) {
		a->sample_period = s->period;
	} else if (s->terms & SPEC_TERM_FREQ) {
		a->freq = 1;
		a->sample_freq = s->freq;
	} else if (o->period) {
		a->sample_period = o->period;
	} else if (s->kind == SPEC_TRACEPOINT || s->kind == SPEC_BREAKPOINT) {
		a->sample_period = 1;
	} else {
		a->freq = 1;
		a->sample_freq = o->freq;
	}
	if (a->freq)
		a->sample_type |= PERF_SAMPLE_PERIOD;
}

int capture_attr(const struct capture_opts *o, const struct event_spec *s, const struct target *t,
		 bool many, bool tracking, struct perf_event_attr *ret, struct err *e)
{
	struct perf_event_attr a = s->attr;
	bool dummy = s->kind == SPEC_SOFTWARE && s->attr.config == PERF_COUNT_SW_DUMMY;
	int r;

	a.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	a.inherit = s->terms & SPEC_TERM_INHERIT ? s->inherit : o->inherit;
	a.sample_id_all = 1;
	fields(o, s, t, &a);
	if (dummy && tracking) {
		a.sample_period = 1;
		a.sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
	} else {
		rate(o, s, &a);
		r = chain_attr(o, s, &a, e);
		if (r < 0)
			return r;
		a.disabled = 1;
	}
	if (many)
		a.sample_type |= PERF_SAMPLE_IDENTIFIER;
	if (s->sample_read) {
		a.sample_type |= PERF_SAMPLE_READ;
		a.read_format |= PERF_FORMAT_GROUP;
		a.inherit = 0;
	}
	if (o->no_samples) {
		a.freq = 0;
		a.sample_period = 0;
	}
	if (o->all_user)
		a.exclude_kernel = a.exclude_hv = 1;
	if (o->all_kernel)
		a.exclude_user = 1;
	if (o->read_counts)
		a.inherit_stat = 1;
	if (tracking && !o->no_tracking) {
		a.mmap = a.mmap2 = a.comm = a.comm_exec = a.task = 1;
		a.mmap_data = o->data_addr;
		a.build_id = 1;
		a.ksymbol = 1;
		a.bpf_event = o->bpf_records;
		a.context_switch = o->switch_events;
		a.namespaces = o->namespaces;
		a.cgroup = o->cgroup;
	}
	if (o->has_clock) {
		a.use_clockid = 1;
		a.clockid = o->clock_id;
	}
	*ret = a;
	return 0;
}
