/* SPDX-License-Identifier: MIT */
/*
 * Opening files with another user's rights.
 *
 * Root may read everything, so what root opens for somebody is asked of the kernel in that
 * user's name: folders on the way, groups and access lists count as they do for the user. Only
 * the calling thread changes, and only in what it may do with files.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#define AS_USER_GROUPS 256

struct as_user {
	uid_t uid;
	gid_t gid;
	int n_groups;
	gid_t group[AS_USER_GROUPS];
};

/* Who has that number; one that no list has is in no group. */
void as_user_find(struct as_user *u, uid_t uid);
/* Until as_user_end() this thread has that user's rights. -errno: it keeps its own. */
int as_user_begin(const struct as_user *u, struct as_user *before);
void as_user_end(const struct as_user *before);
