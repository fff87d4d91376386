/* SPDX-License-Identifier: MIT */
/* Lanes: states, arrows, calls and interrupts out of a small story, what is lost, and marks. */
#include "calc/slices/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "laneevents.h"
#include "tap.h"

static void happen(struct lanes *l, int type, uint64_t time, uint32_t cpu, int32_t tid, int64_t a,
		   int64_t b, int64_t c, const char *text)
{
	struct event ev = event(type, time, cpu, tid);

	raw = (struct raw){ a, b, c, "" };
	snprintf(raw.text, sizeof(raw.text), "%s", text);
	lanes_add(l, &ev);
}

static void switched(struct lanes *l, uint64_t time, uint32_t cpu, int prev, int state, int next)
{
	happen(l, SWITCH, time, cpu, prev, prev, next, state, "");
}

/* "running 100-200 cpu0 ^, ...": ^ nobody saw it begin, $ end, ! preempted. */
static const char *row_text(const struct lanes *l, enum lane_kind kind, uint32_t id, unsigned row)
{
	static const char *const states[] = { "unknown", "running", "runnable", "sleeping",
					      "disk",	 "stopped", "dead" };
	static char text[2048];
	const struct lane *lane = lanes_find(l, kind, id);
	size_t n = 0;

	text[0] = '\0';
	if (!lane || lane->rows.n <= row)
		return "none";
	vec_each (&lane->rows.data[row].slices, s) {
		if (kind == LANE_STATE)
			n += (size_t)sprintf(text + n, "%s", states[s->state]);
		if (kind == LANE_STATE && s->what)
			n += (size_t)sprintf(text + n, " by %u", s->what);
		if (kind == LANE_CPU)
			n += (size_t)sprintf(text + n, "%u", s->what);
		if (kind > LANE_STATE)
			n += (size_t)sprintf(text + n, "%s", strtab_get(&l->names, s->what));
		n += (size_t)sprintf(text + n, " %d-%d%s%s%s, ", (int)s->from, (int)s->to,
				     s->flags & LANE_NO_BEGIN ? "^" : "",
				     s->flags & LANE_NO_END ? "$" : "",
				     s->flags & LANE_PREEMPTED ? "!" : "");
	}
	return text;
}

static void story(void)
{
	struct lanes *l = lanes_new(&trace);

	switched(l, 200, 0, 1, 1, 2);		  /* 1 sleeps, 2 runs */
	happen(l, ENTER, 210, 0, 2, 0, 0, 0, ""); /* 2 reads ... */
	happen(l, ISSUE, 220, 0, 2, 8, 1000, 0, "R");
	happen(l, ISSUE, 225, 0, 2, 8, 2000, 0, "W");
	switched(l, 230, 0, 2, 2, 0);		   /* ... and waits for the disk */
	happen(l, WAKING, 240, 1, 5, 1, 0, 0, ""); /* 5 wakes 1 */
	happen(l, WAKING, 242, 1, 5, 1, 0, 0, ""); /* a second time is none */
	switched(l, 250, 0, 0, 0, 1);
	happen(l, IRQ, 260, 1, 5, 14, 0, 0, "ata");
	happen(l, DONE, 262, 1, 5, 8, 1000, 0, "R");
	happen(l, SOFT, 264, 1, 5, 4, 0, 0, "");   /* inside of it */
	happen(l, WAKING, 270, 1, 5, 2, 0, 0, ""); /* which wakes 2 */
	happen(l, SOFT_END, 275, 1, 5, 4, 0, 0, "");
	happen(l, IRQ_END, 280, 1, 5, 14, 0, 0, "");
	switched(l, 300, 0, 1, 0, 2); /* 1 is preempted */
	happen(l, EXIT, 310, 0, 2, 7, 0, 0, "");
	switched(l, 320, 0, 2, 0x10, 1); /* 2 ends */
	happen(l, ENTER2, 330, 0, 1, 0, 0, 0, "");
	switched(l, 400, 1, 5, 4, 0);
	lanes_finish(l);

	CHECK_STR(row_text(l, LANE_CPU, 0, 0),
		  "1 100-200^, 2 200-230, 1 250-300, 2 300-320, 1 320-400$, ");
	CHECK_STR(row_text(l, LANE_CPU, 1, 0), "5 100-400^, ");
	CHECK_STR(row_text(l, LANE_STATE, 1, 0),
		  "running 100-200^, sleeping 200-240, runnable by 5 240-250, running 250-300, "
		  "runnable 300-320!, running 320-400$, ");
	CHECK_STR(row_text(l, LANE_STATE, 2, 0),
		  "running 200-230, disk 230-270, runnable by 5 270-300, running 300-320, ");
	CHECK_STR(row_text(l, LANE_STATE, 5, 0), "running 100-400^, stopped 400-400$, ");
	CHECK_STR(row_text(l, LANE_CALL, 2, 0), "read 210-310, ");
	CHECK_STR(row_text(l, LANE_CALL, 1, 0), "poll 330-400$, ");
	CHECK_STR(row_text(l, LANE_IRQ, 1, 0), "ata 260-280, ");
	CHECK_STR(row_text(l, LANE_IRQ, 1, 1), "BLOCK 264-275, ");
	CHECK_STR(row_text(l, LANE_BLOCK, 8, 0), "R 220-262, ");
	CHECK_STR(row_text(l, LANE_BLOCK, 8, 1), "W 225-400$, ");
	CHECK_INT(l->arrows.n, 2);
	CHECK_CASE(l->arrows.data[0].time == 240 && l->arrows.data[0].waker == 5 &&
			   l->arrows.data[0].woken == 1 && l->arrows.data[0].cpu == 1 &&
			   !l->arrows.data[0].in_irq,
		   "a thread wakes a thread");
	CHECK_CASE(l->arrows.data[1].woken == 2 && l->arrows.data[1].in_irq,
		   "an interrupt wakes a thread");
	CHECK(!lanes_find(l, LANE_CPU, 7));
	lanes_free(l);
}

