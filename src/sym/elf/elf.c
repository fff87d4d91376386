/* SPDX-License-Identifier: MIT */
#include "sym/elf/elf.h"

#include <sys/mman.h>

#include "base/file.h"
#include "base/filemap.h"
#include "base/mem.h"
#include "base/str.h"

#define NATIVE (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)

bool build_id_match(const struct build_id *a, const struct build_id *b)
{
	const struct build_id *shorter = a->len < b->len ? a : b, *longer = shorter == a ? b : a;

	if (!shorter->len || memcmp(a->data, b->data, shorter->len) != 0)
		return false;
	for (unsigned i = shorter->len; i < longer->len; i++)
		if (longer->data[i])
			return false;
	return true;
}

char *build_id_text(const struct build_id *id, char *buf)
{
	str_hex(buf, id->data, id->len);
	return buf;
}

bool build_id_parse(const char *text, struct build_id *ret)
{
	struct build_id id = { 0 };

	for (; text[0] && text[1]; text += 2) {
		int hi = str_hex_digit(text[0]), lo = str_hex_digit(text[1]);

		if (hi < 0 || lo < 0 || id.len == ELF_BUILD_ID_MAX)
			return false;
		id.data[id.len++] = (uint8_t)(hi << 4 | lo);
	}
	if (*text || !id.len)
		return false;
	*ret = id;
	return true;
}

/* n things of size each at offset lie within the file. */
static bool elf_inside(const struct elf *e, uint64_t offset, uint64_t n, uint64_t each)
{
	return offset <= e->size && n <= (e->size - offset) / each;
}

static struct elf_section parse_section(const struct elf *e, const uint8_t *p)
{
	return (struct elf_section){
		.name = "",
		.type = (uint32_t)ELF_FIELD(e, p, Shdr, sh_type),
		.link = (uint32_t)ELF_FIELD(e, p, Shdr, sh_link),
		.info = (uint32_t)ELF_FIELD(e, p, Shdr, sh_info),
		.flags = ELF_FIELD(e, p, Shdr, sh_flags),
		.addr = ELF_FIELD(e, p, Shdr, sh_addr),
		.offset = ELF_FIELD(e, p, Shdr, sh_offset),
		.size = ELF_FIELD(e, p, Shdr, sh_size),
		.entsize = ELF_FIELD(e, p, Shdr, sh_entsize),
	};
}

static struct elf_segment parse_segment(const struct elf *e, const uint8_t *p)
{
	return (struct elf_segment){
		.type = (uint32_t)ELF_FIELD(e, p, Phdr, p_type),
		.flags = (uint32_t)ELF_FIELD(e, p, Phdr, p_flags),
		.offset = ELF_FIELD(e, p, Phdr, p_offset),
		.vaddr = ELF_FIELD(e, p, Phdr, p_vaddr),
		.filesz = ELF_FIELD(e, p, Phdr, p_filesz),
		.memsz = ELF_FIELD(e, p, Phdr, p_memsz),
	};
}

/* The name at an offset of a string section, if it ends within it. */
static const char *string_at(const struct elf *e, const struct elf_section *s, uint32_t at)
{
	size_t len;
	const uint8_t *data = elf_section_data(e, s, &len);

	if (!data || at >= len || !memchr(data + at, 0, len - at))
		return "";
	return (const char *)data + at;
}

struct headers {
	uint64_t shoff, phoff;
	uint64_t shnum, phnum, shstrndx;
};

static struct headers parse_ehdr(struct elf *e)
{
	const uint8_t *p = e->data;
	struct headers h = { .shoff = ELF_FIELD(e, p, Ehdr, e_shoff),
			     .phoff = ELF_FIELD(e, p, Ehdr, e_phoff),
			     .shnum = ELF_FIELD(e, p, Ehdr, e_shnum),
			     .phnum = ELF_FIELD(e, p, Ehdr, e_phnum),
			     .shstrndx = ELF_FIELD(e, p, Ehdr, e_shstrndx) };

