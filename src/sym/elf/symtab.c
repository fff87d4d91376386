/* SPDX-License-Identifier: MIT */
#include "sym/elf/symtab.h"

#include "base/sort.h"
#include "base/unpack.h"
#include "sym/names/demangle.h"

/* More symbols than any program has: 2^28 of them would take 8 GiB. */
#define SYMBOLS_MAX (1u << 28)
#define MINI_MAX (512u << 20)

void symtab_add(struct symtab *t, struct symtab_sym s)
{
	if (t->n == t->cap) {
		t->cap = t->cap ? t->cap * 2 : 1024;
		t->sym = mem_grow(t->sym, t->cap * sizeof(*t->sym));
	}
	t->sym[t->n++] = s;
}

/*
 * Stable: what was added first comes first among equals, which perf's rules need. What is
 * in order already (a table that another was added to) is only merged with the rest.
 */
static void symtab_sort(struct symtab *t)
{
	AUTO_FREE struct sort_key *keys = NULL;
	struct symtab_sym *sorted;
	size_t first = t->n ? 1 : 0, n, k = 0, a = 0;

	while (first < t->n && t->sym[first - 1].start <= t->sym[first].start)
		first++;
	if (first == t->n)
		return;
	if (first < t->n / 2)
		first = 0;
	n = t->n - first;
	keys = mem_grow(NULL, n * sizeof(*keys));
	for (size_t i = 0; i < n; i++)
		keys[i] = (struct sort_key){ t->sym[first + i].start, (uint32_t)(first + i) };
	sort_keys(keys, n);
	sorted = mem_grow(NULL, t->n * sizeof(*sorted));
	for (size_t i = 0; i < t->n; i++)
		if (a < first && (k == n || t->sym[a].start <= keys[k].key))
			sorted[i] = t->sym[a++];
		else
			sorted[i] = t->sym[keys[k++].index];
	free(t->sym);
	t->sym = sorted;
	t->cap = t->n;
}

static void extend_sizeless(struct symtab *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct symtab_sym *s = &t->sym[i];

		if (s->end != s->start)
			continue;
		if (i + 1 == t->n)
			s->end = symtab_page_up(s->start) + SYMTAB_PAGE;
		else if (!s->module != !s[1].module)
			s->end = symtab_page_up(s->start + SYMTAB_PAGE);
		else
			s->end = s[1].start;
	}
}

/* Each symbol's nearest one before it that ends behind its start. */
static void link_outer(struct symtab *t)
{
	uint32_t top = 0;

	for (size_t i = 0; i < t->n; i++) {
		while (top && t->sym[top - 1].end <= t->sym[i].start)
			top = t->sym[top - 1].outer;
		t->sym[i].outer = top;
		top = (uint32_t)i + 1;
	}
	for (size_t i = 1; i < t->n; i++)
		if (t->sym[i - 1].start == t->sym[i].start &&
		    (i == 1 || t->sym[i - 2].start != t->sym[i].start))
			t->sym[i].outer = 0;
}

void symtab_finish(struct symtab *t)
{
	symtab_sort(t);
	extend_sizeless(t);
	link_outer(t);
}

/* What perf takes as a symbol. sections say where labels without a type count. */
static bool symtab_wanted(const struct elf *e, const struct symtab_sym *s, unsigned section,
			  unsigned visibility)
{
	if (section == SHN_UNDEF || section == SHN_ABS)
		return false;
	/* ARM's marks between code and data */
	if ((e->machine == EM_ARM || e->machine == EM_AARCH64) && s->name[0] == '$' &&
	    strchr("adtx", s->name[1]) && (!s->name[2] || s->name[2] == '.'))
		return false;
	if (s->type == STT_FUNC || s->type == STT_GNU_IFUNC || s->type == STT_OBJECT)
		return true;
	if (s->type != STT_NOTYPE || visibility == STV_HIDDEN || visibility == STV_INTERNAL ||
	    section >= e->nsection)
		return false;
	return strstr(e->section[section].name, "text") || strstr(e->section[section].name, "data");
}

struct table {
	const uint8_t *syms;
	const char *str;
	size_t nsyms, nstr;
};

