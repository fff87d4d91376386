/* SPDX-License-Identifier: MIT */
#include "sym/names/answers.h"

#include <link.h>
#include <sys/mman.h>

#include "base/sort.h"
#include "config.h"
#include "sym/find/cache.h"

#define MAGIC 0x006d79734f4d594bu /* "KYMOsym\0" */
#define VERSION 5u		  /* of the layout, and of what its fields mean */
#define ENTRIES_MAX (1u << 24)

struct header {
	uint64_t magic;
	uint32_t version, sources;
	uint64_t check; /* of everything else */
	uint64_t maker; /* which kymo wrote it: another may name things otherwise */
	uint64_t n, nframe, ntext;
	struct build_id id;
	uint8_t pad[7];
};

static const char *const file_names[] = {
	"index",       "index-raw",	  "index-params",
	"index-exact", "index-exact-raw", "index-exact-params",
};

/* The first object is the program itself; its own build-id says which build it is. */
static int own_build_id(struct dl_phdr_info *info, size_t size, void *ctx)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		/* NOLINTNEXTLINE(performance-no-int-to-ptr): that is what the loader tells */
		const uint8_t *note = (const uint8_t *)(info->dlpi_addr + p->p_vaddr);

		if (p->p_type == PT_NOTE && elf_note_build_id(note, p->p_memsz, false, ctx))
			break;
	}
	return 1;
}

static uint64_t maker(void)
{
	struct build_id id = { 0 };

	dl_iterate_phdr(own_build_id, &id);
	return map_hash_bytes(KYMO_VERSION, strlen(KYMO_VERSION)) ^ map_hash_bytes(id.data, id.len);
}

static uint64_t check_of(const struct header *h, const uint8_t *body, size_t n)
{
	struct header copy = *h;

	copy.check = map_hash_bytes(body, n);
	return map_hash_bytes(&copy, sizeof(copy));
}

/* Every offset that will be followed is looked at here, once. */
static bool sound(const struct answers *a, size_t nframe, size_t ntext)
{
	if (ntext && a->text[ntext - 1])
		return false;
	for (size_t i = 0; i < a->n; i++) {
		const struct answers_entry *e = &a->entry[i];

		if ((i && e[-1].addr >= e->addr) || (e->name != ANSWERS_NONE && e->name >= ntext) ||
		    (e->module != ANSWERS_NONE && e->module >= ntext) || e->first > nframe ||
		    e->nframes > nframe - e->first || e->before > e->addr ||
		    e->after > UINT64_MAX - e->addr)
			return false;
	}
	for (size_t i = 0; i < nframe; i++)
		if ((a->frame[i].name != ANSWERS_NONE && a->frame[i].name >= ntext) ||
		    (a->frame[i].file != ANSWERS_NONE && a->frame[i].file >= ntext))
			return false;
	return true;
}

/* About an entry or two for each part of the addresses. */
static void make_starts(struct answers *a)
{
	uint64_t low = a->n ? a->entry[0].addr : 0, all = a->n ? a->entry[a->n - 1].addr - low : 0;
	size_t parts, next = 0;

	while (all >> a->shift > a->n)
		a->shift++;
	parts = (size_t)(all >> a->shift) + 1;
	a->start = mem_grow(NULL, (parts + 1) * sizeof(*a->start));
	for (size_t i = 0; i < a->n; i++)
		while (next <= (a->entry[i].addr - low) >> a->shift)
			a->start[next++] = (uint32_t)i;
	while (next <= parts)
		a->start[next++] = (uint32_t)a->n;
}

int answers_parse(struct answers *a, const void *data, size_t size, const struct build_id *id)
{
	const struct header *h = data;
	size_t left;

	if (size < sizeof(*h) || h->magic != MAGIC || h->version != VERSION ||
	    h->maker != maker() || (id->len && !build_id_match(&h->id, id)))
		return -EBADMSG;
	left = size - sizeof(*h);
	if (h->n > left / sizeof(struct answers_entry))
		return -EBADMSG;
	left -= h->n * sizeof(struct answers_entry);
	if (h->nframe > left / sizeof(struct answers_frame))
		return -EBADMSG;
	left -= h->nframe * sizeof(struct answers_frame);
	if (h->ntext != left ||
	    check_of(h, (const uint8_t *)(h + 1), size - sizeof(*h)) != h->check)
		return -EBADMSG;
	a->entry = (const void *)(h + 1);
	a->n = h->n;
	a->frame = (const void *)(a->entry + h->n);
	a->text = (const char *)(a->frame + h->nframe);
	a->sources = h->sources;
	if (!sound(a, h->nframe, h->ntext))
		return -EBADMSG;
	make_starts(a);
	return 0;
}

int answers_open(struct answers *a, int cache, const struct cache_key *key,
		 const struct build_id *id, enum answers_names names)
{
	*a = (struct answers){ 0 };
	if (cache_map(cache, key, file_names[names], &a->mapped, &a->size) < 0)
		return -ENOENT;
	if (answers_parse(a, a->mapped, a->size, id) == 0)
		return 0;
	answers_close(a);
	return -ENOENT;
}

