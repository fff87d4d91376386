/* SPDX-License-Identifier: MIT */
/* Arguments and results of system calls. */
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/vec.h"
#include "view/trace/names.h"
#include "view/trace/trace.h"

void trace_words_init(struct trace_words *w, const struct tracer_structs *structs)
{
	*w = (struct trace_words){ .structs = structs,
				   .types = tracer_structs_types(structs),
				   .abi = { syscall_native(), syscall_compat() } };
}

void trace_words_free(struct trace_words *w)
{
	for (size_t k = 0; k < TRACE_ABIS; k++)
		for (size_t i = 0; i < SYSCALL_MAX; i++)
			free(w->sig[k][i]);
}

const char *trace_call_name(const struct trace_words *w, const struct trace_record *r, char buf[24])
{
	const char *name = syscall_name(w->abi[r->abi], r->nr);

	if (name)
		return name;
	snprintf(buf, 24, "syscall_0x%x", (unsigned)r->nr);
	return buf;
}

const struct syscall_sig *trace_words_sig(struct trace_words *w, const struct trace_record *r)
{
	unsigned nr = r->nr >= 0 && r->nr < SYSCALL_MAX ? (unsigned)r->nr : SYSCALL_MAX - 1;
	struct syscall_sig **s = &w->sig[r->abi][nr];
	char buf[24];

	if (!*s) {
		*s = mem_alloc(sizeof(**s));
		syscall_sig_of(w->abi[r->abi], trace_call_name(w, r, buf), *s);
	}
	return *s;
}

bool trace_failed(const struct trace_record *r)
{
	return r->kind == TRACE_CALL && r->ret < 0 && r->ret >= -4095;
}

static const struct trace_piece *find_piece(const struct trace_record *r, const void *data,
					    unsigned arg, enum trace_take take, unsigned index,
					    bool before)
{
	const uint8_t *p = data;
	size_t left = r->n;
	const struct trace_piece *found = NULL;

	while (left >= sizeof(struct trace_piece)) {
		const struct trace_piece *q = (const void *)p;
		size_t n = (sizeof(*q) + q->n + 7u) & ~(size_t)7;

		if (sizeof(*q) + q->n > left)
			break;
		if (q->arg == arg && q->take == take && q->index == index && !(before && q->exit))
			found = q; /* the last one: what a call left counts */
		if (n >= left)
			break;
		p += n;
		left -= n;
	}
	return found;
}

const struct trace_piece *trace_piece(const struct trace_record *r, const void *data, unsigned arg,
				      enum trace_take take, unsigned index)
{
	return find_piece(r, data, arg, take, index, false);
}

const struct trace_piece *trace_piece_before(const struct trace_record *r, const void *data,
					     unsigned arg, enum trace_take take)
{
	return find_piece(r, data, arg, take, 0, true);
}

/* --- simple values ---------------------------------------------------------------------------- */

void trace_escape(const void *s, size_t n, bool quoted, struct strbuf *b)
{
	static const char plain[] = "\n\t\r\v\f\"\\", letters[] = "ntrvf\"\\";
	const unsigned char *p = s;

	for (size_t i = 0; i < n; i++) {
		const char *at = p[i] && (quoted || p[i] != '"') ? strchr(plain, p[i]) : NULL;

		if (at)
			strbuf_printf(b, "\\%c", letters[at - plain]);
		else if (p[i] >= ' ' && p[i] < 127)
			strbuf_putc(b, (char)p[i]);
		else if (i + 1 < n && p[i + 1] >= '0' && p[i + 1] <= '7')
			strbuf_printf(b, "\\%03o", p[i]);
		else
			strbuf_printf(b, "\\%o", p[i]);
	}
}

void trace_string(const void *s, size_t n, uint64_t whole, struct strbuf *b)
{
	strbuf_putc(b, '"');
	trace_escape(s, n, true, b);
	strbuf_puts(b, whole > n ? "\"..." : "\"");
}

void trace_hex(uint64_t v, struct strbuf *b)
{
	strbuf_printf(b, v ? "0x%llx" : "%llx", (unsigned long long)v);
}

void trace_pointer(uint64_t v, struct strbuf *b)
{
	if (v)
		strbuf_printf(b, "0x%llx", (unsigned long long)v);
	else
		strbuf_puts(b, "NULL");
}

