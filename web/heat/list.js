// SPDX-License-Identifier: MIT
// Beside the picture: percentiles of all and of the selection, labels, and the events themselves.

const LIST_PAGE = 200;

// To the microsecond, so that an event can be found again elsewhere.
const exactTime = (ns) => (ns / 1e9).toFixed(6) + " s";

function sumsTable(columns) {
	const rows = [
		["Points", (s) => grouped.format(s.n)],
		["Mean", (s) => shortText(s.mean)],
	];
	PERCENTS.forEach((q, i) => rows.push(["p" + q, (s) => shortText(s.percentiles[i])]));
	rows.push(["Max", (s) => shortText(s.max)]);
	const head = make("tr", {}, make("th"), ...columns.map(([name]) => make("td", { text: name })));
	return make(
		"table",
		{},
		make("thead", {}, head),
		make(
			"tbody",
			{},
			...rows.map(([name, text]) =>
				make(
					"tr",
					{},
					make("th", { scope: "row", text: name }),
					...columns.map(([, s]) => make("td", { text: s.n ? text(s) : "–" }))
				)
			)
		)
	);
}

function labelList(list) {
	const { p } = app,
		all = byLabel(p, list),
		sum = all.reduce((n, [, k]) => n + k, 0);
	if (!p.labels.length) return null;
	const box = make("div", { class: "ticks scroll" });
	for (const [label, n] of all.slice(0, 50)) {
		const name = label < 0 ? "(no label)" : p.labels[label],
			bar = make("i", { class: "bar-fill" });
		bar.style.width = (100 * n) / sum + "%";
		box.append(
			make(
				"label",
				{ class: "tick" },
				bar,
				make("span", { class: "tick-name", text: name }),
				make("button", {
					class: "only",
					text: "only",
					title: "Only " + name,
					onclick: () => label >= 0 && change({ query: exactly(name) }),
				}),
				make("small", { text: grouped.format(n) })
			)
		);
	}
	return make("div", { class: "by" }, make("h2", { text: "Labels" }), box);
}

function eventRows(list) {
	const { p, state } = app,
		sign = state.desc ? -1 : 1;
	return [...list].sort(
		(a, b) =>
			sign * (state.order === "time" ? p.time[a] - p.time[b] : p.value[a] - p.value[b]) ||
			a - b
	);
}

// The label, and below it what else is known of the event.
function whatCell(p, i) {
	const label = p.label[i] < 0 ? "" : p.labels[p.label[i]],
		times = p.count[i] > 1 ? " ×" + grouped.format(p.count[i]) : "",
		cell = make("td", { class: "what" }, label + times);
	if (p.detail[i] >= 0) cell.append(make("small", { text: p.details[p.detail[i]] }));
	return cell;
}

function eventTable(list) {
	const { p, state } = app,
		rows = eventRows(list),
		body = make("tbody"),
		more = make("button", { class: "more", onclick: () => add() });
	let shown = 0;
	const add = () => {
		for (const i of rows.slice(shown, shown + LIST_PAGE))
			body.append(
				make(
					"tr",
					{},
					make("td", { class: "num", text: exactTime(p.time[i]) }),
					make("td", { class: "num", text: valueText(p.value[i]) }),
					whatCell(p, i)
				)
			);
		shown = Math.min(shown + LIST_PAGE, rows.length);
		more.hidden = shown >= rows.length;
		more.textContent = "Show more of " + grouped.format(rows.length);
	};
	add();
	const heading = (key, text) => {
		const on = state.order === key;
		return make(
			"th",
			{
				scope: "col",
				class: "num",
				"aria-sort": on ? (state.desc ? "descending" : "ascending") : "none",
			},
			make("button", {
				text: text + (on ? (state.desc ? " ↓" : " ↑") : ""),
				onclick: () =>
					change({ order: key, desc: on ? !state.desc : key !== "time" }),
			})
		);
	};
	const head = make(
		"tr",
		{},
		heading("time", "Time"),
		heading("value", p.head.what[0].toUpperCase() + p.head.what.slice(1)),
		make("th", { scope: "col" }, make("button", { text: "Label", disabled: true }))
	);
	return [
		make(
			"table",
			{ class: "events" },
			make("caption", {
				text:
					grouped.format(app.selected.reduce((n, i) => n + p.count[i], 0)) +
					" events in the selection",
			}),
			make("thead", {}, head),
			body
		),
		more,
	];
}

function refreshSide() {
	const { p, state } = app,
		side = $("side");
	$("tabled").setAttribute("aria-pressed", String(state.table));
	side.hidden = !state.table;
	if (!state.table) {
		side.replaceChildren();
		return;
	}
	const columns = [["Shown", app.sums]];
	if (state.sel) columns.push(["Selected", sumUp(p, within(p, app.pass, state.sel))]);
	side.replaceChildren(
		make("div", { class: "sums" }, make("h2", { text: "Percentiles" }), sumsTable(columns)),
		...[labelList(state.sel ? app.selected : listOf(p, within(p, app.pass, app.box)))].filter(
			(x) => x
		),
		...(state.sel
			? eventTable(app.selected)
			: [
					make("p", {
						class: "note sums",
						text: "Drag over the picture, or move with the arrow keys and press Enter, to list the events behind an area.",
					}),
				])
	);
}
