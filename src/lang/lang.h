/* SPDX-License-Identifier: MIT */
/*
 * The tracing language: a program's text in, BPF programs, maps and what to do
 * with their messages out.
 *
 *	struct lang_program *p;
 *	r = lang_compile(&(struct lang_source){ ... }, &env, &p, &diags);
 *
 * Nothing here opens a file or asks the kernel: types, probes and symbols come
 * through struct lang_env. The result is loaded and attached by live/run/run.h, or
 * run in user space over recorded events by lang/vm/vm.h.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "event/type.h"
#include "lang/type.h"

enum lang_kind {
	LP_BEGIN,
	LP_END,
	LP_KPROBE,
	LP_KRETPROBE,
	LP_FENTRY,
	LP_FEXIT,
	LP_TRACEPOINT,
	LP_RAWTP,
	LP_UPROBE,
	LP_URETPROBE,
	LP_USDT,
	LP_PROFILE,
	LP_INTERVAL,
	LP_SOFTWARE,
	LP_HARDWARE,
	LP_WATCHPOINT,
	LP_ITER,
	LP_SELF,
	LP_N,
};
extern const char *const lang_kind_name[LP_N];

/* What there is to know of a kind. */
#define LANG_KIND_MATCHED 1u /* patterns are looked up, and plain names, too */
#define LANG_KIND_USER 2u    /* the code is a program's */
#define LANG_KIND_COOKIE 4u  /* a program can ask which of its points was hit */
#define LANG_KIND_TYPED 8u   /* each point has code of its own */
#define LANG_KIND_OWN 16u    /* hit in kymo itself, by nothing that was recorded */
struct lang_kind_about {
	const char *other[3]; /* names beside lang_kind_name; NULL at the end */
	enum bpf_prog_type type;
	enum bpf_attach_type attach;
	unsigned flags;
};
extern const struct lang_kind_about lang_kinds[LP_N];

/* One place to attach, patterns expanded. Strings live in the program's arena. */
struct lang_point {
	enum lang_kind kind;
	const char *text;   /* as `probe` shows it */
	const char *target; /* tracepoint: system; uprobe, usdt: file; kprobe: module; rate: unit */
	const char *provider; /* usdt */
	const char *name;     /* function, event */
	uint64_t offset;      /* of a function; or the address when there is no name */
	uint64_t number;      /* rate, count, length */
	uint32_t id;	      /* the first point with this text: what `probe` is kept as */
	bool has_offset, is_addr;
	bool one_of_many;  /* that a pattern fits */
	char mode[4];	   /* watchpoint: rwx */
	uint32_t pos, len; /* in the source */
};

/* profile and interval: so many nanoseconds lie between two hits. */
uint64_t lang_point_every(const struct lang_point *p);
/* software and hardware: so many events. */
uint64_t lang_point_period(const struct lang_point *p);
/* The event a probe's hits are in a recording (as kymo record -e wants it); false: none. */
bool lang_point_event(const struct lang_point *p, struct strbuf *b);

/* How a tracepoint's program is attached (lang_code.how). */
enum lang_how {
	LH_NORMAL,
	LH_RAW,	    /* as a raw tracepoint of the point's name */
	LH_SYSCALL, /* through raw_syscalls, the number picked by the program */
};

struct lang_usdt_arg {
	int size;      /* negative: signed */
	int kind;      /* 0 constant, 1 register, 2 memory at register + offset */
	int reg_off;   /* in struct pt_regs */
	int index_off; /* of an index register, -1 none */
	int scale;
	int64_t value; /* constant or offset */
};

typedef int lang_match_fn(void *arg, const char *target, const char *name);

/* What the compiler asks of the world. Any callback may be NULL: then there is nothing of that
 * kind. */
