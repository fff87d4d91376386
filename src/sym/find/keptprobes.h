/* SPDX-License-Identifier: MIT */
/*
 * Probes kept beside a file in perf's folder of files by build-id, in the file "probes":
 *
 *	#probe_app:my=parse:14 line
 *	p:probe_app/my /usr/bin/app:0x1139 line=%di:s32
 *	%sdt_app:start=start
 *	p:sdt_app/start /usr/bin/app:0x1201(0x4010) arg1=%si:s32
 *
 * What was asked for (#), or a static probe of the file (%), and what the kernel is told, a line
 * a place. perf reads and writes the same. An empty file says that there are no static probes.
 */
#pragma once

#include "base/vec.h"
#include "sym/elf/elf.h"

struct kept_probe {
	bool is_static;
	char *spec;
	VEC(char *) defs;
};

struct kept_probes {
	VEC(struct kept_probe) list;
};

/* Such a file's text; lines that belong to nothing are left out. */
void kept_probes_parse(struct kept_probes *k, const char *text);
/* -ENOENT when there is no such file. */
int kept_probes_read(int dir, const struct build_id *id, struct kept_probes *ret);
/* path: of the file, or "[kernel.kallsyms]". */
int kept_probes_write(int dir, const char *path, const struct build_id *id,
		      const struct kept_probes *k, struct err *e);
void kept_probes_free(struct kept_probes *k);

/* A new one without definitions, in place of one that was called so. */
struct kept_probe *kept_probes_add(struct kept_probes *k, const char *spec, bool is_static);
void kept_probes_remove(struct kept_probes *k, size_t i);
/* The static probes of a file. */
void kept_probes_scan(struct kept_probes *k, const struct elf *elf, const char *path);
