/* SPDX-License-Identifier: MIT */
/*
 * A recording that is walked in parts by several threads is what it is when walked by one:
 * whole ones, ones with bytes that look like the end of a round and are none, and damaged ones.
 * And samples read in brief are those that are read in full.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/map.h"
#include "base/vec.h"
#include "store/perfdata/perfdata.h"
#include "store/perfdata/impl.h"
#include "tap.h"

static char path[] = "/tmp/kymo-parts-XXXXXX";
static VEC(uint64_t) file; /* all is words */
static uint64_t seed;
static bool timeless; /* some records are */

static uint64_t dice(uint64_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % n;
}

#define HEAD(type, misc, words) \
	((uint64_t)(type) | (uint64_t)(misc) << 32 | (uint64_t)(words)*8 << 48)
#define ROUND HEAD(PERFDATA_FINISHED_ROUND, 0, 1)

static void word(uint64_t v)
{
	vec_push(&file, v);
}

static void header(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = PERF_ATTR_SIZE_VER5,
					.sample_period = 1,
					.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
						       PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN,
					.sample_id_all = 1 };
	uint64_t words[PERF_ATTR_SIZE_VER5 / 8];

	memcpy(words, &attr, sizeof(words));
	file.n = 0;
	word(PERFDATA_MAGIC);
	word(104);
	word(sizeof(words) + 16);
	word(104);
	word(sizeof(words) + 16);
	word(104 + sizeof(words) + 16);
	for (int i = 0; i < 7; i++)
		word(0);
	for (size_t i = 0; i < sizeof(words) / 8; i++)
		word(words[i]);
	word(0);
	word(0);
}

static void sample(uint64_t time, unsigned fakes)
{
	uint64_t n = 1 + dice(9);

	word(HEAD(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 5 + n));
	word(0x400000 + dice(4096));
	word(1 + dice(9) + ((1 + dice(9)) << 32));
	word(!timeless || dice(500) ? time : 0);
	word(n);
	for (uint64_t i = 0; i < n; i++)
		word(!i			 ? (uint64_t)EVENT_CHAIN_USER
		     : dice(100) < fakes ? ROUND
					 : 0x400000 + dice(4096));
}

static void others(uint64_t time, uint32_t pid)
{
	switch (dice(4)) {
	case 0:
		word(HEAD(PERF_RECORD_COMM, dice(2) ? PERF_RECORD_MISC_COMM_EXEC : 0, 6));
		word(pid | (uint64_t)pid << 32);
		word(0x6162636465ull + dice(9));
		word(0);
		break;
	case 1:
		word(HEAD(PERF_RECORD_LOST, 0, 5));
		word(1);
		word(dice(50));
		break;
	case 2:
		word(HEAD(PERF_RECORD_THROTTLE, 0, 6));
		word(time);
		word(1);
		word(1);
		break;
	default:
		word(HEAD(PERFDATA_RECORD_END + dice(9), 0, 2)); /* nobody knows it */
		word(1);
		return;
	}
	word(pid | (uint64_t)pid << 32); /* the trailer: task and time */
	word(!timeless || dice(60) ? time : 0);
}

static void make(unsigned fakes, unsigned strange)
{
	uint64_t time = 1000;

	header();
	for (unsigned i = 0; i < 2500; i++) {
		time += dice(100);
		if (dice(1000) < strange)
			others(time - dice(300), 1 + (uint32_t)dice(9));
		else
			sample(time - dice(300), fakes);
		if (dice(30) == 0)
			word(ROUND);
	}
	file.data[6] = file.n * 8 - file.data[5];
}

struct sum {
	uint64_t ordered, samples, brief;
	uint64_t first, last; /* of samples */
	size_t n, n_brief, timeless;
};

static int on_ordered(void *ctx, const struct event *ev)
{
	struct sum *s = ctx;

	s->timeless += !ev->time;
	s->ordered = map_hash(s->ordered ^ ev->time) + ev->kind + (uint64_t)ev->pid * 7 +
		     (uint64_t)ev->tid;
	for (uint32_t i = 0; i < ev->chain_n; i++)
		s->ordered = map_hash(s->ordered ^ ev->chain[i]);
	return 0;
}

