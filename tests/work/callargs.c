/* SPDX-License-Identifier: MIT */
/*
 * System calls whose arguments mean something by another argument, for tracers to be compared with.
 *
 *	callargs FOLDER	     those that tracers word alike
 *	callargs FOLDER own  those that kymo words in its own way
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void files(void)
{
	struct iovec iov[2] = { { "abc", 3 }, { "defgh", 5 } };
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 1, .l_len = 2 };
	struct timespec times[2] = { { 1, 2 }, { 0, UTIME_NOW } };
	char a[4], b[10];
	struct iovec in[2] = { { a, sizeof(a) }, { b, sizeof(b) } };
	int fd = open("more", O_RDWR | O_CREAT | O_TRUNC, 0600), mem;
	loff_t at = 0;

	if (fd < 0)
		exit(1);
	pwritev(fd, iov, 2, 4);
	preadv2(fd, in, 2, 2, 0);
	fcntl(fd, F_SETLK, &lock);
	fcntl(fd, F_GETLK, &lock);
	syscall(SYS_utimensat, AT_FDCWD, "more", times, 0);
	sync_file_range(fd, 0, 10, SYNC_FILE_RANGE_WRITE);
	mem = memfd_create("some", MFD_ALLOW_SEALING);
	copy_file_range(fd, &at, -1, NULL, 5, 0);
	fcntl(mem, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
	unlink("more");
}

static void processes(void)
{
	struct timespec none = { 0, 0 };
	char from[8] = "1234567", to[8];
	struct iovec local = { to, 8 }, remote = { from, 8 };
	cpu_set_t cpus;
	int word = 0;

	prctl(PR_SET_NAME, "another");
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	prctl(PR_CAPBSET_READ, 21);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE_PRIVATE, 1, 2, &word, 0);
	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, &none, NULL, 0);
	syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 1, &none, &none, -1);
	syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 1, NULL, NULL, 6);
	syscall(SYS_futex, &word, FUTEX_WAKE_BITSET_PRIVATE, 1, &none, &none, -1);
	syscall(SYS_futex, &word, FUTEX_REQUEUE_PRIVATE, 1, 2, &word, 5);
	sched_getaffinity(0, sizeof(cpus), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	sched_getscheduler(0);
	process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
	close((int)syscall(SYS_pidfd_open, getpid(), 0));
}

static void sockets(void)
{
	struct sockaddr_nl nl = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	struct linger linger = { 1, 5 };
	struct ifreq q = { .ifr_name = "lo" };
	struct sockaddr_in nobody = { .sin_family = AF_INET, .sin_port = htons(1) };
	socklen_t n = sizeof(int);
	struct stat st;
	int tos = 16, error, fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), udp;

	bind(fd, (struct sockaddr *)&nl, sizeof(nl));
	udp = socket(AF_INET, SOCK_DGRAM, 0);
	setsockopt(udp, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	ioctl(udp, SIOCGIFINDEX, &q);
	ioctl(udp, SIOCGIFMTU, &q);
	setsockopt(udp, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &tos, sizeof(tos));
	nobody.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	connect(fd, (struct sockaddr *)&nobody, sizeof(nobody));
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n);
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n);
	stat("/dev/null", &st);
}

static void events(void)
{
	struct itimerspec soon = { { 0, 0 }, { 1, 500 } };
	sigset_t set;
	int p[2], n, fd;

	if (pipe(p) < 0 || write(p[1], "xyz", 3) != 3)
		exit(1);
	ioctl(p[0], FIONREAD, &n);
	ioctl(p[0], FIOCLEX);
	ioctl(p[0], FIONCLEX);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGIO);
	signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	timerfd_settime(fd, TFD_TIMER_ABSTIME, &soon, NULL);
	fd = inotify_init1(IN_CLOEXEC);
	inotify_add_watch(fd, "/", IN_CREATE | IN_DELETE);
}

/* One can be written to, and nothing is to be read from the other. */
static void ready(const int *pair)
{
	fd_set in, out;

	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_SET(pair[0], &in);
	FD_SET(pair[1], &out);
	select(pair[1] + 1, &in, &out, NULL, NULL);
}

/* Names of sockets: shorter than their room, longer than it, none. */
static void names(void)
{
	struct sockaddr_un un;
	struct sockaddr_in in = { .sin_family = AF_INET };
	socklen_t n = sizeof(un);
	int fd = socket(AF_INET, SOCK_DGRAM, 0), local = socket(AF_UNIX, SOCK_DGRAM, 0);

	getsockname(local, (struct sockaddr *)&un, &n);
	n = 6;
	getsockname(fd, (struct sockaddr *)&in, &n);
	n = sizeof(in);
	getpeername(fd, (struct sockaddr *)&in, &n);
	close(fd);
	close(local);
}

/* Times that calls change, messages with descriptors in them, how a child ended. */
static void own(void)
{
	struct pollfd f = { .fd = -1, .events = POLLIN };
	struct timeval tv = { 0, 7000 };
	struct timespec ts = { 0, 3000000 };
	struct iovec iov = { "abc", 3 };
	char room[CMSG_SPACE(sizeof(int))] = { 0 };
	struct msghdr m = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = room,
			    .msg_controllen = sizeof(room) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	int pair[2], fd = 1;
	siginfo_t info;
	pid_t child;

	ppoll(&f, 1, &ts, NULL);
	select(0, NULL, NULL, NULL, &tv);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		exit(1);
	ready(pair);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	sendmsg(pair[0], &m, MSG_NOSIGNAL);
	child = fork();
	if (!child)
		_exit(7);
	waitid(P_PID, (id_t)child, &info, WEXITED);
}

int main(int argc, char **argv)
{
	if (argc < 2 || chdir(argv[1]) < 0)
		return 2;
	if (argc > 2) {
		own();
		return 0;
	}
	files();
	processes();
	sockets();
	events();
	names();
	return 0;
}
