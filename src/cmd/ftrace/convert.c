/* SPDX-License-Identifier: MIT */
/* kymo ftrace convert: a trace.dat in another version, or packed otherwise. */
#define OPT_ARGS struct convert_args
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/opt.h"
#include "cmd/command.h"
#include "cmd/ftrace/copy.h"
#include "cmd/ftrace/ftrace.h"
#include "cmd/ftrace/run.h"
#include "cmd/share/input.h"

struct convert_args {
	struct ftrace_args t;
	const char *input;
};

typedef struct convert_args args_t;

static const struct opt opts[] = {
	OPT_STR_C('i', "input", "FILE", input, "read FILE (default: trace.dat)", "@files"),
	OPT_STR_C('o', "output", "FILE", t.output, "write to FILE", "@files"),
	OPT_STR_C(0, "compression", "NAME", t.compression, "zstd, zlib, none, any",
		  "zstd|zlib|none|any"),
	OPT_INT(0, "file-version", "6|7", t.version, "of trace.dat (default: 7)"),
	OPT_FLAG('q', "quiet", t.quiet, "say nothing but errors"),
	OPT_END,
};

/* The pages as they are, lost events and all. */
static int put_pages(const struct tracedat *t, struct ftrace_copy *c, struct err *e)
{
	size_t at = 0;

	for (size_t i = 0; i < t->n_buffers; i++)
		for (size_t k = 0; k < t->buffers[i].n_cpus; k++, at++) {
			const struct tracedat_cpu *from = &t->buffers[i].cpus[k];
			int r;

			if (!from->size || !from->data)
				continue;
			c->cpus[at].fd = memfd_create("kymo-convert", MFD_CLOEXEC);
			c->cpus[at].size = from->size;
			r = c->cpus[at].fd < 0
				    ? -errno
				    : file_write_all(c->cpus[at].fd, from->data, from->size);
			if (r < 0)
				return err_set(e, -r, "cannot keep pages: %s", strerror(-r));
		}
	return 0;
}

/* Texts of latency tracers, and what the kernel counted, all of it with the first CPU. */
static struct strbuf *put_texts(const struct tracedat *t, struct ftrace_copy *c)
{
	size_t n = t->n_buffers, stats = t->n_buffers ? t->buffers[0].n_cpus : 0;
	struct strbuf *texts = mem_alloc((n + stats + 1) * sizeof(*texts));

	for (size_t i = 0; i < n; i++)
		if (t->buffers[i].text) {
			strbuf_add(&texts[i], t->buffers[i].text, t->buffers[i].text_size);
			c->buffers[i].text = &texts[i];
		}
	if (stats && *t->stats) {
		strbuf_add(&texts[n], t->stats, strlen(t->stats) - 1);
		c->buffers[0].stats = &texts[n];
	}
	return texts;
}

static int ftrace_convert_convert(struct source *s, const args_t *a, const char *output,
				  struct err *e)
{
	const struct tracedat *t = tracedat_of(s);
	struct ftrace_copy c;
	struct strbuf *texts;
	int r;

	if (t->swap)
		return err_set(e, EOPNOTSUPP,
			       "a recording of the other endian cannot be converted here");
	ftrace_copy_head(s, &c);
	texts = put_texts(t, &c);
	r = ftrace_save_format(&a->t, &c.o.version, &c.o.compression, e);
	if (r >= 0)
		r = put_pages(t, &c, e);
	if (r >= 0)
		r = tracedat_write(output, &c.o, e);
	if (r >= 0 && !a->t.quiet)
		command_note("wrote %s, version %d, compression %s", output, c.o.version,
			     c.o.compression);
	for (size_t i = 0; i < c.n_cpus; i++)
		if (c.cpus[i].fd >= 0)
			close(c.cpus[i].fd);
	for (size_t i = 0; i < t->n_buffers + (t->n_buffers ? t->buffers[0].n_cpus : 0); i++)
		strbuf_free(&texts[i]);
	free(texts);
	ftrace_copy_free(&c);
	return r;
}

static int ftrace_convert_run(void *args, int argc, char **argv, struct err *e)
{
	const args_t *a = args;
	const char *output = a->t.output ? a->t.output : argc ? argv[0] : NULL;
	struct source *s;
	int r;

	if (!output || argc > (a->t.output ? 0 : 1)) {
		err_set(e, EINVAL, output ? "convert writes one file" : "where shall it go?");
		return err_hint(e, "kymo ftrace convert -i trace.dat -o FILE --file-version 6");
	}
	r = ftrace_input(a->input, &s, e);
	if (r < 0)
		return r;
	r = ftrace_convert_convert(s, a, output, e);
	input_warn(s);
	source_close(s);
	return r < 0 ? r : 0;
}

static const struct example examples[] = {
	{ "ftrace convert -i new.dat -o old.dat --file-version 6", "for an older trace-cmd" },
	{ "ftrace convert -i big.dat -o small.dat --compression zstd", "smaller" },
	{ NULL, NULL },
};

const struct command cmd_ftrace_convert = {
	.name = "convert",
	.group = "ftrace",
	.summary = "a trace.dat in another version, or compressed otherwise",
	.usage = "[-i FILE] -o FILE [OPTIONS]",
	.examples = examples,
	.opts = opts,
	.args_size = sizeof(args_t),
	.run = ftrace_convert_run,
};
