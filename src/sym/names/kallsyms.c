/* SPDX-License-Identifier: MIT */
#include "sym/names/kallsyms.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sort.h"

/* A kernel has about 10 MB of it; debug kernels with everything built in several times that. */
#define TEXT_MAX (512u << 20)
#define PART (64u << 10) /* of a file that is read at a time */
#define LINE_MAX_LEN 4096
#define TABLE (4u << 20) /* a kernel has 2 to 4 MB of symbols, and as much of names */
#define PAGE 4096u

/* Of kymo's own: nothing has a name from there on. Recordings have it (store/perfdata/kallsyms.h).
 */
#define END_TYPE '-'

/* perf's choice: code, weak symbols, initialised and other data. */
static bool type_wanted(char type)
{
	if (type == END_TYPE)
		return true;
	switch (type | 0x20) {
	case 't':
	case 'w':
	case 'd':
	case 'b': return true;
	default: return false;
	}
}

static const uint8_t digits[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

struct line {
	uint64_t addr;
	char type;
	const char *name, *module; /* module is NULL when there is none */
	size_t name_len, module_len;
};

/* Digits from p on; where they end. */
static const char *parse_hex(const char *p, const char *end, uint64_t *v)
{
	for (; p < end && digits[(uint8_t)*p]; p++)
		*v = *v << 4 | (digits[(uint8_t)*p] - 1u);
	return p;
}

/* Addresses begin like the one before. */
static const char *parse_addr(struct kallsyms *k, const char *p, const char *end, uint64_t *v)
{
	if (end - p < 16) {
		*v = 0;
		return parse_hex(p, end, v);
	}
	if (memcmp(p, k->high_text, sizeof(k->high_text)) != 0) {
		k->high = 0;
		if (parse_hex(p, p + sizeof(k->high_text), &k->high) != p + sizeof(k->high_text)) {
			k->high_text[0] = 0;
			*v = 0;
			return parse_hex(p, end, v);
		}
		memcpy(k->high_text, p, sizeof(k->high_text));
	}
	*v = k->high;
	return parse_hex(p + sizeof(k->high_text), end, v);
}

/* "ffffffff81000000 T _text" or "ffffffffc0000000 t init\t[module]"; end is the newline. */
static bool kallsyms_parse_line(struct kallsyms *k, const char *p, const char *end, struct line *l)
{
	const char *start = p, *stop = end;

	p = parse_addr(k, p, end, &l->addr);
	if (p == start || p - start > 16 || end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return false;
	l->type = p[1];
	l->name = p + 3;
	l->module = NULL;
	l->module_len = 0;
	if (stop[-1] == '\r')
		stop--;
	if (stop[-1] == ']') {
		const char *open = memrchr(l->name, '[', (size_t)(stop - l->name));

		if (open && open > l->name && (open[-1] == '\t' || open[-1] == ' ')) {
			l->module = open + 1;
			l->module_len = (size_t)(stop - 1 - l->module);
			stop = open;
		}
	}
	while (stop > l->name && (stop[-1] == ' ' || stop[-1] == '\t'))
		stop--;
	l->name_len = (size_t)(stop - l->name);
	return l->name_len;
}

/* Neighbours are mostly of one module: ask the table only where it changes. */
static uint16_t module_id(struct kallsyms *k, const struct line *l)
{
	uint16_t last = k->list.n ? k->list.data[k->list.n - 1].module : 0;
	const char *name = strtab_get(&k->modules, last);
	uint32_t id;

	if (!l->module)
		return 0;
	if (strncmp(name, l->module, l->module_len) == 0 && !name[l->module_len])
		return last;
	id = strtab_addn(&k->modules, l->module, l->module_len);
	return id < UINT16_MAX ? (uint16_t)id : 0;
}

/*
 * Half of a kernel's symbols are the padding in front of the others: what follows "__pfx_name"
 * has its name there.
 */
static uint32_t kallsyms_name_of(struct kallsyms *k, const struct line *l)
{
	size_t at = k->names.n;

	if (k->list.n) {
		uint32_t last = k->list.data[k->list.n - 1].name;
		size_t len = at - last - 1; /* it ends where names end, shared or not */

		if (len >= l->name_len &&
		    memcmp(k->names.data + at - 1 - l->name_len, l->name, l->name_len) == 0)
			return (uint32_t)(at - 1 - l->name_len);
	}
	vec_reserve(&k->names, at + l->name_len + 1);
	memcpy(k->names.data + at, l->name, l->name_len);
	k->names.data[at + l->name_len] = '\0';
	k->names.n += l->name_len + 1;
	return (uint32_t)at;
}

static void kallsyms_add_line(struct kallsyms *k, const struct line *l)
{
	struct kallsyms_entry s = { .addr = l->addr, .type = l->type };

	if (!type_wanted(l->type) || l->name[0] == '$')
		return;
	if (l->name_len >= UINT32_MAX - k->names.n) {
		k->ended = true;
		return;
	}
	/* the end of a module's function is the module's */
	s.module = l->type != END_TYPE ? module_id(k, l)
		   : k->list.n	       ? k->list.data[k->list.n - 1].module
				       : 0;
	s.name = kallsyms_name_of(k, l);
	vec_push(&k->list, s);
}

static void take_line(struct kallsyms *k, const char *p, const char *end)
{
	struct line l;

	if (end == p)
		return;
	if (!kallsyms_parse_line(k, p, end, &l)) {
		k->bad_lines++;
		return;
	}
	if (k->no_bpf && l.module && l.module_len == 3 && memcmp(l.module, "bpf", 3) == 0) {
		k->ended = true;
		return;
	}
	k->seen |= l.addr;
	kallsyms_add_line(k, &l);
}

/* The end of a line that began in the part before. */
static const char *end_begun(struct kallsyms *k, const char *p, const char *end)
{
	const char *stop = memchr(p, '\n', (size_t)(end - p));

	strbuf_add(&k->begun, p, (size_t)((stop ? stop : end) - p));
	if (!stop && k->begun.n <= LINE_MAX_LEN)
		return end;
	take_line(k, k->begun.data, k->begun.data + k->begun.n);
	strbuf_reset(&k->begun);
	return stop ? stop + 1 : end;
}

/* For a whole kernel: recordings come with a few lines. */
static void reserve_all(struct kallsyms *k)
{
	k->list.data = mem_table(TABLE, false);
	k->list.cap = TABLE / sizeof(*k->list.data);
	k->names.data = mem_table(TABLE, false);
	k->names.cap = TABLE;
}

void kallsyms_feed(struct kallsyms *k, const char *part, size_t n)
{
	const char *p = part, *end = part + n, *stop;

	if (!k->modules.n) {
		strtab_add(&k->modules, "");
		if (n > TABLE && !k->list.cap)
			reserve_all(k);
	}
	if (n && k->begun.n)
		p = end_begun(k, p, end);
	for (; p < end && !k->ended; p = stop + 1) {
		stop = memchr(p, '\n', (size_t)(end - p));
		if (!stop) {
			strbuf_add(&k->begun, p, (size_t)(end - p));
			return;
		}
		take_line(k, p, stop);
	}
}

/* What came out of order (modules, mostly) is put where it belongs, behind its equals. */
static void kallsyms_sort(struct kallsyms *k)
{
	struct kallsyms_entry *list = k->list.data;
	AUTO_FREE struct kallsyms_entry *late = NULL;
	AUTO_FREE struct sort_key *keys = NULL;
	size_t first = 1, n, to = k->list.n;

	while (first < k->list.n && list[first - 1].addr <= list[first].addr)
		first++;
	if (first >= k->list.n)
		return;
	n = k->list.n - first;
	keys = mem_grow(NULL, n * sizeof(*keys));
	late = mem_grow(NULL, n * sizeof(*late));
	for (size_t i = 0; i < n; i++)
		keys[i] = (struct sort_key){ list[first + i].addr, (uint32_t)(first + i) };
	sort_keys(keys, n);
	for (size_t i = 0; i < n; i++)
		late[i] = list[keys[i].index];
	while (n) {
		bool before = first && list[first - 1].addr > late[n - 1].addr;

		list[--to] = before ? list[--first] : late[--n];
	}
}

int kallsyms_end(struct kallsyms *k, struct err *e)
{
	if (k->begun.n && !k->ended)
		take_line(k, k->begun.data, k->begun.data + k->begun.n);
	strbuf_free(&k->begun);
	if (k->list.n && !k->seen) {
		kallsyms_free(k);
		k->hidden = true;
		err_set(e, EPERM, "the kernel hides the addresses of its symbols (kptr_restrict)");
		return err_hint(e, "sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=-1, "
				   "or run as root");
	}
	if (!k->list.n) {
		kallsyms_free(k);
		return err_set(e, ENOENT, "no kernel symbols in that text");
	}
	kallsyms_sort(k);
	return 0;
}

int kallsyms_parse(struct kallsyms *k, const char *text, size_t len, struct err *e)
{
	*k = (struct kallsyms){ 0 };
	kallsyms_feed(k, text, len);
	return kallsyms_end(k, e);
}

int kallsyms_read(struct kallsyms *k, int fd, const char *path, struct err *e)
{
	AUTO_FREE char *part = mem_grow(NULL, PART);
	size_t all = 0;
	ssize_t got;

	if (!k->list.cap)
		reserve_all(k);
	while (!k->ended && (got = read(fd, part, PART)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || (all += (size_t)got) > TEXT_MAX) {
			int why = got < 0 ? errno : EFBIG;

			kallsyms_free(k);
			return err_set(e, why, "cannot read %s: %s", path, strerror(why));
		}
		kallsyms_feed(k, part, (size_t)got);
	}
	return kallsyms_end(k, e);
}

int kallsyms_load(struct kallsyms *k, const char *path, struct err *e)
{
	AUTO_CLOSE int fd = file_open_named(path, e);

	*k = (struct kallsyms){ 0 };
	if (fd < 0)
		return fd;
	return kallsyms_read(k, fd, path, e);
}

void kallsyms_free(struct kallsyms *k)
{
	vec_free(&k->list);
	vec_free(&k->names);
	strbuf_free(&k->begun);
	strtab_free(&k->modules);
	*k = (struct kallsyms){ 0 };
}

static uint64_t page_up(uint64_t a)
{
	return (a + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

/* perf's rule, as in symtab.c: to the next one, or to the end of the page where modules begin. */
static uint64_t kallsyms_end_of(const struct kallsyms *k, size_t i)
{
	const struct kallsyms_entry *s = &k->list.data[i];

	if (i + 1 == k->list.n)
		return page_up(s->addr) + PAGE;
	return !s->module != !s[1].module ? page_up(s->addr + PAGE) : s[1].addr;
}

bool kallsyms_find(const struct kallsyms *k, uint64_t addr, struct kallsyms_sym *ret)
{
	size_t lo = 0, hi = k->list.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (k->list.data[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || addr >= kallsyms_end_of(k, lo - 1) || k->list.data[lo - 1].type == END_TYPE)
		return false;
	/* Of those that begin there the last is the only one that has a size. */
	*ret = (struct kallsyms_sym){
		.name = k->names.data + k->list.data[lo - 1].name,
		.module = strtab_get(&k->modules, k->list.data[lo - 1].module),
		.start = k->list.data[lo - 1].addr,
		.end = kallsyms_end_of(k, lo - 1),
	};
	return true;
}

void kallsyms_symtab(const struct kallsyms *k, struct symtab *ret)
{
	*ret = (struct symtab){ 0 };
	symtab_reserve(ret, k->list.n);
	for (size_t i = 0; i < k->list.n; i++) {
		const struct kallsyms_entry *s = &k->list.data[i];
		bool upper = s->type >= 'A' && s->type <= 'Z';
		char lower = (char)(s->type | 0x20);

		if (s->type == END_TYPE)
			continue;
		symtab_add(ret,
			   (struct symtab_sym){
				   .start = s->addr,
				   .end = s->addr,
				   .name = k->names.data + s->name,
				   .module = s->module,
				   .bind = lower == 'w' ? STB_WEAK
					   : upper	? STB_GLOBAL
							: STB_LOCAL,
				   .type = lower == 't' || lower == 'w' ? STT_FUNC : STT_OBJECT,
			   });
	}
	symtab_finish(ret);
}
