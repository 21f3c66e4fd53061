// axe-core finds nothing to object to, on any view, in either theme, wide or on a phone.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { AxeBuilder } from "@axe-core/playwright";
import { launch, openPage, questionAddress, write } from "./support/browser.mjs";
import { makeProject, SLOW } from "./support/project.mjs";
import { startServer } from "./support/server.mjs";

const relatum = process.env.RELATUM_BIN;
if (!relatum) throw new Error("RELATUM_BIN must name the relatum binary: RELATUM_BIN=../target/debug/relatum npm test");

const GENRES = '?G : exists F. stars(F, "Ana Costa") and has_genre(F, G)';

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

const VIEWS = {
  "the first view": { path: "", ready: ".begin .examples li" },
  "answers and a reason": { question: GENRES, ready: ".reason table.atoms" },
  "a negated part": { question: '?A : exists F. stars(F, A) and directed_by(F, "Rosa Lang") and not (exists H. stars(H, A) and has_genre(H, Western))', ready: ".reason .nested" },
  "a plan": { question: GENRES, ready: ".ranking", act: (page) => page.getByRole("tab", { name: "Plan" }).click(), then: ".plan .steps li" },
  "settings": { question: GENRES, ready: ".ranking", act: (page) => page.getByRole("button", { name: "Settings" }).click(), then: ".drawer" },
  "a truth": { question: 'has_genre("Film 1 (1960)", Western)', ready: ".truth-value" },
  "relations": { question: '?R : R("Film 1 (1960)", "Rosa Lang")', ready: ".ranking" },
  "a mistake": { question: GENRES.replace("stars", "strs"), ready: ".problem" },
  "a mistake while typing": { path: "", ready: ".begin .examples li", act: (page) => write(page, "?G : has_gnre(F, G)"), then: ".mistakes p" },
  "a completion": { path: "", ready: ".begin .examples li", act: async (page) => { await write(page, ""); await page.keyboard.type("?X : dir", { delay: 20 }); }, then: ".cm-tooltip-autocomplete li" },
  "the form for a relation": { path: "", ready: ".begin .examples li", act: (page) => page.getByRole("button", { name: "relation", exact: true }).click(), then: ".relation-form" },
  "a search that runs": { question: SLOW, settings: { method: "exact", known: "none" }, ready: ".progress-head" },
  "the keys": { path: "", ready: ".begin .examples li", act: (page) => page.getByRole("button", { name: "Keys" }).click(), then: "dialog[open]" },
  "the graph": { path: "explore", ready: ".relation-list li" },
  "an entity": { path: "explore?name=Ana+Costa", ready: ".group li" },
  "names that were found": { path: "explore?text=film", ready: ".found li" },
  "the model": { path: "model", ready: "figure.curve" },
};

let project, server, browser;
before(async () => {
  project = makeProject(relatum);
  server = await startServer(relatum, project.dir);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
  project?.remove();
});

for (const [where, size] of [["each view", {}], ["each view on a phone", { width: 390, height: 844 }]]) describe(where, { concurrency: false }, () => {
  let page;
  before(async () => {
    ({ page } = await openPage(browser, size));
  });
  for (const [name, view] of Object.entries(VIEWS)) {
    // A phone has no keys to be shown.
    if (name === "the keys" && size.width) continue;
    it(`${name} has no violation, light or dark`, async () => {
      await page.goto(view.question ? questionAddress(server.url, view.question, view.settings) : server.url + view.path);
      // On a phone an explanation opens beneath its answer, when that is chosen.
      if (size.width && view.ready.startsWith(".reason")) await page.locator("button.answer-name").first().click();
      await page.locator(view.ready).first().waitFor();
      if (view.act) await view.act(page);
      if (view.then) await page.locator(view.then).first().waitFor();
      await page.emulateMedia({ colorScheme: "light" });
      assert.equal(await violations(new AxeBuilder({ page }).withTags(TAGS)), "");
      // The theme changes colours and nothing else.
      await page.emulateMedia({ colorScheme: "dark" });
      assert.equal(await violations(new AxeBuilder({ page }).withRules(["color-contrast", "link-in-text-block"])), "", "dark");
    });
  }
});

async function violations(axe) {
  const found = await axe.analyze();
  return found.violations
    .map((it) => `${it.id}: ${it.help}\n${it.nodes.map((node) => `  ${node.html}\n  ${node.failureSummary}`).join("\n")}`)
    .join("\n\n");
}
