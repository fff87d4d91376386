// SPDX-License-Identifier: MIT
// Menus and popovers: one of each at a time, closed by Escape and by a click elsewhere.

let opener = null;

function closeMenus(focus) {
	const was = opener;
	for (const id of ["menu", "popover"]) {
		$(id).hidden = true;
		$(id).replaceChildren();
	}
	if (was && was.setAttribute) was.setAttribute("aria-expanded", "false");
	opener = null;
	if (focus) (was && was.focus ? was : $("stage")).focus({ preventScroll: true });
	return !!was;
}

const menuOpen = () => opener !== null;

function openAt(box, x, y, by) {
	opener = by;
	if (by.setAttribute) by.setAttribute("aria-expanded", "true");
	box.hidden = false;
	const r = box.getBoundingClientRect();
	box.style.left = clamp(x, 8, Math.max(8, innerWidth - r.width - 8)) + "px";
	box.style.top = clamp(y, 8, Math.max(8, innerHeight - r.height - 8)) + "px";
}

// items: [{ text, key, run, disabled }], or null for a line
function openMenu(items, x, y, by, heading) {
	closeMenus(false);
	const menu = $("menu");
	if (heading) menu.append(make("p", { class: "menu-head", text: heading }));
	for (const it of items) {
		menu.append(
			it === null
				? make("hr")
				: make(
						"button",
						{
							role: "menuitem",
							tabindex: "-1",
							disabled: it.disabled,
							onclick: () => {
								closeMenus(true);
								it.run();
							},
						},
						make("span", { text: it.text }),
						it.key ? make("kbd", { text: it.key }) : null
					)
		);
	}
	openAt(menu, x, y, by || $("stage"));
	const first = menu.querySelector("button:not([disabled])");
	if (first) first.focus();
}

function openPopover(button, build) {
	if (opener === button) {
		closeMenus(true);
		return;
	}
	closeMenus(false);
	const box = $("popover"),
		r = button.getBoundingClientRect();
	box.setAttribute("aria-label", button.textContent.trim());
	build(box);
	openAt(box, r.right - box.offsetWidth, r.bottom + 6, button);
	const width = box.getBoundingClientRect().width;
	box.style.left = clamp(r.right - width, 8, Math.max(8, innerWidth - width - 8)) + "px";
	const first = box.querySelector("button, input, select");
	if (first) first.focus();
}

// Build an open popover anew after something in it changed, with the focus where it was.
function refreshPopover(build) {
	const box = $("popover");
	if (box.hidden) return;
	const all = [...box.querySelectorAll("button, input, select")],
		i = all.indexOf(document.activeElement);
	const top = [...box.querySelectorAll(".scroll")].map((s) => s.scrollTop);
	box.replaceChildren();
	build(box);
	box.querySelectorAll(".scroll").forEach((s, k) => (s.scrollTop = top[k] || 0));
	const again = box.querySelectorAll("button, input, select");
	if (i >= 0 && again[i]) again[i].focus({ preventScroll: true });
}

function menuKeys(e) {
	const box = !$("menu").hidden ? $("menu") : $("popover");
	const items = [...box.querySelectorAll("button:not([disabled]), input, select")];
	const i = items.indexOf(document.activeElement),
		menu = box.id === "menu";
	const go = (k) => items.length && items[(k + items.length) % items.length].focus();
	if (e.key === "Escape") closeMenus(true);
	else if (e.key === "Tab" && menu) closeMenus(true);
	else if (e.key === "Tab") go(i + (e.shiftKey ? -1 : 1));
	else if (menu && e.key === "ArrowDown") go(i + 1);
	else if (menu && e.key === "ArrowUp") go(i - 1);
	else if (menu && e.key === "Home") go(0);
	else if (menu && e.key === "End") go(-1);
	else return;
	e.preventDefault();
	e.stopPropagation();
}

function setUpMenus() {
	document.addEventListener("pointerdown", (e) => {
		if (
			opener &&
			!$("menu").contains(e.target) &&
			!$("popover").contains(e.target) &&
			!(opener.contains && opener !== $("stage") && opener.contains(e.target))
		)
			closeMenus(false);
	});
	for (const id of ["menu", "popover"]) $(id).addEventListener("keydown", menuKeys);
	window.addEventListener("blur", () => $("tip").hidden || showTip(null));
}

// What can be done with a frame.
function frameMenu(what, x, y) {
	const { p, state } = app,
		f = what.pane.v.func[what.node],
		real = f < p.pruned;
	const op = (kind) => () => addOp(kind, f);
	openMenu(
		[
			{ text: "Zoom to this frame", key: "Enter", run: () => zoomTo(what.pane, what.node) },
			{
				text: "Callers and callees (sandwich)",
				key: "s",
				run: () => sandwich(f),
				disabled: !real,
			},
			null,
			{
				text: "Focus: only this function and its callees",
				key: "f",
				run: op("focus"),
				disabled: !real,
			},
			{
				text: "Hide: leave out samples through it",
				key: "h",
				run: op("hide"),
				disabled: !real,
			},
			{
				text: "Merge: give its weight to its caller",
				key: "m",
				run: op("merge"),
				disabled: !real,
			},
			{
				text: "Collapse: keep its callees inside it",
				key: "c",
				run: op("fold"),
				disabled: !real,
			},
			null,
			{
				text: "Find all frames of this name",
				key: "*",
				run: () => setQuery(exactly(p.name[f])),
				disabled: !real,
			},
			{ text: "Copy name", key: "y", run: () => copy(p.name[f]) },
			{ text: "Copy stack", run: () => copy(stackText(what)) },
			{ text: "Copy link to this view", run: () => copy(location.href) },
			state.ops.length
				? { text: "Undo all changes to stacks", run: () => change({ ops: [] }) }
				: null,
		].filter((it, i, all) => it !== null || (i < all.length - 1 && all[i + 1] !== null)),
		x,
		y,
		$("stage"),
		p.name[f]
	);
}

function stackText({ pane, node }) {
	const names = pathOf(pane.v, node).map((f) => app.p.name[f].replace(/;/g, ":"));
	return (pane.v.reversed ? names.reverse() : names).join(";");
}

async function copy(text) {
	try {
		await navigator.clipboard.writeText(text);
		toast("Copied");
	} catch (e) {
		const area = make("textarea", { class: "unseen" });
		area.value = text;
		document.body.append(area);
		area.select();
		const ok = document.execCommand("copy");
		area.remove();
		toast(ok ? "Copied" : "The browser does not allow copying here");
	}
}

function toast(text) {
	const old = document.querySelector(".toast");
	if (old) old.remove();
	const t = make("div", { class: "toast", role: "status", text });
	document.body.append(t);
	setTimeout(() => t.remove(), 1800);
}