static bool find_table(const struct elf *e, uint32_t type, struct table *ret)
{
	for (size_t i = 1; i < e->nsection; i++) {
		const struct elf_section *s = &e->section[i];
		size_t each = ELF_SIZE(e, Sym), len, nstr;
		const uint8_t *syms, *str, *last;

		if (s->type != type || s->entsize != each || s->link >= e->nsection ||
		    !(syms = elf_section_data(e, s, &len)) ||
		    !(str = elf_section_data(e, &e->section[s->link], &nstr)))
			continue;
		/* Every name must end: what follows the last NUL is no name. */
		last = memrchr(str, 0, nstr);
		if (!last || len / each > SYMBOLS_MAX)
			continue;
		*ret = (struct table){ syms, (const char *)str, len / each,
				       (size_t)(last - str) + 1 };
		return true;
	}
	return false;
}

/* like: an ELF file of the same word size and byte order, known to the compiler where it is most.
 */
static inline __attribute__((always_inline)) void add_rows(struct symtab *t, const struct elf *e,
							   const struct elf *like,
							   const struct table *tab)
{
	for (size_t i = 1; i < tab->nsyms; i++) {
		const uint8_t *p = tab->syms + i * ELF_SIZE(like, Sym);
		uint64_t name = ELF_FIELD(like, p, Sym, st_name), info, size;
		struct symtab_sym s = { .start = ELF_FIELD(like, p, Sym, st_value) };

		if (name == 0 || name >= tab->nstr)
			continue;
		info = ELF_FIELD(like, p, Sym, st_info);
		s.name = tab->str + name;
		s.bind = ELF64_ST_BIND(info);
		s.type = ELF64_ST_TYPE(info);
		if (!symtab_wanted(e, &s, (unsigned)ELF_FIELD(like, p, Sym, st_shndx),
				   ELF64_ST_VISIBILITY(ELF_FIELD(like, p, Sym, st_other))))
			continue;
		/* Thumb functions carry their mode in bit 0. */
		if (e->machine == EM_ARM && s.type == STT_FUNC)
			s.start &= ~(uint64_t)1;
		size = ELF_FIELD(like, p, Sym, st_size);
		s.end = size > UINT64_MAX - s.start ? UINT64_MAX : s.start + size;
		t->sym[t->n++] = s;
	}
}

static void add_table(struct symtab *t, const struct elf *e, const struct table *tab)
{
	static const struct elf usual = { .is64 = true };

	if (t->cap < t->n + tab->nsyms) {
		t->cap = t->n + tab->nsyms;
		t->sym = mem_grow(t->sym, t->cap * sizeof(*t->sym));
	}
	if (e->is64 && !e->swap)
		add_rows(t, e, &usual, tab);
	else
		add_rows(t, e, e, tab);
	symtab_sort(t);
	extend_sizeless(t);
}

static void add_mini(struct symtab *t, const struct elf *e)
{
	const struct elf_section *s = elf_section(e, ".gnu_debugdata");
	const uint8_t *data;
	struct table tab;
	size_t len, out;

	if (!s || !(data = elf_section_data(e, s, &len)) ||
	    unpack_stream(UNPACK_XZ, data, len, MINI_MAX, e->budget, e->path, &t->unpacked, &out,
			  NULL) != 0)
		return;
	if (elf_open_memory(t->unpacked, out, ".gnu_debugdata", &t->mini, NULL) == 0 &&
	    t->mini->machine == e->machine && find_table(t->mini, SHT_SYMTAB, &tab)) {
		add_table(t, t->mini, &tab);
		t->has_symtab = true;
	}
}

int symtab_load(struct symtab *t, const struct elf *file, const struct elf *debug, struct err *e)
{
	struct table tab;

	*t = (struct symtab){ 0 };
	if (debug && find_table(debug, SHT_SYMTAB, &tab)) {
		add_table(t, debug, &tab);
		t->has_symtab = true;
	}
	if (!t->n) {
		if (find_table(file, SHT_SYMTAB, &tab)) {
			add_table(t, file, &tab);
			t->has_symtab = t->n;
		}
		if (find_table(file, SHT_DYNSYM, &tab))
			add_table(t, file, &tab);
		if (!t->has_symtab)
			add_mini(t, file);
		if (!t->has_symtab)
			t->has_symtab = symtab_add_go(t, file);
	}
	symtab_add_plt(t, file);
	if (!t->n) {
		symtab_free(t);
		return err_set(e, ENOENT, "%s has no symbols", file->path);
	}
	symtab_finish(t);
	return 0;
}

void symtab_free(struct symtab *t)
{
	free(t->sym);
	arena_free(&t->names);
	elf_free(t->mini);
	free(t->unpacked);
	*t = (struct symtab){ 0 };
}

static size_t underscores(const char *s)
{
	return strspn(s, "_");
}

