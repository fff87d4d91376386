// SPDX-License-Identifier: MIT
// Names that are too long for their cell are cut where they tell the least: the end of
// a::b<c>::method(args) tells functions apart. What is left out stays in the
// text, only without a size, so that it is copied and read out with the rest.

const NAME_SHARE = 2 / 3; // of the room, for the part that tells more

// Letter widths of the table's names, measured once for each size of the screen's pixels.
// These names are set without kerning and ligatures: a text is as wide as its letters.
const nameLetters = { ratio: 0, width: new Float64Array(128), other: 0, dots: 0 };

function measureNames(side) {
	if (nameLetters.ratio === devicePixelRatio) return;
	const TIMES = 32, // a box's width is rounded, that of many letters less so
		all = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).concat("W", "漢", "…"),
		probe = make("div", { class: "probe", "aria-hidden": "true" });
	probe.append(...all.map((c) => make("span", { text: c.repeat(TIMES) })));
	side.append(probe);
	const wide = [...probe.children].map((e) => e.getBoundingClientRect().width / TIMES);
	probe.remove();
	if (!(wide[0] > 0)) return; // not on the screen
	nameLetters.ratio = devicePixelRatio;
	nameFacts.clear();
	for (let c = 32; c < 127; c++) nameLetters.width[c] = wide[c - 32];
	nameLetters.other = Math.max(wide[95], wide[96]);
	nameLetters.dots = wide[97];
}

// By name: its width, where its last part begins, and that part's width. A column that is dragged asks often.
const nameFacts = new Map();

function letterWidth(text, i) {
	const c = text.charCodeAt(i);
	return c < 127 && c > 31 ? nameLetters.width[c] : nameLetters.other;
}

function nameWidth(text) {
	let w = 0;
	for (let i = 0; i < text.length; i++) w += letterWidth(text, i);
	return w;
}

const OPEN = "<([{",
	CLOSE = ">)]}";

// Where the last part of a::b<c::d>::method(e::f) begins: behind the last :: that no bracket
// holds. The signs of an operator are no brackets.
function lastPart(text) {
	let depth = 0,
		at = 0;
	for (let i = 0; i < text.length; i++) {
		if (OPEN.includes(text[i])) depth++;
		else if (CLOSE.includes(text[i])) depth = Math.max(0, depth - 1);
		else if (depth === 0 && text.startsWith("::", i)) {
			at = i + 2;
			if (text.startsWith("operator", at)) break;
		}
	}
	return at;
}

function factsOf(text) {
	let facts = nameFacts.get(text);
	if (!facts) {
		const last = lastPart(text);
		facts = { whole: nameWidth(text), last, own: nameWidth(text.slice(last)) };
		nameFacts.set(text, facts);
	}
	return facts;
}

// The first letter of as much of the text's end as fits; and the first letter behind as much as fits from i on.
function backFrom(text, room) {
	let i = text.length;
	for (let w = 0; i > 0 && (w += letterWidth(text, i - 1)) <= room; ) i--;
	return inPair(text, i) ? i + 1 : i;
}

function onFrom(text, i, room) {
	for (let w = 0; i < text.length && (w += letterWidth(text, i)) <= room; ) i++;
	return inPair(text, i) ? i - 1 : i;
}

const inPair = (text, i) => i > 0 && /[\udc00-\udfff]/.test(text.charAt(i));

// What is left out, as pairs of places. The last part stays whole if there is room, before it the
// front; otherwise its beginning and its end.
function cutsOf(text, room) {
	const { whole, last, own } = factsOf(text),
		left = room - nameLetters.dots;
	if (whole <= room) return [];
	if (last > 0 && own > left) {
		const end = Math.max(last, backFrom(text, (left - nameLetters.dots) * (1 - NAME_SHARE)));
		const on = onFrom(text, last, left - nameLetters.dots - nameWidth(text.slice(end)));
		return [[0, last], [Math.max(on, last), end]];
	}
	const end = Math.min(last || text.length, backFrom(text, left * NAME_SHARE));
	return [[Math.min(end, onFrom(text, 0, left - nameWidth(text.slice(end)))), end]];
}

function cutName(span, room) {
	const text = span.textContent,
		cuts = cutsOf(text, room),
		key = cuts.join(" ");
	if ((span.dataset.cut || "") === key) return;
	span.dataset.cut = key;
	let at = 0;
	const parts = [];
	for (const [from, to] of cuts) {
		parts.push(text.slice(at, from), make("span", { class: "cut", text: text.slice(from, to) }));
		at = to;
	}
	span.replaceChildren(...parts, text.slice(at));
}
