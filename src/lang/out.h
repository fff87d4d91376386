/* SPDX-License-Identifier: MIT */
/*
 * What a program at work says and asks for: the messages of its rings, its maps at the end.
 *
 * The same for a live session and for one over a recording: names, stacks and maps come from
 * struct lang_host. How it is said is struct lang_printer's, which commands choose
 * (view/run/show.h).
 */
#pragma once

#include "base/vec.h"
#include "lang/lang.h"

typedef int lang_entry_fn(void *arg, const void *key, const void *value);

struct lang_stack {
	uint64_t id;
	int32_t pid;
	bool user;
};

struct lang_host {
	void *ctx;
	unsigned ncpus; /* parts of a per-CPU value, each rounded up to 8 bytes */
	/* Symbol of an address, without offset; false when there is none. */
	bool (*ksym)(void *ctx, uint64_t addr, struct strbuf *b, uint64_t *offset);
	bool (*usym)(void *ctx, int32_t pid, uint64_t addr, struct strbuf *b, uint64_t *offset,
		     struct strbuf *module);
	/* The name of a disk, by the kernel's number of it; false when it is not known. */
	bool (*disk)(void *ctx, uint64_t dev, struct strbuf *b);
	bool (*cgroup)(void *ctx, uint64_t id, struct strbuf *b);
	/* The addresses of a stack; 0 when it is not known. */
	size_t (*stack)(void *ctx, uint64_t id, uint64_t *addr, size_t max);
	/* Replaces *id by the number that equal stacks have; true when any differs. May be NULL. */
	bool (*same_stack)(void *ctx, uint64_t *id);
	int (*map_each)(void *ctx, int map, lang_entry_fn *fn, void *arg);
	void (*map_clear)(void *ctx, int map);
	void (*map_zero)(void *ctx, int map);
	void (*new_process)(void *ctx, int32_t pid);
	/* Stacks that will be shown next, so that names are looked up all at once. */
	void (*stacks)(void *ctx, const struct lang_stack *s, size_t n);
	/* A packet for a pcap file. */
	void (*packet)(void *ctx, const char *path, uint64_t boot_ns, const void *data, size_t n);
	/* A file's text goes to b; -errno. */
	int (*read)(void *ctx, const char *path, struct strbuf *b);
	/* What a shell command prints goes to b. */
	void (*run)(void *ctx, const char *command, struct strbuf *b);
	uint64_t (*wall)(void *ctx, uint64_t boot_ns); /* CLOCK_REALTIME ns */
	uint64_t (*now)(void *ctx);		       /* the same, now */
};

struct lang_out;

/* What makes text, in o->text and o->errors. */
struct lang_printer {
	/* Shows what a message asks for; data has as many bytes as its action says. */
	void (*message)(struct lang_out *o, const struct lang_action *a, const char *data);
	/* All of the program's maps, by name. */
	void (*maps)(struct lang_out *o);
};

struct lang_out {
	const struct lang_program *p;
	const struct lang_host *h;
	const struct lang_printer *printer;
	struct strbuf text;   /* taken by whoever writes it out */
	struct strbuf errors; /* for stderr */
	bool json;
	bool escape; /* control characters in texts as \n, \033 ... */
	bool guard;  /* what is not the program's own text must not drive a terminal */
	bool whole;  /* printf("%s"): the text may have several lines */
	bool exit;
	int exit_code;
	/* In END: a map that is cleared is not shown, though probes that are slow to take down
	 * may still fill it. */
	bool ending;
	VEC(int) gone;
	bool *zeroed; /* by map: by zero(), so shown though nothing was added since; NULL: none */
	uint64_t messages, bad;
};

/* One message of a ring. Untrusted in its size only. */
void lang_message(struct lang_out *o, const void *data, size_t n);
void lang_out_free(struct lang_out *o);
