/* SPDX-License-Identifier: MIT */
#include "kern/proc.h"

#include <ctype.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/str.h"
#include "config.h"

#define COMM_MAX 15 /* the kernel keeps so much of a name */

struct parse {
	struct thread_list list;
	bool whole_process;
	struct err *e;
};

static void proc_add(struct thread_list *l, pid_t tid)
{
	l->tid = mem_grow(l->tid, (l->n + 1) * sizeof(*l->tid));
	l->tid[l->n++] = tid;
}

static int add_tasks(struct thread_list *l, pid_t pid)
{
	struct file_names names;
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	r = file_list(path, &names);
	if (r < 0)
		return r;
	for (size_t i = 0; i < names.n; i++)
		proc_add(l, atoi(names.name[i]));
	file_names_free(&names);
	return 0;
}

static int add_named(struct parse *p, const char *part, size_t n)
{
	AUTO_FREE char *name = mem_strndup(part, n);
	struct thread_list l = { 0 };
	int r = proc_named(name, &l, p->e);

	for (size_t i = 0; i < l.n; i++)
		add_tasks(&p->list, l.tid[i]); /* one that has just gone is no error */
	thread_list_free(&l);
	return r;
}

static int add_part(void *ctx, const char *part, size_t n)
{
	struct parse *p = ctx;
	char text[32], path[64];
	uint64_t v;

	snprintf(text, sizeof(text), "%.*s", (int)n, part);
	if (p->whole_process && n && (n >= sizeof(text) || !str_u64(text, &v)))
		return add_named(p, part, n);
	if (n >= sizeof(text) || !str_u64(text, &v) || v == 0 || v > INT32_MAX) {
		err_set(p->e, EINVAL, "'%.*s' is no process number", (int)(n < 40 ? n : 40), part);
		return err_hint(p->e, "pgrep NAME finds it");
	}
	snprintf(path, sizeof(path), "/proc/%d", (int)v);
	if (!file_exists(path) || (p->whole_process && add_tasks(&p->list, (pid_t)v) < 0)) {
		err_set(p->e, ESRCH, "there is no %s %d", p->whole_process ? "process" : "thread",
			(int)v);
		return err_hint(p->e, "it may have exited; pgrep -a NAME shows what runs");
	}
	if (!p->whole_process)
		proc_add(&p->list, (pid_t)v);
	return 0;
}

static int parse_list(const char *text, bool whole, struct thread_list *ret, struct err *e)
{
	struct parse p = { .whole_process = whole, .e = e };
	int r = str_split(text, ',', add_part, &p);

	if (r == 0 && !p.list.n)
		r = err_set(e, EINVAL, "no process number given");
	if (r < 0) {
		thread_list_free(&p.list);
		return r;
	}
	p.list.n = sort_unique(p.list.tid, p.list.n);
	*ret = p.list;
	return 0;
}

int proc_threads_of(const char *pids, struct thread_list *ret, struct err *e)
{
	return parse_list(pids, true, ret, e);
}

int proc_threads(const char *tids, struct thread_list *ret, struct err *e)
{
	return parse_list(tids, false, ret, e);
}

int proc_pids(struct thread_list *ret, struct err *e)
{
	struct file_names names;
	int r = file_list("/proc", &names);

	*ret = (struct thread_list){ 0 };
	if (r < 0) {
		err_set(e, -r, "cannot read /proc: %s", strerror(-r));
		return err_hint(e, "mount -t proc proc /proc");
	}
	for (size_t i = 0; i < names.n; i++)
		if (isdigit((unsigned char)names.name[i][0]))
			proc_add(ret, atoi(names.name[i]));
	file_names_free(&names);
	return 0;
}

/* Threads of processes that belong to uid, or of all when uid is NULL. */
static int all_of(const uid_t *uid, struct thread_list *ret, struct err *e)
{
	struct thread_list l = { 0 }, pids;
	int r = proc_pids(&pids, e);

	for (size_t i = 0; i < pids.n; i++) {
		char path[64];
		struct stat st;

		snprintf(path, sizeof(path), "/proc/%d", pids.tid[i]);
		if (!uid || (stat(path, &st) == 0 && st.st_uid == *uid))
			add_tasks(&l, pids.tid[i]); /* one that has just gone is no error */
	}
	thread_list_free(&pids);
	l.n = sort_unique(l.tid, l.n);
	*ret = l;
	return r;
}

int proc_threads_all(struct thread_list *ret, struct err *e)
{
	return all_of(NULL, ret, e);
}

#if KYMO_STATIC /* getpwnam() would want the shared libraries of this very glibc */
static const struct passwd *user_find(const char *name)
{
	AUTO_FCLOSE FILE *f = fopen("/etc/passwd", "re");
	const struct passwd *p = NULL;

	while (f && (p = fgetpwent(f)) && strcmp(p->pw_name, name) != 0)
		;
	return p;
}
#else
#	define user_find getpwnam
#endif

int proc_threads_of_user(const char *user, struct thread_list *ret, struct err *e)
{
	const struct passwd *pw = user_find(user);
	uint64_t v;
	uid_t uid;
	int r;

	if (pw)
		uid = pw->pw_uid;
	else if (str_u64(user, &v) && v < UINT32_MAX)
		uid = (uid_t)v;
	else {
		err_set(e, ENOENT, "there is no user '%s'", user);
		return err_hint(e, "give a name of /etc/passwd or a number");
	}
	r = all_of(&uid, ret, e);
	if (r == 0 && !ret->n) {
		thread_list_free(ret);
		err_set(e, ESRCH, "user '%s' has no process now", user);
		return err_hint(e, "ps -eo user= | sort | uniq -c shows who has");
	}
	return r;
}

