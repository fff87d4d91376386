/* SPDX-License-Identifier: MIT */
#include "base/as_user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NO_GROUP 65534

void as_user_find(struct as_user *u, uid_t uid)
{
	const struct passwd *p = getpwuid(uid);
	int n = AS_USER_GROUPS;

	*u = (struct as_user){ .uid = uid, .gid = p ? p->pw_gid : NO_GROUP };
	/* of more groups than that the first ones count */
	if (p && getgrouplist(p->pw_name, p->pw_gid, u->group, &n) < 0)
		n = AS_USER_GROUPS;
	u->n_groups = p ? n : 0;
}

/* Not through the C library, which changes all threads. */
static int set_groups(const struct as_user *u)
{
	return syscall(SYS_setgroups, (size_t)u->n_groups, u->group) < 0 ? -errno : 0;
}

int as_user_begin(const struct as_user *u, struct as_user *before)
{
	int r;

	before->n_groups = getgroups(AS_USER_GROUPS, before->group);
	if (before->n_groups < 0)
		return -errno;
	r = set_groups(u);
	if (r < 0)
		return r;
	before->gid = (gid_t)setfsgid(u->gid);
	before->uid = (uid_t)setfsuid(u->uid);
	/* these say nothing when they are refused; a number that nobody has changes nothing */
	if ((uid_t)setfsuid((uid_t)-1) == u->uid && (gid_t)setfsgid((gid_t)-1) == u->gid)
		return 0;
	as_user_end(before);
	return -EPERM;
}

void as_user_end(const struct as_user *before)
{
	setfsuid(before->uid);
	setfsgid(before->gid);
	set_groups(before);
}
