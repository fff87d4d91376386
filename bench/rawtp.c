/* SPDX-License-Identifier: MIT */
/*
 * bench-rawtp COMMAND...: run a command under the least a tracer can do for each
 * system call by process name: a raw tracepoint's program written by hand, with one
 * update of a per-CPU map. What kymo run's compiler makes is measured against it.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "kern/bpf.h"

#define INSN(c, d, s, o, i)                                                         \
	{                                                                           \
		.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) \
	}
#define COMM 16

int main(int argc, char **argv)
{
	int map = bpf_map_new(&(struct bpf_map_kind){
		.type = BPF_MAP_TYPE_PERCPU_HASH, .key = COMM, .value = 8, .entries = 4096 });
	int prog, link, status;
	const struct bpf_insn insns[] = {
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 1, 10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 1, 0, 0, -COMM),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 2, 0, 0, COMM),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_current_comm),
		INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -COMM),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 4, 0),
		INSN(BPF_LDX | BPF_MEM | BPF_DW, 1, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 1, 0, 0, 1),
		INSN(BPF_STX | BPF_MEM | BPF_DW, 0, 1, 0, 0),
		INSN(BPF_JMP | BPF_JA, 0, 0, 9, 0),
		INSN(BPF_ST | BPF_MEM | BPF_DW, 10, 0, -24, 1),
		INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -COMM),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 3, 10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 3, 0, 0, -24),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 4, 0, 0, BPF_ANY),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_update_elem),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	pid_t pid;

	if (argc < 2 || map < 0)
		return 2;
	prog = bpf_load(&(struct bpf_program){
		.type = BPF_PROG_TYPE_RAW_TRACEPOINT, .insns = insns, .n = ARRAY_SIZE(insns) });
	link = prog < 0 ? prog : bpf_attach_raw(prog, "sys_enter");
	if (link < 0) {
		fprintf(stderr, "cannot attach: %s\n", strerror(-link));
		return 2;
	}
	pid = fork();
	if (pid == 0) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	return pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status) ? 2
									     : WEXITSTATUS(status);
}
