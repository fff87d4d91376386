/* SPDX-License-Identifier: MIT */
/*
 * pmu EVENT PERIOD PROG [ARG...]: run PROG and print how often EVENT (cycles or
 * instructions) counted in its user space, or, with a PERIOD other than 0, how
 * many samples the PMU took of it.
 *
 * The lab's own yardstick: it shows that the guest's PMU works before kymo is
 * asked to use it, with nothing of kymo in it.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES 64

static int die(const char *what)
{
	fprintf(stderr, "pmu: %s: %s\n", what, strerror(errno));
	return 1;
}

/* The records in a ring that nobody reads from: all are samples of one size. */
static uint64_t samples(const struct perf_event_mmap_page *page)
{
	size_t size = sizeof(struct perf_event_header) + sizeof(uint64_t);

	return __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) / size;
}

static int measure(struct perf_event_attr *attr, char **prog)
{
	struct perf_event_mmap_page *page = NULL;
	int fd, status, go[2];
	uint64_t count;
	pid_t pid;

	if (pipe(go) < 0)
		return die("pipe");
	pid = fork();
	if (pid < 0)
		return die("fork");
	if (pid == 0) {
		char c;

		close(go[1]);
		if (read(go[0], &c, 1) == 1)
			execvp(prog[0], prog);
		_exit(127);
	}
	fd = syscall(SYS_perf_event_open, attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return die("perf_event_open");
	if (attr->sample_period) {
		page = mmap(NULL, (1 + PAGES) * sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
			    MAP_SHARED, fd, 0);
		if (page == MAP_FAILED)
			return die("mmap");
	}
	if (write(go[1], "", 1) != 1 || waitpid(pid, &status, 0) != pid)
		return die(prog[0]);
	if (status) {
		fprintf(stderr, "pmu: %s failed\n", prog[0]);
		return 1;
	}
	if (read(fd, &count, sizeof(count)) != sizeof(count))
		return die("read");
	printf("%llu\n", (unsigned long long)(page ? samples(page) : count));
	return 0;
}

int main(int argc, char **argv)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.sample_type = PERF_SAMPLE_IP,
		.disabled = 1,
		.enable_on_exec = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	if (argc > 3 && !strcmp(argv[1], "cycles"))
		attr.config = PERF_COUNT_HW_CPU_CYCLES;
	else if (argc > 3 && !strcmp(argv[1], "instructions"))
		attr.config = PERF_COUNT_HW_INSTRUCTIONS;
	else {
		fprintf(stderr, "usage: pmu cycles|instructions PERIOD PROG [ARG...]\n");
		return 2;
	}
	attr.sample_period = strtoull(argv[2], NULL, 10);
	return measure(&attr, argv + 3);
}
