/* SPDX-License-Identifier: MIT */
/* Messages of programs: checked, then done or handed to whoever prints. */
#include <string.h>

#include "lang/out.h"

/* Time and length, then the bytes. */
static void lang_message_packet(struct lang_out *o, const struct lang_action *a, const char *data)
{
	uint64_t head[2];

	memcpy(head, data + 8, sizeof(head));
	if (o->h->packet && head[1] <= a->size - 8 - sizeof(head))
		o->h->packet(o->h->ctx, a->format, head[0], data + 8 + sizeof(head), head[1]);
}

static void lang_message_set_zeroed(struct lang_out *o, int map, bool yes)
{
	if (!o->zeroed && yes)
		o->zeroed = mem_alloc(o->p->maps.n * sizeof(*o->zeroed));
	if (o->zeroed)
		o->zeroed[map] = yes;
}

void lang_message(struct lang_out *o, const void *data, size_t n)
{
	const struct lang_action *a;
	uint64_t v = 0;
	uint32_t id;

	o->messages++;
	if (n < 8) {
		o->bad++;
		return;
	}
	memcpy(&id, data, 4);
	if (id >= o->p->actions.n || n < o->p->actions.data[id].size) {
		o->bad++;
		return;
	}
	a = &o->p->actions.data[id];
	if (a->n_args && n >= 16)
		memcpy(&v, (const char *)data + 8, 8);
	switch (a->kind) {
	case LA_CLEAR:
		o->h->map_clear(o->h->ctx, a->map);
		lang_message_set_zeroed(o, a->map, false);
		if (o->ending)
			vec_push(&o->gone, a->map);
		break;
	case LA_ZERO:
		o->h->map_zero(o->h->ctx, a->map);
		lang_message_set_zeroed(o, a->map, true);
		break;
	case LA_EXIT:
		o->exit = true;
		o->exit_code = (int)(v & 255);
		break;
	case LA_NEW_PROCESS:
		if (o->h->new_process)
			o->h->new_process(o->h->ctx, (int32_t)v);
		break;
	case LA_SKBOUTPUT: lang_message_packet(o, a, data); break;
	case LA_HELPER_ERROR: break;
	default: o->printer->message(o, a, data);
	}
}

void lang_out_free(struct lang_out *o)
{
	vec_free(&o->gone);
	free(o->zeroed);
	strbuf_free(&o->text);
	strbuf_free(&o->errors);
}
