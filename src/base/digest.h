/* SPDX-License-Identifier: MIT */
/*
 * A digest that nobody can choose: BLAKE2b (RFC 7693), for keys of what is kept. base/map.h has
 * faster hashes, for which two inputs of one value are easily made.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define DIGEST_BYTES 20 /* as many as a build-id of ld has */

struct digest {
	uint64_t state[8], done;
	size_t n; /* of block that are filled */
	uint8_t block[128];
};

void digest_start(struct digest *d);
void digest_add(struct digest *d, const void *data, size_t n);
void digest_end(struct digest *d, uint8_t ret[static DIGEST_BYTES]);
