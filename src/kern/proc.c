/* SPDX-License-Identifier: MIT */
#include "kern/proc.h"

#include <ctype.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/str.h"
#include "config.h"

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

/* Threads of processes that belong to uid, or of all when uid is NULL. */
static int all_of(const uid_t *uid, struct thread_list *ret, struct err *e)
{
	struct thread_list l = { 0 };
	struct file_names names;
	int r = file_list("/proc", &names);

	if (r < 0) {
		err_set(e, -r, "cannot read /proc: %s", strerror(-r));
		return err_hint(e, "mount -t proc proc /proc");
	}
	for (size_t i = 0; i < names.n; i++) {
		char path[300];
		struct stat st;

		if (!isdigit((unsigned char)names.name[i][0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%s", names.name[i]);
		if (uid && (stat(path, &st) < 0 || st.st_uid != *uid))
			continue;
		add_tasks(&l, atoi(names.name[i])); /* one that has just gone is no error */
	}
	file_names_free(&names);
	l.n = sort_unique(l.tid, l.n);
	*ret = l;
	return 0;
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
