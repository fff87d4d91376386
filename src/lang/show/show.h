/* SPDX-License-Identifier: MIT */
/*
 * What a program says: its messages, values and maps as text or JSON.
 *
 * The same for a live session and for one over a recording: names, stacks and maps
 * come from struct lang_host.
 */
#ifndef KYMO_LANG_SHOW_SHOW_H
#define KYMO_LANG_SHOW_SHOW_H

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
	const char *(*syscall)(void *ctx, int64_t number); /* NULL: it has no name */
	/* The name of a disk, by the kernel's number of it; false when it is not known. */
	bool (*disk)(void *ctx, uint64_t dev, struct strbuf *b);
	bool (*cgroup)(void *ctx, uint64_t id, struct strbuf *b);
	/* The addresses of a stack; 0 when it is not known. */
	size_t (*stack)(void *ctx, uint64_t id, uint64_t *addr, size_t max);
	/* Makes *id the number equal stacks have; true when there are any stacks with others. May
	 * be NULL. */
	bool (*same_stack)(void *ctx, uint64_t *id);
	int (*map_each)(void *ctx, int map, lang_entry_fn *fn, void *arg);
	void (*map_clear)(void *ctx, int map);
	void (*map_zero)(void *ctx, int map);
	void (*new_process)(void *ctx, int32_t pid);
	/* Stacks that will be shown next: whose names are better found all at once. */
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

struct lang_out {
	const struct lang_program *p;
	const struct lang_host *h;
	struct strbuf text;   /* taken by whoever writes it out */
	struct strbuf errors; /* for stderr */
	bool json;
	bool escape; /* control characters in texts as \n, \033 ... */
	bool guard;  /* what is not the program's own text must not drive a terminal */
	bool whole;  /* a text is all that is said: lines' ends in it are its own */
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
/* top 0: all of it; div 0: undivided. */
void lang_show_map(struct lang_out *o, int map, int64_t top, int64_t div);
/* The same as a table: the columns' names, separated by spaces, are as many as check_table() saw
 * to. */
void lang_show_table(struct lang_out *o, int map, const char *names, int64_t top, int64_t div);
/* A map of histograms, or of numbers to counts, as a table: head names its columns, section what
 * the keys are (NULL: nothing). */
void lang_show_histogram(struct lang_out *o, int map, const char *head, const char *section);
/* A map with stacks in its keys; how: 1 folded, 2 with a line between user and kernel frames, 4
 * with _[k] behind functions of the kernel. */
void lang_show_stacks(struct lang_out *o, int map, int how);
/* All of the program's maps, by name. */
void lang_show_maps(struct lang_out *o);
void lang_out_free(struct lang_out *o);

/* A stored value. */
/* A number by the name it has in a table; enum lang_names is the type's n. */
void lang_show_name(const struct lang_out *o, const struct ltype *t, int64_t v, struct strbuf *b);
void lang_show_value(const struct lang_out *o, const struct ltype *t, const void *data, bool is_key,
		     struct strbuf *b);
/* The same as JSON: numbers, texts, lists of a tuple's and an array's items, objects of records. */
void lang_show_json(const struct lang_out *o, const struct ltype *t, const void *data,
		    struct strbuf *b);
void lang_json_text(struct strbuf *b, const char *s, size_t n);
/* The key of a map's entry, parts separated by sep. */
void lang_show_key(const struct lang_out *o, const struct lang_map *m, const void *key,
		   const char *sep, struct strbuf *b);
/* A per-CPU value as one. out has m->value_size bytes. */
void lang_merge(const struct lang_map *m, unsigned ncpus, const void *value, void *out);

#endif