/* A file in no folder, as readlink of /proc/PID/fd/N has it. */
static void nowhere(const char *name, const struct trace_file *f, struct strbuf *b)
{
	static const char *const memory[] = { "memfd:", "SYSV", "dev/zero", "anon_hugepage" };

	for (size_t i = 0; i < ARRAY_SIZE(memory); i++)
		if (str_starts(name, memory[i])) {
			strbuf_putc(b, '/');
			trace_escape(name, strlen(name), false, b);
			return;
		}
	strbuf_puts(b, "anon_inode:");
	if (strcmp(name, "/") != 0)
		trace_escape(name, strlen(name), false, b);
	else if ((f->mode & 07777) == 0700)
		strbuf_puts(b, "[pidfd]");
	else
		strbuf_printf(b, "[%llu]", (unsigned long long)f->inode); /* a namespace ... */
}

/* The parts stand in the order of the way up: the last one first. */
static void file_path(const char *parts, size_t n, const struct trace_file *f, struct strbuf *b)
{
	VEC(const char *) part = { 0 };

	for (size_t at = 0; at < n;) {
		const char *end = memchr(parts + at, '\0', n - at);

		if (!end)
			break;
		vec_push(&part, parts + at);
		at = (size_t)(end - parts) + 1;
	}
	if (!part.n)
		strbuf_putc(b, '/');
	if (part.n > 1 && !part.data[part.n - 1][0]) {
		nowhere(part.data[0], f, b);
	} else {
		for (size_t i = part.n; i-- > 0;)
			if (strcmp(part.data[i], "/") != 0) {
				strbuf_putc(b, '/');
				trace_escape(part.data[i], strlen(part.data[i]), false, b);
			}
	}
	vec_free(&part);
}

static void fd_name(const struct trace_record *r, const void *data, unsigned arg, unsigned index,
		    struct strbuf *b)
{
	const struct trace_piece *p = trace_piece(r, data, arg, TRACE_TAKE_PATH_OF, index);
	struct trace_file f;

	if (!p || p->n < sizeof(f))
		return;
	memcpy(&f, p + 1, sizeof(f));
	strbuf_putc(b, '<');
	if (S_ISSOCK(f.mode))
		strbuf_printf(b, "socket:[%llu]", (unsigned long long)f.inode);
	else if (S_ISFIFO(f.mode) && p->n == sizeof(f))
		strbuf_printf(b, "pipe:[%llu]", (unsigned long long)f.inode);
	else
		file_path((const char *)(p + 1) + sizeof(f), p->n - sizeof(f), &f, b);
	strbuf_putc(b, '>');
}

void trace_descriptor(const struct trace_record *r, const void *data, unsigned arg, unsigned index,
		      int fd, struct strbuf *b)
{
	strbuf_printf(b, "%d", fd);
	if (fd >= 0)
		fd_name(r, data, arg, index, b);
}

/* --- what depends on another argument --------------------------------------------------------- */

static void futex_op(const struct trace_record *r, struct strbuf *b)
{
	uint64_t op = (uint32_t)r->arg[1];

	trace_names_flags("futex", op & FUTEX_CMD_MASK, b);
	if (op & FUTEX_PRIVATE_FLAG)
		strbuf_puts(b, "_PRIVATE");
	if (op & FUTEX_CLOCK_REALTIME)
		strbuf_puts(b, "|FUTEX_CLOCK_REALTIME");
}

/* What an operation of futex looks at. */
static const struct futex {
	unsigned op, n;
	unsigned hidden; /* bits of arguments in the middle that it does not look at */
	bool count;	 /* where others have a time, it has how many more to wake */
	bool bits;	 /* the last one is a set of them */
} futexes[] = {
	{ FUTEX_WAKE, 3 },
	{ FUTEX_UNLOCK_PI, 2 },
	{ FUTEX_TRYLOCK_PI, 2 },
	{ FUTEX_WAIT, 4 },
	{ FUTEX_LOCK_PI, 4 },
	{ FUTEX_REQUEUE, 5, .count = true },
	{ FUTEX_CMP_REQUEUE, 6, .count = true },
	{ FUTEX_WAKE_OP, 6, .count = true },
	{ FUTEX_CMP_REQUEUE_PI, 6, .count = true },
	{ FUTEX_WAIT_BITSET, 6, .hidden = 1 << 4, .bits = true },
	{ FUTEX_WAKE_BITSET, 6, .hidden = 1 << 3 | 1 << 4, .bits = true },
	{ UINT32_MAX, 6 }, /* any other */
};

