/* SPDX-License-Identifier: MIT */
/*
 * Records as rings have them, polled: tasks are known before the samples are handed out; these come
 * in the order of time, and none before something older could still come, or all at once.
 */
#include "base/str.h"
#include "event/trace.h"
#include "store/perfdata/live.h"
#include "store/perfdata/perfdata.h"
#include "tap.h"

#define SAMPLE_TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

/* What the rings have. */
struct rings {
	struct strbuf bytes;
	int fail;
};

static int64_t drain(void *ctx, perfdata_live_put_fn *put, void *to, struct err *e)
{
	struct rings *r = ctx;
	size_t n = r->bytes.n, half = n / 2;

	if (r->fail)
		return err_set(e, EIO, "no ring");
	/* a record may be cut */
	if (put(to, r->bytes.data, half, e) < 0 || put(to, r->bytes.data + half, n - half, e) < 0)
		return -e->code;
	r->bytes.n = 0;
	return (int64_t)n;
}

static void sample(struct rings *r, uint32_t tid, uint64_t time)
{
	struct {
		struct perf_event_header h;
		uint64_t ip;
		uint32_t pid, tid;
		uint64_t time;
	} s = { { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof(s) }, 0x1000, tid, tid, time };

	strbuf_add(&r->bytes, (const char *)&s, sizeof(s));
}

static void comm(struct rings *r, uint32_t tid, const char *name, uint64_t time)
{
	struct {
		struct perf_event_header h;
		uint32_t pid, tid;
		char name[16];
		uint32_t id_pid, id_tid;
		uint64_t time;
	} s = { { PERF_RECORD_COMM, 0, sizeof(s) }, tid, tid, "", tid, tid, time };

	snprintf(s.name, sizeof(s.name), "%s", name);
	strbuf_add(&r->bytes, (const char *)&s, sizeof(s));
}

struct seen {
	struct source *s;
	char text[256];
	size_t n;
	unsigned stop_at; /* samples; 0: never */
	unsigned samples;
};

/* "NAME@TIME " of each. */
static int see(void *ctx, const struct event *ev)
{
	struct seen *s = ctx;
	const struct tasks *t = s->s->trace->tasks;
	uint32_t id = tasks_comm_at(t, ev->tid, ev->time);

	s->n += (size_t)snprintf(s->text + s->n, sizeof(s->text) - s->n, "%s@%d ",
				 id == STRTAB_NONE ? "?" : strtab_get(tasks_strings(t), id),
				 (int)ev->time);
	return ++s->samples == s->stop_at;
}

static const char *polled(struct seen *s, bool all, int want)
{
	struct err e = { 0 };

	s->n = 0;
	s->text[0] = '\0';
	s->samples = 0;
	CHECK_INT(s->s->poll(s->s, all, see, s, &e), want);
	return s->text;
}

static struct source *begin(struct rings *r)
{
	const struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					      .size = sizeof(attr),
					      .sample_period = 1,
					      .sample_type = SAMPLE_TYPE,
					      .sample_id_all = 1 };
	const struct perfdata_event ev = { .attr = attr, .name = "cpu-clock" };
	struct source *s = perfdata_live_new(drain, r);
	struct err e = { 0 };

	CHECK_INT(perfdata_live_event(s, &ev, &e), 0);
	perfdata_live_start(s);
	CHECK_STR(s->trace->types[0].name, "cpu-clock");
	CHECK(!s->read_chunk && !s->read_ordered && !s->n_chunks);
	return s;
}

static void in_order(void)
{
	struct rings r = { 0 };
	struct seen s = { .s = begin(&r) };

	CHECK_STR(polled(&s, false, 0), "");
	sample(&r, 1, 100); /* one CPU */
	sample(&r, 1, 140);
	comm(&r, 1, "one", 50);
	sample(&r, 2, 120); /* another */
	CHECK_STR(polled(&s, false, 0), "");
	sample(&r, 2, 130);
	sample(&r, 2, 150);
	comm(&r, 2, "two", 125);
	CHECK_STR(polled(&s, false, 0), "one@100 ?@120 two@130 one@140 ");
	CHECK_STR(polled(&s, false, 0), "two@150 ");
	CHECK_STR(polled(&s, false, 0), "");
	source_close(s.s);
	strbuf_free(&r.bytes);
}

/* Asked for all, one of the rings after the other may be told; what waited is in order. */
static void all(void)
{
	struct rings r = { 0 };
	struct seen s = { .s = begin(&r) };

	sample(&r, 1, 100);
	sample(&r, 2, 90);
	CHECK_STR(polled(&s, true, 0), "?@100 ?@90 ");
	sample(&r, 1, 200);
	CHECK_STR(polled(&s, false, 0), "");
	sample(&r, 1, 190);
	CHECK_STR(polled(&s, true, 0), "?@190 ?@200 ");
	CHECK_STR(polled(&s, true, 0), "");
	source_close(s.s);
	strbuf_free(&r.bytes);
}

static void stopped(void)
{
	struct rings r = { 0 };
	struct seen s = { .s = begin(&r) };

	for (unsigned i = 0; i < 6; i++)
		sample(&r, 1, 100 + i);
	polled(&s, false, 0);
	s.stop_at = 2;
	CHECK_STR(polled(&s, false, 1), "?@100 ?@101 ");
	CHECK_STR(polled(&s, false, 1), "?@102 ?@103 ");
	s.stop_at = 0;
	r.fail = 1;
	polled(&s, false, -EIO);
	r.fail = 0;
	CHECK_STR(polled(&s, false, 0), "?@104 ?@105 ");
	source_close(s.s);
	strbuf_free(&r.bytes);
}

int main(void)
{
	in_order();
	all();
	stopped();
	return tap_end();
}
