/* SPDX-License-Identifier: MIT */
#include "live/workload.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

#define CHILD_STACK (256u << 10)
#define END_MS 1000 /* how long it may take to end with us */

static bool become(const struct passwd *u)
{
	if (initgroups(u->pw_name, u->pw_gid) < 0 || setgid(u->pw_gid) < 0 || setuid(u->pw_uid) < 0)
		return false;
	setenv("HOME", u->pw_dir, 1);
	setenv("USER", u->pw_name, 1);
	setenv("LOGNAME", u->pw_name, 1);
	return true;
}

struct order { /* what the child is told */
	char **argv;
	const struct passwd *user; /* NULL: nobody else */
	int out_fd;
	int go[2], error[2];
};

/*
 * In the child: wait for the word, then become the command; send errno back when that fails.
 * Unless it becomes another user it works in our memory, and must leave that as it is.
 */
static int child(void *ctx)
{
	const struct order o = *(const struct order *)ctx;
	sigset_t none;
	char word;
	int code;

	/* Past the C library, which keeps notes of waiting threads. */
	syscall(SYS_close, o.go[1]);
	syscall(SYS_close, o.error[0]);
	if (syscall(SYS_read, o.go[0], &word, 1) != 1)
		return 0; /* kymo gave up or died */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (o.out_fd >= 0)
		dup2(o.out_fd, STDOUT_FILENO);
	if (!o.user || become(o.user))
		execvp(o.argv[0], o.argv);
	code = errno;
	if (syscall(SYS_write, o.error[1], &code, sizeof(code)) < 0)
		return 127;
	return code == ENOENT ? 127 : 126;
}

/*
 * Copying our memory for a child that only waits takes longer than all it does. ThreadSanitizer,
 * which keeps notes in that memory, takes both for one thread.
 */
#ifdef __SANITIZE_THREAD__
#	define SHARES_MEMORY false
#else
#	define SHARES_MEMORY true
#endif

static pid_t live_workload_start(struct workload *w, struct order *o)
{
	pid_t pid;

	if (SHARES_MEMORY && !o->user) {
		w->stack = mem_alloc(sizeof(*o) + CHILD_STACK);
		memcpy(w->stack, o, sizeof(*o));
		return clone(child, w->stack + ((sizeof(*o) + CHILD_STACK) & ~(size_t)63) - 64,
			     CLONE_VM | SIGCHLD, w->stack);
	}
	pid = fork();
	if (pid == 0)
		_Exit(child(o));
	return pid;
}

static int cannot_run(const char *name, int code, int *exit_code, struct err *e)
{
	*exit_code = code == ENOENT ? 127 : 126;
	err_set(e, code, "cannot run '%s': %s", name, strerror(code));
	if (code == ENOENT)
		return err_hint(
			e,
			"is it spelled right and in PATH? options of kymo come before the command");
	return -code;
}

int workload_check(const char *name, int *exit_code, struct err *e)
{
	const char *dirs = getenv("PATH");
	int code = ENOENT;

	if (strchr(name, '/'))
		return access(name, X_OK) == 0 ? 0 : cannot_run(name, errno, exit_code, e);
	for (dirs = dirs ? dirs : "/bin:/usr/bin"; dirs; dirs = strchr(dirs, ':')) {
		AUTO_FREE char *path = NULL;
		size_t n;

		dirs += *dirs == ':';
		n = strcspn(dirs, ":");
		path = mem_printf("%.*s/%s", n ? (int)n : 1, n ? dirs : ".", name);
		if (access(path, X_OK) == 0)
			return 0;
		if (errno == EACCES)
			code = EACCES;
	}
	return cannot_run(name, code, exit_code, e);
}

static int live_workload_prepare(struct workload *w, char **argv, const struct passwd *user,
				 int out_fd, struct err *e)
{
	struct order o = { .argv = argv, .user = user, .out_fd = out_fd };

	*w = (struct workload){ 0 };
	if (pipe2(o.go, O_CLOEXEC) < 0)
		return err_set(e, errno, "cannot make a pipe: %s", strerror(errno));
	if (pipe2(o.error, O_CLOEXEC) < 0) {
		err_set(e, errno, "cannot make a pipe: %s", strerror(errno));
		close(o.go[0]);
		close(o.go[1]);
		return -e->code;
	}
	w->pid = live_workload_start(w, &o);
	if (w->pid < 0)
		err_set(e, errno, "cannot start a process: %s", strerror(errno));
	close(o.go[0]);
	close(o.error[1]);
	w->go_fd = o.go[1];
	w->error_fd = o.error[0];
	if (w->pid > 0)
		return 0;
	close(w->go_fd);
	close(w->error_fd);
	free(w->stack);
	*w = (struct workload){ 0 };
	return -e->code;
}

int workload_prepare(struct workload *w, char **argv, struct err *e)
{
	return live_workload_prepare(w, argv, NULL, -1, e);
}

int workload_prepare_to(struct workload *w, char **argv, int out_fd, struct err *e)
{
	return live_workload_prepare(w, argv, NULL, out_fd, e);
}

int workload_prepare_as(struct workload *w, char **argv, const char *user, struct err *e)
{
	const struct passwd *u = user ? getpwnam(user) : NULL;

	if (user && !u)
		return err_set(e, ENOENT, "there is no user '%s'", user);
	return live_workload_prepare(w, argv, u, -1, e);
}

int workload_start(struct workload *w, const char *name, int *exit_code, struct err *e)
{
	ssize_t n;
	int code;

	do
		n = write(w->go_fd, "g", 1);
	while (n < 0 && errno == EINTR);
	close(w->go_fd);
	do /* end of file when exec has closed the other end */
		n = read(w->error_fd, &code, sizeof(code));
	while (n < 0); /* a signal came: errno may be the child's */
	close(w->error_fd);
	w->go_fd = w->error_fd = -1;
	if (n == sizeof(code))
		waitpid(w->pid, NULL, 0);
	free(w->stack); /* of which it is gone: it has memory of its own, or has ended */
	w->stack = NULL;
	if (n != sizeof(code))
		return 0;
	w->pid = 0;
	return cannot_run(name, code, exit_code, e);
}

void workload_cancel(struct workload *w)
{
	if (w->pid <= 0)
		return;
	close(w->go_fd);
	close(w->error_fd);
	waitpid(w->pid, NULL, 0);
	w->pid = 0;
	free(w->stack);
	w->stack = NULL;
}

bool workload_ended(struct workload *w, int *exit_code)
{
	int status;

	if (w->pid <= 0 || waitpid(w->pid, &status, WNOHANG) != w->pid)
		return false;
	*exit_code = workload_exit_code(status);
	w->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	w->pid = 0;
	return true;
}

void workload_end(struct workload *w, int *code)
{
	struct timespec moment = { .tv_nsec = 1000000 };

	if (w->pid <= 0)
		return;
	kill(w->pid, SIGTERM);
	for (int ms = 0; ms < END_MS; ms++) {
		if (workload_ended(w, code))
			return;
		nanosleep(&moment, NULL);
	}
	kill(w->pid, SIGKILL);
	while (!workload_ended(w, code))
		nanosleep(&moment, NULL);
}

int workload_exit_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
