// A pane: one view drawn upwards or downwards from a base row. A flame graph is
// one pane, a sandwich two. Only frames of half a pixel or more are looked at.

const ROW = 20, GAP = 1, LEAST = 0.5, PAD = 8;

function newPane(view, up, name) {
	return { v: view, up, name, zoom: 0, x0: 0, x1: view.size[0], rows: [], base: 0 };
}

// The window that shows node i from edge to edge.
function windowOf(pane, i) {
	const v = pane.v;
	return v.size[i] > 0 ? [v.start[i], v.start[i] + v.size[i]] : [0, v.size[0] || 1];
}

// Frames in the window, row by row from the root, each row from left to right.
function cull(pane, width) {
	const { v, x0, x1 } = pane, scale = width / (x1 - x0), rows = [];
	const slack = (x1 - x0) * 1e-9;
	for (let i = 0; i < v.n;) {
		const w = v.size[i] * scale;
		if (w < LEAST || v.start[i] >= x1 - slack || v.start[i] + v.size[i] <= x0 + slack) {
			i = v.end[i];
			continue;
		}
		const d = v.depth[i];
		(rows[d] || (rows[d] = [])).push(i);
		i++;
	}
	pane.rows = rows;
	pane.scale = scale;
}

function rowY(pane, depth) {
	return pane.up ? pane.base - (depth + 1) * ROW : pane.base + depth * ROW;
}

// The frame at a point of the content, or -1.
function frameAt(pane, x, y) {
	const d = pane.up ? Math.floor((pane.base - y) / ROW) : Math.floor((y - pane.base) / ROW);
	const row = pane.rows[d];
	if (!row)
		return -1;
	const { v, x0, scale } = pane;
	let lo = 0, hi = row.length - 1;
	while (lo < hi) {
		const mid = (lo + hi + 1) >> 1;
		if ((v.start[row[mid]] - x0) * scale <= x)
			lo = mid;
		else
			hi = mid - 1;
	}
	const i = row[lo], left = (v.start[i] - x0) * scale;
	return x >= left && x < Math.max(left + v.size[i] * scale, left + 1) ? i : -1;
}

// Call fn(node, x, y, width, height) for every frame between two heights of the content.
function eachFrame(pane, width, top, bottom, fn) {
	const { v, x0, scale } = pane;
	for (let d = 0; d < pane.rows.length; d++) {
		const y = rowY(pane, d), row = pane.rows[d];
		if (!row || y + ROW < top || y > bottom)
			continue;
		let last = -1; // the pixel up to which something is drawn already
		for (const i of row) {
			const left = (v.start[i] - x0) * scale, right = left + v.size[i] * scale;
			const x = Math.max(left, 0), w = Math.min(right, width) - x;
			if (w < 1 && Math.floor(x) <= last)
				continue;
			last = Math.floor(x + Math.max(w, 1)) - 1;
			fn(i, x, y, w, ROW - GAP);
		}
	}
}

// Letter widths of the canvas' font, measured once: measuring every label is slow.
const letters = { font: "", width: new Float32Array(128), other: 8 };

function measureLetters(ctx, font) {
	if (letters.font === font)
		return;
	letters.font = font;
	ctx.font = font;
	for (let c = 32; c < 127; c++)
		letters.width[c] = ctx.measureText(String.fromCharCode(c)).width;
	letters.other = ctx.measureText("W").width;
}

// As much of the text as fits into that many pixels, or "".
function fit(text, room) {
	let w = 0, cut = 0;
	const dots = letters.width[46] * 2;
	for (let i = 0; i < text.length; i++) {
		const c = text.charCodeAt(i);
		w += c < 127 && c > 31 ? letters.width[c] : letters.other;
		if (w + dots <= room)
			cut = i + 1;
		if (w > room)
			return cut > 0 ? text.slice(0, cut) + ".." : "";
	}
	return text;
}

// Draw a pane: fill(node) gives a colour, ink(node) the text's.
function paint(ctx, pane, width, top, bottom, look) {
	const { v } = pane, { p, fill, ink, font } = look;
	measureLetters(ctx, font);
	const labels = [];
	let style = "";
	eachFrame(pane, width, top, bottom, (i, x, y, w, h) => {
		const c = fill(v.func[i], i, v);
		if (c !== style)
			ctx.fillStyle = style = c;
		if (w > 9) {
			ctx.beginPath();
			ctx.roundRect(x, y, w - GAP, h, 2.5);
			ctx.fill();
		} else
			ctx.fillRect(x, y, w > 2.5 ? w - GAP : Math.max(w - 0.3, 0.7), h);
		if (w > 26)
			labels.push(i, x, y, w);
	});
	ctx.font = font;
	ctx.textBaseline = "middle";
	style = "";
	for (let k = 0; k < labels.length; k += 4) {
		const i = labels[k], text = fit(p.name[v.func[i]], labels[k + 3] - 11);
		if (!text)
			continue;
		const c = ink(v.func[i]);
		if (c !== style)
			ctx.fillStyle = style = c;
		ctx.fillText(text, labels[k + 1] + 5, labels[k + 2] + (ROW - GAP) / 2 + 0.5);
	}
}
