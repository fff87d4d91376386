// SPDX-License-Identifier: MIT
/*
 * System calls as they are made: counted and summed in maps, or sent one by one
 * with what their arguments lead to (trace_take.h). See src/event/trace_abi.h.
 *
 * Tasks that are traced have a storage of their own: those there at the start get
 * it from an iterator, children when they are forked. So a call of any other task
 * costs one look for a storage that is not there.
 */
#include "trace_take.h"

/* --- tasks ------------------------------------------------------------------------------------ */

static __always_inline __u32 number_of(struct task_struct___t *t)
{
	struct upid___k u, *at;
	struct pid___k *pid;
	__u32 level;

	if (!options.pidns_ino)
		return BPF_CORE_READ(t, pid);
	pid = BPF_CORE_READ(t, thread_pid);
	if (!pid)
		return 0;
	level = BPF_CORE_READ(pid, level);
	at = (void *)pid + __builtin_preserve_field_info(pid->numbers, BPF_FIELD_BYTE_OFFSET);
	for (__u32 i = 0; i < 8; i++) {
		if (i > level || bpf_probe_read_kernel(&u, sizeof(u), at + i))
			return 0;
		if (BPF_CORE_READ(u.ns, ns.inum) == options.pidns_ino)
			return u.nr;
	}
	return 0;
}

static __always_inline void set_numbers(struct trace_task *s, struct task_struct___t *t)
{
	s->tid = number_of(t);
	s->pid = BPF_CORE_READ(t, pid) == BPF_CORE_READ(t, tgid)
			 ? s->tid
			 : number_of(BPF_CORE_READ(t, group_leader));
}

static __always_inline struct trace_task *storage(void *task, bool make)
{
	return bpf_task_storage_get(&tasks, task, NULL, make ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
}

/* A task met for the first time. */
static __always_inline struct trace_task *meet(struct task_struct___t *task)
{
	struct trace_task *s = storage(task, true);
	__u32 pid;

	if (!s) {
		__sync_fetch_and_add(&losses.tasks, 1);
		return NULL;
	}
	set_numbers(s, task);
	pid = s->pid;
	s->on = pid != options.own && !bpf_map_lookup_elem(&left_out, &pid);
	return s;
}

static __always_inline struct trace_task *current_task(void)
{
	struct task_struct___t *task = (void *)bpf_get_current_task_btf();
	struct trace_task *s = storage(task, false);

	if (!s && options.all)
		s = meet(task);
	if (!s || s->on == TRACE_OFF || !running)
		return NULL;
	if (options.by_uid && (__u32)bpf_get_current_uid_gid() != options.uid)
		return NULL;
	if (options.some_cpus) {
		__u32 cpu = bpf_get_smp_processor_id();

		if (!(cpus[(cpu / 64) & (TRACE_CPUS / 64 - 1)] >> (cpu & 63) & 1))
			return NULL;
	}
	return s;
}

static __always_inline void keep_comm(struct trace_task *s, struct task_struct___t *task)
{
	__u32 id = options.by == TRACE_BY_PROCESS ? s->pid : s->tid;
	struct trace_comm comm;

	if (options.by == TRACE_BY_NONE || (options.by == TRACE_BY_PROCESS && s->pid != s->tid))
		return;
	if (!bpf_probe_read_kernel(comm.comm, sizeof(comm.comm), task->comm))
		bpf_map_update_elem(&comms, &id, &comm, BPF_ANY);
}

/* --- calls ------------------------------------------------------------------------------------ */

static __always_inline __u32 abi_of(struct task_struct___t *task)
{
#if defined(__TARGET_ARCH_x86)
	return task->thread_info.status >> 1 & 1; /* TS_COMPAT */
#else
	return task->thread_info.flags >> 22 & 1; /* TIF_32BIT */
#endif
}

static __always_inline struct trace_plan *plan_of(__s32 nr, __u32 abi)
{
	__u32 key = (__u32)nr < TRACE_CALLS - 1 ? nr : TRACE_CALLS - 1;

	key += abi ? TRACE_CALLS : 0;
	return bpf_map_lookup_elem(&plans, &key);
}

static __always_inline void read_args(struct trace_record *r, struct pt_regs___t *regs)
{
#if defined(__TARGET_ARCH_x86)
	if (r->abi) {
		r->arg[0] = (__u32)regs->bx;
		r->arg[1] = (__u32)regs->cx;
		r->arg[2] = (__u32)regs->dx;
		r->arg[3] = (__u32)regs->si;
		r->arg[4] = (__u32)regs->di;
		r->arg[5] = (__u32)regs->bp;
		return;
	}
	r->arg[0] = regs->di;
	r->arg[1] = regs->si;
	r->arg[2] = regs->dx;
	r->arg[3] = regs->r10;
	r->arg[4] = regs->r8;
	r->arg[5] = regs->r9;
#else
	r->arg[0] = regs->orig_x0;
	r->arg[1] = regs->regs[1];
	r->arg[2] = regs->regs[2];
	r->arg[3] = regs->regs[3];
	r->arg[4] = regs->regs[4];
	r->arg[5] = regs->regs[5];
#endif
}

static __always_inline void begin_record(struct call *c, struct trace_task *s, __u32 kind)
{
	c->rec.kind = kind;
	c->rec.flags = 0;
	c->rec.n = 0;
	c->rec.failed = 0;
	c->rec.ret = 0;
	c->rec.nr = s->nr;
	c->rec.abi = s->abi;
	c->rec.pid = s->pid;
	c->rec.tid = s->tid;
	c->rec.start = s->start;
}

static __always_inline struct call *call_of(void *task, bool make)
{
	struct call *c =
		bpf_task_storage_get(&calls, task, NULL, make ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);

	if (!c && make)
		__sync_fetch_and_add(&losses.tasks, 1);
	return c;
}

static __always_inline void send_record(struct call *c)
{
	__u32 n = c->rec.n;
	__u64 flags = BPF_RB_NO_WAKEUP;

	if (n > TRACE_DATA)
		n = TRACE_DATA;
	if (bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA) >= options.wake_bytes)
		flags = 0;
	if (bpf_ringbuf_output(&records, c, sizeof(c->rec) + n, flags))
		__sync_fetch_and_add(&losses.events, 1);
}

