// kernels.mjs -- the table of kernels, and all that is shown of one.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { colours, press, text } from "../browser.mjs";
import { KERNELS, REAL, assertShows, fact, of, search, turnTo } from "./views.mjs";

const tests = [], test = (name, run) => tests.push([name, run]);
export default tests;

const rows = (page) => page.$$eval(".list tbody tr", (all) => all.map((tr) => [...tr.children].map((td) => td.innerText.trim())));

test("the table of kernels has all launches and their time", async (browser, { open, truth, croze, folder }) => {
  for (const name of REAL) {
    const { page, complaints } = await open(browser, name);
    await press(page, "3");
    const expected = truth[name].kernels.map((k) => [k.name, k.launches]);
    const table = await rows(page);
    assert.deepEqual(table.map(([kernel, , , launches]) => [kernel, Number(launches.replace(",", ""))]).sort(), expected.sort());
    // Their times together are those of croze profile, as is each of them.
    const profile = JSON.parse(execFileSync(croze, ["profile", join(folder, `${name}.trace`), "--json"]));
    const all = profile.by_kernel.reduce((sum, r) => sum + r.seconds * 1e9, 0);
    assert.ok(Math.abs(all - truth[name].kernel_ns) < 1);
    assertShows((await text(page, ".list .bar span")).split(" in ")[0], all, "the sum of kernel times");
    for (const r of profile.by_kernel) {
      const row = table.find(([kernel]) => kernel === r.kernel);
      assertShows(row[1], r.seconds * 1e9, r.kernel);
      assertShows(row[2], r.seconds * 1e9 / all, r.kernel);
    }
    assert.deepEqual(complaints, []);
  }
});

test("each part of a kernel is reached by keys", async (browser, { open }) => {
  const { page, complaints } = await open(browser, "step");
  await press(page, "3");
  for (const [tab, pattern] of [["Tiles", /computed for/], ["Loops", /range|loop|store/], ["Graph", /%0 = .*\n/], ["Source", /define|void/], ["Buffers", /reads|writes/]]) {
    await turnTo(page, tab);
    assert.match(await text(page, ".details"), pattern, tab);
  }
  // The edits, one in each line, and the estimate of them beside what was measured.
  await turnTo(page, "Edits");
  const [edits, kind] = await of(page, KERNELS, (v) => [croze.model.trace.text(croze.model.trace.kernels[croze.model.kinds[v.chosen].kernels[v.nest]].edits), croze.model.kinds[v.chosen]]);
  assert.deepEqual(await page.$$eval(".edits li", (all) => all.map((e) => e.innerText)), edits.split(";").map((e) => e.trim()).filter((e) => e !== ""));
  assert.ok(edits.includes("split"));
  assert.ok(kind.cycles > 0);
  assert.equal(await fact(page, "estimate"), `${Math.round(kind.cycles).toLocaleString("en-US")} cycles; ${(kind.cycles / kind.least).toFixed(2)} a measured ns`);
  // Another loop nest of the launch, another kernel, another order.
  const nest = await page.$eval(".details select", (e) => e.value);
  await press(page, ".");
  assert.notEqual(await page.$eval(".details select", (e) => e.value), nest);
  await press(page, ",");
  assert.equal(await page.$eval(".details select", (e) => e.value), nest);
  const first = await text(page, ".details h2");
  await press(page, "ArrowDown");
  assert.notEqual(await text(page, ".details h2"), first);
  await press(page, "o", "o");  // by launches
  const launches = (await rows(page)).map((r) => Number(r[3].replace(",", "")));
  assert.deepEqual(launches, launches.toSorted((a, b) => b - a));
  assert.deepEqual(complaints, []);
});

test("kernels are found by name, operation, rule and call", async (browser, { open, truth }) => {
  const { page, complaints } = await open(browser, "step");
  await press(page, "3");
  const all = (await rows(page)).length;
  for (const words of ["reduce_", "exp", truth.step.rewrites[0].place, "cross_entropy"]) {
    await search(page, words);
    const found = (await rows(page)).length;
    assert.ok(found > 0 && found < all, `${found} of ${all} by ${words}`);
  }
  await search(page, "no such kernel");
  assert.equal((await rows(page)).length, 0);
  assert.deepEqual(complaints, []);
});

