/* SPDX-License-Identifier: MIT */
/* System calls in words: tables that agree with each other, and each kind of argument. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "calc/time/syscalls.h"
#include "tap.h"
#include "view/trace/names.h"
#include "view/trace/trace.h"

static struct trace_words words;

/* Every call that has a line in the table makes sense: types that exist, sets that exist, arguments
 * that are there. */
static void tables(void)
{
	unsigned known = 0, bad = 0;

	for (int abi = 0; abi < SYSCALL_ABIS; abi++)
		for (int i = 0; i < SYSCALL_MAX; i++) {
			const char *name = syscall_name(abi, i);
			struct syscall_sig s;

			if (!name)
				continue;
			if (syscall_number(abi, name) != i && strcmp(name, "umount") != 0) {
				printf("# %s is not number %d\n", name, i);
				bad++;
			}
			syscall_sig_of(abi, name, &s);
			known += s.known;
			bad += s.ret == SYSCALL_TYPES;
			for (unsigned k = 0; s.known && k < s.n; k++) {
				const struct syscall_arg *a = &s.arg[k];
				bool named = a->type == SYSCALL_FLAGS || a->type == SYSCALL_ENUM;

				if (a->type == SYSCALL_TYPES || a->ref >= (int)s.n ||
				    (named && !trace_names_find(a->set))) {
					printf("# %s: argument %s\n", name, a->name);
					bad++;
				}
			}
		}
	CHECK(bad == 0);
	CHECK(known > 1000);
	CHECK_STR(syscall_name(SYSCALL_X86_64, 257), "openat");
	CHECK_STR(syscall_name(SYSCALL_I386, 5), "open");
	CHECK_STR(syscall_name(SYSCALL_AARCH64, 56), "openat");
	CHECK_STR(syscall_name(SYSCALL_ARM, 322), "openat");
	CHECK_STR(syscall_name(SYSCALL_X86_64, 469), "file_setattr");
	CHECK(!syscall_name(SYSCALL_X86_64, -1) && !syscall_name(SYSCALL_X86_64, 5000));
	CHECK(syscall_number(SYSCALL_X86_64, "newfstat") == 5);
	CHECK(syscall_number(SYSCALL_X86_64, "nothing") == -1);
	CHECK(syscall_group("file") == SYSCALL_FILE && syscall_group("net") == SYSCALL_NETWORK);
	CHECK(syscall_group("x") == 0);
}

#define FLAGS(set, v, want)                      \
	do {                                     \
		struct strbuf f = { 0 };         \
		trace_names_flags(set, v, &f);   \
		CHECK_STR(strbuf_str(&f), want); \
		strbuf_free(&f);                 \
	} while (0)

static void names(void)
{
	struct strbuf b = { 0 };

	FLAGS("open", O_RDONLY, "O_RDONLY");
	FLAGS("open", O_WRONLY | O_CREAT | O_APPEND, "O_WRONLY|O_CREAT|O_APPEND");
	FLAGS("open", O_RDWR | 0x40000000, "O_RDWR|0x40000000");
	FLAGS("prot", 0, "PROT_NONE");
	FLAGS("prot", 5, "PROT_READ|PROT_EXEC");
	FLAGS("map", 0x22, "MAP_PRIVATE|MAP_ANONYMOUS");
	FLAGS("access", 0, "F_OK");
	FLAGS("msg", 0, "0");
	FLAGS("socktype", SOCK_DGRAM | SOCK_NONBLOCK, "SOCK_DGRAM|SOCK_NONBLOCK");
	FLAGS("no such set", 0x12, "0x12");
	trace_names_enum("whence", 2, &b);
	CHECK_STR(strbuf_str(&b), "SEEK_END");
	strbuf_reset(&b);
	trace_names_enum("whence", 99, &b);
	CHECK_STR(strbuf_str(&b), "99");
	strbuf_reset(&b);
	trace_names_mode(0100644, &b);
	CHECK_STR(strbuf_str(&b), "S_IFREG|0644");
	strbuf_reset(&b);
	trace_names_mode(04755, &b);
	CHECK_STR(strbuf_str(&b), "S_ISUID|0755");
	strbuf_reset(&b);
	trace_names_signal(15, &b);
	trace_names_signal(0, &b);
	trace_names_signal(40, &b);
	CHECK_STR(strbuf_str(&b), "SIGTERM0SIGRT_8");
	strbuf_reset(&b);
	trace_sigset(1u << 1 | 1u << 14, &b);
	trace_sigset(~0ull, &b);
	CHECK_STR(strbuf_str(&b), "[INT TERM]~[]");
	CHECK_STR(trace_names_error(ENOENT), "ENOENT");
	CHECK_STR(trace_names_error(512), "ERESTARTSYS");
	CHECK(!trace_names_error(4000));
	strbuf_free(&b);
}

/* Numbers of 64 bits that programs of 32 bits hand over in two; anything as control messages. */
static void narrow(void)
{
	struct syscall_sig s;
	struct strbuf b = { 0 };
	const uint8_t one[] = { 20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
				1,  0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0 };
	uint8_t bad[24];

	syscall_sig_of(SYSCALL_I386, "pread64", &s);
	CHECK(s.known && s.n == 5 && s.arg[3].type == SYSCALL_POS &&
	      s.arg[4].type == SYSCALL_POS_HIGH);
	syscall_sig_of(SYSCALL_ARM, "pread64", &s);
	CHECK(s.known && s.n == 6 && s.arg[4].type == SYSCALL_POS);
	syscall_sig_of(SYSCALL_X86_64, "pread64", &s);
	CHECK(s.known && s.n == 4 && s.arg[3].type == SYSCALL_LONG);
	syscall_sig_of(SYSCALL_I386, "clone", &s);
	CHECK_STR(s.arg[4].name, "child_tid");
	syscall_sig_of(SYSCALL_AARCH64, "clone", &s);
	CHECK_STR(s.arg[3].name, "tls");
	trace_control(one, sizeof(one), sizeof(one), &b);
	CHECK_STR(strbuf_str(&b),
		  "[{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[4]}]");
	for (unsigned n = 0; n <= sizeof(one); n++)
		for (unsigned at = 0; at < 8; at++) {
			memcpy(bad, one, sizeof(bad));
			bad[at] = 0xff;
			strbuf_reset(&b);
			trace_control(bad, n, 500, &b);
			CHECK(strbuf_str(&b)[0] == '[');
		}
	strbuf_free(&b);
}

