/* SPDX-License-Identifier: MIT */
/* Files of the running kernel's modules, as modules.dep names them. */
#ifndef KYMO_KERN_MODULES_H
#define KYMO_KERN_MODULES_H

struct modules {
	char *folder; /* /lib/modules/RELEASE */
	char *dep;    /* the text of modules.dep; NULL: there is none */
};
void modules_open(struct modules *m);
/* "/lib/modules/RELEASE/kernel/fs/ext4/ext4.ko", for the caller to free; NULL: not known. */
char *modules_path(const struct modules *m, const char *name);
void modules_close(struct modules *m);

#endif
