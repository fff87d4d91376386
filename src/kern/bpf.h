/* SPDX-License-Identifier: MIT */
/*
 * bpf(2) without a library: programs, maps, attaching, and what the verifier knows. Each answers a
 * descriptor (close-on-exec) or -errno.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>
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
	uint32_t
		log_level; /* 0: what it thinks of each instruction; BPF_LOG_STATS: how much work */
	/* May all be left out: a name, type information (bpf_btf_new) and what it says of functions
	 * and lines. */
	const char *name;
	int btf_fd; /* 0: none */
	const struct bpf_func_info *func;
	uint32_t n_func;
	const struct bpf_line_info *line;
	uint32_t n_line;
	uint32_t flags;
};
#define BPF_LOG_STATS 4u
int bpf_load(const struct bpf_program *p);

/* The smallest program there is ("return 0") of a type. */
int bpf_load_empty(enum bpf_prog_type type, unsigned attach, uint32_t btf_id);

/* bpf(2); a descriptor, 0 or -errno. */
int bpf_call(enum bpf_cmd cmd, union bpf_attr *attr);

struct bpf_map_kind {
	enum bpf_map_type type;
	uint32_t key, value, entries, flags;
	const char *name; /* letters, digits, '_' and '.', up to 15; NULL: none */
	int inner;	  /* the descriptor of a map like those a map of maps will hold */
	/* Storage of tasks has no number of entries, and a key and a value of these types. */
	int btf;
	uint32_t key_type, value_type;
};
int bpf_map_new(const struct bpf_map_kind *k);
int bpf_btf_new(const void *data, uint32_t size);

/* 0 or -errno. A per-CPU value has one part for each possible CPU, rounded up to 8 bytes. */
int bpf_map_get(int map, const void *key, void *value);
int bpf_map_set(int map, const void *key, const void *value);
int bpf_map_drop(int map, const void *key);
/* Up to *n at once, which gets how many there were: 0, or -ENOENT with the last. -ENOSPC: more
 * room is needed; other errors: one at a time will do. */
int bpf_map_batch(int map, bool first, uint32_t *place, void *keys, void *values, uint32_t *n);
/* key NULL: the first. -ENOENT after the last. */
int bpf_map_next(int map, const void *key, void *next);

/* Run a raw tracepoint's program now, in this process. */
int bpf_run(int prog);
/* Events that came while the same program was at work on the same CPU: the kernel skips them. */
uint64_t bpf_missed(int prog);
/* Its number, bytes as machine code (0: not compiled), instructions verified (0: not told). */
struct bpf_about {
	uint32_t id, machine_bytes, verified;
};
bool bpf_about(int prog, struct bpf_about *ret);
/* Where its functions lie in the kernel, up to max of them; how many, 0 when hidden. */
size_t bpf_code(int prog, uint64_t *start, uint32_t *size, size_t max);
/* One that somebody pinned, and the size of its keys. */
int bpf_map_pinned(const char *path, uint32_t *key_size);
int bpf_link(int prog, int target, enum bpf_attach_type type);
/* A program to an event, with a number that bpf_get_attach_cookie() gives it; Linux 5.15. */
int bpf_link_event(int prog, int event, uint64_t cookie);
int bpf_iter(int link);
/* A program to many places of a file (offsets in it) at once, pid 0: in all processes. Its
 * expected attach type must be BPF_UPROBE_MULTI; Linux 6.6. */
#define BPF_EVENT_LINK ((enum bpf_attach_type)41)
#define BPF_UPROBE_MULTI ((enum bpf_attach_type)48)
#define BPF_KPROBE_MULTI ((enum bpf_attach_type)42)
int bpf_link_uprobes(int prog, const char *path, const uint64_t *offset, const uint64_t *cookie,
		     uint32_t n, bool at_return, int32_t pid);

/* The same for functions of the kernel; Linux 5.18. */
int bpf_link_kprobes(int prog, const char *const *name, uint32_t n);

/* A ring buffer map's memory. */
struct bpf_ring {
	void *consumer, *producer;
	uint32_t size;
};
int bpf_ring_open(struct bpf_ring *r, int map, uint32_t size);
void bpf_ring_close(struct bpf_ring *r);
typedef int bpf_ring_fn(void *ctx, const void *data, uint32_t n);
/* Hands out what has come when called; how many. Non-zero of fn stops before the next. */
int bpf_ring_drain(struct bpf_ring *r, bpf_ring_fn *fn, void *ctx);

/* Attach to a raw tracepoint, or with name NULL to what a tracing program is tied to. */
int bpf_attach_raw(int prog, const char *name);

/* May a program of this type call the helper (BPF_FUNC_*)? 0, -ENOENT, or -errno. */
int bpf_try_helper(enum bpf_prog_type type, int helper);
/* The same of one that is tied to something of the kernel's types. */
int bpf_try_helper_at(enum bpf_prog_type type, unsigned attach, uint32_t btf_id, int helper);
