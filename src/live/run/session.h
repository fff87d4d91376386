/* SPDX-License-Identifier: MIT */
/* What the files of a running session share. */
#pragma once

#include <pthread.h>

#include "base/map.h"
#include "base/patience.h"
#include "kern/bpf.h"
#include "lang/lang.h"
#include "live/attached.h"
#include "live/capture/ring.h"
#include "live/loop.h"
#include "live/run/run.h"
#include "live/walk/walked.h"
#include "live/walk/walker.h"
#include "live/workload.h"
#include "sym/names/sym.h"

struct run_mapping {
	uint64_t start, end, pgoff;
	uint32_t dso;
};
struct run_process {
	int32_t pid;
	VEC(struct run_mapping) maps;
	bool asked; /* /proc, at the end */
};
struct run_range {
	uint64_t start, end;
};
struct run_names {
	struct symbols *symbols;
	struct symbols *all; /* with what comes and goes; NULL while nobody needed it */
	VEC(char *) path;    /* by dso */
	VEC(struct run_range) own;
	bool own_tried;
	VEC(struct run_process) processes;
	struct map by_pid; /* index + 1 */
	/* How far probes stand behind the beginning of their function, by offset in the file. */
	struct map behind;
};

/* What is known of processes as things happen (live/run/sideband.c). */
struct run_sideband {
	struct side_rings rings;
	struct walked walked;	    /* walker NULL: none */
	struct run_walker *opening; /* NULL: it is open, or there will be none */
	struct err why;		    /* why there is no walker */
	struct map same; /* provisional numbers of stacks that were finished in user space, to the
			    numbers equal stacks have */
};

/* A program that another one gives way to (live/run/walker.c). */
struct run_handover {
	int map;  /* the map for the tail call; -1: no other program takes over */
	int prog; /* the program with the walker; -1: not loaded yet */
};

enum { RUN_ID_RING = 1, RUN_ID_PID, RUN_ID_SIDEBAND, RUN_ID_LIMIT, RUN_ID_TIMER };

struct run_pcap {
	char *path;
	int fd, error;
};

/* Shared with the programs at probes, which read it first. */
struct run_state {
	uint64_t stopped; /* non-zero: programs return at once */
	uint64_t own;	  /* counted by programs: kymo's own events, which were left out */
};

struct run {
	struct lang_program *p;
	struct run_env *env;
	struct run_opts o;
	int *map_fd, *prog_fd;
	char **prog_words; /* the verifier's, of each program, with opts.verbose; else NULL */
	struct attached attached;
	VEC(int) many; /* links to many uprobes: slow to close, too, and until then they run */
	int state;     /* a map with one struct run_state; -1: none */
	uint32_t own;  /* kymo's number in the kernel's eyes; 0: not known, or not left out */
	VEC(int) iters;
	VEC(uint32_t) timers; /* codes of interval probes */
	struct bpf_ring ring, control;
	struct loop loop;
	bool has_loop;
	int pid_fd; /* of -p; -1: none */
	struct workload child;
	bool started; /* the child was let go */
	struct lang_out out;
	struct lang_host host;
	struct run_names names;
	struct run_sideband sideband;
	VEC(struct run_pcap) pcaps;
	bool ignore;		  /* messages after exit() */
	bool told;		  /* a signal to end came; later ones are not looked for */
	struct patience patience; /* with who reads it; until: while the rest is shown */
	uint64_t unshown;	  /* messages that were too late for that */
	int write_error;
	uint64_t since;	      /* loop_now() at its start */
	uint64_t boot_offset; /* CLOCK_REALTIME - CLOCK_BOOTTIME */
	uint32_t n_probes;
	uint32_t n_refused;  /* of those: the kernel cannot do them, as a pattern's may be */
	struct err refused;  /* the first */
	pthread_t prefiller; /* live/run/prefill.c */
	bool prefilling;
	struct run_handover *handover; /* of each program */
	pthread_t handover_thread;
	bool handing_over;
	bool cookies;			 /* of the program that is being attached */
	struct run_user_file *user_file; /* of the last probe, while they are attached */
};

