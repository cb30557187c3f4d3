// history_page_test.mjs PAGE CROZE FOLDER: what the page of measurements draws: a line for each
// figure, its peers, and a mark where it got worse; figures beside their peers, and under the roof.
//
// Pictures are left in FOLDER, to be looked at.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { colours, loadPuppeteer, openPage, press, runTests, settle, text } from "./browser.mjs";

const [pageFolder, croze, folder] = process.argv.slice(2);
const puppeteer = loadPuppeteer(pageFolder);
const results = join(folder, "results");
rmSync(folder, { recursive: true, force: true });
mkdirSync(results, { recursive: true });

// Twelve commits.  The compile gets 20 % slower at the eighth; the product varies by 8 % and more
// at each, which is noise; the memory creeps.
const commits = 12;
for (let i = 0; i < commits; i++) {
  const wave = Math.sin(i * 2.1), compile = (i < 7 ? 158 : 190) + wave;
  writeFileSync(join(results, `${i}.json`), JSON.stringify({
    "croze-bench": 1, commit: `${i.toString(16)}`.repeat(40), date: `2026-11-${10 + i}T12:00:00Z`, subject: `Change ${i} <b>of the compiler</b>`,
    changed: i === commits - 1, machine: "AMD EPYC, 2 threads", rounds: 3, figures: [
      { name: "compile block", unit: "ms", better: "less", values: [compile - 2, compile, compile + 2], peers: { tinygrad: 1200, "a peer": 200 } },
      { name: "matmul 1024", unit: "GFLOP/s", better: "more", values: [340 + 30 * wave, 361, 380 + 10 * wave], peers: { OpenBLAS: 400, "another": 200, peak: 500 }, intensity: 170 },
      { name: "add", unit: "GB/s", better: "more", values: [30], peers: { peak: 40, PyTorch: 20 } },
      { name: "memory of a chain", unit: "MB", better: "less", values: [700 + 10 * i], peers: {} },
    ],
  }));
}
writeFileSync(join(results, "of another kind.json"), JSON.stringify({ suite: "compile" }));
const file = join(folder, "history.html");
execFileSync(croze, ["viz", "--bench", results, "--html", file]);

const tests = [];
const test = (name, run) => tests.push([name, run]);
const drawn = (page, name) => page.evaluate((n) => croze.machines[0].charts.get(n).drawn, name);

test("figures over commits, peers as dashed levels, regressions marked", async (browser) => {
  for (const [look, options] of [["light", {}], ["dark", { dark: true }], ["zoomed", { width: 640, height: 400 }]]) {
    const { page, complaints } = await openPage(browser, `file://${file}`, options);
    await settle(page);
    assert.deepEqual(await drawn(page, "compile block"), { lines: 3, points: 3 * commits, levels: 2, marks: 1 });
    assert.deepEqual(await drawn(page, "matmul 1024"), { lines: 3, points: 3 * commits, levels: 3, marks: 0 });
    assert.deepEqual(await drawn(page, "memory of a chain"), { lines: 3, points: 3 * commits, levels: 0, marks: 0 });
    assert.equal((await page.$$(".card.worse")).length, 1);
    assert.ok(Object.keys(await colours(page)).length > 5);
    const marked = await page.evaluate(() => croze.history.figures[0].points.flatMap((p, i) => p.regression ? [i] : []));
    assert.deepEqual(marked, [7]);
    assert.match(await text(page, ".bar"), /more than 5 % worse/);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await page.screenshot({ path: join(folder, `history-${look}.png`) });
    await page.click(".bar input[type=checkbox]");
    assert.deepEqual(await page.$$eval(".card h2", (all) => all.map((e) => e.firstChild.textContent)), ["compile block"]);
    await press(page, "2");
    await settle(page);
    const standing = await page.$$eval("#view tbody tr", (all) => all.map((tr) => [...tr.cells].map((c) => c.innerText)));
    const product = await page.evaluate(() => croze.history.figures.find((f) => f.name === "matmul 1024").points.at(-1).value);
    // The worst first.
    assert.deepEqual(standing.map((r) => [r[0], r[4]]), [["matmul 1024", "OpenBLAS"], ["compile block", "a peer"], ["add", "PyTorch"]]);
    assert.equal(Number(standing[0][1]), Number((product / 400).toPrecision(4)));
    assert.equal(standing[2][1], "1.5");
    assert.match(await text(page, "#view .scroll"), /3 figures with peers: .* 1 below 1/);
    assert.deepEqual(await page.evaluate(() => croze.standing.roofs.map((r) => r.points)), [[{ kind: 1, x: 170, y: product }]]);
    assert.ok(Object.keys(await colours(page, ".roofline canvas")).length > 3);
    await page.screenshot({ path: join(folder, `standing-${look}.png`) });
    await press(page, "3");
    const rows = await page.$$eval("#view tbody tr", (all) => all.map((tr) => tr.innerText));
    assert.equal(rows.length, commits);
    assert.ok(rows[0].includes("and changes") && rows[0].includes("Change 11 <b>of the compiler</b>"), rows[0]);
    assert.ok(rows[4].includes("compile block"), rows[4]);
    assert.deepEqual(complaints, []);
  }
});

await runTests(puppeteer, tests);
