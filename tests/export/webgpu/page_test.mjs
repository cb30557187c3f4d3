// page_test.mjs PAGE WEB_MODELS MODELS FOLDER: exported models in headless Chromium, whose WebGPU is
// SwiftShader's: what they compute is held against CPU, and their pages are looked at.
//
// PAGE is where puppeteer is installed, MODELS where files of ONNX are.  Pictures of the pages are
// left in FOLDER.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createReadStream, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { loadPuppeteer, openPage, runTests, text } from "../../viz/browser.mjs";

const [pageFolder, makeModels, modelsFolder, folder] = process.argv.slice(2);
const puppeteer = loadPuppeteer(pageFolder);
if (!existsSync("/usr/share/datasets/fashion-mnist") && !process.env.CROZE_DATA_DIR) {
  console.log("skipped: dataset-fashion-mnist is not installed");
  process.exit(0);
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
execFileSync(makeModels, [folder, modelsFolder], { stdio: "inherit", env: { ...process.env, CROZE_DEVICE: "CPU" } });
const models = JSON.parse(readFileSync(join(folder, "truth.json"), "utf8"));
if (!models.some(({ name }) => name === "blazeface")) console.log("BlazeFace is not fetched (ctest -L models): left out");

// ---- a server of files ----

const types = { ".html": "text/html", ".js": "text/javascript", ".json": "application/json" };
const asked = [];  // addresses, in order
const server = createServer((request, response) => {
  const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
  asked.push(path);
  const file = join(folder, normalize(path).endsWith("/") ? `${path}index.html` : path);
  if (!existsSync(file)) return response.writeHead(404).end();
  response.writeHead(200, { "Content-Type": types[extname(file)] ?? "application/octet-stream" });
  createReadStream(file).pipe(response);
});
await new Promise((done) => server.listen(0, "localhost", done));
const address = `http://localhost:${server.address().port}/`;

// ---- in the page ----

// All runs of a model, and what is wrong with their results: the greatest difference by output, in
// parts of the greatest value.
async function compare(page, { name, runs }, { again = false } = {}) {
  return page.evaluate(async ({ name, runs, again }) => {
    const { load, description } = await import(`/${name}/${name}.js`);
    const reader = async (file) => {
      const bytes = await (await fetch(`/${name}/${file}`)).arrayBuffer();
      let at = 0;
      return { take(array, sizes) {
        const { constructor: Class, byteLength } = array.zeros(...sizes);
        return new Class(bytes.slice(at, at += byteLength));
      }, rest: () => bytes.byteLength - at };
    };
    const [given, expected] = [await reader("inputs.bin"), await reader("outputs.bin")];
    const progress = [];
    const model = await load({ onProgress: (...at) => progress.push(at) });
    if (again) {  // a reset forgets
      await model.run(Object.fromEntries(description.inputs.map((a) => [a.name, a.zeros()])));
      model.reset();
    }
    // Not one after the other: runs keep their order by themselves.
    const pending = runs.map((sizes) => {
      const values = description.sizes.map((s) => sizes[s.name]);
      const inputs = Object.fromEntries(description.inputs.map((a) => [a.name, given.take(a, values)]));
      return [model.run(inputs, sizes), values];
    });
    const differences = {};
    let sameGreatest = 0;
    for (const [run, values] of pending) {
      const results = await run;
      for (const output of description.outputs) {
        const [mine, truth] = [results[output.name], expected.take(output, values)];
        if (mine.constructor !== truth.constructor || mine.length !== truth.length) throw new Error(`${output.name}: ${mine.constructor.name} of ${mine.length}`);
        let greatest = 0, difference = 0, top = 0, topOfTruth = 0;
        for (let i = 0; i < truth.length; i++) {
          greatest = Math.max(greatest, Math.abs(Number(truth[i])));
          if (mine[i] !== truth[i]) difference = Math.max(difference, Math.abs(Number(mine[i]) - Number(truth[i])));
          if (Number.isNaN(Number(mine[i])) !== Number.isNaN(Number(truth[i]))) difference = Infinity;
          if (mine[i] > mine[top]) top = i;
          if (truth[i] > truth[topOfTruth]) topOfTruth = i;
        }
        differences[output.name] = Math.max(differences[output.name] ?? 0, difference / (greatest || 1));
        if (output === description.outputs[0] && top === topOfTruth) sameGreatest++;
      }
    }
    const rest = [given.rest(), expected.rest()];
    model.destroy();
    return { differences, sameGreatest, progress, rest, weightBytes: description.weightBytes };
  }, { name, runs, again });
}

const blank = async (browser) => {
  const page = await browser.newPage();
  await page.goto(`${address}truth.json`);
  return page;
};

const tests = models.map((model) => [`${model.name}: ${model.runs.length} runs compute what CPU computes`, async (browser) => {
  const page = await blank(browser);
  const { differences, sameGreatest, progress, rest, weightBytes } = await compare(page, model, { again: model.name === "state" });
  console.log(`  ${model.name}: greatest differences, in parts of the greatest value: ${JSON.stringify(differences)}`);
  for (const [name, difference] of Object.entries(differences)) assert.ok(difference <= model.tolerance, `${name}: ${difference}`);
  if (model.name === "fashion") assert.equal(sameGreatest, 100);
  assert.deepEqual(rest, [0, 0]);
  assert.deepEqual(progress.at(-1), [weightBytes, weightBytes]);
}]);
const test = (name, run) => tests.push([name, run]);

test("weights are fetched once, and anew where they are damaged or another's", async (browser) => {
  const page = await blank(browser);
  const load = (options) => page.evaluate(async (o) => {
    const { load } = await import("/fashion/fashion.js");
    (await load(o)).destroy();
  }, options);
  const fetches = () => asked.filter((path) => path === "/fashion/fashion.weights").length;
  await page.evaluate(() => caches.delete("croze-weights"));
  const before = fetches();
  await load();
  await load();
  assert.equal(fetches(), before + 1);
  await load({ cache: false });
  assert.equal(fetches(), before + 2);
  await page.evaluate(async () => {
    const cache = await caches.open("croze-weights");
    const [key] = await cache.keys();
    await cache.put(key, new Response(new Uint8Array(1000)));
  });
  await load();
  assert.equal(fetches(), before + 3);
  await assert.rejects(load({ weights: "/training/training.weights" }), /the weights are those of another export/);
  await assert.rejects(load({ weights: "/nowhere" }), /404/);
});

test("what will not do is refused with its name", async (browser) => {
  const page = await blank(browser);
  const error = (run) => page.evaluate(`(async () => { try { ${run} } catch (e) { return e.message; } return "no error"; })()`);
  const prepare = `const { load } = await import("/fashion/fashion.js"); const model = await load();`;
  assert.match(await error(`${prepare} await model.run({});`), /"image" is no Uint8Array/);
  assert.match(await error(`${prepare} await model.run({ image: new Uint8Array(5) });`), /has 5 elements, where 784 were expected: shape \(1, 1, 28, 28\)/);
  assert.match(await error(`const { load } = await import("/open/open.js"); await (await load()).run({ x: new Float32Array(5) }, { length: 7 });`), /length is 7, where one from 8 to 800, a multiple of 8,/);
  assert.match(await error(`const { load } = await import("/state/state.js"); (await load()).writeState({ total: new Float32Array(1) });`), /the state has no "total"/);
  // A device that has less than the model needs, one that is lost, and none.
  assert.match(await error(`const { load } = await import("/fashion/fashion.js"); await load({ device: { limits: { maxBufferSize: 5 } } });`), /needs a maxBufferSize of \d+, this device has 5/);
  assert.match(await error(`${prepare} model.device.destroy(); await model.device.lost; await model.run({ image: new Uint8Array(784) });`), /the device is lost/);
  await page.evaluate(() => Object.defineProperty(navigator, "gpu", { value: undefined }));
  assert.match(await error(prepare), /there is no WebGPU here/);
});

test("the state can be read, changed and reset", async (browser) => {
  const page = await blank(browser);
  const [first, second, third, changed] = await page.evaluate(async () => {
    const { load } = await import("/state/state.js");
    const model = await load();
    const x = new Float32Array(64).fill(1);
    const states = [await model.readState()];
    const { output0 } = await model.run({ x });
    states.push(await model.readState(), output0);
    model.reset();
    states[2] = (await model.run({ x })).output0;
    model.writeState({ sum: new Float32Array(64).fill(100) });
    states.push((await model.run({ x })).output0);
    return [states[0].sum, states[1].sum, states[2], states[3]].map((a) => Array.from(a));
  });
  assert.notDeepEqual(first, second);
  assert.deepEqual(second, third);
  assert.ok(changed.every((v) => v >= 102 && v < 103));
});

// Compiling kernels takes a busy processor that plays a GPU its time.
const timeout = 300_000;
const looks = { light: {}, dark: { dark: true }, narrow: { width: 400 } };
const shown = { fashion: ["light", "dark", "narrow"], blazeface: ["dark"], training: ["narrow"] };
for (const [name, itsLooks] of Object.entries(shown).filter(([n]) => models.some((m) => m.name === n))) {
  test(`the page of ${name} shows what it computes`, async (browser) => {
    for (const look of itsLooks) {
      const { page, complaints } = await openPage(browser, `${address}${name}/`, { ...looks[look], timeout });
      await page.waitForFunction(() => document.documentElement.dataset.runs === "1", { timeout });
      if (name === "fashion" && look === "light") {  // a line is drawn
        const box = await (await page.$("canvas.picture")).boundingBox();
        await page.mouse.move(box.x + box.width / 3, box.y + box.height / 4);
        await page.mouse.down();
        await page.mouse.move(box.x + box.width / 3, box.y + box.height * 3 / 4, { steps: 20 });
        await page.mouse.up();
        await page.waitForFunction(() => document.documentElement.dataset.runs === "2", { timeout });
      }
      assert.equal(await page.$eval("#fault", (e) => e.hidden), true);
      assert.equal((await page.$$("#outputs .card")).length, { fashion: 1, blazeface: 4, training: 1 }[name]);
      assert.match(await text(page, "#about"), /^run \d: [\d.]+ ms$/);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "wider than the window");
      await page.screenshot({ path: join(folder, `${name}-${look}.png`), fullPage: true });
      assert.deepEqual(complaints, []);
      await page.close();
    }
  });
}

