/* SPDX-License-Identifier: MIT */
/*
 * Finding call frame information in an ELF image, by section headers or, where
 * they were stripped, by PT_GNU_EH_FRAME. Only 64-bit little-endian x86_64 and
 * aarch64; the parts that matter are read into memory, nothing is mapped.
 */
#include "sym/unwind/ehframe_cfi.h"

#include <elf.h>
#include <fcntl.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/unpack.h"
#include "config.h"

#define SECTION_MAX ((uint64_t)512 << 20)
#define OFFSET_MAX ((uint64_t)1 << 40)
#define PHDRS_MAX 512
#define SEARCH_MAX ((uint64_t)64 << 20)

/* Up to n bytes at a place in the image; how many there are, 0 on failure. */
static size_t ehframe_read(const struct ehframe *f, uint64_t off, void *buf, size_t n)
{
	size_t got = 0;

	if (off >= f->size)
		return 0;
	if (n > f->size - off)
		n = f->size - off;
	if (f->fd < 0) {
		memcpy(buf, f->data + off, n);
		return n;
	}
	while (got < n) {
		ssize_t r = pread(f->fd, (char *)buf + got, n - got, (off_t)(off + got));

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			break;
		got += (size_t)r;
	}
	return got;
}

/* Where in the image the bytes at a virtual address are, and how many follow. */
static bool image_at(const struct ehframe *f, uint64_t vaddr, uint64_t *off, uint64_t *left)
{
	for (unsigned i = 0; i < f->n_loads; i++) {
		const struct ehframe_seg *s = &f->load[i];

		if (vaddr - s->vaddr < s->size) {
			*off = f->loaded ? vaddr - f->load[0].vaddr : vaddr - s->vaddr + s->off;
			*left = s->size - (vaddr - s->vaddr);
			return true;
		}
	}
	return false;
}

size_t ehframe_text(const struct ehframe *f, uint64_t off, void *buf, size_t n)
{
	uint64_t vaddr, at, left;

	if (!ehframe_vaddr(f, off, &vaddr) || !image_at(f, vaddr, &at, &left))
		return 0;
	return ehframe_read(f, at, buf, n < left ? n : left);
}

/* All n bytes or nothing: a new buffer, or the image itself when that is in memory. */
static int ehframe_elf_take(const struct ehframe *f, uint64_t off, uint64_t n, const uint8_t **ret,
			    void **owned, struct err *e)
{
	void *buf;

	if (n > SECTION_MAX)
		return err_set(e, EFBIG, "its unwinding section has %llu MiB, more than %llu",
			       (unsigned long long)n >> 20, (unsigned long long)SECTION_MAX >> 20);
	if (off > f->size || n > f->size - off)
		return err_set(e, EBADMSG, "its unwinding section lies outside the file");
	if (f->fd < 0) {
		*ret = f->data + off;
		return 0;
	}
	buf = mem_grow(NULL, n);
	if (ehframe_read(f, off, buf, n) != n) {
		free(buf);
		return err_set(e, EIO, "it became shorter while it was read");
	}
	free(*owned);
	*owned = buf;
	*ret = buf;
	return 0;
}

static void seg_add(struct ehframe_seg *segs, unsigned *n, const Elf64_Phdr *p)
{
	unsigned i = *n;

	if (i == EHFRAME_SEGS_MAX)
		return;
	for (; i && segs[i - 1].off > p->p_offset; i--)
		segs[i] = segs[i - 1];
	segs[i] = (struct ehframe_seg){ p->p_offset, p->p_vaddr, p->p_filesz };
	(*n)++;
}

static int program_headers(struct ehframe *f, const Elf64_Ehdr *eh, uint64_t *hdr_vaddr,
			   uint64_t *hdr_size, struct err *e)
{
	AUTO_FREE Elf64_Phdr *ph = NULL;
	unsigned n = eh->e_phnum < PHDRS_MAX ? eh->e_phnum : PHDRS_MAX;

	if (!n || eh->e_phentsize != sizeof(*ph))
		return err_set(e, ENOEXEC, "it has no program headers");
	ph = mem_alloc(n * sizeof(*ph));
	if (ehframe_read(f, eh->e_phoff, ph, n * sizeof(*ph)) != n * sizeof(*ph))
		return err_set(e, EBADMSG, "its program headers lie outside the file");
	for (unsigned i = 0; i < n; i++) {
		if (ph[i].p_type != PT_LOAD || !ph[i].p_filesz || ph[i].p_offset > OFFSET_MAX ||
		    ph[i].p_filesz > OFFSET_MAX || ph[i].p_vaddr + ph[i].p_filesz < ph[i].p_vaddr)
			continue;
		if (!f->loaded && ph[i].p_offset >= f->size)
			continue;
		if (!f->loaded && ph[i].p_filesz > f->size - ph[i].p_offset)
			ph[i].p_filesz = f->size - ph[i].p_offset;
		seg_add(f->load, &f->n_loads, &ph[i]);
		if (ph[i].p_flags & PF_X)
			seg_add(f->seg, &f->n_segs, &ph[i]);
	}
	for (unsigned i = 0; i < n; i++) {
		if (ph[i].p_type == PT_GNU_EH_FRAME) {
			*hdr_vaddr = ph[i].p_vaddr;
			*hdr_size = ph[i].p_filesz;
		}
	}
	/* Offsets must lead to one address only. */
	for (unsigned i = 1; i < f->n_segs; i++)
		if (f->seg[i - 1].size > f->seg[i].off - f->seg[i - 1].off)
			f->seg[i - 1].size = f->seg[i].off - f->seg[i - 1].off;
	return f->n_segs ? 0 : err_set(e, ENOEXEC, "it has no executable segment");
}

