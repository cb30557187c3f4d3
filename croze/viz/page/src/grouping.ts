// Which boxes stand for the kernels of a schedule: each is drawn alone, or in the box of a call of
// the program's or of a module that holds the call; or in that of the launch that it is a part of.
//
// A kernel of the module "blocks.0.query" lies in the groups "blocks", "blocks.0" and
// "blocks.0.query", and in that of its call; the gradient of it in groups of their own, beside
// those.  Groups are told by keys: "∂" for a gradient, the module, "|" and the call.
import type { Origin, PlannedLaunch, Schedule } from "./reader.js";

const WHOLE = ".";  // the module that holds all
const GRADIENT = "gradient of ";
const INPUT = 0;  // kind of a buffer
const DEEPEST = 20;  // module that has a group of its own

export const isGradientKey = (key: string): boolean => key.startsWith("∂");
const forwardKey = (key: string): string => isGradientKey(key) ? key.slice(1) : key;

// What a group is called: the call, or the module.
export function groupName(key: string): string {
  const [module = "", call] = forwardKey(key).split("|");
  const name = call ?? module;
  return isGradientKey(key) && !name.startsWith(GRADIENT) ? GRADIENT + name : name;
}

// The innermost module that holds both.
function commonModule(a: string, b: string): string {
  if (a === "" || b === "") return a || b;
  const left = a.split("."), right = b.split(".");
  let same = 0;
  while (same < left.length && same < right.length && left[same] === right[same]) same++;
  return same === 0 ? WHOLE : left.slice(0, same).join(".");
}

// Where a launch comes from as a whole: from the call of the kernel that was estimated to take
// longest, and the module that holds all kernels.
export function originOf(launch: PlannedLaunch): Origin {
  const { origins } = launch;
  if (origins.length === 0) return { module: "", call: "", isGradient: false, cycles: 0, reads: launch.reads, writes: launch.writes };
  const longest = origins.reduce((a, b) => b.cycles > a.cycles ? b : a);
  return { ...longest, module: origins.reduce((m, o) => commonModule(m, o.module.slice(0, 500)), "") };
}
export const moduleName = (module: string): string => module === WHOLE ? "the whole model" : module;

// The groups around what has this origin, the outermost first.
export function groupsOf(origin: Pick<Origin, "module" | "call" | "isGradient">): string[] {
  const before = origin.isGradient ? "∂" : "";
  const keys: string[] = [];
  const module = origin.module === WHOLE ? "" : origin.module;
  if (module !== "") {
    const parts = module.slice(0, 500).split(".", DEEPEST);
    for (let i = 1; i <= parts.length; i++) keys.push(before + parts.slice(0, i).join("."));
  }
  const call = origin.call.startsWith(GRADIENT) ? origin.call.slice(GRADIENT.length) : origin.call;
  if (call !== "") keys.push(`${before}${module}|${call}`);
  return keys;
}

// A kernel of a launch, or a launch of whose kernels nothing was noted.
export interface Unit { launch: number; kernel: number; origin: Origin; reads: number[]; writes: number[] }

// What writes to memory of the program, such as the step of an optimizer, updates a module and is no
// part of what that computes.
function placed(schedule: Schedule, origin: Origin): Origin {
  const isUpdate = origin.writes.some((b) => schedule.buffers[b]!.kind === INPUT);
  return isUpdate ? { ...origin, module: "" } : origin;
}

export function unitsOf(schedule: Schedule): Unit[] {
  return schedule.launches.flatMap((l, launch): Unit[] => {
    if (l.origins.length > 0) return l.origins.map((origin, i) => ({ launch, kernel: l.kernels[i]!, origin: placed(schedule, origin), reads: origin.reads, writes: origin.writes }));
    const call = l.writes.map((b) => schedule.buffers[b]!.call).find((c) => c !== "") ?? "";
    return [{ launch, kernel: l.kernels[0] ?? -1, origin: { ...originOf(l), call }, reads: l.reads, writes: l.writes }];
  });
}

