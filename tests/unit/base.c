/* SPDX-License-Identifier: MIT */
/* Memory, tables, JSON, errors and files. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/digest.h"
#include "base/err.h"
#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "base/vec.h"
#include "tap.h"

static void memory(void)
{
	struct arena a = { 0 };
	VEC(int) v = { 0 };
	bool zero = true;
	int sum = 0;

	for (size_t i = 1; i < 3000; i += 7) {
		char *p = arena_alloc(&a, i);

		zero = zero && ((uintptr_t)p & 15) == 0 && p[0] == 0 && p[i - 1] == 0;
		memset(p, 1, i);
	}
	CHECK(zero);
	CHECK_STR(arena_printf(&a, "%d-%s", 5, "x"), "5-x");
	CHECK_STR(arena_strndup(&a, "abcdef", 3), "abc");
	CHECK(arena_alloc(&a, 3 << 20) != NULL);
	arena_free(&a);
	vec_each (&v, it)
		sum += *it;
	for (int i = 0; i < 1000; i++)
		vec_push(&v, i);
	vec_each (&v, it)
		sum += *it;
	CHECK_INT(sum, 499500);
	vec_free(&v);
}

static void tables(void)
{
	struct map m = { 0 };
	struct strtab t = { 0 };
	bool good = true;
	char name[16];

	CHECK(!map_find(&m, 0));
	for (uint64_t i = 0; i < 10000; i++)
		*map_at(&m, i * 0x100000001ull) += i;
	for (uint64_t i = 0; i < 10000; i++)
		good = good && *map_find(&m, i * 0x100000001ull) == i;
	CHECK(good);
	CHECK_INT(m.n, 10000);
	CHECK(!map_find(&m, 5));
	map_free(&m);

	CHECK(strtab_find(&t, "x") == STRTAB_NONE);
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "n%d", i % 500);
		good = good && strtab_add(&t, name) == (uint32_t)(i % 500);
	}
	CHECK(good);
	CHECK_STR(strtab_get(&t, 499), "n499");
	CHECK_STR(strtab_get(&t, 500), "");
	CHECK_INT(strtab_find(&t, "n77"), 77);
	CHECK_INT(strtab_addn(&t, "n77xyz", 3), 77);
	strtab_free(&t);
}

static void json(void)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	struct json j = json_to(f, JSON_SPACED);

	json_object(&j, NULL);
	json_str(&j, "a\"b", "x\n\x01\xff\xe2\x82\xac\xed\xa0\x80");
	json_array(&j, "l");
	json_u64(&j, NULL, UINT64_MAX);
	json_i64(&j, NULL, -1);
	json_double(&j, NULL, 0.5);
	json_double(&j, NULL, 1.0 / 0.0);
	json_bool(&j, NULL, true);
	json_end(&j);
	json_object(&j, "o");
	json_end(&j);
	json_str(&j, "n", NULL);
	json_end(&j);
	fclose(f);
	CHECK_STR(text,
		  "{\"a\\\"b\": \"x\\n\\u0001\\ufffd\xe2\x82\xac\\ufffd\\ufffd\\ufffd\", "
		  "\"l\": [18446744073709551615, -1, 0.5, null, true], \"o\": {}, \"n\": null}");
	free(text);
}

static void json_layout(enum json_layout layout, const char *want)
{
	struct out o = { .fd = -1 };
	struct json j = json_to_out(&o, layout);

	json_object(&j, NULL);
	json_hex(&j, "h", 0x1f);
	json_line(&j);
	json_array(&j, "a");
	json_end(&j);
	json_array(&j, "b");
	json_line(&j);
	json_bytes(&j, NULL, "\x01\xfe", 2);
	json_line(&j);
	out_puts(json_raw(&j, NULL), "1.50");
	json_end(&j);
	json_end(&j);
	out_putc(&o, '\0');
	CHECK_STR(o.data, want);
	out_free(&o);
}

static void json_layouts(void)
{
	json_layout(JSON_SPACED, "{\"h\": \"0x1f\",\n\"a\": [], \"b\": [\n\"01fe\",\n1.50]}");
	json_layout(JSON_TIGHT, "{\"h\":\"0x1f\",\n\"a\":[],\"b\":[\n\"01fe\",\n1.50]}");
	json_layout(JSON_PRETTY, "{\n  \"h\": \"0x1f\",\n  \"a\": [],\n  \"b\": [\n    "
				 "\"01fe\",\n    1.50\n  ]\n}");
}

static void errors(void)
{
	struct err e = { 0 };

	CHECK_INT(err_set(&e, ENOENT, "no %s", "file"), -ENOENT);
	CHECK_INT(err_hint(&e, "make one"), -ENOENT);
	CHECK_INT(err_wrap(&e, "reading %d", 3), -ENOENT);
	CHECK_STR(e.msg, "reading 3: no file");
	CHECK_STR(e.hint, "make one");
	err_set(&e, EIO, "other");
	CHECK_STR(e.hint, "");
	CHECK_INT(err_set(NULL, EIO, "unheard"), -EIO);
}

static void files(void)
{
	char path[] = "/tmp/kymo-test-XXXXXX";
	int fd = mkstemp(path);
	char *text = NULL, line[8];
	size_t n = 0;
	int64_t v = 0;

	CHECK_INT(file_write_all(fd, "0x20 tail\nsecond\n", 17), 0);
	close(fd);
	CHECK_INT(file_read(path, 100, &text, &n), 0);
	CHECK_INT(n, 17);
	free(text);
	CHECK_INT(file_read(path, 16, &text, &n), -EFBIG);
	CHECK_INT(file_line(path, line, sizeof(line)), 0);
	CHECK_STR(line, "0x20 ta");
	CHECK_INT(file_i64(path, &v), 0);
	CHECK_INT(v, 32);
	unlink(path);
	CHECK_INT(file_read(path, 16, &text, &n), -ENOENT);
	CHECK_INT(file_read("/proc/self/stat", 1 << 20, &text, &n), 0);
	CHECK(n > 10);
	free(text);
}

/* As RFC 7693 has it: b2sum -l 160. */
/* Files that an input names: regular ones, and below a root no link leads out of it. */
static void inputs(void)
{
	char dir[] = "/tmp/kymo-inputs-XXXXXX";
	struct err e = { 0 };
	int fd;

	CHECK(mkdtemp(dir) && chdir(dir) == 0);
	CHECK(mkfifo("pipe", 0600) == 0 && symlink("/etc/passwd", "out") == 0 &&
	      symlink("/file", "in") == 0 && symlink("../../../../../../etc/passwd", "up") == 0);
	CHECK_INT(file_replace("file", "text", 4, 0600), 0);
	CHECK_INT(file_open_input("pipe", &e), -EINVAL);
	CHECK_STR(e.msg, "pipe is not a regular file");
	CHECK_INT(file_open_input(".", &e), -EINVAL);
	CHECK_INT(file_open_input("none", &e), -ENOENT);
	CHECK_INT(file_open_input("/proc/version", &e), -EINVAL);
	CHECK_STR(e.msg, "/proc/version is no file, but the kernel's own");
	fd = file_open_named("/proc/version", &e);
	CHECK_CASE(fd >= 0, "the user may name it");
	close(fd);
	CHECK_INT(file_openat_input(AT_FDCWD, "out", O_NOFOLLOW, 0, &e), -ELOOP);
	fd = file_open_input("out", &e);
	CHECK(fd >= 0);
	close(fd);
	CHECK_INT(file_open_below(dir, "/out"), -ENOENT);
	CHECK_INT(file_open_below(dir, "/up"), -ENOENT);
	CHECK_INT(file_open_below(dir, "/../../etc/passwd"), -ENOENT);
	fd = file_open_below(dir, "/in");
	CHECK(fd >= 0);
	close(fd);
	CHECK(unlink("pipe") == 0 && unlink("out") == 0 && unlink("in") == 0 && unlink("up") == 0 &&
	      unlink("file") == 0 && chdir("/") == 0 && rmdir(dir) == 0);
}

