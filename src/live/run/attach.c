/* SPDX-License-Identifier: MIT */
/* Programs to what they watch. */
#include <linux/hw_breakpoint.h>
#include <string.h>
#include <sys/ioctl.h>

#include "kern/perf.h"
#include "kern/tracefs.h"
#include "live/capture/attr.h"
#include "live/run/session.h"

#define ENOTSUPP 524 /* the kernel uses this error internally; user space has no text for it */
#define MULTI_SINCE                                                                   \
	(6u << 16 | 12) /* earlier kernels left out the other threads of -p's process \
			 */

static int run_attach_failed(const struct lang_point *pt, int code, struct err *e)
{
	if (code == ENOTSUPP) {
		err_set(e, EOPNOTSUPP, "the kernel cannot put a probe on the instruction at %s",
			pt->text);
		return -ENOTSUPP;
	}
	err_set(e, code, "cannot attach to %s: %s", pt->text, strerror(code));
	if (code == EPERM || code == EACCES)
		err_hint(e, "this kernel or user may not; kymo doctor says what is allowed here");
	else if (pt->kind == LP_HARDWARE && code == ENOENT)
		err_hint(e,
			 "this machine has no such counter; software:cpu-clock works everywhere");
	else if ((pt->kind == LP_KPROBE || pt->kind == LP_KRETPROBE) && code == ENOENT)
		err_hint(e,
			 "the kernel has no such function; kymo run -l 'kprobe:*%s*' looks further",
			 pt->name ? pt->name : "");
	else if (code == EILSEQ)
		err_hint(e, "no instruction begins at this offset");
	else if (pt->kind == LP_PROFILE && code == EINVAL)
		err_hint(e,
			 "the kernel takes up to %llu samples a second "
			 "(sysctl kernel.perf_event_max_sample_rate)",
			 (unsigned long long)capture_max_freq());
	else if (pt->kind == LP_WATCHPOINT)
		err_hint(e, "a processor has four watchpoints, at aligned addresses; -p or -c "
			    "gives the process");
	return -code;
}

static int attach_program(struct run *r, int event, int prog, const struct lang_point *pt,
			  struct err *e)
{
	int k;

	if (event < 0)
		return run_attach_failed(pt, -event, e);
	vec_push(&r->attached.events, event);
	k = r->cookies ? attached_event(&r->attached, prog, event, pt->id)
		       : attached_set(prog, event);
	return k < 0 ? run_attach_failed(pt, -k, e) : 0;
}

static int set_program(struct run *r, int event, int prog, const struct lang_point *pt,
		       struct err *e)
{
	int k = attach_program(r, event, prog, pt, e);

	if (k == 0 && ioctl(event, PERF_EVENT_IOC_ENABLE, 0) < 0)
		return run_attach_failed(pt, errno, e);
	return k;
}

static int attach_link(struct run *r, int prog, const char *name, const struct lang_point *pt,
		       struct err *e)
{
	int k = attached_raw(&r->attached, prog, name);

	return k < 0 ? run_attach_failed(pt, -k, e) : 0;
}

/* The program runs while its event is disabled, too, which costs the kernel nothing. */
static int attach_tracepoint(struct run *r, int prog, const struct lang_point *pt, struct err *e)
{
	struct perf_event_attr a = { .type = PERF_TYPE_TRACEPOINT,
				     .sample_period = 1,
				     .disabled = 1 };
	uint64_t id;
	int k = tracefs_id(r->env->tracefs, pt->target, pt->name, &id, e);

	if (k < 0)
		return k;
	a.config = id;
	return attach_program(r, perf_open(&a, -1, 0, -1, 0), prog, pt, e);
}

static int attach_kprobe(struct run *r, int prog, const struct lang_point *pt, struct err *e)
{
	struct perf_event_attr a;

	if (perf_probe_attr(false, pt->kind == LP_KRETPROBE, pt->is_addr ? NULL : pt->name,
			    pt->offset, 0, &a) < 0)
		return run_attach_failed(pt, ENOENT, e);
	return set_program(r, perf_open(&a, -1, 0, -1, 0), prog, pt, e);
}

