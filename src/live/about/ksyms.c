/* SPDX-License-Identifier: MIT */
#include "live/about/ksyms.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/file.h"
#include "kern/proc.h"
#include "sym/find/cache.h"
#include "sym/names/answers.h"

#define CACHE_NAME "kallsyms"
#define MAX_TEXT (256u << 20)
#define LIKELY_TEXT (12u << 20)
#define PAGE 4096u

/* First line of the cached file: "kymo 2 BOOT-ID _text _stext _etext". Lines are sorted since 2. */
#define HEAD_FORMAT "kymo 2 %s %llx %llx %llx\n"

static bool note_id(const char *path, struct build_id *ret)
{
	AUTO_FREE char *notes = NULL;
	size_t n;

	return file_read(path, 1 << 20, &notes, &n) == 0 &&
	       elf_note_build_id((const uint8_t *)notes, n, false, ret);
}

bool ksyms_build_id(struct build_id *ret)
{
	return note_id("/sys/kernel/notes", ret);
}

bool ksyms_module_build_id(const char *module, struct build_id *ret)
{
	AUTO_FREE char *path = mem_printf("/sys/module/%s/notes/.note.gnu.build-id", module);

	return note_id(path, ret);
}

/* Only the lines before the first that has mark. */
static void cut_before(char *text, size_t *n, const char *mark)
{
	char *at = strstr(text, mark);

	while (at && at > text && at[-1] != '\n')
		at--;
	if (at) {
		*at = '\0';
		*n = (size_t)(at - text);
	}
}

/* The address of a symbol; 0 when hidden or not there. */
static uint64_t address_of(const char *text, const char *name)
{
	char want[64];
	const char *p;

	snprintf(want, sizeof(want), " %s\n", name);
	p = strstr(text, want);
	if (!p)
		return 0;
	while (p > text && p[-1] != '\n')
		p--;
	return symline_addr(p, text + strlen(text));
}

static int from_cache(int cache, const struct build_id *id, struct ksyms *k)
{
	struct cache_key key = cache_key_kernel(id);
	AUTO_CLOSE int fd = cache_get(cache, &key, CACHE_NAME);
	unsigned long long start, stext, end;
	char boot[64], said[64];
	char head[129];
	const char *line;
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size < 128 || st.st_size > MAX_TEXT ||
	    !proc_boot_id(boot, sizeof(boot)))
		return -ENOENT;
	/* one byte more than the file, so that it ends as a string */
	p = mmap(NULL, (size_t)st.st_size + 1, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	line = memchr(p, '\n', sizeof(head) - 1);
	/* of the line only: sscanf looks for a string's end first */
	if (line)
		snprintf(head, sizeof(head), "%.*s", (int)(line - (char *)p), (char *)p);
	if (!line || sscanf(head, "kymo 2 %63s %llx %llx %llx", said, &start, &stext, &end) != 4 ||
	    strcmp(said, boot) != 0 || st.st_size % 4096 == 0) {
		munmap(p, (size_t)st.st_size + 1);
		return -ENOENT;
	}
	*k = (struct ksyms){
		.text = (char *)p + (line + 1 - (char *)p),
		.size = (size_t)st.st_size - (size_t)(line + 1 - (char *)p),
		.start = start,
		.stext = stext,
		.end = end,
		.mapped = p,
		.mapped_size = (size_t)st.st_size + 1,
	};
	return 0;
}

/* A file of whole pages could not be mapped with a byte to spare: one blank line more helps. */
static void to_cache(int cache, const struct build_id *id, const struct ksyms *k)
{
	struct cache_key key = cache_key_kernel(id);
	AUTO_STRBUF b = { 0 };
	char boot[64];

	if (!proc_boot_id(boot, sizeof(boot)))
		return;
	strbuf_printf(&b, HEAD_FORMAT, boot, (unsigned long long)k->start,
		      (unsigned long long)k->stext, (unsigned long long)k->end);
	strbuf_add(&b, k->text, k->size);
	if (b.n % 4096 == 0)
		strbuf_putc(&b, '\n');
	cache_write(cache, &key, CACHE_NAME, b.data, b.n, NULL);
}

