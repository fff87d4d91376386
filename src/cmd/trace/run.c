/* SPDX-License-Identifier: MIT */
/* kymo trace at work: from the options to a tracer, and until it ends. */
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/patience.h"
#include "cmd/command.h"
#include "cmd/trace/trace.h"
#include "config.h"
#include "kern/proc.h"
#include "live/loop.h"
#include "live/workload.h"

#if HAVE_WALKER

#	define POLL_MS 30     /* how long a call may wait to be shown */
#	define LOOK_EVERY 256 /* records, for a signal */

enum { ID_RING = 1, ID_TARGET, ID_DELAY };

typedef VEC(pid_t) pid_list;

struct session {
	const struct trace_args *a;
	struct trace_show show;
	struct tracer *tracer;
	struct loop loop;
	struct workload child;
	struct target target;
	struct btf_types *types;
	struct tracer_structs *structs;
	pid_list leave_out;
	int code;
	bool started, over, told; /* by a signal */
	struct patience patience; /* with who reads it */
	uint64_t seen, unshown;	  /* records */
};

static int user_of(const char *text, uid_t *uid, struct err *e)
{
	const struct passwd *p = getpwnam(text);
	uint64_t v;

	if (p)
		*uid = p->pw_uid;
	else if (str_u64(text, &v) && v < UINT32_MAX)
		*uid = (uid_t)v;
	else
		return err_set(e, EINVAL, "there is no user '%s'", text);
	return 0;
}

static pid_t parent_of(pid_t pid)
{
	char path[64], line[512];
	const char *at;
	int ppid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (f && fgets(line, sizeof(line), f) && (at = strrchr(line, ')')))
		sscanf(at + 1, " %*c %d", &ppid);
	if (f)
		fclose(f);
	return ppid;
}

/* Who shows our output would otherwise be shown for showing it. */
static void leave_out_terminal(int fd, pid_list *list)
{
	static const char *const names[] = { "sshd",  "tmux: server", "screen", "gnome-terminal-",
					     "xterm", "konsole",      "kitty",	"alacritty" };
	pid_t pid = getppid();
	char comm[32];

	for (int i = 0; isatty(fd) && pid > 1 && i < 16; i++) {
		if (!proc_comm(pid, comm, sizeof(comm)))
			return;
		for (size_t k = 0; k < ARRAY_SIZE(names); k++)
			if (str_starts(comm, names[k]))
				vec_push(list, pid);
		pid = parent_of(pid);
	}
}

static int trace_run_add_pid(void *ctx, const char *part, size_t n)
{
	AUTO_FREE char *text = mem_strndup(part, n);
	uint64_t v;

	if (!str_u64(text, &v) || !v || v > INT32_MAX)
		return -EINVAL;
	vec_push((pid_list *)ctx, (pid_t)v);
	return 0;
}

/* With -p, -t or -u a command only says how long: sleep 10. */
static bool is_traced(const struct trace_args *a, char **argv)
{
	return argv && !a->pids && !a->tids && !a->user;
}

static int make_target(struct session *s, char **argv, struct err *e)
{
	const struct trace_args *a = s->a;
	struct target_opts t = { .pids = a->pids,
				 .tids = a->tids,
				 .cpus = a->cpus,
				 .all_cpus = a->all || (a->user && !a->pids && !a->tids),
				 .command = is_traced(a, argv) };

	if (a->user && (a->pids || a->tids))
		return err_set(e, EINVAL,
			       "-u names all that a user runs; leave out what else says "
			       "whom to trace");
	if (a->leave_out && str_split(a->leave_out, ',', trace_run_add_pid, &s->leave_out) < 0)
		return err_set(e, EINVAL, "--filter-pids '%s' is no list of numbers", a->leave_out);
	return target_make(&t, &s->target, e);
}

static int open_tracer(struct session *s, const struct trace_pick *pick, char **argv, struct err *e)
{
	const struct trace_args *a = s->a;
	struct tracer_opts o = { .target = &s->target,
				 .command = is_traced(a, argv) ? s->child.pid : 0,
				 .at_once = a->delay_ns > 0,
				 .some_cpus = a->cpus != NULL,
				 .by_uid = a->user != NULL,
				 .sums = a->sums || a->with_sums,
				 .events = !a->sums,
				 .failed = a->failed,
				 .min_ns = a->min_ns,
				 .by = a->by,
				 .limit = (uint32_t)a->limit,
				 .ring_bytes = a->ring_bytes,
				 .no_children = a->no_children,
				 .no_paths = a->no_paths,
				 .leave_out = s->leave_out.data,
				 .n_leave_out = s->leave_out.n,
				 .wanted = { pick->wanted[0], pick->wanted[1] },
				 .walker = trace_stacks_walker(&s->show.stacks),
				 .structs = s->structs };

	if (a->user && user_of(a->user, &o.uid, e) < 0)
		return -e->code;
	return tracer_open(&o, &s->tracer, e);
}

