/* SPDX-License-Identifier: MIT */
/* kymo trace -e: which calls, and which other events. */
#include <string.h>

#include "cmd/trace/trace.h"

struct picking {
	struct trace_pick *p;
	bool wanted;
	struct err *e;
};

static bool in_group(const char *name, unsigned group)
{
	struct syscall_sig s;

	syscall_sig(name, &s);
	return s.groups & group;
}

static int unknown(const char *word, struct err *e)
{
	struct str_nearest near = { .typed = word };
	char list[160];

	for (int i = 0; i < SYSCALL_MAX; i++)
		if (syscall_name(syscall_native(), i))
			str_nearest_add(&near, syscall_name(syscall_native(), i));
	err_set(e, EINVAL, "there is no system call '%s'", word);
	if (str_nearest_list(&near, list, sizeof(list)))
		return err_hint(e, "did you mean %s?", list);
	return err_hint(e, "groups are %%file, %%desc, %%network, %%process, %%memory, %%signal, "
			   "%%ipc, %%creds, %%clock, %%stat");
}

static int pick_one(void *ctx, const char *part, size_t n)
{
	struct picking *k = ctx;
	AUTO_FREE char *copy = mem_strndup(part, n);
	const char *word = copy;
	enum syscall_abi abi[] = { syscall_native(), syscall_compat() };
	unsigned group;
	bool found = false;

	if (strchr(word, ':')) {
		if (!k->wanted)
			return err_set(k->e, EINVAL, "other events are not left out one by one: %s",
				       word);
		vec_push(&k->p->others, mem_strdup(word));
		return 0;
	}
	group = syscall_group(word + (*word == '%'));
	if (*word == '%' && !group)
		return unknown(word, k->e);
	k->p->any_call = true;
	for (int is32 = 0; is32 < TRACE_ABIS; is32++)
		for (int i = 0; i < SYSCALL_MAX; i++) {
			const char *name = syscall_name(abi[is32], i);

			if (!name || (group ? !in_group(name, group) : !str_glob(word, name)))
				continue;
			k->p->wanted[is32][i] = k->wanted;
			found = true;
		}
	if (!found && !group) { /* names of the kernel's events: newstat */
		int nr = syscall_number(abi[0], word);

		if (nr < 0)
			return unknown(word, k->e);
		k->p->wanted[0][nr] = k->wanted;
	}
	return 0;
}

static int pick_list(struct trace_pick *p, const char *text, bool first, struct err *e)
{
	struct picking k = { .p = p, .wanted = true, .e = e };

	if (str_starts(text, "trace="))
		text += 6;
	if (*text == '!') {
		k.wanted = false;
		text++;
		if (first)
			memset(p->wanted, true, sizeof(p->wanted));
	}
	if (!*text || strcmp(text, "all") == 0 || strcmp(text, "none") == 0) {
		memset(p->wanted, (strcmp(text, "none") != 0) == k.wanted, sizeof(p->wanted));
		p->any_call = true;
		return 0;
	}
	return str_split(text, ',', pick_one, &k);
}

int trace_pick(const struct trace_args *a, struct trace_pick *ret, struct err *e)
{
	int r = 0;

	*ret = (struct trace_pick){ 0 };
	for (size_t i = 0; i < a->events.n && r == 0; i++)
		r = pick_list(ret, a->events.data[i], !ret->any_call, e);
	if (r < 0)
		return r;
	if (a->no_syscalls)
		memset(ret->wanted, false, sizeof(ret->wanted));
	else if (!ret->any_call && (!ret->others.n || a->syscalls))
		memset(ret->wanted, true, sizeof(ret->wanted));
	return 0;
}

void trace_pick_free(struct trace_pick *p)
{
	vec_each (&p->others, s)
		free((char *)*s);
	vec_free(&p->others);
}
