/* SPDX-License-Identifier: MIT */
/*
 * Modifiers: what follows the ':' of an event or a group.
 *
 * An event's own modifiers start from nothing (naming k means "not u, not h"),
 * those of a group add to what its events have. This is perf's arithmetic, kept
 * as it is, because scripts rely on it: any modifier at all clears the default
 * exclude_guest, and u and p set it again.
 */
#include "event/spec/int.h"

#include <ctype.h>
#include <string.h>

static const char letters[] = "ukhGHpPSDIWeb";

bool spec_are_modifiers(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!strchr(letters, s.s[i]) && !isspace((unsigned char)s.s[i]))
			return false;
	return true;
}

static int spec_mod_check(struct spec_parser *p, struct slice mods)
{
	for (size_t i = 0; i < mods.n; i++) {
		struct slice at = { mods.s + i, 1 };

		if (isspace((unsigned char)mods.s[i]))
			continue;
		if (!strchr(letters, mods.s[i])) {
			spec_bad(p, at, EINVAL, "'%c' is not a modifier",
				 isprint((unsigned char)mods.s[i]) ? mods.s[i] : '?');
			return spec_bad_hint(
				p, "u user, k kernel, h hypervisor, G guest, H host, p pp ppp P "
				   "precise, S read the group, D pinned, I not idle, W weak "
				   "group, e exclusive, b BPF");
		}
		if (mods.s[i] != 'p' && memchr(mods.s, mods.s[i], i)) {
			spec_bad(p, at, EINVAL, "modifier '%c' is there twice", mods.s[i]);
			return spec_bad_hint(p, "once is enough; only p may be repeated");
		}
	}
	return 0;
}

/* None of them, as an event's own modifiers begin. */
static void spec_mod_clear(struct event_spec *s)
{
	struct perf_event_attr *a = &s->attr;

	a->exclude_user = a->exclude_kernel = a->exclude_hv = a->exclude_host = 0;
	a->exclude_guest = a->exclude_idle = a->precise_ip = a->pinned = a->exclusive = 0;
	s->guest_host = s->precise_max = s->sample_read = s->weak = s->bpf = false;
}

/* The first of u, k and h excludes the others; so does the first of G and H. */
static void spec_mod_level(struct perf_event_attr *a)
{
	if (!a->exclude_user && !a->exclude_kernel && !a->exclude_hv)
		a->exclude_user = a->exclude_kernel = a->exclude_hv = 1;
}

static void spec_mod_guest_host(struct event_spec *s)
{
	if (!s->guest_host)
		s->attr.exclude_guest = s->attr.exclude_host = 1;
	s->guest_host = true;
}

/* leads: pinned and exclusive are the leader's, from which alone the kernel takes both. */
static void spec_mod_apply(struct event_spec *s, char c, bool leads)
{
	struct perf_event_attr *a = &s->attr;

	switch (c) {
	case 'u':
	case 'k':
	case 'h':
		spec_mod_level(a);
		if (c == 'u')
			a->exclude_user = 0;
		else if (c == 'k')
			a->exclude_kernel = 0;
		else
			a->exclude_hv = 0;
		s->modified = true;
		break;
	case 'G':
		spec_mod_guest_host(s);
		a->exclude_guest = 0;
		break;
	case 'H':
		spec_mod_guest_host(s);
		a->exclude_host = 0;
		break;
	case 'I': a->exclude_idle = 1; break;
	case 'p': a->precise_ip++; break;
	case 'P': s->precise_max = true; break;
	case 'S': s->sample_read = true; break;
	case 'D': a->pinned |= leads; break;
	case 'e': a->exclusive |= leads; break;
	case 'W': s->weak = true; break;
	case 'b': s->bpf = true; break;
	default: break;
	}
	if ((c == 'u' || c == 'p') && !s->guest_host)
		a->exclude_guest = 1;
}

int spec_modify(struct spec_parser *p, struct slice mods, size_t from, bool group)
{
	mods = slice_trim(mods);
	if (!mods.n)
		return 0;
	if (spec_mod_check(p, mods) < 0)
		return -EINVAL;
	for (size_t i = from; i < p->list->n; i++) {
		struct event_spec *s = &p->list->spec[i];
		unsigned precise;

		if (group)
			s->modified |= s->attr.exclude_user || s->attr.exclude_kernel ||
				       s->attr.exclude_hv;
		else
			spec_mod_clear(s);
		precise = s->attr.precise_ip;
		for (size_t j = 0; j < mods.n; j++) {
			precise += mods.s[j] == 'p';
			spec_mod_apply(s, mods.s[j], !group || s->leader == (int)i);
		}
		if (precise > 3) {
			spec_bad(p, mods, EINVAL, "'p' more than three times");
			return spec_bad_hint(
				p, "ppp asks for no skid at all; P for the best there is");
		}
	}
	return 0;
}
