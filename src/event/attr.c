/* SPDX-License-Identifier: MIT */
#include "event/attr.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"

struct bit {
	uint64_t bit;
	const char *name;
};

/* In perf's order, which is not that of the bits. */
static const struct bit sample_bits[] = {
	{ PERF_SAMPLE_IP, "IP" },
	{ PERF_SAMPLE_TID, "TID" },
	{ PERF_SAMPLE_TIME, "TIME" },
	{ PERF_SAMPLE_ADDR, "ADDR" },
	{ PERF_SAMPLE_READ, "READ" },
	{ PERF_SAMPLE_CALLCHAIN, "CALLCHAIN" },
	{ PERF_SAMPLE_ID, "ID" },
	{ PERF_SAMPLE_CPU, "CPU" },
	{ PERF_SAMPLE_PERIOD, "PERIOD" },
	{ PERF_SAMPLE_STREAM_ID, "STREAM_ID" },
	{ PERF_SAMPLE_RAW, "RAW" },
	{ PERF_SAMPLE_BRANCH_STACK, "BRANCH_STACK" },
	{ PERF_SAMPLE_REGS_USER, "REGS_USER" },
	{ PERF_SAMPLE_STACK_USER, "STACK_USER" },
	{ PERF_SAMPLE_IDENTIFIER, "IDENTIFIER" },
	{ PERF_SAMPLE_REGS_INTR, "REGS_INTR" },
	{ PERF_SAMPLE_DATA_SRC, "DATA_SRC" },
	{ PERF_SAMPLE_WEIGHT, "WEIGHT" },
	{ PERF_SAMPLE_PHYS_ADDR, "PHYS_ADDR" },
	{ PERF_SAMPLE_AUX, "AUX" },
	{ PERF_SAMPLE_CGROUP, "CGROUP" },
	{ PERF_SAMPLE_DATA_PAGE_SIZE, "DATA_PAGE_SIZE" },
	{ PERF_SAMPLE_CODE_PAGE_SIZE, "CODE_PAGE_SIZE" },
	{ PERF_SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT" },
};
static const struct bit read_bits[] = {
	{ PERF_FORMAT_TOTAL_TIME_ENABLED, "TOTAL_TIME_ENABLED" },
	{ PERF_FORMAT_TOTAL_TIME_RUNNING, "TOTAL_TIME_RUNNING" },
	{ PERF_FORMAT_ID, "ID" },
	{ PERF_FORMAT_GROUP, "GROUP" },
	{ PERF_FORMAT_LOST, "LOST" },
};
static const struct bit branch_bits[] = {
	{ PERF_SAMPLE_BRANCH_USER, "USER" },
	{ PERF_SAMPLE_BRANCH_KERNEL, "KERNEL" },
	{ PERF_SAMPLE_BRANCH_HV, "HV" },
	{ PERF_SAMPLE_BRANCH_ANY, "ANY" },
	{ PERF_SAMPLE_BRANCH_ANY_CALL, "ANY_CALL" },
	{ PERF_SAMPLE_BRANCH_ANY_RETURN, "ANY_RETURN" },
	{ PERF_SAMPLE_BRANCH_IND_CALL, "IND_CALL" },
	{ PERF_SAMPLE_BRANCH_ABORT_TX, "ABORT_TX" },
	{ PERF_SAMPLE_BRANCH_IN_TX, "IN_TX" },
	{ PERF_SAMPLE_BRANCH_NO_TX, "NO_TX" },
	{ PERF_SAMPLE_BRANCH_COND, "COND" },
	{ PERF_SAMPLE_BRANCH_CALL_STACK, "CALL_STACK" },
	{ PERF_SAMPLE_BRANCH_IND_JUMP, "IND_JUMP" },
	{ PERF_SAMPLE_BRANCH_CALL, "CALL" },
	{ PERF_SAMPLE_BRANCH_NO_FLAGS, "NO_FLAGS" },
	{ PERF_SAMPLE_BRANCH_NO_CYCLES, "NO_CYCLES" },
	{ PERF_SAMPLE_BRANCH_TYPE_SAVE, "TYPE_SAVE" },
	{ PERF_SAMPLE_BRANCH_HW_INDEX, "HW_INDEX" },
	{ PERF_SAMPLE_BRANCH_PRIV_SAVE, "PRIV_SAVE" },
};

struct to {
	attr_fn *fn;
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

void attr_each(const struct perf_event_attr *a, attr_fn *fn, void *ctx)
{
	struct to t = { fn, ctx };

#define FLAG(f) attr_put(&t, #f, a->f, DEC)
	attr_put(&t, "type", a->type, DEC);
	attr_put(&t, "size", a->size, DEC);
	attr_put(&t, "config", a->config, HEX);
	attr_put(&t, "{ sample_period, sample_freq }", a->sample_period, DEC);
	attr_put_bits(&t, "sample_type", a->sample_type, sample_bits, ARRAY_SIZE(sample_bits));
	attr_put_bits(&t, "read_format", a->read_format, read_bits, ARRAY_SIZE(read_bits));
	FLAG(disabled);
	FLAG(inherit);
	FLAG(pinned);
	FLAG(exclusive);
	FLAG(exclude_user);
	FLAG(exclude_kernel);
	FLAG(exclude_hv);
	FLAG(exclude_idle);
	FLAG(mmap);
	FLAG(comm);
	FLAG(freq);
	FLAG(inherit_stat);
	FLAG(enable_on_exec);
	FLAG(task);
	FLAG(watermark);
	FLAG(precise_ip);
	FLAG(mmap_data);
	FLAG(sample_id_all);
	FLAG(exclude_host);
	FLAG(exclude_guest);
	FLAG(exclude_callchain_kernel);
	FLAG(exclude_callchain_user);
	FLAG(mmap2);
	FLAG(comm_exec);
	FLAG(use_clockid);
	FLAG(context_switch);
	FLAG(write_backward);
	FLAG(namespaces);
	FLAG(ksymbol);
	FLAG(bpf_event);
	FLAG(aux_output);
	FLAG(cgroup);
	FLAG(text_poke);
	FLAG(build_id);
	FLAG(inherit_thread);
	FLAG(remove_on_exec);
	FLAG(sigtrap);
#undef FLAG
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
