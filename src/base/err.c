/* SPDX-License-Identifier: MIT */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return -code;
	e->code = code;
	e->hint[0] = '\0';
	va_start(ap, fmt);
	vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	return -code;
}

int err_hint(struct err *e, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return -EINVAL;
	va_start(ap, fmt);
	vsnprintf(e->hint, sizeof(e->hint), fmt, ap);
	va_end(ap);
	return -e->code;
}

int err_wrap(struct err *e, const char *fmt, ...)
{
	char old[sizeof(e->msg)];
	va_list ap;
	int n;

	if (!e)
		return -EINVAL;
	memcpy(old, e->msg, sizeof(old));
	va_start(ap, fmt);
	n = vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n + 3 < sizeof(e->msg))
		snprintf(e->msg + n, sizeof(e->msg) - (size_t)n, ": %s", old);
	return -e->code;
}

int err_cannot_write(struct err *e, int code, const char *path)
{
	err_set(e, code, "cannot write %s: %s", path, strerror(code));
	switch (code) {
	case ENOSPC:
	case EDQUOT: err_hint(e, "free some space, or write elsewhere with -o"); break;
	case ENOENT: err_hint(e, "there is no such folder; -o FILE writes elsewhere"); break;
	case EACCES:
	case EPERM:
	case EISDIR:
	case ENOTDIR:
	case EROFS: err_hint(e, "-o FILE writes elsewhere"); break;
	default: break;
	}
	return -code;
}

void err_clear(struct err *e)
{
	if (!e)
		return;
	e->code = 0;
	e->msg[0] = '\0';
	e->hint[0] = '\0';
}