test("machine code stands in blocks, and its loops are those of the kernel", async (browser, { open }) => {
  const { page, complaints } = await open(browser, "step");
  await press(page, "3");
  await turnTo(page, "Assembly");
  let loops = 0, unmatched = 0;
  for (const kind of await page.evaluate(() => croze.model.kinds.map((k, i) => [i, k.kernels.length]))) {
    if (kind[1] === 0) continue;
    await of(page, KERNELS, (v, k) => v.choose(k), kind[0]);
    const found = await of(page, KERNELS, ({ listing }) => {
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
  const kind = await of(page, KERNELS, (v) => croze.model.kinds.findIndex((k, i) => { if (k.kernels.length === 0) return false; v.choose(i); return v.listing.loops.length > 1; }));
  await of(page, KERNELS, (v, k) => v.choose(k), kind);
  await press(page, "n");
  const lit = await page.$$eval(".sides pre", (panes) => panes.map((p) => p.querySelectorAll(".line.lit").length));
  const [code, kernel] = await of(page, KERNELS, (v) => v.listing.loops[0]);
  assert.deepEqual(lit, [code.last - code.first + 1, kernel.last - kernel.first + 1]);
  const register = await page.$(".register");
  const name = await register.evaluate((e) => e.textContent);
  await register.evaluate((e) => e.scrollIntoView({ block: "center" }));
  await register.hover();
  const same = await page.$$eval(".register.lit", (all) => all.map((e) => e.textContent));
  assert.ok(same.length > 1 && same.includes(name), name);
  // And by the keyboard.
  await page.mouse.move(5, 5);
  assert.equal((await page.$$(".register.lit")).length, 0);
  await press(page, "r");
  const lit_ = await page.$$eval(".register.lit", (e) => e.map((r) => r.textContent));
  await press(page, "r");
  assert.notDeepEqual(await page.$$eval(".register.lit", (e) => e.map((r) => r.textContent)), lit_);
  await press(page, "R");
  assert.deepEqual(await page.$$eval(".register.lit", (e) => e.map((r) => r.textContent)), lit_);
  assert.deepEqual(complaints, []);
});

test("hot lines stand beside the code and the loops", async (browser, { open, folder }) => {
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

test("tiles are cut as the edits say", async (browser, { open }) => {
  const { page, complaints } = await open(browser, "step");
  await press(page, "3");
  const [kind, nest, factor] = await page.evaluate(() => {
    const { trace, kinds } = croze.model;
    for (const [i, k] of kinds.entries()) for (const number of k.kernels) {
      const m = /split r\d+ by (\d+); bind r\d+ lane/.exec(trace.text(trace.kernels[number].edits));
      if (m) return [i, number, Number(m[1])];
    }
    return [-1, 0, 0];
  });
  await of(page, KERNELS, (v, k, n) => v.choose(k, n), kind, nest);
  await turnTo(page, "Tiles");
  assert.equal(await page.$eval(".cells.lane", (e) => e.childElementCount), factor);
  assert.match(await text(page, ".tiles p"), new RegExp(`tile of [\\d,]+ values: .*\\b${factor} \\(r\\d+, lane`));
  assert.deepEqual(complaints, []);
});

test("the tile of one turn is drawn in the plane that is computed", async (browser, { open }) => {
  const { page, complaints } = await open(browser, "step");
  await press(page, "3");
  await turnTo(page, "Tiles");
  let planes = 0;
  for (const [kind, kernel] of await page.evaluate(() => croze.model.kinds.flatMap((k, i) => k.kernels.map((n) => [i, n])))) {
    await of(page, KERNELS, (v, k, n) => v.choose(k, n), kind, kernel);
    // "8 (r10, lane) × 8 (r1, unroll) × 2 (r4, unroll, reduced)": of two ranges, and not reduced.
    const factors = [...(await text(page, ".details")).matchAll(/(\d+) \(r\d+, (?:lane|unroll)\)/g)].map((m) => Number(m[1]));
    if (factors.length !== 2 || !await page.$(".plane")) continue;
    const drawn = await page.$eval(".planes", (planes) => {
      const [box, tile] = [".plane", ".tile-at-once"].map((s) => planes.querySelector(s)), sizes = [...planes.querySelectorAll("span")].map((e) => Number(e.textContent.split(": ")[1].replace(",", "")));
      return [tile.getBoundingClientRect().width / box.clientWidth * sizes[0], tile.getBoundingClientRect().height / box.clientHeight * sizes[1]];
    });
    const rounded = drawn.map((n) => Math.round(n)).toSorted((a, b) => a - b);
    assert.ok(drawn.every((n) => Math.abs(n - Math.round(n)) < 0.05 * n), drawn.join());
    // Both cuts may be of one range, as vectors and turns of it.
    const product = (list) => list.reduce((n, m) => n * m, 1);
    assert.equal(product(rounded), product(factors));
    if (rounded[0] > 1) {
      assert.deepEqual(rounded, factors.toSorted((a, b) => a - b));
      planes++;
    }
  }
  assert.ok(planes > 0, "a kernel that computes a tile of two ranges");
  assert.deepEqual(complaints, []);
});

test("kernels stand under the measured roof", async (browser, { open }) => {
  const { page, complaints } = await open(browser, "step");
  await press(page, "3");
  await turnTo(page, "Roofline");
  const { points, chosen, kinds, roof } = await of(page, KERNELS, (v) => ({ points: v.roofline.points, chosen: v.chosen, kinds: croze.model.kinds, roof: croze.model.roof("CPU") }));
  assert.ok(roof.flops > 1 && roof.bytes > 0.5, "this machine was measured");
  const point = points.find((p) => p.kind === chosen), kind = kinds[chosen];
  assert.equal(point.y, kind.flops / kind.ns);
  assert.equal(point.x, kind.flops / kind.bytes);
  const share = Math.max(kind.flops / roof.flops, kind.bytes / roof.bytes) / kind.ns;
  assert.ok((await text(page, ".details dl")).includes(`${(share * 100).toFixed(1)} %`));
  assert.ok(Object.keys(await colours(page, ".roofline canvas")).length > 3);
  assert.deepEqual(complaints, []);
});

test("the times of kernels, modules and calls are those of croze profile", async (browser, { open, truth, croze, folder }) => {
  const { page } = await open(browser, "step");
  const profile = JSON.parse(execFileSync(croze, ["profile", join(folder, "step.trace"), "--json"]));
  const ns = (rows) => Math.round(rows.reduce((sum, r) => sum + r.seconds, 0) * 1e9);
  for (const rows of [profile.by_kernel, profile.by_module, profile.by_call]) assert.ok(Math.abs(ns(rows) - truth.step.kernel_ns) <= 1);
  const kinds = await page.evaluate(() => croze.model.kinds.filter((k) => k.launches > 0).map((k) => [k.name, k.ns]));
  assert.deepEqual(kinds.toSorted(), profile.by_kernel.map((r) => [r.kernel, Math.round(r.seconds * 1e9)]).toSorted());
  const modules = profile.by_module.map((r) => r.module);
  for (const module of ["conv1", "conv2", "hidden", "output", "gradient of conv1", "gradient of conv2"]) assert.ok(modules.includes(module), `${module} is none of ${modules.join(", ")}`);
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
