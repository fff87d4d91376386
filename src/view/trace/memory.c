/* SPDX-License-Identifier: MIT */
/* Arguments that lead to memory: what was read of it, or the address. */
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "view/trace/names.h"
#include "view/trace/trace.h"

/* What was read of it, at least so much; NULL: there is not, and its address is shown. */
static const struct trace_piece *known(const struct trace_record *r, const void *data, unsigned i,
				       enum trace_take take, size_t least, struct strbuf *b)
{
	const struct trace_piece *p = trace_piece(r, data, i, take, 0);

	if (p && p->n >= least)
		return p;
	trace_pointer(r->arg[i], b);
	return NULL;
}

/* Words of the size that pointers have in the program. */
static void words_at(const struct trace_record *r, const void *from, uint64_t *ret, size_t n)
{
	uint32_t v;

	if (!r->abi)
		memcpy(ret, from, n * sizeof(*ret));
	for (size_t k = 0; r->abi && k < n; k++) {
		memcpy(&v, (const char *)from + k * sizeof(v), sizeof(v));
		ret[k] = v;
	}
}

static void text_arg(const struct trace_record *r, const void *data, unsigned i, struct strbuf *b)
{
	const struct trace_piece *p = known(r, data, i, TRACE_TAKE_STRING, 1, b);

	if (p)
		trace_string(p + 1, p->n - 1u,
			     p->n == TRACE_PATH || (r->flags & TRACE_CUT && p->n == TRACE_STRING)
				     ? p->n
				     : 0,
			     b);
}

static void buffer_arg(const struct trace_record *r, const void *data, unsigned i,
		       const struct syscall_arg *a, struct strbuf *b)
{
	const struct trace_piece *p = known(r, data, i, TRACE_TAKE_BUFFER, 0, b);
	uint64_t whole = a->ref >= 0 ? r->arg[a->ref] : 0;
	int v;

	if (!p)
		return;
	if (a->type == SYSCALL_OUT && r->ret >= 0 && (uint64_t)r->ret < whole)
		whole = (uint64_t)r->ret;
	if (a->set[0] && trace_sockopt(r, p + 1, p->n, b))
		return;
	if (a->set[0] && p->n == sizeof(v)) { /* a socket's option, mostly a number */
		memcpy(&v, p + 1, sizeof(v));
		strbuf_printf(b, "[%d]", v);
	} else if (p->exit && p->n && ((const char *)(p + 1))[p->n - 1] == '\0' && whole == p->n &&
		   memchr(p + 1, '\0', p->n) == (const char *)(p + 1) + p->n - 1) {
		trace_string(p + 1, p->n - 1u, 0, b); /* a string with its end (getcwd) */
	} else {
		trace_string(p + 1, p->n, whole, b);
	}
}

static void strings_arg(const struct trace_record *r, const void *data, unsigned i,
			struct strbuf *b)
{
	const struct trace_piece *p = trace_piece(r, data, i, TRACE_TAKE_EXEC, 0);
	unsigned k = 0;

	if (p) {
		const char *s = (const char *)(p + 1);
		size_t left = p->n;

		strbuf_putc(b, '[');
		while (left) {
			const char *end = memchr(s, '\0', left);
			size_t n = end ? (size_t)(end - s) : left;

			if (s != (const char *)(p + 1))
				strbuf_puts(b, ", ");
			trace_string(s, n, end ? 0 : n + 1, b);
			s += n + (end != NULL);
			left -= n + (end != NULL);
		}
		strbuf_putc(b, ']');
		return;
	}
	p = known(r, data, i, TRACE_TAKE_STRINGS, 0, b);
	if (!p)
		return;
	strbuf_putc(b, '[');
	for (; p; p = trace_piece(r, data, i, TRACE_TAKE_STRINGS, ++k)) {
		if (k)
			strbuf_puts(b, ", ");
		if (p->n)
			trace_string(p + 1, p->n - 1u, p->n == TRACE_STRING ? p->n : 0, b);
	}
	strbuf_puts(b, r->flags & TRACE_CUT ? ", ...]" : "]");
}

/* n: how many the program named; only the first are known. */
static void vectors(const struct trace_record *r, const void *data, unsigned i, uint64_t n,
		    struct strbuf *b)
{
	const struct trace_piece *p = trace_piece(r, data, i, TRACE_TAKE_VECTORS, 0), *q;
	size_t size = r->abi ? 8 : 16, known = p ? p->n / size : 0;

