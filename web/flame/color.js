// SPDX-License-Identifier: MIT
// Colours by what a function is, by module, by name, by how it changed.

function hashOf(s) {
	let h = 2166136261;
	for (let i = 0; i < s.length; i++) h = Math.imul(h ^ s.charCodeAt(i), 16777619);
	h ^= h >>> 15;
	h = Math.imul(h, 0x2c1b3c6d);
	return (h ^ (h >>> 13)) >>> 0;
}

// What a function is: the kind the recorder saw, or the language its name is written in.
const FAMILIES = {
	native: ["C", 42, 0.115],
	cpp: ["C++", 78, 0.115],
	rust: ["Rust", 22, 0.12],
	go: ["Go", 205, 0.095],
	java: ["Java", 142, 0.115],
	js: ["JavaScript", 112, 0.12],
	python: ["Python", 248, 0.1],
	jit: ["JIT", 158, 0.105],
	inlined: ["inlined", 185, 0.085],
	kernel: ["kernel", 292, 0.095],
	off: ["off CPU", 262, 0.12],
	waker: ["waker", 190, 0.11],
	unknown: ["no name", 80, 0.012],
	label: ["process", 255, 0.022],
	pruned: ["pruned", 80, 0.006],
	root: ["all", 80, 0.006],
};

function familyOf(p, f) {
	const kind = KINDS[p.kind[f]],
		s = p.name[f],
		m = p.base[f];
	if (kind !== "user" && kind !== "jit") return kind;
	if (/^py::|\.py(:\d+)?\)?$/.test(s) || /\.py$/.test(m)) return "python";
	if (
		/^(LazyCompile|Function|Script|Eval|RegExp|JS|InterpretedFunction|Builtin):|\.[cm]?js(:\d+)*\)?$/.test(
			s
		)
	)
		return "js";
	if (/^L?(java|javax|jdk|sun|com|org|net|io|scala|kotlin)[/.]\w+[/.]/.test(s)) return "java";
	if (
		/::h[0-9a-f]{16}$|\{\{?closure|<.+ as .+>::|^(core|alloc)::|^std::(rt|sys|sys_common|panicking|io|fs|collections|env|panic)::/.test(
			s
		)
	)
		return "rust";
	if (
		/\.\(\*?\w+\)\.|^(main|runtime|sync|fmt|reflect|syscall|bufio|os|net|net\/http|encoding\/\w+|internal\/\w+)\.\w+(\.func\d+)*$|^(github\.com|golang\.org|k8s\.io)\//.test(
			s
		)
	)
		return "go";
	if (kind === "jit") return "jit";
	return /::|^operator |^(non-)?virtual thunk|^vtable for/.test(s) ? "cpp" : "native";
}

// Okabe and Ito's colours, told apart with any kind of colour vision.
const SAFE = {
	native: [230, 159, 0],
	cpp: [240, 228, 66],
	rust: [213, 94, 0],
	go: [86, 180, 233],
	java: [0, 158, 115],
	js: [240, 228, 66],
	python: [0, 114, 178],
	jit: [0, 158, 115],
	inlined: [204, 121, 167],
	kernel: [86, 180, 233],
	off: [0, 114, 178],
	waker: [0, 158, 115],
};

function painter(p) {
	const family = new Array(p.funcs),
		hash = new Float64Array(p.funcs);
	for (let f = 0; f < p.funcs; f++) {
		family[f] = familyOf(p, f);
		hash[f] = hashOf(p.name[f]);
	}
	const jitter = (f, k) => ((hash[f] >>> (k * 10)) & 1023) / 1023 - 0.5;
	// modules by how many functions they have get hues far from each other
	const count = new Map();
	for (const m of p.base) count.set(m, (count.get(m) || 0) + 1);
	const ranked = [...count.keys()]
		.filter((m) => m)
		.sort((x, y) => count.get(y) - count.get(x) || (x < y ? -1 : 1));
	const moduleHue = new Map(ranked.map((m, i) => [m, (35 + i * 137.508) % 360]));

	function tone(s, dark, f) {
		const quiet =
			family[f] === "root" ||
			family[f] === "pruned" ||
			family[f] === "label" ||
			family[f] === "unknown";
		const l = (dark ? 0.7 : 0.815) + (dark ? 0.07 : 0.055) * jitter(f, 0);
		if (quiet) {
			const [, h, c] = FAMILIES[family[f]];
			return oklch((dark ? 0.4 : 0.87) + 0.02 * jitter(f, 0), c, h);
		}
		if (s.color === "module") {
			const h = moduleHue.get(p.base[f]);
			return h === undefined ? oklch(dark ? 0.44 : 0.84, 0.012, 80) : oklch(l, 0.1, h);
		}
		if (s.color === "name")
			return s.safe
				? oklch(l - 0.06, 0.1, 230 + 60 * jitter(f, 1))
				: oklch(l - 0.01, 0.125, 53 + 62 * jitter(f, 1));
		if (s.safe && SAFE[family[f]]) {
			const c = mix(SAFE[family[f]], dark ? [0, 0, 0] : [255, 255, 255], dark ? 0.12 : 0.3);
			return mix(c, dark ? [0, 0, 0] : [255, 255, 255], 0.1 + 0.14 * jitter(f, 0));
		}
		const [, h, c] = FAMILIES[family[f]];
		return oklch(l, c + 0.02 * jitter(f, 1), h + 20 * jitter(f, 2));
	}

	// Tables of finished colours by function, made anew when the choice or the theme changes.
	function tables(s, dark) {
		const paper = dark ? [24, 24, 27] : [255, 255, 255];
		const normal = new Array(p.funcs),
			faded = new Array(p.funcs),
			bright = new Uint8Array(p.funcs);
		for (let f = 0; f < p.funcs; f++) {
			const c = tone(s, dark, f);
			const grey = 0.3 * c[0] + 0.59 * c[1] + 0.11 * c[2];
			normal[f] = rgb(c);
			bright[f] = grey > 118 ? 1 : 0;
			faded[f] = rgb(mix(mix(c, [grey, grey, grey], 0.75), paper, dark ? 0.78 : 0.66));
		}
		return { normal, faded, bright };
	}
	return { family, tables, ranked, moduleHue };
}

const HIT = { light: "rgb(168,85,247)", dark: "rgb(168,85,247)" };

// Red is more, blue is less; for colour-blind eyes orange instead of red. part: -1..1
function deltaColor(part, dark, safe) {
	const t = Math.min(Math.abs(part), 1) ** 0.6;
	const still = dark ? [72, 72, 78] : [236, 236, 233];
	const more = safe ? (dark ? [176, 90, 0] : [237, 140, 10]) : dark ? [208, 58, 52] : [232, 72, 60];
	const less = dark ? [52, 112, 214] : [70, 130, 236];
	return rgb(mix(still, part > 0 ? more : less, t));
}
