/* SPDX-License-Identifier: MIT */
/*
 * What programs say: taken from the ring, written out, commands run. Nothing keeps a signal
 * waiting: messages are taken up to where the ring stood; between them, before a write that may
 * wait, and while a command runs, a signal to end is looked for. What was not written stays for
 * later.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/guard.h"
#include "base/output.h"
#include "live/run/session.h"

#define LOOK_EVERY 256	/* messages that are only text */
#define MUCH (1u << 16) /* bytes that are written at once */

extern char **environ;

void run_out_flush(struct run *r)
{
	struct strbuf *b = &r->out.text;
	size_t n = 0;
	int k;

	if (r->out.errors.n) {
		guard_write(STDERR_FILENO, r->out.errors.data, r->out.errors.n);
		strbuf_reset(&r->out.errors);
	}
	if (!b->n)
		return;
	k = r->write_error ? -r->write_error
	    : r->o.guard   ? file_write_all(r->o.out_fd, b->data,
					    b->n) /* the text was made safe already */
			   : patience_write(&r->patience, r->o.out_fd, b->data, b->n, &n);
	if (k < 0 && k != -EINTR)
		r->write_error = -k;
	if (k == -EINTR) { /* a signal came: the rest is written later */
		memmove(b->data, b->data + n, b->n - n);
		b->n -= n;
		b->data[b->n] = '\0';
	} else {
		strbuf_reset(b);
	}
}

/* A shell with a clean mask, which writes to a pipe: its reading end, or -errno. */
static int start_shell(const char *command, pid_t *pid)
{
	char *const argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, (char *)(uintptr_t)command,
			       NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t none, dfl;
	int fd[2], k;

	if (pipe2(fd, O_CLOEXEC) < 0)
		return -errno;
	sigemptyset(&none);
	sigemptyset(&dfl);
	sigaddset(&dfl, SIGPIPE);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, fd[1], STDOUT_FILENO);
	posix_spawnattr_init(&how);
	posix_spawnattr_setsigmask(&how, &none);
	posix_spawnattr_setsigdefault(&how, &dfl);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	k = posix_spawn(pid, "/bin/sh", &files, &how, argv, environ);
	posix_spawnattr_destroy(&how);
	posix_spawn_file_actions_destroy(&files);
	close(fd[1]);
	if (k) {
		close(fd[0]);
		return -k;
	}
	return fd[0];
}

/* A command that still runs when kymo must end is not waited for. */
void run_out_shell(void *ctx, const char *command, struct strbuf *b)
{
	struct run *r = ctx;
	char buf[4096];
	ssize_t n = -1;
	pid_t pid;
	int fd;

	run_out_flush(r);
	fd = start_shell(command, &pid);
	if (fd < 0) {
		strbuf_printf(&r->out.errors, "cannot run %s: %s\n", command, strerror(-fd));
		return;
	}
	while (patience_ready(&r->patience, fd, POLLIN) && (n = read(fd, buf, sizeof(buf))) > 0)
		strbuf_add(b, buf, (size_t)n);
	close(fd);
	waitpid(pid, NULL, n == 0 ? 0 : WNOHANG);
}

int run_out_read(void *ctx, const char *path, struct strbuf *b)
{
	AUTO_FREE char *text = NULL;
	size_t n;
	int k = file_read(path, 1u << 20, &text, &n);

	if (k == 0)
		strbuf_add(b, text, n);
	return k;
}

static bool run_out_over(struct run *r)
{
	return r->patience.until ? loop_now() >= r->patience.until
				 : !r->told && loop_must_end(&r->loop);
}

/* Must it end now? Asked after 256 short messages, and after each that may take long. */
static bool run_output_interrupted(struct run *r, const void *data, uint32_t n)
{
	uint32_t id = UINT32_MAX;
	enum lang_act kind = LA_PRINTF;

	if (n >= sizeof(id))
		memcpy(&id, data, sizeof(id));
	if (id < r->p->actions.n)
		kind = r->p->actions.data[id].kind;
	if ((kind == LA_PRINTF || kind == LA_PRINT || kind == LA_TIME || kind == LA_JOIN) &&
	    r->out.text.n < MUCH && r->out.messages % LOOK_EVERY)
		return false;
	return run_out_over(r);
}

