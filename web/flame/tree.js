// SPDX-License-Identifier: MIT
// Trees of calls as columns, nodes in pre-order: node i's subtree is [i, end[i]).
//
//	func, parent, depth, end	as read, or regrouped
//	a, b				own weight; b only in comparisons
//	ta, tb				with everything below
//
// A tree of a million nodes is a handful of typed arrays; nothing here makes an
// object of a node.

// Which entries the filters let through, summed by node.
function selfWeights(p, s) {
	const ok = p.keys.map(
		(k) =>
			(s.event < 0 || k.event === s.event) &&
			(!s.threads || s.threads.has(k.thread)) &&
			(!s.cpus || s.cpus.has(k.cpu))
	);
	const side = p.keys.map((k) => k.side);
	const a = new Float64Array(p.n),
		b = p.compare ? new Float64Array(p.n) : null;
	const timed = p.eTime && (s.from > 0 || s.to < p.time.steps - 1);
	for (let i = 0; i < p.entries; i++) {
		const k = p.eKey[i];
		if (!ok[k] || (timed && (p.eTime[i] < s.from || p.eTime[i] > s.to))) continue;
		(side[k] ? b : a)[p.eNode[i]] += p.eWeight[i];
	}
	return {
		a,
		b,
		passes: (i) => ok[p.eKey[i]] && !(timed && (p.eTime[i] < s.from || p.eTime[i] > s.to)),
	};
}

function addUp(self, parent, n) {
	if (!self) return null;
	const total = self.slice(0, n);
	for (let i = n - 1; i > 0; i--) total[parent[i]] += total[i];
	return total;
}

function setEnds(t) {
	t.end = new Int32Array(t.n);
	for (let i = t.n - 1; i >= 0; i--) {
		if (t.end[i] <= i) t.end[i] = i + 1;
		if (i && t.end[t.parent[i]] < t.end[i]) t.end[t.parent[i]] = t.end[i];
	}
}

// The profile's own tree with the weights the filters left.
function plainTree(p, self) {
	const t = {
		n: p.n,
		func: p.func,
		parent: p.parent,
		depth: p.depth,
		end: p.end,
		a: self.a,
		b: self.b,
		at: null,
	};
	t.ta = addUp(t.a, t.parent, t.n);
	t.tb = addUp(t.b, t.parent, t.n);
	return t;
}

// Outermost nodes of a function: none of them inside another.
function outermost(t, func) {
	const found = [];
	for (let i = 0; i < t.n;) {
		if (t.func[i] === func) {
			if (t.ta[i] || (t.tb && t.tb[i])) found.push(i);
			i = t.end[i];
		} else i++;
	}
	return found;
}

