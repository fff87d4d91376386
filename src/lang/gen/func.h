/* SPDX-License-Identifier: MIT */
/* The code of functions, as lang/functions.c names it. */
#ifndef KYMO_LANG_GEN_FUNC_H
#define KYMO_LANG_GEN_FUNC_H

#include "lang/functions.h"
#include "lang/gen/gen.h"

lang_statement_fn gen_assert;
lang_statement_fn gen_clear;
lang_statement_fn gen_exit;
lang_statement_fn gen_histogram;
lang_statement_fn gen_join;
lang_statement_fn gen_override;
lang_statement_fn gen_print;
lang_statement_fn gen_printf;
lang_statement_fn gen_signal;
lang_statement_fn gen_stacks;
lang_statement_fn gen_table;
lang_statement_fn gen_time;

lang_word_fn gen_bswap;
lang_word_fn gen_delete;
lang_word_fn
	gen_find; /* strncmp(), strstr() and others: the position of a string in another, or -1 */
lang_word_fn gen_found; /* what the checker has found */
lang_word_fn gen_has_key;
lang_word_fn gen_in_map;
lang_word_fn gen_len;
lang_word_fn gen_match;
lang_word_fn gen_nsecs;
lang_word_fn gen_percpu_kaddr;
lang_word_fn gen_pton;
lang_word_fn gen_reg;
lang_word_fn gen_skboutput;
lang_word_fn gen_strftime;
lang_word_fn gen_uaddr;

lang_into_fn gen_buf;
lang_into_fn gen_macaddr;
lang_into_fn gen_ntop;
lang_into_fn gen_path;
lang_into_fn gen_str;
lang_into_fn gen_usym;

#endif