export interface Boxed { key: string; units: number[] }  // key "": a unit by itself

export class Grouping {
  readonly groups: string[][];  // around each unit
  readonly sizes = new Map<string, number>();  // units in each group
  readonly closed = new Set<string>();

  // `own`: the groups around a unit, where they are not those of its origin.
  constructor(private units: Unit[], own: ((unit: number) => string[]) | null) {
    this.groups = units.map((u, i) => own ? own(i) : groupsOf(u.origin));
    for (const keys of this.groups) for (const key of keys) this.sizes.set(key, (this.sizes.get(key) ?? 0) + 1);
  }

  isGradient(unit: number): boolean { return this.units[unit]!.origin.isGradient; }
  // A group of one says no more than what is in it.
  private isShown(key: string): boolean { return this.closed.has(key) && this.sizes.get(key)! > 1; }

  setAll(closed: boolean): void {
    this.closed.clear();
    if (closed) for (const key of this.sizes.keys()) this.closed.add(key);
  }
  // Opens the largest groups, the outer ones first, as long as there are few boxes.
  openUpTo(boxes: number): void {
    this.setAll(true);
    for (;;) {
      const shown = this.boxes(), open = shown.filter((b) => b.key !== "");
      if (open.length === 0 || shown.length >= boxes) return;
      const largest = open.reduce((a, b) => b.units.length > a.units.length ? b : a);
      this.closed.delete(largest.key);
      if (this.boxes().length > boxes) {
        this.closed.add(largest.key);
        return;
      }
    }
  }

  // In the order of the launches.
  boxes(): Boxed[] {
    const boxes: Boxed[] = [], byKey = new Map<string, Boxed>();
    this.groups.forEach((keys, unit) => {
      const key = keys.find((k) => this.isShown(k)) ?? "";
      const known = byKey.get(key);
      if (key !== "" && known) {
        known.units.push(unit);
        return;
      }
      const box = { key, units: [unit] };
      boxes.push(box);
      if (key !== "") byKey.set(key, box);
    });
    return boxes;
  }

  // The open modules or launches with more than one box in them, the largest first, and those boxes.
  frames(boxes: Boxed[]): { key: string; boxes: number[] }[] {
    const inside = new Map<string, number[]>();
    boxes.forEach((box, i) => {
      const keys = this.groups[box.units[0]!]!;
      const own = box.key === "" ? keys.length : keys.indexOf(box.key);
      for (const key of keys.slice(0, own)) {
        if (key.includes("|")) continue;
        const list = inside.get(key);
        if (list) list.push(i); else inside.set(key, [i]);
      }
    });
    return [...inside].filter(([, list]) => list.length > 1).map(([key, list]) => ({ key, boxes: list }))
      .sort((a, b) => b.boxes.length - a.boxes.length);
  }

  // Of each box of a gradient, the box of what it is the gradient of; -1 if there is none.
  partners(boxes: Boxed[]): number[] {
    const first = new Map<string, number>();  // box of each group of what is no gradient
    boxes.forEach((box, i) => {
      for (const unit of box.units) {
        if (this.isGradient(unit)) continue;
        const { origin } = this.units[unit]!;
        for (const key of [...groupsOf(origin), `|${origin.call}`]) if (!first.has(key)) first.set(key, i);
      }
    });
    return boxes.map((box, i) => {
      if (!box.units.every((unit) => this.isGradient(unit))) return -1;
      const { origin } = this.units[box.units[0]!]!, keys = groupsOf(origin);
      const own = keys.indexOf(box.key), inner = (own < 0 ? keys : keys.slice(0, own + 1)).toReversed();
      // By the call in its module, by the call alone, by the module.
      for (const key of [inner[0] ?? "", `|${origin.call.replace(GRADIENT, "")}`, ...inner.slice(1)]) {
        const partner = first.get(forwardKey(key));
        if (partner !== undefined && partner !== i) return partner;
      }
      return -1;
    });
  }
}