static inline const struct lang_point *run_point(const struct run *r, const struct lang_code *c,
						 size_t i)
{
	return &r->p->points.data[c->point[i]];
}

int run_load(struct run *r, char **log, struct err *e);
/* A program with the walker in it, or what does without: its descriptor, or -errno. */
int run_load_with_walker(struct run *r, size_t i, char **log, struct err *e);
void run_handover_begin(struct run *r);
void run_handover_end(struct run *r); /* they are all there */
void run_handover_close(struct run *r);
/* Is it attached to all its points by one link? Then it is loaded with another attach type. */
bool run_is_multi(const struct run *r, const struct lang_code *c);
/* All programs, in an order that makes blocks at one place run as they are written. */
int run_attach(struct run *r, struct err *e);
/* The part of run_detach() that is quick: after it few events still come in. */
void run_stop(struct run *r);
void run_detach(struct run *r);

/* live/run/output.c: messages, and what they ask for. */
void run_out_flush(struct run *r);
/* What has come until now, unless a signal does. */
void run_out_drain(struct run *r);
/* The last of it, when nothing more comes in: all, or what LOOP_REST_MS allow after a signal. From
 * here on the next one ends kymo at once. */
void run_out_rest(struct run *r);
void run_out_shell(void *ctx, const char *command, struct strbuf *b);
int run_out_read(void *ctx, const char *path, struct strbuf *b);

void run_names_host(struct run *r);
void run_names_free(struct run_names *n);
/* Reads the mappings of a process whose first stack was seen, while it exists. */
void run_names_process(void *ctx, int32_t pid);
void run_names_mmap(struct run *r, const struct walker_mmap *m);
void run_names_fork(struct run *r, int32_t pid, int32_t parent);
void run_names_exec(struct run *r, int32_t pid);

int run_task_map(void);
void run_task_clear(const struct run *r, int map);
void run_task_each(const struct run *r, int map, lang_entry_fn *fn, void *arg);

void run_pcap_packet(void *ctx, const char *path, uint64_t time, const void *data, size_t n);
void run_pcap_notes(const struct run *r, struct strbuf *b);
void run_pcap_close(struct run *r);

int run_sideband_open(struct run *r, struct err *e);
/* Waits until the walker's code can be linked to programs, if there is a walker. */
void run_sideband_code(struct run *r);
/* Waits until the walker works. */
int run_sideband_wait(struct run *r, struct err *e);
void run_sideband_drain(struct run *r);
/* Waits, for a second at most, for the tables of programs that run already. */
void run_sideband_settle(struct run *r);
/* The number that all equal stacks have. */
uint64_t run_sideband_stack(const struct run *r, uint64_t id);
void run_sideband_close(struct run *r);

/* Gives every CPU a spare entry of maps that grow, while programs are loaded. */
void run_prefill_begin(struct run *r);
void run_prefill_end(struct run *r);

/* A program as it is loaded. What is changed of it is memory of the arena. */

struct arena;

/* Does it want user stacks? */
bool run_code_walks(const struct lang_code *c);
/* With the walker's code behind it, or NULL: with frame pointers in its place. */
void run_code_walker(struct arena *a, const struct walker_function *f, struct lang_code *c);
/*
 * It first looks into a map of one struct run_state whether it still is to do anything. (Links to
 * many uprobes cannot be switched off, and take long to close; nothing that is stopped at once may
 * feed what is being shown.) own: the process whose doings it leaves out and counts; 0: nobody's.
 */
void run_code_state(struct arena *a, int map, uint32_t own, struct lang_code *c);
/* Another program runs in its place, once it is in that map. */
void run_code_give_way(struct arena *a, int map, struct lang_code *c);
