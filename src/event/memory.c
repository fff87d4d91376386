/* SPDX-License-Identifier: MIT */
#include "event/memory.h"

#include <linux/perf_event.h>

#include "base/mem.h"

/* Names of the bits of a part of the word, lowest first. */
static const char *const levels[] = {
	NULL,
	NULL,
	NULL,
	"L1",
	"LFB/MAB",
	"L2",
	"L3",
	"Local RAM",
	"Remote RAM (1 hop)",
	"Remote RAM (2 hops)",
	"Remote Cache (1 hop)",
	"Remote Cache (2 hops)",
	"I/O",
	"Uncached",
};
static const char *const snoops[] = { "N/A", "None", "Hit", "Miss", "HitM" };
static const char *const snoops_more[] = { "Fwd", "Peer" };
static const char *const tlbs[] = { "N/A", NULL, NULL, "L1", "L2", "Walker", "Fault" };
static const char *const hops[] = { "N/A", "core, same node", "node, same socket",
				    "socket, same board", "board" };
/* Numbered levels from 9 on; below stands Ln. */
static const char *const numbered[16] = {
	[0x9] = "CXL", [0xa] = "I/O",  [0xb] = "Any cache", [0xc] = "LFB/MAB",
	[0xd] = "RAM", [0xe] = "PMEM", [0xf] = "N/A",
};

static unsigned put_or(struct strbuf *b, unsigned before, const char *name)
{
	if (before)
		strbuf_puts(b, " or ");
	strbuf_puts(b, name);
	return before + 1;
}

static unsigned memory_put_bits(struct strbuf *b, uint64_t bits, const char *const *names, size_t n,
				unsigned before)
{
	for (size_t i = 0; i < n; i++)
		if ((bits >> i & 1) && names[i])
			before = put_or(b, before, names[i]);
	return before;
}

void memory_operation(struct strbuf *b, uint64_t word)
{
	union perf_mem_data_src d = { .val = word };
	uint64_t op = d.mem_op;

	strbuf_puts(b, op & PERF_MEM_OP_NA	 ? "N/A"
		       : op & PERF_MEM_OP_LOAD	 ? "LOAD"
		       : op & PERF_MEM_OP_STORE	 ? "STORE"
		       : op & PERF_MEM_OP_PFETCH ? "PFETCH"
		       : op & PERF_MEM_OP_EXEC	 ? "EXEC"
						 : "No");
}

void memory_level(struct strbuf *b, uint64_t word)
{
	union perf_mem_data_src d = { .val = word };
	size_t start = b->n;
	unsigned any = 0;

	if (d.mem_remote)
		strbuf_puts(b, "Remote ");
	if (d.mem_hops) {
		strbuf_printf(b, "%s ", d.mem_hops < ARRAY_SIZE(hops) ? hops[d.mem_hops] : "?");
	} else {
		if (d.mem_lvl & PERF_MEM_LVL_NA)
			any = put_or(b, any, "N/A");
		any = memory_put_bits(b, d.mem_lvl, levels, ARRAY_SIZE(levels), any);
	}
	if (d.mem_lvl_num) {
		char text[8];

		snprintf(text, sizeof(text), "L%u", (unsigned)d.mem_lvl_num);
		put_or(b, any, numbered[d.mem_lvl_num] ? numbered[d.mem_lvl_num] : text);
	}
	if (b->n == start)
		strbuf_puts(b, "N/A");
	strbuf_puts(b, d.mem_lvl & PERF_MEM_LVL_HIT ? " hit" : "");
	strbuf_puts(b, d.mem_lvl & PERF_MEM_LVL_MISS ? " miss" : "");
}

void memory_snoop(struct strbuf *b, uint64_t word)
{
	union perf_mem_data_src d = { .val = word };
	unsigned any = memory_put_bits(b, d.mem_snoop, snoops, ARRAY_SIZE(snoops), 0);

	if (!memory_put_bits(b, d.mem_snoopx, snoops_more, ARRAY_SIZE(snoops_more), any))
		strbuf_puts(b, "N/A");
}

void memory_tlb(struct strbuf *b, uint64_t word)
{
	union perf_mem_data_src d = { .val = word };

	if (!memory_put_bits(b, d.mem_dtlb, tlbs, ARRAY_SIZE(tlbs), 0))
		strbuf_puts(b, "N/A");
	strbuf_puts(b, d.mem_dtlb & PERF_MEM_TLB_HIT ? " hit" : "");
	strbuf_puts(b, d.mem_dtlb & PERF_MEM_TLB_MISS ? " miss" : "");
}

void memory_lock(struct strbuf *b, uint64_t word)
{
	union perf_mem_data_src d = { .val = word };

	strbuf_puts(b, d.mem_lock & PERF_MEM_LOCK_NA	   ? "N/A"
		       : d.mem_lock & PERF_MEM_LOCK_LOCKED ? "Yes"
							   : "No");
}

void memory_blocked(struct strbuf *b, uint64_t word)
{
	union perf_mem_data_src d = { .val = word };

	if (!d.mem_blk || (d.mem_blk & PERF_MEM_BLK_NA)) {
		strbuf_puts(b, " N/A");
		return;
	}
	strbuf_puts(b, d.mem_blk & PERF_MEM_BLK_DATA ? " Data" : "");
	strbuf_puts(b, d.mem_blk & PERF_MEM_BLK_ADDR ? " Addr" : "");
}

char *memory_page_size(uint64_t size, char *buf, size_t n)
{
	static const char units[] = "BKMGTPE";
	unsigned unit = 0;

	while (size >= 1024 && unit + 1 < sizeof(units) - 1) {
		size /= 1024;
		unit++;
	}
	if (!size)
		snprintf(buf, n, "N/A");
	else
		snprintf(buf, n, "%llu%c", (unsigned long long)size, units[unit]);
	return buf;
}
