/* SPDX-License-Identifier: MIT */
/* Format texts of tracepoints, and reading fields through them. */
#include <errno.h>

#include "event/text.h"
#include "event/type.h"
#include "tap.h"

static const char format[] =
	"name: thing\n"
	"ID: 317\n"
	"format:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
	"\n"
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:__data_loc char[] name;\toffset:28;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned long args[2];\toffset:32;\tsize:16;\tsigned:0;\n"
	"\tfield:const void * ptr;\toffset:48;\tsize:8;\tsigned:0;\n"
	"\tfield:__rel_loc u8[] bytes;\toffset:56;\tsize:4;\tsigned:0;\n"
	"\tfield:struct pair both;\toffset:60;\tsize:8;\tsigned:0;\n"
	"\n"
	"print fmt: \"comm=%s pid=%d name=%s\", REC->comm, REC->pid, __get_str(name)\n";

struct record {
	uint16_t type;
	uint8_t flags, preempt;
	int32_t common_pid;
	char comm[16];
	int32_t pid;
	uint32_t name;
	uint64_t args[2];
	uint64_t ptr;
	uint32_t bytes;
	uint8_t both[8];
	char text[4];
	uint8_t raw[3];
} __attribute__((packed));

static const struct record rec = { .type = 317,
				   .common_pid = 9,
				   .comm = "sixteen letters!",
				   .pid = -5,
				   .name = 68 | 4 << 16,
				   .args = { 1, 2 },
				   .ptr = 0xffff888100000000,
				   .bytes = 12 | 3 << 16,
				   .text = "abc",
				   .raw = { 7, 8, 9 } };

static void parse(void)
{
	struct arena a = { 0 };
	struct event_type t = { 0 };
	struct err e = { 0 };

	CHECK_INT(type_parse_format(&t, &a, format, sizeof(format) - 1, &e), 0);
	CHECK_INT(t.n_fields, 9);
	CHECK_INT(t.format_id, 317);
	CHECK_STR(t.event, "thing");
	CHECK(t.fields[0].is_common && t.fields[1].is_common && !t.fields[2].is_common);
	CHECK_INT(type_field(&t, "comm")->kind, FIELD_STRING);
	CHECK_STR(type_field(&t, "comm")->type, "char[16]");
	CHECK_INT(type_field(&t, "pid")->kind, FIELD_INT);
	CHECK(type_field(&t, "pid")->is_signed);
	CHECK_INT(type_field(&t, "name")->kind, FIELD_DATA_LOC);
	CHECK(type_field(&t, "name")->is_string);
	CHECK_INT(type_field(&t, "args")->kind, FIELD_ARRAY);
	CHECK_INT(type_field(&t, "args")->elem_size, 8);
	CHECK(type_field(&t, "ptr")->is_pointer);
	CHECK_INT(type_field(&t, "bytes")->kind, FIELD_REL_LOC);
	CHECK(!type_field(&t, "bytes")->is_string);
	CHECK_INT(type_field(&t, "both")->kind, FIELD_OTHER);
	CHECK(!type_field(&t, "none"));
	CHECK(strncmp(t.print_fmt, "\"comm=%s", 8) == 0);
	arena_free(&a);
}

static void refuse(void)
{
	static const char *const bad[] = {
		"",
		"name: x\nID: 1\nformat:\n",
		"format:\n\tfield:int a;\toffset:x;\tsize:4;\n",
		"format:\n\tfield:int;\toffset:0;\tsize:4;\n",
		"format:\n\tfield:int .a;\toffset:0;\tsize:4;\n",
		"format:\n\tfield:int a\toffset:0\n",
		"format:\n\tfield:int a;\toffset:0;\tsize:99999999999;\n",
		"rubbish\n",
	};
	struct arena a = { 0 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct event_type t = { 0 };
		struct err e = { 0 };

		CHECK_CASE(type_parse_format(&t, &a, bad[i], strlen(bad[i]), &e) == -EINVAL &&
				   !t.fields && e.msg[0],
			   "refused: case %zu", i);
	}
	arena_free(&a);
}

static void values(void)
{
	struct arena a = { 0 };
	struct event_type t = { 0 };
	struct strbuf b = { 0 };
	const void *p;
	const char *s;
	int64_t v = 0;
	size_t n = 0;

	type_parse_format(&t, &a, format, sizeof(format) - 1, NULL);
	CHECK(field_int(type_field(&t, "pid"), &rec, sizeof(rec), &v));
	CHECK_INT(v, -5);
	CHECK(field_int(type_field(&t, "ptr"), &rec, sizeof(rec), &v));
	CHECK_INT(v, (int64_t)0xffff888100000000);
	CHECK(field_str(type_field(&t, "comm"), &rec, sizeof(rec), &s, &n));
	CHECK_INT(n, 16); /* no NUL: cut at its size */
	CHECK(field_str(type_field(&t, "name"), &rec, sizeof(rec), &s, &n));
	CHECK_INT(n, 3);
	CHECK(memcmp(s, "abc", 3) == 0);
	CHECK(field_bytes(type_field(&t, "bytes"), &rec, sizeof(rec), &p, &n));
	CHECK_INT(n, 3);
	CHECK(memcmp(p, "\7\10\11", 3) == 0);
	CHECK(!field_int(type_field(&t, "comm"), &rec, sizeof(rec), &v));
	CHECK(!field_str(type_field(&t, "pid"), &rec, sizeof(rec), &s, &n));
	/* Too short a record. */
	CHECK(!field_int(type_field(&t, "pid"), &rec, 27, &v));
	CHECK(!field_str(type_field(&t, "name"), &rec, 70, &s, &n));
	CHECK(!field_bytes(type_field(&t, "bytes"), &rec, 74, &p, &n));
	/* The other endian. */
	((struct field *)type_field(&t, "pid"))->swapped = true;
	CHECK(field_int(type_field(&t, "pid"), &rec, sizeof(rec), &v));
	CHECK_INT(v, (int32_t)__builtin_bswap32((uint32_t)-5));
	((struct field *)type_field(&t, "pid"))->swapped = false;
	text_print(NULL, &t, &rec, sizeof(rec), &b);
	CHECK_STR(strbuf_str(&b),
		  "[FAILED TO PARSE] comm=sixteen letters! pid=-5 name=abc "
		  "args=ARRAY[01, 00, 00, 00, 00, 00, 00, 00, 02, 00, 00, 00, 00, 00, 00, 00] "
		  "ptr=0xffff888100000000 bytes=ARRAY[07, 08, 09] "
		  "both=ARRAY[00, 00, 00, 00, 00, 00, 00, 00]");
	strbuf_reset(&b);
	text_prepare(NULL, &t, &a);
	text_print(NULL, &t, &rec, sizeof(rec), &b);
	CHECK_STR(strbuf_str(&b), "comm=sixteen letters! pid=-5 name=abc");
	strbuf_free(&b);
	arena_free(&a);
}

