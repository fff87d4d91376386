/* SPDX-License-Identifier: MIT */
/* Packets of skboutput() as pcap files, which tcpdump and wireshark read. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/output.h"
#include "live/run/session.h"

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
