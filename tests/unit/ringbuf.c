/* SPDX-License-Identifier: MIT */
/* Pages of the trace ring buffer: written, read, and records of threads taken out. */
#include "store/tracedat/ringbuf.h"

#include <stdlib.h>
#include <unistd.h>

#include "store/tracedat/ringbuf_write.h"
#include "tap.h"

#define PAGE 4096
#define IN_HARDIRQ 0x08

struct event {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
	uint32_t more[28]; /* longer than a short record can be */
};

static struct ringbuf_layout layout;
static uint8_t page[PAGE];

struct given {
	uint64_t time;
	int32_t pid;
	uint8_t flags;
	uint32_t size;
};

static void write_page(const struct given *g, size_t n)
{
	char path[] = "/tmp/unit-ringbuf-XXXXXX";
	int fd = mkstemp(path);
	struct ringbuf_writer w;

	unlink(path);
	ringbuf_writer_init(&w, &layout, PAGE, fd);
	for (size_t i = 0; i < n; i++) {
		struct event e = { .type = 7, .flags = g[i].flags, .pid = g[i].pid };

		ringbuf_writer_add(&w, g[i].time, &e, g[i].size);
	}
	CHECK_INT(ringbuf_writer_end(&w), 0);	 /* a page is written */
	CHECK_INT(w.pages, 1);			 /* one */
	CHECK(pread(fd, page, PAGE, 0) == PAGE); /* and read back */
	close(fd);
}

/* What is on the page, as "time:pid ..." */
static const char *read_page(void)
{
	static char text[1024];
	struct ringbuf r = { .layout = layout };
	struct ringbuf_record rec;
	int n = 0;

	text[0] = 0;
	ringbuf_start(&r, page, PAGE);
	while (ringbuf_next(&r, &rec)) {
		struct event e;

		memcpy(&e, rec.data, 8);
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%llu:%d ",
			      (unsigned long long)rec.time, e.pid);
	}
	CHECK(!r.bad); /* the page is whole */
	return text;
}

int main(void)
{
	const struct given g[] = {
		{ 1000, 1, 0, 16 }, /* the first: its time is the page's */
		{ 2000, 2, 0, 16 },
		{ 3000, 1, 0, sizeof(struct event) }, /* its size stands behind its head */
		{ 4000, 2, 0, sizeof(struct event) },
		{ 4000, 3, 0, 16 },	  /* without a delta */
		{ 5000000000, 1, 0, 16 }, /* behind a long time */
		{ 6000000000, 1, IN_HARDIRQ, 16 },
		{ 6000000001, 2, 0, 16 },
	};
	const pid_t one[] = { 1 }, three[] = { 3 }, all[] = { 1, 2, 3 };

	ringbuf_layout_default(&layout);
	write_page(g, 8);
	/* every record with its time */
	CHECK_STR(read_page(),
		  "1000:1 2000:2 3000:1 4000:2 4000:3 5000000000:1 6000000000:1 6000000001:2 ");
	CHECK_INT(ringbuf_blank(&layout, page, PAGE, NULL, 0), 0); /* nobody's records: none */
	CHECK_INT(ringbuf_blank(&layout, page, PAGE, one, 1), 3);  /* a thread's records */
	/* are gone, but not what an interrupt did; all others keep their times */
	CHECK_STR(read_page(), "2000:2 4000:2 4000:3 6000000000:1 6000000001:2 ");
	CHECK_INT(ringbuf_blank(&layout, page, PAGE, one, 1), 0);   /* once */
	CHECK_INT(ringbuf_blank(&layout, page, PAGE, three, 1), 1); /* one at the time of another */
	/* moves what follows by a nanosecond, as in the kernel */
	CHECK_STR(read_page(), "2000:2 4000:2 6000000001:1 6000000002:2 ");
	CHECK_INT(ringbuf_blank(&layout, page, PAGE, all, 3), 3); /* all others */
	/* the interrupt's is left */
	CHECK_STR(read_page(), "6000000001:1 ");

	/* a page that makes no sense is left alone */
	memset(page, 0xff, PAGE);
	CHECK_INT(ringbuf_blank(&layout, page, PAGE, all, 3), 0); /* nothing on a bad page */
	CHECK_INT(page[100], 0xff);				  /* which is as it was */
	return tap_end();
}
