/* SPDX-License-Identifier: MIT */
/* What messages ask for: text, maps, commands. */
#include "view/run/show.h"

#define JOIN_ARGS 16
#define JOIN_SIZE 256

static void show_message_json(struct lang_out *o, const char *type)
{
	strbuf_printf(&o->text, "{\"type\": \"%s\", \"data\": ", type);
}

static void show_message_say(struct lang_out *o, const char *type, const struct strbuf *text)
{
	if (!o->json) {
		strbuf_add(&o->text, strbuf_str(text), text->n);
		return;
	}
	show_message_json(o, type);
	show_json_text(&o->text, strbuf_str(text), text->n);
	strbuf_puts(&o->text, "}\n");
}

static void show_message_value(struct lang_out *o, const struct lang_action *a, const char *data)
{
	if (o->json) {
		show_message_json(o, "value");
		show_json(o, a->arg[0].type, data + a->arg[0].offset, &o->text);
		strbuf_puts(&o->text, "}\n");
		return;
	}
	if (a->map_key_text) {
		strbuf_puts(&o->text, a->map_key_text);
		for (size_t i = 1; i < a->n_args; i++) {
			strbuf_puts(&o->text, i > 1 ? ", " : "[");
			show_value(o, a->arg[i].type, data + a->arg[i].offset, true, &o->text);
		}
		strbuf_puts(&o->text, a->n_args > 1 ? "]: " : ": ");
	}
	show_value(o, a->arg[0].type, data + a->arg[0].offset, false, &o->text);
	strbuf_putc(&o->text, '\n');
}

static void show_message_time(struct lang_out *o, const char *fmt)
{
	AUTO_STRBUF b = { 0 };

	show_wall(show_now(o), fmt, &b);
	show_message_say(o, "time", &b);
}

static void show_message_join(struct lang_out *o, const struct lang_action *a, const char *data)
{
	AUTO_STRBUF b = { 0 };
	size_t from;

	for (int i = 0; i < JOIN_ARGS; i++) {
		const char *s = data + 8 + i * JOIN_SIZE;

		if (!*s)
			break;
		strbuf_puts(&b, i ? a->format : "");
		from = b.n;
		strbuf_add(&b, s, strnlen(s, JOIN_SIZE));
		show_made_safe(o, false, from, &b);
	}
	strbuf_putc(&b, '\n');
	show_message_say(o, "join", &b);
}

static void show_message_file(struct lang_out *o, const char *path)
{
	AUTO_STRBUF b = { 0 };
	int r = o->h->read ? o->h->read(o->h->ctx, path, &b) : -ENOSYS;

	if (r < 0) {
		strbuf_printf(&o->errors, "cannot read %s: %s\n", path, strerror(-r));
	} else {
		show_made_safe(o, true, 0, &b);
		show_message_say(o, "cat", &b);
	}
}

static void show_message_run(struct lang_out *o, const char *command)
{
	AUTO_STRBUF b = { 0 };

	if (!o->h->run)
		return;
	o->h->run(o->h->ctx, command, &b);
	show_made_safe(o, true, 0, &b);
	show_message_say(o, "syscall", &b);
}

static void show_message(struct lang_out *o, const struct lang_action *a, const char *data)
{
	AUTO_STRBUF text = { 0 };

	switch (a->kind) {
	case LA_PRINTF:
		o->whole = strcmp(a->format, "%s") == 0;
		show_format(o, a, data, &text);
		o->whole = false;
		show_message_say(o, "printf", &text);
		break;
	case LA_ERRORF:
	case LA_DEBUGF: show_format(o, a, data, &o->errors); break;
	case LA_PRINT: show_message_value(o, a, data); break;
	case LA_PRINT_MAP: show_map(o, a->map, a->top, a->div); break;
	case LA_TABLE: show_table(o, a->map, a->format, a->top, a->div); break;
	case LA_HISTOGRAM: show_hist_table(o, a->map, a->format, a->section); break;
	case LA_STACKS: show_stacks(o, a->map, a->how); break;
	case LA_TIME: show_message_time(o, a->format); break;
	case LA_JOIN: show_message_join(o, a, data); break;
	case LA_CAT:
		show_format(o, a, data, &text);
		show_message_file(o, strbuf_str(&text));
		break;
	case LA_SYSTEM:
		show_format(o, a, data, &text);
		show_message_run(o, strbuf_str(&text));
		break;
	default: break;
	}
}

const struct lang_printer show_printer = { .message = show_message, .maps = show_maps };
