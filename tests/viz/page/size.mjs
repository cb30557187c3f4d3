// size.mjs -- large traces open fast, and move smoothly.
import assert from "node:assert/strict";
import { press } from "../browser.mjs";
import { GRAPH, TIMELINE, of } from "./views.mjs";

const tests = [], test = (name, run) => tests.push([name, run]);
export default tests;

const times = async (count, run) => {
  const results = [];
  for (let i = 0; i < count; i++) results.push(await run());
  return results;
};

test("a million events open within two seconds and move at 30 frames a second", async (browser, { open, slack }) => {
  const { page, complaints } = await open(browser, "million");
  const events = await page.evaluate(() => croze.model.trace.launches.length + croze.model.trace.scopes.length);
  // The best of three: the machine may have other things to do.
  const seconds = Math.min(...await times(3, async () => {
    await page.reload();
    await page.waitForFunction(() => document.documentElement.dataset.open);
    return page.evaluate(() => croze.openTime / 1000);
  }));
  // From all of it down to single events, moving; painted by the browser, which shows 60 a second.
  // The best of three, as above; a frame is what the page computes and what the browser paints.
  const pan = () => of(page, TIMELINE, async (v) => {
    const times = [];
    let last = await new Promise(requestAnimationFrame);
    for (let i = 0; i < 90; i++) {
      v.zoom(i < 60 ? 0.82 : 1.3);
      v.pan(i % 2 ? 0.05 : -0.04);
      v.drawNow();
      const now = await new Promise(requestAnimationFrame);
      times.push(now - last);
      last = now;
    }
    return { mean: times.reduce((a, b) => a + b) / times.length, worst: Math.max(...times) };
  });
  const frame = (await times(3, pan)).reduce((a, b) => b.mean < a.mean ? b : a);
  console.log(`  ${events} events: ${seconds.toFixed(2)} s to open, a frame ${frame.mean.toFixed(1)} ms, ${frame.worst.toFixed(1)} ms at most`);
  assert.ok(events >= 999_999);
  assert.ok(seconds < 2 * slack, `${seconds} s`);
  assert.ok(frame.mean < 33 * slack, `${frame.mean} ms`);
  assert.deepEqual(complaints, []);
});

test("a graph of 50,000 boxes is laid out within a second", async (browser, { open, slack }) => {
  const { page, complaints } = await open(browser, "graph");
  await press(page, "4");
  const boxes = await of(page, GRAPH, (v) => v.nodes.length);
  const ms = Math.min(...await times(4, () => of(page, GRAPH, (v) => {
    v.setAll(false);
    return v.layoutTime;
  })));
  console.log(`  ${boxes} boxes: ${ms.toFixed(0)} ms`);
  assert.ok(boxes >= 49_999);
  assert.ok(ms < 1000 * slack, `${ms} ms`);
  assert.deepEqual(complaints, []);
});