struct lang_env {
	void *ctx;
	unsigned ncpus;
	int32_t pid; /* of -p or -c; 0: none */
	uint64_t boot_offset;
	bool recorded;	   /* for lang/vm/vm.h: tracepoint records and what recordings hold */
	bool has_loop;	   /* bpf_loop */
	bool has_cookie;   /* programs attached to many places can learn which was hit */
	int check_helpers; /* count helpers that fail: 1: reads; 2: also keys that are not there */
	/* Where in struct task_struct 16 zero-padded bytes of comm may be read; -1: nowhere. */
	int (*comm_at)(void *ctx);
	/* Can values be kept with threads, and be read from all of them? NULL: no. */
	bool (*task_storage)(void *ctx);
	bool has_may_goto; /* loops without a provable end */
	/* Calls fn for each thing that fits the pattern; the number of them, or -errno. */
	int (*match)(void *ctx, const struct lang_point *pattern, lang_match_fn *fn, void *arg,
		     struct err *e);
	/* A tracepoint's format text, which the caller frees; NULL: there is none. */
	char *(*tp_format)(void *ctx, const char *system, const char *event);
	/* The same already parsed, from a recording; asked first. */
	const struct event_type *(*tp_type)(void *ctx, const char *system, const char *event);
	/* "struct task_struct", "union x", "enum y", "pid_t": NULL when not known. */
	const struct ltype *(*type)(void *ctx, struct ltypes *t, const char *name);
	void (*fill)(void *ctx, struct ltypes *t, struct lrecord *r);
	/* Why no type of the kernel is known; NULL (or no callback): they are. */
	const char *(*no_types)(void *ctx);
	/* Arguments of a kernel function or raw tracepoint as a record of 8-byte slots; the last
	 * field may be "$retval". NULL when not known. */
	struct lrecord *(*args)(void *ctx, struct ltypes *t, const struct lang_point *p);
	/* The enum that has a value of this name; NULL: none. */
	const struct ltype *(*enumerator)(void *ctx, struct ltypes *t, const char *name,
					  int64_t *value);
	bool (*kaddr)(void *ctx, const char *name, uint64_t *addr);
	bool (*uaddr)(void *ctx, const char *path, const char *name, uint64_t *addr,
		      uint64_t *size);
	bool (*cgroup)(void *ctx, const char *path, uint64_t *id);
	/* Number of a system call by name, -1 none. */
	int (*syscall)(void *ctx, const char *name);
	bool (*resolve)(void *ctx, const char *name, uint8_t addr[16], int *family);
	int (*usdt_args)(void *ctx, const struct lang_point *p, struct lang_usdt_arg *arg, int max);
	/* Why the kind is refused here, and what is best instead for this point; else NULL. */
	const char *(*refused)(void *ctx, const struct lang_point *p, char *instead, size_t size);
	/* May this raw tracepoint be used in place of system:event? */
	bool (*raw)(void *ctx, const char *system, const char *event);
};

struct lang_source {
	const char *name; /* for messages: "stdin", a path */
	const char *text;
	size_t n;
	char **args; /* $1 ... */
	int n_args;
	bool unsafe;
	const struct lang_config *config; /* NULL: defaults */
	/* The text of a header, which the caller frees, and the path it was found at (from: that of
	 * the header that includes it, NULL: the program does); NULL: there is none. */
	char *(*include)(void *ctx, const char *from, const char *name, bool quoted, size_t *n,
			 char **path);
	void *include_ctx;
	const char **headers; /* --include */
	size_t n_headers;
};

/* Tunables, from the config block, the environment or options. */
struct lang_config {
	uint32_t strlen, map_keys, stack_depth, max_probes, max_bpf_progs, log_size;
	uint32_t ring_pages;
	bool missing_ignored;
};
void lang_config_default(struct lang_config *c);

struct lang_map {
	const char *name;	 /* with the '@'; NULL for the runtime's own */
	const char *pinned;	 /* the file of one that is there already; NULL: it is made */
	const struct ltype *key; /* a tuple, also for one part; NULL: no key */
	const struct ltype *value;
	enum bpf_map_type type;
	uint32_t key_size, value_size, entries, flags;
	bool per_cpu, is_agg;
	bool parts;	   /* a plain hash whose values have value_size bytes for each CPU */
	bool by_task;	   /* with each thread; lang/gen/task_maps.c */
	bool present_word; /* keyless values in arrays: 8 bytes in front say whether it was set */
	uint32_t full_counter; /* index in the counters map */
};

