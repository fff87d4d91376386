/* SPDX-License-Identifier: MIT */
/* Names of JIT-compiled code: perf maps, jitdumps, and which of overlapping ranges counts. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"
#include "sym/elf/segments.h"
#include "sym/jit/jitdump.h"
#include "sym/jit/perfmap.h"
#include "tap.h"

static void flat(void)
{
	static const struct interval list[] = {
		{ 10, 100, 1 },	 { 20, 30, 2 }, { 25, 28, 3 },	 { 30, 40, 4 },
		{ 100, 110, 5 }, { 50, 50, 6 }, { 105, 200, 7 }, { 60, 50, 8 },
	};
	struct segments s = segments_flatten(list, ARRAY_SIZE(list));
	static const struct {
		uint64_t at;
		uint32_t want;
	} cases[] = { { 9, 0 },	 { 10, 1 },  { 19, 1 },	 { 20, 2 },  { 24, 2 },	 { 25, 3 },
		      { 27, 3 }, { 28, 2 },  { 30, 4 },	 { 39, 4 },  { 40, 1 },	 { 50, 1 },
		      { 99, 1 }, { 100, 5 }, { 104, 5 }, { 105, 7 }, { 199, 7 }, { 200, 0 } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		CHECK_CASE(segments_find(&s, cases[i].at) == cases[i].want, "what is at %d (%u)",
			   (int)cases[i].at, segments_find(&s, cases[i].at));
	free(s.data);
	s = segments_flatten(NULL, 0);
	CHECK_INT(segments_find(&s, 0), 0);
	free(s.data);
}

/* All addresses of a span have its answer, and it ends where that is another. */
static bool spans(const struct segments *s, uint64_t at)
{
	uint64_t lo = 0, hi = 160;
	uint32_t value = segments_span(s, at, &lo, &hi);
	bool same = value == segments_find(s, at) && lo <= at && at < hi;

	for (uint64_t a = lo; a < hi; a++)
		same &= segments_find(s, a) == value;
	return same && (!lo || segments_find(s, lo - 1) != value) &&
	       (hi == 160 || segments_find(s, hi) != value);
}

/* Against the plain way: every range looked at for every address. */
static void flat_random(void)
{
	unsigned seed = 5;
	bool same = true;

	for (int round = 0; round < 200; round++) {
		struct interval list[30];
		struct segments s;

		for (uint32_t i = 0; i < 30; i++) {
			list[i].lo = (uint64_t)(rand_r(&seed) % 100);
			list[i].hi = list[i].lo + (uint64_t)(rand_r(&seed) % 40);
			list[i].value = i + 1;
		}
		s = segments_flatten(list, 30);
		for (uint64_t a = 0; a < 150; a++) {
			uint32_t want = 0;

			for (int i = 0; i < 30; i++)
				if (a >= list[i].lo && a < list[i].hi)
					want = list[i].value;
			same &= segments_find(&s, a) == want;
			same &= spans(&s, a);
		}
		free(s.data);
	}
	CHECK(same);
}

static const char *name_at(const struct perfmap *m, uint64_t addr)
{
	const struct perfmap_sym *s = perfmap_find(m, addr);

	return s ? s->name : NULL;
}

static void perf_map(void)
{
	static const char text[] = "1000 100 old code\n"
				   "0x2000 0x10 LazyCompile:*run /app/x.js:10:3\r\n"
				   "not a line\n"
				   "3000 zz name\n"
				   "3000 10\n"
				   "4000 0 empty\n"
				   "ffffffffffffffff 10 wraps\n"
				   "11112222333344445 10 too long\n"
				   "\n"
				   "1040 20 new code\n"
				   "5000 10 cut";
	struct perfmap m;

	perfmap_parse(&m, mem_strndup(text, sizeof(text)), sizeof(text) - 1);
	CHECK_INT(m.n, 4);
	CHECK_INT(m.bad_lines, 6);
	CHECK_STR(name_at(&m, 0x1000), "old code");
	CHECK_STR(name_at(&m, 0x103f), "old code");
	CHECK_STR(name_at(&m, 0x1040), "new code"); /* the later line wins */
	CHECK_STR(name_at(&m, 0x105f), "new code");
	CHECK_STR(name_at(&m, 0x1060), "old code");
	CHECK_STR(name_at(&m, 0x1100), NULL);
	CHECK_STR(name_at(&m, 0x200f), "LazyCompile:*run /app/x.js:10:3");
	CHECK_STR(name_at(&m, 0x5001), "cut");
	perfmap_free(&m);
	perfmap_parse(&m, mem_strdup(""), 0);
	CHECK_INT(m.n, 0);
	perfmap_free(&m);
}

