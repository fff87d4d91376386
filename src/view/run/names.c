/* SPDX-License-Identifier: MIT */
/* Numbers of the kernel that have names: syscall_name(), signal_name(), cap_name(), disk_name(). */
#include "event/syscall/syscall.h"
#include "view/run/show.h"

/* What stands behind "CAP_", by number. */
static const char caps[] =
	"CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP "
	"LINUX_IMMUTABLE NET_BIND_SERVICE NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK "
	"IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN "
	"SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE "
	"AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND "
	"AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE";

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

static bool show_capability(int64_t v, struct strbuf *b)
{
	const char *s = caps;

	for (; v > 0 && *s; v--) {
		s += strcspn(s, " ");
		s += *s == ' ';
	}
	if (v || !*s)
		return false;
	strbuf_printf(b, "CAP_%.*s", (int)strcspn(s, " "), s);
	return true;
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
		if (show_capability(v, b))
			return;
	} else if (v == (int)v) {
		s = syscall_name(syscall_native(), (int)v);
	}
	if (s)
		strbuf_puts(b, s);
	else
		strbuf_printf(b, "%lld", (long long)v);
}
