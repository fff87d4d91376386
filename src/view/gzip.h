/* SPDX-License-Identifier: MIT */
/* A gzip stream into an output; without zlib the bytes go out as they are. */
#pragma once

#include "base/err.h"
#include "base/out.h"

struct gzip;
struct gzip *gzip_new(struct out *out);
void gzip_add(struct gzip *g, const void *data, size_t n);
/* Ends the stream and frees g. -errno when zlib failed; the output's own error stays in out. */
int gzip_end(struct gzip *g);