static __always_inline void add_square(struct trace_sum *v, __u64 ns)
{
	__u64 lo, hi = 0;

	if (ns >> 32) {
		ns >>= 16;
		if (ns >> 32)
			ns = 0xffffffff;
		ns *= ns;
		lo = ns << 32;
		hi = ns >> 32;
	} else {
		lo = ns * ns;
	}
	v->square[0] += lo;
	v->square[1] += hi + (v->square[0] < lo);
}

static __always_inline void sum_up(struct trace_task *s, __u64 ns, __s64 ret, bool known)
{
	struct trace_sum_key key = { .nr = s->nr, .abi = s->abi };
	struct trace_sum *v;

	if (options.by != TRACE_BY_NONE)
		key.id = options.by == TRACE_BY_PROCESS ? s->pid : s->tid;
	v = bpf_map_lookup_elem(&sums, &key);
	if (!v) {
		struct trace_sum none = { 0 };

		bpf_map_update_elem(&sums, &key, &none, BPF_NOEXIST);
		v = bpf_map_lookup_elem(&sums, &key);
		if (!v) {
			__sync_fetch_and_add(&losses.sums, 1);
			return;
		}
	}
	if (!v->calls || ns < v->min)
		v->min = ns;
	if (ns > v->max)
		v->max = ns;
	v->calls++;
	v->ns += ns;
	add_square(v, ns);
	if (ret < 0 && ret >= -4095) {
		struct trace_error_key e = { .call = key, .error = -ret };
		__u64 one = 1, *n = bpf_map_lookup_elem(&errors, &e);

		v->errors++;
		if (n)
			__sync_fetch_and_add(n, 1);
		else if (bpf_map_update_elem(&errors, &e, &one, BPF_NOEXIST)) {
			n = bpf_map_lookup_elem(&errors, &e);
			if (n)
				__sync_fetch_and_add(n, 1);
		}
	}
}

