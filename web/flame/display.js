// SPDX-License-Identifier: MIT
// The Display popover: direction, order, colours; and the legend below the picture.

function buildDisplay(box) {
	const { p, state } = app;
	box.append(
		choices(
			"Direction",
			"dir",
			[
				[false, "Flame", "Root at the bottom (i)"],
				[true, "Icicle", "Root at the top (i)"],
			],
			state.icicle,
			(v) => change({ icicle: v })
		),
		choices(
			"Order",
			"sort",
			[
				["name", "By name", "(o)"],
				["size", "By size", "(o)"],
			],
			orderOf(state),
			(v) => change({ sort: v })
		),
		choices(
			"Colour",
			"color",
			[
				["kind", "Kind"],
				["module", "Module"],
				["name", "Name"],
				...(p.compare ? [["delta", "Delta"]] : []),
			],
			state.color,
			(v) => change({ color: v })
		),
		choices(
			"Theme",
			"theme",
			[
				["", "System"],
				["light", "Light"],
				["dark", "Dark"],
			],
			state.theme,
			(v) => change({ theme: v })
		),
		toggle("Colour-blind safe palette", "colours told apart by any eyes (b)", state.safe, (v) =>
			change({ safe: v })
		),
		toggle(
			"Collapse recursion",
			"a function that calls itself is one frame (r)",
			state.recursion,
			(v) => change({ recursion: v })
		)
	);
	if (p.compare)
		box.append(
			toggle("Compare shares", "per cent of each run, not counts", state.normalize, (v) =>
				change({ normalize: v })
			)
		);
}

function swatch(color, text, share) {
	return make(
		"span",
		{ class: "swatch" },
		(() => {
			const dot = make("i");
			dot.style.background = color;
			return dot;
		})(),
		make("span", { text }),
		share ? make("small", { text: share }) : null
	);
}

// "33.7%", as the command says it (str_percent); nothing for nothing.
function roughly(part, whole) {
	const v = whole > 0 ? (100 * part) / whole : 0;
	if (v === 0) return "";
	if (part >= whole) return "100%";
	return v < 0.05 ? "<0.1%" : v >= 99.95 ? ">99.9%" : v.toFixed(1) + "%";
}

function showLegend() {
	const { p, state, colors } = app,
		dark = isDark(),
		items = [];
	if (p.compare && state.color === "delta") {
		const bar = make("span", { class: "ramp" });
		for (let i = -5; i <= 5; i++) {
			const cell = make("i");
			cell.style.background = deltaColor(i / 5, dark, state.safe);
			bar.append(cell);
		}
		items.push(
			make(
				"span",
				{ class: "swatch" },
				make("span", { text: "less" }),
				bar,
				make("span", { text: "more" })
			)
		);
	} else if (state.color !== "name") {
		const s = sums(),
			weights = new Map(),
			example = new Map();
		for (let f = 0; f <= p.pruned; f++) {
			const key =
				state.color === "module"
					? p.base[f] || "(no module)"
					: FAMILIES[app.painter.family[f]][0];
			if (s.self[f] > 0 || s.total[f] > 0) {
				weights.set(key, (weights.get(key) || 0) + s.self[f]);
				if (!example.has(key) || s.self[f] > s.self[example.get(key)])
					example.set(key, f);
			}
		}
		const most = [...weights].sort((x, y) => y[1] - x[1]).slice(0, 7);
		for (const [key, w] of most)
			items.push(
				swatch(colors.normal[example.get(key)], key, roughly(w, app.tree.ta[0]))
			);
	}
	$("legend").replaceChildren(...items);
}
