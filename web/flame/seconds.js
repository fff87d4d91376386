// SPDX-License-Identifier: MIT
// The strip of time as a heat map: a column for each second, and up it the offset
// within that second. Patterns that repeat within a second become lines, and a
// stall is a gap. Dragging from a cell to another one keeps the time between.

const SECOND_ROWS = 50;

// Weight by cell: column * SECOND_ROWS + row.
function secondCells() {
	const { p } = app,
		t = tallies(),
		each = 1e9 / SECOND_ROWS,
		columns = Math.ceil((p.time.steps * p.time.step) / 1e9),
		cells = new Float64Array(columns * SECOND_ROWS);
	for (let i = 0; i < p.time.steps; i++)
		cells[Math.min(Math.floor(((i + 0.5) * p.time.step) / each), cells.length - 1)] += t.step[i];
	return { cells, columns, each };
}

const hasSeconds = (p) =>
	hasTime(p) && p.time.step <= (1e9 / SECOND_ROWS) * 1.01 && p.time.step * p.time.steps > (p.head.view.seconds ? 1e9 : 2e9);

function drawSeconds(ctx, width, height) {
	const { state, p } = app,
		{ cells, columns, each } = secondCells(),
		dark = isDark(),
		css = getComputedStyle(document.documentElement);
	const most = cells.reduce((m, v) => Math.max(m, v), 0) || 1,
		box = secondsBox(width, height, columns);
	const from = state.from * p.time.step,
		to = (state.to + 1) * p.time.step,
		all = state.from === 0 && state.to === p.time.steps - 1;
	ctx.clearRect(0, 0, width, height);
	for (let c = 0; c < columns; c++)
		for (let r = 0; r < SECOND_ROWS; r++) {
			const i = c * SECOND_ROWS + r;
			if (!cells[i]) continue;
			const inside = all || ((i + 0.5) * each >= from && (i + 0.5) * each <= to);
			ctx.globalAlpha = inside ? 1 : 0.25;
			ctx.fillStyle = rgb(heatColor(heatLevel(cells[i], most, false), dark));
			// whole pixels up and down: seams between cells would look like a pattern
			const top = Math.round(box.y + (SECOND_ROWS - 1 - r) * box.h),
				bottom = Math.round(box.y + (SECOND_ROWS - r) * box.h);
			ctx.fillRect(
				box.x + c * box.w,
				top,
				Math.max(box.w - (box.w > 3 ? 1 : 0), 0.5),
				bottom - top
			);
		}
	ctx.globalAlpha = 1;
	ctx.fillStyle = css.getPropertyValue("--muted");
	ctx.font = "10.5px " + app.family;
	ctx.textBaseline = "alphabetic";
	ctx.textAlign = "right";
	for (const ms of [0, 250, 500, 750])
		ctx.fillText(
			ms + " ms",
			box.x - 6,
			box.y + box.h * SECOND_ROWS * (1 - ms / 1000) + (ms ? 3 : 0)
		);
	const gap = Math.max(1, niceStep(columns / Math.max(2, width / 110)));
	for (let s = 0; s < columns; s += gap) {
		const x = box.x + s * box.w;
		ctx.textAlign = x > width - 40 ? "right" : "left";
		ctx.fillText(s + " s", ctx.textAlign === "right" ? width - PAD : x, height - 4);
	}
}

function secondsBox(width, height, columns) {
	const x = 56;
	return { x, y: 5, w: (width - x - PAD) / columns, h: (height - 23) / SECOND_ROWS };
}

// The time at a point of the strip: the beginning of its cell, in ns.
function secondAt(e, canvas) {
	const r = canvas.getBoundingClientRect(),
		{ columns, each } = secondCells(),
		box = secondsBox(r.width, r.height, columns);
	const c = clamp(Math.floor((e.clientX - r.left - box.x) / box.w), 0, columns - 1),
		row = clamp(
			SECOND_ROWS - 1 - Math.floor((e.clientY - r.top - box.y) / box.h),
			0,
			SECOND_ROWS - 1
		);
	return c * 1e9 + row * each;
}
