/* SPDX-License-Identifier: MIT */
/* Values that an option may take, for completion: choices, processes, CPUs, users. */
#include <pwd.h>
#include <string.h>

#include "base/file.h"
#include "base/map.h"
#include "base/str.h"
#include "calc/rows/key.h"
#include "cmd/front/complete.h"
#include "event/syscall/syscall.h"
#include "kern/cpu.h"
#include "kern/probe_events.h"
#include "kern/proc.h"
#include "kern/tracefs.h"
#include "view/script/fields.h"

void complete_word(const struct typed *t, const char *word, size_t n, const char *end,
		   const char *about)
{
	size_t part = strlen(t->part);

	if (n >= part && strncmp(word, t->part, part) == 0)
		printf("%s%.*s%.*s%s\t%s\n", t->prefix, t->before_n, t->before, (int)n, word, end,
		       about);
}

static void value_word(void *t, const char *word, const char *about)
{
	complete_word(t, word, strlen(word), "", about);
}

static void choices(const struct typed *t, const char *list)
{
	while (*list) {
		size_t n = strcspn(list, "|");

		complete_word(t, list, n, "", "");
		list += n;
		list += *list == '|';
	}
}

static void processes(struct typed *t)
{
	struct file_names all = { 0 };
	struct strtab seen = { 0 };
	char comm[32];
	uint64_t pid;

	if (file_list("/proc", &all) < 0)
		return;
	for (size_t i = 0; i < all.n; i++)
		if (str_u64(all.name[i], &pid) && proc_comm((pid_t)pid, comm, sizeof(comm)))
			value_word(t, all.name[i], comm);
	for (size_t i = 0; i < all.n; i++) /* by name, each once */
		if (str_u64(all.name[i], &pid) && proc_comm((pid_t)pid, comm, sizeof(comm)) &&
		    !strpbrk(comm, " ,") && strtab_find(&seen, comm) == STRTAB_NONE) {
			strtab_add(&seen, comm);
			value_word(t, comm, "by name");
		}
	strtab_free(&seen);
	file_names_free(&all);
}

static void cpus(struct typed *t)
{
	struct cpus all;
	char number[16];

	if (cpus_online(&all, NULL) < 0)
		return;
	for (size_t i = 0; i < all.n; i++) {
		snprintf(number, sizeof(number), "%d", all.cpu[i]);
		value_word(t, number, "CPU");
	}
	cpus_free(&all);
}

/* The file and not getpwent(): a directory of thousands of users helps nobody here. */
static void users(struct typed *t)
{
	AUTO_FCLOSE FILE *f = fopen("/etc/passwd", "re");
	struct passwd *p;

	while (f && (p = fgetpwent(f)))
		value_word(t, p->pw_name, "user");
}

static void probes(struct typed *t)
{
	const char *root = tracefs_find(NULL);
	struct probe_events have;

	if (!root || probe_events_read(root, &have, NULL) < 0)
		return;
	vec_each (&have.list, p) {
		AUTO_FREE char *name = mem_printf("%s:%s", p->group, p->event);

		value_word(t, name, p->where);
	}
	probe_events_free(&have);
}

static void functions(struct typed *t)
{
	annotate_functions(t->input, value_word, t);
}

/* What trace -e takes: calls, groups of them; what has a colon is another event. */
static void calls(struct typed *t, bool groups)
{
	static const char *const names[] = { "%file",	"%desc", "%network", "%process", "%memory",
					     "%signal", "%ipc",	 "%creds",   "%clock",	 "%stat" };
	enum syscall_abi abi = syscall_native();
	const char *name;

	for (size_t i = 0; groups && i < ARRAY_SIZE(names); i++)
		value_word(t, names[i], "group of system calls");
	for (int nr = 0; nr < SYSCALL_MAX; nr++)
		if ((name = syscall_name(abi, nr)))
			value_word(t, name, "system call");
}

static void keys(struct typed *t)
{
	for (int i = 0; i < KEYS; i++)
		if (key_infos[i].name[0])
			value_word(t, key_infos[i].name,
				   key_infos[i].title + strspn(key_infos[i].title, " "));
}

/* The lines of its help, up to the blank one: a name, and what it is. */
static void fields(struct typed *t)
{
	AUTO_STRBUF help = { 0 };
	char *line, *rest;

	script_fields_help(&help);
	rest = help.data;
	while ((line = strsep(&rest, "\n")) && *line) {
		size_t n = strcspn(line, " ");

		complete_word(t, line, n, "", line + n + strspn(line + n, " "));
	}
}

static void syscalls(struct typed *t)
{
	calls(t, false);
}

static void calls_or_events(struct typed *t)
{
	if (strchr(t->part, ':')) {
		complete_events(t);
		return;
	}
	t->before_n += *t->part == '!';
	t->part += *t->part == '!';
	calls(t, true);
}

static void events(struct typed *t)
{
	complete_events(t);
}

static void commands_of_shell(struct typed *t)
{
	puts("@commands");
}

void complete_value(const struct opt *o, const char *prefix, const char *typed, const char *input)
{
	static const struct {
		const char *name;
		void (*words)(struct typed *t);
	} kinds[] = {
		{ "@events", events },
		{ "@pids", processes },
		{ "@cpus", cpus },
		{ "@probes", probes },
		{ "@users", users },
		{ "@keys", keys },
		{ "@symbols", functions },
		{ "@syscalls", syscalls },
		{ "@calls", calls_or_events },
		{ "@fields", fields },
		{ "@commands", commands_of_shell },
	};
	const char *comma = strrchr(typed, ','), *kind = o->complete ? o->complete : "@files";
	struct typed t = { prefix, typed, 0, comma ? comma + 1 : typed, input };

	t.part += (*t.part == '+' || *t.part == '-') && *kind == '@'; /* before a name in a list */
	t.before_n = (int)(t.part - typed);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strcmp(kind, kinds[i].name) == 0) {
			kinds[i].words(&t);
			return;
		}
	if (kind[0] == '@')
		puts("@files");
	else
		choices(&t, kind);
}