/* .debug_frame may be compressed; the bound is what it says it has, and SECTION_MAX. */
static int inflate_section(struct cfi_section *s, void **owned, struct err *e)
{
	Elf64_Chdr ch;
	void *out;
	int r;

	if (s->size < sizeof(ch))
		return err_set(e, EBADMSG, ".debug_frame is too short");
	memcpy(&ch, s->data, sizeof(ch));
	/* zlib cannot do better than about 1:1032. */
	if (ch.ch_type != ELFCOMPRESS_ZLIB || ch.ch_size > SECTION_MAX || !ch.ch_size ||
	    ch.ch_size / 1100 > s->size)
		return err_set(e, EOPNOTSUPP, ".debug_frame is compressed in an unknown way");
	out = mem_grow(NULL, ch.ch_size);
	r = unpack_exactly(UNPACK_ZLIB, s->data + sizeof(ch), s->size - sizeof(ch), out,
			   ch.ch_size);
	if (r < 0) {
		free(out);
		return r == -ENOTSUP
			       ? err_set(e, EOPNOTSUPP,
					 ".debug_frame is compressed, and this kymo has no zlib")
			       : err_set(e, EBADMSG, ".debug_frame cannot be decompressed");
	}
	free(*owned);
	*owned = out;
	s->data = out;
	s->size = ch.ch_size;
	return 0;
}

/* Where executable sections are; a segment may hold much more than those. */
static void code_range(struct ehframe *f, const Elf64_Shdr *sh, size_t n)
{
	uint64_t lo = UINT64_MAX, hi = 0;

	for (size_t i = 0; i < n; i++) {
		if (!(sh[i].sh_flags & SHF_EXECINSTR) || sh[i].sh_type == SHT_NOBITS ||
		    sh[i].sh_offset > OFFSET_MAX || sh[i].sh_size > OFFSET_MAX)
			continue;
		if (sh[i].sh_offset < lo)
			lo = sh[i].sh_offset;
		if (sh[i].sh_offset + sh[i].sh_size > hi)
			hi = sh[i].sh_offset + sh[i].sh_size;
	}
	if (lo < hi) {
		f->code_start = lo;
		f->code_end = hi;
	}
}

static const char *section_name(const char *names, size_t n, uint32_t at)
{
	return at < n && memchr(names + at, 0, n - at) ? names + at : "";
}

static int take_section(struct ehframe *f, const Elf64_Shdr *sh, struct cfi_section *s,
			void **owned, struct err *e)
{
	int err = ehframe_elf_take(f, sh->sh_offset, sh->sh_size, &s->data, owned, e);

	if (err)
		return err;
	s->size = sh->sh_size;
	s->vaddr = sh->sh_addr;
	return sh->sh_flags & SHF_COMPRESSED ? inflate_section(s, owned, e) : 0;
}

