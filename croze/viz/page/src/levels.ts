// What the graph can be drawn of: the tensors that a program recorded, the kernels of a schedule, the
// graph of one kernel, and the program that this became.
//
// At each level a unit is what a box stands for.  A unit reads and writes things that have numbers:
// buffers of a schedule, or the values of other units.
import { bytes, count, duration, shape } from "./format.js";
import { moduleName, unitsOf, type Unit } from "./grouping.js";
import type { Model } from "./model.js";
import type { Schedule, TensorNode } from "./reader.js";
import type { KernelWords } from "./words.js";

export const LEVELS = ["tensors", "kernels", "graph of a kernel", "program of a kernel"] as const;
export type LevelName = typeof LEVELS[number];

export interface Level {
  name: LevelName;
  units: Unit[];
  noun: string;           // what units are, "kernels"
  buffers: Schedule | null;  // whose buffers stand between the units as boxes
  label(unit: number): string;
  note(unit: number): string;
  time(unit: number): number;  // in nanoseconds; 0: not known
  isMemory(unit: number): boolean;  // and computes nothing
  words(unit: number): string[];    // that it is found by
  facts(unit: number): [string, string][];
  groups(unit: number): string[];   // instead of those of its origin, the outermost first; empty: none
}

const INPUT = 0;  // kind of a buffer
const origin = (module = "", call = "", isGradient = false) => ({ module, call, isGradient, cycles: 0, reads: [], writes: [] });

// ---- kernels ----

export function kernelLevel(model: Model, words: KernelWords, schedule: number): Level {
  const { trace } = model, s = trace.schedules[schedule]!, units = unitsOf(s);
  const times = new Map<number, number>();  // of the launches, by number
  for (let i = 0; i < trace.launches.length; i++) {
    if (trace.runs[trace.launches.run.at(i)]!.schedule !== schedule) continue;
    const number = trace.launches.launch.at(i);
    times.set(number, (times.get(number) ?? 0) + trace.launches.duration.at(i));
  }
  const kernelsOf = (unit: Unit) => s.launches[unit.launch]!.origins.length > 0 ? [unit.kernel] : s.launches[unit.launch]!.kernels;
  // A launch is divided among its kernels as they were estimated.
  const time = (unit: number): number => {
    const { launch, origin } = units[unit]!, { origins } = s.launches[launch]!, whole = times.get(launch) ?? 0;
    if (origins.length < 2) return whole;
    const all = origins.reduce((sum, o) => sum + o.cycles, 0);
    return all > 0 ? whole * origin.cycles / all : whole / origins.length;
  };
  const label = (unit: number): string => {
    const { launch, origin, kernel } = units[unit]!, { kernels, origins } = s.launches[launch]!;
    const name = trace.kernels[kernel]?.name ?? "copy", call = origin.call.replace(/ \(.*\)$/, "");
    if (origins.length === 0 && kernels.length > 1) return `${name} +${kernels.length - 1}`;
    return call === "" ? name : `${call}: ${name}`;
  };
  return {
    name: "kernels", units, noun: "kernels", buffers: s, label, time, note: (unit) => duration(time(unit)), isMemory: () => false, groups: () => [],
    words: (unit) => kernelsOf(units[unit]!).map((k) => words.of(k)),
    facts: (unit) => {
      const u = units[unit]!, l = s.launches[u.launch]!;
      return [["time", duration(time(unit)) + (l.origins.length > 1 ? ", estimated" : "")], ["reads, writes", `${u.reads.length}, ${u.writes.length} buffers`],
        ["launch", `${u.launch + 1} of ${s.launches.length}, of ${count(l.kernels.length)} kernels`], ["bytes of the launch", bytes(l.bytes)],
        ["module", moduleName(u.origin.module)], ["nodes of the model", l.nodes.join(", ")], ["recorded by", u.origin.call]];
    },
  };
}

// ---- tensors ----

// The kernel that computes each tensor: from what a kernel writes back to what stands in memory.  Of
// several that do, the first.
interface Maker { launch: number; kernel: number; nest: number }
function makersOf(nodes: TensorNode[], s: Schedule): (Maker | null)[] {
  const makers = nodes.map((): Maker | null => null);
  const written = new Map<number, number[]>();  // tensors whose values a buffer gets
  nodes.forEach((n, i) => {
    if (n.buffer < 0 || n.op === "buffer") return;
    const list = written.get(n.buffer);
    if (list) list.push(i); else written.set(n.buffer, [i]);
  });
  s.launches.forEach((l, launch) => {
    const nests = l.origins.length > 0 ? l.origins.map((o) => o.writes) : [l.writes];
    nests.forEach((writes, nest) => {
      const stack = writes.flatMap((b) => written.get(b) ?? []);
      for (let n = stack.pop(); n !== undefined; n = stack.pop()) {
        if (makers[n]) continue;
        makers[n] = { launch, kernel: l.kernels[nest] ?? -1, nest };
        for (const source of nodes[n]!.sources) if (nodes[source]!.buffer < 0) stack.push(source);
      }
    });
  });
  return makers;
}

