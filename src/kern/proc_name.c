/* SPDX-License-Identifier: MIT */
/* Processes by their names: what top and ps show, or the file that they run. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "kern/proc.h"

#define COMM_MAX 15 /* the kernel keeps so much of a name */

/* The name of the file that a process runs; "" where that may not be seen. */
static void program_of(pid_t pid, char *buf, size_t size)
{
	char path[64], target[4096];
	ssize_t n;
	const char *base;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	base = strrchr(target, '/');
	snprintf(buf, size, "%.250s", base ? base + 1 : target);
	if (str_ends(buf, " (deleted)"))
		buf[strlen(buf) - strlen(" (deleted)")] = '\0';
}

static bool proc_name_is_called(pid_t pid, const char *name, struct strtab *seen)
{
	char comm[32], program[256];

	if (!proc_comm(pid, comm, sizeof(comm)))
		return false;
	program_of(pid, program, sizeof(program));
	if (strcmp(name, comm) == 0 || strcmp(name, program) == 0)
		return true;
	if (seen) {
		strtab_add(seen, comm);
		if (program[0] && strncmp(program, comm, COMM_MAX) != 0)
			strtab_add(seen, program);
	}
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
	struct thread_list l = { 0 };
	struct strtab seen = { 0 };
	struct file_names names;
	int r = file_list("/proc", &names);

	if (r < 0) {
		err_set(e, -r, "cannot read /proc: %s", strerror(-r));
		return err_hint(e, "mount -t proc proc /proc");
	}
	for (size_t i = 0; i < names.n; i++) {
		pid_t pid = isdigit((unsigned char)names.name[i][0]) ? atoi(names.name[i]) : 0;

		if (!pid || pid == getpid() || !proc_name_is_called(pid, name, &seen))
			continue;
		l.tid = mem_grow(l.tid, (l.n + 1) * sizeof(*l.tid));
		l.tid[l.n++] = pid;
	}
	file_names_free(&names);
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
