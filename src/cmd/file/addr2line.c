/* SPDX-License-Identifier: MIT */
/*
 * kymo addr2line: what is at an address of a file. Options as those of
 * binutils' addr2line; the answers are those the reports show.
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/str.h"
#include "base/vec.h"
#include "cmd/command.h"
#include "kern/proc.h"
#include "sym/names/kallsyms.h"
#include "sym/names/sym.h"

struct args {
	const char *file, *symfs;
	bool functions, inlines, demangle, pretty, basenames, addresses;
	bool params, offsets, kernel, no_cache, no_debuginfod;
	const char *whom;
	pid_t pid;
	int debuginfod_seconds;
};

static const struct opt opts[] = {
	OPT_STR_C('e', "exe", "FILE", file, "the file the addresses belong to (default: a.out)",
		  "@files"),
	OPT_FLAG('k', "kernel", kernel, "addresses are those of the running kernel"),
	OPT_STR_C(0, "pid", "PID", whom,
		  "addresses are those of a running process, by number or name", "@pids"),
	OPT_FLAG('f', "functions", functions, "show function names"),
	OPT_FLAG('i', "inlines", inlines, "show the callers into which a function was inlined"),
	OPT_FLAG('C', "demangle", demangle, "show C++ and Rust names as they were written"),
	OPT_FLAG(0, "params", params, "with -C, show parameters too (the default; perf does not)"),
	OPT_FLAG('p', "pretty-print", pretty, "one line a function"),
	OPT_FLAG('s', "basenames", basenames, "show file names without folders"),
	OPT_FLAG('a', "addresses", addresses, "show the address first"),
	OPT_FLAG(0, "offsets", offsets, "addresses are offsets in the file, as perf script shows"),
	OPT_STR_C(0, "symfs", "DIR", symfs, "look for files below DIR", "@dirs"),
	OPT_FLAG(0, "no-cache", no_cache, "keep nothing for the next time, use nothing kept"),
	OPT_FLAG(0, "no-debuginfod", no_debuginfod, "do not ask debuginfod servers"),
	OPT_INT(0, "debuginfod-time", "SECONDS", debuginfod_seconds,
		"wait for debuginfod servers this long in all (default: 10)"),
	OPT_END,
};

struct mapping {
	uint64_t start, end, offset;
	char *path; /* "" for memory without a file */
};

struct run {
	const struct args *a;
	struct symbols *s;
	uint32_t dso;
	const struct elf *elf;	  /* NULL: addresses are asked for as they are */
	VEC(struct mapping) maps; /* of --pid */
	char *maps_text;	  /* into which their paths point */
};

static const char *addr2line_text(const struct run *r, uint32_t id)
{
	return id == SYMBOLS_NONE ? "??" : symbols_text(r->s, id);
}

static void print_place(const struct run *r, const struct sym_frame *f)
{
	const char *file = addr2line_text(r, f->file);

	printf("%s:%" PRIu32 "\n", r->a->basenames ? str_base_name(file) : file, f->line);
}

static void print_result(const struct run *r, uint64_t addr, const struct sym_result *res)
{
	static const struct sym_frame unknown = { SYMBOLS_NONE, SYMBOLS_NONE, 0 };
	uint32_t n = res->nframes;

	if (r->a->addresses)
		printf("0x%016" PRIx64 "%s", addr, r->a->pretty ? ": " : "\n");
	if (n > 1 && !r->a->inlines)
		n = 1;
	for (uint32_t i = 0; i < (n ? n : 1); i++) {
		const struct sym_frame *f = n ? &res->frames[i] : &unknown;

		if (i && r->a->pretty)
			fputs(" (inlined by) ", stdout);
		if (r->a->functions) {
			printf("%s%s%s%s", addr2line_text(r, f->name),
			       res->module == SYMBOLS_NONE ? "" : " [",
			       res->module == SYMBOLS_NONE ? "" : symbols_text(r->s, res->module),
			       res->module == SYMBOLS_NONE ? "" : "]");
			fputs(r->a->pretty ? " at " : "\n", stdout);
		}
		print_place(r, f);
	}
}

/* In the terms of whatever is mapped there; code without a file is a JIT's. */
static struct sym_query asked_of_process(const struct run *r, uint64_t addr)
{
	for (size_t i = 0; i < r->maps.n; i++) {
		const struct mapping *m = &r->maps.data[i];
		struct find_want w = {
			.path = m->path, .pid = r->a->pid, .map_start = m->start, .map_end = m->end
		};

		if (addr < m->start || addr >= m->end)
			continue;
		if (!*m->path || strncmp(m->path, "//anon", 6) == 0)
			return (struct sym_query){ .dso = symbols_perfmap(r->s, r->a->pid, NULL,
									  (uid_t)-1),
						   .addr = addr };
		return (struct sym_query){ .dso = symbols_dso(r->s, &w),
					   .addr = addr - m->start + m->offset };
	}
	return (struct sym_query){ .dso = UINT32_MAX };
}

/* What the facade wants: an offset in the file. An address of no segment is asked for as none. */
static struct sym_query asked(const struct run *r, uint64_t addr)
{
	uint64_t offset;

	if (r->a->pid)
		return asked_of_process(r, addr);
	if (!r->elf || r->a->offsets)
		return (struct sym_query){ .dso = r->dso, .addr = addr };
	return (struct sym_query){ .dso = r->dso,
				   .addr = elf_offset(r->elf, addr, &offset) ? offset
									     : UINT64_MAX };
}