	if (!p) {
		strbuf_puts(b, "?");
		return;
	}
	strbuf_putc(b, '[');
	for (size_t k = 0; k < known; k++) {
		uint64_t v[2];

		words_at(r, (const char *)(p + 1) + k * size, v, 2);
		strbuf_puts(b, k ? ", {iov_base=" : "{iov_base=");
		q = trace_piece(r, data, i, TRACE_TAKE_IOV_DATA, (unsigned)k);
		if (q)
			trace_string(q + 1, q->n, q->exit ? q->n : v[1], b);
		else
			trace_pointer(v[0], b);
		strbuf_printf(b, ", iov_len=%llu}", (unsigned long long)v[1]);
	}
	strbuf_puts(b, n > known ? ", ...]" : "]");
}

static void message(const struct trace_record *r, const void *data, unsigned i, struct strbuf *b)
{
	uint64_t m[7];
	const struct trace_piece *p = known(r, data, i, TRACE_TAKE_MESSAGE,
					    r->abi ? sizeof(m) / 2 : sizeof(m), b),
				 *q;

	if (!p)
		return;
	words_at(r, p + 1, m, 7);
	strbuf_puts(b, "{msg_name=");
	q = trace_piece(r, data, i, TRACE_TAKE_POINTED, 0);
	if (q)
		trace_sockaddr(q + 1, q->n, b);
	else
		trace_pointer(m[0], b);
	strbuf_printf(b, ", msg_namelen=%u, msg_iov=", (unsigned)m[1]);
	vectors(r, data, i, m[3], b);
	strbuf_printf(b, ", msg_iovlen=%llu", (unsigned long long)m[3]);
	q = trace_piece(r, data, i, TRACE_TAKE_POINTED, 1);
	if (q && !r->abi) {
		strbuf_puts(b, ", msg_control=");
		trace_control(q + 1, q->n, m[5], b);
	}
	strbuf_printf(b, ", msg_controllen=%llu, msg_flags=", (unsigned long long)m[5]);
	trace_names_flags("msg", (uint32_t)m[6], b);
	strbuf_putc(b, '}');
}

static void address_arg(const struct trace_record *r, const void *data, unsigned i,
			const struct syscall_arg *a, struct strbuf *b)
{
	bool out = a->type == SYSCALL_ADDR_OUT;
	const struct trace_piece *p =
		trace_piece(r, data, i, out ? TRACE_TAKE_POINTED : TRACE_TAKE_ARRAY, 0);
	const struct trace_piece *room =
		out ? trace_piece_before(r, data, (unsigned)a->ref, TRACE_TAKE_MEMORY) : NULL;
	size_t n = p ? p->n : 0;
	int v;

	if (room && room->n == sizeof(v)) { /* the call names all there is, and fills what fits */
		memcpy(&v, room + 1, sizeof(v));
		n = v >= 0 && (size_t)v < n ? (size_t)v : n;
	}
	if (!p || (!n && !r->arg[i])) {
		trace_pointer(r->arg[i], b);
	} else if (a->set[0] && trace_sockopt(r, p + 1, n, b)) {
		return;
	} else if (a->set[0] && n == sizeof(v)) {
		memcpy(&v, p + 1, sizeof(v));
		strbuf_printf(b, "[%d]", v);
	} else if (a->set[0]) {
		trace_string(p + 1, n, n, b);
	} else {
		trace_sockaddr(p + 1, n, b);
	}
}

/* Before the call and, where it is another, after it. */
static void length_arg(const struct trace_record *r, const void *data, unsigned i, struct strbuf *b)
{
	const struct trace_piece *p = known(r, data, i, TRACE_TAKE_MEMORY, 4, b),
				 *before = trace_piece_before(r, data, i, TRACE_TAKE_MEMORY);
	int from, to;

	if (!p)
		return;
	memcpy(&to, p + 1, sizeof(to));
	memcpy(&from, before ? before + 1 : p + 1, sizeof(from));
	strbuf_printf(b, "[%d", from);
	if (from != to)
		strbuf_printf(b, " => %d", to);
	strbuf_putc(b, ']');
}

static void wait_status(int s, struct strbuf *b)
{
	if (WIFEXITED(s)) {
		strbuf_printf(b, "[{WIFEXITED(s) && WEXITSTATUS(s) == %d}]", WEXITSTATUS(s));
	} else if (WIFSIGNALED(s)) {
		strbuf_puts(b, "[{WIFSIGNALED(s) && WTERMSIG(s) == ");
		trace_names_signal(WTERMSIG(s), b);
		strbuf_puts(b, WCOREDUMP(s) ? " && WCOREDUMP(s)}]" : "}]");
	} else if (WIFSTOPPED(s)) {
		strbuf_puts(b, "[{WIFSTOPPED(s) && WSTOPSIG(s) == ");
		trace_names_signal(WSTOPSIG(s), b);
		strbuf_puts(b, "}]");
	} else if (WIFCONTINUED(s)) {
		strbuf_puts(b, "[{WIFCONTINUED(s)}]");
	} else {
		strbuf_printf(b, "[%d]", s);
	}
}

