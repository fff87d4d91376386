// SPDX-License-Identifier: MIT
// The strip above the picture: weight over time; drag over it to keep a range.
function drawTimeline() {
	const { p, state } = app,
		strip = $("timeline");
	// waits that were summed up in the kernel have no times: nothing to see in that
	strip.hidden = !hasTime(p) || tallies().step.filter((v) => v > 0).length < 2;
	if (strip.hidden) return;
	const seconds = state.seconds && hasSeconds(p);
	strip.classList.toggle("tall", seconds);
	strip.querySelector("button").hidden = !hasSeconds(p);
	strip.querySelector("button").setAttribute("aria-pressed", String(seconds));
	const canvas = strip.firstElementChild,
		width = strip.clientWidth,
		height = strip.clientHeight,
		ctx = sharpen(canvas, width, height);
	if (seconds) drawSeconds(ctx, width, height);
	else drawStrip(ctx, width, height);
	canvas.setAttribute("aria-valuetext", timeText(state.from) + " to " + timeText(state.to + 1));
	canvas.setAttribute("aria-valuemin", 0);
	canvas.setAttribute("aria-valuemax", p.time.steps);
	canvas.setAttribute("aria-valuenow", state.from);
}

function drawStrip(ctx, width, height) {
	const { p, state } = app,
		t = tallies(),
		css = getComputedStyle(document.documentElement);
	const usable = width - 2 * PAD,
		n = p.time.steps;
	// equally many steps in a bar: bars of two and of three steps in turn would look like waves
	const each = Math.max(1, Math.ceil((n * 3) / usable)),
		bins = Math.ceil(n / each);
	const sum = new Float64Array(bins);
	for (let i = 0; i < n; i++) sum[Math.floor(i / each)] += t.step[i];
	sum[bins - 1] *= each / (n - (bins - 1) * each);
	// of waits, those that the end of the recording cut short are no measure for the others
	const whole = waitsOnly() ? sum.subarray(0, bins - 1) : sum,
		most = whole.reduce((m, v) => Math.max(m, v), 0) || 1;
	const x = (step) => PAD + (usable * step) / n,
		foot = height - 16;
	const bright = css.getPropertyValue("--accent-soft"),
		dim = css.getPropertyValue("--line-strong");
	for (let i = 0; i < bins; i++) {
		const from = i * each,
			to = Math.min(n, from + each);
		ctx.fillStyle =
			from + each / 2 >= state.from && from + each / 2 <= state.to + 1 ? bright : dim;
		const h = Math.max(sum[i] > 0 ? 1 : 0, Math.min(1, sum[i] / most) * (foot - 3));
		ctx.fillRect(x(from), foot - h, Math.max(x(to) - x(from) - 0.75, 0.5), h);
	}
	ctx.fillStyle = css.getPropertyValue("--muted");
	ctx.font = "10.5px " + app.family;
	ctx.textBaseline = "alphabetic";
	const length = n * p.time.step,
		gap = niceStep(length / Math.max(2, usable / 110));
	for (let at = 0; at <= length; at += gap) {
		const px = PAD + (usable * at) / length;
		ctx.textAlign = at === 0 ? "left" : px > width - 50 ? "right" : "center";
		ctx.fillText(tickText(at, gap), px, height - 4);
	}
	if (state.from > 0 || state.to < n - 1) {
		ctx.fillStyle = css.getPropertyValue("--accent-wash");
		ctx.fillRect(x(state.from), 1, x(state.to + 1) - x(state.from), foot - 1);
		ctx.fillStyle = css.getPropertyValue("--accent");
		ctx.fillRect(x(state.from), 1, 1.5, foot - 1);
		ctx.fillRect(x(state.to + 1) - 1.5, 1, 1.5, foot - 1);
	}
}

// 1, 2 or 5 times a power of ten, at least v.
function niceStep(v) {
	const ten = 10 ** Math.floor(Math.log10(v));
	return [1, 2, 5, 10].map((k) => k * ten).find((k) => k >= v);
}

// A tick's time in the unit its neighbours have, too.
function tickText(ns, gap) {
	const [unit, size] =
		gap >= 5e7 ? ["s", 1e9] : gap >= 5e4 ? ["ms", 1e6] : gap >= 50 ? ["µs", 1e3] : ["ns", 1];
	return (ns / size).toFixed(Math.max(0, Math.ceil(-Math.log10(gap / size) - 1e-9))) + " " + unit;
}

function setUpTimeline() {
	const canvas = $("timeline").firstElementChild;
	let from = null; // [first, last] step under the pointer when it went down
	const stepsAt = (e) => {
		const { p, state } = app,
			last = p.time.steps - 1;
		if (state.seconds && hasSeconds(p)) {
			const t = secondAt(e, canvas);
			return [
				Math.floor(t / p.time.step),
				Math.ceil((t + 1e9 / SECOND_ROWS) / p.time.step) - 1,
			].map((v) => clamp(v, 0, last));
		}
		const box = canvas.getBoundingClientRect(),
			at = Math.floor(
				((e.clientX - box.left - PAD) / (box.width - 2 * PAD)) * p.time.steps
			);
		return [clamp(at, 0, last), clamp(at, 0, last)];
	};
	const span = (a, b) => [Math.min(a[0], b[0]), Math.max(a[1], b[1])];
	canvas.addEventListener("pointerdown", (e) => {
		from = stepsAt(e);
		canvas.setPointerCapture(e.pointerId);
	});
	canvas.addEventListener("pointermove", (e) => {
		if (!from) return;
		[app.state.from, app.state.to] = span(from, stepsAt(e));
		drawTimeline();
	});
	canvas.addEventListener("pointerup", (e) => {
		if (!from) return;
		const to = stepsAt(e);
		if (from[0] === to[0]) setRange(0, app.p.time.steps - 1);
		else setRange(...span(from, to));
		from = null;
	});
	$("timeline")
		.querySelector("button")
		.addEventListener("click", () => change({ seconds: !app.state.seconds }));
	canvas.addEventListener("keydown", (e) => {
		const by = Math.max(1, Math.round(app.p.time.steps / 50)) * (e.key === "ArrowLeft" ? -1 : 1);
		const { from: a, to: b } = app.state;
		if (e.key === "Escape") setRange(0, app.p.time.steps - 1);
		else if (e.key !== "ArrowLeft" && e.key !== "ArrowRight") return;
		else if (e.shiftKey) setRange(a, b + by);
		else if (e.altKey) setRange(a + by, b + by);
		else setRange(a + by, b);
		e.preventDefault();
		e.stopPropagation();
	});
}
