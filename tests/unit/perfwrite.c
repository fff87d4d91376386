/* SPDX-License-Identifier: MIT */
/* Writing perf.data: pieces of every size, also of records cut in two, come out in their order. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/perfdata/perfdata.h"
#include "store/perfdata/write.h"
#include "tap.h"

#define RECORDS 200000u

struct lost {
	struct perfdata_event_header header;
	uint64_t id, lost;
};

struct seen {
	uint64_t n, wrong;
};

static int see(void *ctx, const struct perfdata_view *v)
{
	struct seen *s = ctx;
	struct lost l;

	if (v->header.type != PERF_RECORD_LOST)
		return 0;
	memcpy(&l, v->raw, sizeof(l));
	s->wrong += l.lost != s->n;
	s->n++;
	return 0;
}

static void write_and_read(const struct lost *all, const size_t *sizes, size_t n_sizes, int level,
			   bool pipe)
{
	char path[] = "/tmp/kymo-perfwrite-XXXXXX";
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(attr) };
	struct perfdata_write_opts o = { .path = path, .pipe = pipe, .zstd_level = level };
	struct perfdata_writer *w = NULL;
	struct seen s = { 0 };
	struct source *source = NULL;
	struct err e = { 0 };
	const uint64_t id = 7;
	size_t at = 0, size = RECORDS * sizeof(*all);
	int fd = mkstemp(path), r;

	close(fd);
	CHECK_INT(perfdata_write_open(&o, &w, &e), 0);
	perfdata_write_event(w,
			     &(struct perfdata_event){
				     .name = "cpu-clock", .attr = attr, .ids = &id, .n_ids = 1 });
	r = perfdata_write_start(w, &e);
	for (size_t i = 0; at < size && r == 0; i++) {
		size_t n = sizes[i % n_sizes] < size - at ? sizes[i % n_sizes] : size - at;

		r = perfdata_write_bytes(w, (const char *)all + at, n, &e);
		at += n;
	}
	CHECK_INT(r, 0);
	CHECK_INT(perfdata_write_finish(w, &e), 0);
	CHECK_INT(perfdata_open(path, &source, &e), 0);
	if (source) {
		struct perfdata_walk *walk = perfdata_walk_new(source);

		CHECK_INT(perfdata_walk_each(walk, see, &s), 0);
		perfdata_walk_free(walk);
		CHECK_INT(source->trace->losses.bad_records, 0);
		source_close(source);
	}
	CHECK_INT(s.n, RECORDS);
	CHECK_INT(s.wrong, 0);
	unlink(path);
}

int main(void)
{
	/* as a ring gives them: a piece up to its end, which may cut a record, and one from its
	 * start */
	static const size_t small[] = { 24, 8, 1000 }, large[] = { 300000, 24, 1u << 20 },
			    mixed[] = { 50000, 150000, 8, 131072, 131080, 60000, 262144, 200000 };
	struct lost *all = mem_alloc(RECORDS * sizeof(*all));

	for (uint64_t i = 0; i < RECORDS; i++)
		all[i] = (struct lost){ { PERF_RECORD_LOST, 0, sizeof(*all) }, 7, i };
	for (int pipe = 0; pipe < 2; pipe++) {
		write_and_read(all, small, ARRAY_SIZE(small), 0, pipe);
		write_and_read(all, large, ARRAY_SIZE(large), 0, pipe);
		write_and_read(all, mixed, ARRAY_SIZE(mixed), 0, pipe);
	}
	free(all);
	return tap_end();
}
