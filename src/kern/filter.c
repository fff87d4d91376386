/* SPDX-License-Identifier: MIT */
#include "kern/filter.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/str.h"
#include "event/type.h"
#include "kern/tracefs.h"

static bool word_char(char c)
{
	return isalnum((unsigned char)c) || strchr("_-./*?:@", c);
}

/* Is text[at] the end of an operator that a string may follow? */
static bool after_operator(const char *text, size_t at)
{
	while (at > 0 && isspace((unsigned char)text[at - 1]))
		at--;
	return at > 0 && (text[at - 1] == '~' || (at > 1 && text[at - 1] == '=' &&
						  (text[at - 2] == '=' || text[at - 2] == '!')));
}

/* Numbers stay as they are; so does what is no word at all. */
static bool wants_quotes(const char *word, size_t n)
{
	char *end;

	if (!n || !strcspn(word, "\"'"))
		return false;
	strtoull(word + (*word == '-'), &end, 0);
	return end < word + n;
}

char *filter_quote(struct arena *a, const char *text)
{
	AUTO_STRBUF b = { 0 };
	char quote = 0;

	for (size_t i = 0; text[i];) {
		size_t n = 0;

		if (quote || text[i] == '"' || text[i] == '\'') {
			if (!quote)
				quote = text[i];
			else if (text[i] == quote)
				quote = 0;
			strbuf_putc(&b, text[i++]);
			continue;
		}
		while (text[i + n] && word_char(text[i + n]))
			n++;
		if (!n) {
			strbuf_putc(&b, text[i++]);
			continue;
		}
		if (after_operator(text, i) && wants_quotes(text + i, n))
			strbuf_printf(&b, "\"%.*s\"", (int)n, text + i);
		else
			strbuf_add(&b, text + i, n);
		i += n;
	}
	return arena_strdup(a, strbuf_str(&b));
}

/* The names of an event's fields that are near to the one that was not found. */
static bool near_fields(const char *tracefs, const char *subsys, const char *event,
			const char *typed, char *buf, size_t size)
{
	AUTO_FREE char *path = mem_printf("%s/events/%s/%s/format", tracefs, subsys, event),
		       *text = NULL;
	struct str_nearest s = { .typed = typed };
	struct event_type type = { 0 };
	struct arena a = { 0 };
	bool near = false;
	size_t n;

	if (file_read(path, 1 << 20, &text, &n) == 0 &&
	    type_parse_format(&type, &a, text, n, NULL) == 0) {
		for (size_t i = 0; i < type.n_fields; i++)
			str_nearest_add(&s, type.fields[i].name);
		near = str_nearest_list(&s, buf, size);
	}
	arena_free(&a);
	return near;
}

bool filter_is_bad(int code)
{
	return code == EINVAL || (code >= 1 && code <= 3);
}

int filter_explain(const char *tracefs, const char *subsys, const char *event, const char *filter,
		   struct err *e)
{
	AUTO_FREE char *dir = mem_printf("%s/instances/kymo-filter-%d", tracefs, getpid());
	AUTO_FREE char *path = mem_printf("%s/events/%s/%s/filter", dir, subsys, event);
	AUTO_FREE char *answer = NULL;
	char *reason, near[256];
	int fd;

	err_set(e, EINVAL, "the kernel does not take this filter for %s:%s\n  %s", subsys, event,
		filter);
	err_hint(e, "kymo list -v %s:%s shows its fields", subsys, event);
	if (mkdir(dir, 0700) < 0)
		return -EINVAL;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		if (write(fd, filter, strlen(filter)) < 0)
			file_read(path, 1 << 16, &answer, NULL);
		close(fd);
	}
	rmdir(dir);
	reason = answer ? strstr(answer, "parse_error: ") : NULL;
	if (!reason)
		return -EINVAL;
	reason[strcspn(reason, "\n")] = '\0';
	reason += strlen("parse_error: ");
	{
		/* the kernel's lines: the filter, a caret, the reason */
		char *caret = strchr(answer, '\n');
		size_t column = caret ? strcspn(caret + 1, "^") : 0;
		const char *end = filter + (column < strlen(filter) ? column : strlen(filter));
		const char *start = end;
		char typed[64];

		while (start > filter && isspace((unsigned char)start[-1]))
			start--;
		end = start;
		while (start > filter && (isalnum((unsigned char)start[-1]) || start[-1] == '_'))
			start--;
		snprintf(typed, sizeof(typed), "%.*s", (int)(end - start), start);
		err_set(e, EINVAL,
			"the kernel does not take this filter for %s:%s: %s\n  %s\n  %*s^", subsys,
			event, reason, filter, (int)(start < end ? start - filter : (long)column),
			"");
		if (strstr(reason, "Field not found") &&
		    near_fields(tracefs, subsys, event, typed, near, sizeof(near)))
			return err_hint(e, "did you mean %s? kymo list -v %s:%s shows its fields",
					near, subsys, event);
		return err_hint(e, "kymo list -v %s:%s shows its fields", subsys, event);
	}
}

int filter_set(struct event_spec *s, struct arena *a, int fd, struct err *e)
{
	const char *quoted, *tracefs;
	int code;

	if (!s->filter || ioctl(fd, PERF_EVENT_IOC_SET_FILTER, s->filter) == 0)
		return 0;
	code = errno;
	quoted = filter_quote(a, s->filter);
	if (strcmp(quoted, s->filter) != 0 && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, quoted) == 0) {
		s->filter = quoted;
		return 0;
	}
	tracefs = tracefs_find(NULL);
	if (filter_is_bad(code) && tracefs && s->subsys)
		return filter_explain(tracefs, s->subsys, s->event, quoted, e);
	return err_set(e, code, "the kernel does not take the filter '%s' for %s: %s", s->filter,
		       s->name, strerror(code));
}
