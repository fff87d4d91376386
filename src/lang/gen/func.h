/* SPDX-License-Identifier: MIT */
/* The code of functions, as lang/functions.c names it. */
#ifndef KYMO_LANG_GEN_FUNC_H
#define KYMO_LANG_GEN_FUNC_H

#include "lang/functions.h"
#include "lang/gen/gen.h"

lang_statement_fn gen_assert, gen_clear, gen_exit, gen_histogram, gen_join, gen_override, gen_print,
	gen_printf, gen_signal, gen_stacks, gen_table, gen_time;
lang_word_fn gen_bswap, gen_delete, gen_find, gen_found, gen_has_key, gen_in_map, gen_len,
	gen_match, gen_nsecs, gen_percpu_kaddr, gen_pton, gen_reg, gen_skboutput, gen_strftime,
	gen_uaddr;
lang_into_fn gen_buf, gen_macaddr, gen_ntop, gen_path, gen_str, gen_usym;

#endif