/* Stacks, and names for page faults. */
static int open_stacks(struct session *s, struct err *e)
{
	const struct trace_args *a = s->a;
	struct target *t = &s->target;

	if (a->sums || (!a->call_graph && !a->faults))
		return 0;
	if (t->command && t->threads.n)
		t->threads.tid[0] = s->child.pid;
	return trace_stacks_open(&s->show.stacks, t, a->call_graph ? (uint32_t)a->max_stack : 0, e);
}

static int add_others(struct session *s, const struct trace_pick *pick, struct err *e)
{
	const char *f = s->a->faults;
	int r = 0;

	for (size_t i = 0; i < pick->others.n && r == 0; i++)
		r = trace_points_add(&s->show.points, pick->others.data[i], e);
	if (r == 0 && s->a->signals)
		r = trace_points_add(&s->show.points, TRACE_SIGNAL, e);
	vec_each (&s->show.points.types, t)
		if (r == 0 &&
		    tracer_add_event(s->tracer, t->format_id, trace_points_size(t), e) < 0)
			r = err_wrap(e, "%s", t->name);
	if (r == 0 && f && strcmp(f, "min") != 0)
		r = tracer_add_faults(s->tracer, true, e);
	if (r == 0 && f && strcmp(f, "maj") != 0)
		r = tracer_add_faults(s->tracer, false, e);
	return r;
}

static void on_loop(struct session *s, const struct loop_event *ev)
{
	switch (ev->kind) {
	case LOOP_SIGNAL:
		if (ev->id == SIGCHLD)
			s->over |= workload_ended(&s->child, &s->code);
		else
			s->told |= ev->id == SIGINT || ev->id == SIGTERM || ev->id == SIGHUP;
		s->over |= s->told;
		break;
	case LOOP_TIMER:
		if (ev->id == ID_DELAY)
			tracer_switch(s->tracer, true);
		break;
	case LOOP_FD:
		if (ev->id == ID_TARGET) {
			loop_unwatch(&s->loop, ev->fd);
			s->over |= !target_alive(&s->target);
		}
		break;
	}
}

/* A descriptor that tells when each of the processes ends; they stay open until we do. */
static void watch_targets(struct session *s)
{
	struct err ignored = { 0 };

	for (size_t i = 0; i < s->target.threads.n; i++) {
		int fd = s->target.threads.tid[i] <= 0
				 ? -1
				 : (int)syscall(SYS_pidfd_open, s->target.threads.tid[i], 0);

		if (fd >= 0)
			loop_watch(&s->loop, ID_TARGET, fd, &ignored);
	}
}

/* Does it have to stop here, for a signal or because its time is up? */
static bool must_stop(const struct session *s)
{
	return s->patience.until ? loop_now() >= s->patience.until
				 : !s->told && loop_must_end(&s->loop);
}

static int trace_run_on_record(void *ctx, const struct trace_record *r, const void *data)
{
	struct session *s = ctx;
	int stop = trace_show_record(&s->show, r, data);

	return stop ? stop : ++s->seen % LOOK_EVERY == 0 && must_stop(s);
}

static int trace_run_count(void *ctx, const struct trace_record *r, const void *data)
{
	struct session *s = ctx;

	if (r->kind == TRACE_UNFINISHED) /* the last word on it, and not many */
		return trace_show_record(&s->show, r, data);
	s->unshown++;
	return 0;
}

/* What had come, in the time there is; from here on the next signal ends us at once. */
static int read_rest(struct session *s, struct err *e)
{
	int r;

	s->patience =
		(struct patience){ .end_fd = -1,
				   .until = s->told ? loop_now() + LOOP_REST_MS * 1000000ull : 0 };
	loop_end_at_next(&s->loop);
	s->told = true;
	r = tracer_read(s->tracer, trace_run_on_record, s, e);
	out_flush(&s->show.out);
	s->patience.until = 0;
	return r >= 0 && !s->show.full ? tracer_read(s->tracer, trace_run_count, s, e) : r;
}

static int trace_run_wait_for_end(struct session *s, struct err *e)
{
	bool others = s->a->pids || s->a->tids;
	int r = 0, idle = 0;

	if (others)
		watch_targets(s);
	while (!s->over && r >= 0) {
		struct loop_event ev;

		r = loop_wait(&s->loop, s->a->sums ? 500 : POLL_MS, &ev, e);
		if (r > 0)
			on_loop(s, &ev);
		if (s->told)
			break;
		if (r == 0 && others && ++idle % 8 == 0) /* threads have no such descriptor */
			s->over |= !target_alive(&s->target);
		if (r >= 0)
			r = tracer_read(s->tracer, trace_run_on_record, s, e);
		if (r > 0 && (s->show.out.error || s->show.full))
			s->over = true;
		if (r >= 0 && s->show.stacks.open) {
			r = trace_stacks_poll(&s->show.stacks, e);
			trace_show_queued(&s->show, false);
		}
		out_flush(&s->show.out);
	}
	return r < 0 ? r : 0;
}

