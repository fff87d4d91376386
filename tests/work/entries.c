/* SPDX-License-Identifier: MIT */
/*
 * entries N: functions that begin with endbr64, each called with 1 to N.
 *
 * Prints the sum of what they return, and then for each at which of its bytes there is a
 * breakpoint: "pushes 4". What follows endbr64 is written out, so that no compiler changes it.
 */
#include <stdio.h>
#include <stdlib.h>

#ifdef __x86_64__
#	define BEGIN(name)                                            \
		".globl " #name "\n.type " #name ", @function\n" #name \
		":\n.cfi_startproc\nendbr64\n"
#	define END(name) ".cfi_endproc\n.size " #	 name ", . - " #	name "\n"
#	define PUSH "push %rbx\n.cfi_adjust_cfa_offset 8\n"
#	define POP "pop %rbx\n.cfi_adjust_cfa_offset -8\n"

/* Whoever gets behind endbr64 came through it: 2n. */
__asm__(".text\n" BEGIN(pushes) PUSH "mov %rdi, %rbx\nlea (%rbx,%rbx), %rax\n" POP
				     "ret\n" END(pushes));
/* A loop that begins there. */
__asm__(".text\n" BEGIN(loops) "1:\n" PUSH "mov %rdi, %rax\n" POP
			       "dec %rdi\njnz 1b\nret\n" END(loops));
/* Another function goes there, near and far. */
__asm__(".text\n" BEGIN(entered) PUSH "mov %rdi, %rax\n" POP "ret\n" END(entered));
__asm__(".text\n" BEGIN(enters_near) "jmp entered + 4\n" END(enters_near));
__asm__(".text\n" BEGIN(far_entered) PUSH "mov %rdi, %rax\n" POP
					  "ret\n" END(far_entered) ".skip 500\n");
__asm__(".text\n" BEGIN(enters_far) "jmp far_entered + 4\n" END(enters_far));
/* Where it goes nobody knows. */
__asm__(".text\n" BEGIN(jumps) PUSH "mov %rdi, %rax\n" POP
				    "lea 1f(%rip), %rcx\njmp *%rcx\n1: ret\n" END(jumps));
/* What follows is no cheaper. */
__asm__(".text\n" BEGIN(moves) "mov %rdi, %rax\nret\n" END(moves));

long pushes(long n), loops(long n), entered(long n), enters_near(long n), far_entered(long n),
	enters_far(long n), jumps(long n), moves(long n);

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		long (*call)(long n);
	} all[] = {
		{ "pushes", pushes },
		{ "loops", loops },
		{ "entered", entered },
		{ "enters_near", enters_near },
		{ "far_entered", far_entered },
		{ "enters_far", enters_far },
		{ "jumps", jumps },
		{ "moves", moves },
	};
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : 3, sum = 0;

	for (long i = 1; i <= n; i++)
		for (size_t k = 0; k < sizeof(all) / sizeof(*all); k++)
			sum += all[k].call(i);
	printf("sum %ld\n", sum);
	for (size_t k = 0; k < sizeof(all) / sizeof(*all); k++)
		for (int at = 0; at <= 4; at += 4)
			if (*((const volatile unsigned char *)all[k].call + at) == 0xcc)
				printf("%s %d\n", all[k].name, at);
	return 0;
}
#else
int main(void)
{
	return 1; /* no other machine has it */
}
#endif
