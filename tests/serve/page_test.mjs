// page_test.mjs PAGE CROZE MODEL FOLDER: the page of croze serve, used in headless Chromium: a key, an
// answer that streams, a message that is refused, a new chat, light and dark.  PAGE is where puppeteer-core is.
//
// Pictures are left in FOLDER, to be looked at.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [pageFolder, croze, model, folder] = process.argv.slice(2);
const chromium = process.env.CHROMIUM ?? "/usr/bin/chromium";
const skip = (why) => {
  console.log(`skipped: ${why}`);
  process.exit(0);
};
if (!existsSync(chromium)) skip("there is no chromium (Debian package chromium, or CHROMIUM=path)");
if (!existsSync(join(pageFolder, "node_modules", "puppeteer-core"))) {
  skip("puppeteer-core is not installed (npm ci in croze/viz/page)");
}
const puppeteer = createRequire(join(pageFolder, "package.json"))("puppeteer-core");
mkdirSync(folder, { recursive: true });

// Answers of this model are noise.
const server = spawn(croze, ["serve", model, "--port", "0", "--api-key", "secret", "--seed", "1"]);
const address = await new Promise((done) => server.stdout.once("data", (text) => done(String(text).trim())));
const browser = await puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox"] });
const settle = (page, condition) => page.waitForFunction(condition, { timeout: 30_000 });

try {
  for (const scheme of ["light", "dark"]) {
    const page = await browser.newPage();
    const complaints = [];
    page.on("pageerror", (e) => complaints.push(String(e)));
    page.on("request", (r) => { if (!r.url().startsWith(address) && !r.url().startsWith("data:")) complaints.push(r.url()); });
    page.on("dialog", (dialog) => dialog.accept("secret"));
    await page.setViewport({ width: 900, height: 700 });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await page.goto(address);
    await settle(page, () => document.getElementById("model").textContent === "a key is wanted");
    await page.click("#key");
    await settle(page, () => document.getElementById("model").textContent === "talking");

    await page.type("#input", "abba");
    await page.keyboard.press("Enter");
    await settle(page, () => document.getElementById("send").textContent === "Send");
    assert.equal(await page.$eval(".user .text", (e) => e.textContent), "abba");
    assert.ok((await page.$eval(".assistant .text", (e) => e.textContent)).length > 0);
    assert.equal((await page.$$(".wrong")).length, 0);
    await page.screenshot({ path: join(folder, `chat-${scheme}.png`) });

    // A message that does not fit is told of, and the page goes on.
    await page.$eval("#input", (e) => { e.value = "x".repeat(400); });
    await page.click("#send");
    await settle(page, () => document.querySelector(".wrong")?.textContent.includes("context"));
    await page.click("#anew");
    assert.equal(await page.$eval("#messages", (e) => e.children.length), 0);

    const dark = await page.$eval("body", (e) => getComputedStyle(e).backgroundColor.match(/\d+/g).map(Number)[0] < 128);
    assert.equal(dark, scheme === "dark");
    assert.deepEqual(complaints, []);
    await page.evaluate(() => sessionStorage.clear());
    await page.close();
  }
} finally {
  await browser.close();
  server.kill("SIGTERM");
}
const status = await new Promise((done) => server.once("exit", (code) => done(code)));
assert.equal(status, 0);
console.log("the page works");