static void ownership(void)
{
	char dir[] = "/tmp/kymo-jit-XXXXXX";
	AUTO_FREE char *plain = NULL, *link_path = NULL, *fifo = NULL;
	struct perfmap m;
	struct err e = { 0 };
	int fd;

	if (!mkdtemp(dir)) {
		SKIP("cannot make a folder in /tmp");
		return;
	}
	plain = mem_printf("%s/perf-1.map", dir);
	link_path = mem_printf("%s/perf-2.map", dir);
	fifo = mem_printf("%s/perf-3.map", dir);
	fd = open(plain, O_WRONLY | O_CREAT, 0644);
	CHECK(fd >= 0 && write(fd, "1000 10 f\n", 10) == 10);
	close(fd);
	CHECK(symlink(plain, link_path) == 0 && mkfifo(fifo, 0600) == 0);
	CHECK_INT(perfmap_load(&m, plain, 0, PERFMAP_OWNER_UNKNOWN, &e), 0);
	CHECK_STR(name_at(&m, 0x1005), "f");
	perfmap_free(&m);
	CHECK_INT(perfmap_load(&m, link_path, 0, PERFMAP_OWNER_UNKNOWN, &e), -EPERM);
	CHECK_INT(perfmap_load(&m, fifo, 0, PERFMAP_OWNER_UNKNOWN, &e), -EINVAL);
	CHECK_INT(perfmap_load(&m, "/no/such/map", 0, PERFMAP_OWNER_UNKNOWN, &e), -ENOENT);
	if (geteuid() == 0 && chown(plain, 12345, 12345) == 0) {
		CHECK_INT(perfmap_open(plain, 999, &e), -EPERM);
		CHECK(strstr(e.msg, "12345") != NULL);
		fd = perfmap_open(plain, 12345, &e);
		CHECK(fd >= 0);
		close(fd);
		/* of a process nobody knows: what is the reader's own is trusted, whoever that is
		 */
		CHECK_INT(perfmap_open(plain, PERFMAP_OWNER_UNKNOWN, &e), -EPERM);
		CHECK(chmod(dir, 0755) == 0 && seteuid(12345) == 0);
		fd = perfmap_open(plain, PERFMAP_OWNER_UNKNOWN, &e);
		CHECK(fd >= 0 && seteuid(0) == 0);
		close(fd);
	} else {
		SKIP("needs root to make a file of another user");
	}
	unlink(plain);
	unlink(link_path);
	unlink(fifo);
	rmdir(dir);
}

/* Writing a jitdump, in either byte order. */
struct out {
	VEC(uint8_t) b;
	bool swap;
};

static void put(struct out *o, uint64_t v, int size)
{
	for (int i = 0; i < size; i++)
		vec_push(&o->b, (uint8_t)(v >> 8 * (o->swap ? size - 1 - i : i)));
}

static void put_str(struct out *o, const char *s)
{
	do
		vec_push(&o->b, (uint8_t)*s);
	while (*s++);
}

static size_t begin(struct out *o, uint32_t id, uint64_t time)
{
	put(o, id, 4);
	put(o, 0, 4);
	put(o, time, 8);
	return o->b.n - 16;
}

static void end_record(struct out *o, size_t start)
{
	struct out size = { .swap = o->swap };

	put(&size, o->b.n - start, 4);
	memcpy(o->b.data + start + 4, size.b.data, 4);
	vec_free(&size.b);
}

static void load(struct out *o, uint64_t time, uint64_t addr, uint64_t size, uint64_t index,
		 const char *name)
{
	size_t r = begin(o, 0, time);

	put(o, 7, 4);
	put(o, 7, 4);
	put(o, addr, 8);
	put(o, addr, 8);
	put(o, size, 8);
	put(o, index, 8);
	put_str(o, name);
	for (uint64_t i = 0; i < size; i++)
		put(o, 0x90, 1);
	end_record(o, r);
}