static uint64_t sample_hash(uint64_t time, uint64_t ip, int32_t pid, int32_t tid, uint64_t weight,
			    uint32_t mode, const uint64_t *chain, uint32_t n)
{
	uint64_t h = map_hash(time ^ map_hash(ip ^ map_hash(weight + mode))) + (uint32_t)pid +
		     (uint64_t)(uint32_t)tid * 13;

	for (uint32_t i = 0; i < n; i++)
		h = map_hash(h ^ chain[i]);
	return h;
}

static int on_sample(void *ctx, const struct event *ev)
{
	struct sum *s = ctx;

	if (ev->time && (ev->time < s->first || !s->first))
		s->first = ev->time;
	if (ev->time > s->last)
		s->last = ev->time;
	s->samples =
		map_hash(s->samples ^ sample_hash(ev->time, ev->ip, ev->pid, ev->tid, ev->weight,
						  ev->mode, ev->chain, ev->chain_n));
	s->n++;
	return 0;
}

static int on_brief(void *ctx, const struct event_brief *b, size_t n)
{
	struct sum *s = ctx;

	for (size_t i = 0; i < n; i++)
		s->brief = map_hash(s->brief ^ sample_hash(b[i].time, b[i].ip, b[i].pid, b[i].tid,
							   b[i].weight, b[i].mode, b[i].chain,
							   b[i].chain_n));
	s->n_brief += n;
	return 0;
}

static struct sum read_all(struct source *s)
{
	struct sum sum = { 0 };

	for (size_t i = 0; i < s->n_chunks; i++) {
		s->read_chunk(s, i, on_sample, &sum, NULL);
		if (s->read_brief)
			s->read_brief(s, i, on_brief, &sum);
	}
	s->read_ordered(s, true, on_ordered, &sum, NULL);
	return sum;
}

static bool same(const struct source *a, const struct source *b)
{
	const struct trace *x = a->trace, *y = b->trace;

	for (uint64_t t = 0; t < 200000; t += 5000)
		for (int pid = 1; pid < 10; pid++)
			if (strcmp(strtab_get(tasks_strings(x->tasks),
					      tasks_comm_at(x->tasks, pid, t)),
				   strtab_get(tasks_strings(y->tasks),
					      tasks_comm_at(y->tasks, pid, t))) != 0)
				return false;
	return x->n_samples == y->n_samples && x->first_time == y->first_time &&
	       x->last_time == y->last_time && a->stable == b->stable &&
	       memcmp(&x->losses, &y->losses, sizeof(x->losses)) == 0;
}

static void compare(unsigned number, const char *what)
{
	struct source *one = NULL, *parts = NULL;
	struct sum a, b;
	struct err e = { 0 };
	bool damaged = what[0] == 'd';
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	file_write_all(fd, file.data, file.n * 8);
	close(fd);
	scan_part_bytes = (size_t)1 << 40;
	if (!CHECK(perfdata_open(path, &one, &e) == 0))
		return;
	scan_part_bytes = 4096;
	CHECK(perfdata_open(path, &parts, &e) == 0);
	a = read_all(one);
	b = read_all(parts);
	CHECK_CASE(same(one, parts) && a.samples == b.samples, "%s %u: parts are the whole", what,
		   number);
	/* what has no time stands where its chunk begins, and chunks are others */
	CHECK_CASE(a.timeless == b.timeless && (a.timeless || a.ordered == b.ordered),
		   "%s %u: in order", what, number);
	CHECK_CASE(damaged ||
			   (one->trace->first_time == a.first && one->trace->last_time == a.last),
		   "%s %u: from the first sample to the last", what, number);
	CHECK_CASE(!one->read_brief || (a.brief == a.samples && a.n_brief == a.n),
		   "%s %u: in brief and in full", what, number);
	source_close(one);
	source_close(parts);
}

int main(void)
{
	close(mkstemp(path));
	for (unsigned i = 0; i < 24; i++) {
		seed = i;
		timeless = i % 2;
		make(i % 3 == 1 ? 3 : 0, i % 4 == 3 ? 0 : 30);
		compare(i, "whole");
		for (unsigned k = 0; k < 1 + i % 5; k++)
			((uint8_t *)file.data)[400 + dice(file.n * 8 - 400)] ^=
				(uint8_t)(1 + dice(255));
		compare(i, "damaged");
	}
	vec_free(&file);
	unlink(path);
	return tap_end();
}
