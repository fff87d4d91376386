/* SPDX-License-Identifier: MIT */
#include "kern/probe_events.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>

#include "base/str.h"
#include "kern/priv.h"
#include "kern/tracefs.h"

#define LIST_LIMIT (64u << 20)
#define LOG_LIMIT (1u << 20)

#define BUSY_TRIES 25 /* of 20 ms */

static const char *probe_events_file_of(bool user)
{
	return user ? "uprobe_events" : "kprobe_events";
}

/* "p:group/event where args" or "r16:group/event ..." */
static bool probe_events_parse_line(const char *line, bool user, struct probe_event *ret)
{
	const char *colon = strchr(line, ':'), *slash = colon ? strchr(colon, '/') : NULL, *blank;

	blank = slash ? strchr(slash, ' ') : NULL;
	if (!blank || (line[0] != 'p' && line[0] != 'r'))
		return false;
	*ret = (struct probe_event){ .line = mem_strdup(line),
				     .group = mem_strndup(colon + 1, (size_t)(slash - colon - 1)),
				     .event = mem_strndup(slash + 1, (size_t)(blank - slash - 1)),
				     .user = user,
				     .ret = line[0] == 'r' };
	ret->where = ret->line + (blank + 1 - line);
	return true;
}

static int probe_events_read_one(const char *root, bool user, struct probe_events *ret,
				 struct err *e)
{
	AUTO_FREE char *path = mem_printf("%s/%s", root, probe_events_file_of(user));
	AUTO_FREE char *text = NULL;
	char *save = NULL;
	int r = file_read(path, LIST_LIMIT, &text, NULL);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return tracefs_failed(root, -r, e);
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct probe_event p;

		if (probe_events_parse_line(line, user, &p))
			vec_push(&ret->list, p);
	}
	return 0;
}

int probe_events_read(const char *root, struct probe_events *ret, struct err *e)
{
	int r;

	*ret = (struct probe_events){ 0 };
	r = probe_events_read_one(root, false, ret, e);
	if (r == 0)
		r = probe_events_read_one(root, true, ret, e);
	if (r < 0)
		probe_events_free(ret);
	return r;
}

void probe_events_free(struct probe_events *p)
{
	vec_each (&p->list, v) {
		free(v->line);
		free(v->group);
		free(v->event);
	}
	vec_free(&p->list);
}

bool probe_events_has(const struct probe_events *p, const char *group, const char *event)
{
	vec_each (&p->list, v)
		if (strcmp(v->event, event) == 0 && strcmp(v->group, group) == 0)
			return true;
	return false;
}

/* An offset at which no instruction can begin; the kernel does not say so everywhere. */
static bool within(const char *definition)
{
#if defined(__aarch64__)
	const char *where = strchr(definition, ' '),
		   *plus = where ? strpbrk(where + 1, " +") : NULL;

	return plus && *plus == '+' && strtoull(plus + 1, NULL, 0) % 4;
#else
	return false;
#endif
}

/*
 * The newest entry of the log, when it is about this definition:
 *	[  203.1] trace_kprobe: error: Unknown symbol
 *	  Command: p:a/b nothing
 *	                 ^
 */
static bool from_log(const char *root, const char *definition, int code, struct err *e)
{
	AUTO_FREE char *path = mem_printf("%s/error_log", root);
	AUTO_FREE char *log = NULL;
	char *last = NULL, *why, *end, *command, *caret;

	if (file_read(path, LOG_LIMIT, &log, NULL) < 0)
		return false;
	for (char *at = strstr(log, ": error: "); at; at = strstr(at + 1, ": error: "))
		last = at;
	if (!last)
		return false;
	why = last + strlen(": error: ");
	end = strchr(why, '\n');
	command = end ? strstr(end, "Command: ") : NULL;
	if (!command)
		return false;
	*end = '\0';
	command += strlen("Command: ");
	end = strchr(command, '\n');
	if (!end || (size_t)(end - command) != strlen(definition) ||
	    strncmp(command, definition, strlen(definition)) != 0)
		return false;
	caret = strchr(end, '^');
	/* the caret's column is counted behind "  Command: " */
	err_set(e, code, "the kernel refuses the probe: %s\n  %s\n  %*s^", why, definition,
		caret ? (int)(caret - end - 1 - 11) : 0, "");
	if (strstr(why, "symbol"))
		err_hint(e, "kymo probe -F PATTERN lists the functions that can be probed");
	else if (strstr(why, "Failed to register") && within(definition))
		err_hint(e, "instructions of this machine begin at multiples of 4");
	else if (strstr(why, "Failed to register"))
		err_hint(e, "the kernel keeps probes out of its entry code and of what probes "
			    "use themselves: probe a function that calls it");
	else if (strstr(why, "instruction boundary"))
		err_hint(e, "the offset must be where an instruction starts: kymo annotate, or "
			    "objdump -d, shows them");
	return true;
}

