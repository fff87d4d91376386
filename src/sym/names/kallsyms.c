/* SPDX-License-Identifier: MIT */
#include "sym/names/kallsyms.h"

#include <fcntl.h>

#include "base/file.h"
#include "base/sort.h"

/* A kernel has about 10 MB of it; debug kernels with everything built in several times that. */
#define TEXT_MAX (512u << 20)
#define PART (64u << 10) /* of a file that is read at a time */
#define LINE_MAX_LEN 4096
#define TABLE (4u << 20) /* a kernel has 2 to 4 MB of symbols, and as much of names */

/* Neighbours are mostly of one module: ask the table only where it changes. */
static uint16_t module_id(struct kallsyms *k, const struct symline *l)
{
	uint16_t last = k->list.n ? k->list.data[k->list.n - 1].module : 0;
	const char *name = strtab_get(&k->modules, last);
	uint32_t id;

	if (!l->module)
		return 0;
	if (strncmp(name, l->module, l->module_n) == 0 && !name[l->module_n])
		return last;
	id = strtab_addn(&k->modules, l->module, l->module_n);
	return id < UINT16_MAX ? (uint16_t)id : 0;
}

/*
 * Half of a kernel's symbols are the padding in front of the others: what follows "__pfx_name"
 * has its name there.
 */
static uint32_t kallsyms_name_of(struct kallsyms *k, const struct symline *l)
{
	size_t at = k->names.n;

	if (k->list.n) {
		uint32_t last = k->list.data[k->list.n - 1].name;
		size_t len = at - last - 1; /* it ends where names end, shared or not */

		if (len >= l->name_n &&
		    memcmp(k->names.data + at - 1 - l->name_n, l->name, l->name_n) == 0)
			return (uint32_t)(at - 1 - l->name_n);
	}
	vec_reserve(&k->names, at + l->name_n + 1);
	memcpy(k->names.data + at, l->name, l->name_n);
	k->names.data[at + l->name_n] = '\0';
	k->names.n += l->name_n + 1;
	return (uint32_t)at;
}

static void kallsyms_add_line(struct kallsyms *k, const struct symline *l)
{
	struct kallsyms_entry s = { .addr = l->addr, .type = l->type };

	if (l->type != SYMLINE_END && !symline_is_named(l))
		return;
	if (l->name_n >= UINT32_MAX - k->names.n) {
		k->ended = true;
		return;
	}
	/* the end of a module's function is the module's */
	s.module = l->type != SYMLINE_END ? module_id(k, l)
		   : k->list.n		  ? k->list.data[k->list.n - 1].module
					  : 0;
	s.name = kallsyms_name_of(k, l);
	vec_push(&k->list, s);
}

static void take_line(struct kallsyms *k, const char *p, const char *end)
{
	struct symline *l = &k->line;

	if (end == p)
		return;
	if (!symline_parse(l, p, end)) {
		k->bad_lines++;
		return;
	}
	if (k->no_bpf && l->module && l->module_n == 3 && memcmp(l->module, "bpf", 3) == 0) {
		k->ended = true;
		return;
	}
	k->seen |= l->addr;
	kallsyms_add_line(k, l);
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

/* perf's rule, as in symtab.c: to the next one, or to the end of the page where modules begin. */
static uint64_t kallsyms_end_of(const struct kallsyms *k, size_t i)
{
	const struct kallsyms_entry *s = &k->list.data[i];

	if (i + 1 == k->list.n)
		return symtab_page_up(s->addr) + SYMTAB_PAGE;
	return !s->module != !s[1].module ? symtab_page_up(s->addr + SYMTAB_PAGE) : s[1].addr;
}

bool kallsyms_find(const struct kallsyms *k, uint64_t addr, struct kallsyms_sym *ret)
{
	size_t n = SORT_FIND(k->list.n, i, k->list.data[i].addr <= addr);
	const struct kallsyms_entry *s = n ? &k->list.data[n - 1] : NULL;

	if (!s || addr >= kallsyms_end_of(k, n - 1) || s->type == SYMLINE_END)
		return false;
	/* Of those that begin there the last is the only one that has a size. */
	*ret = (struct kallsyms_sym){ .name = k->names.data + s->name,
				      .module = strtab_get(&k->modules, s->module),
				      .start = s->addr,
				      .end = kallsyms_end_of(k, n - 1) };
	return true;
}

void kallsyms_symtab(const struct kallsyms *k, struct symtab *ret)
{
	*ret = (struct symtab){ 0 };
	for (size_t i = 0; i < k->list.n; i++) {
		const struct kallsyms_entry *s = &k->list.data[i];
		bool upper = s->type >= 'A' && s->type <= 'Z';
		char lower = (char)(s->type | 0x20);

		if (s->type == SYMLINE_END)
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