/* .eh_frame and .debug_frame by name; a bad .debug_frame is as good as none. */
static int by_sections(struct ehframe *f, const Elf64_Ehdr *eh, struct err *e)
{
	AUTO_FREE Elf64_Shdr *sh = NULL;
	AUTO_FREE char *names = NULL;
	size_t n = eh->e_shnum, names_size;
	int err = 0;

	if (f->loaded || !n || eh->e_shentsize != sizeof(*sh) || eh->e_shstrndx >= n)
		return 0;
	sh = mem_alloc(n * sizeof(*sh));
	if (ehframe_read(f, eh->e_shoff, sh, n * sizeof(*sh)) != n * sizeof(*sh))
		return 0;
	names_size = sh[eh->e_shstrndx].sh_size < (16u << 20) ? sh[eh->e_shstrndx].sh_size : 0;
	names = mem_alloc(names_size);
	names_size = ehframe_read(f, sh[eh->e_shstrndx].sh_offset, names, names_size);
	f->n_sections = n;
	code_range(f, sh, n);
	for (size_t i = 0; i < n && !err; i++) {
		const char *name = section_name(names, names_size, sh[i].sh_name);

		if (sh[i].sh_type == SHT_NOBITS || !sh[i].sh_size)
			continue;
		/* Some tools leave a .eh_frame that holds only its terminator. */
		if (!strcmp(name, ".eh_frame") && sh[i].sh_size > 4 && !f->frame.data)
			err = take_section(f, &sh[i], &f->frame, &f->frame_owned, e);
		else if (!strcmp(name, ".debug_frame") && !f->debug.data &&
			 take_section(f, &sh[i], &f->debug, &f->debug_owned, NULL) < 0)
			f->debug = (struct cfi_section){ 0 };
		else if ((!strcmp(name, ".gopclntab") || !strcmp(name, ".data.rel.ro.gopclntab")) &&
			 !f->go.data && take_section(f, &sh[i], &f->go, &f->go_owned, NULL) < 0)
			f->go = (struct cfi_section){ 0 };
		else if (!strcmp(name, ".text"))
			f->text = sh[i].sh_addr;
	}
	f->debug.debug = true;
	return err;
}

/* .eh_frame_hdr leads to .eh_frame, whose end is then the segment's. */
static int by_hdr(struct ehframe *f, struct err *e)
{
	struct bytes r = { .p = f->hdr.data, .end = f->hdr.data + f->hdr.size };
	uint64_t off, left;
	uint8_t enc;
	int err;

	bytes_skip(&r, 1);
	enc = bytes_u8(&r);
	bytes_skip(&r, 2);
	f->frame.vaddr = cfi_pointer(&r, enc, &f->hdr);
	if (r.bad || !image_at(f, f->frame.vaddr, &off, &left))
		return 0;
	err = ehframe_elf_take(f, off, left, &f->frame.data, &f->frame_owned, e);
	if (err)
		return err;
	f->frame.size = left;
	f->frame.open_end = true;
	return 0;
}

/* Whether entries that make sense, of code that is there, start at pos. */
static bool looks_like_frames(const struct ehframe *f, const struct cfi_section *s, uint64_t pos)
{
	struct cfi_entry en;
	unsigned fdes = 0;

	for (unsigned i = 0; i < 8 && cfi_entry_at(s, pos, &en) && !en.is_end; i++) {
		struct cfi_cie cie;
		struct cfi_fde fde;
		uint64_t off;

		if (en.is_cie
			    ? !cfi_cie_at(s, pos, &cie)
			    : !cfi_cie_at(s, en.cie_pos, &cie) || !cfi_fde_parse(&en, &cie, &fde) ||
				      !ehframe_offset(f, fde.start, &off))
			return false;
		fdes += !en.is_cie;
		pos = (uint64_t)(en.end - s->data);
	}
	return fdes >= 2;
}

/*
 * Neither sections nor .eh_frame_hdr: a static program that was stripped of its
 * section headers. .eh_frame is then looked for by its first bytes: a CIE of the
 * only kind linkers write, length, 0, version 1, "z...".
 */
static int by_search(struct ehframe *f, struct err *e)
{
	static const uint8_t head[] = { 0, 0, 0, 0, 1, 'z' };

	for (unsigned i = 0; i < f->n_loads; i++) {
		struct cfi_section s = { .vaddr = f->load[i].vaddr, .open_end = true };
		uint64_t off, left;
		const uint8_t *p;
		void *owned = NULL;
		int err;

		if (!image_at(f, s.vaddr, &off, &left) || left > SEARCH_MAX)
			continue;
		err = ehframe_elf_take(f, off, left, &s.data, &owned, e);
		if (err)
			return err;
		s.size = left;
		for (p = s.data; (p = memmem(p, (size_t)(s.data + left - p), head, sizeof(head)));
		     p++) {
			if (p - s.data < 4 || !looks_like_frames(f, &s, (uint64_t)(p - s.data) - 4))
				continue;
			f->frame = s;
			f->frame.data = p - 4;
			f->frame.vaddr += (uint64_t)(p - 4 - s.data);
			f->frame.size = left - (uint64_t)(p - 4 - s.data);
			f->frame_owned = owned;
			return 0;
		}
		free(owned);
	}
	return 0;
}

