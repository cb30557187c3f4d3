// other_tools.mjs -- traces for other tools, and programs that are run to be traced.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openPage } from "../browser.mjs";

const tests = [], test = (name, run) => tests.push([name, run]);
export default tests;

test("Chrome's trace events are as their description says, and open in speedscope", async (browser, { croze, folder, pageFolder, truth }) => {
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

test("a program that is named is run, traced and shown", async (browser, { croze, folder }) => {
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
