/* SPDX-License-Identifier: MIT */
/* perf.data files made by hand: every size of attr, every field of a sample, both endians. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/vec.h"
#include "config.h"
#include "store/perfdata/perfdata.h"
#include "tap.h"

#if HAVE_ZSTD
#	include <zstd.h>
#endif

/* --- making files --- */

struct buf {
	VEC(uint8_t) v;
	bool big;
};

static void put(struct buf *b, uint64_t v, int size)
{
	for (int i = 0; i < size; i++)
		vec_push(&b->v, (uint8_t)(v >> 8 * (b->big ? size - 1 - i : i)));
}

static void put64(struct buf *b, uint64_t v)
{
	put(b, v, 8);
}

static void put_bytes(struct buf *b, const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		vec_push(&b->v, ((const uint8_t *)p)[i]);
}

static void patch(struct buf *b, size_t at, uint64_t v, int size)
{
	size_t n = b->v.n;

	b->v.n = at;
	put(b, v, size);
	b->v.n = n;
}

struct attr {
	uint32_t type;
	uint64_t config, period, sample_type, read_format, flags, branch, regs_user, regs_intr;
	uint32_t stack_user;
};

/* flags: bit 1 inherit, 10 freq, 15-16 precise_ip, 18 sample_id_all, counted as on x86. */
static void put_attr(struct buf *b, const struct attr *a, size_t size)
{
	size_t start = b->v.n;
	uint64_t flags = 0;

	/* A big-endian machine has its bitfields from the top; precise_ip is two bits wide. */
	for (int i = 0; i < 64; i++) {
		int to = i == 15 ? 47 : i == 16 ? 48 : 63 - i;

		if (a->flags >> i & 1)
			flags |= 1ull << (b->big ? to : i);
	}
	put(b, a->type, 4);
	put(b, size, 4);
	put64(b, a->config);
	put64(b, a->period);
	put64(b, a->sample_type);
	put64(b, a->read_format);
	put64(b, flags);
	put64(b, 0); /* wakeup, bp_type */
	put64(b, 0); /* bp_addr */
	put64(b, 0); /* bp_len */
	put64(b, a->branch);
	put64(b, a->regs_user);
	put(b, a->stack_user, 4);
	put(b, 0, 4);
	put64(b, a->regs_intr);
	while (b->v.n < start + size)
		put(b, 0xee, 1); /* later kernels' fields */
	b->v.n = start + size;
}

/* Header, attrs with one id each (100, 101 ...), data; the size is set by finish(). */
static struct buf begin(const struct attr *a, size_t n, size_t attr_size, bool big)
{
	struct buf b = { .big = big };
	size_t ids = 104, attrs = ids + n * 8;

	put64(&b, PERFDATA_MAGIC);
	put64(&b, 104);
	put64(&b, attr_size + 16);
	put64(&b, attrs);
	put64(&b, n * (attr_size + 16));
	put64(&b, attrs + n * (attr_size + 16));
	for (int i = 0; i < 7; i++)
		put64(&b, 0);
	for (size_t i = 0; i < n; i++)
		put64(&b, 100 + i);
	for (size_t i = 0; i < n; i++) {
		put_attr(&b, &a[i], attr_size);
		put64(&b, ids + i * 8);
		put64(&b, 8);
	}
	return b;
}

static size_t record(struct buf *b, uint32_t type, uint16_t misc)
{
	put(b, type, 4);
	put(b, misc, 2);
	put(b, 0, 2);
	return b->v.n - 8;
}

static void end_record(struct buf *b, size_t at)
{
	while ((b->v.n - at) % 8)
		put(b, 0, 1);
	patch(b, at + 6, b->v.n - at, 2);
}

static char path[] = "/tmp/kymo-perfdata-XXXXXX";

static struct source *open_bytes(const uint8_t *data, size_t n, struct err *e)
{
	int fd = open(path, O_WRONLY | O_TRUNC);
	struct source *s = NULL;

	file_write_all(fd, data, n);
	close(fd);
	return perfdata_open(path, &s, e) == 0 ? s : NULL;
}

static struct source *finish(struct buf *b, struct err *e)
{
	uint64_t data;

