/* SPDX-License-Identifier: MIT */
#include "base/tar.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "base/filemap.h"
#include "base/map.h"
#include "base/unpack.h"
#include "base/vec.h"
#include "config.h"
#if HAVE_ZSTD
#	include <zstd.h>
#endif

#define MAX_MEMBERS (1u << 20)
#define MAX_NAME 4096u
#define MAX_UNPACKED ((uint64_t)16 << 30) /* of one member, or of a stream packed as a whole */
#define MAX_RATIO 4096u			  /* what zstd yields is at most so many times as large */
#define HEAD_ROOM (64u << 10)		  /* of a frame: the headers before a member's bytes */

struct entry {
	struct tar_member m;
	const uint8_t *at;   /* its bytes; NULL: still packed */
	const uint8_t *pack; /* the frame that holds it */
	size_t pack_size;
	uint64_t pack_skip; /* headers at the frame's start */
};

struct unpacked {
	void *data;
	size_t size;
};

struct tar {
	struct arena arena;
	VEC(struct entry) entries;
	struct strtab names;
	VEC(uint32_t) last; /* by name: the last entry of that name */
	VEC(struct unpacked) unpacked;
	pthread_mutex_t lock;
	char *name;
	void *mapped;
	size_t size;
	struct stat st; /* of what is mapped */
	struct budget budget;
	size_t refused;
	bool cut;
};

static bool is_zstd(const uint8_t *p, size_t n)
{
	return n >= 4 && memcmp(p, "\x28\xb5\x2f\xfd", 4) == 0;
}

/* Octal text, or with the upper bit set a binary number (GNU). */
static bool tar_number(const char *p, size_t n, uint64_t *ret)
{
	uint64_t v = 0;
	size_t i = 0;

	if ((uint8_t)p[0] & 0x80) {
		for (i = 1; i < n; i++) {
			if (v >> 55)
				return false;
			v = v << 8 | (uint8_t)p[i];
		}
		*ret = v;
		return true;
	}
	while (i < n && p[i] == ' ')
		i++;
	for (; i < n && p[i] >= '0' && p[i] <= '7'; i++)
		v = v << 3 | (uint64_t)(p[i] - '0');
	*ret = v;
	return i == n || p[i] == 0 || p[i] == ' ';
}

static bool is_block(const struct tar_block *b)
{
	uint64_t sum;

	return tar_number(b->sum, sizeof(b->sum), &sum) && sum == tar_sum(b);
}

bool tar_looks_like(const void *start, size_t n)
{
	return is_zstd(start, n) || (n >= TAR_BLOCK && is_block(start));
}

/* Without "./" and "//"; NULL when it leads out of the archive or says nothing. */
static char *clean_name(struct arena *a, const char *name, size_t n)
{
	char *clean = arena_alloc(a, n + 1), *p = clean;

	if (n && name[0] == '/')
		return NULL;
	for (size_t i = 0; i < n;) {
		size_t part = 0;

		while (i + part < n && name[i + part] != '/')
			part++;
		if (part == 2 && name[i] == '.' && name[i + 1] == '.')
			return NULL;
		if (part && !(part == 1 && name[i] == '.')) {
			if (p != clean)
				*p++ = '/';
			memcpy(p, name + i, part);
			p += part;
		}
		i += part + 1;
	}
	*p = 0;
	return p == clean ? NULL : clean;
}

/* What extended headers said of the member that follows them. */
struct extended {
	const char *name, *link;
	size_t name_n, link_n;
	uint64_t size;
	bool has_size;
};

/* pax: "LENGTH KEY=VALUE\n" and so on. */
static void read_pax(const uint8_t *p, size_t n, struct extended *x)
{
	while (n) {
		const uint8_t *key, *value, *blank = memchr(p, ' ', n < 20 ? n : 20);
		size_t len = 0;

		for (const uint8_t *d = p; blank && d < blank; d++)
			len = *d >= '0' && *d <= '9' && len < HEAD_ROOM * 16
				      ? len * 10 + (size_t)(*d - '0')
				      : SIZE_MAX / 16;
		if (!blank || len > n || len < (size_t)(blank - p) + 3)
			return;
		key = blank + 1;
		value = memchr(key, '=', len - (size_t)(key - p));
		if (value) {
			size_t key_n = (size_t)(value - key),
			       value_n = (size_t)(p + len - value) - 2;

			if (p + len - value < 2)
				return;
			value++;
			if (key_n == 4 && memcmp(key, "path", 4) == 0) {
				x->name = (const char *)value;
				x->name_n = value_n;
			} else if (key_n == 8 && memcmp(key, "linkpath", 8) == 0) {
				x->link = (const char *)value;
				x->link_n = value_n;
			} else if (key_n == 4 && memcmp(key, "size", 4) == 0) {
				x->size = 0;
				for (size_t i = 0; i < value_n && i < 18; i++)
					x->size = x->size * 10 + (uint64_t)(value[i] - '0') % 10;
				x->has_size = true;
			}
		}
		p += len;
		n -= len;
	}
}

