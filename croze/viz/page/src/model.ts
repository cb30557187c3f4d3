// What follows from a trace and several views want: the tracks of the timeline, the time of each
// kind of launch.
import { memoryOf, type DeviceMemory } from "./steps.js";
import { SCOPE, Trace } from "./reader.js";

// Events side by side: starts grow, and none begins before the last has ended.
export class Track {
  starts: Float64Array;
  ends: Float64Array;
  busy: Float64Array;  // time in events before each, and in all of them
  constructor(readonly isQueue: boolean, readonly ids: Uint32Array,
              start: (id: number) => number, duration: (id: number) => number) {
    this.starts = new Float64Array(ids.length);
    this.ends = new Float64Array(ids.length);
    this.busy = new Float64Array(ids.length + 1);
    for (let i = 0; i < ids.length; i++) {
      const begin = start(ids[i]!), length = duration(ids[i]!);
      this.starts[i] = begin;
      this.ends[i] = begin + length;
      this.busy[i + 1] = this.busy[i]! + length;
    }
  }
  get length(): number { return this.ids.length; }
  // The first event that ends after t.
  firstAfter(t: number): number {
    let low = 0, high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.ends[middle]! > t) high = middle; else low = middle + 1;
    }
    return low;
  }
  // The first that starts at t or later.
  firstFrom(t: number): number {
    let low = 0, high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.starts[middle]! >= t) high = middle; else low = middle + 1;
    }
    return low;
  }
}

export interface TimelineRow { name: string; isQueue: boolean; tracks: Track[] }

const MOST_TRACKS = 64;  // of a row

// What is launched under one name.
export interface LaunchKind {
  name: string;
  words: string;  // that it is found by: its name, and the calls, modules and nodes of a model that it comes from
  device: string;
  kernels: number[];  // those of one launch, and others where different ones have one name
  launches: number; ns: number; least: number;
  flops: number; bytes: number; cycles: number; example: number;
}

// What a device can do in a nanosecond, as it was measured.
export interface Roof { flops: number; bytes: number }

export class Model {
  rows: TimelineRow[] = [];
  kinds: LaunchKind[] = [];
  kindOf: Uint32Array;         // of each launch
  plannedKinds: number[][] = [];  // of the launches of each schedule
  start = 0;
  end = 1;
  kernelTime = 0;

  constructor(readonly trace: Trace) {
    this.kindOf = new Uint32Array(trace.launches.length);
    this.measure();
    this.addKinds();
    this.addRows();
  }

  private memory_: DeviceMemory[] | null = null;
  get memory(): DeviceMemory[] { return this.memory_ ??= memoryOf(this.trace, this.start); }

  // Where the trace was opened on another machine than it was written on, nobody has measured it.
  roof(device: string): Roof | null {
    const read = (what: string) => Number(this.trace.facts.get(`roof ${what} ${device}`) ?? 0) / 1e9;
    const roof = { flops: read("flops"), bytes: read("bytes") };
    return roof.flops > 0 && roof.bytes > 0 ? roof : null;
  }
  // How much of the time so much work would have to take under the roof: "37.5 %".
  shareOfRoof(device: string, flops: number, moved: number, ns: number): number {
    const roof = this.roof(device);
    return roof && ns > 0 ? Math.max(flops / roof.flops, moved / roof.bytes) / ns : 0;
  }
  launchName(id: number): string { return this.kinds[this.kindOf[id]!]!.name; }
  scopeName(id: number): string {
    const { scopes } = this.trace;
    const detail = this.trace.text(scopes.detail.at(id));
    const name = this.trace.text(scopes.name.at(id));
    return scopes.what.at(id) === SCOPE.run && detail ? detail : name;
  }
  eventName(isQueue: boolean, id: number): string {
    return isQueue ? this.launchName(id) : this.scopeName(id);
  }
  plannedOf(id: number) {
    const { trace } = this;
    const run = trace.runs[trace.launches.run.at(id)]!;
    return { run, schedule: trace.schedules[run.schedule]!,
             launch: trace.schedules[run.schedule]!.launches[trace.launches.launch.at(id)]! };
  }

