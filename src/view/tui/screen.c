/* SPDX-License-Identifier: MIT */
#include "view/tui/screen.h"

#include <langinfo.h>
#include <locale.h>
#include <ncursesw/curses.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "base/guard.h"
#include "base/mem.h"
#include "base/term.h"

/* From term.h, whose macros take names like columns and lines. */
extern char *tigetstr(const char *name);

static struct {
	bool on, unicode;
	SCREEN *screen;
	FILE *in;
	attr_t style[TUI_STYLES];
	/* to put the terminal back from a signal handler: only what is safe there */
	struct termios before;
	bool has_before;
	char leave[256];
	size_t leave_n;
	int fd;
	struct sigaction old[NSIG];
	stack_t stack;
	void (*behind)(void *ctx);
	void *behind_ctx;
	/* tui_every() */
	int every_ms;
	int (*every)(void *ctx);
	void *every_ctx;
	int64_t every_last;
	struct winsize size; /* what the terminal said of it last */
	bool mouse;
	int mouse_y, mouse_x; /* of the last click, and when it was */
	int64_t mouse_ms;
} tui;

/* Presses and releases (1000), in numbers that have no limit (1006). */
#define MOUSE_ON "\033[?1000h\033[?1006h"
#define MOUSE_OFF "\033[?1006l\033[?1000l"
enum { MOUSE_KEY = 0x700, DOUBLE_MS = 400 }; /* no key of ncurses has such a number */

/*
 * A new size is told by a signal, which interrupts ncurses' read(). One that comes while nothing
 * is read would be seen with the next key only: so it is looked for, this often. The signal counts
 * even where the size is what it was: a terminal that was small for a moment lost what was shown.
 */
enum { LOOK_MS = 250 };
static volatile sig_atomic_t resized;

static void on_resize(int sig)
{
	resized = 1;
}

int64_t tui_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* SIGBUS is base/filemap.h's, which has put_back() called too. */
static const int deadly[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGSEGV, SIGFPE, SIGILL, SIGABRT };

static void put_back(void)
{
	ssize_t n = write(tui.fd, tui.leave, tui.leave_n);

	(void)n;
	if (tui.has_before)
		tcsetattr(tui.fd, TCSANOW, &tui.before);
}

/* The handler is gone when this runs: the signal does what it would have done. */
static void on_deadly(int sig)
{
	put_back();
	raise(sig);
}

static void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_deadly,
				.sa_flags = (int)(SA_RESETHAND | SA_NODEFER | SA_ONSTACK) };

	tui.stack = (stack_t){ .ss_sp = mem_alloc(64 << 10), .ss_size = 64 << 10 };
	sigaltstack(&tui.stack, NULL);
	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < ARRAY_SIZE(deadly); i++)
		sigaction(deadly[i], &sa, &tui.old[deadly[i]]);
}

static void release_signals(void)
{
	stack_t off = { .ss_flags = SS_DISABLE };

	for (size_t i = 0; i < ARRAY_SIZE(deadly); i++)
		sigaction(deadly[i], &tui.old[deadly[i]], NULL);
	sigaction(SIGWINCH, &tui.old[SIGWINCH], NULL);
	sigaltstack(&off, NULL);
	free(tui.stack.ss_sp);
}

/* A terminfo string without its padding, "$<5>". */
static void tui_screen_remember(const char *capability)
{
	const char *s = tigetstr(capability);

	if (!s || (intptr_t)s == -1)
		return;
	for (; *s && tui.leave_n + sizeof(MOUSE_OFF) < sizeof(tui.leave); s++) {
		if (s[0] == '$' && s[1] == '<' && strchr(s, '>'))
			s = strchr(s, '>');
		else
			tui.leave[tui.leave_n++] = *s;
	}
}

int tui_possible(struct err *e)
{
	const char *term = getenv("TERM");

	if (!isatty(STDOUT_FILENO))
		return err_set(e, ENOTTY, "the output is no terminal");
	if (!term || !*term || strcmp(term, "dumb") == 0)
		return err_set(e, ENOTTY, "TERM does not name a terminal that can move its cursor");
	return 0;
}

