// SPDX-License-Identifier: MIT
// Search: which frames match, and how much of the weight.

// Which functions match, and how much of the weight has at least one of them in
// its stack: a match inside a match is passed over, so nothing counts twice.
function search(p, t, text) {
	const pattern = compileAmong(text, p.name),
		match = new Uint8Array(p.funcs);
	let funcs = 0;
	for (let f = 0; f < p.pruned; f++)
		if (pattern.test(p.name[f])) {
			match[f] = 1;
			funcs++;
		}
	return { text, match, funcs, error: pattern.error, ...covered(t, match, 0) };
}

function covered(t, match, from) {
	let a = 0,
		b = 0;
	for (let i = from; i < t.end[from];) {
		if (match[t.func[i]]) {
			a += t.ta[i];
			if (t.tb) b += t.tb[i];
			i = t.end[i];
		} else i++;
	}
	return { a, b };
}

// The same for a sandwich: only samples through the function count.
function coveredThrough(t, match, roots) {
	let a = 0,
		b = 0;
	for (const r of roots) {
		let above = false;
		for (let i = t.parent[r]; i > 0 && !above; i = t.parent[i]) above = match[t.func[i]] === 1;
		const c = above ? { a: t.ta[r], b: t.tb ? t.tb[r] : 0 } : covered(t, match, r);
		a += c.a;
		b += c.b;
	}
	return { a, b };
}

// Frames of a view that match and stand in no other that does, widest first: for
// "next" and "previous".
function hits(v, match) {
	const found = [];
	for (let i = 0; i < v.n;) {
		const hit = match[v.func[i]];
		if (hit && v.size[i] > 0) found.push(i);
		i = hit || !(v.size[i] > 0) ? v.end[i] : i + 1;
	}
	return found.sort((x, y) => v.size[y] - v.size[x] || x - y);
}
