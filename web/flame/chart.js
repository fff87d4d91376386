// SPDX-License-Identifier: MIT
// Time order: every stack when it was. A thread that runs at the same time as another
// has a lane of its own; one that came when another had ended may have its lane.
//
// A sample stands for the time up to the next one of its thread, but for no more than a
// few periods: a thread that was not seen for longer did not run. What lasted for a known
// time, a wait, stands where it was. src/calc/time/chart.c does the same for SVG.

const MISSED = 2; // periods that may pass without a sample before it is a gap

const UNTIMED =
	"When these waits were is not known: they were summed up in the kernel. kymo record --off-cpu " +
	"--off-cpu-thresh 1 keeps the time of each from 1 ms on.";

function timeOrder(p, t, self, s) {
	const most = 3000000;
	for (let coarse = 0; coarse < 20; coarse++) {
		const v = chartOf(p, t, self, s, coarse, most);
		if (v) return v;
	}
	return null;
}

// Entries that pass, in order of time (and of nodes within a step): a counting sort.
function byTime(p, self, coarse) {
	const steps = (p.time.steps >> coarse) + 2,
		count = new Int32Array(steps + 1),
		when = (i) => (p.eTime ? p.eTime[i] : 0),
		passes = (i) => when(i) >= 0 && self.passes(i);
	for (let i = 0; i < p.entries; i++) if (passes(i)) count[(when(i) >> coarse) + 1]++;
	for (let i = 0; i < steps; i++) count[i + 1] += count[i];
	const order = new Int32Array(count[steps]);
	for (let i = 0; i < p.entries; i++) if (passes(i)) order[count[when(i) >> coarse]++] = i;
	return order;
}

const threadOf = (p, e) => p.keys[p.eKey[e]].thread;

// The same thread by thread: [{ thread, entries }], as they came.
function byThread(p, order) {
	const threads = new Map();
	for (const e of order) {
		const th = p.threads[threadOf(p, e)],
			id = th.pid + "/" + th.tid;
		if (!threads.has(id)) threads.set(id, { pid: th.pid, entries: [] });
		threads.get(id).entries.push(e);
	}
	return [...threads.values()];
}

// What a quarter of the gaps between a thread's samples is below, by event: the others may be waits.
function usualPeriods(p, threads, step, coarse) {
	const gaps = p.events.map(() => []);
	for (const { entries } of threads) {
		let last = -1,
			samples = 0;
		for (const e of entries) {
			const event = p.keys[p.eKey[e]].event,
				clock = p.head.clocks[event],
				at = p.eTime[e] >> coarse;
			if (clock.spans || !clock.period) continue;
			if (at > last) {
				if (last >= 0 && gaps[event].length < 100000)
					gaps[event].push(((at - last) * step) / Math.max(1, samples));
				samples = 0;
			}
			samples += (p.eWeight[e] * clock.rate) / clock.period;
			last = at;
		}
	}
	return p.head.clocks.map(({ period }, i) => {
		const list = gaps[i].sort((a, b) => a - b),
			gap = list[list.length >> 2] || 0;
		return gap > period && gap < 8 * period ? gap : period || step;
	});
}

// A thread's pieces of time in their order: { e, from, to }.
function piecesOf(p, entries, step, coarse, periods) {
	const list = entries.map((e) => {
			const at = (p.eTime[e] >> coarse) * step,
				event = p.keys[p.eKey[e]].event,
				clock = p.head.clocks[event],
				length = p.eWeight[e] * clock.rate;
			return { e, from: clock.spans ? at - length : at, to: at, length, clock, event };
		}),
		out = [];
	if (list.some((x) => x.clock.spans)) list.sort((a, b) => a.from - b.from);
	for (let i = 0, end; i < list.length; i = end) {
		const first = list[i];
		let sum = 0;
		end = i + 1;
		if (first.clock.spans) {
			add(first.e, first.from, first.to);
			continue;
		}
		while (end < list.length && !list[end].clock.spans && list[end].from === first.from) end++;
		for (let k = i; k < end; k++) sum += list[k].length;
		const period = periods[first.event],
			next = end < list.length ? list[end].from - first.from : Infinity,
			whole = next <= sum + MISSED * period + step / 4 ? next : Math.min(sum, next);
		for (let k = i, at = first.from; k < end; k++) {
			const part = (whole * list[k].length) / (sum || 1);
			add(list[k].e, at, at + part);
			at += part;
		}
	}
	return out;

	function add(e, from, to) {
		const last = out[out.length - 1];
		from = Math.max(from, last ? last.to : 0);
		if (to > from) out.push({ e, from, to });
	}
}

// Lanes, each with its threads one after the other.
function lanesOf(threads) {
	const lanes = [];
	threads = threads.filter((t) => t.pieces.length);
	for (const t of threads) {
		t.from = t.pieces[0].from;
		t.to = t.pieces[t.pieces.length - 1].to;
	}
	threads.sort((a, b) => a.from - b.from);
	for (const t of threads) {
		const free = lanes.filter((l) => l.end <= t.from),
			lane = free.find((l) => l.pid === t.pid) || free[0] || { threads: [] };
		if (!free.length) lanes.push(lane);
		lane.end = t.to;
		lane.pid = t.pid;
		lane.threads.push(t);
	}
	return lanes;
}

// Frames that are added one by one, each thread's in order.
class ChartFrames {
	constructor(p, t, most) {
		Object.assign(this, { p, t, most, n: 1, cap: 1 << 16, open: [0], openNode: [0], path: [] });
		for (const k of ["func", "parent", "depth"]) this[k] = new Int32Array(this.cap);
		for (const k of ["a", "start", "stop"]) this[k] = new Float64Array(this.cap);
		this.func[0] = p.root;
	}

