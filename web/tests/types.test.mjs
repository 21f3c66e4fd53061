// The types that the page was written against are those of the server.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import openapiTS, { astToString } from "openapi-typescript";
import { makeProject } from "./support/project.mjs";
import { startServer } from "./support/server.mjs";

const relatum = process.env.RELATUM_BIN;
if (!relatum) throw new Error("RELATUM_BIN must name the relatum binary: RELATUM_BIN=../target/debug/relatum npm test");

it("has the types of the server's description", async () => {
  const project = makeProject(relatum, { models: false });
  const server = await startServer(relatum, project.dir);
  try {
    const description = await (await fetch(new URL("openapi.json", server.url))).json();
    const made = types(astToString(await openapiTS(description)));
    const committed = types(readFileSync(new URL("../src/api/schema.d.ts", import.meta.url), "utf8"));
    assert.equal(made, committed, "src/api/schema.d.ts is not what the server describes: run `relatum serve DIR`, then `npm run types`");
  } finally {
    await server.stop();
    project.remove();
  }
});

/** Without the comment that the command puts before them. */
const types = (text) => text.slice(text.indexOf("export interface paths")).trim();
