/* SPDX-License-Identifier: MIT */
/*
 * Structs of the kernel's interface, field by field as its own types tell.
 *
 * A few fields have names for their values; of large structs only the telling fields
 * are shown, unless all are asked for.
 */
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/mem.h"
#include "view/trace/names.h"
#include "view/trace/trace.h"

#define DEPTH 4
#define ELEMENTS 16

/* Names with spaces between: is it one of them? */
static bool is_one_of(const char *names, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = names; n && (at = strstr(at, name)); at += n)
		if ((at == names || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
			return true;
	return false;
}

/* The fields to show; "..." follows. */
static const struct {
	const char *names, *fields;
} telling[] = {
	{ "stat stat64", "st_mode st_rdev st_size" },
	{ "statx", "stx_mask stx_attributes stx_mode stx_size" },
	{ "statfs statfs64", "f_type f_bsize f_blocks f_bfree f_files" },
	{ "rusage", "ru_utime ru_stime" },
	{ "sysinfo", "uptime totalram freeram procs" },
	{ "new_utsname", "sysname nodename" },
	{ "perf_event_attr", "type size config sample_period sample_type disabled" },
	{ "sigevent", "sigev_signo sigev_notify" },
	{ "clone_args", "flags child_tid parent_tid exit_signal stack stack_size" },
	{ "io_uring_params", "sq_entries cq_entries flags features" },
	{ "__kernel_timex", "modes offset freq status" },
};

enum as {
	AS_FLAGS,
	AS_ENUM,
	AS_MODE,
	AS_HEX,
	AS_SIGNAL,
	AS_SIGSET,
	AS_HANDLER,
	AS_LIMIT,
	AS_DEVICE
};
static const struct {
	const char *names, *fields;
	enum as as;
	const char *set;
} fields[] = {
	{ "stat stat64", "st_mode", AS_MODE, NULL },
	{ "stat stat64", "st_rdev", AS_DEVICE, NULL },
	{ "statx", "stx_mode", AS_MODE, NULL },
	{ "statx", "stx_mask", AS_FLAGS, "statx" },
	{ "statfs statfs64", "f_type", AS_ENUM, "fs_magic" },
	{ "sigevent", "sigev_signo", AS_SIGNAL, NULL },
	{ "sigevent", "sigev_notify", AS_ENUM, "sigev" },
	{ "sembuf", "sem_flg", AS_FLAGS, "sem_flg" },
	{ "iovec", "iov_base", AS_HEX, NULL },
	{ "pollfd", "events revents", AS_FLAGS, "poll" },
	{ "epoll_event", "events", AS_FLAGS, "epoll" },
	{ "epoll_event", "data", AS_HEX, NULL },
	{ "sigaction", "sa_handler", AS_HANDLER, NULL },
	{ "sigaction", "sa_flags", AS_FLAGS, "sa_flags" },
	{ "sigaction", "sa_mask", AS_SIGSET, NULL },
	{ "clone_args", "flags", AS_FLAGS, "clone" },
	{ "clone_args", "exit_signal", AS_SIGNAL, NULL },
	{ "clone_args", "child_tid parent_tid stack stack_size", AS_HEX, NULL },
	{ "open_how", "flags", AS_FLAGS, "open" },
	{ "open_how", "mode", AS_MODE, NULL },
	{ "open_how", "resolve", AS_FLAGS, "resolve" },
	{ "sigaltstack", "ss_sp", AS_HEX, NULL },
	{ "perf_event_attr", "type", AS_ENUM, "perf_type" },
	{ "perf_event_attr", "sample_type", AS_FLAGS, "perf_sample" },
	{ "mount_attr", "attr_set attr_clr", AS_FLAGS, "mount_attr" },
	{ "rlimit64", "rlim_cur rlim_max", AS_LIMIT, "RLIM64_INFINITY" },
	{ "rlimit", "rlim_cur rlim_max", AS_LIMIT, "RLIM_INFINITY" },
};

static uint64_t bits_at(const uint8_t *data, size_t n, uint64_t bit, uint64_t bits)
{
	uint64_t v = 0;

	for (uint64_t i = 0; i < bits && i < 64 && (bit + i) / 8 < n; i++)
		v |= (uint64_t)(data[(bit + i) / 8] >> (bit + i) % 8 & 1) << i;
	return v;
}

static bool one_field(const char *name, const char *field, uint64_t v, struct strbuf *b)
{
	if (str_starts(name, "compat_"))
		name += 7;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (!is_one_of(fields[i].names, name) || !is_one_of(fields[i].fields, field))
			continue;
		switch (fields[i].as) {
		case AS_FLAGS: trace_names_flags(fields[i].set, v, b); break;
		case AS_ENUM: trace_names_enum(fields[i].set, v, b); break;
		case AS_MODE: trace_names_mode((unsigned)v, b); break;
		case AS_SIGNAL: trace_names_signal((int)v, b); break;
		case AS_SIGSET: trace_sigset(v, b); break;
		case AS_HEX: trace_hex(v, b); break;
		case AS_DEVICE: strbuf_printf(b, "makedev(%#x, %#x)", major(v), minor(v)); break;
		case AS_LIMIT:
			if (v == UINT64_MAX)
				strbuf_puts(b, fields[i].set);
			else
				strbuf_printf(b, "%llu", (unsigned long long)v);
			break;
		case AS_HANDLER:
			if (v < 2)
				strbuf_puts(b, v ? "SIG_IGN" : "SIG_DFL");
			else
				strbuf_printf(b, "0x%llx", (unsigned long long)v);
			break;
		}
		return true;
	}
	return false;
}