bool answers_kept(int cache, const struct cache_key *key, enum answers_names names)
{
	AUTO_CLOSE int fd = cache_get(cache, key, file_names[names]);

	return fd >= 0;
}

bool answers_kept_any(int cache, const struct cache_key *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(file_names); i++)
		if (answers_kept(cache, key, (enum answers_names)i))
			return true;
	return false;
}

void answers_close(struct answers *a)
{
	if (a->mapped)
		munmap(a->mapped, a->size);
	free(a->start);
	*a = (struct answers){ 0 };
}

/* How many entries there are up to an address. */
static size_t entries_to(const struct answers *a, uint64_t addr)
{
	uint64_t at;
	size_t first;

	if (!a->n || addr < a->entry[0].addr)
		return 0;
	if (addr >= a->entry[a->n - 1].addr)
		return a->n;
	at = (addr - a->entry[0].addr) >> a->shift;
	first = a->start[at];
	return first + SORT_FIND(a->start[at + 1] - first, i, a->entry[first + i].addr <= addr);
}

const struct answers_entry *answers_find(const struct answers *a, uint64_t addr)
{
	size_t n = entries_to(a, addr);

	return n && a->entry[n - 1].addr == addr ? &a->entry[n - 1] : NULL;
}

static bool is_within(const struct answers_entry *e, uint64_t addr)
{
	return addr >= e->start && addr < e->end && addr + 1 != e->end;
}

const struct answers_entry *answers_find_near(const struct answers *a, uint64_t addr)
{
	size_t n = entries_to(a, addr);

	if (n && (a->entry[n - 1].addr == addr || is_within(&a->entry[n - 1], addr)))
		return &a->entry[n - 1];
	return n < a->n && is_within(&a->entry[n], addr) ? &a->entry[n] : NULL;
}

static bool is_same(const struct answers_entry *e, uint64_t addr)
{
	return addr < e->addr ? e->addr - addr <= e->before : addr - e->addr < e->after;
}

const struct answers_entry *answers_find_same(const struct answers *a, uint64_t addr)
{
	size_t n = entries_to(a, addr);

	if (n && is_same(&a->entry[n - 1], addr))
		return &a->entry[n - 1];
	return n < a->n && is_same(&a->entry[n], addr) ? &a->entry[n] : NULL;
}

uint32_t answers_add_text(struct answers_writer *w, const char *s)
{
	size_t n;
	uint64_t *at;

	if (!s)
		return ANSWERS_NONE;
	at = map_at(&w->texts, (uintptr_t)s);
	if (*at)
		return (uint32_t)(*at - 1);
	n = strlen(s) + 1;
	if (w->text.n + n >= ANSWERS_NONE)
		return ANSWERS_NONE;
	vec_reserve(&w->text, w->text.n + n);
	memcpy(w->text.data + w->text.n, s, n);
	*at = w->text.n + 1;
	w->text.n += n;
	return (uint32_t)(*at - 1);
}

void answers_add(struct answers_writer *w, struct answers_entry e,
		 const struct answers_frame *frames)
{
	if (w->entry.n >= ENTRIES_MAX)
		return;
	e.first = (uint32_t)w->frame.n;
	for (uint16_t i = 0; i < e.nframes; i++)
		vec_push(&w->frame, frames[i]);
	vec_push(&w->entry, e);
}

static int by_addr(const void *a, const void *b)
{
	const struct answers_entry *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

void answers_seal(void *data, size_t size)
{
	struct header *h = data;

	if (size < sizeof(*h))
		return;
	h->magic = MAGIC;
	h->version = VERSION;
	h->maker = maker();
	h->check = check_of(h, (const uint8_t *)(h + 1), size - sizeof(*h));
}

int answers_write(struct answers_writer *w, int cache, const struct cache_key *key,
		  const struct build_id *id, enum answers_names names, uint32_t sources,
		  struct err *e)
{
	struct header h = { .sources = sources, .id = *id };
	AUTO_FREE uint8_t *all = NULL;
	size_t size;
	uint8_t *p;

	if (w->entry.n)
		qsort(w->entry.data, w->entry.n, sizeof(*w->entry.data), by_addr);
	vec_each (&w->entry, x)
		if (!h.n || w->entry.data[h.n - 1].addr != x->addr)
			w->entry.data[h.n++] = *x;
	h.nframe = w->frame.n;
	h.ntext = w->text.n;
	size = sizeof(h) + h.n * sizeof(*w->entry.data) + h.nframe * sizeof(*w->frame.data) +
	       h.ntext;
	p = all = mem_alloc(size);
	p = mempcpy(p, &h, sizeof(h));
	if (h.n)
		p = mempcpy(p, w->entry.data, h.n * sizeof(*w->entry.data));
	if (h.nframe)
		p = mempcpy(p, w->frame.data, h.nframe * sizeof(*w->frame.data));
	if (h.ntext)
		memcpy(p, w->text.data, h.ntext);
	answers_seal(all, size);
	answers_writer_free(w);
	return cache_write(cache, key, file_names[names], all, size, e);
}

void answers_writer_free(struct answers_writer *w)
{
	vec_free(&w->entry);
	vec_free(&w->frame);
	vec_free(&w->text);
	map_free(&w->texts);
	*w = (struct answers_writer){ 0 };
}