/* perf looks at demangled names here; most names need no demangling to be compared. */
static bool second_name_better(const char *a, const char *b)
{
	AUTO_FREE char *da = NULL, *db = NULL;
	size_t ua, ub, la, lb;

	if (strcmp(a, b) == 0)
		return false;
	da = demangle_dup(a, 0);
	db = demangle_dup(b, 0);
	a = da ? da : a;
	b = db ? db : b;
	ua = underscores(a);
	ub = underscores(b);
	if (ua != ub)
		return ub < ua;
	la = strlen(a);
	lb = strlen(b);
	if (la != lb)
		return lb > la;
	/* the kernel's syscall aliases */
	return strncmp(a, "SyS", 3) == 0 || strncmp(a, "compat_SyS", 10) == 0;
}

static bool second_better(const struct symtab_sym *a, const struct symtab_sym *b)
{
	bool empty_a = a->start == a->end, empty_b = b->start == b->end;

	if (empty_a != empty_b)
		return empty_a;
	if (a->type != b->type && (a->type == STT_NOTYPE || b->type == STT_NOTYPE))
		return a->type == STT_NOTYPE;
	if ((a->bind == STB_WEAK) != (b->bind == STB_WEAK))
		return a->bind == STB_WEAK;
	if ((a->bind == STB_GLOBAL) != (b->bind == STB_GLOBAL))
		return b->bind == STB_GLOBAL;
	return second_name_better(a->name, b->name);
}

static const struct symtab_sym *best_of(const struct symtab_sym *s, const struct symtab_sym *end,
					uint64_t vaddr)
{
	const struct symtab_sym *best = NULL;

	for (; s < end; s++)
		if (s->end > vaddr && (!best || second_better(best, s)))
			best = s;
	return best;
}

/*
 * The best of several at one address. Functions that a linker folded into one
 * may be thousands, and comparing names is slow, so it is done once; threads
 * that do it at the same time come to the same end.
 */
static const struct symtab_sym *best_alias(struct symtab *t, size_t first, size_t end,
					   uint64_t vaddr)
{
	_Atomic uint32_t *known = &t->sym[first + 1].outer;
	uint32_t best = atomic_load_explicit(known, memory_order_relaxed);

	if (!best) {
		const struct symtab_sym *s =
			best_of(t->sym + first, t->sym + end, t->sym[first].start);

		if (!s)
			return NULL;
		best = (uint32_t)(s - t->sym) + 1;
		atomic_store_explicit(known, best, memory_order_relaxed);
	}
	if (vaddr < t->sym[best - 1].end)
		return &t->sym[best - 1];
	return best_of(t->sym + first, t->sym + end, vaddr);
}

/* How many symbols start below an address. */
static size_t below(const struct symtab *t, uint64_t vaddr)
{
	return SORT_FIND(t->n, i, t->sym[i].start < vaddr);
}

const struct symtab_sym *symtab_find(const struct symtab *t, uint64_t vaddr)
{
	size_t i = vaddr == UINT64_MAX ? t->n : below(t, vaddr + 1);

	if (!t->sym)
		return NULL;
	/* Look at the last that starts before it, then at what reaches over that. */
	for (; i > 0; i = t->sym[i - 1].outer) {
		const struct symtab_sym *s = &t->sym[i - 1];
		size_t first = i - 1;

		if (first > 0 && s[-1].start == s->start) {
			first = below(t, s->start);
			/* const as far as anybody can see */
			s = best_alias((struct symtab *)t, first, i, vaddr);
		}
		if (s && vaddr < s->end)
			return s;
		i = first + 1;
	}
	return NULL;
}

/* From the last place before an address where something begins or ends to the next one. */
const struct symtab_sym *symtab_span(const struct symtab *t, uint64_t vaddr, uint64_t *from,
				     uint64_t *to)
{
	size_t i = vaddr == UINT64_MAX ? t->n : below(t, vaddr + 1);

	*from = i ? t->sym[i - 1].start : 0;
	*to = i < t->n ? t->sym[i].start : UINT64_MAX;
	/* what began before that, and ended, lies wholly before it */
	while (i > 0) {
		const struct symtab_sym *s = &t->sym[i - 1];

		if (s->end <= vaddr && s->end > *from)
			*from = s->end;
		if (s->end > vaddr && s->end < *to)
			*to = s->end;
		i = i > 1 && s[-1].start == s->start ? i - 1 : s->outer;
	}
	return symtab_find(t, vaddr);
}
