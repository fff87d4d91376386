/* SPDX-License-Identifier: MIT */
/*
 * What is printed on a terminal cannot drive it.
 *
 * Names of processes, files and symbols are anybody's, and so are recordings. Where stdout or
 * stderr is a terminal, control characters, stray bytes and characters that turn the direction of
 * text are shown as \033; lines, tabs and kymo's own colours pass. In pipes and files nothing is
 * changed.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* Before anything is printed. stdout and stderr may have no descriptor from here on. */
void guard_start(void);

/* All of it to fd, which is guarded if it is stdout or stderr. 0 or -errno. */
int guard_write(int fd, const void *data, size_t n);

/* What kymo itself tells the terminal of f (or writes to f, where it is none). */
void guard_tell(FILE *f, const char *s);

/* The descriptor of f, and the stream that has it: for those who need more than printing. */
int guard_fileno(FILE *f);
FILE *guard_stdout(void);

/* The text as a terminal may have it: into malloc()ed memory, with a 0 at the end. */
char *guard_text(const void *data, size_t n);
