/* SPDX-License-Identifier: MIT */
#include "cmd/front/doctor_process.h"

#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "base/str.h"
#include "base/term.h"
#include "base/vec.h"
#include "kern/ability/ability.h"
#include "kern/priv.h"
#include "kern/proc.h"
#include "sym/elf/cover.h"
#include "sym/jit/perfmap.h"
#include "sym/names/sym.h"
#include "sym/unwind/ehframe.h"

/* Does code that a runtime compiled keep frame pointers? Without a table stacks go on by them. */
enum frames { FRAMES_MAYBE, FRAMES_YES, FRAMES_NO };

/* One file (or stretch of nameless memory) that the process runs code from. */
struct part {
	char path[512];
	uint64_t bytes;	     /* of code */
	uint64_t start, end; /* of its first mapping */
	bool anonymous, deleted;
	bool tables, symtab, names, dwarf, jit, dump;
	enum frames frames; /* of nameless memory */
	unsigned without;   /* percent of its functions' code that has neither table nor frame */
	bool framed;	    /* most of what no table knows keeps frame pointers */
	char missing[128];  /* a part of its debug info; "": none */
	char why[256], fix[256];
};

/* Percent of a file's code without a way up the stack. Some functions written in assembly have
 * none anywhere. */
#define FEW 10u
#define MOST 50u

struct parts {
	VEC(struct part) v;
	char jitdump[512]; /* the runtime has mapped its dump, to tell where it is; "": none */
};

static struct part *part_of(struct parts *p, const char *path)
{
	struct part *x;

	vec_each (&p->v, old)
		if (strcmp(old->path, path) == 0)
			return old;
	x = vec_add(&p->v);
	snprintf(x->path, sizeof(x->path), "%s", path);
	return x;
}

/* Root may be refused, too: the hint must not be to become root. */
static int doctor_process_refused(pid_t pid, int r, struct err *e)
{
	struct priv me;

	priv_read(&me);
	err_set(e, -r, "cannot look at process %d: %s", pid, strerror(-r));
	if (r == -ENOENT || r == -ESRCH) {
		err_set(e, -r, "there is no process %d", pid);
		return err_hint(e, "pgrep -a NAME shows what runs");
	}
	if (me.euid)
		return err_hint(e, "run it as root, or as the user of the process");
	if (me.own_userns) {
		err_set(e, -r, "cannot look at process %d: root here is not the machine's root",
			pid);
		return err_hint(e, "run it outside of this container");
	}
	if (!priv_has(&me, CAP_SYS_PTRACE)) {
		err_set(e, -r, "cannot look at process %d: this root has no CAP_SYS_PTRACE", pid);
		return err_hint(e, "start the container with --cap-add SYS_PTRACE, or run it "
				   "outside");
	}
	err_set(e, -r, "cannot look at process %d: the kernel keeps it even from root", pid);
	return err_hint(e, "a security module (SELinux, AppArmor, Landlock, Yama) or the sandbox "
			   "does that; dmesg or the audit log may tell which");
}

static int read_maps(pid_t pid, struct parts *p, struct err *e)
{
	AUTO_FREE char *text = NULL;
	char path[64], *save = NULL;
	int r;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	r = file_read(path, 64u << 20, &text, NULL);
	if (r < 0)
		return doctor_process_refused(pid, r, e);
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		unsigned long long start, end;
		char prot[8], *name, *gone;
		struct part *x;
		int at = 0;

		if (sscanf(line, "%llx-%llx %7s %*x %*s %*u %n", &start, &end, prot, &at) < 3 ||
		    prot[2] != 'x')
			continue;
		name = line + at;
		gone = strstr(name, " (deleted)");
		if (gone)
			*gone = '\0';
		if (strcmp(name, "[vsyscall]") == 0)
			continue;
		if (str_glob("*/jit-*.dump", name)) {
			snprintf(p->jitdump, sizeof(p->jitdump), "%s", name);
			continue;
		}
		x = part_of(p, *name && !str_starts(name, "//") && !str_starts(name, "/memfd:")
				       ? name
				       : "[memory without a file]");
		x->anonymous = x->path[0] == '[' && strcmp(x->path, "[vdso]") != 0;
		x->deleted |= gone != NULL;
		x->bytes += end - start;
		if (!x->start) {
			x->start = start;
			x->end = end;
		}
	}
	return 0;
}

