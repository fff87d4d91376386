/* SPDX-License-Identifier: MIT */
/* The facade: many objects, one at a time and all at once, give the same interned names. */
#include "sym/names/sym.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"
#include "tap.h"

int sym_test_target(int x);
enum { TARGET_LINE = __LINE__ + 1 };
__attribute__((noinline)) int sym_test_target(int x)
{
	return x * 5 + rand();
}

static inline __attribute__((always_inline)) int inlined_here(int x)
{
	return x / 3 + rand();
}
int sym_test_outer(int x);
__attribute__((noinline)) int sym_test_outer(int x)
{
	return inlined_here(x) ^ rand();
}

/* Like __restore_rt: nobody calls it, but handlers return to its first instruction. */
void sym_test_entered(void);
__asm__(".text\n"
	"	.balign 16\n"
	"	.type sym_test_before, %function\n"
	"sym_test_before:\n"
	"	ret\n"
	"	.size sym_test_before, . - sym_test_before\n"
	"	.balign 16\n"
	"	.skip 16, 0\n"
	"	.globl sym_test_entered\n"
	"	.type sym_test_entered, %function\n"
	"sym_test_entered:\n"
	"	ret\n"
	"	.size sym_test_entered, . - sym_test_entered\n"
	"	.skip 16, 0\n");

/* The offset in this program's file of an address in its memory. */
static uint64_t offset_of(const void *p)
{
	char line[512];
	AUTO_FCLOSE FILE *f = fopen("/proc/self/maps", "r");

	while (f && fgets(line, sizeof(line), f)) {
		uint64_t start, end, offset;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &start, &end, &offset) ==
			    3 &&
		    (uintptr_t)p >= start && (uintptr_t)p < end)
			return (uintptr_t)p - start + offset;
	}
	return 0;
}

static void one(struct symbols *s, uint32_t self)
{
	uint64_t at = offset_of(sym_test_target);
	const struct sym_result *r = symbols_resolve(s, self, at, SYMBOLS_NAMES);

	CHECK_STR(symbols_text(s, r->name), "sym_test_target");
	CHECK_INT(r->start, at);
	CHECK(r->end > at);
	CHECK_INT(r->nframes, 1);
	CHECK(symbols_lookup(s, self, at) == r);
	CHECK(symbols_lookup(s, self, at + 1) == NULL);
	CHECK(symbols_resolve(s, self, at, SYMBOLS_NAMES) == r);
	/* asked for lines too, the answer grows in its place */
	CHECK(symbols_resolve(s, self, at, SYMBOLS_NAMES | SYMBOLS_LINES) == r);
	CHECK(strstr(symbols_text(s, r->frames[0].file), "sym.c") != NULL);
	CHECK(r->frames[0].line == TARGET_LINE || r->frames[0].line == TARGET_LINE + 1);
	r = symbols_resolve(s, self, UINT64_MAX, SYMBOLS_NAMES | SYMBOLS_LINES);
	CHECK_INT(r->name, SYMBOLS_NONE);
	CHECK_INT(r->nframes, 0);
	r = symbols_resolve(s, 999999, 1, SYMBOLS_NAMES);
	CHECK_INT(r->name, SYMBOLS_NONE);
	CHECK_STR(symbols_text(s, r->name), "");
}

static void entered(struct symbols *s, uint32_t self)
{
	uint64_t at = offset_of(sym_test_entered);
	const struct sym_result *r = symbols_resolve(s, self, at - 1, SYMBOLS_NAMES);

	CHECK_STR(symbols_text(s, r->name), "sym_test_entered");
	CHECK_INT(r->start, at);
	r = symbols_resolve(s, self, at, SYMBOLS_NAMES);
	CHECK_INT(r->start, at);
	CHECK_STR(symbols_text(s, r->name), "sym_test_entered");
	r = symbols_resolve(s, self, at - 2, SYMBOLS_NAMES);
	CHECK_STR(symbols_text(s, r->name), "");
	r = symbols_resolve(s, self, at + 8, SYMBOLS_NAMES);
	CHECK_STR(symbols_text(s, r->name), "");
}

