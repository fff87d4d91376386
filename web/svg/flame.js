// SPDX-License-Identifier: MIT
// The script of an SVG flame graph: click to zoom, search by regular expression, reset.
//
// `flame` (measures) was defined before this by the writer. Every frame is a <g>
// of <title>, <rect>, <text>; their first places are remembered here, and zooming
// is a linear map of x. The view is kept in the URL (x, y, s), so it can be sent.

const svgNS = "http://www.w3.org/2000/svg";
let frames = [];
let zoomed = null;
let pattern = "";
let ignoreCase = false;
const el = {};

window.addEventListener("load", () => {
	for (const id of ["details", "unzoom", "search", "ignorecase", "matched", "frames", "axis"])
		el[id] = document.getElementById(id);
	frames = Array.from(el.frames.children, (g) => {
		const title = g.firstElementChild,
			rect = title.nextElementSibling;
		const f = { g, rect, text: rect.nextElementSibling, title: title.textContent };
		f.name = f.title.replace(/ \([^()]*\)$/, "");
		f.x = Number(rect.getAttribute("x"));
		f.w = Number(rect.getAttribute("width"));
		f.y = Number(rect.getAttribute("y"));
		f.fill = rect.getAttribute("fill");
		g.frame = f;
		return f;
	});
	el.frames.addEventListener("click", (e) => {
		const f = frameOf(e.target);
		if (f) zoom(f === frames[0] ? null : f);
	});
	el.frames.addEventListener("mouseover", (e) => say(frameOf(e.target)));
	el.frames.addEventListener("mouseout", () => say(null));
	button(el.unzoom, () => zoom(null));
	button(el.search, () => (pattern ? search("") : ask()));
	button(el.ignorecase, () => {
		ignoreCase = !ignoreCase;
		el.ignorecase.classList.toggle("show", ignoreCase);
		if (pattern) search(pattern);
	});
	window.addEventListener("keydown", keys);
	restore();
});

function button(element, action) {
	element.addEventListener("click", action);
	element.addEventListener("keydown", (e) => {
		if (e.key === "Enter" || e.key === " ") {
			e.preventDefault();
			action();
		}
	});
}

function frameOf(target) {
	while (target && target !== el.frames && !target.frame) target = target.parentNode;
	return target ? target.frame : null;
}

function say(f) {
	el.details.textContent = f ? flame.nametype + " " + f.title : " ";
}

function keys(e) {
	if (e.target.tagName && e.target.tagName.toLowerCase() === "input") return;
	if (e.key === "/" || e.key === "F3" || ((e.ctrlKey || e.metaKey) && e.key === "f")) {
		e.preventDefault();
		ask();
	} else if ((e.ctrlKey || e.metaKey) && e.key === "i") {
		e.preventDefault();
		el.ignorecase.dispatchEvent(new MouseEvent("click"));
	} else if (e.key === "Escape") {
		if (pattern) search("");
		else zoom(null);
	}
}

// As much of the name as fits; letters are counted, not measured, which is fast.
function label(f, width) {
	const fit = Math.floor(width / flame.letter);
	if (fit < 3) return "";
	return f.name.length <= fit ? f.name : f.name.slice(0, fit - 2) + "..";
}

function place(f, x, w) {
	f.rect.setAttribute("x", x.toFixed(1));
	f.rect.setAttribute("width", w.toFixed(1));
	f.text.setAttribute("x", (x + 3).toFixed(2));
	f.text.textContent = label(f, w);
}

// A chart in time: everything that was at the time of the zoomed frame, cut at its ends.
function zoomTime(target) {
	const inner = flame.width - 2 * flame.xpad,
		from = target ? target.x : flame.xpad,
		scale = target ? inner / target.w : 1,
		end = flame.xpad + inner;
	for (const f of frames) {
		const x = Math.max(flame.xpad, flame.xpad + (f.x - from) * scale),
			right = Math.min(end, flame.xpad + (f.x + f.w - from) * scale);
		if (target && right > x) place(f, x, right - x);
		else if (!target) place(f, f.x, f.w);
		f.g.classList.toggle("hide", !!target && right - x < 0.1);
	}
	drawAxis(((from - flame.xpad) / inner) * flame.seconds, flame.seconds / scale);
}

// 1, 2 or 5 times a power of ten, at least v.
function niceStep(v) {
	const ten = 10 ** Math.floor(Math.log10(v));
	return [1, 2, 5, 10].map((k) => k * ten).find((k) => k >= v);
}

