// SPDX-License-Identifier: MIT
// Colours are made in OKLCH, where equal lightness looks equally light: every
// frame can carry its text, no kind shouts louder than others, and a ramp has
// even steps.

function oklch(l, c, h) {
	const a = c * Math.cos((h * Math.PI) / 180),
		b = c * Math.sin((h * Math.PI) / 180);
	const x = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3;
	const y = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3;
	const z = (l - 0.0894841775 * a - 1.291485548 * b) ** 3;
	return [
		4.0767416621 * x - 3.3077115913 * y + 0.2309699292 * z,
		-1.2684380046 * x + 2.6097574011 * y - 0.3413193965 * z,
		-0.0041960863 * x - 0.7034186147 * y + 1.707614701 * z,
	].map((v) => {
		const u = clamp(v, 0, 1);
		return Math.round(255 * (u <= 0.0031308 ? 12.92 * u : 1.055 * u ** (1 / 2.4) - 0.055));
	});
}

const rgb = (c) => "rgb(" + c[0] + "," + c[1] + "," + c[2] + ")";
const mix = (x, y, t) => x.map((v, i) => Math.round(v + (y[i] - v) * t));

// How much: 0 (nothing, the paper) to 1. From pale yellow to deep red, or out of the dark.
function heatColor(t, dark) {
	const u = clamp(t, 0, 1);
	return dark
		? oklch(
				0.3 + 0.56 * u,
				0.07 + 0.08 * Math.sin(Math.PI * Math.min(u * 0.8 + 0.1, 1)),
				20 + 70 * u
			)
		: oklch(0.965 - 0.55 * u, 0.045 + 0.15 * Math.sin((Math.PI / 2) * u), 92 - 64 * u);
}

// Counts to 0..1: as they are, or by their logarithm, so that single events are seen beside crowds.
function heatLevel(n, most, log) {
	if (!(n > 0)) return 0;
	return log ? (most > 1 ? 0.12 + (0.88 * Math.log(n)) / Math.log(most) : 1) : n / most;
}
