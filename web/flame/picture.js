// SPDX-License-Identifier: MIT
// The canvas: its size, scrolling, zooming, and what the pointer is on.
// app is the one object the page's parts share; main.js makes it.

function stageSize() {
	const s = $("stage");
	return [s.clientWidth, s.clientHeight];
}

// Lay out the panes' rows one above the other, and give the room its height.
function place() {
	const [width, height] = stageSize();
	const usable = Math.max(width - 2 * PAD, 50);
	app.width = usable;
	for (const pane of app.panes) cull(pane, usable);
	const need =
		app.panes.reduce((n, pane) => n + pane.rows.length * ROW, 0) +
		2 * PAD -
		(app.panes.length - 1) * ROW +
		axisOf(app.panes[0]);
	app.height = Math.max(need, height);
	if (app.panes.length === 1) {
		const pane = app.panes[0];
		pane.base = pane.up ? app.height - PAD : PAD + axisOf(pane);
	} else {
		// the function's own row is shared: it is the first row of both
		const up = app.panes[0].rows.length * ROW;
		const spare = Math.max(0, app.height - need);
		const base = PAD + up + Math.min(spare / 2, Math.max(0, app.height / 2 - up));
		app.panes[0].base = base;
		app.panes[1].base = base - ROW;
	}
	$("room").style.height = app.height + "px";
}

// Room for times above a pane.
const axisOf = (pane) => (pane.v.timed ? AXIS : 0);

// Colours by what is chosen: delta, search hits, the palette.
function look() {
	const { p, state, colors } = app,
		dark = isDark();
	const found = state.query && app.found && !app.found.error ? app.found.match : null;
	const hit = dark ? HIT.dark : HIT.light;
	const delta = p.compare && state.color === "delta";
	const center =
		state.mode === "sandwich" && !found && !delta
			? getComputedStyle(document.documentElement).getPropertyValue("--accent")
			: "";
	const fill = (f, i, v) => {
		if (center && i === 0) return center;
		if (found) return found[f] ? hit : colors.faded[f];
		return delta ? deltaColor(deltaOf(v, i), dark, state.safe) : colors.normal[f];
	};
	const black = "rgb(26,24,22)",
		white = "rgb(247,246,244)",
		faint = dark ? "rgb(150,150,156)" : "rgb(125,124,120)";
	const ink = (f) => {
		if (found) return found[f] ? white : faint;
		return delta ? (dark ? white : black) : colors.bright[f] ? black : white;
	};
	return { p, fill, ink, font: app.font, crumb: dark ? "rgb(46,46,51)" : "rgb(238,237,234)" };
}

// How a frame changed: -1 vanished, 0 as before, 1 new.
function deltaOf(v, i) {
	const [a, b] = shares(v, i),
		most = Math.max(a, b);
	return most > 0 && a !== b ? (b - a) / most : 0;
}

// Before and after as shares of their wholes; as plain weights when not normalized.
function shares(v, i) {
	const t = app.tree,
		n = app.state.normalize;
	return [
		n ? (t.ta[0] ? v.ta[i] / t.ta[0] : 0) : v.ta[i],
		n ? (t.tb[0] ? v.tb[i] / t.tb[0] : 0) : v.tb[i],
	];
}

// Draw with the next frame of the screen, once, however often it was asked for.
function draw() {
	if (!app.drawing) app.drawing = requestAnimationFrame(drawNow);
}

function drawNow() {
	const [width, height] = stageSize(),
		began = performance.now(),
		canvas = $("picture");
	const ctx = sharpen(canvas, width, height),
		top = $("stage").scrollTop;
	cancelAnimationFrame(app.drawing);
	app.drawing = 0;
	if (!canvas.width || !canvas.height) return;
	if (!app.glass || app.glass.width !== canvas.width || app.glass.height !== canvas.height) {
		const image = ctx.createImageData(canvas.width, canvas.height);
		app.glass = {
			image,
			data: new Uint32Array(image.data.buffer),
			width: canvas.width,
			height: canvas.height,
			ratio: 1,
			x: PAD,
			y: 0,
		};
	}
	app.glass.data.fill(0);
	app.glass.ratio = canvas.width / width;
	app.glass.y = -top;
	ctx.save();
	ctx.translate(PAD, -top);
	paint(ctx, app.panes, app.width, top, top + height, look(), app.glass, () => {
		ctx.putImageData(app.glass.image, 0, 0);
		if (axisOf(app.panes[0])) drawTicks(ctx, app.panes[0], app.width, top, height);
	});
	if (axisOf(app.panes[0])) drawTimes(ctx, app.panes[0], app.width, top);
	ctx.restore();
	mark();
	app.times.draw = performance.now() - began;
}

