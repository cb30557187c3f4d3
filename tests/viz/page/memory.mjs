// memory.mjs -- memory over time, and what is alive at its peak.
import assert from "node:assert/strict";
import { press, settle, text } from "../browser.mjs";
import { KERNELS, MEMORY, REAL, assertShows, column, of, search } from "./views.mjs";

const tests = [], test = (name, run) => tests.push([name, run]);
export default tests;

const rows = (page) => page.$$eval(".details tbody tr", (all) => all.map((tr) => [...tr.children].map((td) => td.innerText.trim())));

test("the peak of memory is the planner's, beside the tensors", async (browser, { open, truth }) => {
  for (const name of REAL) {
    const { page, complaints } = await open(browser, name);
    await press(page, "2", "p");
    const { values, peak, step } = await of(page, MEMORY, (v) => ({ values: v.values().map(({ bytes, arena }) => ({ bytes, arena })), peak: v.memory.peak,
      step: v.memory.steps.findLast((s) => s.time <= v.time) }));
    assert.equal(values.reduce((sum, v) => sum + v.bytes, 0), peak);
    assert.deepEqual(values.filter((v) => v.arena).map((v) => v.bytes), [truth[name].largest_arena]);
    assert.deepEqual(values.filter((v) => v.arena).map((v) => v.arena), [{ used: truth[name].planned_peak, peak: truth[name].planned_peak }]);
    // As it is written.
    assert.ok((await text(page, ".details p")).includes(`${peak.toLocaleString("en-US")} bytes`));
    assertShows((await text(page, ".details h2")).split(" alive")[0], peak);
    const table = await rows(page), arena = table.find((r) => r[1] === "temporaries");
    assertShows(arena[0], truth[name].largest_arena);
    const [, used, most] = /^(.*) of it are alive, and at most (.*)$/.exec(arena[2].replaceAll("\n", " "));
    for (const shown of [used, most]) assertShows(shown, truth[name].planned_peak, "the planner's peak");
    // As it is drawn: the colours beside the mark of the peak are as high as the bytes.
    await press(page, ...Array(20).fill("w"));
    const at = await of(page, MEMORY, (v) => v.drawn);
    for (const [colour, bytes] of [["series-3", step.buffers], ["series-2", step.used]]) {
      const expected = bytes / peak * at.height, found = await column(page, { x: at.x + 4, colour });
      assert.ok(Math.abs(found - expected) < 6, `${name}: ${colour} is ${found} pixels high, not ${expected}`);
    }
    assert.deepEqual(complaints, []);
  }
});

test("what is alive has its shape, its line, who wrote it and who wants it", async (browser, { open }) => {
  const { page, complaints } = await open(browser, "step");
  await press(page, "2", "p");
  const table = await rows(page);
  const sizes = await of(page, MEMORY, (v) => v.values().map((value) => value.bytes));
  assert.deepEqual(sizes, sizes.toSorted((a, b) => b - a), "by size");
  const temporary = table.find((r) => r[1] === "– temporary" && /^float32\[128, /.test(r[2]));
  assert.match(temporary[3], /^(reduce|map)_/, "the kernel that wrote it");
  assert.match(temporary[5], /\(fashion_net\.h:\d+\)$/, "the line of the user's");
  assert.notEqual(temporary[6], "", "why it is there");
  const weight = table.find((r) => r[2].startsWith("conv1.weight float32[16, 1, 3, 3]"));
  assert.ok(weight, "parameters by their names");
  assert.match(weight[4], /(reduce|map)_/, "who wants a parameter");
  // Each kernel is one that reads or writes the buffer, as the trace notes it of each nest.
  const wrong = await of(page, MEMORY, (v) => {
    const { trace } = croze.model, schedule = trace.schedules.reduce((a, b) => b.launches.length > a.launches.length ? b : a);
    const inner = v.values().flatMap((value) => value.temporaries);
    const kernelsThat = (how, type) => schedule.launches.flatMap((l) => l.origins.flatMap((o, i) => o[how].some((b) => `${schedule.buffers[b].dtype}[${schedule.buffers[b].shape.join(", ")}]` === type) ? [trace.kernels[l.kernels[i]].name] : []));
    return inner.filter((t) => !kernelsThat("writes", t.type).includes(t.writer.name) || t.wanted.some((k) => !kernelsThat("reads", t.type).includes(k.name)) || t.wanted.length === 0).map((t) => t.type);
  });
  assert.deepEqual(wrong, []);
  // A click on it shows the kernel.
  await (await page.$(".details tr.inner button.link")).click();
  assert.equal(await page.$eval("[role=tab][aria-selected=true]", (e) => e.textContent), "Kernels");
  assert.ok((await text(page, ".details h2")).includes(temporary[3]) || await of(page, KERNELS, (v) => v.chosen >= 0));
  assert.deepEqual(complaints, []);
});

test("a click near a peak is a click on it; keys go from change to change", async (browser, { open }) => {
  const { page, complaints } = await open(browser, "step");
  await press(page, "2", "p");
  const [peakAt, x] = await of(page, MEMORY, (v) => [v.memory.peakAt, v.drawn.x]);
  await press(page, "Home");
  assert.notEqual(await of(page, MEMORY, (v) => v.time), peakAt);
  const box = await (await page.$("#view canvas")).boundingBox();
  await page.mouse.click(box.x + x + 2, box.y + 40);
  await settle(page);
  const [size, peak] = await of(page, MEMORY, (v) => [v.values().reduce((sum, value) => sum + value.bytes, 0), v.memory.peak]);
  assert.equal(size, peak);
  const before = await of(page, MEMORY, (v) => v.time);
  await press(page, "ArrowLeft");
  assert.ok(await of(page, MEMORY, (v) => v.time) < before);
  await press(page, "ArrowRight", "w", "w");
  const [left, right] = await of(page, MEMORY, (v) => [v.left, v.right]);
  assert.ok(right - left < 0.6 * await page.evaluate(() => croze.model.end - croze.model.start) && left <= before && before <= right);
  await press(page, "d", "a", "0", "p");
  assert.equal(await of(page, MEMORY, (v) => v.time), peakAt);
  // Found among what is alive.
  await search(page, "conv1.weight");
  const found = await rows(page);
  assert.ok(found.length > 0 && found.length < 10 && found.every((r) => r.join().includes("conv1.weight") || r[1] === "temporaries"), String(found.length));
  assert.deepEqual(complaints, []);
});
