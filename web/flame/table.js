// SPDX-License-Identifier: MIT
// The functions as a table: the same numbers without the picture. Rows can be
// reached with the arrow keys; Enter finds the function's frames.

const PAGE = 200,
	SIDE_LEAST = 260;

// Sums by function, of the zoomed frame where the view shows callers above callees.
function sums() {
	if (!app.sums) app.sums = functionSums(app.p, app.tree, 0, app.tree.n);
	return app.sums;
}

function tableScope() {
	const pane = app.panes[0];
	if (app.state.mode !== "down" || !pane || pane.zoom === 0) return { s: sums(), name: "" };
	// the view may be sorted otherwise than the tree: find the frame again by its path
	const node = nodeOf(app.tree, pathOf(pane.v, pane.zoom));
	return {
		s: functionSums(app.p, app.tree, node, app.tree.end[node]),
		name: app.p.name[app.tree.func[node]],
	};
}

function columnsOf(p) {
	const list = p.compare
		? [
				["name", "Function"],
				["before", "Before"],
				["after", "After"],
				["delta", "Change"],
			]
		: [
				["name", "Function"],
				["self", "Self"],
				["total", "Total"],
			];
	return p.modules ? [...list, ["module", "Module"]] : list;
}

function rowsOf(scope) {
	const { p, state, tree: t } = app,
		s = scope.s,
		match = state.query && app.found && !app.found.error ? app.found.match : null;
	const wholeA = t.ta[0] || 1,
		wholeB = t.tb ? t.tb[0] || 1 : 1,
		rows = [];
	for (let f = 0; f < p.pruned; f++) {
		if (!(s.total[f] > 0 || (s.totalB && s.totalB[f] > 0)) || (match && !match[f])) continue;
		const r = { f, self: s.self[f], total: s.total[f] };
		if (p.compare) {
			r.before = state.normalize ? s.total[f] / wholeA : s.total[f];
			r.after = state.normalize ? s.totalB[f] / wholeB : s.totalB[f];
			r.delta = r.after - r.before;
		}
		rows.push(r);
	}
	const key = p.compare && (state.order === "self" || state.order === "total") ? "delta" : state.order;
	const sign = state.desc ? -1 : 1,
		abs = key === "delta";
	rows.sort((x, y) => {
		let d;
		if (key === "name") d = p.rank[x.f] - p.rank[y.f];
		else if (key === "module")
			d = p.base[x.f] < p.base[y.f] ? -1 : p.base[x.f] > p.base[y.f] ? 1 : 0;
		else d = abs ? Math.abs(x.delta) - Math.abs(y.delta) : x[key] - y[key];
		return sign * d || y.total - x.total || p.rank[x.f] - p.rank[y.f];
	});
	return rows;
}

function numberCell(v, whole, unit) {
	const cell = make(
		"td",
		{ class: "num" },
		make("span", { text: plainWeight(v, unit) }),
		" ",
		make("small", { text: percent(v, whole) })
	);
	cell.style.setProperty("--part", whole > 0 ? (100 * v) / whole + "%" : "0%");
	return cell;
}

function tableRow(r) {
	const { p, unit, state, tree: t } = app,
		f = r.f;
	const dot = make("i", { class: "dot" });
	dot.style.background = app.colors.normal[f];
	const cells = [make("td", { class: "fn", title: p.name[f] }, dot, make("span", { text: p.name[f] }))];
	if (p.compare) {
		const share = (v) => (state.normalize ? percent(v, 1) : plainWeight(v, unit));
		const part = Math.max(r.before, r.after) > 0 ? r.delta / Math.max(r.before, r.after) : 0;
		const change = make("td", {
			class: "num delta",
			text: state.normalize ? signedPercent(r.delta) : plainWeight(r.delta, unit),
		});
		change.style.setProperty(
			"--tone",
			deltaColor(r.delta === 0 ? 0 : part, isDark(), state.safe)
		);
		cells.push(
			make("td", { class: "num", text: share(r.before) }),
			make("td", { class: "num", text: share(r.after) }),
			change
		);
	} else cells.push(numberCell(r.self, t.ta[0], unit), numberCell(r.total, t.ta[0], unit));
	if (p.modules)
		cells.push(make("td", { class: "mod", title: p.module[f] }, make("span", { text: p.base[f] })));
	return make("tr", { tabindex: "-1", "data-f": f }, ...cells);
}

function tableHead(list, order) {
	const { state } = app,
		head = make("tr");
	for (const [key, text] of list) {
		const on = key === order;
		// there for every column, so that sorting moves nothing; numbers stand below the word's end
		const arrow = make("span", {
			class: on ? "arrow on" : "arrow",
			"aria-hidden": "true",
			text: !on || state.desc ? "↓" : "↑",
		});
		head.append(
			make(
				"th",
				{
					scope: "col",
					class: isText(key) ? "" : "num",
					"aria-sort": on ? (state.desc ? "descending" : "ascending") : "none",
					"aria-label": text,
				},
				make(
					"button",
					{ onclick: () => change({ order: key, desc: on ? !state.desc : !isText(key) }) },
					...(isText(key) ? [text + " ", arrow] : [arrow, " " + text])
				),
				columnEdge(key, text)
			)
		);
	}
	return head;
}

// Calls fn with the row that was clicked. A text over which the pointer was drawn is to be
// copied, and that is no click.
function onRowClick(body, fn) {
	let from = null;
	body.addEventListener("pointerdown", (e) => (from = e));
	body.addEventListener("click", (e) => {
		const tr = e.target.closest("tr"),
			drawn = from && Math.hypot(e.clientX - from.clientX, e.clientY - from.clientY) > 3;
		if (tr && !(drawn && !getSelection().isCollapsed)) fn(tr);
	});
}

