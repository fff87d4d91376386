/* SPDX-License-Identifier: MIT */
/* Which symbol an address belongs to: aliases, symbols without size, nesting, gaps. */
#include "sym/elf/symtab.h"

#include <stdlib.h>

#include "base/sort.h"
#include "sym/names/kallsyms.h"
#include "tap.h"

static void add(struct symtab *t, uint64_t start, uint64_t size, const char *name, int bind,
		int type)
{
	symtab_add(t, (struct symtab_sym){ .start = start,
					   .end = start + size,
					   .name = name,
					   .bind = (uint8_t)bind,
					   .type = (uint8_t)type });
}

static const char *at(const struct symtab *t, uint64_t addr)
{
	const struct symtab_sym *s = symtab_find(t, addr);

	return s ? s->name : NULL;
}

static void edges(void)
{
	struct symtab t = { 0 };

	add(&t, 0x3000, 0, "last", STB_GLOBAL, STT_FUNC);
	add(&t, 0x1000, 0x10, "first", STB_GLOBAL, STT_FUNC);
	add(&t, 0x2000, 0, "sizeless", STB_GLOBAL, STT_FUNC);
	symtab_finish(&t);
	CHECK_STR(at(&t, 0xfff), NULL);
	CHECK_STR(at(&t, 0x1000), "first");
	CHECK_STR(at(&t, 0x100f), "first");
	CHECK_STR(at(&t, 0x1010), NULL); /* a gap */
	CHECK_STR(at(&t, 0x2000), "sizeless");
	CHECK_STR(at(&t, 0x2fff), "sizeless");
	CHECK_STR(at(&t, 0x3fff), "last"); /* to the end of its page */
	CHECK_STR(at(&t, 0x4000), NULL);
	CHECK_STR(at(&t, UINT64_MAX), NULL);
	symtab_free(&t);
	CHECK_STR(at(&t, 0), NULL);
}

/* Where a span says that all have one answer, they have. */
static void spans(void)
{
	uint64_t seed = 1;
	unsigned wrong = 0, wide = 0;

	for (unsigned round = 0; round < 200; round++) {
		struct symtab t = { 0 };

		for (unsigned i = 0; i < round % 20; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			add(&t, seed >> 58, seed >> 40 & 31, i % 3 ? "f" : "g",
			    i % 2 ? STB_GLOBAL : STB_LOCAL, STT_FUNC);
		}
		symtab_finish(&t);
		for (uint64_t a = 0; a < 100; a++) {
			uint64_t from, to;
			const struct symtab_sym *s = symtab_span(&t, a, &from, &to);

			wrong += a < from || a >= to || s != symtab_find(&t, a);
			wide += to - from > 1;
			for (uint64_t b = from; b < to && b < 200; b++)
				wrong += symtab_find(&t, b) != s;
		}
		symtab_free(&t);
	}
	CHECK(wrong == 0);
	CHECK(wide > 1000);
}

static void nested(void)
{
	struct symtab t = { 0 };

	add(&t, 0x1000, 0x100, "outer", STB_GLOBAL, STT_FUNC);
	add(&t, 0x1010, 0x20, "inner", STB_LOCAL, STT_FUNC);
	add(&t, 0x1018, 0x4, "innermost", STB_LOCAL, STT_FUNC);
	add(&t, 0x1040, 0x4, "sibling", STB_LOCAL, STT_FUNC);
	symtab_finish(&t);
	CHECK_STR(at(&t, 0x100f), "outer");
	CHECK_STR(at(&t, 0x1010), "inner");
	CHECK_STR(at(&t, 0x101b), "innermost");
	CHECK_STR(at(&t, 0x101c), "inner");
	CHECK_STR(at(&t, 0x1030), "outer");
	CHECK_STR(at(&t, 0x1043), "sibling");
	CHECK_STR(at(&t, 0x10ff), "outer");
	CHECK_STR(at(&t, 0x1100), NULL);
	symtab_free(&t);
}

