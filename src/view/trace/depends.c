/* SPDX-License-Identifier: MIT */
/*
 * Arguments whose meaning depends on another: of fcntl, ioctl, prctl, of a socket's addresses,
 * options and messages. Each gets what was read where it leads to, if it leads anywhere.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/netlink.h>
#include <linux/vm_sockets.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "view/trace/names.h"
#include "view/trace/trace.h"

#define OFD_GETLK 36 /* and F_OFD_SETLK, F_OFD_SETLKW */

static const void *trace_depends_memory(const struct trace_record *r, const void *data, unsigned i,
					size_t n)
{
	const struct trace_piece *p = trace_piece(r, data, i, TRACE_TAKE_MEMORY, 0);

	return p && p->n >= n ? p + 1 : NULL;
}

/* --- fcntl ------------------------------------------------------------------------------------ */

static bool lock(const struct trace_record *r, const void *data, unsigned i, struct strbuf *b)
{
	const void *from = trace_depends_memory(r, data, i, sizeof(struct flock));
	struct flock l;

	if (!from || sizeof(l) != TRACE_FLOCK)
		return false;
	memcpy(&l, from, sizeof(l));
	if (r->abi) {
		struct {
			short type, whence;
			int start, len, pid;
		} l32;

		if (r->arg[1] >= OFD_GETLK)
			return false;
		memcpy(&l32, from, sizeof(l32));
		l = (struct flock){ .l_type = l32.type,
				    .l_whence = l32.whence,
				    .l_start = l32.start,
				    .l_len = l32.len,
				    .l_pid = l32.pid };
	}
	strbuf_puts(b, "{l_type=");
	trace_names_enum("lock_type", (uint64_t)(unsigned short)l.l_type, b);
	strbuf_puts(b, ", l_whence=");
	trace_names_enum("whence", (uint64_t)(unsigned short)l.l_whence, b);
	strbuf_printf(b, ", l_start=%lld, l_len=%lld", (long long)l.l_start, (long long)l.l_len);
	if (r->arg[1] == F_GETLK || r->arg[1] == OFD_GETLK)
		strbuf_printf(b, ", l_pid=%d", (int)l.l_pid);
	strbuf_putc(b, '}');
	return true;
}

void trace_fcntl(const struct trace_record *r, const void *data, unsigned i, struct strbuf *b)
{
	uint64_t v = r->arg[i];

	switch (r->arg[1]) {
	case F_SETFD: trace_names_flags("fdflags", v, b); return;
	case F_SETFL: trace_names_flags("open", v, b); return;
	case F_ADD_SEALS: trace_names_flags("seals", v, b); return;
	case F_SETLEASE: trace_names_enum("lock_type", v, b); return;
	case F_SETSIG: trace_names_signal((int)v, b); return;
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
	case F_SETPIPE_SZ:
	case F_SETOWN: strbuf_printf(b, "%d", (int)v); return;
	case F_GETLK:
	case F_SETLK:
	case F_SETLKW:
	case OFD_GETLK:
	case OFD_GETLK + 1:
	case OFD_GETLK + 2:
		if (!lock(r, data, i, b))
			trace_pointer(v, b);
		return;
	default: trace_hex(v, b);
	}
}

bool trace_fcntl_alone(uint64_t cmd)
{
	return cmd == F_GETFD || cmd == F_GETFL || cmd == F_GETOWN || cmd == F_GETPIPE_SZ ||
	       cmd == F_GETSIG || cmd == F_GETLEASE || cmd == F_GET_SEALS;
}

/* --- ioctl ------------------------------------------------------------------------------------ */

