// The page in a real browser against the real server. RELATUM_BIN names the binary.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { launch, openPage, questionAddress, questionIs, shows, write } from "./support/browser.mjs";
import { IMAGE, makeProject, SCRIPT, SLOW } from "./support/project.mjs";
import { startServer } from "./support/server.mjs";

const relatum = process.env.RELATUM_BIN;
if (!relatum) throw new Error("RELATUM_BIN must name the relatum binary: RELATUM_BIN=../target/debug/relatum npm test");

const GENRES = '?G : exists F. stars(F, "Ana Costa") and has_genre(F, G)';
const rows = (page) => page.locator("table.ranking tbody tr:not(.reason-row)");
const reason = (page) => page.locator(".reason");

describe("the page", { concurrency: false }, () => {
  let project, server, browser;
  const opened = [];
  const open = async (options) => {
    const it = await openPage(browser, options);
    opened.push(it);
    return it;
  };

  before(async () => {
    project = makeProject(relatum);
    server = await startServer(relatum, project.dir);
    browser = await launch();
  });
  // Whatever a test is about: no page threw, asked another host, or broke the policy.
  afterEach(async () => {
    for (const { context, trouble } of opened.splice(0)) {
      assert.deepEqual(await trouble(), []);
      await context.close();
    }
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
    project?.remove();
  });

  it("has a question written, asks it on Enter, and says why", async (t) => {
    const { page } = await open();
    await page.goto(server.url);
    await page.locator(".begin .examples li").first().waitFor();
    await questionIs(page, /^\?/, "an example stands in the editor");
    await page.keyboard.press("Enter");
    await rows(page).first().waitFor();
    await reason(page).locator("table.atoms").first().waitFor();
    await shows(reason(page).locator("h2"), /^why /);
    await page.locator(".reason .drawing canvas").first().waitFor();
    await write(page, GENRES);
    const took = await page.evaluate(() => new Promise((resolve) => {
      const began = performance.now();
      const old = document.querySelector("table.ranking");
      document.querySelector("button.main").click();
      const look = () => {
        const table = document.querySelector("table.ranking");
        if (table && table !== old && table.querySelector("button.answer-name")) resolve(performance.now() - began);
        else requestAnimationFrame(look);
      };
      look();
    }));
    t.diagnostic(`first answer ${Math.round(took)} ms after the click`);
  });

  it("underlines a mistake and applies the suggestion with one key", async () => {
    const { page } = await open();
    await page.goto(server.url);
    await write(page, GENRES.replace("has_genre", "has_gnre"));
    await page.locator(".cm-lintRange-error").waitFor();
    await shows(page.locator(".cm-lintRange-error"), "has_gnre");
    await shows(page.locator(".mistakes"), /no relation 'has_gnre'/);
    await page.keyboard.press("Alt+Enter");
    await page.waitForFunction(() => !document.querySelector(".mistakes p"));
    await questionIs(page, GENRES);

    await write(page, '?F : stars(F, "Ana Csta")');
    await page.locator(".mistakes .suggestion").first().waitFor();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Tab");
    await page.waitForFunction(() => !document.querySelector(".mistakes p"));
    await questionIs(page, '?F : stars(F, "Ana Costa")', "Tab at the mistake, too");

    await write(page, GENRES.replace("stars", "strs"));
    await page.keyboard.press("Enter");
    const problem = page.locator(".problem");
    await problem.waitFor();
    await shows(problem.locator("pre"), /strs[\s\S]*\^\^\^\^$/);
    await problem.getByText("not a relation of this graph").waitFor();
    await problem.getByRole("button", { name: "use stars" }).click();
    await questionIs(page, GENRES);
  });

  it("completes names with their kind and the number of their edges", async () => {
    const { page } = await open();
    await page.goto(server.url);
    // The page writes an example into an empty editor once it has one.
    await page.locator(".begin .examples li").first().waitFor();
    await write(page, "");
    await page.keyboard.type("?X : direc", { delay: 20 });
    const first = page.locator(".cm-tooltip-autocomplete li").first();
    await first.waitFor();
    await shows(first, /directed_by[\s\S]*relation · \d+ edges/);
    // The list takes keys a moment after it opens, so that nobody picks from it by mistake.
    await page.waitForTimeout(150);
    await page.keyboard.press("Enter");
    await questionIs(page, /^\?X : directed_by\(/);
    await page.keyboard.type("X, Rosa", { delay: 20 });
    await page.locator(".cm-tooltip-autocomplete li", { hasText: "Rosa Lang" }).waitFor();
    await page.waitForTimeout(150);
    await page.keyboard.press("Enter");
    await questionIs(page, /^\?X : directed_by\(X, "Rosa Lang"/);
  });

  it("draws the question and writes what is changed in the drawing", async () => {
    const { page } = await open();
    await page.goto(server.url);
    await write(page, '?F : stars(F, "Ana Costa")');
    const drawing = page.locator(".question-drawing [role=img]");
    const drawn = (text) => page.waitForFunction((wanted) => document.querySelector(".question-drawing [role=img]")?.getAttribute("aria-label")?.includes(wanted), text);
    await drawn('stars(F, "Ana Costa")');
    await page.locator(".question-drawing canvas").first().waitFor();

    await page.locator(".parts button", { hasText: /^not$/ }).focus();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelector(".question-drawing [role=img]")?.getAttribute("aria-label")?.includes("not stars"));
    await questionIs(page, '?F : not stars(F, "Ana Costa")');
    await page.locator(".parts button", { hasText: "no longer not" }).focus();
    await page.keyboard.press("Enter");
    await drawn('graph: stars(F, "Ana Costa")');

    await page.locator(".parts button", { hasText: "or…" }).focus();
    await page.keyboard.press("Enter");
    const relation = page.getByRole("combobox", { name: "relation", exact: true });
    await relation.fill("stars");
    await page.getByRole("combobox", { name: "name, if another one" }).fill("Ben Okafor");
    await page.getByRole("button", { name: "Make an or" }).click();
    await drawn("Ben Okafor");
    await questionIs(page, '?F : stars(F, "Ana Costa") or stars(F, "Ben Okafor")');

    await page.getByRole("button", { name: "relation", exact: true }).click();
    await relation.fill("has_g");
    await page.getByRole("option", { name: /has_genre/ }).click();
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await drawn("has_genre(F, X)");
    await questionIs(page, '?F : exists X. (stars(F, "Ana Costa") or stars(F, "Ben Okafor")) and has_genre(F, X)');

    // By dragging: from the handle of one node to another one.
    const box = await drawing.boundingBox();
    const find = async (name) => {
      const handle = page.getByRole("button", { name: `Add a relation from ${name}`, exact: true });
      for (let y = 16; y < box.height; y += 22) {
        for (let x = 16; x < box.width; x += 26) {
          await page.mouse.move(box.x + x, box.y + y);
          if (await handle.count()) return { handle, x: box.x + x, y: box.y + y };
        }
      }
      throw new Error(`no node ${name} was found in the drawing`);
    };
    const to = await find("X");
    const from = await find("Ana Costa");
    const grip = await from.handle.boundingBox();
    await page.mouse.move(grip.x + grip.width / 2, grip.y + grip.height / 2);
    await page.mouse.down();
    await page.mouse.move((grip.x + to.x) / 2, (grip.y + to.y) / 2, { steps: 4 });
    await page.mouse.move(to.x + 4, to.y + 4, { steps: 4 });
    await page.mouse.up();
    const form = page.locator("form.relation-form");
    await form.waitFor();
    const ends = await form.locator("select").evaluateAll((selects) => selects.map((it) => it.selectedOptions[0].text));
    assert.deepEqual(ends, ["Ana Costa", "from → to", "X"]);
    await relation.fill("links_to");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await drawn('links_to("Ana Costa", X)');
    await questionIs(page, /has_genre\(F, X\) and links_to\("Ana Costa", X\)$/);

    await page.locator(".parts li", { hasText: "links_to" }).getByRole("button", { name: "remove" }).focus();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => !document.querySelector(".question-drawing [role=img]").getAttribute("aria-label").includes("links_to"));
    await questionIs(page, /^(?!.*links_to)/);
  });

  it("explains an answer: edges stored and predicted, other ways, and the witness of a negation", async () => {
    const { page } = await open();
    await page.goto(questionAddress(server.url, GENRES));
    await rows(page).first().waitFor();
    await reason(page).locator("table.atoms tbody tr").first().waitFor();
    await shows(reason(page), /stored, (train|valid|test)/);
    await shows(reason(page).locator(".alternatives"), /F = Film/);
    const predicted = rows(page).filter({ hasText: "predicted" }).first();
    await predicted.click();
    await reason(page).locator("table.atoms", { hasText: "predicted" }).waitFor();
    const label = await reason(page).locator(".drawing [role=img]").getAttribute("aria-label");
    assert.match(label, /stars\(.*Ana Costa\)/);

    await page.goto(questionAddress(server.url, '?A : exists F. stars(F, A) and directed_by(F, "Rosa Lang") and not (exists H. stars(H, A) and has_genre(H, Western))'));
    await reason(page).locator(".nested").first().waitFor();
    await shows(reason(page).locator(".nested").first(), /The best case against it is true to .*, by\s+H = /);
  });

  it("judges statements and ranks relations", async () => {
    const { page } = await open();
    await page.goto(questionAddress(server.url, 'stars("Film 1 (1960)", "Ana Costa")'));
    await page.locator(".truth-value").waitFor();
    await shows(page.locator(".judged .atoms"), /stars\(Film 1 \(1960\), Ana Costa\)/);
    await page.goto(questionAddress(server.url, '?R : R("Film 1 (1960)", "Rosa Lang")'));
    await rows(page).first().waitFor();
    await shows(rows(page).first(), /directed_by/);
    const label = await page.locator(".question-drawing [role=img]").getAttribute("aria-label");
    assert.match(label, /R\("Film 1 \(1960\)", "Rosa Lang"\)/);
  });

  it("says how the question was answered", async () => {
    const { page } = await open();
    await page.goto(questionAddress(server.url, GENRES));
    await page.getByRole("tab", { name: "Plan" }).click();
    const plan = page.locator(".plan");
    await plan.locator(".steps li").first().waitFor();
    await shows(plan, /proven exact[\s\S]*Settings that ran/);
  });

  it("follows an entity from the explanation, shows its edges, and asks from there", async () => {
    const { page } = await open();
    await page.goto(questionAddress(server.url, GENRES));
    await reason(page).getByRole("link", { name: "Ana Costa" }).first().click();
    await page.getByRole("heading", { name: "Ana Costa", exact: true }).waitFor();
    assert.match(page.url(), /explore\?name=Ana\+Costa/);
    await page.locator(".group", { hasText: "stars" }).locator("li a").first().waitFor();
    await page.locator(".neighbours canvas").first().waitFor();
    await page.getByRole("button", { name: "Show predicted edges" }).click();
    await page.locator(".predicted-group").waitFor();
    assert.match(page.url(), /predicted=true/);
    await page.reload();
    await page.locator(".predicted-group").waitFor();
    await page.getByRole("button", { name: "Ask from here" }).click();
    await page.locator(".cm-content").waitFor();
    await questionIs(page, '?X : stars(X, "Ana Costa")');

    await page.goto(`${server.url}explore?name=Crime`);
    const group = page.locator(".group").first();
    await group.locator("li").first().waitFor();
    const before = await group.locator("li").count();
    await group.getByRole("button", { name: /more$/ }).click();
    await page.waitForFunction((count) => document.querySelectorAll(".group:first-of-type li").length > count, before);

    await page.goto(`${server.url}explore`);
    await page.getByRole("combobox", { name: "Search the graph" }).fill("chloe");
    await page.getByRole("option", { name: /Chloé Martin/ }).click();
    await page.getByRole("heading", { name: "Chloé Martin" }).waitFor();
  });

  it("shows the model and the graph, and lets another model answer", async () => {
    const { page } = await open();
    await page.goto(`${server.url}model`);
    await page.locator("figure.curve svg").waitFor();
    await shows(page.locator("main"), /MRR[\s\S]*Relations[\s\S]*directed_by/);
    await page.getByRole("heading", { name: "Calibration" }).waitFor();
    await page.locator("figure.reliability circle").first().waitFor();
    await shows(page.locator("table.relations-by-mrr"), /directed_by/);
    const other = page.getByRole("row", { name: /^other/ });
    await other.getByRole("button", { name: "let it answer" }).click();
    await other.getByText("answers").waitFor();
    await page.getByRole("row", { name: /^default/ }).getByRole("button", { name: "let it answer" }).click();
    await page.getByRole("row", { name: /^default/ }).getByText("answers").waitFor();
  });

  it("gives a link that restores the question, the settings and the answer", async () => {
    const one = await open({ permissions: ["clipboard-read", "clipboard-write"] });
    await one.page.goto(server.url);
    await write(one.page, GENRES);
    await one.page.getByRole("button", { name: "Settings" }).click();
    await one.page.getByRole("spinbutton", { name: "Answers" }).fill("4");
    await one.page.getByRole("combobox", { name: "And", exact: true }).selectOption("godel");
    await one.page.getByRole("button", { name: /^Ask/ }).click();
    await rows(one.page).nth(3).waitFor();
    await rows(one.page).nth(2).getByRole("button").click();
    const chosen = await reason(one.page).locator("h2").innerText();
    await one.page.getByRole("button", { name: "Share" }).click();
    await one.page.getByText("Link copied").waitFor();
    const link = await one.page.evaluate(() => navigator.clipboard.readText());
    const two = await open();
    await two.page.goto(link);
    await reason(two.page).locator("table.atoms").first().waitFor();
    await shows(reason(two.page).locator("h2"), chosen);
    await questionIs(two.page, GENRES);
    assert.equal(await rows(two.page).count(), 4);
    await two.page.getByRole("button", { name: "Settings" }).click();
    assert.equal(await two.page.getByRole("combobox", { name: "And", exact: true }).inputValue(), "godel");
  });

  it("names the limits of the server among the settings, and closes them with Escape", async () => {
    const { page } = await open();
    await page.goto(questionAddress(server.url, GENRES));
    await rows(page).first().waitFor();
    const button = page.getByRole("button", { name: "Settings" });
    await button.click();
    const seconds = page.getByRole("spinbutton", { name: "Stop after" });
    assert.equal(await seconds.getAttribute("placeholder"), "30 s");
    assert.equal(await page.getByRole("spinbutton", { name: "Rows at most" }).getAttribute("placeholder"), "1,000,000");
    await seconds.focus();
    await page.keyboard.press("Escape");
    await page.locator(".drawer").waitFor({ state: "detached" });
    assert.ok(await button.evaluate((it) => it === document.activeElement), "the focus goes back");
    assert.ok(await rows(page).first().isVisible(), "the answers stay");
  });

  it("shows the place of a mistake at the end of a long line", async () => {
    const { page } = await open({ width: 390, height: 844 });
    await page.goto(questionAddress(server.url, '?G : exists F. stars(F, "Ana Costa") and directed_by(F, "Rosa Lang") and has_gnre(F, G)'));
    const line = page.locator(".mistake-line");
    await shows(line, /has_gnre[\s\S]*\^{8}/);
    const [mark, box] = [await line.locator("mark").boundingBox(), await line.boundingBox()];
    assert.ok(mark.x + mark.width <= box.x + box.width, "the marked name is visible");
  });

  it("asks once, and goes back to the question before with the browser's button", async () => {
    const { page } = await open();
    let asked = 0;
    page.on("request", (request) => (asked += Number(request.url().endsWith("/ask/stream"))));
    await page.goto(server.url);
    await page.locator(".begin .examples li").first().waitFor();
    await write(page, GENRES);
    await page.keyboard.press("Enter");
    await rows(page).first().waitFor();
    assert.equal(asked, 1);
    await write(page, '?F : stars(F, "Ben Okafor")');
    await page.keyboard.press("Enter");
    await rows(page).filter({ hasText: "Film" }).first().waitFor();
    await page.goBack();
    await rows(page).filter({ hasText: "Comedy" }).first().waitFor();
    await questionIs(page, GENRES);
    assert.equal(asked, 3);
  });

  it("keeps a history, copies the question for other doors, and gives files", async () => {
    const { page, context } = await open({ permissions: ["clipboard-read", "clipboard-write"] });
    await page.goto(questionAddress(server.url, GENRES, { top: "3" }));
    await rows(page).first().waitFor();
    // What is copied names the project, which may come after the answers.
    await page.locator("header.top b", { hasText: "films" }).waitFor();
    const copied = async (name) => {
      await page.getByRole("button", { name: "Copy" }).click();
      await page.getByRole("button", { name: `as ${name}` }).click();
      await page.getByText(`${name} copied`).waitFor();
      return page.evaluate(() => navigator.clipboard.readText());
    };
    assert.equal(await copied("CLI command"), `relatum ask films '${GENRES}' --top 3`);
    assert.match(await copied("curl"), /^curl -s http:\/\/127\.0\.0\.1:\d+\/api\/v1\/ask .*"top":3/);
    assert.match(await copied("Python"), /urlopen\(request\)/);
    assert.match(await copied("SPARQL"), /SELECT/);
    const file = async (name) => {
      await page.getByRole("button", { name: "Download" }).click();
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name, exact: true }).click()]);
      return readFileSync(await download.path(), "utf8");
    };
    assert.equal(JSON.parse(await file("JSON")).answers.length, 3);
    assert.match(await file("CSV"), /^rank,name,label,score,known\r\n1,/);
    const again = await context.newPage();
    await again.goto(server.url);
    await again.getByRole("button", { name: "History" }).click();
    await again.locator(".choices button", { hasText: GENRES }).first().click();
    await rows(again).first().waitFor();
    await questionIs(again, GENRES);
  });

  it("leaves out what the graph already says", async () => {
    const { page } = await open();
    await page.goto(questionAddress(server.url, GENRES));
    await rows(page).filter({ hasText: "known" }).first().waitFor();
    await page.getByLabel("only what is new").check();
    await page.waitForFunction(() => {
      const all = [...document.querySelectorAll("table.ranking .standing")];
      return all.length > 0 && all.every((it) => it.textContent === "predicted");
    });
  });

  it("shows the progress of a long search and stops it", async (t) => {
    const { page } = await open();
    // A heavy search steps back behind everything else that the machine does: it may take minutes to find something.
    const own = await startServer(relatum, project.dir, { flags: ["--max-seconds", "600"] });
    t.after(() => own.stop());
    await page.goto(questionAddress(own.url, SLOW, { method: "exact", known: "none" }));
    await page.locator(".progress-head").waitFor();
    await page.locator(".so-far tbody tr").first().waitFor({ timeout: 300_000 });
    await shows(page.locator(".progress-head"), /proven: \d+ of 10/);
    await page.locator(".toolbar").getByRole("button", { name: /^Stop/ }).click();
    await page.getByText(/^Stopped\./).waitFor();
    await page.locator(".so-far tbody tr").first().waitFor();
    // The search is gone, not only hidden: the next question is answered.
    await write(page, GENRES);
    await page.keyboard.press("Enter");
    await rows(page).first().waitFor();
  });

  it("can be used by the keyboard alone", async () => {
    const { page } = await open();
    await page.goto(server.url);
    await page.locator(".begin .examples li").first().waitFor();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.insertText(GENRES);
    await page.keyboard.press("ControlOrMeta+Enter");
    await rows(page).nth(2).waitFor();
    // While the search runs, Escape stops it.
    await page.locator(".reply .summary").waitFor();
    await page.keyboard.press("Escape");
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");
    const first = await focused();
    await page.keyboard.press("ArrowDown");
    const second = await focused();
    assert.notEqual(second, first);
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction((name) => document.querySelector(".reason h2")?.textContent === `why ${name}`, second);
    await page.keyboard.press("ArrowLeft");
    await page.waitForFunction(() => !document.querySelector(".reason"));
    await page.keyboard.press("Shift+?");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await page.keyboard.press("/");
    assert.ok(await page.evaluate(() => document.activeElement?.classList.contains("editor")));
    // Tab leads out of the editor and through every control, never into a trap.
    const seen = new Set();
    for (let i = 0; i < 40; i++) {
      await page.keyboard.press("Tab");
      seen.add(await page.evaluate(() => document.activeElement?.textContent?.trim() || document.activeElement?.getAttribute("aria-label") || document.activeElement?.tagName));
    }
    for (const name of ["relation", "Examples", "History", "Settings", "Share"]) assert.ok(seen.has(name), `${name} was not reached: ${[...seen].join(" | ")}`);
  });

  it("is dark where the system is, and where somebody wants it", async () => {
    const { page } = await open({ dark: true });
    await page.goto(server.url);
    const paper = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const dark = await paper();
    await page.getByRole("button", { name: "Light colours" }).click();
    assert.notEqual(await paper(), dark);
    await page.reload();
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
    await page.getByRole("button", { name: "Dark colours" }).click();
    assert.equal(await paper(), dark);
  });

  it("fits a phone, with the explanation beneath its answer", async () => {
    const { page } = await open({ width: 375, height: 812 });
    await page.goto(questionAddress(server.url, GENRES));
    await rows(page).first().getByRole("button").click();
    const beneath = page.locator("tr.reason-row .reason table.atoms").first();
    await beneath.waitFor();
    for (const path of ["", "explore", "explore?name=Ana+Costa", "model", `?q=${encodeURIComponent(GENRES)}`]) {
      await page.goto(server.url + path);
      await page.locator("main > *").first().waitFor();
      await page.waitForTimeout(300);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(over <= 0, `${path || "/"} is ${over} px too wide`);
    }
  });

  it("has room for settings and neighbours on a phone, and names for buttons without words", async () => {
    const { page } = await open({ width: 390, height: 844 });
    await page.goto(questionAddress(server.url, GENRES));
    await rows(page).first().waitFor();
    for (const name of ["Share", "Copy", "Download"]) await page.getByRole("button", { name }).waitFor();
    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByRole("spinbutton", { name: "Wrong kinds" }).focus();
    await shows(page.locator(".field-help"), /^Wrong kinds: The weight/, "what a setting does, without a mouse");
    const { height } = await page.locator(".drawer").boundingBox();
    assert.ok(height < 700, `the settings are ${height} px high`);

    await page.goto(`${server.url}explore?name=Ana+Costa&predicted=true`);
    await page.locator(".neighbours canvas").first().waitFor();
    const top = async (selector) => (await page.locator(selector).first().boundingBox()).y;
    assert.ok(await top("#entity-name") < await top(".neighbours"), "first the name, then the picture");
    assert.ok(await top(".neighbours") < await top(".predicted-group"), "then the lists");
  });

  it("shows names as text, whatever they look like", async () => {
    const { page } = await open();
    await page.goto(questionAddress(server.url, '?A : stars("Film 1 (1960)", A)'));
    await page.locator("button.answer-name", { hasText: SCRIPT }).click();
    await page.waitForFunction((name) => document.querySelector(".reason h2")?.textContent === `why ${name}`, SCRIPT);
    await reason(page).locator("table.atoms").waitFor();
    await page.goto(questionAddress(server.url, `?F : stars(F, ${JSON.stringify(SCRIPT)})`));
    await rows(page).first().waitFor();
    await page.goto(`${server.url}explore?name=${encodeURIComponent(SCRIPT)}`);
    await page.getByRole("heading", { name: SCRIPT }).waitFor();
    await page.goto(`${server.url}explore?name=${encodeURIComponent("Film 1 (1960)")}`);
    await page.getByRole("link", { name: IMAGE }).waitFor();
    await page.goto(questionAddress(server.url, `?F : has_gnre(F, ${JSON.stringify(IMAGE)})`));
    await page.locator(".problem").waitFor();
    assert.equal(await page.evaluate(() => window.hacked), undefined);
  });

  it("says so when the server is gone, and goes on when it is back", async () => {
    const { page } = await open();
    const own = await startServer(relatum, project.dir);
    const port = Number(new URL(own.url).port);
    await page.goto(own.url);
    await page.locator(".begin .examples li").first().waitFor();
    await own.stop();
    await write(page, GENRES);
    await page.keyboard.press("Enter");
    await page.locator(".banner", { hasText: "does not answer" }).waitFor();
    const again = await startServer(relatum, project.dir, { port });
    await rows(page).first().waitFor({ timeout: 30_000 });
    await page.locator(".banner").waitFor({ state: "hidden" });
    await again.stop();
  });

  it("asks for a token where the server wants one, and keeps it out of the address", async (t) => {
    if (!execFileSync(relatum, ["serve", "--help"], { encoding: "utf8" }).includes("--token-file")) return t.skip("this binary knows no tokens");
    const tokens = join(project.dir, "..", "tokens.txt");
    writeFileSync(tokens, "a-token-that-is-long-enough-for-everybody\n");
    const own = await startServer(relatum, project.dir, { flags: ["--token-file", tokens] });
    const { page } = await open();
    await page.goto(own.url);
    await page.getByLabel("This server wants a token.").fill("a-token-that-is-long-enough-for-everybody");
    await page.getByRole("button", { name: "Use it" }).click();
    await page.locator(".begin .examples li").first().waitFor();
    await page.keyboard.press("Enter");
    await rows(page).first().waitFor();
    assert.doesNotMatch(page.url(), /a-token/);
    await own.stop();
  });

  if (process.env.RELATUM_SHOTS) {
    it("has its picture taken", async () => {
      mkdirSync(process.env.RELATUM_SHOTS, { recursive: true });
      const { page } = await open({ width: 1440 });
      await page.goto(questionAddress(server.url, GENRES));
      await reason(page).locator("canvas").first().waitFor();
      writeFileSync(`${process.env.RELATUM_SHOTS}/page.png`, await page.screenshot());
    });
  }
});
