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
	showKeys(KEYS, "A cell's colour is how many points fell into it.");
}

function showAbout() {
	const { head, n } = app.p,
		notes = [];
	if (n < head.points && (head.step > 1 || head.digits))
		notes.push(
			"To keep the file small, times are kept in steps of " +
				duration(head.step) +
				(head.digits ? " and values to " + head.digits + " digits" : "") +
				"; no point was left out."
		);
	showFacts(
		"About this heat map",
		[
			["Heat map", head.title],
			["Points", grouped.format(head.points)],
			["Time", duration(head.span)],
			["Made by", "kymo " + head.version],
		],
		notes
	);
}
