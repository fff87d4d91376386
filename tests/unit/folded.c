/* SPDX-License-Identifier: MIT */
/* Reading folded text: what is accepted, what is refused and with which line. */
#include <stdlib.h>

#include "base/str.h"
#include "tap.h"
#include "unfold.h"
#include "view/picture/folded.h"

/* Everything that was read, as text: frames joined by '|', counts, '\n'. */
struct seen {
	struct strbuf text;
	const struct folded_info *info;
};

static int see(void *ctx, const struct folded_stack *st, struct err *e)
{
	struct seen *s = ctx;

	(void)e;
	for (size_t i = 0; i < st->n; i++)
		strbuf_printf(&s->text, "%s%.*s", i ? "|" : "", (int)st->frame[i].n,
			      st->frame[i].s);
	strbuf_printf(&s->text, "=%lld", (long long)st->count[0]);
	if (s->info->two)
		strbuf_printf(&s->text, ",%lld", (long long)st->count[1]);
	strbuf_putc(&s->text, '\n');
	return 0;
}

static void reads(const char *text, const char *want)
{
	struct folded_info info = { 0 };
	struct seen s = { .info = &info };
	struct err e = { 0 };
	int r = folded_read("f", text, strlen(text), &info, see, &s, &e);

	CHECK_CASE(r == 0, "reads '%.60s' (%.80s)", text, r ? e.msg : "ok");
	CHECK_STR(strbuf_str(&s.text), want);
	strbuf_free(&s.text);
}

static void refuses(const char *text, size_t n, const char *part)
{
	struct folded_info info = { 0 };
	struct seen s = { .info = &info };
	struct err e = { 0 };
	int r = folded_read("f", text, n, &info, see, &s, &e);

	CHECK_CASE(r < 0 && strstr(e.msg, part), "refuses with '%s' (got %d '%.80s')", part, r,
		   e.msg);
	strbuf_free(&s.text);
}

static void test_lines(void)
{
	reads("a;b;c 42\n", "a|b|c=42\n");
	reads("a;b 1\na 2", "a|b=1\na=2\n");
	reads("a;b 1\r\na 2\r\n", "a|b=1\na=2\n");
	reads("\n\n  \na 1\n\n", "a=1\n");
	reads("# made by x\na 1\n#frame 3\n", "a=1\n#frame=3\n");
	reads("one two;three (x) 7\n", "one two|three (x)=7\n");
	reads("a;;b 1\n", "a||b=1\n");
	reads("a;b; 1\n", "a|b=1\n");
	reads(";a 1\n", "|a=1\n");
	reads("a  \t 12 \n", "a=12\n");
	reads("a 12.0\na 2.5\na 2.4\n", "a=12\na=3\na=2\n");
	reads("a +3\n", "a=3\n");
	reads("a 0\n", "a=0\n");
	reads(" 5\n", "=5\n");
	reads("", "");
	reads("worker 1;run 10\nmain 3\n", "worker 1|run=10\nmain=3\n");
}

static void test_escapes(void)
{
	reads("a\\;b;c 1\n", "a;b|c=1\n");
	reads("a\\\\;b 1\n", "a\\|b=1\n");
	reads("a\\\\\\;b 1\n", "a\\;b=1\n");
	reads("App\\Http;x\\y 1\n", "App\\Http|x\\y=1\n");
	reads("end\\ 1\n", "end\\=1\n");
	reads("a\\;b\\ 1\n", "a;b\\=1\n");
	reads("\\;\\;;\\; 1\n", ";;|;=1\n");
}

static void test_two_columns(void)
{
	reads("a;b 10 12\nc 0 3\n", "a|b=10,12\nc=0,3\n");
	/* a name that ends in a number does not make a comparison of the others */
	reads("a;thread 5 10\nb 3\n", "a|thread 5=10\nb=3\n");
}

static void test_refusals(void)
{
	static const char nul[] = "a;b 1\na\0;c 2\n";
	size_t big = (size_t)FOLDED_MAX_LINE + 16;
	char *line = malloc(big), *deep = malloc(200000);

	refuses("a;b\n", 4, "f:1: no count");
	refuses("x 1\na;b c\n", 10, "f:2: no count");
	refuses("x 1\n\na -3\n", 9, "f:3: the count -3 is negative");
	refuses("x 1 -2\n", 7, "f:1: the count -2 is negative");
	refuses("a 9223372036854775808\n", 22, "f:1: the count is too large");
	refuses(nul, sizeof(nul) - 1, "f:2: a NUL byte");
	refuses("a 1.2.3\n", 8, "f:1: no count");
	refuses("12\n", 3, "f:1: no count");
	memset(line, 'a', big);
	memcpy(line, "x 1\n", 4);
	refuses(line, big, "f:2: the line is longer than 16 MiB");
	for (int i = 0; i < 100000; i++)
		memcpy(deep + 2 * i, "f;", 2);
	memcpy(deep + 199998, " 1", 2);
	refuses(deep, 200000, "f:1: the stack has more than 65536 frames");
	free(line);
	free(deep);
}