// Outlines of the frame under the pointer and of the chosen one, on a canvas of their own.
function mark() {
	const [width, height] = stageSize();
	const ctx = sharpen($("marks"), width, height),
		top = $("stage").scrollTop;
	const css = getComputedStyle(document.documentElement);
	ctx.save();
	ctx.translate(PAD, -top);
	for (const [what, color, line] of [
		[app.hover, css.getPropertyValue("--outline"), 1.5],
		[app.chosen, css.getPropertyValue("--focus"), 2],
	]) {
		const box = what && frameBox(what);
		if (!box || box.w <= 0) continue;
		ctx.strokeStyle = color;
		ctx.lineWidth = line;
		ctx.beginPath();
		ctx.roundRect(
			box.x + line / 2 - 0.5,
			box.y + line / 2 - 0.5,
			Math.max(box.w - line, 1),
			box.h - line + 1,
			3
		);
		ctx.stroke();
	}
	ctx.restore();
}

function frameBox({ pane, node }) {
	const { v, x0, scale } = pane;
	const left = (v.start[node] - x0) * scale,
		right = left + v.size[node] * scale;
	const x = clamp(left, 0, app.width),
		w = clamp(right, 0, app.width) - x;
	return { x, y: rowY(pane, v.depth[node]), w, h: ROW - GAP };
}

function at(event) {
	const box = $("stage").getBoundingClientRect();
	const x = event.clientX - box.left - PAD,
		y = event.clientY - box.top + $("stage").scrollTop;
	for (const pane of app.panes) {
		const node = frameAt(pane, x, y);
		if (node >= 0) return { pane, node };
	}
	return null;
}

// Move panes to their windows: at once, or sliding where that is quick and wanted.
function slide(pane, [x0, x1], then) {
	const still = app.still || app.p.n > 200000 || matchMedia("(prefers-reduced-motion: reduce)").matches;
	cancelAnimationFrame(app.sliding);
	const finish = () => {
		[pane.x0, pane.x1] = [x0, x1];
		place();
		then();
		draw();
	};
	if (still) {
		finish();
		return;
	}
	const from = [pane.x0, pane.x1],
		began = performance.now();
	const step = () => {
		const t = Math.min((performance.now() - began) / 90, 1),
			ease = 1 - (1 - t) ** 3;
		if (t >= 1) {
			finish();
			return;
		}
		pane.x0 = from[0] + (x0 - from[0]) * ease;
		pane.x1 = from[1] + (x1 - from[1]) * ease;
		place();
		drawNow();
		app.sliding = requestAnimationFrame(step);
	};
	app.sliding = requestAnimationFrame(step);
}

// Put a frame's row where it can be seen.
function scrollTo(pane, node) {
	const stage = $("stage"),
		y = rowY(pane, pane.v.depth[node]);
	if (y < stage.scrollTop + ROW) stage.scrollTop = y - 2 * ROW;
	else if (y + 2 * ROW > stage.scrollTop + stage.clientHeight)
		stage.scrollTop = y + 3 * ROW - stage.clientHeight;
}

function zoomTo(pane, node) {
	const began = performance.now();
	if (pane.v.reversed && openReversed(pane, node)) node = pane.zoomed;
	pane.zoom = node;
	if (app.panes.length === 1) app.state.zoom = pathOf(pane.v, node);
	slide(pane, windowOf(pane, node), () => {
		scrollTo(pane, node);
		app.times.zoom = performance.now() - began;
	});
	showCrumbs();
	showFound();
	refreshTable();
	remember(false);
}

// A zoom makes frames of a reversed view wide enough that were not made before.
function openReversed(pane, node) {
	const r = pane.v.reversed,
		at = pane.v.order[node];
	if (!r.open(r.sizeOf(at) / 5000, at)) return false;
	const chosen = app.chosen && app.chosen.pane === pane ? pane.v.order[app.chosen.node] : -1;
	pane.v = r.view(orderOf(app.state));
	pane.zoomed = pane.v.moved[at];
	if (chosen >= 0) app.chosen = { pane, node: pane.v.moved[chosen] };
	app.hover = null;
	app.hits = null;
	return true;
}

// A frame's path of functions from the root, and back.
function pathOf(v, node) {
	const path = [];
	for (let i = node; i > 0; i = v.parent[i]) path.push(v.func[i]);
	return path.reverse();
}

function nodeOf(v, path) {
	let at = 0;
	for (const f of path) {
		let c = at + 1;
		while (c < v.end[at] && v.func[c] !== f) c = v.end[c];
		if (c >= v.end[at]) break;
		at = c;
	}
	return at;
}

function choose(pane, node, reveal) {
	app.chosen = node === null ? null : { pane, node };
	if (app.chosen && reveal) {
		const box = frameBox(app.chosen);
		if (box.w < 3) {
			// too narrow to be seen: zoom to the nearest caller that shows it well
			let up = node;
			while (up > 0 && pane.v.size[up] * 0.02 < pane.v.size[node] && up !== pane.zoom)
				up = pane.v.parent[up];
			zoomTo(pane, up);
		}
		scrollTo(pane, node);
	}
	$("stage").classList.toggle("chosen", !!app.chosen);
	draw();
	showHovered(app.chosen);
	if (app.chosen) say(sentence(app.chosen));
}

