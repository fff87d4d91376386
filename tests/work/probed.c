/* SPDX-License-Identifier: MIT */
/*
 * A program to be probed: its functions are called a known number of times with
 * known values, and have variables of every kind. Line numbers matter to the tests.
 *
 *	probed [TIMES]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct in {
	unsigned char flags : 3, more : 5;
	short s[4];
	char name[16];
};
enum color { RED, BLUE };
struct node {
	int id;
	struct node *next;
	struct in in;
	struct in *pin;
	char *label;
	unsigned long big;
	double d;
	enum color color;
	union {
		int as_int;
		char as_char[4];
	};
};
int global_n = 5;
static struct node stat_node = { .id = 40 };

static inline int twice(int x)
{
	return x * 2 + global_n;
}

__attribute__((noinline)) int work(struct node *n, unsigned len, const char *text, long k)
{
	int local = twice((int)len);

	for (unsigned i = 0; i < len; i++) {
		local += n->id * (int)i;
		if (n->next)
			local ^= n->next->id;
	}
	local += twice((int)k);
	printf("%s %d\n", text, local);
	return local;
}

__attribute__((noinline)) char *lab(struct node *n)
{
	stat_node.id++;
	return n->label;
}

int main(int argc, char **argv)
{
	struct node a = { .id = 1, .label = "hello", .big = 77, .color = BLUE, .as_int = 9 };
	struct node b = { .id = 2, .next = &a };

	a.next = &b;
	a.in.flags = 5;
	a.in.more = 17;
	a.in.s[2] = -3;
	b.pin = &a.in;
	strcpy(a.in.name, "inner");
	for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 3); i++) {
		work(&a, 10 + (unsigned)i, "some text", i);
		puts(lab(&a));
	}
	return 0;
}
