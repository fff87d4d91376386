/* SPDX-License-Identifier: MIT */
/* The writer of perf.data from inside: store/perfdata/write.c begins a recording, _end.c ends it.
 */
#pragma once

#include "base/output.h"
#include "base/vec.h"
#include "store/perfdata/write.h"

#define WRITER_BUFFER (256u << 10)
#define WRITER_FEATURES 256 /* the bitmap has room for */

struct write_attr {
	struct perf_event_attr attr;
	char *name;
	uint64_t *ids;
	size_t n_ids;
};

struct written_feature {
	unsigned feature;
	void *data;
	size_t n;
};

struct perfdata_writer {
	struct output out;
	int fd; /* of out */
	bool pipe, ended;
	char *path;
	uint64_t at;	  /* bytes handed to write() or waiting in the buffer */
	uint64_t waiting; /* bytes of late features */
	uint64_t whole;	  /* up to here all of it is written, and records are whole */
	struct perfdata_header header;
	VEC(struct write_attr) attrs;
	VEC(struct written_feature) early;
	VEC(struct written_feature) late; /* they wait until it is known how many there are */
	uint64_t early_at;		  /* where the contents of the early ones stand */
	struct perfdata_section feature[WRITER_FEATURES];
	uint8_t *buffer;
	size_t used;
	void *zstd;
	int zstd_level;
	uint64_t plain, packed;
	struct perfdata_ended outcome; /* how it ended, where room was left for that */
};

/* To the file, past compression; small pieces are gathered. After a failure it does no more than
 * return it. */
int writer_put(struct perfdata_writer *w, const void *data, size_t n, struct err *e);
/* What was gathered goes out. */
int writer_flush(struct perfdata_writer *w, struct err *e);
/* How much room the contents of an early feature take: each begins at a multiple of 4. */
uint64_t writer_early_room(const struct written_feature *f);