static const char numbers[] = "name: numbers\n"
			      "ID: 2\n"
			      "format:\n"
			      "\tfield:float ratio;\toffset:0;\tsize:4;\tsigned:1;\n"
			      "\tfield:double share;\toffset:4;\tsize:8;\tsigned:1;\n"
			      "\tfield:double all[2];\toffset:12;\tsize:16;\tsigned:1;\n"
			      "\tfield:short few[3];\toffset:28;\tsize:6;\tsigned:1;\n"
			      "\tfield:u32 from.cpu;\toffset:34;\tsize:4;\tsigned:0;\n"
			      "\tfield:u32 from.place.node;\toffset:38;\tsize:4;\tsigned:0;\n"
			      "\tfield:__data_loc u16[] more;\toffset:42;\tsize:4;\tsigned:0;\n"
			      "\tfield:char text[4];\toffset:46;\tsize:4;\tsigned:0;\n"
			      "\tfield:s64 low;\toffset:50;\tsize:8;\tsigned:1;\n";

static struct {
	float ratio;
	double share, all[2];
	int16_t few[3];
	uint32_t cpu, node, more;
	char text[4];
	int64_t low;
	uint16_t end[2];
} __attribute__((packed)) numbered = {
	.ratio = 0.1f,
	.share = -1e300,
	.all = { 0.1, 3 },
	.few = { -1, 2, -3 },
	.cpu = 0xffffffff,
	.node = 7,
	.more = 58 | 4 << 16,
	.text = "ab",
	.low = INT64_MIN,
	.end = { 65535, 1 },
};

static struct field_value value_of(const struct event_type *t, const char *name, size_t n)
{
	return field_value(type_field(t, name), &numbered, n);
}

static void tagged(void)
{
	const size_t all = sizeof(numbered);
	struct event_type t = { 0 };
	struct field_value v, one;
	struct arena a = { 0 };
	struct strbuf b = { 0 };
	char text[32];

	CHECK_INT(type_parse_format(&t, &a, numbers, sizeof(numbers) - 1, NULL), 0);
	v = value_of(&t, "ratio", all);
	CHECK_INT(v.kind, VALUE_FLOAT);
	CHECK_STR(field_float_text(&v, text, sizeof(text)), "0.1");
	v = value_of(&t, "share", all);
	CHECK_STR(field_float_text(&v, text, sizeof(text)), "-1e+300");
	v = value_of(&t, "all", all);
	CHECK_INT(v.kind, VALUE_ARRAY);
	one = field_element(&v, 0);
	CHECK_STR(field_float_text(&one, text, sizeof(text)), "0.1");
	CHECK_INT(field_element(&v, 2).kind, VALUE_NONE);
	v = value_of(&t, "few", all);
	one = field_element(&v, 2);
	CHECK(one.kind == VALUE_INT && one.i == -3);
	v = value_of(&t, "from.cpu", all);
	CHECK(v.kind == VALUE_INT && v.i == 0xffffffff);
	v = value_of(&t, "from.place.node", all);
	CHECK(v.kind == VALUE_INT && v.i == 7);
	v = value_of(&t, "more", all);
	one = field_element(&v, 0);
	CHECK(v.kind == VALUE_ARRAY && v.n == 4 && one.i == 65535);
	v = value_of(&t, "text", all);
	CHECK(v.kind == VALUE_STRING && v.n == 2);
	v = value_of(&t, "low", all);
	CHECK(v.kind == VALUE_INT && v.i == INT64_MIN);
	/* Too short a record. */
	CHECK_INT(value_of(&t, "low", 57).kind, VALUE_NONE);
	CHECK_INT(value_of(&t, "more", all - 1).kind, VALUE_NONE);
	text_print(NULL, &t, &numbered, all, &b);
	CHECK(strstr(strbuf_str(&b), "ratio=0.1 share=-1e+300 "));
	CHECK(strstr(strbuf_str(&b), "from.cpu=4294967295 from.place.node=7 "));
	/* The other endian. */
	((struct field *)type_field(&t, "ratio"))->swapped = true;
	numbered.ratio = 0;
	((uint8_t *)&numbered)[1] = 0x80;
	((uint8_t *)&numbered)[0] = 0x3f;
	v = value_of(&t, "ratio", all);
	CHECK_STR(field_float_text(&v, text, sizeof(text)), "1");
	strbuf_free(&b);
	arena_free(&a);
}

int main(void)
{
	parse();
	tagged();
	refuse();
	values();
	return tap_end();
}
