// SPDX-License-Identifier: MIT
// Rows of choices and switches in popovers, and how arrow keys walk them.

function choices(label, name, list, now, set) {
	const group = make("div", { class: "segments wide", role: "radiogroup", "aria-label": label });
	for (const [value, text, title] of list)
		group.append(
			make("button", {
				role: "radio",
				text,
				title,
				"aria-checked": String(value === now),
				onclick: () => set(value),
			})
		);
	return make("div", { class: "row" }, make("span", { class: "row-name", text: label }), group);
}

function toggle(label, hint, now, set) {
	const input = make("input", { type: "checkbox", role: "switch" });
	input.checked = now;
	input.addEventListener("change", () => set(input.checked));
	return make(
		"label",
		{ class: "row toggle" },
		make("span", {}, make("span", { text: label }), make("small", { text: hint })),
		input
	);
}

function radioKeys(e) {
	const by = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[e.key];
	if (!by) return;
	const all = [...e.currentTarget.children].filter((b) => !b.disabled),
		to = all[(all.indexOf(e.target) + by + all.length) % all.length];
	to.focus();
	to.click();
	e.preventDefault();
	e.stopPropagation();
}