	memcpy(&data, b->v.data + 40, 8);
	data = b->big ? __builtin_bswap64(data) : data;
	patch(b, 48, b->v.n - data, 8);
	return open_bytes(b->v.data, b->v.n, e);
}

/* --- reading them --- */

struct seen {
	size_t n;
	struct event ev;
	struct event_extra extra;
	uint64_t times[16], weights[16], chain[8];
	uint32_t types[16];
	uint64_t weight_of_type[4];
	uint8_t raw[64], stack[64];
	struct event_branch branch[2];
	uint64_t regs[4];
};

static int look(void *ctx, const struct event *ev)
{
	struct seen *s = ctx;

	if (s->n < 16) {
		s->times[s->n] = ev->time;
		s->weights[s->n] = ev->weight;
		s->types[s->n] = ev->type;
	}
	if (ev->type < 4)
		s->weight_of_type[ev->type] += ev->weight;
	s->n++;
	s->ev = *ev;
	for (uint32_t i = 0; i < ev->chain_n && i < 8; i++)
		s->chain[i] = ev->chain[i];
	if (ev->raw_size <= sizeof(s->raw) && ev->raw)
		memcpy(s->raw, ev->raw, ev->raw_size);
	if (ev->extra) {
		s->extra = *ev->extra;
		if (s->extra.stack && s->extra.stack_size <= sizeof(s->stack))
			memcpy(s->stack, s->extra.stack, s->extra.stack_size);
		for (uint64_t i = 0; i < s->extra.branch_n && i < 2; i++)
			s->branch[i] = s->extra.branch[i];
		for (int i = 0; s->extra.regs && i < 2; i++)
			s->regs[i] = s->extra.regs[i];
	}
	return 0;
}

static void read_all(struct source *s, struct seen *ret)
{
	*ret = (struct seen){ 0 };
	for (size_t i = 0; i < s->n_chunks; i++)
		s->read_chunk(s, i, look, ret, NULL);
}

#define BASIC (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

static void put_basic(struct buf *b, uint64_t ip, uint32_t pid, uint32_t tid, uint64_t time)
{
	size_t r = record(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);

	put64(b, ip);
	put(b, pid, 4);
	put(b, tid, 4);
	put64(b, time);
	end_record(b, r);
}

static void add_setting(void *ctx, const char *name, const char *value)
{
	strbuf_printf(ctx, "%s: %s\n", name, value);
}

static bool has_setting(const struct source *s, const char *what)
{
	AUTO_STRBUF b = { 0 };

	s->settings(s, 0, add_setting, &b);
	return strstr(strbuf_str(&b), what) != NULL;
}

static void attr_sizes(void)
{
	static const size_t sizes[] = { 64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 200 };
	const struct attr a = {
		.type = 1, .period = 777, .sample_type = BASIC, .flags = 3u << 15 | 2
	};

	for (int big = 0; big < 2; big++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			struct buf b = begin(&a, 1, sizes[i], big);
			struct seen seen = { 0 };
			struct source *s;

			put_basic(&b, 0x1234, 7, 8, 99);
			s = finish(&b, NULL);
			if (s)
				read_all(s, &seen);
			CHECK_CASE(
				s && seen.n == 1 && seen.ev.ip == 0x1234 && seen.ev.pid == 7 &&
					seen.ev.tid == 8 && seen.ev.time == 99 &&
					seen.ev.weight == 777 && seen.ev.mode == EVENT_MODE_USER &&
					has_setting(s, "precise_ip: 3") &&
					has_setting(s, "inherit: 1") && !has_setting(s, "pinned"),
				"attr of %zu bytes, %s", sizes[i], big ? "big" : "little");
			source_close(s);
			vec_free(&b.v);
		}
}