/* NULL: it is another call. */
static const struct futex *futex_of(struct trace_words *w, const struct trace_record *r)
{
	const struct futex *f = futexes;

	if (strcmp(trace_words_sig(w, r)->arg[1].set, "futex") != 0)
		return NULL;
	while (f->op != (r->arg[1] & (unsigned)FUTEX_CMD_MASK) && f->op != UINT32_MAX)
		f++;
	return f;
}

/* With who may use it, in octal. */
static void ipc_flags(uint32_t v, struct strbuf *b)
{
	if (v & ~0777u) {
		trace_names_flags("ipcget", v & ~0777u, b);
		strbuf_putc(b, '|');
	}
	strbuf_printf(b, "0%o", v & 0777);
}

/* The set of names for options of a socket's level. */
static const char *options_of(int level)
{
	switch (level) {
	case SOL_SOCKET: return "sockopt";
	case IPPROTO_IP: return "ipopt";
	case IPPROTO_IPV6: return "ipv6opt";
	case IPPROTO_TCP: return "tcpopt";
	case IPPROTO_UDP: return "udpopt";
	case SOL_NETLINK: return "netlinkopt";
	default: return "";
	}
}

/* What clone looks at only if a flag says so. */
static bool clone_hidden(uint64_t flags, const char *name)
{
	if (strcmp(name, "parent_tid") == 0)
		return !(flags & (CLONE_PARENT_SETTID | CLONE_PIDFD));
	if (strcmp(name, "child_tid") == 0)
		return !(flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID));
	return strcmp(name, "tls") == 0 && !(flags & CLONE_SETTLS);
}

bool trace_named(struct trace_words *w, const struct trace_record *r, unsigned i)
{
	char buf[24];

	return i >= 2 && strcmp(trace_call_name(w, r, buf), "clone") == 0;
}

bool trace_hidden(struct trace_words *w, const struct trace_record *r, unsigned i)
{
	const struct syscall_arg *a = &trace_words_sig(w, r)->arg[i];
	const struct futex *f = futex_of(w, r);

	return a->type == SYSCALL_POS_HIGH || (f && f->hidden >> i & 1) ||
	       (trace_named(w, r, i) && clone_hidden(r->arg[0], a->name));
}

unsigned trace_args(struct trace_words *w, const struct trace_record *r)
{
	const struct syscall_sig *s = trace_words_sig(w, r);
	const struct futex *f = futex_of(w, r);
	char buf[24];
	const char *name = trace_call_name(w, r, buf);

	for (unsigned i = 1; i < s->n; i++)
		if (s->arg[i].type == SYSCALL_OPEN_MODE && !(r->arg[i - 1] & O_CREAT) &&
		    (r->arg[i - 1] & O_TMPFILE) != O_TMPFILE)
			return i;
	if (str_starts(name, "fcntl") && trace_fcntl_alone(r->arg[1]))
		return 2;
	if (strcmp(name, "prctl") == 0)
		return trace_prctl_args(r->arg[0]);
	if (strcmp(name, "membarrier") == 0)
		return r->arg[1] ? 3 : 2;
	if (f)
		return f->n;
	if (strcmp(name, "ioctl") == 0 && !r->arg[2] &&
	    ((uint32_t)r->arg[1] == FIOCLEX || (uint32_t)r->arg[1] == FIONCLEX))
		return 2;
	if (strcmp(name, "mremap") == 0 && !(r->arg[3] & 2))
		return 4;
	return s->n;
}

void trace_arg(struct trace_words *w, const struct trace_record *r, const void *data, unsigned i,
	       struct strbuf *b)
{
	const struct syscall_sig *s = trace_words_sig(w, r);
	const struct syscall_arg *a = &s->arg[i];
	const struct futex *f = futex_of(w, r);
	uint64_t v = r->arg[i];

