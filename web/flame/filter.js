// SPDX-License-Identifier: MIT
// Filters: event, processes and threads, CPUs, a range of time.

// Weight of each thread, CPU, event and step of time, unfiltered, found once.
function tallies() {
	if (app.tallies) return app.tallies;
	const { p } = app,
		t = {
			thread: new Float64Array(p.threads.length),
			cpu: new Float64Array(p.cpus.length),
			event: new Float64Array(p.events.length),
			step: new Float64Array(p.time.steps),
			all: 0,
		};
	for (let i = 0; i < p.entries; i++) {
		const k = p.keys[p.eKey[i]],
			w = p.eWeight[i];
		t.event[k.event] += w;
		if (app.state.event >= 0 && k.event !== app.state.event) continue;
		t.thread[k.thread] += w;
		t.cpu[k.cpu] += w;
		t.all += w;
		if (p.eTime) t.step[p.eTime[i]] += w;
	}
	return (app.tallies = t);
}

const hasThreads = (p) => p.threads.length > 1;
const hasCpus = (p) => p.cpus.length > 1;
const hasTime = (p) => p.time.steps > 1 && !p.time.ordered && !p.compare;
const hasFilters = (p) => hasThreads(p) || hasCpus(p) || hasTime(p) || p.events.length > 1;

// A list of boxes to tick, heaviest first. items: [{ text, weight, members: [indices] }]
function tickList(label, items, count, chosen, set) {
	const all = tallies().all,
		list = make("div", { class: "scroll ticks", role: "group", "aria-label": label });
	const on = (it) => !chosen || it.members.every((m) => chosen.has(m));
	const apply = (next) => set(next.size === count || next.size === 0 ? null : next);
	for (const it of items) {
		const input = make("input", { type: "checkbox" });
		input.checked = on(it);
		input.addEventListener("change", () => {
			const next = new Set(chosen || Array.from({ length: count }, (_, i) => i));
			for (const m of it.members) {
				if (input.checked) next.add(m);
				else next.delete(m);
			}
			apply(next);
		});
		const only = make("button", {
			class: "only",
			text: "only",
			title: "Only " + it.text,
			onclick: (e) => {
				e.preventDefault();
				apply(new Set(it.members));
			},
		});
		const bar = make("i", { class: "bar-fill" });
		bar.style.width = (all > 0 ? (100 * it.weight) / all : 0) + "%";
		list.append(
			make(
				"label",
				{ class: "tick" + (it.inner ? " inner" : "") },
				bar,
				input,
				make("span", { class: "tick-name", text: it.text }),
				only,
				make("small", { text: percent(it.weight, all) })
			)
		);
	}
	return make(
		"div",
		{ class: "block" },
		make(
			"div",
			{ class: "block-head" },
			make("span", { class: "row-name", text: label }),
			chosen
				? make("button", {
						class: "link",
						text: "all",
						title: "All of them",
						onclick: () => set(null),
					})
				: null
		),
		list
	);
}

function threadItems(p, t) {
	const byProcess = new Map(),
		items = [];
	p.threads.forEach((th, i) => {
		const key = th.pid + "/" + (th.pid < 0 ? th.comm : "");
		if (!byProcess.has(key)) byProcess.set(key, []);
		byProcess.get(key).push(i);
	});
	const sum = (list) => list.reduce((n, i) => n + t.thread[i], 0);
	const title = (th) => (th.comm || "(no name)") + (th.pid >= 0 ? " " + th.pid : "");
	for (const list of [...byProcess.values()].sort((x, y) => sum(y) - sum(x))) {
		const leader = list.find((i) => p.threads[i].tid === p.threads[i].pid);
		items.push({
			text: title(p.threads[leader === undefined ? list[0] : leader]),
			weight: sum(list),
			members: list,
		});
		if (list.length > 1)
			for (const i of list.sort((x, y) => t.thread[y] - t.thread[x]))
				items.push({
					text:
						(p.threads[i].comm || "") +
						(p.threads[i].tid >= 0 ? " " + p.threads[i].tid : ""),
					weight: t.thread[i],
					members: [i],
					inner: true,
				});
	}
	return items;
}

