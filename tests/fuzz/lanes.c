/* SPDX-License-Identifier: MIT */
/* Any bytes as events: as lanes, and those as marks, which keep their order at any scale. */
#include "fuzz.h"

#include <string.h>

#include "../unit/laneevents.h"
#include "calc/slices/lanes.h"

static void check_row(const struct lane_row *r, uint64_t from, uint64_t to, size_t most)
{
	struct lane_mark m[64];
	size_t n = lanes_marks(r, from, to, most, m);

	for (size_t i = 1; i < r->slices.n; i++)
		FUZZ_CHECK(r->slices.data[i].from >= r->slices.data[i - 1].to);
	FUZZ_CHECK(n <= most);
	for (size_t i = 0; i < n; i++) {
		FUZZ_CHECK(m[i].from >= from && m[i].from <= m[i].to && m[i].to <= to);
		FUZZ_CHECK(m[i].busy <= m[i].to - m[i].from);
		FUZZ_CHECK(m[i].count && m[i].longest < r->slices.n);
		FUZZ_CHECK(!i || m[i].from >= m[i - 1].to);
	}
}

/* Eight bytes an event: what, CPU, thread, three numbers, time since the last one, and a cut. */
static void add(struct lanes *l, const uint8_t *p, uint64_t *time)
{
	struct event ev;

	*time += p[6] * 3u;
	if (p[6] == 255) /* not in order */
		*time /= 2;
	ev = event(p[0] % ARRAY_SIZE(types), *time, p[1] % 4 == 3 ? UINT32_MAX : p[1] % 4,
		   (int8_t)p[2]);
	raw = (struct raw){ p[3], p[4], p[5], "" };
	raw.text[0] = (char)p[5];
	if (p[0] >= 250) {
		ev.kind = EVENT_LOST;
		ev.raw = NULL;
		ev.raw_size = 0;
	} else if (p[7] >= 200) {
		ev.raw_size = p[7] % sizeof(raw);
	}
	lanes_add(l, &ev);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lanes *l;
	uint64_t time = 100, from, to;

	if (size < 4 || size > 1u << 16)
		return 0;
	l = lanes_new(&trace);
	for (size_t i = 4; i + 8 <= size; i += 8)
		add(l, data + i, &time);
	lanes_finish(l);
	from = data[0] * 16u;
	to = from + (data[1] | data[2] << 8);
	vec_each (&l->lanes, lane)
		vec_each (&lane->rows, r)
			check_row(r, from, to, data[3] % 64);
	for (size_t i = 1; i < l->arrows.n; i++)
		FUZZ_CHECK(l->arrows.data[i].woken > 0);
	lanes_free(l);
	return 0;
}
