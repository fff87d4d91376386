// SPDX-License-Identifier: MIT
// What is shown and how, and its short form in the address (#...), so that a view
// can be bookmarked and sent, and the browser's Back undoes.

const DEFAULTS = {
	mode: "down", // down, up, sandwich, chart
	icicle: false,
	sort: "", // name, size, or what suits the view
	recursion: false, // collapsed
	color: "kind", // kind, module, name, delta
	safe: false, // colours for any eyes
	theme: "", // "", light, dark
	side: "both", // both, before, after
	normalize: true,
	query: "",
	event: -1,
	threads: null, // Set of indices, or all
	cpus: null,
	from: 0,
	to: Infinity, // steps of time
	ops: [], // [kind, function]: hide, merge, fold, focus
	sandwich: -1, // function
	zoom: [], // functions from the root down
	seconds: false, // the strip of time as a heat map
	table: false,
	order: "self", // of the table
	desc: true,
};

const OPS = { h: "hide", m: "merge", c: "fold", f: "focus" };
const MODES = ["down", "up", "sandwich", "chart"];

function startState(p) {
	const v = p.head.view;
	return {
		...DEFAULTS,
		mode: v.chart ? "chart" : v.reverse ? "up" : "down",
		icicle: v.inverted,
		recursion: v.recursion,
		sort: v.size ? "size" : "",
		color: p.compare ? "delta" : "kind",
		normalize: v.normalize,
		seconds: v.seconds,
		event: p.events.length > 1 && !v.wall ? 0 : -1,
		to: p.time.steps - 1,
		ops: [],
		zoom: [],
	};
}

// A path of functions; a recursion of a thousand frames is "1c*1000".
function packPath(path) {
	const runs = [];
	for (const f of path) {
		const last = runs[runs.length - 1];
		if (last && last.f === f) last.n++;
		else runs.push({ f, n: 1 });
	}
	return runs.map(({ f, n }) => f.toString(36) + (n > 1 ? "*" + n : "")).join(",");
}

function unpackPath(text) {
	const path = [];
	for (const part of text.split(",").filter((x) => x)) {
		const [f, n] = part.split("*");
		for (let i = Math.min(Number(n || 1), 70000 - path.length); i > 0; i--)
			path.push(parseInt(f, 36));
	}
	return path;
}

function toHash(s, start) {
	const q = [];
	const put = (k, v) =>
		q.push(k + "=" + encodeURIComponent(v).replace(/%2C/g, ",").replace(/%2F/g, "/"));
	if (s.mode !== start.mode) put("view", s.mode);
	for (const [k, key] of [
		["icicle", "icicle"],
		["recursion", "fold"],
		["safe", "safe"],
		["normalize", "norm"],
		["table", "table"],
		["seconds", "seconds"],
		["desc", "desc"],
	])
		if (s[k] !== start[k]) put(key, s[k] ? 1 : 0);
	for (const [k, key] of [
		["sort", "sort"],
		["color", "color"],
		["theme", "theme"],
		["side", "side"],
		["query", "q"],
		["order", "by"],
	])
		if (s[k] !== start[k]) put(key, s[k]);
	for (const [k, key] of [
		["event", "event"],
		["from", "from"],
		["to", "to"],
		["sandwich", "of"],
	])
		if (s[k] !== start[k]) put(key, s[k]);
	for (const [k, key] of [
		["threads", "threads"],
		["cpus", "cpus"],
	])
		if (s[k]) put(key, [...s[k]].sort((a, b) => a - b).join(","));
	if (s.ops.length)
		put("ops", s.ops.map(([op, f]) => Object.keys(OPS).find((k) => OPS[k] === op) + f).join(","));
	if (s.zoom.length && packPath(s.zoom).length < 4000) put("zoom", packPath(s.zoom));
	return q.length ? "#" + q.join("&") : "";
}

// Everything is checked: the address is somebody else's text.
function fromHash(hash, start, p) {
	const s = { ...start, ops: [], zoom: [] };
	const q = new URLSearchParams(hash.replace(/^#/, "").replace(/\+/g, "%2B"));
	const one = (key, list, field) => list.includes(q.get(key)) && (s[field] = q.get(key));
	const flag = (key, field) => q.has(key) && (s[field] = q.get(key) === "1");
	const number = (key, lo, hi, field) => {
		const v = Number(q.get(key));
		if (q.has(key) && Number.isInteger(v) && v >= lo && v <= hi) s[field] = v;
	};
	const list = (key, n) =>
		q.get(key) &&
		new Set(
			q
				.get(key)
				.split(",")
				.map(Number)
				.filter((v) => Number.isInteger(v) && v >= 0 && v < n)
		);
	const func = (f) => Number.isInteger(f) && f >= 0 && f < p.funcs;
	one("view", MODES, "mode");
	flag("icicle", "icicle");
	flag("fold", "recursion");
	flag("safe", "safe");
	flag("norm", "normalize");
	flag("table", "table");
	flag("seconds", "seconds");
	flag("desc", "desc");
	one("sort", ["name", "size"], "sort");
	one("color", ["kind", "module", "name", "delta"], "color");
	one("theme", ["light", "dark"], "theme");
	one("side", ["both", "before", "after"], "side");
	one("by", ["name", "module", "self", "total", "delta"], "order");
	s.query = q.get("q") || "";
	number("event", -1, p.events.length - 1, "event");
	number("from", 0, p.time.steps - 1, "from");
	number("to", 0, p.time.steps - 1, "to");
	number("of", 0, p.funcs - 1, "sandwich");
	s.threads = list("threads", p.threads.length) || null;
	s.cpus = list("cpus", p.cpus.length) || null;
	for (const o of (q.get("ops") || "").split(",")) {
		const f = Number(o.slice(1));
		if (OPS[o[0]] && o.length > 1 && func(f)) s.ops.push([OPS[o[0]], f]);
	}
	s.zoom = unpackPath(q.get("zoom") || "").filter(func);
	if (s.mode === "sandwich" && s.sandwich < 0) s.mode = "down";
	if (!p.compare && s.color === "delta") s.color = "kind";
	return s;
}

// Names order a tree that is read from its root; what is merged by leaf is read by weight.
function orderOf(s) {
	return s.sort || (s.mode === "up" || s.mode === "sandwich" ? "size" : "name");
}