static int attach_uprobe_at(struct run *r, int prog, const struct lang_point *pt, const char *path,
			    uint64_t offset, uint64_t semaphore, struct err *e)
{
	int32_t pid = r->o.pid ? r->o.pid : r->child.pid;
	struct perf_event_attr a;

	if (perf_probe_attr(true, pt->kind == LP_URETPROBE, path, offset, semaphore, &a) < 0)
		return run_attach_failed(pt, ENOENT, e);
	return set_program(r, perf_open(&a, pid ? pid : -1, pid ? -1 : 0, -1, 0), prog, pt, e);
}

static int user_offset(struct run *r, const struct lang_point *pt, uint64_t *offset, struct err *e)
{
	uint64_t behind = 0;
	int k = run_user_offset(&r->user_file, pt, offset, &behind, e);

	if (k == 0 && behind)
		*map_at(&r->names.behind, *offset) = behind;
	return k;
}

static int attach_user(struct run *r, int prog, const struct lang_point *pt, struct err *e)
{
	AUTO_FREE char *path = run_find_file(pt->target);
	struct run_usdt *list;
	uint64_t offset;
	size_t n;
	int k;

	if (!path)
		return run_attach_failed(pt, ENOENT, e);
	if (pt->kind != LP_USDT) {
		k = user_offset(r, pt, &offset, e);
		return k < 0 ? k : attach_uprobe_at(r, prog, pt, path, offset, 0, e);
	}
	k = run_usdt_list(path, &list, &n, e);
	for (size_t i = 0; i < n && k == 0; i++)
		if (run_usdt_is(&list[i], pt->provider, pt->name) && list[i].way == pt->number)
			k = attach_uprobe_at(r, prog, pt, path, list[i].offset, list[i].semaphore,
					     e);
	run_usdt_free(list, n);
	return k;
}

bool run_is_multi(const struct run *r, const struct lang_code *c)
{
	enum lang_kind kind = run_point(r, c, 0)->kind;

	/* A command shares this process's memory until it runs: an event for one probe would see
	 * kymo's own calls, too. Without one, events are gone sooner at the end. */
	if (c->n_points < 2 && !r->o.child.pid)
		return false;
	if (r->env->kernel < MULTI_SINCE || (kind != LP_UPROBE && kind != LP_URETPROBE))
		return false;
	for (size_t i = 1; i < c->n_points; i++)
		if (run_point(r, c, i)->kind != kind)
			return false;
	return true;
}

/* Some of the functions that a pattern fits may be ones the kernel cannot probe. */
static bool may_fail(struct run *r, const struct lang_point *pt, int code, struct err *e)
{
	if (!pt->one_of_many || (code != -ENOTSUPP && code != -EINVAL && code != -EOPNOTSUPP &&
				 code != -ENOEXEC && code != -EILSEQ && code != -EADDRNOTAVAIL))
		return false;
	if (!r->n_refused++)
		r->refused = *e;
	err_clear(e);
	return true;
}

/* Tries halves of the list until the functions that are refused are found. */
static int attach_some(struct run *r, int prog, const uint32_t *point, const char *path,
		       const uint64_t *offset, uint32_t n, struct err *e)
{
	const struct lang_point *pt = &r->p->points.data[*point];
	AUTO_FREE uint64_t *cookie = r->cookies ? mem_alloc(n * sizeof(*cookie)) : NULL;
	int fd, k;

	for (uint32_t i = 0; i < n && cookie; i++)
		cookie[i] = r->p->points.data[point[i]].id;
	fd = bpf_link_uprobes(prog, path, offset, cookie, n, pt->kind == LP_URETPROBE,
			      r->o.pid ? r->o.pid : r->child.pid);

	if (fd >= 0) {
		vec_push(&r->many, fd);
		return 0;
	}
	if (n == 1 || fd == -EPERM || fd == -EACCES || fd == -ENOMEM || fd == -EMFILE) {
		k = run_attach_failed(pt, -fd, e);
		return may_fail(r, pt, k, e) ? 0 : k;
	}
	k = attach_some(r, prog, point, path, offset, n / 2, e);
	return k < 0 ? k : attach_some(r, prog, point + n / 2, path, offset + n / 2, n - n / 2, e);
}

