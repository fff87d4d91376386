// SPDX-License-Identifier: MIT
// The heat map on canvas: cells, axes, how many over time above, how many of
// which value and the percentiles beside; the pointer's cell and selection.

const LEFT = 74,
	RIGHT = 180,
	ABOVE = 52,
	BELOW = 30;

// Where the cells are.
function plot() {
	const s = $("stage");
	return {
		x: LEFT,
		y: ABOVE,
		w: Math.max(s.clientWidth - LEFT - RIGHT, 60),
		h: Math.max(s.clientHeight - ABOVE - BELOW, 60),
	};
}

const xOf = (b, t) => b.x + (b.w * (t - app.box.t0)) / (app.box.t1 - app.box.t0 || 1);
const yOf = (b, v) => b.y + b.h * (1 - placeOf(app.grid, v) / app.grid.rows);

const valueText = (v) => weight(v, app.p.unit);

// A value on the axis or beside a line: short.
function shortText(v) {
	return trimmed(valueText(v));
}

function draw() {
	const stage = $("stage"),
		b = plot(),
		g = app.grid,
		css = getComputedStyle(document.documentElement),
		dark = isDark();
	const ctx = sharpen($("picture"), stage.clientWidth, stage.clientHeight);
	if (!app.p.n) {
		$("legend").replaceChildren();
		return; // axes of nothing
	}
	paintCells(ctx, b, g, dark);
	paintAxes(ctx, b, g, css);
	paintMargins(ctx, b, g, css);
	paintPercentiles(ctx, b, css);
	mark();
	showLegend();
}

function paintCells(ctx, b, g, dark) {
	const log = app.state.shade === "log";
	for (let c = 0; c < g.columns; c++)
		for (let r = 0; r < g.rows; r++) {
			const n = g.count[c * g.rows + r];
			if (!n) continue;
			const x = Math.round(b.x + (b.w * c) / g.columns),
				right = Math.round(b.x + (b.w * (c + 1)) / g.columns),
				y = Math.round(b.y + b.h * (1 - (r + 1) / g.rows)),
				bottom = Math.round(b.y + b.h * (1 - r / g.rows));
			ctx.fillStyle = rgb(heatColor(heatLevel(n, g.most, log), dark));
			ctx.fillRect(x, y, right - x - 1, bottom - y - 1);
		}
}

function paintAxes(ctx, b, g, css) {
	ctx.strokeStyle = css.getPropertyValue("--line");
	ctx.fillStyle = css.getPropertyValue("--muted");
	ctx.font = "11px " + app.family;
	ctx.textBaseline = "middle";
	ctx.textAlign = "right";
	ctx.lineWidth = 1;
	for (const v of valueTicks(b, g)) {
		const y = yOf(b, v);
		ctx.beginPath();
		ctx.moveTo(b.x, Math.round(y) + 0.5);
		ctx.lineTo(b.x + b.w, Math.round(y) + 0.5);
		ctx.stroke();
		ctx.fillText(shortText(v), b.x - 8, y);
	}
	ctx.textBaseline = "alphabetic";
	const span = app.box.t1 - app.box.t0,
		gap = niceStep(span / Math.max(2, b.w / 110));
	for (let t = Math.ceil(app.box.t0 / gap) * gap; t <= app.box.t1; t += gap) {
		const x = xOf(b, t);
		ctx.textAlign = x > b.x + b.w - 20 ? "right" : x < b.x + 20 ? "left" : "center";
		ctx.fillText(t === 0 ? "0" : trimmed(duration(t)), x, b.y + b.h + 18);
	}
}

// Round values on the axis, as many as have room: 1, 2 and 5 of each power of ten where it is logarithmic.
function valueTicks(b, g) {
	const low = g.edges[0],
		high = g.edges[g.rows],
		ticks = [];
	if (g.linear || low <= 0) {
		const gap = niceStep((high - low) / Math.max(2, b.h / 30));
		for (let v = Math.ceil(low / gap) * gap; v <= high; v += gap) ticks.push(v);
		return ticks;
	}
	const ten = b.h / Math.max(Math.log10(high / low), 1e-3),
		digits = ten >= 60 ? [1, 2, 5] : [1],
		each = Math.max(1, Math.ceil(18 / ten));
	for (let k = Math.floor(Math.log10(low)); 10 ** k <= high; k++)
		for (const d of k % each ? [] : digits)
			if (d * 10 ** k >= low * 0.999 && d * 10 ** k <= high * 1.001) ticks.push(d * 10 ** k);
	return ticks.length > 1 ? ticks : g.edges.filter((_, i) => i % Math.ceil((22 * g.rows) / b.h) === 0);
}

