/* SPDX-License-Identifier: MIT */
/*
 * The part of libcapstone that disasm.c uses, under its own names, loaded at the first call.
 *
 * Linked in the usual way it costs every start of kymo 77,000 relocations (2 ms),
 * disassembly or not. Static builds link it and leave this file empty. Where the
 * library is gone at run time, cs_open() fails and says so as for an unknown machine.
 */
#include "config.h"

#if HAVE_CAPSTONE && !KYMO_STATIC
#	include <capstone/capstone.h>
#	include <dlfcn.h>
#	include <pthread.h>
#	include <stdbool.h>

#	define STRING_(x) #	   x
#	define STRING(x) STRING_(x)

static struct {
	__typeof__(cs_open) *open;
	__typeof__(cs_close) *close;
	__typeof__(cs_option) *option;
	__typeof__(cs_strerror) *strerror;
	__typeof__(cs_malloc) *malloc;
	__typeof__(cs_free) *free;
	__typeof__(cs_disasm_iter) *disasm_iter;
	bool ready;
} lib;

static void capstone_load(void)
{
	void *h = dlopen("libcapstone.so." STRING(CS_API_MAJOR), RTLD_NOW | RTLD_LOCAL);

	if (!h)
		return;
	lib.open = (__typeof__(lib.open))dlsym(h, "cs_open");
	lib.close = (__typeof__(lib.close))dlsym(h, "cs_close");
	lib.option = (__typeof__(lib.option))dlsym(h, "cs_option");
	lib.strerror = (__typeof__(lib.strerror))dlsym(h, "cs_strerror");
	lib.malloc = (__typeof__(lib.malloc))dlsym(h, "cs_malloc");
	lib.free = (__typeof__(lib.free))dlsym(h, "cs_free");
	lib.disasm_iter = (__typeof__(lib.disasm_iter))dlsym(h, "cs_disasm_iter");
	lib.ready = lib.open && lib.close && lib.option && lib.strerror && lib.malloc && lib.free &&
		    lib.disasm_iter;
}

/* Only cs_open() has to ask: the others want what it gave. */
cs_err cs_open(cs_arch arch, cs_mode mode, csh *handle)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, capstone_load);
	return lib.ready ? lib.open(arch, mode, handle) : CS_ERR_ARCH;
}

const char *cs_strerror(cs_err code)
{
	return lib.ready ? lib.strerror(code)
			 : "libcapstone.so." STRING(CS_API_MAJOR) " cannot be loaded";
}

cs_err cs_close(csh *handle)
{
	return lib.close(handle);
}

cs_err cs_option(csh handle, cs_opt_type type, size_t value)
{
	return lib.option(handle, type, value);
}

cs_insn *cs_malloc(csh handle)
{
	return lib.malloc(handle);
}

void cs_free(cs_insn *insn, size_t count)
{
	lib.free(insn, count);
}

bool cs_disasm_iter(csh handle, const uint8_t **code, size_t *size, uint64_t *address,
		    cs_insn *insn)
{
	return lib.disasm_iter(handle, code, size, address, insn);
}
#endif
