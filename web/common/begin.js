// SPDX-License-Identifier: MIT
// How a page begins: it is ready once the first picture is on the screen.

async function begin(start) {
	try {
		await start();
	} catch (e) {
		$("empty").hidden = false;
		$("empty").textContent = "This file cannot be shown: " + e.message;
		document.documentElement.dataset.ready = "failed";
		return;
	}
	requestAnimationFrame(() =>
		requestAnimationFrame(() => {
			app.times.painted = performance.now();
			document.documentElement.dataset.ready = "1";
		})
	);
}

// An empty canvas of this size, in the screen's own pixels.
function sharpen(canvas, width, height) {
	const ratio = window.devicePixelRatio || 1;
	const w = Math.round(width * ratio),
		h = Math.round(height * ratio);
	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w;
		canvas.height = h;
		canvas.style.width = width + "px";
		canvas.style.height = height + "px";
	}
	const ctx = canvas.getContext("2d");
	ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
	ctx.clearRect(0, 0, width, height);
	return ctx;
}
