/* SPDX-License-Identifier: MIT */
/*
 * Maps that live with threads (lang/gen/task_maps.c): made, and read from all threads one by one.
 */
#include <fcntl.h>
#include <linux/btf.h>
#include <sys/syscall.h>

#include "live/run/session.h"

#define THREAD O_EXCL /* PIDFD_THREAD: of a thread, not only of a process (Linux 6.9) */

static int run_task_maps_pidfd(int32_t tid)
{
	return (int)syscall(SYS_pidfd_open, tid, THREAD);
}

int run_task_map(void)
{
	/* The kernel wants types: a number for the key, and 16 bytes. */
	struct {
		struct btf_header h;
		struct btf_type key;
		uint32_t key_bits;
		struct btf_type word;
		uint32_t word_bits;
		struct btf_type value;
		struct btf_member member[2];
		char text[16];
	} __attribute__((packed)) b = {
		.h = { .magic = BTF_MAGIC, .version = 1, .hdr_len = sizeof(b.h) },
		.key = { .name_off = 1, .info = BTF_KIND_INT << 24, .size = 4 },
		.key_bits = BTF_INT_SIGNED << 24 | 32,
		.word = { .name_off = 3, .info = BTF_KIND_INT << 24, .size = 8 },
		.word_bits = 64,
		.value = { .name_off = 5, .info = BTF_KIND_STRUCT << 24 | 2, .size = 16 },
		.member = { { .name_off = 7, .type = 2 },
			    { .name_off = 9, .type = 2, .offset = 64 } },
		.text = "\0k\0w\0v\0p\0n",
	};
	int btf, fd;

	b.h.type_len = b.h.str_off = sizeof(b) - sizeof(b.h) - sizeof(b.text);
	b.h.str_len = sizeof(b.text);
	btf = bpf_btf_new(&b, sizeof(b));
	if (btf < 0)
		return btf;
	fd = bpf_map_new(&(struct bpf_map_kind){ .type = BPF_MAP_TYPE_TASK_STORAGE,
						 .key = 4,
						 .value = 16,
						 .flags = BPF_F_NO_PREALLOC,
						 .btf = btf,
						 .key_type = 1,
						 .value_type = 3 });
	close(btf);
	return fd;
}

bool run_task_storage(void *ctx)
{
	int fd = run_task_maps_pidfd((int32_t)syscall(SYS_gettid));

	if (fd < 0)
		return false;
	close(fd);
	/* Threads must have here the numbers that programs see. */
	if (!proc_first_pidns())
		return false;
	fd = run_task_map();
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static void run_task_maps_thread(const struct run *r, int map, int32_t tid, lang_entry_fn *fn,
				 void *arg)
{
	uint64_t key[2] = { (uint32_t)tid }, value[2];
	AUTO_CLOSE int fd = run_task_maps_pidfd(tid);

	if (fd >= 0 && bpf_map_get(r->map_fd[map], &fd, value) == 0)
		fn(arg, key, value);
}

static int run_task_drop(void *arg, const void *key, const void *value)
{
	const int *map = arg;
	AUTO_CLOSE int fd = run_task_maps_pidfd(*(const int32_t *)key);

	if (fd >= 0)
		bpf_map_drop(*map, &fd);
	return 0;
}

void run_task_clear(const struct run *r, int map)
{
	run_task_each(r, map, run_task_drop, &r->map_fd[map]);
}

void run_task_each(const struct run *r, int map, lang_entry_fn *fn, void *arg)
{
	struct thread_list all;

	if (proc_threads_all(&all, NULL) < 0)
		return;
	for (size_t i = 0; i < all.n; i++)
		run_task_maps_thread(r, map, all.tid[i], fn, arg);
	thread_list_free(&all);
}
