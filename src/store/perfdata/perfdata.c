/* SPDX-License-Identifier: MIT */
/*
 * Opening a recording in any of its forms: a file, a stream of records that was
 * saved, a directory of files.
 */
#include "store/perfdata/impl.h"
#include "store/perfdata/records.h"
#include "store/stat/statdata.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "base/file.h"
#include "base/filemap.h"
#include "event/text.h"

#define MAX_OPEN 64 /* files of a directory */

void perfdata_note(struct perfdata *pd, const char *fmt, ...)
{
	char *note = pd->trace.losses.note;
	va_list ap;

	if (*note)
		return; /* the first one says where it began */
	va_start(ap, fmt);
	vsnprintf(note, sizeof(pd->trace.losses.note), fmt, ap);
	va_end(ap);
}

void perfdata_close(struct source *s)
{
	struct perfdata *pd = s->impl;

	unzip_free(pd);
	vec_each (&pd->files, f) {
		if (f->mapped && f->fd >= 0)
			close(f->fd);
		if (f->mapped)
			filemap_close(f->data, f->size);
	}
	vec_each (&pd->types, t)
		vec_free(&t->ids);
	vec_each (&pd->chunks, c)
		free(c->values);
	free(pd->open.values);
	vec_free(&pd->files);
	vec_free(&pd->types);
	vec_free(&pd->layouts);
	vec_free(&pd->chunks);
	vec_free(&pd->sides);
	arena_free(&pd->side_copies);
	code_free(pd);
	vec_free(&pd->build_ids);
	vec_free(&pd->formats);
	text_free(pd->trace.tep);
	vec_free(&pd->readings.value);
	map_free(&pd->readings.slot);
	map_free(&pd->ids);
	map_free(&pd->cgroups);
	map_free(&pd->namespace_of);
	vec_free(&pd->namespaces);
	strtab_free(&pd->cgroup_paths);
	map_free(&pd->unknown_types);
	tasks_free(pd->trace.tasks);
	arena_free(&pd->trace.arena);
	tar_close(pd->trace.files);
	free(pd);
}

/* fd is taken over. */
static int add_fd(struct perfdata *pd, int taken, const char *path, const char *name, struct err *e)
{
	AUTO_CLOSE int fd = taken;
	struct perfdata_file f = { .fd = -1 };
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_set(e, errno, "cannot open %s: %s", path, strerror(errno));
	f.size = (size_t)st.st_size;
	f.data = f.size ? filemap_open(fd, f.size, path) : NULL;
	f.mapped = f.size > 0;
	if (f.mapped && !f.data)
		return err_set(e, errno, "cannot map %s: %s", path, strerror(errno));
	if (f.mapped)
		madvise((void *)f.data, f.size, MADV_WILLNEED);
	if (f.mapped && pd->files.n < MAX_OPEN) {
		f.fd = fd;
		fd = -1;
	}
	f.name = name ? arena_strdup(&pd->trace.arena, name) : NULL;
	pd->trace.info.captured = pd->files.n ? pd->trace.info.captured : (uint64_t)st.st_mtime;
	vec_push(&pd->files, f);
	return 0;
}

/* Whoever made the folder chose what lies there under that name. */
int perfdata_open_part(int folder, const char *path, const char *name, struct err *e)
{
	int fd = file_openat_input(folder, name, O_NOFOLLOW, 0, NULL);

	if (fd >= 0 || fd == -ENOENT)
		return fd;
	err_set(e, -fd, "%s/%s cannot be read: %s", path, name,
		fd == -ELOOP	? "it is a link, and would lead out of the recording"
		: fd == -EINVAL ? "it is no regular file"
				: strerror(-fd));
	return fd == -ELOOP || fd == -EINVAL
		       ? err_hint(e, "parts of a recording are files of its folder")
		       : fd;
}

/* data, then data.0, data.1 ... which hold records only. */
static int add_directory(struct perfdata *pd, const char *path, struct err *e)
{
	AUTO_CLOSE int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char name[32] = "data";
	int r = 0;

	if (folder < 0)
		return err_set(e, errno, "cannot open %s: %s", path, strerror(errno));
	for (unsigned i = 0; r >= 0; i++) {
		int fd = perfdata_open_part(folder, path, name, e);

		if (fd == -ENOENT && i)
			return 0;
		if (fd == -ENOENT)
			err_set(e, ENOENT, "%s is a folder without a recording in it", path);
		r = fd < 0 ? fd : add_fd(pd, fd, path, name, e);
		snprintf(name, sizeof(name), "data.%u", i);
	}
	return r;
}