/* A file without a table of its own functions' often has one for the few lines it starts with. */
static void look_at_cover(const struct ehframe *f, const struct elf *e, struct part *x)
{
	struct cover c;

	if (!e || cover_measure(f, e, &c) < 0)
		return;
	x->framed = c.framed > c.without / 2;
	x->without = (unsigned)(100 * (c.without - c.framed) / c.bytes);
}

/* As the process sees it. */
static int open_below(const char *root, const char *path, struct ehframe **ret)
{
	AUTO_CLOSE int fd = file_open_below(root, path);

	return fd < 0 ? fd : ehframe_open_fd(fd, ret, NULL);
}

static void look_at_file(pid_t pid, struct symbols *symbols, struct part *x)
{
	struct find_want want = {
		.path = x->path, .pid = pid, .map_start = x->start, .map_end = x->end
	};
	uint32_t dso = symbols_dso(symbols, &want);
	struct symbols_status s;
	struct ehframe *f;
	char path[96], root[32];

	if (strcmp(x->path, "[vdso]") == 0) { /* the kernel's own, with all that is needed */
		x->tables = x->names = true;
		return;
	}
	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", pid,
		 (unsigned long long)x->start, (unsigned long long)x->end);
	symbols_resolve(symbols, dso, 0, SYMBOLS_NAMES | SYMBOLS_LINES); /* opens it */
	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	if (ehframe_open(path, &f, NULL) == 0 || open_below(root, x->path, &f) == 0 ||
	    ehframe_open(x->path, &f, NULL) == 0) {
		x->tables = ehframe_has_cfi(f);
		look_at_cover(f, symbols_elf(symbols, dso), x);
		ehframe_close(f);
	}
	s = symbols_status(symbols, dso);
	x->names = s.opened;
	x->symtab = s.symtab;
	x->dwarf = s.dwarf;
	if (s.missing)
		snprintf(x->missing, sizeof(x->missing), "%s", s.missing);
	if (!s.opened)
		snprintf(x->why, sizeof(x->why), "%s", s.why);
}

/* JIT compilers tell of their code in a perf map or a jitdump. */
static void look_at_jit(pid_t pid, struct symbols *symbols, const char *jitdump, struct part *x)
{
	struct perfmap map = { 0 };
	char proc[64];
	struct stat st;

	snprintf(proc, sizeof(proc), "/proc/%d", pid);
	if (stat(proc, &st) < 0)
		return;
	if (*jitdump)
		x->dump = symbols_status(symbols, symbols_jitdump(symbols, jitdump, st.st_uid))
				  .opened;
	x->jit = x->dump || perfmap_load(&map, NULL, pid, st.st_uid, NULL) == 0;
	perfmap_free(&map);
}

/* A container's files are its own distribution's. */
static void how_to_get_names(pid_t pid, char *buf, size_t size)
{
	const char *set = getenv("DEBUGINFOD_URLS");
	char root[32], distro[32];

	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	ability_distro(root, distro, sizeof(distro));
	if (set && *set)
		snprintf(buf, size,
			 "install its debug symbols (no server of DEBUGINFOD_URLS gave "
			 "them)");
	else
		snprintf(buf, size,
			 "install its debug symbols, or: export DEBUGINFOD_URLS=https://%s/",
			 ability_debuginfod(distro));
}

static bool has_file(const struct parts *p, const char *name)
{
	vec_each (&p->v, x) {
		const char *slash = strrchr(x->path, '/');

		if (slash && strcmp(slash + 1, name) == 0)
			return true;
	}
	return false;
}

/* Is the word in one of these files of the process, where NULs stand between words? */
static bool started_with(pid_t pid, const char *word)
{
	static const char *const files[] = { "cmdline", "environ" };

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		AUTO_FREE char *path = mem_printf("/proc/%d/%s", pid, files[i]);
		AUTO_FREE char *text = NULL;
		size_t n;

		if (file_read(path, 4u << 20, &text, &n) == 0 &&
		    memmem(text, n, word, strlen(word)))
			return true;
	}
	return false;
}

/* V8 always keeps them, Java when it is told to. */
static enum frames frames_of(pid_t pid, const struct parts *p)
{
	if (has_file(p, "libjvm.so"))
		return started_with(pid, "+PreserveFramePointer") ? FRAMES_YES : FRAMES_NO;
	return has_file(p, "node") ? FRAMES_YES : FRAMES_MAYBE;
}

