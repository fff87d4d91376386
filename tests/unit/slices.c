/* SPDX-License-Identifier: MIT */
/* Pairs of events: words, keys, what is counted, and a table that loses nothing. */
#include "calc/slices/slices.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

/* Two made types: begin {int id; char name[8]}, end {long who; char name[8]}. */
struct begin {
	int id;
	char name[8];
};
struct end {
	long who;
	char name[8];
};
static struct field begin_fields[] = {
	{ .name = "id", .kind = FIELD_INT, .offset = 0, .size = 4, .is_signed = true },
	{ .name = "name", .kind = FIELD_STRING, .offset = 4, .size = 8 },
};
static struct field end_fields[] = {
	{ .name = "who", .kind = FIELD_INT, .offset = 0, .size = 8, .is_signed = true },
	{ .name = "name", .kind = FIELD_STRING, .offset = 8, .size = 8 },
};
static struct event_type types[] = {
	{ .name = "t:begin",
	  .system = "t",
	  .event = "begin",
	  .fields = begin_fields,
	  .n_fields = 2 },
	{ .name = "t:end", .system = "t", .event = "end", .fields = end_fields, .n_fields = 2 },
	{ .name = "t:other", .system = "t", .event = "other" },
};
static struct trace trace = { .types = types, .n_types = 3 };

struct seen {
	uint64_t n, sum, last, note;
	int stop;
};

static int see(void *ctx, const struct slice *p)
{
	struct seen *s = ctx;

	if (p->kind != SLICE_WHOLE)
		return 0;
	s->n++;
	s->sum += slice_time(p);
	s->last = slice_time(p);
	s->note = p->note;
	return s->stop;
}

static uint64_t note(void *ctx, const struct event *ev, uint32_t slot)
{
	(void)ctx;
	(void)slot;
	return ev->time * 10;
}

static int begin(struct slices *p, uint64_t time, int id, const char *name)
{
	struct begin raw = { .id = id };

	snprintf(raw.name, sizeof(raw.name), "%s", name);
	return slices_add(p, &(struct event){ .kind = EVENT_SAMPLE,
					      .type = 0,
					      .time = time,
					      .tid = id,
					      .cpu = 1,
					      .raw = &raw,
					      .raw_size = sizeof(raw) });
}

static int end(struct slices *p, uint64_t time, long id, const char *name)
{
	struct end raw = { .who = id };

	snprintf(raw.name, sizeof(raw.name), "%s", name);
	return slices_add(p, &(struct event){ .kind = EVENT_SAMPLE,
					      .type = 1,
					      .time = time,
					      .tid = (int32_t)id,
					      .cpu = 1,
					      .raw = &raw,
					      .raw_size = sizeof(raw) });
}

static struct slices *make(const char *text, struct slice_rule *spec, struct seen *seen)
{
	struct slices *p = NULL;
	struct err e = { 0 };

	if (slice_rule_parse(text, spec, &e) < 0 ||
	    slices_new(&trace, spec, &(struct slices_opts){ .begin = note, .fn = see, .ctx = seen },
		       &p, &e) < 0)
		printf("# %s: %s\n", text, e.msg);
	return p;
}

