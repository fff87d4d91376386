/* SPDX-License-Identifier: MIT */
/*
 * Pages as the kernel hands them out, from pipes that this test fills: what is polled comes in the
 * order of time, never before something older could still come, and all of it in the end.
 */
#include <fcntl.h>
#include <unistd.h>

#include "base/str.h"
#include "store/tracedat/live.h"
#include "store/tracedat/ringbuf_write.h"
#include "tap.h"

#define CPUS 2
#define PAGE 4096
#define ID 300

static const char format[] =
	"name: tick\nID: 300\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:u64 n;\toffset:8;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"n=%llu\", REC->n\n";

struct tick {
	uint16_t type;
	uint8_t flags, preempt;
	int32_t pid;
	uint64_t n;
};

struct seen {
	struct source *s;
	uint64_t n, last, unordered, other, stop_at;
};

static int see(void *ctx, const struct event *ev)
{
	struct seen *s = ctx;

	s->unordered += ev->time < s->last;
	s->last = ev->time;
	s->n += ev->kind == EVENT_SAMPLE;
	s->other += ev->kind != EVENT_SAMPLE;
	return s->n == s->stop_at;
}

static void add_u64(struct strbuf *b, uint64_t v)
{
	strbuf_add(b, (const char *)&v, sizeof(v));
}

static void add_u32(struct strbuf *b, uint32_t v)
{
	strbuf_add(b, (const char *)&v, sizeof(v));
}

static void add_named(struct strbuf *b, const char *name)
{
	strbuf_add(b, name, strlen(name) + 1);
}

static struct source *begin(int to[CPUS], const char *formats)
{
	struct tracedat_out parts = { .clocks = "local [mono] boot\n", .n_cpus = CPUS };
	struct tracedat_live_cpu cpus[CPUS];
	struct source *s = NULL;
	struct err e = { 0 };
	int fd[2];

	add_named(&parts.header, "header_page");
	add_u64(&parts.header, 0);
	add_named(&parts.header, "header_event");
	add_u64(&parts.header, 0);
	add_u32(&parts.ftrace, 0);
	add_u32(&parts.formats, *formats ? 1 : 0);
	if (*formats) {
		add_named(&parts.formats, "test");
		add_u32(&parts.formats, 1);
		add_u64(&parts.formats, strlen(formats));
		strbuf_puts(&parts.formats, formats);
	}
	strbuf_puts(&parts.cmdlines, "5 ticker\n");
	for (uint32_t i = 0; i < CPUS; i++) {
		if (pipe2(fd, O_NONBLOCK) < 0)
			return NULL;
		cpus[i] = (struct tracedat_live_cpu){ .cpu = i, .fd = fd[0] };
		to[i] = fd[1];
	}
	CHECK_INT(tracedat_live_open(&parts, cpus, CPUS, PAGE, &s, &e), *formats ? 0 : -EINVAL);
	CHECK_STR(e.msg, *formats ? ""
				  : "what is traced now has no formats of events: it was cut, "
				    "or is damaged");
	CHECK(!parts.formats.data && !parts.header.data);
	tracedat_out_free(&parts);
	return s;
}

/* n ticks of a CPU from a time on, every step ns, as one page or several. */
static void tick(int fd, uint64_t time, uint64_t step, unsigned n, uint16_t type)
{
	struct ringbuf_layout layout;
	struct ringbuf_writer w;

	ringbuf_layout_default(&layout);
	ringbuf_writer_init(&w, &layout, PAGE, fd);
	for (unsigned i = 0; i < n; i++) {
		struct tick t = { .type = type, .pid = 5, .n = i };

		ringbuf_writer_add(&w, time + i * step, &t, sizeof(t));
	}
	CHECK_INT(ringbuf_writer_end(&w), 0);
}

static int poll_it(struct seen *s, bool end)
{
	struct err e = { 0 };

	return s->s->poll(s->s, end, see, s, &e);
}

static void finish(struct seen *s, const int *to)
{
	CHECK_INT(s->unordered, 0);
	source_close(s->s);
	for (unsigned i = 0; i < CPUS; i++)
		close(to[i]);
}

static void in_order(void)
{
	int to[CPUS];
	struct seen s = { .s = begin(to, format) };

	CHECK_INT(s.s->trace->n_types, 1);
	CHECK_STR(s.s->trace->types[0].name, "test:tick");
	CHECK_STR(tracedat_of(s.s)->clock, "mono");
	CHECK(!s.s->read_chunk && !s.s->read_ordered && !s.s->n_chunks);
	CHECK_INT(poll_it(&s, false), 0);
	CHECK_INT(s.n, 0);
	tick(to[0], 1000, 2, 400, ID); /* 1000, 1002 ... 1798 */
	CHECK_INT(poll_it(&s, false), 0);
	CHECK_INT(s.n, 0); /* the other CPU may have some from then */
	CHECK_INT(tracedat_live_newest(s.s), 1798);
	tick(to[1], 1001, 2, 500, ID); /* up to 1999 */
	CHECK_INT(poll_it(&s, false), 0);
	CHECK_INT(s.n, 400 + 399);
	CHECK_INT(s.last, 1798);
	tick(to[0], 2000, 1, 1, ID);
	CHECK_INT(poll_it(&s, false), 0);
	CHECK_INT(s.n, 900);
	CHECK_INT(poll_it(&s, true), 0);
	CHECK_INT(s.n, 901);
	CHECK_INT(s.last, 2000);
	CHECK_INT(poll_it(&s, true), 0);
	CHECK_INT(s.n, 901);
	finish(&s, to);
}

/* Whoever stops goes on where it was; what nobody described is told of, too. */
static void stopped(void)
{
	int to[CPUS];
	struct seen s = { .s = begin(to, format), .stop_at = 10 };

	tick(to[1], 1000, 1, 20, ID);
	tick(to[0], 5000, 1, 3, ID + 1);
	CHECK_INT(poll_it(&s, true), 1);
	CHECK_INT(s.n, 10);
	CHECK_INT(poll_it(&s, true), 0);
	CHECK_INT(s.n, 20);
	CHECK_INT(s.other, 3);
	finish(&s, to);
}

int main(void)
{
	int to[CPUS];

	in_order();
	stopped();
	CHECK(begin(to, "") == NULL);
	return tap_end();
}