/* What makes a runtime tell of the code it compiles. */
static void how_to_get_map(pid_t pid, const struct parts *p, char *buf, size_t size)
{
	bool java = has_file(p, "libjvm.so"), node = has_file(p, "node");

	snprintf(buf, size, "%s%s%s%s%s", java || node ? "run it with " : "Node.js: ",
		 java ? "" : "--perf-basic-prof or --perf-prof", java || node ? "" : "; Java: ",
		 node || frames_of(pid, p) == FRAMES_YES ? "" : "-XX:+PreserveFramePointer ",
		 node ? "" : "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit");
	if (java) { /* the map can be had from one that runs; whole stacks cannot */
		size_t n = strlen(buf);

		snprintf(buf + n, size - n,
			 "; names of what runs now (Java 17 and later): jcmd %d Compiler.perfmap",
			 pid);
	}
}

static void advise_jit(pid_t pid, const struct parts *p, struct part *x)
{
	static const char *const stacks[] = {
		[FRAMES_MAYBE] = "stacks by frame pointers, if it has them",
		[FRAMES_YES] = "stacks by frame pointers",
		[FRAMES_NO] = "stacks end in it: it has no frame pointers",
	};

	x->frames = frames_of(pid, p);
	snprintf(x->why, sizeof(x->why), "%s, %s",
		 x->dump  ? "names from its jitdump"
		 : x->jit ? "names from its perf map"
			  : "code without a file and without a map of names",
		 stacks[x->frames]);
	if (!x->jit)
		how_to_get_map(pid, p, x->fix, sizeof(x->fix));
	else if (x->frames == FRAMES_NO)
		snprintf(x->fix, sizeof(x->fix), "run it with -XX:+PreserveFramePointer");
}

/* Behind what was said of its names. */
static void advise_stacks(struct part *x)
{
	size_t n = strlen(x->why);
	const char *and = n ? "; " : "";
	bool some = x->tables && x->without >= FEW;

	if (x->framed && x->without < FEW)
		snprintf(
			x->why + n, sizeof(x->why) - n,
			"%sno unwinding information for most of its code: stacks by frame pointers",
			and);
	else if (some)
		snprintf(x->why + n, sizeof(x->why) - n,
			 "%s%u%% of its code has no unwinding information: stacks end there", and,
			 x->without);
	else if (!x->tables && x->names)
		snprintf(x->why + n, sizeof(x->why) - n,
			 "%sno unwinding information: stacks end here without frame pointers", and);
	else
		return;
	if (!x->fix[0] && !(x->framed && x->without < FEW))
		snprintf(x->fix, sizeof(x->fix),
			 "build it with -fasynchronous-unwind-tables (or "
			 "-fno-omit-frame-pointer)");
}

static void advise(pid_t pid, const struct parts *p, struct part *x)
{
	if (x->anonymous) {
		advise_jit(pid, p, x);
	} else if (!x->names && !x->why[0]) {
		snprintf(x->why, sizeof(x->why), "the file cannot be read");
	} else if (x->names && !x->symtab && !x->dwarf && strcmp(x->path, "[vdso]") != 0) {
		snprintf(x->why, sizeof(x->why), "stripped: only exported functions have names");
		how_to_get_names(pid, x->fix, sizeof(x->fix));
	} else if (x->missing[0]) {
		const char *slash = strrchr(x->missing, '/');
		bool split = str_ends(x->missing, ".dwo");

		snprintf(x->why, sizeof(x->why),
			 "%s is missing: inlined functions and some names are not shown",
			 slash ? slash + 1 : x->missing);
		snprintf(x->fix, sizeof(x->fix),
			 split ? "keep the .dwo files where they were compiled, or put all into "
				 "one beside the program: dwp -e %s"
			       : "install the package that has %s",
			 split ? x->path : x->missing);
	}
	if (!x->anonymous)
		advise_stacks(x);
}

static void doctor_process_mark(FILE *f, const char *text)
{
	fprintf(f, "%s%-5s%s ", term_style(f, strcmp(text, "yes") == 0 ? TERM_GREEN : TERM_YELLOW),
		text, term_style(f, TERM_RESET));
}

static const char *yes_no(bool ok)
{
	return ok ? "yes" : "no";
}

static const char *names_of(const struct part *x)
{
	if (x->anonymous)
		return yes_no(x->jit);
	if (x->symtab || x->dwarf || strcmp(x->path, "[vdso]") == 0)
		return "yes";
	return x->names ? "some" : "no";
}

