/* SPDX-License-Identifier: MIT */
/*
 * The walker's parts, private to live/:
 *
 *	walker.c	opening, attaching, statistics
 *	walker_load.c	the program: what it is told, its maps, loading
 *	walker_read.c	the ring, and samples
 *	walker_proc.c	processes and their mappings, and their lists in the kernel
 *	walker_file.c	files and their tables, built by a thread of its own
 *	walker_slab.c	the memory that tables live in, and rules
 *	walker_copy.c	finishing samples from copied stacks
 *	walker_off.c	time off the CPU, and stacks of tracepoints and probes
 *	walker_fn.c	the walk as a function of programs of others
 *	walker_kept.c	its code, kept for the next time
 *
 * Everything in struct walker is under lock but what says otherwise.
 */
#pragma once

#include <pthread.h>
#include <sys/stat.h>

#include "base/index.h"
#include "base/map.h"
#include "base/vec.h"
#include "lang/lang.h"
#include "live/attached.h"
#include "live/loop.h"
#include "live/walk/walker.h"
#include "live/walk/walker_abi.h"

struct bpf_program;
struct ring_buffer;
struct reading;
struct walk_bpf;

/* Tables with a fixed meaning. */
#define WALKER_TABLE_NONE 0 /* code of no file: frame pointers */
#define WALKER_TABLE_VDSO 1
#define WALKER_TABLE_FIRST 2

/* ---- files ---- */

#define WALKER_FILE_VDSO 0 /* the first of all */

enum walker_file_state {
	WALKER_FILE_FREE,
	WALKER_FILE_PENDING,
	WALKER_FILE_BUSY, /* the builder has it */
	WALKER_FILE_READY,
	WALKER_FILE_NONE, /* cannot have a table */
};

struct walker_file {
	enum walker_file_state state;
	uint64_t key;	  /* in walker->file_by_key */
	uint32_t table;	  /* its number in the kernel; parts are of their own */
	uint32_t refs;	  /* mappings */
	uint64_t hits;	  /* samples that wanted it */
	uint64_t checked; /* when its identity was last looked at */
	struct stat st;
	bool has_stat;
	char *path;
	/* Where a process has it mapped, to open it by. */
	int32_t pid;
	uint64_t start, end;
	uint64_t ino;
	struct ehframe_table *rows; /* kept for copied stacks only */
	/* What it takes in slabs. */
	struct walker_part {
		uint32_t table, slab, block, n_blocks;
	} * parts;
	uint32_t n_parts;
	uint64_t n_rows;
	uint64_t last_used;
};

/* ---- processes ---- */

struct walker_mapping {
	uint64_t start, end, pgoff;
	uint32_t file;	/* index into files, or UINT32_MAX */
	uint32_t table; /* WALKER_TABLE_* where there is no file */
};

struct walker_proc {
	int32_t pid; /* 0: free */
	bool dirty, dead, published;
	uint64_t exec_time, dead_time;
	uint64_t scanned; /* when /proc was last read, and how long to leave it alone */
	uint64_t scan_wait;
	VEC(struct walker_mapping) maps; /* sorted, disjoint */
	uint32_t first, n_blocks; /* its list in the kernel, in blocks of WALKER_LIST_BLOCK */
};

#define WALKER_LIST_BLOCK 16 /* mappings */

struct walker_range {
	uint32_t start, n;
};

/* What is free of something that is given away in blocks: sorted, disjoint. */
struct walker_space {
	VEC(struct walker_range) free;
};

struct walker_slab {
	int fd;
	struct walker_space space;
};

/* A map's memory, mapped piece by piece where it is written: mapping gives the kernel's pages at
 * once. */
struct walker_area {
	int fd;
	char *base;
	size_t size;
	uint64_t *there; /* a bit a piece */
};

struct walker_copied; /* walker_copy.c */

/* A function of bpf/walk_fn.h, complete, and behind the program that is around it. */
struct walker_code {
	struct bpf_insn *insn;
	size_t n, main; /* main: that program's */
	VEC(struct lang_sub) subs;
};

