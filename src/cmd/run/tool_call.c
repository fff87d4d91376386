/* SPDX-License-Identifier: MIT */
/*
 * What is given to a tool as arguments of its program. Numbers and names go as they are; a
 * device, a user or a pattern becomes what the kernel compares. What has to stand in the name
 * of a probe (a rate, a file) is put into the program's text.
 */
#include <fcntl.h>
#include <pwd.h>
#include <string.h>

#include "base/file.h"
#include "cmd/run/tool.h"
#include "cmd/share/event_opts.h"
#include "kern/proc.h"
#include "live/run/env.h"

/* --NAME=NUMBER */
static int tool_call_put(struct tool_call *c, const char *name, uint64_t v)
{
	vec_push(&c->args, arena_printf(&c->arena, "--%s=%llu", name, (unsigned long long)v));
	return 0;
}

static int tool_call_device(struct tool_call *c, const char *name, const char *s, struct err *e)
{
	const char *base = str_starts(s, "/dev/") ? s + 5 : s;
	AUTO_FREE char *path = mem_printf("/sys/class/block/%s/dev", base);
	AUTO_FREE char *text = NULL;
	unsigned major, minor;
	size_t n;
	char end;

	if (!strchr(base, '/') && file_read(path, 64, &text, &n) == 0 &&
	    sscanf(text, "%u:%u", &major, &minor) == 2)
		;
	else if (sscanf(s, "%u%*[,:]%u%c", &major, &minor, &end) != 2 || major > 0xfff ||
		 minor > 0xfffff) {
		err_set(e, EINVAL, "there is no device '%s'", s);
		return err_hint(e, "its numbers or its name, such as 202,1 or vda: lsblk");
	}
	return tool_call_put(c, name, major << 20 | minor);
}

/* perf-tools takes expressions: ^ and $ and .* are those in use. */
static char *tool_call_pattern(struct tool_call *c, const char *s)
{
	bool expression = strstr(s, ".*") || s[0] == '^' || str_ends(s, "$");
	AUTO_STRBUF b = { 0 };

	if (!expression && strpbrk(s, "*?"))
		return arena_strdup(&c->arena, s);
	if (*s == '^')
		s++;
	else
		strbuf_putc(&b, '*');
	for (; *s && !(s[0] == '$' && !s[1]); s++)
		if (s[0] != '.' || s[1] != '*')
			strbuf_putc(&b, *s);
	if (!*s)
		strbuf_putc(&b, '*');
	return arena_strdup(&c->arena, strbuf_str(&b));
}

static int tool_call_user(struct tool_call *c, const char *name, const char *s, struct err *e)
{
	const struct passwd *p;
	uint64_t id;

	if (!str_u64(s, &id)) {
		p = getpwnam(s);
		if (!p)
			return err_set(e, EINVAL, "there is no user '%s'", s);
		id = p->pw_uid;
	}
	return tool_call_put(c, name, (unsigned)id);
}

/* 0 is all of them, as in bcc's tools. */
static int tool_call_process(struct tool_call *c, const char *name, const char *s, struct err *e)
{
	uint64_t v;
	pid_t pid;

	if (str_u64(s, &v))
		pid = v > INT32_MAX ? 0 : (pid_t)v; /* also one that is to come, or has gone */
	else if (proc_one(s, &pid, e) < 0)
		return -e->code;
	vec_push(&c->args, arena_printf(&c->arena, "--%s=%d", name, (int)pid));
	return 0;
}

/* A whole number; a word of the usage has no dashes. */
static int tool_call_number(const char *name, const char *s, bool is_word, struct err *e)
{
	uint64_t v;

	if (str_u64(s, &v) && v <= INT64_MAX)
		return 0;
	return err_set(e, EINVAL, "%s%s is a number, not '%s'", is_word ? "" : "--", name, s);
}

#define LIST_MAX 12

static int tool_call_list(struct tool_call *c, const char *name, const char *s, struct err *e)
{
	unsigned n = 0;

	while (s[strspn(s, ", ")]) {
		AUTO_FREE char *one = NULL;
		size_t len;

		s += strspn(s, ", ");
		len = strcspn(s, ", ");
		one = mem_strndup(s, len);
		if (++n > LIST_MAX)
			return err_set(e, EINVAL, "--%s takes up to %d numbers", name, LIST_MAX);
		if (tool_call_number(name, one, false, e) < 0)
			return -EINVAL;
		vec_push(&c->args, n == 1 ? arena_printf(&c->arena, "--%s=%s", name, one)
					  : arena_printf(&c->arena, "--%s%u=%s", name, n, one));
		s += len;
	}
	return 0;
}