test("the types are those of TypeScript's own compiler", () => {
  const uses = models.map(({ name }) => `import * as ${name} from "./${name}/${name}.js";`).join("\n");
  const program = `${uses}
const model: fashion.Model = await fashion.load({ onProgress: (loaded: number, total: number) => void (loaded / total) });
const { scores }: { scores: Float32Array } = await model.run({ image: new Uint8Array(784) });
const { p } = await (await open.load()).run({ x: new Float32Array(40) }, { length: 8 });
const { sum } = await (await state.load()).readState();
const shape: number[] = open.description.inputs[0]!.shape(8);
// @ts-expect-error: an image is no float
await model.run({ image: scores });
// @ts-expect-error: a size is missing
await (await open.load()).run({ x: p });
export { sum, shape };
`;
  writeFileSync(join(folder, "use.ts"), program);
  const compiler = join(pageFolder, "node_modules", ".bin", "tsc");
  execFileSync(compiler, ["--noEmit", "--strict", "--noUncheckedIndexedAccess", "--target", "ES2023", "--module", "ESNext", "--moduleResolution", "bundler", "--lib", "ES2023,DOM,DOM.Iterable", "--types", "", join(folder, "use.ts")], { stdio: "inherit" });
});

const wanted = process.argv.slice(6);  // parts of names of these; none: all
await runTests(puppeteer, tests.filter(([name]) => wanted.length === 0 || wanted.some((w) => name.includes(w))), {}, ["--enable-unsafe-webgpu"]);