static int attach_many(struct run *r, const struct lang_code *c, int prog, struct err *e)
{
	AUTO_FREE uint64_t *offset = mem_alloc(c->n_points * sizeof(*offset));
	int k = 0;

	for (size_t i = 0, n; i < c->n_points && k == 0; i += n) {
		const char *target = run_point(r, c, i)->target;
		AUTO_FREE char *path = run_find_file(target);

		if (!path)
			return run_attach_failed(run_point(r, c, i), ENOENT, e);
		for (n = 0; i + n < c->n_points && k == 0; n++) {
			const struct lang_point *pt = &r->p->points.data[c->point[i + n]];

			if (strcmp(pt->target, target) != 0)
				break;
			k = user_offset(r, pt, &offset[n], e);
		}
		if (k == 0)
			k = attach_some(r, prog, c->point + i, path, offset, (uint32_t)n, e);
	}
	return k;
}

static int on_cpus(struct run *r, struct perf_event_attr *a, int prog, const struct lang_point *pt,
		   int32_t pid, struct err *e)
{
	struct cpus online = { 0 };
	int k;

	if (pid)
		return set_program(r, perf_open(a, pid, -1, -1, 0), prog, pt, e);
	k = cpus_online(&online, e);
	for (size_t i = 0; i < online.n && k == 0; i++)
		k = set_program(r, perf_open(a, -1, online.cpu[i], -1, 0), prog, pt, e);
	cpus_free(&online);
	return k;
}

static int attach_sampling(struct run *r, int prog, const struct lang_point *pt, struct err *e)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE,
				     .config = PERF_COUNT_SW_CPU_CLOCK };

	if (pt->kind == LP_PROFILE) {
		a.freq = strcmp(pt->target, "hz") == 0;
		if (a.freq)
			a.sample_freq = pt->number;
		else
			a.sample_period = lang_point_every(pt);
	} else if (pt->kind == LP_SOFTWARE) {
		a.config = (uint64_t)run_software(pt->name);
		a.sample_period = lang_point_period(pt);
	} else {
		a.config = (uint64_t)run_hardware(pt->name);
		a.type = PERF_TYPE_HARDWARE;
		a.sample_period = lang_point_period(pt);
	}
	return on_cpus(r, &a, prog, pt, 0, e);
}

static int attach_watch(struct run *r, int prog, const struct lang_point *pt, struct err *e)
{
	struct perf_event_attr a = { .type = PERF_TYPE_BREAKPOINT,
				     .sample_period = 1,
				     .bp_addr = pt->offset,
				     .bp_len = pt->number };

	a.bp_type = (strchr(pt->mode, 'r') ? HW_BREAKPOINT_R : 0) |
		    (strchr(pt->mode, 'w') ? HW_BREAKPOINT_W : 0);
	if (strchr(pt->mode, 'x')) {
		a.bp_type = HW_BREAKPOINT_X;
		a.bp_len = sizeof(long);
	}
	return on_cpus(r, &a, prog, pt, r->o.pid ? r->o.pid : r->child.pid, e);
}

static int attach_iter(struct run *r, int prog, const struct lang_point *pt, struct err *e)
{
	int link = bpf_link(prog, 0, BPF_TRACE_ITER), fd;

	if (link < 0)
		return run_attach_failed(pt, -link, e);
	vec_push(&r->attached.links, link);
	fd = bpf_iter(link);
	if (fd < 0)
		return run_attach_failed(pt, -fd, e);
	vec_push(&r->iters, fd);
	return 0;
}

