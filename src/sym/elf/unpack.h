/* SPDX-License-Identifier: MIT */
/*
 * Undoing compression of ELF sections: xz streams (.gnu_debugdata), and
 * SHF_COMPRESSED and old .zdebug sections (zlib, zstd).
 *
 * Sizes the file claims are checked against limit and against the file's budget (base/budget.h)
 * before memory is taken, and memory grows only as data really comes out.
 */
#ifndef KYMO_SYM_ELF_UNPACK_H
#define KYMO_SYM_ELF_UNPACK_H

#include <stddef.h>
#include <stdint.h>

#include "sym/elf/elf.h"

/* *ret is the caller's to free. -EBADMSG, -EFBIG, -ENOTSUP when built without the library. */
int unpack_xz(const struct elf *e, const void *data, size_t len, size_t limit, void **ret,
	      size_t *ret_len);

/*
 * A section's plain bytes. *own is what to free (NULL: the bytes are the
 * file's own). -ENOENT when the section has no bytes here.
 */
int unpack_section(const struct elf *e, const struct elf_section *s, size_t limit,
		   const uint8_t **ret, size_t *ret_len, void **own);

#endif
