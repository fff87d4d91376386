/* SPDX-License-Identifier: MIT */
/*
 * What live/walk/walker.h and live/probe/functime.h promise, where kymo was built without BPF
 * programs in C. What opens says so; nobody has anything to call the others with.
 */
#include <stdlib.h>

#include "live/probe/functime.h"
#include "live/walk/walker.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

int walker_open(const struct walker_opts *o, struct walker **ret, struct err *e)
{
	err_set(e, EOPNOTSUPP, "this kymo was built without the stack walker");
	return err_hint(e, "build it with clang, bpftool and libbpf, or use --call-graph dwarf");
}

int functime_open(const struct functime_opts *o, struct functime **ret, struct err *e)
{
	return err_set(e, ENOTSUP, "this kymo was built without BPF programs");
}

void walker_close(struct walker *w)
{
}

void functime_close(struct functime *t)
{
}

/* clang-format off */
#define NEVER(type, name, ...) type name(__VA_ARGS__) { abort(); }

NEVER(int, walker_attach, struct walker *w, int perf_fd, uint64_t id, struct err *e)
NEVER(void, walker_mmap, struct walker *w, const struct walker_mmap *m)
NEVER(void, walker_fork, struct walker *w, int32_t pid, int32_t ppid, uint64_t time)
NEVER(void, walker_exec, struct walker *w, int32_t pid, uint64_t time)
NEVER(void, walker_exit, struct walker *w, int32_t pid, int32_t tid, uint64_t time)
NEVER(int, walker_fd, const struct walker *w)
NEVER(int, walker_poll, struct walker *w, int timeout_ms, walker_fn *fn, void *ctx, struct err *e)
NEVER(int, walker_take, struct walker *w, walker_fn *fn, void *ctx, struct err *e)
NEVER(void, walker_copy, struct walker *w, const struct walker_stack *s)
NEVER(uint64_t, walker_mark, const struct unwind_regs *r)
NEVER(bool, walker_waiting, const struct walker *w)
NEVER(void, walker_settle, struct walker *w, int timeout_ms)
NEVER(int, walker_off_start, struct walker *w, struct err *e)
NEVER(int, walker_off_target, struct walker *w, int32_t tid, bool now, struct err *e)
NEVER(bool, walker_off_is_target, const struct walker *w, int32_t tid)
NEVER(void, walker_off_switch, struct walker *w, bool on)
NEVER(bool, walker_off_due, const struct walker *w)
NEVER(int, walker_off_take, struct walker *w, bool end, walker_fn *fn, void *ctx)
NEVER(void, walker_stats, const struct walker *w, struct walker_stats *ret)
NEVER(int, walker_hit_tracepoint, struct walker *w, const char *name, struct err *e)
NEVER(int, walker_hit_call, struct walker *w, int nr, bool exit, struct err *e)
NEVER(int, walker_hit_probe, struct walker *w, const struct walker_probe *p, struct err *e)
NEVER(void, walker_kept_drop, const struct walker *w)
NEVER(bool, walker_function, const struct walker *w, enum walker_which which, struct walker_function *ret)
NEVER(int, functime_read, const struct functime *t, struct functime_cpu **ret, size_t *n, struct err *e)
NEVER(uint64_t, functime_missed, const struct functime *t)
NEVER(void, functime_args, const struct functime *t, const struct functime_slow *s, struct strbuf *out)
