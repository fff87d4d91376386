// SPDX-License-Identifier: MIT
// The current view as a file: SVG (real text), PNG (twice as sharp), folded stacks, the table as CSV.

function caption() {
	const { p, state } = app,
		parts = [];
	const pane = app.panes[0];
	if (app.panes.length === 1 && pane.zoom > 0) parts.push("in " + p.name[pane.v.func[pane.zoom]]);
	if (state.mode === "sandwich") parts.push("callers and callees of " + p.name[state.sandwich]);
	if (state.query && app.found && !app.found.error)
		parts.push("matching " + state.query + ": " + percent(app.found.shown, 1));
	return [
		p.head.title + (p.head.subtitle ? " · " + p.head.subtitle : ""),
		[weight(p.compare ? app.tree.tb[0] : app.tree.ta[0], app.unit), ...parts].join(" · "),
	];
}

function svgText() {
	const width = app.width + 2 * PAD,
		head = 52,
		height = app.height + head,
		l = look(),
		out = [];
	const dark = isDark(),
		paper = dark ? "#18181b" : "#ffffff",
		text = dark ? "#ececf1" : "#1c1c1a";
	const [title, sub] = caption();
	out.push(
		'<svg xmlns="http://www.w3.org/2000/svg" width="' +
			width +
			'" height="' +
			height +
			'" viewBox="0 0 ' +
			width +
			" " +
			height +
			'" font-family="' +
			xml(app.family) +
			'" font-size="12">',
		'<rect width="100%" height="100%" fill="' + paper + '"/>',
		'<text x="' +
			PAD +
			'" y="22" font-size="15" font-weight="600" fill="' +
			text +
			'">' +
			xml(title) +
			"</text>",
		'<text x="' + PAD + '" y="40" fill="' + text + '" opacity="0.65">' + xml(sub) + "</text>",
		'<g transform="translate(' + PAD + "," + head + ')">'
	);
	for (const pane of app.panes) {
		eachCrumb(pane, app.width, -Infinity, Infinity, (x, y, w, h) =>
			out.push(
				'<rect x="' +
					x.toFixed(2) +
					'" y="' +
					y +
					'" width="' +
					w.toFixed(2) +
					'" height="' +
					h +
					'" fill="' +
					l.crumb +
					'"/>'
			)
		);
		eachFrame(pane, app.width, -Infinity, Infinity, (i, x, y, w, h) => {
			const f = pane.v.func[i],
				label = w > 26 ? fit(app.p.name[f], w - 11) : "";
			const [k, n, s] = figures({ pane, node: i })[app.p.compare ? 1 : 0];
			out.push(
				"<g><title>" +
					xml(
						app.p.name[f] +
							" (" +
							k.toLowerCase() +
							" " +
							n +
							", " +
							s +
							")"
					) +
					'</title><rect x="' +
					x.toFixed(2) +
					'" y="' +
					y +
					'" width="' +
					Math.max(w - (w > 2.5 ? GAP : 0.3), 0.5).toFixed(2) +
					'" height="' +
					h +
					'" rx="' +
					(w > 9 ? 2.5 : 0) +
					'" fill="' +
					l.fill(f, i, pane.v) +
					'"/>' +
					(label
						? '<text x="' +
							(x + 5).toFixed(1) +
							'" y="' +
							(y + 14) +
							'" fill="' +
							l.ink(f) +
							'">' +
							xml(label) +
							"</text>"
						: "") +
					"</g>"
			);
		});
	}
	out.push("</g></svg>");
	return out.join("\n");
}

function exportPng() {
	const ratio = 2,
		width = app.width + 2 * PAD,
		head = 52,
		height = Math.min(app.height + head, 16000);
	const canvas = make("canvas"),
		ctx = canvas.getContext("2d"),
		dark = isDark(),
		[title, sub] = caption();
	canvas.width = width * ratio;
	canvas.height = height * ratio;
	ctx.scale(ratio, ratio);
	ctx.fillStyle = dark ? "#18181b" : "#ffffff";
	ctx.fillRect(0, 0, width, height);
	ctx.fillStyle = dark ? "#ececf1" : "#1c1c1a";
	ctx.font = "600 15px " + app.family;
	ctx.fillText(title, PAD, 22);
	ctx.globalAlpha = 0.65;
	ctx.font = "12px " + app.family;
	ctx.fillText(sub, PAD, 40);
	ctx.globalAlpha = 1;
	ctx.translate(PAD, head);
	paint(ctx, app.panes, app.width, -Infinity, Infinity, look(), null);
	canvas.toBlob((blob) =>
		blob ? saveAs(fileName("png"), blob) : toast("The picture is too large for a PNG")
	);
}

// The stacks as they are now: filtered, hidden, merged.
function foldedText() {
	const { p, tree: t } = app,
		lines = [],
		path = [];
	const clean = p.name.map((s) => s.replace(/;/g, ":"));
	for (let i = 1; i < t.n; i++) {
		path.length = t.depth[i] - 1;
		path.push(clean[t.func[i]]);
		if (t.a[i] || (t.b && t.b[i]))
			lines.push(path.join(";") + " " + t.a[i] + (t.b ? " " + t.b[i] : ""));
	}
	return lines.join("\n") + "\n";
}

function csvText() {
	const { p } = app,
		scope = tableScope(),
		quote = (s) => '"' + s.replace(/"/g, '""').replace(/^([=+\-@])/, "'$1") + '"';
	const head = p.compare
		? "function,before,after,module,file,line"
		: "function,self,total,module,file,line";
	const rows = rowsOf(scope).map((r) =>
		[
			quote(p.name[r.f]),
			p.compare ? scope.s.total[r.f] : r.self,
			p.compare ? scope.s.totalB[r.f] : r.total,
			quote(p.module[r.f]),
			quote(p.file[r.f]),
			p.line[r.f] || "",
		].join(",")
	);
	return [head, ...rows].join("\n") + "\n";
}

function exportMenu() {
	const r = $("export").getBoundingClientRect();
	openMenu(
		[
			{
				text: "SVG of this view",
				run: () =>
					saveAs(
						fileName("svg"),
						new Blob([svgText()], { type: "image/svg+xml" })
					),
			},
			{ text: "PNG of this view", run: exportPng },
			null,
			{
				text: "Folded stacks as shown",
				run: () =>
					saveAs(
						fileName("folded"),
						new Blob([foldedText()], { type: "text/plain" })
					),
			},
			{
				text: "Table as CSV",
				run: () =>
					saveAs(fileName("csv"), new Blob([csvText()], { type: "text/csv" })),
			},
			null,
			{ text: "Copy link to this view", run: () => copy(location.href) },
		],
		r.right - 230,
		r.bottom + 6,
		$("export")
	);
}
