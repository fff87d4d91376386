/* SPDX-License-Identifier: MIT */
#include "live/workload.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

static bool become(const struct passwd *u)
{
	if (initgroups(u->pw_name, u->pw_gid) < 0 || setgid(u->pw_gid) < 0 || setuid(u->pw_uid) < 0)
		return false;
	setenv("HOME", u->pw_dir, 1);
	setenv("USER", u->pw_name, 1);
	setenv("LOGNAME", u->pw_name, 1);
	return true;
}

/* In the child: wait for the word, then become the command; send errno back when that fails. */
static void __attribute__((noreturn))
child(char **argv, const struct passwd *user, int out_fd, int go_fd, int error_fd)
{
	sigset_t none;
	char word;
	int code;

	if (read(go_fd, &word, 1) != 1)
		_Exit(0); /* kymo gave up or died */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (out_fd >= 0)
		dup2(out_fd, STDOUT_FILENO);
	if (!user || become(user))
		execvp(argv[0], argv);
	code = errno;
	if (write(error_fd, &code, sizeof(code)) < 0)
		_Exit(127);
	_Exit(code == ENOENT ? 127 : 126);
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

static int prepare(struct workload *w, char **argv, const struct passwd *user, int out_fd,
		   struct err *e)
{
	int go[2], error[2];
	pid_t pid;

	if (pipe2(go, O_CLOEXEC) < 0)
		return err_set(e, errno, "cannot make a pipe: %s", strerror(errno));
	if (pipe2(error, O_CLOEXEC) < 0) {
		err_set(e, errno, "cannot make a pipe: %s", strerror(errno));
		close(go[0]);
		close(go[1]);
		return -e->code;
	}
	pid = fork();
	if (pid == 0) {
		close(go[1]);
		close(error[0]);
		child(argv, user, out_fd, go[0], error[1]);
	}
	close(go[0]);
	close(error[1]);
	if (pid < 0) {
		close(go[1]);
		close(error[0]);
		return err_set(e, errno, "cannot start a process: %s", strerror(errno));
	}
	*w = (struct workload){ .pid = pid, .go_fd = go[1], .error_fd = error[0] };
	return 0;
}

int workload_prepare(struct workload *w, char **argv, struct err *e)
{
	return prepare(w, argv, NULL, -1, e);
}

int workload_prepare_to(struct workload *w, char **argv, int out_fd, struct err *e)
{
	return prepare(w, argv, NULL, out_fd, e);
}

int workload_prepare_as(struct workload *w, char **argv, const char *user, struct err *e)
{
	const struct passwd *u = user ? getpwnam(user) : NULL;

	if (user && !u)
		return err_set(e, ENOENT, "there is no user '%s'", user);
	return prepare(w, argv, u, -1, e);
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
	while (n < 0 && errno == EINTR);
	close(w->error_fd);
	if (n != sizeof(code))
		return 0;
	waitpid(w->pid, NULL, 0);
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
}

bool workload_ended(struct workload *w, int *exit_code)
{
	int status;

	if (w->pid <= 0 || waitpid(w->pid, &status, WNOHANG) != w->pid)
		return false;
	*exit_code = workload_exit_code(status);
	w->pid = 0;
	return true;
}

int workload_exit_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
