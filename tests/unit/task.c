/* SPDX-License-Identifier: MIT */
/* Tasks and address spaces over time, with hand-made histories. */
#include <malloc.h>

#include "event/task.h"
#include "tap.h"

static struct task_map map(struct tasks *t, const char *path, uint64_t start, uint64_t size,
			   uint64_t pgoff)
{
	return (struct task_map){ .start = start,
				  .end = start + size,
				  .pgoff = pgoff,
				  .dso = tasks_dso(t, path, NULL, 0, false) };
}

static void mmap_at(struct tasks *t, uint64_t time, int32_t pid, const char *path, uint64_t start,
		    uint64_t size, uint64_t pgoff)
{
	struct task_map m = map(t, path, start, size, pgoff);

	tasks_mmap(t, time, pid, pid, &m);
}

/* "path+offset" of what is at addr for pid at time; "-" for nothing. */
static const char *what(const struct tasks *t, int32_t pid, uint64_t time, uint64_t addr)
{
	static char text[4][128];
	static int turn;
	char *p = text[turn++ % 4];
	uint32_t space = pid < 0 ? tasks_kernel_at(t, time) : tasks_space_at(t, pid, time);
	uint64_t from, until;
	const struct task_map *m = tasks_find_range(t, space, addr, &from, &until);

	/* the same at both ends of the range, and something else beyond them */
	if (from > addr || addr >= until || tasks_find(t, space, addr) != m ||
	    tasks_find(t, space, from) != m || tasks_find(t, space, until - 1) != m ||
	    (m && from && tasks_find(t, space, from - 1) == m) ||
	    (m && tasks_find(t, space, until) == m))
		return "wrong range";
	if (!m)
		return "-";
	snprintf(p, 128, "%s+%" PRIx64, tasks_dso_path(t, m->dso), addr - m->start + m->pgoff);
	return p;
}

static const char *comm(const struct tasks *t, int32_t tid, uint64_t time)
{
	uint32_t id = tasks_comm_at(t, tid, time);

	return id == STRTAB_NONE ? NULL : strtab_get(tasks_strings(t), id);
}

static void names(void)
{
	struct tasks *t = tasks_new();
	char name[TASK_NAME];

	CHECK_STR(comm(t, 5, 100), NULL);
	CHECK_STR(tasks_name_at(t, 5, 100, name), ":5");
	CHECK_STR(tasks_name_at(t, -1, 100, name), ":-1");
	CHECK_STR(tasks_name_at(t, 0, 100, name), "swapper");
	CHECK_STR(tasks_name_or(t, 5, 100, "<...>"), "<...>");
	CHECK_STR(tasks_name_or(t, 5, 100, NULL), NULL);
	CHECK_STR(tasks_name_or(t, 0, 100, "<...>"), "swapper");
	tasks_comm(t, 10, 5, 5, "sh", false);
	tasks_comm(t, 20, 5, 5, "ls", true);
	CHECK_STR(tasks_name_at(t, 5, 15, name), "sh");
	CHECK_STR(tasks_name_or(t, 5, 25, ""), "ls");
	CHECK_STR(comm(t, 5, 9), NULL);
	CHECK_STR(comm(t, 5, 10), "sh");
	CHECK_STR(comm(t, 5, 19), "sh");
	CHECK_STR(comm(t, 5, 20), "ls");
	CHECK_STR(comm(t, 5, UINT64_MAX), "ls");
	/* A child is called as its parent was, also when that changes later. */
	tasks_fork(t, 30, 5, 5, 6, 6, true);
	tasks_comm(t, 40, 5, 5, "other", false);
	CHECK_STR(comm(t, 6, 29), NULL);
	CHECK_STR(comm(t, 6, 50), "ls");
	tasks_free(t);
}

static const char *later(const struct tasks *t, int32_t tid, uint64_t time)
{
	uint32_t id = tasks_later_comm(t, tid, time);

	return id == STRTAB_NONE ? NULL : strtab_get(tasks_strings(t), id);
}

static void names_that_come_late(void)
{
	struct tasks *t = tasks_new();

	CHECK_STR(later(t, 5, 1), NULL);
	tasks_comm(t, 10, 5, 5, "sh", false);
	tasks_comm(t, 20, 5, 5, "ls", true);
	CHECK_STR(later(t, 5, 1), "sh");
	CHECK_STR(later(t, 5, 10), "ls");
	CHECK_STR(later(t, 5, 20), NULL);
	/* What was there before a fork is another thread. */
	tasks_comm(t, 25, 8, 8, "zsh", false);
	tasks_fork(t, 30, 8, 8, 6, 6, true);
	CHECK_STR(later(t, 6, 29), NULL);
	tasks_comm(t, 40, 6, 6, "cat", true);
	CHECK_STR(later(t, 6, 29), NULL);
	CHECK_STR(later(t, 6, 30), "cat");
	tasks_free(t);
}

