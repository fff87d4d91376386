/* SPDX-License-Identifier: MIT */
/* Inside the writer of Perfetto traces: what its parts share. Not for others. */
#pragma once

#include "base/map.h"
#include "base/pb.h"
#include "base/vec.h"
#include "calc/slices/slices.h"
#include "calc/slices/switches.h"
#include "view/export/export.h"

struct ftrace_rule; /* how a tracepoint is said in Perfetto's own message for it */

/* A sequence of packets: what one refers to by number must have been said in it before. */
struct perfetto_seq {
	uint32_t id;
	bool begun;
	struct map said; /* kind and number */
};

struct perfetto_type {
	const struct ftrace_rule *rule; /* NULL: there is no message of its own */
	const struct field *field[8];	/* those of the rule */
	struct perfetto_seq samples;
	struct map counts; /* by CPU: the sum so far */
};

struct perfetto {
	struct export_job *x;
	struct pb b; /* whole packets */
	struct switches switches;
	struct perfetto_type *types;
	struct perfetto_seq tracks;
	VEC(struct pb) cpus; /* events of a CPU that wait to be written */
	struct strtab strings;
	VEC(uint32_t) mapping_site; /* by mapping: a site in it */
	struct map mapping_index;
	struct slices *calls;
};

/* Field numbers of TracePacket. */
enum {
	PACKET_FTRACE = 1,
	PACKET_PROCESS_TREE = 2,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_SYSTEM_INFO = 45,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_PERF_SAMPLE = 66,
	PACKET_FIRST = 87,
};
#define SEQUENCE_CLEARED 1
#define SEQUENCE_NEEDS_STATE 2

/* --- view/export/perfetto.c --- */
/* What was given goes to pb_end() through perfetto_end(). */
size_t perfetto_packet(struct perfetto *p, uint32_t seq);
void perfetto_end(struct perfetto *p, size_t packet);

/* --- view/export/perfetto_ftrace.c --- */
void perfetto_ftrace_init(struct perfetto *p);
/* false when the event has no message of its own. */
bool perfetto_ftrace(struct perfetto *p, const struct event *ev);
void perfetto_ftrace_flush(struct perfetto *p);

/* --- view/export/perfetto_stack.c --- */
/* Say all that a stack needs which the sequence has not heard yet, as interned data of the packet
 * that is open. The stack's number; 0: it has none. */
uint64_t perfetto_stack(struct perfetto *p, struct perfetto_seq *s, uint32_t entry);
/* The same for a name that is said as `field`. */
uint64_t perfetto_string(struct perfetto *p, struct perfetto_seq *s, unsigned kind, unsigned field,
			 const char *text);
/* Is it said for the first time in this sequence? */
bool perfetto_is_new(struct perfetto_seq *s, unsigned kind, uint64_t number);
/* Kinds of perfetto_is_new(). */
enum {
	SAID_FUNCTION,
	SAID_PATH,
	SAID_BUILD_ID,
	SAID_SOURCE,
	SAID_MAPPING,
	SAID_FRAME,
	SAID_STACK,
	SAID_EVENT,
	SAID_CATEGORY,
	SAID_ANNOTATION,
	SAID_TRACK,
	SAID_COUNTER,
};

/* --- view/export/perfetto_track.c --- */
void perfetto_track_init(struct perfetto *p);
void perfetto_track_event(struct perfetto *p, const struct event *ev);
/* A value of an EVENT_COUNTER, on a track of its own. */
void perfetto_track_counter(struct perfetto *p, const struct event *ev);
