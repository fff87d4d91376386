// SPDX-License-Identifier: MIT
// RFC 1951 inflate, for browsers without DecompressionStream. Small rather than fast:
// canonical Huffman codes are decoded bit by bit from counts and sorted symbols.

const LENGTH_BASE = [
	3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163,
	195, 227, 258,
];
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCE_BASE = [
	1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073,
	4097, 6145, 8193, 12289, 16385, 24577,
];
const DISTANCE_BITS = [
	0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
];
const CODE_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

function huffman(lengths) {
	const count = new Uint16Array(16),
		offset = new Uint16Array(16),
		symbol = new Uint16Array(lengths.length);
	for (const n of lengths) count[n]++;
	count[0] = 0;
	for (let i = 1; i < 16; i++) offset[i] = offset[i - 1] + count[i - 1];
	lengths.forEach((n, i) => {
		if (n) symbol[offset[n]++] = i;
	});
	return { count, symbol };
}

function inflateHere(input) {
	let out = new Uint8Array(input.length * 6 + 1024),
		n = 0,
		at = 0,
		hold = 0,
		held = 0;

	function bits(k) {
		while (held < k) {
			if (at >= input.length) throw new Error("the profile in this file is cut short");
			hold |= input[at++] << held;
			held += 8;
		}
		const v = hold & ((1 << k) - 1);
		hold >>>= k;
		held -= k;
		return v;
	}
	function decode(h) {
		let code = 0,
			first = 0,
			index = 0;
		for (let len = 1; len < 16; len++) {
			code |= bits(1);
			const c = h.count[len];
			if (code - c < first) return h.symbol[index + code - first];
			index += c;
			first = (first + c) << 1;
			code <<= 1;
		}
		throw new Error("the profile in this file is damaged");
	}
	function room(k) {
		if (n + k <= out.length) return;
		const more = new Uint8Array(Math.max(out.length * 2, n + k));
		more.set(out.subarray(0, n));
		out = more;
	}
	function stored() {
		hold = held = 0;
		const len = input[at] | (input[at + 1] << 8);
		at += 4;
		room(len);
		out.set(input.subarray(at, at + len), n);
		n += len;
		at += len;
	}
	function tables() {
		const lits = bits(5) + 257,
			dists = bits(5) + 1,
			codes = bits(4) + 4;
		const lengths = new Array(19).fill(0);
		for (let i = 0; i < codes; i++) lengths[CODE_ORDER[i]] = bits(3);
		const h = huffman(lengths),
			all = [];
		while (all.length < lits + dists) {
			const s = decode(h);
			if (s < 16) all.push(s);
			else {
				const value = s === 16 ? all[all.length - 1] : 0;
				let k = s === 16 ? 3 + bits(2) : s === 17 ? 3 + bits(3) : 11 + bits(7);
				while (k--) all.push(value);
			}
		}
		return [huffman(all.slice(0, lits)), huffman(all.slice(lits))];
	}
	function fixed() {
		const lengths = Array.from({ length: 288 }, (_, i) =>
			i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8
		);
		return [huffman(lengths), huffman(new Array(30).fill(5))];
	}

	for (let last = 0; !last;) {
		last = bits(1);
		const type = bits(2);
		if (type === 0) {
			stored();
			continue;
		}
		const [lit, dist] = type === 1 ? fixed() : tables();
		for (let s = decode(lit); s !== 256; s = decode(lit)) {
			if (s < 256) {
				room(1);
				out[n++] = s;
				continue;
			}
			const len = LENGTH_BASE[s - 257] + bits(LENGTH_BITS[s - 257]);
			const d = decode(dist);
			const back = DISTANCE_BASE[d] + bits(DISTANCE_BITS[d]);
			room(len);
			for (let i = 0; i < len; i++, n++) out[n] = out[n - back];
		}
	}
	return out.subarray(0, n);
}
