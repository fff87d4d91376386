/* SPDX-License-Identifier: MIT */
/* Finding types by name in hand-made type information, and in broken ones. */
#include "kern/btf_types.h"

#include <errno.h>
#include <linux/btf.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tap.h"

#define INFO(kind, vlen) ((uint32_t)(kind) << 24 | (vlen))

static const char names[] = "\0int\0task\0pid\0run\0state";
enum { NAME_INT = 1, NAME_TASK = 5, NAME_PID = 10, NAME_RUN = 14, NAME_STATE = 18 };

/* int; struct task { int pid; }; typedef int state; func proto; func run; int again, as state */
static const uint32_t types[] = {
	NAME_INT,
	INFO(BTF_KIND_INT, 0),
	4,
	32,
	NAME_TASK,
	INFO(BTF_KIND_STRUCT, 1),
	4,
	NAME_PID,
	1,
	0,
	NAME_STATE,
	INFO(BTF_KIND_TYPEDEF, 0),
	1,
	0,
	INFO(BTF_KIND_FUNC_PROTO, 1),
	0,
	NAME_PID,
	1,
	NAME_RUN,
	INFO(BTF_KIND_FUNC, 0),
	4,
};

static char *blob(size_t *size)
{
	struct btf_header h = { .magic = BTF_MAGIC,
				.version = 1,
				.hdr_len = sizeof(h),
				.type_len = sizeof(types),
				.str_off = sizeof(types),
				.str_len = sizeof(names) };
	char *data = mem_alloc(*size = sizeof(h) + sizeof(types) + sizeof(names));

	memcpy(data, &h, sizeof(h));
	memcpy(data + sizeof(h), types, sizeof(types));
	memcpy(data + sizeof(h) + sizeof(types), names, sizeof(names));
	return data;
}

static void find(void)
{
	struct btf_blob b;
	uint64_t bit, bits;
	size_t size;
	char *data = blob(&size);

	CHECK_INT(btf_parse(data, size, &b), 0);
	CHECK_INT(btf_find(&b, BTF_KIND_INT, "int"), 1);
	CHECK_INT(btf_find(&b, BTF_KIND_STRUCT, "task"), 2);
	CHECK_INT(btf_find(&b, BTF_KIND_TYPEDEF, "state"), 3);
	CHECK_INT(btf_find(&b, BTF_KIND_FUNC, "run"), 5);
	CHECK_INT(btf_find(&b, BTF_KIND_FUNC, "task"), -ENOENT);
	CHECK_INT(btf_find(&b, BTF_KIND_FUNC, "ru"), -ENOENT);
	CHECK_INT(btf_member(&b, "task", "pid", &bit, &bits), 0);
	CHECK_INT(bit, 0);
	CHECK_INT(bits, 32);
	CHECK_INT(btf_member(&b, "task", "state", &bit, &bits), -ENOENT);
	CHECK_INT(btf_member(&b, "run", "pid", &bit, &bits), -ENOENT);
	btf_free(&b);
	CHECK(!b.data);
}

/* Every way to cut it short is refused or finds less, and touches nothing outside. */
static void cut_short(void)
{
	size_t size, refused = 0;
	char *whole = blob(&size);

	for (size_t n = 0; n < size; n++) {
		struct btf_blob b;
		int r = btf_parse(mem_dup(whole, n), n, &b);

		refused += r < 0;
		btf_free(&b);
	}
	CHECK_INT(refused, size);
	free(whole);
}

/* One byte at a time set to each of a few values: an answer, never a crash. */
static void spoiled(void)
{
	static const unsigned char values[] = { 0, 1, 0x13, 0x7f, 0x80, 0xff };
	size_t size, n = 0;
	char *whole = blob(&size);

	for (size_t at = 0; at < size; at++)
		for (size_t v = 0; v < ARRAY_SIZE(values); v++) {
			char *data = mem_dup(whole, size);
			struct btf_blob b;

			data[at] = (char)values[v];
			if (btf_parse(data, size, &b) == 0) {
				int id = btf_find(&b, BTF_KIND_FUNC, "run");
				uint64_t bit, bits;

				btf_member(&b, "task", "pid", &bit, &bits);
				n += id == -EINVAL || id == -ENOENT || (id > 0 && id < 100);
			} else {
				n++;
			}
			btf_free(&b);
		}
	CHECK_INT(n, size * ARRAY_SIZE(values));
	free(whole);
}

