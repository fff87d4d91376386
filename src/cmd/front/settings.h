/* SPDX-License-Identifier: MIT */
/*
 * Settings that outlive a command line, in perf's files and perf's form:
 *
 *	[report]
 *		children = false
 *
 * A setting is an option of a command, said beforehand: it is given to that command's own table
 * before the words that were typed, which so have the last say.
 */
#pragma once

#include "base/vec.h"
#include "cmd/command.h"

struct config_line {
	const char *key, *value; /* "report.children", "false" */
	const char *path;	 /* of config_files */
};

struct config {
	VEC(struct config_line) lines; /* in their order: the last one of a key counts */
	const char *system, *user;     /* the files; NULL: none */
	struct arena texts;
	char note[512]; /* why a file, or a part of it, was not taken; "" */
};

/* which: CONFIG_SYSTEM, CONFIG_USER or both. PERF_CONFIG names the only file there is. */
enum { CONFIG_SYSTEM = 1, CONFIG_USER = 2 };
void config_read(struct config *c, unsigned which);
void config_free(struct config *c);
const char *config_get(const struct config *c, const char *key);

/* A key that kymo honours, and what it is. NULL: it does not. */
struct config_key {
	const char *key;
	const char *command, *option; /* option "": not an option, see config_apply() */
	bool flag, inverted;
	const char *about;
};
extern const struct config_key config_keys[]; /* ends with a NULL key */
const struct config_key *config_known(const char *key);

/* What the files say for this command, into its args; a setting that makes no sense is noted. */
void config_apply(const struct command *c, void *args);
