/* SPDX-License-Identifier: MIT */
/*
 * Records of the tracer blk, in the words of the kernel's own text:
 *
 *	254,0    Q  WS 391388160 + 512 [dd]
 */
#include <inttypes.h>
#include <string.h>

#include "view/ftrace/text_impl.h"

enum { F_SECTOR, F_BYTES, F_ACTION, F_DEVICE, F_ERROR, F_PDU_LEN, F_DATA, F_PID };

/* What an action tells beside its letter. */
enum says { GENERIC, WITH_ERROR, PLUG, UNPLUG, SPLIT, REMAP };

static const struct {
	const char *letter;
	enum says says;
} actions[] = {
	[1] = { "Q", GENERIC }, [2] = { "M", GENERIC },	   [3] = { "F", GENERIC },
	[4] = { "G", GENERIC }, [5] = { "S", GENERIC },	   [6] = { "R", WITH_ERROR },
	[7] = { "D", GENERIC }, [8] = { "C", WITH_ERROR }, [9] = { "P", PLUG },
	[10] = { "U", UNPLUG }, [11] = { "UT", UNPLUG },   [12] = { "I", GENERIC },
	[13] = { "X", SPLIT },	[14] = { "B", GENERIC },   [15] = { "A", REMAP },
};

/* Categories, above the action's low half. */
enum {
	IS_WRITE = 1 << 1,
	IS_FLUSH = 1 << 2,
	IS_SYNC = 1 << 3,
	IS_AHEAD = 1 << 11,
	IS_META = 1 << 12,
	IS_DISCARD = 1 << 13,
	IS_FUA = 1 << 15
};

static void blk_kind(unsigned what, uint64_t bytes, char *s)
{
	if (what & IS_FLUSH)
		*s++ = 'F';
	*s++ = what & IS_DISCARD ? 'D' : what & IS_WRITE ? 'W' : bytes ? 'R' : 'N';
	if (what & IS_FUA)
		*s++ = 'F';
	if (what & IS_AHEAD)
		*s++ = 'A';
	if (what & IS_SYNC)
		*s++ = 'S';
	if (what & IS_META)
		*s++ = 'M';
	*s = '\0';
}

/* Big-endian numbers behind the record; 0 when it is too short. */
static uint64_t blk_extra(const struct ftrace_text *t, const struct event *ev, unsigned at,
			  unsigned size)
{
	const struct field *f = t->now->field[F_DATA];
	uint64_t v = 0;

	if (!f || ev->raw_size < f->offset || ev->raw_size - f->offset < at + size)
		return 0;
	for (unsigned i = 0; i < size; i++)
		v = v << 8 | ((const uint8_t *)ev->raw)[f->offset + at + i];
	return v;
}

static void put_rest(struct ftrace_text *t, const struct event *ev, enum says says, uint64_t sector,
		     uint64_t sectors, const char *comm)
{
	uint64_t error = 0;

	switch (says) {
	case GENERIC:
		if (sectors)
			strbuf_printf(&t->b, "%" PRIu64 " + %" PRIu64 " ", sector, sectors);
		strbuf_printf(&t->b, "[%s]", comm);
		break;
	case WITH_ERROR:
		ftrace_text_number(t->now->field[F_ERROR], ev, &error);
		strbuf_printf(&t->b, "%" PRIu64 " ", sector);
		if (sectors)
			strbuf_printf(&t->b, "+ %" PRIu64 " ", sectors);
		strbuf_printf(&t->b, "[%d]", (int)(int16_t)error);
		break;
	case PLUG: strbuf_printf(&t->b, "[%s]", comm); break;
	case UNPLUG: strbuf_printf(&t->b, "[%s] %" PRIu64, comm, blk_extra(t, ev, 0, 8)); break;
	case SPLIT:
		strbuf_printf(&t->b, "%" PRIu64 " / %" PRIu64 " [%s]", sector,
			      blk_extra(t, ev, 0, 8), comm);
		break;
	case REMAP:
		strbuf_printf(&t->b, "%" PRIu64 " + %" PRIu64 " <- (%u,%u) %" PRIu64, sector,
			      sectors, (unsigned)blk_extra(t, ev, 0, 4) >> 20,
			      (unsigned)blk_extra(t, ev, 0, 4) & 0xfffff, blk_extra(t, ev, 8, 8));
		break;
	}
}

bool ftrace_put_blk(struct ftrace_text *t, const struct event *ev)
{
	uint64_t sector, bytes, action, device;
	unsigned act;
	char kind[8];

	if (t->opts.plain && ftrace_text_number(t->now->field[F_PID], ev, &action)) {
		strbuf_printf(&t->b, "%" PRId64, (int64_t)action);
		return false;
	}
	if (!ftrace_text_number(t->now->field[F_SECTOR], ev, &sector) ||
	    !ftrace_text_number(t->now->field[F_BYTES], ev, &bytes) ||
	    !ftrace_text_number(t->now->field[F_ACTION], ev, &action) ||
	    !ftrace_text_number(t->now->field[F_DEVICE], ev, &device))
		return true;
	act = (unsigned)action & 0xffff;
	blk_kind((unsigned)((uint32_t)action >> 16), bytes, kind);
	strbuf_printf(&t->b, "%3u,%-3u ", (unsigned)((uint32_t)device >> 20),
		      (unsigned)device & 0xfffff);
	if (!act || act >= ARRAY_SIZE(actions)) {
		strbuf_printf(&t->b, "action %u %s", act, kind);
		return false;
	}
	strbuf_printf(&t->b, "%2s %3s ", actions[act].letter, kind);
	put_rest(t, ev, actions[act].says, sector, (uint32_t)bytes >> 9,
		 ftrace_text_comm_of(t, ev->tid));
	return false;
}