static void memory_arg(const struct trace_record *r, const void *data, unsigned i,
		       const struct syscall_arg *a, struct strbuf *b)
{
	const struct trace_piece *p = known(r, data, i, TRACE_TAKE_MEMORY, 4, b);
	int v[2] = { 0 };
	uint64_t set = 0;

	if (!p)
		return;
	memcpy(v, p + 1, p->n < sizeof(v) ? p->n : sizeof(v));
	memcpy(&set, p + 1, p->n < sizeof(set) ? p->n : sizeof(set));
	if (a->type == SYSCALL_PAIR) {
		strbuf_putc(b, '[');
		trace_descriptor(r, data, i, 0, v[0], b);
		strbuf_puts(b, ", ");
		trace_descriptor(r, data, i, 1, v[1], b);
		strbuf_putc(b, ']');
	} else if (a->type == SYSCALL_SIGSET || a->type == SYSCALL_SIGSET_OUT)
		trace_sigset(set, b);
	else if (strcmp(a->set, "mpol") == 0) {
		strbuf_putc(b, '[');
		trace_names_flags(a->set, (uint32_t)v[0], b);
		strbuf_putc(b, ']');
	} else if (strcmp(a->name, "status") == 0 && r->ret == 0)
		trace_pointer(r->arg[i], b);
	else if (strcmp(a->name, "status") == 0)
		wait_status(v[0], b);
	else
		strbuf_printf(b, "[%d]", v[0]);
}

static void cpus_arg(const struct trace_record *r, const void *data, unsigned i, struct strbuf *b)
{
	const struct trace_piece *p = known(r, data, i, TRACE_TAKE_BUFFER, 0, b);

	if (p)
		trace_bits((const uint8_t *)(p + 1), p->n * 8ull, b);
}

/* As many as the call takes, which the argument before it names. */
static void words_arg(const struct trace_record *r, const void *data, unsigned i, struct strbuf *b)
{
	static const uint8_t count[] = { 0, 3, 3, 3, 2, 3, 3, 3, 4, 4, 4,
					 6, 6, 2, 5, 5, 3, 3, 4, 5, 4 };
	unsigned n = r->arg[0] < ARRAY_SIZE(count) ? count[r->arg[0]] : 6;
	uint32_t v[6];
	const struct trace_piece *p = known(r, data, i, TRACE_TAKE_MEMORY, sizeof(v), b);

	if (!p)
		return;
	memcpy(v, p + 1, sizeof(v));
	strbuf_putc(b, '[');
	for (unsigned k = 0; k < n; k++)
		strbuf_printf(b, v[k] > 0xffff ? "%s0x%x" : "%s%u", k ? ", " : "", v[k]);
	strbuf_putc(b, ']');
}

/* Of utimensat: when it was used, and when it was changed. */
static void times_arg(const struct trace_words *w, const struct trace_record *r, const void *data,
		      unsigned i, struct strbuf *b)
{
	int64_t t[4];
	int32_t t32[4];
	const struct trace_piece *p = known(r, data, i, TRACE_TAKE_MEMORY, sizeof(t), b);
	char buf[24];

	if (!p)
		return;
	memcpy(t, p + 1, sizeof(t));
	memcpy(t32, p + 1, sizeof(t32));
	for (int k = 0; k < 4 && r->abi && !str_ends(trace_call_name(w, r, buf), "64"); k++)
		t[k] = t32[k];
	for (int k = 0; k < 2; k++) {
		strbuf_puts(b, k ? ", " : "[");
		if (t[2 * k + 1] == UTIME_NOW)
			strbuf_puts(b, "UTIME_NOW");
		else if (t[2 * k + 1] == UTIME_OMIT)
			strbuf_puts(b, "UTIME_OMIT");
		else
			strbuf_printf(b, "{tv_sec=%lld, tv_nsec=%lld}", (long long)t[2 * k],
				      (long long)t[2 * k + 1]);
	}
	strbuf_putc(b, ']');
}

/* Which of the many things that a signal may tell. */
static void siginfo(const uint8_t *from, bool is32, struct strbuf *b)
{
	int v[7]; /* signal, error, code, - (not of 32 bits), process, user, status */

	memcpy(v, from, sizeof(v));
	if (is32)
		memcpy(v + 4, from + 12, 12);
	strbuf_puts(b, "{si_signo=");
	trace_names_signal(v[0], b);
	strbuf_puts(b, ", si_code=");
	trace_names_enum(v[0] == SIGCHLD && v[2] > 0 ? "cld" : "si_code", (uint32_t)v[2], b);
	if (v[2] <= 0 || v[0] == SIGCHLD)
		strbuf_printf(b, ", si_pid=%d, si_uid=%d", v[4], v[5]);
	if (v[0] == SIGCHLD) {
		strbuf_puts(b, ", si_status=");
		if (v[2] == CLD_EXITED)
			strbuf_printf(b, "%d", v[6]);
		else
			trace_names_signal(v[6], b);
	}
	strbuf_puts(b, ", ...}");
}