  private measure(): void {
    const { launches, scopes, allocations } = this.trace;
    let start = Infinity, end = -Infinity;
    for (const events of [launches, scopes]) {
      for (let i = 0; i < events.length; i++) {
        start = Math.min(start, events.start.at(i));
        end = Math.max(end, events.start.at(i) + events.duration.at(i));
      }
    }
    for (const a of allocations) {
      start = Math.min(start, a.time);
      end = Math.max(end, a.time);
    }
    if (end <= start) end = start + 1;
    if (start < end) [this.start, this.end] = [start, end];
  }

  private addKinds(): void {
    const { trace } = this;
    // The launches of a schedule have one kind each; equal names are one kind.
    const byName = new Map<string, number>();
    this.plannedKinds = trace.schedules.map((s) => s.launches.map((l) => {
      const names = l.kernels.map((k) => trace.kernels[k]!.name);
      const name = names.length === 0 ? "copy" : names.length <= 8 ? names.join(" > ")
        : `${names.slice(0, 8).join(" > ")} and ${names.length - 8} more`;
      let kind = byName.get(name);
      if (kind === undefined) {
        kind = this.kinds.length;
        byName.set(name, kind);
        this.kinds.push({ name, words: name, device: l.device, kernels: [], launches: 0, ns: 0,
                          least: Infinity, flops: 0, bytes: 0, cycles: l.cycles, example: -1 });
      }
      const { kernels } = this.kinds[kind]!;
      for (const k of l.kernels) if (!kernels.includes(k)) kernels.push(k);
      this.addWords(this.kinds[kind]!, ...l.nodes);
      for (const { call, module } of l.origins) this.addWords(this.kinds[kind]!, call, module);
      return kind;
    }));
    const l = trace.launches;
    for (let i = 0; i < l.length; i++) {
      const schedule = trace.runs[l.run.at(i)]!.schedule, number = l.launch.at(i);
      const planned = trace.schedules[schedule]!.launches[number]!;
      const kind = this.kinds[this.kindOf[i] = this.plannedKinds[schedule]![number]!]!;
      const ns = l.duration.at(i);
      kind.launches++;
      kind.ns += ns;
      kind.least = Math.min(kind.least, ns);
      kind.flops += planned.flops;
      kind.bytes += planned.bytes;
      if (kind.example < 0) kind.example = i;
      this.kernelTime += ns;
    }
  }

  private addWords(kind: LaunchKind, ...words: string[]): void {
    for (const word of words) if (!kind.words.includes(word)) kind.words += `\n${word}`;
  }

  private addRows(): void {
    const { trace } = this;
    const launchesOf: number[][] = trace.rows.map(() => []);
    const scopesOf: number[][] = trace.rows.map(() => []);
    for (let i = 0; i < trace.launches.length; i++) launchesOf[trace.launches.row.at(i)]!.push(i);
    for (let i = 0; i < trace.scopes.length; i++) scopesOf[trace.scopes.row.at(i)]!.push(i);
    trace.rows.forEach((row, number) => {
      const tracks = [
        ...this.nested(true, launchesOf[number]!, trace.launches),
        ...this.nested(false, scopesOf[number]!, trace.scopes),
      ];
      if (tracks.length > 0) this.rows.push({ name: row.name, isQueue: row.isQueue, tracks });
    });
    this.rows.sort((a, b) => Number(a.isQueue) - Number(b.isQueue));
  }

  // What lies inside of another event goes one track down.
  private nested(isQueue: boolean, ids: number[],
                 events: { start: { at(i: number): number }, duration: { at(i: number): number } }): Track[] {
    const start = (i: number) => events.start.at(i), duration = (i: number) => events.duration.at(i);
    let isSorted = true;
    for (let i = 1; i < ids.length && isSorted; i++) isSorted = start(ids[i - 1]!) <= start(ids[i]!);
    if (!isSorted) ids.sort((a, b) => start(a) - start(b) || duration(b) - duration(a));
    const levels: number[][] = [];
    const open: number[] = [];  // where the events end that are open, the outermost first
    for (const id of ids) {
      const begin = start(id);
      while (open.length > 0 && open[open.length - 1]! <= begin) open.pop();
      if (open.length === MOST_TRACKS) continue;
      (levels[open.length] ??= []).push(id);
      open.push(begin + duration(id));
    }
    return levels.map((level) => new Track(isQueue, Uint32Array.from(level), start, duration));
  }
}
