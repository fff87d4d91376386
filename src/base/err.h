/* SPDX-License-Identifier: MIT */
/*
 * How a failure travels upwards.
 *
 * Fallible functions return 0 or a positive value on success and -errno on
 * failure, with a struct err last. The message says what was refused and why;
 * the hint is the one command or option that helps. Nothing below cmd/ prints.
 */
#pragma once

#include <errno.h>

struct err {
	int code; /* a positive errno; 0 means no error */
	char msg[1024];
	char hint[512];
};

/* Fill e (which may be NULL) and return -code. Forgets an earlier hint. */
__attribute__((format(printf, 3, 4))) int err_set(struct err *e, int code, const char *fmt, ...);

/* Add what the user can do about it. Returns -e->code, so calls can be chained in a return. */
__attribute__((format(printf, 2, 3))) int err_hint(struct err *e, const char *fmt, ...);

/* Put "context: " in front of the message that is there. Returns -e->code. */
__attribute__((format(printf, 2, 3))) int err_wrap(struct err *e, const char *fmt, ...);

/* "cannot write PATH: why", with what helps: -o names another place in every command. */
int err_cannot_write(struct err *e, int code, const char *path);

void err_clear(struct err *e);
