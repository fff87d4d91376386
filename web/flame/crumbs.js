// SPDX-License-Identifier: MIT
// Words about the picture: where it is zoomed to, what was taken out, what a frame is.

const KIND_WORDS = {
	user: "",
	kernel: "kernel",
	inlined: "inlined",
	jit: "JIT",
	unknown: "no symbol",
	label: "process",
	off: "off CPU",
	waker: "waker",
	pruned: "pruned",
	root: "",
};

// The function a pane's whole is: for percentages.
function whole(v) {
	return app.p.compare ? app.tree.ta[0] : app.state.mode === "sandwich" ? app.tree.ta[0] : v.ta[0];
}

// Rows of [label, value, share] about a frame, for the tip and the footer.
function figures({ pane, node }) {
	const { p, unit } = app,
		v = pane.v,
		f = v.func[node],
		rows = [];
	if (p.compare) {
		const t = app.tree,
			before = t.ta[0] ? v.ta[node] / t.ta[0] : 0,
			after = t.tb[0] ? v.tb[node] / t.tb[0] : 0;
		rows.push(["Before", weight(v.ta[node], unit), percent(before, 1)]);
		rows.push(["After", weight(v.tb[node], unit), percent(after, 1)]);
		const [a, b] = shares(v, node);
		const rate = a > 0 ? (b - a) / a : 0;
		rows.push([
			"Change",
			a === 0
				? b === 0
					? "none"
					: "new"
				: b === 0
					? "vanished"
					: a === b
						? "none"
						: signedPercent(rate) + " of before",
			signedPercent(after - before),
		]);
		return rows;
	}
	if (v.timed)
		rows.push(
			["From", tickText(v.start[node] + v.origin, Math.min(v.size[0] / 1000, 1e6)), ""],
			["Lasts", duration(v.size[node]), percent(v.size[node], v.size[0])]
		);
	rows.push(["Total", weight(v.ta[node], unit), percent(v.ta[node], whole(v))]);
	if (!v.reversed) rows.push(["Self", weight(v.a[node], unit), percent(v.a[node], whole(v))]);
	if (pane.zoom > 0 && node !== pane.zoom && v.ta[pane.zoom] > 0)
		rows.push(["Of zoomed", "", percent(v.ta[node], v.ta[pane.zoom])]);
	if (f < p.pruned) {
		const s = sums();
		if (s.total[f] !== v.ta[node])
			rows.push([
				"Function total",
				weight(s.total[f], unit),
				percent(s.total[f], app.tree.ta[0]),
			]);
		if (v.reversed || s.self[f] !== v.a[node])
			rows.push([
				"Function self",
				weight(s.self[f], unit),
				percent(s.self[f], app.tree.ta[0]),
			]);
	}
	return rows;
}

function origin(f) {
	const { p } = app,
		parts = [];
	if (p.file[f]) parts.push(p.file[f] + (p.line[f] ? ":" + p.line[f] : ""));
	if (p.module[f]) parts.push(p.module[f]);
	return parts;
}

function sentence(what) {
	const { p } = app,
		v = what.pane.v,
		f = v.func[what.node];
	const words = [p.name[f], ...figures(what).map(([k, w, s]) => k + " " + (w ? w + ", " : "") + s)];
	words.push("depth " + v.depth[what.node]);
	if (p.base[f]) words.push("in " + p.base[f]);
	return words.join("; ");
}

function showTip(what, event) {
	const tip = $("tip");
	if (!what) {
		tip.hidden = true;
		return;
	}
	const { p } = app,
		f = what.pane.v.func[what.node],
		kind = KIND_WORDS[KINDS[p.kind[f]]];
	if (tip.hidden || tip.dataset.key !== what.pane.name + what.node) {
		const table = make("dl");
		for (const [k, w, s] of figures(what))
			table.append(
				make("dt", { text: k }),
				make("dd", { text: w }),
				make("dd", { class: "share", text: s })
			);
		tip.dataset.key = what.pane.name + what.node;
		tip.replaceChildren(make("p", { class: "name", text: p.name[f] }));
		const from = make("p", { class: "from" });
		if (kind) from.append(make("span", { class: "kind", text: kind }));
		for (const part of origin(f)) from.append(make("span", { text: part }));
		if (from.childNodes.length) tip.append(from);
		tip.append(table);
		if (f === p.pruned)
			tip.append(
				make("p", { class: "from", text: "frames too small to be kept in this file" })
			);
		tip.hidden = false;
	}
	const box = tip.getBoundingClientRect();
	const x =
		event.clientX + 16 + box.width > innerWidth
			? event.clientX - box.width - 12
			: event.clientX + 16;
	const y =
		event.clientY + 20 + box.height > innerHeight
			? event.clientY - box.height - 14
			: event.clientY + 20;
	tip.style.transform = "translate(" + Math.max(4, x) + "px," + Math.max(4, y) + "px)";
}