static bool same_names(const struct sym_result *a, const struct sym_result *b)
{
	bool same = a->name == b->name && a->nframes == b->nframes;

	for (uint32_t i = 0; same && i < a->nframes; i++)
		same = a->frames[i].name == b->frames[i].name;
	return same;
}

/* An answer says how far its names hold, those of inlined functions, too: all addresses there
 * say the same. */
static void spans(const struct symbols_opts *o)
{
	struct symbols *s = symbols_new(o);
	uint32_t self = symbols_dso(s, &(struct find_want){ .path = "/proc/self/exe" });
	const struct elf *e = symbols_elf(s, self);
	const struct elf_section *text = elf_section(e, ".text");
	unsigned n = 0, wrong = 0, narrow = 0, inlined = 0;
	uint64_t start = offset_of(sym_test_outer), end = text->offset + text->size;

	end = end - start > 50000 ? start + 50000 : end;
	for (uint64_t at = start, to; at < end; at = to, n++) {
		const struct sym_result *first = symbols_resolve(s, self, at, SYMBOLS_INLINED), *r;

		to = at + first->after;
		inlined += first->nframes > 1;
		if (to <= at) {
			wrong++;
			break;
		}
		for (uint64_t i = at + 1; i < to && i < end; i++) {
			r = symbols_resolve(s, self, i, SYMBOLS_INLINED);
			wrong += !same_names(first, r) || i + r->after != to ||
				 i - r->before != at - first->before;
		}
		narrow += first->before && n; /* it begins where the one before ends */
	}
	CHECK(n > 20 && n < (end - start) / 4);
	CHECK(inlined > 0);
	CHECK_INT(wrong, 0);
	CHECK_INT(narrow, 0);
	symbols_free(s);
}

static void many(const struct symbols_opts *o, struct symbols *s, uint32_t self)
{
	const struct elf *e = symbols_elf(s, self);
	const struct elf_section *text = elf_section(e, ".text");
	struct symbols *t = symbols_new(o);
	VEC(struct sym_query) q = { 0 };
	uint32_t again = symbols_dso(t, &(struct find_want){ .path = "/proc/self/exe" }),
		 missing = 0;
	bool same = true, answered = true;

	/* enough of them that their array moves */
	for (int i = 0; i < 200; i++) {
		AUTO_FREE char *path = mem_printf("/no/such/file-%d", i);

		missing = symbols_dso(t, &(struct find_want){ .path = path });
	}
	CHECK_INT(symbols_dso(t, &(struct find_want){ .path = "/proc/self/exe" }), again);
	for (uint64_t a = 0; a < text->size; a += 7)
		vec_push(&q, (struct sym_query){ .dso = again, .addr = text->offset + a });
	for (uint64_t a = 0; a < text->size; a += 21) /* some twice, and out of order */
		vec_push(&q, (struct sym_query){ .dso = again, .addr = text->offset + a });
	vec_push(&q, (struct sym_query){ .dso = missing, .addr = 1 });
	vec_push(&q, (struct sym_query){ .dso = 123456, .addr = 1 });
	symbols_resolve_many(t, q.data, q.n, SYMBOLS_NAMES | SYMBOLS_LINES);
	for (size_t i = 0; i < q.n; i++) {
		const struct sym_result *x = q.data[i].result, *y;

		answered &= x != NULL;
		if (q.data[i].dso != again)
			continue;
		y = symbols_resolve(s, self, q.data[i].addr, SYMBOLS_NAMES | SYMBOLS_LINES);
		same &= x && x->start == y->start && x->end == y->end && x->nframes == y->nframes &&
			strcmp(symbols_text(t, x->name), symbols_text(s, y->name)) == 0;
		for (uint32_t k = 0; same && k < x->nframes; k++)
			same &= x->frames[k].line == y->frames[k].line &&
				strcmp(symbols_text(t, x->frames[k].name),
				       symbols_text(s, y->frames[k].name)) == 0;
	}
	CHECK(answered);
	CHECK(same);
	CHECK_INT(q.data[q.n - 2].result->name, SYMBOLS_NONE);
	CHECK(!symbols_status(t, missing).opened);
	CHECK(strstr(symbols_status(t, missing).why, "/no/such/file-199") != NULL);
	CHECK(symbols_status(t, again).opened && symbols_status(t, again).symtab);
	vec_free(&q);
	symbols_free(t);
}

