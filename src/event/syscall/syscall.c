/* SPDX-License-Identifier: MIT */
#include "event/syscall/syscall.h"

#include <string.h>

#include "base/mem.h"

static const char *const x86_64[] = {
#include "event/syscall/x86_64.h"
};
static const char *const i386[] = {
#include "event/syscall/i386.h"
};
static const char *const aarch64[] = {
#include "event/syscall/aarch64.h"
};
static const char *const arm[] = {
#include "event/syscall/arm.h"
};

static const struct {
	const char *name;
	const char *const *call;
	int n;
} abis[] = {
	[SYSCALL_X86_64] = { "x86_64", x86_64, ARRAY_SIZE(x86_64) },
	[SYSCALL_I386] = { "i386", i386, ARRAY_SIZE(i386) },
	[SYSCALL_AARCH64] = { "aarch64", aarch64, ARRAY_SIZE(aarch64) },
	[SYSCALL_ARM] = { "arm", arm, ARRAY_SIZE(arm) },
};

/* What the kernel's events call otherwise. */
static const struct {
	const char *name, *call;
} renamed[] = {
	{ "newstat", "stat" },	 { "newlstat", "lstat" },      { "newfstat", "fstat" },
	{ "newuname", "uname" }, { "sendfile64", "sendfile" }, { "umount", "umount2" },
};

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
	return nr >= 0 && nr < abis[abi].n ? abis[abi].call[nr] : NULL;
}

static int syscall_syscall_number(enum syscall_abi abi, const char *name)
{
	for (int i = 0; i < abis[abi].n; i++)
		if (abis[abi].call[i] && strcmp(abis[abi].call[i], name) == 0)
			return i;
	return -1;
}

int syscall_number(enum syscall_abi abi, const char *name)
{
	int nr = syscall_syscall_number(abi, name);

	for (size_t i = 0; i < ARRAY_SIZE(renamed) && nr < 0; i++)
		if (strcmp(renamed[i].name, name) == 0)
			nr = syscall_syscall_number(abi, renamed[i].call);
	return nr;
}
