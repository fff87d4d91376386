// SPDX-License-Identifier: MIT
// Files that a page hands to its reader.

function saveAs(name, blob) {
	const url = URL.createObjectURL(blob),
		a = make("a", { href: url, download: name });
	document.body.append(a);
	a.click();
	a.remove();
	setTimeout(() => URL.revokeObjectURL(url), 10000);
	app.saved = { name, size: blob.size, blob };
	toast("Saved " + name);
}

function fileName(ending) {
	const base = app.p.head.title
		.replace(/\.[a-z]+$/i, "")
		.replace(/[^\w.-]+/g, "-")
		.replace(/^-+|-+$/g, "")
		.slice(0, 60);
	return (base || "flame") + "." + ending;
}

const xml = (s) => s.replace(/[&<>"']/g, (c) => "&#" + c.charCodeAt(0) + ";");
