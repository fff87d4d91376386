// SPDX-License-Identifier: MIT
// The keyboard: everything the pointer can do.

// The frame above, below or beside the chosen one; only frames that are drawn.
function neighbour(dir) {
	const pane = (app.chosen || { pane: app.panes[0] }).pane,
		v = pane.v;
	if (!app.chosen) return { pane, node: pane.zoom };
	const i = app.chosen.node,
		out = (dir === "ArrowUp") === pane.up;
	const drawn = (k) => v.size[k] * pane.scale >= LEAST;
	if (dir === "ArrowUp" || dir === "ArrowDown") {
		if (!out && i === 0 && app.panes.length === 2) {
			const other = app.panes.find((q) => q !== pane);
			return step(other, 0) || { pane, node: i };
		}
		return out ? step(pane, i) || { pane, node: i } : { pane, node: v.parent[i] };
	}
	const row = pane.rows[v.depth[i]] || [],
		at = row.indexOf(i),
		to = row[at + (dir === "ArrowLeft" ? -1 : 1)];
	return { pane, node: to === undefined ? i : to };

	// the widest child
	function step(q, from) {
		let best = -1;
		for (let c = from + 1; c < q.v.end[from]; c = q.v.end[c])
			if (best < 0 || q.v.size[c] > q.v.size[best]) best = c;
		return best >= 0 && drawn(best) ? { pane: q, node: best } : null;
	}
}

function chosenFunction() {
	const f = app.chosen ? app.chosen.pane.v.func[app.chosen.node] : -1;
	if (f >= 0 && f < app.p.pruned) return f;
	toast("Choose a frame first: arrow keys, or a click");
	return -1;
}

function nextHit(by) {
	const list = allHits(),
		pane = app.panes[0];
	if (!list.length) return;
	app.hitAt =
		app.hitAt < 0 ? (by > 0 ? 0 : list.length - 1) : (app.hitAt + by + list.length) % list.length;
	choose(pane, list[app.hitAt], true);
	showFound();
}

function zoomOut() {
	const pane = (app.chosen || { pane: app.panes[0] }).pane;
	if (pane.zoom > 0) zoomTo(pane, pane.v.parent[pane.zoom]);
	else zoomTo(pane, 0);
}

function zoomOutAll() {
	for (const pane of app.panes) zoomTo(pane, 0);
}

const PLAIN_KEYS = {
	"/": () => {
		$("query").focus();
		$("query").select();
	},
	"?": showHelp,
	n: () => nextHit(1),
	N: () => nextHit(-1),
	"*": () => {
		const f = chosenFunction();
		if (f >= 0) setQuery(exactly(app.p.name[f]));
	},
	s: () => {
		const f = chosenFunction();
		if (f >= 0) sandwich(f);
	},
	f: () => opKey("focus"),
	h: () => opKey("hide"),
	m: () => opKey("merge"),
	c: () => opKey("fold"),
	y: () => {
		const f = chosenFunction();
		if (f >= 0) copy(app.p.name[f]);
	},
	".": () => menuKey(),
	ContextMenu: () => menuKey(),
	z: () => app.state.ops.length && change({ ops: app.state.ops.slice(0, -1) }),
	u: zoomOut,
	Backspace: zoomOut,
	0: zoomOutAll,
	Home: zoomOutAll,
	1: () => setMode("down"),
	2: () => setMode("up"),
	3: () => setMode("sandwich"),
	4: () => setMode("chart"),
	5: () => app.p.compare && change({ side: "both" }),
	6: () => app.p.compare && change({ side: "before" }),
	7: () => app.p.compare && change({ side: "after" }),
	i: () => change({ icicle: !app.state.icicle }),
	r: () => change({ recursion: !app.state.recursion }),
	o: () => change({ sort: orderOf(app.state) === "name" ? "size" : "name" }),
	k: () => {
		const list = ["kind", "module", "name", ...(app.p.compare ? ["delta"] : [])];
		change({ color: list[(list.indexOf(app.state.color) + 1) % list.length] });
		toast("Colour by " + app.state.color);
	},
	b: () => change({ safe: !app.state.safe }),
	d: () => change({ theme: isDark() ? "light" : "dark" }),
	t: () => change({ table: !app.state.table }),
	g: () => hasSeconds(app.p) && change({ seconds: !app.state.seconds }),
	v: () => openPopover($("display"), buildDisplay),
	x: () => openPopover($("filter"), buildFilter),
	e: exportMenu,
};

function opKey(kind) {
	const f = chosenFunction();
	if (f >= 0) addOp(kind, f);
}

function menuKey() {
	if (!app.chosen) choose(app.panes[0], app.panes[0].zoom, true);
	const box = frameBox(app.chosen),
		r = $("stage").getBoundingClientRect();
	frameMenu(app.chosen, r.left + PAD + box.x + 12, r.top + box.y - $("stage").scrollTop + ROW);
}

function escape() {
	if (closeMenus(true)) return;
	if (app.state.query) setQuery("");
	else if (app.panes.some((q) => q.zoom > 0 || q.x1 - q.x0 < q.v.size[0] * 0.999)) zoomOutAll();
	else choose(null, null);
}

function stageKeys(e) {
	const stage = $("stage");
	if (e.key.startsWith("Arrow")) {
		const { pane, node } = neighbour(e.key);
		choose(pane, node, true);
	} else if (e.key === "Enter") {
		if (app.chosen) zoomTo(app.chosen.pane, app.chosen.node);
	} else if (e.key === "PageDown" || e.key === "PageUp")
		stage.scrollTop += (e.key === "PageUp" ? -1 : 1) * stage.clientHeight * 0.9;
	else return false;
	return true;
}

function setUpKeys() {
	document.addEventListener("keydown", (e) => {
		const tag = e.target.tagName,
			typing =
				(tag === "INPUT" && e.target.type !== "checkbox") ||
				tag === "TEXTAREA" ||
				tag === "SELECT";
		if ($("dialog").open || (menuOpen() && e.key !== "Escape")) return;
		if (e.key === "Escape" && !typing) {
			e.preventDefault();
			escape();
			return;
		}
		if (typing || e.altKey) return;
		if ((e.ctrlKey || e.metaKey) && e.key === "f") {
			e.preventDefault();
			PLAIN_KEYS["/"]();
			return;
		}
		if (e.ctrlKey || e.metaKey) return;
		// keys that mean something to a button are the button's
		// (the target may be the document, which has no attributes)
		const separator = e.target.id === "divider" || (tag && e.target.classList.contains("edge")),
			control = tag === "BUTTON" || tag === "A" || separator;
		if (!control && stageKeys(e)) {
			e.preventDefault();
			return;
		}
		const run = PLAIN_KEYS[e.key];
		if (run && !(control && e.key === "Enter")) {
			e.preventDefault();
			run();
		}
	});
	$("query").addEventListener("keydown", (e) => {
		if (e.key === "Escape") {
			setQuery("");
			$("stage").focus({ preventScroll: true });
		} else if (e.key === "Enter") {
			nextHit(e.shiftKey ? -1 : 1);
			if (!e.shiftKey) $("stage").focus({ preventScroll: true });
		} else if (e.key === "ArrowDown") $("stage").focus({ preventScroll: true });
		else return;
		e.preventDefault();
		e.stopPropagation();
	});
}
