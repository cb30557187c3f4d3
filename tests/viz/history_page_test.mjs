// history_page_test.mjs PAGE CROZE FOLDER: what the page of measurements draws: a line for each
// figure, its peers, and a mark where it got worse.
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
      { name: "matmul 1024", unit: "GFLOP/s", better: "more", values: [340 + 30 * wave, 361, 380 + 10 * wave], peers: { OpenBLAS: 390 } },
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
    assert.deepEqual(await drawn(page, "matmul 1024"), { lines: 3, points: 3 * commits, levels: 1, marks: 0 });
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
    const rows = await page.$$eval("#view tbody tr", (all) => all.map((tr) => tr.innerText));
    assert.equal(rows.length, commits);
    assert.ok(rows[0].includes("and changes") && rows[0].includes("Change 11 <b>of the compiler</b>"), rows[0]);
    assert.ok(rows[4].includes("compile block"), rows[4]);
    assert.deepEqual(complaints, []);
  }
});

await runTests(puppeteer, tests);