static int tar_add_entry(struct tar *t, const struct entry *x, struct err *e)
{
	uint32_t name;

	if (t->entries.n == MAX_MEMBERS)
		return err_set(e, EFBIG, "%s has too many members", t->name);
	name = strtab_add(&t->names, x->m.name);
	if (name == t->last.n)
		vec_push(&t->last, 0);
	t->last.data[name] = (uint32_t)t->entries.n;
	vec_push(&t->entries, *x);
	return 0;
}

/* A member, by its header and the extended ones before. False: its name is refused. */
static bool make_member(struct tar *t, const struct tar_block *b, const struct extended *x,
			struct tar_member *m)
{
	char whole[sizeof(b->prefix) + sizeof(b->name) + 2];
	const char *name = x->name, *link = x->link;
	size_t n = x->name_n, link_n = x->link_n;
	uint64_t mtime = 0;

	if (!name) {
		bool split = b->prefix[0] && memcmp(b->magic, "ustar", 6) == 0;

		n = (size_t)snprintf(whole, sizeof(whole), "%.*s%s%.*s",
				     split ? (int)sizeof(b->prefix) : 0, b->prefix,
				     split ? "/" : "", (int)sizeof(b->name), b->name);
		name = whole;
	}
	if (!link) {
		link = b->link;
		link_n = strnlen(b->link, sizeof(b->link));
	}
	n = strnlen(name, n);
	if (n > MAX_NAME || link_n > MAX_NAME)
		return false;
	tar_number(b->mtime, sizeof(b->mtime), &mtime);
	m->name = clean_name(&t->arena, name, n);
	m->mtime = (int64_t)mtime;
	m->kind = b->type == '2' ? TAR_LINK : b->type == '5' ? TAR_FOLDER : TAR_FILE;
	m->link = m->kind == TAR_LINK ? arena_strndup(&t->arena, link, link_n) : NULL;
	return m->name;
}

enum step {
	STEP_MEMBER, /* one was found: e, and how far to go to the next header */
	STEP_OTHER,  /* something that is no member */
	STEP_END,
	STEP_MORE, /* cut short */
	STEP_BAD,
};

/*
 * One header with all that extends it, from n bytes. *head: bytes before the member's own; *all:
 * with those. Where the bytes themselves end is the caller's to check.
 */
static enum step tar_read_header(struct tar *t, const uint8_t *p, size_t n, struct entry *e,
				 uint64_t *head, uint64_t *all)
{
	struct extended x = { 0 };
	size_t at = 0;

	for (;;) {
		const struct tar_block *b = (const void *)(p + at);
		const uint8_t *body = p + at + TAR_BLOCK;
		uint64_t size;

		if (n - at < TAR_BLOCK)
			return STEP_MORE;
		if (!b->name[0] && !b->sum[0])
			return STEP_END;
		if (!is_block(b) || !tar_number(b->size, sizeof(b->size), &size))
			return STEP_BAD;
		at += TAR_BLOCK;
		if (!strchr("xLKgX", b->type) || !b->type) {
			bool has = b->type == '0' || b->type == '7' || !b->type;

			if (x.has_size)
				size = x.size;
			/* links and folders have no bytes, whatever they say */
			if (b->type >= '1' && b->type <= '6')
				size = 0;
			if (size > (uint64_t)1 << 60)
				return STEP_BAD;
			*head = at;
			*all = at + tar_round(size);
			*e = (struct entry){ .m.size = size };
			if (!has && b->type != '2' && b->type != '5')
				return STEP_OTHER;
			if (make_member(t, b, &x, &e->m))
				return STEP_MEMBER;
			t->refused++;
			return STEP_OTHER;
		}
		if (size > HEAD_ROOM)
			return STEP_BAD;
		if (tar_round(size) > n - at)
			return STEP_MORE;
		if (b->type == 'x')
			read_pax(body, (size_t)size, &x);
		else if (b->type == 'L')
			x.name = (const char *)body, x.name_n = (size_t)size;
		else if (b->type == 'K')
			x.link = (const char *)body, x.link_n = strnlen(x.link, (size_t)size);
		at += (size_t)tar_round(size);
	}
}

