// timeline.mjs -- rows of threads and queues, rates under the roof, flows, measuring and searching.
import assert from "node:assert/strict";
import { colourOf, colours, press, settle, text } from "../browser.mjs";
import { KERNELS, REAL, TIMELINE, assertShows, column, fact, of, search } from "./views.mjs";

const tests = [], test = (name, run) => tests.push([name, run]);
export default tests;

// The longest launch, as the trace holds it.
const longestOf = (page) => page.evaluate(() => {
  const { launches } = croze.model.trace;
  let most = 0;
  for (let i = 0; i < launches.length; i++) if (launches.duration.at(i) > launches.duration.at(most)) most = i;
  const { launch } = croze.model.plannedOf(most);
  return { ns: launches.duration.at(most), start: launches.start.at(most), flops: launch.flops, bytes: launch.bytes };
});

test("the timeline draws what the trace holds", async (browser, { open, truth }) => {
  for (const name of REAL) {
    const { page, complaints } = await open(browser, name);
    await settle(page);
    const drawn = await of(page, TIMELINE, (v) => v.drawn);
    assert.ok(drawn.events > 20, `${drawn.events} events drawn`);
    assert.ok(drawn.labels.some((l) => l.startsWith("schedule") || l.startsWith("CPU")));
    assert.deepEqual(drawn.rows.toSorted(), truth[name].rows.toSorted(), "a row for each thread and queue");
    assert.equal(await page.evaluate(() => croze.model.trace.launches.length), truth[name].launches);
    assert.ok(Object.keys(await colours(page)).length > 5);
    // The longest launch, by the keyboard, is as long as its details say.
    await press(page, "l", "f");
    const longest = await longestOf(page);
    const [left, right] = await of(page, TIMELINE, (v) => v.range);
    assert.ok(Math.abs(right - left - longest.ns * 1.5) < 2, "the chosen event fills two thirds");
    assertShows(await fact(page, "time"), longest.ns);
    const kernel = await text(page, ".details h2");
    assert.ok(truth[name].kernels.some((k) => k.name === kernel), kernel);
    assert.ok((await of(page, TIMELINE, (v) => v.drawn.labels)).some((l) => kernel.startsWith(l.replace("…", ""))));
    await press(page, "d", "a");
    assert.ok(Math.abs((await of(page, TIMELINE, (v) => v.range))[0] - left) < 1);
    // Up to a thread, down again, and into the kernel.
    await press(page, "ArrowUp");
    assert.equal(await of(page, TIMELINE, (v) => v.trackOf(v.chosen).isQueue), false);
    await press(page, "l", "Enter");
    assert.equal(await of(page, KERNELS, (v) => croze.model.kinds[v.chosen].name), kernel);
    assert.equal(await text(page, ".details h2"), kernel);
    assert.deepEqual(complaints, []);
  }
});

test("passes of the compiler are found, lit and stepped through", async (browser, { open, truth }) => {
  const { page, complaints } = await open(browser, "step");
  const series = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((n) => colourOf(page, `series-${n}`)));
  const lit = async () => {
    const counts = await colours(page);
    return series.reduce((sum, c) => sum + (counts[c] ?? 0), 0);
  };
  const before = await lit();
  await search(page, "collapse");
  const expected = truth.step.passes.filter((p) => p === "collapse").length;
  assert.ok(expected > 10);
  assert.equal(await text(page, ".bar [role=status]"), `${expected} found`);
  assert.ok(await lit() < before / 3, "what is not found is no longer coloured");
  // On all tracks, in the order of time.
  const seen = new Set();
  let last = -Infinity;
  for (let i = 0; i < expected; i++) {
    await press(page, "n");
    const [row, start] = await of(page, TIMELINE, (v) => [v.chosen.row, v.timesOf(v.chosen).start]);
    assert.ok(start >= last);
    last = start;
    seen.add(row);
    assert.equal(await text(page, ".details h2"), "collapse");
    assert.equal(await fact(page, "what"), "pass");
  }
  assert.equal(seen.size, truth.step.rows.filter((r) => /^thread/.test(r)).length, "all threads that compile");
  await press(page, "n");
  assert.equal(await of(page, TIMELINE, (v) => v.timesOf(v.chosen).start), last, "there is none after the last");
  await press(page, "f");
  assert.ok((await of(page, TIMELINE, (v) => v.drawn.labels)).includes("collapse"));
  assert.deepEqual(complaints, []);
});

test("launches are found by kernel, by call and by module", async (browser, { open, truth }) => {
  const { page, complaints } = await open(browser, "step");
  const wanted = truth.step.kernels.find((k) => k.launches === 10).name;
  for (const words of [wanted, "conv2d", "fashion_net.h:20", "conv1"]) {
    await press(page, "Escape");
    await search(page, words);
    const found = Number(/^([\d,]+) found$/.exec(await text(page, ".bar [role=status]"))[1].replace(",", ""));
    assert.ok(found >= 10, `${found} of ${words}`);
    await press(page, "n", "n", "N");
    if (words === wanted) assert.ok((await text(page, ".details h2")).includes(wanted));
  }
  await page.click("#view canvas", { offset: { x: 400, y: 12 } });  // the ruler: nothing is there
  await settle(page);
  assert.equal(await of(page, TIMELINE, (v) => v.chosen), null);
  assert.deepEqual(complaints, []);
});

