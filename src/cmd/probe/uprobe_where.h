/* SPDX-License-Identifier: MIT */
/* Programs, libraries and their functions by name, as places for uprobes. */
#ifndef KYMO_CMD_PROBE_UPROBE_WHERE_H
#define KYMO_CMD_PROBE_UPROBE_WHERE_H

#include "base/err.h"

/* "p:bash:readline +0(%di):string" as "p:readline /usr/bin/bash:0x1234 +0(%di):string". */
int uprobe_definition(const char *text, char **ret, struct err *e);
/* Functions of a file that match pattern (NULL: all), one a line. */
int uprobe_list(const char *target, const char *pattern, struct err *e);
/* The path that a target means. */
int uprobe_path(const char *target, char **ret, struct err *e);

#endif