static const struct {
	const char *name;
	unsigned value;
} open_flags[] = {
	{ "O_WRONLY", O_WRONLY },   { "O_RDWR", O_RDWR },	    { "O_CREAT", O_CREAT },
	{ "O_EXCL", O_EXCL },	    { "O_NOCTTY", O_NOCTTY },	    { "O_TRUNC", O_TRUNC },
	{ "O_APPEND", O_APPEND },   { "O_NONBLOCK", O_NONBLOCK },   { "O_DSYNC", O_DSYNC },
	{ "O_SYNC", O_SYNC },	    { "O_ASYNC", O_ASYNC },	    { "O_DIRECT", O_DIRECT },
	{ "O_LARGEFILE", 0100000 }, { "O_DIRECTORY", O_DIRECTORY }, { "O_NOFOLLOW", O_NOFOLLOW },
	{ "O_NOATIME", O_NOATIME }, { "O_CLOEXEC", O_CLOEXEC },	    { "O_PATH", O_PATH },
	{ "O_TMPFILE", O_TMPFILE },
};

static int tool_call_flags(struct tool_call *c, const char *name, const char *s, struct err *e)
{
	AUTO_STRBUF known = { 0 };
	uint64_t sum = 0, v;

	while (s[strspn(s, ",| ")]) {
		AUTO_FREE char *one = NULL;
		bool found;

		s += strspn(s, ",| ");
		one = mem_strndup(s, strcspn(s, ",| "));
		s += strlen(one);
		found = str_u64(one, &v);
		for (size_t i = 0; i < ARRAY_SIZE(open_flags) && !found; i++)
			if (strcasecmp(one, open_flags[i].name) == 0 ||
			    strcasecmp(one, open_flags[i].name + 2) == 0) {
				v = open_flags[i].value;
				found = true;
			}
		if (!found) {
			for (size_t i = 0; i < ARRAY_SIZE(open_flags); i++)
				strbuf_printf(&known, " %s", open_flags[i].name);
			err_set(e, EINVAL, "there is no flag '%s'", one);
			return err_hint(e, "known are%s", strbuf_str(&known));
		}
		sum |= v;
	}
	return tool_call_put(c, name, sum);
}

static int error_number(struct tool_call *c, const char *name, const char *s, struct err *e)
{
	uint64_t v = 0;

	if (!str_u64(s, &v))
		for (int i = 1; i < 200 && !v; i++)
			if (strerrorname_np(i) && strcasecmp(s, strerrorname_np(i)) == 0)
				v = (uint64_t)i;
	if (!v || v > 4095) {
		err_set(e, EINVAL, "there is no error '%s'", s);
		return err_hint(e, "its number or its name, such as ENOENT");
	}
	return tool_call_put(c, name, (unsigned)v);
}

static int call_number(struct tool_call *c, const char *name, const char *s, struct err *e)
{
	int nr = run_syscall(NULL, str_starts(s, "sys_") ? s + 4 : s);
	uint64_t v = (uint64_t)nr;

	if (nr < 0 && !str_u64(s, &v)) {
		err_set(e, EINVAL, "there is no system call '%s'", s);
		return err_hint(
			e,
			"its name, such as openat: kymo run -l 'tracepoint:syscalls:sys_enter_*'");
	}
	return tool_call_put(c, name, (unsigned)v);
}

static void tool_call_replace(struct tool_call *c, const char *old, const char *by)
{
	AUTO_STRBUF b = { 0 };
	const char *s = c->text, *at;

	for (; (at = strstr(s, old)); s = at + strlen(old)) {
		strbuf_add(&b, s, (size_t)(at - s));
		strbuf_puts(&b, by);
	}
	strbuf_puts(&b, s);
	c->text = arena_strdup(&c->arena, strbuf_str(&b));
}

/* Each probe on a library, on a file of the same kind, too. */
static void also_in(struct tool_call *c, const char *lib, const char *path)
{
	AUTO_FREE char *part = mem_printf("probe:%s:", lib);
	AUTO_STRBUF b = { 0 };
	const char *s = c->text, *at;

	while ((at = strstr(s, part))) {
		const char *from = at, *name = at + strlen(part);
		size_t n = strcspn(name, ", \n/{)");

		while (from > c->text && from[-1] >= 'a' && from[-1] <= 'z')
			from--;
		strbuf_add(&b, s, (size_t)(name + n - s));
		if (from[-1] != '(') /* not in an #if has() */
			strbuf_printf(&b, ", %.*sprobe:%s:%.*s", (int)(at - from), from, path,
				      (int)n, name);
		s = name + n;
	}
	strbuf_puts(&b, s);
	c->text = arena_strdup(&c->arena, strbuf_str(&b));
}