/* Bytes of a value as the kernel has it, and as it is read: for all CPUs. */
uint32_t lang_map_value(const struct lang_map *m, unsigned ncpus);
uint32_t lang_map_read(const struct lang_map *m, unsigned ncpus);

/* The runtime's own maps stand first. */
enum {
	LANG_MAP_RING,	   /* messages */
	LANG_MAP_CONTROL,  /* messages that must not be lost when the ring is full */
	LANG_MAP_COUNTERS, /* lost messages, updates refused by full maps: per CPU */
	LANG_MAP_SCRATCH,  /* per CPU memory, an entry a program */
	LANG_MAP_STACKS,   /* hash -> addresses */
	LANG_MAP_INFO,	   /* what the session tells programs: LANG_INFO_* */
	LANG_MAP_FIXED,
};
enum { LANG_INFO_START, LANG_INFO_N }; /* when it began, CLOCK_BOOTTIME ns */
enum {
	LANG_COUNT_LOST,
	LANG_COUNT_CONTROL_LOST,
	LANG_COUNT_STACKS,
	LANG_COUNT_LOOPS,
	LANG_COUNT_MAPS
};

/*
 * A call of a function that the session puts behind the program (source BPF_PSEUDO_CALL):
 * the current task's user stack to r1, at most r2 addresses; how many, 0: not known, -1:
 * it will be known by the number at r1.
 */
#define LANG_CALL_WALK 0x77616c6b
#define LANG_WALK_FRAMES 127 /* there must be room for so many at r1, whatever r2 is */

/* The number of a user stack, as programs make it: with zeros behind it up to a whole round. */
#define LANG_STACK_HASH 0x9e3779b97f4a7c15ull
#define LANG_STACK_ROUND 16
static inline uint64_t lang_stack_id(const uint64_t *addr, size_t n, uint32_t depth)
{
	uint64_t id = depth + 1;

	for (size_t i = 0; i < n; i += LANG_STACK_ROUND) {
		for (size_t k = i; k < i + LANG_STACK_ROUND; k++)
			id = (id ^ (k < n ? addr[k] : 0)) * LANG_STACK_HASH;
		id ^= id >> 29;
	}
	return id;
}

#define LANG_ROUNDS_MAX (1 << 23) /* of a loop over a range: the kernel's limit */
#define LANG_OWN_FRAMES 4	  /* of the tracing machinery, on top of a kernel stack */

enum lang_act {
	LA_PRINTF,
	LA_PRINT, /* a value */
	LA_PRINT_MAP,
	LA_TABLE,     /* format: the names of the columns */
	LA_HISTOGRAM, /* the same, and section */
	LA_STACKS,    /* how */
	LA_CLEAR,
	LA_ZERO,
	LA_EXIT,
	LA_TIME,
	LA_JOIN,
	LA_CAT,
	LA_SYSTEM,
	LA_ERRORF,
	LA_DEBUGF,
	LA_SKBOUTPUT,
	LA_HELPER_ERROR,
	LA_NEW_PROCESS, /* a user stack of a process not seen before */
};

struct lang_arg {
	const struct ltype *type;
	uint32_t offset; /* in the message */
};

/* What a message asks for. A message is the u32 number of its action, a u32 of flags, then the
 * arguments. */
struct lang_action {
	enum lang_act kind;
	const char *format;
	struct lang_arg *arg;
	size_t n_args;
	uint32_t size; /* of the whole message */
	int map;
	int64_t top, div;
	const char *map_key_text;
	const char *section; /* what the keys of a map are */
	int how;
	uint32_t pos;
};

struct lang_line {
	uint32_t insn, pos;
};

/* A function that was put behind a program's own code. */
#define LANG_SUB_ARGS 5
struct lang_sub {
	uint32_t at;
	bool global; /* verified once, by itself */
	uint8_t n;
	uint32_t arg[LANG_SUB_ARGS]; /* bytes of a number; above 8: of what a pointer leads to */
};