static void words(void)
{
	static const char *const bad[] = { "",
					   "a",
					   "a,b",
					   "a by c",
					   "a,b by ",
					   " by x",
					   ",b by x",
					   "a, by x",
					   "a,b by x,,y",
					   "|a,b by x",
					   "a,b by 1,2,3,4,5,6,7,8,9" };
	struct slice_rule s;
	struct err e = { 0 };
	char *events;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_CASE(slice_rule_parse(bad[i], &s, &e) == -EINVAL && e.hint[0],
			   "'%s' is refused with a hint", bad[i]);
	CHECK_CASE(slice_rule_parse(" t:a | t:b , t:c by x, y=z", &s, &e) == 0,
		   "spaces do not matter");
	CHECK_CASE(s.n_begin == 2 && s.n_end == 1 && s.n_keys == 2,
		   "two beginnings, an end, two keys");
	CHECK_CASE(strcmp(s.begin[1], "t:b") == 0, "the second beginning");
	CHECK_CASE(strcmp(s.key[1].begin, "y") == 0, "a key of the beginning");
	CHECK_CASE(strcmp(s.key[1].end, "z") == 0, "and its name at the end");
	events = slice_rule_events(&s);
	CHECK_CASE(strcmp(events, "t:a,t:b,t:c") == 0, "the events, each once");
	free(events);
	slice_rule_free(&s);
	slice_rule_parse("a,a by x=y", &s, &e);
	events = slice_rule_events(&s);
	CHECK_CASE(strcmp(events, "a") == 0, "an event on both sides, once");
	free(events);
	slice_rule_free(&s);
}

static void matching(void)
{
	struct seen seen = { 0 };
	struct slice_rule s;
	struct slices_counts c;
	struct slices *p = make("t:begin,t:end by id=who,name", &s, &seen);

	begin(p, 100, 1, "a");
	begin(p, 110, 1, "b");
	begin(p, 120, 2, "a");
	end(p, 200, 1, "b");
	CHECK_CASE(seen.last == 90, "keys of different widths and texts decide");
	CHECK_CASE(seen.note == 1100, "what was noted at the beginning comes back");
	end(p, 300, 1, "b");
	CHECK_CASE(seen.n == 1, "an end without a beginning is none");
	begin(p, 350, 2, "a");
	end(p, 400, 2, "a");
	CHECK_CASE(seen.last == 50, "a second beginning replaces the first");
	end(p, 390, 1, "a");
	CHECK_CASE(seen.last == 290, "others are not disturbed");
	begin(p, 500, 7, "x");
	end(p, 499, 7, "x");
	CHECK_CASE(seen.last == 0, "an end before its beginning takes no time, not 584 years");
	begin(p, 600, 9, "left");
	slices_count(p, &c);
	CHECK_CASE(c.matched == 4 && c.lone_ends == 1 && c.again == 1 && c.open == 1,
		   "all is counted");
	slices_add(p,
		   &(struct event){ .kind = EVENT_SAMPLE, .type = 1, .raw = "x", .raw_size = 1 });
	slices_add(p, &(struct event){ .kind = EVENT_SAMPLE, .type = 2 });
	slices_add(p, &(struct event){ .kind = EVENT_COMM, .type = 1 });
	slices_count(p, &c);
	CHECK_CASE(c.matched == 4 && c.lone_ends == 1,
		   "short records and other events change nothing");
	seen.stop = 42;
	CHECK_CASE((uint64_t)end(p, 700, 9, "left") == 42, "the callback can stop the reading");
	slices_free(p);
	slice_rule_free(&s);
}

static void common_keys(void)
{
	struct seen seen = { 0 };
	struct slice_rule s;
	struct slices *p = make("begin,end by tid,cpu", &s, &seen);

	begin(p, 1, 5, "");
	end(p, 4, 5, "");
	CHECK_CASE(seen.last == 3, "tid and cpu are known of every event; names need no system");
	slices_free(p);
	slice_rule_free(&s);

	p = make("t:missing|t:begin,t:end by tid", &s, &seen);
	s.again = SLICE_KEEPS;
	begin(p, 10, 5, "");
	begin(p, 20, 5, "");
	end(p, 30, 5, "");
	CHECK_CASE(seen.last == 20, "where it is wished, the first beginning stays");
	slices_free(p);
	slice_rule_free(&s);

	p = make("t:end,t:end by who", &s, &seen);
	seen = (struct seen){ 0 };
	end(p, 10, 5, "");
	end(p, 30, 5, "");
	end(p, 60, 5, "");
	CHECK_CASE(seen.n == 2 && seen.sum == 50,
		   "an event that ends one pair and begins the next");
	slices_free(p);
	slice_rule_free(&s);
}