// Bars above: points over time. Bars beside: points by value.
function paintMargins(ctx, b, g, css) {
	const most = Math.max(...g.column, 1),
		widest = Math.max(...g.row, 1);
	ctx.fillStyle = css.getPropertyValue("--accent-soft");
	g.column.forEach((n, c) => {
		const h = (n / most) * (ABOVE - 28);
		ctx.fillRect(b.x + (b.w * c) / g.columns, b.y - 8 - h, Math.max(b.w / g.columns - 1, 0.5), h);
	});
	g.row.forEach((n, r) => {
		const w = (n / widest) * 54;
		ctx.fillRect(
			b.x + b.w + 8,
			b.y + b.h * (1 - (r + 1) / g.rows),
			w,
			Math.max(b.h / g.rows - 1, 0.5)
		);
	});
	ctx.fillStyle = css.getPropertyValue("--muted");
	ctx.font = "10.5px " + app.family;
	ctx.textAlign = "left";
	ctx.fillText(grouped.format(most) + " in " + duration(g.step), b.x, 13);
}

function paintPercentiles(ctx, b, css) {
	const s = app.sums;
	if (!s.n) return;
	ctx.font = "11px " + app.family;
	ctx.textBaseline = "middle";
	ctx.textAlign = "left";
	ctx.lineWidth = 1;
	let last = Infinity;
	PERCENTS.forEach((q, i) => {
		const v = s.percentiles[i],
			y = yOf(b, v);
		if (v < app.box.v0 || v > app.box.v1) return;
		ctx.strokeStyle = css.getPropertyValue("--muted");
		ctx.setLineDash([2, 4]);
		ctx.beginPath();
		ctx.moveTo(b.x, Math.round(y) + 0.5);
		ctx.lineTo(b.x + b.w + 66, Math.round(y) + 0.5);
		ctx.stroke();
		ctx.setLineDash([]);
		const at = Math.min(y, last - 13);
		ctx.fillStyle = css.getPropertyValue("--text");
		ctx.fillText("p" + q + " " + shortText(v), b.x + b.w + 70, at);
		last = at;
	});
}

// The cell under the pointer or the keyboard's, and the selected box.
function mark() {
	const stage = $("stage"),
		b = plot(),
		css = getComputedStyle(document.documentElement),
		ctx = sharpen($("marks"), stage.clientWidth, stage.clientHeight);
	const sel = app.dragging || app.state.sel;
	if (sel) {
		const x0 = clamp(xOf(b, sel.t0), b.x, b.x + b.w),
			x1 = clamp(xOf(b, sel.t1), b.x, b.x + b.w),
			y0 = clamp(yOf(b, sel.v1), b.y, b.y + b.h),
			y1 = clamp(yOf(b, sel.v0), b.y, b.y + b.h);
		ctx.fillStyle = css.getPropertyValue("--accent-wash");
		ctx.fillRect(x0, y0, x1 - x0, y1 - y0);
		ctx.strokeStyle = css.getPropertyValue("--accent");
		ctx.lineWidth = 1.5;
		ctx.strokeRect(x0, y0, Math.max(x1 - x0, 1), Math.max(y1 - y0, 1));
	}
	for (const [cell, color] of [
		[app.hover, "--outline"],
		[app.cursor, "--focus"],
	]) {
		if (!cell) continue;
		const w = b.w / app.grid.columns,
			h = b.h / app.grid.rows;
		ctx.strokeStyle = css.getPropertyValue(color);
		ctx.lineWidth = 1.5;
		ctx.strokeRect(b.x + cell.c * w, b.y + b.h - (cell.r + 1) * h, w, h);
	}
}