static void tell_losses(const struct session *s)
{
	struct trace_lost l = tracer_lost(s->tracer);
	char n[64];

	if (l.events)
		command_note(
			"%s lost, the ring was full: -m %llu makes it larger",
			str_were(l.events, "event", n, sizeof(n)),
			(unsigned long long)(s->a->ring_bytes ? s->a->ring_bytes / 1024 : 8192));
	if (s->unshown)
		command_note("%s not shown: they had come when the end did, and would have taken "
			     "longer than %d ms",
			     str_were(s->unshown, "event", n, sizeof(n)), LOOP_REST_MS);
	if (l.stacks)
		command_note("%s lost, the ring was full: -e or --duration make fewer",
			     str_were(l.stacks, "stack", n, sizeof(n)));
	if (l.sums)
		command_note("%llu calls are not in the table, it was full: --summary-mode total "
			     "needs less",
			     (unsigned long long)l.sums);
	if (l.tasks)
		command_note("%llu times a thread could not be followed, the kernel had no memory",
			     (unsigned long long)l.tasks);
}

static void take_sums(struct trace_show *s, const struct tracer *t)
{
	char comm[16];

	tracer_sums(t, syscalls_add, syscalls_add_errors, &s->sums);
	vec_each (&s->sums.tasks, task)
		if (task->id && (tracer_comm(t, task->id, comm) ||
				 proc_comm((pid_t)task->id, comm, sizeof(comm))))
			syscalls_name(&s->sums, task->id, comm);
}

static int trace(struct session *s, const struct trace_pick *pick, char **argv, struct err *e)
{
	const struct trace_args *a = s->a;
	int r = tracer_begin(s->tracer, a->delay_ns > 0, e);

	if (r == 0)
		r = add_others(s, pick, e);
	if (r == 0)
		r = trace_stacks_start(&s->show.stacks, e);
	s->show.lines.begin = a->full_time ? 0 : loop_now();
	if (r == 0 && a->delay_ns)
		r = loop_timer(&s->loop, ID_DELAY, a->delay_ns, 0, e);
	if (r >= 0 && !a->sums)
		r = loop_watch(&s->loop, ID_RING, tracer_fd(s->tracer), e);
	if (r >= 0 && argv) {
		s->started = true;
		r = workload_start(&s->child, argv[0], &s->code, e);
	}
	if (r >= 0)
		r = trace_run_wait_for_end(s, e);
	if (r < 0)
		return r;
	r = tracer_end(s->tracer, e);
	if (r == 0)
		r = read_rest(s, e);
	if (r >= 0 && s->show.stacks.open) {
		r = trace_stacks_poll(&s->show.stacks, e);
		trace_stacks_settle(&s->show.stacks);
		if (r >= 0)
			r = trace_stacks_poll(&s->show.stacks, e);
		trace_show_queued(&s->show, true);
	}
	if (r >= 0 && (a->sums || a->with_sums)) {
		take_sums(&s->show, s->tracer);
		trace_show_sums(&s->show);
	}
	out_flush(&s->show.out);
	tell_losses(s);
	if (argv)
		command_note_killed(argv[0], s->child.signal);
	return r < 0 ? r : 0;
}

int trace_run(const struct trace_args *a, const struct trace_pick *pick, char **argv, struct err *e)
{
	struct session *s = mem_alloc(sizeof(*s));
	bool has_loop = false;
	int r;

	s->a = a;
	r = trace_show_open(&s->show, a, true, e);
	if (r == 0)
		r = make_target(s, argv, e);
	if (r == 0) {
		r = loop_open(&s->loop, e);
		has_loop = r == 0;
		s->patience.end_fd = s->loop.end_fd;
		s->show.out.patience = &s->patience;
	}
	if (r == 0 && argv)
		r = workload_prepare(&s->child, argv, e);
	if (r == 0) {
		leave_out_terminal(s->show.out.fd, &s->leave_out);
		if (!a->sums) /* without them structs are addresses */
			btf_types_open(NULL, NULL, &s->types, NULL);
		if (s->types)
			s->structs = tracer_structs_new(s->types);
		trace_words_init(&s->show.words, s->structs);
		s->show.words.verbose = a->verbose;
		r = open_stacks(s, e);
	}
	if (r == 0)
		r = open_tracer(s, pick, argv, e);
	if (r == 0)
		r = trace(s, pick, argv, e);
	if (s->started)
		workload_end(&s->child, &s->code);
	else
		workload_cancel(&s->child);
	if (r == 0)
		r = trace_show_close(&s->show, e);
	else
		trace_show_close(&s->show, &(struct err){ 0 });
	tracer_close(s->tracer);
	tracer_structs_free(s->structs);
	btf_types_free(s->types);
	target_free(&s->target);
	vec_free(&s->leave_out);
	if (has_loop)
		loop_close(&s->loop);
	r = r < 0 ? (s->code ? command_error("trace", e), s->code : r) : s->code;
	free(s);
	return r;
}

#else

int trace_run(const struct trace_args *a, const struct trace_pick *pick, char **argv, struct err *e)
{
	err_set(e, EOPNOTSUPP, "this kymo was built without tracing programs");
	return err_hint(e, "build it with clang, bpftool and libbpf, or record with kymo record -e "
			   "'raw_syscalls:*' and look at it with kymo trace -i");
}

#endif
