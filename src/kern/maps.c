/* SPDX-License-Identifier: MIT */
#include "kern/maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* "7f..-7f.. r-xp 00001000 fe:00 1234   /usr/lib/x.so" */
bool proc_map_next(char **at, struct proc_map *ret)
{
	while (**at) {
		char *line = *at, *end = strchrnul(line, '\n');
		int path = 0;

		*at = end + (*end == '\n');
		*end = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
			   &ret->start, &ret->end, ret->perms, &ret->pgoff, &ret->maj, &ret->min,
			   &ret->ino, &path) < 7)
			continue;
		ret->path = path ? line + path : "";
		return true;
	}
	return false;
}

void proc_map_file(char buf[PROC_MAP_FILE], pid_t pid, uint64_t start, uint64_t end)
{
	snprintf(buf, PROC_MAP_FILE, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, start,
		 end);
}