static void strings(void)
{
	struct strbuf b = { 0 };
	const uint8_t in6[28] = { 10, 0, 0, 80, 0, 0, 0, 0, [23] = 1, [24] = 3 };

	trace_string("a\"\\\n\001\0012\377", 8, 9, &b);
	CHECK_STR(strbuf_str(&b), "\"a\\\"\\\\\\n\\1\\0012\\377\"...");
	strbuf_reset(&b);
	trace_escape("a\033[1m\"\n", 7, false, &b);
	CHECK_STR(strbuf_str(&b), "a\\33[1m\"\\n");
	strbuf_reset(&b);
	trace_sockaddr(in6, sizeof(in6), &b);
	CHECK_STR(strbuf_str(&b),
		  "{sa_family=AF_INET6, sin6_port=htons(80), sin6_flowinfo=htonl(0), "
		  "inet_pton(AF_INET6, \"::1\", &sin6_addr), sin6_scope_id=3}");
	strbuf_reset(&b);
	trace_sockaddr("\1\0\0name", 7, &b);
	CHECK_STR(strbuf_str(&b), "{sa_family=AF_UNIX, sun_path=@\"name\"}");
	strbuf_reset(&b);
	trace_sockaddr("\1", 1, &b);
	trace_sockaddr("\2\0ab", 4, &b);
	CHECK_STR(strbuf_str(&b), "{}{sa_family=AF_INET, sa_data=\"ab\"}");
	strbuf_free(&b);
}

static const char *line(const struct trace_record *r, const void *data, struct out *o)
{
	o->n = 0;
	trace_text_call(&(struct trace_lines){ .words = &words, .out = o }, r, data);
	out_putc(o, '\0');
	return strchr(o->data, '/') + 1;
}

/* A record with a path, one whose pieces are cut short, one without any. */
static void calls(void)
{
	struct {
		struct trace_record r;
		struct trace_piece p;
		char text[8];
	} c = { .r = { .nr = syscall_number(syscall_native(), "openat"),
		       .tid = 7,
		       .arg = { (uint32_t)AT_FDCWD, 0x1000, O_RDONLY },
		       .ret = -ENOENT,
		       .comm = "x",
		       .n = sizeof(c.p) + 5 },
		.p = { .arg = 1, .take = TRACE_TAKE_STRING, .n = 5 },
		.text = "/etc" };
	struct out o;

	out_init(&o, -1);
	CHECK_STR(line(&c.r, &c.p, &o),
		  "7 openat(AT_FDCWD, \"/etc\", O_RDONLY) = -1 ENOENT (No such "
		  "file or directory)\n");
	c.r.n--;
	CHECK_STR(line(&c.r, &c.p, &o), "7 openat(AT_FDCWD, 0x1000, O_RDONLY) = -1 ENOENT (No such "
					"file or directory)\n");
	c.r.n = 3;
	c.r.kind = TRACE_UNFINISHED;
	CHECK_STR(line(&c.r, &c.p, &o),
		  "7 openat(AT_FDCWD, 0x1000, O_RDONLY) = ? <unfinished ...>\n");
	c.r.n = 0;
	c.r.kind = TRACE_CALL;
	c.r.ret = -517;
	CHECK_STR(line(&c.r, &c.p, &o), "7 openat(AT_FDCWD, 0x1000, O_RDONLY) = -1 EPROBE_DEFER "
					"(Driver requests probe retry)\n");
	c.r.ret = -4000;
	CHECK_STR(line(&c.r, &c.p, &o), "7 openat(AT_FDCWD, 0x1000, O_RDONLY) = -1 4000\n");
	out_free(&o);
}

static void sums(void)
{
	struct syscalls s = { 0 };
	struct trace_sum_key key = { .id = 3, .nr = 1 };
	const struct syscalls_row *r;

	for (uint64_t i = 1; i <= 4; i++)
		syscalls_add_call(&s, &key, i * 5000000000u, i == 4 ? -EBADF : 0);
	syscalls_name(&s, 3, "a name that is too long");
	syscalls_finish(&s);
	r = &s.tasks.data[0].rows.data[0];
	CHECK(s.calls == 4 && s.tasks.n == 1 && r->sum.calls == 4 && r->sum.errors == 1);
	CHECK(r->sum.min == 5000000000u && r->sum.max == 20000000000u && r->sum.ns == 50000000000u);
	CHECK(r->errors.n == 1 && r->errors.data[0].error == EBADF && r->errors.data[0].count == 1);
	/* 5, 10, 15, 20: mean 12.5, deviation 6.455, of the mean 3.227 */
	CHECK(syscalls_deviation(&r->sum) > 25.81 && syscalls_deviation(&r->sum) < 25.83);
	CHECK_STR(s.tasks.data[0].comm, "a name that is ");
	syscalls_free(&s);
}

int main(void)
{
	trace_words_init(&words, NULL);
	tables();
	names();
	strings();
	narrow();
	calls();
	sums();
	trace_words_free(&words);
	return tap_end();
}
