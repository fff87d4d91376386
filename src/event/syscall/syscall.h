/* SPDX-License-Identifier: MIT */
/* System calls: their numbers, which each ABI has for itself, and their arguments, by name. */
#pragma once

#include <stdbool.h>

enum syscall_abi { SYSCALL_X86_64, SYSCALL_I386, SYSCALL_AARCH64, SYSCALL_ARM, SYSCALL_ABIS };

#define SYSCALL_MAX 1024 /* numbers are below it */

/* Of the machine this was built for, and of its 32-bit programs. */
enum syscall_abi syscall_native(void);
enum syscall_abi syscall_compat(void);
const char *syscall_abi_name(enum syscall_abi abi);

const char *syscall_name(enum syscall_abi abi, int nr); /* NULL: not known */
/* Also by what the kernel's events call it (newstat); -1: no such call. */
int syscall_number(enum syscall_abi abi, const char *name);

/* Groups of calls, as strace has them. */
#define SYSCALL_FILE (1u << 0) /* takes a file's name */
#define SYSCALL_DESC (1u << 1) /* has to do with descriptors */
#define SYSCALL_NETWORK (1u << 2)
#define SYSCALL_PROCESS (1u << 3)
#define SYSCALL_MEMORY (1u << 4)
#define SYSCALL_SIGNAL (1u << 5)
#define SYSCALL_IPC (1u << 6)
#define SYSCALL_CREDS (1u << 7)
#define SYSCALL_CLOCK (1u << 8)
#define SYSCALL_STAT (1u << 9)
/* 0: there is none of that name. */
unsigned syscall_group(const char *name);

enum syscall_type {
	SYSCALL_INT,
	SYSCALL_UINT,
	SYSCALL_LONG,
	SYSCALL_ULONG,
	SYSCALL_HEX,
	SYSCALL_PTR,
	SYSCALL_MODE,	   /* octal */
	SYSCALL_OPEN_MODE, /* the same, and only there when the flags before it make a file */
	SYSCALL_FD,
	SYSCALL_AT, /* a descriptor of a folder, or AT_FDCWD */
	SYSCALL_SIG,
	SYSCALL_PATH,
	SYSCALL_BUF,	  /* as long as argument ref says */
	SYSCALL_OUT,	  /* the same, filled by the call as far as its result says */
	SYSCALL_ARGV,	  /* strings */
	SYSCALL_ENVP,	  /* strings that are not shown */
	SYSCALL_ADDR,	  /* of a socket; ref: the argument with its length */
	SYSCALL_ADDR_OUT, /* the same, ref points to the length */
	SYSCALL_LENGTH,	  /* what SYSCALL_ADDR_OUT points to */
	SYSCALL_IOV,
	SYSCALL_IOV_OUT,
	SYSCALL_MSG,
	SYSCALL_MSG_OUT,
	SYSCALL_FLAGS,	     /* set: names of bits */
	SYSCALL_ENUM,	     /* set: names of values */
	SYSCALL_STRUCT,	     /* set: the kernel's name of it */
	SYSCALL_STRUCT_OUT,  /* filled by the call */
	SYSCALL_STRUCT_IO,   /* both; shown as it was left */
	SYSCALL_STRUCT_LEFT, /* filled by a call that was interrupted */
	SYSCALL_ARRAY,	     /* of structs; ref: how many */
	SYSCALL_ARRAY_IO,    /* shown as the call left it */
	SYSCALL_RESULTS,     /* of structs, as many as the result says */
	SYSCALL_SIGSET,
	SYSCALL_SIGSET_OUT,
	SYSCALL_PAIR,  /* two descriptors that the call made */
	SYSCALL_FDSET, /* of select; ref: how many bits */
	SYSCALL_INT_OUT,
	SYSCALL_FCNTL, /* depends on the command before it */
	SYSCALL_IOCTL, /* depends on the command before it */
	SYSCALL_PRCTL, /* depends on the option before it */
	SYSCALL_CPUS,  /* a mask as long as argument ref says */
	SYSCALL_CPUS_OUT,
	SYSCALL_TIMES, /* two of struct __kernel_timespec, of utimensat */
	SYSCALL_KEY,   /* of System V */
	SYSCALL_POS,   /* in a file: with the next argument, which 32-bit programs need for it */
	SYSCALL_POS_HIGH,
	SYSCALL_WORDS, /* of 32 bits: what socketcall leads to */
	SYSCALL_TYPES
};

#define SYSCALL_ARGS 6

struct syscall_arg {
	char name[20];
	enum syscall_type type;
	int ref;      /* another argument's index; -1: none */
	char set[28]; /* of flags, or a struct's name */
};

struct syscall_sig {
	unsigned groups;
	bool known; /* else: six numbers */
	unsigned n;
	struct syscall_arg arg[SYSCALL_ARGS];
	enum syscall_type ret; /* SYSCALL_LONG, _FD, _HEX, _PTR, _MODE */
};

/* What is known of a call of this name; nothing is "known" of others. */
void syscall_sig(const char *name, struct syscall_sig *ret);
/* The same as programs of this kind make it: those of 32 bits have some arguments in two. */
void syscall_sig_of(enum syscall_abi abi, const char *name, struct syscall_sig *ret);
