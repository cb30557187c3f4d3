// page_test.mjs PAGE VIZ_TRACES CROZE FOLDER: what the page of croze viz shows of real traces, in
// headless Chromium, held against what the reader of C++ finds in them.
//
// Pictures of the views are left in FOLDER, to be looked at.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { colours, loadPuppeteer, openPage, press, runTests, settle, text } from "./browser.mjs";

const [pageFolder, makeTraces, croze, folder] = process.argv.slice(2);
const puppeteer = loadPuppeteer(pageFolder);

// ---- pages --------------------------------------------------------------------------------------

mkdirSync(folder, { recursive: true });
// Without the cache of kernels, so that each is compiled and there are rewrites to see.
execFileSync(makeTraces, [folder], { stdio: "inherit", env: { ...process.env, CROZE_CACHE: "0" } });
const truth = JSON.parse(readFileSync(join(folder, "truth.json"), "utf8"));
const html = (name, ...options) => {
  execFileSync(croze, ["viz", join(folder, `${name}.trace`), "--html", join(folder, `${name}.html`), ...options]);
  return join(folder, `${name}.html`);
};
const open = (browser, name, looks) => openPage(browser, `file://${html(name)}`, looks);
const view = (page, i) => page.evaluateHandle((n) => croze.page.view(n), i);
const of = async (page, i, f, ...rest) => (await view(page, i)).evaluate(f, ...rest);
const times = async (count, run) => {
  const results = [];
  for (let i = 0; i < count; i++) results.push(await run());
  return results;
};

const tests = [];
const test = (name, run) => tests.push([name, run]);

// ---- timeline -----------------------------------------------------------------------------------

test("the timeline draws what the trace holds", async (browser) => {
  const { page, complaints } = await open(browser, "step");
  await settle(page);
  const drawn = await of(page, 0, (v) => v.drawn);
  assert.ok(drawn.events > 20, `${drawn.events} events drawn`);
  assert.ok(drawn.labels.some((l) => l.startsWith("schedule") || l.startsWith("CPU")));
  const launches = await page.evaluate(() => croze.model.trace.launches.length);
  assert.equal(launches, truth.step.launches);
  assert.ok(Object.keys(await colours(page)).length > 5);
  // The longest launch, by the keyboard, is as long as its details say.
  await press(page, "l", "f");
  const longest = await page.evaluate(() => {
    const { duration } = croze.model.trace.launches;
    let most = 0;
    for (let i = 0; i < duration.length; i++) most = Math.max(most, duration.at(i));
    return most;
  });
  const [left, right] = await of(page, 0, (v) => v.range);
  assert.ok(Math.abs(right - left - longest * 1.5) < 2, "the chosen event fills two thirds");
  const name = await text(page, ".details h2");
  assert.ok(truth.step.kernels.some((k) => k.name === name), name);
  assert.ok((await of(page, 0, (v) => v.drawn.labels)).some((l) => name.startsWith(l.replace("…", ""))));
  // Measuring, and panning back and forth.
  await press(page, "m");
  assert.deepEqual(await of(page, 0, (v) => v.measured[1] - v.measured[0]), longest);
  await press(page, "d", "a");
  assert.ok(Math.abs((await of(page, 0, (v) => v.range))[0] - left) < 1);
  await press(page, "0", "Escape");
  assert.deepEqual(complaints, []);
});

test("searching lights what is found and steps to it", async (browser) => {
  const { page, complaints } = await open(browser, "step");
  const wanted = truth.step.kernels.find((k) => k.launches === 10).name;
  await press(page, "/");
  await page.keyboard.type(wanted);
  await settle(page);
  assert.match(await text(page, ".bar [role=status]"), /^\d+ found$/);
  const found = Number((await text(page, ".bar [role=status]")).split(" ")[0]);
  assert.ok(found >= 10);
  await page.keyboard.press("Escape");
  await press(page, "n", "n");
  assert.ok((await text(page, ".details h2")).includes(wanted));
  await page.click("#view canvas", { offset: { x: 400, y: 12 } });  // the ruler: nothing is there
  await settle(page);
  assert.equal(await of(page, 0, (v) => v.chosen), null);
  assert.deepEqual(complaints, []);
});

// ---- memory -------------------------------------------------------------------------------------

