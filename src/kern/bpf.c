/* SPDX-License-Identifier: MIT */
#include "kern/bpf.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

#define INSN_EXIT ((struct bpf_insn){ .code = BPF_JMP | BPF_EXIT })
#define INSN_RETURN_0 ((struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K })
#define INSN_CALL(f) ((struct bpf_insn){ .code = BPF_JMP | BPF_CALL, .imm = (f) })

int bpf_call(enum bpf_cmd cmd, union bpf_attr *attr)
{
	long r = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return r < 0 ? -errno : (int)r;
}

#define LOAD_TRIES 5

int bpf_load(const struct bpf_program *p)
{
	union bpf_attr a;
	int r, tries = 0;

	/* The kernel wants the bytes it does not know to be zero, padding included. */
	memset(&a, 0, sizeof(a));
	a.prog_type = p->type;
	a.expected_attach_type = p->attach;
	a.attach_btf_id = p->btf_id;
	a.insns = (uintptr_t)p->insns;
	a.insn_cnt = p->n;
	a.license = (uintptr_t) "Dual MIT/GPL";
	if (p->log && p->log_size) {
		p->log[0] = '\0';
		a.log_buf = (uintptr_t)p->log;
		a.log_size = p->log_size;
		a.log_level = p->log_level ? p->log_level : 1;
	}
	a.prog_flags = p->flags;
	if (p->name)
		strncpy(a.prog_name, p->name, sizeof(a.prog_name) - 1);
	if (p->btf_fd > 0) {
		a.prog_btf_fd = (uint32_t)p->btf_fd;
		a.func_info = (uintptr_t)p->func;
		a.func_info_cnt = p->n_func;
		a.func_info_rec_size = sizeof(*p->func);
		a.line_info = (uintptr_t)p->line;
		a.line_info_cnt = p->n_line;
		a.line_info_rec_size = sizeof(*p->line);
	}
	/* A signal ends the verifier's work, and it asks to be called again. */
	do
		r = bpf_call(BPF_PROG_LOAD, &a);
	while (r == -EAGAIN && ++tries < LOAD_TRIES);
	return r;
}

int bpf_load_empty(enum bpf_prog_type type, unsigned attach, uint32_t btf_id)
{
	const struct bpf_insn insns[] = { INSN_RETURN_0, INSN_EXIT };

	return bpf_load(&(struct bpf_program){ .type = type,
					       .attach = attach,
					       .btf_id = btf_id,
					       .insns = insns,
					       .n = ARRAY_SIZE(insns) });
}

int bpf_attach_raw(int prog, const char *name)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.raw_tracepoint.prog_fd = (uint32_t)prog;
	a.raw_tracepoint.name = (uintptr_t)name;
	return bpf_call(BPF_RAW_TRACEPOINT_OPEN, &a);
}

/*
 * The call has no arguments, so the verifier always refuses it; what it
 * complains about tells whether it knew the helper.
 */
int bpf_try_helper(enum bpf_prog_type type, int helper)
{
	return bpf_try_helper_at(type, 0, 0, helper);
}

int bpf_try_helper_at(enum bpf_prog_type type, unsigned attach, uint32_t btf_id, int helper)
{
	const struct bpf_insn insns[] = { INSN_CALL(helper), INSN_RETURN_0, INSN_EXIT };
	char log[4096];
	int fd = bpf_load(&(struct bpf_program){ .type = type,
						 .attach = attach,
						 .btf_id = btf_id,
						 .insns = insns,
						 .n = ARRAY_SIZE(insns),
						 .log = log,
						 .log_size = sizeof(log) });

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (!log[0])
		return fd;
	return strstr(log, "unknown func") || strstr(log, "invalid func") ||
			       strstr(log, "cannot use helper")
		       ? -ENOENT
		       : 0;
}
