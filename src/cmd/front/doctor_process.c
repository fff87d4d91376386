/* SPDX-License-Identifier: MIT */
#include "cmd/front/doctor_process.h"

#include <linux/capability.h>
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
	const char *path;
	uint64_t bytes;	     /* of code */
	uint64_t start, end; /* of its first mapping */
	bool anonymous, deleted;
	bool tables, symtab, names, dwarf, jit, dump;
	enum frames frames;  /* of nameless memory */
	unsigned without;    /* percent of its functions' code that has neither table nor frame */
	bool framed;	     /* most of what no table knows keeps frame pointers */
	const char *missing; /* a part of its debug info; NULL: none */
	const char *why, *fix;
};

/* Percent of a file's code without a way up the stack. Some functions written in assembly have
 * none anywhere. */
#define FEW 10u
#define MOST 50u

struct parts {
	VEC(struct part) v;
	struct arena texts;
	pid_t pid;
	const char *jitdump; /* the runtime has mapped its dump, to tell where it is; NULL: none */
};

static struct part *part_of(struct parts *p, const char *path)
{
	struct part *x;

	vec_each (&p->v, old)
		if (strcmp(old->path, path) == 0)
			return old;
	x = vec_add(&p->v);
	x->path = arena_strdup(&p->texts, path);
	x->why = x->fix = "";
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
		return err_hint(e,
				"start the container with --cap-add SYS_PTRACE, or run it outside");
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
			p->jitdump = arena_strdup(&p->texts, name);
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

static void look_at_file(struct parts *p, struct symbols *symbols, struct part *x)
{
	pid_t pid = p->pid;
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
	x->missing = s.missing ? arena_strdup(&p->texts, s.missing) : NULL;
	x->why = s.opened ? "" : arena_strdup(&p->texts, s.why);
}

/* JIT compilers tell of their code in a perf map or a jitdump. */
static void look_at_jit(const struct parts *p, struct symbols *symbols, struct part *x)
{
	pid_t pid = p->pid;
	struct perfmap map = { 0 };
	char proc[64];
	struct stat st;

	snprintf(proc, sizeof(proc), "/proc/%d", pid);
	if (stat(proc, &st) < 0)
		return;
	if (p->jitdump)
		x->dump = symbols_status(symbols, symbols_jitdump(symbols, p->jitdump, st.st_uid))
				  .opened;
	x->jit = x->dump || perfmap_load(&map, NULL, pid, st.st_uid, NULL) == 0;
	perfmap_free(&map);
}

/* A container's files are its own distribution's. */
static const char *how_to_get_names(struct parts *p)
{
	const char *set = getenv("DEBUGINFOD_URLS");
	char root[32], distro[32];

	if (set && *set)
		return "install its debug symbols (no server of DEBUGINFOD_URLS gave them)";
	snprintf(root, sizeof(root), "/proc/%d/root", p->pid);
	ability_distro(root, distro, sizeof(distro));
	return arena_printf(&p->texts,
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
static enum frames frames_of(const struct parts *p)
{
	if (has_file(p, "libjvm.so"))
		return started_with(p->pid, "+PreserveFramePointer") ? FRAMES_YES : FRAMES_NO;
	return has_file(p, "node") ? FRAMES_YES : FRAMES_MAYBE;
}

/* What makes a runtime tell of the code it compiles. */
static const char *how_to_get_map(struct parts *p)
{
	bool java = has_file(p, "libjvm.so"), node = has_file(p, "node");
	const char *how = arena_printf(
		&p->texts, "%s%s%s%s%s", java || node ? "run it with " : "Node.js: ",
		java ? "" : "--perf-basic-prof or --perf-prof", java || node ? "" : "; Java: ",
		node || frames_of(p) == FRAMES_YES ? "" : "-XX:+PreserveFramePointer ",
		node ? "" : "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit");

	/* the map can be had from one that runs; whole stacks cannot */
	return java ? arena_printf(&p->texts,
				   "%s; names of what runs now (Java 17 and later): jcmd %d "
				   "Compiler.perfmap",
				   how, p->pid)
		    : how;
}

static void advise_jit(struct parts *p, struct part *x)
{
	static const char *const stacks[] = {
		[FRAMES_MAYBE] = "stacks by frame pointers, if it has them",
		[FRAMES_YES] = "stacks by frame pointers",
		[FRAMES_NO] = "stacks end in it: it has no frame pointers",
	};

	x->frames = frames_of(p);
	x->why = arena_printf(&p->texts, "%s, %s",
			      x->dump  ? "names from its jitdump"
			      : x->jit ? "names from its perf map"
				       : "code without a file and without a map of names",
			      stacks[x->frames]);
	if (!x->jit)
		x->fix = how_to_get_map(p);
	else if (x->frames == FRAMES_NO)
		x->fix = "run it with -XX:+PreserveFramePointer";
}

/* Behind what was said of its names. */
static void advise_stacks(struct parts *p, struct part *x)
{
	const char *and = *x->why ? "; " : "", *why;
	bool framed = x->framed && x->without < FEW;

	if (framed)
		why = "no unwinding information for most of its code: stacks by frame pointers";
	else if (x->tables && x->without >= FEW)
		why = arena_printf(
			&p->texts,
			"%u%% of its code has no unwinding information: stacks end there",
			x->without);
	else if (!x->tables && x->names)
		why = "no unwinding information: stacks end here without frame pointers";
	else
		return;
	x->why = arena_printf(&p->texts, "%s%s%s", x->why, and, why);
	if (!*x->fix && !framed)
		x->fix = "build it with -fasynchronous-unwind-tables (or -fno-omit-frame-pointer)";
}

static void advise(struct parts *p, struct part *x)
{
	if (x->anonymous) {
		advise_jit(p, x);
		return;
	}
	if (!x->names && !*x->why) {
		x->why = "the file cannot be read";
	} else if (x->names && !x->symtab && !x->dwarf && strcmp(x->path, "[vdso]") != 0) {
		x->why = "stripped: only exported functions have names";
		x->fix = how_to_get_names(p);
	} else if (x->missing) {
		bool split = str_ends(x->missing, ".dwo");

		x->why = arena_printf(
			&p->texts, "%s is missing: inlined functions and some names are not shown",
			str_base_name(x->missing));
		x->fix = arena_printf(&p->texts,
				      split ? "keep the .dwo files where they were compiled, or "
					      "put all into one beside the program: dwp -e %s"
					    : "install the package that has %s",
				      split ? x->path : x->missing);
	}
	advise_stacks(p, x);
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
		const char *fix = p->v.data[i].fix;
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
			fprintf(f, " (%s): %s\n", str_base_name(p->v.data[i].path), fix);
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
		if (*x->why)
			fprintf(f, "%34s%s\n", "", x->why);
		fixes |= *x->fix != '\0';
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
	struct parts parts = { .pid = pid };
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
			look_at_jit(&parts, symbols, x);
		else
			look_at_file(&parts, symbols, x);
		advise(&parts, x);
		code |= *x->fix != '\0';
	}
	if (json)
		print_json(stdout, pid, comm, &parts);
	else
		doctor_process_print_text(stdout, pid, comm, &parts);
	symbols_free(symbols);
	vec_free(&parts.v);
	arena_free(&parts.texts);
	return code;
}