static void threads(void)
{
	struct tasks *t = tasks_new();

	tasks_comm(t, 1, 10, 10, "app", true);
	mmap_at(t, 2, 10, "/app", 0x1000, 0x1000, 0);
	tasks_fork(t, 3, 10, 10, 10, 11, true);
	tasks_comm(t, 4, 10, 11, "worker", false);
	mmap_at(t, 5, 10, "/lib", 0x8000, 0x1000, 0x200);
	CHECK_STR(comm(t, 11, 3), "app");
	CHECK_STR(comm(t, 11, 4), "worker");
	CHECK_STR(comm(t, 10, 4), "app");
	CHECK_INT(tasks_pid_at(t, 11, 10), 10);
	CHECK_INT(tasks_pid_at(t, 11, 2), -1);
	CHECK_STR(what(t, tasks_pid_at(t, 11, 10), 10, 0x1010), "/app+10");
	CHECK_STR(what(t, 10, 10, 0x8010), "/lib+210");
	/* A mapping that replaces nothing does not start a new space. */
	CHECK_INT(tasks_space_at(t, 10, 3), tasks_space_at(t, 10, 10));
	tasks_exit(t, 20, 10, 11);
	CHECK_STR(comm(t, 11, 25), "worker");
	tasks_free(t);
}

static void exec(void)
{
	struct tasks *t = tasks_new();
	uint32_t before;

	tasks_comm(t, 1, 10, 10, "sh", true);
	mmap_at(t, 2, 10, "/sh", 0x1000, 0x1000, 0);
	mmap_at(t, 2, 10, "/libold", 0x9000, 0x1000, 0);
	before = tasks_space_at(t, 10, 5);
	tasks_comm(t, 10, 10, 10, "ls", true);
	mmap_at(t, 12, 10, "/ls", 0x1000, 0x800, 0);
	CHECK(tasks_space_at(t, 10, 10) != before);
	CHECK_STR(what(t, 10, 9, 0x1004), "/sh+4");
	CHECK_STR(what(t, 10, 12, 0x1004), "/ls+4");
	/* Where the new image has nothing, the old one still explains a chain. */
	CHECK_STR(what(t, 10, 12, 0x9004), "/libold+4");
	/* A second exec: the first image is gone for good. */
	tasks_comm(t, 20, 10, 10, "cat", true);
	mmap_at(t, 21, 10, "/cat", 0x4000, 0x1000, 0);
	CHECK_STR(what(t, 10, 22, 0x9004), "-");
	CHECK_STR(what(t, 10, 22, 0x1004), "/ls+4");
	CHECK_STR(what(t, 10, 15, 0x1004), "/ls+4");
	tasks_free(t);
}

static void fork_shares(void)
{
	struct tasks *t = tasks_new();
	uint32_t parent;

	tasks_comm(t, 1, 10, 10, "app", true);
	mmap_at(t, 2, 10, "/app", 0x1000, 0x1000, 0);
	mmap_at(t, 3, 10, "/lib", 0x8000, 0x1000, 0);
	tasks_fork(t, 10, 10, 10, 20, 20, true);
	parent = tasks_space_at(t, 10, 10);
	CHECK_INT(tasks_space_at(t, 20, 10), parent);
	CHECK_STR(what(t, 20, 11, 0x8004), "/lib+4");
	/* The child maps: its own space from then on, the parent's unchanged. */
	mmap_at(t, 20, 20, "/plugin", 0xa000, 0x1000, 0);
	CHECK(tasks_space_at(t, 20, 20) != parent);
	CHECK_INT(tasks_space_at(t, 20, 19), parent);
	CHECK_STR(what(t, 20, 20, 0xa004), "/plugin+4");
	CHECK_STR(what(t, 20, 20, 0x1004), "/app+4");
	CHECK_STR(what(t, 10, 30, 0xa004), "-");
	/* Now the parent is alone again and adds to the space it has. */
	mmap_at(t, 30, 10, "/late", 0xc000, 0x1000, 0);
	CHECK_INT(tasks_space_at(t, 10, 30), parent);
	CHECK_STR(what(t, 20, 40, 0xc004), "-");
	/* Forks found in /proc have mappings of their own to come. */
	tasks_fork(t, 40, 10, 10, 21, 21, false);
	CHECK_STR(what(t, 21, 41, 0x1004), "-");
	/* The parent maps while a child shares: the child must not see it. */
	tasks_fork(t, 50, 10, 10, 22, 22, true);
	mmap_at(t, 60, 10, "/later", 0xe000, 0x1000, 0);
	CHECK_STR(what(t, 10, 61, 0xe004), "/later+4");
	CHECK_STR(what(t, 22, 61, 0xe004), "-");
	CHECK_STR(what(t, 22, 61, 0xc004), "/late+4");
	tasks_free(t);
}

