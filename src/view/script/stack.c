/* SPDX-License-Identifier: MIT */
/*
 * The text of a sample's stack, a line a frame.
 *
 * From one sample to the next most of the outer frames are the same calls still going on. Their
 * text stands at the end of the last stack's, in the output that is still in memory, and is taken
 * from there in one piece.
 */
#include "view/script/impl.h"

/* So many frames before its turn a frame's text is looked for. */
#define AHEAD 6u

static bool print_frame(struct script *s, const uint64_t *ip, uint32_t left, uint32_t space,
			uint32_t inlined, void *ctx)
{
	const uint64_t *show = ctx;
	uint32_t what = site_what(*show) | inlined;
	const struct site_line *line = s->stop_at.n ? NULL : site_line(s, space, *ip, what);
	struct out *o = s->out;
	const struct site *x;

	if (line) {
		if (left >= AHEAD)
			site_expect(s, ip[AHEAD], ip[AHEAD / 2], what);
		out_add(o, line->text, line->n);
		return true;
	}
	x = site_find(s, space, *ip, what);
	if (x->t.inlined_n)
		out_add(o, x->t.inlined, x->t.inlined_n);
	out_putc(o, '\t');
	out_hex(o, site_shown(s, x->t.addr), 16);
	out_add(o, x->t.text, x->t.text_n);
	out_putc(o, '\n');
	if (s->stop_at.n > 0) {
		const char *name = site_function(s, x);

		return !name || strtab_find(&s->stop_at, name) == STRTAB_NONE;
	}
	return true;
}

/* The same, and how long each text is. */
static bool print_noted(struct script *s, const uint64_t *ip, uint32_t left, uint32_t space,
			uint32_t inlined, void *ctx)
{
	struct script_stack *k = &s->stack;
	size_t from = s->out->n;

	print_frame(s, ip, left, space, inlined, ctx);
	k->length[k->n_lengths++] = (uint32_t)(s->out->n - from);
	return true;
}

/* Where its user frames begin: behind the last mark. chain_n: there are none. */
static uint32_t user_frames(const struct event *ev)
{
	uint32_t i = ev->chain_n;

	while (i && ev->chain[i - 1] < EVENT_CHAIN_MARK)
		i--;
	return !i || ev->chain[i - 1] == EVENT_CHAIN_USER ? i : ev->chain_n;
}

/*
 * How many outer frames are the last stack's. Never the innermost one, of either: what was
 * inlined there is asked otherwise.
 */
static uint32_t outer_frames(const struct script *s, const uint64_t *frame, uint32_t n)
{
	const struct script_stack *k = &s->stack;
	uint32_t i = 0;

	if (k->out != s->out || k->turn != s->out->turn)
		return 0;
	while (i + 1 < n && i + 1 < k->n && frame[n - 1 - i] == k->ip[i])
		i++;
	return i;
}

/* Frames that were printed, outermost last, are remembered above those that stay. */
static void script_stack_remember(struct script *s, const uint64_t *frame, uint32_t n,
				  uint32_t same)
{
	struct script_stack *k = &s->stack;
	const uint32_t *length = k->length + k->n_lengths - (n - same);
	uint32_t bytes = same ? k->bytes[same - 1] : 0;

	for (uint32_t i = same; i < n; i++) {
		bytes += length[n - 1 - i];
		k->ip[i] = frame[n - 1 - i];
		k->bytes[i] = bytes;
	}
	k->n = n;
	k->end = s->out->n;
}

void stack_print(struct script *s, const struct event *ev, uint64_t show)
{
	struct script_stack *k = &s->stack;
	uint32_t first, n, same, space, what, turn = s->out->turn;
	const uint64_t *frame;

	if (s->stop_at.n || ev->chain_n > STACK_FRAMES || ev->chain_n > s->o.max_stack) {
		script_chain(s, ev, ev->chain_n, print_frame, &show);
		return;
	}
	first = user_frames(ev);
	frame = ev->chain + first;
	n = ev->chain_n - first;
	space = site_space(s, ev, EVENT_MODE_USER);
	what = site_what(show) | script_inlined(s, ev, false);
	same = k->space == space && k->what == what ? outer_frames(s, frame, n) : 0;
	k->n_lengths = 0;
	script_chain(s, ev, ev->chain_n - same, print_noted, &show);
	if (same && k->n_lengths) { /* else the walk went astray, and nothing of it is shown */
		char *to = out_room(s->out, k->bytes[same - 1]);

		if (s->out->turn == turn) {
			memcpy(to, s->out->data + k->end - k->bytes[same - 1], k->bytes[same - 1]);
			s->out->n += k->bytes[same - 1];
		}
		for (uint32_t i = n - same; s->out->turn != turn && i < n; i++)
			print_frame(s, &frame[i], n - i - 1, space, what, &show);
	}
	k->n = 0;
	k->space = space;
	k->what = what;
	k->out = s->out;
	k->turn = turn;
	if (s->out->turn == turn && k->n_lengths >= n - same)
		script_stack_remember(s, frame, n, same);
}