// Merge siblings of the same function after frames were taken out. rules:
//	hide	functions whose samples are left out
//	merge	functions whose frames go; their weight is their caller's
//	fold	functions that keep everything below them as their own
//	recursion	a function called by itself is one frame
//	focus	only this function and what it calls, or -1
function regroup(p, t, rules) {
	const most = t.n + 2,
		two = !!t.b;
	const r = {
		n: 0,
		func: new Int32Array(most),
		parent: new Int32Array(most),
		a: new Float64Array(most),
		b: two ? new Float64Array(most) : null,
	};
	const at = new Int32Array(t.n).fill(-1),
		head = new Int32Array(most).fill(-1),
		next = new Int32Array(t.n).fill(-1);
	const slot = new Int32Array(p.funcs),
		stamp = new Int32Array(p.funcs).fill(-1);
	const add = (func, parent) => {
		r.func[r.n] = func;
		r.parent[r.n] = parent;
		return r.n++;
	};

	add(p.root, 0);
	if (rules.focus >= 0) {
		const f = add(rules.focus, 0);
		for (const i of outermost(t, rules.focus)) {
			next[i] = head[f];
			head[f] = i;
		}
	} else head[0] = 0;
	for (let g = 0; g < r.n; g++) {
		let tail = head[g];
		while (tail >= 0 && next[tail] >= 0) tail = next[tail];
		for (let i = head[g]; i >= 0; i = next[i]) {
			at[i] = g;
			r.a[g] += t.a[i];
			if (two) r.b[g] += t.b[i];
			for (let c = i + 1; c < t.end[i]; c = t.end[c]) {
				const f = t.func[c];
				if (rules.hide[f] || !(t.ta[c] || (two && t.tb[c]))) continue;
				if (
					rules.merge[f] ||
					(g && rules.fold[r.func[g]]) ||
					(rules.recursion && f === r.func[g])
				) {
					next[tail] = c;
					next[c] = -1;
					tail = c;
					continue;
				}
				if (stamp[f] !== g) {
					stamp[f] = g;
					slot[f] = add(f, g);
				}
				next[c] = head[slot[f]];
				head[slot[f]] = c;
			}
		}
	}
	r.ta = addUp(r.a, r.parent, r.n);
	r.tb = addUp(r.b, r.parent, r.n);
	const done = arrange(p, r, "name");
	// where each node of the old tree went
	for (let i = 0; i < t.n; i++) if (at[i] >= 0) at[i] = done.moved[at[i]];
	done.at = at;
	return done;
}

// Pre-order, with the children of each node sorted. Parents must stand before their children.
function arrange(p, t, by, size) {
	const n = t.n,
		first = new Int32Array(n).fill(-1),
		next = new Int32Array(n).fill(-1);
	const order = new Int32Array(n),
		stack = new Int32Array(n + 1),
		moved = new Int32Array(n);
	const compare =
		by === "size"
			? (x, y) => size[y] - size[x] || p.rank[t.func[x]] - p.rank[t.func[y]]
			: (x, y) => p.rank[t.func[x]] - p.rank[t.func[y]];
	let top = 0,
		k = 0;
	for (let i = n - 1; i > 0; i--) {
		next[i] = first[t.parent[i]];
		first[t.parent[i]] = i;
	}
	stack[top++] = 0;
	const kids = [];
	while (top) {
		const i = stack[--top];
		moved[i] = k;
		order[k++] = i;
		kids.length = 0;
		for (let c = first[i]; c >= 0; c = next[c]) kids.push(c);
		if (kids.length > 1) kids.sort(compare);
		for (let j = kids.length - 1; j >= 0; j--) stack[top++] = kids[j];
	}
	const take = (from) => {
		if (!from) return null;
		const to = new from.constructor(n);
		for (let i = 0; i < n; i++) to[i] = from[order[i]];
		return to;
	};
	const r = {
		n,
		func: take(t.func),
		parent: new Int32Array(n),
		depth: new Int32Array(n),
		a: take(t.a),
		b: take(t.b),
		ta: take(t.ta),
		tb: take(t.tb),
		order,
		moved,
	};
	for (let i = 1; i < n; i++) {
		r.parent[i] = moved[t.parent[order[i]]];
		r.depth[i] = r.depth[r.parent[i]] + 1;
	}
	setEnds(r);
	return r;
}

// Self and total of each function; inside itself a function counts once.
function functionSums(p, t, from, to) {
	const f = {
		self: new Float64Array(p.funcs),
		total: new Float64Array(p.funcs),
		selfB: null,
		totalB: null,
	};
	if (t.b) {
		f.selfB = new Float64Array(p.funcs);
		f.totalB = new Float64Array(p.funcs);
	}
	const open = new Int32Array(p.funcs).fill(-1); // where the outermost open one of a function ends
	for (let i = from; i < to; i++) {
		const k = t.func[i];
		f.self[k] += t.a[i];
		if (t.b) f.selfB[k] += t.b[i];
		if (open[k] > i) continue;
		open[k] = t.end[i];
		f.total[k] += t.ta[i];
		if (t.b) f.totalB[k] += t.tb[i];
	}
	return f;
}