static int damaged(const struct tar *t, struct err *e)
{
	return err_set(e, EBADMSG, "%s is damaged, or no tar archive", t->name);
}

/* Plain tar in memory. */
static int walk(struct tar *t, const uint8_t *p, size_t n, struct err *e)
{
	while (n) {
		uint64_t head = 0, all = 0;
		struct entry entry;
		enum step s = tar_read_header(t, p, n, &entry, &head, &all);

		if (s == STEP_END)
			return 0;
		if (s == STEP_BAD)
			return damaged(t, e);
		if (s == STEP_MORE || head + entry.m.size > n) {
			t->cut = true;
			return 0;
		}
		entry.at = p + head;
		if (s == STEP_MEMBER && tar_add_entry(t, &entry, e) < 0)
			return -EFBIG;
		if (all > n)
			all = n;
		p += all;
		n -= (size_t)all;
	}
	return 0;
}

#if HAVE_ZSTD
/* Zeroed pages cost nothing until they are written to. */
static void *room(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		       -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* The whole stream, whatever its frames: packed by another tool. */
static int unpack_all(struct tar *t, const uint8_t *p, size_t n, struct err *e)
{
	uint8_t *data;
	size_t size;
	int r = unpack_stream(UNPACK_ZSTD, p, n, SIZE_MAX, &t->budget, t->name, &data, &size, e);

	vec_push(&t->unpacked, (struct unpacked){ data, 0 });
	if (r < 0)
		return r;
	t->cut = r;
	return walk(t, data, size, e);
}

/* The first bytes of a frame. */
static size_t frame_start(const uint8_t *p, size_t n, uint8_t *buf, size_t size)
{
	ZSTD_DStream *d = ZSTD_createDStream();
	ZSTD_inBuffer in = { p, n, 0 };
	ZSTD_outBuffer out = { buf, size, 0 };

	while (out.pos < out.size && in.pos < in.size) {
		size_t r = ZSTD_decompressStream(d, &out, &in);

		if (ZSTD_isError(r) || r == 0)
			break;
	}
	ZSTD_freeDStream(d);
	return out.pos;
}

/* Frames as tar_write.h makes them: each one member. 1: it is not made that way. */
static int walk_frames(struct tar *t, const uint8_t *p, size_t n, struct err *e)
{
	AUTO_FREE uint8_t *buf = mem_alloc(HEAD_ROOM);

	while (n) {
		size_t size = ZSTD_findFrameCompressedSize(p, n);
		uint64_t plain = ZSTD_getFrameContentSize(p, n), head, all;
		struct entry entry;
		enum step s;

		if (ZSTD_isError(size)) {
			t->cut = t->entries.n > 0;
			return t->cut ? 0 : 1;
		}
		if (plain == ZSTD_CONTENTSIZE_UNKNOWN || plain == ZSTD_CONTENTSIZE_ERROR)
			return 1;
		if (plain) {
			size_t have = frame_start(p, size, buf,
						  plain < HEAD_ROOM ? (size_t)plain : HEAD_ROOM);

			s = tar_read_header(t, buf, have, &entry, &head, &all);
			if (s == STEP_END)
				return 0;
			if (s == STEP_MORE || s == STEP_BAD || all != plain)
				return 1;
			/* what never comes out of so few bytes is not even tried */
			if (plain > MAX_UNPACKED || plain > (uint64_t)size * MAX_RATIO)
				return err_set(e, EFBIG, "%s: what is packed in it is too large",
					       t->name);
			entry.pack = p;
			entry.pack_size = size;
			entry.pack_skip = head;
			if (s == STEP_MEMBER && tar_add_entry(t, &entry, e) < 0)
				return -EFBIG;
		}
		p += size;
		n -= size;
	}
	return 0;
}

static const uint8_t *unpack(struct tar *t, struct entry *x, struct err *e)
{
	size_t size = (size_t)(x->pack_skip + tar_round(x->m.size));
	uint8_t *p;

	if (budget_take(&t->budget, size, t->name, e) < 0)
		return NULL;
	p = room(size);
	if (!p) {
		err_set(e, ENOMEM, "%s: no memory for %s", t->name, x->m.name);
		return NULL;
	}
	if (unpack_exactly(UNPACK_ZSTD, x->pack, x->pack_size, p, size) < 0) {
		munmap(p, size);
		err_set(e, EBADMSG, "%s: %s is damaged", t->name, x->m.name);
		return NULL;
	}
	mprotect(p, size, PROT_READ);
	vec_push(&t->unpacked, (struct unpacked){ p, size });
	return p + x->pack_skip;
}
#endif

static void forget_entries(struct tar *t)
{
	vec_free(&t->entries);
	vec_free(&t->last);
	strtab_free(&t->names);
	t->refused = 0;
	t->cut = false;
}

static int tar_read_all(struct tar *t, const uint8_t *p, size_t n, struct err *e)
{
	if (!is_zstd(p, n))
		return walk(t, p, n, e);
#if HAVE_ZSTD
	int r = walk_frames(t, p, n, e);

	if (r <= 0)
		return r;
	forget_entries(t);
	return unpack_all(t, p, n, e);
#else
	err_set(e, EOPNOTSUPP, "%s is packed with zstd, which this kymo was built without",
		t->name);
	return err_hint(e, "unpack it: zstd -d, then read the .tar");
#endif
}

int tar_open_memory(const void *data, size_t n, const char *name, struct tar **ret, struct err *e)
{
	struct tar *t = mem_alloc(sizeof(*t));
	int r;

	pthread_mutex_init(&t->lock, NULL);
	t->name = mem_strdup(name);
	t->budget.size = n;
	r = tar_read_all(t, data, n, e);
	if (r == 0 && !t->entries.n)
		r = damaged(t, e);
	if (r < 0) {
		tar_close(t);
		return r;
	}
	*ret = t;
	return 0;
}

int tar_open_fd(int fd_, const char *name, struct tar **ret, struct err *e)
{
	AUTO_CLOSE int fd = fd_;
	struct stat st;
	void *p;
	int r;

	if (fstat(fd, &st) < 0)
		return err_set(e, errno, "cannot stat %s: %s", name, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_size < (off_t)TAR_BLOCK / 8)
		return err_set(e, EBADMSG, "%s is no tar archive", name);
	p = filemap_open(fd, (size_t)st.st_size, name);
	if (!p)
		return err_set(e, errno, "cannot map %s: %s", name, strerror(errno));
	r = tar_open_memory(p, (size_t)st.st_size, name, ret, e);
	if (r < 0) {
		filemap_close(p, (size_t)st.st_size);
		return r;
	}
	(*ret)->mapped = p;
	(*ret)->size = (size_t)st.st_size;
	(*ret)->st = st;
	return 0;
}

void tar_close(struct tar *t)
{
	if (!t)
		return;
	budget_give(&t->budget, t->budget.taken);
	vec_each (&t->unpacked, u) {
		if (u->size)
			munmap(u->data, u->size);
		else
			free(u->data);
	}
	vec_free(&t->unpacked);
	forget_entries(t);
	if (t->mapped)
		filemap_close(t->mapped, t->size);
	pthread_mutex_destroy(&t->lock);
	arena_free(&t->arena);
	free(t->name);
	free(t);
}

size_t tar_count(const struct tar *t)
{
	return t->entries.n;
}

const struct tar_member *tar_at(const struct tar *t, size_t i)
{
	return &t->entries.data[i].m;
}

const struct tar_member *tar_find(const struct tar *t, const char *name)
{
	uint32_t at = strtab_find(&t->names, name);

	return at == STRTAB_NONE ? NULL : &t->entries.data[t->last.data[at]].m;
}

const void *tar_data(struct tar *t, const struct tar_member *m, struct err *e)
{
	struct entry *x = (struct entry *)m; /* its first field */

	if (m->kind != TAR_FILE) {
		err_set(e, EISDIR, "%s: %s is no file", t->name, m->name);
		return NULL;
	}
#if HAVE_ZSTD
	pthread_mutex_lock(&t->lock);
	if (!x->at)
		x->at = unpack(t, x, e);
	pthread_mutex_unlock(&t->lock);
#endif
	return x->at;
}

void tar_drop(struct tar *t, const struct tar_member *m)
{
	struct entry *x = (struct entry *)m;

	pthread_mutex_lock(&t->lock);
	for (size_t i = 0; x->pack && x->at && i < t->unpacked.n; i++) {
		struct unpacked *u = &t->unpacked.data[i];

		if ((const uint8_t *)u->data + x->pack_skip != x->at)
			continue;
		munmap(u->data, u->size);
		budget_give(&t->budget, u->size);
		*u = t->unpacked.data[--t->unpacked.n];
		x->at = NULL;
	}
	pthread_mutex_unlock(&t->lock);
}

bool tar_stat(const struct tar *t, struct stat *ret)
{
	*ret = t->st;
	return t->mapped;
}

size_t tar_refused(const struct tar *t)
{
	return t->refused;
}

bool tar_was_cut(const struct tar *t)
{
	return t->cut;
}
