// SPDX-License-Identifier: MIT
// Help: every key; and what is known of the profile.

const KEYS = [
	[
		"Moving",
		[
			["← → ↑ ↓", "choose a neighbour, a caller, a callee"],
			["Enter", "zoom to the chosen frame"],
			["Backspace, u", "zoom out one frame"],
			["0, Home", "zoom out entirely"],
			["Esc", "close, clear the search, zoom out"],
			["Page ↑ ↓", "scroll"],
			["click, drag", "zoom, move"],
			["Ctrl + wheel", "closer; Shift + wheel: sideways"],
		],
	],
	[
		"The chosen frame",
		[
			["s", "sandwich: its callers and callees"],
			["f", "focus: only it and its callees"],
			["h", "hide samples that pass through it"],
			["m", "merge it into its caller"],
			["c", "collapse its callees into it"],
			["y", "copy its name"],
			[". or menu key", "everything that can be done with it"],
			["z", "take the last change back"],
		],
	],
	[
		"Searching",
		[
			["/", "search: text or /regex/"],
			["n, N", "next, previous match"],
			["*", "find all frames of the chosen function"],
		],
	],
	[
		"The view",
		[
			["1 2 3 4", "top-down, bottom-up, sandwich, time order"],
			["5 6 7", "in a comparison: delta, before, after"],
			["i", "flame or icicle"],
			["r", "collapse recursion"],
			["o", "order by name or size"],
			["k", "colour by kind, module, name"],
			["b", "colour-blind safe palette"],
			["d", "light or dark"],
			["t", "table of functions"],
			["← →, Enter", "on a heading's edge: the column's width"],
			["g", "time as a heat map of each second"],
			["v, x, e", "display, filter, export"],
			["?", "this help"],
		],
	],
];

function showHelp() {
	showKeys(
		KEYS,
		"A frame's width is its share of the weight; what it calls stands on it."
	);
}

// Sentences about what the file does not hold.
function prunedNotes() {
	const { head } = app.p,
		notes = [],
		x = head.pruned;
	if (x.stacks)
		notes.push(
			"To keep the file small, frames below " +
				percent(x.min, 1) +
				" of the weight were pruned: in " +
				grouped.format(x.stacks) +
				" stacks (" +
				percent(x.share, 1) +
				" of the weight) a frame named [pruned] stands for " +
				(x.leaves
					? "those between the callers that are shown and the innermost function. Self is exact; totals of small callers are too low."
					: "everything from there on.")
		);
	if (x.cpus) notes.push("CPU numbers were left out to keep the file small.");
	if (!head.time.ordered && head.time.steps > 1)
		notes.push(
			"Times are kept in " +
				grouped.format(head.time.steps) +
				" steps of " +
				duration(head.time.step) +
				"."
		);
	if (head.notes) notes.push(head.notes);
	return notes;
}

function showAbout() {
	const { p, unit, tree: t } = app,
		head = p.head,
		facts = [["Profile", head.title]];
	if (p.compare) {
		facts.push([head.sides[0], weight(t.ta[0], unit)]);
		facts.push([head.sides[1], weight(t.tb[0], unit)]);
	} else facts.push(["Weight", weight(t.ta[0], unit)]);
	facts.push([
		"Frames",
		grouped.format(head.nodes) + " in the tree, " + grouped.format(p.pruned) + " functions",
	]);
	facts.push(["Events", p.events.join(", ")]);
	if (hasThreads(p)) facts.push(["Threads", grouped.format(p.threads.length)]);
	facts.push(["Made by", "kymo " + head.version]);
	showFacts("About this profile", facts, prunedNotes());
}