static int find_frames(struct ehframe *f, const Elf64_Ehdr *eh, struct err *e)
{
	uint64_t hdr_vaddr = 0, hdr_size = 0, off, left;
	int err = program_headers(f, eh, &hdr_vaddr, &hdr_size, e);

	if (!err)
		err = by_sections(f, eh, e);
	if (err)
		return err;
	/* A header that is not there is no error: without it the section is gone through. */
	if (hdr_size && image_at(f, hdr_vaddr, &off, &left) && hdr_size <= left &&
	    !ehframe_elf_take(f, off, hdr_size, &f->hdr.data, &f->hdr_owned, NULL)) {
		f->hdr.size = hdr_size;
		f->hdr.vaddr = hdr_vaddr;
		if (!f->frame.data)
			err = by_hdr(f, e);
	}
	if (!err && !f->frame.data && !f->debug.data && !f->n_sections)
		err = by_search(f, e);
	if (!err && !cfi_search_table(f).n)
		f->n_places = cfi_scan(f, &f->places);
	return err;
}

static int ehframe_elf_head(struct ehframe *f, Elf64_Ehdr *eh, struct err *e)
{
	f->code_end = UINT64_MAX;
	if (ehframe_read(f, 0, eh, sizeof(*eh)) != sizeof(*eh) ||
	    memcmp(eh->e_ident, ELFMAG, SELFMAG) != 0)
		return err_set(e, ENOEXEC, "it is no ELF file");
	if (eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_ident[EI_DATA] != ELFDATA2LSB ||
	    (eh->e_machine != EM_X86_64 && eh->e_machine != EM_AARCH64))
		return err_set(e, EOPNOTSUPP, "it is neither an x86_64 nor an aarch64 file");
	if (eh->e_type != ET_EXEC && eh->e_type != ET_DYN)
		return err_set(e, ENOEXEC, "it is neither a program nor a shared library");
	f->machine = eh->e_machine;
	f->entry = eh->e_type == ET_EXEC || eh->e_entry ? eh->e_entry : 0;
	return 0;
}

static int open_image(struct ehframe *f, struct ehframe **ret, struct err *e)
{
	Elf64_Ehdr eh = { 0 };
	int err = ehframe_elf_head(f, &eh, e);

	if (!err)
		err = find_frames(f, &eh, e);
	if (err) {
		ehframe_close(f);
		return err;
	}
	*ret = f;
	return 0;
}

int ehframe_open_fd(int fd, struct ehframe **ret, struct err *e)
{
	struct ehframe *f;
	struct stat st;
	int copy;

	if (fstat(fd, &st) < 0)
		return err_set(e, errno, "cannot look at the file: %s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(e, ENOEXEC, "it is not a regular file");
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (copy < 0)
		return err_set(e, errno, "cannot keep the file open: %s", strerror(errno));
	f = mem_alloc(sizeof(*f));
	f->fd = copy;
	f->size = (size_t)st.st_size;
	return open_image(f, ret, e);
}

int ehframe_open(const char *path, struct ehframe **ret, struct err *e)
{
	AUTO_CLOSE int fd = file_open_input(path, e);
	int err;

	if (fd < 0)
		return fd;
	err = ehframe_open_fd(fd, ret, e);
	if (err)
		err_wrap(e, "%s", path);
	return err;
}

int ehframe_open_mem(const void *data, size_t size, unsigned flags, struct ehframe **ret,
		     struct err *e)
{
	struct ehframe *f = mem_alloc(sizeof(*f));

	f->fd = -1;
	f->data = data;
	f->size = size;
	f->loaded = flags & EHFRAME_LOADED;
	return open_image(f, ret, e);
}

void ehframe_close(struct ehframe *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	free(f->frame_owned);
	free(f->debug_owned);
	free(f->hdr_owned);
	free(f->go_owned);
	free(f->places);
	free(f);
}

uint16_t ehframe_machine(const struct ehframe *f)
{
	return f->machine;
}

bool ehframe_has_cfi(const struct ehframe *f)
{
	return f->frame.data || f->debug.data || ehframe_go_has(f);
}

bool ehframe_vaddr(const struct ehframe *f, uint64_t off, uint64_t *vaddr)
{
	for (unsigned i = 0; i < f->n_segs; i++) {
		if (off - f->seg[i].off < f->seg[i].size) {
			*vaddr = off - f->seg[i].off + f->seg[i].vaddr;
			return true;
		}
	}
	return false;
}

bool ehframe_offset(const struct ehframe *f, uint64_t vaddr, uint64_t *off)
{
	for (unsigned i = 0; i < f->n_segs; i++) {
		if (vaddr - f->seg[i].vaddr < f->seg[i].size) {
			*off = vaddr - f->seg[i].vaddr + f->seg[i].off;
			return true;
		}
	}
	return false;
}
