// SPDX-License-Identifier: MIT
// The view as PNG, the events as CSV.

function exportPng() {
	const from = $("picture"),
		canvas = make("canvas"),
		ctx = canvas.getContext("2d"),
		ratio = window.devicePixelRatio || 1;
	canvas.width = from.width;
	canvas.height = from.height + 44 * ratio;
	ctx.fillStyle = isDark() ? "#18181b" : "#ffffff";
	ctx.fillRect(0, 0, canvas.width, canvas.height);
	ctx.drawImage(from, 0, 44 * ratio);
	ctx.scale(ratio, ratio);
	ctx.fillStyle = isDark() ? "#ececf1" : "#1c1c1a";
	ctx.font = "600 15px " + app.family;
	ctx.fillText(app.p.head.title, 16, 24);
	ctx.font = "12px " + app.family;
	ctx.fillText($("subtitle").textContent, 16, 41);
	canvas.toBlob((blob) =>
		blob ? saveAs(fileName("png"), blob) : toast("The picture is too large for a PNG")
	);
}

function csvText() {
	const { p, state } = app,
		quote = (s) => '"' + s.replace(/"/g, '""').replace(/^([=+\-@])/, "'$1") + '"';
	const rows = eventRows(state.sel ? app.selected : listOf(p, within(p, app.pass, app.box))).map((i) =>
		[
			(p.head.first + p.time[i]) / 1e9,
			p.value[i],
			quote(p.label[i] < 0 ? "" : p.labels[p.label[i]]),
			p.count[i],
			quote(p.detail[i] < 0 ? "" : p.details[p.detail[i]]),
		].join(",")
	);
	return ["time,value,label,count,detail", ...rows].join("\n") + "\n";
}

function exportMenu() {
	const r = $("export").getBoundingClientRect();
	openMenu(
		[
			{ text: "PNG of this view", run: exportPng },
			{
				text: app.state.sel ? "Selected events as CSV" : "Events as CSV",
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
