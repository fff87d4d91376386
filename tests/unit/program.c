/* SPDX-License-Identifier: MIT */
/* Programs of the language over events: which probe sees which, timers, names, the end. */
#include "calc/program/replay.h"
#include "eventsource.h"
#include "lang/functions.h"
#include "tap.h"
#include "view/run/show.h"

#define SECOND 1000000000ull

static const char record[80] = "\5\0\0\0\0\0\0\0record\0\0\0\0\0\0\0\0\0\0\7\0\0\0\120\0\4\0";

struct said {
	struct strbuf text, notes;
	unsigned writes, may_write; /* 0: always */
	int code;
};

static bool keep(void *ctx, struct lang_out *o)
{
	struct said *s = ctx;

	strbuf_puts(&s->text, strbuf_str(&o->text));
	strbuf_puts(&s->text, strbuf_str(&o->errors));
	return ++s->writes != s->may_write;
}

/* A hit each 100 ms: of the tracepoint by "even" and "odd" in turn, with a sample of the clock
 * behind each fourth. */
static size_t make(struct event *ev)
{
	static const uint64_t chain[] = { EVENT_CHAIN_KERNEL, 0xffffffff81000010, EVENT_CHAIN_USER,
					  0x1000, 0x2000 };
	size_t n = 0;

	for (unsigned i = 0; i < 20; i++) {
		ev[n++] = (struct event){ .kind = EVENT_SAMPLE,
					  .time = SECOND + i * SECOND / 10,
					  .pid = 10 + (int)(i % 2),
					  .tid = 10 + (int)(i % 2),
					  .cpu = i % 3,
					  .raw = record,
					  .raw_size = sizeof(record),
					  .chain = chain,
					  .chain_n = ARRAY_SIZE(chain) };
		if (i % 4 == 3) {
			ev[n] = ev[n - 1];
			ev[n].type = 1;
			ev[n].tid = ev[n].pid = 0;
			ev[n].raw = NULL;
			ev[n++].raw_size = 0;
		}
	}
	return n;
}

static int replay(const char *text, bool json, struct said *s)
{
	struct lang_source src = { .name = "test", .text = text, .n = strlen(text) };
	struct replay_opts o = { .printer = &show_printer, .json = json, .write = keep, .ctx = s };
	struct lang_diags d = { 0 };
	struct event_source m;
	struct event ev[32];
	struct lang_env env;
	struct err e = { 0 };
	int r;

	event_source_open(&m, ev, make(ev));
	tasks_comm(m.trace.tasks, 1, 10, 10, "even", false);
	tasks_comm(m.trace.tasks, 1, 11, 11, "odd", false);
	replay_env(&m.source, &env);
	r = lang_compile(&src, &env, 0, &o.program, &d);
	if (r == 0) {
		o.source = &m.source;
		o.symbols = symbols_new(&(struct symbols_opts){ .no_cache = true });
		r = replay_run(&o, &s->code, &s->notes, &e);
		symbols_free(o.symbols);
		lang_program_free(o.program);
	} else {
		lang_diags_text(&d, NULL, &s->text);
	}
	lang_diags_free(&d);
	event_source_close(&m);
	return r;
}

static void says(const char *text, const char *want)
{
	struct said s = { 0 };

	CHECK_INT(replay(text, false, &s), 0);
	CHECK_STR(strbuf_str(&s.text), want);
	strbuf_free(&s.text);
	strbuf_free(&s.notes);
}

static void refuses(const char *text, const char *want)
{
	struct said s = { 0 };

	CHECK_CASE(replay(text, false, &s) < 0 && strstr(strbuf_str(&s.text), want), "%s: %s", text,
		   strbuf_str(&s.text));
	strbuf_free(&s.text);
}

/* The table is searched by halves: each row must be found. */
static void functions_found(void)
{
	for (size_t i = 0; i < lang_functions_n; i++)
		CHECK_CASE(lang_function_find(lang_functions[i].name) == &lang_functions[i],
			   "%s() is found", lang_functions[i].name);
	CHECK(!lang_function_find("nosuch"));
}

int main(void)
{
	struct said s = { 0 };

	says("tracepoint:sys:ev { @[comm] = count(); }", "\n\n@[even]: 10\n@[odd]: 10\n");
	says("tracepoint:sys:ev { @ = sum(args.x); @n[str(args.name)] = count(); }",
	     "\n\n@: 140\n@n[]: 20\n");
	says("profile:hz:99 { @[comm, cpu] = count(); }",
	     "\n\n@[swapper/2, 2]: 1\n@[swapper/0, 0]: 2\n@[swapper/1, 1]: 2\n");
	says("tracepoint:sys:ev /cpu == 1/ { @[kstack(raw), ustack(1, raw)] = count(); }",
	     "\n\n@[\n    ffffffff81000010\n, \n    1000\n]: 3\n@[\n    ffffffff81000010\n, \n    "
	     "1000\n]: 4\n");
	/* the time between events passes, too; the last one ends it */
	says("interval:ms:500 { printf(\"%d %d\\n\", @n, elapsed / 1000000); } "
	     "tracepoint:sys:ev { @n++; } END { clear(@n); }",
	     "5 500\n10 1000\n15 1500\n\n\n");
	/* faster than nanoseconds: no more than the recording has */
	says("interval:hz:99999999999 { @ = count(); exit(); }", "\n\n@: 1\n");
	says("BEGIN { printf(\"%s %d\\n\", comm, elapsed); } END { printf(\"end\\n\"); }",
	     "kymo 0\nend\n\n\n");
	refuses("kprobe:x { }", "a recording has no probes of this kind");
	refuses("tracepoint:sys:ef { }", "the recording has ev");

	CHECK_INT(replay("tracepoint:sys:ev { @n++; if (@n == 3) { exit(7); } }", true, &s), 0);
	CHECK_INT(s.code, 7);
	CHECK_STR(strbuf_str(&s.text), "{\"type\": \"map\", \"data\": {\"@n\": 3}}\n");
	strbuf_free(&s.text);

	s = (struct said){ 0 };
	CHECK_INT(replay("config = { max_map_keys = 2 } tracepoint:sys:ev { @n++; @[@n] = 1; }",
			 false, &s),
		  0);
	CHECK_CASE(strstr(strbuf_str(&s.notes), "@ is full (2 keys): 18 updates were refused"),
		   "%s", strbuf_str(&s.notes));
	strbuf_free(&s.text);
	strbuf_free(&s.notes);

	/* who does not read on is not written to for long */
	s = (struct said){ .may_write = 1 };
	CHECK_INT(replay("tracepoint:sys:ev { $i = 0; while ($i < 900) { $i++; "
			 "printf(\"%99d\\n\", $i); } }",
			 false, &s),
		  0);
	CHECK_INT(s.writes, 2); /* that one, and the end */
	strbuf_free(&s.text);
	functions_found();
	return tap_end();
}
