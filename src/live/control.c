/* SPDX-License-Identifier: MIT */
#include "live/control.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

static int control_number(const char *text)
{
	uint64_t v;

	return str_u64(text, &v) && v < 1 << 20 && fcntl((int)v, F_GETFD) >= 0 ? (int)v : -1;
}

static int open_fifo(const char *path, struct err *e)
{
	struct stat st;
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0) {
		err_set(e, errno, "cannot open '%s': %s", path, strerror(errno));
		return err_hint(e, "mkfifo %s", path);
	}
	if (fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode)) {
		close(fd);
		err_set(e, EINVAL, "'%s' is no FIFO", path);
		return err_hint(e, "mkfifo makes one");
	}
	return fd;
}

int control_open(struct control *c, const char *text, struct err *e)
{
	AUTO_FREE char *copy = mem_strdup(text);
	char *word = strchr(copy, ':'), *ack;

	*c = (struct control){ .fd = -1, .ack_fd = -1 };
	if (!word || (strncmp(copy, "fd:", 3) != 0 && strncmp(copy, "fifo:", 5) != 0)) {
		err_set(e, EINVAL, "--control does not understand '%s'", text);
		return err_hint(e, "write it as fifo:PATH[,ACK-PATH] or fd:N[,ACK-N]");
	}
	word++;
	ack = strchr(word, ',');
	if (ack)
		*ack++ = '\0';
	if (copy[1] == 'd') {
		c->fd = control_number(word);
		c->ack_fd = ack ? control_number(ack) : -1;
		if (c->fd < 0 || (ack && c->ack_fd < 0))
			return err_set(e, EBADF, "--control %s: no such open descriptor", text);
		fcntl(c->fd, F_SETFL, fcntl(c->fd, F_GETFL) | O_NONBLOCK);
		return 0;
	}
	c->opened = true;
	c->fd = open_fifo(word, e);
	if (c->fd < 0)
		return -e->code;
	if (ack && (c->ack_fd = open_fifo(ack, e)) < 0) {
		control_close(c);
		return -e->code;
	}
	return 0;
}

/* Words may have arguments (enable sched:sched_switch, evlist -v). */
static enum control_word meaning(struct control *c, const char *line)
{
	static const struct {
		const char *word;
		enum control_word means;
	} words[] = {
		{ "enable", CONTROL_ENABLE },	  { "disable", CONTROL_DISABLE },
		{ "snapshot", CONTROL_SNAPSHOT }, { "stop", CONTROL_STOP },
		{ "ping", CONTROL_PING },	  { "evlist", CONTROL_EVLIST },
	};
	size_t n = strcspn(line, " \t");
	const char *rest = line + n + strspn(line + n, " \t");

	snprintf(c->argument, sizeof(c->argument), "%.*s", (int)strcspn(rest, " \t\r"), rest);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i].word) == n && memcmp(words[i].word, line, n) == 0)
			return words[i].means;
	return CONTROL_UNKNOWN;
}

/* The next word that has arrived whole; CONTROL_NONE when none has. */
static enum control_word control_next(struct control *c)
{
	for (;;) {
		char *end = memchr(c->line, '\n', c->n);
		enum control_word word;
		ssize_t got;

		if (!end && c->n == sizeof(c->line))
			c->n = 0; /* no word is that long */
		if (!end) {
			got = read(c->fd, c->line + c->n, sizeof(c->line) - c->n);
			if (got <= 0)
				return CONTROL_NONE;
			c->n += (unsigned)got;
			continue;
		}
		*end = '\0';
		word = meaning(c, c->line);
		c->n -= (unsigned)(end + 1 - c->line);
		memmove(c->line, end + 1, c->n);
		return word;
	}
}

int control_obey(struct control *c, control_fn *fn, void *ctx, struct err *e)
{
	for (;;) {
		enum control_word word = control_next(c);
		int r;

		if (word == CONTROL_NONE)
			return 0;
		if (word == CONTROL_UNKNOWN)
			continue;
		r = fn(ctx, word, e);
		if (r < 0)
			return r;
		if (c->ack_fd >= 0 && write(c->ack_fd, "ack\n", 5) < 0)
			return 0; /* nobody listens: not our trouble */
		if (word == CONTROL_STOP)
			return 0;
	}
}

void control_close(struct control *c)
{
	if (c->opened && c->fd >= 0)
		close(c->fd);
	if (c->opened && c->ack_fd >= 0)
		close(c->ack_fd);
	*c = (struct control){ .fd = -1, .ack_fd = -1 };
}