static const char *stacks_of(const struct part *x)
{
	if (!x->anonymous && x->framed && x->without < FEW)
		return "yes";
	if (!x->anonymous)
		return !x->tables || x->without >= MOST ? "no" : x->without >= FEW ? "some" : "yes";
	return x->frames == FRAMES_MAYBE ? "maybe" : yes_no(x->frames == FRAMES_YES);
}

/* What would help several files is said once. */
static void print_fixes(FILE *f, const struct parts *p)
{
	for (size_t i = 0; i < p->v.n; i++) {
		const char *fix = p->v.data[i].fix, *slash = strrchr(p->v.data[i].path, '/');
		size_t n = 0, first = i;

		for (size_t k = 0; k < p->v.n; k++)
			if (strcmp(p->v.data[k].fix, fix) == 0) {
				first = k < first ? k : first;
				n++;
			}
		if (!*fix || first < i)
			continue;
		fprintf(f, "%sfix%s", term_style(f, TERM_CYAN), term_style(f, TERM_RESET));
		if (n > 1)
			fprintf(f, " (%zu files): %s\n", n, fix);
		else
			fprintf(f, " (%s): %s\n", slash ? slash + 1 : p->v.data[i].path, fix);
	}
}

static void doctor_process_print_text(FILE *f, pid_t pid, const char *comm, const struct parts *p)
{
	bool fixes = false;

	fprintf(f, "%sprocess %d (%s)%s: %zu files with code\n\n", term_style(f, TERM_BOLD), pid,
		comm, term_style(f, TERM_RESET), p->v.n);
	fprintf(f, "  stacks names lines  code      file\n");
	for (size_t i = 0; i < p->v.n; i++) {
		const struct part *x = &p->v.data[i];
		char size[32];

		fprintf(f, "  ");
		doctor_process_mark(f, stacks_of(x));
		fprintf(f, " ");
		doctor_process_mark(f, names_of(x));
		doctor_process_mark(f, yes_no(x->dwarf));
		fprintf(f, " %-9s %s%s\n", str_bytes(x->bytes, size, sizeof(size)), x->path,
			x->deleted ? " (deleted; read through the process)" : "");
		if (x->why[0])
			fprintf(f, "%34s%s\n", "", x->why);
		fixes |= x->fix[0] != '\0';
	}
	if (fixes)
		putc('\n', f);
	print_fixes(f, p);
}

static void print_json(FILE *f, pid_t pid, const char *comm, const struct parts *p)
{
	struct json j = json_to(f, JSON_PRETTY);
	json_object(&j, NULL);
	json_i64(&j, "pid", pid);
	json_str(&j, "comm", comm);
	json_array(&j, "files");
	for (size_t i = 0; i < p->v.n; i++) {
		const struct part *x = &p->v.data[i];

		json_object(&j, NULL);
		json_str(&j, "path", x->path);
		json_u64(&j, "code", x->bytes);
		json_bool(&j, "deleted", x->deleted);
		json_str(&j, "stacks", stacks_of(x));
		json_bool(&j, "tables", x->tables);
		json_bool(&j, "symbols", x->symtab);
		json_bool(&j, "debug_info", x->dwarf);
		json_bool(&j, "jit_map", x->jit);
		json_bool(&j, "jitdump", x->dump);
		json_str(&j, "note", x->why);
		json_str(&j, "fix", x->fix);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	putc('\n', f);
}

int doctor_process(pid_t pid, bool json, struct err *e)
{
	struct parts parts = { 0 };
	struct symbols *symbols;
	char comm[64];
	int r = read_maps(pid, &parts, e), code = 0;

	if (r < 0)
		return r;
	if (!parts.v.n) {
		err_set(e, ENODATA, "process %d has no code of its own", pid);
		return err_hint(e, "it is a kernel thread, or another user's: then run it as root");
	}
	proc_comm(pid, comm, sizeof(comm));
	symbols = symbols_new(NULL);
	vec_each (&parts.v, x) {
		if (x->anonymous)
			look_at_jit(pid, symbols, parts.jitdump, x);
		else
			look_at_file(pid, symbols, x);
		advise(pid, &parts, x);
		code |= x->fix[0] != '\0';
	}
	if (json)
		print_json(stdout, pid, comm, &parts);
	else
		doctor_process_print_text(stdout, pid, comm, &parts);
	symbols_free(symbols);
	vec_free(&parts.v);
	return code;
}
