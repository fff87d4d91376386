/* SPDX-License-Identifier: MIT */
/*
 * What the arguments of system calls are: a line a call, parsed when asked for.
 *
 * An argument is its name and its type; a type may have one or two more words behind
 * colons: the number of another argument, the name of a set of flags (view/trace/names.c)
 * or of a struct of the kernel. Behind "=" stands what the result is, when it is not a
 * number.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "event/syscall/syscall.h"

static const struct {
	const char *name, *groups, *args;
} calls[] = {
#include "event/syscall/sigs.h"
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

static const struct {
	const char *name;
	enum syscall_type type;
} types[] = {
	{ "int", SYSCALL_INT },
	{ "uint", SYSCALL_UINT },
	{ "long", SYSCALL_LONG },
	{ "ulong", SYSCALL_ULONG },
	{ "hex", SYSCALL_HEX },
	{ "ptr", SYSCALL_PTR },
	{ "mode", SYSCALL_MODE },
	{ "omode", SYSCALL_OPEN_MODE },
	{ "fd", SYSCALL_FD },
	{ "at", SYSCALL_AT },
	{ "sig", SYSCALL_SIG },
	{ "path", SYSCALL_PATH },
	{ "buf", SYSCALL_BUF },
	{ "out", SYSCALL_OUT },
	{ "argv", SYSCALL_ARGV },
	{ "envp", SYSCALL_ENVP },
	{ "addr", SYSCALL_ADDR },
	{ "addrout", SYSCALL_ADDR_OUT },
	{ "length", SYSCALL_LENGTH },
	{ "iov", SYSCALL_IOV },
	{ "iovout", SYSCALL_IOV_OUT },
	{ "msg", SYSCALL_MSG },
	{ "msgout", SYSCALL_MSG_OUT },
	{ "f", SYSCALL_FLAGS },
	{ "e", SYSCALL_ENUM },
	{ "in", SYSCALL_STRUCT },
	{ "outs", SYSCALL_STRUCT_OUT },
	{ "io", SYSCALL_STRUCT_IO },
	{ "left", SYSCALL_STRUCT_LEFT },
	{ "arr", SYSCALL_ARRAY },
	{ "arrio", SYSCALL_ARRAY_IO },
	{ "res", SYSCALL_RESULTS },
	{ "set", SYSCALL_SIGSET },
	{ "setout", SYSCALL_SIGSET_OUT },
	{ "pair", SYSCALL_PAIR },
	{ "fds", SYSCALL_FDSET },
	{ "intout", SYSCALL_INT_OUT },
	{ "fcntl", SYSCALL_FCNTL },
	{ "ioctl", SYSCALL_IOCTL },
	{ "prctl", SYSCALL_PRCTL },
	{ "cpus", SYSCALL_CPUS },
	{ "cpusout", SYSCALL_CPUS_OUT },
	{ "times", SYSCALL_TIMES },
	{ "key", SYSCALL_KEY },
	{ "pos", SYSCALL_POS },
	{ "posh", SYSCALL_POS_HIGH },
	{ "words", SYSCALL_WORDS },
};

unsigned syscall_group(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		if (strcmp(groups[i].name, name) == 0)
			return groups[i].bit;
	return 0;
}

static enum syscall_type syscall_sig_type_of(const char *s, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (strlen(types[i].name) == n && memcmp(types[i].name, s, n) == 0)
			return types[i].type;
	return SYSCALL_TYPES;
}

static void syscall_sig_copy(char *to, size_t size, const char *from, size_t n)
{
	if (n >= size)
		n = size - 1;
	memcpy(to, from, n);
	to[n] = '\0';
}

/* "name type:2:struct" */
static void parse_arg(const char *s, size_t n, struct syscall_arg *a)
{
	const char *end = s + n, *blank = memchr(s, ' ', n), *type, *colon;

	a->ref = -1;
	syscall_sig_copy(a->name, sizeof(a->name), s, (size_t)(blank ? blank - s : (long)n));
	type = blank ? blank + 1 : end;
	colon = memchr(type, ':', (size_t)(end - type));
	a->type = syscall_sig_type_of(type, (size_t)((colon ? colon : end) - type));
	while (colon) {
		const char *word = colon + 1;

		colon = memchr(word, ':', (size_t)(end - word));
		if (*word >= '0' && *word <= '5')
			a->ref = *word - '0';
		else
			syscall_sig_copy(a->set, sizeof(a->set), word,
					 (size_t)((colon ? colon : end) - word));
	}
}

void syscall_sig(const char *name, struct syscall_sig *ret)
{
	size_t i = 0;
	const char *s;

	*ret = (struct syscall_sig){ .n = SYSCALL_ARGS, .ret = SYSCALL_LONG };
	for (unsigned k = 0; k < SYSCALL_ARGS; k++) {
		ret->arg[k].type = SYSCALL_HEX;
		ret->arg[k].ref = -1;
		snprintf(ret->arg[k].name, sizeof(ret->arg[k].name), "arg%u", k);
	}
	while (i < ARRAY_SIZE(calls) && strcmp(calls[i].name, name) != 0)
		i++;
	if (i == ARRAY_SIZE(calls))
		return;
	ret->known = true;
	ret->n = 0;
	for (s = calls[i].groups; *s; s++)
		for (size_t k = 0; k < ARRAY_SIZE(groups); k++)
			if (groups[k].letter == *s)
				ret->groups |= groups[k].bit;
	for (s = calls[i].args; *s && ret->n < SYSCALL_ARGS;) {
		size_t n = strcspn(s, ",=");

		if (n)
			parse_arg(s, n, &ret->arg[ret->n++]);
		s += n;
		if (*s == '=') {
			ret->ret = syscall_sig_type_of(s + 1, strlen(s + 1));
			break;
		}
		s += *s == ',';
		s += *s == ' ';
	}
	if ((s = strchr(calls[i].args, '=')))
		ret->ret = syscall_sig_type_of(s + 1, strlen(s + 1));
}

void syscall_sig_of(enum syscall_abi abi, const char *name, struct syscall_sig *ret)
{
	const char *ways[] = { abi == SYSCALL_I386 || abi == SYSCALL_ARM ? "32" : NULL,
			       abi == SYSCALL_I386	? "i386"
			       : abi == SYSCALL_ARM	? "arm"
			       : abi == SYSCALL_AARCH64 ? "aarch64"
							: NULL };
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
