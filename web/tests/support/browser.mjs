// Debian's Chromium, quiet: nothing but the page goes over the network.
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"];

export const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });

/** A page of a new context. `trouble` collects what a page must never do. */
export async function openPage(browser, { width = 1280, height = 900, dark = false, ...options } = {}) {
  const context = await browser.newContext({
    viewport: { width, height }, colorScheme: dark ? "dark" : "light", reducedMotion: "reduce", ...options,
  });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const trouble = [];
  page.on("pageerror", (error) => trouble.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const { hostname, protocol } = new URL(request.url());
    if (protocol.startsWith("http") && hostname !== "127.0.0.1") trouble.push(`request to ${hostname}`);
  });
  await page.addInitScript(() => {
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (event) => {
      // Typing over coloured text makes Chromium try to keep its style; the editor wants none of that either.
      if (event.violatedDirective === "style-src-attr" && event.target?.classList?.contains("editor")) return;
      window.violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`);
    });
  });
  return {
    page,
    context,
    trouble: async () => [...trouble, ...(await page.evaluate(() => window.violations))],
  };
}

export const questionAddress = (url, question, settings = {}) => `${url}?${new URLSearchParams({ q: question, ...settings })}`;

/** Writes a question over the one that is there. */
export async function write(page, text) {
  await page.locator(".cm-content").click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(text);
}

/** Waits until the editor shows a question: the page writes it there a moment after a click. */
export const questionIs = (page, expected, why = "the question in the editor") =>
  becomes(async () => (await page.locator(".cm-line").allInnerTexts()).join("\n"), expected, why);

/** Waits until an element shows a text. */
export const shows = (locator, expected, why) => becomes(() => locator.innerText(), expected, why);

/** Reads until what was read is as expected; after five seconds the last reading is the failure. */
async function becomes(read, expected, why) {
  const fits = (text) => (expected instanceof RegExp ? expected.test(text) : text === expected);
  const until = Date.now() + 5_000;
  let text = await read();
  while (!fits(text) && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    text = await read();
  }
  if (expected instanceof RegExp) assert.match(text, expected, why);
  else assert.equal(text, expected, why);
}