function buildFilter(box) {
	const { p, state } = app,
		t = tallies();
	if (!hasFilters(p)) {
		box.append(
			make("p", {
				class: "note",
				text: "This profile has no threads, CPUs or times to filter by: folded stacks carry none. Zoom, focus and hide work on frames.",
			})
		);
		return;
	}
	if (p.events.length > 1)
		box.append(
			choices(
				"Event",
				"event",
				p.events.map((name, i) => [i, name]),
				state.event,
				(v) => {
					app.tallies = null;
					change({ event: v });
				}
			)
		);
	if (hasThreads(p))
		box.append(
			tickList(
				"Processes and threads",
				threadItems(p, t),
				p.threads.length,
				state.threads,
				(v) => change({ threads: v })
			)
		);
	if (hasCpus(p))
		box.append(
			tickList(
				"CPUs",
				p.cpus.map((c, i) => ({
					text: c < 0 ? "not known" : "CPU " + c,
					weight: t.cpu[i],
					members: [i],
				})),
				p.cpus.length,
				state.cpus,
				(v) => change({ cpus: v })
			)
		);
	if (hasTime(p)) {
		const field = (name, value, set) => {
			const input = make("input", {
				type: "number",
				min: 0,
				max: seconds(p.time.steps),
				step: "any",
				"aria-label": name,
			});
			input.value = Number(value.toFixed(4));
			input.addEventListener("change", () => set(Number(input.value)));
			return make(
				"label",
				{ class: "field" },
				make("span", { text: name }),
				input,
				make("span", { text: "s" })
			);
		};
		box.append(
			make(
				"div",
				{ class: "block" },
				make("span", { class: "row-name", text: "Time" }),
				make(
					"div",
					{ class: "fields" },
					field("from", seconds(state.from), (v) =>
						setRange(stepOf(v), state.to)
					),
					field("to", seconds(state.to + 1), (v) =>
						setRange(state.from, Math.ceil((v * 1e9) / p.time.step) - 1)
					)
				)
			)
		);
	}
}

const seconds = (step) => (step * app.p.time.step) / 1e9;
const stepOf = (s) => Math.floor((s * 1e9) / app.p.time.step);
const timeText = (step) => duration(step * app.p.time.step);

function setRange(from, to) {
	const last = app.p.time.steps - 1;
	from = clamp(Math.round(from) || 0, 0, last);
	to = clamp(Math.round(to), from, last);
	change({ from, to });
}

