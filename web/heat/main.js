// SPDX-License-Identifier: MIT
// Putting it together: the state, what follows from it, and what changes it.

const app = {
	p: null,
	state: null,
	start: null,
	pass: null,
	box: null, // of time and value that is shown
	grid: null,
	selected: [],
	sums: null,
	family: "",
	hover: null,
	cursor: null,
	anchor: null,
	dragging: null,
	saved: null,
	keys: {},
	times: {},
};

const darkSystem = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (app.state && app.state.theme ? app.state.theme === "dark" : darkSystem.matches);

function startState(p) {
	return {
		linear: p.head.linear,
		shade: "log",
		theme: "",
		query: "",
		zoom: null,
		sel: null,
		table: false,
		order: "value",
		desc: true,
	};
}

const packBox = (b) => [b.t0, b.t1, b.v0, b.v1].join(","); // whole: a rounded edge would lose its points

function readBox(text) {
	const [t0, t1, v0, v1] = (text || "").split(",").map(Number);
	return [t0, t1, v0, v1].every(Number.isFinite) && t1 >= t0 && v1 > v0 ? { t0, t1, v0, v1 } : null;
}

function toHash(s) {
	const q = new URLSearchParams(),
		d = app.start;
	if (s.linear !== d.linear) q.set("linear", s.linear ? 1 : 0);
	for (const [k, key] of [
		["shade", "shade"],
		["theme", "theme"],
		["query", "q"],
		["order", "by"],
	])
		if (s[k] !== d[k]) q.set(key, s[k]);
	if (s.table) q.set("table", 1);
	if (!s.desc) q.set("desc", 0);
	if (s.zoom) q.set("zoom", packBox(s.zoom));
	if (s.sel) q.set("sel", packBox(s.sel));
	return q.toString() ? "#" + q : "";
}

function fromHash(hash) {
	const q = new URLSearchParams(hash.slice(1)),
		s = { ...app.start };
	if (q.has("linear")) s.linear = q.get("linear") === "1";
	if (q.get("shade") === "linear") s.shade = "linear";
	if (["light", "dark"].includes(q.get("theme"))) s.theme = q.get("theme");
	if (q.get("by") === "time") s.order = "time";
	s.query = q.get("q") || "";
	s.table = q.get("table") === "1";
	s.desc = q.get("desc") !== "0";
	s.zoom = readBox(q.get("zoom"));
	s.sel = readBox(q.get("sel"));
	return s;
}

function update() {
	const { p, state: s } = app,
		b = plot(),
		began = performance.now();
	if (app.keys.query !== s.query) {
		app.pass = filtered(p, s.query);
		app.keys.query = s.query;
	}
	document.documentElement.dataset.theme = isDark() ? "dark" : "light";
	if (s.table !== !$("side").hidden) {
		$("side").hidden = !s.table; // its room first: the picture's size follows
		Object.assign(b, plot());
	}
	app.box = s.zoom || {
		t0: 0,
		t1: p.span,
		v0: s.linear ? 0 : p.n ? p.least : 1,
		v1: p.n ? Math.max(p.most, p.least + 1) : 1,
	};
	const kept = [app.cursor, app.anchor].map((cell) => cell && pointOf(app.grid, cell));
	app.grid = makeGrid(p, app.pass, app.box, b.w, b.h, s.linear);
	[app.cursor, app.anchor] = kept.map((point) => point && cellOf(app.grid, point));
	app.hover = null;
	app.sums = sumUp(p, within(p, app.pass, app.box));
	app.selected = s.sel ? listOf(p, within(p, app.pass, s.sel)) : [];
	refreshSide();
	draw();
	show();
	app.times.update = performance.now() - began;
}