static void make_styles(void)
{
	static const struct {
		short color;
		attr_t with, without; /* attributes, where there are colours and where not */
	} styles[TUI_STYLES] = {
		[TUI_PLAIN] = { -1, 0, 0 },
		[TUI_BOLD] = { -1, A_BOLD, A_BOLD },
		[TUI_DIM] = { -1, A_DIM, A_DIM },
		[TUI_TITLE] = { -1, A_REVERSE | A_BOLD, A_REVERSE | A_BOLD },
		[TUI_HEAD] = { -1, A_BOLD | A_UNDERLINE, A_BOLD | A_UNDERLINE },
		[TUI_HINT] = { -1, A_REVERSE, A_REVERSE },
		[TUI_HINT_KEY] = { -1, A_REVERSE | A_BOLD, A_REVERSE | A_BOLD },
		[TUI_HOT] = { COLOR_RED, A_BOLD, A_BOLD },
		[TUI_WARM] = { COLOR_GREEN, 0, 0 },
		[TUI_SOURCE] = { COLOR_BLUE, A_BOLD, A_DIM },
		[TUI_ARROW] = { COLOR_CYAN, 0, 0 },
		[TUI_FOUND] = { COLOR_YELLOW, A_BOLD, A_BOLD | A_UNDERLINE },
		[TUI_ERROR] = { COLOR_RED, A_BOLD, A_BOLD },
		[TUI_BOX] = { -1, 0, 0 },
	};
	bool colors = term_color(stdout) && has_colors() && start_color() == OK;

	if (colors)
		use_default_colors();
	for (int i = 0; i < TUI_STYLES; i++) {
		tui.style[i] = colors ? styles[i].with : styles[i].without;
		if (colors && styles[i].color >= 0) {
			init_pair((short)(i + 1), styles[i].color, -1);
			tui.style[i] |= (attr_t)COLOR_PAIR(i + 1);
		}
	}
}

int tui_start(struct err *e)
{
	int r = tui_possible(e);

	if (r < 0)
		return r;
	setlocale(LC_CTYPE, "");
	tui.unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	tui.fd = STDOUT_FILENO;
	/* what is read from stdin may be the recording */
	tui.in = isatty(STDIN_FILENO) ? stdin : fopen("/dev/tty", "re");
	if (!tui.in)
		return err_set(e, ENOTTY, "there is no terminal to read keys from");
	tui.has_before = tcgetattr(tui.fd, &tui.before) == 0;
	set_escdelay(25);
	sigaction(SIGWINCH, &(struct sigaction){ .sa_handler = on_resize }, &tui.old[SIGWINCH]);
	tui.screen = newterm(NULL, guard_stdout(), tui.in);
	if (!tui.screen) {
		if (tui.in != stdin)
			fclose(tui.in);
		return err_set(e, ENOTTY, "TERM=%s is no terminal that ncurses knows",
			       getenv("TERM"));
	}
	tui.leave_n = 0;
	tui_screen_remember("sgr0");
	tui_screen_remember("op");
	tui_screen_remember("rmkx");
	tui_screen_remember("cnorm");
	tui_screen_remember("rmcup");
	/* terminals that know no mouse leave it at that */
	memcpy(tui.leave + tui.leave_n, MOUSE_OFF, strlen(MOUSE_OFF));
	tui.leave_n += strlen(MOUSE_OFF);
	catch_signals();
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	curs_set(0);
	make_styles();
	ioctl(tui.fd, TIOCGWINSZ, &tui.size);
	mem_on_end(put_back);
	tui.on = true;
	define_key("\033[<", MOUSE_KEY);
	refresh();
	tui_mouse(true);
	return 0;
}

void tui_end(void)
{
	if (!tui.on)
		return;
	tui_mouse(false);
	tui.on = false;
	tui.behind = NULL;
	mem_on_end(NULL);
	endwin();
	release_signals();
	delscreen(tui.screen);
	if (tui.in != stdin)
		fclose(tui.in);
}

