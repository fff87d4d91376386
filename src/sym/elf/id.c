/* SPDX-License-Identifier: MIT */
/* A file's build-id by read(): nothing is mapped, so a file that is being written does no harm. */
#include <elf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "sym/elf/elf.h"

#define PHDRS_MAX 256u
#define NOTE_MAX 4096u /* of notes that are looked through */

static bool read_at(int fd, uint64_t at, void *to, size_t n)
{
	return pread(fd, to, n, (off_t)at) == (ssize_t)n;
}

static bool note_has_id(int fd, uint64_t at, uint64_t size, struct build_id *ret)
{
	uint8_t note[NOTE_MAX];
	ssize_t n = pread(fd, note, size < sizeof(note) ? (size_t)size : sizeof(note), (off_t)at);

	return n > 0 && elf_note_build_id(note, (size_t)n, false, ret);
}

static bool id_of_64(int fd, struct build_id *ret)
{
	Elf64_Ehdr eh;
	Elf64_Phdr ph;

	if (!read_at(fd, 0, &eh, sizeof(eh)) || eh.e_phentsize != sizeof(ph))
		return false;
	for (unsigned i = 0; i < eh.e_phnum && i < PHDRS_MAX; i++)
		if (read_at(fd, eh.e_phoff + i * sizeof(ph), &ph, sizeof(ph)) &&
		    ph.p_type == PT_NOTE && note_has_id(fd, ph.p_offset, ph.p_filesz, ret))
			return true;
	return false;
}

static bool id_of_32(int fd, struct build_id *ret)
{
	Elf32_Ehdr eh;
	Elf32_Phdr ph;

	if (!read_at(fd, 0, &eh, sizeof(eh)) || eh.e_phentsize != sizeof(ph))
		return false;
	for (unsigned i = 0; i < eh.e_phnum && i < PHDRS_MAX; i++)
		if (read_at(fd, eh.e_phoff + i * sizeof(ph), &ph, sizeof(ph)) &&
		    ph.p_type == PT_NOTE && note_has_id(fd, ph.p_offset, ph.p_filesz, ret))
			return true;
	return false;
}

bool elf_fd_build_id(int fd, struct build_id *ret)
{
	const uint8_t native =
		__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	uint8_t ident[EI_NIDENT];
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !read_at(fd, 0, ident, sizeof(ident)) ||
	    memcmp(ident, ELFMAG, SELFMAG) != 0 || ident[EI_DATA] != native)
		return false;
	return ident[EI_CLASS] == ELFCLASS64 ? id_of_64(fd, ret) : id_of_32(fd, ret);
}
