/* SPDX-License-Identifier: MIT */
/*
 * The table builder against libdw: for every row of a table, and every change
 * libdw sees inside it, both must say the same of the CFA, the frame pointer
 * and the return address.
 *
 *	unit-ehframe_libdw			a random part of /usr/lib and /usr/bin
 *	unit-ehframe_libdw --seed N		the same part again
 *	unit-ehframe_libdw PATH...		these files and folders, every row
 */
#include "tap.h"

#include "config.h"

#if HAVE_LIBDW && HAVE_LIBELF
#	include <dwarf.h>
#	include <elf.h>
#	include <elfutils/libdw.h>
#	include <fcntl.h>
#	include <ftw.h>
#	include <gelf.h>
#	include <stdlib.h>
#	include <sys/stat.h>
#	include <time.h>
#	include <unistd.h>

#	include "base/vec.h"
#	include "sym/unwind/ehframe.h"

struct totals {
	size_t files, rows, compared, different, full, synthetic, refused;
	bool go; /* the file has Go's own tables, of which libdw knows nothing */
};

static VEC(char *) paths;
static uint64_t seed;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static int collect(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	unsigned char head[20] = { 0 };
	int fd;

	(void)ftw;
	if (flag != FTW_F || !S_ISREG(st->st_mode) || st->st_size < 4096)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (read(fd, head, sizeof(head)) == sizeof(head) && !memcmp(head, ELFMAG, SELFMAG) &&
	    head[EI_CLASS] == ELFCLASS64 && (head[16] == ET_DYN || head[16] == ET_EXEC) &&
	    (head[18] == EM_X86_64 || head[18] == EM_AARCH64))
		vec_push(&paths, strdup(path));
	close(fd);
	return 0;
}

struct machine {
	int fp, sp, ra;
};

/* A plain register + offset, however libdw writes it. */
static bool is_breg(const Dwarf_Op *op, int *reg, int64_t *off)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		*reg = op->atom - DW_OP_breg0;
		*off = (int64_t)op->number;
		return true;
	}
	if (op->atom == DW_OP_bregx) {
		*reg = (int)op->number;
		*off = (int64_t)op->number2;
		return true;
	}
	return false;
}

static bool same_cfa(Dwarf_Frame *fr, const struct ehframe_rule *r, const struct machine *m)
{
	Dwarf_Op *ops;
	size_t n;
	int64_t off;
	int reg;

	if (dwarf_frame_cfa(fr, &ops, &n) != 0 || !n)
		return false;
	if (!is_breg(&ops[0], &reg, &off))
		return false;
	switch (r->cfa) {
	case EHFRAME_CFA_SP: return n == 1 && reg == m->sp && off == r->cfa_off;
	case EHFRAME_CFA_FP: return n == 1 && reg == m->fp && off == r->cfa_off;
	case EHFRAME_CFA_REG: return n == 1 && reg == r->extra && off == r->cfa_off;
	case EHFRAME_CFA_DEREF_SP:
	case EHFRAME_CFA_DEREF_FP:
		return n >= 2 && reg == (r->cfa == EHFRAME_CFA_DEREF_SP ? m->sp : m->fp) &&
		       off == r->cfa_off && ops[1].atom == DW_OP_deref &&
		       (n == 2 ? r->extra == 0
			       : n == 3 && ops[2].atom == DW_OP_plus_uconst &&
					 ops[2].number == 8u * (unsigned)r->extra);
	case EHFRAME_CFA_PLT:
		return n == 9 && reg == m->sp && off == r->cfa_off && ops[5].atom == DW_OP_ge &&
		       (ops[4].atom == DW_OP_lit0 + r->extra ||
			(r->extra == 9 && ops[4].atom == DW_OP_lit10));
	}
	return false;
}

enum place { AT_CFA, AT_SP, AT_FP, IN_REG, SAME, UNDEFINED, OTHER };

/* Where a register is, in the words of our rules. */
static enum place where(Dwarf_Frame *fr, int reg, const struct machine *m, int64_t *off)
{
	Dwarf_Op mem[3], *ops;
	size_t n;
	int base;

	*off = 0;
	if (dwarf_frame_register(fr, reg, mem, &ops, &n) != 0)
		return OTHER;
	if (n == 0)
		return ops ? UNDEFINED : SAME;
	if (ops[0].atom == DW_OP_call_frame_cfa) {
		if (n == 1)
			return AT_CFA;
		if (n == 2 && ops[1].atom == DW_OP_plus_uconst) {
			*off = (int64_t)ops[1].number;
			return AT_CFA;
		}
		/* An expression, which starts with the CFA on its stack. */
		if (n == 2 && is_breg(&ops[1], &base, off))
			return base == m->sp ? AT_SP : base == m->fp ? AT_FP : OTHER;
		return OTHER;
	}
	if (n == 1 && ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31) {
		*off = ops[0].atom - DW_OP_reg0;
		return IN_REG;
	}
	if (n == 1 && ops[0].atom == DW_OP_regx) {
		*off = (int64_t)ops[0].number;
		return IN_REG;
	}
	if (n == 1 && is_breg(&ops[0], &base, off))
		return base == m->sp ? AT_SP : base == m->fp ? AT_FP : OTHER;
	return OTHER;
}

