/* SPDX-License-Identifier: MIT */
/* kymo flame: from stacks to the file. */
#include "cmd/picture/flame.h"

#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "cmd/command.h"
#include "view/picture/flame_html.h"
#include "view/picture/folded.h"

#define PALETTE "palette.map"

/* The whole, for the words at the end. */
static uint64_t samples(const struct stacks *s, uint32_t type)
{
	uint64_t n = 0;

	vec_each (&s->entries, en)
		n += type == CALLTREE_ALL_TYPES || en->type == type ? en->count : 0;
	return n;
}

/* Different stacks that entries have; those that others took the place of do not count. */
static size_t used_stacks(const struct stacks *s)
{
	AUTO_FREE bool *used = mem_alloc(s->stacks.n + 1);
	size_t n = 0;

	vec_each (&s->entries, en) {
		if (en->stack >= s->stacks.n)
			continue;
		n += !used[en->stack];
		used[en->stack] = true;
	}
	return n;
}

static int read_palette(struct flame_palette *p, struct err *e)
{
	AUTO_FREE char *text = NULL;
	size_t n;
	int r = file_read_input(PALETTE, 64 << 20, &text, &n);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return err_set(e, -r, "cannot read %s: %s", PALETTE, strerror(-r));
	flame_palette_read(p, text, n);
	return 0;
}

static int write_palette(const struct flame_palette *p, struct err *e)
{
	struct picture_output out;
	int r = picture_open(&out, PALETTE, e);

	if (r < 0)
		return r;
	flame_palette_write(p, out.f);
	return picture_close(&out, true, e);
}

/* Are there only waits whose time nobody knows? */
static bool waits_untimed(const struct recorded *in, uint32_t type)
{
	return !in->folded && in->off_type != UINT32_MAX &&
	       (type == in->off_type || type == CALLTREE_ALL_TYPES);
}

#define EACH_WAIT "kymo record --off-cpu --off-cpu-thresh 1 keeps the time of each from 1 ms on"

/* Of waits that were summed up in the kernel nobody knows when they were. */
static int say_untimed(struct calltree *t, struct err *e)
{
	char share[16];

	if (t->timed) {
		command_note(
			"%s of the weight is not in the chart: short waits were summed up, and "
			"nobody knows when they were (" EACH_WAIT ")",
			str_percent(t->left_out, 1, share, sizeof(share)));
		return 0;
	}
	calltree_free(t);
	err_set(e, ENODATA, "when the waits were is not known: they were summed up in the kernel");
	return err_hint(e, EACH_WAIT);
}

static int draw_svg(struct flame_args *a, const struct recorded *in, uint32_t type, FILE *f,
		    struct err *e)
{
	struct flame_palette palette = { 0 };
	struct calltree_opts o = {
		.label = a->label,
		.sort = a->svg.flamechart ? CALLTREE_BY_TIME : a->sort,
		.type = type,
		.reverse = a->reverse,
		.collapse_recursion = a->collapse,
		.merge_unknown = !in->folded,
		.min_share = flame_svg_min_share(&a->svg),
	};
	struct calltree t = { 0 };
	int r = a->cp ? read_palette(&palette, e) : 0;

