/* SPDX-License-Identifier: MIT */
/* What perf sets for the same options is set here, so that either tool reads the other's files. */
#include "live/capture/attr.h"

#include <string.h>
#include <sys/resource.h>

#include "base/file.h"
#include "kern/perf.h"

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
	if (chain == CAPTURE_NO_CHAIN || (chain == CAPTURE_WALKED && s->kind != SPEC_TRACEPOINT))
		return 0;
	a->sample_type |= PERF_SAMPLE_CALLCHAIN;
	a->sample_max_stack =
		(uint16_t)(s->terms & SPEC_TERM_MAX_STACK ? s->max_stack : o->max_stack);
	a->exclude_callchain_user = o->kernel_chains || chain == CAPTURE_WALKED;
	a->exclude_callchain_kernel = o->user_chains;
	if (chain == CAPTURE_WALKED && REGS_ALL != 0) { /* they tell whose stack is whose */
		a->sample_type |= PERF_SAMPLE_REGS_USER;
		a->sample_regs_user |= REGS_ALL;
	}
	if (chain == CAPTURE_DWARF && !o->kernel_chains) {
		if (!REGS_ALL)
			return err_set(e, EOPNOTSUPP,
				       "stack copies are not supported on this architecture");
		a->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		a->sample_regs_user |= REGS_ALL;
		a->sample_stack_user = (stack + 7) & ~7u;
		a->exclude_callchain_user = 1;
	} else if (chain == CAPTURE_LBR) {
		a->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		a->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
					PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_NO_FLAGS |
					PERF_SAMPLE_BRANCH_HW_INDEX;
		a->exclude_callchain_user = 1;
	}
	return 0;
}

static void capture_attr_fields(const struct capture_opts *o, const struct event_spec *s,
				const struct target *t, struct perf_event_attr *a)
{
	const struct {
		bool want;
		uint64_t bits;
	} extra[] = {
		{ o->time, PERF_SAMPLE_TIME },
		{ o->data_addr, PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC },
		{ o->weight, PERF_SAMPLE_WEIGHT_STRUCT },
		{ o->phys_addr, PERF_SAMPLE_PHYS_ADDR },
		{ o->raw, PERF_SAMPLE_RAW | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU },
		{ o->cpu || t->cpus_named, PERF_SAMPLE_CPU },
		{ o->cgroup, PERF_SAMPLE_CGROUP },
		{ o->data_page, PERF_SAMPLE_DATA_PAGE_SIZE },
		{ o->code_page, PERF_SAMPLE_CODE_PAGE_SIZE },
		{ o->transaction, PERF_SAMPLE_TRANSACTION },
		{ s->kind == SPEC_TRACEPOINT,
		  PERF_SAMPLE_RAW | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD },
	};

	a->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	for (size_t i = 0; i < ARRAY_SIZE(extra); i++)
		if (extra[i].want)
			a->sample_type |= extra[i].bits;
	if (o->intr_regs) {
		a->sample_type |= PERF_SAMPLE_REGS_INTR;
		a->sample_regs_intr = o->intr_regs;
	}
	if (o->user_regs) {
		a->sample_type |= PERF_SAMPLE_REGS_USER;
		a->sample_regs_user = o->user_regs;
	}
	if (o->branch_type) {
		a->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		a->branch_sample_type = o->branch_type;
	}
	if (s->terms & SPEC_TERM_TIME)
		a->sample_type = s->time ? a->sample_type | PERF_SAMPLE_TIME
					 : a->sample_type & ~(uint64_t)PERF_SAMPLE_TIME;
}

/*
 * A clock's frequency becomes its period, which the kernel would keep to anyway, and so need not
 * stand in every sample. What the kernel refuses is left for it to refuse.
 */
static void tick_evenly(struct perf_event_attr *a)
{
	if (a->type != PERF_TYPE_SOFTWARE || a->sample_freq == 0 ||
	    (a->config != PERF_COUNT_SW_CPU_CLOCK && a->config != PERF_COUNT_SW_TASK_CLOCK) ||
	    a->sample_freq > capture_max_freq())
		return;
	a->freq = 0;
	a->sample_period = 1000000000 / a->sample_freq;
}

/* How often: the event's own terms, then -c, then -F; tracepoints every time unless told. */
static void rate(const struct capture_opts *o, const struct event_spec *s,
		 struct perf_event_attr *a)
{
	bool each = s->kind == SPEC_TRACEPOINT || s->kind == SPEC_BREAKPOINT;

	if (s->terms & SPEC_TERM_PERIOD) {
		a->sample_period = s->period;
	} else if (s->terms & SPEC_TERM_FREQ) {
		a->freq = 1;
		a->sample_freq = s->freq;
	} else if (o->period) {
		a->sample_period = o->period;
	} else if (each && !o->freq_given) {
		a->sample_period = 1;
	} else {
		a->freq = 1;
		a->sample_freq = o->freq;
	}
	if (a->freq && o->period_field <= 0)
		tick_evenly(a);
	if (a->freq)
		a->sample_type |= PERF_SAMPLE_PERIOD;
	/* with a period in each sample the kernel takes every hit, whatever the period is */
	if (each && !a->freq && a->sample_period > 1)
		a->sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
	if (o->no_samples)
		a->sample_period = 0;
	if (o->period_field > 0)
		a->sample_type |= PERF_SAMPLE_PERIOD;
	else if (o->period_field < 0)
		a->sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
}