static void interface(uint64_t cmd, const uint8_t *from, struct strbuf *b)
{
	struct ifreq q;

	memcpy(&q, from, sizeof(q));
	strbuf_puts(b, "{ifr_name=");
	trace_string(q.ifr_name, strnlen(q.ifr_name, sizeof(q.ifr_name)), 0, b);
	switch (cmd) {
	case 0x8913: /* SIOCGIFFLAGS */
	case 0x8914:
		strbuf_puts(b, ", ifr_flags=");
		trace_names_flags("iff", (unsigned short)q.ifr_flags, b);
		break;
	case 0x8910: /* SIOCGIFNAME */
	case 0x8933: strbuf_printf(b, ", ifr_ifindex=%d", q.ifr_ifindex); break;
	case 0x8921: strbuf_printf(b, ", ifr_mtu=%d", q.ifr_mtu); break;
	case 0x8915:
		strbuf_puts(b, ", ifr_addr=");
		trace_sockaddr(&q.ifr_addr, sizeof(q.ifr_addr), b);
		break;
	default: strbuf_puts(b, ", ...");
	}
	strbuf_putc(b, '}');
}

void trace_ioctl(const struct trace_record *r, const void *data, unsigned i, struct strbuf *b)
{
	const uint8_t *from = trace_depends_memory(r, data, i, TRACE_IFREQ);
	uint64_t v = r->arg[i], cmd = (uint32_t)r->arg[1], n64 = 0;
	uint16_t size[4];
	int n = 0;

	if (cmd == FICLONE) {
		strbuf_printf(b, "%d", (int)v);
		return;
	}
	if (!from || trace_failed(r) || r->kind != TRACE_CALL) {
		trace_hex(v, b);
		return;
	}
	memcpy(&n, from, sizeof(n));
	memcpy(&n64, from, sizeof(n64));
	memcpy(size, from, sizeof(size));
	switch (cmd) {
	case FIONREAD:
	case FIONBIO:
	case FIOASYNC:
	case FIGETBSZ:
	case TIOCOUTQ:
	case TIOCGPGRP:
	case TIOCSPGRP:
	case TIOCGSID:
	case TIOCGPTN:
	case TIOCSPTLCK:
	case BLKSSZGET:
	case BLKROGET: strbuf_printf(b, "[%d]", n); return;
	case BLKGETSIZE64:
	case 0x80082407: /* PERF_EVENT_IOC_ID */
		strbuf_printf(b, "[%llu]", (unsigned long long)n64);
		return;
	case TIOCGWINSZ:
	case TIOCSWINSZ:
		strbuf_printf(b, "{ws_row=%u, ws_col=%u, ws_xpixel=%u, ws_ypixel=%u}", size[0],
			      size[1], size[2], size[3]);
		return;
	default: break;
	}
	if (cmd >= 0x8910 && cmd < 0x8950 && cmd != 0x8912 && sizeof(struct ifreq) == TRACE_IFREQ)
		interface(cmd, from, b);
	else
		trace_hex(v, b);
}

/* --- prctl ------------------------------------------------------------------------------------ */

enum means { A_NUMBER, A_SIGNAL, A_TEXT, A_CAP, A_POINTER };
static const struct {
	int option;
	unsigned n; /* arguments, the option among them */
	enum means means;
} options[] = {
	{ PR_SET_PDEATHSIG, 2, A_SIGNAL },
	{ PR_GET_PDEATHSIG, 2, A_POINTER },
	{ PR_GET_DUMPABLE, 1, A_NUMBER },
	{ PR_SET_DUMPABLE, 2, A_NUMBER },
	{ PR_GET_KEEPCAPS, 1, A_NUMBER },
	{ PR_SET_KEEPCAPS, 2, A_NUMBER },
	{ PR_SET_NAME, 2, A_TEXT },
	{ PR_GET_NAME, 2, A_TEXT },
	{ PR_GET_SECCOMP, 1, A_NUMBER },
	{ PR_CAPBSET_READ, 2, A_CAP },
	{ PR_CAPBSET_DROP, 2, A_CAP },
	{ PR_GET_SECUREBITS, 1, A_NUMBER },
	{ PR_SET_SECUREBITS, 2, A_NUMBER },
	{ PR_SET_TIMERSLACK, 2, A_NUMBER },
	{ PR_GET_TIMERSLACK, 1, A_NUMBER },
	{ PR_SET_CHILD_SUBREAPER, 2, A_NUMBER },
	{ PR_GET_CHILD_SUBREAPER, 2, A_POINTER },
	{ PR_SET_NO_NEW_PRIVS, 5, A_NUMBER },
	{ PR_GET_NO_NEW_PRIVS, 5, A_NUMBER },
	{ PR_SET_THP_DISABLE, 5, A_NUMBER },
	{ PR_GET_THP_DISABLE, 5, A_NUMBER },
	{ PR_GET_TID_ADDRESS, 2, A_POINTER },
};

