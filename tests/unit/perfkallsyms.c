/* SPDX-License-Identifier: MIT */
/* Names of kernel functions in a recording: every form is read, what was packed comes back. */
#include "store/perfdata/kallsyms.h"

#include <byteswap.h>
#include <stdlib.h>

#include "base/mem.h"
#include "config.h"
#include "store/perfdata/abi.h"
#include "tap.h"

#define ONE "ffffffff81000010 T one\n"
#define TWO "ffffffff81000123 t two\n" /* at an odd address */
#define END "ffffffff81000200 - -\n"
#define MODULE "ffffffffc0a00000 t mod_init\t[a_module]\n"

static uint32_t packing_of(const struct strbuf *b)
{
	struct perfdata_kallsyms head = { .packing = UINT32_MAX };

	if (b->n >= sizeof(head))
		memcpy(&head, b->data, sizeof(head));
	return head.packing;
}

/* Packs, and gives back what comes out of it. */
static const char *there_and_back(const char *text, struct strbuf *back, uint32_t *packing)
{
	AUTO_STRBUF b = { 0 };

	strbuf_reset(back);
	perfdata_kallsyms_pack(text, strlen(text), &b);
	*packing = packing_of(&b);
	return perfdata_kallsyms_unpack((const uint8_t *)b.data, b.n, false, back) == 0
		       ? strbuf_str(back)
		       : "(refused)";
}

static void each_comes_back(const char *const *texts, size_t n, uint32_t want)
{
	AUTO_STRBUF back = { 0 };
	uint32_t packing;

	for (size_t i = 0; i < n; i++) {
		CHECK_STR(there_and_back(texts[i], &back, &packing), texts[i]);
		CHECK_INT(packing, want);
	}
}

static void test_columns(void)
{
	const uint32_t columns =
		HAVE_ZSTD ? PERFDATA_KALLSYMS_PACKED_COLUMNS : PERFDATA_KALLSYMS_COLUMNS;
	static const char *const texts[] = {
		ONE,
		ONE END,
		ONE TWO END,
		TWO END MODULE,
		ONE END MODULE,
		TWO END,
		ONE TWO END MODULE,
		"8000000000000000 t low\n",
		"ffffffffffffffff W high\n",
	};

	each_comes_back(texts, ARRAY_SIZE(texts), columns);
}

/* What has no place in columns stays as it is. */
static void test_texts(void)
{
	static const char *const texts[] = {
		"0000000000001000 t user\n",
		TWO ONE,
		END ONE,
		ONE END END,
		"c0100000 T short\n",
		ONE "ffffffff81000200 - -\nffffffff81000200 t next\n", /* an end too many */
		"ffffffff81000010 T two words\n",
		"ffffffff81000010 T cut",
		"nonsense\n",
		"FFFFFFFF81000010 T ONE\n",
	};

	each_comes_back(texts, ARRAY_SIZE(texts), PERFDATA_KALLSYMS_TEXT);
}

/* 300 functions take less than half of what zstd makes of their lines. */
static void test_small(void)
{
	AUTO_STRBUF text = { 0 };
	AUTO_STRBUF b = { 0 };
	AUTO_STRBUF back = { 0 };

	for (unsigned i = 0; i < 300; i++) {
		uint64_t at = 0xffffffff81000000 + i * 0x5430;

		strbuf_printf(&text, "%016llx t name_of_%u\n%016llx - -\n", (unsigned long long)at,
			      i * 7919 % 10007, (unsigned long long)at + 16 * (i % 50 + 1));
	}
	perfdata_kallsyms_pack(text.data, text.n, &b);
	CHECK(b.n < (HAVE_ZSTD ? 2200 : 6000));
	CHECK_INT(perfdata_kallsyms_unpack((const uint8_t *)b.data, b.n, false, &back), 0);
	CHECK_STR(strbuf_str(&back), strbuf_str(&text));
}

/* The form until 0.1.0, of both byte orders. */
static void test_old(void)
{
	struct {
		uint32_t packing, zero;
		uint64_t size;
		char text[sizeof(ONE) - 1];
	} old = { 0, 0, sizeof(ONE) - 1, "" };
	AUTO_STRBUF back = { 0 };
	AUTO_STRBUF other = { 0 };

	memcpy(old.text, ONE, sizeof(old.text));
	CHECK_INT(perfdata_kallsyms_unpack((uint8_t *)&old, 16 + sizeof(old.text), false, &back),
		  0);
	CHECK_STR(strbuf_str(&back), ONE);
	old.size = bswap_64(old.size);
	CHECK_INT(perfdata_kallsyms_unpack((uint8_t *)&old, 16 + sizeof(old.text), true, &other),
		  0);
	CHECK_STR(strbuf_str(&other), ONE);
}

/* Whatever byte is wrong, or missing, it is refused or read, never read beyond. */
static void test_damaged(void)
{
	static const char text[] = ONE TWO END MODULE;
	AUTO_STRBUF b = { 0 };

	perfdata_kallsyms_pack(text, strlen(text), &b);
	for (size_t n = 0; n < b.n; n++) {
		AUTO_FREE uint8_t *cut = mem_dup(b.data, n);
		AUTO_STRBUF back = { 0 };

		CHECK(perfdata_kallsyms_unpack(cut, n, false, &back) < 0);
	}
	for (size_t i = 0; i < b.n * 8; i++) {
		AUTO_FREE uint8_t *bad = mem_dup(b.data, b.n);
		AUTO_STRBUF back = { 0 };

		bad[i / 8] ^= (uint8_t)(1u << i % 8);
		perfdata_kallsyms_unpack(bad, b.n, false, &back);
	}
}

int main(void)
{
	test_columns();
	test_texts();
	test_small();
	test_old();
	test_damaged();
	return tap_end();
}