	e->type = (uint16_t)ELF_FIELD(e, p, Ehdr, e_type);
	e->machine = (uint16_t)ELF_FIELD(e, p, Ehdr, e_machine);
	e->entry = ELF_FIELD(e, p, Ehdr, e_entry);
	if (ELF_FIELD(e, p, Ehdr, e_shentsize) != ELF_SIZE(e, Shdr) || !h.shoff ||
	    !elf_inside(e, h.shoff, 1, ELF_SIZE(e, Shdr)))
		h.shoff = h.shnum = 0;
	if (ELF_FIELD(e, p, Ehdr, e_phentsize) != ELF_SIZE(e, Phdr))
		h.phnum = 0;
	/* Numbers that do not fit 16 bits stand in section 0. */
	if (h.shoff) {
		struct elf_section zero = parse_section(e, e->data + h.shoff);

		if (h.shnum == 0)
			h.shnum = zero.size;
		if (h.shstrndx == SHN_XINDEX)
			h.shstrndx = zero.link;
		if (h.phnum == PN_XNUM)
			h.phnum = zero.info;
	}
	/* A file that was cut keeps its segments and loses its sections, or the other way. */
	if (!elf_inside(e, h.shoff, h.shnum, ELF_SIZE(e, Shdr)))
		h.shnum = 0;
	if (!elf_inside(e, h.phoff, h.phnum, ELF_SIZE(e, Phdr)))
		h.phnum = 0;
	return h;
}

static void find_build_id(struct elf *e)
{
	const uint8_t *data;
	size_t len;

	for (size_t i = 0; i < e->nsection; i++)
		if (e->section[i].type == SHT_NOTE &&
		    (data = elf_section_data(e, &e->section[i], &len)) &&
		    elf_note_build_id(data, len, e->swap, &e->build_id))
			return;
	for (size_t i = 0; i < e->nsegment; i++) {
		const struct elf_segment *s = &e->segment[i];

		if (s->type == PT_NOTE && elf_inside(e, s->offset, s->filesz, 1) &&
		    elf_note_build_id(e->data + s->offset, s->filesz, e->swap, &e->build_id))
			return;
	}
}

static int elf_parse(struct elf *e, struct err *err)
{
	const uint8_t *p = e->data;
	struct elf_section *sections;
	struct elf_segment *segments;
	struct headers h;

	if (e->size < sizeof(Elf32_Ehdr) || memcmp(p, ELFMAG, SELFMAG) != 0)
		return err_set(err, ENOEXEC, "%s is not an ELF file", e->path);
	e->is64 = p[EI_CLASS] == ELFCLASS64;
	e->swap = p[EI_DATA] != NATIVE;
	if ((!e->is64 && p[EI_CLASS] != ELFCLASS32) ||
	    (p[EI_DATA] != ELFDATA2LSB && p[EI_DATA] != ELFDATA2MSB) ||
	    (e->is64 && e->size < sizeof(Elf64_Ehdr)))
		return err_set(err, ENOEXEC, "%s has a broken ELF header", e->path);

	h = parse_ehdr(e);
	e->own = mem_alloc(h.shnum * sizeof(*sections) + h.phnum * sizeof(*segments));
	e->section = sections = e->own;
	e->segment = segments = (void *)(sections + h.shnum);
	for (size_t i = 0; i < h.phnum; i++)
		segments[i] = parse_segment(e, p + h.phoff + i * ELF_SIZE(e, Phdr));
	e->nsegment = h.phnum;
	for (size_t i = 0; i < h.shnum; i++)
		sections[i] = parse_section(e, p + h.shoff + i * ELF_SIZE(e, Shdr));
	e->nsection = h.shnum;
	if (h.shstrndx < h.shnum)
		for (size_t i = 0; i < h.shnum; i++)
			sections[i].name =
				string_at(e, &sections[h.shstrndx],
					  elf_u32(e, p + h.shoff + i * ELF_SIZE(e, Shdr)));
	find_build_id(e);
	return 0;
}

int elf_open_memory(const void *data, size_t size, const char *name, struct elf **ret,
		    struct err *err)
{
	struct elf *e = mem_alloc(sizeof(*e));
	int r;

	e->data = data;
	e->size = size;
	e->fd = -1;
	e->owner = geteuid();
	e->budget = mem_alloc(sizeof(*e->budget));
	e->budget->size = size;
	e->path = mem_strdup(name);
	r = elf_parse(e, err);
	if (r < 0) {
		elf_free(e);
		return r;
	}
	*ret = e;
	return 0;
}