	a->svg.compare = in->two;
	a->svg.normalize = !a->no_normalize;
	a->svg.palette = a->cp ? &palette : NULL;
	if (!a->colors) /* waiting is blue, and who ends it aqua */
		a->svg.colors = a->wakers				     ? "chain"
				: in->off_type == type && type != UINT32_MAX ? "io"
									     : "hot";
	a->svg.countname = a->countname ? a->countname
			   : in->folded ? "samples" /* as flamegraph.pl has it */
					: stacks_unit(&in->side[0], a->wall ? in->off_type : type);
	if (r == 0)
		r = calltree_make(&in->side[0], in->two ? &in->side[1] : NULL, &o, &t, e);
	if (r == 0 && t.timed && !a->countname)
		a->svg.countname = "ns";
	if (!a->countname && a->svg.factor == 1 && strcmp(a->svg.countname, "ns") == 0) {
		a->svg.countname = "ms"; /* nobody reads ten digits of ns */
		a->svg.factor = 1e-6;
	}
	if (r == 0 && a->svg.flamechart && (t.timed ? t.left_out > 0 : waits_untimed(in, type)))
		r = say_untimed(&t, e);
	if (r == 0) {
		double sum = (double)t.nodes.data[0].total[0];

		if (a->svg.total > 0 && a->svg.total < sum)
			command_note(
				"--total is less than the sum of the stacks, %.0f; it is ignored",
				sum);
		r = flame_svg_write(f, &t, &a->svg, e);
		calltree_free(&t);
	}
	if (r == 0 && a->cp)
		r = write_palette(&palette, e);
	flame_palette_free(&palette);
	return r;
}

static const char *input_name(const char *path)
{
	return strcmp(path, "-") == 0 ? "standard input" : str_base_name(path);
}

void flame_say_pruned(const struct flame_html_info *h)
{
	char count[64], share[16];
	AUTO_STRBUF b = { 0 };

	if (h->pruned_stacks)
		strbuf_printf(&b, "frames below %.2g%% (in %s, %s of the weight)",
			      100 * h->min_share,
			      str_count(h->pruned_stacks, "stack", count, sizeof(count)),
			      str_percent(h->pruned_share, 1, share, sizeof(share)));
	if (h->cpus_dropped)
		strbuf_printf(&b, "%sCPU numbers", b.n ? ", " : "");
	if (b.n)
		command_note("left out to keep the file small: %s; --max-size allows more",
			     strbuf_str(&b));
	if (h->uncompressed)
		command_note(
			"the file is larger than it need be: this kymo was built without zlib");
}

static int draw_html(struct flame_args *a, const struct recorded *in, uint32_t type,
		     const char *const file[2], FILE *f, struct err *e)
{
	AUTO_STRBUF title = { 0 };
	struct flame_html_opts o = {
		.subtitle = a->svg.subtitle,
		.notes = a->svg.notes,
		.unit = a->countname,
		.names = { input_name(file[0]), file[1] ? input_name(file[1]) : NULL },
		.label = a->label,
		.type = type,
		.first = in->first_type,
		.max_bytes = a->max_size,
		.reverse = a->reverse,
		.inverted = a->svg.inverted,
		.chart = a->svg.flamechart,
		.collapse_recursion = a->collapse,
		.wall = a->wall,
		.by_size = a->sort == CALLTREE_BY_SIZE,
		.normalize = !a->no_normalize,
		.merge_unknown = !in->folded,
	};
	struct flame_html_info info;
	int r;

	strbuf_puts(&title, input_name(file[0]));
	if (file[1])
		strbuf_printf(&title, " \xe2\x86\x92 %s", input_name(file[1]));
	else if (in->two)
		o.names[0] = NULL;
	o.title = a->svg.title ? a->svg.title : strbuf_str(&title);
	r = flame_html_write(f, &in->side[0], in->two ? &in->side[1] : NULL, &o, &info, e);
	if (r == 0 && !a->quiet)
		flame_say_pruned(&info);
	return r;
}

static int draw_folded(const struct flame_args *a, const struct recorded *in, uint32_t type,
		       FILE *f, struct err *e)
{
	struct folded_opts o = {
		.tidy = !in->folded,
		.kernel = a->kernel || a->all || in->folded,
		.jit = a->jit || a->all || in->folded,
		.inlined = a->inlined || a->all || in->folded,
		.pid = a->label == CALLTREE_LABEL_PID,
		.tid = a->label == CALLTREE_LABEL_TID,
		.type = type,
	};

	return folded_write(f, &in->side[0], in->two ? &in->side[1] : NULL, &o, e);
}

