/* SPDX-License-Identifier: MIT */
/* Files that shrink while they are mapped, and folders that outlive who made them. */
#include "base/filemap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/temp.h"
#include "tap.h"

#define PAGES 5

static char room[4096];

static int make_file(size_t pages)
{
	AUTO_FREE char *path = mem_printf("%s/shrinks", getenv("TMPDIR"));
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	memset(room, 'x', sizeof(room));
	for (size_t i = 0; i < pages; i++)
		file_write_all(fd, room, sizeof(room));
	return fd;
}

/* What fn says and how its process ends. */
static int in_child(void (*fn)(void), char *said, size_t size)
{
	int p[2], status;
	ssize_t n, all = 0;
	pid_t pid;

	if (pipe(p) < 0)
		return -1;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		dup2(p[1], STDERR_FILENO);
		fn();
		_exit(99);
	}
	close(p[1]);
	while ((n = read(p[0], said + all, size - 1 - (size_t)all)) > 0)
		all += n;
	said[all] = '\0';
	close(p[0]);
	waitpid(pid, &status, 0);
	return status;
}

static volatile char seen;

static void shrink(void)
{
	int fd = make_file(PAGES);
	char *p, *other;

	filemap_start();
	other = filemap_open(fd, 4096, "another");
	filemap_close(other, 4096);
	p = filemap_open(fd, PAGES * 4096, "some\033file");
	seen = p[4 * 4096];
	if (ftruncate(fd, 4096) < 0)
		return;
	seen = p[0]; /* this page is still there */
	seen = p[2 * 4096];
}

static void not_ours(void)
{
	int fd = make_file(PAGES);
	char *p;

	filemap_start();
	p = filemap_open(fd, PAGES * 4096, "a file");
	filemap_close(p, PAGES * 4096);
	signal(SIGABRT, SIG_DFL);
	raise(SIGBUS);
}

static void leave(void)
{
	struct temp t = { 0 };
	AUTO_FREE char *file = NULL;

	if (temp_make(&t, NULL) < 0)
		_exit(98);
	file = mem_printf("%s/perf.data", t.path);
	close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	if (write(STDERR_FILENO, t.path, strlen(t.path)) > 0)
		kill(getpid(), SIGKILL);
}

static void test_temp(void)
{
	struct temp a = { 0 }, b = { 0 };
	AUTO_FREE char *first = NULL, *file = NULL;
	char left[256], more[256];
	struct stat st;
	int status = in_child(leave, left, sizeof(left));

	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	CHECK_INT(stat(left, &st), 0);
	CHECK_INT(st.st_mode & 07777, 0700);
	CHECK_INT(temp_make(&a, NULL), 0);
	CHECK_INT(stat(left, &st), -1);
	first = mem_strdup(a.path);
	file = mem_printf("%s/x", a.path);
	close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	/* one that is in use stays */
	CHECK_INT(temp_make(&b, NULL), 0);
	in_child(leave, more, sizeof(more));
	CHECK_INT(stat(file, &st), 0);
	temp_remove(&a);
	temp_remove(&a);
	CHECK_INT(stat(first, &st), -1);
	temp_remove(&b);
	CHECK_INT(temp_make(&a, NULL), 0);
	CHECK_INT(stat(more, &st), -1);
	temp_remove(&a);
}

static void test_temp_refused(const char *dir)
{
	struct temp t = { 0 };
	struct err e = { 0 };

	setenv("TMPDIR", "/nonexistent", 1);
	CHECK_INT(temp_make(&t, &e), -ENOENT);
	CHECK(strstr(e.msg, "/nonexistent") && strstr(e.hint, "TMPDIR"));
	CHECK(!t.path);
	setenv("TMPDIR", dir, 1);
}

int main(void)
{
	char dir[] = "/tmp/kymo-filemap-XXXXXX", said[512];
	AUTO_FREE char *file = NULL;
	int status;

	if (!mkdtemp(dir))
		return 1;
	setenv("TMPDIR", dir, 1);
	status = in_child(shrink, said, sizeof(said));
	CHECK(WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), 1);
	CHECK(strstr(said, "kymo: some?file became shorter"));
	CHECK(strstr(said, "hint: "));
	status = in_child(not_ours, said, sizeof(said));
	CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) != 99);
	CHECK(!strstr(said, "became shorter"));
	test_temp();
	test_temp_refused(dir);
	file = mem_printf("%s/shrinks", dir);
	unlink(file);
	CHECK_INT(rmdir(dir), 0); /* nothing is left */
	return tap_end();
}
