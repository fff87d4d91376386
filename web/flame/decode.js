// SPDX-License-Identifier: MIT
// The profile inside this file; src/view/picture/flame_pack.c writes it and says what the columns are.

const KINDS = ["user", "kernel", "inlined", "jit", "unknown", "label", "off", "waker", "pruned", "root"];
const PRUNED_KIND = 8,
	ROOT_KIND = 9;

async function readProfile(text) {
	const { head, columns } = await unpack(text);
	const p = { head, compare: head.compare, time: head.time };
	readFunctions(p, head);
	readNodes(p, head, columns);
	readEntries(p, head, columns);
	return p;
}

function readFunctions(p, head) {
	const text = (i) => (i < 0 ? "" : head.strings[i]);
	const f = head.funcs,
		n = f.name.length;
	p.name = f.name.map((i) => text(i) || "(no name)");
	p.module = f.module.map(text);
	p.file = f.file.map(text);
	p.line = f.line;
	p.kind = Uint8Array.from([...f.kind, PRUNED_KIND, ROOT_KIND]);
	p.pruned = n;
	p.root = n + 1;
	p.name.push("[pruned]", "all");
	p.module.push("", "");
	p.file.push("", "");
	p.line.push(0, 0);
	p.funcs = n + 2;
	p.base = p.module.map((m) => m.slice(m.lastIndexOf("/") + 1) || m);
	p.modules = p.base.filter((m) => m).length * 5 > n; // enough of them to be worth a column
	// the order of names, as the folded lines sort: a name ends in a semicolon
	const order = Array.from({ length: p.funcs }, (_, i) => i);
	const keys = p.name.map((s) => s + ";");
	order.sort((a, b) => (keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : a - b));
	p.rank = new Int32Array(p.funcs);
	order.forEach((f, i) => (p.rank[f] = i));
	p.rank[p.pruned] = p.funcs + 1;
}

// Nodes in pre-order, the root first: parent, depth, and where the subtree ends.
function readNodes(p, head, columns) {
	const n = (p.n = head.nodes + 1);
	const up = varints(columns[0], head.nodes, Int32Array),
		func = varints(columns[1], head.nodes, Int32Array);
	p.func = new Int32Array(n);
	p.parent = new Int32Array(n);
	p.depth = new Int32Array(n);
	p.end = new Int32Array(n);
	p.func[0] = p.root;
	const path = [0];
	for (let i = 1; i < n; i++) {
		const depth = p.depth[i - 1] + 1 - up[i - 1];
		while (path.length > depth) p.end[path.pop()] = i;
		p.parent[i] = path[depth - 1];
		p.depth[i] = depth;
		p.func[i] = func[i - 1] ? func[i - 1] - 1 : p.pruned;
		path.push(i);
	}
	while (path.length) p.end[path.pop()] = n;
}

function readEntries(p, head, columns) {
	const n = (p.entries = head.entries);
	p.eNode = varints(columns[2], n, Int32Array);
	for (let i = 1; i < n; i++) p.eNode[i] += p.eNode[i - 1];
	p.eKey = varints(columns[3], n, Int32Array);
	p.eTime = null;
	if (columns[4].length) {
		p.eTime = varints(columns[4], n, Int32Array);
		let t = 0;
		for (let i = 0; i < n; i++) {
			const z = p.eTime[i];
			t += z & 1 ? -((z + 1) >> 1) : z >> 1;
			p.eTime[i] = t;
		}
	}
	p.eWeight = varints(columns[5], n, Float64Array);
	p.keys = [];
	for (let i = 0; i < head.keys.length; i += 4)
		p.keys.push({
			side: head.keys[i],
			event: head.keys[i + 1],
			thread: head.keys[i + 2],
			cpu: head.keys[i + 3],
		});
	p.threads = head.threads.map(([comm, pid, tid]) => ({ comm, pid, tid }));
	p.cpus = head.cpus;
	p.events = head.events;
}