static int tool_call_library(struct tool_call *c, const char *s, struct err *e)
{
	static const char *const kinds[][2] = { { "openssl", "libssl" },
						{ "gnutls", "libgnutls" },
						{ "nss", "libnspr4" } };
	const char *path = strchr(s, ':');

	for (size_t i = 0; path && i < ARRAY_SIZE(kinds); i++)
		if (strncmp(s, kinds[i][0], (size_t)(path - s)) == 0 && path > s) {
			if (!file_exists(path + 1) || strpbrk(path + 1, " ,{")) {
				err_set(e, ENOENT, "there is no library '%s'", path + 1);
				return -ENOENT;
			}
			also_in(c, kinds[i][1], path + 1);
			return 0;
		}
	err_set(e, EINVAL, "'%s' is no kind of library with its file", s);
	return err_hint(e,
			"openssl:, gnutls: or nss: and a path, such as openssl:/opt/lib/libssl.so");
}

static int tool_call_function(struct tool_call *c, const char *s, struct err *e)
{
	const char *name = strrchr(s, ':');

	if (strpbrk(s, " ,{/") && !name)
		return err_set(e, EINVAL, "'%s' is no function", s);
	if (str_starts(s, "c:")) /* as bcc writes it */
		s = arena_printf(&c->arena, "lib%s", s);
	if (name) {
		tool_call_replace(c, "kprobe:$1", "uprobe:$1");
		tool_call_replace(c, "kretprobe:$1", "uretprobe:$1");
	}
	if (strstr(s, ".*") || s[0] == '^')
		s = tool_call_pattern(c, s);
	vec_push(&c->args, arena_strdup(&c->arena, s)); /* $1 */
	return 0;
}

static int tool_call_add(struct tool_call *c, const struct tool_option *o, bool is_word,
			 const char *value, struct err *e)
{
	if (o->kind == TOOL_NUMBER && tool_call_number(o->name, value, is_word, e) < 0)
		return -EINVAL;
	if (o->before) {
		tool_call_replace(
			c, arena_printf(&c->arena, "%s%s%s", o->before, o->old, o->after),
			arena_printf(&c->arena, "%s%s%s%s", o->before, o->first, value, o->after));
		if (o->kind != TOOL_NUMBER) /* a number may be shown, too */
			return 0;
	}
	switch (o->kind) {
	case TOOL_FLAG: vec_push(&c->args, arena_printf(&c->arena, "--%s", o->name)); return 0;
	case TOOL_JSON:
		c->json = true;
		vec_push(&c->args, arena_printf(&c->arena, "--%s", o->name));
		return 0;
	case TOOL_CALLS: c->list_calls = true; return 0;
	case TOOL_SOURCE: c->source = true; return 0;
	case TOOL_SHOW: c->show = true; return 0;
	case TOOL_SELF: c->self = true; return 0;
	case TOOL_PID: return tool_call_process(c, o->name, value, e);
	case TOOL_DURATION: return duration_ns(value, &c->limit_ns, e);
	case TOOL_LIBRARY: return tool_call_library(c, value, e);
	case TOOL_DEV: return tool_call_device(c, o->name, value, e);
	case TOOL_USER: return tool_call_user(c, o->name, value, e);
	case TOOL_LIST: return tool_call_list(c, o->name, value, e);
	case TOOL_OPENFLAGS: return tool_call_flags(c, o->name, value, e);
	case TOOL_ERRNO: return error_number(c, o->name, value, e);
	case TOOL_CALL: return call_number(c, o->name, value, e);
	case TOOL_MATCH: value = tool_call_pattern(c, value); break;
	case TOOL_FUNCTION:
		if (tool_call_function(c, value, e) < 0)
			return -e->code;
		break;
	case TOOL_TEXT:
	case TOOL_NUMBER:
	case TOOL_COMMAND: break;
	}
	vec_push(&c->args, arena_printf(&c->arena, "--%s=%s", o->name, value));
	return 0;
}

int tool_call_make(const struct tool *t, const struct tool_args *a, int argc, char **argv,
		   struct tool_call *ret, struct err *e)
{
	struct tool_call c = { .text = t->text };
	int r = 0;

	for (int i = 0; i < argc && r == 0; i++) {
		if (i >= (int)t->n_words) {
			err_set(e, EINVAL, "%s takes no word '%s'", t->command->name, argv[i]);
			r = err_hint(e, "usage: kymo %s %s", t->command->name, t->command->usage);
		} else if (t->word[i].kind == TOOL_COMMAND) {
			c.command = argv + i;
			break;
		} else {
			r = tool_call_add(&c, &t->word[i], true, argv[i], e);
		}
	}
	for (unsigned i = 0; i < t->n_options && r == 0; i++)
		if (a->flag[i] || a->value[i])
			r = tool_call_add(&c, &t->option[i], false, a->value[i], e);
	if (r < 0)
		tool_call_free(&c);
	else
		*ret = c;
	return r;
}

void tool_call_free(struct tool_call *c)
{
	vec_free(&c->args);
	arena_free(&c->arena);
}
