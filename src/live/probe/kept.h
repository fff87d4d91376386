/* SPDX-License-Identifier: MIT */
/* Definitions of probes that were kept (sym/find/keptprobes.h), for the same file again. */
#pragma once

#include "live/probe/define.h"
#include "sym/find/keptprobes.h"

/* By which definitions are kept: the file's build-id, or the running kernel's. False: none. */
bool probe_kept_id(const struct probe_target *t, struct build_id *ret);
/* The path they are kept under. */
const char *probe_kept_path(const struct probe_target *t);

/* Keep these for that text; names of several places are told apart by _1, _2 ... */
void probe_kept_add(struct kept_probes *k, const struct probe_text *p,
		    const struct probe_defs *defs);

/* All of k's places in t. Those that are no definition of t's are left out. */
void probe_kept_define(const struct kept_probe *k, const struct probe_target *t, struct arena *a,
		       struct probe_defs *ret);
/* Is it called so: EVENT or GROUP:EVENT, patterns too? */
bool probe_kept_named(const struct kept_probe *k, const char *group, const char *event);