int tui_height(void)
{
	return LINES;
}

int tui_width(void)
{
	return COLS;
}

bool tui_unicode(void)
{
	return tui.unicode;
}

void tui_show(void)
{
	refresh();
}

void tui_clear(void)
{
	erase();
	curs_set(0);
}

void tui_behind(void (*draw)(void *ctx), void *ctx)
{
	tui.behind = draw;
	tui.behind_ctx = ctx;
}

void tui_draw_behind(void)
{
	tui_clear();
	if (tui.behind)
		tui.behind(tui.behind_ctx);
}

static int tui_screen_key_of(wint_t c)
{
	static const struct {
		wint_t curses;
		int key;
	} keys[] = {
		{ KEY_UP, TUI_KEY_UP },
		{ KEY_DOWN, TUI_KEY_DOWN },
		{ KEY_LEFT, TUI_KEY_LEFT },
		{ KEY_RIGHT, TUI_KEY_RIGHT },
		{ KEY_PPAGE, TUI_KEY_PAGE_UP },
		{ KEY_NPAGE, TUI_KEY_PAGE_DOWN },
		{ KEY_HOME, TUI_KEY_HOME },
		{ KEY_END, TUI_KEY_END },
		{ KEY_DC, TUI_KEY_DELETE },
		{ KEY_BTAB, TUI_KEY_BACK_TAB },
		{ KEY_SLEFT, TUI_KEY_SHIFT_LEFT },
		{ KEY_SRIGHT, TUI_KEY_SHIFT_RIGHT },
		{ KEY_RESIZE, TUI_KEY_RESIZE },
		{ KEY_ENTER, TUI_KEY_ENTER },
		{ KEY_BACKSPACE, TUI_KEY_BACKSPACE },
		{ KEY_F(1), TUI_KEY_HELP },
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].curses == c)
			return keys[i].key;
	return TUI_KEY_OTHER;
}

void tui_every(int ms, int (*fn)(void *ctx), void *ctx)
{
	tui.every_ms = ms;
	tui.every = fn;
	tui.every_ctx = ctx;
	tui.every_last = tui_now_ms();
}

/* When the terminal has, or had, another size, all is drawn anew, and the next key is KEY_RESIZE.
 */
static void look_at_size(void)
{
	bool told = resized;
	struct winsize now;

	resized = 0;
	if (ioctl(tui.fd, TIOCGWINSZ, &now) < 0 || !now.ws_row || !now.ws_col ||
	    (!told && now.ws_row == tui.size.ws_row && now.ws_col == tui.size.ws_col))
		return;
	tui.size = now;
	clearok(curscr, TRUE);
	if (is_term_resized(now.ws_row, now.ws_col))
		resizeterm(now.ws_row, now.ws_col);
	else
		ungetch(KEY_RESIZE);
}

/* Whether there is nobody any more who could press a key. */
static bool is_closed(int reason)
{
	struct pollfd p = { .fd = fileno(tui.in), .events = POLLIN };

	return reason == EIO || (poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLERR | POLLNVAL));
}

/* One wait, no longer than until the next call of every(), or the next look at the size. */
static int wait_key(wint_t *c, int timeout_ms, bool *closed)
{
	int64_t due = tui.every_ms ? tui.every_last + tui.every_ms - tui_now_ms() : LOOK_MS;
	int r;

	if (due < 0)
		due = 0;
	if (due > LOOK_MS)
		due = LOOK_MS;
	look_at_size();
	errno = 0;
	timeout(timeout_ms < 0 || due < timeout_ms ? (int)due : timeout_ms);
	r = get_wch(c);
	*closed = r == ERR && is_closed(errno);
	if (tui.every_ms && tui_now_ms() - tui.every_last >= tui.every_ms) {
		tui.every_last = tui_now_ms();
		*closed = *closed || tui.every(tui.every_ctx) < 0;
	}
	return r;
}