static bool same_rule(Dwarf_Frame *fr, const struct ehframe_rule *r, const struct machine *m)
{
	int64_t fp_off, ra_off, bx_off;
	enum place fp = where(fr, m->fp, m, &fp_off), ra = where(fr, m->ra, m, &ra_off);
	Dwarf_Addr start, end;
	enum place place;
	bool signal;

	if (r->cfa == EHFRAME_CFA_BOTTOM)
		return ra == UNDEFINED;
	if (!same_cfa(fr, r, m))
		return false;
	dwarf_frame_info(fr, &start, &end, &signal);
	if (signal != !!(r->ra & EHFRAME_RA_SIGNAL))
		return false;
	switch (r->fp) {
	case EHFRAME_FP_SAME:
		if (fp != SAME)
			return false;
		break;
	case EHFRAME_FP_UNDEF:
		if (fp != UNDEFINED)
			return false;
		break;
	default:
		if (fp != (r->fp == EHFRAME_FP_CFA  ? AT_CFA
			   : r->fp == EHFRAME_FP_SP ? AT_SP
						    : AT_FP) ||
		    fp_off != 8 * r->fp_off)
			return false;
	}
	switch (r->ra & EHFRAME_RA_MASK) {
	case EHFRAME_RA_CFA: return ra == AT_CFA && ra_off == 8 * r->ra_off;
	case EHFRAME_RA_SP: return ra == AT_SP && ra_off == 8 * r->ra_off;
	case EHFRAME_RA_BX:
		/* libdw takes an rbx nothing is said of for undefined. */
		place = where(fr, EHFRAME_X86_BX, m, &bx_off);
		return ra == AT_CFA && ra_off == -8 &&
		       (r->ra_off ? place == AT_CFA && bx_off == 8 * r->ra_off : place != AT_CFA);
	case EHFRAME_RA_REG:
		return (ra == IN_REG && ra_off == r->ra_off) || (ra == SAME && r->ra_off == m->ra);
	}
	return false;
}

static void differ(struct totals *t, const char *path, uint64_t vaddr, const struct ehframe_rule *r,
		   const char *what)
{
	if (t->different++ < 10)
		printf("# %s at %#" PRIx64 ": %s (ours: cfa %d%+d extra %d, fp %d %d, ra %#x %d)\n",
		       path, vaddr, what, r->cfa, r->cfa_off, r->extra, r->fp, 8 * r->fp_off, r->ra,
		       8 * r->ra_off);
}

static void compare_at(struct totals *t, const char *path, Dwarf_CFI *cfi, uint64_t vaddr,
		       const struct ehframe_rule *r, const struct machine *m, uint64_t *next)
{
	Dwarf_Frame *fr = NULL;
	Dwarf_Addr start = 0, end = 0;
	Dwarf_Op *ops;
	bool signal;
	size_t n;

	t->compared++;
	if (dwarf_cfi_addrframe(cfi, vaddr, &fr) != 0) {
		*next = vaddr + 1;
		if (r->cfa == EHFRAME_CFA_NONE)
			return;
		/* Rules read from the code itself have no FDE. */
		if (t->go || r->cfa == EHFRAME_CFA_BOTTOM || r->cfa == EHFRAME_CFA_PLT ||
		    r->cfa_off <= 24 || (r->ra & EHFRAME_RA_SIGNAL)) {
			t->synthetic++;
			*next = UINT64_MAX;
			return;
		}
		differ(t, path, vaddr, r, "libdw has no frame here");
		return;
	}
	dwarf_frame_info(fr, &start, &end, &signal);
	*next = end > vaddr ? end : vaddr + 1;
	/* Go's debug info does not know which functions a stack begins with, or leaves by. */
	if (t->go &&
	    (r->cfa == EHFRAME_CFA_BOTTOM || (r->ra & (EHFRAME_RA_SIGNAL | EHFRAME_RA_SWITCH)))) {
		t->synthetic++;
		free(fr);
		return;
	}
	if (r->cfa == EHFRAME_CFA_NONE)
		differ(t, path, vaddr, r, "libdw has a frame here");
	else if (r->cfa == EHFRAME_CFA_FULL)
		t->full++;
	else if (dwarf_frame_cfa(fr, &ops, &n) != 0)
		t->refused++; /* def_cfa_register after an expression: libgcc takes it, libdw not */
	else if (!same_rule(fr, r, m))
		differ(t, path, vaddr, r, "another rule");
	free(fr);
}

