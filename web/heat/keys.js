// SPDX-License-Identifier: MIT
// The keyboard: everything the pointer can do.

function moveCursor(key, extend) {
	const g = app.grid,
		at = app.cursor || { c: Math.floor(g.columns / 2), r: Math.floor(g.rows / 2) };
	const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[key];
	if (extend && !app.anchor) app.anchor = at;
	if (!extend) app.anchor = null;
	app.cursor = { c: clamp(at.c + by[0], 0, g.columns - 1), r: clamp(at.r + by[1], 0, g.rows - 1) };
	if (extend) select(boxOf(app.anchor, app.cursor));
	else mark();
	say(cellText(app.cursor).join(", "));
	$("hovered").textContent = cellText(app.cursor).join(" · ");
}

const PLAIN_KEYS = {
	"/": () => {
		$("query").focus();
		$("query").select();
	},
	"?": showHelp,
	Enter: () => app.cursor && select(boxOf(app.anchor || app.cursor, app.cursor)),
	z: () => app.state.sel && zoomToSelection(),
	0: () => change({ zoom: null }),
	Home: () => change({ zoom: null }),
	l: () => change({ linear: !app.state.linear }),
	c: () => change({ shade: app.state.shade === "log" ? "linear" : "log" }),
	t: () => change({ table: !app.state.table }),
	d: () => change({ theme: isDark() ? "light" : "dark" }),
	e: exportMenu,
};

function escape() {
	if (closeMenus(true)) return;
	if (app.state.query) change({ query: "" });
	else if (app.state.sel) change({ sel: null });
	else change({ zoom: null });
}

function setUpKeys() {
	document.addEventListener("keydown", (e) => {
		const tag = e.target.tagName;
		if ($("dialog").open || (menuOpen() && e.key !== "Escape") || tag === "INPUT" || e.altKey)
			return;
		if ((e.ctrlKey || e.metaKey) && e.key !== "f") return;
		if (e.key === "Escape") escape();
		else if (e.ctrlKey || e.metaKey) PLAIN_KEYS["/"]();
		else if (e.key.startsWith("Arrow") && tag !== "BUTTON") moveCursor(e.key, e.shiftKey);
		else if (PLAIN_KEYS[e.key] && !(tag === "BUTTON" && e.key === "Enter")) PLAIN_KEYS[e.key]();
		else return;
		e.preventDefault();
	});
	$("query").addEventListener("keydown", (e) => {
		if (e.key !== "Escape" && e.key !== "Enter") return;
		if (e.key === "Escape") change({ query: "" });
		$("stage").focus({ preventScroll: true });
		e.preventDefault();
		e.stopPropagation();
	});
}
