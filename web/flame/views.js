// SPDX-License-Identifier: MIT
// From the tree of calls to what is drawn: a view has the tree's columns, and
// `size` and `start` of each node on the horizontal axis.

// How much of each side's weight a frame's width is.
function sideScales(p, t, s) {
	if (!p.compare) return [1, 0];
	let before = t.ta[0],
		after = t.tb[0];
	if (!s.normalize) before = after = Math.max(before, after);
	const part = s.side === "both" ? [0.5, 0.5] : s.side === "before" ? [1, 0] : [0, 1];
	return [before > 0 ? part[0] / before : 0, after > 0 ? part[1] / after : 0];
}

function sizes(t, [ka, kb]) {
	if (kb === 0 && ka === 1) return t.ta;
	const size = new Float64Array(t.n);
	for (let i = 0; i < t.n; i++) size[i] = t.ta[i] * ka + (t.tb ? t.tb[i] * kb : 0);
	return size;
}

// Children stand from their parent's left edge on; what is left to the right is its own.
function lay(v) {
	const cursor = new Float64Array(v.n);
	v.start = new Float64Array(v.n);
	for (let i = 1; i < v.n; i++) {
		const up = v.parent[i];
		v.start[i] = cursor[i] = cursor[up];
		cursor[up] += v.size[i];
	}
	return v;
}

function topDown(p, t, s) {
	const scales = sideScales(p, t, s);
	let v = { ...t, size: sizes(t, scales), scales };
	if (orderOf(s) === "size") {
		v = { ...arrange(p, v, "size", v.size), scales };
		v.size = sizes(v, scales);
	}
	return lay(v);
}

// Merged by leaf. Nodes are made only where they are wide enough to be seen
// (size >= cut), because a full reversed tree can be a hundred times the tree;
// those that were not opened keep their samples, to be opened after a zoom.
class Reversed {
	// samples: nodes of t; weights: their a and b; the first step goes to the sample's own
	// function (first = 0) or to its caller's (first = 1), whose function the root then is.
	constructor(p, t, samples, a, b, first, rootFunc, scales) {
		Object.assign(this, { p, t, scales, first, n: 0, cap: 1024 });
		this.weightA = a;
		this.weightB = b;
		this.next = new Int32Array(t.n).fill(-1);
		this.cursor = new Int32Array(t.n);
		this.stamp = new Int32Array(p.funcs).fill(-1);
		this.slot = new Int32Array(p.funcs);
		for (const k of ["func", "parent", "head", "opened"]) this[k] = new Int32Array(this.cap);
		for (const k of ["a", "ta", "b", "tb"])
			this[k] = b || k[k.length - 1] === "a" ? new Float64Array(this.cap) : null;
		this.add(rootFunc, 0);
		for (const i of samples) {
			this.cursor[i] = i;
			this.give(0, i);
		}
		// samples without any frame
		if (!first) {
			this.a[0] += t.a[0];
			this.ta[0] += t.a[0];
			if (b) {
				this.b[0] += t.b[0];
				this.tb[0] += t.b[0];
			}
		}
		this.open(this.sizeOf(0) / 5000, 0);
	}

	add(func, parent) {
		if (this.n === this.cap) {
			this.cap *= 2;
			for (const k of ["func", "parent", "head", "opened", "a", "ta", "b", "tb"]) {
				if (!this[k]) continue;
				const more = new this[k].constructor(this.cap);
				more.set(this[k]);
				this[k] = more;
			}
		}
		this.func[this.n] = func;
		this.parent[this.n] = parent;
		this.head[this.n] = -1;
		return this.n++;
	}

	give(node, sample) {
		this.next[sample] = this.head[node];
		this.head[node] = sample;
		this.ta[node] += this.weightA[sample];
		if (this.tb) this.tb[node] += this.weightB[sample];
	}

	sizeOf(i) {
		return this.ta[i] * this.scales[0] + (this.tb ? this.tb[i] * this.scales[1] : 0);
	}

	// Open all unopened nodes of at least that size, in node `within` (its whole subtree).
	open(cut, within) {
		const inside = new Uint8Array(this.cap);
		let any = false;
		for (let i = within; i < this.n; i++) {
			const in_ = i === within || (i < inside.length ? inside[this.parent[i]] : true);
			if (i < inside.length) inside[i] = in_ ? 1 : 0;
			if (!in_ || this.opened[i] || this.sizeOf(i) < cut) continue;
			any = true;
			this.split(i);
		}
		return any;
	}

	split(node) {
		const { t } = this;
		this.opened[node] = 1;
		for (let i = this.head[node], next; i >= 0; i = next) {
			next = this.next[i];
			const at = node === 0 && !this.first ? this.cursor[i] : t.parent[this.cursor[i]];
			if (at === 0) {
				this.a[node] += this.weightA[i];
				if (this.b) this.b[node] += this.weightB[i];
				continue;
			}
			const f = t.func[at];
			this.cursor[i] = at;
			if (this.stamp[f] !== node) {
				this.stamp[f] = node;
				this.slot[f] = this.add(f, node);
			}
			this.give(this.slot[f], i);
		}
		this.head[node] = -1;
	}

	view(sort) {
		const cut = (k) => (this[k] ? this[k].subarray(0, this.n) : null);
		const t = {
			n: this.n,
			func: cut("func"),
			parent: cut("parent"),
			a: cut("a"),
			b: cut("b"),
			ta: cut("ta"),
			tb: cut("tb"),
		};
		const v = arrange(this.p, t, sort, sort === "size" ? sizes(t, this.scales) : null);
		v.scales = this.scales;
		v.size = sizes(v, v.scales);
		v.reversed = this;
		return lay(v);
	}
}

function bottomUp(p, t, s) {
	const samples = [];
	for (let i = 1; i < t.n; i++) if (t.a[i] || (t.b && t.b[i])) samples.push(i);
	return new Reversed(p, t, samples, t.a, t.b, 0, p.root, sideScales(p, t, s)).view(orderOf(s));
}

// Who calls the function, from its outermost occurrences outwards.
function callersOf(p, t, func, s) {
	return new Reversed(p, t, outermost(t, func), t.ta, t.tb, 1, func, sideScales(p, t, s)).view(
		orderOf(s)
	);
}

// What it calls: all its outermost occurrences as one.
function calleesOf(p, t, func, s) {
	const none = new Uint8Array(p.funcs);
	const r = regroup(p, t, { hide: none, merge: none, fold: none, recursion: false, focus: func });
	const scales = sideScales(p, t, s);
	// node 0 is "all" with the function as its only child: the child becomes the root
	const v = { n: r.n - 1, scales };
	for (const k of ["func", "a", "b", "ta", "tb"]) v[k] = r[k] && r[k].subarray(1);
	for (const k of ["parent", "depth", "end"])
		v[k] = r[k].subarray(1).map((x) => (k === "parent" && x === 0 ? 0 : x - 1));
	let view = v;
	if (orderOf(s) === "size") view = { ...arrange(p, v, "size", sizes(v, scales)), scales };
	view.size = sizes(view, scales);
	return lay(view);
}