static bool is_odd(void *ctx, const struct event *ev)
{
	(void)ctx;
	return ev->tid % 2;
}

static void even_key(void *ctx, const struct event *ev, uint64_t *key)
{
	(void)ctx;
	(void)ev;
	key[0] &= ~(uint64_t)1;
}

static void hidden(void)
{
	struct seen seen = { 0 };
	struct slices_opts o = { .hide = is_odd, .fn = see, .ctx = &seen, .may_lack = true };
	struct slice_rule s;
	struct slices_counts c;
	struct slices *p = NULL;
	struct err e = { 0 };

	slice_rule_parse("t:begin|t:nothing,t:end by id=who", &s, &e);
	slices_new(&trace, &s, &o, &p, &e);
	begin(p, 1, 2, "");
	begin(p, 2, 3, "");
	begin(p, 3, 3, "");
	begin(p, 4, 5, "");
	end(p, 9, 2, "");
	end(p, 9, 3, "");
	end(p, 9, 4, "");
	slices_count(p, &c);
	CHECK_CASE(seen.n == 1 && seen.last == 8, "what is hidden is not shown");
	CHECK_CASE(c.begins == 1 && c.ends == 2 && c.lone_ends == 1 && !c.open && !c.again,
		   "nor are its ends, or the lack of them, counted");
	slices_free(p);
	slice_rule_free(&s);

	p = NULL;
	o = (struct slices_opts){ .keys = even_key, .fn = see, .ctx = &seen };
	slice_rule_parse("t:begin,t:end by id=who", &s, &e);
	slices_new(&trace, &s, &o, &p, &e);
	begin(p, 10, 6, "");
	end(p, 13, 7, "");
	CHECK_CASE(seen.n == 2 && seen.last == 3, "keys that say the same in two ways");
	slices_free(p);
	slice_rule_free(&s);

	p = NULL;
	o.may_lack = true;
	slice_rule_parse("t:nothing,t:end by who", &s, &e);
	CHECK_CASE(slices_new(&trace, &s, &o, &p, &e) == 0,
		   "where it is wished, an event that did not happen is no error");
	slices_free(p);
	slice_rule_free(&s);
}

static void refused(void)
{
	struct slice_rule s;
	struct slices *p = NULL;
	struct err e = { 0 };

	slice_rule_parse("t:begin,t:nothing by tid", &s, &e);
	CHECK_CASE(slices_new(&trace, &s, &(struct slices_opts){ 0 }, &p, &e) == -ENOENT &&
			   strstr(e.hint, "t:other"),
		   "an event that is not there: the hint has those that are");
	slice_rule_free(&s);
	slice_rule_parse("t:begin,t:end by colour", &s, &e);
	CHECK_CASE(slices_new(&trace, &s, &(struct slices_opts){ 0 }, &p, &e) == -ENOENT &&
			   strstr(e.hint, "id, name"),
		   "a field that is not there: the hint has those that are");
	slice_rule_free(&s);
	CHECK_CASE(!p, "nothing was made");
}

/* Against a plain array, with many open at once and in an order that makes clusters. */
static void many(void)
{
	enum { N = 5000 };
	static uint64_t since[N];
	struct seen seen = { 0 };
	struct slice_rule s;
	struct slices_counts c;
	struct slices *p = make("t:begin,t:end by id=who", &s, &seen);
	uint64_t sum = 0, n = 0, open = 0, x = 88172645463325252ull;
	bool good = true;

	for (uint64_t t = 1; t < 200000; t++) {
		int id;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		id = (int)(x % N);
		if (since[id]) {
			end(p, t, id, "");
			sum += t - since[id];
			n++;
			open--;
			good &= seen.last == t - since[id];
			since[id] = 0;
		} else {
			begin(p, t, id, "");
			since[id] = t;
			open++;
		}
	}
	slices_count(p, &c);
	CHECK_CASE(good && seen.n == n && seen.sum == sum && c.open == open && !c.lone_ends &&
			   !c.again,
		   "200,000 events in random order: each pair as an array has it");
	slices_free(p);
	slice_rule_free(&s);
}

