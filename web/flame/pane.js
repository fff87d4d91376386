// SPDX-License-Identifier: MIT
// A pane: one view drawn upwards or downwards from a base row. A flame graph is
// one pane, a sandwich two. Only frames of half a pixel or more are looked at.

const ROW = 20,
	GAP = 1,
	LEAST = 0.5,
	PAD = 8;

function newPane(view, up, name) {
	return { v: view, up, name, zoom: 0, x0: 0, x1: view.size[0], rows: [], base: 0 };
}

// The window that shows node i from edge to edge.
function windowOf(pane, i) {
	const v = pane.v;
	return v.size[i] > 0 ? [v.start[i], v.start[i] + v.size[i]] : [0, v.size[0] || 1];
}

// Frames in the window, row by row from the root, each row from left to right.
// Neighbours that are too narrow become a crumb: [from, to] with nothing inside.
function cull(pane, width) {
	const { v, x0, x1 } = pane,
		scale = width / (x1 - x0),
		rows = [],
		crumbs = [];
	const slack = (x1 - x0) * 1e-9;
	for (let i = 0; i < v.n;) {
		const w = v.size[i] * scale,
			from = v.start[i],
			to = from + v.size[i];
		if (w < LEAST || from >= x1 - slack || to <= x0 + slack) {
			if (w > 0 && w < LEAST && from < x1 && to > x0) {
				const list = crumbs[v.depth[i]] || (crumbs[v.depth[i]] = []),
					last = list[list.length - 1];
				if (last && from - last[1] <= slack && v.parent[i] === last[2]) last[1] = to;
				else if (!last || (to - last[0]) * scale > LEAST)
					list.push([from, to, v.parent[i]]);
			}
			i = v.end[i];
			continue;
		}
		const d = v.depth[i];
		(rows[d] || (rows[d] = [])).push(i);
		i++;
	}
	pane.rows = rows;
	pane.crumbs = crumbs;
	pane.scale = scale;
}

// Call fn(x, y, width, height) for every crumb of a pixel or more.
function eachCrumb(pane, width, top, bottom, fn) {
	pane.crumbs.forEach((list, d) => {
		const y = rowY(pane, d);
		if (y + ROW < top || y > bottom) return;
		for (const [from, to] of list) {
			const x = Math.max((from - pane.x0) * pane.scale, 0),
				w = Math.min((to - pane.x0) * pane.scale, width) - x;
			if (w >= 1) fn(x, y, w, ROW - GAP);
		}
	});
}

function rowY(pane, depth) {
	return pane.up ? pane.base - (depth + 1) * ROW : pane.base + depth * ROW;
}

// The frame at a point of the content, or -1.
function frameAt(pane, x, y) {
	const d = pane.up ? Math.floor((pane.base - y) / ROW) : Math.floor((y - pane.base) / ROW);
	const row = pane.rows[d];
	if (!row) return -1;
	const { v, x0, scale } = pane;
	let lo = 0,
		hi = row.length - 1;
	while (lo < hi) {
		const mid = (lo + hi + 1) >> 1;
		if ((v.start[row[mid]] - x0) * scale <= x) lo = mid;
		else hi = mid - 1;
	}
	const i = row[lo],
		left = (v.start[i] - x0) * scale;
	return x >= left && x < Math.max(left + v.size[i] * scale, left + 1) ? i : -1;
}

// Call fn(node, x, y, width, height) for every frame between two heights of the content.
function eachFrame(pane, width, top, bottom, fn) {
	const { v, x0, scale } = pane;
	for (let d = 0; d < pane.rows.length; d++) {
		const y = rowY(pane, d),
			row = pane.rows[d];
		if (!row || y + ROW < top || y > bottom) continue;
		let last = -1; // the pixel up to which something is drawn already
		for (const i of row) {
			const left = (v.start[i] - x0) * scale,
				right = left + v.size[i] * scale;
			const x = Math.max(left, 0),
				w = Math.min(right, width) - x;
			if (w < 1 && Math.floor(x) <= last) continue;
			last = Math.floor(x + Math.max(w, 1)) - 1;
			fn(i, x, y, w, ROW - GAP);
		}
	}
}

