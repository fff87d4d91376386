/* SPDX-License-Identifier: MIT */
#include "live/target.h"

#include <string.h>

#include "base/mem.h"

static void target_one(struct thread_list *l, pid_t tid)
{
	l->tid = mem_dup(&tid, sizeof(tid));
	l->n = 1;
}

static int threads_of(const struct target_opts *o, struct target *t, struct err *e)
{
	if (o->pids && o->tids) {
		err_set(e, EINVAL, "-p and -t cannot be used together");
		return err_hint(e, "-t for single threads, -p for whole processes");
	}
	if (o->pids)
		return proc_threads_of(o->pids, &t->threads, e);
	if (o->tids)
		return proc_threads(o->tids, &t->threads, e);
	if (o->user)
		return proc_threads_of_user(o->user, &t->threads, e);
	if (o->each_thread && o->all_cpus)
		return proc_threads_all(&t->threads, e);
	t->system_wide = o->all_cpus || o->cpus;
	t->command = o->command && !t->system_wide;
	target_one(&t->threads, t->system_wide ? -1 : 0);
	return 0;
}

int target_make(const struct target_opts *o, struct target *ret, struct err *e)
{
	struct target t = { 0 };
	bool tasks = o->pids || o->tids || o->user;
	int r;

	if (tasks && o->all_cpus) {
		err_set(e, EINVAL, "-a watches everything, so it goes with none of -p, -t, -u");
		return err_hint(e, "leave one of them out");
	}
	if (!tasks && !o->all_cpus && !o->cpus && !o->command) {
		err_set(e, EINVAL, "nothing to watch");
		return err_hint(e, "give a command, or -a for the whole machine, or -p PID");
	}
	t.cpus_named = o->all_cpus || o->cpus;
	r = threads_of(o, &t, e);
	if (r == 0 && o->cpus)
		r = cpus_parse(o->cpus, &t.cpus, e);
	else if (r == 0 && t.system_wide)
		r = cpus_online(&t.cpus, e);
	else if (r == 0) {
		t.cpus.cpu = mem_dup(&(int){ -1 }, sizeof(int));
		t.cpus.n = 1;
	}
	if (r < 0)
		target_free(&t);
	else
		*ret = t;
	return r;
}

bool target_same(const struct target_opts *o, const struct target *t)
{
	struct target now = { 0 };
	bool same;

	if (!o->pids && !o->user)
		return true;
	same = threads_of(o, &now, NULL) < 0 ||
	       (now.threads.n == t->threads.n &&
		memcmp(now.threads.tid, t->threads.tid, now.threads.n * sizeof(pid_t)) == 0);
	target_free(&now);
	return same;
}

bool target_alive(const struct target *t)
{
	for (size_t i = 0; i < t->threads.n; i++)
		if (t->threads.tid[i] <= 0 || proc_alive(t->threads.tid[i]))
			return true;
	return false;
}

void target_free(struct target *t)
{
	cpus_free(&t->cpus);
	thread_list_free(&t->threads);
	*t = (struct target){ 0 };
}