static void replaced(void)
{
	struct tasks *t = tasks_new();
	uint32_t first, second;

	mmap_at(t, 1, 10, "/app", 0x1000, 0x1000, 0);
	mmap_at(t, 2, 10, "/a.so", 0x8000, 0x2000, 0);
	first = tasks_space_at(t, 10, 5);
	/* dlclose, dlopen of something else at the same place */
	mmap_at(t, 10, 10, "/b.so", 0x8000, 0x1000, 0);
	second = tasks_space_at(t, 10, 10);
	CHECK(first != second);
	CHECK_STR(what(t, 10, 9, 0x8004), "/a.so+4");
	CHECK_STR(what(t, 10, 10, 0x8004), "/b.so+4");
	CHECK_STR(what(t, 10, 10, 0x9004), "/a.so+1004");
	CHECK_STR(what(t, 10, 10, 0x1004), "/app+4");
	/* The same file at the same place again is no change. */
	mmap_at(t, 20, 10, "/b.so", 0x8000, 0x1000, 0);
	CHECK_INT(tasks_space_at(t, 10, 20), second);
	/* A hole in the middle: both ends stay, with the right offsets. */
	mmap_at(t, 30, 10, "/big", 0x20000, 0x10000, 0);
	mmap_at(t, 40, 10, "/mid", 0x24000, 0x1000, 0);
	CHECK_STR(what(t, 10, 41, 0x23fff), "/big+3fff");
	CHECK_STR(what(t, 10, 41, 0x24000), "/mid+0");
	CHECK_STR(what(t, 10, 41, 0x25000), "/big+5000");
	CHECK_STR(what(t, 10, 39, 0x24000), "/big+4000");
	/* One over many. */
	mmap_at(t, 50, 10, "/all", 0x7000, 0x40000, 0);
	CHECK_STR(what(t, 10, 51, 0x24000), "/all+1d000");
	CHECK_STR(what(t, 10, 49, 0x24000), "/mid+0");
	CHECK_STR(what(t, 10, 51, 0x6fff), "-");
	CHECK_STR(what(t, 10, 51, 0x47000), "-");
	/* Nonsense is left out. */
	mmap_at(t, 60, 10, "/none", 0x5000, 0, 0);
	CHECK_STR(what(t, 10, 61, 0x5000), "-");
	tasks_free(t);
}

static void pid_reuse(void)
{
	struct tasks *t = tasks_new();

	tasks_comm(t, 1, 10, 10, "old", true);
	mmap_at(t, 2, 10, "/old", 0x1000, 0x1000, 0);
	tasks_exit(t, 10, 10, 10);
	tasks_comm(t, 11, 7, 7, "init", false);
	mmap_at(t, 11, 7, "/init", 0x3000, 0x1000, 0);
	tasks_fork(t, 20, 7, 7, 10, 10, true);
	CHECK_STR(comm(t, 10, 15), "old");
	CHECK_STR(what(t, 10, 15, 0x1004), "/old+4");
	CHECK_STR(comm(t, 10, 20), "init");
	CHECK_STR(what(t, 10, 20, 0x1004), "-");
	CHECK_STR(what(t, 10, 20, 0x3004), "/init+4");
	/* A parent nobody ever named: the child has no name, not the old one's. */
	tasks_exit(t, 30, 10, 10);
	tasks_fork(t, 40, 99, 99, 10, 10, true);
	CHECK_STR(comm(t, 10, 40), NULL);
	CHECK_STR(what(t, 10, 40, 0x3004), "-");
	CHECK_INT(tasks_space_at(t, 10, 40), TASK_SPACE_NONE);
	tasks_free(t);
}

