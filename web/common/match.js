// SPDX-License-Identifier: MIT
// What is searched for: a text (any case), or a regular expression between slashes.

function compile(text) {
	if (text.length > 1 && text[0] === "/") {
		const last = text.lastIndexOf("/"),
			flags = text.slice(last + 1);
		const closed = last > 0 && /^[imsu]*$/.test(flags);
		try {
			const re = closed
				? new RegExp(text.slice(1, last), flags)
				: new RegExp(text.slice(1));
			return { test: (s) => re.test(s), error: "" };
		} catch (e) {
			return { test: () => false, error: "not a regular expression" };
		}
	}
	const low = text.toLowerCase();
	return { test: (s) => s.toLowerCase().includes(low), error: "" };
}

// The same among these names: a text that none of them has is tried as an expression,
// as who comes from flamegraph.pl types it.
function compileAmong(text, names) {
	const plain = compile(text);
	if (text[0] === "/" || !/[|*+?^$\\.[(]/.test(text) || names.some((s) => plain.test(s))) return plain;
	const meant = compile("/" + text + "/i");
	return meant.error ? plain : meant;
}

// A pattern that finds this name and no other.
function exactly(name) {
	return "/^" + name.replace(/[.*+?^${}()|[\]\\\/]/g, "\\$&") + "$/";
}