function hoverAt(event) {
	const was = app.hover;
	app.hover = at(event);
	$("stage").style.cursor = app.hover ? "pointer" : "default";
	if (!was !== !app.hover || (was && (was.node !== app.hover.node || was.pane !== app.hover.pane))) {
		mark();
		showHovered(app.hover || app.chosen);
	}
	showTip(app.hover, event);
}

function leave() {
	app.hover = null;
	showTip(null);
	showHovered(app.chosen);
	mark();
}

function setUpPicture() {
	const stage = $("stage");
	stage.addEventListener("pointermove", (e) => e.pointerType !== "touch" && !app.dragged && hoverAt(e));
	stage.addEventListener("pointerleave", leave);
	stage.addEventListener(
		"scroll",
		() => {
			showTip(null);
			if (stage.clientHeight === app.tall) noteLow();
			draw();
		},
		{ passive: true }
	);
	stage.addEventListener("click", (e) => {
		const hit = at(e);
		if (app.dragged) return;
		showTip(null);
		if (hit) {
			choose(hit.pane, hit.node, false);
			if (hit.pane.v.size[hit.node] > 0) zoomTo(hit.pane, hit.node);
		}
	});
	stage.addEventListener("dblclick", (e) => {
		const hit = at(e);
		if (hit && app.state.mode === "sandwich") sandwich(hit.pane.v.func[hit.node]);
	});
	stage.addEventListener("contextmenu", (e) => {
		const hit = at(e);
		if (!hit) return;
		e.preventDefault();
		showTip(null);
		choose(hit.pane, hit.node, false);
		frameMenu(hit, e.clientX, e.clientY);
	});
	stage.addEventListener("wheel", wheel, { passive: false });
	drag(stage);
	new ResizeObserver(() => app.panes.length && resized()).observe(stage);
}

// Ctrl and the wheel: closer, around the pointer. Shift and the wheel: sideways.
function wheel(e) {
	if (!e.ctrlKey && !e.metaKey && !e.shiftKey) return;
	e.preventDefault();
	const x = clamp(e.clientX - $("stage").getBoundingClientRect().left - PAD, 0, app.width);
	for (const pane of app.panes) {
		const span = pane.x1 - pane.x0,
			whole = pane.v.size[0];
		if (e.shiftKey) {
			const by = clamp(
				((e.deltaY || e.deltaX) / app.width) * span,
				-pane.x0,
				whole - pane.x1
			);
			pane.x0 += by;
			pane.x1 += by;
		} else {
			const more = clamp(span * Math.exp(e.deltaY * 0.002), whole * 1e-7, whole);
			const here = pane.x0 + (span * x) / app.width;
			pane.x0 = clamp(here - (more * x) / app.width, 0, whole - more);
			pane.x1 = pane.x0 + more;
		}
	}
	place();
	draw();
}

// Dragging moves a zoomed picture.
function drag(stage) {
	let from = null;
	stage.addEventListener("pointerdown", (e) => {
		app.dragged = false;
		if (e.button === 0 && e.pointerType !== "touch" && e.target.tagName === "CANVAS")
			from = {
				x: e.clientX,
				y: e.clientY,
				top: stage.scrollTop,
				panes: app.panes.map((q) => [q.x0, q.x1]),
			};
	});
	window.addEventListener("pointermove", (e) => {
		if (!from) return;
		const dx = e.clientX - from.x,
			dy = e.clientY - from.y;
		if (!app.dragged && Math.abs(dx) + Math.abs(dy) < 6) return;
		app.dragged = true;
		showTip(null);
		stage.style.cursor = "grabbing";
		stage.scrollTop = from.top - dy;
		app.panes.forEach((pane, i) => {
			const [a, b] = from.panes[i] || [pane.x0, pane.x1],
				whole = pane.v.size[0];
			const by = clamp((-dx / app.width) * (b - a), -a, whole - b);
			[pane.x0, pane.x1] = [a + by, b + by];
		});
		place();
		draw();
	});
	window.addEventListener("pointerup", () => {
		from = null;
		stage.style.cursor = "";
		setTimeout(() => (app.dragged = false), 0);
	});
}

// Whether the lowest row is in sight, so that it still is when what is around the picture grows.
function noteLow() {
	const stage = $("stage");
	app.tall = stage.clientHeight;
	app.low = stage.scrollTop + app.tall >= app.height - 4;
}

function resized() {
	place();
	if (app.low && app.panes.length === 1 && app.panes[0].up) $("stage").scrollTop = app.height;
	noteLow();
	draw();
	drawTimeline();
}
