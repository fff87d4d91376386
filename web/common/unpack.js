// SPDX-License-Identifier: MIT
// The data inside a page: base64, a codec, a JSON header, columns of numbers (src/view/picture/pack.h).

function decodeBase64(text) {
	if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
	const s = atob(text),
		out = new Uint8Array(s.length);
	for (let i = 0; i < s.length; i++) out[i] = s.charCodeAt(i);
	return out;
}

async function inflate(bytes) {
	if (typeof DecompressionStream === "function") {
		try {
			const stream = new Blob([bytes])
				.stream()
				.pipeThrough(new DecompressionStream("deflate-raw"));
			return new Uint8Array(await new Response(stream).arrayBuffer());
		} catch (e) {
			// an old browser that knows only zlib's frame
		}
	}
	return inflateHere(bytes);
}

// n LEB128 numbers from a column into a typed array of the given kind.
function varints(bytes, n, Kind) {
	const out = new Kind(n);
	let at = 0;
	for (let i = 0; i < n; i++) {
		let b = bytes[at++],
			v = b & 127,
			scale = 128;
		while (b > 127) {
			b = bytes[at++];
			v += (b & 127) * scale;
			scale *= 128;
		}
		out[i] = v;
	}
	return out;
}

async function unpack(text) {
	const coded = decodeBase64(text);
	if (coded[0] !== 75) throw new Error("there is no data in this file");
	const bytes = coded[1] === 100 ? await inflate(coded.subarray(2)) : coded.subarray(2);
	const size = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
	const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
	let at = 4 + size;
	return { head, columns: head.columns.map((n) => bytes.subarray(at, (at += n))) };
}