static void make_dump(struct out *o)
{
	size_t r;

	put(o, 0x4A695444, 4);
	put(o, 1, 4);
	put(o, 40, 4);
	put(o, 62, 4);
	put(o, 0, 4);
	put(o, 4711, 4);
	put(o, 1, 8);
	put(o, 0, 8);
	load(o, 100, 0x1000, 0x40, 1, "first");
	r = begin(o, 2, 150); /* lines of the next one */
	put(o, 0x2000, 8);
	put(o, 3, 8);
	put(o, 0x2000, 8), put(o, 10, 4), put(o, 0, 4), put_str(o, "a.js");
	put(o, 0x2008, 8), put(o, 11, 4), put(o, 0, 4), put_str(o, "\xff");
	put(o, 0x2010, 8), put(o, 5, 4), put(o, 0, 4), put_str(o, "b.js");
	end_record(o, r);
	load(o, 200, 0x2000, 0x20, 2, "lined");
	load(o, 300, 0x1000, 0x40, 3, "second"); /* the same place again */
	r = begin(o, 4, 310);			 /* unwinding info: stepped over */
	put(o, 1, 8);
	end_record(o, r);
	r = begin(o, 1, 400); /* the first of all moves away */
	put(o, 7, 4), put(o, 7, 4), put(o, 0, 8);
	put(o, 0x2000, 8), put(o, 0x9000, 8), put(o, 0x20, 8), put(o, 2, 8);
	end_record(o, r);
	r = begin(o, 99, 500); /* nobody knows this one */
	put(o, 1, 3);
	end_record(o, r);
	load(o, 600, 0x1020, 0x10, 4, "inside");
}

/* The newest that was there by then. */
static const struct jitdump_code *find(const struct jitdump *j, uint64_t addr, uint64_t time)
{
	const struct jitdump_code *best = NULL;

	for (size_t i = 0; i < j->ncode; i++) {
		const struct jitdump_code *c = &j->code[i];

		if (addr >= c->start && addr < c->end && c->time <= time &&
		    (!best || c->time > best->time))
			best = c;
	}
	return best;
}

static const char *code_at(const struct jitdump *j, uint64_t addr, uint64_t time)
{
	const struct jitdump_code *c = find(j, addr, time);

	return c ? c->name : NULL;
}

static void dump(bool swap)
{
	struct out o = { .swap = swap };
	struct jitdump j;
	struct err e = { 0 };
	const struct jitdump_code *c;
	const struct jitdump_line *l;

	make_dump(&o);
	CHECK_INT(jitdump_parse(&j, o.b.data, o.b.n, &e), 0);
	CHECK(!j.cut);
	CHECK_INT(j.pid, 4711);
	CHECK_STR(code_at(&j, 0x1000, 99), NULL);
	CHECK_STR(code_at(&j, 0x1000, 100), "first");
	CHECK_STR(code_at(&j, 0x103f, 299), "first");
	CHECK_STR(code_at(&j, 0x103f, 300), "second");
	CHECK_STR(code_at(&j, 0x1040, 300), NULL);
	CHECK_STR(code_at(&j, 0x1025, 599), "second");
	CHECK_STR(code_at(&j, 0x1025, 600), "inside");
	CHECK_STR(code_at(&j, 0x1035, UINT64_MAX), "second");
	CHECK_STR(code_at(&j, 0x9001, 399), NULL);
	CHECK_STR(code_at(&j, 0x9001, 400), "lined");
	c = find(&j, 0x200f, 200);
	CHECK(c && c->bytes && c->bytes[0] == 0x90);
	l = c ? jitdump_line(&j, c, 0x200f) : NULL;
	CHECK(l && l->line == 11 && strcmp(l->file, "a.js") == 0);
	l = c ? jitdump_line(&j, c, 0x201f) : NULL;
	CHECK(l && l->line == 5 && strcmp(l->file, "b.js") == 0);
	jitdump_free(&j);
	/* Cut anywhere: what is whole is there, nothing behind the end is touched. */
	for (size_t n = 0; n < o.b.n; n++) {
		AUTO_FREE uint8_t *part = mem_dup(o.b.data, n);
		bool good = jitdump_parse(&j, part, n, &e) == 0;

		if (good && n >= 166) /* the first record is whole */
			good = strcmp(code_at(&j, 0x1010, 100), "first") == 0;
		CHECK_CASE(n < 40 ? !good : good, "cut to %zu bytes", n);
		if (n >= 40)
			jitdump_free(&j);
	}
	vec_free(&o.b);
}

int main(void)
{
	flat();
	flat_random();
	perf_map();
	ownership();
	dump(false);
	dump(true);
	return tap_end();
}
