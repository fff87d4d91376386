/* SPDX-License-Identifier: MIT */
/* Fields that few events have: registers, branches, memory, bytes of BPF programs. */
#include "view/script/impl.h"

#include <ctype.h>
#include <linux/perf_event.h>
#include <time.h>

#include "base/file.h"
#include "base/mem.h"
#include "event/memory.h"
#include "event/regs.h"

#define SITE_WHAT (SCRIPT_SYM | SCRIPT_DSO | SCRIPT_SYMOFF)

void extra_misc(struct script *s, const struct event *ev)
{
	static const char modes[] = { 0, 'K', 'U', 0, 'G' };
	unsigned mode = ev->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	char text[8];
	size_t n = 0;

	/* perf tests single bits, so hypervisor (3) is also kernel (1) and user (2). */
	for (unsigned m = 1; m < sizeof(modes); m++)
		if (modes[m] && (mode & m) == m) {
			text[n++] = modes[m];
			if (m == 2 && (mode & 3) == 3)
				text[n++] = 'H';
		}
	if (mode == PERF_RECORD_MISC_GUEST_USER)
		text[n++] = 'g';
	if (ev->kind == EVENT_MMAP && (ev->misc & PERF_RECORD_MISC_MMAP_DATA))
		text[n++] = 'M';
	if (ev->kind == EVENT_COMM && (ev->misc & PERF_RECORD_MISC_COMM_EXEC))
		text[n++] = 'E';
	if (ev->kind == EVENT_SWITCH && (ev->misc & PERF_RECORD_MISC_SWITCH_OUT)) {
		text[n++] = 'S';
		if (ev->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)
			text[n++] = 'p';
	}
	out_add(s->out, text, n);
	out_pad(s->out, n < 5 ? 6 - n : 1);
}

void extra_tod(struct script *s, uint64_t time)
{
	const struct trace_info *i = &s->trace->info;
	uint64_t ns = i->wall_time + (time - i->wall_clock_time);
	time_t sec = (time_t)(ns / 1000000000);
	char date[64];
	struct tm tm;

	if (!localtime_r(&sec, &tm)) {
		out_puts(s->out, "failed ");
		return;
	}
	strftime(date, sizeof(date), "%F %H:%M:%S", &tm);
	out_puts(s->out, date);
	out_putc(s->out, '.');
	if (s->o.ns)
		out_zeros(s->out, ns % 1000000000, 9);
	else
		out_zeros(s->out, ns % 1000000000 / 1000, 6);
	out_putc(s->out, ' ');
}

/* Data addresses may be the kernel's although the code was not. */
static const struct site *find_either(struct script *s, const struct event *ev, uint64_t addr,
				      uint32_t what)
{
	const struct site *x = site_find(s, site_space(s, ev, ev->mode), addr, what);
	enum event_mode other = ev->mode == EVENT_MODE_KERNEL ? EVENT_MODE_USER : EVENT_MODE_KERNEL;

	return x->map ? x : site_find(s, site_space(s, ev, other), addr, what);
}

void extra_addr(struct script *s, const struct event *ev, uint64_t show)
{
	const struct site *x;

	out_hex(s->out, ev->addr, 16);
	if (s->types[ev->type].plain_addr || !(show & (SCRIPT_SYM | SCRIPT_DSO)))
		return;
	x = find_either(s, ev, ev->addr, (uint32_t)(show & SITE_WHAT));
	out_add(s->out, x->t.text, x->t.text_n);
}

/* Where a memory access was served from, in perf's words. */
static void extra_memory(struct strbuf *b, uint64_t word)
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

void extra_data_src(struct script *s, uint64_t v)
{
	struct strbuf *b = &s->text;

	strbuf_reset(b);
	strbuf_printf(b, "%16llx ", (unsigned long long)v);
	extra_memory(b, v);
	if (b->n > 99)
		b->n = 99;
	if (b->n > s->data_src_width)
		s->data_src_width = b->n;
	out_add(s->out, b->data, b->n);
	out_pad(s->out, s->data_src_width - b->n);
}

void extra_regs(struct script *s, uint64_t abi, uint64_t mask, const uint64_t *regs)
{
	char buf[16];

	if (!regs)
		return;
	out_printf(s->out, " ABI:%llu ", (unsigned long long)abi);
	for (unsigned r = 0; r < 64; r++) {
		if (!(mask >> r & 1))
			continue;
		out_right(s->out, regs_name(s->trace->info.arch, r, buf, sizeof(buf)), 5);
		out_add(s->out, ":0x", 3);
		out_hex(s->out, *regs++, 0);
		out_putc(s->out, ' ');
	}
}

