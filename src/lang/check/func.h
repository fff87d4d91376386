/* SPDX-License-Identifier: MIT */
/* What the files about functions share. */
#ifndef KYMO_LANG_CHECK_FUNC_H
#define KYMO_LANG_CHECK_FUNC_H

#include "lang/check/check.h"
#include "lang/functions.h"

bool check_number(struct checker *c, struct node *n, const char *what);
bool check_literal(struct checker *c, struct node *n, const char *what);
int64_t check_constant(struct checker *c, struct node *n, const char *what, int64_t min,
		       int64_t max);
bool check_whole_map(struct checker *c, struct node *n, const char *what);

/* The checks of functions, as lang/functions.c names them. */
lang_check_fn check_stack, check_str, check_buf, check_ntop, check_agg, check_keys_of, check_signal,
	check_getopt, check_pton, check_address, check_nsecs, check_printf, check_print,
	check_table, check_in_map, check_histogram, check_stacks, check_file_number, check_strings,
	check_path, check_skb, check_strftime, check_clear, check_named_number, check_pointer,
	check_macaddr, check_bswap, check_override, check_len;

#endif
