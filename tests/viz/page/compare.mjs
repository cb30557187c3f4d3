// compare.mjs -- two traces side by side.
import assert from "node:assert/strict";
import { join } from "node:path";
import { openPage, press, settle, text } from "../browser.mjs";
import { COMPARE, assertShows, of, search } from "./views.mjs";

const tests = [], test = (name, run) => tests.push([name, run]);
export default tests;

test("two traces side by side have the kernels, times and memory that C++ finds", async (browser, { html, truth, folder }) => {
  const file = html("larger", "--compare", join(folder, "step.trace"));
  for (const [look, options] of [["light", {}], ["dark", { dark: true }]]) {
    const { page, complaints } = await openPage(browser, `file://${file}`, options);
    await settle(page);
    const { kernels, memory } = truth.compare;
    const rows = await of(page, COMPARE, (v) => v.rows.map((r) => [r.name, r.what, r.baseLaunches, r.launches]));
    assert.deepEqual(rows.toSorted(), kernels.map((k) => [k.name, k.what, k.base_launches, k.launches]).toSorted());
    for (const what of ["new", "gone", "same"]) assert.ok(kernels.some((k) => k.what === what), what);
    const drawn = await page.$$eval(".list tbody tr", (all) => all.map((tr) => tr.children[1].innerText));
    assert.equal(drawn.length, kernels.length);
    assert.ok((await text(page, ".summary")).includes("time in kernels"));
    const peaks = await page.evaluate(() => croze.model.memory.map((m) => m.peak));
    assert.deepEqual(peaks, memory.map((m) => m.peak));
    assert.match(await text(page, ".bar [role=status]"), new RegExp(`${kernels.filter((k) => k.what === "new").length} new`));
    await page.click(".bar input[type=checkbox]");
    assert.equal((await page.$$(".list tbody tr")).length, kernels.filter((k) => k.what !== "same").length);
    await page.screenshot({ path: join(folder, `compare-${look}.png`) });
    assert.deepEqual(complaints, []);
  }
});

test("what changed of a kernel, and of what is alive, is shown side by side", async (browser, { html, folder }) => {
  const { page, complaints } = await openPage(browser, `file://${html("larger", "--compare", join(folder, "step.trace"))}`);
  await settle(page);
  // What is alive at both peaks.
  const peaks = await page.$$eval(".peaks tbody tr", (all) => all.map((tr) => [...tr.children].map((td) => td.innerText.trim())));
  const conv = peaks.find((r) => /^temporary of conv2d \(fashion_net\.h:20\)$/.test(r[0]));
  assertShows(conv[1], 128 * 16 * 28 * 28 * 4);
  assertShows(conv[2], 256 * 16 * 28 * 28 * 4);
  assertShows(conv[3].slice(1), 128 * 16 * 28 * 28 * 4);
  // By the keyboard to a kernel that changed: both codes, and what is not the same is lit.
  await search(page, "");
  const changed = await of(page, COMPARE, (v) => v.shownRows.findIndex((r) => r.what === "changed"));
  assert.ok(changed >= 0, "a kernel that changed");
  await press(page, ...Array(changed + 1).fill("ArrowDown"));
  const row = await of(page, COMPARE, (v) => v.chosen);
  assert.equal(await text(page, ".details.grow h2"), row.name);
  assert.equal(await page.$eval(".list tr[aria-selected=true] td:nth-child(2)", (e) => e.innerText), "changed");
  const sides = await page.$$eval(".sides pre", (all) => all.map((pre) => [...pre.querySelectorAll(".line")].map((e) => e.innerText.trimEnd())));
  const marked = sides.map((lines) => lines.filter((l) => /^[−+]/.test(l)).length);
  assert.ok(marked[0] > 0 && marked[1] > 0, "lines that are gone, and lines that are made");
  const same = sides.map((lines) => lines.filter((l) => !/^[−+]/.test(l)));
  assert.deepEqual(same[0], same[1]);
  const texts = await page.evaluate(([kind, base]) => [croze.page.view(5).base, croze.model].map((m, i) => m.kinds[[base, kind][i]].kernels.map((k) => m.trace.text(m.trace.kernels[k].source)).join("\n")), [row.kind, row.baseKind]);
  for (const i of [0, 1]) for (const line of texts[i].split("\n")) assert.ok(sides[i].some((l) => l.slice(2).trim() === line.trim()), line);
  await press(page, "p");
  assert.equal((await page.$$(".peaks")).length, 1);
  // Only what differs; found by name; opened among the kernels.
  const all = await page.$$eval(".list tbody tr", (rows) => rows.length);
  await press(page, "o");
  assert.ok(await page.$$eval(".list tbody tr", (rows) => rows.length) < all);
  await search(page, row.name);
  assert.ok(await page.$$eval(".list tbody tr", (rows) => rows.length) >= 1);
  await press(page, "Enter");
  assert.equal(await text(page, ".details h2"), row.name);
  assert.equal(await page.$eval("[role=tab][aria-selected=true]", (e) => e.textContent), "Kernels");
  assert.deepEqual(complaints, []);
});
