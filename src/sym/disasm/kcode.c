/* SPDX-License-Identifier: MIT */
#include "sym/disasm/kcode.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/utsname.h>

#include "base/file.h"
#include "base/mem.h"
#include "event/symline.h"
#include "sym/find/archive.h"

#define CORE_SEGMENTS_MAX 4096

/* Where the kernel's code begins: its first segment in the upper half (x86 has one at 0 too). */
static uint64_t kcode_text_of(const struct elf *e)
{
	uint64_t low = 0;

	for (size_t i = 0; i < e->nsegment; i++)
		if (e->segment[i].type == PT_LOAD && e->segment[i].vaddr >> 63 &&
		    (!low || e->segment[i].vaddr < low))
			low = e->segment[i].vaddr;
	return low;
}

/* elf is taken over. */
static int use_vmlinux(const struct kcode_want *w, struct elf *elf, const char *path,
		       struct kcode **ret, struct err *e)
{
	struct kcode *k;

	if (w->id.len && elf->build_id.len && !build_id_match(&elf->build_id, &w->id)) {
		elf_free(elf);
		return err_set(e, ESTALE, "%s is of another build than the recorded kernel", path);
	}
	k = mem_alloc(sizeof(*k));
	k->elf = elf;
	k->fd = -1;
	k->machine = elf->machine;
	k->path = mem_strdup(path);
	if (w->text && kcode_text_of(elf))
		k->slide = w->text - kcode_text_of(elf);
	*ret = k;
	return 0;
}

static int open_vmlinux(const struct kcode_want *w, const char *path, struct kcode **ret,
			struct err *e)
{
	struct elf *elf;
	int r = elf_open_path(path, &elf, e);

	return r < 0 ? r : use_vmlinux(w, elf, path, ret, e);
}

static int open_archived(const struct kcode_want *w, struct kcode **ret)
{
	struct elf *elf;
	size_t n = 0;
	const void *p = archive_by_id(w->archive, &w->id, "elf", &n);

	if (!p || elf_open_memory(p, n, "vmlinux", &elf, NULL) < 0)
		return -ENOENT;
	return use_vmlinux(w, elf, "vmlinux", ret, NULL);
}

/* The build-id of the kernel that runs now. */
static void running_id(struct build_id *id)
{
	AUTO_FREE char *note = NULL;
	size_t len;

	id->len = 0;
	if (file_read("/sys/kernel/notes", 1u << 16, &note, &len) == 0)
		elf_note_build_id((const uint8_t *)note, len, false, id);
}

/*
 * How far the recorded kernel lay from where the running one does. Recorders take
 * _text for the code's beginning, or _stext where there is no other (arm64).
 */
static bool moved_by(uint64_t recorded, uint64_t *slide)
{
	AUTO_FCLOSE FILE *f = fopen("/proc/kallsyms", "re");
	AUTO_FREE char *line = NULL;
	uint64_t text = 0, stext = 0;
	struct symline l = { 0 };
	size_t cap = 0;
	ssize_t n;

	while (f && !(text && stext) && (n = getline(&line, &cap, f)) > 0) {
		if (!symline_parse(&l, line, line + n - (line[n - 1] == '\n')))
			continue;
		if (l.name_n == 5 && memcmp(l.name, "_text", 5) == 0)
			text = l.addr;
		else if (l.name_n == 6 && memcmp(l.name, "_stext", 6) == 0)
			stext = l.addr;
	}
	*slide = recorded == stext ? 0 : recorded - (text ? text : stext);
	return text || stext;
}

/* Is it the running kernel, and by how much was it moved since? */
static int recorded_here(const struct kcode_want *w, const char *core, uint64_t *slide,
			 struct err *e)
{
	struct build_id now;
	struct utsname u;

	*slide = 0;
	if (w->kcore)
		return 0;
	running_id(&now);
	if (w->id.len && now.len) {
		if (!build_id_match(&now, &w->id))
			return err_set(e, ESTALE, "%s is of another kernel than the recorded one",
				       core);
	} else if (w->release && uname(&u) == 0 && strcmp(u.release, w->release) != 0) {
		return err_set(e, ESTALE, "%s is of %s, recorded was %s", core, u.release,
			       w->release);
	}
	if (w->text && !moved_by(w->text, slide))
		return err_set(e, EPERM, "/proc/kallsyms hides where the running kernel lies");
	if (*slide && w->module)
		return err_set(e, ESTALE,
			       "%s: the machine was booted again since, modules lie "
			       "elsewhere now",
			       core);
	return 0;
}

/* The segments of a core; on failure nothing is left. */
static int read_core(int fd, const char *path, struct kcode *k, struct err *e)
{
	Elf64_Ehdr h;
	ssize_t size;

	if (pread(fd, &h, sizeof(h), 0) != sizeof(h))
		return err_set(e, EPERM, "%s: cannot be read (a locked-down kernel?)", path);
	if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64 ||
	    h.e_phentsize != sizeof(*k->segment) || h.e_phnum > CORE_SEGMENTS_MAX)
		return err_set(e, ENOEXEC, "%s is no 64-bit core file", path);
	size = (ssize_t)(h.e_phnum * sizeof(*k->segment));
	k->segment = mem_alloc((size_t)size + 1);
	k->n_segments = h.e_phnum;
	k->machine = h.e_machine;
	if (pread(fd, k->segment, (size_t)size, (off_t)h.e_phoff) != size)
		return err_set(e, EIO, "%s: cannot read its segments", path);
	return 0;
}

