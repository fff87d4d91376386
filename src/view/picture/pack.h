/* SPDX-License-Identifier: MIT */
/*
 * What interactive pages share: numbers in few bytes, and bytes inside a page.
 *
 * A page's data is "K", a codec ('d' deflate, 'r' raw) and, inside the codec,
 * the length of a JSON header (4 bytes, little-endian), the header, and columns
 * of unsigned LEB128 numbers whose lengths in bytes the header gives as
 * "columns". In the page it stands as base64, which no name can break out of.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/json.h"
#include "base/str.h"

void pack_varint(struct strbuf *b, uint64_t v);
static inline uint64_t pack_zigzag(int64_t v)
{
	return v < 0 ? (uint64_t)(-(v + 1)) * 2 + 1 : (uint64_t)v * 2;
}

/* A string that can be shown, as JSON (view/markup.h). */
void pack_text(struct json *j, const char *key, const char *s);

/* Header and columns into one piece; header is called with an open object and ends nothing. */
void pack_join(struct strbuf *out, const struct strbuf *column, size_t n,
	       void (*header)(void *ctx, struct json *j), void *ctx);

/* "K", the codec and the coded bytes; without zlib they stay as they are. */
void pack_encode(const struct strbuf *raw, struct strbuf *out);
size_t pack_base64_size(size_t n);
void pack_base64(FILE *f, const struct strbuf *b);
