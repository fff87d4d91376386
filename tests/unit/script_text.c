/* SPDX-License-Identifier: MIT */
/* Reading perf script's text: headers in all their forms, frames, what is refused and with which
 * line. */
#include <stdlib.h>

#include "base/str.h"
#include "store/text/folded.h"
#include "store/text/script_text.h"
#include "tap.h"
#include "unfold.h"

static void put_word(struct strbuf *b, struct text_part w)
{
	strbuf_printf(b, "%.*s", w.s ? (int)w.n : 1, w.s ? w.s : "-");
}

/* Everything that was read, as text: "comm pid/tid cpu time period event|frames|...". */
static int see(void *ctx, const struct script_sample *s, struct err *e)
{
	struct strbuf *b = ctx;

	(void)e;
	put_word(b, s->comm);
	strbuf_printf(b, " %d/%d %d %lld %lld ", s->pid, s->tid, (int)s->cpu,
		      s->timed ? (long long)s->time : -1, s->counted ? (long long)s->period : -1);
	put_word(b, s->event);
	for (size_t i = 0; i < s->n; i++) {
		strbuf_printf(b, "|%llx ", (unsigned long long)s->frame[i].addr);
		put_word(b, s->frame[i].name);
		strbuf_puts(b, s->frame[i].inlined ? "(i) " : " ");
		put_word(b, s->frame[i].file);
	}
	strbuf_putc(b, '\n');
	return 0;
}

static void reads(const char *text, const char *want)
{
	struct strbuf b = { 0 };
	struct err e = { 0 };
	int r = script_text_read("f", text, strlen(text), see, &b, &e);

	CHECK_CASE(r == 0, "reads '%.60s' (%.80s)", text, r ? e.msg : "ok");
	CHECK_STR(strbuf_str(&b), want);
	CHECK_CASE(!*text || script_text_looks(text, strlen(text)), "knows '%.60s'", text);
	strbuf_free(&b);
}

static void refuses(const char *text, size_t n, const char *part)
{
	struct strbuf b = { 0 };
	struct err e = { 0 };
	int r = script_text_read("f", text, n, see, &b, &e);

	CHECK_CASE(r < 0 && strstr(e.msg, part), "refuses with '%s' (got %d '%.80s')", part, r,
		   e.msg);
	strbuf_free(&b);
}

static void test_headers(void)
{
	reads("", "");
	reads("sh  46  68.620063:    2004 cpu-clock: \n\n",
	      "sh -1/46 -1 68620063000 2004 cpu-clock\n");
	reads("sh 45/46 [012] 68.620063123: 7 cycles:P:\n", "sh 45/46 12 68620063123 7 cycles:P\n");
	reads("Web Content 3 46 1.5: 1 cycles:\n", "Web Content 3 -1/46 -1 1500000000 1 cycles\n");
	reads("a [b] 1 : c 46 [000] 1.0: cycles:\n", "a [b] 1 : c -1/46 0 1000000000 -1 cycles\n");
	reads(":-1    -1 [000] 1.0: cycles:\r\n", ":-1 -1/-1 0 1000000000 -1 cycles\n");
	reads("sh 46 1.0: 100\n\t1 f (x)\n", "sh -1/46 -1 1000000000 100 -|1 f x\n");
	reads("sh 45/46 1.0:\n\t1 f (x)\n", "sh 45/46 -1 1000000000 -1 -|1 f x\n");
	reads("sh 46 cycles:\n\t1 f (x)\n", "sh -1/46 -1 -1 -1 cycles|1 f x\n");
	reads("sh 46\n\t1 f (x)\n", "sh -1/46 -1 -1 -1 -|1 f x\n");
	reads("# ========\n# cmdline : perf\n#\nsh 4 1.0: e:\n", "sh -1/4 -1 1000000000 -1 e\n");
	reads("sh 4 1.0: PERF_RECORD_COMM: sh:4/4\nsh 4 2.0: e:\n", "sh -1/4 -1 2000000000 -1 e\n");
}

static void test_one_line(void)
{
	reads("  true 14 7.1:  100 cpu-clock:  ff [unknown] ([kernel.kallsyms])\n"
	      "    dd 15 7.2:  100 cpu-clock:  7f8 a.b.0+0x5e8 (/lib/ld.so)\n",
	      "true -1/14 -1 7100000000 100 cpu-clock|ff - [kernel.kallsyms]\n"
	      "dd -1/15 -1 7200000000 100 cpu-clock|7f8 a.b.0 /lib/ld.so\n");
	reads("sh 4 1.0: 9  7f8 f+0x1 (/x)\n", "sh -1/4 -1 1000000000 9 -|7f8 f /x\n");
	/* a tracepoint's words are no code, whatever they look like */
	reads("sh 4 [001] 1.0: sched:x: add b (c)\n\t 1 f (/x)\n dd 5 [001] 2.0: sched:x: a=1\n",
	      "sh -1/4 1 1000000000 -1 sched:x|1 f /x\ndd -1/5 1 2000000000 -1 sched:x\n");
}