static int open_core(const struct kcode_want *w, struct kcode **ret, struct err *e)
{
	const char *path = w->kcore ? w->kcore : "/proc/kcore";
	uint64_t slide;
	int r = recorded_here(w, path, &slide, e), fd;
	struct kcode *k;

	if (r < 0)
		return r;
	fd = file_open_named(path, NULL);
	if (fd < 0)
		return err_set(e, -fd, "%s: %s", path, strerror(-fd));
	k = mem_alloc(sizeof(*k));
	k->fd = fd;
	k->slide = slide;
	k->path = mem_strdup(path);
	r = read_core(fd, path, k, e);
	if (r < 0) {
		kcode_close(k);
		return r;
	}
	*ret = k;
	return 0;
}

static const char *const places[] = {
	"/usr/lib/debug/boot/vmlinux-%s",	"/usr/lib/debug/lib/modules/%s/vmlinux",
	"/lib/modules/%s/build/vmlinux",	"/lib/modules/%s/vmlinux",
	"/usr/lib/debug/boot/vmlinux-%s.debug", "/boot/vmlinux-%s",
};

/* Open the first that fits; what was there but did not fit is told in why. */
static int look_around(const struct kcode_want *w, struct kcode **ret, struct strbuf *why)
{
	char path[PATH_MAX];
	struct err e;

	for (size_t i = 0; w->release && i < ARRAY_SIZE(places); i++) {
		AUTO_FREE char *tail = NULL;
		const char *mark = strstr(places[i], "%s");

		tail = mem_printf("%.*s%s%s", (int)(mark - places[i]), places[i], w->release,
				  mark + 2);
		snprintf(path, sizeof(path), "%s%s", w->symfs ? w->symfs : "", tail);
		if (!file_exists(path))
			continue;
		if (open_vmlinux(w, path, ret, &e) == 0)
			return 0;
		strbuf_printf(why, "\n  %s", e.msg);
	}
	return -ENOENT;
}

int kcode_open(const struct kcode_want *w, struct kcode **ret, struct err *e)
{
	AUTO_STRBUF why = { 0 };
	struct err core = { 0 };

	if (w->vmlinux && !w->module)
		return open_vmlinux(w, w->vmlinux, ret, e);
	if (!w->module && open_archived(w, ret) == 0)
		return 0;
	if (!w->module && look_around(w, ret, &why) == 0)
		return 0;
	if (open_core(w, ret, &core) == 0)
		return 0;
	if (w->module) {
		err_set(e, ENOENT, "the code of kernel modules is only in /proc/kcore:\n  %s",
			core.msg);
		return err_hint(e, "run as root on the recorded machine, before it boots again");
	}
	err_set(e, ENOENT,
		"the kernel's code is in no file here:%s\n  no vmlinux of %s below "
		"/usr/lib/debug, /boot or /lib/modules\n  %s",
		strbuf_str(&why), w->release ? w->release : "that kernel", core.msg);
	return err_hint(e,
			"give it with -k VMLINUX (on Debian in linux-image-%s-dbg), or run as "
			"root on the recorded machine where /proc/kcore may be read",
			w->release ? w->release : "RELEASE");
}

void kcode_close(struct kcode *k)
{
	if (!k)
		return;
	elf_free(k->elf);
	if (k->fd >= 0)
		close(k->fd);
	free(k->segment);
	free(k->path);
	free(k);
}

int kcode_read(const struct kcode *k, uint64_t addr, uint8_t *buf, size_t n, struct err *e)
{
	if (k->elf) {
		size_t len;
		const uint8_t *p = elf_bytes(k->elf, addr - k->slide, &len);

		if (!len)
			return err_set(e, ENOENT, "%s has no code at %#llx", k->path,
				       (unsigned long long)(addr - k->slide));
		if (len > n)
			len = n;
		memcpy(buf, p, len);
		return (int)len;
	}
	addr -= k->slide;
	for (size_t i = 0; i < k->n_segments; i++) {
		const Elf64_Phdr *s = &k->segment[i];
		ssize_t got;

		if (s->p_type != PT_LOAD || addr < s->p_vaddr || addr - s->p_vaddr >= s->p_memsz)
			continue;
		if (n > s->p_memsz - (addr - s->p_vaddr))
			n = s->p_memsz - (addr - s->p_vaddr);
		got = pread(k->fd, buf, n, (off_t)(s->p_offset + (addr - s->p_vaddr)));
		if (got > 0)
			return (int)got;
		return err_set(e, got < 0 ? errno : EIO, "%s cannot be read at %#llx: %s", k->path,
			       (unsigned long long)addr,
			       got < 0 ? strerror(errno) : "it ends there");
	}
	return err_set(e, ENOENT, "%s has nothing at %#llx", k->path, (unsigned long long)addr);
}
