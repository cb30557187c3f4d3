// page_test.mjs PAGE VIZ_TRACES CROZE FOLDER: what the page of croze viz shows of real traces, in
// headless Chromium, held against what the reader of C++ finds in them.
//
// Pictures of the views are left in FOLDER, to be looked at.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadPuppeteer, openPage, runTests } from "./browser.mjs";
import compare from "./page/compare.mjs";
import graph from "./page/graph.mjs";
import kernels from "./page/kernels.mjs";
import looks from "./page/looks.mjs";
import memory from "./page/memory.mjs";
import other_tools from "./page/other_tools.mjs";
import rewrites from "./page/rewrites.mjs";
import size from "./page/size.mjs";
import timeline from "./page/timeline.mjs";

const [pageFolder, makeTraces, croze, folder] = process.argv.slice(2);
const puppeteer = loadPuppeteer(pageFolder);

mkdirSync(folder, { recursive: true });
// Without the cache of kernels, so that each is compiled and there are rewrites to see; by two threads,
// so that the timeline has as many rows on every machine.
execFileSync(makeTraces, [folder], { stdio: "inherit", env: { ...process.env, CROZE_CACHE: "0", CROZE_THREADS: "2" } });
const truth = JSON.parse(readFileSync(join(folder, "truth.json"), "utf8"));
// The page of a trace, as one file.
const html = (name, ...options) => {
  execFileSync(croze, ["viz", join(folder, `${name}.trace`), "--html", join(folder, `${name}.html`), ...options]);
  return join(folder, `${name}.html`);
};
const open = (browser, name, looks) => openPage(browser, `file://${html(name)}`, looks);
// Limits are those of a machine that does nothing else; others may say by how much they are slower.
const slack = Number(process.env.CROZE_VIZ_SLACK ?? 1);

const about = { pageFolder, croze, folder, truth, html, open, slack };
const files = { timeline, memory, kernels, graph, rewrites, compare, size, other_tools, looks };
const wanted = process.argv.slice(6);  // names of these; none: all
await runTests(puppeteer, Object.entries(files).filter(([name]) => wanted.length === 0 || wanted.includes(name)).flatMap(([, tests]) => tests), about);
