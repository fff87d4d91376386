/* SPDX-License-Identifier: MIT */
/*
 * A recording's file, from rings that this test fills in the kernel's place: what was in them is in
 * the file, drained by one thread or by several, in one file or in many of which the newest stay.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "live/record/record.h"
#include "store/perfdata/perfdata.h"
#include "tap.h"

#define RINGS 2
#define RING_SIZE (64u << 10)
#define SAMPLE_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

struct sample {
	struct perf_event_header header;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time;
};

static char folder[] = "/tmp/kymo-unit-record-XXXXXX";

/* All that a file needs of a capture. */
struct rigged {
	struct event_spec spec;
	struct capture_event event;
	struct ring ring[RINGS];
	struct target target;
	struct capture capture;
	struct idle_hits idle;
	struct record_out out;
	uint64_t id, told; /* samples so far */
	VEC(char *) wrote;
};

static void on_wrote(void *ctx, const char *name)
{
	vec_push(&((struct rigged *)ctx)->wrote, mem_strdup(name));
}

static void rig(struct rigged *r, const struct record_opts *o)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	*r = (struct rigged){ .id = 77 };
	r->spec = (struct event_spec){ .name = "cpu-clock", .text = "cpu-clock", .members = 1 };
	r->event = (struct capture_event){ .spec = &r->spec,
					   .attr = { .type = PERF_TYPE_SOFTWARE,
						     .size = sizeof(struct perf_event_attr),
						     .sample_period = 1,
						     .sample_type = SAMPLE_TYPE,
						     .sample_id_all = 1 },
					   .id = &r->id,
					   .n_ids = 1,
					   .cgroup_fd = -1 };
	for (size_t i = 0; i < RINGS; i++)
		r->ring[i] =
			(struct ring){ .base = mmap(NULL, page + RING_SIZE, PROT_READ | PROT_WRITE,
						    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
				       .size = RING_SIZE,
				       .mask = RING_SIZE - 1,
				       .fd = -1 };
	r->target.system_wide = true;
	r->capture = (struct capture){ .event = &r->event,
				       .n = 1,
				       .ring = r->ring,
				       .n_rings = RINGS,
				       .target = &r->target,
				       .ring_size = RING_SIZE };
	r->idle = (struct idle_hits){ .cpus_map = -1, .ring_map = -1 };
	r->out = (struct record_out){ .opts = o,
				      .capture = &r->capture,
				      .idle = &r->idle,
				      .lock = PTHREAD_MUTEX_INITIALIZER,
				      .wrote = on_wrote,
				      .ctx = r };
}

static void unrig(struct rigged *r)
{
	record_out_free(&r->out);
	for (size_t i = 0; i < RINGS; i++)
		ring_close(&r->ring[i]);
	vec_each (&r->wrote, name)
		free(*name);
	vec_free(&r->wrote);
}

/* As the kernel writes: a record may go over the end of the ring. */
static void fill(struct rigged *r, unsigned n)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (unsigned i = 0; i < n; i++) {
		struct ring *ring = &r->ring[r->told % RINGS];
		struct perf_event_mmap_page *p = ring->base;
		struct sample s = { .header = { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER,
						sizeof(s) },
				    .id = r->id,
				    .ip = 0x1000 + r->told,
				    .pid = 5,
				    .tid = 5,
				    .time = 1000 + r->told };

		for (size_t k = 0; k < sizeof(s); k++)
			((uint8_t *)ring->base)[page + ((p->data_head + k) & ring->mask)] =
				((const uint8_t *)&s)[k];
		p->data_head += sizeof(s);
		r->told++;
	}
}

struct seen {
	uint64_t n, first, wrong;
};

static int see(void *ctx, const struct event *ev)
{
	struct seen *s = ctx;

	if (s->n == 0)
		s->first = ev->time - 1000;
	s->wrong += ev->time != 1000 + s->first + s->n || ev->ip != ev->time - 1000 + 0x1000;
	s->n++;
	return 0;
}

/* The samples of a file, which follow each other without a gap where it is whole. */
static struct seen look(const char *path, bool whole)
{
	struct source *s = NULL;
	struct seen seen = { 0 };
	struct err e = { 0 };

	CHECK_INT(perfdata_open(path, &s, &e), 0);
	if (s) {
		CHECK_INT(s->read_ordered(s, false, see, &seen, &e), 0);
		source_close(s);
	}
	CHECK(seen.wrong == 0 || !whole);
	return seen;
}

