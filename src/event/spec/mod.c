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

struct mods {
	bool user, kernel, hv, host, guest, idle; /* excluded */
	bool any_level;				  /* u, k or h was named, now or before */
	bool any_guest;				  /* G or H */
	unsigned precise;
	bool precise_max, sample_read, pinned, exclusive, weak, bpf;
};

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
			spec_bad_hint(p,
				      "u user, k kernel, h hypervisor, G guest, H host, p pp ppp P "
				      "precise, S read the group, D pinned, I not idle, W weak "
				      "group, e exclusive, b BPF");
			return -EINVAL;
		}
		if (mods.s[i] != 'p' && memchr(mods.s, mods.s[i], i)) {
			spec_bad(p, at, EINVAL, "modifier '%c' is there twice", mods.s[i]);
			spec_bad_hint(p, "once is enough; only p may be repeated");
			return -EINVAL;
		}
	}
	return 0;
}

static void spec_mod_level(struct mods *m, bool *named)
{
	if (!m->any_level)
		m->user = m->kernel = m->hv = m->any_level = true;
	*named = false;
}

static void guest_host(struct mods *m, bool *named)
{
	if (!m->any_guest)
		m->guest = m->host = m->any_guest = true;
	*named = false;
}

static void apply(struct mods *m, char c)
{
	switch (c) {
	case 'u':
		spec_mod_level(m, &m->user);
		if (!m->any_guest)
			m->guest = true;
		break;
	case 'k': spec_mod_level(m, &m->kernel); break;
	case 'h': spec_mod_level(m, &m->hv); break;
	case 'G': guest_host(m, &m->guest); break;
	case 'H': guest_host(m, &m->host); break;
	case 'I': m->idle = true; break;
	case 'p':
		m->precise++;
		if (!m->any_guest)
			m->guest = true;
		break;
	case 'P': m->precise_max = true; break;
	case 'S': m->sample_read = true; break;
	case 'D': m->pinned = true; break;
	case 'e': m->exclusive = true; break;
	case 'W': m->weak = true; break;
	case 'b': m->bpf = true; break;
	default: break;
	}
}

static struct mods current(const struct event_spec *s)
{
	const struct perf_event_attr *a = &s->attr;

	return (struct mods){
		.user = a->exclude_user,
		.kernel = a->exclude_kernel,
		.hv = a->exclude_hv,
		.host = a->exclude_host,
		.guest = a->exclude_guest,
		.idle = a->exclude_idle,
		.any_level = a->exclude_user || a->exclude_kernel || a->exclude_hv,
		.any_guest = s->guest_host,
		.precise = a->precise_ip,
		.precise_max = s->precise_max,
		.sample_read = s->sample_read,
		.pinned = a->pinned,
		.exclusive = a->exclusive,
		.weak = s->weak,
		.bpf = s->bpf,
	};
}

static void spec_mod_store(struct event_spec *s, const struct mods *m, bool leader)
{
	s->attr.exclude_user = m->user;
	s->attr.exclude_kernel = m->kernel;
	s->attr.exclude_hv = m->hv;
	s->attr.exclude_host = m->host;
	s->attr.exclude_guest = m->guest;
	s->attr.exclude_idle = m->idle;
	s->attr.precise_ip = m->precise & 3;
	s->guest_host = m->any_guest;
	s->modified |= m->any_level;
	s->precise_max = m->precise_max;
	s->sample_read = m->sample_read;
	s->weak = m->weak;
	s->bpf = m->bpf;
	if (leader) { /* the kernel takes both from the leader only */
		s->attr.pinned = m->pinned;
		s->attr.exclusive = m->exclusive;
	}
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
		struct mods m = { 0 };

		if (group)
			m = current(s);
		for (size_t j = 0; j < mods.n; j++)
			apply(&m, mods.s[j]);
		if (m.precise > 3) {
			spec_bad(p, mods, EINVAL, "'p' more than three times");
			spec_bad_hint(p, "ppp asks for no skid at all; P for the best there is");
			return -EINVAL;
		}
		spec_mod_store(s, &m, !group || s->leader == (int)i);
	}
	return 0;
}