// The strip above the picture: weight over time; drag over it to keep a range.
function drawTimeline() {
	const { p, state } = app,
		strip = $("timeline");
	strip.hidden = !hasTime(p);
	if (strip.hidden) return;
	const canvas = strip.firstElementChild,
		width = strip.clientWidth,
		height = strip.clientHeight;
	const ctx = sharpen(canvas, width, height),
		t = tallies(),
		css = getComputedStyle(document.documentElement);
	const usable = width - 2 * PAD,
		n = p.time.steps;
	// equally many steps in a bar: bars of two and of three steps in turn would look like waves
	const each = Math.max(1, Math.ceil((n * 3) / usable)),
		bins = Math.ceil(n / each);
	const sum = new Float64Array(bins);
	for (let i = 0; i < n; i++) sum[Math.floor(i / each)] += t.step[i];
	sum[bins - 1] *= each / (n - (bins - 1) * each);
	const most = sum.reduce((m, v) => Math.max(m, v), 0) || 1;
	const x = (step) => PAD + (usable * step) / n,
		foot = height - 16;
	const bright = css.getPropertyValue("--accent-soft"),
		dim = css.getPropertyValue("--line-strong");
	ctx.clearRect(0, 0, width, height);
	for (let i = 0; i < bins; i++) {
		const from = i * each,
			to = Math.min(n, from + each);
		ctx.fillStyle =
			from + each / 2 >= state.from && from + each / 2 <= state.to + 1 ? bright : dim;
		const h = Math.max(sum[i] > 0 ? 1 : 0, (sum[i] / most) * (foot - 3));
		ctx.fillRect(x(from), foot - h, Math.max(x(to) - x(from) - 0.75, 0.5), h);
	}
	ctx.fillStyle = css.getPropertyValue("--muted");
	ctx.font = "10.5px " + app.family;
	ctx.textBaseline = "alphabetic";
	const length = n * p.time.step,
		gap = niceStep(length / Math.max(2, usable / 110));
	for (let at = 0; at <= length; at += gap) {
		const px = PAD + (usable * at) / length;
		ctx.textAlign = at === 0 ? "left" : px > width - 50 ? "right" : "center";
		ctx.fillText(tickText(at, gap), px, height - 4);
	}
	if (state.from > 0 || state.to < n - 1) {
		ctx.fillStyle = css.getPropertyValue("--accent-wash");
		ctx.fillRect(x(state.from), 1, x(state.to + 1) - x(state.from), foot - 1);
		ctx.fillStyle = css.getPropertyValue("--accent");
		ctx.fillRect(x(state.from), 1, 1.5, foot - 1);
		ctx.fillRect(x(state.to + 1) - 1.5, 1, 1.5, foot - 1);
	}
	canvas.setAttribute("aria-valuetext", timeText(state.from) + " to " + timeText(state.to + 1));
	canvas.setAttribute("aria-valuemin", 0);
	canvas.setAttribute("aria-valuemax", n);
	canvas.setAttribute("aria-valuenow", state.from);
}

// 1, 2 or 5 times a power of ten, at least v.
function niceStep(v) {
	const ten = 10 ** Math.floor(Math.log10(v));
	return [1, 2, 5, 10].map((k) => k * ten).find((k) => k >= v);
}

// A tick's time in the unit its neighbours have, too.
function tickText(ns, gap) {
	const [unit, size] =
		gap >= 5e7 ? ["s", 1e9] : gap >= 5e4 ? ["ms", 1e6] : gap >= 50 ? ["µs", 1e3] : ["ns", 1];
	return (ns / size).toFixed(Math.max(0, Math.ceil(-Math.log10(gap / size) - 1e-9))) + " " + unit;
}

function setUpTimeline() {
	const canvas = $("timeline").firstElementChild;
	let from = -1;
	const stepAt = (e) => {
		const box = canvas.getBoundingClientRect();
		return clamp(
			Math.floor(((e.clientX - box.left - PAD) / (box.width - 2 * PAD)) * app.p.time.steps),
			0,
			app.p.time.steps - 1
		);
	};
	canvas.addEventListener("pointerdown", (e) => {
		from = stepAt(e);
		canvas.setPointerCapture(e.pointerId);
	});
	canvas.addEventListener("pointermove", (e) => {
		if (from < 0) return;
		const to = stepAt(e);
		app.state.from = Math.min(from, to);
		app.state.to = Math.max(from, to);
		drawTimeline();
	});
	canvas.addEventListener("pointerup", (e) => {
		const to = stepAt(e);
		if (from < 0) return;
		if (from === to) setRange(0, app.p.time.steps - 1);
		else setRange(Math.min(from, to), Math.max(from, to));
		from = -1;
	});
	canvas.addEventListener("keydown", (e) => {
		const by = Math.max(1, Math.round(app.p.time.steps / 50)) * (e.key === "ArrowLeft" ? -1 : 1);
		const { from: a, to: b } = app.state;
		if (e.key === "Escape") setRange(0, app.p.time.steps - 1);
		else if (e.key !== "ArrowLeft" && e.key !== "ArrowRight") return;
		else if (e.shiftKey) setRange(a, b + by);
		else if (e.altKey) setRange(a + by, b + by);
		else setRange(a + by, b);
		e.preventDefault();
		e.stopPropagation();
	});
}