/* --- what is odd --- */

static bool same_name(void *ctx, const struct slice *s, const struct event *ev)
{
	(void)ctx;
	return s->note == (uint64_t)((const struct end *)ev->raw)->name[0];
}

static uint64_t first_letter(void *ctx, const struct event *ev, uint32_t slot)
{
	(void)ctx;
	(void)slot;
	return (uint64_t)((const struct begin *)ev->raw)->name[0];
}

static int list(void *ctx, const struct slice *s)
{
	static const char *const names[] = { "whole", "lone", "misfit", "lost", "open" };
	char *text = ctx;

	sprintf(text + strlen(text), "%s %c %d-%d, ", names[s->kind], s->note ? (char)s->note : '-',
		(int)s->from, (int)s->to);
	return 0;
}

static void odd(void)
{
	char text[512] = "";
	struct slices_opts o = {
		.begin = first_letter, .fits = same_name, .fn = list, .ctx = text
	};
	struct slice_rule r;
	struct slices_counts c;
	struct slices *p = NULL;
	struct err e = { 0 };

	slice_rule_parse("t:begin,t:end by id=who", &r, &e);
	slices_new(&trace, &r, &o, &p, &e);
	end(p, 5, 1, "a");
	begin(p, 10, 1, "a");
	begin(p, 20, 1, "b");
	end(p, 30, 1, "x");
	end(p, 40, 1, "b");
	begin(p, 50, 2, "d");
	begin(p, 45, 3, "c");
	slices_finish(p, 60);
	CHECK_STR(text, "lone - 0-5, lost a 10-20, misfit b 20-30, lone - 0-40, open c 45-60, "
			"open d 50-60, ");
	slices_count(p, &c);
	CHECK_CASE(c.matched == 0 && c.lone_ends == 3 && c.again == 1 && c.open == 2,
		   "and counted so");
	slices_free(p);

	text[0] = '\0';
	o.misfits_pass = true;
	slices_new(&trace, &r, &o, &p, &e);
	begin(p, 20, 1, "b");
	end(p, 30, 1, "x");
	end(p, 40, 1, "b");
	CHECK_STR(text, "misfit b 20-30, whole b 20-40, ");
	slices_free(p);
	slice_rule_free(&r);
}

static void nesting(void)
{
	char text[2048] = "";
	struct slices_opts o = { .begin = first_letter, .fn = list, .ctx = text };
	struct slice_rule r;
	struct slices_counts c;
	struct slices *p = NULL;
	struct err e = { 0 };

	slice_rule_parse("t:begin,t:end by id=who", &r, &e);
	r.again = SLICE_NESTS;
	slices_new(&trace, &r, &o, &p, &e);
	begin(p, 10, 1, "a");
	begin(p, 20, 1, "b");
	begin(p, 25, 2, "x");
	begin(p, 30, 1, "c");
	end(p, 40, 1, "");
	end(p, 50, 1, "");
	end(p, 55, 2, "");
	begin(p, 60, 1, "d");
	slices_finish(p, 70);
	CHECK_STR(text,
		  "whole c 30-40, whole b 20-50, whole x 25-55, open a 10-70, open d 60-70, ");
	slices_free(p);

	slices_new(&trace, &r, &(struct slices_opts){ 0 }, &p, &e);
	for (uint64_t i = 0; i < 1000; i++)
		begin(p, i, 1, "");
	slices_count(p, &c);
	CHECK_CASE(c.open == SLICE_DEPTH && c.again == 1000 - SLICE_DEPTH,
		   "who never ends does not fill the memory");
	slices_free(p);
	slice_rule_free(&r);
}

int main(void)
{
	odd();
	nesting();
	words();
	matching();
	common_keys();
	hidden();
	refused();
	many();
	return tap_end();
}