static void put_full_sample(struct buf *b)
{
	static const char raw[] = "0123456789a", stack[] = "the user's stack";
	size_t r = record(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);

	put64(b, 100);	  /* identifier */
	put64(b, 0x1111); /* ip */
	put(b, 21, 4);	  /* pid, tid */
	put(b, 22, 4);
	put64(b, 5000);	  /* time */
	put64(b, 0x2222); /* addr */
	put64(b, 100);	  /* id */
	put64(b, 0x3333); /* stream */
	put(b, 5, 4);	  /* cpu */
	put(b, 0, 4);
	put64(b, 444); /* period */
	put64(b, 3);   /* chain */
	put64(b, EVENT_CHAIN_KERNEL);
	put64(b, 0x1111);
	put64(b, 0x1112);
	put(b, 12, 4); /* raw */
	put_bytes(b, raw, 12);
	put64(b, 2);  /* branches */
	put64(b, 17); /* hardware index */
	for (int i = 0; i < 2; i++) {
		put64(b, 0x9000 + (uint64_t)i);
		put64(b, 0xa000 + (uint64_t)i);
		/* predicted, 9 cycles, type 3: from the other end on the other endian */
		put64(b, b->big ? 1ull << 62 | 9ull << 44 | 3ull << 40 : 2 | 9 << 4 | 3 << 20);
	}
	put64(b, 2); /* user registers */
	put64(b, 0xb1);
	put64(b, 0xb2);
	put64(b, 24); /* stack */
	put_bytes(b, stack, 17);
	put_bytes(b, "\0\0\0\0\0\0", 7);
	put64(b, 17);
	put64(b, 0x0001000200000003); /* weight: 3, 2, 1 */
	put64(b, 0x5080021);
	put64(b, 0x7777); /* transaction */
	put64(b, 2);	  /* registers */
	put64(b, 0xc1);
	put64(b, 0x8888); /* physical address */
	put64(b, 0x9999); /* control group */
	put64(b, 4096);
	put64(b, 2 << 20);
	put64(b, 3); /* aux */
	put_bytes(b, "aux", 3);
	end_record(b, r);
}

static void every_field(bool big)
{
	const struct attr a = { .type = 1,
				.period = 1,
				.sample_type = 0x1ffffff &
					       ~(uint64_t)(PERF_SAMPLE_READ | PERF_SAMPLE_WEIGHT),
				.branch = PERF_SAMPLE_BRANCH_HW_INDEX,
				.regs_user = 3,
				.regs_intr = 1,
				.stack_user = 24,
				.flags = 1u << 18 };
	struct buf b = begin(&a, 1, 128, big);
	struct seen seen = { 0 };
	struct source *s;

	put_full_sample(&b);
	s = finish(&b, NULL);
	if (!CHECK(s != NULL))
		return;
	read_all(s, &seen);
	CHECK_INT(seen.n, 1);
	CHECK_INT(seen.ev.ip, 0x1111);
	CHECK_INT(seen.ev.pid, 21);
	CHECK_INT(seen.ev.tid, 22);
	CHECK_INT(seen.ev.addr, 0x2222);
	CHECK_INT(seen.ev.id, 100);
	CHECK_INT(seen.ev.cpu, 5);
	CHECK_INT(seen.ev.weight, 444);
	CHECK_INT(seen.ev.chain_n, 3);
	CHECK(seen.chain[0] == EVENT_CHAIN_KERNEL && seen.chain[2] == 0x1112);
	CHECK_INT(seen.ev.raw_size, 12);
	CHECK(memcmp(seen.raw, "0123456789a", 12) == 0);
	CHECK_INT(seen.extra.stream_id, 0x3333);
	CHECK_INT(seen.extra.branch_n, 2);
	CHECK_INT(seen.extra.branch_hw_index, 17);
	CHECK_INT(seen.branch[1].to, 0xa001);
	CHECK_INT(seen.branch[1].flags, 2 | 9 << 4 | 3 << 20);
	CHECK_INT(seen.regs[1], 0xb2);
	CHECK_INT(seen.extra.stack_size, 17);
	CHECK_STR((const char *)seen.stack, "the user's stack");
	CHECK_INT(seen.extra.weight, 0x0001000200000003);
	CHECK_INT(seen.extra.data_src, 0x5080021);
	CHECK_INT(seen.extra.transaction, 0x7777);
	CHECK(seen.extra.regs_intr != NULL);
	CHECK_INT(seen.extra.phys_addr, 0x8888);
	CHECK_INT(seen.extra.cgroup, 0x9999);
	CHECK_INT(seen.extra.data_page_size, 4096);
	CHECK_INT(seen.extra.code_page_size, 2 << 20);
	CHECK_INT(seen.extra.aux_size, 3);
	source_close(s);

	/* Cut anywhere, it is no sample, and nothing else happens. */
	for (size_t i = b.v.n - 8, bad = 0; i > 350; i -= 8) {
		size_t at = 104 + 8 + 128 + 16;

		patch(&b, at + 6, i - at, 2);
		b.v.n = i;
		s = finish(&b, NULL);
		read_all(s, &seen);
		bad += seen.n == 0 && s->trace->losses.bad_records == 1;
		if (i <= 358)
			CHECK_CASE(bad > 20, "%zu samples that end too soon are left out", bad);
		source_close(s);
	}
	vec_free(&b.v);
}

