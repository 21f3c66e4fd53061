// Modules of the page for tests without a browser: bundled by the same Vite that builds the page.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "vite";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Imports sources by their paths below `src/`; the exports of all of them in one object. */
export async function sources(...names) {
  const home = mkdtempSync(join(tmpdir(), "relatum-sources-"));
  const [entry, out] = [join(home, "entry.ts"), join(home, "out")];
  writeFileSync(entry, names.map((name) => `export * from ${JSON.stringify(join(root, "src", name))};\n`).join(""));
  try {
    await build({
      root, configFile: false, logLevel: "error", publicDir: false,
      build: { ssr: true, outDir: out, minify: false, rollupOptions: { input: entry, output: { entryFileNames: "sources.mjs" } } },
    });
    return await import(pathToFileURL(join(out, "sources.mjs")).href);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
