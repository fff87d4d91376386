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

static bool ftrace_text_blk_number(const struct ftrace_text *t, const struct ftrace_record *rec,
				   int which, int64_t *ret)
{
	const struct field *f = t->now->field[which];

	return f && field_int(f, rec->r.data, rec->r.size, ret);
}

static void ftrace_text_blk_kind_of(unsigned what, int64_t bytes, char *s)
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
static uint64_t ftrace_text_blk_extra(const struct ftrace_text *t, const struct ftrace_record *rec,
				      unsigned at, unsigned size)
{
	const struct field *f = t->now->field[F_DATA];
	uint64_t v = 0;

	if (!f || rec->r.size < f->offset || rec->r.size - f->offset < at + size)
		return 0;
	for (unsigned i = 0; i < size; i++)
		v = v << 8 | rec->r.data[f->offset + at + i];
	return v;
}

static void put_rest(struct ftrace_text *t, const struct ftrace_record *rec, enum says says,
		     uint64_t sector, uint64_t sectors, const char *comm)
{
	int64_t error = 0;

	switch (says) {
	case GENERIC:
		if (sectors)
			strbuf_printf(&t->b, "%" PRIu64 " + %" PRIu64 " ", sector, sectors);
		strbuf_printf(&t->b, "[%s]", comm);
		break;
	case WITH_ERROR:
		ftrace_text_blk_number(t, rec, F_ERROR, &error);
		strbuf_printf(&t->b, "%" PRIu64 " ", sector);
		if (sectors)
			strbuf_printf(&t->b, "+ %" PRIu64 " ", sectors);
		strbuf_printf(&t->b, "[%d]", (int)(int16_t)error);
		break;
	case PLUG: strbuf_printf(&t->b, "[%s]", comm); break;
	case UNPLUG:
		strbuf_printf(&t->b, "[%s] %" PRIu64, comm, ftrace_text_blk_extra(t, rec, 0, 8));
		break;
	case SPLIT:
		strbuf_printf(&t->b, "%" PRIu64 " / %" PRIu64 " [%s]", sector,
			      ftrace_text_blk_extra(t, rec, 0, 8), comm);
		break;
	case REMAP:
		strbuf_printf(&t->b, "%" PRIu64 " + %" PRIu64 " <- (%u,%u) %" PRIu64, sector,
			      sectors, (unsigned)ftrace_text_blk_extra(t, rec, 0, 4) >> 20,
			      (unsigned)ftrace_text_blk_extra(t, rec, 0, 4) & 0xfffff,
			      ftrace_text_blk_extra(t, rec, 8, 8));
		break;
	}
}

bool ftrace_put_blk(struct ftrace_text *t, const struct ftrace_record *rec,
		    const struct ftrace_next *next)
{
	int64_t sector, bytes, action, device;
	unsigned act;
	char kind[8];

	(void)next;
	if (t->opts.plain && ftrace_text_blk_number(t, rec, F_PID, &action)) {
		strbuf_printf(&t->b, "%" PRId64, action);
		return false;
	}
	if (!ftrace_text_blk_number(t, rec, F_SECTOR, &sector) ||
	    !ftrace_text_blk_number(t, rec, F_BYTES, &bytes) ||
	    !ftrace_text_blk_number(t, rec, F_ACTION, &action) ||
	    !ftrace_text_blk_number(t, rec, F_DEVICE, &device))
		return true;
	act = (unsigned)action & 0xffff;
	ftrace_text_blk_kind_of((unsigned)((uint32_t)action >> 16), bytes, kind);
	strbuf_printf(&t->b, "%3u,%-3u ", (unsigned)((uint32_t)device >> 20),
		      (unsigned)device & 0xfffff);
	if (!act || act >= ARRAY_SIZE(actions)) {
		strbuf_printf(&t->b, "action %u %s", act, kind);
		return false;
	}
	strbuf_printf(&t->b, "%2s %3s ", actions[act].letter, kind);
	put_rest(t, rec, actions[act].says, (uint64_t)sector, (uint64_t)(uint32_t)bytes >> 9,
		 ftrace_text_comm_of(t, rec->pid));
	return false;
}