int elf_open_fd(int fd, const char *name, struct elf **ret, struct err *err)
{
	struct stat st;
	void *p;
	int r;

	if (fstat(fd, &st) < 0)
		r = err_set(err, errno, "cannot stat %s: %s", name, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		r = err_set(err, ENOEXEC, "%s is not a regular file", name);
	else if (st.st_size < (off_t)sizeof(Elf32_Ehdr))
		r = err_set(err, ENOEXEC, "%s is not an ELF file", name);
	else if (!(p = filemap_open(fd, (size_t)st.st_size, name)))
		r = err_set(err, errno, "cannot map %s: %s", name, strerror(errno));
	else if ((r = elf_open_memory(p, (size_t)st.st_size, name, ret, err)) < 0)
		filemap_close(p, (size_t)st.st_size);
	else {
		(*ret)->mapped = p;
		(*ret)->fd = fd;
		(*ret)->key = cache_key_file(&st);
		(*ret)->owner = st.st_uid;
		(*ret)->budget->size = budget_size(&st);
		return 0;
	}
	close(fd);
	return r;
}

int elf_open_path(const char *path, struct elf **ret, struct err *err)
{
	int fd = file_open_input(path, err);

	return fd < 0 ? fd : elf_open_fd(fd, path, ret, err);
}

void elf_rest(const struct elf *e)
{
	if (e && e->mapped)
		madvise(e->mapped, e->size, MADV_DONTNEED);
}

void elf_close_fd(struct elf *e)
{
	if (!e || e->fd < 0)
		return;
	close(e->fd);
	e->fd = -1;
}

void elf_free(struct elf *e)
{
	if (!e)
		return;
	if (e->mapped)
		filemap_close(e->mapped, e->size);
	elf_close_fd(e);
	budget_give(e->budget, e->budget->taken);
	free(e->budget);
	free(e->own);
	free((char *)e->path);
	free(e);
}

const struct elf_section *elf_section(const struct elf *e, const char *name)
{
	for (size_t i = 1; i < e->nsection; i++)
		if (strcmp(e->section[i].name, name) == 0)
			return &e->section[i];
	return NULL;
}

const uint8_t *elf_section_data(const struct elf *e, const struct elf_section *s, size_t *len)
{
	if (s->type == SHT_NOBITS || s->type == SHT_NULL || !elf_inside(e, s->offset, s->size, 1))
		return NULL;
	*len = s->size;
	return e->data + s->offset;
}

bool elf_vaddr(const struct elf *e, uint64_t offset, uint64_t *ret)
{
	for (int executable = 1; executable >= 0; executable--)
		for (size_t i = 0; i < e->nsegment; i++) {
			const struct elf_segment *s = &e->segment[i];

			if (s->type != PT_LOAD || !!(s->flags & PF_X) != executable ||
			    offset < s->offset || offset - s->offset >= s->filesz)
				continue;
			*ret = offset - s->offset + s->vaddr;
			return true;
		}
	/* Zeroed data behind what the file has, as far as the mapping's last page reaches. */
	for (size_t i = 0; i < e->nsegment; i++) {
		const struct elf_segment *s = &e->segment[i];

		if (s->type == PT_LOAD && (s->flags & PF_W) && s->memsz > s->filesz &&
		    offset >= s->offset && offset - s->offset < s->memsz) {
			*ret = offset - s->offset + s->vaddr;
			return true;
		}
	}
	return false;
}

bool elf_is_code(const struct elf *e, uint64_t vaddr)
{
	for (size_t i = 0; i < e->nsegment; i++)
		if (elf_executed(&e->segment[i]) && vaddr >= e->segment[i].vaddr &&
		    vaddr - e->segment[i].vaddr < e->segment[i].filesz)
			return true;
	return false;
}

bool elf_code_span(const struct elf *e, uint64_t offset, uint64_t *first, uint64_t *end)
{
	for (size_t i = 0; i < e->nsegment; i++) {
		const struct elf_segment *s = &e->segment[i];

		if (!elf_executed(s))
			continue;
		/* only the first: where it has a part of another, it counts */
		*first = s->offset;
		*end = s->filesz > UINT64_MAX - s->offset ? UINT64_MAX : s->offset + s->filesz;
		return offset >= *first && offset < *end;
	}
	return false;
}

static const struct elf_segment *segment_of(const struct elf *e, uint64_t vaddr)
{
	for (size_t i = 0; i < e->nsegment; i++) {
		const struct elf_segment *s = &e->segment[i];

		if (s->type == PT_LOAD && vaddr >= s->vaddr && vaddr - s->vaddr < s->filesz)
			return s;
	}
	return NULL;
}

bool elf_offset(const struct elf *e, uint64_t vaddr, uint64_t *ret)
{
	const struct elf_segment *s = segment_of(e, vaddr);

	if (s)
		*ret = vaddr - s->vaddr + s->offset;
	return s;
}

const uint8_t *elf_bytes(const struct elf *e, uint64_t vaddr, size_t *len)
{
	const struct elf_segment *s = segment_of(e, vaddr);

	*len = 0;
	if (!s || !elf_inside(e, s->offset, s->filesz, 1))
		return NULL;
	*len = s->filesz - (vaddr - s->vaddr);
	return e->data + s->offset + (vaddr - s->vaddr);
}

bool elf_note_build_id(const uint8_t *note, size_t len, bool swap, struct build_id *ret)
{
	const struct elf order = { .swap = swap };

	while (len >= 12) {
		size_t name = elf_u32(&order, note), desc = elf_u32(&order, note + 4);
		uint32_t type = elf_u32(&order, note + 8);
		size_t desc_at = 12 + ((name + 3) & ~(size_t)3);
		size_t next = desc_at + ((desc + 3) & ~(size_t)3);

		if (desc_at > len || desc > len - desc_at)
			return false;
		if (type == NT_GNU_BUILD_ID && name == 4 && memcmp(note + 12, "GNU", 4) == 0 &&
		    desc > 0 && desc <= ELF_BUILD_ID_MAX) {
			ret->len = (uint8_t)desc;
			memcpy(ret->data, note + desc_at, desc);
			return true;
		}
		if (next >= len)
			return false;
		note += next;
		len -= next;
	}
	return false;
}

/* A section that starts with a name; returns where the bytes after its NUL are. */
static const uint8_t *named_section(const struct elf *e, const char *section, const char **name,
				    size_t *rest)
{
	const struct elf_section *s = elf_section(e, section);
	const uint8_t *data, *end;
	size_t len;

	if (!s || !(data = elf_section_data(e, s, &len)) || !(end = memchr(data, 0, len)) ||
	    end == data)
		return NULL;
	*name = (const char *)data;
	*rest = len - (size_t)(end + 1 - data);
	return end + 1;
}

bool elf_debuglink(const struct elf *e, const char **name, uint32_t *crc)
{
	const char *text;
	size_t rest, pad;
	const uint8_t *p = named_section(e, ".gnu_debuglink", &text, &rest);

	if (!p)
		return false;
	pad = -(strlen(text) + 1) & 3;
	if (rest < pad + 4)
		return false;
	*name = text;
	*crc = elf_u32(e, p + pad);
	return true;
}

bool elf_debugaltlink(const struct elf *e, const char **name, struct build_id *id)
{
	const char *text;
	size_t rest;
	const uint8_t *p = named_section(e, ".gnu_debugaltlink", &text, &rest);

	if (!p || rest == 0 || rest > ELF_BUILD_ID_MAX)
		return false;
	*name = text;
	id->len = (uint8_t)rest;
	memcpy(id->data, p, rest);
	return true;
}

/* --- by read(): nothing is mapped, so a file that is being written does no harm --- */

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

bool elf_fd_build_id(int fd, struct build_id *ret)
{
	uint8_t head[sizeof(Elf64_Ehdr)], row[sizeof(Elf64_Phdr)];
	struct elf e = { .data = head };
	struct elf_segment s;
	struct stat st;
	uint64_t at;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !read_at(fd, 0, head, sizeof(head)) ||
	    memcmp(head, ELFMAG, SELFMAG) != 0 || head[EI_DATA] != NATIVE)
		return false;
	e.is64 = head[EI_CLASS] == ELFCLASS64;
	if (ELF_FIELD(&e, head, Ehdr, e_phentsize) != ELF_SIZE(&e, Phdr))
		return false;
	at = ELF_FIELD(&e, head, Ehdr, e_phoff);
	for (unsigned i = 0; i < ELF_FIELD(&e, head, Ehdr, e_phnum) && i < PHDRS_MAX;
	     i++, at += ELF_SIZE(&e, Phdr)) {
		if (!read_at(fd, at, row, ELF_SIZE(&e, Phdr)))
			continue;
		s = parse_segment(&e, row);
		if (s.type == PT_NOTE && note_has_id(fd, s.offset, s.filesz, ret))
			return true;
	}
	return false;
}
