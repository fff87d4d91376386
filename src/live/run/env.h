/* SPDX-License-Identifier: MIT */
/* What the running kernel tells the compiler of the tracing language. */
#pragma once

#include "kern/btf_types.h"
#include "lang/lang.h"

struct run_env {
	struct lang_env env;
	const char *tracefs; /* NULL: none */
	struct btf_types *btf;
	int btf_state;	 /* 0 not tried, 1 there, -1 none */
	unsigned kernel; /* its version, major << 16 | minor */
	bool comm_asked;
	int comm;		 /* offset of task_struct's, -1: not to be read so */
	bool no_raw;		 /* serve no tracepoint by a raw one */
	struct run_dwarf *dwarf; /* debug info of programs; NULL: none was needed */
	struct err err;
};

int run_env_open(struct run_env *r, struct err *e);
/* The big part, which is not needed once programs are loaded. */
void run_env_drop_types(struct run_env *r);
void run_env_close(struct run_env *r);
const struct btf_types *run_env_btf(struct run_env *r); /* NULL: none */
#define RUN_NO_TYPES "this kernel does not describe its types (no /sys/kernel/btf/vmlinux)"

/* May values be kept with threads here? live/run/task_maps.c */
bool run_task_storage(void *ctx);

/* Types: live/run/types.c */
const struct ltype *run_type(void *ctx, struct ltypes *t, const char *name);
void run_fill(void *ctx, struct ltypes *t, struct lrecord *r);
struct lrecord *run_args(void *ctx, struct ltypes *t, const struct lang_point *p);
const struct ltype *run_enumerator(void *ctx, struct ltypes *t, const char *name, int64_t *value);

/* Debug info of programs: live/run/dwarf.c. */
struct lrecord *run_dwarf_args(struct run_env *r, struct ltypes *t, const struct lang_point *p);
/* False: it is none of a program's records. */
bool run_dwarf_fill(struct run_env *r, struct ltypes *t, struct lrecord *rec);
void run_dwarf_close(struct run_env *r);

/* Patterns: live/run/match.c */
int run_match(void *ctx, const struct lang_point *p, lang_match_fn *fn, void *arg, struct err *e);
int run_syscall(void *ctx, const char *name);

/* Programs and their probes: live/run/uprobe.c */
int run_match_user(struct run_env *r, const struct lang_point *p, lang_match_fn *fn, void *arg,
		   struct err *e);
/* The file a name means, as a shell would find it; caller frees. NULL: there is none. */
char *run_find_file(const char *name);
struct elf;
int run_open_elf(const char *path, struct elf **ret, struct err *e);
/* Where to probe a function (or address), and how far behind its beginning that is
 * (sym/disasm/code.h). *file keeps what was read. */
struct run_user_file;
int run_user_offset(struct run_user_file **file, const struct lang_point *p, uint64_t *offset,
		    uint64_t *behind, struct err *e);
void run_user_forget(struct run_user_file **file);
bool run_uaddr(void *ctx, const char *path, const char *name, uint64_t *addr, uint64_t *size);
int run_usdt_args(void *ctx, const struct lang_point *p, struct lang_usdt_arg *arg, int max);

struct run_usdt {
	char *provider, *name, *args;
	uint64_t offset, semaphore; /* in the file; 0: no semaphore */
	unsigned way; /* the first, second ... way in which probes of this name keep arguments */
};
bool run_usdt_is(const struct run_usdt *u, const char *provider, const char *name);
int run_usdt_match(struct run_env *r, const struct lang_point *p, lang_match_fn *fn, void *arg,
		   struct err *e);
/* All probes of a file; free with run_usdt_free. */
int run_usdt_list(const char *path, struct run_usdt **ret, size_t *n, struct err *e);
void run_usdt_free(struct run_usdt *list, size_t n);

/* Numbers of software and hardware events; -1: no such event. */
int run_software(const char *name);
int run_hardware(const char *name);