function refreshTable() {
	const { p, state } = app,
		side = $("side");
	$("tabled").setAttribute("aria-pressed", String(state.table));
	side.hidden = $("divider").hidden = !state.table;
	if (!state.table) {
		side.replaceChildren();
		columns.table = null;
		return;
	}
	const scope = tableScope(),
		rows = rowsOf(scope);
	const order =
		p.compare && (state.order === "self" || state.order === "total") ? "delta" : state.order;
	const list = columnsOf(p),
		head = tableHead(list, order);
	const body = make("tbody");
	let shown = 0;
	const more = make("button", { class: "more", onclick: () => add() });
	const add = () => {
		body.append(...rows.slice(shown, shown + PAGE).map(tableRow));
		shown = Math.min(shown + PAGE, rows.length);
		more.hidden = shown >= rows.length;
		more.textContent =
			"Show " +
			grouped.format(Math.min(PAGE, rows.length - shown)) +
			" more of " +
			grouped.format(rows.length);
		if (body.firstElementChild && !body.querySelector("[tabindex='0']"))
			body.firstElementChild.tabIndex = 0;
		if (body.isConnected) fitColumns(table, list);
	};
	const caption =
		grouped.format(rows.length) +
		(rows.length === 1 ? " function" : " functions") +
		(scope.name ? " in " + scope.name : "") +
		(state.query ? " that match" : "");
	const table = make(
		"table",
		{},
		make("caption", {}, make("span", { text: caption, title: caption })),
		make("colgroup", {}, ...list.map(() => make("col"))),
		make("thead", {}, head),
		body
	);
	add();
	const { scrollTop, scrollLeft } = side;
	side.replaceChildren(table, more);
	fitColumns(table, list);
	side.scrollTo(scrollLeft, scrollTop);
	onRowClick(body, (tr) => setQuery(exactly(p.name[tr.dataset.f])));
	body.addEventListener("contextmenu", (e) => {
		const tr = e.target.closest("tr");
		if (!tr) return;
		e.preventDefault();
		functionMenu(Number(tr.dataset.f), e.clientX, e.clientY, tr);
	});
	body.addEventListener("keydown", tableKeys);
}

function functionMenu(f, x, y, by) {
	openMenu(
		[
			{
				text: "Find its frames",
				key: "Enter",
				run: () => setQuery(exactly(app.p.name[f])),
			},
			{ text: "Callers and callees (sandwich)", key: "s", run: () => sandwich(f) },
			{
				text: "Focus: only this function and its callees",
				key: "f",
				run: () => addOp("focus", f),
			},
			{ text: "Hide: leave out samples through it", key: "h", run: () => addOp("hide", f) },
			{
				text: "Merge: give its weight to its callers",
				key: "m",
				run: () => addOp("merge", f),
			},
			{
				text: "Collapse: keep its callees inside it",
				key: "c",
				run: () => addOp("fold", f),
			},
			{ text: "Copy name", key: "y", run: () => copy(app.p.name[f]) },
		],
		x,
		y,
		by,
		app.p.name[f]
	);
}

function tableKeys(e) {
	const tr = e.target.closest("tr"),
		f = tr && Number(tr.dataset.f);
	const go = (to) => {
		if (!to) return;
		tr.tabIndex = -1;
		to.tabIndex = 0;
		to.focus();
	};
	if (!tr || e.ctrlKey || e.metaKey || e.altKey) return;
	const rows = tr.parentNode.children,
		i = [...rows].indexOf(tr);
	const act = {
		ArrowDown: () => go(tr.nextElementSibling),
		ArrowUp: () => go(tr.previousElementSibling),
		Home: () => go(rows[0]),
		End: () => go(rows[rows.length - 1]),
		PageDown: () => go(rows[Math.min(i + 15, rows.length - 1)]),
		PageUp: () => go(rows[Math.max(i - 15, 0)]),
		Enter: () => setQuery(exactly(app.p.name[f])),
		s: () => sandwich(f),
		f: () => addOp("focus", f),
		h: () => addOp("hide", f),
		m: () => addOp("merge", f),
		c: () => addOp("fold", f),
		y: () => copy(app.p.name[f]),
		ContextMenu: () =>
			functionMenu(
				f,
				tr.getBoundingClientRect().left + 40,
				tr.getBoundingClientRect().bottom,
				tr
			),
	}[e.key];
	if (!act) return;
	e.preventDefault();
	e.stopPropagation();
	act();
}

// The line between picture and table can be moved.
function setUpDivider() {
	const line = $("divider"),
		most = () => Math.max(SIDE_LEAST, innerWidth - 320),
		set = (w) =>
			document.documentElement.style.setProperty(
				"--side",
				clamp(w, SIDE_LEAST, most()) + "px"
			);
	new ResizeObserver(() => {
		line.setAttribute("aria-valuemin", SIDE_LEAST);
		line.setAttribute("aria-valuemax", most());
		line.setAttribute("aria-valuenow", $("side").offsetWidth);
	}).observe($("side"));
	line.addEventListener("pointerdown", (e) => {
		line.setPointerCapture(e.pointerId);
		const move = (m) => set(innerWidth - m.clientX);
		line.addEventListener("pointermove", move);
		line.addEventListener("pointerup", () => line.removeEventListener("pointermove", move), {
			once: true,
		});
	});
	line.addEventListener("keydown", (e) => {
		const by = { ArrowLeft: 24, ArrowRight: -24 }[e.key];
		if (!by) return;
		set($("side").offsetWidth + by);
		e.preventDefault();
		e.stopPropagation();
	});
}
