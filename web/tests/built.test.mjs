// What can be said of the built files without a browser.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { gzipSync } from "node:zlib";

const page = new URL("../../crates/relatum-server/page/", import.meta.url).pathname;
const files = readdirSync(page, { recursive: true }).map((name) => join(page, name)).filter((name) => statSync(name).isFile());

it("is made of the sources that are here", () => {
  execFileSync(process.execPath, [new URL("../check-built.mjs", import.meta.url).pathname], { stdio: "pipe" });
});

it("weighs less than 600 kB, compressed", (t) => {
  const bytes = files.reduce((sum, name) => sum + gzipSync(readFileSync(name), { level: 9 }).length, 0);
  t.diagnostic(`${Math.round(bytes / 1000)} kB in ${files.length} files`);
  assert.ok(bytes < 600_000, `${bytes} bytes`);
});

it("has no inline script, no inline style, no source map, and names no other host to load from", () => {
  const index = readFileSync(join(page, "index.html"), "utf8");
  for (const tag of index.match(/<script[^>]*>[^<]*/g) ?? []) assert.match(tag, /src="\.\/[^"]+"[^>]*>$/);
  assert.doesNotMatch(index, /<style|\sstyle=|\son[a-z]+=/);
  assert.doesNotMatch(index, /(?:src|href)="(?!\.\/)/);
  for (const name of files.filter((it) => it.endsWith(".css"))) assert.doesNotMatch(readFileSync(name, "utf8"), /url\(|@import/);
  assert.deepEqual(files.filter((it) => it.endsWith(".map")), []);
});