SEC("tp_btf/sys_enter")
int enter(__u64 *ctx) /* regs, number */
{
	struct task_struct___t *task;
	struct trace_task *s = current_task();
	struct trace_plan *plan;
	struct call *c;

	if (!s)
		return 0;
	task = (void *)bpf_get_current_task_btf();
	s->nr = ctx[1];
	s->abi = abi_of(task);
	plan = plan_of(s->nr, s->abi);
	if (!plan || !(plan->flags & TRACE_WANTED) ||
	    (s->on == TRACE_FROM_EXEC && !(plan->flags & TRACE_IS_EXEC))) {
		s->state = TRACE_OUTSIDE;
		return 0;
	}
	s->state = TRACE_INSIDE;
	if (options.events) {
		c = call_of(task, true);
		if (!c)
			return 0;
		begin_record(c, s, TRACE_CALL);
		read_args(&c->rec, (void *)ctx[0]);
		take(c, plan, false);
	}
	s->start = bpf_ktime_get_ns();
	return 0;
}

/* The arguments of a program that has just begun lie in its own memory. */
static __always_inline void take_new_arguments(struct call *c, struct task_struct___t *task)
{
	__u64 start = BPF_CORE_READ(task, mm, arg_start), end = BPF_CORE_READ(task, mm, arg_end);

	if (end > start)
		read_bytes(c, 1, TRACE_TAKE_EXEC, start, end - start, 0, true);
}

/* The caller's stack goes through the walker's ring; number and time tell whose it is. */
static __always_inline void send_stack(__u64 now)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct state *s = bpf_map_lookup_elem(&states, &cpu);

	if (!s)
		return;
	s->rec.time = now;
	s->rec.period = 1;
	s->rec.addr = 0;
	s->rec.event = 0;
	s->rec.cpu = cpu;
	s->rec.flags = WALK_USER_MODE;
	s->rec.n_user = s->rec.n_kernel = s->rec.copy = s->rec.unwind = s->rec.n_fp = 0;
	s->rec.end = UNWIND_NONE;
	s->rec.end_pc = 0;
	task_ids(s);
	if (s->rec.tid)
		walk_user(NULL, s, false);
	s->rec.ip = s->r[REG_PC];
	if (worth_a_copy(s))
		copy_stack(s);
	send(s);
}

static __always_inline void send_call(__u64 *ctx, struct trace_task *s, struct trace_plan *plan,
				      __s64 ret, __u64 now, bool stack)
{
	struct task_struct___t *task = (void *)bpf_get_current_task_btf();
	struct call *c = call_of(task, s->state == TRACE_UNKNOWN);

	if (!c)
		return;
	if (s->state == TRACE_UNKNOWN) {
		s->start = now;
		begin_record(c, s, TRACE_CALL);
		c->rec.flags = TRACE_NO_START;
		c->rec.failed = ~0u; /* all is read now */
		read_args(&c->rec, (void *)ctx[0]);
	}
	c->rec.start = s->start;
	c->rec.end = now;
	c->rec.ret = ret;
	c->rec.cpu = bpf_get_smp_processor_id();
	c->rec.pid = s->pid; /* an exec may have changed them */
	c->rec.tid = s->tid;
	if (plan->flags & TRACE_IS_EXEC && ret == 0)
		take_new_arguments(c, task);
	else
		take(c, plan, true);
	bpf_probe_read_kernel(c->rec.comm, sizeof(c->rec.comm), task->comm);
	send_record(c);
	if (stack)
		send_stack(now);
}

