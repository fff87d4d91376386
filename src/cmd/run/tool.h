/* SPDX-License-Identifier: MIT */
/* The shipped programs of tools/, each a command; scripts/tools makes their tables. */
#pragma once

#include <stdint.h>

#include "base/mem.h"
#include "base/vec.h"
#include "cmd/command.h"

#define TOOL_OPTIONS 28
#define TOOL_WORDS 8

/* What a value is, which its placeholder in the help says. */
enum tool_kind {
	TOOL_FLAG,
	TOOL_TEXT,	/* as it is: the name of a file */
	TOOL_NUMBER,	/* a whole number, 0 or more */
	TOOL_PID,	/* a process, by number or name: the number */
	TOOL_DURATION,	/* for kymo, not for the program: how long it runs */
	TOOL_DEV,	/* 202,1 or vda: the kernel's number of the device */
	TOOL_MATCH,	/* part of a text, or a pattern: a shell pattern */
	TOOL_USER,	/* a name or number: the number */
	TOOL_LIST,	/* 80,443: --port=80 --port2=443 */
	TOOL_FUNCTION,	/* vfs_read, libc:malloc: the kind of the probes on $1 */
	TOOL_OPENFLAGS, /* O_WRONLY,O_CREAT: their numbers, together */
	TOOL_ERRNO,	/* ENOENT: its number */
	TOOL_CALL,	/* openat: the number of a system call */
	TOOL_JSON,	/* a flag for kymo, not for the program */
	TOOL_CALLS,	/* another: list the system calls, and no more */
	TOOL_SOURCE,	/* another: print the program, and no more */
	TOOL_SHOW,	/* another: print it, and run it */
	TOOL_SELF,	/* another: what kymo itself does, too */
	TOOL_LIBRARY,	/* openssl:/opt/libssl.so: probes of libssl in another file, too */
	TOOL_COMMAND,	/* this and all behind it are run; getopt() gives its process */
};

struct tool_option {
	const char *name; /* getopt()'s in the program */
	enum tool_kind kind;
	/* What the value replaces in the program, where no getopt() can stand; NULL: nothing. */
	const char *before, *old, *after;
	const char *first; /* and what stands before the value then */
};
struct tool {
	const struct command *command;
	const char *text;    /* the program */
	const char *example; /* real output, explained */
	struct tool_option option[TOOL_OPTIONS];
	unsigned n_options;
	struct tool_option word[TOOL_WORDS]; /* behind the options, in order */
	unsigned n_words;
};
extern const struct tool tools[];
extern const size_t n_tools;

/* A tool that is a command written in C; the list ends with one without a command. */
struct tool_command {
	const struct command *command;
	const char *example;
};
extern const struct tool_command tool_commands[];

struct tool_args {
	bool flag[TOOL_OPTIONS];
	const char *value[TOOL_OPTIONS];
};
int tool_run(const struct tool *t, void *args, int argc, char **argv, struct err *e);

/* A program and its arguments, made of a tool and what was given on the command line. */
struct tool_call {
	struct arena arena;
	const char *text;
	VEC(char *) args;
	bool json;
	bool list_calls, source, show, self;
	char **command;	   /* to be run, NULL: none */
	uint64_t limit_ns; /* end after so long; 0: never */
};
int tool_call_make(const struct tool *t, const struct tool_args *a, int argc, char **argv,
		   struct tool_call *ret, struct err *e);
void tool_call_free(struct tool_call *c);
