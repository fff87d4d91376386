/* SPDX-License-Identifier: MIT */
/* Numbers of the kernel that have names: syscall_name(), signal_name(), cap_name(), disk_name(). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "event/syscall/syscall.h"
#include "view/run/show.h"

static const char *const caps[] = {
	"CAP_CHOWN",
	"CAP_DAC_OVERRIDE",
	"CAP_DAC_READ_SEARCH",
	"CAP_FOWNER",
	"CAP_FSETID",
	"CAP_KILL",
	"CAP_SETGID",
	"CAP_SETUID",
	"CAP_SETPCAP",
	"CAP_LINUX_IMMUTABLE",
	"CAP_NET_BIND_SERVICE",
	"CAP_NET_BROADCAST",
	"CAP_NET_ADMIN",
	"CAP_NET_RAW",
	"CAP_IPC_LOCK",
	"CAP_IPC_OWNER",
	"CAP_SYS_MODULE",
	"CAP_SYS_RAWIO",
	"CAP_SYS_CHROOT",
	"CAP_SYS_PTRACE",
	"CAP_SYS_PACCT",
	"CAP_SYS_ADMIN",
	"CAP_SYS_BOOT",
	"CAP_SYS_NICE",
	"CAP_SYS_RESOURCE",
	"CAP_SYS_TIME",
	"CAP_SYS_TTY_CONFIG",
	"CAP_MKNOD",
	"CAP_LEASE",
	"CAP_AUDIT_WRITE",
	"CAP_AUDIT_CONTROL",
	"CAP_SETFCAP",
	"CAP_MAC_OVERRIDE",
	"CAP_MAC_ADMIN",
	"CAP_SYSLOG",
	"CAP_WAKE_ALARM",
	"CAP_BLOCK_SUSPEND",
	"CAP_AUDIT_READ",
	"CAP_PERFMON",
	"CAP_BPF",
	"CAP_CHECKPOINT_RESTORE",
};

/* The number behind a word in a file: where is "FILE\nWORD". */
static void show_file_number(const struct lang_out *o, const char *where, int64_t div,
			     struct strbuf *b)
{
	const char *word = strchr(where, '\n') + 1;
	AUTO_FREE char *path = mem_strndup(where, (size_t)(word - 1 - where));
	AUTO_STRBUF text = { 0 };
	const char *at = NULL;
	char *end;
	long long v;

	if (o->h->read && o->h->read(o->h->ctx, path, &text) == 0)
		for (at = strstr(strbuf_str(&text), word); at; at = strstr(at + 1, word))
			if (at == strbuf_str(&text) || strchr(" \t\n", at[-1]))
				break;
	v = at ? strtoll(at + strlen(word), &end, 10) : 0;
	if (!at || end == at + strlen(word))
		strbuf_putc(b, '-');
	else
		strbuf_printf(b, "%lld", v / (div > 0 ? div : 1));
}

void show_number_name(const struct lang_out *o, const struct ltype *t, int64_t v, struct strbuf *b)
{
	const char *s = NULL;

	if (t->n == LANG_NAME_FILE) {
		show_file_number(o, t->format, v, b);
		return;
	}
	if (t->n == LANG_NAME_DISK) {
		if (!o->h->disk || !o->h->disk(o->h->ctx, (uint64_t)v, b))
			strbuf_printf(b, "%u,%u", (unsigned)(v >> 20), (unsigned)(v & 0xfffff));
		return;
	}
	if (t->n == LANG_NAME_SIGNAL) {
		s = v > 0 && v < 65 ? sigabbrev_np((int)v) : NULL;
		if (s)
			strbuf_puts(b, "SIG");
	} else if (t->n == LANG_NAME_CAP) {
		s = v >= 0 && v < (int64_t)ARRAY_SIZE(caps) ? caps[v] : NULL;
	} else if (v == (int)v) {
		s = syscall_name(syscall_native(), (int)v);
	}
	if (s)
		strbuf_puts(b, s);
	else
		strbuf_printf(b, "%lld", (long long)v);
}