unsigned trace_prctl_args(uint64_t option)
{
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if ((uint64_t)options[i].option == option)
			return options[i].n;
	return 5;
}

void trace_prctl(const struct trace_record *r, const void *data, unsigned i, struct strbuf *b)
{
	const struct trace_piece *p = trace_piece(r, data, i, TRACE_TAKE_STRING, 0);
	uint64_t v = r->arg[i];

	for (size_t k = 0; k < ARRAY_SIZE(options); k++) {
		if ((uint64_t)options[k].option != r->arg[0])
			continue;
		switch (options[k].means) {
		case A_NUMBER: strbuf_printf(b, "%llu", (unsigned long long)v); return;
		case A_SIGNAL: trace_names_signal((int)v, b); return;
		case A_CAP: trace_names_enum("cap", v, b); return;
		case A_POINTER: trace_pointer(v, b); return;
		case A_TEXT:
			if (p && p->n)
				trace_string(p + 1, p->n - 1u, p->n > 16 ? 16 : 0, b);
			else
				trace_pointer(v, b);
			return;
		}
	}
	trace_hex(v, b);
}

/* --- sockets ---------------------------------------------------------------------------------- */

static void inet(const struct sockaddr_in *a, struct strbuf *b)
{
	char text[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &a->sin_addr, text, sizeof(text));
	strbuf_printf(b, "{sa_family=AF_INET, sin_port=htons(%u), sin_addr=inet_addr(\"%s\")}",
		      ntohs(a->sin_port), text);
}

static void inet6(const struct sockaddr_in6 *a, struct strbuf *b)
{
	char text[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, &a->sin6_addr, text, sizeof(text));
	strbuf_printf(b,
		      "{sa_family=AF_INET6, sin6_port=htons(%u), sin6_flowinfo=htonl(%u), "
		      "inet_pton(AF_INET6, \"%s\", &sin6_addr), sin6_scope_id=%u}",
		      ntohs(a->sin6_port), ntohl(a->sin6_flowinfo), text, a->sin6_scope_id);
}

static void local(const char *path, size_t n, struct strbuf *b)
{
	strbuf_puts(b, "{sa_family=AF_UNIX");
	if (n && path[0]) {
		strbuf_puts(b, ", sun_path=");
		trace_string(path, strnlen(path, n), 0, b);
	} else if (n) { /* a name that is no file */
		strbuf_puts(b, ", sun_path=@");
		trace_string(path + 1, n - 1, 0, b);
	}
	strbuf_putc(b, '}');
}

void trace_sockaddr(const void *data, size_t n, struct strbuf *b)
{
	union {
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_nl nl;
		struct sockaddr_vm vm;
		uint16_t family;
	} a = { 0 };

	memcpy(&a, data, n < sizeof(a) ? n : sizeof(a));
	if (n < sizeof(a.family)) {
		strbuf_puts(b, "{}");
	} else if (a.family == AF_INET && n >= sizeof(a.in)) {
		inet(&a.in, b);
	} else if (a.family == AF_INET6 && n >= sizeof(a.in6) - 4) {
		inet6(&a.in6, b);
	} else if (a.family == AF_UNIX) {
		local((const char *)data + sizeof(a.family), n - sizeof(a.family), b);
	} else if (a.family == AF_NETLINK && n >= sizeof(a.nl)) {
		strbuf_printf(b, "{sa_family=AF_NETLINK, nl_pid=%u, nl_groups=%#08x}", a.nl.nl_pid,
			      a.nl.nl_groups);
	} else if (a.family == AF_VSOCK && n >= sizeof(a.vm)) {
		strbuf_printf(b, "{sa_family=AF_VSOCK, svm_cid=%u, svm_port=%u}", a.vm.svm_cid,
			      a.vm.svm_port);
	} else {
		strbuf_puts(b, "{sa_family=");
		trace_names_enum("family", a.family, b);
		if (n > sizeof(a.family)) {
			strbuf_puts(b, ", sa_data=");
			trace_string((const char *)data + sizeof(a.family), n - sizeof(a.family), 0,
				     b);
		}
		strbuf_putc(b, '}');
	}
}

