/* SPDX-License-Identifier: MIT */
/*
 * Static probes in programs (USDT, SystemTap's sdt.h): notes that say where
 * each is, under which name, and where its arguments are kept.
 */
#pragma once

#include "base/str.h"
#include "sym/elf/elf.h"

struct usdt_probe {
	const char *provider, *name, *args; /* point into the file; args: "-4@%eax 8@%rdi" */
	uint64_t pc;			    /* virtual addresses */
	uint64_t semaphore;		    /* counted up while somebody looks; 0: none */
};

/* A non-zero answer ends it and is handed on. */
int usdt_each(const struct elf *e, int (*fn)(void *ctx, const struct usdt_probe *p), void *ctx);

/* One argument of the notes' text. */
struct usdt_arg {
	int size; /* in bytes; negative: signed */
	enum { USDT_REG, USDT_MEM, USDT_CONST } kind;
	char reg[8];   /* as the kernel calls it: "di", "x0" */
	char index[8]; /* of memory at reg + index * scale + off; "": none */
	int scale;
	int64_t off;	 /* or the constant */
	char symbol[64]; /* memory at symbol + off (relative to the program counter); "": none */
};
/* The next argument; text moves behind it. 0 at the end, -EINVAL for a form that is not known. */
int usdt_arg_next(const char **text, uint16_t machine, struct usdt_arg *ret);
/* " arg1=%ax:s32 arg2=..." for a uprobe; those that cannot be fetched are left out. */
void usdt_args_text(const struct usdt_probe *p, uint16_t machine, struct strbuf *out);
