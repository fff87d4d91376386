/* SPDX-License-Identifier: MIT */
#include "sym/names/demangle.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config.h"
#include "tap.h"

static const struct {
	const char *name, *plain, *params; /* NULL: not demangled */
} cases[] = {
	{ "main", NULL, NULL },
	{ "", NULL, NULL },
	{ "_", NULL, NULL },
	{ "_Z", NULL, NULL },
	{ "_R", NULL, NULL },
	{ "_Zombie", NULL, NULL },
	{ "_start", NULL, NULL },
	{ "foo.cold", NULL, NULL },
	{ "memcpy@@GLIBC_2.14", NULL, NULL },
	{ "main.main", NULL, NULL },	  /* Go */
	{ "$s4main3fooyyF", NULL, NULL }, /* Swift */
	{ "_Z3foov", "foo", "foo()" },
	{ "_ZN3foo3BarIiE4spinEiRKSt6vectorIiSaIiEE", "foo::Bar<int>::spin",
	  "foo::Bar<int>::spin(int, std::vector<int, std::allocator<int> > const&)" },
	{ "_ZNK3foo3BarIiE4convIdEET_S3_", "foo::Bar<int>::conv<double>",
	  "double foo::Bar<int>::conv<double>(double) const" },
	{ "_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()",
	  "main::{lambda(int)#1}::operator()(int) const" },
	{ "_ZN12_GLOBAL__N_16hiddenEv", "(anonymous namespace)::hidden",
	  "(anonymous namespace)::hidden()" },
	{ "_Z3foov.cold", "foo", "foo() [clone .cold]" },
	{ "_Z3foov@plt", "foo@plt", "foo()@plt" },
	{ "_Z3foov@@V_1", "foo", "foo()@@V_1" },
	{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad",
	  "core::fmt::Formatter::pad" },
	{ "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar"
	  "17h930b740aa94f1d3aE",
	  "<Test + 'static as foo::Bar<Test>>::bar", "<Test + 'static as foo::Bar<Test>>::bar" },
	{ "_RNvC7mycrate3bar", "mycrate::bar", "mycrate::bar" },
	{ "_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>", "std::mem::align_of::<f64>" },
	{ "camlStdlib__List__iter_507", "Stdlib.List.iter", "Stdlib.List.iter" },
	{ "camlFoo__bar$2b_12", "Foo.bar+", "Foo.bar+" },
	{ "caml_alloc", NULL, NULL },
};

static char *repeat(const char *head, const char *part, size_t n, const char *tail)
{
	struct strbuf b = { 0 };

	strbuf_puts(&b, head);
	for (size_t i = 0; i < n; i++)
		strbuf_puts(&b, part);
	strbuf_puts(&b, tail);
	return b.data;
}

/* Names that recurse or expand: an answer in bounded space, or none. */
static void hostile(void)
{
	static const char *const parts[] = { "P", "R",	"PK", "A_",    "N1a", "M1a", "F", "I",
					     "X", "Dp", "S_", "IXadL", "cv",  "L_Z", "T_" };
	AUTO_FREE char *doubling = mem_strdup("_Z1fI1aE");

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		for (size_t n = 100; n <= 100000; n *= 10) {
			AUTO_FREE char *name = repeat("_Z1f", parts[i], n, "i");
			AUTO_FREE char *out = demangle_dup(name, DEMANGLE_PARAMS);

			CHECK_CASE(!out || strlen(out) < 65536, "%zu times %s", n, parts[i]);
		}
	/* every parameter is a pair of the one before: 2^30 names when written out */
	for (int i = 0; i < 30; i++) {
		char *longer = i == 0 ? mem_strdup("_Z1fSt4pairI1aS_E")
				      : mem_printf("%sSt4pairIS%d_S%d_E", doubling, i, i);

		free(doubling);
		doubling = longer;
	}
	{
		AUTO_FREE char *out = demangle_dup(doubling, DEMANGLE_PARAMS);

		CHECK(!out || strlen(out) <= 65536);
	}
}

/* What a programmer calls a symbol. */
static void called(void)
{
	static const char *const spin = "_ZN3foo3BarIiE4spinEiRKSt6vectorIiSaIiEE";

	CHECK(demangle_fits(spin, "foo::Bar<int>::spin"));
	CHECK(demangle_fits(spin, "Bar<int>::spin"));
	CHECK(demangle_fits(spin, "spin"));
	CHECK(demangle_fits(spin, "foo::*spin"));
	CHECK(demangle_fits(spin, "spin(int, std::vector<int, std::allocator<int> > const&)"));
	CHECK(!demangle_fits(spin, "spin(int)"));
	CHECK(!demangle_fits(spin, "oo::Bar<int>::spin"));
	CHECK(!demangle_fits(spin, "pin"));
	CHECK(!demangle_fits("spin", "spin"));
	CHECK(demangle_fits("_ZNK3foo3BarIiE4convIdEET_S3_",
			    "foo::Bar<int>::conv<double>(double) const"));
	CHECK(demangle_is_written("a::b") && demangle_is_written("~a") &&
	      demangle_is_written("a<b>"));
	CHECK(!demangle_is_written("_ZN1a1bEv") && !demangle_is_written("vfs_*"));
}

int main(void)
{
	struct strbuf b = { 0 };

	if (!HAVE_LIBIBERTY) {
		SKIP("built without libiberty");
		return tap_end();
	}
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_FREE char *plain = demangle_dup(cases[i].name, 0);
		AUTO_FREE char *params = demangle_dup(cases[i].name, DEMANGLE_PARAMS);

		CHECK_STR(plain, cases[i].plain);
		CHECK_STR(params, cases[i].params);
	}
	strbuf_puts(&b, "x ");
	CHECK(demangle("_Z3foov", 0, &b));
	CHECK_STR(b.data, "x foo");
	CHECK(!demangle("_Zbad", 0, &b));
	CHECK_STR(b.data, "x foo");
	strbuf_free(&b);
	hostile();
	called();
	return tap_end();
}
