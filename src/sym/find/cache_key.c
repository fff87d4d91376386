/* SPDX-License-Identifier: MIT */
#include "sym/find/cache_key.h"

#include "sym/elf/elf.h"

static struct cache_key end(enum cache_kind kind, struct digest *d)
{
	struct cache_key k = { .kind = kind };

	digest_end(d, k.data);
	return k;
}

struct cache_key cache_key_file(const struct stat *st)
{
	uint64_t all[] = { st->st_dev,
			   st->st_ino,
			   (uint64_t)st->st_size,
			   st->st_uid,
			   (uint64_t)st->st_mtim.tv_sec,
			   (uint64_t)st->st_mtim.tv_nsec,
			   (uint64_t)st->st_ctim.tv_sec,
			   (uint64_t)st->st_ctim.tv_nsec };
	struct digest d;

	digest_start(&d);
	digest_add(&d, all, sizeof(all));
	return end(CACHE_FILE, &d);
}

struct cache_key cache_key_within(const struct cache_key *archive, const struct build_id *id)
{
	struct digest d;

	if (!archive->kind)
		return *archive;
	digest_start(&d);
	digest_add(&d, archive->data, sizeof(archive->data));
	digest_add(&d, id->data, id->len);
	return end(CACHE_FILE, &d);
}

struct cache_key cache_key_kernel(const struct build_id *id)
{
	struct digest d;

	if (!id->len)
		return (struct cache_key){ 0 };
	digest_start(&d);
	digest_add(&d, id->data, id->len);
	return end(CACHE_KERNEL, &d);
}

struct cache_key cache_key_content(const struct build_id *id)
{
	struct cache_key k = { .kind = CACHE_CONTENT };

	if (id->len != sizeof(k.data))
		return (struct cache_key){ 0 };
	memcpy(k.data, id->data, sizeof(k.data));
	return k;
}

struct cache_key cache_key_recording(const struct recording_id *r, const struct build_id *id,
				     const char *path)
{
	struct digest d;

	if (!r->last || !id->len)
		return (struct cache_key){ 0 };
	digest_start(&d);
	digest_add(&d, r, sizeof(*r));
	digest_add(&d, &id->len, sizeof(id->len));
	digest_add(&d, id->data, id->len);
	digest_add(&d, path, strlen(path));
	return end(CACHE_RECORDING, &d);
}
