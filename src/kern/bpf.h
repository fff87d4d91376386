/* SPDX-License-Identifier: MIT */
/*
 * bpf(2) without a library: loading a program, making a map, attaching, and
 * asking the kernel's verifier what it knows. Each answers a descriptor
 * (close-on-exec) or -errno.
 */
#ifndef KYMO_KERN_BPF_H
#define KYMO_KERN_BPF_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_program {
	enum bpf_prog_type type;
	unsigned attach; /* enum bpf_attach_type; 0 for most types */
	uint32_t btf_id; /* what a tracing program is tied to; 0: nothing */
	const struct bpf_insn *insns;
	uint32_t n;
	char *log; /* the verifier's words, NUL-terminated; may be NULL */
	uint32_t log_size;
};
int bpf_load(const struct bpf_program *p);

/* The smallest program there is ("return 0") of a type. */
int bpf_load_empty(enum bpf_prog_type type, unsigned attach, uint32_t btf_id);

/* inner: the descriptor of a map like those a map of maps will hold; 0 for other types. */
int bpf_map_new(enum bpf_map_type type, uint32_t key, uint32_t value, uint32_t entries, int inner);

/* Attach to a raw tracepoint, or with name NULL to what a tracing program is tied to. */
int bpf_attach_raw(int prog, const char *name);

/* May a program of this type call the helper (BPF_FUNC_*)? 0, -ENOENT, or -errno. */
int bpf_try_helper(enum bpf_prog_type type, int helper);

#endif
