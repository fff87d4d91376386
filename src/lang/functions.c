/* SPDX-License-Identifier: MIT */
#include "lang/functions.h"

#include <string.h>

#define ANY LANG_ARGS_ANY

/* By name. */
const struct lang_function lang_functions[] = {
	{ "assert", 1, 2, .args = "nt", .statement = gen_assert },
	{ "avg", 1, 1, .gives = LT_AVG, .check = check_agg },
	{ "bswap", 1, 1, .check = check_bswap, .word = gen_bswap },
	{ "buf", 1, 2, .check = check_buf, .into = gen_buf },
	{ "cap_name", 1, 1, .how = LANG_NAME_CAP, .check = check_named_number },
	{ "cat", 1, ANY, .how = LA_CAT, .check = check_printf, .statement = gen_printf },
	{ "cgroup_path", 1, 2, .args = "nt", .gives = LT_CGROUP_PATH, .size = 8 },
	{ "cgroupid", 1, 1, F_CGROUPID, .check = check_address },
	{ "clear", 1, 1, F_CLEAR, .how = LA_CLEAR, .check = check_clear, .statement = gen_clear },
	{ "count", 0, 0, .gives = LT_COUNT, .check = check_agg },
	{ "debugf", 1, ANY, F_DEBUGF, .how = LA_DEBUGF, .is_unsafe = true, .check = check_printf,
	  .statement = gen_printf },
	{ "delete", 1, ANY, F_DELETE, .check = check_keys_of, .word = gen_delete },
	{ "disk_name", 1, 1, .how = LANG_NAME_DISK, .check = check_named_number },
	{ "errorf", 1, ANY, .how = LA_ERRORF, .check = check_printf, .statement = gen_printf },
	{ "exit", 0, 1, .args = "n", .statement = gen_exit },
	{ "file_number", 2, 3, .check = check_file_number, .word = gen_found },
	{ "find", 2, 2, .check = check_strings, .word = gen_find },
	{ "getopt", 1, 3, .check = check_getopt },
	{ "has_key", 2, ANY, .check = check_keys_of, .word = gen_has_key },
	{ "hist", 1, 2, .gives = LT_HIST, .check = check_agg },
	{ "histogram", 2, 3, F_HISTOGRAM, .check = check_histogram, .statement = gen_histogram },
	{ "in_map", 2, 2, .check = check_in_map, .word = gen_in_map },
	{ "join", 1, 2, .args = "nt", .statement = gen_join },
	{ "kaddr", 1, 1, .check = check_address },
	{ "kptr", 1, 1, .how = LS_KERNEL, .check = check_pointer },
	{ "kstack", 0, 2, .gives = LT_KSTACK, .check = check_stack },
	{ "ksym", 1, 1, .args = "n", .gives = LT_KSYM, .size = 8 },
	{ "len", 1, 1, F_LEN, .check = check_len, .word = gen_len },
	{ "lhist", 4, 4, .gives = LT_LHIST, .check = check_agg },
	{ "macaddr", 1, 1, .check = check_macaddr, .into = gen_macaddr },
	{ "max", 1, 1, .gives = LT_MAX, .check = check_agg },
	{ "min", 1, 1, .gives = LT_MIN, .check = check_agg },
	{ "nsecs", 0, 1, .check = check_nsecs, .word = gen_nsecs },
	{ "ntop", 1, 2, .check = check_ntop, .into = gen_ntop },
	{ .name = "offsetof", .min = 2, .max = 2 },
	{ "override", 1, 1, .is_unsafe = true, .args = "n", .check = check_override,
	  .statement = gen_override },
	{ "path", 1, 2, .check = check_path, .into = gen_path },
	{ "percpu_kaddr", 1, 2, F_PERCPU_KADDR, .check = check_address, .word = gen_percpu_kaddr },
	{ "print", 1, 3, F_PRINT, .check = check_print, .statement = gen_print },
	{ "printf", 1, ANY, F_PRINTF, .how = LA_PRINTF, .check = check_printf,
	  .statement = gen_printf },
	{ "pton", 1, 1, .check = check_pton, .word = gen_pton },
	{ "reg", 1, 1, .args = "t", .gives = LT_INT, .word = gen_reg },
	{ "signal", 1, 1, .is_unsafe = true, .check = check_signal, .statement = gen_signal },
	{ "signal_name", 1, 1, .how = LANG_NAME_SIGNAL, .check = check_named_number },
	{ .name = "sizeof", .min = 1, .max = 1 },
	{ "skboutput", 4, 4, .check = check_skb, .word = gen_skboutput },
	{ "stacks", 1, 4, F_STACKS, .check = check_stacks, .statement = gen_stacks },
	{ "stats", 1, 1, .gives = LT_STATS, .check = check_agg },
	{ "str", 1, 2, .check = check_str, .into = gen_str },
	{ "strcontains", 2, 2, F_STRCONTAINS, .check = check_strings, .word = gen_find },
	{ "strerror", 1, 1, .args = "n", .gives = LT_STRERROR, .size = 8 },
	{ "strftime", 2, 2, .args = "tn", .check = check_strftime, .word = gen_strftime },
	{ "strmatch", 2, 2, F_STRMATCH, .check = check_strings, .word = gen_match },
	{ "strncmp", 3, 3, F_STRNCMP, .check = check_strings, .word = gen_find },
	{ "strstr", 2, 2, .check = check_strings, .word = gen_find },
	{ "sum", 1, 1, .gives = LT_SUM, .check = check_agg },
	{ "syscall_name", 1, 1, .how = LANG_NAME_SYSCALL, .check = check_named_number },
	{ "system", 1, ANY, .how = LA_SYSTEM, .is_unsafe = true, .check = check_printf,
	  .statement = gen_printf },
	{ "table", 2, 4, F_TABLE, .check = check_table, .statement = gen_table },
	{ "time", 0, 1, .args = "t", .statement = gen_time },
	{ "tseries", 3, 4, .gives = LT_TSERIES, .check = check_agg },
	{ "uaddr", 1, 1, F_UADDR, .check = check_address, .word = gen_uaddr },
	{ "uptr", 1, 1, .how = LS_USER, .check = check_pointer },
	{ "ustack", 0, 2, .gives = LT_USTACK, .check = check_stack },
	{ "usym", 1, 1, .args = "n", .gives = LT_USYM, .size = 16, .into = gen_usym },
	{ "zero", 1, 1, .how = LA_ZERO, .check = check_clear, .statement = gen_clear },
};
const size_t lang_functions_n = ARRAY_SIZE(lang_functions);

static int functions_compare(const void *name, const void *row)
{
	return strcmp(name, ((const struct lang_function *)row)->name);
}

const struct lang_function *lang_function_find(const char *name)
{
	return bsearch(name, lang_functions, lang_functions_n, sizeof(*lang_functions),
		       functions_compare);
}
