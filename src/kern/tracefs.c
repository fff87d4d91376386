/* SPDX-License-Identifier: MIT */
#include "kern/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <linux/magic.h>
#include <mntent.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "base/mem.h"
#include "event/probe.h"

#define FILE_LIMIT (64u << 20)

static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

static bool is_tracefs(const char *path)
{
	struct statfs fs;

	return statfs(path, &fs) == 0 && fs.f_type == TRACEFS_MAGIC;
}

const char *tracefs_find(struct err *e)
{
	static const char *found;

	if (found)
		return found;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (is_tracefs(places[i]))
			return found = places[i];
	if (geteuid() == 0 && mount("nodev", places[0], "tracefs", 0, NULL) == 0)
		return found = places[0];
	if (access(places[0], F_OK) < 0) {
		err_set(e, ENOENT, "this kernel has no tracefs, or /sys is not mounted");
		err_hint(e, "tracepoints need a kernel with CONFIG_TRACING; in a container, mount "
			    "/sys/kernel/tracing into it");
		return NULL;
	}
	err_set(e, geteuid() == 0 ? errno : EPERM, "tracefs is not mounted");
	err_hint(e, "sudo mount -t tracefs nodev /sys/kernel/tracing");
	return NULL;
}

int tracefs_failed(const char *root, int code, struct err *e)
{
	if (code == EACCES || code == EPERM) {
		err_set(e, code, "this user may not read tracepoints (%s)", root);
		return err_hint(e,
				"run it with sudo, or open them to your group: sudo mount -o "
				"remount,mode=750,gid=%u %s",
				(unsigned)getegid(), root);
	}
	return err_set(e, code, "cannot read %s: %s", root, strerror(code));
}

int tracefs_id(const char *root, const char *subsys, const char *event, uint64_t *id, struct err *e)
{
	char path[1024], buf[32];
	int r;

	if ((size_t)snprintf(path, sizeof(path), "%s/events/%s/%s/id", root, subsys, event) >=
	    sizeof(path))
		return -ENOENT;
	r = file_line(path, buf, sizeof(buf));
	if (r == -ENOENT || r == -ENOTDIR)
		return -ENOENT;
	if (r < 0)
		return tracefs_failed(root, -r, e);
	return str_u64(buf, id) ? 0 : -ENOENT;
}

static int tracefs_by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void tracefs_add(struct file_names *names, size_t *cap, char *name)
{
	if (names->n == *cap) {
		*cap = *cap ? *cap * 2 : 64;
		names->name = mem_grow(names->name, *cap * sizeof(*names->name));
	}
	names->name[names->n++] = name;
}

static bool is_directory(DIR *d, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(dirfd(d), entry->d_name, &st, 0) == 0 && S_ISDIR(st.st_mode);
}

static int directories(const char *root, const char *rest, struct file_names *ret, struct err *e)
{
	AUTO_FREE char *path = mem_printf("%s/events/%s", root, rest);
	struct file_names names = { 0 };
	struct dirent *entry;
	size_t cap = 0;
	DIR *d = opendir(path);

	if (!d && (errno == ENOENT || errno == ENOTDIR)) {
		int code = errno;

		err_set(e, code, "%s: %s", path, strerror(code));
		return -code;
	}
	if (!d)
		return tracefs_failed(root, errno, e);
	while ((entry = readdir(d)))
		if (entry->d_name[0] != '.' && is_directory(d, entry))
			tracefs_add(&names, &cap, mem_strdup(entry->d_name));
	closedir(d);
	if (names.n)
		qsort(names.name, names.n, sizeof(*names.name), tracefs_by_name);
	*ret = names;
	return 0;
}

int tracefs_subsystems(const char *root, struct file_names *ret, struct err *e)
{
	return directories(root, "", ret, e);
}

int tracefs_events(const char *root, const char *subsys, struct file_names *ret, struct err *e)
{
	return directories(root, subsys, ret, e);
}

/* The events of a subsystem that have an id. */
static int add_countable(const char *root, const char *subsys, struct file_names *all, size_t *cap,
			 struct err *e)
{
	struct file_names events = { 0 };
	int r = tracefs_events(root, subsys, &events, e);

	if (r < 0)
		return r;
	for (size_t i = 0; i < events.n; i++) {
		AUTO_FREE char *id = mem_printf("%s/events/%s/%s/id", root, subsys, events.name[i]);

		if (file_exists(id))
			tracefs_add(all, cap, mem_printf("%s:%s", subsys, events.name[i]));
	}
	file_names_free(&events);
	return 0;
}

static void add_lines(char *text, struct file_names *all, size_t *cap)
{
	for (char *line = text, *end; *line; line = end + 1) {
		end = strchrnul(line, '\n');
		if (end > line)
			tracefs_add(all, cap, mem_strndup(line, (size_t)(end - line)));
		if (!*end)
			return;
	}
}

