/* SPDX-License-Identifier: MIT */
/*
 * Compressed records: one zstd stream over all of them. What comes out is kept
 * in blocks; a record that does not end in its block is moved to the next, so
 * that every record lies in one piece. perf keeps it all in memory, too.
 */
#include "store/perfdata/impl.h"

#include "config.h"

#if HAVE_ZSTD
#	include <zstd.h>

#	define BLOCK_BYTES (4u << 20)

struct unzip {
	ZSTD_DStream *stream;
	VEC(uint8_t *) blocks;
	size_t used;	      /* bytes of the last block that are filled */
	size_t done;	      /* bytes of it that have been walked */
	struct budget budget; /* a small file cannot eat a machine */
	bool broken;
};

static struct unzip *unzip_new(void)
{
	struct unzip *z = mem_alloc(sizeof(*z));

	z->stream = ZSTD_createDStream();
	if (!z->stream || ZSTD_isError(ZSTD_initDStream(z->stream)))
		z->broken = true;
	return z;
}

/* A new block that starts with what is left of a record in the old one. */
static void next_block(struct unzip *z)
{
	uint8_t *block = mem_grow(NULL, BLOCK_BYTES);
	size_t left = z->used - z->done;

	if (left)
		memcpy(block, z->blocks.data[z->blocks.n - 1] + z->done, left);
	vec_push(&z->blocks, block);
	z->used = left;
	z->done = 0;
}

int unzip_record(struct perfdata *pd, const uint8_t *data, size_t size, uint32_t file,
		 uint64_t position, struct err *e)
{
	struct unzip *z = pd->unzip ? pd->unzip : (pd->unzip = unzip_new());
	ZSTD_inBuffer in = { data, size, 0 };
	bool more = true;

	if (z->broken)
		return 0;
	while (more) {
		ZSTD_outBuffer out;
		const uint8_t *p, *end;
		size_t got, before;
		struct err why;
		int r;

		/* Room for a whole record at least. */
		if (!z->blocks.n || BLOCK_BYTES - z->used < MAX_RECORD) {
			z->budget.size = pd->files.data[file].size;
			if (budget_take(&z->budget, BLOCK_BYTES, "compressed data", &why) < 0) {
				z->broken = true;
				pd->trace.losses.cut = true;
				perfdata_note(pd, "%s (%s)", why.msg, why.hint);
				return 0;
			}
			next_block(z);
		}
		out = (ZSTD_outBuffer){ z->blocks.data[z->blocks.n - 1], BLOCK_BYTES, z->used };
		before = out.pos;
		got = ZSTD_decompressStream(z->stream, &out, &in);
		z->used = out.pos;
		more = !ZSTD_isError(got) && (in.pos < in.size || out.pos == out.size) &&
		       (in.pos < in.size || out.pos > before);
		if (ZSTD_isError(got)) {
			z->broken = true;
			more = false;
			pd->trace.losses.bad_records++;
			perfdata_note(pd, "compressed data is damaged at byte %llu",
				      (unsigned long long)position);
		}
		p = z->blocks.data[z->blocks.n - 1] + z->done;
		end = z->blocks.data[z->blocks.n - 1] + z->used;
		r = scan_unpacked(pd, &p, end, file, position, e);
		z->done = (size_t)(p - z->blocks.data[z->blocks.n - 1]);
		if (r < 0)
			return r;
		/* A record that is there in full but was not taken makes no sense. */
		if (end - p >= MAX_RECORD) {
			z->broken = true;
			pd->trace.losses.bad_records++;
			perfdata_note(pd, "compressed data makes no sense at byte %llu",
				      (unsigned long long)position);
			return 0;
		}
	}
	return 0;
}

void unzip_free(struct perfdata *pd)
{
	struct unzip *z = pd->unzip;

	if (!z)
		return;
	budget_give(&z->budget, z->budget.taken);
	ZSTD_freeDStream(z->stream);
	vec_each (&z->blocks, b)
		free(*b);
	vec_free(&z->blocks);
	free(z);
}

#else

int unzip_record(struct perfdata *pd, const uint8_t *data, size_t size, uint32_t file,
		 uint64_t position, struct err *e)
{
	err_set(e, ENOTSUP, "the recording is compressed and this kymo was built without zstd");
	return err_hint(e, "build with libzstd-dev, or record without -z");
}

void unzip_free(struct perfdata *pd)
{
}

#endif