function cellAt(e) {
	const r = $("stage").getBoundingClientRect(),
		b = plot(),
		x = e.clientX - r.left - b.x,
		y = e.clientY - r.top - b.y;
	if (x < 0 || y < 0 || x >= b.w || y >= b.h) return null;
	return {
		c: Math.floor((x / b.w) * app.grid.columns),
		r: app.grid.rows - 1 - Math.floor((y / b.h) * app.grid.rows),
	};
}

// The box of time and value that cells span: it ends before the next cell begins, and with the last
// cell where the picture does, whatever the sum of its steps rounds to.
function boxOf(a, z) {
	const g = app.grid,
		c0 = Math.min(a.c, z.c),
		c1 = Math.max(a.c, z.c),
		r0 = Math.min(a.r, z.r),
		r1 = Math.max(a.r, z.r);
	const t0 = Math.ceil(g.t0 + c0 * g.step);
	return {
		t0,
		t1: c1 === g.columns - 1 ? app.box.t1 : Math.max(t0, Math.ceil(g.t0 + (c1 + 1) * g.step) - 1),
		v0: r0 === 0 ? 0 : g.edges[r0],
		v1: r1 === g.rows - 1 ? g.edges[g.rows] : g.edges[r1 + 1] * (1 - Number.EPSILON),
	};
}

function cellText(cell) {
	const g = app.grid,
		n = g.count[cell.c * g.rows + cell.r],
		b = boxOf(cell, cell);
	return [
		grouped.format(n) + (n === 1 ? " point" : " points"),
		shortText(g.edges[cell.r]) + " to " + shortText(b.v1),
		"at " + duration(b.t0) + " to " + duration(b.t1),
		percent(n, g.n) + " of what is shown",
	];
}

function showTip(cell, e) {
	const tip = $("tip");
	if (!cell || !app.grid.count[cell.c * app.grid.rows + cell.r]) {
		tip.hidden = true;
		return;
	}
	const [n, values, when, share] = cellText(cell);
	tip.replaceChildren(
		make("p", { class: "name", text: n }),
		make("p", { class: "from", text: values }),
		make("p", { class: "from", text: when }),
		make("p", { class: "from", text: share })
	);
	tip.hidden = false;
	const box = tip.getBoundingClientRect(),
		x = e.clientX + 16 + box.width > innerWidth ? e.clientX - box.width - 12 : e.clientX + 16,
		y = e.clientY + 20 + box.height > innerHeight ? e.clientY - box.height - 14 : e.clientY + 20;
	tip.style.transform = "translate(" + Math.max(4, x) + "px," + Math.max(4, y) + "px)";
}

function setUpPicture() {
	const stage = $("stage");
	let from = null;
	stage.addEventListener("pointerdown", (e) => {
		if (e.button !== 0) return;
		from = cellAt(e);
		if (from) stage.setPointerCapture(e.pointerId);
	});
	stage.addEventListener("pointermove", (e) => {
		const cell = cellAt(e);
		if (from && cell) app.dragging = boxOf(from, cell);
		app.hover = cell;
		showTip(from ? null : cell, e);
		$("hovered").textContent = cell && !from ? cellText(cell).join(" · ") : "";
		mark();
	});
	stage.addEventListener("pointerup", (e) => {
		const cell = cellAt(e) || app.hover || from;
		if (!from) return;
		app.dragging = null;
		app.anchor = from;
		app.cursor = cell;
		select(boxOf(from, cell));
		from = null;
	});
	stage.addEventListener("pointerleave", () => {
		app.hover = null;
		showTip(null);
		mark();
	});
	stage.addEventListener("dblclick", () => app.state.sel && zoomToSelection());
	new ResizeObserver(() => app.p && update()).observe(stage);
}

function showLegend() {
	const bar = make("span", { class: "ramp wide" }),
		dark = isDark();
	for (let i = 1; i <= 12; i++) {
		const cell = make("i");
		cell.style.background = rgb(heatColor(i / 12, dark));
		bar.append(cell);
	}
	$("legend").replaceChildren(
		make(
			"span",
			{ class: "swatch" },
			make("span", { text: "1" }),
			bar,
			make("span", { text: grouped.format(app.grid.most) + " in a cell" })
		)
	);
}
