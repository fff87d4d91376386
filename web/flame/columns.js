// SPDX-License-Identifier: MIT
// The columns of the table: numbers are as wide as the widest of them, names take the
// rest, and a heading's edge can be moved. Only a width that was set by hand can make
// the table wider than its place.

const COLUMN_LEAST = 40,
	COLUMN_MOST = 20000,
	NAME_WISH = 240, // before the module gives way
	NAME_LEAST = 140, // before numbers give way
	MODULE_LEAST = 84,
	MODULE_SHARE = 0.25, // of the place, at most
	CELL_PAD = 20,
	DOT = 17; // the square before a name

// set: widths by hand, kept while the page is open; need: what the cells hold
const columns = { set: new Map(), list: [], table: null, need: null, bare: null, width: {}, place: 0 };

const isText = (key) => key === "name" || key === "module";

function widthOfContents(range, node) {
	range.selectNodeContents(node);
	return range.getBoundingClientRect().width;
}

// What each column needs; bare: without the per cents beside the numbers.
function measureColumns() {
	const { table, list } = columns,
		range = document.createRange(),
		heads = table.tHead.rows[0].cells,
		need = {},
		bare = {};
	table.classList.remove("tight");
	measureNames($("side"));
	list.forEach(([key], i) => {
		let most = widthOfContents(range, heads[i].firstElementChild),
			least = most;
		for (const row of table.tBodies[0].rows) {
			const cell = row.cells[i];
			if (isText(key)) {
				most = Math.max(most, factsOf(cell.textContent).whole + (key === "name" ? DOT : 0));
				continue;
			}
			most = Math.max(most, widthOfContents(range, cell));
			least = Math.max(least, widthOfContents(range, cell.firstElementChild || cell));
		}
		need[key] = Math.min(Math.ceil(most) + CELL_PAD + 1, COLUMN_MOST);
		bare[key] = Math.ceil(least) + CELL_PAD + 1;
	});
	Object.assign(columns, { need, bare });
}

// The widths that suit the place: all columns but the name, which takes the rest. With too
// little room the module gives way first, then the per cents, then all alike.
function shareOut(place) {
	const { need, bare, list } = columns,
		others = list.map(([key]) => key).filter((key) => key !== "name"),
		width = {};
	const rest = () => place - others.reduce((sum, key) => sum + width[key], 0);
	for (const key of others) width[key] = need[key];
	if (need.module) {
		const least = Math.min(MODULE_LEAST, need.module),
			most = Math.min(need.module, Math.max(least, Math.floor(place * MODULE_SHARE)));
		width.module = clamp(need.module + rest() - NAME_WISH, least, most);
	}
	const tight = rest() < NAME_LEAST;
	if (tight) for (const key of others) if (!isText(key)) width[key] = bare[key];
	const lack = COLUMN_LEAST * 2 - rest(),
		sum = place - rest();
	if (lack > 0) for (const key of others) width[key] -= Math.ceil((lack * width[key]) / sum);
	return { width, tight };
}

// Those, and what was set by hand instead.
function chosenWidths(place) {
	const { set, list } = columns,
		{ width, tight } = shareOut(place),
		others = list.map(([key]) => key).filter((key) => key !== "name");
	for (const key of others) if (set.has(key)) width[key] = set.get(key);
	const rest = place - others.reduce((sum, key) => sum + width[key], 0);
	width.name = set.get("name") || Math.max(rest, COLUMN_LEAST * 2);
	// what nobody takes goes to the last column
	width[others[others.length - 1]] += Math.max(0, rest - width.name);
	return { width, tight };
}

function layColumns() {
	const { table, list } = columns,
		side = $("side");
	if (!table || side.hidden) return;
	columns.place = side.clientWidth;
	const { width, tight } = chosenWidths(columns.place),
		heads = table.tHead.rows[0].cells,
		cols = table.querySelectorAll("col");
	columns.width = width;
	table.classList.toggle("tight", tight);
	const sum = list.reduce((n, [key]) => n + width[key], 0);
	table.style.width = sum > columns.place ? sum + "px" : "100%";
	list.forEach(([key], i) => {
		// in a place of 500.4 pixels the name has the fraction
		cols[i].style.width = key === "name" && sum === columns.place ? "" : width[key] + "px";
		const edge = heads[i].querySelector(".edge");
		edge.setAttribute("aria-valuenow", Math.round(width[key]));
		edge.setAttribute("aria-valuetext", Math.round(width[key]) + " pixels");
		if (!isText(key)) return;
		const room = width[key] - CELL_PAD - (key === "name" ? DOT : 0);
		for (const row of table.tBodies[0].rows) cutName(row.cells[i].lastElementChild, room);
	});
}

function setColumn(key, width) {
	columns.set.set(key, clamp(Math.round(width), COLUMN_LEAST, COLUMN_MOST));
	layColumns();
}

const freeColumn = (key) => {
	columns.set.delete(key);
	layColumns();
};

// A second time gives the width back to the page.
function fitColumn(key) {
	if (columns.set.get(key) === columns.need[key]) freeColumn(key);
	else setColumn(key, columns.need[key]);
}

function edgeKeys(e, key) {
	if (e.ctrlKey || e.metaKey || e.altKey) return;
	const now = columns.width[key],
		step = e.shiftKey ? 1 : 16;
	const act = {
		ArrowLeft: () => setColumn(key, now - step),
		ArrowRight: () => setColumn(key, now + step),
		Home: () => setColumn(key, COLUMN_LEAST),
		End: () => setColumn(key, columns.need[key]),
		Enter: () => fitColumn(key),
		Delete: () => freeColumn(key),
	}[e.key];
	if (!act) return;
	e.preventDefault();
	e.stopPropagation();
	act();
}

function columnEdge(key, text) {
	const edge = make("div", {
		class: "edge",
		role: "separator",
		tabindex: "0",
		"aria-orientation": "vertical",
		"aria-label": "Width of the column " + text,
		"aria-valuemin": COLUMN_LEAST,
		"aria-valuemax": COLUMN_MOST,
		title: "Drag, or ← →: the column's width. Double click, or Enter: as wide as what it holds, and back",
		ondblclick: () => fitColumn(key),
		onkeydown: (e) => edgeKeys(e, key),
	});
	edge.addEventListener("pointerdown", (e) => {
		if (e.button !== 0) return;
		const from = e.clientX,
			width = columns.width[key],
			move = (m) => setColumn(key, width + m.clientX - from),
			stop = () => {
				edge.removeEventListener("pointermove", move);
				edge.classList.remove("held");
			};
		edge.setPointerCapture(e.pointerId);
		edge.classList.add("held");
		edge.addEventListener("pointermove", move);
		for (const end of ["pointerup", "pointercancel"]) edge.addEventListener(end, stop, { once: true });
	});
	return edge;
}

// The table that is shown now; again when rows were added.
function fitColumns(table, list) {
	Object.assign(columns, { table, list });
	measureColumns();
	layColumns();
}

function setUpColumns() {
	new ResizeObserver(() => {
		const side = $("side");
		if (side.hidden || !columns.table || side.clientWidth === columns.place) return;
		if (nameLetters.ratio !== devicePixelRatio) measureColumns();
		layColumns();
	}).observe($("side"));
}
