// SPDX-License-Identifier: MIT
// Putting it together: the state, what follows from it, and what changes it.

const app = {
	p: null,
	state: null,
	start: null,
	self: null,
	tree: null,
	panes: [],
	sums: null,
	tallies: null, // follow from the state
	found: null,
	hits: null,
	hitAt: -1,
	painter: null,
	colors: null,
	font: "",
	family: "",
	unit: "",
	hover: null,
	chosen: null,
	dragged: false,
	sliding: 0,
	drawing: 0,
	glass: null,
	still: false,
	width: 0,
	height: 0,
	keys: {},
	times: {},
	saved: null,
};

const darkSystem = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (app.state && app.state.theme ? app.state.theme === "dark" : darkSystem.matches);

// Do only what the change makes necessary: each stage has a key of what it depends on.
function stage(name, key, run) {
	if (app.keys[name] === key) return false;
	app.keys[name] = key;
	run();
	return true;
}

const listed = (set) => (set ? [...set].join(",") : "*");

function rules() {
	const { p, state } = app,
		r = { recursion: state.recursion, focus: -1 };
	for (const k of ["hide", "merge", "fold"]) r[k] = new Uint8Array(p.funcs);
	for (const [op, f] of state.ops) {
		if (op === "focus") r.focus = f;
		else r[op][f] = 1;
	}
	return r;
}

function makePanes() {
	const { p, state: s, tree: t } = app;
	if (s.mode === "sandwich")
		return [
			newPane(callersOf(p, t, s.sandwich, s), true, "callers"),
			newPane(calleesOf(p, t, s.sandwich, s), false, "callees"),
		];
	const view =
		s.mode === "up"
			? bottomUp(p, t, s)
			: s.mode === "chart"
				? timeOrder(p, t, app.self, s)
				: topDown(p, t, s);
	return [newPane(view, !s.icicle, s.mode)];
}

// What weights are: events of different kinds count different things.
function unitOf(s) {
	return s.event >= 0 ? app.p.head.units[s.event] : app.p.head.unit;
}

function update() {
	const { p, state: s } = app,
		began = performance.now();
	app.unit = unitOf(s);
	stage("event", s.event, () => (app.tallies = null));
	const filter = [s.event, listed(s.threads), listed(s.cpus), s.from, s.to].join("|");
	const stacks = filter + "|" + s.recursion + "|" + JSON.stringify(s.ops);
	const chart = [
		s.mode,
		s.mode === "sandwich" ? s.sandwich : "",
		s.mode === "chart" ? "" : orderOf(s),
		s.side,
		s.normalize,
	].join("|");
	if (s.mode === "chart" && !p.eTime) s.mode = "down";
	stage("self", filter, () => (app.self = selfWeights(p, s)));
	stage("tree", stacks, () => {
		const plain = plainTree(p, app.self);
		app.tree = s.ops.length || s.recursion ? regroup(p, plain, rules()) : plain;
		app.sums = null;
	});
	const fresh = stage("panes", stacks + "|" + chart, () => {
		app.panes = makePanes();
		app.hover = app.chosen = app.hits = null;
		app.hitAt = -1;
	});
	stage("heading", [s.event, s.mode, stacks].join("|"), showHeading);
	stage(
		"colors",
		[s.color, s.safe, isDark()].join("|"),
		() => (app.colors = app.painter.tables(s, isDark()))
	);
	if (
		stage(
			"found",
			stacks + "|" + s.query,
			() => (app.found = s.query ? search(p, app.tree, s.query) : null)
		)
	)
		[app.hits, app.hitAt] = [null, -1];
	for (const pane of app.panes)
		if (pane.name !== "callees") pane.up = pane.name === "callers" || !s.icicle;
	if (fresh || app.keys.zoom !== s.zoom.join()) {
		for (const pane of app.panes) {
			if (app.panes.length === 1) pane.zoom = nodeOf(pane.v, s.zoom);
			if (pane.v.reversed && pane.zoom && openReversed(pane, pane.zoom))
				pane.zoom = pane.zoomed;
			[pane.x0, pane.x1] = windowOf(pane, pane.zoom);
		}
		if (app.panes.length === 1 && app.panes[0].zoom)
			app.chosen = app.chosen || { pane: app.panes[0], node: app.panes[0].zoom };
	}
	app.keys.zoom = s.zoom.join();
	if (fresh) {
		showTip(null);
		showHovered(app.chosen);
	}
	show(fresh);
	app.times.update = performance.now() - began;
}

