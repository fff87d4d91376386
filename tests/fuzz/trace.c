/* SPDX-License-Identifier: MIT */
/* Any bytes as a record of a system call: shown as text and as JSON, with the kernel's structs
 * where it tells them. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "view/trace/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tracer_structs *structs;
	static struct btf_types *types;
	struct trace_record *r;
	struct trace_words *w;
	struct out out;

	if (size < sizeof(*r) || size > 1u << 16)
		return 0;
	if (!types && btf_types_open(NULL, NULL, &types, NULL) == 0)
		structs = tracer_structs_new(types);
	r = mem_dup(data, size); /* of just this size, so that a byte too far is seen */
	r->abi %= TRACE_ABIS;
	r->kind %= TRACE_EVENT;
	r->nr = r->nr % 512;
	r->n = (uint32_t)(size - sizeof(*r));
	w = mem_alloc(sizeof(*w));
	trace_words_init(w, structs);
	w->verbose = r->cpu & 1;
	out_init(&out, -1);
	trace_text_call(&(struct trace_lines){ .words = w, .out = &out, .names = true }, r, r + 1);
	FUZZ_CHECK(out.n && out.data[out.n - 1] == '\n');
	FUZZ_CHECK(memchr(out.data, '\n', out.n) == out.data + out.n - 1);
	trace_json_call(&(struct trace_lines){ .words = w, .out = &out }, r, r + 1);
	out_free(&out);
	trace_words_free(w);
	free(w);
	free(r);
	return 0;
}
