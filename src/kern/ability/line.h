/* SPDX-License-Identifier: MIT */
/* Inside of ability*.c: the tables of lines, and putting one into words. */
#ifndef KYMO_KERN_ABILITY_LINE_H
#define KYMO_KERN_ABILITY_LINE_H

#include "kern/ability/ability.h"

struct ability_line {
	const char *id, *name; /* a NULL id ends a table */
	void (*say)(const struct ability_facts *f, struct ability *a, int which);
	int which;   /* for functions that serve several lines */
	bool detail; /* shown only to those who ask for more */
};

extern const struct ability_line ability_machine[], ability_counting[], ability_tracing[],
	ability_bpf[], ability_names[], ability_limits[];

#define ABILITY_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* Set the state and what it means. */
ABILITY_PRINTF(2, 3) void ability_ok(struct ability *a, const char *fmt, ...);
ABILITY_PRINTF(2, 3) void ability_limited(struct ability *a, const char *fmt, ...);
ABILITY_PRINTF(2, 3) void ability_missing(struct ability *a, const char *fmt, ...);
ABILITY_PRINTF(2, 3) void ability_off(struct ability *a, const char *fmt, ...);

ABILITY_PRINTF(2, 3) void ability_value(struct ability *a, const char *fmt, ...);

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

/* The kernel has it but answered err (negative) to this user, who ought to be allowed. */
void ability_refused(const struct ability_facts *f, struct ability *a, int err);

#endif