static void test_frames(void)
{
	reads("sh 4 1.0: e:\n"
	      "\t        167ad8 __strlen_evex+0x18 (/usr/lib/libc.so.6)\n"
	      "\t          9e90 [unknown] (/usr/bin/dash)\n"
	      "\t             0 [unknown] ([unknown])\n"
	      "\t            10 third (inlined)\n"
	      "\t            11 operator new(unsigned long, int (*)(char))+0x1f (/a b (deleted))\n"
	      "  main.c:12\n"
	      "              12 std::map<int, x (y)>::z+0x2\n"
	      "              ad  (/x)\n"
	      "              ae\n"
	      "\n"
	      "sh 4 2.0: e:\n",
	      "sh -1/4 -1 1000000000 -1 e|167ad8 __strlen_evex /usr/lib/libc.so.6"
	      "|9e90 - /usr/bin/dash|0 - -|10 third(i) -"
	      "|11 operator new(unsigned long, int (*)(char)) /a b (deleted)"
	      "|12 std::map<int, x (y)>::z -|ad - /x|ae - -\n"
	      "sh -1/4 -1 2000000000 -1 e\n");
}

static void test_refusals(void)
{
	static const char nul[] = "sh 4 1.0: e:\n\t1 a\0b (x)\n";
	size_t big = FOLDED_MAX_LINE + 100;
	char *line = malloc(big);
	struct strbuf deep = { 0 };

	refuses("sh 4 1.0: e:\nwhat is this\n", 26, "f:2: neither a sample nor a frame");
	refuses("\t1 f (x)\n", 9, "f:1: neither");
	refuses("sh 4 1.0: e:\n\n\t1 f (x)\n", 23, "f:3: neither");
	refuses("sh 4 1.0: e:\n\txyz f (x)\n", 24, "f:2: neither");
	refuses("sh 4 1.0: 9223372036854775808 e:\n", 33, "f:1: the count is too large");
	refuses(nul, sizeof(nul) - 1, "f:2: a NUL byte");
	memset(line, 'a', big);
	memcpy(line, "sh 4 1.0: e:\n", 13);
	refuses(line, big, "f:2: the line is too long");
	strbuf_puts(&deep, "sh 4 1.0: e:\n");
	for (unsigned i = 0; i <= FOLDED_MAX_DEPTH; i++)
		strbuf_puts(&deep, "\t1 f\n");
	refuses(deep.data, deep.n, "f:65538: the stack has too many frames");
	strbuf_free(&deep);
	free(line);
}

static void test_others(void)
{
	static const char *const folded[] = { "a;b;c 42\n",	    "main 12\n",
					      "# x\na;b 1\n",	    "a 1 2\n",
					      "worker 1;run 10\n",  "sh 46 cycles: 7\n",
					      "a b 12 1.5: 3;c 7\n" };

	for (size_t i = 0; i < ARRAY_SIZE(folded); i++)
		CHECK_CASE(!script_text_looks(folded[i], strlen(folded[i])), "'%s' is another text",
			   folded[i]);
}

static void test_stacks(void)
{
	static const char text[] = "sh 3/4 [001] 2.0: 50 cpu-clock:\n"
				   "\tffffffff81000000 read+0x1 ([kernel.kallsyms])\n"
				   "\t1 in (inlined)\n"
				   "\t1 jit (/tmp/perf-12.map)\n"
				   "\t1 main (/bin/sh)\n"
				   "\t1 [unknown] (/bin/sh)\n\n"
				   "sh 3/4 [001] 1.0: sched:sched_switch: x=1\n\n";
	static const char huge[] = "a 1 1.0: 9223372036854775807 e:\na 1 1.0: 1 e:\n";
	static const enum frame_kind kinds[] = { FRAME_UNKNOWN, FRAME_USER, FRAME_JIT,
						 FRAME_INLINED, FRAME_KERNEL };
	struct own_stacks_opts o = { .inlines = true, .time_quantum = 1 };
	struct trace_own info;
	struct stacks side[2] = { 0 }, s;
	struct err e = { 0 };

	CHECK_INT(text_stacks(script_text_source, "f", text, strlen(text), &o, side, &info, &e), 0);
	s = side[0];
	CHECK_INT(s.entries.n, 2);
	CHECK_INT(s.entries.data[0].weight, 50);
	CHECK_INT(s.entries.data[1].weight, 1);
	CHECK_INT(s.entries.data[0].pid, 3);
	CHECK_INT(s.entries.data[0].time, 2000000000);
	CHECK_STR(stacks_unit(&s, 0), "ns");
	CHECK_STR(stacks_unit(&s, 1), "hits");
	CHECK_INT(info.first_type, 1); /* of the earliest, not of the first line */
	CHECK_INT(s.stacks.data[s.entries.data[0].stack].n, 5);
	for (uint32_t i = 0; i < 5; i++)
		CHECK_CASE(s.frames.data[s.frame_ids.data[i]].kind == kinds[i],
			   "frame %u has kind %d", i, kinds[i]);
	stacks_free(&s);
	o = (struct own_stacks_opts){ .counts = true };
	side[0] = (struct stacks){ 0 };
	CHECK_INT(text_stacks(script_text_source, "f", text, strlen(text), &o, side, &info, &e), 0);
	s = side[0];
	CHECK_INT(s.stacks.data[s.entries.data[0].stack].n, 4);
	CHECK_INT(s.entries.data[0].weight, 1);
	stacks_free(&s);
	side[0] = (struct stacks){ 0 };
	o.counts = false;
	CHECK_INT(text_stacks(script_text_source, "f", huge, strlen(huge), &o, side, &info, &e),
		  -ERANGE);
	s = side[0];
	CHECK_STR(e.msg, "f:2: the sum of the counts is too large");
	stacks_free(&s);
}

int main(void)
{
	test_headers();
	test_one_line();
	test_frames();
	test_refusals();
	test_others();
	test_stacks();
	return tap_end();
}