/* One BPF program. Map references have the map's index as imm and BPF_PSEUDO_MAP_FD as source. */
struct lang_code {
	struct bpf_insn *insn;
	uint32_t n;
	struct lang_line *line;
	size_t n_lines;
	uint32_t *func; /* first instruction of each function; the program itself is the first */
	size_t n_funcs;
	const struct lang_sub *sub; /* functions that were added to the program's own */
	size_t n_subs;
	enum bpf_prog_type type;
	enum bpf_attach_type attach;
	enum lang_how how;
	bool sleepable;
	bool cookie;	  /* each point is attached with its index, which the program asks for */
	const char *name; /* what the kernel calls it */
	uint32_t *point;  /* indices into program->points */
	size_t n_points;
	/* LH_SYSCALL: the program looks numbers up in this map (-1: it compares with one) */
	int filter_map;
};

/* A place where a helper may fail, and the counter that says how often it did. */
struct lang_fallible {
	uint32_t counter, pos;
	const char *helper;
};

struct lang_init {
	int map;
	uint32_t key;
	uint64_t value;
};

struct lang_program {
	struct arena arena;
	struct ltypes types;
	struct lang_config config;
	const char *source;
	size_t source_n;
	const char *source_name;
	VEC(struct lang_map) maps;
	VEC(const char *) pinned; /* that in_map() asks, each once */
	VEC(struct lang_point) points;
	VEC(struct lang_code) codes;
	VEC(struct lang_action) actions;
	VEC(struct lang_fallible) fallible;
	VEC(struct lang_init) inits; /* entries of array maps, before the start */
	uint32_t n_counters;
	uint32_t stack_depth;
	bool prints; /* messages of which there may be many */
	bool uses_ring, uses_stacks, uses_ustack, uses_usym;
	struct strbuf dump; /* AST and IR, when asked for */
};

/* What was wrong, in the order of the text. */
struct lang_diag {
	uint32_t pos, len;
	bool warning;
	char *text, *hint;
};
struct lang_diags {
	VEC(struct lang_diag) list;
	unsigned errors;
	bool quiet;  /* while types settle */
	bool unsaid; /* the last message was not kept, so its hint is dropped, too */
	const char *source, *name;
	size_t n;
};
void lang_diags_free(struct lang_diags *d);
/* All of them as the user sees them: place, message, the line, a caret, the hint; in the width and
 * colours of where they will be written (NULL: plain). */
void lang_diags_text(const struct lang_diags *d, FILE *to, struct strbuf *b);
__attribute__((format(printf, 5, 6))) void lang_diag(struct lang_diags *d, bool warning,
						     uint32_t pos, uint32_t len, const char *fmt,
						     ...);
#define lang_error(d, pos, len, ...) lang_diag(d, false, pos, len, __VA_ARGS__)
#define lang_warn(d, pos, len, ...) lang_diag(d, true, pos, len, __VA_ARGS__)
__attribute__((format(printf, 2, 3))) void lang_hint(struct lang_diags *d, const char *fmt, ...);
/* "did you mean ...?"; false where nothing is near. */
bool lang_hint_near(struct lang_diags *d, const struct str_nearest *near);
/* Line and column (from 1) of a position. */
void lang_place(const char *text, size_t n, uint32_t pos, unsigned *line, unsigned *column);

#define LANG_DUMP_AST 1u
#define LANG_DUMP_IR 2u
#define LANG_DUMP_BPF 4u

/* 0 and *ret, or -EINVAL with the reasons in d. dump: LANG_DUMP_*. */
int lang_compile(const struct lang_source *s, const struct lang_env *env, unsigned dump,
		 struct lang_program **ret, struct lang_diags *d);
void lang_program_free(struct lang_program *p); /* NULL is fine */

/* The instructions of a program, with its source lines between. */
void lang_list_code(const struct lang_program *p, const struct lang_code *c, struct strbuf *b);

/* The source position an instruction came from. */
uint32_t lang_code_pos(const struct lang_code *c, uint32_t insn);

/* Type information for the kernel: function names and source lines. Caller frees all three. */
struct lang_btf {
	void *data;
	size_t size;
	struct bpf_func_info *func;
	size_t n_func;
	struct bpf_line_info *line;
	size_t n_line;
};
void lang_btf_make(const struct lang_program *p, const struct lang_code *c, struct lang_btf *ret);
void lang_btf_free(struct lang_btf *b);
