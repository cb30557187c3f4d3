// runs_page_test.mjs PAGE VIZ_RUNS CROZE FOLDER: what the page of runs draws of event files, and that
// it goes on with them while they grow.
//
// Pictures of the views are left in FOLDER, to be looked at.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { appendFileSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { colours, loadPuppeteer, openPage, press, runTests, settle, text } from "./browser.mjs";

const [pageFolder, makeRun, croze, folder] = process.argv.slice(2);
const puppeteer = loadPuppeteer(pageFolder);
const runsFolder = join(folder, "runs");
rmSync(folder, { recursive: true, force: true });
mkdirSync(runsFolder, { recursive: true });
const note = (name, first, last) => execFileSync(makeRun, [runsFolder, name, String(first), String(last)]);
note("fast", 0, 200);
note("slow", 0, 200);

// The command at work, and its address.
async function serve() {
  const server = spawn(croze, ["viz", runsFolder], { stdio: ["ignore", "pipe", "ignore"] });
  const address = await new Promise((done) => server.stdout.once("data", (text) => done(String(text).trim())));
  return { address, end: () => new Promise((done) => { server.once("exit", done); server.kill("SIGINT"); }) };
}

const tests = [];
const test = (name, run) => tests.push([name, run]);
const drawn = (page, tag) => page.evaluate((t) => croze.views[0].cards.get(t).chart.drawn, tag);

test("scalars, histograms, images and texts are drawn", async (browser) => {
  const file = join(folder, "runs.html");
  execFileSync(croze, ["viz", runsFolder, "--html", file]);
  for (const [look, options] of [["light", {}], ["dark", { dark: true }], ["zoomed", { width: 640, height: 400 }]]) {
    const { page, complaints } = await openPage(browser, `file://${file}`, options);
    await settle(page);
    assert.deepEqual(await page.$$eval(".card h2", (all) => all.map((e) => e.innerText)), ["accuracy/train", "loss/train"]);
    // The values themselves, and a line that is smooth over each.
    const values = await page.evaluate(() => croze.runs.scalars.get("loss/train").get(1).map((n) => n.value));
    assert.equal(values.length, 201);
    assert.ok(Math.abs(values[0] - 2.5) < 1e-6);
    assert.equal(values.filter((v) => v === null).length, 1);  // NaN, on the way here
    assert.deepEqual(await drawn(page, "loss/train"), { lines: 4, points: 800, levels: 0, marks: 0 });
    assert.ok(Object.keys(await colours(page)).length > 5);
    await page.screenshot({ path: join(folder, `scalars-${look}.png`) });
    await press(page, "2");
    assert.equal((await page.$$(".card canvas")).length, 2);
    assert.ok(Object.keys(await colours(page)).length > 20, "shades");
    await page.screenshot({ path: join(folder, `histograms-${look}.png`) });
    await press(page, "3");
    const picture = await page.$eval(".picture", (img) => {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [img.naturalWidth, img.naturalHeight];
      const c = canvas.getContext("2d");
      c.drawImage(img, 0, 0);
      return [...c.getImageData(3, 7, 1, 1).data, canvas.width, canvas.height];
    });
    assert.deepEqual(picture, [255, 0, 0, 255, 16, 16]);  // step 190: column 19 % 16
    await press(page, "4");
    assert.match(await text(page, ".card table"), /step <b>0<\/b>/);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    assert.deepEqual(complaints, []);
  }
});

test("runs are hidden, smoothed and found", async (browser) => {
  const { page, complaints } = await openPage(browser, `file://${join(folder, "runs.html")}`);
  await page.click(".run input");
  await settle(page);
  assert.equal((await drawn(page, "loss/train")).lines, 2);
  await page.evaluate(() => croze.views[0].smooth(0));
  await settle(page);
  assert.equal((await drawn(page, "loss/train")).lines, 1);
  await press(page, "x");
  assert.equal(await page.evaluate(() => croze.settings.isByTime), true);
  await press(page, "/");
  await page.keyboard.type("accu");
  await settle(page);
  assert.deepEqual(await page.$$eval(".card h2", (all) => all.map((e) => e.innerText)), ["accuracy/train"]);
  // The value under the pointer.
  const box = await (await page.$(".card canvas")).boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await settle(page);
  assert.match(await text(page, ".card figcaption"), /^slow: 0\.\d+ at /);
  assert.deepEqual(complaints, []);
});

test("what a training notes is shown as it comes", async (browser) => {
  const server = await serve();
  try {
    const { page, complaints } = await openPage(browser, server.address);
    await page.waitForFunction(() => croze.runs.scalars.get("loss/train")?.size === 2);
    const steps = () => page.evaluate(() => croze.runs.scalars.get("loss/train").get(0).length);
    const before = await steps();
    note("fast", 200, 300);
    await page.waitForFunction((n) => croze.runs.scalars.get("loss/train").get(0).length === n, {}, before + 100);
    note("third", 0, 50);
    await page.waitForFunction(() => document.querySelectorAll(".run").length === 3);
    await page.waitForFunction(() => croze.views[0].cards.get("loss/train").chart.drawn.lines === 6);
    // A file that becomes damaged is told of, and what it held stays.
    const third = join(runsFolder, "third");
    appendFileSync(join(third, readdirSync(third)[0]), "damaged bytes that are no record");
    await page.waitForFunction(() => document.getElementById("faults").textContent.includes("is damaged"));
    assert.equal(await page.evaluate(() => croze.runs.scalars.get("loss/train").size), 3);
    assert.deepEqual(complaints, []);
  } finally {
    await server.end();
  }
});

await runTests(puppeteer, tests);