static const char *text(const struct btf_types *t, uint32_t id)
{
	static struct strbuf b;

	strbuf_reset(&b);
	btf_text(t, id, &b);
	return strbuf_str(&b);
}

static void types_by_hand(void)
{
	struct btf_types *t;
	struct btf_blob b;
	struct btf_found m;
	struct err e;
	unsigned n;
	size_t size;
	char *data = blob(&size);

	CHECK_INT(btf_parse(data, size, &b), 0);
	CHECK_INT(btf_types_of(&b, NULL, &t, &e), 0);
	CHECK_INT(btf_count(t), 6);
	CHECK_INT(btf_by_name(t, BTF_KIND_STRUCT, "task"), 2);
	CHECK_INT(btf_strip(t, 3), 1);
	CHECK_INT(btf_size(t, 3), 4);
	CHECK(btf_find_member(t, 2, "pid", &m) && m.type == 1 && m.offset == 0 && m.bits == 0);
	CHECK(!btf_find_member(t, 2, "pi", &m) && !btf_find_member(t, 1, "pid", &m));
	CHECK(btf_params(t, 5, &n) && n == 1);
	CHECK(!btf_params(t, 2, &n) && n == 0);
	CHECK(!btf_type(t, 0) && !btf_type(t, 6) && !btf_type(t, UINT32_MAX));
	CHECK_INT(btf_size(t, 77), 0);
	CHECK_STR(text(t, 2), "struct task");
	CHECK_STR(text(t, 0), "void");
	btf_types_free(t);
}

/* What has not changed in twenty years. */
static void types_of_kernel(void)
{
	struct btf_types *t;
	struct btf_found m, inner;
	struct err e;
	const struct btf_param *p;
	unsigned n;
	uint32_t task, fn;
	uint64_t bit, bits;
	struct btf_blob b = { 0 };

	if (btf_types_open(NULL, NULL, &t, &e) < 0) {
		SKIP(e.msg);
		return;
	}
	task = btf_by_name(t, BTF_KIND_STRUCT, "task_struct");
	CHECK(btf_find_member(t, task, "comm", &m) && btf_size(t, m.type) == 16);
	if (btf_load("/sys/kernel/btf/vmlinux", &b) == 0 &&
	    btf_member(&b, "task_struct", "comm", &bit, &bits) == 0)
		CHECK(bit == m.offset && bits >= 16 * 8);
	btf_free(&b);
	CHECK(btf_is_char(t, btf_target(t, m.type)) && btf_elements(t, m.type) == 16);
	CHECK(btf_find_member(t, task, "pid", &m) && btf_is_signed(t, m.type));
	CHECK_STR(text(t, m.type), "pid_t");
	CHECK(btf_find_member(t, task, "real_parent", &m) &&
	      btf_strip(t, btf_target(t, m.type)) == task);
	CHECK_STR(text(t, m.type), "struct task_struct *");
	/* in an unnamed struct */
	CHECK(btf_find_member(t, btf_by_name(t, BTF_KIND_STRUCT, "page"), "lru", &m) &&
	      btf_find_member(t, m.type, "next", &inner));
	fn = btf_by_name(t, BTF_KIND_FUNC, "vfs_read");
	p = btf_params(t, fn, &n);
	CHECK(p && n == 4);
	CHECK_STR(p ? btf_str(t, p[2].name_off) : "", "count");
	CHECK_STR(text(t, btf_returns(t, fn)), "ssize_t");
	btf_types_free(t);
}

int main(void)
{
	struct btf_blob b;

	find();
	cut_short();
	spoiled();
	types_by_hand();
	types_of_kernel();
	CHECK_INT(btf_load("/nonexistent", &b), -ENOENT);
	CHECK(btf_load("/proc/self/status", &b) < 0);
	return tap_end();
}