static void branch_flags(struct script *s, uint64_t f)
{
	static const char *const types[] = { "",	 "COND", "UNCOND",  "IND",    "CALL",
					     "IND_CALL", "RET",	 "SYSCALL", "SYSRET", "COND_CALL",
					     "COND_RET", "ERET", "IRQ",	    "SERROR", "NO_TX" };
	static const char *const spec[] = { "-", "SPEC_WRONG_PATH", "NON_SPEC_CORRECT_PATH",
					    "SPEC_CORRECT_PATH" };
	unsigned type = f >> 20 & 15;

	out_printf(s->out, "/%c/%c/%c/%d/%s/%s ",
		   !(f & 3) ? '-'
		   : f & 2  ? 'P'
			    : 'M',
		   f & 4 ? 'X' : '-', f & 8 ? 'A' : '-', (int)(f >> 4 & 0xffff),
		   type < ARRAY_SIZE(types) ? types[type] : "", spec[f >> 24 & 3]);
}

static void branch_end(struct script *s, const struct event *ev, uint64_t addr, uint64_t show)
{
	uint32_t what = show & SCRIPT_BRSTACKSYM && !(show & SCRIPT_BRSTACK)
				? (uint32_t)(SCRIPT_SYM | SCRIPT_SYMOFF)
				: 0;
	const struct site *x = find_either(s, ev, addr, what);

	if (what) {
		/* without the blank in front */
		out_add(s->out, x->t.text + 1, x->t.text_n - 1);
	} else {
		out_add(s->out, "0x", 2);
		out_hex(s->out, show & SCRIPT_BRSTACK ? addr : x->t.addr, 0);
	}
	if (show & SCRIPT_DSO) {
		out_putc(s->out, '(');
		out_puts(s->out, x->map ? site_dso_name(s, x->t.dso) : "[unknown]");
		out_putc(s->out, ')');
	}
}

void extra_branches(struct script *s, const struct event *ev, uint64_t show)
{
	bool names = (show & SCRIPT_BRSTACKSYM) && !(show & SCRIPT_BRSTACK);

	for (uint64_t i = 0; ev->extra && i < ev->extra->branch_n; i++) {
		const struct event_branch *b = &ev->extra->branch[i];

		if (!names)
			out_putc(s->out, ' ');
		branch_end(s, ev, b->from, show);
		out_putc(s->out, '/');
		branch_end(s, ev, b->to, show);
		branch_flags(s, b->flags);
	}
}

/* Eight bytes a line, as numbers and as characters. */
void extra_bpf_output(struct script *s, const struct event *ev)
{
	const uint8_t *p = ev->raw;
	bool printable = true, ended = false;

	out_putc(s->out, '\n');
	for (uint32_t at = 0; at < ev->raw_size; at += 8) {
		out_printf(s->out, "%17s %04x:", at ? "" : "BPF output:", at);
		for (uint32_t i = at; i < at + 8; i++)
			if (i < ev->raw_size)
				out_printf(s->out, " %02x", p[i]);
			else
				out_pad(s->out, 3);
		out_pad(s->out, 2);
		for (uint32_t i = at; i < at + 8; i++) {
			uint8_t c = i < ev->raw_size ? p[i] : ' ';

			out_putc(s->out, isprint(c) ? (char)c : '.');
			if (i >= ev->raw_size)
				continue;
			if ((ended && c) || (!isprint(c) && c))
				printable = false;
			if (!c && printable)
				ended = true;
		}
		out_putc(s->out, '\n');
	}
	if (printable && ended)
		out_printf(s->out, "%17s \"%.*s\"\n",
			   "BPF string:", (int)strnlen((const char *)p, ev->raw_size),
			   (const char *)p);
}

void extra_page_size(struct script *s, uint64_t size)
{
	char buf[32];

	out_putc(s->out, ' ');
	out_puts(s->out, memory_page_size(size, buf, sizeof(buf)));
}

/* The line of source the sample was in, once as long as it stays there. */
void extra_srccode(struct script *s, const struct event *ev)
{
	const struct site *x = site_find(s, site_space(s, ev, ev->mode), ev->ip,
					 (uint32_t)(SCRIPT_SYM | SCRIPT_SRCLINE));
	const struct sym_frame *f = x->t.sym && x->t.sym->nframes ? &x->t.sym->frames[0] : NULL;
	AUTO_FREE char *text = NULL;
	size_t n, len;
	char *p;

	if (!f || f->file == SYMBOLS_NONE || (f->file == s->src_file && f->line == s->src_line) ||
	    file_read_input(symbols_text(s->symbols, f->file), 64u << 20, &text, &n) < 0)
		return;
	p = text;
	for (uint32_t line = 1; line < f->line && p; line++)
		p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL;
	if (!p)
		return;
	len = strcspn(p, "\n");
	out_printf(s->out, "|%-8u %.*s\n", f->line, (int)len, p);
	s->src_file = f->file;
	s->src_line = f->line;
}
