/* SPDX-License-Identifier: MIT */
#include "view/trace/names.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

const struct trace_name *trace_names_find(const char *set)
{
	static const struct trace_names *const all[] = { trace_names_files, trace_names_system };

	for (size_t k = 0; k < ARRAY_SIZE(all); k++)
		for (const struct trace_names *s = all[k]; s->set; s++)
			if (s->set[0] == set[0] && strcmp(s->set, set) == 0)
				return s->names;
	return NULL;
}

void trace_names_flags(const char *set, uint64_t v, struct strbuf *b)
{
	uint64_t left = v;
	bool any = false;

	for (const struct trace_name *n = trace_names_find(set); n && n->name; n++) {
		/* a name for no bit at all counts where the bits of its mask are not taken yet */
		if ((v & n->mask) != n->value || (n->value && (left & n->value) != n->value))
			continue;
		if (!n->value && any && n->mask == UINT64_MAX)
			continue;
		if (any)
			strbuf_putc(b, '|');
		strbuf_puts(b, n->name);
		left &= ~n->mask;
		any = true;
	}
	if (left && any)
		strbuf_printf(b, "|0x%llx", (unsigned long long)left);
	else if (!any)
		strbuf_printf(b, v ? "0x%llx" : "%llx", (unsigned long long)v);
}

void trace_names_enum(const char *set, uint64_t v, struct strbuf *b)
{
	for (const struct trace_name *n = trace_names_find(set); n && n->name; n++)
		if (n->value == v) {
			strbuf_puts(b, n->name);
			return;
		}
	if (v > 0xffff)
		strbuf_printf(b, "0x%llx", (unsigned long long)v);
	else
		strbuf_printf(b, "%llu", (unsigned long long)v);
}

void trace_names_signal(int sig, struct strbuf *b)
{
	const char *name = sig == SIGIO ? "IO" : sig > 0 && sig < 32 ? sigabbrev_np(sig) : NULL;

	if (name)
		strbuf_printf(b, "SIG%s", name);
	else if (sig == 32)
		strbuf_puts(b, "SIGRTMIN"); /* the kernel's, as strace has it */
	else if (sig > 32 && sig <= 64)
		strbuf_printf(b, "SIGRT_%d", sig - 32);
	else
		strbuf_printf(b, "%d", sig);
}

static const struct {
	int error;
	const char *name, *text;
} inside[] = {
	{ 512, "ERESTARTSYS", "To be restarted if SA_RESTART is set" },
	{ 513, "ERESTARTNOINTR", "To be restarted" },
	{ 514, "ERESTARTNOHAND", "To be restarted if no handler" },
	{ 515, "ENOIOCTLCMD", "No ioctl command" },
	{ 516, "ERESTART_RESTARTBLOCK", "Interrupted by signal" },
	{ 517, "EPROBE_DEFER", "Driver requests probe retry" },
	{ 524, "ENOTSUPP", "Operation is not supported" },
	{ 529, "EIOCBQUEUED", "iocb queued" },
};

const char *trace_names_error(int error)
{
	for (size_t i = 0; i < ARRAY_SIZE(inside); i++)
		if (inside[i].error == error)
			return inside[i].name;
	return strerrorname_np(error);
}

const char *trace_names_error_text(int error)
{
	for (size_t i = 0; i < ARRAY_SIZE(inside); i++)
		if (inside[i].error == error)
			return inside[i].text;
	return strerrordesc_np(error);
}

void trace_names_mode(unsigned mode, struct strbuf *b)
{
	static const struct {
		unsigned type;
		const char *name;
	} types[] = { { S_IFREG, "S_IFREG" },  { S_IFDIR, "S_IFDIR" }, { S_IFLNK, "S_IFLNK" },
		      { S_IFCHR, "S_IFCHR" },  { S_IFBLK, "S_IFBLK" }, { S_IFIFO, "S_IFIFO" },
		      { S_IFSOCK, "S_IFSOCK" } };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if ((mode & S_IFMT) == types[i].type) {
			strbuf_printf(b, "%s|", types[i].name);
			mode &= ~(unsigned)S_IFMT;
		}
	if (mode & S_ISUID)
		strbuf_puts(b, "S_ISUID|");
	if (mode & S_ISGID)
		strbuf_puts(b, "S_ISGID|");
	if (mode & S_ISVTX)
		strbuf_puts(b, "S_ISVTX|");
	strbuf_printf(b, "%#03o", mode & ~(unsigned)(S_ISUID | S_ISGID | S_ISVTX));
}
