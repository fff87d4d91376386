/* SPDX-License-Identifier: MIT */
/* What annotate stands on: the kernel's code from files, lines of source files, arrows. */
#include <fcntl.h>
#include <sys/stat.h>

#include "sym/disasm/kcode.h"
#include "sym/disasm/srctext.h"
#include "tap.h"
#include "view/arrows.h"

static char path[64];

static void write_file(const void *data, size_t n)
{
	int fd;

	snprintf(path, sizeof(path), "/tmp/kymo-unit-XXXXXX");
	fd = mkstemp(path);
	if (fd < 0 || write(fd, data, n) != (ssize_t)n)
		CHECK(!"a file can be written");
	close(fd);
}

/* A file with one segment of eight bytes, as a core (/proc/kcore) and as a vmlinux. */
struct image {
	Elf64_Ehdr h;
	Elf64_Phdr p[2];
	uint8_t code[8];
};

static struct image make_image(uint64_t vaddr)
{
	struct image i = { .code = { 1, 2, 3, 4, 5, 6, 7, 8 } };

	memcpy(i.h.e_ident, ELFMAG, SELFMAG);
	i.h.e_ident[EI_CLASS] = ELFCLASS64;
	i.h.e_ident[EI_DATA] = ELFDATA2LSB;
	i.h.e_ident[EI_VERSION] = EV_CURRENT;
	i.h.e_type = ET_EXEC;
	i.h.e_machine = EM_X86_64;
	i.h.e_version = EV_CURRENT;
	i.h.e_ehsize = sizeof(i.h);
	i.h.e_phoff = offsetof(struct image, p);
	i.h.e_phentsize = sizeof(i.p[0]);
	i.h.e_phnum = 2;
	i.p[0] = (Elf64_Phdr){ .p_type = PT_NOTE };
	i.p[1] = (Elf64_Phdr){ .p_type = PT_LOAD,
			       .p_flags = PF_R | PF_X,
			       .p_offset = offsetof(struct image, code),
			       .p_vaddr = vaddr,
			       .p_filesz = sizeof(i.code),
			       .p_memsz = sizeof(i.code) };
	return i;
}

static void kernel_code(void)
{
	uint64_t at = 0xffffffff81000000u, loaded = 0xffffffff9b000000u;
	struct image i = make_image(at);
	struct kcode *k = NULL;
	struct err e = { 0 };
	uint8_t buf[16] = { 0 };

	write_file(&i, sizeof(i));
	/* the core: addresses as they are */
	CHECK_INT(kcode_open(&(struct kcode_want){ .kcore = path }, &k, &e), 0);
	CHECK_INT(kcode_read(k, at + 2, buf, 4, &e), 4);
	CHECK_INT(buf[0], 3);
	CHECK_INT(kcode_read(k, at + 6, buf, 16, &e), 2); /* no further than it goes */
	CHECK_INT(kcode_read(k, at + 8, buf, 1, &e), -ENOENT);
	CHECK_INT(kcode_read(k, at - 1, buf, 1, &e), -ENOENT);
	kcode_close(k);
	/* a vmlinux: moved from where it was linked */
	CHECK_INT(kcode_open(&(struct kcode_want){ .vmlinux = path, .text = loaded }, &k, &e), 0);
	CHECK_INT(k->slide, loaded - at);
	CHECK_INT(kcode_read(k, loaded + 1, buf, 2, &e), 2);
	CHECK_INT(buf[0], 2);
	CHECK_INT(k->machine, EM_X86_64);
	kcode_close(k);
	/* of another build */
	CHECK_INT(kcode_open(&(struct kcode_want){ .vmlinux = "/nonexistent" }, &k, &e), -ENOENT);
	unlink(path);

	/* a core that lies about itself is refused */
	i.h.e_phnum = 0xffff;
	write_file(&i, sizeof(i));
	CHECK(kcode_open(&(struct kcode_want){ .kcore = path }, &k, &e) < 0);
	CHECK(strstr(e.msg, "core"));
	unlink(path);
	i.h.e_phnum = 100; /* more than the file has */
	write_file(&i, sizeof(i));
	CHECK(kcode_open(&(struct kcode_want){ .kcore = path }, &k, &e) < 0);
	CHECK(e.hint[0]);
	unlink(path);
}