// Lines and times from `from` on, `seconds` long.
function drawAxis(from, seconds) {
	const inner = flame.width - 2 * flame.xpad,
		old = el.axis.firstElementChild,
		y1 = old.getAttribute("y1"),
		y2 = old.getAttribute("y2"),
		y = old.nextElementSibling.getAttribute("y"),
		step = niceStep(seconds / Math.max(2, inner / 110)),
		digits = Math.min(9, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
	el.axis.replaceChildren();
	for (let k = Math.ceil(from / step - 1e-6); k * step <= from + seconds; k++) {
		const x = flame.xpad + ((k * step - from) / seconds) * inner,
			line = document.createElementNS(svgNS, "line"),
			text = document.createElementNS(svgNS, "text");
		for (const [name, v] of Object.entries({ x1: x, x2: x, y1, y2 }))
			line.setAttribute(name, v);
		text.setAttribute("x", x + 3);
		text.setAttribute("y", y);
		text.textContent = (k * step).toFixed(digits) + " s";
		el.axis.append(line, text);
	}
}

function zoom(target) {
	zoomed = target;
	if (flame.seconds) zoomTime(target);
	else zoomTree(target);
	el.unzoom.classList.toggle("hide", !target);
	remember();
}

// Frames below the zoomed one (towards the root) that hold it fill the width; those beside it go.
function zoomTree(target) {
	const inner = flame.width - 2 * flame.xpad;
	const slack = 0.06;
	for (const f of frames) {
		let hide = false,
			parent = false;
		if (!target) {
			place(f, f.x, f.w);
		} else if (flame.inverted ? f.y < target.y : f.y > target.y) {
			parent = f.x <= target.x + slack && f.x + f.w >= target.x + target.w - slack;
			hide = !parent;
			if (parent) place(f, flame.xpad, inner);
		} else if (f.x < target.x - slack || f.x + f.w > target.x + target.w + slack) {
			hide = true;
		} else {
			place(
				f,
				flame.xpad + ((f.x - target.x) / target.w) * inner,
				(f.w / target.w) * inner
			);
		}
		f.g.classList.toggle("hide", hide);
		f.g.classList.toggle("parent", parent);
	}
}

function ask() {
	const box = document.createElementNS(svgNS, "foreignObject");
	const input = document.createElementNS("http://www.w3.org/1999/xhtml", "input");
	box.setAttribute("x", flame.width - flame.xpad - 330);
	box.setAttribute("y", 2);
	box.setAttribute("width", 220);
	box.setAttribute("height", 30);
	box.setAttribute("id", "searchbox");
	input.setAttribute("type", "text");
	input.setAttribute("placeholder", "text or regular expression");
	input.setAttribute("aria-label", "search for frames");
	input.style.cssText =
		"width:200px;font:inherit;font-size:12px;padding:3px 6px;border:1px solid #888;border-radius:4px";
	input.value = pattern;
	input.addEventListener("keydown", (e) => {
		if (e.key === "Enter" || e.key === "Escape") {
			if (e.key === "Escape") search("");
			input.blur();
		}
		e.stopPropagation();
	});
	input.addEventListener("input", () => search(input.value));
	input.addEventListener("blur", () => box.remove());
	box.appendChild(input);
	document.documentElement.appendChild(box);
	input.focus();
	input.select();
}

function matcher(text) {
	try {
		return new RegExp(text, ignoreCase ? "i" : "");
	} catch (e) {
		return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), ignoreCase ? "i" : "");
	}
}

// Matched per cent: a frame inside a matched one adds nothing.
function search(text) {
	const re = text ? matcher(text) : null;
	const spans = [];
	pattern = text;
	for (const f of frames) {
		const hit = re && f !== frames[0] && re.test(f.name);
		f.rect.setAttribute("fill", hit ? "rgb(230,0,230)" : f.fill);
		if (hit) spans.push([f.x, f.x + f.w]);
	}
	spans.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
	let sum = 0,
		end = -1;
	for (const [from, to] of spans) {
		if (to <= end + 0.05) continue;
		sum += to - Math.max(from, end);
		end = to;
	}
	el.matched.textContent = text ? "Matched: " + ((100 * sum) / frames[0].w).toFixed(1) + "%" : " ";
	el.search.textContent = text ? "Reset Search" : "Search";
	el.search.classList.toggle("show", !!text);
	remember();
}

function remember() {
	const q = new URLSearchParams(location.search);
	for (const k of ["x", "y", "s"]) q.delete(k);
	if (zoomed) {
		q.set("x", zoomed.x);
		q.set("y", zoomed.y);
	}
	if (pattern) q.set("s", pattern);
	try {
		history.replaceState(null, "", location.pathname + (q.toString() ? "?" + q : ""));
	} catch (e) {
		// a file opened from a place without history: the view is not kept
	}
}

function restore() {
	const q = new URLSearchParams(location.search);
	const s = q.get("s");
	if (q.get("x") && q.get("y")) {
		const f = frames.find((g) => g.x === Number(q.get("x")) && g.y === Number(q.get("y")));
		if (f) zoom(f);
	}
	if (s) search(s);
}
