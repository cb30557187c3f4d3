// browser.mjs -- what the tests of pages share: headless Chromium, pages that may complain of
// nothing, and a list of tests.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const chromium = process.env.CHROMIUM ?? "/usr/bin/chromium";
const skip = (why) => {
  console.log(`skipped: ${why}`);
  process.exit(0);
};

// puppeteer, as it is installed in the folder of the page; ends the program where something is
// missing.
export function loadPuppeteer(pageFolder) {
  if (!existsSync(chromium)) skip("there is no chromium (Debian package chromium, or CHROMIUM=path)");
  if (!existsSync(join(pageFolder, "node_modules", "puppeteer-core"))) {
    skip("puppeteer-core is not installed (npm ci in croze/viz/page)");
  }
  return createRequire(join(pageFolder, "package.json"))("puppeteer-core");
}

// Lines of no use to the user are not looked at; all that the page itself complains of fails, and
// so does whatever it asks for elsewhere than at its own address.
export async function openPage(browser, url, { width = 1280, height = 800, dark = false, timeout = 60_000 } = {}) {
  const page = await browser.newPage();
  const complaints = [];
  page.on("console", (m) => { if (["error", "warn"].includes(m.type())) complaints.push(m.text()); });
  page.on("pageerror", (e) => complaints.push(String(e)));
  page.on("request", (r) => {
    if (!/^(file|data|blob):/.test(r.url()) && !r.url().startsWith(url)) complaints.push(`asks for ${r.url()}`);
  });
  await page.setViewport({ width, height });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }]);
  await page.goto(url);
  await page.waitForFunction(() => document.documentElement.dataset.open, { timeout });
  assert.equal(await page.evaluate(() => document.documentElement.dataset.open), "true");
  return { page, complaints };
}

export const settle = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
export const press = async (page, ...keys) => {
  for (const key of keys) await page.keyboard.press(key);
  await settle(page);
};
export const text = (page, selector) => page.$eval(selector, (e) => e.innerText);
// The colours of a part of a canvas, and how many pixels have each.
export const colours = (page, selector = "#view canvas", { x = 0, y = 0, width, height } = {}) => page.$eval(selector, (canvas, part) => {
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(part.x, part.y, part.width ?? canvas.width - part.x, part.height ?? canvas.height - part.y);
  const counts = {};
  for (let i = 0; i < data.length; i += 4) {
    const colour = `${data[i]},${data[i + 1]},${data[i + 2]}`;
    counts[colour] = (counts[colour] ?? 0) + 1;
  }
  return counts;
}, { x: Math.round(x), y: Math.round(y), width, height });
// A colour of the style sheet, "86,180,233".
export const colourOf = (page, name) => page.evaluate((n) => {
  const hex = getComputedStyle(document.documentElement).getPropertyValue(`--${n}`).trim();
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)).join();
}, name);

// Runs the tests, [name, function of the browser and of what they share], and ends the program.
// `flags` are of Chromium.
export async function runTests(puppeteer, tests, about, flags = []) {
  const browser = await puppeteer.launch({ executablePath: chromium, headless: true, protocolTimeout: 600_000, args: ["--no-sandbox", "--enable-unsafe-swiftshader", ...flags] });
  let failed = 0;
  for (const [name, run] of tests) {
    try {
      await run(browser, about);
      console.log(`ok: ${name}`);
    } catch (error) {
      failed++;
      console.log(`FAILED: ${name}\n${error.stack}`);
    }
    for (const page of await browser.pages()) if (page.url() !== "about:blank") await page.close();
  }
  await browser.close();
  process.exit(failed > 0 ? 1 : 0);
}
