/* SPDX-License-Identifier: MIT */
/* What live/walk/walker.h promises, where kymo was built without the walker. */
#include "live/walk/walker.h"

#include "config.h"
#if !HAVE_WALKER

int walker_open(const struct walker_opts *o, struct walker **ret, struct err *e)
{
	(void)o, (void)ret;
	err_set(e, EOPNOTSUPP, "this kymo was built without the stack walker");
	return err_hint(e, "build it with clang, bpftool and libbpf, or use --call-graph dwarf");
}

void walker_close(struct walker *w)
{
	(void)w;
}

int walker_attach(struct walker *w, int perf_fd, uint64_t id, struct err *e)
{
	(void)w, (void)perf_fd, (void)id;
	return err_set(e, EOPNOTSUPP, "this kymo was built without the stack walker");
}

void walker_mmap(struct walker *w, const struct walker_mmap *m)
{
	(void)w, (void)m;
}

void walker_fork(struct walker *w, int32_t pid, int32_t ppid, uint64_t time)
{
	(void)w, (void)pid, (void)ppid, (void)time;
}

void walker_exec(struct walker *w, int32_t pid, uint64_t time)
{
	(void)w, (void)pid, (void)time;
}

void walker_exit(struct walker *w, int32_t pid, int32_t tid, uint64_t time)
{
	(void)w, (void)pid, (void)tid, (void)time;
}

int walker_fd(const struct walker *w)
{
	(void)w;
	return -1;
}

int walker_poll(struct walker *w, int timeout_ms, walker_fn *fn, void *ctx, struct err *e)
{
	(void)w, (void)timeout_ms, (void)fn, (void)ctx, (void)e;
	return 0;
}

int walker_take(struct walker *w, walker_fn *fn, void *ctx, struct err *e)
{
	return walker_poll(w, 0, fn, ctx, e);
}

void walker_copy(struct walker *w, const struct walker_stack *s)
{
	(void)w, (void)s;
}

uint64_t walker_mark(const struct unwind_regs *r)
{
	(void)r;
	return 0;
}

bool walker_waiting(const struct walker *w)
{
	(void)w;
	return false;
}

void walker_settle(struct walker *w, int timeout_ms)
{
	(void)w, (void)timeout_ms;
}

int walker_off_start(struct walker *w, struct err *e)
{
	(void)w;
	return err_set(e, EOPNOTSUPP, "this kymo was built without the stack walker");
}

int walker_off_target(struct walker *w, int32_t tid, bool now, struct err *e)
{
	(void)w, (void)tid, (void)now, (void)e;
	return 0;
}

bool walker_off_is_target(const struct walker *w, int32_t tid)
{
	(void)w, (void)tid;
	return false;
}

void walker_off_switch(struct walker *w, bool on)
{
	(void)w, (void)on;
}

bool walker_off_due(const struct walker *w)
{
	(void)w;
	return false;
}

int walker_off_take(struct walker *w, bool end, walker_fn *fn, void *ctx)
{
	(void)w, (void)end, (void)fn, (void)ctx;
	return 0;
}

void walker_stats(const struct walker *w, struct walker_stats *ret)
{
	(void)w;
	*ret = (struct walker_stats){ 0 };
}

int walker_hit_tracepoint(struct walker *w, const char *name, struct err *e)
{
	(void)w, (void)name;
	return err_set(e, EOPNOTSUPP, "this kymo was built without the stack walker");
}

int walker_hit_call(struct walker *w, int nr, bool exit, struct err *e)
{
	(void)nr, (void)exit;
	return walker_hit_tracepoint(w, NULL, e);
}

int walker_hit_probe(struct walker *w, const struct walker_probe *p, struct err *e)
{
	(void)p;
	return walker_hit_tracepoint(w, NULL, e);
}

void walker_kept_drop(const struct walker *w)
{
	(void)w;
}

bool walker_function(const struct walker *w, enum walker_which which, struct walker_function *ret)
{
	(void)w, (void)which, (void)ret;
	return false;
}
#endif
