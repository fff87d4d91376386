// SPDX-License-Identifier: MIT
// Dialogs of words: every key, and what is known of what is shown.

// groups: [title, [[keys, what they do], ...]]; several keys are parted by ", ".
function showKeys(groups, about) {
	const grid = make("div", { class: "keys" });
	for (const [title, list] of groups) {
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
			text:
				about +
				" Nothing here leaves this file: it needs no network and makes no requests.",
		})
	);
}

// facts: [name, value]; notes: sentences.
function showFacts(title, facts, notes) {
	const dl = make("dl", { class: "facts" });
	for (const [k, v] of facts) dl.append(make("dt", { text: k }), make("dd", { text: v }));
	openDialog(title, dl, ...notes.map((text) => make("p", { class: "note", text })));
}
