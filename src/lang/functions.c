/* SPDX-License-Identifier: MIT */
#include "lang/functions.h"

#include <string.h>

#include "lang/check/func.h"
#include "lang/gen/func.h"

/* By name. */
const struct lang_function lang_functions[] = {
	{ "assert", F_ASSERT, 1, 2, .args = "nt", .statement = gen_assert },
	{ "avg", F_AVG, 1, 1, .check = check_agg },
	{ "bswap", F_BSWAP, 1, 1, .check = check_bswap, .word = gen_bswap },
	{ "buf", F_BUF, 1, 2, .check = check_buf, .into = gen_buf },
	{ "cap_name", F_CAP_NAME, 1, 1, .check = check_named_number },
	{ "cat", F_CAT, 1, LANG_ARGS_ANY, .check = check_printf, .statement = gen_printf },
	{ "cgroup_path", F_CGROUP_PATH, 1, 2, .args = "nt", .gives = LT_CGROUP_PATH, .size = 8 },
	{ "cgroupid", F_CGROUPID, 1, 1, .check = check_address },
	{ "clear", F_CLEAR, 1, 1, .check = check_clear, .statement = gen_clear },
	{ "count", F_COUNT, 0, 0, .check = check_agg },
	{ "debugf", F_DEBUGF, 1, LANG_ARGS_ANY, .is_unsafe = true, .check = check_printf,
	  .statement = gen_printf },
	{ "delete", F_DELETE, 1, LANG_ARGS_ANY, .check = check_keys_of, .word = gen_delete },
	{ "disk_name", F_DISK_NAME, 1, 1, .check = check_named_number },
	{ "errorf", F_ERRORF, 1, LANG_ARGS_ANY, .check = check_printf, .statement = gen_printf },
	{ "exit", F_EXIT, 0, 1, .args = "n", .statement = gen_exit },
	{ "file_number", F_FILE_NUMBER, 2, 3, .check = check_file_number, .word = gen_found },
	{ "find", F_FIND, 2, 2, .check = check_strings, .word = gen_find },
	{ "getopt", F_GETOPT, 1, 3, .check = check_getopt },
	{ "has_key", F_HAS_KEY, 2, LANG_ARGS_ANY, .check = check_keys_of, .word = gen_has_key },
	{ "hist", F_HIST, 1, 2, .check = check_agg },
	{ "histogram", F_HISTOGRAM, 2, 3, .check = check_histogram, .statement = gen_histogram },
	{ "in_map", F_IN_MAP, 2, 2, .check = check_in_map, .word = gen_in_map },
	{ "join", F_JOIN, 1, 2, .args = "nt", .statement = gen_join },
	{ "kaddr", F_KADDR, 1, 1, .check = check_address },
	{ "kptr", F_KPTR, 1, 1, .check = check_pointer },
	{ "kstack", F_KSTACK, 0, 2, .check = check_stack },
	{ "ksym", F_KSYM, 1, 1, .args = "n", .gives = LT_KSYM, .size = 8 },
	{ "len", F_LEN, 1, 1, .check = check_len, .word = gen_len },
	{ "lhist", F_LHIST, 4, 4, .check = check_agg },
	{ "macaddr", F_MACADDR, 1, 1, .check = check_macaddr, .into = gen_macaddr },
	{ "max", F_MAX, 1, 1, .check = check_agg },
	{ "min", F_MIN, 1, 1, .check = check_agg },
	{ "nsecs", F_NSECS, 0, 1, .check = check_nsecs, .word = gen_nsecs },
	{ "ntop", F_NTOP, 1, 2, .check = check_ntop, .into = gen_ntop },
	{ "offsetof", F_NONE, 2, 2 },
	{ "override", F_OVERRIDE, 1, 1, .is_unsafe = true, .args = "n", .check = check_override,
	  .statement = gen_override },
	{ "path", F_PATH, 1, 2, .check = check_path, .into = gen_path },
	{ "percpu_kaddr", F_PERCPU_KADDR, 1, 2, .check = check_address, .word = gen_percpu_kaddr },
	{ "print", F_PRINT, 1, 3, .check = check_print, .statement = gen_print },
	{ "printf", F_PRINTF, 1, LANG_ARGS_ANY, .check = check_printf, .statement = gen_printf },
	{ "pton", F_PTON, 1, 1, .check = check_pton, .word = gen_pton },
	{ "reg", F_REG, 1, 1, .args = "t", .gives = LT_INT, .word = gen_reg },
	{ "signal", F_SIGNAL, 1, 1, .is_unsafe = true, .check = check_signal,
	  .statement = gen_signal },
	{ "signal_name", F_SIGNAL_NAME, 1, 1, .check = check_named_number },
	{ "sizeof", F_NONE, 1, 1 },
	{ "skboutput", F_SKBOUTPUT, 4, 4, .check = check_skb, .word = gen_skboutput },
	{ "stacks", F_STACKS, 1, 4, .check = check_stacks, .statement = gen_stacks },
	{ "stats", F_STATS, 1, 1, .check = check_agg },
	{ "str", F_STR, 1, 2, .check = check_str, .into = gen_str },
	{ "strcontains", F_STRCONTAINS, 2, 2, .check = check_strings, .word = gen_find },
	{ "strerror", F_STRERROR, 1, 1, .args = "n", .gives = LT_STRERROR, .size = 8 },
	{ "strftime", F_STRFTIME, 2, 2, .args = "tn", .check = check_strftime,
	  .word = gen_strftime },
	{ "strmatch", F_STRMATCH, 2, 2, .check = check_strings, .word = gen_match },
	{ "strncmp", F_STRNCMP, 3, 3, .check = check_strings, .word = gen_find },
	{ "strstr", F_STRSTR, 2, 2, .check = check_strings, .word = gen_find },
	{ "sum", F_SUM, 1, 1, .check = check_agg },
	{ "syscall_name", F_SYSCALL_NAME, 1, 1, .check = check_named_number },
	{ "system", F_SYSTEM, 1, LANG_ARGS_ANY, .is_unsafe = true, .check = check_printf,
	  .statement = gen_printf },
	{ "table", F_TABLE, 2, 4, .check = check_table, .statement = gen_table },
	{ "time", F_TIME, 0, 1, .args = "t", .statement = gen_time },
	{ "tseries", F_TSERIES, 3, 4, .check = check_agg },
	{ "uaddr", F_UADDR, 1, 1, .check = check_address, .word = gen_uaddr },
	{ "uptr", F_UPTR, 1, 1, .check = check_pointer },
	{ "ustack", F_USTACK, 0, 2, .check = check_stack },
	{ "usym", F_USYM, 1, 1, .args = "n", .gives = LT_USYM, .size = 16, .into = gen_usym },
	{ "zero", F_ZERO, 1, 1, .check = check_clear, .statement = gen_clear },
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