static int drain(struct rigged *r, struct err *e)
{
	return record_out_drain(&r->out, e) < 0 ? -e->code : record_out_round(&r->out, e);
}

static void one_file(int threads)
{
	AUTO_FREE char *path = mem_printf("%s/one.%d", folder, threads);
	struct record_opts o = {
		.output = path, .no_cache = true, .threads = threads, .synth.none = true
	};
	struct err e = { 0 };
	struct rigged r;

	rig(&r, &o);
	CHECK_INT(record_out_open(&r.out, &e), 0);
	CHECK_INT(record_out_size(&r.out), 0);
	for (int i = 0; i < 40; i++) {
		fill(&r, 500);
		if (drain(&r, &e) < 0)
			break;
	}
	CHECK_STR(e.msg, "");
	CHECK(record_out_size(&r.out) >= 20000 * sizeof(struct sample));
	CHECK_INT(record_out_close(&r.out, false, &e), 0);
	CHECK_INT(r.out.samples, 20000);
	CHECK_STR(r.out.last, path);
	CHECK_INT(look(path, true).n, 20000);
	unrig(&r);
}

/* --switch-output --switch-max-files 2 */
static void many_files(void)
{
	AUTO_FREE char *path = mem_printf("%s/many", folder);
	struct record_opts o = { .output = path,
				 .no_cache = true,
				 .switch_max_files = 2,
				 .timestamp_file = true,
				 .synth.none = true };
	struct err e = { 0 };
	struct rigged r;
	int k;

	rig(&r, &o);
	k = record_out_open(&r.out, &e);
	for (int i = 0; i < 4 && k == 0; i++) {
		fill(&r, 100);
		k = drain(&r, &e);
		if (k == 0)
			k = i < 3 ? record_out_next(&r.out, &e)
				  : record_out_close(&r.out, false, &e);
	}
	CHECK_INT(k, 0);
	CHECK_INT(r.out.samples, 400);
	CHECK_INT(r.wrote.n, 4);
	if (r.wrote.n == 4) {
		for (size_t i = 0; i < 4; i++) {
			CHECK(strncmp(r.wrote.data[i], path, strlen(path)) == 0);
			CHECK_INT(file_exists(r.wrote.data[i]), i >= 2);
		}
		CHECK_INT(look(r.wrote.data[2], true).first, 200);
		CHECK_INT(look(r.wrote.data[3], true).first, 300);
		CHECK_STR(r.out.last, r.wrote.data[3]);
	}
	CHECK(!file_exists(path));
	unrig(&r);
}

/*
 * What is forgotten is not in the file. One that failed can be read; what was written last made
 * room for the table of what it has.
 */
static void restarted(bool failed)
{
	AUTO_FREE char *path = mem_printf("%s/restarted.%d", folder, failed);
	struct record_opts o = { .output = path, .no_cache = true, .synth.none = true };
	struct err e = { 0 };
	struct rigged r;

	rig(&r, &o);
	CHECK_INT(record_out_open(&r.out, &e), 0);
	fill(&r, 10);
	CHECK_INT(drain(&r, &e), 0);
	CHECK_INT(record_out_restart(&r.out, &e), 0);
	CHECK_INT(record_out_size(&r.out), 0);
	fill(&r, 10);
	CHECK_INT(drain(&r, &e), 0);
	CHECK_INT(record_out_close(&r.out, failed, &e), 0);
	CHECK_INT(look(path, !failed).first, 10);
	unrig(&r);
}

static void unwritable(void)
{
	AUTO_FREE char *path = mem_printf("%s/none/perf.data", folder);
	struct record_opts o = { .output = path, .no_cache = true, .synth.none = true };
	struct err e = { 0 };
	struct rigged r;

	rig(&r, &o);
	CHECK_INT(record_out_open(&r.out, &e), -ENOENT);
	CHECK(strstr(e.msg, path) != NULL);
	CHECK_INT(record_out_close(&r.out, true, &e), 0);
	unrig(&r);
}

int main(void)
{
	AUTO_FREE char *clean = NULL;

	if (!mkdtemp(folder))
		return 1;
	one_file(0);
	one_file(2);
	many_files();
	restarted(false);
	restarted(true);
	unwritable();
	clean = mem_printf("rm -rf %s", folder);
	CHECK_INT(system(clean), 0);
	return tap_end();
}