#define WALKER_KEPT_MAPS 16

struct walker_kept_map {
	char name[16];
	uint32_t type, key, value, entries, flags;
};

/* The functions as they are kept: maps by their place in the list. */
struct walker_fn_image {
	uint64_t object; /* what it was made from, and by what */
	struct walker_kept_map map[WALKER_KEPT_MAPS];
	uint32_t n_maps;
	const struct bpf_insn *insn[WALKER_CODES]; /* of walker.code */
	uint32_t config_at, lost_at;		   /* in .rodata and .bss */
};

/* Made from such an image. */
struct walker_kept {
	uint64_t object; /* 0: it is libbpf's */
	int fd[WALKER_KEPT_MAPS];
	uint32_t n;
	int rodata, bss;
	uint32_t rodata_size, bss_size, config_at, lost_at;
};

struct walker {
	struct walker_opts o;
	int cache;	      /* sym/find/cache.h; -1: none */
	struct walk_bpf *bpf; /* NULL: opts.plain, or kept has it all */
	struct walker_kept kept;
	struct walk_config config; /* of kept; else it is in bpf */
	struct ring_buffer *ring;
	int btf_fd; /* while it is loaded */
	int procs_fd, slabs_fd, maps_fd, tables_fd, rules_fd, ring_fd;
	struct attached attached;
	uint64_t event_id[WALK_EVENTS];
	uint32_t n_events;
	struct reading *reading; /* walker_poll in progress */
	bool settling;
	struct walker_code code[WALKER_CODES];
	bool hits_calls[2]; /* entries, exits of system calls are attached to */

	pthread_mutex_t lock;
	pthread_cond_t wake; /* of the builder */
	pthread_t builder;
	bool builder_runs, stop;

	/* Memory shared with the program. */
	struct walk_map *maps;
	uint32_t n_maps;
	struct walk_table *tables;
	uint32_t n_tables;
	struct walk_rule *rules;
	uint32_t rules_cap;
	uint64_t *lost;
	struct walker_area maps_area, tables_area, rules_area;
	uint32_t slab_blocks; /* of each slab */
	int first_slab;	      /* until the builder puts it into force; -1: it has */

	/* Rules in force, by hash. */
	uint32_t n_rules;
	struct index rule_index;

	VEC(struct walker_slab) slabs; /* grown by the builder only */
	uint64_t slab_used;	       /* blocks */
	VEC(struct walker_file) files;
	struct map file_by_key; /* index + 1 */
	VEC(uint32_t) free_tables;
	uint32_t next_table;
	uint32_t n_pending;
	struct ehframe *vdso; /* set by the builder before its table is ready */

	VEC(struct walker_proc) procs;
	VEC(uint32_t) free_procs; /* places in it that nobody has */
	struct map proc_by_pid;	  /* index + 1 */
	size_t n_live, n_dead;
	uint64_t pruned; /* when the dead were last looked through */
	VEC(uint32_t) dirty;
	struct walker_space lists;
	uint32_t generation; /* of the last list */
	/* Lists given up, which the program may still be reading. */
	VEC(struct walker_old_list {
		struct walker_range r;
		uint64_t since;
	})
	old_lists;

	struct walker_copied *copied, **copied_end;
	uint64_t rested; /* when tables were last put aside */
	size_t n_copied;
	struct walker_stats stats;
};

uint32_t walker_states(struct walker *w); /* how many, and where in them each kind begins */

/* walker_slab.c */
/* Make [at, at + n) usable; false when the kernel has no room for it. */
bool walker_area_touch(struct walker_area *a, size_t at, size_t n);
/* n blocks in a row. */
bool walker_space_take(struct walker_space *s, uint32_t n, uint32_t *ret);
void walker_space_give(struct walker_space *s, uint32_t start, uint32_t n);
bool walker_table_touch(struct walker *w, uint32_t number);
/* The number from WALK_DIRECT on that says a rule; 0 when there is none. */
uint32_t walker_rule_direct(const struct ehframe_rule *r);
/* Before loading: the first slab, which also says what all are like. */
int walker_slab_first(struct walker *w);
int walker_slab_init(struct walker *w, struct err *e);
void walker_slab_free(struct walker *w);
/* Put a table into slabs and in force as file's; called by the builder without the lock. -ENOSPC
 * when the limit is reached. */