static const char *line(struct srctext *s, const char *file, uint32_t n)
{
	static char text[64];
	size_t len;
	const char *p = srctext_line(s, file, n, &len);

	if (!p)
		return NULL;
	snprintf(text, sizeof(text), "%.*s", (int)len, p);
	return text;
}

static void source_lines(void)
{
	static const char text[] = "one\r\n\nthree\nlast";
	struct srctext s = { 0 };
	char folder[] = "/tmp/kymo-unit-XXXXXX", fifo[96];

	write_file(text, sizeof(text) - 1);
	CHECK_STR(line(&s, path, 1), "one");
	CHECK_STR(line(&s, path, 2), "");
	CHECK_STR(line(&s, path, 3), "three");
	CHECK_STR(line(&s, path, 4), "last");
	CHECK_STR(line(&s, path, 5), NULL);
	CHECK_STR(line(&s, path, 0), NULL);
	unlink(path);
	CHECK_STR(line(&s, path, 3), "three"); /* it was read once */
	CHECK_STR(line(&s, "/nonexistent/x.c", 1), NULL);
	/* a pipe would never end */
	CHECK(mkdtemp(folder));
	snprintf(fifo, sizeof(fifo), "%s/pipe", folder);
	CHECK_INT(mkfifo(fifo, 0600), 0);
	CHECK_STR(line(&s, fifo, 1), NULL);
	unlink(fifo);
	rmdir(folder);
	srctext_free(&s);

	write_file("x\n", 2);
	s = (struct srctext){ .opts = { .prefix = "/tmp", .strip = 2 } };
	snprintf(fifo, sizeof(fifo), "/build/there%s", path + strlen("/tmp"));
	CHECK_STR(line(&s, fifo, 1), "x");
	CHECK_STR(line(&s, fifo, 2), NULL);
	unlink(path);
	srctext_free(&s);
	CHECK_STR(line(&s, "/dev/zero", 1), NULL);
	srctext_free(&s);
}

static void arrow_lanes(void)
{
	/* by instruction: where it jumps */
	static const int32_t target[] = { -1, 4, -1, 1, -1, 0, 5, -1 };
	struct annotate a = { 0 };
	struct arrows r;
	char buf[ARROWS_TEXT];

	for (size_t i = 0; i < ARRAY_SIZE(target); i++)
		vec_push(&a.insns, (struct annotate_insn){ .target = target[i] });
	arrows_make(&a, ARROWS_LANES, &r);
	CHECK_INT(r.arrow.n, 4);
	CHECK_INT(r.left_out, 0);
	CHECK_INT(r.lanes, 3);
	CHECK_INT(arrows_width(&r), 7);
	CHECK_STR(arrows_draw(&r, 0, false, true, buf), ",----->");
	CHECK_STR(arrows_draw(&r, 2, false, true, buf), "| | |  ");
	CHECK_STR(arrows_draw(&r, 3, false, true, buf), "| | '--");
	CHECK_STR(arrows_draw(&r, 4, false, true, buf), "| '--->");
	CHECK_STR(arrows_draw(&r, 7, false, true, buf), "       ");
	CHECK_STR(arrows_draw(&r, 0, false, false, buf), "┌─────>");
	CHECK_STR(arrows_draw(&r, 5, true, true, buf), "|      ");
	arrows_free(&r);
	/* with one lane the shortest jumps win */
	arrows_make(&a, 1, &r);
	CHECK_INT(r.left_out + r.arrow.n, 4);
	CHECK_INT(r.lanes, 1);
	CHECK_STR(arrows_draw(&r, 6, false, true, buf), "'--");
	arrows_free(&r);
	vec_free(&a.insns);
	arrows_make(&a, 4, &r);
	CHECK_INT(arrows_width(&r), 0);
	arrows_free(&r);
}

int main(void)
{
	kernel_code();
	source_lines();
	arrow_lanes();
	return tap_end();
}