test("the peak of memory is the planner's arena and the tensors beside it", async (browser) => {
  const { page, complaints } = await open(browser, "step");
  await press(page, "2", "p");
  const [alive, peak] = await of(page, 1, (v) => [v.alive().map((a) => [a.allocation.isArena, a.allocation.bytes]), v.memory.peak]);
  assert.equal(alive.reduce((sum, [, bytes]) => sum + bytes, 0), peak);
  assert.deepEqual(alive.filter(([isArena]) => isArena).map(([, bytes]) => bytes), [truth.step.largest_arena]);
  assert.ok((await text(page, ".details p")).includes(`${peak.toLocaleString("en-US")} bytes`));
  // The rows: temporaries with their shapes, tensors with the lines that recorded them.
  const table = await text(page, ".details table");
  assert.match(table, /float32\[32, \d+/);
  assert.match(table, /traces\.cpp:\d+/);
  assert.match(table, /first\.weight float32\[/, "parameters by their names");
  // What is still to be read names who will read it.
  const wanted = await of(page, 1, (v) => {
    const { trace } = croze.model;
    const schedule = trace.schedules.reduce((a, b) => b.launches.length > a.launches.length ? b : a);
    const planned = schedule.buffers.find((b) => b.kind === 2 && schedule.launches.some((l) => l.reads.includes(schedule.buffers.indexOf(b))));
    return [v.wantedBy(schedule, planned, 0), v.wantedBy(schedule, planned, schedule.launches.length)];
  });
  assert.match(wanted[0], /^(reduce|map)_/);
  assert.equal(wanted[1], "");
  const before = await of(page, 1, (v) => v.time);
  await press(page, "ArrowLeft");
  assert.ok(await of(page, 1, (v) => v.time) < before);
  assert.ok(Object.keys(await colours(page)).length > 3);
  assert.deepEqual(complaints, []);
});

// ---- kernels ------------------------------------------------------------------------------------

test("the table of kernels has all launches and their time", async (browser) => {
  const { page, complaints } = await open(browser, "step");
  await press(page, "3");
  const rows = await page.$$eval(".list tbody tr", (all) => all.map((tr) => [tr.children[0].innerText, tr.children[3].innerText]));
  const expected = truth.step.kernels.map((k) => [k.name, k.launches]);
  assert.deepEqual(rows.map(([name, launches]) => [name, Number(launches.replace(",", ""))]).sort(), expected.sort());
  const time = await page.evaluate(() => croze.model.kinds.reduce((sum, k) => sum + k.ns, 0));
  assert.equal(time, truth.step.kernel_ns);
  // Each part of a kernel, by the keyboard.
  for (const [tab, pattern] of [["Tiles", /computed for/], ["Loops", /range|loop|store/], ["Graph", /%0 = .*\n/], ["Source", /define|void/], ["Buffers", /reads|writes/]]) {
    for (let i = 0; i < 9 && await text(page, ".tabs [aria-selected=true]") !== tab; i++) await press(page, "ArrowRight");
    assert.match(await text(page, ".details"), pattern, tab);
  }
  const first = await text(page, ".details h2");
  await press(page, "ArrowDown");
  assert.notEqual(await text(page, ".details h2"), first);
  assert.deepEqual(complaints, []);
});

// To a tab of the chosen kernel, by the keyboard.
const turnTo = async (page, tab) => {
  for (let i = 0; i < 9 && await text(page, ".tabs [aria-selected=true]") !== tab; i++) await press(page, "ArrowRight");
  assert.equal(await text(page, ".tabs [aria-selected=true]"), tab);
};

test("machine code stands in blocks, and its loops are those of the kernel", async (browser) => {
  const { page, complaints } = await open(browser, "step");
  await press(page, "3");
  await turnTo(page, "Assembly");
  let loops = 0, unmatched = 0;
  for (const kind of await page.evaluate(() => croze.model.kinds.map((k, i) => [i, k.kernels.length]))) {
    if (kind[1] === 0) continue;
    await of(page, 2, (v, k) => v.choose(k), kind[0]);
    const found = await of(page, 2, ({ listing }) => {
      const names = (loop) => [loop.name, loop.trips.split(" ")[0]];
      return {
        loops: listing.loops.map(([code, kernel]) => [...names(kernel), code.first, code.last]), kernel: listing.kernelLoops,
        back: listing.instructions.filter((x, i) => x.target >= 0 && x.target <= i).length,
        covered: listing.blocks.every((b, i) => b.first === (i === 0 ? 0 : listing.blocks[i - 1].last + 1)) && listing.blocks.at(-1).last === listing.instructions.length - 1,
        jumpsEnd: listing.instructions.every((x, i) => x.target < 0 || listing.blocks.some((b) => b.last === i) && listing.blocks.some((b) => b.first === x.target)),
      };
    });
    assert.ok(found.covered && found.jumpsEnd, "blocks hold all instructions, and jumps lead from ends to beginnings");
    loops += found.loops.length;
    unmatched += found.kernel - found.loops.length;
  }
  console.log(`  ${loops} loops matched, ${unmatched} not`);
  assert.ok(loops > 30 && unmatched === 0);
  // A loop is lit in both; a register wherever it stands.
  const kind = await of(page, 2, (v) => croze.model.kinds.findIndex((k, i) => { if (k.kernels.length === 0) return false; v.choose(i); return v.listing.loops.length > 1; }));
  await of(page, 2, (v, k) => v.choose(k), kind);
  await press(page, "n");
  const lit = await page.$$eval(".sides pre", (panes) => panes.map((p) => p.querySelectorAll(".line.lit").length));
  const [code, kernel] = await of(page, 2, (v) => v.listing.loops[0]);
  assert.deepEqual(lit, [code.last - code.first + 1, kernel.last - kernel.first + 1]);
  const register = await page.$(".register");
  const name = await register.evaluate((e) => e.textContent);
  await register.evaluate((e) => e.scrollIntoView({ block: "center" }));
  await register.hover();
  const same = await page.$$eval(".register.lit", (all) => all.map((e) => e.textContent));
  assert.ok(same.length > 1 && same.includes(name), name);
  assert.deepEqual(complaints, []);
});

test("hot lines stand beside the code and the loops", async (browser) => {
  const { page, complaints } = await open(browser, "sampled");
  await press(page, "3");
  await turnTo(page, "Assembly");
  const [code, loops] = await page.$$eval(".sides pre", (panes) => panes.map((p) => [...p.querySelectorAll(".samples")].map((e) => e.textContent.trim())));
  assert.deepEqual(code, ["10.0 %", "70.0 %", "20.0 %", "", ""]);
  assert.deepEqual(loops, ["90.0 %"]);
  assert.match(await text(page, ".sides figcaption"), /, 100 samples$/);
  assert.match(await text(page, "button.loop"), /^loop r0: .* 90\.0 %$/);
  await press(page, "h");
  assert.match(await text(page, ".line.hottest"), /vmulps/);
  await page.screenshot({ path: join(folder, "hot-lines.png") });
  assert.deepEqual(complaints, []);
});

test("tiles are cut as the edits say", async (browser) => {
  const { page, complaints } = await open(browser, "step");
  await press(page, "3");
  const [kind, nest, factor] = await page.evaluate(() => {
    const { trace, kinds } = croze.model;
    for (const [i, k] of kinds.entries()) for (const [n, number] of k.kernels.entries()) {
      const m = /split r\d+ by (\d+); bind r\d+ lane/.exec(trace.text(trace.kernels[number].edits));
      if (m) return [i, n, Number(m[1])];
    }
    return [-1, 0, 0];
  });
  await of(page, 2, (v, k, n) => v.choose(k, n), kind, nest);
  await turnTo(page, "Tiles");
  assert.equal(await page.$eval(".cells.lane", (e) => e.childElementCount), factor);
  assert.match(await text(page, ".tiles p"), new RegExp(`tile of [\\d,]+ values: .*\\b${factor} \\(r\\d+, lane`));
  assert.deepEqual(complaints, []);
});

test("kernels stand under the measured roof", async (browser) => {
  const { page, complaints } = await open(browser, "step");
  await press(page, "3");
  await turnTo(page, "Roofline");
  const { points, chosen, kinds, roof } = await of(page, 2, (v) => ({ points: v.roofline.points, chosen: v.chosen, kinds: croze.model.kinds, roof: croze.model.roof("CPU") }));
  assert.ok(roof.flops > 1 && roof.bytes > 0.5, "this machine was measured");
  const point = points.find((p) => p.kind === chosen), kind = kinds[chosen];
  assert.equal(point.y, kind.flops / kind.ns);
  assert.equal(point.x, kind.flops / kind.bytes);
  const share = Math.max(kind.flops / roof.flops, kind.bytes / roof.bytes) / kind.ns;
  assert.ok((await text(page, ".details dl")).includes(`${(share * 100).toFixed(1)} %`));
  assert.ok(Object.keys(await colours(page, ".roofline canvas")).length > 3);
  assert.deepEqual(complaints, []);
});

test("the times of kernels, modules and calls are those of croze profile", async (browser) => {
  const { page } = await open(browser, "step");
  const profile = JSON.parse(execFileSync(croze, ["profile", join(folder, "step.trace"), "--json"]));
  const ns = (rows) => Math.round(rows.reduce((sum, r) => sum + r.seconds, 0) * 1e9);
  for (const rows of [profile.by_kernel, profile.by_module, profile.by_call]) assert.ok(Math.abs(ns(rows) - truth.step.kernel_ns) <= 1);
  const kinds = await page.evaluate(() => croze.model.kinds.filter((k) => k.launches > 0).map((k) => [k.name, k.ns]));
  assert.deepEqual(kinds.toSorted(), profile.by_kernel.map((r) => [r.kernel, Math.round(r.seconds * 1e9)]).toSorted());
  const modules = profile.by_module.map((r) => r.module);
  for (const module of ["first", "second", "output", "gradient of first", "gradient of second"]) assert.ok(modules.includes(module), `${module} is none of ${modules.join(", ")}`);
  // As the page divides them: by the estimates of kernels.
  const byModule = await page.evaluate(() => {
    const times = {};
    const { trace } = croze.model;
    for (let i = 0; i < trace.launches.length; i++) {
      const { origins } = croze.model.plannedOf(i).launch;
      const all = origins.reduce((sum, o) => sum + o.cycles, 0);
      for (const { module, isGradient, cycles } of origins.length > 0 ? origins : [{ module: "", cycles: 1 }]) {
        const name = module === "" ? "?" : (isGradient ? "gradient of " : "") + (module === "." ? "(the model)" : module);
        times[name] = (times[name] ?? 0) + trace.launches.duration.at(i) * cycles / (all || 1);
      }
    }
    return times;
  });
  for (const r of profile.by_module) assert.ok(Math.abs(r.seconds * 1e9 - byModule[r.module]) < 10, r.module);
});

// ---- graph --------------------------------------------------------------------------------------

test("the graph has a box for each kernel, and buffers between them", async (browser) => {
  const { page, complaints } = await open(browser, "block");
  await press(page, "4");
  const counts = () => of(page, 3, (v) => [v.nodes.filter((n) => n.what === "kernel").length, v.nodes.filter((n) => n.what === "group").length, v.drawn]);
  const [launches, kernels] = await page.evaluate(() => {
    const largest = croze.model.trace.schedules.reduce((a, b) => b.launches.length > a.launches.length ? b : a);
    return [largest.launches.length, largest.launches.reduce((sum, l) => sum + l.kernels.length, 0)];
  });
  await press(page, "e");
  assert.equal((await counts())[0], kernels);
  assert.ok((await counts())[2] > 3, "boxes are drawn");
  // Edges lead down, but among gradients.
  assert.ok(await of(page, 3, (v) => v.edges.every(([from, to]) => v.nodes[to].isGradient || v.nodes[from].isGradient || v.layout.boxes[from].layer < v.layout.boxes[to].layer)));
  // No two boxes of a layer overlap.
  assert.ok(await of(page, 3, (v) => v.layout.layers.every((layer) => {
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
    const found = await of(page, 3, (v) => v.found.size);
    assert.ok(found > 0, wanted);
    await page.keyboard.press("Escape");
  }
  assert.deepEqual(complaints, []);
});

test("gradients stand beside what they are gradients of", async (browser) => {
  for (const [name, key] of [["step", "e"], ["block", "e"], ["block", "c"], ["modules", "c"]]) {
    const { page, complaints } = await open(browser, name);
    await press(page, "4", key);
    const found = await of(page, 3, (v) => {
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
    const gradient = await of(page, 3, (v) => { const i = v.nodes.findIndex((n) => n.partner >= 0); v.select(i); return i; });
    await press(page, "g");
    assert.equal(await of(page, 3, (v) => v.chosen), await of(page, 3, (v, i) => v.nodes[i].partner, gradient));
    assert.deepEqual(complaints, []);
  }
});

test("modules of the model are boxes that open and close", async (browser) => {
  const { page, complaints } = await open(browser, "modules");
  await press(page, "4", "c");
  const labels = () => of(page, 3, (v) => v.nodes.filter((n) => n.what === "group").map((n) => n.label));
  assert.ok((await labels()).includes("blocks"), (await labels()).join(", "));
  assert.ok((await labels()).includes("gradient of blocks"), (await labels()).join(", "));
  await of(page, 3, (v) => v.select(v.nodes.findIndex((n) => n.label === "blocks")));
  await press(page, "Enter");
  assert.ok((await labels()).includes("blocks.0") && (await labels()).includes("blocks.1"));
  // A frame around what the open module holds.
  const frame = await of(page, 3, (v) => v.frames.find((f) => f.key === "blocks").boxes.map((i) => v.nodes[i].label));
  assert.ok(frame.includes("blocks.0") && frame.includes("blocks.1"), frame.join(", "));
  assert.ok((await text(page, ".details")).includes("blocks.0"));
  await press(page, "u");
  assert.ok((await labels()).includes("blocks") && !(await labels()).includes("blocks.0"));
  // What is a parameter bears its name.
  await press(page, "e");
  const buffers = await of(page, 3, (v) => v.nodes.filter((n) => n.what === "buffer").map((n) => n.label));
  for (const name of ["blocks.0.query.weight", "blocks.1.norm.weight", "embedding.weight"]) assert.ok(buffers.includes(name), name);
  assert.deepEqual(complaints, []);
});

// ---- rewrites -----------------------------------------------------------------------------------

test("the slider at a rewrite shows the rule and the node that the trace holds", async (browser) => {
  for (const name of ["step", "block"]) {
    const { page, complaints } = await open(browser, name);
    await press(page, "5");
    const { rewrites, pass } = truth[name];
    assert.equal(await of(page, 4, (v) => v.pass), pass);
    for (const at of [0, Math.floor(rewrites.length / 2), rewrites.length - 1]) {
      await page.$eval("input[type=range]", (slider, value) => {
        slider.value = value;
        slider.dispatchEvent(new Event("input"));
      }, String(at));
      assert.equal(await text(page, ".rule"), rewrites[at].rule);
      assert.ok((await text(page, ".details dl")).includes(rewrites[at].place));
      const last = (await text(page, ".sides figure:first-child pre")).trim().split("\n").at(-1);
      assert.match(last, new RegExp(`^− %\\d+ = ${rewrites[at].op} `), "what was matched is lit as gone");
      assert.equal(await text(page, ".bar output"), `${at + 1} of ${rewrites.length}`);
    }
    await press(page, "Home", "ArrowRight");
    assert.equal(await of(page, 4, (v) => v.at), Math.min(1, rewrites.length - 1));
    assert.deepEqual(complaints, []);
  }
});

// ---- compare ------------------------------------------------------------------------------------

test("two traces side by side have the kernels, times and memory that C++ finds", async (browser) => {
  const file = html("larger", "--compare", join(folder, "step.trace"));
  for (const [look, options] of [["light", {}], ["dark", { dark: true }]]) {
    const { page, complaints } = await openPage(browser, `file://${file}`, options);
    await settle(page);
    const { kernels, memory } = truth.compare;
    const rows = await of(page, 5, (v) => v.rows.map((r) => [r.name, r.what, r.baseLaunches, r.launches]));
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

// ---- size ---------------------------------------------------------------------------------------

test("a million events open within two seconds and move at 30 frames a second", async (browser) => {
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
  const pan = () => of(page, 0, async (v) => {
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

test("a graph of 50,000 boxes is laid out within a second", async (browser) => {
  const { page, complaints } = await open(browser, "graph");
  await press(page, "4");
  const boxes = await of(page, 3, (v) => v.nodes.length);
  const ms = Math.min(...await times(4, () => of(page, 3, (v) => {
    v.setAll(false);
    return v.layoutTime;
  })));
  console.log(`  ${boxes} boxes: ${ms.toFixed(0)} ms`);
  assert.ok(boxes >= 49_999);
  assert.ok(ms < 1000 * slack, `${ms} ms`);
  assert.deepEqual(complaints, []);
});

// ---- other tools --------------------------------------------------------------------------------

test("Chrome's trace events are as their description says, and open in speedscope", async (browser) => {
  const file = join(folder, "step-events.json");
  execFileSync(croze, ["viz", join(folder, "step.trace"), "--chrome", file], { stdio: "ignore" });
  const { traceEvents, displayTimeUnit } = JSON.parse(readFileSync(file, "utf8"));
  assert.ok(["ms", "ns"].includes(displayTimeUnit));
  const open_ = new Map();
  for (const e of traceEvents) {
    assert.ok(["M", "X", "C"].includes(e.ph) && typeof e.name === "string" && Number.isInteger(e.pid), JSON.stringify(e));
    if (e.ph === "M") assert.equal(typeof e.args.name, "string");
    if (e.ph === "C") assert.ok(Number.isFinite(e.ts) && Object.values(e.args).every(Number.isFinite));
    if (e.ph !== "X") continue;
    assert.ok(Number.isFinite(e.ts) && e.dur >= 0 && Number.isInteger(e.tid));
    // Events of a thread lie inside of each other or apart; times are rounded to nanoseconds.
    const stack = open_.get(e.tid) ?? [];
    while (stack.length > 0 && stack.at(-1) <= e.ts + 2e-3) stack.pop();
    assert.ok(stack.length === 0 || e.ts + e.dur <= stack.at(-1) + 2e-3, `${e.name} goes on after what it lies in`);
    stack.push(e.ts + e.dur);
    open_.set(e.tid, stack);
  }
  assert.equal(traceEvents.filter((e) => e.cat === "kernel").length, truth.step.launches);

  const app = join(pageFolder, "node_modules", "speedscope", "dist", "release", "index.html");
  const page = await browser.newPage();
  const complaints = [];
  page.on("pageerror", (e) => complaints.push(String(e)));
  await page.setViewport({ width: 1280, height: 800 });
  await page.goto(`file://${app}`);
  const input = await page.waitForSelector("input[type=file]");
  await input.uploadFile(file);
  await page.waitForFunction(() => document.body.innerText.includes("Time Order"), { timeout: 30_000 });
  await page.waitForFunction(() => [...document.querySelectorAll("canvas")].some((c) => c.width > 300), { timeout: 30_000 });
  assert.match(await page.evaluate(() => document.body.innerText), /thread 1|viz_traces/);
  await page.screenshot({ path: join(folder, "speedscope.png") });
  assert.deepEqual(complaints, []);
});

test("a program that is named is run, traced and shown", async (browser) => {
  const program = ["--", croze, "fuzz", "graphs", "--cases", "2", "--seed", "1"];
  const out = join(folder, "program.html");
  const printed = String(execFileSync(croze, ["viz", "--html", out, "--rewrites", ...program]));
  assert.ok(printed.includes("case"), "what the program prints is seen");
  const { page, complaints } = await openPage(browser, `file://${out}`);
  assert.equal(await page.evaluate(() => croze.model.trace.facts.get("program")), "croze");
  assert.ok(await page.evaluate(() => croze.model.trace.launches.length) > 0);
  assert.ok(await page.evaluate(() => croze.model.trace.passes.some((p) => p.matches.length > 0)));
  assert.deepEqual(complaints, []);
  const lines = String(execFileSync(croze, ["profile", "--json", ...program])).trim().split("\n");
  assert.ok(JSON.parse(lines.at(-1)).by_kernel.length > 0);
  assert.throws(() => execFileSync(croze, ["viz", "--html", out, "/bin/true"], { stdio: "pipe" }), /has written no trace/);
});

// ---- looks --------------------------------------------------------------------------------------

test("all views, light and dark, and at 200 %", async (browser) => {
  for (const [look, options] of [["light", {}], ["dark", { dark: true }], ["zoomed", { width: 640, height: 400 }]]) {
    const { page, complaints } = await open(browser, "step", options);
    for (const [i, name] of ["timeline", "memory", "kernels", "graph", "rewrites"].entries()) {
      await press(page, String(i + 1));
      if (name === "timeline") await press(page, "l");
      if (name === "kernels") await turnTo(page, "Tiles");
      await settle(page);
      await page.screenshot({ path: join(folder, `${name}-${look}.png`) });
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is as wide as the window`);
    }
    await press(page, "3");
    for (const tab of ["Assembly", "Roofline"]) {
      await turnTo(page, tab);
      if (tab === "Assembly") await press(page, "n");
      await settle(page);
      await page.screenshot({ path: join(folder, `${tab.toLowerCase()}-${look}.png`) });
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${tab} is as wide as the window`);
    }
    assert.deepEqual(complaints, []);
    const block = await open(browser, "block", options);
    await press(block.page, "4", "c");
    await block.page.screenshot({ path: join(folder, `graph-${look}.png`) });
    assert.deepEqual(block.complaints, []);
  }
  // T turns the colours.
  const { page } = await open(browser, "step");
  await press(page, "t");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(20, 22, 26)");
});

// Limits are those of a machine that does nothing else; others may say by how much they are slower.
const slack = Number(process.env.CROZE_VIZ_SLACK ?? 1);
await runTests(puppeteer, tests);
