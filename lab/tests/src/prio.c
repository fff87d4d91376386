/* SPDX-License-Identifier: MIT */
/* Calls getpriority(PRIO_PROCESS, WHO) N times: nothing else in a guest does. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1, who = argc > 2 ? atoi(argv[2]) : 0, sum = 0;

	for (int i = 0; i < n; i++)
		sum += getpriority(PRIO_PROCESS, (id_t)who);
	return sum == 12345;
}