static void struct_arg(struct trace_words *w, const struct trace_record *r, const void *data,
		       unsigned i, const struct syscall_arg *a, struct strbuf *b)
{
	bool list = a->type == SYSCALL_ARRAY || a->type == SYSCALL_ARRAY_IO ||
		    a->type == SYSCALL_RESULTS;
	const struct trace_piece *p = trace_piece(r, data, i,
						  a->type == SYSCALL_RESULTS ? TRACE_TAKE_RESULTS
						  : list		     ? TRACE_TAKE_ARRAY
									     : TRACE_TAKE_MEMORY,
						  0);
	char buf[24];
	uint32_t type = tracer_struct(w->structs, r->abi, trace_call_name(w, r, buf), a->set);
	uint64_t size = type ? btf_size(w->types, type) : 0, n;
	const uint8_t *from = p ? (const uint8_t *)(p + 1) : NULL;

	if (!p || !type || !size || (a->type == SYSCALL_STRUCT_LEFT && r->ret >= 0)) {
		trace_pointer(r->arg[i], b);
		return;
	}
	if (!list && strcmp(a->set, "siginfo") == 0 && p->n >= 28) {
		siginfo(from, r->abi, b);
		return;
	}
	if (!list) {
		bool bare = btf_kind(w->types, btf_strip(w->types, type)) == BTF_KIND_INT;

		strbuf_puts(b, bare ? "[" : "");
		trace_struct(w, type, a->set, from, p->n, b);
		strbuf_puts(b, bare ? "]" : "");
		return;
	}
	n = a->type == SYSCALL_RESULTS ? (r->ret > 0 ? (uint64_t)r->ret : 0)
	    : a->ref >= 0	       ? r->arg[a->ref]
				       : 0;
	strbuf_putc(b, '[');
	for (uint64_t k = 0; k < n && (k + 1) * size <= p->n; k++) {
		strbuf_puts(b, k ? ", " : "");
		if (strcmp(a->set, "pollfd") == 0 && size == sizeof(struct pollfd))
			trace_pollfd(r, data, i, (unsigned)k, from + k * size, b);
		else
			trace_struct(w, type, a->set, from + k * size, size, b);
	}
	strbuf_puts(b, n * size > p->n ? ", ...]" : "]");
}

bool trace_memory(struct trace_words *w, const struct trace_record *r, const void *data, unsigned i,
		  const struct syscall_arg *a, struct strbuf *b)
{
	switch (a->type) {
	case SYSCALL_PATH: text_arg(r, data, i, b); return true;
	case SYSCALL_BUF:
	case SYSCALL_OUT: buffer_arg(r, data, i, a, b); return true;
	case SYSCALL_ARGV: strings_arg(r, data, i, b); return true;
	case SYSCALL_ADDR:
	case SYSCALL_ADDR_OUT: address_arg(r, data, i, a, b); return true;
	case SYSCALL_LENGTH: length_arg(r, data, i, b); return true;
	case SYSCALL_INT_OUT:
	case SYSCALL_PAIR:
	case SYSCALL_SIGSET:
	case SYSCALL_SIGSET_OUT: memory_arg(r, data, i, a, b); return true;
	case SYSCALL_IOV:
	case SYSCALL_IOV_OUT:
		if (trace_piece(r, data, i, TRACE_TAKE_VECTORS, 0))
			vectors(r, data, i, a->ref >= 0 ? r->arg[a->ref] : 0, b);
		else
			trace_pointer(r->arg[i], b);
		return true;
	case SYSCALL_MSG:
	case SYSCALL_MSG_OUT: message(r, data, i, b); return true;
	case SYSCALL_STRUCT:
	case SYSCALL_STRUCT_OUT:
	case SYSCALL_STRUCT_IO:
	case SYSCALL_STRUCT_LEFT:
	case SYSCALL_ARRAY:
	case SYSCALL_ARRAY_IO:
	case SYSCALL_RESULTS: struct_arg(w, r, data, i, a, b); return true;
	case SYSCALL_FDSET: trace_fdset(r, data, i, a, b); return true;
	case SYSCALL_CPUS:
	case SYSCALL_CPUS_OUT: cpus_arg(r, data, i, b); return true;
	case SYSCALL_TIMES: times_arg(w, r, data, i, b); return true;
	case SYSCALL_WORDS: words_arg(r, data, i, b); return true;
	default: return false;
	}
}