static void side_band(const struct capture_opts *o, struct perf_event_attr *a)
{
	a->mmap = a->mmap2 = a->comm = a->comm_exec = a->task = 1;
	a->mmap_data = capture_data_maps(o);
	a->build_id = o->kernel_ids;
	a->ksymbol = 1;
	a->bpf_event = !o->no_bpf_records;
	a->context_switch = o->switch_events;
	a->namespaces = o->namespaces;
	a->cgroup = o->cgroup;
}

static void read_format(const struct capture_opts *o, const struct event_spec *s,
			const struct target *t, bool grouped, struct perf_event_attr *a)
{
	a->read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	if (o->read_counts || o->running_time)
		a->read_format |= PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	a->inherit_stat = o->read_counts;
	if (!s->sample_read)
		return;
	/* Linux 6.12 and later give a thread's own counts with inherit; before it is refused */
	a->sample_type |= PERF_SAMPLE_READ;
	if (t->system_wide)
		a->inherit = 0; /* the counts are a CPU's */
	if (grouped)
		a->read_format |= PERF_FORMAT_GROUP;
}

/* The kernel's functions: at any of them the kernel may not touch user memory, and says EINVAL. */
static void spare_user_stack(const struct event_spec *s, struct perf_event_attr *a)
{
	if (s->kind != SPEC_TRACEPOINT || !s->subsys || strcmp(s->subsys, "ftrace") != 0 ||
	    strcmp(s->event, "function") != 0)
		return;
	a->exclude_callchain_user = 1;
	a->sample_type &= ~(uint64_t)(PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER);
	a->sample_stack_user = 0;
	a->sample_regs_user = 0;
}

int capture_attr(const struct capture_opts *o, const struct event_spec *s, const struct target *t,
		 unsigned role, struct perf_event_attr *ret, struct err *e)
{
	struct perf_event_attr a = s->attr;
	bool tracking = role & CAPTURE_TRACKS;
	int r;

	a.inherit = s->terms & SPEC_TERM_INHERIT ? s->inherit : o->inherit;
	a.sample_id_all = 1;
	a.write_backward = o->overwrite && !(role & CAPTURE_ONLY_TRACKS);
	capture_attr_fields(o, s, t, &a);
	read_format(o, s, t, role & CAPTURE_GROUPED, &a);
	if (role & CAPTURE_ONLY_TRACKS) {
		a.sample_period = 1;
		a.sample_type &= PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				 PERF_SAMPLE_CPU | PERF_SAMPLE_CGROUP;
		a.branch_sample_type = a.sample_regs_intr = a.sample_regs_user = 0;
	} else {
		rate(o, s, &a);
		r = chain_attr(o, s, &a, e);
		if (r < 0)
			return r;
		spare_user_stack(s, &a);
		a.disabled = 1;
		if (s->precise_max)
			a.precise_ip = 3; /* less where it is refused */
	}
	if (role & CAPTURE_MANY || s->sample_read || o->identifier)
		a.sample_type |= PERF_SAMPLE_IDENTIFIER;
	if (o->all_user)
		a.exclude_kernel = a.exclude_hv = 1;
	if (o->all_kernel)
		a.exclude_user = 1;
	if (tracking)
		side_band(o, &a);
	if (o->no_buffering)
		a.wakeup_events = 1;
	if (o->has_clock) {
		a.use_clockid = 1;
		a.clockid = o->clock_id;
	}
	*ret = a;
	return 0;
}

void capture_attr_follow(const struct event_spec *s, const struct perf_event_attr *leader,
			 struct perf_event_attr *a)
{
	if (!(s->terms & (SPEC_TERM_PERIOD | SPEC_TERM_FREQ))) {
		a->freq = 0;
		a->sample_period = 0;
	}
	a->write_backward = 0;
	a->sample_type = leader->sample_type;
}

static bool raise_file_limit(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) < 0 || lim.rlim_cur >= lim.rlim_max)
		return false;
	lim.rlim_cur = lim.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &lim) == 0;
}

int open_event(struct event_spec *s, struct perf_event_attr *attr, pid_t pid, int cpu, int group,
	       unsigned long flags)
{
	int fd = perf_open_config3(attr, s->config3, pid, cpu, group, flags);

	if (fd == -EMFILE && raise_file_limit())
		fd = perf_open_config3(attr, s->config3, pid, cpu, group, flags);
	if (fd == -EINVAL && !s->guest_host && (attr->exclude_guest || attr->exclude_host)) {
		struct perf_event_attr plain = *attr;

		plain.exclude_guest = plain.exclude_host = 0;
		fd = perf_open_config3(&plain, s->config3, pid, cpu, group, flags);
		if (fd >= 0) {
			*attr = plain;
			s->attr.exclude_guest = s->attr.exclude_host = 0;
		}
	}
	return fd;
}

bool open_narrow(struct event_spec *s, struct perf_event_attr *attr, struct arena *names,
		 bool system_wide, int code)
{
	if ((code != EACCES && code != EPERM) || attr->exclude_kernel || s->modified ||
	    system_wide || s->kind == SPEC_TRACEPOINT)
		return false;
	attr->exclude_kernel = attr->exclude_hv = 1;
	s->attr.exclude_kernel = s->attr.exclude_hv = 1;
	if (!(s->terms & SPEC_TERM_NAME))
		s->name = arena_printf(names, "%s:u", s->name);
	return true;
}
