/* SPDX-License-Identifier: MIT */
/*
 * The table of system calls (event/syscall/calls.h), and the words of its arguments, which are
 * parsed when they are asked for.
 *
 * An argument is its name and its type; a type may have one or two more words behind
 * colons: the number of another argument, the name of a set of flags (view/trace/names.c)
 * or of a struct of the kernel. Behind "=" stands what the result is, when it is not a
 * number.
 */
#include "event/syscall/syscall.h"

#include <string.h>

#include "base/mem.h"

#define NO (-1)

/* By number + 1. What an ABI does not have goes to place 0, which nobody asks. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
#define FORM(name, groups, args)
#define CALL(name, x86_64, i386, aarch64, arm, groups, args) [(x86_64) + 1] = (name),
static const char *const x86_64_calls[] = {
#include "event/syscall/calls.h"
};
#undef CALL
#define CALL(name, x86_64, i386, aarch64, arm, groups, args) [(i386) + 1] = (name),
static const char *const i386_calls[] = {
#include "event/syscall/calls.h"
};
#undef CALL
#define CALL(name, x86_64, i386, aarch64, arm, groups, args) [(aarch64) + 1] = (name),
static const char *const aarch64_calls[] = {
#include "event/syscall/calls.h"
};
#undef CALL
#define CALL(name, x86_64, i386, aarch64, arm, groups, args) [(arm) + 1] = (name),
static const char *const arm_calls[] = {
#include "event/syscall/calls.h"
};
#undef CALL
#undef FORM
#pragma GCC diagnostic pop

#define CALL(name, x86_64, i386, aarch64, arm, groups, args) { (name), (groups), (args) },
#define FORM(name, groups, args) { (name), (groups), (args) },
static const struct {
	const char *name, *groups, *args;
} calls[] = {
#include "event/syscall/calls.h"
};

static const struct {
	const char *name, *family; /* of which some calls have forms of their own */
	const char *const *call;
	int n;
} abis[] = {
	[SYSCALL_X86_64] = { "x86_64", NULL, x86_64_calls, ARRAY_SIZE(x86_64_calls) - 1 },
	[SYSCALL_I386] = { "i386", "32", i386_calls, ARRAY_SIZE(i386_calls) - 1 },
	[SYSCALL_AARCH64] = { "aarch64", NULL, aarch64_calls, ARRAY_SIZE(aarch64_calls) - 1 },
	[SYSCALL_ARM] = { "arm", "32", arm_calls, ARRAY_SIZE(arm_calls) - 1 },
};

/* What the kernel's events call otherwise. */
static const struct {
	const char *name, *call;
} renamed[] = {
	{ "newstat", "stat" },	 { "newlstat", "lstat" },      { "newfstat", "fstat" },
	{ "newuname", "uname" }, { "sendfile64", "sendfile" }, { "umount", "umount2" },
};

static const struct {
	const char *name;
	char letter;
	unsigned bit;
} groups[] = {
	{ "file", 'F', SYSCALL_FILE },	     { "desc", 'D', SYSCALL_DESC },
	{ "network", 'N', SYSCALL_NETWORK }, { "process", 'P', SYSCALL_PROCESS },
	{ "memory", 'M', SYSCALL_MEMORY },   { "signal", 'S', SYSCALL_SIGNAL },
	{ "ipc", 'I', SYSCALL_IPC },	     { "creds", 'C', SYSCALL_CREDS },
	{ "clock", 'K', SYSCALL_CLOCK },     { "stat", 'T', SYSCALL_STAT },
	{ "net", 0, SYSCALL_NETWORK },
};

/* The words of enum syscall_type, in its order. */
static const char *const types[] = { "int",    "uint",	"long",	  "ulong",  "hex",    "ptr",
				     "mode",   "omode", "fd",	  "at",	    "sig",    "path",
				     "buf",    "out",	"argv",	  "envp",   "addr",   "addrout",
				     "length", "iov",	"iovout", "msg",    "msgout", "f",
				     "e",      "in",	"outs",	  "io",	    "left",   "arr",
				     "arrio",  "res",	"set",	  "setout", "pair",   "fds",
				     "intout", "fcntl", "ioctl",  "prctl",  "cpus",   "cpusout",
				     "times",  "key",	"pos",	  "posh",   "words" };
