/* SPDX-License-Identifier: MIT */
/*
 * Relocatable files (modules of the kernel) as if they had been loaded.
 *
 * Their sections all begin at address 0, and their debug info has holes that
 * relocations fill. Here every section with code or data gets an address of its
 * own, in the order of the file, so that symbols, debug info and frames can be
 * read as those of a library. The addresses mean nothing outside; what counts
 * is a symbol and the distance from it.
 *
 * 64-bit x86 and ARM in this machine's byte order. The file is untrusted.
 */
#ifndef KYMO_SYM_ELF_REL_H
#define KYMO_SYM_ELF_REL_H

#include "sym/elf/elf.h"

/* A new handle with a copy of e, which is not needed any more then. On failure *ret is untouched;
 * -ENOTSUP for what is no such file. */
int elf_relocate(const struct elf *e, struct elf **ret, struct err *err);

#endif