static void put_comm(struct buf *b, uint32_t pid, const char *comm, uint64_t time, uint16_t misc)
{
	size_t r = record(b, PERF_RECORD_COMM, misc);
	char text[16] = { 0 };

	snprintf(text, sizeof(text), "%s", comm);
	put(b, pid, 4);
	put(b, pid, 4);
	put_bytes(b, text, 16);
	put(b, pid, 4); /* trailer: pid, tid, time */
	put(b, pid, 4);
	put64(b, time);
	end_record(b, r);
}

static void order_and_names(bool big)
{
	const struct attr a = { .type = 1, .sample_type = BASIC, .flags = 1u << 18 };
	struct buf b = begin(&a, 1, 128, big);
	struct seen seen = { 0 };
	struct source *s;
	size_t r;
	bool sorted = true;

	put_comm(&b, 7, "later", 300, PERF_RECORD_MISC_COMM_EXEC);
	put_comm(&b, 7, "first", 0, 0);
	put_basic(&b, 3, 7, 7, 350);
	put_basic(&b, 1, 7, 7, 100);
	put_basic(&b, 2, 7, 7, 250);
	put_basic(&b, 4, 7, 7, 100);
	/* Records of other programs, or of another time. */
	r = record(&b, 60, 0);
	put64(&b, 1);
	end_record(&b, r);
	r = record(&b, 200, 0);
	end_record(&b, r);
	s = finish(&b, NULL);
	if (!CHECK(s != NULL))
		return;
	CHECK_INT(s->trace->n_samples, 4);
	CHECK_INT(s->trace->first_time, 100);
	CHECK_INT(s->trace->last_time, 350);
	CHECK_INT(s->trace->losses.unknown_records, 2);
	CHECK_STR(
		strtab_get(tasks_strings(s->trace->tasks), tasks_comm_at(s->trace->tasks, 7, 299)),
		"first");
	CHECK_STR(
		strtab_get(tasks_strings(s->trace->tasks), tasks_comm_at(s->trace->tasks, 7, 300)),
		"later");
	s->read_ordered(s, false, look, &seen, NULL);
	CHECK_INT(seen.n, 4);
	for (size_t i = 1; i < seen.n; i++)
		sorted = sorted && seen.times[i - 1] <= seen.times[i];
	CHECK(sorted);
	CHECK_INT(seen.ev.ip, 3);
	seen = (struct seen){ 0 };
	s->read_ordered(s, true, look, &seen, NULL);
	CHECK_INT(seen.n, 6);
	source_close(s);
	vec_free(&b.v);
}

/* Counters that were read with each sample: events of their own, by what was added. */
static void groups(void)
{
	const uint64_t st = BASIC | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_READ;
	const uint64_t rf = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST;
	const struct attr a[2] = {
		{ .type = 1, .sample_type = st, .read_format = rf, .flags = 1u << 18 },
		{ .type = 1, .config = 2, .sample_type = st, .read_format = rf }
	};
	struct buf b = begin(a, 2, 128, false);
	struct seen seen, ordered = { 0 };
	struct source *s;
	const uint64_t n = 60000;

	for (uint64_t i = 1; i <= n; i++) {
		size_t r = record(&b, PERF_RECORD_SAMPLE, 0);

		put64(&b, 100);
		put64(&b, i);
		put64(&b, 7 | 7ull << 32);
		put64(&b, 1000 + i);
		put64(&b, 2);
		put64(&b, i * 10); /* the first counter adds 10 each time */
		put64(&b, 100);
		put64(&b, 0);
		put64(&b, i / 2); /* the second 1 every other time */
		put64(&b, 101);
		put64(&b, 0);
		end_record(&b, r);
	}
	s = finish(&b, NULL);
	if (!CHECK(s != NULL))
		return;
	CHECK(s->n_chunks > 2);
	read_all(s, &seen);
	CHECK_INT(seen.weight_of_type[0], n * 10);
	CHECK_INT(seen.weight_of_type[1], n / 2);
	CHECK_INT(seen.n, n + n / 2);
	s->read_ordered(s, false, look, &ordered, NULL);
	CHECK_INT(ordered.n, seen.n);
	CHECK_INT(ordered.weight_of_type[1], n / 2);
	/* A chunk in the middle starts with the values of the one before. */
	seen = (struct seen){ 0 };
	s->read_chunk(s, 1, look, &seen, NULL);
	CHECK_INT(seen.weights[0], 10);
	source_close(s);
	vec_free(&b.v);
}

