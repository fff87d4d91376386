/* SPDX-License-Identifier: MIT */
#include "event/regs.h"

#include <string.h>

#include "base/mem.h"

const char *regs_name(const char *arch, unsigned r, char *buf, size_t size)
{
	static const char *const x86[] = {
		"AX", "BX", "CX", "DX", "SI", "DI", "BP",  "SP",  "IP",	 "FLAGS", "CS",	 "SS",
		"DS", "ES", "FS", "GS", "R8", "R9", "R10", "R11", "R12", "R13",	  "R14", "R15"
	};

	if (arch && (strcmp(arch, "x86_64") == 0 || strcmp(arch, "i686") == 0)) {
		if (r < ARRAY_SIZE(x86))
			return x86[r];
		if (r >= 32) {
			snprintf(buf, size, "XMM%u", (r - 32) / 2);
			return buf;
		}
	}
	if (arch && strcmp(arch, "aarch64") == 0) {
		static const char *const last[] = { "lr", "sp", "pc" };

		if (r >= 30 && r < 33)
			return last[r - 30];
		snprintf(buf, size, r == 46 ? "VG" : "x%u", r);
		return buf;
	}
	snprintf(buf, size, "r%u", r);
	return buf;
}