// Where tensors come from.  What is computed to write to memory of the program, such as the step of an
// optimizer, updates a parameter and is no part of its module; what follows from that goes with it.
function originsOf(nodes: TensorNode[], s: Schedule, makers: (Maker | null)[]): Unit["origin"][] {
  const origins: Unit["origin"][] = [];
  nodes.forEach((n, i) => {
    const made = makers[i], writes = made ? s.launches[made.launch]!.origins[made.nest]?.writes ?? [] : [];
    const updated = writes.map((b) => s.buffers[b]!).filter((b) => b.kind === INPUT);
    const before = n.sources.at(-1), isView = !made && n.call === "" && before !== undefined;
    if (isView) origins.push(origins[before]!);
    else if (updated.length > 0) origins.push(origin("", n.call || `update of ${updated.find((b) => b.name !== "")?.name ?? "memory"}`, n.isGradient));
    else origins.push(origin(n.module, n.call, n.isGradient));
  });
  return origins;
}

export function tensorLevel(model: Model, schedule: number): Level {
  const { trace } = model, s = trace.schedules[schedule]!, all = s.tensors, makers = makersOf(all, s), origins = originsOf(all, s, makers);
  // Constants are told of where they are used.
  const shown = all.map((_, i) => i).filter((i) => all[i]!.op !== "const");
  const units = shown.map((i): Unit => ({ launch: makers[i]?.launch ?? -1, kernel: makers[i]?.kernel ?? -1,
    origin: origins[i]!, reads: all[i]!.sources, writes: [i] }));
  const node = (unit: number) => all[shown[unit]!]!;
  const type = (n: TensorNode) => shape(n.dtype, n.shape);
  const buffer = (unit: number) => s.buffers[node(unit).buffer];
  return {
    name: "tensors", units, noun: "tensors", buffers: null, time: () => 0, note: (unit) => type(node(unit)),
    label: (unit) => node(unit).op === "buffer" ? buffer(unit)?.name || "buffer" : `${node(unit).op} ${node(unit).argument}`.trim(),
    isMemory: (unit) => node(unit).op === "buffer",
    words: (unit) => [node(unit).op, type(node(unit)), buffer(unit)?.name ?? "", trace.kernels[units[unit]!.kernel]?.name ?? ""],
    groups: (unit) => {
      const made = makers[shown[unit]!];
      return made ? [`launch ${made.launch + 1}`, `launch ${made.launch + 1}.${made.nest + 1}: ${trace.kernels[made.kernel]?.name ?? "copy"}`] : [];
    },
    facts: (unit) => {
      const n = node(unit), u = units[unit]!, constants = n.sources.filter((i) => all[i]!.op === "const").map((i) => all[i]!.argument);
      return [["value", type(n)], ["argument", n.argument], ["with constants", constants.join(", ")],
        ["computed by", u.launch < 0 ? "" : `${trace.kernels[u.kernel]?.name ?? "copy"}, in launch ${u.launch + 1}`],
        ["stands in", n.buffer < 0 ? "no memory" : `${buffer(unit)!.name || "a buffer"} of ${bytes(buffer(unit)!.bytes)}`],
        ["module", moduleName(u.origin.module)], ["recorded by", u.origin.call]];
    },
  };
}

// ---- inside of a kernel ----

interface Line { text: string; label: string; note: string; made: number; reads: number[]; loops: string[] }

// "%7 = add int32 %3 %5": a line of a graph or program; "store %2 %4"; loops lie around lines, and
// constants stand where they are used.
function linesOf(text: string): Line[] {
  const lines: Line[] = [], loops: string[] = [], constants = new Map<number, string>();
  for (const raw of text.split("\n")) {
    const line = raw.trim(), loop = /^loop (\S+)/.exec(line);
    if (line === "") continue;
    if (loop) { loops.push(`${loops.at(-1) ?? "loop"} ${loop[1]}`); continue; }
    if (line.startsWith("end_loop")) { loops.pop(); continue; }
    const m = /^(?:%(\d+) = )?(\S+)(.*)$/.exec(line)!, op = m[2]!, rest = m[3]!.trim();
    const [type = "", ...others] = rest.split(" "), hasType = type !== "" && !type.startsWith("%");
    const arguments_ = (hasType ? others : [type, ...others]).filter((w) => !/^%\d+$/.test(w)).join(" ");
    const made = Number(m[1] ?? -1), reads = [...rest.matchAll(/%(\d+)/g)].map((r) => Number(r[1]));
    if (op === "const") {
      constants.set(made, arguments_);
      continue;
    }
    const used = reads.flatMap((r) => constants.get(r) ?? []).join(" ");
    lines.push({ text: line, label: [op, arguments_, used].filter((t) => t !== "").join(" "), note: hasType ? type : "", made, reads, loops: [...loops] });
  }
  return lines;
}

export function innerLevel(model: Model, kernel: number, name: LevelName): Level {
  const k = model.trace.kernels[kernel], isProgram = name === "program of a kernel";
  const lines = k ? linesOf(model.trace.text(isProgram ? k.program : k.graph)) : [];
  const units = lines.map(({ made, reads }): Unit => ({ launch: -1, kernel, origin: origin(), reads, writes: made < 0 ? [] : [made] }));
  return {
    name, units, noun: "nodes", buffers: null, time: () => 0, label: (unit) => lines[unit]!.label, note: (unit) => lines[unit]!.note,
    isMemory: (unit) => /^(param|register|local)\b/.test(lines[unit]!.label), words: (unit) => [lines[unit]!.text], groups: (unit) => lines[unit]!.loops,
    facts: (unit) => [["kernel", k?.name ?? ""], ["node", lines[unit]!.text], ["in", lines[unit]!.loops.at(-1) ?? ""]],
  };
}
