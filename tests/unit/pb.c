/* SPDX-License-Identifier: MIT */
/* Protocol buffers byte by byte, and texts that are no UTF-8. */
#include "base/pb.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "tap.h"

static bool bytes(const struct pb *b, const char *want, size_t n)
{
	return b->n == n && memcmp(b->data, want, n) == 0;
}
#define BYTES(b, s) CHECK(bytes((b), (s), sizeof(s) - 1))

static void numbers(void)
{
	struct pb b = { 0 };

	pb_uint(&b, 1, 0);
	BYTES(&b, "\x08\x00");
	pb_reset(&b);
	pb_uint(&b, 1, 150);
	BYTES(&b, "\x08\x96\x01");
	pb_reset(&b);
	pb_uint(&b, 16, 127);
	BYTES(&b, "\x80\x01\x7f");
	pb_reset(&b);
	pb_uint(&b, 2, UINT64_MAX);
	BYTES(&b, "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	pb_reset(&b);
	pb_int(&b, 2, -1);
	BYTES(&b, "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	pb_reset(&b);
	pb_double(&b, 5, -2);
	BYTES(&b, "\x29\x00\x00\x00\x00\x00\x00\x00\xc0");
	pb_reset(&b);
	pb_uint(&b, 327, 1ull << 63);
	BYTES(&b, "\xb8\x14\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01");
	pb_free(&b);
	CHECK(!b.data && !b.n);
}

static void texts(void)
{
	struct pb b = { 0 };

	pb_str(&b, 2, "testing");
	BYTES(&b, "\x12\x07testing");
	pb_reset(&b);
	pb_str(&b, 2, "");
	BYTES(&b, "\x12\x00");
	pb_reset(&b);
	pb_text(&b, 1,
		"a\xff"
		"b",
		3);
	BYTES(&b, "\x0a\x05"
		  "a\xef\xbf\xbd"
		  "b");
	pb_reset(&b);
	pb_bytes(&b, 1, "a\xff\0", 3);
	BYTES(&b, "\x0a\x03"
		  "a\xff\0");
	pb_reset(&b);
	pb_bytes(&b, 1, NULL, 0);
	BYTES(&b, "\x0a\x00");
	pb_free(&b);
}

/* Lengths that need one, two and three bytes move what was written. */
static void messages(void)
{
	struct pb b = { 0 };
	size_t sizes[] = { 0, 1, 127, 128, 300, 16383, 16384, 70000 };
	size_t m, inner, list;

	m = pb_begin(&b, 3);
	pb_uint(&b, 1, 150);
	pb_end(&b, m);
	BYTES(&b, "\x1a\x03\x08\x96\x01");
	pb_reset(&b);
	m = pb_begin(&b, 1);
	inner = pb_begin(&b, 2);
	list = pb_begin(&b, 4);
	pb_varint(&b, 3);
	pb_varint(&b, 270);
	pb_varint(&b, 86942);
	pb_end(&b, list);
	pb_end(&b, inner);
	pb_uint(&b, 3, 5);
	pb_end(&b, m);
	BYTES(&b, "\x0a\x0c\x12\x08\x22\x06\x03\x8e\x02\x9e\xa7\x05\x18\x05");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t n = sizes[i], head = n < 128 ? 2 : n < 16384 ? 3 : 4, ok = 1;

		pb_reset(&b);
		m = pb_begin(&b, 1);
		for (size_t k = 0; k < n; k++)
			pb_varint(&b, k % 128);
		pb_end(&b, m);
		ok &= b.n == head + n;
		for (size_t k = 0; ok && k < n; k++)
			ok &= b.data[head + k] == k % 128;
		CHECK(ok);
		CHECK(b.data[0] == 0x0a && (b.data[1] & 0x7f) == n % 128);
	}
	pb_reset(&b);
	pb_raw(&b, "\x08\x01", 2);
	pb_raw(&b, NULL, 0);
	BYTES(&b, "\x08\x01");
	pb_free(&b);
}

static void utf8(void)
{
	static const struct {
		const char *text;
		size_t len;
	} cases[] = {
		{ "a", 1 },
		{ "\xc3\xa4", 2 },
		{ "\xe2\x82\xac", 3 },
		{ "\xf0\x9f\x94\xa5", 4 },
		{ "\x80", 0 },	   /* goes on without a beginning */
		{ "\xc3", 0 },	   /* cut */
		{ "\xc0\xaf", 0 }, /* longer than need be */
		{ "\xe0\x80\x80", 0 },
		{ "\xed\xa0\x80", 0 },	   /* half of a pair */
		{ "\xf4\x90\x80\x80", 0 }, /* beyond the last */
		{ "\xf8\x88\x80\x80\x80", 0 },
		{ "\xff", 0 },
	};
	AUTO_STRBUF b = { 0 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK_INT(str_utf8_len(cases[i].text, strlen(cases[i].text)), cases[i].len);
		CHECK_INT(str_is_utf8(cases[i].text, strlen(cases[i].text)), cases[i].len > 0);
	}
	CHECK(str_is_utf8("", 0));
	strbuf_utf8(&b, "x\xc3\xa4\xff\xe2\x82", 6);
	CHECK_STR(strbuf_str(&b), "x\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

static void quotes(void)
{
	struct out o;
	struct json j = json_to_out(&o, JSON_SPACED);

	out_init(&o, -1);
	json_strn(&j, NULL, "a\"\\\n\t\r\x01\x7f\xc3\xa4\xff", 11);
	out_putc(&o, '\0');
	CHECK_STR(o.data, "\"a\\\"\\\\\\n\\t\\r\\u0001\\u007f\xc3\xa4\\ufffd\"");
	o.n = 0;
	json_strn(&j, NULL, "a\0b", 3);
	out_putc(&o, '\0');
	CHECK_STR(o.data, "\"a\\u0000b\"");
	out_free(&o);
}

int main(void)
{
	numbers();
	texts();
	messages();
	utf8();
	quotes();
	return tap_end();
}
