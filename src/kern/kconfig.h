/* SPDX-License-Identifier: MIT */
/*
 * What the kernel was built with, from /proc/config.gz or its package's file. It explains why
 * something is missing; whether it works is found by trying.
 */
#ifndef KYMO_KERN_KCONFIG_H
#define KYMO_KERN_KCONFIG_H

struct kconfig {
	char *text; /* NULL: the kernel does not tell */
};

int kconfig_load(struct kconfig *k); /* -ENOENT when it does not tell */
void kconfig_free(struct kconfig *k);

/* name without CONFIG_: 'y', 'm', 'n', or '?' when the kernel does not tell. */
char kconfig_get(const struct kconfig *k, const char *name);

#endif
