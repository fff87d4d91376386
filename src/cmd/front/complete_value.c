/* SPDX-License-Identifier: MIT */
/* Values that an option may take, for completion: choices, processes, CPUs, users. */
#include <pwd.h>
#include <string.h>

#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "calc/rows/key.h"
#include "cmd/front/complete.h"
#include "event/syscall/syscall.h"
#include "kern/cpu.h"
#include "kern/probe_events.h"
#include "kern/proc.h"
#include "kern/tracefs.h"
#include "view/script/fields.h"

/* A list may be typed with commas: before is what stays, part what is completed. */
struct typed {
	const char *prefix;
	const char *before;
	int before_n;
	const char *part;
};

static void complete_value_value(const struct typed *t, const char *word, size_t n,
				 const char *about)
{
	size_t part = strlen(t->part);

	if (n >= part && strncmp(word, t->part, part) == 0)
		printf("%s%.*s%.*s\t%s\n", t->prefix, t->before_n, t->before, (int)n, word, about);
}

static void choices(const struct typed *t, const char *list)
{
	while (*list) {
		size_t n = strcspn(list, "|");

		complete_value_value(t, list, n, "");
		list += n;
		list += *list == '|';
	}
}

static void processes(const struct typed *t)
{
	struct file_names all = { 0 };
	struct strtab seen = { 0 };
	char comm[32];
	uint64_t pid;

	if (file_list("/proc", &all) < 0)
		return;
	for (size_t i = 0; i < all.n; i++)
		if (str_u64(all.name[i], &pid) && proc_comm((pid_t)pid, comm, sizeof(comm)))
			complete_value_value(t, all.name[i], strlen(all.name[i]), comm);
	for (size_t i = 0; i < all.n; i++) /* by name, each once */
		if (str_u64(all.name[i], &pid) && proc_comm((pid_t)pid, comm, sizeof(comm)) &&
		    !strpbrk(comm, " ,") && strtab_find(&seen, comm) == STRTAB_NONE) {
			strtab_add(&seen, comm);
			complete_value_value(t, comm, strlen(comm), "by name");
		}
	strtab_free(&seen);
	file_names_free(&all);
}

static void complete_value_cpus(const struct typed *t)
{
	struct cpus all;
	char number[16];

	if (cpus_online(&all, NULL) < 0)
		return;
	for (size_t i = 0; i < all.n; i++) {
		snprintf(number, sizeof(number), "%d", all.cpu[i]);
		complete_value_value(t, number, strlen(number), "CPU");
	}
	cpus_free(&all);
}

/* The file and not getpwent(): a directory of thousands of users helps nobody here. */
static void users(const struct typed *t)
{
	AUTO_FCLOSE FILE *f = fopen("/etc/passwd", "re");
	struct passwd *p;

	while (f && (p = fgetpwent(f)))
		complete_value_value(t, p->pw_name, strlen(p->pw_name), "user");
}

static void complete_value_probes(const struct typed *t)
{
	const char *root = tracefs_find(NULL);
	struct probe_events have;

	if (!root || probe_events_read(root, &have, NULL) < 0)
		return;
	vec_each (&have.list, p) {
		AUTO_FREE char *name = mem_printf("%s:%s", p->group, p->event);

		complete_value_value(t, name, strlen(name), p->where);
	}
	probe_events_free(&have);
}

static void symbol(void *ctx, const char *name, const char *dso)
{
	complete_value_value(ctx, name, strlen(name), dso);
}

/* What trace -e takes: calls, groups of them; what has a colon is another event. */
static void syscalls(const struct typed *t, bool groups)
{
	static const char *const names[] = { "%file",	"%desc", "%network", "%process", "%memory",
					     "%signal", "%ipc",	 "%creds",   "%clock",	 "%stat" };
	enum syscall_abi abi = syscall_native();
	const char *name;

	for (size_t i = 0; groups && i < ARRAY_SIZE(names); i++)
		complete_value_value(t, names[i], strlen(names[i]), "group of system calls");
	for (int nr = 0; nr < SYSCALL_MAX; nr++)
		if ((name = syscall_name(abi, nr)))
			complete_value_value(t, name, strlen(name), "system call");
}

static void keys(const struct typed *t)
{
	for (int i = 0; i < KEYS; i++)
		if (key_infos[i].name[0])
			complete_value_value(t, key_infos[i].name, strlen(key_infos[i].name),
					     key_infos[i].title + strspn(key_infos[i].title, " "));
}

/* The lines of its help, up to the blank one: a name, and what it is. */
static void complete_value_fields(const struct typed *t)
{
	AUTO_STRBUF help = { 0 };
	char *line, *rest;

	script_fields_help(&help);
	rest = help.data;
	while ((line = strsep(&rest, "\n")) && *line) {
		size_t n = strcspn(line, " ");

		complete_value_value(t, line, n, line + n + strspn(line + n, " "));
	}
}

void complete_value(const struct opt *o, const char *prefix, const char *typed)
{
	const char *comma = strrchr(typed, ',');
	struct typed t = { .prefix = prefix, .before = typed, .part = comma ? comma + 1 : typed };
	const char *kind = o->complete ? o->complete : "@files";

	t.part += (*t.part == '+' || *t.part == '-') && *kind == '@'; /* before a name in a list */
	t.before_n = (int)(t.part - typed);
	if (strcmp(kind, "@events") == 0)
		complete_events(prefix, typed);
	else if (strcmp(kind, "@pids") == 0)
		processes(&t);
	else if (strcmp(kind, "@cpus") == 0)
		complete_value_cpus(&t);
	else if (strcmp(kind, "@probes") == 0)
		complete_value_probes(&t);
	else if (strcmp(kind, "@users") == 0)
		users(&t);
	else if (strcmp(kind, "@keys") == 0)
		keys(&t);
	else if (strcmp(kind, "@symbols") == 0)
		annotate_functions(symbol, &t);
	else if (strcmp(kind, "@syscalls") == 0)
		syscalls(&t, false);
	else if (strcmp(kind, "@calls") == 0 && strchr(t.part, ':'))
		complete_events(prefix, typed);
	else if (strcmp(kind, "@calls") == 0)
		syscalls(&(struct typed){ prefix, typed, t.before_n + (*t.part == '!'),
					  t.part + (*t.part == '!') },
			 true);
	else if (strcmp(kind, "@fields") == 0)
		complete_value_fields(&t);
	else if (strcmp(kind, "@commands") == 0)
		puts("@commands");
	else if (kind[0] == '@')
		puts("@files");
	else
		choices(&t, kind);
}