struct place {
	const struct trace_words *w;
	const uint8_t *data;
	size_t n;
	unsigned depth;
	bool *device; /* what the file is, once its mode is known */
};

static void trace_struct_value(const struct place *p, uint32_t type, const char *name, uint64_t bit,
			       uint32_t width, struct strbuf *b);

static void trace_struct_number(const struct place *p, uint32_t type, uint64_t bit, uint32_t width,
				struct strbuf *b)
{
	uint64_t bits = width ? width : btf_size(p->w->types, type) * 8;
	uint64_t v = bits_at(p->data, p->n, bit, bits);

	if (btf_is_signed(p->w->types, type) && bits && bits < 64 && v >> (bits - 1) & 1)
		v |= ~0ull << bits;
	if (btf_is_signed(p->w->types, type))
		strbuf_printf(b, "%lld", (long long)v);
	else
		strbuf_printf(b, "%llu", (unsigned long long)v);
}

static void trace_struct_array(const struct place *p, uint32_t type, uint64_t bit, struct strbuf *b)
{
	uint32_t of = btf_target(p->w->types, type), n = btf_elements(p->w->types, type);
	uint64_t size = btf_size(p->w->types, of);
	const char *text = (const char *)p->data + bit / 8;

	if (btf_is_char(p->w->types, btf_strip(p->w->types, of)) && bit / 8 <= p->n) {
		size_t room = p->n - bit / 8;

		trace_string(text, strnlen(text, n < room ? n : room), 0, b);
		return;
	}
	strbuf_putc(b, '[');
	for (uint32_t i = 0; i < n && i < ELEMENTS; i++) {
		strbuf_puts(b, i ? ", " : "");
		trace_struct_value(p, of, "", bit + i * size * 8, 0, b);
	}
	strbuf_puts(b, n > ELEMENTS ? ", ...]" : "]");
}

static bool shown(const struct trace_words *w, const char *name, const char *field)
{
	if (str_starts(field, "__unused") || str_starts(field, "__pad") ||
	    str_starts(field, "__reserved") || str_starts(field, "__spare"))
		return false;
	if (w->verbose)
		return true;
	if (str_starts(name, "compat_"))
		name += 7;
	for (size_t i = 0; i < ARRAY_SIZE(telling); i++)
		if (is_one_of(telling[i].names, name))
			return is_one_of(telling[i].fields, field);
	return true;
}

/* The members, those of unnamed structs inside as if they were its own; of a union the first. */
static void members(const struct place *p, uint32_t type, const char *name, uint64_t bit, bool *any,
		    bool *left_out, struct strbuf *b)
{
	const struct btf_types *ts = p->w->types;
	const struct btf_type *t = btf_type(ts, type);
	const struct btf_member *m = (const void *)(t + 1);
	bool is_union = btf_kind(ts, type) == BTF_KIND_UNION;
	unsigned n = t ? BTF_INFO_VLEN(t->info) : 0;

	for (unsigned i = 0; i < n && i < (is_union ? 1 : n); i++) {
		bool packed = BTF_INFO_KFLAG(t->info);
		uint64_t at = bit + (packed ? BTF_MEMBER_BIT_OFFSET(m[i].offset) : m[i].offset);
		uint32_t width = packed ? BTF_MEMBER_BITFIELD_SIZE(m[i].offset) : 0;
		const char *field = btf_str(ts, m[i].name_off);
		uint32_t of = btf_strip(ts, m[i].type);
		unsigned kind = btf_kind(ts, of);
		uint64_t v;

		if (!*field && (kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION)) {
			members(p, of, name, at, any, left_out, b);
			continue;
		}
		if (!*field || at / 8 >= p->n)
			continue;
		if (!shown(p->w, name, field)) {
			*left_out |= !str_starts(field, "__");
			continue;
		}
		v = bits_at(p->data, p->n, at, width ? width : btf_size(ts, of) * 8);
		if (strcmp(field, "st_mode") == 0)
			*p->device = S_ISCHR(v) || S_ISBLK(v);
		/* Of a device its number, of others their size. */
		if (!p->w->verbose && strcmp(field, *p->device ? "st_size" : "st_rdev") == 0)
			continue;
		strbuf_printf(b, *any ? ", %s=" : "%s=", field);
		*any = true;
		if (kind == BTF_KIND_ARRAY || !one_field(name, field, v, b))
			trace_struct_value(p, m[i].type, field, at, width, b);
	}
}

static void trace_struct_value(const struct place *p, uint32_t type, const char *name, uint64_t bit,
			       uint32_t width, struct strbuf *b)
{
	uint32_t of = btf_strip(p->w->types, type);
	struct place inner = *p;
	bool any = false, left_out = false;

	switch (btf_kind(p->w->types, of)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		if (p->depth >= DEPTH) {
			strbuf_puts(b, "{...}");
			return;
		}
		inner.depth++;
		if (!*name || p->depth) /* its own name, for what is known of it */
			name = btf_name(p->w->types, of);
		strbuf_putc(b, '{');
		members(&inner, of, name, bit, &any, &left_out, b);
		strbuf_puts(b, left_out ? ", ...}" : "}");
		break;
	case BTF_KIND_ARRAY: trace_struct_array(p, of, bit, b); break;
	case BTF_KIND_PTR: trace_pointer(bits_at(p->data, p->n, bit, 64), b); break;
	default: trace_struct_number(p, of, bit, width, b); break;
	}
}

void trace_struct(const struct trace_words *w, uint32_t type, const char *name, const void *data,
		  size_t n, struct strbuf *b)
{
	bool device = false;
	struct place p = { .w = w, .data = data, .n = n, .device = &device };

	trace_struct_value(&p, type, name, 0, 0, b);
}
