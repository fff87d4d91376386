/* SPDX-License-Identifier: MIT */
/* Processes and their threads, as /proc shows them now. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct thread_list {
	pid_t *tid; /* ascending, each once */
	size_t n;
};
/* The threads of each process in "123,nginx"; a dead one is an error, and a name that none has. */
int proc_threads_of(const char *pids, struct thread_list *ret, struct err *e);
/* The threads in "123,456" themselves. */
int proc_threads(const char *tids, struct thread_list *ret, struct err *e);
/* Every thread of a user, by name or number. */
int proc_threads_of_user(const char *user, struct thread_list *ret, struct err *e);
/* Every thread there is. */
int proc_threads_all(struct thread_list *ret, struct err *e);
/* The processes there are, in no order. On failure there are none in *ret. */
int proc_pids(struct thread_list *ret, struct err *e);
void thread_list_free(struct thread_list *l);

/* The processes of a name, as pidof has them, but this one. None is an error with near names. */
int proc_named(const char *name, struct thread_list *ret, struct err *e);
/* One process, by its number or by a name that no other has. */
int proc_one(const char *text, pid_t *ret, struct err *e);

/* The value behind "KEY<blanks>SEP" in a text of such lines (/proc/cpuinfo), without quotes. */
bool proc_value(const char *text, const char *key, char sep, char *buf, size_t size);
/* Are the numbers of processes here those of the machine? */
bool proc_first_pidns(void);
/* Tells this start of the kernel from any other. */
bool proc_boot_id(char *buf, size_t size);
/* Is it there and not just waiting to be reaped? */
bool proc_alive(pid_t tid);

/* The thread's name; false (and "") when it is gone. */
bool proc_comm(pid_t tid, char *buf, size_t size);

/* What a process has mapped, as /proc/PID/maps says it. */

struct proc_map {
	uint64_t start, end, pgoff, ino;
	unsigned maj, min;
	char perms[5];	  /* "r-xp" */
	const char *path; /* in the text; "" when it has none */
};

/* The mapping in the line at *at, which moves to the next one; false: there is none any more. */
bool proc_map_next(char **at, struct proc_map *ret);
/* The link to the file behind a mapping. */
#define PROC_MAP_FILE 96
void proc_map_file(char buf[PROC_MAP_FILE], pid_t pid, uint64_t start, uint64_t end);
