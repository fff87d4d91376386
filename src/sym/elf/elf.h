/* SPDX-License-Identifier: MIT */
/*
 * Reading ELF files: headers, build-id, and the way between file offsets and addresses.
 *
 * Both word sizes and both byte orders, mapped and not copied. The file is
 * untrusted: no offset or size is followed before it was checked against the
 * file's length, so that whatever these functions hand out may be read. What
 * is wrong in a header makes that part absent, not the whole file refused.
 *
 * A handle does not change after it was opened; threads may share it.
 */
#pragma once

#include <elf.h>

#include "base/budget.h"
#include "base/bytes.h"
#include "sym/find/cache_key.h"

#define ELF_BUILD_ID_MAX 64

struct build_id {
	uint8_t len; /* 0: none */
	uint8_t data[ELF_BUILD_ID_MAX];
};
static inline bool build_id_same(const struct build_id *a, const struct build_id *b)
{
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}
/* perf pads short ids with zeros to 20 bytes: those are equal too. Neither may be empty. */
bool build_id_match(const struct build_id *a, const struct build_id *b);
#define BUILD_ID_TEXT (ELF_BUILD_ID_MAX * 2 + 1)
/* Lower-case hex into buf of BUILD_ID_TEXT bytes, which is returned. */
char *build_id_text(const struct build_id *id, char *buf);
/* From hex text; false when it is none. */
bool build_id_parse(const char *text, struct build_id *ret);

struct elf_section {
	const char *name; /* "" when it has none; lives as long as the handle */
	uint32_t type, link, info;
	uint64_t flags, addr, offset, size, entsize;
};

struct elf_segment {
	uint32_t type, flags;
	uint64_t offset, vaddr, filesz, memsz;
};
static inline bool elf_executed(const struct elf_segment *s)
{
	return s->type == PT_LOAD && (s->flags & PF_X);
}

struct elf {
	const uint8_t *data; /* the whole file */
	size_t size;
	bool is64, swap; /* swap: the other byte order than this machine's */
	uint16_t type, machine;
	uint64_t entry;
	const struct elf_section *section; /* number 0 is the empty one, as in the file */
	size_t nsection;
	const struct elf_segment *segment;
	size_t nsegment;
	struct build_id build_id;
	struct cache_key key;  /* of what is kept about it; CACHE_NONE: nothing */
	uid_t owner;	       /* of its file; ours when it is none */
	struct budget *budget; /* what unpacking its sections may take */
	bool unpacked;	       /* an archive brought it into perf's folder */
	int fd;		       /* kept open for whoever needs it; -1 when from memory, or closed */
	const char *path;      /* as given to elf_open_path */
	void *own, *mapped;    /* what elf_free gives back */
};

/* On failure *ret is untouched. -ENOEXEC: not an ELF file. */
int elf_open_path(const char *path, struct elf **ret, struct err *e);
/* Takes over fd, also on failure. name is for messages and elf->path. */
int elf_open_fd(int fd, const char *name, struct elf **ret, struct err *e);
/* data stays the caller's and must outlive the handle. */
int elf_open_memory(const void *data, size_t size, const char *name, struct elf **ret,
		    struct err *e);
void elf_free(struct elf *e); /* NULL is fine */
/* Much of it was read that will not be needed again: give the memory back. NULL is fine. */
void elf_rest(const struct elf *e);
/* Nobody needs the descriptor any more. NULL is fine. */
void elf_close_fd(struct elf *e);

/* The first section with that name, or NULL. */
const struct elf_section *elf_section(const struct elf *e, const char *name);
/* Its bytes, as they are in the file (maybe compressed). NULL when there are none in this file. */
const uint8_t *elf_section_data(const struct elf *e, const struct elf_section *s, size_t *len);

/*
 * perf's address of a sample within its file is ip - map_start + map_pgoff, an
 * offset in the file; symbols and debug info speak of virtual addresses. These
 * go through the PT_LOAD segments, an executable one first where two claim the
 * same offset. False when no segment holds it.
 */
bool elf_vaddr(const struct elf *e, uint64_t offset, uint64_t *ret);
bool elf_offset(const struct elf *e, uint64_t vaddr, uint64_t *ret);
/* Is there code at a virtual address? */
bool elf_is_code(const struct elf *e, uint64_t vaddr);
/* Offsets [first, end) of the code that one is in, all of which elf_vaddr() shifts alike. */
bool elf_code_span(const struct elf *e, uint64_t offset, uint64_t *first, uint64_t *end);

/* The bytes at a virtual address, as far as the file has them: *len is how many, 0 for none. */
const uint8_t *elf_bytes(const struct elf *e, uint64_t vaddr, size_t *len);

/*
 * .gnu_debuglink: the name of the debug file and its CRC.
 * .gnu_debugaltlink: the name of the shared (dwz) debug file and its build-id.
 */
bool elf_debuglink(const struct elf *e, const char **name, uint32_t *crc);
bool elf_debugaltlink(const struct elf *e, const char **name, struct build_id *id);

/*
 * The build-id of a program or library that runs here, which may be written to meanwhile. False
 * when it has none, or is of another byte order.
 */
bool elf_fd_build_id(int fd, struct build_id *ret);

/* The build-id of a note (section or segment) of len bytes. False when it has none. */
bool elf_note_build_id(const uint8_t *note, size_t len, bool swap, struct build_id *ret);

/*
 * Relocatable files (modules of the kernel) as if they had been loaded: a new handle with a copy of
 * e, which is not needed any more then. Their sections all begin at address 0, and their debug info
 * has holes that relocations fill. Here every section with code or data gets an address of its own,
 * in the order of the file. The addresses mean nothing outside; what counts is a symbol and the
 * distance from it. 64-bit x86 and ARM in this machine's byte order; -ENOTSUP for other files.
 */
int elf_relocate(const struct elf *e, struct elf **ret, struct err *err);

/*
 * A section's plain bytes, unpacked where they are compressed (SHF_COMPRESSED, and .zdebug of old).
 * *own is what to free (NULL: the bytes are the file's own). -ENOENT when there are none here.
 * Sizes that the file claims are checked against limit and its budget; -EBADMSG, -EFBIG, -ENOTSUP
 * when built without the library.
 */
int elf_unpack_section(const struct elf *e, const struct elf_section *s, size_t limit,
		       const uint8_t **ret, size_t *ret_len, void **own);

/* A number of a header or a table's row. */
static inline uint64_t elf_uint(const struct elf *e, const void *p, size_t size)
{
	return bytes_at(p, size, e->swap);
}
static inline uint16_t elf_u16(const struct elf *e, const void *p)
{
	return (uint16_t)elf_uint(e, p, 2);
}
static inline uint32_t elf_u32(const struct elf *e, const void *p)
{
	return (uint32_t)elf_uint(e, p, 4);
}
static inline uint64_t elf_u64(const struct elf *e, const void *p)
{
	return elf_uint(e, p, 8);
}
/* A field of one, at its place for the file's word size. */
#define ELF_FIELD_OF(e, p, type, field) \
	elf_uint(e, (p) + offsetof(type, field), sizeof(((type *)0)->field))
#define ELF_FIELD(e, p, type, field)                         \
	((e)->is64 ? ELF_FIELD_OF(e, p, Elf64_##type, field) \
		   : ELF_FIELD_OF(e, p, Elf32_##type, field))
#define ELF_SIZE(e, type) ((e)->is64 ? sizeof(Elf64_##type) : sizeof(Elf32_##type))
