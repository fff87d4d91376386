/* SPDX-License-Identifier: MIT */
/* Inside of ability*.c: the tables of lines, and putting one into words. */
#pragma once

#include "kern/ability/ability.h"

struct ability_line {
	const char *id, *name; /* a NULL id ends a table */
	void (*say)(const struct ability_facts *f, struct ability *a);
	/* For functions that say several lines. */
	int which;
	const char *meaning, *config; /* where it is there; what a kernel without it lacks */
	const char *tracefs; /* it needs tracefs, and a kernel built with this; NULL: it does not */
	size_t setting;	     /* a setting of perf's that it tells, as SETTING() */
	bool detail;	     /* shown only to those who ask for more */
};

extern const struct ability_line ability_machine[], ability_counting[], ability_tracing[],
	ability_bpf[], ability_names[], ability_limits[];

#define ABILITY_PRINTF(f, a) __attribute__((format(printf, f, a)))

#define SETTING(member) offsetof(struct ability_facts, perf.member)

/* Set the state, what was found (NULL: ability_value() says it) and what it means. */
ABILITY_PRINTF(4, 5)
void ability_set(struct ability *a, enum ability_state s, const char *value, const char *fmt, ...);
#define ability_ok(a, ...) ability_set(a, ABILITY_OK, __VA_ARGS__)
#define ability_limited(a, ...) ability_set(a, ABILITY_LIMITED, __VA_ARGS__)
#define ability_missing(a, ...) ability_set(a, ABILITY_MISSING, __VA_ARGS__)
#define ability_off(a, ...) ability_set(a, ABILITY_OFF, __VA_ARGS__)
ABILITY_PRINTF(2, 3)
void ability_value(struct ability *a, const char *fmt, ...);
/* The command that helps, run as root: "sudo " is put in front for others. */
ABILITY_PRINTF(3, 4)
void ability_fix_root(const struct ability_facts *f, struct ability *a, const char *fmt, ...);
/* The command that helps, as any user. */
ABILITY_PRINTF(2, 3) void ability_fix(struct ability *a, const char *fmt, ...);
/* No command here helps, but this would. */
ABILITY_PRINTF(2, 3) void ability_needs(struct ability *a, const char *fmt, ...);

/* It takes more privilege: sudo for users, a freer container for root in one. */
void ability_needs_root(const struct ability_facts *f, struct ability *a);

/* "not in this kernel", with the CONFIG_ name that would give it. Not fixable. */
void ability_not_built(const struct ability_facts *f, struct ability *a, const char *config);

/* Can tracefs be looked into? If not, says so, or that the kernel admits to lack config. */
bool ability_tracefs(const struct ability_facts *f, struct ability *a, const char *config);
/* The kernel has it but answered err (negative) to this user, who ought to be allowed. */
void ability_refused(const struct ability_facts *f, struct ability *a, int err);