_Static_assert(ARRAY_SIZE(types) == SYSCALL_TYPES, "a type without a word");

enum syscall_abi syscall_native(void)
{
#if defined(__aarch64__)
	return SYSCALL_AARCH64;
#else
	return SYSCALL_X86_64;
#endif
}

enum syscall_abi syscall_compat(void)
{
	return syscall_native() == SYSCALL_AARCH64 ? SYSCALL_ARM : SYSCALL_I386;
}

const char *syscall_abi_name(enum syscall_abi abi)
{
	return abis[abi].name;
}

const char *syscall_name(enum syscall_abi abi, int nr)
{
	return nr >= 0 && nr < abis[abi].n ? abis[abi].call[nr + 1] : NULL;
}

int syscall_number(enum syscall_abi abi, const char *name)
{
	for (int i = 0; i < abis[abi].n; i++)
		if (syscall_name(abi, i) && strcmp(syscall_name(abi, i), name) == 0)
			return i;
	for (size_t i = 0; i < ARRAY_SIZE(renamed); i++)
		if (strcmp(renamed[i].name, name) == 0)
			return syscall_number(abi, renamed[i].call);
	return -1;
}

unsigned syscall_group(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		if (strcmp(groups[i].name, name) == 0)
			return groups[i].bit;
	return 0;
}

static enum syscall_type syscall_type_of(const char *s, size_t n)
{
	enum syscall_type t = 0;

	while (t < SYSCALL_TYPES && (strlen(types[t]) != n || memcmp(types[t], s, n) != 0))
		t++;
	return t;
}

/* "name type:2:struct" */
static void syscall_parse_arg(const char *s, size_t n, struct syscall_arg *a)
{
	const char *end = s + n, *blank = memchr(s, ' ', n), *type, *colon;

	a->ref = -1;
	snprintf(a->name, sizeof(a->name), "%.*s", (int)(blank ? blank - s : (long)n), s);
	type = blank ? blank + 1 : end;
	colon = memchr(type, ':', (size_t)(end - type));
	a->type = syscall_type_of(type, (size_t)((colon ? colon : end) - type));
	while (colon) {
		const char *word = colon + 1;

		colon = memchr(word, ':', (size_t)(end - word));
		if (*word >= '0' && *word <= '5')
			a->ref = *word - '0';
		else
			snprintf(a->set, sizeof(a->set), "%.*s",
				 (int)((colon ? colon : end) - word), word);
	}
}

void syscall_sig(const char *name, struct syscall_sig *ret)
{
	const char *s, *result;
	size_t i = 0;

	*ret = (struct syscall_sig){ .n = SYSCALL_ARGS, .ret = SYSCALL_LONG };
	for (unsigned k = 0; k < SYSCALL_ARGS; k++) {
		ret->arg[k].type = SYSCALL_HEX;
		ret->arg[k].ref = -1;
		snprintf(ret->arg[k].name, sizeof(ret->arg[k].name), "arg%u", k);
	}
	while (i < ARRAY_SIZE(calls) && strcmp(calls[i].name, name) != 0)
		i++;
	if (i == ARRAY_SIZE(calls) || !calls[i].args)
		return;
	ret->known = true;
	ret->n = 0;
	for (s = calls[i].groups; *s; s++)
		for (size_t k = 0; k < ARRAY_SIZE(groups); k++)
			if (groups[k].letter == *s)
				ret->groups |= groups[k].bit;
	result = strchrnul(calls[i].args, '=');
	for (s = calls[i].args; s < result && ret->n < SYSCALL_ARGS; s += strspn(s, ", ")) {
		size_t n = strcspn(s, ",=");

		syscall_parse_arg(s, n, &ret->arg[ret->n++]);
		s += n;
	}
	if (*result)
		ret->ret = syscall_type_of(result + 1, strlen(result + 1));
}

void syscall_sig_of(enum syscall_abi abi, const char *name, struct syscall_sig *ret)
{
	const char *ways[] = { abis[abi].family, abis[abi].name };
	char text[64];

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		if (!ways[i])
			continue;
		snprintf(text, sizeof(text), "%s/%s", name, ways[i]);
		syscall_sig(text, ret);
		if (ret->known)
			return;
	}
	syscall_sig(name, ret);
}
