/* SPDX-License-Identifier: MIT */
/* Addresses of sockets, and sets of signals. */
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/un.h>

#include "view/trace/names.h"
#include "view/trace/trace.h"

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

void trace_sigset(uint64_t set, struct strbuf *b)
{
	bool inverse = __builtin_popcountll(set) > 40, any = false;

	if (inverse) {
		set = ~set;
		strbuf_putc(b, '~');
	}
	strbuf_putc(b, '[');
	for (int i = 1; i <= 64; i++) {
		size_t at;

		if (!(set >> (i - 1) & 1))
			continue;
		if (any)
			strbuf_putc(b, ' ');
		any = true;
		at = b->n;
		trace_names_signal(i, b);
		if (str_starts(b->data + at, "SIG")) { /* strace leaves it out in sets */
			memmove(b->data + at, b->data + at + 3, b->n - at - 3 + 1);
			b->n -= 3;
		}
	}
	strbuf_putc(b, ']');
}
