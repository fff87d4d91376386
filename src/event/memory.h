/* SPDX-License-Identifier: MIT */
/* Where a memory access was served from (event_extra.data_src), and sizes of pages */
#pragma once

#include "base/str.h"

/* Each appends to b what its part of the word says, "N/A" when that is nothing. */
void memory_operation(struct strbuf *b, uint64_t word);
void memory_level(struct strbuf *b, uint64_t word);
void memory_snoop(struct strbuf *b, uint64_t word);
void memory_tlb(struct strbuf *b, uint64_t word);
void memory_lock(struct strbuf *b, uint64_t word);
void memory_blocked(struct strbuf *b, uint64_t word); /* begins with a blank */

/* "4K", "2M"; "N/A" for 0. Returns buf. */
char *memory_page_size(uint64_t size, char *buf, size_t n);
