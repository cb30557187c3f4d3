// rewrites.mjs -- every rewrite of every pass, as the trace holds it.
import assert from "node:assert/strict";
import { press, settle, text } from "../browser.mjs";
import { REAL, REWRITES, assertShows, of, search } from "./views.mjs";

const tests = [], test = (name, run) => tests.push([name, run]);
export default tests;

test("the slider at a rewrite shows the rule and the node that the trace holds", async (browser, { open, truth }) => {
  for (const name of REAL) {
    const { page, complaints } = await open(browser, name);
    await press(page, "5");
    const { rewrites, pass } = truth[name];
    assert.equal(await of(page, REWRITES, (v) => v.pass), pass);
    const side = (n, mark) => page.$$eval(`.sides figure:nth-child(${n}) .line`, (all, m) => all.filter((e) => m === null || e.classList.contains(m)).map((e) => e.innerText.trim()), mark);
    for (const [at, { rule, place, before, after }] of rewrites.entries()) {
      await page.$eval("input[type=range]", (slider, value) => {
        slider.value = value;
        slider.dispatchEvent(new Event("input"));
      }, String(at));
      assert.equal(await text(page, ".rule"), rule);
      assert.ok((await text(page, ".details dl")).includes(place));
      assert.equal((await side(1, null)).at(-1).slice(2), before, "what was matched");
      assert.ok((await side(2, null)).some((line) => line.replace(/^\+ /, "") === after), "what came in its place");
      assert.ok((await side(1, "gone")).includes(`− ${before}`), "what was matched is lit as gone");
      assert.equal(await text(page, ".bar output"), `${at + 1} of ${rewrites.length}`);
    }
    assert.deepEqual(complaints, []);
  }
});

test("rewrites are gone through by keys, from pass to pass", async (browser, { open, truth }) => {
  const { page, complaints } = await open(browser, "block");
  const { rewrites, pass } = truth.block;
  await press(page, "5", "Home", "ArrowRight");
  assert.equal(await of(page, REWRITES, (v) => v.at), Math.min(1, rewrites.length - 1));
  await press(page, "End");
  assert.equal(await of(page, REWRITES, (v) => v.at), rewrites.length - 1);
  // Nodes that are the same on both sides are shown when they are asked for.
  const lines = () => page.$$eval(".sides .line", (all) => all.length);
  const few = await lines();
  await press(page, "x");
  assert.ok(await lines() > few, "whole graphs have more nodes");
  await press(page, "x", "ArrowDown");
  assert.notEqual(await of(page, REWRITES, (v) => v.pass), pass);
  // A pass without rules shows what it made of the kernel, if it made something.
  const expanded = await of(page, REWRITES, () => croze.model.trace.passes.flatMap((p, i) => p.name === "expand" && p.matches.length === 0 ? [i] : []));
  let sides = 0;
  for (let i = 0; sides < 2 && i < expanded.length; i++) {
    await of(page, REWRITES, (v, at) => v.choose(at), expanded[i]);
    await settle(page);
    sides = await page.$$eval(".sides figure", (all) => all.length);
  }
  assert.equal(sides, 2);
  assert.ok(await page.$$eval(".line.made", (all) => all.length) > 0);
  // Found by its rule, in all passes where it fired.
  const { rule } = rewrites[0];
  await search(page, rule);
  const places = new Set();
  await of(page, REWRITES, (v) => v.choose(v.shownPasses[0]));
  const expected = await of(page, REWRITES, (v, r) => v.shownPasses.reduce((sum, p) => sum + croze.model.trace.passes[p].matches.filter((m) => croze.model.trace.rules[m.rule].text === r).length, 0), rule);
  // Up to the last: others whose texts contain this rule's are found on the way.
  const place = () => of(page, REWRITES, (v) => `${v.pass} ${v.at}`);
  for (let at = "", next = await place(); at !== next; next = await place()) {
    at = next;
    if (await page.$(".rule") && await text(page, ".rule") === rule) places.add(at);
    await press(page, "n");
  }
  assert.equal(places.size, expected);
  assert.deepEqual(complaints, []);
});

test("all rules, with how often each fired and how long it took", async (browser, { open, truth }) => {
  for (const name of REAL) {
    const { page, complaints } = await open(browser, name);
    await press(page, "5", "r");
    assert.ok((await text(page, ".details h2")).startsWith(`${truth[name].matches.toLocaleString("en-US")} rewrites in `));
    const shown = await page.$$eval(".rules tbody tr", (all) => all.map((tr) => [...tr.children].map((td) => td.innerText.trim())));
    assert.equal(shown.length, truth[name].rules.length);
    for (const { rule, times, ns } of truth[name].rules) {
      const row = shown.find((r) => `${r[3]} ${r[4]}` === rule);
      assert.ok(row, rule);
      assert.equal(row[0], `${times.toLocaleString("en-US")} ×`);
      assertShows(row[1], ns, rule);
    }
    // One of them, where it first fired.
    await page.click(".rules button.link");
    await settle(page);
    assert.equal(await text(page, ".rule"), shown[0][4]);
    assert.deepEqual(complaints, []);
  }
});
