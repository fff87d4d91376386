/* SPDX-License-Identifier: MIT */
/* Constants of headers that are macros there, so that the kernel's types (BTF) lack them. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "lang/check/check.h"

#define SAME(x)       \
	{             \
#		x, x \
	}

static const struct {
	const char *name;
	int64_t value;
} constants[] = {
	/* linux/sched.h */
	{ "TASK_RUNNING", 0 },
	{ "TASK_INTERRUPTIBLE", 1 },
	{ "TASK_UNINTERRUPTIBLE", 2 },
	{ "__TASK_STOPPED", 4 },
	{ "__TASK_TRACED", 8 },
	{ "EXIT_DEAD", 16 },
	{ "EXIT_ZOMBIE", 32 },
	{ "TASK_PARKED", 64 },
	{ "TASK_DEAD", 128 },
	{ "PF_KTHREAD", 0x200000 },
	{ "PF_EXITING", 4 },
	SAME(CLONE_VM),
	SAME(CLONE_FS),
	SAME(CLONE_FILES),
	SAME(CLONE_SIGHAND),
	SAME(CLONE_VFORK),
	SAME(CLONE_THREAD),
	SAME(CLONE_NEWNS),
	SAME(CLONE_NEWPID),
	SAME(CLONE_NEWNET),
	SAME(CLONE_NEWUSER),
	/* linux/socket.h */
	SAME(AF_UNSPEC),
	SAME(AF_UNIX),
	SAME(AF_INET),
	SAME(AF_INET6),
	SAME(AF_NETLINK),
	SAME(AF_PACKET),
	/* linux/fcntl.h, linux/stat.h */
	SAME(AT_FDCWD),
	SAME(O_RDONLY),
	SAME(O_WRONLY),
	SAME(O_RDWR),
	SAME(O_ACCMODE),
	SAME(O_CREAT),
	SAME(O_EXCL),
	SAME(O_TRUNC),
	SAME(O_APPEND),
	SAME(O_NONBLOCK),
	SAME(O_CLOEXEC),
	SAME(O_DIRECTORY),
	SAME(O_DIRECT),
	SAME(O_SYNC),
	SAME(S_IFMT),
	SAME(S_IFREG),
	SAME(S_IFDIR),
	SAME(S_IFLNK),
	SAME(S_IFCHR),
	SAME(S_IFBLK),
	SAME(S_IFIFO),
	SAME(S_IFSOCK),
	/* linux/mman.h */
	SAME(PROT_READ),
	SAME(PROT_WRITE),
	SAME(PROT_EXEC),
	SAME(MAP_SHARED),
	SAME(MAP_PRIVATE),
	SAME(MAP_FIXED),
	SAME(MAP_ANONYMOUS),
	/* linux/kdev_t.h, block layer */
	{ "MINORBITS", 20 },
	{ "SECTOR_SHIFT", 9 },
	{ "NSEC_PER_SEC", 1000000000 },
	{ "NSEC_PER_MSEC", 1000000 },
	{ "NSEC_PER_USEC", 1000 },
};

bool check_constant_name(const char *name, int64_t *value)
{
	for (size_t i = 0; i < ARRAY_SIZE(constants); i++)
		if (strcmp(constants[i].name, name) == 0) {
			*value = constants[i].value;
			return true;
		}
	if (strcmp(name, "PAGE_SIZE") == 0) {
		*value = sysconf(_SC_PAGESIZE);
		return true;
	}
	for (int i = 1; i < 134 && name[0] == 'E'; i++) {
		const char *error = strerrorname_np(i);

		if (error && strcmp(error, name) == 0) {
			*value = i;
			return true;
		}
	}
	for (int i = 1; i < NSIG && str_starts(name, "SIG"); i++) {
		const char *signal_name = sigabbrev_np(i);

		if (signal_name && strcmp(signal_name, name + 3) == 0) {
			*value = i;
			return true;
		}
	}
	return false;
}