bool trace_sockopt(const struct trace_record *r, const void *from, size_t n, struct strbuf *b)
{
	int name = (int)r->arg[2], v[2];
	long long t[2];

	if ((int)r->arg[1] != SOL_SOCKET || r->abi)
		return false;
	if (name == SO_ERROR && n == sizeof(int)) {
		memcpy(v, from, sizeof(int));
		strbuf_printf(b, "[%s]", v[0] ? trace_names_error(v[0]) : "0");
	} else if (name == SO_LINGER && n == sizeof(v)) {
		memcpy(v, from, sizeof(v));
		strbuf_printf(b, "{l_onoff=%d, l_linger=%d}", v[0], v[1]);
	} else if ((name == SO_RCVTIMEO || name == SO_SNDTIMEO) && n == sizeof(t)) {
		memcpy(t, from, sizeof(t));
		strbuf_printf(b, "{tv_sec=%lld, tv_usec=%lld}", t[0], t[1]);
	} else {
		return false;
	}
	return true;
}

static void control_data(int level, int type, const uint8_t *from, size_t n, struct strbuf *b)
{
	int v[3];

	if (level == SOL_SOCKET && type == SCM_RIGHTS) {
		strbuf_putc(b, '[');
		for (size_t k = 0; (k + 1) * sizeof(int) <= n; k++) {
			memcpy(v, from + k * sizeof(int), sizeof(int));
			strbuf_printf(b, k ? ", %d" : "%d", v[0]);
		}
		strbuf_putc(b, ']');
	} else if (level == SOL_SOCKET && type == SCM_CREDENTIALS && n >= sizeof(v)) {
		memcpy(v, from, sizeof(v));
		strbuf_printf(b, "{pid=%d, uid=%d, gid=%d}", v[0], v[1], v[2]);
	} else {
		trace_string(from, n, 0, b);
	}
}

/* What goes with a message: each with its length, level and kind in front. */
void trace_control(const void *data, size_t n, uint64_t whole, struct strbuf *b)
{
	const uint8_t *p = data;
	struct cmsghdr h;
	size_t at = 0;

	strbuf_putc(b, '[');
	while (at + sizeof(h) <= n) {
		size_t len;

		memcpy(&h, p + at, sizeof(h));
		len = h.cmsg_len;
		if (len < sizeof(h))
			break;
		if (at)
			strbuf_puts(b, ", ");
		strbuf_printf(b, "{cmsg_len=%zu, cmsg_level=", len);
		trace_names_enum("sockopt_level", (uint32_t)h.cmsg_level, b);
		strbuf_puts(b, ", cmsg_type=");
		if (h.cmsg_level == SOL_SOCKET)
			trace_names_enum("scm", (uint32_t)h.cmsg_type, b);
		else
			strbuf_printf(b, "%d", h.cmsg_type);
		strbuf_puts(b, ", cmsg_data=");
		if (len > n - at)
			len = n - at;
		control_data(h.cmsg_level, h.cmsg_type, p + at + sizeof(h), len - sizeof(h), b);
		strbuf_putc(b, '}');
		at += (len + 7) & ~(size_t)7;
	}
	strbuf_puts(b, whole > n ? ", ...]" : "]");
}