/* "START-END PERMS OFFSET DEV INODE PATH" */
static int read_maps(struct run *r, struct err *e)
{
	char file[64];
	int n;

	snprintf(file, sizeof(file), "/proc/%d/maps", r->a->pid);
	n = file_read(file, 256u << 20, &r->maps_text, NULL);
	if (n < 0)
		return err_set(e, -n, "cannot read %s: %s", file, strerror(-n));
	for (char *line = strtok(r->maps_text, "\n"); line; line = strtok(NULL, "\n")) {
		struct mapping m;
		char perms[8];
		int at = 0;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &m.start,
			   &m.end, perms, &m.offset, &at) < 4 ||
		    perms[2] != 'x' || at == 0)
			continue;
		m.path = line + at;
		vec_push(&r->maps, m);
	}
	return 0;
}

static int parse_addr(const char *s, uint64_t *ret, struct err *e)
{
	char *end;

	while (isspace((unsigned char)*s))
		s++;
	errno = 0;
	*ret = strtoull(s, &end, 16);
	if (errno || end == s || (*end && !isspace((unsigned char)*end)))
		return err_set(e, EINVAL, "'%.40s' is not an address (hexadecimal)", s);
	return 0;
}

typedef VEC(struct sym_query) query_vec;

static void answer_all(const struct run *r, query_vec *q, const uint64_t *addrs)
{
	symbols_resolve_many(r->s, q->data, q->n, SYMBOLS_NAMES | SYMBOLS_LINES);
	for (size_t i = 0; i < q->n; i++)
		print_result(r, addrs[i], q->data[i].result);
}

/* From a file all at once; from a pipe or a terminal each line is answered as it comes. */
static int from_stdin(const struct run *r, struct err *e)
{
	AUTO_FREE char *line = NULL;
	query_vec q = { 0 };
	VEC(uint64_t) addrs = { 0 };
	struct stat st;
	bool all = fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode);
	struct sym_query one;
	size_t cap = 0;
	uint64_t addr;
	int ret = 0;

	while (getline(&line, &cap, stdin) > 0) {
		if (line[strspn(line, " \t\r\n")] == 0)
			continue;
		ret = parse_addr(line, &addr, e);
		if (ret < 0)
			break;
		if (all) {
			vec_push(&addrs, addr);
			vec_push(&q, asked(r, addr));
			continue;
		}
		one = asked(r, addr);
		print_result(
			r, addr,
			symbols_resolve(r->s, one.dso, one.addr, SYMBOLS_NAMES | SYMBOLS_LINES));
		fflush(stdout);
	}
	answer_all(r, &q, addrs.data);
	vec_free(&q);
	vec_free(&addrs);
	return ret;
}

static int open_target(struct run *r, struct err *e)
{
	if (r->a->pid)
		return read_maps(r, e);
	if (r->a->kernel) {
		struct kallsyms list;
		int err = kallsyms_load(&list, "/proc/kallsyms", e);

		r->dso = SYMBOLS_KERNEL;
		if (err == 0)
			symbols_kernel_list(r->s, &list);
		return err;
	}
	r->dso =
		symbols_dso(r->s, &(struct find_want){ .path = r->a->file ? r->a->file : "a.out" });
	r->elf = symbols_elf(r->s, r->dso);
	return r->elf ? 0 : err_set(e, ENOENT, "%s", symbols_status(r->s, r->dso).why);
}

static int addr2line_run(void *args, int argc, char **argv, struct err *e)
{
	struct args *a = args;
	struct symbols_opts o = {
		.find = { .symfs = a->symfs },
		.no_debuginfod = a->no_debuginfod,
		.debuginfod_ms =
			(unsigned)(a->debuginfod_seconds > 0 ? a->debuginfod_seconds : 0) * 1000,
		.raw_names = !a->demangle,
		.params = a->params,
		.exact = true,
		.no_cache = a->no_cache
	};
	struct run r = { .a = a, .s = symbols_new(&o) };
	query_vec q = { 0 };
	AUTO_FREE uint64_t *addrs = mem_alloc((size_t)argc * sizeof(*addrs));
	int ret = a->whom ? proc_one(a->whom, &a->pid, e) : 0;

	if (ret == 0)
		ret = open_target(&r, e);

	for (int i = 0; i < argc && ret == 0; i++) {
		ret = parse_addr(argv[i], &addrs[i], e);
		vec_push(&q, asked(&r, addrs[i]));
	}
	if (ret == 0 && argc)
		answer_all(&r, &q, addrs);
	else if (ret == 0)
		ret = from_stdin(&r, e);
	vec_free(&q);
	free(r.maps_text);
	vec_free(&r.maps);
	symbols_free(r.s);
	return ret;
}

const struct command cmd_addr2line = {
	.name = "addr2line",
	.group = "Look",
	.summary = "show what is at an address of a file",
	.usage = "[OPTIONS] [ADDRESS...]",
	.about = "Addresses are hexadecimal and those of the file, as objdump and nm show them. "
		 "Without any they are read from standard input, one a line.",
	.examples = EXAMPLES(
		{ "addr2line -e ./prog -f -i -C 0x1149",
		  "the function, and those it was inlined into" },
		{ "addr2line -k -f ffffffff81000000", "the kernel function at an address" },
		{ "addr2line --pid 1234 -fp 7f0123456789", "what a running process has there" }),
	.defaults = &(const struct args){ .params = true },
	COMMAND_USUAL(addr2line),
};
