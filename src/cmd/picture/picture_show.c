/* SPDX-License-Identifier: MIT */
/*
 * The finished file in a browser.
 *
 * Who became root by sudo has the desktop as oneself: the browser is that user's, as the
 * file is since it was made (base/output.h). It is started apart from us, because it may run in the
 * foreground until it is closed; only a failure at once is waited for.
 */
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/picture/picture.h"

#define FAILS_WITHIN 2000 /* ms */
#define MAY_NOT_READ 125

/* The user behind sudo; NULL: it is oneself. */
static const struct passwd *user_behind(void)
{
	uid_t uid;
	gid_t gid;

	return output_user(&uid, &gid) ? getpwuid(uid) : NULL;
}

static void become(const struct passwd *u)
{
	AUTO_FREE char *run = mem_printf("/run/user/%u", u->pw_uid);
	AUTO_FREE char *bus = mem_printf("unix:path=%s/bus", run);
	struct stat st;

	if (initgroups(u->pw_name, u->pw_gid) < 0 || setgid(u->pw_gid) < 0 || setuid(u->pw_uid) < 0)
		_exit(126);
	setenv("HOME", u->pw_dir, 1);
	setenv("USER", u->pw_name, 1);
	setenv("LOGNAME", u->pw_name, 1);
	if (stat(run, &st) < 0 || st.st_uid != u->pw_uid)
		return;
	setenv("XDG_RUNTIME_DIR", run, 1);
	setenv("DBUS_SESSION_BUS_ADDRESS", bus, 1);
}

static void picture_show_start(const char *path, const struct passwd *u)
{
	int null = open("/dev/null", O_RDWR);

	setsid();
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	if (u)
		become(u);
	if (access(path, R_OK) < 0)
		_exit(MAY_NOT_READ);
	execlp("xdg-open", "xdg-open", path, (char *)NULL);
	execlp("sensible-browser", "sensible-browser", path, (char *)NULL);
	_exit(127);
}

int picture_show(const char *path, struct err *e)
{
	/* the path of a name that begins with '-' does not */
	AUTO_FREE char *whole = realpath(path, NULL);
	const struct passwd *u = user_behind();
	const char *shown = whole ? whole : path;
	int status = 0, waited = 0;
	pid_t pid, ended = 0;

	pid = fork();
	if (pid == 0)
		picture_show_start(shown, u);
	if (pid < 0)
		return err_set(e, errno, "cannot start a browser: %s", strerror(errno));
	for (; waited < FAILS_WITHIN && (ended = waitpid(pid, &status, WNOHANG)) == 0; waited += 10)
		usleep(10000);
	if (ended == 0 || (ended == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0))
		return 0;
	if (u && WIFEXITED(status) && WEXITSTATUS(status) == MAY_NOT_READ) {
		err_set(e, EACCES, "%s was written, but %s may not read it", path, u->pw_name);
		return err_hint(e, "-o FILE writes to a folder of %s's", u->pw_name);
	}
	err_set(e, ENOENT, "%s was written, but no browser could be started", path);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return err_hint(e, "open %s yourself; --open needs xdg-open (package xdg-utils)",
				path);
	return err_hint(e, "open %s yourself%s", path,
			getenv("DISPLAY") || getenv("WAYLAND_DISPLAY")
				? ""
				: ", on a machine with a screen: neither $DISPLAY nor "
				  "$WAYLAND_DISPLAY is set here");
}
