/* SPDX-License-Identifier: MIT */
/*
 * The kernel's lockdown mode, which takes abilities even from root.
 *
 * It stands in securityfs; where that is not mounted, root reads it through a
 * mount of its own that nobody else sees.
 */
#ifndef KYMO_KERN_LOCKDOWN_H
#define KYMO_KERN_LOCKDOWN_H

enum lockdown {
	LOCKDOWN_UNKNOWN, /* securityfs is not mounted, or this user may not read it */
	LOCKDOWN_NONE,	  /* nothing is locked, or the kernel has no lockdown */
	LOCKDOWN_INTEGRITY,
	LOCKDOWN_CONFIDENTIALITY,
};

enum lockdown lockdown_read(void);
/* "none", "integrity" ... */
const char *lockdown_name(enum lockdown l);

/* For tests: what the text of the file means ("none [integrity] confidentiality"). */
enum lockdown lockdown_parse(const char *text);

#endif
