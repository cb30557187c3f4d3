// Memory over time: what tensors take, what runs have taken for their temporaries, and how much of
// that is alive while a launch is at work.
import type { Schedule, Trace } from "./reader.js";

// From a moment on: bytes of tensors, of the arenas of runs, and of the temporaries alive in those.
export interface Step { time: number; buffers: number; arenas: number; used: number }
// The peak is the most that is taken at once; of several such moments, the one with most alive.
export interface DeviceMemory { device: string; steps: Step[]; peak: number; peakAt: number }

interface Change { time: number; buffers: number; arenas: number; used: number }

const TEMPORARY = 2;  // kind of a buffer

// Bytes of temporaries on a device that are alive at each launch, one more for after the last.
export function aliveAt(schedule: Schedule, device: string): number[] {
  const change = new Array<number>(schedule.launches.length + 1).fill(0);
  for (const b of schedule.buffers) {
    if (b.kind !== TEMPORARY || b.device !== device || b.first < 0 || b.last >= schedule.launches.length) continue;
    change[b.first]! += b.room;
    change[b.last + 1]! -= b.room;
  }
  let now = 0;
  return change.map((by) => now += by);
}

// What the launches of runs change in the arenas.
function changesOfRuns(trace: Trace, put: (device: string, time: number, used: number) => void): void {
  const known = trace.schedules.map((s) => s.arenas.map((a) => ({ device: a.device, alive: aliveAt(s, a.device) })));
  const now = new Map<string, number>();  // in each arena of the runs that are not over
  const { launches, runs } = trace;
  for (let i = 0; i < launches.length; i++) {
    const number = launches.run.at(i), run = runs[number]!, launch = launches.launch.at(i);
    const isLast = launch === trace.schedules[run.schedule]!.launches.length - 1;
    known[run.schedule]!.forEach(({ device, alive }, a) => {
      const key = `${number} ${a}`, before = now.get(key) ?? 0, start = launches.start.at(i);
      if (alive[launch] !== before) put(device, start, alive[launch]! - before);
      if (isLast) {
        if (alive[launch] !== 0) put(device, start + launches.duration.at(i), -alive[launch]!);
        now.delete(key);
      } else {
        now.set(key, alive[launch]!);
      }
    });
  }
}

export function memoryOf(trace: Trace, start: number): DeviceMemory[] {
  const changes = new Map<string, Change[]>();
  const put = (device: string, change: Change): void => {
    const list = changes.get(device);
    if (list) list.push(change); else changes.set(device, [change]);
  };
  for (const a of trace.allocations) {
    const change = (time: number, bytes: number): Change => ({ time, buffers: a.isArena ? 0 : bytes, arenas: a.isArena ? bytes : 0, used: 0 });
    put(a.device, change(a.time, a.bytes));
    if (a.end < Infinity) put(a.device, change(a.end, -a.bytes));
  }
  changesOfRuns(trace, (device, time, used) => put(device, { time, buffers: 0, arenas: 0, used }));
  return [...changes].map(([device, list]) => stepsOf(device, list, start));
}

// What is given back goes before what is taken at the same time.
function stepsOf(device: string, list: Change[], start: number): DeviceMemory {
  const all = (c: Change) => c.buffers + c.arenas + c.used;
  list.sort((a, b) => a.time - b.time || all(a) - all(b));
  const memory: DeviceMemory = { device, steps: [], peak: 0, peakAt: start };
  const now: Step = { time: start, buffers: 0, arenas: 0, used: 0 };
  let most = 0;
  for (const c of list) {
    now.time = c.time;
    now.buffers += c.buffers;
    now.arenas += c.arenas;
    now.used += c.used;
    memory.steps.push({ ...now });
    const taken = now.buffers + now.arenas;
    if (taken < memory.peak || taken === memory.peak && now.used <= most) continue;
    [memory.peak, memory.peakAt, most] = [taken, c.time, now.used];
  }
  return memory;
}