static void put_with_id(struct buf *b, uint64_t id, uint64_t time)
{
	size_t r = record(b, PERF_RECORD_SAMPLE, 0);

	put64(b, id);
	put64(b, time);
	end_record(b, r);
}

static void ids(void)
{
	const struct attr a[2] = {
		{ .type = 1, .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME },
		{ .type = 1, .config = 3, .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME }
	};
	struct buf b = begin(a, 2, 128, false);
	struct seen seen;
	struct source *s;

	put_with_id(&b, 101, 1);
	put_with_id(&b, 100, 2);
	put_with_id(&b, 555, 3); /* nobody's */
	put_with_id(&b, 0, 4);	 /* taken for the first event's */
	s = finish(&b, NULL);
	read_all(s, &seen);
	CHECK_INT(seen.n, 3);
	CHECK_INT(seen.types[0], 1);
	CHECK_INT(seen.types[1], 0);
	CHECK_INT(seen.types[2], 0);
	CHECK_INT(s->trace->losses.bad_records, 1);
	CHECK_STR(s->trace->types[0].name, "cpu-clock");
	CHECK_STR(s->trace->types[1].name, "context-switches");
	source_close(s);
	vec_free(&b.v);
}

/* Trace data follows its record outside its size. */
static void payloads(void)
{
	const struct attr a = { .type = 1, .sample_type = BASIC };
	struct buf b = begin(&a, 1, 128, false);
	struct seen seen;
	struct source *s;
	size_t r;

	put_basic(&b, 1, 7, 7, 1);
	r = record(&b, PERFDATA_AUXTRACE, 0);
	put64(&b, 32);
	for (int i = 0; i < 4; i++)
		put64(&b, 0);
	end_record(&b, r);
	for (int i = 0; i < 4; i++)
		put64(&b, UINT64_MAX); /* 32 bytes that are no records */
	put_basic(&b, 2, 7, 7, 2);
	s = finish(&b, NULL);
	read_all(s, &seen);
	CHECK_INT(seen.n, 2);
	CHECK_INT(seen.ev.ip, 2);
	CHECK_STR(s->trace->losses.note, "");
	source_close(s);
	vec_free(&b.v);
}

static void damaged(void)
{
	const struct attr a = { .type = 1, .sample_type = BASIC };
	struct buf b = begin(&a, 1, 128, false);
	struct err e = { 0 };
	struct seen seen;
	struct source *s;
	size_t data = b.v.n, r;

	put_basic(&b, 1, 7, 7, 1);
	put_basic(&b, 2, 7, 7, 2);
	r = b.v.n;
	put64(&b, 0); /* a header without a size */
	put64(&b, 0x1234);
	end_record(&b, record(&b, PERFDATA_FINISHED_ROUND, 0));
	put_basic(&b, 3, 7, 7, 3);
	s = finish(&b, NULL);
	read_all(s, &seen);
	CHECK_INT(seen.n, 3);
	CHECK_INT(s->trace->losses.cut_bytes, 16);
	CHECK(strstr(s->trace->losses.note, "damaged") != NULL);
	source_close(s);

	/* The recorder was killed before it wrote the size; then in the middle of a record. */
	b.v.n = r;
	patch(&b, 48, 0, 8);
	s = open_bytes(b.v.data, b.v.n, NULL);
	read_all(s, &seen);
	CHECK_INT(seen.n, 2);
	CHECK(s->trace->losses.cut && strstr(s->trace->losses.note, "killed"));
	source_close(s);
	s = open_bytes(b.v.data, b.v.n - 5, NULL);
	read_all(s, &seen);
	CHECK_INT(seen.n, 1);
	CHECK(s->trace->losses.cut);
	source_close(s);

	CHECK(!open_bytes(b.v.data, 0, &e) && strstr(e.msg, "empty"));
	CHECK(!open_bytes(b.v.data, 10, &e) && strstr(e.msg, "10 bytes"));
	CHECK(!open_bytes((const uint8_t *)"not a recording at all", 22, &e) &&
	      strstr(e.msg, "PERFILE2"));
	CHECK(!open_bytes(b.v.data, 200, &e) && strstr(e.msg, "damaged"));
	CHECK(data > 200);
	vec_free(&b.v);
}