void thread_list_free(struct thread_list *l)
{
	free(l->tid);
	*l = (struct thread_list){ 0 };
}

bool proc_comm(pid_t tid, char *buf, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/comm", tid);
	if (file_line(path, buf, size) == 0)
		return true;
	if (size)
		buf[0] = '\0';
	return false;
}

bool proc_alive(pid_t tid)
{
	char path[64], line[512];
	const char *p;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	if (file_line(path, line, sizeof(line)) < 0)
		return false;
	p = strrchr(line, ')'); /* the name before it may hold anything */
	return p && p[1] == ' ' && p[2] != 'Z' && p[2] != 'X';
}

/* --- by name: what top and ps show, or the file that a process runs --- */

/* The name of the file that a process runs; "" where that may not be seen. */
static void program_of(pid_t pid, char *buf, size_t size)
{
	char path[64], target[4096];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	snprintf(buf, size, "%.250s", str_base_name(target));
	if (str_ends(buf, " (deleted)"))
		buf[strlen(buf) - strlen(" (deleted)")] = '\0';
}

static bool proc_is_called(pid_t pid, const char *name, struct strtab *seen)
{
	char comm[32], program[256];

	if (!proc_comm(pid, comm, sizeof(comm)))
		return false;
	program_of(pid, program, sizeof(program));
	if (strcmp(name, comm) == 0 || strcmp(name, program) == 0)
		return true;
	strtab_add(seen, comm);
	if (program[0] && strncmp(program, comm, COMM_MAX) != 0)
		strtab_add(seen, program);
	return false;
}

static int none_of(const char *name, const struct strtab *seen, struct err *e)
{
	struct str_nearest near = { .typed = name };
	char list[256];

	for (uint32_t i = 0; i < seen->n; i++)
		str_nearest_add(&near, strtab_get(seen, i));
	err_set(e, ESRCH, "no process is called '%.80s'", name);
	if (str_nearest_list(&near, list, sizeof(list)))
		return err_hint(e, "did you mean %s?", list);
	return err_hint(e, "it may have exited; ps -e shows what runs");
}

int proc_named(const char *name, struct thread_list *ret, struct err *e)
{
	struct thread_list l = { 0 }, pids;
	struct strtab seen = { 0 };
	int r = proc_pids(&pids, e);

	if (r < 0)
		return r;
	for (size_t i = 0; i < pids.n; i++)
		if (pids.tid[i] != getpid() && proc_is_called(pids.tid[i], name, &seen))
			proc_add(&l, pids.tid[i]);
	thread_list_free(&pids);
	r = l.n ? 0 : none_of(name, &seen, e);
	strtab_free(&seen);
	if (r == 0)
		*ret = l;
	return r;
}

int proc_one(const char *text, pid_t *ret, struct err *e)
{
	struct thread_list l = { 0 };
	AUTO_STRBUF all = { 0 };
	uint64_t v;
	int r = 0;

	if (str_u64(text, &v)) {
		if (!v || v > INT32_MAX || !proc_alive((pid_t)v)) {
			err_set(e, ESRCH, "there is no process %s", text);
			return err_hint(e, "it may have exited; pgrep -a NAME shows what runs");
		}
		*ret = (pid_t)v;
		return 0;
	}
	r = proc_named(text, &l, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < l.n; i++)
		strbuf_printf(&all, "%s%d", i ? ", " : "", (int)l.tid[i]);
	if (l.n > 1) {
		err_set(e, EINVAL, "%zu processes are called '%s', and one is wanted", l.n, text);
		r = err_hint(e, "one of %.200s", strbuf_str(&all));
	} else {
		*ret = l.tid[0];
	}
	thread_list_free(&l);
	return r;
}

bool proc_value(const char *text, const char *key, char sep, char *buf, size_t size)
{
	size_t n = strlen(key);

	for (const char *l = text; l && *l; l = strchr(l, '\n'), l += l != NULL) {
		const char *at = l + n;

		if (strncmp(l, key, n) != 0)
			continue;
		at += strspn(at, " \t");
		if (*at++ != sep)
			continue;
		at += strspn(at, " \t\"");
		snprintf(buf, size, "%.*s", (int)strcspn(at, "\"\n"), at);
		return true;
	}
	return false;
}

bool proc_first_pidns(void)
{
	struct stat st;

	/* The first PID namespace has this inode on every kernel (PROC_PID_INIT_INO). */
	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == 0xeffffffcu;
}

bool proc_boot_id(char *buf, size_t size)
{
	return file_line("/proc/sys/kernel/random/boot_id", buf, size) == 0 && *buf;
}

/* "7f..-7f.. r-xp 00001000 fe:00 1234   /usr/lib/x.so" */
bool proc_map_next(char **at, struct proc_map *ret)
{
	while (**at) {
		char *line = *at, *end = strchrnul(line, '\n');
		int path = 0;

		*at = end + (*end == '\n');
		*end = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
			   &ret->start, &ret->end, ret->perms, &ret->pgoff, &ret->maj, &ret->min,
			   &ret->ino, &path) < 7)
			continue;
		ret->path = path ? line + path : "";
		return true;
	}
	return false;
}

void proc_map_file(char buf[PROC_MAP_FILE], pid_t pid, uint64_t start, uint64_t end)
{
	snprintf(buf, PROC_MAP_FILE, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, start,
		 end);
}