void tui_mouse(bool on)
{
	const char *text = on ? MOUSE_ON : MOUSE_OFF;
	ssize_t n = write(tui.fd, text, strlen(text));

	(void)n;
	tui.mouse = on;
}

bool tui_mouse_is_on(void)
{
	return tui.mouse;
}

void tui_mouse_at(int *y, int *x)
{
	*y = tui.mouse_y;
	*x = tui.mouse_x;
}

/* The rest of "ESC [ < BUTTON ; X ; Y M": a key, or TUI_KEY_NONE for what nobody waits for. */
static int read_mouse(void)
{
	int number[3] = { 0 }, at = 0, y, x;
	wint_t c = 0;
	bool twice;

	timeout(100);
	while (get_wch(&c) == OK && c != 'M' && c != 'm') {
		if (c == ';')
			at++;
		else if (c < '0' || c > '9' || at > 2 || number[at] > 99999)
			return TUI_KEY_NONE;
		else
			number[at] = number[at] * 10 + (int)(c - '0');
	}
	if (c != 'M' || at != 2)
		return TUI_KEY_NONE;
	if (number[0] == 64 || number[0] == 65)
		return number[0] == 64 ? TUI_KEY_WHEEL_UP : TUI_KEY_WHEEL_DOWN;
	if (number[0] != 0)
		return TUI_KEY_NONE;
	x = number[1] - 1;
	y = number[2] - 1;
	twice = tui_now_ms() - tui.mouse_ms < DOUBLE_MS && y == tui.mouse_y && x == tui.mouse_x;
	tui.mouse_y = y;
	tui.mouse_x = x;
	tui.mouse_ms = twice ? 0 : tui_now_ms();
	return twice ? TUI_KEY_DOUBLE : TUI_KEY_CLICK;
}

int tui_key(int timeout_ms)
{
	int mouse = TUI_KEY_NONE;
	int64_t end = timeout_ms < 0 ? INT64_MAX : tui_now_ms() + timeout_ms;
	bool closed = false;
	wint_t c = 0;
	int r = ERR;

	refresh();
	do {
		int64_t left = timeout_ms < 0 ? -1 : end - tui_now_ms();

		r = wait_key(&c, left < 0 && timeout_ms >= 0 ? 0 : (int)left, &closed);
		if (r == KEY_CODE_YES && c == MOUSE_KEY) {
			mouse = read_mouse();
			r = mouse == TUI_KEY_NONE ? ERR : r;
		}
	} while (r == ERR && !closed && tui_now_ms() < end);
	if (r == KEY_CODE_YES)
		return mouse != TUI_KEY_NONE ? mouse : tui_screen_key_of(c);
	if (r == ERR)
		return closed ? TUI_KEY_CLOSED : TUI_KEY_NONE;
	switch (c) {
	case '\r': return TUI_KEY_ENTER;
	case '\b': return TUI_KEY_BACKSPACE;
	case 2: return TUI_KEY_PAGE_UP; /* Ctrl-B, Ctrl-F as in vi and less */
	case 6: return TUI_KEY_PAGE_DOWN;
	case 12: clearok(curscr, TRUE); return TUI_KEY_RESIZE; /* Ctrl-L */
	default: return (int)c;
	}
}

struct tui_line tui_line_in(int y, int x, int width, bool selected)
{
	return (struct tui_line){ .y = y, .x = x, .end = x + width, .selected = selected };
}

struct tui_line tui_line(int y, bool selected)
{
	return tui_line_in(y, 0, COLS, selected);
}

static attr_t attr_of(const struct tui_line *l, enum tui_style s)
{
	attr_t a = tui.style[s];

	/* the cursor's line is one bar, in which only bold stays */
	return l->selected ? (a & A_BOLD) | A_REVERSE : a;
}

