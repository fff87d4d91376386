/* SPDX-License-Identifier: MIT */
/*
 * The kernel and its modules as what a probe is put into. A file with debug info in one of the
 * usual places is used if its build-id is the running kernel's. One that was asked for may be
 * another kernel's: then definitions can be shown, but not added here.
 */
#include <string.h>
#include <sys/utsname.h>

#include "kern/cpu.h"
#include "kern/kconfig.h"
#include "live/about/ksyms.h"
#include "live/probe/target.h"
#include "sym/elf/elf.h"

static bool has_debug_info(const struct elf *e)
{
	return elf_section(e, ".debug_info") || elf_section(e, ".zdebug_info");
}

/* A file below symfs that has debug info; and this build-id, where one is given. */
static struct elf *open_if(const char *symfs, const char *path, const struct build_id *id)
{
	AUTO_FREE char *full = mem_printf("%s%s", symfs ? symfs : "", path);
	struct elf *e;
	struct err ignored;

	if (elf_open_path(full, &e, &ignored) < 0)
		return NULL;
	if (has_debug_info(e) && (!id || build_id_match(&e->build_id, id)))
		return e;
	elf_free(e);
	return NULL;
}

/* Where distributions and builds leave it. */
static struct elf *find_vmlinux(const char *symfs, const struct build_id *id)
{
	static const char *const places[] = {
		"/usr/lib/debug/boot/vmlinux-%s", "/usr/lib/debug/lib/modules/%s/vmlinux",
		"/usr/lib/debug/vmlinux-%s",	  "/lib/modules/%s/build/vmlinux",
		"/lib/modules/%s/vmlinux",	  "/boot/vmlinux-%s",
	};
	struct utsname uts = { 0 };
	struct elf *e = NULL;

	uname(&uts);
	for (size_t i = 0; i < ARRAY_SIZE(places) && !e; i++) {
		char path[256];

		snprintf(path, sizeof(path), places[i], uts.release);
		e = open_if(symfs, path, id);
	}
	return e;
}

/* Modules are not linked to the end. */
static int as_loaded(struct elf **e, struct err *err)
{
	struct elf *plain = *e;
	int r;

	if (plain->type != ET_REL)
		return 0;
	r = elf_relocate(plain, e, err);
	elf_free(plain);
	if (r < 0)
		*e = NULL;
	return r;
}

/* A module by name: with its debug info if that is here, else by what the running kernel knows. */
static struct elf *find_module(const char *symfs, const char *name)
{
	AUTO_FREE char *path = NULL, *debug = NULL;
	struct build_id id;
	const struct build_id *loaded = ksyms_module_build_id(name, &id) ? &id : NULL;
	struct modules files;
	struct elf *e = NULL;

	modules_open(&files);
	path = modules_path(&files, name);
	modules_close(&files);
	if (!path)
		return NULL;
	debug = mem_printf("/usr/lib/debug%s", path);
	e = open_if(symfs, debug, loaded);
	return e ? e : open_if(symfs, path, loaded);
}

static int open_module(const struct probe_target_opts *o, struct probe_target *t, struct err *e)
{
	const char *name = str_base_name(o->module);
	int err = 0;

	t->module = modules_name(o->module);
	if (btf_types_open(t->module, t->btf, &t->module_btf, NULL) < 0)
		t->module_btf = NULL;
	if (name != o->module || strstr(o->module, ".ko"))
		err = elf_open_path(o->module, &t->elf, e);
	else
		t->elf = find_module(o->symfs, t->module);
	return err < 0 || !t->elf ? err : as_loaded(&t->elf, e);
}

static int open_vmlinux(const struct probe_target_opts *o, struct probe_target *t, struct err *e)
{
	struct build_id running;
	bool known = ksyms_build_id(&running);
	int err;

	if (!o->vmlinux) {
		t->elf = known ? find_vmlinux(o->symfs, &running) : NULL;
		return 0;
	}
	err = elf_open_path(o->vmlinux, &t->elf, e);
	if (err == 0)
		t->foreign = known && t->elf->build_id.len &&
			     !build_id_match(&t->elf->build_id, &running);
	return err;
}

static int not_loaded(const char *module, struct err *e)
{
	AUTO_FREE char *state = mem_printf("/sys/module/%s/initstate", module);

	if (access(state, F_OK) == 0)
		return 0;
	err_set(e, ENOENT, "no module %s is loaded", module);
	return err_hint(e, "sudo modprobe %s; or -m /path/to/%s.ko. What is built in needs no -m",
			module, module);
}

int probe_target_kernel(const struct probe_target_opts *o, struct probe_target *t, struct err *e)
{
	int err;

	t->syntax.machine = CPU_MACHINE;
	t->syntax.target = t;
	if (btf_types_open(NULL, NULL, &t->btf, NULL) < 0)
		t->btf = NULL;
	err = o->module ? open_module(o, t, e) : open_vmlinux(o, t, e);
	if (err < 0)
		return err;
	if (t->elf)
		probe_target_read(t, o);
	if (o->vmlinux && !o->module && !t->dwarf) {
		err_set(e, ENOENT, "%s has no debug info", o->vmlinux);
		return err_hint(e, "the kernel's debug package has one that does");
	}
	if (t->elf)
		return 0;
	if (t->module && (err = not_loaded(t->module, e)) < 0)
		return err;
	err = kallsyms_load(&t->kallsyms, "/proc/kallsyms", e);
	t->has_kallsyms = err == 0;
	if (err == 0)
		kallsyms_symtab(&t->kallsyms, &t->syms);
	return err;
}
