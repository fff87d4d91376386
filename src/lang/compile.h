/* SPDX-License-Identifier: MIT */
/* What the stages of a compilation share. */
#pragma once

#include "base/map.h"
#include "lang/check/check.h"
#include "lang/gen/gen.h"

struct unit { /* one block at one point */
	size_t block;
	uint32_t point;
};

struct missing { /* a pattern fits nothing */
	const struct lang_point *pattern;
	const char *text, *hint;
};

struct compiler {
	struct checker c;
	struct lang_program *p;
	const struct lang_env *env;
	struct lang_diags *d;
	struct ast ast;
	VEC(struct unit) units;
	unsigned dump;
	/* while a pattern is expanded */
	const struct lang_point *pattern;
	size_t block;
	size_t found;
	VEC(struct missing) missing;
	struct map texts; /* hash of a point's text: its index + 1 */
};

/* Each block at each point that its patterns fit, into units. */
void expand_all(struct compiler *k);
