// SPDX-License-Identifier: MIT
// Cells: columns of equal time, rows of equal value or of equal factor.

const CELL = 7; // pixels, at least

// Edges of rows between two values, at most n rows: round numbers either way.
function rowEdges(lo, hi, n, linear) {
	const edges = [];
	if (linear) {
		const step = Math.max(niceStep((hi - lo || 1) / n), Number.MIN_VALUE);
		for (let v = Math.floor(lo / step) * step; ; v += step) {
			edges.push(v);
			if (v > hi || edges.length > n + 2) break;
		}
		return edges;
	}
	const from = Math.log10(Math.max(lo, 1)),
		to = Math.log10(Math.max(hi, 1));
	const k = [1, 2, 4, 5, 8, 10, 16, 20, 32, 40, 64].filter((s) => (to - from) * s + 2 <= n).pop() || 1;
	for (let i = Math.floor(from * k + 1e-9); i <= Math.floor(to * k + 1e-9) + 1; i++)
		edges.push(10 ** (i / k));
	return edges;
}

function niceStep(v) {
	const ten = 10 ** Math.floor(Math.log10(v));
	return [1, 2, 5, 10].map((k) => k * ten).find((k) => k >= v * 0.999999);
}

// Count the points of a window into cells of at least CELL pixels.
function makeGrid(p, pass, box, width, height, linear) {
	const edges = rowEdges(box.v0, box.v1, Math.max(4, Math.floor(height / CELL)), linear),
		rows = edges.length - 1,
		columns = Math.max(1, Math.floor(width / CELL));
	const g = {
		edges,
		rows,
		columns,
		linear,
		t0: box.t0,
		step: (box.t1 - box.t0 || 1) / columns,
		count: new Float64Array(rows * columns),
		most: 0,
		n: 0,
		column: new Float64Array(columns),
		row: new Float64Array(rows),
	};
	for (let i = 0; i < p.n; i++) {
		const t = p.time[i],
			v = p.value[i];
		if (t < box.t0 || t > box.t1 || v < box.v0 || v > box.v1 || (pass && !pass[i])) continue;
		const c = Math.min(Math.floor((t - g.t0) / g.step), columns - 1),
			r = rowOf(g, v);
		g.count[c * rows + r] += p.count[i];
		g.column[c] += p.count[i];
		g.row[r] += p.count[i];
		g.n += p.count[i];
	}
	for (const n of g.count) g.most = Math.max(g.most, n);
	return g;
}

function rowOf(g, v) {
	let lo = 0,
		hi = g.rows;
	while (lo + 1 < hi) {
		const mid = (lo + hi) >> 1;
		if (v >= g.edges[mid]) lo = mid;
		else hi = mid;
	}
	return lo;
}

// 0 (lowest edge) to rows: where a value is, within its row too.
function placeOf(g, v) {
	const r = rowOf(g, v),
		lo = g.edges[r],
		hi = g.edges[r + 1];
	const part =
		g.linear || lo <= 0
			? (v - lo) / (hi - lo)
			: Math.log(Math.max(v, lo) / lo) / Math.log(hi / lo);
	return r + clamp(part, 0, 1);
}

function valueAt(g, place) {
	const r = clamp(Math.floor(place), 0, g.rows - 1),
		part = clamp(place - r, 0, 1),
		lo = g.edges[r],
		hi = g.edges[r + 1];
	return g.linear || lo <= 0 ? lo + (hi - lo) * part : lo * (hi / lo) ** part;
}

// The middle of a cell as a time and a value, and the cell of such a point: cells change with the
// picture's size, points do not.
function pointOf(g, { c, r }) {
	return { t: g.t0 + (c + 0.5) * g.step, v: valueAt(g, r + 0.5) };
}

function cellOf(g, { t, v }) {
	return { c: clamp(Math.floor((t - g.t0) / g.step), 0, g.columns - 1), r: rowOf(g, v) };
}