struct line {
	uint64_t addr;
	const char *at;
};
struct lines {
	VEC(struct line) v;
	bool unsorted; /* as they stood */
};

static int by_address(const void *a_, const void *b_)
{
	const struct line *a = a_, *b = b_;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static void ksyms_split(const char *text, size_t size, struct lines *ret)
{
	const char *end = text + size;

	for (const char *p = text; p < end;) {
		const char *next = memchr(p, '\n', (size_t)(end - p));
		struct line l = { symline_addr(p, end), p };

		if (!next)
			break;
		if (ret->v.n && l.addr < ret->v.data[ret->v.n - 1].addr)
			ret->unsorted = true;
		vec_push(&ret->v, l);
		p = next + 1;
	}
	if (ret->unsorted)
		qsort(ret->v.data, ret->v.n, sizeof(*ret->v.data), by_address);
}

/* Lines by address, so that one is found without looking at the others. */
static void sort_text(char **text, size_t *size)
{
	struct lines l = { 0 };
	char *sorted;
	size_t n = 0;

	ksyms_split(*text, *size, &l);
	if (l.unsorted) {
		sorted = mem_alloc(*size + 1);
		vec_each (&l.v, line) {
			size_t len = strcspn(line->at, "\n") + 1;

			memcpy(sorted + n, line->at, len);
			n += len;
		}
		sorted[n] = '\0';
		free(*text);
		*text = sorted;
		*size = n;
	}
	vec_free(&l.v);
}

int ksyms_open(struct ksyms *k)
{
	AUTO_CLOSE int cache = cache_open(NULL, NULL);
	struct build_id id;
	bool known = ksyms_build_id(&id);
	int r;

	*k = (struct ksyms){ 0 };
	if (known && cache >= 0 && from_cache(cache, &id, k) == 0)
		return 0;
	r = file_read("/proc/kallsyms", MAX_TEXT, &k->text, &k->size);
	if (r < 0)
		return r;
	k->start = address_of(k->text, "_text");
	k->stext = address_of(k->text, "_stext");
	k->end = address_of(k->text, "_etext");
	if (!k->start)
		k->start = k->stext;
	if (!k->start || k->end <= k->start) {
		ksyms_close(k);
		return -EPERM;
	}
	/* behind the kernel's own come those in brackets */
	cut_before(k->text, &k->size, "\t[");
	sort_text(&k->text, &k->size);
	if (known && cache >= 0)
		to_cache(cache, &id, k);
	return 0;
}

void ksyms_close(struct ksyms *k)
{
	if (k->mapped)
		munmap(k->mapped, k->mapped_size);
	else
		free(k->text);
	*k = (struct ksyms){ 0 };
}

static bool names_code(const char *line)
{
	struct symline l = { 0 };

	return symline_parse(&l, line, strchrnul(line, '\n')) && symline_is_named(&l);
}

/* Sorted lines, by where they begin in the text. */
struct sorted {
	const char *text;
	size_t size; /* up to behind the last newline */
};

static size_t line_start(const struct sorted *s, size_t at)
{
	const char *p = at ? memrchr(s->text, '\n', at) : NULL;

	return p ? (size_t)(p - s->text) + 1 : 0;
}

static size_t line_next(const struct sorted *s, size_t at)
{
	const char *p = memchr(s->text + at, '\n', s->size - at);

	return p ? (size_t)(p - s->text) + 1 : s->size;
}

static size_t line_before(const struct sorted *s, size_t at)
{
	return line_start(s, at - 1);
}

static uint64_t line_addr(const struct sorted *s, size_t at)
{
	return symline_addr(s->text + at, s->text + s->size);
}

/* Where the lines with an address of at most addr end. */
static size_t up_to(const struct sorted *s, uint64_t addr)
{
	size_t low = 0, high = s->size;

	while (low < high) {
		size_t mid = line_start(s, low + (high - low) / 2);

		if (line_addr(s, mid) <= addr)
			low = line_next(s, mid);
		else
			high = mid;
	}
	return low;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* A line that names code, and where what it names ends; 0 when nothing says so. */
struct function {
	size_t at;
	uint64_t end;
};

static bool in_module(const struct sorted *s, size_t at)
{
	return memchr(s->text + at, '[', line_next(s, at) - at) != NULL;
}

/* As sym/names/kallsyms.c finds it: at the next one, or with the page where modules begin. */
static uint64_t function_end(const struct sorted *s, size_t at)
{
	uint64_t start = line_addr(s, at), page = (start + 2 * PAGE - 1) & ~(uint64_t)(PAGE - 1);
	size_t next = line_next(s, at);

	while (next < s->size && (!names_code(s->text + next) || line_addr(s, next) == start))
		next = line_next(s, next);
	if (next >= s->size)
		return 0;
	if (in_module(s, at) != in_module(s, next) && page < line_addr(s, next))
		return page;
	return line_addr(s, next);
}

static void add_end(const struct function *f, struct strbuf *ret)
{
	strbuf_printf(ret, "%016llx - -\n", (unsigned long long)f->end);
}

/* The one that addr lies in, unless it is there; of those of one address the last. */
static void ksyms_add_function(const struct sorted *s, uint64_t addr, struct function *last,
			       struct strbuf *ret)
{
	size_t at = up_to(s, addr);

	do {
		if (!at)
			return;
		at = line_before(s, at);
	} while (!names_code(s->text + at));
	if (at == last->at)
		return;
	if (last->end && last->end != line_addr(s, at))
		add_end(last, ret);
	strbuf_add(ret, s->text + at, line_next(s, at) - at);
	*last = (struct function){ at, function_end(s, at) };
}

void ksyms_lines(const struct ksyms *k, uint64_t *addr, size_t n, struct strbuf *ret)
{
	AUTO_FREE char *all = NULL;
	struct sorted s = { k->text, k->size };
	struct function last = { .at = SIZE_MAX };

	qsort(addr, n, sizeof(*addr), by_value);
	if (n && (addr[0] < k->start || addr[n - 1] > k->end) &&
	    file_read("/proc/kallsyms", MAX_TEXT, &all, &s.size) == 0) {
		sort_text(&all, &s.size);
		s.text = all;
	}
	/* whole lines, and no blank one behind them */
	while (s.size && (s.text[s.size - 1] != '\n' || (s.size > 1 && s.text[s.size - 2] == '\n')))
		s.size--;
	for (size_t i = 0; i < n; i++)
		ksyms_add_function(&s, addr[i], &last, ret);
	if (last.end)
		add_end(&last, ret);
}

void ksyms_each(const struct ksyms *k, ksyms_want_fn *want, ksyms_fn *fn, void *ctx)
{
	struct sorted s = { k->text, k->size };
	char name[256];

	for (size_t at = 0; at < s.size; at = line_next(&s, at)) {
		struct symline l = { 0 };
		uint64_t end;

		if (!symline_parse(&l, s.text + at, strchrnul(s.text + at, '\n')) ||
		    !symline_is_named(&l))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)l.name_n, l.name);
		if (want(ctx, name) && (end = function_end(&s, at)))
			fn(ctx, name, l.addr, end);
	}
}

