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
		// a wait counts when it ends: beside samples that says little of when it was
		if (p.eTime && p.eTime[i] >= 0 && (app.state.event >= 0 || p.events.length === 1 || !isOff(p.events[k.event])))
			t.step[p.eTime[i]] += w;
	}
	return (app.tallies = t);
}

const isOff = (event) => event.startsWith("offcpu-time");
// Is nothing shown but waits?
const waitsOnly = () => {
	const { p, state } = app;
	return state.event >= 0 ? isOff(p.events[state.event]) : p.events.every(isOff);
};
const hasThreads = (p) => p.threads.length > 1;
const hasCpus = (p) => p.cpus.length > 1;
const hasTime = (p) => p.time.steps > 1 && !p.time.ordered && !p.compare;
// Events that count the same can be added: time on the CPU and off it.
const eventChoices = (p) => [
	...p.events.map((name, i) => [i, name]),
	...(p.events.length > 1 && new Set(p.head.units).size === 1 ? [[-1, "all together"]] : []),
];

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

// Events one below the other: a recording may have many, with long names.
function eventList(p, t, now) {
	const list = make("div", { class: "scroll ticks", role: "radiogroup", "aria-label": "Event" }),
		units = p.head.units;
	for (const [i, name] of eventChoices(p)) {
		const input = make("input", { type: "radio", name: "event" });
		input.checked = i === now;
		input.addEventListener("change", () => change({ event: i }));
		list.append(
			make(
				"label",
				{ class: "tick", title: name },
				input,
				make("span", { class: "tick-name", text: name }),
				make("small", {
					text:
						i < 0
							? plainWeight(t.event.reduce((x, y) => x + y, 0), units[0])
							: plainWeight(t.event[i], units[i]),
				})
			)
		);
	}
	return make(
		"div",
		{ class: "block" },
		make("div", { class: "block-head" }, make("span", { class: "row-name", text: "Event" })),
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
	if (p.events.length > 1) box.append(eventList(p, t, state.event));
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
				p.cpus
					.map((c, i) => ({
						cpu: c,
						text: c < 0 ? "not known" : "CPU " + c,
						weight: t.cpu[i],
						members: [i],
					}))
					.sort((x, y) => x.cpu - y.cpu),
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