test("launches are found by the nodes of a model", async (browser, { open }) => {
  const { page, complaints } = await open(browser, "sampled");
  await search(page, "stem");
  assert.equal(await text(page, ".bar [role=status]"), "1 found");
  await press(page, "n");
  assert.equal(await fact(page, "nodes of the model"), "Relu (node \"stem\")");
  assert.deepEqual(complaints, []);
});

test("flows lead from the call that asked for a run to its launches, and back", async (browser, { open }) => {
  const { page, complaints } = await open(browser, "step");
  await press(page, "l");
  assert.equal(await of(page, TIMELINE, (v) => v.drawn.flows), 1);
  assert.ok((await fact(page, "asked for by")).startsWith("captured step (traces.cpp:"));
  const expected = await of(page, TIMELINE, (v) => {
    const { schedule, run } = croze.model.plannedOf(v.trackOf(v.chosen).ids[v.chosen.index]);
    return { launches: schedule.launches.length, start: run.start, call: croze.model.trace.text(run.call) };
  });
  await press(page, "g");
  assert.equal(await text(page, ".details h2"), expected.call);
  assert.equal(await of(page, TIMELINE, (v) => v.timesOf(v.chosen).start), expected.start);
  assert.equal(await of(page, TIMELINE, (v) => v.drawn.flows), expected.launches);
  await press(page, "f");
  assert.ok((await colours(page))[await colourOf(page, "accent")] > 50, "lines of the colour of flows");
  await press(page, "g");
  const [isQueue, first] = await of(page, TIMELINE, (v) => [v.trackOf(v.chosen).isQueue, croze.model.trace.launches.launch.at(v.trackOf(v.chosen).ids[v.chosen.index])]);
  assert.ok(isQueue);
  assert.equal(first, 0, "the first launch of the run");
  assert.deepEqual(complaints, []);
});

test("arithmetic and bytes are drawn against the roof, and measured", async (browser, { open, truth }) => {
  const { page, complaints } = await open(browser, "step");
  await press(page, "l", "f");
  const longest = await longestOf(page), roof = await page.evaluate(() => croze.model.roof("CPU"));
  const [left, right] = await of(page, TIMELINE, (v) => v.range);
  const rates = await of(page, TIMELINE, (v) => v.drawn.rates);
  assert.deepEqual(rates.map((r) => r.name), ["GFLOP/s", "GB/s"]);
  // In the middle of the launch the strip is as high as its rate is under the roof.
  for (const [what, colour, strip] of [["flops", "series-1", rates[0]], ["bytes", "series-2", rates[1]]]) {
    const x = strip.left + (longest.start + longest.ns / 2 - left) / (right - left) * (strip.right - strip.left);
    const expected = Math.max(Math.min(longest[what] / longest.ns / roof[what] / 1.2, 1) * strip.height, 1);
    const found = await column(page, { x, y: strip.y, height: strip.height, colour });
    assert.ok(Math.abs(found - expected) <= 1, `${strip.name}: ${found} pixels high, not ${expected}`);
  }
  // Measured: one launch, then all of them.
  await press(page, "m");
  assert.equal(await text(page, ".details h2"), `${(await fact(page, "at work")).split(",")[0]} measured`);
  assertShows(await fact(page, "GFLOP/s"), longest.flops / longest.ns);
  assertShows(await fact(page, "GB/s"), longest.bytes / longest.ns);
  assert.equal(await fact(page, "launches"), "1");
  await of(page, TIMELINE, (v) => {
    const row = croze.model.rows.findIndex((r) => r.isQueue);
    v.choose({ row, track: 0, index: 0 });
  });
  await press(page, "m");
  await of(page, TIMELINE, (v) => v.choose({ ...v.chosen, index: v.trackOf(v.chosen).length - 1 }));
  await press(page, "m");
  assert.equal(await fact(page, "launches"), truth.step.launches.toLocaleString("en-US"));
  assertShows((await fact(page, "at work")).split(",")[0], truth.step.kernel_ns, "the sum of kernel times");
  // By the mouse, over the second half of what is shown.
  await press(page, "0", "Escape");
  const canvas = await (await page.$("#view canvas")).boundingBox();
  const [a, b] = [rates[0].left + (rates[0].right - rates[0].left) / 2, rates[0].right - 5];
  await page.keyboard.down("Shift");
  await page.mouse.move(canvas.x + a, canvas.y + 60);
  await page.mouse.down();
  await page.mouse.move(canvas.x + b, canvas.y + 70, { steps: 5 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await settle(page);
  const shown = await of(page, TIMELINE, (v) => v.measured[1] - v.measured[0]), all = await of(page, TIMELINE, (v) => v.range[1] - v.range[0]);
  assert.ok(Math.abs(shown / all - (b - a) / (rates[0].right - rates[0].left)) < 0.01);
  assertShows(await text(page, ".details h2"), shown);
  await press(page, "Escape");
  assert.equal(await of(page, TIMELINE, (v) => v.measured), null);
  assert.deepEqual(complaints, []);
});