function show(fresh) {
	const { p, state: s } = app,
		root = document.documentElement,
		stageBox = $("stage");
	root.dataset.theme = isDark() ? "dark" : "light";
	const turned = stage("turned", s.mode + s.icicle + s.sandwich, () => {});
	refreshTable();
	showChips();
	const empty = !(app.tree.ta[0] || (app.tree.tb && app.tree.tb[0]));
	$("empty").hidden = !empty;
	const timeless = s.mode === "chart" && app.panes[0].v.timed && !(app.panes[0].v.ta[0] > 0);
	if (timeless) $("empty").hidden = false;
	$("empty").textContent = timeless && !empty
		? UNTIMED
		: p.entries
		? "Nothing is left: the filters or changes leave no samples. The chips above undo them."
		: "This profile is empty: it has no stacks.";
	place();
	if (fresh || turned) {
		const pane = app.panes[0];
		if (app.panes.length === 2)
			stageBox.scrollTop = Math.max(0, pane.base - stageBox.clientHeight / 2);
		else stageBox.scrollTop = pane.up ? app.height : 0;
		if (pane.zoom) scrollTo(pane, pane.zoom);
		noteLow();
	}
	draw();
	drawTimeline();
	showCrumbs();
	showLegend();
	if ($("query").value !== s.query) $("query").value = s.query;
	showFound();
	for (const b of $("modes").children) {
		b.setAttribute("aria-checked", String(b.dataset.mode === s.mode));
		b.tabIndex = b.dataset.mode === s.mode ? 0 : -1;
	}
	for (const b of $("sides").children) {
		b.setAttribute("aria-checked", String(b.dataset.side === s.side));
		b.tabIndex = b.dataset.side === s.side ? 0 : -1;
	}
	const on = (s.threads ? 1 : 0) + (s.cpus ? 1 : 0) + (s.from > 0 || s.to < p.time.steps - 1 ? 1 : 0);
	$("filters-on").hidden = !on;
	$("filters-on").textContent = on;
	if (menuOpen() && !$("popover").hidden)
		refreshPopover(
			$("display").getAttribute("aria-expanded") === "true" ? buildDisplay : buildFilter
		);
}

function change(part) {
	Object.assign(app.state, part);
	update();
	remember("query" in part);
}

function addOp(op, f) {
	const ops = app.state.ops.filter(([o, g]) => g !== f && !(op === "focus" && o === "focus"));
	change({ ops: [...ops, [op, f]], zoom: [] });
}

function sandwich(f) {
	change({ mode: "sandwich", sandwich: f, zoom: [] });
	say("Callers and callees of " + app.p.name[f]);
}

function setMode(mode) {
	const { p, state } = app;
	if (mode === "sandwich") {
		const f = app.chosen ? app.chosen.pane.v.func[app.chosen.node] : -1;
		if (f >= 0 && f < p.pruned) sandwich(f);
		else if (state.sandwich >= 0) change({ mode });
		else sandwich(heaviest());
		return;
	}
	if (mode === "chart" && (!p.eTime || p.compare)) {
		toast(
			p.compare
				? "A comparison has no order of time"
				: p.time.untimed
					? UNTIMED
					: "This profile has no order of time"
		);
		return;
	}
	change({ mode, zoom: [] });
}

// The function with the largest self weight: a good one to begin with.
function heaviest() {
	const s = sums();
	let best = 0;
	for (let f = 0; f < app.p.pruned; f++)
		if (s.self[f] + (s.selfB ? s.selfB[f] : 0) > s.self[best] + (s.selfB ? s.selfB[best] : 0))
			best = f;
	return best;
}

function setQuery(text) {
	const began = performance.now();
	change({ query: text });
	app.times.search = performance.now() - began;
	if (app.found && !app.found.error) say(text ? $("found").textContent : "Search cleared");
}

function allHits() {
	if (!app.hits) app.hits = app.found && !app.found.error ? hits(app.panes[0].v, app.found.match) : [];
	return app.hits;
}

// The view goes into the address; a word that is typed is one step of the history.
function remember(typing) {
	const hash = toHash(app.state, app.start),
		url = location.pathname + location.search + hash;
	if (location.hash === hash) return;
	try {
		history[typing && app.typing ? "replaceState" : "pushState"](null, "", url);
		app.typing = typing;
	} catch (e) {
		// some places a file is opened from have no history
	}
}

function recall() {
	app.state = fromHash(location.hash, app.start, app.p);
	update();
}

// How much there is of the event that is shown. Folded text does not say what it counts.
function showHeading() {
	const { p, unit, state } = app,
		sum = tallySides(),
		event = p.events.length === 1 ? p.events[0] : p.events[state.event];
	let fact = weight(sum[0], unit);
	if (p.compare) fact += " → " + weight(sum[1], unit);
	if (event && event !== unit && event !== "samples") fact += " of " + event;
	if (hasTime(p)) fact += " in " + duration(p.time.step * p.time.steps);
	const v = state.mode === "chart" && app.panes.length && app.panes[0].v;
	if (v && v.untimed > 0 && v.ta[0] > 0)
		fact += " · " + percent(v.untimed, 1) + " of the weight is not drawn: short waits are summed up, without their times";
	$("subtitle").textContent = (p.head.subtitle ? p.head.subtitle + " · " : "") + fact;
}