static void kernel(struct symbols *s)
{
	static const char text[] = "ffffffff81000000 T start_kernel\n"
				   "ffffffff81000100 T sym_test_target\n"
				   "ffffffffc0000000 t mod_fn\t[nvme]\n";
	const struct sym_result *r =
		symbols_resolve(s, SYMBOLS_KERNEL, 0xffffffff81000001, SYMBOLS_NAMES);
	struct err e = { 0 };

	CHECK_INT(r->name, SYMBOLS_NONE);
	CHECK_INT(symbols_kernel_text(s, mem_strndup(text, sizeof(text)), sizeof(text) - 1, &e), 0);
	r = symbols_resolve(s, SYMBOLS_KERNEL, 0xffffffff81000002, SYMBOLS_NAMES);
	CHECK_STR(symbols_text(s, r->name), "start_kernel");
	CHECK_INT(r->module, SYMBOLS_NONE);
	r = symbols_resolve(s, SYMBOLS_KERNEL, 0xffffffffc0000010, SYMBOLS_NAMES);
	CHECK_STR(symbols_text(s, r->name), "mod_fn");
	CHECK_STR(symbols_text(s, r->module), "nvme");
	/* one text, one id, also across objects */
	r = symbols_resolve(s, SYMBOLS_KERNEL, 0xffffffff81000101, SYMBOLS_NAMES);
	CHECK_INT(r->name, symbols_lookup(s, 1, offset_of(sym_test_target))->name);
	CHECK_INT(symbols_kernel_text(s, mem_strdup("0 T a\n"), 6, &e), -EPERM);
}

static void never(void *ctx)
{
	CHECK(ctx != NULL);
}