static void losses(void)
{
	struct lanes *l = lanes_new(&trace);
	struct event lost = event(0, 300, 0, -1);

	happen(l, EXIT, 150, 0, 3, 0, 0, 0, ""); /* begun before the recording */
	happen(l, DONE, 155, 0, 3, 8, 1, 0, "R");
	happen(l, ENTER, 160, 0, 3, 0, 0, 0, "");
	happen(l, ENTER2, 170, 0, 3, 0, 0, 0, ""); /* the end of read was lost */
	happen(l, EXIT, 180, 0, 3, 0, 0, 0, "");   /* and that of poll */
	switched(l, 200, 0, 3, 1, 4);
	happen(l, ENTER, 220, 0, 4, 0, 0, 0, "");
	lost.kind = EVENT_LOST;
	lanes_add(l, &lost);
	switched(l, 350, 0, 3, 1, 4); /* 3 had come meanwhile */
	switched(l, 400, 0, 5, 1, 6); /* and 5, without a record of a loss */
	lanes_finish(l);
	CHECK_STR(row_text(l, LANE_CALL, 3, 0), "read 100-150^, read 160-170$, poll 170-180$, ");
	CHECK_STR(row_text(l, LANE_BLOCK, 8, 0), "none");
	CHECK_STR(row_text(l, LANE_CPU, 0, 0),
		  "3 100-200^, 4 200-220$, 3 300-350^, 4 350-400$, 6 400-400$, ");
	CHECK_STR(row_text(l, LANE_STATE, 3, 0),
		  "running 100-200^, sleeping 200-350$, sleeping 350-400$, ");
	CHECK_STR(row_text(l, LANE_STATE, 4, 0), "running 200-220$, running 350-400$, ");
	CHECK_STR(row_text(l, LANE_CALL, 4, 0), "read 220-400$, ");
	lanes_free(l);
	lanes_free(lanes_new(&trace)); /* without an end */
	l = lanes_new(&trace);
	lanes_finish(l);
	CHECK_INT(l->lanes.n, 0);
	lanes_free(l);
	lanes_free(NULL);
}

/* Against the sums that a loop finds, of slices of random lengths with random gaps. */
static void marks(void)
{
	enum { N = 20000, MOST = 64 };
	struct lane_row r = { 0 };
	struct lane_mark m[MOST];
	uint64_t x = 88172645463325252ull, time = 1000;
	bool good = true, bounded = true;

	for (int i = 0; i < N; i++) {
		uint64_t from = time + (x >> 20) % 50, to = from + (x >> 40) % 90;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		vec_push(&r.slices, (struct lane_slice){ .from = from, .to = to });
		time = to;
	}
	lane_row_sum(&r);
	CHECK_INT(r.levels, 3);
	for (int t = 0; t < 300; t++) {
		uint64_t from = 500 + x % time, to = from + 1 + (x >> 30) % (t % 3 ? time : 2000);
		size_t most = 1 + (x >> 10) % MOST, n = lanes_marks(&r, from, to, most, m);

		bounded &= n <= most;
		for (size_t k = 0; k < n; k++) {
			uint64_t busy = 0, longest = 0, count = 0;

			vec_each (&r.slices, s) {
				uint64_t a = s->from > m[k].from ? s->from : m[k].from;
				uint64_t b = s->to < m[k].to ? s->to : m[k].to;

				if (a < b) {
					busy += b - a;
					longest = s->to - s->from > longest ? s->to - s->from
									    : longest;
					count++;
				}
			}
			good &= busy == m[k].busy && count <= m[k].count && m[k].from >= from &&
				m[k].to <= to && (!k || m[k].from >= m[k - 1].to) &&
				r.slices.data[m[k].longest].to - r.slices.data[m[k].longest].from >=
					longest;
		}
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	CHECK_CASE(bounded, "never more marks than were asked for");
	CHECK_CASE(good,
		   "300 views of 20,000 slices: time, count and longest as a loop finds them");
	lane_row_free(&r);

	r = (struct lane_row){ 0 };
	lane_row_sum(&r);
	CHECK_INT(lanes_marks(&r, 0, UINT64_MAX, MOST, m), 0);
	lane_row_free(&r);
	r = (struct lane_row){ 0 };
	for (unsigned i = 0; i < 16; i++)
		vec_push(&r.slices,
			 (struct lane_slice){ .from = i * 10, .to = i * 10 + 1 + i % 8 });
	lane_row_sum(&r);
	CHECK_INT(lanes_marks(&r, 15, 35, MOST, m), 2);
	CHECK_CASE(m[0].from == 20 && m[0].to == 23 && m[0].busy == 3 && m[0].longest == 2 &&
			   m[1].from == 30 && m[1].to == 34 && m[1].busy == 4 && m[1].count == 1,
		   "few slices are drawn as they are");
	CHECK_INT(lanes_marks(&r, 5, 145, 2, m), 2);
	CHECK_CASE(m[0].from == 10 && m[0].to == 75 && m[0].count == 7 && m[0].busy == 32 &&
			   m[0].longest == 7,
		   "the first half, to the middle of a slice");
	CHECK_CASE(m[1].from == 75 && m[1].to == 145 && m[1].count == 8 && m[1].longest == 7,
		   "the second, with the rest of it");
	CHECK_INT(lanes_marks(&r, 35, 35, MOST, m), 0);
	lane_row_free(&r);
}

int main(void)
{
	story();
	losses();
	marks();
	return tap_end();
}