static void kernel(void)
{
	struct tasks *t = tasks_new();
	struct task_map image = { .start = 0xffffffff81000000, .end = 0xffffffff82000000 };
	struct task_map module = { .start = 0xffffffffc0000000, .end = 0xffffffffc0004000 };
	struct task_map program = { .start = 0xffffffffc0100000, .end = 0xffffffffc0100100 };
	struct task_dso bpf = { .kernel = true, .ksymbol = true };

	image.dso = tasks_dso(t, "[kernel.kallsyms]", NULL, 0, true);
	tasks_mmap(t, 0, -1, 0, &image);
	module.dso = tasks_dso(t, "/lib/modules/x.ko", NULL, 0, true);
	tasks_mmap(t, 5, -1, 0, &module);
	CHECK_INT(tasks_kernel_at(t, 100), TASK_SPACE_KERNEL);
	CHECK_STR(what(t, -1, 100, 0xffffffff81000010), "[kernel.kallsyms]+10");
	CHECK_STR(what(t, -1, 100, 0xffffffffc0000010), "/lib/modules/x.ko+10");
	CHECK_INT(tasks_kernel_start(t), 0xffffffff81000000);
	/* A BPF program goes, and another one comes to its place. */
	program.dso = tasks_dso_like(t, "bpf_prog_1", &bpf);
	tasks_mmap(t, 10, -1, 0, &program);
	tasks_kernel_unmap(t, 20, program.start, program.end);
	program.dso = tasks_dso_like(t, "bpf_prog_2", &bpf);
	tasks_mmap(t, 30, -1, 0, &program);
	CHECK_STR(what(t, -1, 15, program.start + 4), "bpf_prog_1+4");
	CHECK_STR(what(t, -1, 25, program.start + 4), "-");
	CHECK_STR(what(t, -1, 30, program.start + 4), "bpf_prog_2+4");
	CHECK_STR(what(t, -1, 30, 0xffffffff81000010), "[kernel.kallsyms]+10");
	CHECK(tasks_get_dso(t, program.dso)->ksymbol);
	/* Nothing of it is seen in a process. */
	mmap_at(t, 40, 9, "/app", 0x1000, 0x1000, 0);
	CHECK_STR(what(t, 9, 50, 0xffffffff81000010), "-");
	tasks_free(t);
}

static void dsos(void)
{
	struct tasks *t = tasks_new();
	const uint8_t id[20] = { 1, 2, 3 }, other[20] = { 9 };
	struct task_dso inode = { .maj = 8, .min = 1, .ino = 77 };
	uint32_t a = tasks_dso(t, "/a", NULL, 0, false), b;

	CHECK_INT(tasks_dso(t, "/a", NULL, 0, false), a);
	b = tasks_dso(t, "/a", id, 20, false);
	CHECK(b != a);
	CHECK(tasks_dso(t, "/a", other, 20, false) != b);
	CHECK(tasks_dso_like(t, "/a", &inode) != a);
	CHECK_INT(tasks_n_dsos(t), 4);
	tasks_set_build_id(t, "/a", other, 20, false);
	CHECK_INT(tasks_get_dso(t, a)->build_id_size, 20);
	CHECK_INT(tasks_get_dso(t, a)->build_id[0], 9);
	CHECK_INT(tasks_get_dso(t, b)->build_id[0], 1);
	tasks_set_build_id(t, "/none", other, 20, false);
	CHECK(!tasks_get_dso(t, 99));
	CHECK_STR(tasks_dso_path(t, TASK_DSO_NONE), "");
	tasks_free(t);
}

static void count_seen(void *ctx, const struct task_seen *s)
{
	uint64_t *n = ctx;

	n[0]++;
	n[1] += s->end != UINT64_MAX;
	n[2] += s->comm != STRTAB_NONE;
}

/* A server of 500 mappings that forks 60,000 times, each child mapping one thing more. */
static void many(void)
{
	struct tasks *t = tasks_new();
	uint64_t seen[3] = { 0 }, wrong = 0;
	size_t before, bytes;

	tasks_comm(t, 1, 1, 1, "server", true);
	for (uint64_t i = 0; i < 500; i++)
		mmap_at(t, 2, 1, "/lib", 0x100000 + i * 0x10000, 0x8000, 0);
	before = mallinfo2().uordblks + mallinfo2().hblkhd;
	for (int32_t i = 0; i < 60000; i++) {
		int32_t pid = 2 + i % 30000;
		uint64_t time = 10 + (uint64_t)i * 10;

		tasks_fork(t, time, 1, 1, pid, pid, true);
		mmap_at(t, time + 1, pid, "/job", 0x100000 + (uint64_t)(i % 500) * 0x10000, 0x1000,
			0);
		tasks_exit(t, time + 5, pid, pid);
	}
	bytes = mallinfo2().uordblks + mallinfo2().hblkhd - before;
	CHECK_CASE(bytes < 200u << 20, "60,000 forks take %zu MiB", bytes >> 20);
	for (int32_t i = 0; i < 60000; i += 7) {
		int32_t pid = 2 + i % 30000;
		uint64_t time = 12 + (uint64_t)i * 10,
			 at = 0x100000 + (uint64_t)(i % 500) * 0x10000;

		wrong += strcmp(what(t, pid, time, at + 4), "/job+4") != 0;
		wrong += strcmp(what(t, pid, time, at + 0x2000), "/lib+2000") != 0;
		wrong += strcmp(what(t, 1, time, at + 4), "/lib+4") != 0;
	}
	CHECK_INT(wrong, 0);
	tasks_each(t, count_seen, seen);
	CHECK_INT(seen[0], 60001);
	CHECK_INT(seen[1], 60000);
	CHECK_INT(seen[2], 60001);
	tasks_free(t);
}

