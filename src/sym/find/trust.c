/* SPDX-License-Identifier: MIT */
#include "sym/find/trust.h"

#include <string.h>

#include "base/mem.h"

/* It belongs to root or to us, and nobody else can write to it. */
static bool trust_stat(const struct stat *st)
{
	return (st->st_uid == 0 || st->st_uid == geteuid()) && !(st->st_mode & S_IWOTH) &&
	       /* a group of one's own, as users have them, is nobody else */
	       (!(st->st_mode & S_IWGRP) || st->st_gid == 0 || st->st_gid == getegid());
}

bool trust_fd(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && trust_stat(&st);
}

bool trust_path(const char *path)
{
	AUTO_FREE char *copy = mem_strdup(path);
	struct stat st;

	for (char *slash = strchr(copy + 1, '/'); *copy == '/' && slash;
	     slash = strchr(slash + 1, '/')) {
		bool good;

		*slash = 0;
		if (lstat(copy, &st) < 0)
			return true; /* whoever made it could write to the folders before it */
		good = S_ISLNK(st.st_mode) ? st.st_uid == 0 : trust_stat(&st);
		if (!good)
			return false;
		*slash = '/';
	}
	return *copy == '/';
}

bool trust_beside(int fd, uid_t owner)
{
	struct stat st;

	return fstat(fd, &st) == 0 && !(st.st_mode & S_IWOTH) &&
	       (st.st_uid == 0 || st.st_uid == geteuid() || st.st_uid == owner);
}