static int probe_events_missing(bool user, struct err *e)
{
	err_set(e, ENOENT, "this kernel has no %s probes (no %s)", user ? "user-space" : "kernel",
		probe_events_file_of(user));
	return user ? err_hint(e, "it was built without CONFIG_UPROBE_EVENTS")
		    : err_hint(e, "it was built without CONFIG_KPROBE_EVENTS; tracepoints (kymo "
				  "list) and probes in programs (-x) work");
}

static int probe_events_refused(const char *root, bool user, const char *definition, int code,
				struct err *e)
{
	if (from_log(root, definition, code, e))
		return -code;
	switch (code) {
	case EEXIST:
		err_set(e, code, "an event of that name exists already\n  %s", definition);
		return err_hint(e, "remove it (kymo probe -d), or give another name: NEW=...");
	case EPERM:
	case EACCES:
		if (lockdown_read() > LOCKDOWN_NONE) {
			err_set(e, code, "the kernel is locked down and allows no such probes");
			return err_hint(e, "tracepoints still work: kymo list");
		}
		return tracefs_failed(root, code, e);
	case ENOENT:
		err_set(e, code, "the kernel does not know the place\n  %s", definition);
		return user ? -code
			    : err_hint(e, "is the module loaded? kymo probe -F lists functions");
	case EILSEQ:
		return err_set(e, code, "the address is not the start of an instruction\n  %s",
			       definition);
	case EADDRNOTAVAIL:
		return err_set(e, code,
			       "the function's name is not unique, or it may not be probed\n  %s",
			       definition);
	case EROFS:
		err_set(e, code, "tracefs is mounted read-only");
		return err_hint(e, "sudo mount -o remount,rw %s", root);
	default:
		return err_set(e, code, "the kernel refuses the probe: %s\n  %s", strerror(code),
			       definition);
	}
}

static int write_line(const char *root, bool user, const char *line)
{
	AUTO_FREE char *path = mem_printf("%s/%s", root, probe_events_file_of(user));
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	/* one write: the kernel takes a line at a time */
	return write(fd, line, strlen(line)) < 0 ? -errno : 0;
}

int probe_events_add(const char *root, bool user, const char *definition, struct err *e)
{
	AUTO_FREE char *path = mem_printf("%s/%s", root, probe_events_file_of(user));
	AUTO_FREE char *line = mem_printf("%s\n", definition);
	int r;

	if (!file_exists(path))
		return probe_events_missing(user, e);
	r = write_line(root, user, line);
	return r < 0 ? probe_events_refused(root, user, definition, -r, e) : 0;
}

int probe_events_remove(const char *root, bool user, const char *group, const char *event,
			struct err *e)
{
	AUTO_FREE char *line = mem_printf("-:%s/%s\n", group, event);
	int r;

	/* of a recording that has just ended the kernel may not have let go yet */
	for (int i = 0; (r = write_line(root, user, line)) == -EBUSY && i < BUSY_TRIES; i++)
		usleep(20000);
	if (r == -EBUSY) {
		err_set(e, EBUSY, "%s:%s is being used", group, event);
		return err_hint(e, "end what records it, or: echo 0 > %s/events/%s/%s/enable", root,
				group, event);
	}
	if (r == -ENOENT)
		return err_set(e, ENOENT, "there is no probe %s:%s", group, event);
	return r < 0 ? err_set(e, -r, "cannot remove %s:%s: %s", group, event, strerror(-r)) : 0;
}

/* A name of letters, digits and '_' out of whatever the probe is on. */
static char *make_name(const char *what, size_t n, bool at_return)
{
	AUTO_STRBUF b = { 0 };
	const char *slash = memrchr(what, '/', n);

	/* of a file and an offset: both */
	if (slash) {
		n -= (size_t)(slash + 1 - what);
		what = slash + 1;
	}
	strbuf_putc(&b, at_return ? 'r' : 'p');
	strbuf_putc(&b, '_');
	for (size_t i = 0; i < n && i < 50; i++)
		strbuf_putc(&b, isalnum((unsigned char)what[i]) ? what[i] : '_');
	return mem_strdup(strbuf_str(&b));
}

