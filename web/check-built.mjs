// Fails where the committed files of the page are not those that the sources give.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const committed = join(here, "../crates/relatum-server/page");
const made = mkdtempSync(join(tmpdir(), "relatum-built-"));

try {
  const vite = join(here, "node_modules/vite/bin/vite.js");
  execFileSync(process.execPath, [vite, "build", "--outDir", made, "--emptyOutDir", "--logLevel", "error"], { cwd: here, stdio: "inherit" });
  const [old, fresh] = [read(committed), read(made)];
  const differing = [...new Set([...old.keys(), ...fresh.keys()])].filter((name) => !old.has(name) || !fresh.has(name) || !old.get(name).equals(fresh.get(name)));
  if (differing.length) {
    console.error(`The built page is not what the sources give: ${differing.join(", ")}\nBuild it anew: cd web && npm ci && npm run build`);
    process.exitCode = 1;
  }
} finally {
  rmSync(made, { recursive: true, force: true });
}

/** Every file of a folder by its path within. */
function read(folder) {
  const names = readdirSync(folder, { recursive: true }).filter((name) => statSync(join(folder, name)).isFile());
  return new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
}