/* perf's order: a size, a type, not weak, global, fewer underscores, longer, the first. */
static void aliases(void)
{
	static const struct {
		const char *want;
		struct {
			const char *name;
			int size, bind, type;
		} s[3];
	} cases[] = {
		{ "sized",
		  { { "unsized", 0, STB_GLOBAL, STT_FUNC }, { "sized", 8, STB_LOCAL, STT_FUNC } } },
		{ "typed",
		  { { "label", 8, STB_GLOBAL, STT_NOTYPE }, { "typed", 8, STB_LOCAL, STT_FUNC } } },
		{ "glob",
		  { { "weaker", 8, STB_WEAK, STT_FUNC }, { "glob", 8, STB_GLOBAL, STT_FUNC } } },
		{ "loc",
		  { { "weaker", 8, STB_WEAK, STT_FUNC }, { "loc", 8, STB_LOCAL, STT_FUNC } } },
		{ "glob",
		  { { "a_local_one", 8, STB_LOCAL, STT_FUNC },
		    { "glob", 8, STB_GLOBAL, STT_FUNC } } },
		{ "x", { { "__xy", 8, STB_GLOBAL, STT_FUNC }, { "x", 8, STB_GLOBAL, STT_FUNC } } },
		{ "longer",
		  { { "long", 8, STB_GLOBAL, STT_FUNC }, { "longer", 8, STB_GLOBAL, STT_FUNC } } },
		{ "one",
		  { { "one", 8, STB_GLOBAL, STT_FUNC }, { "two", 8, STB_GLOBAL, STT_FUNC } } },
		{ "sys_x",
		  { { "SyS_x", 8, STB_GLOBAL, STT_FUNC }, { "sys_x", 8, STB_GLOBAL, STT_FUNC } } },
		{ "memcpy@@V1",
		  { { "memcpy", 8, STB_GLOBAL, STT_FUNC },
		    { "memcpy@@V1", 8, STB_GLOBAL, STT_FUNC },
		    { "__memcpy_avx", 8, STB_LOCAL, STT_FUNC } } },
		/* equal when demangled, so the first of them stays */
		{ "_ZN1AC1Ev",
		  { { "_ZN1AC1Ev", 8, STB_GLOBAL, STT_FUNC },
		    { "_ZN1AC2Ev", 8, STB_GLOBAL, STT_FUNC } } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct symtab t = { 0 };

		for (int j = 0; j < 3 && cases[i].s[j].name; j++)
			add(&t, 0x1000, (uint64_t)cases[i].s[j].size, cases[i].s[j].name,
			    cases[i].s[j].bind, cases[i].s[j].type);
		add(&t, 0x2000, 8, "end", STB_GLOBAL, STT_FUNC);
		symtab_finish(&t);
		CHECK_STR(at(&t, 0x1004), cases[i].want);
		symtab_free(&t);
	}
}

int local_function(int x);
__attribute__((noinline)) int local_function(int x)
{
	return x * 3 + rand();
}

static void self(void)
{
	struct elf *e;
	struct symtab t;
	const struct elf_section *text;
	int found = 0, plt = 0;

	if (elf_open_path("/proc/self/exe", &e, NULL) < 0) {
		SKIP("cannot open this program");
		return;
	}
	CHECK_INT(symtab_load(&t, e, NULL, NULL), 0);
	CHECK(t.has_symtab);
	text = elf_section(e, ".text");
	for (size_t i = 0; i < t.n; i++) {
		const char *name = t.sym[i].name;

		if (strcmp(name, "local_function") == 0 || strcmp(name, "main") == 0) {
			found++;
			CHECK_STR(at(&t, t.sym[i].start), name);
			CHECK_STR(at(&t, t.sym[i].end - 1), name);
			CHECK(t.sym[i].start >= text->addr &&
			      t.sym[i].end <= text->addr + text->size);
		}
		if (strcmp(name, "rand@plt") == 0)
			plt += strcmp(at(&t, t.sym[i].start + 7), name) == 0;
	}
	CHECK_INT(found, 2);
	/* a linker that calls through the GOT (-z now, -fno-plt) leaves none */
	if (elf_section(e, ".rela.plt") && elf_section(e, ".rela.plt")->size)
		CHECK(plt >= 1);
	symtab_free(&t);
	elf_free(e);
	CHECK(local_function(1) != -1);
}

static void sorting(void)
{
	enum { N = 50000 };
	static struct sort_key k[N];
	unsigned seed = 3;
	bool ordered = true, stable = true;

	for (uint32_t i = 0; i < N; i++)
		k[i] = (struct sort_key){ (uint64_t)rand_r(&seed) << 33 | (rand_r(&seed) & 1023),
					  i };
	for (uint32_t i = 0; i < N; i += 3)
		k[i].key = k[(i * 7) % N].key;
	sort_keys(k, N);
	for (uint32_t i = 1; i < N; i++) {
		ordered &= k[i - 1].key <= k[i].key;
		stable &= k[i - 1].key != k[i].key || k[i - 1].index < k[i].index;
	}
	CHECK(ordered);
	CHECK(stable);
	sort_keys(k, 20);
	sort_keys(NULL, 0);
}

static int parse(struct kallsyms *k, const char *text, struct err *e)
{
	return kallsyms_parse(k, text, strlen(text), e);
}

static const char *name_of(const struct kallsyms *k, uint64_t addr, const char **module)
{
	struct kallsyms_sym s;

	if (!kallsyms_find(k, addr, &s))
		return "";
	*module = s.module;
	return s.name;
}

/* It does not matter where the text is cut. */
static void parts(const char *text)
{
	size_t n = strlen(text);

	for (size_t each = 1; each < n + 1; each += each < 64 ? 1 : 97) {
		struct kallsyms k = { .no_bpf = each % 2 };
		const char *module = "";

		for (size_t at = 0; at < n; at += each)
			kallsyms_feed(&k, text + at, n - at < each ? n - at : each);
		CHECK_INT(kallsyms_end(&k, NULL), 0);
		CHECK_STR(name_of(&k, 0xffffffff810001ff, &module), "helper");
		CHECK_STR(name_of(&k, 0xffffffffc000003f, &module), "mod_init");
		CHECK_STR(module, "nvme");
		/* what stands behind a BPF program goes with it */
		CHECK_STR(name_of(&k, 0xffffffffc0020fff, &module), k.no_bpf ? "" : "cut");
		CHECK_INT(k.bad_lines, k.no_bpf ? 1 : 2);
		kallsyms_free(&k);
	}
}

/* What a recording says of where its functions end. */
static void ends(void)
{
	struct kallsyms k;
	struct kallsyms_sym s = { 0 };
	const char *module = "";

	CHECK_INT(parse(&k, "1000 t one\n1020 - -\n1040 t mod\t[m]\n1060 - -\n2000 T last\n", NULL),
		  0);
	CHECK(kallsyms_find(&k, 0x1000, &s) && s.start == 0x1000 && s.end == 0x1020);
	CHECK_STR(name_of(&k, 0x101f, &module), "one");
	CHECK_STR(name_of(&k, 0x1020, &module), "");
	CHECK_STR(name_of(&k, 0x103f, &module), "");
	CHECK(kallsyms_find(&k, 0x105f, &s) && s.end == 0x1060 && strcmp(s.module, "m") == 0);
	CHECK_STR(name_of(&k, 0x1060, &module), "");
	CHECK_STR(name_of(&k, 0x2010, &module), "last");
	kallsyms_free(&k);
}

/* A name that is the end of the one before is not kept twice; what is out of order is sorted. */
static void names(void)
{
	struct kallsyms k;
	const char *module = "";

	CHECK_INT(parse(&k,
			"1000 t __pfx_work\n1010 t work\n1010 T ork\n"
			"1020 t ork\n0800 t low\n1010 T other\n1030 t low\n",
			NULL),
		  0);
	CHECK_STR(name_of(&k, 0x1000, &module), "__pfx_work");
	CHECK_STR(name_of(&k, 0x101f, &module), "other");
	CHECK_STR(name_of(&k, 0x1020, &module), "ork");
	CHECK_STR(name_of(&k, 0x1030, &module), "low");
	CHECK_STR(name_of(&k, 0xfff, &module), "low");
	CHECK_STR(name_of(&k, 0x7ff, &module), "");
	CHECK_INT(k.names.n,
		  sizeof("__pfx_work") + sizeof("low") + sizeof("other") + sizeof("low"));
	kallsyms_free(&k);
}

static void kernel(void)
{
	static const char text[] = "ffffffff81000000 T _text\n"
				   "ffffffff81000000 T startup_64\n"
				   "ffffffff81000100 t helper\n"
				   "ffffffff81000180 r not_code\n"
				   "nonsense\n"
				   "ffffffff81000200 W weak_one\n"
				   "ffffffff82000000 D data_end\n"
				   "ffffffffc0000000 t mod_init\t[nvme]\n"
				   "ffffffffc0000040 T mod_work\t[nvme]\n"
				   "ffffffffc0010000 t bpf_prog_0123456789abcdef_count\t[bpf]\n"
				   "ffffffffc0001000 t __builtin thing [odd]\r\n"
				   "12345678123456781 t too_long\n"
				   "ffffffffc0020000 t cut";
	struct kallsyms k;
	struct err e = { 0 };
	const char *module;
	struct symtab tab;

	CHECK_INT(parse(&k, text, &e), 0);
	CHECK_INT(k.bad_lines, 2);
	CHECK_STR(name_of(&k, 0xffffffff81000050, &module), "startup_64"); /* fewer underscores */
	CHECK_STR(module, "");
	CHECK_STR(name_of(&k, 0xffffffff810001ff, &module), "helper");
	CHECK_STR(name_of(&k, 0xffffffffc000003f, &module), "mod_init");
	CHECK_STR(module, "nvme");
	CHECK_STR(name_of(&k, 0xffffffffc0010001, &module), "bpf_prog_0123456789abcdef_count");
	CHECK_STR(module, "bpf");
	CHECK_STR(name_of(&k, 0xffffffffc0001001, &module), "__builtin thing");
	/* behind the kernel's last page */
	CHECK_STR(name_of(&k, 0xffffffff82002000, &module), "");
	CHECK_STR(name_of(&k, 0xffffffffc0020fff, &module), "cut");
	kallsyms_symtab(&k, &tab);
	CHECK_INT(tab.n, k.list.n);
	CHECK_STR(tab.sym[2].name, "helper");
	CHECK_INT(tab.sym[2].end - tab.sym[2].start, 0x100);
	symtab_free(&tab);
	kallsyms_free(&k);
	parts(text);
	ends();
	names();

	CHECK_INT(parse(&k, "0000000000000000 T a\n0000000000000000 t b\n", &e), -EPERM);
	CHECK(k.hidden && strstr(e.hint, "kptr_restrict"));
	CHECK_INT(parse(&k, "", &e), -ENOENT);
	CHECK_INT(parse(&k, "\n\n\n", &e), -ENOENT);
	CHECK_INT(parse(&k, "]\n", &e), -ENOENT);
	CHECK_INT(parse(&k, "1 t ]\n", &e), 0);
	kallsyms_free(&k);
}

int main(void)
{
	edges();
	nested();
	spans();
	aliases();
	self();
	sorting();
	kernel();
	return tap_end();
}
