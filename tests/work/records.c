/* SPDX-License-Identifier: MIT */
/*
 * A record with fields of all kinds, handed to a function once, and a static probe whose
 * arguments are constants.
 */
#if defined(__x86_64__)
#	define D "$"
#else
#	define D ""
#endif

enum colour { RED = 3, BLUE };
struct inner {
	int b;
	char c;
};
struct full {
	int a;
	unsigned bits : 3;
	int signed_bits : 2;
	struct inner in;
	char five[5], eight[8], sixteen[16]; /* without a NUL */
	char short_one[8];
	enum colour colour;
	_Bool yes;
	int list[2];
	struct inner many[2];
	union {
		int whole;
		short half;
	};
	void *none;
};

struct full full = {
	.a = -1,
	.bits = 5,
	.signed_bits = -1,
	.in = { 7, 'x' },
	.five = { 'a', 'b', 'c', 'd', 'e' },
	.eight = { '1', '2', '3', '4', '5', '6', '7', '8' },
	.sixteen = { 'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'K', 'L', 'M', 'N', 'O',
		     'P' },
	.short_one = "ab",
	.colour = BLUE,
	.yes = 1,
	.list = { 1, -2 },
	.many = { { 1, 2 }, { 3, 4 } },
	.whole = 9,
};
char text[] = "hello";

int take(struct full *f, char *s, unsigned char k, int n);
__attribute__((noinline)) int take(struct full *f, char *s, unsigned char k, int n)
{
	__asm__ volatile("990: nop\n"
			 ".pushsection .note.stapsdt,\"\",\"note\"\n"
			 ".balign 4\n"
			 ".4byte 992f-991f, 994f-993f, 3\n"
			 "991: .asciz \"stapsdt\"\n"
			 "992: .balign 4\n"
			 "993: .8byte 990b\n"
			 ".8byte 0, 0\n"
			 ".asciz \"records\"\n"
			 ".asciz \"edge\"\n"
			 ".asciz \"4@" D "-1 1@" D "-1 -1@" D "255 8@" D "-1 -4@" D
			 "4294967295 2@" D "65535\"\n"
			 "994: .balign 4\n"
			 ".popsection\n");
	return f->a + s[0] + k + n;
}

int main(void)
{
	return take(&full, text, 200, -7) == 0;
}