/* "name=%di", "$retval", "+0(%si):string": no place to probe. */
static bool is_argument(const char *word)
{
	return strchr("%@+-$\\", *word) || memchr(word, '=', strcspn(word, " \t"));
}

/* Not "vfs_read+4", "func.isra.0". */
static bool plain(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '_')
			return false;
	return true;
}

static bool is_name(const char *s)
{
	return *s && !isdigit((unsigned char)*s) && plain(s, strlen(s));
}

/* What the kernel would take otherwise than it is meant. */
static int check_names(const struct raw_probe *p, const char *text, struct err *e)
{
	const char *bad = !is_name(p->group) ? p->group : !is_name(p->name) ? p->name : NULL;

	if (strchr(text, '\n'))
		return err_set(e, EINVAL, "a probe is one line");
	return bad ? err_set(e, EINVAL, "a probe cannot be called '%s' (letters, digits and '_')",
			     bad)
		   : 0;
}

int raw_probe_parse(const char *text, const char *group, struct raw_probe *ret, struct err *e)
{
	const char *p = text, *name = NULL, *slash = NULL, *where;
	struct raw_probe out = { 0 };
	size_t kind_n, name_n = 0;

	while (isspace((unsigned char)*p))
		p++;
	if (*p != 'p' && *p != 'r') {
		err_set(e, EINVAL, "a probe begins with 'p' (entry) or 'r' (return), not '%s'",
			text);
		return err_hint(e,
				"for instance: 'p:myopen do_sys_openat2 filename=+0(%%si):string'");
	}
	kind_n = strcspn(p, ": \t");
	if (p[kind_n] == ':') {
		name = p + kind_n + 1;
		name_n = strcspn(name, " \t");
		slash = memchr(name, '/', name_n);
		where = name + name_n;
	} else {
		where = p + kind_n;
	}
	while (isspace((unsigned char)*where))
		where++;
	/* "p:vfs_read count=%dx" is short for "p:vfs_read vfs_read count=%dx" */
	if ((!*where || is_argument(where)) && name_n && !slash)
		where = name;
	if (!*where)
		return err_set(e, EINVAL, "the probe '%s' does not say where", text);
	out.group = slash ? mem_strndup(name, (size_t)(slash - name)) : mem_strdup(group);
	if (slash)
		out.name = mem_strndup(slash + 1, name_n - (size_t)(slash + 1 - name));
	else if (name_n && (where != name || plain(name, name_n)))
		out.name = mem_strndup(name, name_n);
	else
		out.name = make_name(where, strcspn(where, " \t"), *p == 'r');
	out.definition = mem_printf("%.*s:%s/%s %s", (int)kind_n, p, out.group, out.name, where);
	if (check_names(&out, text, e) < 0) {
		raw_probe_free(&out);
		return -EINVAL;
	}
	*ret = out;
	return 0;
}

void raw_probe_free(struct raw_probe *p)
{
	free(p->group);
	free(p->name);
	free(p->definition);
	*p = (struct raw_probe){ 0 };
}

int raw_probe_add(const char *tracefs, bool user, const struct raw_probe *p, struct undo *u,
		  struct err *e)
{
	AUTO_FREE char *path =
		mem_printf("%s/%s", tracefs, user ? "uprobe_events" : "kprobe_events");
	AUTO_FREE char *dir = mem_printf("%s/events/%s/%s", tracefs, p->group, p->name);
	AUTO_FREE char *back = mem_printf("-:%s/%s\n", p->group, p->name);
	int r;

	if (access(path, F_OK) < 0) {
		err_set(e, ENOENT, "this kernel has no %s", user ? "uprobes" : "kprobes");
		return err_hint(
			e, user ? "it needs CONFIG_UPROBE_EVENTS"
				: "it needs CONFIG_KPROBE_EVENTS; tracepoints do without: kymo "
				  "tpoint -l lists them");
	}
	if (access(dir, F_OK) == 0) {
		err_set(e, EEXIST, "there is a probe %s:%s already", p->group, p->name);
		return err_hint(e, "give it another name: 'p:NAME ...'");
	}
	r = undo_later(u, path, back, e);
	if (r >= 0)
		r = probe_events_add(tracefs, user, p->definition, e);
	return r;
}
