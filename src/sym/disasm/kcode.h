/* SPDX-License-Identifier: MIT */
/*
 * The kernel's machine code: from a vmlinux file of the recorded build, else
 * from /proc/kcore when the recorded kernel is the running one (this has the
 * modules and every patched instruction too). After another boot the kernel lies
 * elsewhere; that is found out and allowed for.
 */
#pragma once

#include "base/tar.h"
#include "sym/elf/elf.h"

struct kcode_want {
	const char *vmlinux; /* the one to use; NULL: look where packages put it */
	const char *symfs;   /* look below this folder; NULL: / */
	const char *release; /* of the recorded kernel; NULL: not known */
	struct build_id id;  /* of the recorded kernel; len 0: not known */
	uint64_t text;	     /* where its code began when it was recorded; 0: not known */
	struct tar *archive; /* what came with the recording; NULL: nothing */
	bool module; /* it is about a module, which only the core has, and only of that boot */
	const char *kcore; /* NULL: /proc/kcore */
};

struct kcode {
	uint64_t slide; /* recorded address = the file's + slide */
	uint16_t machine;
	char *path;
	struct elf *elf; /* a vmlinux; NULL: fd is a core */
	int fd;
	Elf64_Phdr *segment;
	size_t n_segments;
};

/*
 * On failure *ret is untouched, and e says which files were looked for and what
 * was wrong with each.
 */
int kcode_open(const struct kcode_want *w, struct kcode **ret, struct err *e);
void kcode_close(struct kcode *k); /* NULL is fine */

/* Up to n bytes at an address of the recorded kernel. How many, or -errno. */
int kcode_read(const struct kcode *k, uint64_t addr, uint8_t *buf, size_t n, struct err *e);