static __always_inline int left(__u64 *ctx, bool stack) /* regs, result */
{
	struct trace_task *s = current_task();
	__s64 ret = ctx[1];
	__u64 now;
	struct trace_plan *plan;

	if (!s || s->state == TRACE_OUTSIDE)
		return 0;
	now = bpf_ktime_get_ns();
	if (s->state == TRACE_UNKNOWN) {
		struct pt_regs___t *regs = (void *)ctx[0];

#if defined(__TARGET_ARCH_x86)
		s->nr = regs->orig_ax;
#else
		s->nr = regs->syscallno;
#endif
		s->abi = abi_of((void *)bpf_get_current_task_btf());
	}
	plan = plan_of(s->nr, s->abi);
	if (!plan || !(plan->flags & TRACE_WANTED))
		goto out;
	if (s->abi)
		ret = (__s32)ret;
	if (s->on == TRACE_FROM_EXEC)
		goto out; /* an exec that failed: the next folder of PATH may have it */
	if (options.failed && (ret >= 0 || ret < -4095))
		goto out;
	if (options.min_ns && (s->state == TRACE_UNKNOWN || now - s->start < options.min_ns))
		goto out;
	if (options.sums && s->state == TRACE_INSIDE)
		sum_up(s, now - s->start, ret, true);
	if (options.events)
		send_call(ctx, s, plan, ret, now, stack);
out:
	s->state = TRACE_OUTSIDE;
	return 0;
}

SEC("tp_btf/sys_exit")
int leave(__u64 *ctx)
{
	return left(ctx, false);
}

/* The same with the caller's stack. */
SEC("tp_btf/sys_exit")
int leave_stack(__u64 *ctx)
{
	return left(ctx, true);
}

/* --- other events ----------------------------------------------------------------------------- */

struct other {
	struct trace_record rec;
	__u8 raw[TRACE_RAW];
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct other);
} others SEC(".maps");

static __always_inline struct other *other(__u32 kind)
{
	struct trace_task *s = current_task();
	__u32 zero = 0;
	struct other *o;

	if (!s || s->on != TRACE_ON)
		return NULL;
	o = bpf_map_lookup_elem(&others, &zero);
	if (!o)
		return NULL;
	o->rec.kind = kind;
	o->rec.flags = 0;
	o->rec.start = o->rec.end = bpf_ktime_get_ns();
	o->rec.pid = s->pid;
	o->rec.tid = s->tid;
	o->rec.abi = 0;
	o->rec.cpu = bpf_get_smp_processor_id();
	o->rec.n = 0;
	bpf_get_current_comm(o->rec.comm, sizeof(o->rec.comm));
	return o;
}

static __always_inline void send_other(struct other *o)
{
	__u64 n = o->rec.n;

	FIXED(n);
	if (n > TRACE_RAW)
		n = TRACE_RAW;
	if (bpf_ringbuf_output(&records, o, sizeof(o->rec) + n, 0))
		__sync_fetch_and_add(&losses.events, 1);
}

/* A tracepoint; the cookie has its number, and how long its record is. */
SEC("tracepoint")
int happened(void *ctx)
{
	struct other *o = other(TRACE_EVENT);
	__u64 cookie = bpf_get_attach_cookie(ctx), n = cookie >> 32;

	if (!o)
		return 0;
	o->rec.nr = (__u32)cookie;
	if (n > TRACE_RAW)
		n = TRACE_RAW;
	if (n && bpf_probe_read_kernel(o->raw, n, ctx))
		n = 0;
	o->rec.n = n;
	send_other(o);
	return 0;
}

/* A page fault; the cookie is 1 for a major one. */
SEC("perf_event")
int faulted(struct bpf_perf_event_data *ctx)
{
	struct other *o = other(TRACE_FAULT);

	if (!o)
		return 0;
	o->rec.arg[0] = ctx->addr;
#if defined(__TARGET_ARCH_x86)
	o->rec.arg[1] = ctx->regs.rip;
#else
	o->rec.arg[1] = ctx->regs.pc;
#endif
	o->rec.arg[2] = bpf_get_attach_cookie(ctx);
	send_other(o);
	return 0;
}

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
			read_fd(c, task, 0, c->rec.arg[0], false);
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
