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
lang_check_fn check_stack;
lang_check_fn check_str;
lang_check_fn check_buf;
lang_check_fn check_ntop;
lang_check_fn check_agg;
lang_check_fn check_keys_of;
lang_check_fn check_signal;
lang_check_fn check_getopt;
lang_check_fn check_pton;
lang_check_fn check_address;
lang_check_fn check_nsecs;
lang_check_fn check_printf;
lang_check_fn check_print;
lang_check_fn check_table;
lang_check_fn check_in_map;
lang_check_fn check_histogram;
lang_check_fn check_stacks;
lang_check_fn check_file_number;
lang_check_fn check_strings;
lang_check_fn check_path;
lang_check_fn check_skb;
lang_check_fn check_strftime;
lang_check_fn check_clear;
lang_check_fn check_named_number;
lang_check_fn check_pointer;
lang_check_fn check_macaddr;
lang_check_fn check_bswap;
lang_check_fn check_override;
lang_check_fn check_len;

#endif
