/* SPDX-License-Identifier: MIT */
/*
 * A command that is watched: started in two steps, so that events can be
 * opened on its process before its first instruction.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

struct workload {
	pid_t pid;  /* 0: none */
	int signal; /* that ended it; 0: none did */
	int go_fd, error_fd;
	char *stack; /* the child's, until it has memory of its own */
};

/* Can it be run, as far as is known before? For those who would displace something for it. */
int workload_check(const char *name, int *exit_code, struct err *e);
/* The child waits. argv ends with NULL, and must stay until the start. */
int workload_prepare(struct workload *w, char **argv, struct err *e);
/* The same, with another standard output: ours is taken. */
int workload_prepare_to(struct workload *w, char **argv, int out_fd, struct err *e);
/* The same as another user: a name, with its groups and home. NULL: as ourselves. */
int workload_prepare_as(struct workload *w, char **argv, const char *user, struct err *e);
/* Let it exec. A command that cannot be run is -errno, with the shell's 126 or 127 in *exit_code.
 */
int workload_start(struct workload *w, const char *name, int *exit_code, struct err *e);
/* Has it ended? Its exit code then, once. */
bool workload_ended(struct workload *w, int *exit_code);
/* One that was started ends with us: it is asked, and after a second made to. */
void workload_end(struct workload *w, int *code);
/* Give up before the start. */
void workload_cancel(struct workload *w);
/* 128 + signal for one that was killed, as shells say it. */
int workload_exit_code(int wait_status);