static void swap_header(struct perfdata_header *h)
{
	uint64_t words[4];

	swap_words(h, offsetof(struct perfdata_header, features));
	/* The bitmap is of longs: of 64 bits, or of 32 where HOSTNAME is not among them. */
	memcpy(words, h->features, sizeof(words));
	swap_words(h->features, sizeof(h->features));
	if (!(h->features[0] >> PERFDATA_HOSTNAME & 1)) {
		uint32_t *half = (uint32_t *)h->features;

		memcpy(h->features, words, sizeof(words));
		for (int i = 0; i < 8; i++)
			half[i] = bswap_32(half[i]);
	}
	if (!(h->features[0] >> PERFDATA_HOSTNAME & 1)) {
		memset(h->features, 0, sizeof(h->features));
		h->features[0] = 1u << PERFDATA_BUILD_ID;
	}
}

static int perfdata_read_header(struct perfdata *pd, const char *path, struct err *e)
{
	const struct perfdata_file *f = &pd->files.data[0];
	struct perfdata_header *h = &pd->header;
	uint64_t size;

	if (f->size == 0)
		return err_set(e, ENODATA, "%s is empty", path);
	if (f->size < PERFDATA_PIPE_SIZE)
		return err_set(e, EINVAL, "%s is no perf.data file: it has only %zu bytes", path,
			       f->size);
	memcpy(h, f->data, f->size < sizeof(*h) ? f->size : sizeof(*h));
	pd->swap = h->magic == PERFDATA_MAGIC_SWAPPED;
	if (h->magic != PERFDATA_MAGIC && !pd->swap) {
		err_set(e, EINVAL, "%s is no perf.data file: it does not begin with PERFILE2",
			path);
		return -EINVAL;
	}
	size = pd->swap ? bswap_64(h->size) : h->size;
	if (size == PERFDATA_PIPE_SIZE) {
		*h = (struct perfdata_header){ .magic = h->magic, .size = size };
		pd->pipe = true;
		return 0;
	}
	if (size < offsetof(struct perfdata_header, features) || size > 4096 || f->size < size)
		return err_set(e, EINVAL, "%s: the header makes no sense (size %llu)", path,
			       (unsigned long long)size);
	if (size < sizeof(*h))
		memset((uint8_t *)h + size, 0, sizeof(*h) - size);
	if (pd->swap)
		swap_header(h);
	return 0;
}