#define ALL_NAME "kallsyms-all"
#define ALL_HEAD "kymo 1 %s %016llx\n"
#define HEAD_MAX 128

/* "nf_nat 57344 2 xt_nat, Live 0xffffffffc0a00000": but for how many use it. */
static uint64_t hash_modules(char *text)
{
	uint64_t h = 0;
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const char *at = strstr(line, " 0x");
		size_t n = strcspn(line, " ");

		n += line[n] ? 1 + strcspn(line + n + 1, " ") : 0;

		h = map_hash(h ^ map_hash_bytes(line, n));
		if (at)
			h = map_hash(h ^ map_hash_bytes(at, strlen(at)));
	}
	return h;
}

/* What the text depends on: the boot, and which modules are loaded where. */
static bool state_line(char *buf, size_t size)
{
	AUTO_FREE char *modules = NULL;
	char boot[64];

	if (!proc_boot_id(boot, sizeof(boot)))
		return false;
	if (file_read("/proc/modules", 16 << 20, &modules, NULL) < 0)
		modules = NULL;
	snprintf(buf, size, ALL_HEAD, boot,
		 (unsigned long long)(modules ? hash_modules(modules) : 0));
	return true;
}

bool ksyms_state(struct build_id *ret)
{
	struct build_id kernel;
	char line[HEAD_MAX];
	uint64_t h[2];

	if (!ksyms_build_id(&kernel) || !state_line(line, sizeof(line)))
		return false;
	h[0] = map_hash_bytes(line, strlen(line));
	h[1] = map_hash_bytes(kernel.data, kernel.len) ^ map_hash(h[0] + 1);
	*ret = (struct build_id){ .len = sizeof(h) };
	memcpy(ret->data, h, sizeof(h));
	return true;
}

