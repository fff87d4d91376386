/* SPDX-License-Identifier: MIT */
/* Tables: filling, sorting, cutting, and each printer. */
#include "calc/table/table.h"

#include <stdlib.h>

#include "tap.h"
#include "view/table/table.h"

static const struct table_column columns[] = {
	{ "comm", "Task", TABLE_TEXT },
	{ "n", "Count", TABLE_COUNT, .sum = true },
	{ "max_ns", "Max ms", TABLE_DURATION, .unit = TABLE_MS, .decimals = 3 },
	{ "avg_ns", "Average", TABLE_DURATION },
	{ "share", "Share", TABLE_SHARE },
};

static void add(struct table *t, const char *comm, uint64_t n, uint64_t max, uint64_t avg,
		double share)
{
	table_row(t);
	table_text(t, comm);
	table_u64(t, n);
	table_u64(t, max);
	table_u64(t, avg);
	table_real(t, share);
}

static char *print(void (*fn)(FILE *f, const struct tables *t), const struct tables *t)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	fn(f, t);
	fclose(f);
	return text;
}

static void csv(FILE *f, const struct tables *t)
{
	table_csv_all(f, t, ",");
}

static void is_printed(void (*fn)(FILE *f, const struct tables *t), const struct tables *t,
		       const char *want)
{
	char *text = print(fn, t);

	CHECK_STR(text, want);
	free(text);
}

static struct table *filled(struct tables *all)
{
	struct table *t = table_new(all, "waits", columns, ARRAY_SIZE(columns));

	add(t, "bash", 7, 1500000, 900, 0.25);
	add(t, "a\nb, \"c\"", 12, 0, 2500000000, 0.5);
	table_row(t); /* only its name is known */
	table_text(t, "cc1");
	return t;
}

static void test_printers(void)
{
	struct tables all = { 0 };
	struct table *t = filled(&all);

	is_printed(table_text_all, &all,
		   "Task         Count  Max ms  Average   Share\n"
		   "bash             7   1.500   900 ns  25.00%\n"
		   "a\\x0ab, \"c\"     12   0.000   2.50 s  50.00%\n"
		   "cc1              -       -        -       -\n"
		   "total           19\n");
	is_printed(csv, &all,
		   "comm,n,max_ns,avg_ns,share\n"
		   "bash,7,1500000,900,0.25\n"
		   "\"a\nb, \"\"c\"\"\",12,0,2500000000,0.5\n"
		   "cc1,,,,\n");
	table_note(t, "%d events were lost", 3);
	is_printed(table_json_all, &all,
		   "{\"waits\": {\"rows\": ["
		   "{\"comm\": \"bash\", \"n\": 7, \"max_ns\": 1500000, \"avg_ns\": 900, "
		   "\"share\": 0.25}, "
		   "{\"comm\": \"a\\nb, \\\"c\\\"\", \"n\": 12, \"max_ns\": 0, \"avg_ns\": "
		   "2500000000, \"share\": 0.5}, "
		   "{\"comm\": \"cc1\", \"n\": null, \"max_ns\": null, \"avg_ns\": null, "
		   "\"share\": null}], "
		   "\"notes\": [\"3 events were lost\"]}}\n");
	tables_free(&all);
}

static void test_sorting(void)
{
	struct tables all = { 0 };
	struct table *t = filled(&all);
	struct err e = { 0 };

	CHECK_INT(table_sort(t, "n", &e), 0);
	CHECK_INT(table_at(t, 0, 1)->u, 12);
	CHECK_STR(table_at(t, 2, 0)->text, "cc1"); /* what is not known comes last ... */
	CHECK_INT(table_sort(t, "-Max-ms", &e), 0);
	CHECK_INT(table_at(t, 0, 2)->u, 0);
	CHECK_STR(table_at(t, 2, 0)->text, "cc1"); /* ... also the other way around */
	CHECK_INT(table_sort(t, "comm", &e), 0);
	CHECK_STR(table_at(t, 1, 0)->text, "bash");
	CHECK_INT(table_sort(t, "n,speed", &e), -EINVAL);
	CHECK(strstr(e.msg, "'speed'") != NULL);
	CHECK(strstr(e.hint, "max_ns") != NULL);
	CHECK_STR(table_at(t, 1, 0)->text, "bash"); /* nothing is half sorted */
	table_cut(t, 1);
	CHECK_INT(t->n_rows, 1);
	CHECK_INT(t->left_out, 2);
	is_printed(table_text_all, &all,
		   "Task         Count  Max ms  Average   Share\n"
		   "a\\x0ab, \"c\"     12   0.000   2.50 s  50.00%\n"
		   "total           19\n" /* of all rows */
		   "... 2 more rows\n");
	tables_free(&all);
}

