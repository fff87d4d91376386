/* SPDX-License-Identifier: MIT */
/* What the files about functions share. Each check gives the type of the call. */
#ifndef KYMO_LANG_CHECK_FUNC_H
#define KYMO_LANG_CHECK_FUNC_H

#include "lang/check/check.h"

bool check_number(struct checker *c, struct node *n, const char *what);
bool check_literal(struct checker *c, struct node *n, const char *what);
int64_t check_constant(struct checker *c, struct node *n, const char *what, int64_t min,
		       int64_t max);
bool check_whole_map(struct checker *c, struct node *n, const char *what);
const struct ltype *check_stack(struct checker *c, struct node *n, bool user);
const struct ltype *check_str(struct checker *c, struct node *n);
const struct ltype *check_buf(struct checker *c, struct node *n);
const struct ltype *check_ntop(struct checker *c, struct node *n);
const struct ltype *check_agg(struct checker *c, struct node *n);
void check_keys_of(struct checker *c, struct node *n);
const struct ltype *check_signal(struct checker *c, struct node *n);
const struct ltype *check_getopt(struct checker *c, struct node *n);
const struct ltype *check_pton(struct checker *c, struct node *n);
const struct ltype *check_address(struct checker *c, struct node *n);
const struct ltype *check_nsecs(struct checker *c, struct node *n);
const struct ltype *check_print(struct checker *c, struct node *n);
const struct ltype *check_table(struct checker *c, struct node *n);
const struct ltype *check_in_map(struct checker *c, struct node *n);
const struct ltype *check_histogram(struct checker *c, struct node *n);
const struct ltype *check_stacks(struct checker *c, struct node *n);
const struct ltype *check_file_number(struct checker *c, struct node *n);
const struct ltype *check_strings(struct checker *c, struct node *n);
const struct ltype *check_path(struct checker *c, struct node *n);
const struct ltype *check_skb(struct checker *c, struct node *n);

#endif
