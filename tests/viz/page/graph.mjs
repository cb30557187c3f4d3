// graph.mjs -- the graph of tensors and kernels: boxes, groups, what is found.
import assert from "node:assert/strict";
import { press, settle, text } from "../browser.mjs";
import { GRAPH, of, search } from "./views.mjs";

const tests = [], test = (name, run) => tests.push([name, run]);
export default tests;

test("the graph has a box for each kernel, and buffers between them", async (browser, { open, truth }) => {
  const { page, complaints } = await open(browser, "block");
  await press(page, "4");
  const counts = () => of(page, GRAPH, (v) => [v.nodes.filter((n) => n.what === "kernel").length, v.nodes.filter((n) => n.what === "group").length, v.drawn]);
  const [launches, kernels] = await page.evaluate(() => {
    const largest = croze.model.trace.schedules.reduce((a, b) => b.launches.length > a.launches.length ? b : a);
    return [largest.launches.length, largest.launches.reduce((sum, l) => sum + l.kernels.length, 0)];
  });
  await press(page, "e");
  assert.equal((await counts())[0], kernels);
  assert.ok((await counts())[2] > 3, "boxes are drawn");
  // Edges lead down, but among gradients.
  assert.ok(await of(page, GRAPH, (v) => v.edges.every(([from, to]) => v.nodes[to].isGradient || v.nodes[from].isGradient || v.layout.boxes[from].layer < v.layout.boxes[to].layer)));
  // No two boxes of a layer overlap.
  assert.ok(await of(page, GRAPH, (v) => v.layout.layers.every((layer) => {
    const boxes = layer.map((n) => v.layout.boxes[n]).sort((a, b) => a.x - b.x);
    return boxes.every((b, i) => i === 0 || boxes[i - 1].x + boxes[i - 1].width / 2 <= b.x - b.width / 2 + 1e-6);
  })));
  await press(page, "c");
  const [open_, closed] = await counts();
  assert.ok(closed > 0 && open_ + closed < kernels, "groups stand for several kernels");
  await press(page, "b", "c");
  assert.equal((await counts())[0] + (await counts())[1], launches, "a box for each launch");
  await press(page, "b");
  // Found by name, by an operation, by a rule and by its place.
  const rule = truth.block.rewrites[0];
  for (const wanted of ["gradient", "reduce", rule.rule, rule.place]) {
    await press(page, "e", "/");
    await page.$eval("input[type=search]", (e) => { e.value = ""; });
    await page.keyboard.type(wanted);
    await settle(page);
    const found = await of(page, GRAPH, (v) => v.found.size);
    assert.ok(found > 0, wanted);
    await page.keyboard.press("Escape");
  }
  assert.deepEqual(complaints, []);
});

test("gradients stand beside what they are gradients of", async (browser, { open }) => {
  for (const [name, key] of [["step", "e"], ["block", "e"], ["block", "c"], ["modules", "c"]]) {
    const { page, complaints } = await open(browser, name);
    await press(page, "4", key);
    const found = await of(page, GRAPH, (v) => {
      const calls = (n) => n.members.map((u) => v.units[u].origin.call);
      return v.nodes.map((n, i) => ({ ...n, box: v.layout.boxes[i], calls: calls(n) }));
    });
    const gradients = found.filter((n) => n.isGradient && n.what !== "buffer"), pairs = gradients.filter((n) => n.partner >= 0);
    assert.ok(pairs.length > 3 && pairs.length >= gradients.length * 0.8, `${pairs.length} of ${gradients.length} have a partner`);
    const right = Math.max(...found.filter((n) => !n.isGradient).map((n) => n.box.x + n.box.width / 2));
    for (const n of pairs) {
      const forward = found[n.partner];
      assert.equal(forward.isGradient, false);
      assert.equal(n.box.layer, forward.box.layer, `${n.label} beside ${forward.label}`);
      assert.equal(n.box.y, forward.box.y);
      assert.ok(n.box.x - n.box.width / 2 > right, "to the right of all that is forward");
    }
    // Most by the call itself, where it is still a kernel of its own; else by its module.
    const sameCall = pairs.filter((n) => n.calls.some((call) => found[n.partner].calls.includes(call.replace("gradient of ", ""))));
    assert.ok(sameCall.length >= pairs.length / 2, `${sameCall.length} of ${pairs.length}`);
    // From a gradient to what it is of, and back, by the keyboard.
    const gradient = await of(page, GRAPH, (v) => { const i = v.nodes.findIndex((n) => n.partner >= 0); v.select(i); return i; });
    await press(page, "g");
    assert.equal(await of(page, GRAPH, (v) => v.chosen), await of(page, GRAPH, (v, i) => v.nodes[i].partner, gradient));
    assert.deepEqual(complaints, []);
  }
});

test("modules of the model are boxes that open and close", async (browser, { open }) => {
  const { page, complaints } = await open(browser, "modules");
  await press(page, "4", "c");
  const labels = () => of(page, GRAPH, (v) => v.nodes.filter((n) => n.what === "group").map((n) => n.label));
  assert.ok((await labels()).includes("blocks"), (await labels()).join(", "));
  assert.ok((await labels()).includes("gradient of blocks"), (await labels()).join(", "));
  await of(page, GRAPH, (v) => v.select(v.nodes.findIndex((n) => n.label === "blocks")));
  await press(page, "Enter");
  assert.ok((await labels()).includes("blocks.0") && (await labels()).includes("blocks.1"));
  // A frame around what the open module holds.
  const frame = await of(page, GRAPH, (v) => v.frames.find((f) => f.key === "blocks").boxes.map((i) => v.nodes[i].label));
  assert.ok(frame.includes("blocks.0") && frame.includes("blocks.1"), frame.join(", "));
  assert.ok((await text(page, ".details")).includes("blocks.0"));
  await press(page, "u");
  assert.ok((await labels()).includes("blocks") && !(await labels()).includes("blocks.0"));
  // What is a parameter bears its name.
  await press(page, "e");
  const buffers = await of(page, GRAPH, (v) => v.nodes.filter((n) => n.what === "buffer").map((n) => n.label));
  for (const name of ["blocks.0.query.weight", "blocks.1.norm.weight", "embedding.weight"]) assert.ok(buffers.includes(name), name);
  assert.deepEqual(complaints, []);
});
