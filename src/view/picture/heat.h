/* SPDX-License-Identifier: MIT */
/* Heat maps as text for terminals, as SVG, and as an interactive page. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "calc/time/heat.h"

struct heat_view_opts {
	const char *title, *subtitle; /* subtitle may be NULL */
	bool linear;		      /* how the page starts */
	bool offsets;		      /* values say when, not how much: no percentiles of them */
	int width, height;	      /* of an SVG, in pixels */
	size_t max_bytes;	      /* of a page */
};

/* "1.25 ms", "4.0 KiB", "17": buf of 32 is enough. Returns buf. */
char *heat_value(double v, const char *unit, char *buf, size_t size);

void heat_text(FILE *f, const struct heat *h, const struct heat_points *p,
	       const struct heat_view_opts *o);
void heat_svg_write(FILE *f, const struct heat *h, const struct heat_points *p,
		    const struct heat_view_opts *o);

struct heat_html_info {
	uint64_t bytes;
	uint64_t entries;   /* points that differ in what is kept of them */
	uint64_t time_step; /* ns; 1: exact */
	int digits;	    /* of values; 0: all */
	bool details_dropped;
};
int heat_html_write(FILE *f, const struct heat_points *p, const struct heat_view_opts *o,
		    struct heat_html_info *ret, struct err *e);
