// SPDX-License-Identifier: MIT
// What can be done with a frame.
function frameMenu(what, x, y) {
	const { p, state } = app,
		f = what.pane.v.func[what.node],
		real = f < p.pruned;
	const op = (kind) => () => addOp(kind, f);
	openMenu(
		[
			{ text: "Zoom to this frame", key: "Enter", run: () => zoomTo(what.pane, what.node) },
			{
				text: "Callers and callees (sandwich)",
				key: "s",
				run: () => sandwich(f),
				disabled: !real,
			},
			null,
			{
				text: "Focus: only this function and its callees",
				key: "f",
				run: op("focus"),
				disabled: !real,
			},
			{
				text: "Hide: leave out samples through it",
				key: "h",
				run: op("hide"),
				disabled: !real,
			},
			{
				text: "Merge: give its weight to its caller",
				key: "m",
				run: op("merge"),
				disabled: !real,
			},
			{
				text: "Collapse: keep its callees inside it",
				key: "c",
				run: op("fold"),
				disabled: !real,
			},
			null,
			{
				text: "Find all frames of this name",
				key: "*",
				run: () => setQuery(exactly(p.name[f])),
				disabled: !real,
			},
			{ text: "Copy name", key: "y", run: () => copy(p.name[f]) },
			{ text: "Copy stack", run: () => copy(stackText(what)) },
			{ text: "Copy link to this view", run: () => copy(location.href) },
			state.ops.length
				? { text: "Undo all changes to stacks", run: () => change({ ops: [] }) }
				: null,
		].filter((it, i, all) => it !== null || (i < all.length - 1 && all[i + 1] !== null)),
		x,
		y,
		$("stage"),
		p.name[f]
	);
}

function stackText({ pane, node }) {
	const names = pathOf(pane.v, node).map((f) => app.p.name[f].replace(/;/g, ":"));
	return (pane.v.reversed ? names.reverse() : names).join(";");
}