static void test_headings(void)
{
	static const struct table_column grouped[] = {
		{ "comm", "Task", TABLE_TEXT },	   { "pid", "pid", TABLE_NUMBER },
		{ "call", "Call", TABLE_TEXT },	   { "n", "Count", TABLE_COUNT },
		{ "stack", "Stack", TABLE_STACK }, { "hist", "Sizes", TABLE_HIST },
	};
	static const char *const frames[] = { "read", "main" };
	static const struct table_bucket buckets[] = { { 0, 1, 1 }, { 1, 1024, 4 } };
	struct tables all = { 0 };
	struct table *t = table_new(&all, "calls", grouped, ARRAY_SIZE(grouped));

	for (int i = 0; i < 4; i++) {
		table_row(t);
		table_text(t, i < 2 ? "bash" : "cat");
		table_i64(t, i < 2 ? 12 : 7);
		table_text(t, i % 2 ? "write" : "read");
		table_u64(t, (uint64_t)i);
		if (i == 3) {
			table_stack(t, frames, 2);
			table_hist(t, TABLE_BYTES, buckets, 2);
			table_u64(t, 99); /* one too many: nothing happens */
		}
	}
	t->n_heading = 2;
	CHECK_INT(table_sort(t, "n", NULL), 0);
	CHECK_STR(table_at(t, 0, 0)->text, "bash"); /* rows stay below their heading */
	CHECK_INT(table_at(t, 0, 3)->u, 1);
	table_cut(t, 1);
	CHECK_INT(t->n_rows, 2);
	is_printed(
		table_text_all, &all,
		"bash, pid 12\n"
		"Call   Count\n"
		"write      1\n"
		"\n"
		"cat, pid 7\n"
		"Call   Count\n"
		"write      3\n"
		"    read\n"
		"    main\n"
		"    [0 B, 1 B)                      1 |@@@@@@@@@@                              |\n"
		"    [1 B, 1.00 KiB)                 4 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n"
		"... 2 more rows\n");
	is_printed(csv, &all,
		   "comm,pid,call,n,stack,hist\n"
		   "bash,12,write,1,,\n"
		   "cat,7,write,3,main;read,0:1 1:4\n");
	tables_free(&all);
}

static void rows_alone(FILE *f, const struct tables *t)
{
	table_json_rows(f, t->data[0]);
}

static void test_bools(void)
{
	static const struct table_column columns_of_bools[] = {
		{ "id", "Id", TABLE_TEXT },
		{ "on", "On", TABLE_BOOL },
	};
	struct tables all = { 0 };
	struct table *t = table_new(&all, "switches", columns_of_bools, 2);

	table_row(t);
	table_text(t, "a");
	table_u64(t, 1);
	table_row(t);
	table_text(t, NULL);
	table_u64(t, 0);
	is_printed(table_text_all, &all, "Id   On\na   yes\n-    no\n");
	is_printed(csv, &all, "id,on\na,true\n,false\n");
	is_printed(rows_alone, &all,
		   "[\n  {\n    \"id\": \"a\",\n    \"on\": true\n  },\n"
		   "  {\n    \"id\": null,\n    \"on\": false\n  }\n]\n");
	tables_free(&all);
}

static void test_stacks(void)
{
	static const struct table_column columns_of_stacks[] = {
		{ "event", "Event", TABLE_TEXT, .width = 8 },
		{ "n", "N", TABLE_COUNT, .width = 4 },
		{ "stacks", "Stacks", TABLE_STACKS },
	};
	struct tables all = { 0 };
	struct table *t = table_new(&all, "events", columns_of_stacks, 3);
	const char *frames[] = { table_frame(t, "read"), table_frame(t, "main") };
	struct table_stack *s;

	CHECK(table_frame(t, "main") == frames[1]);
	table_row(t);
	table_text(t, "open");
	table_u64(t, 8);
	s = table_stacks(t, 8, 2, true);
	s[0] = (struct table_stack){ .n = 2, .frame = frames, .count = 6, .total = 99 };
	s[1] = (struct table_stack){ .n = 1, .frame = frames + 1, .count = 1, .total = 5 };
	is_printed(table_text_all, &all,
		   "Event        N\n" /* columns that are wider than what is in them */
		   "open         8\n"
		   "        75.00% (6) time:99\n"
		   "            read\n"
		   "            main\n"
		   "        12.50% (1) time:5\n"
		   "            main\n");
	is_printed(csv, &all, "event,n,stacks\nopen,8,\"main;read 6\nmain 1\"\n");
	is_printed(table_json_all, &all,
		   "{\"events\": {\"rows\": [{\"event\": \"open\", \"n\": 8, \"stacks\": ["
		   "{\"count\": 6, \"total_ns\": 99, \"frames\": [\"read\", \"main\"]}, "
		   "{\"count\": 1, \"total_ns\": 5, \"frames\": [\"main\"]}]}], "
		   "\"notes\": []}}\n");
	is_printed(table_html_all, &all,
		   "<table id=\"events\">\n<thead><tr><th scope=\"col\">Event</th>"
		   "<th scope=\"col\">N</th><th scope=\"col\">Stacks</th></tr></thead>\n"
		   "<tbody>\n<tr><td>open</td><td class=\"n\" data-v=\"8\">8</td><td>"
		   "<details><summary>6</summary><ol><li>read</li><li>main</li></ol></details>"
		   "<details><summary>1</summary><ol><li>main</li></ol></details></td></tr>\n"
		   "</tbody>\n</table>\n");
	tables_free(&all);
}

int main(void)
{
	test_stacks();
	test_bools();
	test_printers();
	test_sorting();
	test_headings();
	return tap_end();
}