function show() {
	const { p, state: s } = app;
	$("empty").hidden = app.grid.n > 0;
	$("empty").textContent = p.n
		? "No points are left: the filter or the zoom leaves none."
		: "This heat map is empty: " + (p.head.why || "it has no points") + ".";
	if ($("query").value !== s.query) $("query").value = s.query;
	$("query").closest(".search").classList.toggle("on", !!s.query);
	$("found").textContent = !s.query ? "" : app.pass.error || grouped.format(app.sums.n) + " points";
	for (const b of $("scales").children) pressed(b, (b.dataset.linear === "1") === s.linear);
	for (const b of $("shades").children) pressed(b, b.dataset.shade === s.shade);
	const chips = [];
	const chip = (kind, text, undo) =>
		make(
			"button",
			{ class: "chip", title: "Undo: " + kind, onclick: undo },
			make("span", { class: "what", text: kind }),
			make("span", { class: "which", text }),
			icon("m4.5 4.5 7 7m0-7-7 7")
		);
	const boxText = (b) =>
		duration(b.t0) + " – " + duration(b.t1) + ", " + shortText(b.v0) + " – " + shortText(b.v1);
	if (s.zoom) chips.push(chip("zoom", boxText(s.zoom), () => change({ zoom: null })));
	if (s.sel) {
		chips.push(
			make(
				"button",
				{
					class: "chip",
					onclick: zoomToSelection,
					title: "Zoom to the selection (z)",
				},
				make("span", { class: "which", text: "Zoom to it" })
			)
		);
		chips.push(chip("selected", boxText(s.sel), () => change({ sel: null })));
	}
	$("chips").replaceChildren(...chips);
}

function pressed(b, on) {
	b.setAttribute("aria-checked", String(on));
	b.tabIndex = on ? 0 : -1;
}

function change(part) {
	Object.assign(app.state, part);
	if ("zoom" in part || "linear" in part) app.cursor = app.anchor = null;
	update();
	try {
		history.replaceState(null, "", location.pathname + location.search + toHash(app.state));
	} catch (e) {
		// some places a file is opened from have no history
	}
}

function select(box) {
	change({ sel: box, table: true });
	say(grouped.format(app.selected.reduce((n, i) => n + app.p.count[i], 0)) + " events selected");
}

function zoomToSelection() {
	const b = app.state.sel;
	change({ zoom: b, sel: null });
}

function setUpBars() {
	const { head } = app.p;
	document.title = head.title + " · kymo";
	$("title").textContent = head.title;
	$("subtitle").textContent = [
		head.subtitle,
		grouped.format(head.points) + " points",
		duration(head.span),
	]
		.filter((x) => x)
		.join(" · ");
	$("about").textContent = grouped.format(head.points) + " points";
	$("about").addEventListener("click", showAbout);
	for (const b of $("scales").children)
		b.addEventListener("click", () => change({ linear: b.dataset.linear === "1" }));
	for (const b of $("shades").children)
		b.addEventListener("click", () => change({ shade: b.dataset.shade }));
	for (const group of document.querySelectorAll("[role=radiogroup]"))
		group.addEventListener("keydown", radioKeys);
	$("query").addEventListener("input", () => change({ query: $("query").value }));
	$("query").closest(".search").hidden = !app.p.labels.length;
	$("tabled").addEventListener("click", () => change({ table: !app.state.table }));
	$("export").addEventListener("click", exportMenu);
	$("theme").addEventListener("click", () => change({ theme: isDark() ? "light" : "dark" }));
	$("help").addEventListener("click", showHelp);
	$("dialog").addEventListener("click", (e) => e.target === $("dialog") && $("dialog").close());
}

async function start() {
	const began = performance.now(),
		holder = $("profile");
	app.p = await readPoints(holder.textContent.trim());
	holder.remove();
	app.start = startState(app.p);
	app.state = fromHash(location.hash);
	app.family = getComputedStyle(document.body).fontFamily;
	setUpBars();
	setUpMenus();
	setUpKeys();
	update();
	setUpPicture();
	window.addEventListener("hashchange", () => {
		app.state = fromHash(location.hash);
		update();
	});
	darkSystem.addEventListener("change", update);
	app.times.ready = performance.now() - began;
	// for scripts and tests: what is shown
	window.kymo = {
		state: () => ({ ...app.state }),
		times: app.times,
		grid: () => ({
			columns: app.grid.columns,
			rows: app.grid.rows,
			edges: app.grid.edges,
			n: app.grid.n,
			most: app.grid.most,
			count: [...app.grid.count],
		}),
		cell: (c, r) => {
			const b = plot(),
				s = $("stage").getBoundingClientRect();
			return {
				x: s.left + b.x + (b.w * (c + 0.5)) / app.grid.columns,
				y: s.top + b.y + b.h * (1 - (r + 0.5) / app.grid.rows),
			};
		},
		sums: () => app.sums,
		selected: () => app.selected.reduce((n, i) => n + app.p.count[i], 0),
		saved: async () =>
			app.saved && {
				name: app.saved.name,
				size: app.saved.size,
				text: (await app.saved.blob.text()).slice(0, 1e6),
			},
	};
}

begin(start);
