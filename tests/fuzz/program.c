/* SPDX-License-Identifier: MIT */
/*
 * Any text as a program over any events: the text up to its end, then for each event its type, the
 * time since the last, and its chain and record. Only what lies in these may be read.
 */
#include "fuzz.h"

#include "../unit/eventsource.h"
#include "calc/program/replay.h"
#include "view/run/show.h"

#define EVENTS 16

struct input {
	const uint8_t *at, *end;
};

static unsigned byte(struct input *b)
{
	return b->at < b->end ? *b->at++ : 0;
}

/* A copy of its own, so that reading behind it is seen. */
static void *take(struct input *b, size_t n)
{
	size_t have = (size_t)(b->end - b->at);
	void *p = malloc(n ? n : 1);

	memset(p, 0, n ? n : 1);
	memcpy(p, b->at, n < have ? n : have);
	b->at += n < have ? n : have;
	return p;
}

static void take_event(struct input *b, uint64_t *time, struct event *ev)
{
	unsigned kind = byte(b), size;

	*time += byte(b) * 100ull; /* few, as intervals may be of a nanosecond */
	*ev = (struct event){ .kind = EVENT_SAMPLE,
			      .type = kind & 3,
			      .time = *time,
			      .tid = (int)(kind >> 2 & 3),
			      .pid = (int)(kind >> 2 & 1),
			      .cpu = kind >> 4,
			      .chain_n = byte(b) % 40 };
	size = byte(b);
	size |= byte(b) << 8;
	ev->raw_size = size;
	ev->chain = take(b, ev->chain_n * sizeof(*ev->chain));
	ev->raw = take(b, size);
}

static bool forget(void *ctx, struct lang_out *o)
{
	(void)ctx;
	(void)o;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, '\0', size);
	struct input b = { end ? end + 1 : data + size, data + size };
	AUTO_FREE char *text = mem_strndup((const char *)data, end ? (size_t)(end - data) : size);
	struct lang_config config = { .strlen = 64,
				      .map_keys = 16,
				      .stack_depth = 127,
				      .max_probes = 8,
				      .max_bpf_progs = 8,
				      .ring_pages = 1 };
	struct lang_source src = {
		.name = "fuzz", .text = text, .n = strlen(text), .config = &config
	};
	struct replay_opts o = { .printer = &show_printer, .write = forget, .max_steps = 20000 };
	struct lang_diags d = { 0 };
	struct event_source m;
	struct event ev[EVENTS];
	struct lang_env env;
	uint64_t time = 1000000000;
	AUTO_STRBUF notes = { 0 };
	struct err e = { 0 };
	size_t n = 0;
	int code;

	if (src.n > 4096)
		return 0;
	while (b.at < b.end && n < EVENTS)
		take_event(&b, &time, &ev[n++]);
	event_source_open(&m, ev, n);
	replay_env(&m.source, &env);
	if (lang_compile(&src, &env, 0, &o.program, &d) == 0) {
		o.source = &m.source;
		o.symbols = symbols_new(&(struct symbols_opts){ .no_cache = true });
		replay_run(&o, &code, &notes, &e);
		symbols_free(o.symbols);
		lang_program_free(o.program);
	}
	lang_diags_free(&d);
	event_source_close(&m);
	for (size_t i = 0; i < n; i++) {
		free((void *)(uintptr_t)ev[i].raw);
		free((void *)(uintptr_t)ev[i].chain);
	}
	return 0;
}