static void digests(void)
{
	static const uint8_t abc[DIGEST_BYTES] = { 0x38, 0x42, 0x64, 0xf6, 0x76, 0xf3, 0x95,
						   0x36, 0x84, 0x05, 0x23, 0xf2, 0x84, 0x92,
						   0x1c, 0xdc, 0x68, 0xb6, 0x84, 0x6b };
	uint8_t one[DIGEST_BYTES], parts[DIGEST_BYTES], data[300];
	struct digest d;

	digest_start(&d);
	digest_add(&d, "abc", 3);
	digest_end(&d, one);
	CHECK(memcmp(one, abc, sizeof(abc)) == 0);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7);
	for (size_t n = 0; n <= sizeof(data); n += n % 128 > 126 ? 1 : 63) {
		digest_start(&d);
		digest_add(&d, data, n);
		digest_end(&d, one);
		digest_start(&d);
		for (size_t i = 0; i < n; i++)
			digest_add(&d, data + i, 1);
		digest_end(&d, parts);
		CHECK(memcmp(one, parts, sizeof(one)) == 0);
	}
}

/* Runs first: the bounds are looked up once. */
static void budgets(void)
{
	struct budget small = { .size = 1 << 20 }, any = { .size = BUDGET_ANY };
	const uint64_t all = (uint64_t)1 << 40, own = BUDGET_FREE + BUDGET_RATIO * small.size;
	struct stat st = { .st_size = 1 << 30, .st_blocks = 8 };
	struct err e = { 0 };

	setenv("KYMO_MAX_DISK", "1G", 1);
	CHECK_INT(budget_size(&st), 4096);
	CHECK_INT(budget_take(&small, 1000, "it", &e), 0);
	CHECK(budget_room(&small) <= own - 1000);
	CHECK_INT(budget_take(&small, all, "it", &e), -EFBIG);
	CHECK(strstr(e.msg, "it would take more than") && strstr(e.hint, "KYMO_MAX_MEMORY"));
	CHECK(!budget_refused()); /* e said so */
	CHECK_INT(small.taken, 1000);
	CHECK(budget_room(&any) >= budget_room(&small));
	CHECK_INT(budget_take(&any, UINT64_MAX, "that", NULL), -EFBIG);
	CHECK(strstr(budget_refused() ?: "", "that would take") != NULL);
	CHECK(!budget_refused()); /* once is enough */
	budget_give(&small, 1000);
	CHECK_INT(small.taken, 0);
	small.kind = BUDGET_DISK; /* what the user says counts alone */
	CHECK_INT(budget_room(&small), 1 << 30);
	unsetenv("KYMO_MAX_DISK");
}

int main(void)
{
	budgets();
	memory();
	digests();
	tables();
	json();
	json_layouts();
	errors();
	files();
	inputs();
	return tap_end();
}
