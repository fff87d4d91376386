/* SPDX-License-Identifier: MIT */
/*
 * The names perf would make up for events when a recording does not say how
 * they were called (old files, pipes that lost their EVENT_UPDATE records).
 */
#include "store/perfdata/impl.h"

static const char *const hw[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};
static const char *const sw[] = {
	"cpu-clock",	    "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",	    "bpf-output",   "cgroup-switches",
};
static const char *const cache[] = { "L1-dcache", "L1-icache", "LLC", "dTLB",
				     "iTLB",	  "branch",    "node" };
static const char *const op[][3] = { { "loads", "load", "" },
				     { "stores", "store", "" },
				     { "prefetches", "prefetch", "" } };

/* "dTLB-load-misses", "LLC-loads". */
static const char *perfdata_name_cache_name(struct arena *a, uint64_t config)
{
	uint64_t c = config & 0xff, o = config >> 8 & 0xff, r = config >> 16 & 0xff;

	if (c >= ARRAY_SIZE(cache) || o >= ARRAY_SIZE(op) || r > 1)
		return "unknown-ext-hardware-cache-type";
	if (r == 0)
		return arena_printf(a, "%s-%s", cache[c], op[o][0]);
	return arena_printf(a, "%s-%s-misses", cache[c], op[o][1]);
}

static const char *breakpoint_name(struct arena *a, const struct perf_event_attr *attr)
{
	return arena_printf(a, "mem:0x%llx:%s%s%s", (unsigned long long)attr->bp_addr,
			    attr->bp_type & 1 ? "r" : "", attr->bp_type & 2 ? "w" : "",
			    attr->bp_type & 4 ? "x" : "");
}

/* ":u", ":kpp" and so on, where they were asked for. */
static const char *modifiers(struct arena *a, const struct perf_event_attr *attr)
{
	char text[16], *p = text;
	bool some = attr->exclude_user || attr->exclude_kernel || attr->exclude_hv;

	*p++ = ':';
	if (some) {
		if (!attr->exclude_kernel)
			*p++ = 'k';
		if (!attr->exclude_user)
			*p++ = 'u';
		if (!attr->exclude_hv)
			*p++ = 'h';
	}
	for (unsigned i = 0; i < attr->precise_ip; i++)
		*p++ = 'p';
	if (attr->exclude_host || attr->exclude_guest) {
		if (attr->exclude_host)
			*p++ = 'G';
		else if (attr->exclude_guest && some)
			*p++ = 'H';
	}
	*p = '\0';
	return p == text + 1 ? "" : arena_strdup(a, text);
}

const char *name_of_attr(struct perfdata *pd, const struct perf_event_attr *attr)
{
	struct arena *a = &pd->trace.arena;
	const char *name = NULL;

	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
		name = attr->config < ARRAY_SIZE(hw) ? hw[attr->config] : "unknown-hardware";
		break;
	case PERF_TYPE_SOFTWARE:
		name = attr->config < ARRAY_SIZE(sw) ? sw[attr->config] : "unknown-software";
		break;
	case PERF_TYPE_TRACEPOINT:
		name = tracing_name(pd, attr->config);
		return name ? name : "unknown tracepoint";
	case PERF_TYPE_HW_CACHE: name = perfdata_name_cache_name(a, attr->config); break;
	case PERF_TYPE_RAW:
		name = arena_printf(a, "raw 0x%llx", (unsigned long long)attr->config);
		break;
	case PERF_TYPE_BREAKPOINT: name = breakpoint_name(a, attr); break;
	default: return arena_printf(a, "unknown attr type: %u", attr->type);
	}
	return arena_printf(a, "%s%s", name, modifiers(a, attr));
}
