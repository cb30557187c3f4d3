// The page of traces: opens the trace that it was written with, and turns between the views.  With
// another trace it begins with what differs.
import { Compare } from "./compare.js";
import { byId } from "./dom.js";
import { duration } from "./format.js";
import { Graph } from "./graph.js";
import { Kernels } from "./kernels.js";
import { Memory } from "./memory.js";
import { Model } from "./model.js";
import { readTrace } from "./reader.js";
import { Rewrites } from "./rewrites.js";
import { Page, embedded, start, type View } from "./shell.js";
import { Timeline, showFaults } from "./timeline.js";

const KEYS: [string, string][] = [
  ["W S, A D", "timeline, memory, graph: zoom, move"], ["← →", "the event, change, box, rewrite or part of a kernel before and after"],
  ["↑ ↓", "the track, kernel, edge or pass above and below"], ["N, Shift+N", "the next found, the one before"],
  ["F, 0", "fit what is chosen, fit all"], ["Enter", "open what is chosen"], ["Esc", "let go"],
  ["L", "timeline: the longest launch"], ["G", "timeline: from a launch to the run that asked for it, and back"],
  ["M, Shift+drag", "timeline: measure; M again goes on to what is chosen now"], ["P", "memory: the peak"],
  [", .", "kernels: the loop nest before, the next"], ["O", "kernels: sort by the next column"],
  ["N, Shift+N", "kernels: the next loop of the assembly, the one before"], ["R, Shift+R", "kernels: light the next register, the one before"], ["H", "kernels: the hottest line"],
  ["E, C", "graph: open all, close all"], ["U, G, B, K", "graph: close the group around; from a gradient to what it is of, and back; boxes of launches; open the kernel"],
  ["PgUp PgDn", "graph: tensors, kernels, the graph of one and its program"], ["PgUp PgDn, Home End", "rewrites: by ten, first and last"], ["R, X", "rewrites: all rules by time; nodes that stay the same"],
  ["O, P", "compare: only what differs; memory at the peak"],
];

function views(model: Model, base: Model | null): [string, View][] {
  const openKernel = (kind: number, kernel?: number) => {
    kernels.choose(kind, kernel);
    page.show(2);
  };
  const kernels = new Kernels(model);
  const all: [string, View][] = [["Timeline", new Timeline(model, openKernel)], ["Memory", new Memory(model, openKernel)],
    ["Kernels", kernels], ["Graph", new Graph(model, openKernel)], ["Rewrites", new Rewrites(model)]];
  if (base) all.push(["Compare", new Compare(base, model, openKernel)]);
  return all;
}

let page: Page;

start("The trace", async () => {
  const begin = performance.now();
  const bytes = await embedded("data"), baseBytes = await embedded("base");
  const unpacked = performance.now();
  const trace = readTrace(bytes);
  const read = performance.now();
  const model = new Model(trace);
  const { facts } = model.trace;
  byId("program").textContent = [facts.get("program"), `croze ${facts.get("version") ?? "?"}`, duration(model.end - model.start)].join(" · ");
  document.title = `${facts.get("program") ?? "a trace"} · croze viz`;
  showFaults(model);
  const base = baseBytes.length > 0 ? new Model(readTrace(baseBytes)) : null;
  page = new Page(views(model, base), KEYS);
  if (base) page.show(5);
  // For tests and for the console: what is shown, and how long it took.
  Object.assign(window, { croze: { page, model, openTime: performance.now() - begin,
    times: { unpack: unpacked - begin, read: read - unpacked, model: performance.now() - read } } });
});
