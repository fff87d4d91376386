/* SPDX-License-Identifier: MIT */
/* What a process has mapped, as /proc/PID/maps says it. */
#ifndef KYMO_KERN_MAPS_H
#define KYMO_KERN_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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

#endif
