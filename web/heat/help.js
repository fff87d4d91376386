// SPDX-License-Identifier: MIT
// Help: every key; and what is known of the points.

const KEYS = [
	[
		"The picture",
		[
			["← → ↑ ↓", "move to a cell"],
			["Shift + arrows", "select an area"],
			["Enter", "list the events of the cell or area"],
			["z", "zoom to the selected area"],
			["0, Home", "show all"],
			["Esc", "close, clear the selection, zoom out"],
			["drag, double click", "select, zoom"],
		],
	],
	[
		"The view",
		[
			["/", "only labels with this text"],
			["l", "logarithmic or linear values"],
			["c", "colour by logarithm or count"],
			["t", "percentiles and events"],
			["d", "light or dark"],
			["e", "export"],
			["?", "this help"],
		],
	],
];

function showHelp() {
	const grid = make("div", { class: "keys" });
	for (const [title, list] of KEYS) {
		const dl = make("dl");
		for (const [key, what] of list)
			dl.append(
				make(
					"dt",
					{},
					...key
						.split(", ")
						.flatMap((k, i) => [i ? " " : "", make("kbd", { text: k })])
				),
				make("dd", { text: what })
			);
		grid.append(make("section", {}, make("h3", { text: title }), dl));
	}
	openDialog(
		"Keys",
		grid,
		make("p", {
			class: "note",
			text: "A cell's colour is how many points fell into it. Nothing here leaves this file: it needs no network and makes no requests.",
		})
	);
}

function showAbout() {
	const { head, n } = app.p,
		dl = make("dl", { class: "facts" }),
		notes = [];
	const fact = (k, v) => dl.append(make("dt", { text: k }), make("dd", { text: v }));
	fact("Heat map", head.title);
	fact("Points", grouped.format(head.points));
	fact("Time", duration(head.span));
	fact("Made by", "kymo " + head.version);
	if (n < head.points && (head.step > 1 || head.digits))
		notes.push(
			"To keep the file small, times are kept in steps of " +
				duration(head.step) +
				(head.digits ? " and values to " + head.digits + " digits" : "") +
				"; no point was left out."
		);
	openDialog("About this heat map", dl, ...notes.map((text) => make("p", { class: "note", text })));
}
