/* SPDX-License-Identifier: MIT */
/*
 * Why the kernel refused an event, and what to do: its few error codes mean different things for
 * different events, users and machines.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "event/spec/spec.h"

/* What the explanation depends on. why_look() fills it from this machine. */
struct why_facts {
	bool may_all;	    /* CAP_PERFMON or CAP_SYS_ADMIN: the paranoid level does not matter */
	bool level_known;   /* the kernel tells its perf_event_paranoid */
	int level;	    /* perf_event_paranoid */
	bool core_pmu;	    /* something counts cycles here */
	bool vm;	    /* a virtual machine */
	bool confidential;  /* lockdown=confidentiality */
	bool filtered;	    /* system calls are filtered (seccomp), as in a container */
	uint64_t max_files; /* RLIMIT_NOFILE */
};
void why_look(struct why_facts *f);

/*
 * Fills e for errno code of opening s for pid and cpu, as perf_event_open got them. Returns -code.
 */
int why_open_failed(const struct event_spec *s, int code, pid_t pid, int cpu, struct err *e);
/* The same from given facts. */
int why_explain(const struct why_facts *f, const struct event_spec *s, int code, pid_t pid, int cpu,
		struct err *e);

/* "no PMU in this VM" and the like, when nothing here counts cycles. */
const char *why_no_pmu(bool vm);
