/* SPDX-License-Identifier: MIT */
/*
 * What every command that reads a recording does first: find the file, open it,
 * and give the kernel of the recording its symbols.
 */
#pragma once

#include "event/trace.h"
#include "sym/names/sym.h"

/* path NULL: stdin when it is a pipe, else perf.data. */
const char *input_path(const char *path);
/* What has no samples, and is no recording that could say why, is refused. */
int input_open(const char *path, struct source **ret, struct err *e);

/* An error when it is no perf.data recording, the only kind that what ("inject") works on. */
int input_only_perfdata(const struct source *s, const char *what, struct err *e);

/* --symfs as it is meant: "/", in any spelling, is where files are anyway. */
const char *input_symfs(const char *folder);

/* Where its files are looked for: below symfs, or among those that came with it. */
struct find_opts input_find(const struct source *s, const char *symfs);

/*
 * Give samples with stack copies their call chains: after this *s unwinds them as
 * it is read. Nothing changes for other recordings.
 */
void input_unwind(struct source **s, const char *symfs);

/*
 * See the recording as time off the CPU (calc/read/offcpu.h), wakers with it if that is
 * wanted.
 */
int input_off_cpu(struct source **s, bool wakers, struct err *e);
/* Time off the CPU beside the recording's samples. */
int input_wall(struct source **s, struct err *e);

struct input_kernel {
	const char *kallsyms, *vmlinux; /* what the user named; NULL: find it */
	const char *symfs;
	/* Names are wanted for addresses that no sample hit, too: those of the running kernel come
	 * first then, when it is the recorded one and was not booted since. */
	bool all;
};
/*
 * The kernel's symbols: the file the user named, those saved in the recording,
 * those of the running kernel when it is the recorded one, or perf's saved copy of
 * that build. An error only for a file that was named; else *note (a static text
 * or NULL) says why there are none.
 */
int input_kernel_symbols(const struct source *s, const struct input_kernel *o,
			 struct symbols *symbols, const char **note, struct err *e);

/*
 * All of that kernel's symbols as text, which the caller frees: those of the running one when
 * it is the recorded one, or perf's copy. -ENOENT when there are none, or all are hidden.
 */
int input_kallsyms(const struct trace *t, char **ret, size_t *n);
/* Is this the kernel of the recording? Where it says nothing, it is taken for this one. */
bool input_is_running_kernel(const struct trace *t);
/* Was it recorded on this machine since it booted, as far as one can tell? */
bool input_same_boot(const struct trace *t);

/*
 * The same as input_kernel_symbols(), but nothing is read before a kernel address is to be named:
 * kallsyms take longer to read than many recordings. s and note must outlive symbols; *note is set
 * then.
 */
int input_kernel_later(const struct source *s, const struct input_kernel *o,
		       struct symbols *symbols, const char **note, struct err *e);

/* The build-id of the recording's kernel; named: there is a mapping of one at all. */
struct build_id input_kernel_id(const struct trace *t, bool *named);

/* One line on stderr for each thing a reader must know: loss, damage. */
void input_warn(const struct source *s);
