/* SPDX-License-Identifier: MIT */
/* Events that lanes are made of, as tests make them up. */
#pragma once

#include "event/trace.h"

/* Every record is three numbers and a text. */
struct raw {
	int64_t a, b, c;
	char text[16];
};
#define FIELDS(x, y, z, t)                                                                      \
	{ .name = (x), .kind = FIELD_INT, .offset = 0, .size = 8, .is_signed = true },          \
		{ .name = (y), .kind = FIELD_INT, .offset = 8, .size = 8, .is_signed = true },  \
		{ .name = (z), .kind = FIELD_INT, .offset = 16, .size = 8, .is_signed = true }, \
	{                                                                                       \
		.name = (t), .kind = FIELD_STRING, .offset = 24, .size = 16                     \
	}
static struct field fields[][4] = {
	{ FIELDS("prev_pid", "next_pid", "prev_state", "next_comm") },
	{ FIELDS("pid", "b", "c", "comm") },
	{ FIELDS("ret", "b", "c", "text") },
	{ FIELDS("irq", "b", "c", "name") },
	{ FIELDS("vec", "b", "c", "text") },
	{ FIELDS("dev", "sector", "c", "rwbs") },
};
enum { SWITCH, WAKING, ENTER, EXIT, ENTER2, EXIT2, IRQ, IRQ_END, SOFT, SOFT_END, ISSUE, DONE };
#define TYPE(sys, ev, k)                                                                 \
	{                                                                                \
		.name = sys ":" ev, .system = (sys), .event = (ev), .fields = fields[k], \
		.n_fields = 4                                                            \
	}
static struct event_type types[] = {
	[SWITCH] = TYPE("sched", "sched_switch", 0),
	[WAKING] = TYPE("sched", "sched_waking", 1),
	[ENTER] = TYPE("syscalls", "sys_enter_read", 2),
	[EXIT] = TYPE("syscalls", "sys_exit_read", 2),
	[ENTER2] = TYPE("syscalls", "sys_enter_poll", 2),
	[EXIT2] = TYPE("syscalls", "sys_exit_poll", 2),
	[IRQ] = TYPE("irq", "irq_handler_entry", 3),
	[IRQ_END] = TYPE("irq", "irq_handler_exit", 3),
	[SOFT] = TYPE("irq", "softirq_entry", 4),
	[SOFT_END] = TYPE("irq", "softirq_exit", 4),
	[ISSUE] = TYPE("block", "block_rq_issue", 5),
	[DONE] = TYPE("block", "block_rq_complete", 5),
};
static struct trace trace = { .types = types, .n_types = ARRAY_SIZE(types), .first_time = 100 };

static struct raw raw;
static struct event event(int type, uint64_t time, uint32_t cpu, int32_t tid)
{
	return (struct event){ .kind = EVENT_SAMPLE,
			       .type = (uint32_t)type,
			       .have = EVENT_HAVE_TIME | EVENT_HAVE_CPU | EVENT_HAVE_TASK |
				       EVENT_HAVE_RAW,
			       .time = time,
			       .cpu = cpu,
			       .pid = tid,
			       .tid = tid,
			       .raw = &raw,
			       .raw_size = sizeof(raw) };
}
