/* SPDX-License-Identifier: MIT */
/*
 * The order in which a red-black tree holds items after they were inserted one by one.
 *
 * For a comparison that is an order this is a stable sort. For one that is not
 * (A before B before C before A) the result is still a definite one, and the
 * one of every other program that uses such a tree.
 */
#ifndef KYMO_CALC_ORDER_H
#define KYMO_CALC_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* Below 0 when a stands before b. */
typedef int order_fn(void *ctx, uint32_t a, uint32_t b);
void order_insert(uint32_t *items, size_t n, order_fn *compare, void *ctx);

#endif
