/* SPDX-License-Identifier: MIT */
/* Where a memory access was served from, in perf's words. */
#include "event/memory.h"
#include "view/script/impl.h"

void mem_text(struct strbuf *b, uint64_t word)
{
	strbuf_puts(b, "|OP ");
	memory_operation(b, word);
	strbuf_puts(b, "|LVL ");
	memory_level(b, word);
	strbuf_puts(b, "|SNP ");
	memory_snoop(b, word);
	strbuf_puts(b, "|TLB ");
	memory_tlb(b, word);
	strbuf_puts(b, "|LCK ");
	memory_lock(b, word);
	strbuf_puts(b, "|BLK ");
	memory_blocked(b, word);
}
