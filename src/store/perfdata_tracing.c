/* SPDX-License-Identifier: MIT */
/*
 * The TRACING_DATA of a recording: the kernel's formats of the tracepoints in
 * it, kernel symbols, printk formats, saved command names. The layout is that of
 * trace.dat version 6.
 */
#include "store/perfdata_impl.h"

const char *tracing_name(struct perfdata *pd, const struct perf_event_attr *attr)
{
	return arena_printf(&pd->trace.arena, "type %u config %llu", attr->type,
			    (unsigned long long)attr->config);
}

void tracing_parse(struct perfdata *pd, const uint8_t *data, size_t size)
{
	(void)pd;
	(void)data;
	(void)size;
}
