/* SPDX-License-Identifier: MIT */
#include "kern/priv.h"

#include <linux/capability.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "kern/tracefs.h"

/* Newer than the oldest headers this builds with. */
#ifndef CAP_PERFMON
#	define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#	define CAP_BPF 39
#endif

/* The first user namespace has this inode on every kernel (PROC_USER_INIT_INO). */
#define INIT_USERNS 0xEFFFFFFDu

static const struct {
	unsigned cap;
	const char *name;
} tracing_caps[] = {
	{ CAP_SYS_ADMIN, "CAP_SYS_ADMIN" },
	{ CAP_PERFMON, "CAP_PERFMON" },
	{ CAP_BPF, "CAP_BPF" },
	{ CAP_SYSLOG, "CAP_SYSLOG" },
	{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE" },
	{ CAP_DAC_OVERRIDE, "CAP_DAC_OVERRIDE" },
	{ CAP_IPC_LOCK, "CAP_IPC_LOCK" },
	{ CAP_SYS_RESOURCE, "CAP_SYS_RESOURCE" },
};

/* The value of a line of /proc/self/status, or 0. */
static uint64_t priv_status(const char *text, const char *key, int base)
{
	const char *at = text;

	while (at && strncmp(at, key, strlen(key)) != 0) {
		at = strchr(at, '\n');
		at += at != NULL;
	}
	return at ? strtoull(at + strlen(key), NULL, base) : 0;
}

void priv_read(struct priv *p)
{
	AUTO_FREE char *text = NULL;
	int64_t last = 40;
	struct stat st;

	*p = (struct priv){ .euid = geteuid() };
	if (file_read("/proc/self/status", 1 << 16, &text, NULL) == 0) {
		p->caps = priv_status(text, "CapEff:", 16);
		p->filtered = priv_status(text, "Seccomp:", 10) == 2;
		p->no_new = priv_status(text, "NoNewPrivs:", 10) == 1;
	}
	file_i64("/proc/sys/kernel/cap_last_cap", &last);
	p->known = last >= 63 || last < 0 ? ~0ull : (1ull << (last + 1)) - 1;
	p->own_userns = stat("/proc/self/ns/user", &st) == 0 && st.st_ino != INIT_USERNS;
}

bool priv_has(const struct priv *p, unsigned cap)
{
	return !p->own_userns && p->caps & (1ull << cap);
}

bool priv_perfmon(const struct priv *p)
{
	return priv_has(p, CAP_SYS_ADMIN) || priv_has(p, CAP_PERFMON);
}

bool priv_names(uint64_t set, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(tracing_caps); i++) {
		if (!(set & (1ull << tracing_caps[i].cap)) || n >= size)
			continue;
		n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? ", " : "",
				      tracing_caps[i].name);
	}
	return n > 0;
}

static const char *const names[] = {
	[LOCKDOWN_UNKNOWN] = "unknown",
	[LOCKDOWN_NONE] = "none",
	[LOCKDOWN_INTEGRITY] = "integrity",
	[LOCKDOWN_CONFIDENTIALITY] = "confidentiality",
};

const char *lockdown_name(enum lockdown l)
{
	return names[l];
}

enum lockdown lockdown_parse(const char *text)
{
	const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;

	for (size_t i = LOCKDOWN_NONE; close && i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == (size_t)(close - open - 1) &&
		    strncmp(names[i], open + 1, (size_t)(close - open - 1)) == 0)
			return (enum lockdown)i;
	return LOCKDOWN_UNKNOWN;
}

enum lockdown lockdown_read(void)
{
	AUTO_FREE char *text = NULL;
	AUTO_CLOSE int dir = -1;
	char path[4096];
	int r;

	if (mounts_find("securityfs", NULL, path, sizeof(path)) == 0) {
		AUTO_FREE char *file = mem_printf("%s/lockdown", path);

		r = file_read(file, 4096, &text, NULL);
	} else {
		dir = mounts_private("securityfs");
		/* ENODEV: the kernel was built without securityfs, and so without lockdown. */
		if (dir == -ENODEV)
			return LOCKDOWN_NONE;
		if (dir < 0)
			return LOCKDOWN_UNKNOWN;
		r = file_readat(dir, "lockdown", 4096, &text, NULL);
	}
	if (r == -ENOENT)
		return LOCKDOWN_NONE;
	return r < 0 ? LOCKDOWN_UNKNOWN : lockdown_parse(text);
}
