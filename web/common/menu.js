// SPDX-License-Identifier: MIT
// Menus, popovers and dialogs: one of each at a time, closed by Escape and by a click elsewhere.

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

function openDialog(title, ...content) {
	const d = $("dialog");
	d.replaceChildren(
		make(
			"header",
			{},
			make("h2", { text: title }),
			make(
				"button",
				{
					class: "ghost",
					"aria-label": "Close",
					title: "Close (Esc)",
					onclick: () => d.close(),
				},
				icon("m4 4 8 8m0-8-8 8")
			)
		),
		...content
	);
	d.setAttribute("aria-label", title);
	d.showModal();
}