function showHovered(what) {
	const out = $("hovered");
	if (!what) {
		out.replaceChildren();
		return;
	}
	const { p } = app,
		f = what.pane.v.func[what.node],
		parts = [make("strong", { text: p.name[f] })];
	for (const [k, w, s] of figures(what).slice(0, 3))
		parts.push(make("span", { text: k.toLowerCase() + " " + (w ? w + " · " : "") + s }));
	for (const part of origin(f)) parts.push(make("span", { class: "dim", text: part }));
	out.replaceChildren(...parts);
}

function showCrumbs() {
	const { p, state } = app,
		nav = $("crumbs"),
		items = [];
	if (app.panes.length !== 1) {
		nav.replaceChildren(
			make("span", {
				class: "crumb now",
				text: state.sandwich >= 0 ? p.name[state.sandwich] : "",
			})
		);
		return;
	}
	const pane = app.panes[0],
		v = pane.v,
		path = [];
	for (let i = pane.zoom; i > 0; i = v.parent[i]) path.unshift(i);
	const crumb = (node, text, now) =>
		make("button", {
			class: "crumb" + (now ? " now" : ""),
			text,
			title: text,
			"aria-current": now ? "true" : null,
			onclick: () => zoomTo(pane, node),
		});
	items.push(crumb(0, "all", !path.length));
	const shown = path.length > 9 ? [...path.slice(0, 2), -1, ...path.slice(-6)] : path;
	for (const node of shown) {
		items.push(make("span", { class: "sep", text: "›", "aria-hidden": "true" }));
		items.push(
			node < 0
				? make("span", { class: "sep", text: "…" })
				: crumb(node, p.name[v.func[node]], node === pane.zoom)
		);
	}
	nav.replaceChildren(...items);
	nav.scrollLeft = nav.scrollWidth;
}

const OP_WORDS = { hide: "hidden", merge: "merged", fold: "collapsed", focus: "focus" };

// What was changed about the stacks, each with a button that undoes it.
function showChips() {
	const { p, state } = app,
		chips = [];
	const chip = (kind, text, undo) =>
		make(
			"button",
			{ class: "chip", title: "Undo: " + kind + " " + text, onclick: undo },
			make("span", { class: "what", text: kind }),
			make("span", { class: "which", text }),
			icon("m4.5 4.5 7 7m0-7-7 7")
		);
	state.ops.forEach(([op, f], i) =>
		chips.push(
			chip(OP_WORDS[op], p.name[f], () =>
				change({ ops: state.ops.filter((_, k) => k !== i) })
			)
		)
	);
	if (state.recursion) chips.push(chip("recursion", "collapsed", () => change({ recursion: false })));
	if (state.threads)
		chips.push(
			chip("threads", state.threads.size + " of " + p.threads.length, () =>
				change({ threads: null })
			)
		);
	if (state.cpus)
		chips.push(
			chip("CPUs", state.cpus.size + " of " + p.cpus.length, () => change({ cpus: null }))
		);
	if (state.from > 0 || state.to < p.time.steps - 1)
		chips.push(
			chip("time", timeText(state.from) + " – " + timeText(state.to + 1), () =>
				change({ from: 0, to: p.time.steps - 1 })
			)
		);
	$("chips").replaceChildren(...chips);
}

function showFound() {
	const { state, p } = app,
		out = $("found"),
		on = !!state.query;
	$("prev").hidden = $("next").hidden = !on;
	$("query").closest(".search").classList.toggle("on", on);
	if (!on || !app.found) {
		out.replaceChildren();
		$("query").removeAttribute("aria-invalid");
		return;
	}
	const f = app.found;
	$("query").setAttribute("aria-invalid", f.error ? "true" : "false");
	if (f.error) {
		out.replaceChildren(make("span", { class: "bad", text: f.error }));
		return;
	}
	const list = allHits(),
		t = app.tree;
	let { a, b } = f,
		base = t.ta[0],
		baseB = t.tb ? t.tb[0] : 0;
	if (state.mode === "sandwich") {
		const roots = outermost(t, state.sandwich);
		({ a, b } = coveredThrough(t, f.match, roots));
		base = roots.reduce((n, r) => n + t.ta[r], 0);
		baseB = t.tb ? roots.reduce((n, r) => n + t.tb[r], 0) : 0;
	}
	f.shown = base > 0 ? a / base : 0;
	const share = p.compare ? percent(a, base) + " → " + percent(b, baseB) : percent(a, base);
	const where =
		app.hitAt >= 0 && list.length
			? app.hitAt + 1 + "/" + grouped.format(list.length)
			: grouped.format(list.length);
	out.replaceChildren(
		make("b", { text: share }),
		make("span", { text: where + (list.length === 1 ? " frame" : " frames") })
	);
	out.title =
		share + " of the weight has a matching frame in its stack; " + f.funcs + " functions match";
}
