// SPDX-License-Identifier: MIT
// Numbers and small pieces of the page. Text from the profile goes in only as text nodes.

const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

function scaled(v, units, step) {
	let i = 0;
	while (Math.abs(v) >= step && i < units.length - 1) {
		v /= step;
		i++;
	}
	return (
		(i && Math.abs(v) < 100 ? v.toFixed(Math.abs(v) < 10 ? 2 : 1) : grouped.format(v)) +
		" " +
		units[i]
	);
}

// A weight with its unit: 1.25 s, 3.4 MiB, 12,345 samples.
function weight(v, unit) {
	if (unit === "ns") return scaled(v, ["ns", "µs", "ms", "s"], 1000);
	if (unit === "us" || unit === "µs") return scaled(v, ["µs", "ms", "s"], 1000);
	if (unit === "ms") return scaled(v, ["ms", "s"], 1000);
	if (unit === "bytes") return scaled(v, ["bytes", "KiB", "MiB", "GiB", "TiB"], 1024);
	return grouped.format(v) + (unit ? " " + (v === 1 ? unit.replace(/s$/, "") : unit) : "");
}

// The same without the unit's word, for columns.
function plainWeight(v, unit) {
	return /^(ns|us|µs|ms|bytes)$/.test(unit) ? weight(v, unit) : grouped.format(v);
}

function percent(part, whole) {
	const v = whole > 0 ? (100 * part) / whole : 0;
	return v.toFixed(v !== 0 && Math.abs(v) < 0.01 ? 4 : 2) + "%";
}

function signedPercent(v) {
	const t = (100 * v).toFixed(2);
	return (Number(t) > 0 ? "+" : Number(t) < 0 ? "−" : "±") + t.replace("-", "") + "%";
}

function duration(ns) {
	return scaled(ns, ["ns", "µs", "ms", "s"], 1000);
}

// 2.00 ms is 2 ms, 100 ms stays: only zeros behind the point go.
function trimmed(text) {
	return text.replace(/(\.\d*?)0+(?= |$)/, "$1").replace(/\.(?= |$)/, "");
}

const $ = (id) => document.getElementById(id);

// make("button", { class: "x", onclick: fn, text: "…" }, children...)
function make(tag, attributes = {}, ...children) {
	const node = document.createElement(tag);
	for (const [k, v] of Object.entries(attributes)) {
		if (v === undefined || v === null || v === false) continue;
		if (k === "text") node.textContent = v;
		else if (k.startsWith("on")) node.addEventListener(k.slice(2), v);
		else node.setAttribute(k, v === true ? "" : v);
	}
	node.append(...children.filter((c) => c !== null && c !== undefined && c !== false));
	return node;
}

const svgSpace = "http://www.w3.org/2000/svg";
function icon(path) {
	const svg = document.createElementNS(svgSpace, "svg"),
		p = document.createElementNS(svgSpace, "path");
	svg.setAttribute("class", "icon");
	svg.setAttribute("viewBox", "0 0 16 16");
	svg.setAttribute("aria-hidden", "true");
	p.setAttribute("d", path);
	svg.append(p);
	return svg;
}

function say(text) {
	$("said").textContent = text;
}

const clamp = (v, lo, hi) => Math.min(Math.max(v, lo), hi);