/*
 * The kernel runs the last one first at one place of these kinds. Clocks are timers of their own;
 * returns are taken off a stack that entries were put on so, and are back in order.
 */
static bool last_is_first(const struct lang_point *pt)
{
	switch (pt->kind) {
	case LP_UPROBE:
	case LP_URETPROBE:
	case LP_USDT:
	case LP_KPROBE:
	case LP_FENTRY:
	case LP_FEXIT: return true;
	case LP_SOFTWARE:
		return run_software(pt->name) != PERF_COUNT_SW_CPU_CLOCK &&
		       run_software(pt->name) != PERF_COUNT_SW_TASK_CLOCK;
	default: return false;
	}
}

/* Attaches to those points of the program where the order is reversed, or to all others. */
static int attach_code(struct run *r, size_t code, bool last_first, struct err *e)
{
	const struct lang_code *c = &r->p->codes.data[code];
	int prog = r->prog_fd[code], k = 0;

	r->cookies = c->cookie;
	if (c->how == LH_SYSCALL) {
		const struct lang_point *pt = run_point(r, c, 0);

		if (last_first)
			return 0;
		return attach_link(r, prog,
				   str_starts(pt->name, "sys_exit_") ? "sys_exit" : "sys_enter", pt,
				   e);
	}
	if (run_is_multi(r, c))
		return last_first ? attach_many(r, c, prog, e) : 0;
	for (size_t i = 0; i < c->n_points && k == 0; i++) {
		const struct lang_point *pt = run_point(r, c, i);

		if (last_is_first(pt) != last_first)
			continue;
		switch (pt->kind) {
		case LP_TRACEPOINT:
			k = c->how == LH_RAW ? attach_link(r, prog, pt->name, pt, e)
					     : attach_tracepoint(r, prog, pt, e);
			break;
		case LP_RAWTP: k = attach_link(r, prog, pt->name, pt, e); break;
		case LP_FENTRY:
		case LP_FEXIT: k = attach_link(r, prog, NULL, pt, e); break;
		case LP_KPROBE:
		case LP_KRETPROBE: k = attach_kprobe(r, prog, pt, e); break;
		case LP_UPROBE:
		case LP_URETPROBE:
		case LP_USDT: k = attach_user(r, prog, pt, e); break;
		case LP_PROFILE:
		case LP_SOFTWARE:
		case LP_HARDWARE: k = attach_sampling(r, prog, pt, e); break;
		case LP_WATCHPOINT: k = attach_watch(r, prog, pt, e); break;
		case LP_ITER: k = attach_iter(r, prog, pt, e); break;
		default: break;
		}
		if (k < 0 && may_fail(r, pt, k, e))
			k = 0;
	}
	return k;
}

int run_attach(struct run *r, struct err *e)
{
	size_t n = r->p->codes.n;
	int k = 0;

	/* In two passes, so that blocks at one place run in the order they are written in. */
	for (size_t i = 0; i < n && k == 0; i++)
		k = attach_code(r, i, false, e);
	for (size_t i = n; i-- > 0 && k == 0;)
		k = attach_code(r, i, true, e);
	run_user_forget(&r->user_file);
	return k;
}

void run_stop(struct run *r)
{
	struct run_state state = { 0 };
	uint32_t key = 0;

	if (r->state >= 0 && bpf_map_get(r->state, &key, &state) == 0) {
		state.stopped = 1;
		bpf_map_set(r->state, &key, &state);
	}
	attached_stop(&r->attached);
}

void run_detach(struct run *r)
{
	run_stop(r);
	vec_each (&r->many, fd)
		vec_push(&r->attached.events, *fd);
	attached_close(&r->attached);
	vec_each (&r->iters, fd)
		close(*fd);
	r->many.n = r->iters.n = 0;
}
