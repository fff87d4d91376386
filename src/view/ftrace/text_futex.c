/* SPDX-License-Identifier: MIT */
/* futex system calls: which of the arguments mean something, by operation. */
#include <inttypes.h>

#include "view/ftrace/text_impl.h"

#define COMMAND 0x7fu
#define PRIVATE 0x80u
#define REALTIME 0x100u

enum {
	HEX_VAL = 1,
	VAL = 2,
	UTIME = 4,
	VAL2 = 8,
	UADDR2 = 16,
	VAL3 = 32,
};

static const struct {
	const char *name;
	unsigned args;
} commands[] = {
	{ "FUTEX_WAIT", HEX_VAL | UTIME },
	{ "FUTEX_WAKE", VAL },
	{ "FUTEX_FD", VAL },
	{ "FUTEX_REQUEUE", VAL | VAL2 | UADDR2 },
	{ "FUTEX_CMP_REQUEUE", VAL | VAL2 | UADDR2 | VAL3 },
	{ "FUTEX_WAKE_OP", VAL | VAL2 | UADDR2 | VAL3 },
	{ "FUTEX_LOCK_PI", UTIME },
	{ "FUTEX_UNLOCK_PI", 0 },
	{ "FUTEX_TRYLOCK_PI", 0 },
	{ "FUTEX_WAIT_BITSET", HEX_VAL | UTIME | VAL3 },
	{ "FUTEX_WAKE_BITSET", VAL | VAL3 },
	{ "FUTEX_WAIT_REQUEUE_PI", HEX_VAL | UTIME | UADDR2 | VAL3 },
	{ "FUTEX_CMP_REQUEUE_PI", VAL | VAL2 | UADDR2 | VAL3 },
};

enum { FX_UADDR, FX_OP, FX_VAL, FX_UTIME, FX_UADDR2, FX_VAL3 };

static void put_arg(struct ftrace_text *t, const struct event *ev, int which, const char *name,
		    bool hex)
{
	uint64_t v;

	if (ftrace_text_number(t->now->field[which], ev, &v))
		strbuf_printf(&t->b, hex ? " %s=0x%08" PRIx64 : " %s=%" PRIu64, name, v);
}

bool ftrace_put_futex(struct ftrace_text *t, const struct event *ev)
{
	uint64_t op;
	unsigned args;

	if (!ftrace_text_number(t->now->field[FX_OP], ev, &op) ||
	    (op & COMMAND) >= ARRAY_SIZE(commands))
		return true;
	args = commands[op & COMMAND].args;
	strbuf_printf(&t->b, "op=%s%s%s", commands[op & COMMAND].name,
		      op & PRIVATE ? "|FUTEX_PRIVATE_FLAG" : "",
		      op & REALTIME ? "|FUTEX_CLOCK_REALTIME" : "");
	put_arg(t, ev, FX_UADDR, "uaddr", true);
	if (args & (VAL | HEX_VAL))
		put_arg(t, ev, FX_VAL, "val", args & HEX_VAL);
	if (args & UTIME)
		put_arg(t, ev, FX_UTIME, "utime", true);
	if (args & VAL2)
		put_arg(t, ev, FX_UTIME, "val2", false);
	if (args & UADDR2)
		put_arg(t, ev, FX_UADDR2, "uaddr2", true);
	if (args & VAL3)
		put_arg(t, ev, FX_VAL3, "val3", true);
	return false;
}
