// SPDX-License-Identifier: MIT
// The points of this file (src/view/picture/heat_html.c writes them), and sums over them.
// An entry is one point, or several that were rounded to the same.

const PERCENTS = [50, 90, 95, 99, 99.9, 99.99];

async function readPoints(text) {
	const { head, columns } = await unpack(text);
	const n = head.entries,
		p = { head, n, unit: head.unit, labels: head.labels };
	p.time = varints(columns[0], n, Float64Array);
	for (let i = 0, t = 0; i < n; i++) p.time[i] = t += p.time[i] * head.step;
	p.value = varints(columns[1], n, Float64Array);
	p.label = varints(columns[2], n, Int32Array).map((l) => l - 1);
	p.count = varints(columns[3], n, Float64Array);
	p.details = head.details;
	p.detail = varints(columns[4], n, Int32Array).map((d) => d - 1);
	p.span = Math.max(head.span, 1);
	p.least = Infinity;
	p.most = 0;
	for (let i = 0; i < n; i++) {
		p.least = Math.min(p.least, p.value[i]);
		p.most = Math.max(p.most, p.value[i]);
	}
	p.order = orderOf(p.value);
	return p;
}

// Which entries the label filter lets through; null: all.
function filtered(p, query) {
	if (!query) return null;
	const pattern = compileAmong(query, p.labels),
		ok = p.labels.map((l) => pattern.test(l)),
		pass = new Uint8Array(p.n);
	for (let i = 0; i < p.n; i++) pass[i] = p.label[i] >= 0 && ok[p.label[i]] ? 1 : 0;
	pass.error = pattern.error;
	return pass;
}

// Is entry i in a box of time and value (both with their ends), and let through?
function within(p, pass, { t0, t1, v0, v1 }) {
	return (i) =>
		p.time[i] >= t0 &&
		p.time[i] <= t1 &&
		p.value[i] >= v0 &&
		p.value[i] <= v1 &&
		(!pass || pass[i] === 1);
}

function listOf(p, keep) {
	const list = [];
	for (let i = 0; i < p.n; i++) if (keep(i)) list.push(i);
	return list;
}

// Percentiles of the entries that keep(i) is true for: a walk in the order of values.
function sumUp(p, keep) {
	let n = 0,
		sum = 0,
		min = 0,
		max = 0;
	for (let i = 0; i < p.n; i++)
		if (keep(i)) {
			n += p.count[i];
			sum += p.value[i] * p.count[i];
		}
	const at = PERCENTS.map((q) => Math.max(1, Math.ceil((n * q) / 100))),
		percentiles = new Array(PERCENTS.length).fill(0);
	let seen = 0,
		k = 0;
	for (const i of p.order) {
		if (!keep(i)) continue;
		if (!seen) min = p.value[i];
		max = p.value[i];
		seen += p.count[i];
		while (k < at.length && seen >= at[k]) percentiles[k++] = p.value[i];
	}
	return { n, mean: n ? sum / n : 0, min, max, percentiles };
}

// Indices in the order of values: counted by the upper bits of the numbers, whose
// order is the numbers' own, and sorted only within the same bits.
function orderOf(value) {
	const bits = new Uint32Array(value.buffer, value.byteOffset, value.length * 2),
		n = value.length,
		shift = 6;
	let lo = Infinity,
		hi = 0;
	for (let i = 0; i < n; i++) {
		lo = Math.min(lo, bits[2 * i + 1] >>> shift);
		hi = Math.max(hi, bits[2 * i + 1] >>> shift);
	}
	const start = new Uint32Array(n ? hi - lo + 2 : 1),
		order = new Uint32Array(n);
	for (let i = 0; i < n; i++) start[(bits[2 * i + 1] >>> shift) - lo + 1]++;
	for (let i = 1; i < start.length; i++) start[i] += start[i - 1];
	const next = start.slice();
	for (let i = 0; i < n; i++) order[next[(bits[2 * i + 1] >>> shift) - lo]++] = i;
	for (let b = 0; b + 1 < start.length; b++)
		if (start[b + 1] - start[b] > 1)
			order.subarray(start[b], start[b + 1]).sort((x, y) => value[x] - value[y] || x - y);
	return order;
}

// Points by label, most first.
function byLabel(p, list) {
	const n = new Map();
	for (const i of list) n.set(p.label[i], (n.get(p.label[i]) || 0) + p.count[i]);
	return [...n].sort((a, b) => b[1] - a[1]);
}
