/* SPDX-License-Identifier: MIT */
/* Names of the registers that samples have, by their numbers in the mask. */
#pragma once

#include <stddef.h>

/* In perf's words; buf is used where the name has a number in it. arch may be NULL. */
const char *regs_name(const char *arch, unsigned r, char *buf, size_t size);