/* Answers about a kernel that is known by an id spare loading its symbols again. */
static void kernel_again(void)
{
	static const char text[] = "ffffffff81000000 T start_kernel\n"
				   "ffffffff81000100 T other\n"
				   "ffffffffc0000000 t mod_fn\t[nvme]\n"
				   "ffffffffc0001000 t ftrace_trampoline\t[__builtin__ftrace]\n"
				   "ffffffffc0002000 t bpf_prog_1_x\t[bpf]\n";
	static const uint64_t fleeting[] = { 0xffffffffc0001010, 0xffffffffc0002010 };
	char dir[] = "/tmp/kymo-sym-XXXXXX", cmd[64];
	struct symbols_opts o = { .cache_dir = dir, .no_debuginfod = true };
	struct build_id id = { .len = 16, .data = "0123456789abcde" };
	struct symbols *s;

	if (!mkdtemp(dir)) {
		SKIP("cannot make a folder in /tmp");
		return;
	}
	s = symbols_new(&o);
	symbols_kernel_id(s, &id);
	CHECK_INT(symbols_kernel_text(s, mem_strndup(text, sizeof(text)), sizeof(text) - 1, NULL),
		  0);
	symbols_resolve(s, SYMBOLS_KERNEL, 0xffffffff81000002, SYMBOLS_NAMES);
	symbols_resolve(s, SYMBOLS_KERNEL, 0xffffffffc0000010, SYMBOLS_NAMES);
	symbols_resolve(s, SYMBOLS_KERNEL, 0x10, SYMBOLS_NAMES);
	for (unsigned i = 0; i < ARRAY_SIZE(fleeting); i++)
		CHECK(symbols_resolve(s, SYMBOLS_KERNEL, fleeting[i], SYMBOLS_NAMES)->name !=
		      SYMBOLS_NONE);
	symbols_free(s);
	for (int other = 0; other < 2; other++) {
		const struct sym_result *r;

		s = symbols_new(&o);
		id.data[0] = other ? 'x' : '0';
		symbols_kernel_id(s, &id);
		if (!other)
			symbols_kernel_later(s, never, NULL, NULL);
		r = symbols_resolve(s, SYMBOLS_KERNEL, 0xffffffff81000002, SYMBOLS_NAMES);
		CHECK_STR(symbols_text(s, r->name), other ? "" : "start_kernel");
		if (!other)
			CHECK(r->start == 0xffffffff81000000 && r->end == 0xffffffff81000100);
		/* a module's too; BPF programs and trampolines come and go */
		r = symbols_resolve(s, SYMBOLS_KERNEL, 0xffffffffc0000010, SYMBOLS_NAMES);
		CHECK_STR(symbols_text(s, r->name), other ? "" : "mod_fn");
		CHECK_STR(symbols_text(s, r->module), other ? "" : "nvme");
		CHECK_INT(symbols_kernel_kept(s), !other);
		symbols_kernel_later(s, NULL, NULL, NULL);
		for (unsigned i = 0; i < ARRAY_SIZE(fleeting); i++)
			CHECK_INT(symbols_resolve(s, SYMBOLS_KERNEL, fleeting[i], SYMBOLS_NAMES)
					  ->name,
				  SYMBOLS_NONE);
		symbols_free(s);
	}
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	CHECK_INT(system(cmd), 0);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static void jit(struct symbols *s)
{
	char dir[] = "/tmp/kymo-sym-XXXXXX";
	AUTO_FREE char *map = NULL;
	uint32_t dso;

	if (!mkdtemp(dir)) {
		SKIP("cannot make a folder in /tmp");
		return;
	}
	map = mem_printf("%s/x.map", dir);
	write_file(map, "1000 100 one\n");
	dso = symbols_perfmap(s, 1234, map, (uid_t)-1);
	CHECK_STR(symbols_text(s, symbols_resolve(s, dso, 0x1001, SYMBOLS_NAMES)->name), "one");
	CHECK_INT(symbols_resolve(s, dso, 0x2001, SYMBOLS_NAMES)->name, SYMBOLS_NONE);
	write_file(map, "1000 100 one\n2000 10 two\n");
	CHECK_INT(symbols_resolve(s, dso, 0x2001, SYMBOLS_NAMES)->name, SYMBOLS_NONE);
	symbols_refresh(s);
	CHECK_STR(symbols_text(s, symbols_resolve(s, dso, 0x2001, SYMBOLS_NAMES)->name), "two");
	unlink(map);
	CHECK_INT(symbols_resolve(s, dso, 0x3001, SYMBOLS_NAMES)->name, SYMBOLS_NONE);
	symbols_refresh(s); /* what is gone took nothing with it */
	CHECK_STR(symbols_text(s, symbols_resolve(s, dso, 0x2003, SYMBOLS_NAMES)->name), "two");
	write_file(map, "1000 100 one\n");
	dso = symbols_jitdump(s, map, geteuid());
	CHECK(!symbols_status(s, dso).opened);
	unlink(map);
	rmdir(dir);
}

int main(void)
{
	struct symbols_opts o = { .no_cache = true, .no_debuginfod = true };
	struct symbols *s = symbols_new(&o);
	uint32_t self = symbols_dso(s, &(struct find_want){ .path = "/proc/self/exe" });

	one(s, self);
	entered(s, self);
	many(&o, s, self);
	spans(&o);
	kernel(s);
	kernel_again();
	jit(s);
	symbols_free(s);
	symbols_free(NULL);
	return tap_end();
}
