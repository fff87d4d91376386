/* SPDX-License-Identifier: MIT */
/*
 * What this machine lets this user see, line by line, with the reason and the way to get the rest.
 * Facts are gathered by trying (try.h, virt.h, priv.h ...), then put into words by a small
 * function per line, which looks at the facts only: so the words for machines not at hand are
 * tested as well.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kern/ability/try.h"
#include "kern/kconfig.h"
#include "kern/priv.h"
#include "kern/virt.h"

enum ability_state {
	ABILITY_OK,
	ABILITY_LIMITED, /* a part of it works */
	ABILITY_MISSING, /* does not work */
	ABILITY_OFF,	 /* an extra that is not set up: nothing else suffers */
};
const char *ability_state_name(enum ability_state s); /* "ok", "limited" ... */

enum ability_group {
	ABILITY_MACHINE,
	ABILITY_COUNTING,
	ABILITY_TRACING,
	ABILITY_BPF,
	ABILITY_NAMES,
	ABILITY_LIMITS,
	ABILITY_GROUPS,
};
const char *ability_group_name(enum ability_group g); /* "Machine" ... */

struct ability_line;

struct ability {
	const struct ability_line *line; /* of ability/line.h: who says it */
	const char *id;			 /* for scripts: does not change */
	const char *name;		 /* for people */
	enum ability_group group;
	enum ability_state state;
	bool detail;	   /* of interest to those who ask for more */
	bool fixable;	   /* by a command on this machine */
	char value[160];   /* what was found; may be "" */
	char meaning[256]; /* what that means to the user */
	char fix[256];	   /* fixable: the command; else what it would need, or "" */
};

/* Facts about the machine that try.h does not find; sizes in bytes. */
struct ability_host {
	char release[80], machine[32], cpu[64], clock[32], clocks[96];
	int version; /* 0x60100 for 6.1 */
	unsigned cpus, cpus_all;
	bool distro_kernel; /* its modules or image are installed here */
	char distro[32];    /* ID of os-release: "debian" */
	bool kallsyms;	    /* shows addresses to this user */
	char vmlinux[256];  /* the kernel with its debug information; "" when not found */
	bool debuginfod_built;
	char debuginfod[128]; /* the first server, "" when none is set */
	char cache[256];      /* where indexes are kept between runs; "" when there is no home */
	int cache_error;      /* 0 or why it cannot be written, negative */
	char cwd[256];
	int cwd_error;
	uint64_t cwd_free;
	uint64_t memlock, nofile, nofile_hard; /* UINT64_MAX: no limit */
	char cgroup[32];		       /* "v2", "v1", "hybrid", "" for none */
	bool cgroup_perf;		       /* the perf_event controller */
	int cgroup_try;			       /* counting the root cgroup: 0 or -errno */
	int64_t userns_max;		       /* TRY_ABSENT where the kernel has none */
};
void ability_host_read(struct ability_host *h);
/* ID of the os-release below root ("" for this machine's); "" when there is none. */
void ability_distro(const char *root, char *buf, size_t size);
/* The server that has its debug files. */
const char *ability_debuginfod(const char *distro);

struct ability_facts {
	struct priv priv;
	struct virt virt;
	enum lockdown lockdown;
	struct kconfig config;
	struct try_perf perf;
	struct try_trace trace;
	struct try_bpf bpf;
	char idle[64];	   /* CPUs that keep from perf what happens while they idle */
	bool idle_unknown; /* of some it is not known */
	struct ability_host host;
};
void ability_facts_read(struct ability_facts *f);
void ability_facts_free(struct ability_facts *f);

#define ABILITY_MAX 80

/* All lines in the order they are shown; returns how many. out has room for ABILITY_MAX. */
size_t ability_describe(const struct ability_facts *f, struct ability *out);
/* One line of it; false when there is no such id. */
bool ability_describe_one(const struct ability_facts *f, const char *id, struct ability *ret);

/* Does it lack something that a command on this machine gives? Extras (off) do not count. */
bool ability_wants_fix(const struct ability *a);
