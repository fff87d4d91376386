/* SPDX-License-Identifier: MIT */
/* What this process is allowed: user, capabilities, namespaces, seccomp. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct priv {
	uid_t euid;
	uint64_t caps;	 /* effective capabilities, bit N for capability N */
	uint64_t known;	 /* the capabilities this kernel has */
	bool own_userns; /* root here is not the machine's root: perf and BPF do not count it */
	bool filtered;	 /* a seccomp filter may refuse system calls */
	bool no_new;	 /* sudo has no effect (no_new_privs) */
};

void priv_read(struct priv *p);

/* CAP_* of <linux/capability.h>, as the kernel counts it for perf and BPF. */
bool priv_has(const struct priv *p, unsigned cap);
bool priv_perfmon(const struct priv *p); /* perf events of all, paranoid or not */

/* "CAP_PERFMON, CAP_BPF": the names of those in set that matter to a tracer; false when none. */
bool priv_names(uint64_t set, char *buf, size_t size);

/* The kernel's lockdown mode, which takes abilities even from root. Where securityfs is not
 * mounted, root reads it through a mount of its own. */

enum lockdown {
	LOCKDOWN_UNKNOWN, /* securityfs is not mounted, or this user may not read it */
	LOCKDOWN_NONE,	  /* nothing is locked, or the kernel has no lockdown */
	LOCKDOWN_INTEGRITY,
	LOCKDOWN_CONFIDENTIALITY,
};

enum lockdown lockdown_read(void);
/* "none", "integrity" ... */
const char *lockdown_name(enum lockdown l);

/* For tests: what the text of the file means ("none [integrity] confidentiality"). */
enum lockdown lockdown_parse(const char *text);