#if HAVE_ZSTD
/* One stream over all records; what comes out is cut anywhere. */
static void compressed(uint32_t type)
{
	const struct attr a = { .type = 1, .sample_type = BASIC };
	struct buf b = begin(&a, 1, 128, false), plain = { 0 };
	ZSTD_CStream *z = ZSTD_createCStream();
	struct seen seen;
	struct source *s;
	size_t n = 20000, done = 0;

	for (size_t i = 0; i < n; i++)
		put_basic(&plain, i * 7919, 7, 7, i + 1);
	while (done < plain.v.n) {
		uint8_t out[8192];
		size_t step = plain.v.n - done < 3001 ? plain.v.n - done : 3001, r;
		ZSTD_inBuffer from = { plain.v.data + done, step, 0 };
		ZSTD_outBuffer to = { out, sizeof(out), 0 };

		ZSTD_compressStream2(z, &to, &from, ZSTD_e_flush);
		done += from.pos;
		r = record(&b, type, 0);
		if (type == PERFDATA_COMPRESSED2)
			put64(&b, to.pos);
		put_bytes(&b, out, to.pos);
		if (type == PERFDATA_COMPRESSED2)
			end_record(&b, r);
		else
			patch(&b, r + 6, b.v.n - r, 2);
	}
	s = finish(&b, NULL);
	if (CHECK(s != NULL)) {
		read_all(s, &seen);
		CHECK_INT(seen.n, n);
		CHECK_INT(seen.ev.ip, (n - 1) * 7919);
		CHECK_INT(s->trace->losses.bad_records, 0);
		source_close(s);
	}
	ZSTD_freeCStream(z);
	vec_free(&plain.v);
	vec_free(&b.v);
}
#endif

static void pipe_form(void)
{
	const struct attr a = { .type = 1, .sample_type = BASIC };
	struct buf b = { 0 };
	struct seen seen;
	struct source *s;
	size_t r;

	put64(&b, PERFDATA_MAGIC);
	put64(&b, 16);
	r = record(&b, PERFDATA_HEADER_ATTR, 0);
	put_attr(&b, &a, 136);
	put64(&b, 100);
	end_record(&b, r);
	r = record(&b, PERFDATA_EVENT_UPDATE, 0);
	put64(&b, PERFDATA_UPDATE_NAME);
	put64(&b, 100);
	put_bytes(&b, "my clock", 9);
	end_record(&b, r);
	r = record(&b, PERFDATA_HEADER_FEATURE, 0);
	put64(&b, PERFDATA_HOSTNAME);
	put(&b, 8, 4);
	put_bytes(&b, "machine", 8);
	end_record(&b, r);
	put_basic(&b, 1, 7, 7, 1);
	s = open_bytes(b.v.data, b.v.n, NULL);
	if (CHECK(s != NULL)) {
		read_all(s, &seen);
		CHECK_INT(seen.n, 1);
		CHECK_STR(s->trace->types[0].name, "my clock");
		CHECK_STR(s->trace->info.hostname, "machine");
		source_close(s);
	}
	vec_free(&b.v);
}

int main(void)
{
	close(mkstemp(path));
	attr_sizes();
	every_field(false);
	every_field(true);
	order_and_names(false);
	order_and_names(true);
	groups();
	ids();
	payloads();
	damaged();
#if HAVE_ZSTD
	compressed(PERFDATA_COMPRESSED);
	compressed(PERFDATA_COMPRESSED2);
#endif
	pipe_form();
	unlink(path);
	return tap_end();
}