	grow() {
		this.cap *= 2;
		for (const k of ["func", "parent", "depth", "a", "start", "stop"]) {
			const more = new this[k].constructor(this.cap);
			more.set(this[k]);
			this[k] = more;
		}
	}

	// Nothing goes on; but the process or thread does, if keep is true.
	close(keep) {
		const label =
			keep && this.open.length > 1 && KINDS[this.p.kind[this.func[this.open[1]]]] === "label";
		this.open.length = this.openNode.length = Math.min(this.open.length, label ? 2 : 1);
	}

	// False: there are too many.
	add(node, weight, from, to) {
		const { t, open, openNode, path } = this,
			depth = t.depth[node];
		for (let i = node, d = depth; d >= 0; d--, i = t.parent[i]) path[d] = i;
		let same = 0;
		while (same < depth && same < open.length - 1 && openNode[same + 1] === path[same + 1])
			same++;
		open.length = openNode.length = same + 1;
		for (let d = same + 1; d <= depth; d++) {
			if (this.n === this.cap) this.grow();
			this.func[this.n] = t.func[path[d]];
			this.parent[this.n] = open[d - 1];
			this.depth[this.n] = d;
			this.start[this.n] = from;
			open.push(this.n++);
			openNode.push(path[d]);
		}
		for (const i of open) this.stop[i] = to;
		this.a[open[depth]] += weight;
		return this.n <= this.most;
	}

	view() {
		const v = { n: this.n, b: null, tb: null, scales: [1, 0], chart: true };
		for (const k of ["func", "parent", "depth", "a", "start"]) v[k] = this[k].subarray(0, v.n);
		v.size = this.stop.subarray(0, v.n).map((to, i) => to - v.start[i]);
		v.ta = addUp(v.a, v.parent, v.n);
		setEnds(v);
		return v;
	}
}

// Every lane's rows begin beyond those of the one before. first: the frame that each begins with.
function stackLanes(v, first) {
	let base = 0;
	first.forEach((from, i) => {
		const to = i + 1 < first.length ? first[i + 1] : v.n;
		let deepest = 0;
		for (let k = from; k < to; k++) {
			deepest = Math.max(deepest, v.depth[k]);
			v.depth[k] += base;
		}
		base += deepest;
	});
}

function chartOf(p, t, self, s, coarse, most) {
	const frames = new ChartFrames(p, t, most),
		order = byTime(p, self, coarse),
		nodeOf = (e) => (t.at ? t.at[p.eNode[e]] : p.eNode[e]);
	if (p.time.ordered) {
		// a file without times: in the order of its lines, as wide as their counts
		let at = 0;
		for (const e of order) {
			const w = p.eWeight[e];
			if (nodeOf(e) >= 0 && !frames.add(nodeOf(e), w, at, at + w)) return null;
			at += nodeOf(e) >= 0 ? w : 0;
		}
		return frames.view();
	}
	const step = p.time.step * 2 ** coarse,
		origin = s.from * p.time.step,
		threads = byThread(p, order),
		periods = usualPeriods(p, threads, step, coarse),
		first = [];
	for (const th of threads)
		th.pieces = piecesOf(
			p,
			th.entries.filter((e) => nodeOf(e) >= 0),
			step,
			coarse,
			periods
		);
	for (const lane of lanesOf(threads)) {
		first.push(frames.n);
		for (const { pieces } of lane.threads) {
			let last = -1;
			frames.close(false);
			for (const { e, from, to } of pieces) {
				const start = Math.max(from - origin, 0);
				if (to - origin <= start) continue;
				if (start > last) frames.close(last >= 0);
				last = to - origin;
				if (!frames.add(nodeOf(e), p.eWeight[e], start, last)) return null;
			}
		}
	}
	const v = frames.view();
	v.start[0] = 0;
	v.size[0] = Math.max((s.to + 1 - s.from) * p.time.step, v.size[0]);
	Object.assign(v, { timed: true, origin, coarse, untimed: untimedShare(p, self) });
	stackLanes(v, first);
	return v;
}

// How much of the weight that the filters leave has no time.
function untimedShare(p, self) {
	let all = 0,
		none = 0;
	for (let i = 0; i < p.entries; i++) {
		if (!self.passes(i)) continue;
		all += p.eWeight[i];
		if (p.eTime && p.eTime[i] < 0) none += p.eWeight[i];
	}
	return all > 0 ? none / all : 0;
}

// Times above the frames of a pane, and lines behind them; they follow the zoom.
const AXIS = 18;

function eachTick(pane, width, fn) {
	const span = pane.x1 - pane.x0,
		gap = niceStep(span / Math.max(2, width / 110)),
		from = pane.x0 + pane.v.origin;
	for (let k = Math.ceil(from / gap - 1e-9); k * gap <= from + span; k++)
		fn(((k * gap - from) / span) * width, tickText(k * gap, gap));
}

function drawTicks(ctx, pane, width, top, height) {
	ctx.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--line");
	eachTick(pane, width, (x) => ctx.fillRect(x, top, 1, height));
}

function drawTimes(ctx, pane, width, top) {
	const css = getComputedStyle(document.documentElement);
	ctx.fillStyle = css.getPropertyValue("--paper");
	ctx.fillRect(-PAD, top, width + 2 * PAD, AXIS - 2);
	ctx.fillStyle = css.getPropertyValue("--muted");
	ctx.font = "10.5px " + app.family;
	ctx.textBaseline = "alphabetic";
	ctx.textAlign = "left";
	eachTick(pane, width, (x, text) => x < width - 30 && ctx.fillText(text, x + 4, top + 12));
}
