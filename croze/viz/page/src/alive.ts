// What is alive at a moment: the memory of tensors, and the temporaries inside of what a run has
// taken; with the kernel that wrote it and those that still want it.
import type { Model } from "./model.js";
import { BUFFER_KINDS, type Allocation, type PlannedBuffer, type Schedule } from "./reader.js";
import { shape } from "./format.js";

const INPUT = 0, TEMPORARY = 2;  // kinds of buffers

// A kernel of a launch, and the kind of that.
export interface KernelOf { name: string; kind: number; kernel: number }

// A buffer as a run uses it, and the launch of the run that is at work, or the next one.
interface Use { number: number; planned: PlannedBuffer; run: number; launch: number }

export interface Value {
  bytes: number; what: string;
  name: string;  // of a parameter: "blocks.0.query.weight"
  type: string;  // "float32[32, 32]"
  writer: KernelOf | null; wanted: KernelOf[];
  call: string; why: string;
  temporaries: Value[];  // of the memory of a run: what is alive in it
  arena: { used: number; peak: number } | null;  // bytes of temporaries, now and as they were planned
}

export class Alive {
  private maker = new Map<number, { run: number; buffer: number }>();  // of what a run has written
  private runOf = new Map<number, number>();  // of an arena
  private launchesOf: Map<number, number[]> | null = null;  // of each run, once that is asked for

  constructor(private model: Model) {
    model.trace.runs.forEach(({ results, arenas }, run) => {
      for (const r of results) this.maker.set(r.memory, { run, buffer: r.buffer });
      for (const arena of arenas) this.runOf.set(arena, run);
    });
  }

  // The largest first.
  at(device: string, time: number): Value[] {
    const { allocations } = this.model.trace, run = this.runAt(time);
    const found = allocations.filter((a) => a.device === device && a.time <= time && time < a.end)
      .map((a) => a.isArena ? this.arena(a, time) : this.tensor(a, run, time));
    return found.sort((a, b) => b.bytes - a.bytes);
  }

  private scheduleOf(run: number): Schedule { return this.model.trace.schedules[this.model.trace.runs[run]!.schedule]!; }

  private tensor(a: Allocation, run: number, time: number): Value {
    const made = this.maker.get(a.memory), first = made ? this.use(made.run, made.buffer, time) : null;
    const now = this.use(run, this.parameter(a, run), time), planned = (first ?? now)?.planned;
    const type = planned && planned.shape.length > 0 ? shape(planned.dtype, planned.shape) : a.contents;
    return { bytes: a.bytes, what: "tensor", name: a.name || planned?.name || "", type,
             writer: (now && this.isWritten(now, made?.run ?? -1) ? this.writer(now) : null) ?? this.writer(first), wanted: this.wanted(now ?? first),
             call: planned?.call || a.call, why: planned?.why ?? "", temporaries: [], arena: null };
  }
  private use(run: number, number: number, time: number): Use | null {
    const planned = run < 0 ? undefined : this.scheduleOf(run).buffers[number];
    return planned ? { number, planned, run, launch: this.launchAt(run, time) } : null;
  }
  // Whether the run at work, or one before it that did the same, has written a parameter by now.
  private isWritten(now: Use, maker: number): boolean {
    const { runs } = this.model.trace, { schedule } = runs[now.run]!;
    return this.writing(now) < now.launch || runs.slice(maker + 1, now.run).some((r) => r.schedule === schedule);
  }
  // The parameter among what a run reads, as both have its name.
  private parameter(a: Allocation, run: number): number {
    if (a.name === "" || run < 0) return -1;
    return this.scheduleOf(run).buffers.findIndex((b) => b.kind === INPUT && b.name === a.name && b.bytes === a.bytes);
  }

  private arena(a: Allocation, time: number): Value {
    const run = this.runOf.get(a.memory), temporaries: Value[] = [];
    let peak = 0;
    if (run !== undefined) {
      const schedule = this.scheduleOf(run), launch = this.launchAt(run, time);
      peak = schedule.arenas[this.model.trace.runs[run]!.arenas.indexOf(a.memory)]?.peak ?? 0;
      schedule.buffers.forEach((planned, number) => {
        if (planned.kind !== TEMPORARY || planned.device !== a.device || launch < planned.first || launch > planned.last) return;
        temporaries.push({ bytes: planned.room, what: BUFFER_KINDS[planned.kind]!, name: "", type: shape(planned.dtype, planned.shape),
                           ...this.kernels({ number, planned, run, launch }), call: planned.call, why: planned.why, temporaries: [], arena: null });
      });
    }
    temporaries.sort((x, y) => y.bytes - x.bytes);
    const used = temporaries.reduce((sum, t) => sum + t.bytes, 0);
    return { bytes: a.bytes, what: "temporaries", name: "", type: "", writer: null, wanted: [], call: a.call, why: "", temporaries, arena: { used, peak } };
  }

  private kernels(use: Use): { writer: KernelOf | null; wanted: KernelOf[] } { return { writer: this.writer(use), wanted: this.wanted(use) }; }
  // The launch that writes it; -1: none does.
  private writing({ run, number }: Use): number { return this.scheduleOf(run).launches.findIndex((l) => l.writes.includes(number)); }
  private writer(use: Use | null): KernelOf | null {
    const launch = use ? this.writing(use) : -1;
    return use && launch >= 0 ? this.touching(use, launch, "writes").at(-1) ?? null : null;
  }
  // Of the launch at work and later ones, the kernels that read it.
  private wanted(use: Use | null): KernelOf[] {
    if (!use) return [];
    return this.scheduleOf(use.run).launches.flatMap((l, i) => i < use.launch || !l.reads.includes(use.number) ? [] : this.touching(use, i, "reads"));
  }
  // The kernels of a launch that touch a buffer, where that was noted; else the launch by its first.
  private touching({ run, number }: Use, launch: number, how: "reads" | "writes"): KernelOf[] {
    const { trace, plannedKinds } = this.model, { schedule } = trace.runs[run]!;
    const planned = trace.schedules[schedule]!.launches[launch]!;
    const kind = plannedKinds[schedule]![launch]!;
    const of = (nest: number): KernelOf => {
      const kernel = planned.kernels[nest] ?? -1;
      return { name: trace.kernels[kernel]?.name ?? "copy", kind, kernel };
    };
    const nests = planned.origins.flatMap((o, nest) => o[how].includes(number) ? [nest] : []);
    return nests.length > 0 ? nests.map(of) : [of(0)];
  }

  // The run at work at a moment, or else the last one before.
  private runAt(time: number): number {
    const { runs } = this.model.trace;
    let best = -1;
    runs.forEach((r, i) => { if (r.start <= time && (best < 0 || r.start >= runs[best]!.start)) best = i; });
    return best;
  }
  // The launch of the run that is at work at the moment, or the next.
  private launchAt(run: number, time: number): number {
    const { launches } = this.model.trace;
    let at = 0;
    for (const i of this.launches(run)) {
      if (launches.start.at(i) > time) break;
      const isOver = launches.start.at(i) + launches.duration.at(i) <= time;
      at = launches.launch.at(i) + (isOver ? 1 : 0);
    }
    return at;
  }
  private launches(run: number): number[] {
    const { launches } = this.model.trace;
    if (!this.launchesOf) {
      this.launchesOf = new Map();
      for (let i = 0; i < launches.length; i++) {
        const list = this.launchesOf.get(launches.run.at(i));
        if (list) list.push(i); else this.launchesOf.set(launches.run.at(i), [i]);
      }
    }
    return this.launchesOf.get(run) ?? [];
  }
}