static int read_attrs(struct perfdata *pd, const char *path, struct err *e)
{
	const struct perfdata_file *f = &pd->files.data[0];
	const struct perfdata_header *h = &pd->header;
	uint64_t each = h->attr_size, n;

	if (each < PERF_ATTR_SIZE_VER0 + sizeof(struct perfdata_section) || each > 4096 ||
	    h->attrs.offset > f->size || h->attrs.size > f->size - h->attrs.offset)
		return err_set(e, EINVAL, "%s: the list of events is damaged", path);
	n = h->attrs.size / each;
	for (uint64_t i = 0; i < n; i++) {
		const uint8_t *p = f->data + h->attrs.offset + i * each;
		size_t attr_size = each - sizeof(struct perfdata_section);
		struct perfdata_section ids;
		int r;

		memcpy(&ids, p + attr_size, sizeof(ids));
		if (pd->swap)
			swap_words(&ids, sizeof(ids));
		if (ids.offset > f->size || ids.size > f->size - ids.offset) {
			perfdata_note(pd, "the ids of event %llu lie outside the file",
				      (unsigned long long)i);
			ids = (struct perfdata_section){ 0 };
		}
		r = attr_add(pd, p, attr_size, f->data + ids.offset, ids.size / 8, e);
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_path(struct perfdata *pd, const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), code = errno;
	struct stat st;

	if (fd < 0) {
		err_set(e, code, "cannot open %s: %s", path, strerror(code));
		return code == ENOENT ? err_hint(e, "kymo record makes one; -i FILE reads another")
				      : -code;
	}
	if (fstat(fd, &st) < 0 || !S_ISDIR(st.st_mode))
		return add_fd(pd, fd, path, NULL, e);
	close(fd);
	return add_directory(pd, path, e);
}

/* With its files at hand. */
static int perfdata_load(struct perfdata *pd, const char *path, struct err *e)
{
	int r = perfdata_read_header(pd, path, e);

	if (r >= 0 && !pd->pipe)
		r = read_attrs(pd, path, e);
	if (r < 0)
		return r;
	feature_sections(pd);
	attr_layouts(pd);
	r = scan_all(pd, e);
	if (r < 0)
		return r;
	if (!pd->types.n)
		return err_set(e, ENODATA, "%s has no events: the recording was cut before them",
			       path);
	feature_build_ids(pd);
	side_apply(pd);
	feature_parse(pd);
	attr_finish(pd);
	tracing_finish(pd);
	return 0;
}

static void record_text_of(const struct event *ev, struct strbuf *b)
{
	records_text(ev->record, b);
}

static struct perfdata *new_perfdata(void)
{
	struct perfdata *pd = mem_alloc(sizeof(*pd));

	pd->trace.tasks = tasks_new();
	pd->trace.record_text = record_text_of;
	pd->source = (struct source){ .trace = &pd->trace,
				      .format = "perf.data",
				      .impl = pd,
				      .read_chunk = read_chunk,
				      .read_ordered = read_ordered,
				      .read_stored = perfdata_read_stored,
				      .dump = perfdata_dump,
				      .settings = attr_settings,
				      .close = perfdata_close };
	return pd;
}

/* r: how adding the files went. */
static int finish_open(struct perfdata *pd, const char *path, int r, struct source **ret,
		       struct err *e)
{
	if (r >= 0)
		r = perfdata_load(pd, path, e);
	if (r < 0) {
		pd->trace.files = NULL; /* still the caller's */
		perfdata_close(&pd->source);
		return r;
	}
	/* what the first pass has left */
	vec_each (&pd->files, f)
		if (f->mapped && !f->stays)
			mem_drop(f->data, f->size);
	pd->source.n_chunks = pd->chunks.n;
	pd->source.stable = !pd->swap && !pd->unaligned; /* else they are copies */
	if (pd->source.stable && pd->layouts.n == 1 && pd->layouts.data[0].plain)
		pd->source.read_brief = read_brief;
	vec_each (&pd->chunks, c)
		pd->trace.n_samples += c->n_samples;
	if (pd->has_counts && !pd->trace.n_samples) {
		pd->source.read_ordered = statdata_read_ordered;
		for (size_t i = 0; i < pd->trace.n_types; i++)
			pd->trace.types[i].has |= TYPE_HAS_VALUES | EVENT_HAVE_TIME |
						  EVENT_HAVE_TASK | EVENT_HAVE_CPU;
	}
	pd->trace.big_endian_source = pd->swap;
	pd->trace.info.header_text = info_text(pd);
	*ret = &pd->source;
	return 0;
}

int perfdata_open(const char *path, struct source **ret, struct err *e)
{
	struct perfdata *pd = new_perfdata();

	return finish_open(pd, path, add_path(pd, path, e), ret, e);
}

int perfdata_open_fd(int fd, const char *path, struct source **ret, struct err *e)
{
	struct perfdata *pd = new_perfdata();

	return finish_open(pd, path, add_fd(pd, fd, path, NULL, e), ret, e);
}

int perfdata_open_parts(const struct perfdata_part *part, size_t n, const char *path,
			uint64_t captured, struct tar *files, struct source **ret, struct err *e)
{
	struct perfdata *pd = new_perfdata();

	pd->trace.info.captured = captured;
	pd->trace.files = files;
	for (size_t i = 0; i < n; i++) {
		struct perfdata_file f = { .data = part[i].data,
					   .size = part[i].size,
					   .name = arena_strdup(&pd->trace.arena, part[i].name) };

		vec_push(&pd->files, f);
	}
	return finish_open(pd, path, n ? 0 : err_set(e, ENODATA, "%s is empty", path), ret, e);
}

const struct perfdata_build_id *perfdata_build_ids(const struct source *s, size_t *n)
{
	const struct perfdata *pd = s->impl;

	*n = pd->build_ids.n;
	return pd->build_ids.data;
}

int perfdata_socket(const struct source *s, uint32_t cpu)
{
	const struct perfdata *pd = s->impl;

	return cpu < pd->n_cpus ? pd->cpus[cpu].socket : -1;
}

const char *perfdata_cgroup(const struct source *s, uint64_t id)
{
	const struct perfdata *pd = s->impl;
	const uint64_t *at = map_find(&pd->cgroups, id);

	return at ? strtab_get(&pd->cgroup_paths, (uint32_t)*at - 1) : NULL;
}

void perfdata_cgroup_namespace(const struct source *s, int32_t tid, uint64_t time, uint64_t *dev,
			       uint64_t *ino)
{
	const struct perfdata *pd = s->impl;
	const uint64_t *at = map_find(&pd->namespace_of, (uint32_t)tid);
	size_t i = at ? *at : 0;

	while (i && pd->namespaces.data[i - 1].time > time)
		i = pd->namespaces.data[i - 1].before;
	*dev = i ? pd->namespaces.data[i - 1].dev : 0;
	*ino = i ? pd->namespaces.data[i - 1].ino : 0;
}