/* A live view's: 20,000 programs later it has no more than what runs, and what is asked for. */
static void renewed(void)
{
	struct tasks *t = tasks_new(), *old;
	struct tasks_wanted want;
	struct tasks_moved moved;
	size_t size = 0, most = 0;
	uint64_t time = 20;

	struct task_map k = { .start = 0xffff0000, .end = 0xffff8000, .pid = -1 };

	k.dso = tasks_dso(t, "[kernel.kallsyms]", NULL, 0, true);
	tasks_mmap(t, 0, -1, -1, &k);
	tasks_comm(t, 1, 1, 1, "init", false);
	mmap_at(t, 2, 1, "/init", 0x1000, 0x1000, 0);
	mmap_at(t, 2, 1, "/lib", 0x8000, 0x1000, 0);
	for (int round = 0; round < 20; round++) {
		uint32_t space, comm_id, alone;

		for (int i = 0; i < 1000; i++, time += 10) {
			int32_t pid = 2 + i;
			char path[32];

			snprintf(path, sizeof(path), "/job%d-%d", round, i);
			tasks_fork(t, time, 1, 1, pid, pid, true);
			tasks_comm(t, time + 1, pid, pid, path + 1, true);
			mmap_at(t, time + 2, pid, path, 0x1000, 0x1000, 0x5000);
			tasks_exit(t, time + 9, pid, pid);
		}
		space = tasks_space_at(t, 500, time);
		comm_id = tasks_comm_at(t, 500, time);
		tasks_want_none(t, &want);
		tasks_want(&want, space, TASK_SPACE_KERNEL, comm_id);
		old = t;
		t = tasks_renew(old, &want, time - 30, &moved);
		alone = tasks_moved_space(&moved, space);
		CHECK(tasks_find(t, alone, 0x1000) && /* asked for by number */
		      strstr(tasks_dso_path(t, tasks_find(t, alone, 0x1000)->dso), "-498"));
		CHECK(strstr(strtab_get(tasks_strings(t), moved.name[comm_id]), "-498"));
		CHECK_STR(what(t, 1, time, 0x1004), "/init+4"); /* it runs */
		CHECK_STR(comm(t, 1, time), "init");
		CHECK(strstr(what(t, 1001, time - 5, 0x1004), "-999+5004")); /* just now */
		CHECK_STR(what(t, 1001, time - 5, 0x8004), "/lib+4");	     /* before its exec */
		CHECK_STR(what(t, 700, time, 0x1004), "-");
		CHECK_STR(what(t, -1, time, 0xffff0004), "[kernel.kallsyms]+4");
		CHECK_INT(tasks_moved_space(&moved, TASK_SPACE_KERNEL), TASK_SPACE_KERNEL);
		CHECK(tasks_version(t) > tasks_version(old));
		/* what was answered before still holds */
		CHECK(strstr(tasks_dso_path(old, tasks_find(old, space, 0x1000)->dso), "-498"));
		tasks_free(old);
		tasks_wanted_free(&want);
		tasks_moved_free(&moved);
		size = size ? size : tasks_size(t);
		most = tasks_size(t) > most ? tasks_size(t) : most;
	}
	CHECK(most < size + 4096);
	/* changes go on where they were: another mapping of one process is nobody else's */
	tasks_fork(t, time, 1, 1, 7, 7, true);
	mmap_at(t, time + 1, 7, "/new", 0x1000, 0x1000, 0);
	CHECK_STR(what(t, 7, time + 2, 0x1000), "/new+0");
	CHECK_STR(what(t, 1, time + 2, 0x1000), "/init+0");
	tasks_free(t);
}

int main(void)
{
	renewed();
	names();
	names_that_come_late();
	threads();
	exec();
	fork_shares();
	replaced();
	pid_reuse();
	kernel();
	dsos();
	many();
	return tap_end();
}
