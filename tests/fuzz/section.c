/* SPDX-License-Identifier: MIT */
/* Names of kernel functions in a recording: as a section, as columns, and as a text to pack. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "store/perfdata/abi.h"
#include "store/perfdata/kallsyms.h"

/* What is packed comes back. */
static void pack(const char *text, size_t n)
{
	AUTO_STRBUF b = { 0 };
	AUTO_STRBUF back = { 0 };

	if (!n)
		return;
	perfdata_kallsyms_pack(text, n, &b);
	if (perfdata_kallsyms_unpack((const uint8_t *)b.data, b.n, false, &back) < 0 ||
	    back.n != n || memcmp(back.data, text, n) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfdata_kallsyms head = { PERFDATA_KALLSYMS_COLUMNS, (uint32_t)size };
	AUTO_STRBUF text = { 0 };
	AUTO_STRBUF columns = { 0 };
	AUTO_STRBUF from_columns = { 0 };

	if (perfdata_kallsyms_unpack(data, size, false, &text) == 0)
		pack(text.data, text.n);
	strbuf_add(&columns, (const char *)&head, sizeof(head));
	strbuf_add(&columns, (const char *)data, size);
	if (perfdata_kallsyms_unpack((const uint8_t *)columns.data, columns.n, false,
				     &from_columns) == 0)
		pack(from_columns.data, from_columns.n);
	pack((const char *)data, size);
	return 0;
}