/* The text that was kept, if it is of this head; the file stands where it begins. */
static int open_kept(int cache, const struct build_id *id, const char *head, size_t *n)
{
	struct cache_key key = cache_key_kernel(id);
	AUTO_CLOSE int fd = cache_get(cache, &key, ALL_NAME);
	size_t skip = strlen(head);
	char said[HEAD_MAX];
	struct stat st;
	int ret = fd;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size <= (off_t)skip || st.st_size > MAX_TEXT)
		return -ENOENT;
	if (read(fd, said, skip) != (ssize_t)skip || memcmp(said, head, skip) != 0)
		return -ENOENT;
	*n = (size_t)st.st_size - skip;
	fd = -1;
	return ret;
}

/* Names that were asked for are kept by who asked (sym/names/answers.h), which is all the same
 * recording needs again. The whole text is worth its megabytes when others come. */
static bool asked_before(int cache)
{
	struct cache_key key;
	struct build_id state;

	if (!ksyms_state(&state))
		return false;
	key = cache_key_kernel(&state);
	return answers_kept_any(cache, &key);
}

/* All of it, kept in the cache for the next time. */
static int read_and_keep(int cache, const struct build_id *id, const char *head, char **ret,
			 size_t *n)
{
	struct cache_key key = cache_key_kernel(id);
	AUTO_STRBUF kept = { 0 };
	int r = ksyms_from_perf(id, ret, n);

	if (r < 0)
		r = file_read_large("/proc/kallsyms", LIKELY_TEXT, MAX_TEXT, ret, n);
	/* addresses that are hidden are zero, and not worth keeping */
	if (r < 0 || !address_of(*ret, "_stext"))
		return r;
	/* BPF programs come and go, and recordings tell of theirs; without them all is in order */
	cut_before(*ret, n, "\t[bpf]");
	strbuf_puts(&kept, head);
	strbuf_add(&kept, *ret, *n);
	cache_write(cache, &key, ALL_NAME, kept.data, kept.n, NULL);
	return 0;
}

/* Only what nobody has kept yet, and nobody is to keep, can be read without having all of it. */
int ksyms_list(struct kallsyms *k, struct err *e)
{
	AUTO_CLOSE int cache = cache_open(NULL, NULL);
	struct build_id id;
	char head[HEAD_MAX];
	bool known = cache >= 0 && ksyms_build_id(&id) && state_line(head, sizeof(head));
	size_t n = 0;
	AUTO_CLOSE int kept = known ? open_kept(cache, &id, head, &n) : -1;
	AUTO_CLOSE int now = -1;
	char *text = NULL;
	int r = -ENOENT;

	*k = (struct kallsyms){ .no_bpf = true };
	if (kept >= 0)
		return kallsyms_read(k, kept, "the kernel's symbols in the cache", e);
	if (known && asked_before(cache))
		r = read_and_keep(cache, &id, head, &text, &n);
	else if (known)
		r = ksyms_from_perf(&id, &text, &n);
	if (r == 0) {
		kallsyms_feed(k, text, n);
		free(text);
		return kallsyms_end(k, e);
	}
	now = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	if (now < 0)
		return err_set(e, errno, "cannot read /proc/kallsyms: %s", strerror(errno));
	return kallsyms_read(k, now, "/proc/kallsyms", e);
}
