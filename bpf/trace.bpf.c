// SPDX-License-Identifier: MIT
/*
 * System calls as they are made: counted and summed in maps, or sent one by one
 * with what their arguments lead to (trace_take.h). See src/event/trace_abi.h.
 *
 * Tasks that are traced have a storage of their own: those there at the start get
 * it from an iterator, children when they are forked. So a call of any other task
 * costs one look for a storage that is not there.
 */
#include "trace_call.h"
#include "trace_other.h"

/* --- comings and goings ----------------------------------------------------------------------- */

SEC("tp_btf/sched_process_fork")
int forked(__u64 *ctx) /* parent, child */
{
	struct trace_task *s = storage((void *)ctx[0], false), *child;

	if (!s || s->on == TRACE_OFF || (options.no_children && !options.all))
		return 0;
	child = storage((void *)ctx[1], true);
	if (!child) {
		__sync_fetch_and_add(&losses.tasks, 1);
		return 0;
	}
	set_numbers(child, (void *)ctx[1]);
	child->on = s->on;
	/* it returns from a call that its parent made; while nobody looks, nothing is known */
	child->state = running ? TRACE_OUTSIDE : TRACE_UNKNOWN;
	return 0;
}

/* A thread that execs becomes its process's first. */
SEC("tp_btf/sched_process_exec")
int execed(__u64 *ctx) /* task */
{
	struct trace_task *s = storage((void *)ctx[0], false);

	if (s) {
		set_numbers(s, (void *)ctx[0]);
		if (s->on == TRACE_FROM_EXEC)
			s->on = TRACE_ON; /* the command begins */
		if (options.sums)
			keep_comm(s, (void *)ctx[0]);
	}
	return 0;
}

static __always_inline void send_unfinished(struct task_struct___t *task, struct trace_task *s,
					    __u32 kind, __u64 now)
{
	struct call *c = call_of(task, options.events == 0);

	if (!c)
		return;
	if (!options.events)
		begin_record(c, s, kind);
	c->rec.kind = kind;
	c->rec.start = s->start;
	c->rec.end = now;
	c->rec.cpu = bpf_get_smp_processor_id();
	bpf_probe_read_kernel(c->rec.comm, sizeof(c->rec.comm), task->comm);
	send_record(c);
}

SEC("tp_btf/sched_process_exit")
int exited(__u64 *ctx) /* task */
{
	struct task_struct___t *task = (void *)ctx[0];
	struct trace_task *s = storage(task, false);
	__u64 now = bpf_ktime_get_ns();
	struct trace_plan *plan;

	if (!s || s->on != TRACE_ON)
		return 0;
	if (options.sums)
		keep_comm(s, task);
	if (s->state != TRACE_INSIDE || !running)
		return 0;
	s->state = TRACE_OUTSIDE;
	plan = plan_of(s->nr, s->abi);
	if (!plan || options.failed || (options.min_ns && now - s->start < options.min_ns))
		return 0;
	if (options.sums && !(plan->flags & TRACE_NO_RETURN))
		sum_up(s, now - s->start, 0, true);
	if (options.events)
		send_unfinished(task, s, TRACE_EXITED, now);
	return 0;
}

/* --- the tasks that are there ----------------------------------------------------------------- */

struct bpf_iter_meta___k {
	void *seq;
} __attribute__((preserve_access_index));
struct bpf_iter__task {
	struct bpf_iter_meta___k *meta;
	struct task_struct___t *task;
};

/*
 * A task that sleeps in a call which it made before the trace: its registers tell which. Its
 * memory cannot be read from here.
 */
static __always_inline void send_inside(struct task_struct___t *task, struct trace_task *s)
{
	struct pt_regs___t *regs = (void *)bpf_task_pt_regs((void *)task);
	struct trace_plan *plan;
	struct call *c;

	if (!BPF_CORE_READ(task, __state) || !BPF_CORE_READ(task, mm) || !regs)
		return;
#if defined(__TARGET_ARCH_x86)
	s->nr = regs->orig_ax;
#else
	s->nr = regs->syscallno;
#endif
	s->abi = abi_of(task);
	plan = plan_of(s->nr, s->abi);
	if (s->nr < 0 || !plan || !(plan->flags & TRACE_WANTED))
		return;
	c = call_of(task, true);
	if (!c)
		return;
	s->start = bpf_ktime_get_ns();
	begin_record(c, s, TRACE_UNFINISHED);
	c->rec.flags = TRACE_NO_START;
	c->rec.end = s->start;
	read_args(&c->rec, regs);
	for (int i = 0; i < TRACE_STEPS; i++)
		if (plan->step[i].take == TRACE_TAKE_FD && plan->step[i].arg == 0)
			read_fd(c, task, 0, c->rec.arg[0], 0, false);
	bpf_probe_read_kernel(c->rec.comm, sizeof(c->rec.comm), task->comm);
	send_record(c);
}

SEC("iter/task")
int begin(struct bpf_iter__task *ctx)
{
	struct task_struct___t *task = ctx->task;
	struct trace_task numbers = { 0 }, *s;
	bool command; /* which still waits to be one */
	__u32 *on;

	if (!task)
		return 0;
	set_numbers(&numbers, task);
	on = bpf_map_lookup_elem(&processes, &numbers.pid);
	command = on != NULL;
	if (!on)
		on = bpf_map_lookup_elem(&threads, &numbers.tid);
	if (!on)
		return 0;
	s = storage(task, true);
	if (!s) {
		__sync_fetch_and_add(&losses.tasks, 1);
		return 0;
	}
	if (s->on)
		return 0; /* its parent told already */
	s->pid = numbers.pid;
	s->tid = numbers.tid;
	s->on = *on;
	if (options.events && !command && !options.failed && !options.min_ns)
		send_inside(task, s);
	return 0;
}

SEC("iter/task")
int end(struct bpf_iter__task *ctx)
{
	struct task_struct___t *task = ctx->task;
	struct trace_task *s;
	__u64 now = bpf_ktime_get_ns();

	if (!task)
		return 0;
	s = storage(task, false);
	if (!s || s->on != TRACE_ON)
		return 0;
	if (options.sums)
		keep_comm(s, task);
	if (s->state != TRACE_INSIDE || options.failed ||
	    (options.min_ns && now - s->start < options.min_ns))
		return 0;
	s->state = TRACE_OUTSIDE;
	send_unfinished(task, s, TRACE_UNFINISHED, now);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