static void test_unfold(void)
{
	static const char text[] =
		"java;run_[j];[libc.so.6];read_[k];in_[i];[unknown];[[vdso]];0x7f;- 3\n";
	static const char huge[] = "a 9223372036854775807\nb 1\n";
	static const enum frame_kind kinds[] = { FRAME_USER,	FRAME_JIT,     FRAME_UNKNOWN,
						 FRAME_KERNEL,	FRAME_INLINED, FRAME_UNKNOWN,
						 FRAME_UNKNOWN, FRAME_UNKNOWN, FRAME_LABEL };
	struct stacks side[2] = { 0 };
	struct folded_info info;
	struct err e = { 0 };

	CHECK_INT(unfold_text("f", text, strlen(text), side, &info, &e), 0);
	CHECK_INT(side[0].stacks.n, 1);
	CHECK_INT(side[0].stacks.data[0].n, 9);
	for (uint32_t i = 0; i < 9; i++)
		CHECK_CASE(side[0].frames.data[side[0].frame_ids.data[i]].kind == kinds[i],
			   "frame %u has kind %d", i, kinds[i]);
	CHECK_STR(strtab_get(&side[0].strings, side[0].frames.data[1].name), "run");
	CHECK_STR(strtab_get(&side[0].strings, side[0].frames.data[2].module), "libc.so.6");
	CHECK(side[0].frames.data[5].module == STRTAB_NONE);
	CHECK_STR(strtab_get(&side[0].strings, side[0].frames.data[6].module), "[vdso]");
	CHECK(side[0].entries.data[0].comm == STRTAB_NONE);
	stacks_free(&side[0]);
	CHECK_INT(unfold_text("f", huge, strlen(huge), side, &info, &e), -ERANGE);
	CHECK_STR(e.msg, "f:2: the sum of the counts is too large");
	stacks_free(&side[0]);
	stacks_free(&side[1]);
}

/* The text that folded_write makes of an input. */
static char *written(struct stacks *s, struct stacks *after, const struct folded_opts *o)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	struct err e = { 0 };

	CHECK_INT(folded_write(f, s, after, o, &e), 0);
	fclose(f);
	return text;
}

static void test_writer(void)
{
	static const char text[] = "b;x 1\na;b 2\na 4\na-b;c 3\na;b 5\nk;s_[k] 1\n";
	static const char two[] = "a;b 1 2\nc 0 5\n";
	struct folded_opts o = { .type = FOLDED_ALL_TYPES, .kernel = true };
	struct stacks side[2] = { 0 };
	struct folded_info info;
	struct err e = { 0 };
	char *out;

	unfold_text("f", text, strlen(text), side, &info, &e);
	out = written(&side[0], NULL, &o);
	CHECK_STR(out, "a 4\na-b;c 3\na;b 7\nb;x 1\nk;s_[k] 1\n");
	free(out);
	stacks_free(&side[0]);
	unfold_text("f", two, strlen(two), side, &info, &e);
	out = written(&side[0], &side[1], &o);
	CHECK_STR(out, "a;b 1 2\nc 0 5\n");
	free(out);
	stacks_free(&side[0]);
	stacks_free(&side[1]);
}

static void add(struct stacks *s, const char *comm, int64_t weight, const char *const *names,
		const char *module, enum frame_kind kind)
{
	uint32_t ids[8];
	size_t n = 0;
	struct stack_entry en = {
		.comm = strtab_add(&s->strings, comm), .pid = 7, .tid = 8, .weight = weight
	};

	for (; names[n]; n++) {
		struct frame f = { .name = strtab_add(&s->strings, names[n]),
				   .module = module ? strtab_add(&s->strings, module) : STRTAB_NONE,
				   .file = STRTAB_NONE,
				   .kind = kind };

		ids[n] = stacks_frame(s, &f);
	}
	en.stack = stacks_stack(s, ids, n);
	stacks_add(s, &en);
}

#define NAMES(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* The conventions of stackcollapse-perf.pl. */
static void test_tidy(void)
{
	struct folded_opts o = { .tidy = true };
	struct stacks s = { 0 };
	char *out;

	add(&s, "my prog", 1, NAMES("main", "f(int, char*)", "g"), "/bin/p", FRAME_USER);
	add(&s, "p", 1, NAMES("ns::(anonymous namespace)::h(int)", "op\"er'at"), "/bin/p",
	    FRAME_USER);
	add(&s, "p", 1, NAMES("net/http.(*Client).Do", "x;y"), "/bin/p", FRAME_USER);
	add(&s, "p", 1, NAMES("(skipped)", "kept"), "/bin/p", FRAME_USER);
	add(&s, "p", 1, NAMES("0x1234"), "/lib/x/libc.so.6", FRAME_UNKNOWN);
	add(&s, "p", 1, NAMES("0x99"), NULL, FRAME_UNKNOWN);
	add(&s, "java", 1, NAMES("Lorg/a/B;.call(Lx;)V", "List"), "/tmp/perf-7.map", FRAME_JIT);
	add(&s, "p", 2, NAMES("read"), "[kernel.kallsyms]", FRAME_KERNEL);
	out = written(&s, NULL, &o);
	CHECK_STR(out, "java;org/a/B:.call;List 1\n"
		       "my_prog;main;f;g 1\n"
		       "p;[libc.so.6] 1\n"
		       "p;[unknown] 1\n"
		       "p;kept 1\n"
		       "p;net/http.(*Client).Do;x:y 1\n"
		       "p;ns::(anonymous namespace)::h;operat 1\n"
		       "p;read 2\n");
	free(out);
	o = (struct folded_opts){
		.tidy = true, .kernel = true, .jit = true, .tid = true, .addrs = true
	};
	out = written(&s, NULL, &o);
	CHECK(strstr(out, "p-7/8;read_[k] 2\n") != NULL);
	CHECK(strstr(out, "p-7/8;[libc.so.6 <1234>] 1\n") != NULL);
	CHECK(strstr(out, "java-7/8;org/a/B:.call_[j];List_[j] 1\n") != NULL);
	free(out);
	o = (struct folded_opts){ .tidy = true, .pid = true };
	out = written(&s, NULL, &o);
	CHECK(strstr(out, "my_prog-7;main;f;g 1\n") != NULL);
	free(out);
	stacks_free(&s);
}

int main(void)
{
	test_lines();
	test_escapes();
	test_two_columns();
	test_refusals();
	test_unfold();
	test_writer();
	test_tidy();
	return tap_end();
}