static void flame_draw_say_written(const struct flame_args *a, const struct recorded *in,
				   uint32_t type)
{
	/* what folded text counts is for its writer to say */
	const char *what = !in->folded ? "sample" : a->countname ? a->countname : "count";
	bool plural = !in->folded || !a->countname;
	uint64_t sum[2];
	char n[2][64], idle[128];

	if (in->note)
		command_note("%s", in->note);
	if (a->quiet || strcmp(a->output, "-") == 0)
		return;
	if (idle_words(&in->idle, idle, sizeof(idle))[0])
		command_note("%s", idle);
	for (int i = 0; i < 2; i++) {
		sum[i] = samples(&in->side[i], in->several ? 0 : type);
		str_thousands(sum[i], n[i], sizeof(n[i]));
	}
	what = plural && sum[0] != 1 ? (in->folded ? "counts" : "samples") : what;
	if (in->two)
		command_note("wrote %s: %s %s compared with %s", a->output, n[0], what, n[1]);
	else if (in->cut)
		command_note("wrote %s: %s %s", a->output, n[0], what);
	else
		command_note("wrote %s: %s %s, %s", a->output, n[0], what,
			     str_count(used_stacks(&in->side[0]), "different stack", n[1],
				       sizeof(n[1])));
}

/* On and off the CPU can be added where both are ns; other events are left out. */
static int check_wall(const struct recorded *in, struct err *e)
{
	const struct stacks *s = &in->side[0];
	bool on = false;

	for (uint32_t i = 0; i < s->type_names.n; i++)
		on |= i != in->off_type && strcmp(stacks_unit(s, i), "ns") == 0;
	if (in->off_type == UINT32_MAX || in->two) {
		err_set(e, ENODATA, "--wall needs one recording with time off the CPU");
		return err_hint(e, "kymo record -e cpu-clock -g --off-cpu -- COMMAND makes one, or "
				   "kymo flame --wall -- COMMAND at once");
	}
	if (!on) {
		err_set(e, EINVAL, "the recording has no time on the CPU to put beside the waits");
		return err_hint(e, "record with -e cpu-clock, too; --off-cpu shows the waits");
	}
	return 0;
}

/* Entries that are not time do not belong to a picture of all time. */
static void keep_times(struct stacks *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->entries.n; i++)
		if (strcmp(stacks_unit(s, s->entries.data[i].type), "ns") == 0)
			s->entries.data[n++] = s->entries.data[i];
	s->entries.n = n;
}

int flame_draw(struct flame_args *a, const struct recorded *in, const char *const file[2],
	       struct err *e)
{
	const struct stacks *s = &in->side[0];
	/* pictures without a switch show one event: sums of different ones mean nothing */
	uint32_t type = a->format == FLAME_HTML ? CALLTREE_ALL_TYPES : in->first_type;
	struct picture_output out = { 0 };
	int r = a->event ? picture_event(s, a->event, &type, e) : 0, closed;

	if (r == 0 && a->wall)
		r = check_wall(in, e);
	if (r == 0 && a->wall) {
		keep_times((struct stacks *)s);
		type = CALLTREE_ALL_TYPES;
	}
	if (r == 0)
		r = picture_open(&out, a->output, e);
	if (r < 0)
		return r;
	r = a->format == FLAME_SVG	? draw_svg(a, in, type, out.f, e)
	    : a->format == FLAME_FOLDED ? draw_folded(a, in, type, out.f, e)
					: draw_html(a, in, type, file, out.f, e);
	closed = picture_close(&out, r == 0, e);
	r = r == 0 ? closed : r;
	if (r == 0 && !a->event && type < s->type_names.n && picture_events(s) > 1 && !a->quiet)
		command_note("this is the event %s; %s",
			     strtab_get(&s->strings, s->type_names.data[type]),
			     in->off_type < s->type_names.n && in->off_type != type
				     ? "--off-cpu shows where time was waited, --wall both"
				     : "--event-filter names another");
	if (r == 0)
		flame_draw_say_written(a, in, type);
	return r;
}