static void compare_table(struct totals *t, const char *path, const struct ehframe *f,
			  const struct ehframe_table *tab, Dwarf_CFI *cfi, size_t budget)
{
	static const struct machine x86 = { 6, 7, 16 }, arm = { 29, 31, 30 };
	const struct machine *m = tab->machine == EM_X86_64 ? &x86 : &arm;
	uint64_t off = tab->base, end_all = tab->base + (uint64_t)tab->n_chunks * EHFRAME_CHUNK;
	uint64_t start, end, delta, vaddr, next;
	size_t done = 0;

	if (budget < tab->n_rows) /* start anywhere */
		off += next_random() % (end_all - off);
	for (; off < end_all && done < budget; off = end) {
		const struct ehframe_rule *r = ehframe_lookup(tab, off);

		ehframe_row_at(tab, off, &start, &end);
		t->rows++;
		done++;
		/* The ends of a gap tell enough of it; rows are gone through change by change. */
		if (!ehframe_vaddr(f, off, &vaddr))
			continue;
		delta = vaddr - off;
		compare_at(t, path, cfi, vaddr, r, m, &next);
		if (r->cfa != EHFRAME_CFA_NONE)
			for (; next < end + delta && next > vaddr; vaddr = next)
				compare_at(t, path, cfi, next, r, m, &next);
		if (ehframe_vaddr(f, end - 1, &vaddr))
			compare_at(t, path, cfi, vaddr, r, m, &next);
	}
}

/* libdw's own choice, as ours: .eh_frame, else .debug_frame. */
static bool has_go_tables(Elf *elf)
{
	Elf_Scn *scn = NULL;
	size_t names;
	GElf_Shdr sh;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name =
			gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;

		if (name && strstr(name, ".gopclntab"))
			return true;
	}
	return false;
}

static void compare_file(struct totals *t, const char *path, size_t budget)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	Dwarf_CFI *cfi = dwarf_getcfi_elf(elf), *debug = NULL;
	Dwarf *dw = NULL;
	struct ehframe_table *tab;
	struct ehframe *f;
	struct err e;

	t->go = has_go_tables(elf);
	if (!cfi && (dw = dwarf_begin_elf(elf, DWARF_C_READ, NULL)))
		debug = dwarf_getcfi(dw);
	if ((cfi || debug) && ehframe_open(path, &f, &e) == 0) {
		if (ehframe_has_cfi(f) && ehframe_build(f, &tab, &e) == 0) {
			t->files++;
			compare_table(t, path, f, tab, cfi ? cfi : debug, budget);
			ehframe_table_free(tab);
		}
		ehframe_close(f);
	}
	if (cfi)
		dwarf_cfi_end(cfi);
	if (dw)
		dwarf_end(dw);
	elf_end(elf);
	close(fd);
}

int main(int argc, char **argv)
{
	struct totals t = { 0 };
	bool all = false;
	size_t n;

	elf_version(EV_CURRENT);
	seed = (uint64_t)time(NULL) * 0x9e3779b97f4a7c15u | 1;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--seed") && i + 1 < argc) {
			seed = strtoull(argv[++i], NULL, 0);
		} else {
			all = true;
			nftw(argv[i], collect, 32, FTW_PHYS);
		}
	}
	printf("# seed %#" PRIx64 "\n", seed);
	if (!all) {
		nftw("/usr/lib", collect, 32, FTW_PHYS);
		nftw("/usr/bin", collect, 32, FTW_PHYS);
		nftw("/usr/aarch64-linux-gnu/lib", collect, 32, FTW_PHYS);
	}
	CHECK(paths.n > 0);
	n = all || paths.n < 60 ? paths.n : 60;
	for (size_t i = 0; i < n; i++)
		compare_file(&t, paths.data[all ? i : next_random() % paths.n],
			     all ? SIZE_MAX : 3000);
	printf("# %zu files, %zu rows, %zu compared, %zu different, %zu for the full evaluator, "
	       "%zu "
	       "from code, %zu libdw cannot read\n",
	       t.files, t.rows, t.compared, t.different, t.full, t.synthetic, t.refused);
	CHECK(t.files > 0 && t.compared > t.rows);
	CHECK_INT(t.different, 0);
	CHECK(t.refused * 10000 <= t.compared);
	for (size_t i = 0; i < paths.n; i++)
		free(paths.data[i]);
	vec_free(&paths);
	return tap_end();
}
#else
int main(void)
{
	SKIP("built without libdw");
	return tap_end();
}
#endif
