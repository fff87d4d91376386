/* SPDX-License-Identifier: MIT */
/*
 * Makes known system calls with known arguments, for tracers to be compared with.
 *
 *	syscalls FOLDER     one of many kinds, files in FOLDER
 *	syscalls FOLDER 32  the same program, and a call by the 32-bit way in
 *	syscalls FOLDER threads   a thread that ends in a call, an exec by another
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void files(void)
{
	char buf[64];
	struct iovec iov[2] = { { "one ", 4 }, { "two\n", 4 } }, in[2];
	struct stat st;
	char a[3], b[16];
	int fd = open("data", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);

	if (fd < 0)
		exit(1);
	syscall(SYS_write, fd, "tab\t\"q\" \1\0012\n", 12);
	writev(fd, iov, 2);
	lseek(fd, 4, SEEK_SET);
	syscall(SYS_read, fd, buf, sizeof(buf));
	pread(fd, buf, 3, 0);
	lseek(fd, 0, SEEK_SET);
	in[0] = (struct iovec){ a, sizeof(a) };
	in[1] = (struct iovec){ b, sizeof(b) };
	readv(fd, in, 2);
	fcntl(fd, F_GETFL);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	syscall(SYS_fstat, fd, &st);
	ftruncate(fd, 5);
	dup(fd);
	close(fd);
	open("missing", O_RDONLY);
	access("data", R_OK | W_OK);
	syscall(SYS_mkdirat, AT_FDCWD, "folder", 0755);
	rename("data", "folder/moved");
	syscall(SYS_unlinkat, AT_FDCWD, "folder/moved", 0);
	syscall(SYS_unlinkat, AT_FDCWD, "folder", AT_REMOVEDIR);
	if (!getcwd(buf, sizeof(buf)))
		exit(1);
	if (readlink("/proc/self/exe", buf, 4) != 4)
		exit(1);
	close(-1);
	close(999);
}

static void memory(void)
{
	void *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(p, 4096, PROT_NONE);
	madvise((char *)p + 4096, 4096, MADV_DONTNEED);
	munmap(p, 8192);
	mmap(NULL, 0, PROT_READ, MAP_SHARED, -1, 0);
}

static void sockets(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(1) };
	struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = "sock" };
	struct iovec v = { "message", 7 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	int pair[2], fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
	char buf[8];

	inet_pton(AF_INET, "127.0.0.1", &in.sin_addr);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	connect(fd, (struct sockaddr *)&in, sizeof(in));
	close(fd);
	fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	bind(fd, (struct sockaddr *)&un, sizeof(un));
	unlink("sock");
	close(fd);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	sendto(pair[0], "hello", 5, MSG_NOSIGNAL, NULL, 0);
	recvfrom(pair[1], buf, sizeof(buf), MSG_DONTWAIT, NULL, NULL);
	sendmsg(pair[0], &m, 0);
	shutdown(pair[0], SHUT_WR);
	close(pair[0]);
	close(pair[1]);
}

static __attribute__((noinline)) void waiting(void)
{
	struct timespec t = { 0, 1000000 };
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = 0x1234 }, out[4];
	struct rlimit rl;
	sigset_t set;
	int p[2], ep;
	struct pollfd fds[2];

	if (pipe2(p, O_CLOEXEC) < 0)
		exit(1);
	ep = epoll_create1(EPOLL_CLOEXEC);
	epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &ev);
	if (write(p[1], "x", 1) != 1)
		exit(1);
	syscall(SYS_epoll_pwait, ep, out, 4, 100, NULL, 8);
	fds[0] = (struct pollfd){ p[0], POLLIN, 0 };
	fds[1] = (struct pollfd){ p[1], POLLOUT, 0 };
	syscall(SYS_ppoll, fds, 2, NULL, NULL, 0);
	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &t, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	syscall(SYS_kill, getpid(), 0);
	getrlimit(RLIMIT_NOFILE, &rl);
	syscall(SYS_getppid, 1, 2, 3, 4, 5, 6);
	syscall(999999, 1, 2, 3);
}

static void children(void)
{
	int status;
	pid_t pid = vfork();

	if (pid == 0) {
		execl("/bin/nothing/here", "nothing", "at all", NULL);
		execl("/bin/sh", "sh", "-c", "exit 7", NULL);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 7)
		exit(1);
}

#if defined(__x86_64__)
static long int80(long nr, long a, long b, long c)
{
	long ret;

	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(nr), "b"(a), "c"(b), "d"(c) : "memory");
	return ret;
}

/* Memory that 32 bits reach. */
static void narrow(void)
{
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	if (low == MAP_FAILED)
		exit(1);
	strcpy(low, "missing32");
	printf("%ld\n", int80(5, (long)low, O_RDONLY | O_CLOEXEC, 0)); /* open */
	printf("%ld\n", int80(20, 0, 0, 0) == getpid() ? 0L : 1L);     /* getpid */
	fflush(stdout);
}
#endif

static void *blocked(void *arg)
{
	char c;

	if (read(*(int *)arg, &c, 1) < 0)
		return NULL;
	return NULL;
}

static void *becomes(void *arg)
{
	(void)arg;
	execl("/bin/sh", "sh", "-c", ":", NULL);
	return NULL;
}

/* One thread waits for ever, another becomes a shell: the first ends in its call. */
static void threads(void)
{
	static int p[2];
	pthread_t t[2];
	struct timespec moment = { 0, 20000000 };

	if (pipe(p) < 0)
		exit(1);
	pthread_create(&t[0], NULL, blocked, &p[0]);
	nanosleep(&moment, NULL);
	pthread_create(&t[1], NULL, becomes, NULL);
	pthread_join(t[0], NULL);
}

int main(int argc, char **argv)
{
	if (argc < 2 || chdir(argv[1]) < 0)
		return 2;
	if (argc > 2 && strcmp(argv[2], "threads") == 0) {
		threads();
		return 1;
	}
#if defined(__x86_64__)
	if (argc > 2 && strcmp(argv[2], "32") == 0) {
		narrow();
		return 0;
	}
#endif
	files();
	memory();
	sockets();
	waiting();
	children();
	return 5;
}
