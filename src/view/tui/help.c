/* SPDX-License-Identifier: MIT */
/* The keys of every view. */
#include "base/str.h"
#include "view/tui/report.h"

static const char everywhere[] =
	"Everywhere:\n"
	"  Up Down  j k       move\n"
	"  PgUp PgDn Space    a page\n"
	"  Home End  g G      to the first, the last\n"
	"  /  n  N            search; on; back\n"
	"  q                  back; from the first view out of the program\n"
	"  Q                  out of the program\n"
	"  ? h F1             this help\n"
	"  Ctrl-L             draw the screen anew\n"
	"  the mouse          the wheel scrolls, a click selects or sorts, two open\n"
	"  M                  in the report: give the mouse to the terminal, take it back\n"
	"\n";

const char tui_help_report[] =
	"Rows:\n"
	"  Enter e +          open or close its call graph, or the rows below it\n"
	"  m                  menu of what can be done with the row\n"
	"  E  C               open everything, close everything\n"
	"  Right              open; when it is open already, the menu\n"
	"  Left Esc           close; go out; take back the last filter or zoom\n"
	"  a                  annotate: its code, with the share of each instruction\n"
	"  c                  its callers above and its callees below\n"
	"  s                  functions, callers and descendants in three panes\n"
	"  { }  Shift-Left/Right   scroll sideways\n"
	"\n"
	"Which rows:\n"
	"  t  d               zoom into the row's thread, its file; again: out\n"
	"  \\                  only rows that contain a text\n"
	"  L                  least percentage of rows and branches\n"
	"  F                  shares of everything, or of the rows that are left\n"
	"  <  >               sort by another column\n"
	"  #                  show the number of samples\n"
	"  1 2 3  0           by image, by symbol, by thread; as at the start\n"
	"  S                  sum by other keys (comm, dso, symbol, pid, cpu ...)\n"
	"  Tab Shift-Tab      next, previous event\n"
	"\n"
	"The recording:\n"
	"  i                  what it says of itself\n"
	"  P                  print what is listed to a file\n"
	"\n"
	"Live views (kymo top):\n"
	"  f                  freeze, and go on\n"
	"  z                  forget what was counted so far\n"
	"\n"
	"Children is the share of samples in a function or in anything it called, Self that of "
	"the function alone. Shares from 5% are red, those from 0.5% green.\n";

const char tui_help_annotate[] =
	"Code:\n"
	"  H                  to the hottest instruction\n"
	"  Tab Shift-Tab      to the next hottest, the one before\n"
	"  Enter Right        on a jump: to its target; on a call: into the function\n"
	"  Left Esc           back\n"
	"  ]  [               the next hottest function, the one before\n"
	"  s                  source lines, or only instructions\n"
	"  J                  arrows of jumps\n"
	"  o                  bytes of instructions\n"
	"  t                  percentages, samples, periods\n"
	"  p                  percentages of the function, or of everything\n"
	"  P                  print to a file\n"
	"  { }  Shift-Left/Right   scroll sideways\n"
	"\n"
	"A sample counts for the instruction its address lies in. Interrupts come late: often the "
	"one before it is what took the time.\n";

const char tui_help_panes[] =
	"Panes:\n"
	"  Tab Shift-Tab      the next pane, the one before\n"
	"  Enter Right        functions, callers: to that function; descendants: open it\n"
	"  Left Esc           close; to the functions; back\n"
	"  e +                open or close a descendant;  E C  all of them\n"
	"  <  >               functions by total or by self\n"
	"  a                  annotate the function\n"
	"  c                  its callers above and its callees below\n"
	"  \\                  only functions that contain a text\n"
	"\n"
	"The left pane lists functions by the share of samples in them and below them. The others "
	"show who called the selected one, and what it called, with shares of all samples.\n";

const char tui_help_around[] =
	"Callers above, callees below:\n"
	"  Enter Right        make that function the middle one\n"
	"  Left Esc           back to the one before\n"
	"  a                  annotate the function\n"
	"  s                  three panes\n"
	"\n"
	"Callers have the share of samples in which they called the function, callees that in "
	"which it called them; Self of the function is what it did itself.\n";

enum tui_exit tui_help(const char *keys)
{
	AUTO_STRBUF b = { 0 };

	strbuf_puts(&b, keys);
	strbuf_puts(&b, "\n");
	strbuf_puts(&b, everywhere);
	return tui_page("Keys", b.data);
}