/* The next character of a text, '?' for what cannot be shown; how many bytes it had. */
static size_t next_char(const char *s, size_t n, mbstate_t *st, wchar_t *ret, int *width)
{
	size_t used = mbrtowc(ret, s, n, st);

	if (used == (size_t)-1 || used == (size_t)-2 || used == 0) {
		memset(st, 0, sizeof(*st));
		*ret = L'?';
		*width = 1;
		return 1;
	}
	*width = wcwidth(*ret);
	if (*width < 0) {
		*ret = L'?';
		*width = 1;
	}
	return used;
}

void tui_putn(struct tui_line *l, enum tui_style s, const char *text, size_t n)
{
	mbstate_t st = { 0 };

	if (l->y < 0 || l->y >= LINES)
		return;
	attrset(attr_of(l, s));
	while (n) {
		wchar_t c[2] = { 0 };
		int width;
		size_t used = next_char(text, n, &st, &c[0], &width);

		text += used;
		n -= used;
		if (l->skip > 0) {
			l->skip -= width;
			continue;
		}
		if (l->x + width > l->end || l->x + width > COLS)
			break;
		mvaddnwstr(l->y, l->x, c, 1);
		l->x += width;
	}
	attrset(A_NORMAL);
}

void tui_put(struct tui_line *l, enum tui_style s, const char *text)
{
	tui_putn(l, s, text, strlen(text));
}

void tui_printf(struct tui_line *l, enum tui_style s, const char *fmt, ...)
{
	AUTO_FREE char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (text)
		tui_put(l, s, text);
}

int tui_columns(const char *text)
{
	size_t n = strlen(text);
	mbstate_t st = { 0 };
	int columns = 0;

	while (n) {
		wchar_t c;
		int width;
		size_t used = next_char(text, n, &st, &c, &width);

		text += used;
		n -= used;
		columns += width;
	}
	return columns;
}

const char *tui_cut(const char *text, int width, char *buf, size_t size)
{
	const char *mark = tui.unicode ? "…" : "~";
	size_t n = strlen(text), at = 0;
	mbstate_t st = { 0 };
	int left = width - 1; /* for the mark */

	if (tui_columns(text) <= width || width < 1)
		return text;
	while (at < n) {
		wchar_t c;
		int columns;
		size_t used = next_char(text + at, n - at, &st, &c, &columns);

		if (columns > left || at + used + 4 > size)
			break;
		left -= columns;
		at += used;
	}
	snprintf(buf, size, "%.*s%s", (int)at, text, mark);
	return buf;
}

const char *tui_cut_front(const char *text, int width, char *buf, size_t size)
{
	if (tui_columns(text) <= width || width < 1)
		return text;
	do
		text++;
	while ((*text & 0xc0) == 0x80 || tui_columns(text) > width - 1);
	snprintf(buf, size, "%s%s", tui.unicode ? "…" : "~", text);
	return buf;
}

static void tui_screen_blanks(struct tui_line *l, enum tui_style s, int n)
{
	attrset(attr_of(l, s));
	for (; n > 0 && l->x < l->end && l->x < COLS && l->y < LINES; n--) {
		if (l->skip > 0)
			l->skip--;
		else
			mvaddch(l->y, l->x++, ' ');
	}
	attrset(A_NORMAL);
}

void tui_cell(struct tui_line *l, enum tui_style s, const char *text, int width)
{
	int columns = tui_columns(text);
	struct tui_line cell = *l;

	if (columns > width && cell.skip == 0) {
		if (cell.end > cell.x + width)
			cell.end = cell.x + width;
		tui_put(&cell, s, text);
		l->x = cell.x;
		return;
	}
	tui_put(l, s, text);
	tui_screen_blanks(l, s, width - columns);
}

void tui_fill(struct tui_line *l, enum tui_style s)
{
	l->skip = 0;
	tui_screen_blanks(l, s, l->end - l->x);
}

enum tui_style tui_heat(double percent)
{
	return percent >= 5 ? TUI_HOT : percent > 0.5 ? TUI_WARM : TUI_PLAIN;
}

void tui_cursor(int y, int x)
{
	curs_set(y >= 0);
	if (y >= 0)
		move(y, x);
}
