/* SPDX-License-Identifier: MIT */
/* Bars, boxes, and the box that says that something takes time. */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "view/tui/screen.h"

void tui_title(const char *left, const char *right)
{
	struct tui_line l = tui_line(0, false);
	int space = tui_width() - (right ? tui_columns(right) + 2 : 0);
	char cut[1024];

	tui_put(&l, TUI_TITLE, " ");
	l.end = space > 20 ? space : tui_width();
	tui_put(&l, TUI_TITLE, tui_cut(left, l.end - l.x, cut, sizeof(cut)));
	if (right && space > 20) {
		l.end = space + 1;
		tui_fill(&l, TUI_TITLE);
		l.end = tui_width();
		tui_put(&l, TUI_TITLE, right);
	}
	l.end = tui_width();
	tui_fill(&l, TUI_TITLE);
}

void tui_hints(const char *const *pairs)
{
	struct tui_line l = tui_line(tui_height() - 1, false);

	tui_put(&l, TUI_HINT, " ");
	for (; pairs[0]; pairs += 2) {
		/* half a hint helps nobody */
		if (l.x + tui_columns(pairs[0]) + tui_columns(pairs[1]) + 1 > tui_width())
			break;
		tui_put(&l, TUI_HINT_KEY, pairs[0]);
		tui_put(&l, TUI_HINT, " ");
		tui_put(&l, TUI_HINT, pairs[1]);
		tui_put(&l, TUI_HINT, "  ");
	}
	tui_fill(&l, TUI_HINT);
}

static void edge(int y, int x, int width, const char *left, const char *line, const char *right)
{
	struct tui_line l = tui_line_in(y, x, width, false);

	tui_put(&l, TUI_BOX, left);
	for (int i = 0; i < width - 2; i++)
		tui_put(&l, TUI_BOX, line);
	tui_put(&l, TUI_BOX, right);
}

void tui_box(int y, int x, int height, int width, const char *title)
{
	bool u = tui_unicode();
	struct tui_line l;

	edge(y, x, width, u ? "┌" : "+", u ? "─" : "-", u ? "┐" : "+");
	for (int i = 1; i < height - 1; i++) {
		l = tui_line_in(y + i, x, width, false);
		tui_put(&l, TUI_BOX, u ? "│" : "|");
		l.end--;
		tui_fill(&l, TUI_BOX);
		l.end++;
		tui_put(&l, TUI_BOX, u ? "│" : "|");
	}
	edge(y + height - 1, x, width, u ? "└" : "+", u ? "─" : "-", u ? "┘" : "+");
	if (title && *title && width > 6) {
		l = tui_line_in(y, x + 2, width - 4, false);
		tui_put(&l, TUI_BOX, " ");
		l.end--;
		tui_put(&l, TUI_BOLD, title);
		l.end++;
		tui_put(&l, TUI_BOX, " ");
	}
}

#define QUICK_MS 150 /* what is done by then needs no box */
#define STEP_MS 200

struct job {
	int (*fn)(void *ctx);
	void *ctx;
	int answer;
	bool done;
	pthread_mutex_t lock;
	pthread_cond_t ended;
};

static void *tui_box_work(void *arg)
{
	struct job *j = arg;
	int r = j->fn(j->ctx);

	pthread_mutex_lock(&j->lock);
	j->answer = r;
	j->done = true;
	pthread_cond_signal(&j->ended);
	pthread_mutex_unlock(&j->lock);
	return NULL;
}

/* Waits up to ms for the job's end. */
static bool ended(struct job *j, int ms)
{
	struct timespec t;
	int r = 0;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += ms * 1000000L;
	t.tv_sec += t.tv_nsec / 1000000000L;
	t.tv_nsec %= 1000000000L;
	pthread_mutex_lock(&j->lock);
	while (!j->done && r != ETIMEDOUT)
		r = pthread_cond_timedwait(&j->ended, &j->lock, &t);
	r = j->done;
	pthread_mutex_unlock(&j->lock);
	return r;
}

static void show_busy(const char *what, int ms)
{
	int width = tui_columns(what) + 24, y = tui_height() / 2 - 2, x;
	struct tui_line l;

	if (width > tui_width())
		width = tui_width();
	x = (tui_width() - width) / 2;
	tui_box(y, x, 4, width, NULL);
	l = tui_line_in(y + 1, x + 2, width - 4, false);
	tui_put(&l, TUI_BOLD, what);
	tui_put(&l, TUI_PLAIN, " ...");
	tui_printf(&l, TUI_PLAIN, " %d s", ms / 1000);
	tui_fill(&l, TUI_PLAIN);
	l = tui_line_in(y + 2, x + 2, width - 4, false);
	tui_put(&l, TUI_DIM, "Ctrl-C quits");
	tui_show();
}

int tui_busy(const char *what, int (*fn)(void *ctx), void *ctx)
{
	struct job j = { .fn = fn, .ctx = ctx };
	pthread_condattr_t clock;
	pthread_attr_t attr;
	pthread_t thread;

	pthread_mutex_init(&j.lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&j.ended, &clock);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16u << 20);
	if (pthread_create(&thread, &attr, tui_box_work, &j) != 0) {
		show_busy(what, 0);
		j.answer = fn(ctx);
	} else {
		if (!ended(&j, QUICK_MS)) {
			int ms = QUICK_MS;

			do {
				show_busy(what, ms);
				ms += STEP_MS;
			} while (!ended(&j, STEP_MS));
		}
		pthread_join(thread, NULL);
	}
	pthread_attr_destroy(&attr);
	pthread_condattr_destroy(&clock);
	pthread_cond_destroy(&j.ended);
	pthread_mutex_destroy(&j.lock);
	return j.answer;
}