function setUpBars() {
	const { p } = app,
		head = p.head;
	document.title = head.title + " · kymo";
	$("title").textContent = head.title;
	$("title").title = head.title;
	$("about").textContent =
		(head.pruned.stacks ? "pruned · " : "") + grouped.format(head.nodes) + " frames";
	$("about").addEventListener("click", showAbout);
	$("sides").hidden = !p.compare;
	for (const b of $("modes").children) {
		b.disabled = b.dataset.mode === "chart" && (!p.eTime || p.compare);
		if (b.disabled && p.time.untimed) b.title = UNTIMED;
		if (b.dataset.mode === "chart" && p.time.ordered) {
			b.textContent = "File order";
			b.title = "In the order of the file's lines (4)";
		}
		b.addEventListener("click", () => setMode(b.dataset.mode));
	}
	for (const b of $("sides").children)
		b.addEventListener("click", () => change({ side: b.dataset.side }));
	for (const group of document.querySelectorAll(".subbar [role=radiogroup]"))
		group.addEventListener("keydown", radioKeys);
	$("query").addEventListener("input", () => setQuery($("query").value));
	$("prev").addEventListener("click", () => nextHit(-1));
	$("next").addEventListener("click", () => nextHit(1));
	$("display").addEventListener("click", () => openPopover($("display"), buildDisplay));
	$("filter").addEventListener("click", () => openPopover($("filter"), buildFilter));
	$("tabled").addEventListener("click", () => change({ table: !app.state.table }));
	$("export").addEventListener("click", exportMenu);
	$("theme").addEventListener("click", () => change({ theme: isDark() ? "light" : "dark" }));
	$("help").addEventListener("click", showHelp);
	$("dialog").addEventListener("click", (e) => e.target === $("dialog") && $("dialog").close());
}

function tallySides() {
	const { p } = app,
		sum = [0, 0];
	for (let i = 0; i < p.entries; i++) {
		const k = p.keys[p.eKey[i]];
		if (app.state.event < 0 || k.event === app.state.event) sum[k.side] += p.eWeight[i];
	}
	return sum;
}

// For scripts and tests: what is shown, and how long it took.
function publish() {
	window.kymo = {
		state: () => ({
			...app.state,
			threads: app.state.threads && [...app.state.threads],
			cpus: app.state.cpus && [...app.state.cpus],
		}),
		times: app.times,
		frames: () =>
			app.panes.flatMap((pane) =>
				pane.rows.flatMap((row) =>
					row.map((i) => {
						const v = pane.v,
							box = frameBox({ pane, node: i }),
							l = look(),
							r = $("stage").getBoundingClientRect();
						return {
							pane: pane.name,
							name: app.p.name[v.func[i]],
							depth: v.depth[i],
							total: v.ta[i],
							totalB: v.tb ? v.tb[i] : null,
							self: v.a[i],
							from: v.timed ? (v.start[i] + v.origin) / 1e9 : null,
							lasts: v.timed ? v.size[i] / 1e9 : null,
							x: r.left + PAD + box.x,
							y: r.top + box.y - $("stage").scrollTop,
							w: box.w,
							h: box.h,
							fill: l.fill(v.func[i], i, v),
						};
					})
				)
			),
		found: () =>
			app.found && {
				a: app.found.a,
				b: app.found.b,
				share: app.found.shown,
				funcs: app.found.funcs,
				frames: allHits().length,
				at: app.hitAt,
			},
		tallies: () => ({ all: tallies().all }),
		chosen: () => app.chosen && app.p.name[app.chosen.pane.v.func[app.chosen.node]],
		nodes: () => app.panes.map((q) => q.v.n),
		saved: async () =>
			app.saved && {
				name: app.saved.name,
				size: app.saved.size,
				text: (await app.saved.blob.text()).slice(0, 1e6),
			},
		still: (on) => (app.still = on),
		zoom: (name) => {
			const pane = app.panes[0],
				f = app.p.name.indexOf(name);
			const i = pane.v.func.indexOf(f);
			if (f >= 0 && i >= 0) zoomTo(pane, i);
			return i;
		},
	};
}

async function start() {
	const began = performance.now();
	const holder = $("profile"),
		text = holder.textContent.trim();
	app.p = await readProfile(text);
	holder.remove();
	app.times.decode = performance.now() - began;
	app.start = startState(app.p);
	app.state = fromHash(location.hash, app.start, app.p);
	app.unit = unitOf(app.state);
	app.family = getComputedStyle(document.body).fontFamily;
	app.font = "12px " + app.family;
	app.painter = painter(app.p);
	setUpBars();
	setUpPicture();
	setUpMenus();
	setUpTimeline();
	setUpDivider();
	setUpColumns();
	setUpKeys();
	publish();
	update();
	window.addEventListener("popstate", recall);
	window.addEventListener("hashchange", recall);
	darkSystem.addEventListener("change", update);
	app.times.ready = performance.now() - began;
}

begin(start);
