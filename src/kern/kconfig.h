/* SPDX-License-Identifier: MIT */
/*
 * What the kernel was built with, from /proc/config.gz or its package's file. It explains why
 * something is missing; whether it works is found by trying.
 */
#pragma once

struct kconfig {
	char *text; /* NULL: the kernel does not tell */
};

int kconfig_load(struct kconfig *k); /* -ENOENT when it does not tell */
void kconfig_free(struct kconfig *k);

/* name without CONFIG_: 'y', 'm', 'n', or '?' when the kernel does not tell. */
char kconfig_get(const struct kconfig *k, const char *name);

/* Files of the running kernel's modules, as modules.dep names them. */

struct modules {
	char *folder; /* /lib/modules/RELEASE */
	char *dep;    /* the text of modules.dep; NULL: there is none */
};
void modules_open(struct modules *m);
/* "/lib/modules/RELEASE/kernel/fs/ext4/ext4.ko", for the caller to free; NULL: not known. */
char *modules_path(const struct modules *m, const char *name);
/* What the kernel calls ".../fs/nfs/nfs-layout.ko", or "[nfs_layout]"; the caller's to free. */
char *modules_name(const char *path);
void modules_close(struct modules *m);
