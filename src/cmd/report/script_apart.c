/* SPDX-License-Identifier: MIT */
#include "cmd/report/script_apart.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/output.h"
#include "base/str.h"

static int open_part(struct script_part *p, const char *recording, const char *event, struct err *e)
{
	AUTO_STRBUF b = { 0 };
	size_t at;
	int fd;

	strbuf_printf(&b, "%s.", recording);
	at = b.n;
	strbuf_printf(&b, "%s.dump", event);
	for (char *c = b.data + at; *c; c++) /* a name may not lead to another folder */
		if (*c == '/')
			*c = '_';
	p->path = mem_strdup(strbuf_str(&b));
	fd = output_growing(p->path, 0, 0600, e);
	if (fd < 0)
		return fd;
	out_init(&p->out, fd);
	return 0;
}

int script_apart_open(struct script_apart *a, const struct trace *t, const char *path,
		      struct err *e)
{
	int r = 0;

	if (strcmp(path, "-") == 0)
		path = "perf.data";
	a->part = mem_alloc((t->n_types + 1) * sizeof(*a->part));
	for (size_t i = 0; i < t->n_types && r == 0; i++) {
		r = open_part(&a->part[i], path, t->types[i].name, e);
		if (r == 0)
			a->n++;
		else
			free(a->part[i].path);
	}
	if (r < 0)
		script_apart_close(a, NULL);
	return r;
}

struct out *script_apart_of(struct script_apart *a, const struct event *ev)
{
	struct script_part *p = &a->part[ev->kind == EVENT_SAMPLE ? ev->type : 0];

	p->n += ev->kind == EVENT_SAMPLE;
	return &p->out;
}

int script_apart_close(struct script_apart *a, struct err *e)
{
	int r = 0;

	for (size_t i = 0; i < a->n; i++) {
		struct script_part *p = &a->part[i];
		struct stat st = { 0 };

		out_flush(&p->out);
		if (e && r == 0 && p->out.error)
			r = err_set(e, p->out.error, "cannot write %s: %s", p->path,
				    strerror(p->out.error));
		fstat(p->out.fd, &st);
		if (e && r == 0)
			printf("[ kymo script: Wrote %.3f MB %s (%llu samples) ]\n",
			       (double)st.st_size / 1024 / 1024, p->path, (unsigned long long)p->n);
		close(p->out.fd);
		out_free(&p->out);
		free(p->path);
	}
	free(a->part);
	*a = (struct script_apart){ 0 };
	return r;
}