int walker_slab_publish(struct walker *w, uint32_t file, const struct ehframe_table *t);
/* Give back what a file takes. With the lock. */
void walker_slab_release(struct walker *w, struct walker_file *f);

/* walker_file.c */
int walker_file_init(struct walker *w, struct err *e);
void walker_file_free(struct walker *w);
/* The file's index, made and queued when new; UINT32_MAX: it is none. One more mapping has it. */
uint32_t walker_file_get(struct walker *w, const struct walker_mmap *id);
void walker_file_put(struct walker *w, uint32_t file);
/* Unmapped for longest: with a table in force, or any that is not being built. */
struct walker_file *walker_file_unused(struct walker *w, bool table);
/* Its call frame information for full evaluation, opened anew; NULL when it cannot be had. */
struct ehframe *walker_file_cfi(const struct walker_file *f);

/* walker_proc.c */
void walker_proc_init(struct walker *w);
void walker_proc_free(struct walker *w);
struct walker_proc *walker_proc_find(struct walker *w, int32_t pid);
/* Read /proc/PID/maps (by a thread, whose leader may be gone). With the lock. */
void walker_proc_scan(struct walker *w, int32_t pid, int32_t tid);
void walker_proc_scan_all(struct walker *w);
const struct walker_mapping *walker_proc_at(const struct walker_proc *p, uint64_t pc);
/* Put changed lists into force. With the lock. */
void walker_proc_flush(struct walker *w);
/* A sample could not be finished for want of something here. */
void walker_proc_missed(struct walker *w, const struct walk_sample *s);

/* walker_copy.c */
struct walk_sample;
void walker_copy_add(struct walker *w, const struct walk_sample *s, size_t size);
/* Finishes those whose tables are there, or that waited too long. How many, or what fn said. */
int walker_copy_finish(struct walker *w, bool all, walker_fn *fn, void *ctx);
void walker_copy_free(struct walker *w);
/* The process becomes another program: stacks of before need what it had mapped. With the lock. */
void walker_copy_exec(struct walker *w, const struct walker_proc *p, uint64_t time);

/* walker_off.c */
int walker_off_configure(struct walker *w, struct err *e); /* between opening and loading */
int walker_off_filter(struct walker *w, struct err *e);	   /* after loading */
void walker_off_stats(const struct walker *w, struct walker_stats *ret);

void walker_hits_configure(struct walker *w);

/* walker_fn.c */
void walker_fn_prepare(void); /* before the object is opened */
void walker_fn_configure(struct walker *w);
void walker_fn_free(struct walker *w);
uint64_t walker_fn_object(void); /* tells what the function is made from, and by what */
/* After loading: keep it for the next time. */
void walker_fn_keep(const struct walker *w);

/* walker_kept.c: without libbpf */
int walker_slab_map(const struct walker *w);
/* False when there is none, or its maps cannot be had: nothing is changed then. */
bool walker_kept_open(struct walker *w, uint64_t object);
bool walker_kept_configure(struct walker *w); /* w->config is in force */
void walker_kept_close(struct walker *w);
uint64_t walker_kept_lost(const struct walker *w);
void walker_kept_write(const struct walker *w, const struct walker_fn_image *image);

/* walker_load.c */
void walker_defaults(struct walker_opts *o);
/* The program, or what was kept of it, or neither when only copies will be finished. */
int walker_load(struct walker *w, struct err *e);
struct bpf_program *walker_program(const struct walker *w, uint32_t event);

/* walker_read.c */
int walker_ring_open(struct walker *w, struct err *e);
/* A record as callers get it, counted in the statistics. */
void walker_sample_from(struct walker *w, const struct walk_sample *s, const uint64_t *chain,
			struct walker_sample *ret);
