// graph.mjs -- the graph of tensors and kernels: boxes, groups, what is found.
import assert from "node:assert/strict";
import { press, settle, text } from "../browser.mjs";
import { GRAPH, KERNELS, REAL, of, search } from "./views.mjs";

const tests = [], test = (name, run) => tests.push([name, run]);
export default tests;

test("the graph has a box for each kernel, and buffers between them", async (browser, { open, truth }) => {
  const { page, complaints } = await open(browser, "block");
  await press(page, "4");
  const counts = () => of(page, GRAPH, (v) => [v.nodes.filter((n) => n.what === "unit").length, v.nodes.filter((n) => n.what === "group").length, v.drawn]);
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

// To a level by keys, from the first one.
const turnTo = async (page, level) => {
  await press(page, "PageUp", "PageUp", "PageUp");
  for (let i = 0; i < 4 && await of(page, GRAPH, (v) => v.level.name) !== level; i++) await press(page, "PageDown");
  assert.equal(await of(page, GRAPH, (v) => v.level.name), level);
  assert.equal(await page.$eval("select[aria-label='What is drawn']", (e) => e.value), level);
};

test("the tensors that the program recorded, in modules, calls and kernels", async (browser, { open, truth }) => {
  for (const name of REAL) {
    const { page, complaints } = await open(browser, name);
    await press(page, "4");
    await turnTo(page, "tensors");
    await press(page, "e");
    // A box for each node of the trace that is no constant, and the edges between them.
    const drawn = await of(page, GRAPH, (v) => v.nodes.map((n) => ({ label: n.label, note: n.note })));
    const [nodes, edges] = await of(page, GRAPH, (v) => [v.nodes.length, v.edges.length]);
    assert.equal(nodes, truth[name].tensors.filter((t) => t.op !== "const").length);
    assert.equal(edges, truth[name].tensor_edges);
    for (const { op, type, buffer } of truth[name].tensors) {
      if (op === "const") continue;
      assert.ok(drawn.some((d) => d.note === type && (op === "buffer" ? d.label === (buffer || "buffer") : d.label.startsWith(op))), `${op} ${type}`);
    }
    // Closed: modules and calls, gradients beside what they are gradients of.
    await press(page, "c");
    const groups = await of(page, GRAPH, (v) => v.nodes.filter((n) => n.what === "group").map((n) => n.label));
    const module = name === "step" ? "conv2" : "query";
    assert.ok(groups.some((g) => g === module) && groups.some((g) => g === `gradient of ${module}`), groups.join(", "));
    const gradient = await of(page, GRAPH, (v, m) => v.nodes.find((n) => n.label === `gradient of ${m}`), module);
    assert.equal(await of(page, GRAPH, (v, i) => v.nodes[i].label, gradient.partner), module);
    // By launch: which tensors are computed together.  All that a kernel writes is in its box.
    await press(page, "b", "e");
    const kernels = await of(page, GRAPH, (v) => v.frames.map((f) => f.key));
    assert.ok(kernels.some((k) => /^launch \d+\.\d+: (reduce|map)_/.test(k)), kernels.join(", "));
    // Found by operation.
    await press(page, "b", "e");
    await search(page, "reduce");
    const found = await of(page, GRAPH, (v) => [...v.found].map((i) => v.nodes[i].label + v.level.words(v.nodes[i].number).join()));
    assert.ok(found.length > 0 && found.every((t) => t.includes("reduce")), String(found.length));
    assert.deepEqual(complaints, []);
  }
});

test("from a tensor to the kernel that computes it, into its graph and its program", async (browser, { open }) => {
  const { page, complaints } = await open(browser, "step");
  await press(page, "4");
  await turnTo(page, "tensors");
  await press(page, "e");
  const kernel = await of(page, GRAPH, (v) => {
    const node = v.nodes.findIndex((n) => v.units[n.number].launch >= 0 && n.label.startsWith("reduce"));
    v.select(node);
    return croze.model.trace.kernels[v.units[v.nodes[node].number].kernel];
  });
  assert.ok((await text(page, ".details")).includes(`computed by\n${kernel.name}`));
  await press(page, "PageDown");
  assert.equal(await of(page, GRAPH, (v) => v.level.name), "kernels");
  assert.ok((await text(page, ".details h2")).includes(kernel.name));
  // Its graph has a box for each line of the text that is no constant, and an edge for each source.
  for (const [level, texts] of [["graph of a kernel", "graph"], ["program of a kernel", "program"]]) {
    await press(page, "PageDown");
    assert.equal(await of(page, GRAPH, (v) => v.level.name), level);
    await press(page, "e");
    const all = (await page.evaluate((n) => croze.model.trace.text(n), kernel[texts])).split("\n").map((l) => l.trim()).filter((l) => l !== "" && !/^(end_)?loop/.test(l));
    const lines = all.filter((l) => !/ = const /.test(l)), constants = new Set(all.filter((l) => / = const /.test(l)).map((l) => /^%(\d+)/.exec(l)[1]));
    const [labels, edges, frames] = await of(page, GRAPH, (v) => [v.nodes.map((n) => n.label), v.edges.length, v.frames.map((f) => f.key.split(" ").at(-1))]);
    assert.equal(labels.length, lines.length);
    const pairs = new Set(lines.flatMap((l, i) => [...l.replace(/^%\d+ = /, "").matchAll(/%(\d+)/g)].filter((m) => !constants.has(m[1])).map((m) => `${m[1]} ${i}`)));
    assert.equal(edges, pairs.size);
    for (const line of lines) assert.ok(labels.some((l) => l.split(" ")[0] === line.replace(/^%\d+ = /, "").split(" ")[0]), line);
    // A program's loops lie around what they repeat.
    if (texts === "program") {
      const loops = [...(await page.evaluate((n) => croze.model.trace.text(n), kernel.program)).matchAll(/^\s*loop (\S+)/gm)].map((m) => m[1]);
      assert.deepEqual([...new Set(frames)].toSorted(), [...new Set(loops)].toSorted());
      await press(page, "c");
      assert.ok(await of(page, GRAPH, (v) => v.nodes.some((n) => n.what === "group" && n.label.startsWith("loop "))));
    }
  }
  // Among the kernels, and back to where it began.
  await press(page, "k");
  assert.equal(await of(page, KERNELS, (v) => croze.model.kinds[v.chosen].kernels[v.nest]), kernel.number);
  await press(page, "4", "PageUp", "PageUp");
  assert.ok((await text(page, ".details h2")).includes(kernel.name));
  await press(page, "PageUp");
  const lit = await of(page, GRAPH, (v) => [...v.found].map((i) => v.nodes[i].members.map((u) => v.units[u].kernel)));
  assert.ok(lit.length > 0 && lit.every((kernels) => kernels.includes(kernel.number)), "the boxes of its tensors");
  assert.deepEqual(complaints, []);
});
