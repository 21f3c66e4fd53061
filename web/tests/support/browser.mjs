// Debian's Chromium, quiet: nothing but the page goes over the network.
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

export const questionText = async (page) => (await page.locator(".cm-line").allInnerTexts()).join("\n");