static int on_message(void *ctx, const void *data, uint32_t n)
{
	struct run *r = ctx;
	bool stop;

	if (r->ignore)
		return 0;
	lang_message(&r->out, data, n);
	stop = run_output_interrupted(r, data, n);
	if (r->out.text.n > MUCH || r->o.buffer == RUN_BUFFER_NONE ||
	    (r->o.buffer == RUN_BUFFER_LINE && r->out.text.n &&
	     r->out.text.data[r->out.text.n - 1] == '\n'))
		run_out_flush(r);
	r->ignore = r->out.exit; /* messages after exit() are ignored */
	/* where the reader is slow, look at signals before more is taken */
	return stop || r->out.text.n > MUCH;
}

static void run_out_rings(struct run *r, bpf_ring_fn *fn)
{
	if (r->ring.consumer)
		bpf_ring_drain(&r->ring, fn, r);
	if (r->control.consumer)
		bpf_ring_drain(&r->control, fn, r);
}

void run_out_drain(struct run *r)
{
	run_sideband_drain(r);
	run_out_rings(r, on_message);
	if (r->o.buffer != RUN_BUFFER_FULL)
		run_out_flush(r);
}

static int run_out_count(void *ctx, const void *data, uint32_t n)
{
	struct run *r = ctx;

	r->unshown += !r->ignore;
	return 0;
}

/* Until the rings are empty; false: the end came first. */
static bool drain_all(struct run *r)
{
	uint64_t before;

	do {
		before = r->out.messages;
		run_out_drain(r);
		if (run_out_over(r))
			return false;
	} while (r->out.messages != before && !r->ignore);
	return true;
}

void run_out_rest(struct run *r)
{
	bool hurry = r->told || !drain_all(r);

	loop_end_at_next(&r->loop);
	r->told = true;
	r->patience.end_fd = -1;
	if (!hurry)
		return;
	r->patience.until = loop_now() + LOOP_REST_MS * 1000000ull;
	drain_all(r);
	r->patience.until = 0;
	run_out_rings(r, run_out_count);
}

/* Packets of skboutput() as pcap files, which tcpdump and wireshark read. */

#define PCAP_MAGIC_NS 0xa1b23c4du
#define PCAP_RAW 101 /* IP without a header of the link, as in bpftrace's files */
#define PCAP_SNAP 65535

static struct run_pcap *run_pcap_file_of(struct run *r, const char *path)
{
	const struct {
		uint32_t magic;
		uint16_t major, minor;
		uint32_t zone, figures, snap, link;
	} head = { PCAP_MAGIC_NS, 2, 4, 0, 0, PCAP_SNAP, PCAP_RAW };
	struct run_pcap *f;

	vec_each (&r->pcaps, it)
		if (strcmp(it->path, path) == 0)
			return it;
	f = vec_add(&r->pcaps);
	f->path = mem_strdup(path);
	f->fd = output_growing(path, 0, 0600, NULL);
	f->error = f->fd < 0 ? -f->fd : -file_write_all(f->fd, &head, sizeof(head));
	return f;
}

void run_pcap_packet(void *ctx, const char *path, uint64_t time, const void *data, size_t n)
{
	struct run *r = ctx;
	struct run_pcap *f = run_pcap_file_of(r, path);
	uint64_t wall = r->host.wall(ctx, time);
	const uint32_t head[4] = { (uint32_t)(wall / 1000000000), (uint32_t)(wall % 1000000000),
				   (uint32_t)n, (uint32_t)n };

	if (!f->error &&
	    (file_write_all(f->fd, head, sizeof(head)) < 0 || file_write_all(f->fd, data, n) < 0))
		f->error = errno;
}

void run_pcap_notes(const struct run *r, struct strbuf *b)
{
	vec_each (&r->pcaps, f)
		if (f->error)
			strbuf_printf(b, "packets could not be written to %s: %s\n", f->path,
				      strerror(f->error));
}

void run_pcap_close(struct run *r)
{
	vec_each (&r->pcaps, f) {
		if (f->fd >= 0)
			close(f->fd);
		free(f->path);
	}
	vec_free(&r->pcaps);
}