/* available_events is one file for two thousand directories; it leaves out the subsystem ftrace. */
int tracefs_all(const char *root, const char *subsys, struct file_names *ret, struct err *e)
{
	AUTO_FREE char *path = mem_printf("%s/available_events", root);
	AUTO_FREE char *text = NULL;
	struct file_names all = { 0 }, subs = { 0 };
	size_t cap = 0;
	int r = subsys ? -ENOENT : file_read(path, FILE_LIMIT, &text, NULL);

	if (r < 0 && r != -ENOENT)
		return tracefs_failed(root, -r, e);
	if (subsys) {
		r = add_countable(root, subsys, &all, &cap, e);
	} else if (r == 0) {
		add_lines(text, &all, &cap);
		add_countable(root, "ftrace", &all, &cap, NULL);
	} else { /* a captured tree */
		r = tracefs_subsystems(root, &subs, e);
		for (size_t i = 0; i < subs.n && r == 0; i++)
			r = add_countable(root, subs.name[i], &all, &cap, e);
		file_names_free(&subs);
	}
	if (r < 0) {
		file_names_free(&all);
		return r;
	}
	if (all.n)
		qsort(all.name, all.n, sizeof(*all.name), tracefs_by_name);
	*ret = all;
	return 0;
}

/* Lines are "p:probe/name symbol ...": the letter says what kind, GROUP/NAME what it is called. */
int tracefs_probes(const char *root, struct file_names *ret)
{
	AUTO_FREE char *path = mem_printf("%s/dynamic_events", root);
	AUTO_FREE char *text = NULL;
	struct file_names names = { 0 };
	size_t cap = 0;
	int r = file_read(path, FILE_LIMIT, &text, NULL);

	if (r < 0)
		return r;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		char *name = strchr(line, ':'), *slash;

		if (!name)
			continue;
		name++;
		name[strcspn(name, " \t")] = '\0';
		slash = strchr(name, '/');
		if (!slash)
			continue;
		*slash = ':';
		tracefs_add(&names, &cap, mem_strdup(name));
	}
	*ret = names;
	return 0;
}

static void no_probe(const char *root, const char *name, struct err *e)
{
	struct file_names have = { 0 };
	AUTO_STRBUF hint = { 0 };

	tracefs_probes(root, &have);
	err_set(e, ENOENT, "there is no probe '%s'", name);
	probe_missing(name, (const char *const *)have.name, have.n, &hint);
	err_hint(e, "%s", strbuf_str(&hint));
	file_names_free(&have);
}

int tracefs_no_event(const char *root, const char *name, struct err *e)
{
	struct file_names all = { 0 };
	struct str_nearest near = { .typed = name };
	bool full = strchr(name, ':');
	char list[256];

	if (full && probe_is_group(name, strcspn(name, ":"))) {
		no_probe(root, name, e);
		return -ENOENT;
	}
	err_set(e, ENOENT, "there is no event '%s'", name);
	if (tracefs_all(root, NULL, &all, NULL) == 0)
		for (size_t i = 0; i < all.n; i++) {
			const char *colon = strchr(all.name[i], ':');

			str_nearest_add(&near, full || !colon ? all.name[i] : colon + 1);
		}
	if (str_nearest_list(&near, list, sizeof(list)))
		err_hint(e, "did you mean %s?", list);
	else
		err_hint(e, "kymo ftrace list -e lists them");
	file_names_free(&all);
	return -ENOENT;
}

/* From <linux/mount.h>, which cannot be included beside <sys/mount.h> everywhere. */
#define FSOPEN_CLOEXEC_FLAG 1u
#define FSMOUNT_CLOEXEC_FLAG 1u
#define FSCONFIG_CREATE 6u

int mounts_find(const char *type, const char *option, char *path, size_t size)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	char buf[4096 + 1024];
	struct mntent m;
	int r = -ENOENT;

	if (!f)
		return -errno;
	while (getmntent_r(f, &m, buf, sizeof(buf))) {
		if (strcmp(m.mnt_type, type) != 0 || (option && !hasmntopt(&m, option)))
			continue;
		r = snprintf(path, size, "%s", m.mnt_dir) < (int)size ? 0 : -ENAMETOOLONG;
		break;
	}
	endmntent(f);
	return r;
}

int mounts_private(const char *type)
{
#ifdef SYS_fsopen
	AUTO_CLOSE int fs = (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC_FLAG);
	long fd;

	if (fs < 0)
		return -errno;
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	fd = syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC_FLAG, 0);
	return fd < 0 ? -errno : (int)fd;
#else
	return -ENOSYS;
#endif
}
