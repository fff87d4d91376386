/* SPDX-License-Identifier: MIT */
#include "live/ourselves.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "kern/bpf.h"
#include "live/attached.h"

#define FIRST_PID_NAMESPACE 0xeffffffcu /* the kernel's PROC_PID_INIT_INO */

bool ourselves_known(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == FIRST_PID_NAMESPACE;
}

/* return get_current_pid_tgid() >> 32, run in this process */
static int ourselves_ask(void)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_current_pid_tgid },
		{ .code = BPF_ALU64 | BPF_RSH | BPF_K, .dst_reg = 0, .imm = 32 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int prog = bpf_load(&(struct bpf_program){
		.type = BPF_PROG_TYPE_RAW_TRACEPOINT, .insns = insns, .n = ARRAY_SIZE(insns) });
	union bpf_attr a;

	if (prog < 0)
		return 0;
	memset(&a, 0, sizeof(a));
	a.test.prog_fd = (uint32_t)prog;
	if (bpf_call(BPF_PROG_TEST_RUN, &a) < 0)
		a.test.retval = 0;
	close(prog);
	return (int)a.test.retval;
}

int ourselves_pid(void)
{
	static int pid = -1;

	if (pid < 0)
		pid = ourselves_known() ? getpid() : ourselves_ask();
	return pid;
}

bool ourselves_feed(const char *subsys)
{
	return strcmp(subsys, "syscalls") == 0 || strcmp(subsys, "raw_syscalls") == 0;
}

void ourselves_filter(struct spec_list *l, bool all)
{
	if (!ourselves_pid())
		return;
	for (size_t i = 0; i < l->n; i++) {
		struct event_spec *s = &l->spec[i];

		if (s->kind != SPEC_TRACEPOINT || !s->subsys ||
		    (!all && !ourselves_feed(s->subsys)))
			continue;
		s->filter = s->filter
				    ? arena_printf(&l->arena, "(%s) && (common_pid != %d)",
						   s->filter, ourselves_pid())
				    : arena_printf(&l->arena, "common_pid != %d", ourselves_pid());
	}
}

/* return get_current_pid_tgid() >> 32 != us */
static int ourselves_load(void)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_current_pid_tgid },
		{ .code = BPF_ALU64 | BPF_RSH | BPF_K, .dst_reg = 0, .imm = 32 },
		{ .code = BPF_JMP | BPF_JEQ | BPF_K,
		  .dst_reg = 0,
		  .off = 2,
		  .imm = ourselves_pid() },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_load(&(struct bpf_program){
		.type = BPF_PROG_TYPE_PERF_EVENT, .insns = insns, .n = ARRAY_SIZE(insns) });
}

void ourselves_drop_samples(struct capture *c)
{
	int prog = -1;

	if (!c->target->system_wide || !ourselves_pid())
		return;
	for (size_t i = 0; i < c->n; i++) {
		const struct capture_event *ev = &c->event[i];

		if (ev->attr.type == PERF_TYPE_TRACEPOINT ||
		    ev->attr.type == PERF_TYPE_BREAKPOINT || (c->dummy && i == c->n - 1))
			continue;
		if (prog < 0 && (prog = ourselves_load()) < 0)
			return;
		for (size_t k = 0; k < ev->n_fds; k++)
			if (ev->fd[k] >= 0)
				attached_set(prog, ev->fd[k]);
	}
	if (prog >= 0)
		close(prog);
}
