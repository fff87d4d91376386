/* SPDX-License-Identifier: MIT */
/*
 * bench-iorate DEVICE COUNT: reads of 4 KiB from a block device, many at a time and none beside
 * another (so that none are merged). Prints how many a second.
 */
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define DEPTH 64
#define BLOCK 4096

int main(int argc, char **argv)
{
	struct iocb cb[DEPTH], *list[DEPTH];
	struct io_event done[DEPTH];
	struct timespec a, b;
	aio_context_t ctx = 0;
	unsigned long long size = 0;
	long count = argc == 3 ? atol(argv[2]) : 0;
	void *mem = NULL;
	int fd = count > 0 ? open(argv[1], O_RDONLY | O_DIRECT) : -1;
	double s;

	if (fd < 0 || ioctl(fd, BLKGETSIZE64, &size) < 0 || size < (DEPTH * 4ull * BLOCK) ||
	    posix_memalign(&mem, BLOCK, DEPTH * BLOCK) != 0 ||
	    syscall(SYS_io_setup, DEPTH, &ctx) < 0) {
		perror("bench-iorate DEVICE COUNT");
		return 1;
	}
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (long i = 0; i < count; i += DEPTH) {
		int n = count - i < DEPTH ? (int)(count - i) : DEPTH;

		for (int k = 0; k < n; k++) {
			cb[k] = (struct iocb){ .aio_fildes = (unsigned)fd,
					       .aio_lio_opcode = IOCB_CMD_PREAD,
					       .aio_buf = (unsigned long)mem + (unsigned)k * BLOCK,
					       .aio_nbytes = BLOCK,
					       .aio_offset =
						       (long long)((unsigned long long)(i + k) * 2 %
								   (size / BLOCK) * BLOCK) };
			list[k] = &cb[k];
		}
		for (int k = 0, r; k < n; k += r)
			if ((r = (int)syscall(SYS_io_submit, ctx, n - k, list + k)) <= 0)
				return 1;
		if (syscall(SYS_io_getevents, ctx, n, n, done, NULL) != n)
			return 1;
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	s = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
	printf("%.0f\n", (double)count / s);
	return 0;
}
