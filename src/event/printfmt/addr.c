/* SPDX-License-Identifier: MIT */
/* What %pI, %pM and %pU show: addresses of networks and cards, and UUIDs. */
#include <string.h>

#include "event/printfmt/impl.h"

static void put_ip4(char how, const uint8_t *p, struct strbuf *b)
{
	strbuf_printf(b, how == 'i' ? "%03d.%03d.%03d.%03d" : "%d.%d.%d.%d", p[0], p[1], p[2],
		      p[3]);
}

static void put_ip6(char how, bool compact, const uint8_t *p, struct strbuf *b)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	bool v4 = memcmp(p, mapped, 12) == 0 ||
		  ((p[8] | 2) == 2 && p[9] == 0 && p[10] == 0x5e && p[11] == 0xfe);
	int words = compact && v4 ? 6 : 8, longest = 1, at = -1;

	/* the longest run of zeros, if it is longer than one word */
	for (int i = 0; compact && i < words; i++) {
		int n = 0;

		while (i + n < words && !p[(i + n) * 2] && !p[(i + n) * 2 + 1])
			n++;
		if (n > longest) {
			longest = n;
			at = i;
		}
	}
	for (int i = 0; i < words; i++) {
		if (compact && i == at) {
			strbuf_puts(b, i == 0 ? "::" : ":");
			i += longest - 1;
			if (i + 1 == words && at == 0)
				return;
			continue;
		}
		if (compact)
			strbuf_printf(b, "%x", p[i * 2] << 8 | p[i * 2 + 1]);
		else
			strbuf_printf(b, "%02x%02x", p[i * 2], p[i * 2 + 1]);
		if (how == 'I' && i + 1 < words)
			strbuf_putc(b, ':');
	}
	if (compact && v4) {
		if (!(at >= 0 && at + longest == words))
			strbuf_putc(b, ':');
		put_ip4('I', p + 12, b);
	}
}

/* A socket address: its family is in the byte order of the machine. */
static void put_socket(const struct piece *p, const uint8_t *m, size_t n, struct strbuf *b)
{
	bool port = strchr(p->sub, 'p'), compact = strchr(p->sub, 'c');
	uint16_t family;

	if (n < 2)
		return;
	memcpy(&family, m, sizeof(family));
	if (family == 2) {
		if (n < 16) {
			strbuf_puts(b, "INVALIDIPv4");
			return;
		}
		put_ip4(p->extension, m + 4, b);
		if (port)
			strbuf_printf(b, ":%d", m[2] << 8 | m[3]);
	} else if (family == 10) {
		if (n < 28) {
			strbuf_puts(b, "INVALIDIPv6");
			return;
		}
		if (port)
			strbuf_putc(b, '[');
		put_ip6(p->extension, compact, m + 8, b);
		if (port)
			strbuf_printf(b, "]:%d", m[2] << 8 | m[3]);
	}
}

static void put_address(const struct piece *p, const uint8_t *m, size_t n, struct strbuf *b)
{
	if (p->sub[0] == '4') {
		if (n != 4)
			strbuf_puts(b, "INVALIDIPv4");
		else
			put_ip4(p->extension, m, b);
	} else if (p->sub[0] == '6') {
		if (n != 16)
			strbuf_puts(b, "INVALIDIPv6");
		else
			put_ip6(p->extension, p->sub[1] == 'c', m, b);
	} else {
		put_socket(p, m, n, b);
	}
}

static void put_uuid(const struct piece *p, const uint8_t *m, size_t n, struct strbuf *b)
{
	static const uint8_t big[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	static const uint8_t little[] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	bool upper = p->sub[0] == 'B' || p->sub[0] == 'L';
	const uint8_t *order = p->sub[0] == 'l' || p->sub[0] == 'L' ? little : big;

	if (n != 16) {
		strbuf_puts(b, "INVALIDUUID");
		return;
	}
	for (int i = 0; i < 16; i++) {
		strbuf_printf(b, upper ? "%02X" : "%02x", m[order[i]]);
		if (i == 3 || i == 5 || i == 7 || i == 9)
			strbuf_putc(b, '-');
	}
}

static void put_mac(char how, const uint8_t *p, size_t n, struct strbuf *b)
{
	if (n != 6) {
		strbuf_puts(b, "INVALIDMAC");
		return;
	}
	for (int i = 0; i < 6; i++)
		strbuf_printf(b, i && how == 'M' ? ":%02x" : "%02x", p[i]);
}

void printfmt_address(const struct piece *p, const uint8_t *m, size_t n, struct strbuf *b)
{
	if (p->extension == 'U')
		put_uuid(p, m, n, b);
	else if (p->extension == 'M' || p->extension == 'm')
		put_mac(p->extension, m, n, b);
	else
		put_address(p, m, n, b);
}