	switch (a->type) {
	case SYSCALL_INT: strbuf_printf(b, "%d", (int)v); break;
	case SYSCALL_UINT: strbuf_printf(b, "%u", (unsigned)v); break;
	case SYSCALL_LONG:
		strbuf_printf(b, "%lld", r->abi ? (long long)(int)v : (long long)v);
		break;
	case SYSCALL_ULONG: strbuf_printf(b, "%llu", (unsigned long long)v); break;
	case SYSCALL_PTR:
	case SYSCALL_ENVP: trace_pointer(v, b); break;
	case SYSCALL_MODE:
	case SYSCALL_OPEN_MODE: trace_names_mode((unsigned)v, b); break;
	case SYSCALL_FD: trace_descriptor(r, data, i, 0, (int)v, b); break;
	case SYSCALL_AT:
		if ((int)v == AT_FDCWD)
			strbuf_puts(b, "AT_FDCWD");
		else
			trace_descriptor(r, data, i, 0, (int)v, b);
		break;
	case SYSCALL_SIG: trace_names_signal((int)v, b); break;
	case SYSCALL_FLAGS:
		if (strcmp(a->set, "futex") == 0)
			futex_op(r, b);
		else if (strcmp(a->set, "ipcget") == 0 && (v & 0777))
			ipc_flags((uint32_t)v, b);
		else
			trace_names_flags(a->set, strcmp(a->set, "clone") == 0 ? v : (uint32_t)v,
					  b);
		break;
	case SYSCALL_ENUM:
		if (strcmp(a->set, "sockopt") == 0)
			trace_names_enum(options_of((int)r->arg[1]), (uint32_t)v, b);
		else if (strcmp(a->set, "protocol") == 0 && r->arg[0] == AF_NETLINK)
			trace_names_enum("netlink", (uint32_t)v, b);
		else if (strcmp(a->set, "protocol") == 0 && r->arg[0] != 2 && r->arg[0] != 10)
			strbuf_printf(b, "%u", (unsigned)v); /* of AF_INET and AF_INET6 only */
		else
			trace_names_enum(a->set, (uint32_t)v, b);
		break;
	case SYSCALL_FCNTL: trace_fcntl(r, data, i, b); break;
	case SYSCALL_IOCTL: trace_ioctl(r, data, i, b); break;
	case SYSCALL_PRCTL: trace_prctl(r, data, i, b); break;
	case SYSCALL_KEY:
		if (v)
			trace_hex((uint32_t)v, b);
		else
			strbuf_puts(b, "IPC_PRIVATE");
		break;
	case SYSCALL_POS:
		strbuf_printf(
			b, "%lld",
			(long long)(r->abi && i + 1 < SYSCALL_ARGS ? v | r->arg[i + 1] << 32 : v));
		break;
	default:
		if (f && f->count && i == 3)
			strbuf_printf(b, "%u", (unsigned)v);
		else if (a->type == SYSCALL_HEX && (uint32_t)v == FUTEX_BITSET_MATCH_ANY && f &&
			 f->bits && i == 5)
			strbuf_puts(b, "FUTEX_BITSET_MATCH_ANY");
		else if (!trace_memory(w, r, data, i, a, b))
			trace_hex(v, b);
	}
}

void trace_result(struct trace_words *w, const struct trace_record *r, const void *data,
		  struct strbuf *b)
{
	const struct syscall_sig *s = trace_words_sig(w, r);
	char buf[24];
	const char *name = trace_call_name(w, r, buf);
	const char *error;

	if (r->kind != TRACE_CALL) {
		strbuf_putc(b, '?');
		return;
	}
	if (trace_failed(r)) {
		error = trace_names_error((int)-r->ret);
		strbuf_puts(b, -r->ret >= 512 && -r->ret <= 516 ? "? " : "-1 ");
		if (error)
			strbuf_printf(b, "%s (%s)", error, trace_names_error_text((int)-r->ret));
		else
			strbuf_printf(b, "%d", (int)-r->ret);
		return;
	}
	if (str_starts(name, "fcntl") && (r->arg[1] == F_GETFL || r->arg[1] == F_GETFD)) {
		trace_hex((uint64_t)r->ret, b);
		if (r->arg[1] == F_GETFL || r->ret) {
			strbuf_puts(b, " (flags ");
			trace_names_flags(r->arg[1] == F_GETFL ? "open" : "fdflags",
					  (uint64_t)r->ret, b);
			strbuf_putc(b, ')');
		}
		return;
	}
	switch (s->ret) {
	case SYSCALL_FD: trace_descriptor(r, data, 6, 0, (int)r->ret, b); break;
	case SYSCALL_PTR: strbuf_printf(b, "0x%llx", (unsigned long long)r->ret); break;
	case SYSCALL_HEX: trace_hex((uint64_t)r->ret, b); break;
	case SYSCALL_MODE: trace_names_mode((unsigned)r->ret, b); break;
	default:
		strbuf_printf(b, "%lld", (long long)r->ret);
		trace_fdsets(r, data, s, b);
		if (strcmp(name, "sched_getscheduler") == 0) {
			strbuf_puts(b, " (");
			trace_names_enum("sched", (uint64_t)r->ret & 0xff, b);
			strbuf_putc(b, ')');
		}
	}
}