// Letter widths of the canvas' font, measured once: measuring every label is slow.
const letters = { font: "", width: new Float32Array(128), other: 8 };

function measureLetters(ctx, font) {
	if (letters.font === font) return;
	letters.font = font;
	ctx.font = font;
	for (let c = 32; c < 127; c++) letters.width[c] = ctx.measureText(String.fromCharCode(c)).width;
	letters.other = ctx.measureText("W").width;
}

// As much of the text as fits into that many pixels, or "".
function fit(text, room) {
	let w = 0,
		cut = 0;
	const dots = letters.width[46] * 2;
	for (let i = 0; i < text.length; i++) {
		const c = text.charCodeAt(i);
		w += c < 127 && c > 31 ? letters.width[c] : letters.other;
		if (w + dots <= room) cut = i + 1;
		if (w > room) return cut > 0 ? text.slice(0, cut) + ".." : "";
	}
	return text;
}

// Colours as the four bytes of a pixel, found once for each.
const pixelColors = new Map();

function pixelOf(color) {
	let v = pixelColors.get(color);
	if (v === undefined) {
		const [r, g, b] = color.match(/\d+/g).map(Number);
		v = ((b << 16) | (g << 8) | r) >>> 0;
		pixelColors.set(color, v);
	}
	return v;
}

// Narrow frames are columns of pixels, and there can be a hundred thousand of
// them: they are put into memory directly, which is twenty times faster than
// asking the canvas for each. glass: { data (Uint32), width, height, ratio, x, y }
function putColumn(glass, x, y, w, h, color) {
	const { data, width, height, ratio } = glass;
	const from = Math.round((x + glass.x) * ratio),
		to = Math.min(Math.max(Math.round((x + w + glass.x) * ratio), from + 1), width);
	const top = Math.max(Math.round((y + glass.y) * ratio), 0),
		bottom = Math.min(Math.round((y + h + glass.y) * ratio), height);
	const pixel = (color | (Math.round(255 * clamp(w, 0.55, 1)) << 24)) >>> 0;
	for (let col = from; col < to; col++)
		for (let k = top * width + col, last = bottom * width; k < last; k += width) data[k] = pixel;
}

const NARROW = 2.5;

// Draw the panes: fill(function, node, view) gives a colour, ink(function) the text's.
// Without glass (a picture to be saved) narrow frames are drawn like the others.
function paint(ctx, panes, width, top, bottom, look, glass, flush) {
	const { p, fill, ink, font } = look,
		wide = [],
		labels = [];
	let style = "";
	measureLetters(ctx, font);
	for (const pane of panes) {
		const { v } = pane;
		eachFrame(pane, width, top, bottom, (i, x, y, w, h) => {
			const c = fill(v.func[i], i, v);
			if (glass && w < NARROW) putColumn(glass, x, y, w, h, pixelOf(c));
			else wide.push({ c, x, y, w, h });
			if (w > 26) labels.push({ f: v.func[i], x, y, w });
		});
	}
	if (glass) flush();
	ctx.fillStyle = look.crumb;
	for (const pane of panes)
		eachCrumb(pane, width, top, bottom, (x, y, w, h) =>
			ctx.fillRect(x, y, Math.max(w - GAP, 1), h)
		);
	for (const { c, x, y, w, h } of wide) {
		if (c !== style) ctx.fillStyle = style = c;
		if (w > 9) {
			ctx.beginPath();
			ctx.roundRect(x, y, w - GAP, h, 2.5);
			ctx.fill();
		} else ctx.fillRect(x, y, w > NARROW ? w - GAP : Math.max(w - 0.3, 0.7), h);
	}
	ctx.font = font;
	ctx.textBaseline = "middle";
	style = "";
	for (const { f, x, y, w } of labels) {
		const text = fit(p.name[f], w - 11);
		if (!text) continue;
		const c = ink(f);
		if (c !== style) ctx.fillStyle = style = c;
		ctx.fillText(text, x + 5, y + (ROW - GAP) / 2 + 0.5);
	}
}
