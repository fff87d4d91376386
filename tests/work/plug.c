/* SPDX-License-Identifier: MIT */
/* arch: none (built by Meson as plug1.so and plug2.so, with another FRAME each; see plugs.c) */
#ifndef FRAME
#	define FRAME 100
#endif

void plug(void (*fn)(void));

void plug(void (*fn)(void))
{
	volatile char frame[FRAME];

	frame[0] = frame[FRAME - 1] = 1;
#if FRAME > 100
	{
		volatile char more[FRAME * 20];

		more[0] = more[FRAME * 20 - 1] = frame[0];
		fn();
		frame[0] = more[0];
	}
#else
	fn();
#endif
	frame[0] = frame[FRAME - 1];
}
