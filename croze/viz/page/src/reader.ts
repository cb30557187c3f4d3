// Reads a trace: croze/trace/records.h says what is in the file.
//
// Launches and scopes come by the million, so they are kept in columns of numbers; the rest are
// objects.  The file may come from anybody: a read beyond the end, or a number of something that is
// not there, ends in an Error.

const MAGIC = "croze trace\n";
const VERSION = 1;
const KIND = {
  text: 1, fact: 2, row: 3, scope: 4, rule: 5, node: 6, pass: 7, passResult: 8, match: 9,
  kernel: 10, schedule: 11, run: 12, launch: 13, allocation: 14, release: 15, lost: 16,
  tensorName: 17, origins: 18, samples: 19, modelNodes: 20, tensorGraph: 21,
} as const;

export const SCOPE = { schedule: 0, kernel: 1, pass: 2, run: 3 } as const;
export const BUFFER_KINDS = ["input", "result", "temporary", "block"] as const;

// Numbers that grow.
export class Column {
  length = 0;
  private data = new Float64Array(1024);

  push(value: number): void {
    if (this.length === this.data.length) {
      const larger = new Float64Array(this.length * 2);
      larger.set(this.data);
      this.data = larger;
    }
    this.data[this.length++] = value;
  }
  at(i: number): number { return this.data[i]!; }
}

export interface Row { isQueue: boolean; name: string }
export interface Rule { text: string; place: string }
export interface Node { op: number; dtype: number; argument: number; sources: number[] }
export interface Pass { kernel: string; name: string; start: number; result: number; matches: Match[] }
export interface Match { set: number; rule: number; before: number; after: number; ns: number }
export interface Kernel {
  number: number; name: string; key: string; device: string; size: string;
  graph: number; edits: number; program: number; source: number; assembly: number;
  flops: number; bytes: number; codeBytes: number;
  samples: Map<number, number>;  // how often threads were seen at an offset in the code
}
export interface PlannedLaunch {
  device: string; kernels: number[]; reads: number[]; writes: number[];
  flops: number; bytes: number; cycles: number;
  origins: Origin[];  // of the kernels
  nodes: string[];    // of a model file that it computes: "Conv (node "stem")"
}
// What a kernel of a launch computes, and for whom; empty where that was not noted.
export interface Origin { module: string; call: string; isGradient: boolean; cycles: number; reads: number[]; writes: number[] }
export interface PlannedBuffer {
  kind: number; device: string; dtype: string; shape: number[]; bytes: number; room: number;
  offset: number; first: number; last: number; why: string; call: string;
  name: string;  // of a parameter: "blocks.0.query.weight"
}
// Of the tensor graph that the program recorded; empty where calls were not noted.
export interface TensorNode {
  op: string; dtype: string; argument: string; shape: number[]; sources: number[];
  module: string; call: string; isGradient: boolean;
  buffer: number;  // its memory, or what gets its value; -1: nothing does
}
export interface PlannedArena { device: string; bytes: number; peak: number }
export interface Schedule { launches: PlannedLaunch[]; buffers: PlannedBuffer[]; arenas: PlannedArena[]; tensors: TensorNode[] }
export interface Run {
  row: number; schedule: number; call: number; start: number; arenas: number[];
  results: { buffer: number; memory: number }[];
}
export interface Allocation {
  isArena: boolean; memory: number; device: string; bytes: number; time: number;
  contents: string; call: string; end: number;  // Infinity: it lives at the end of the trace
  name: string;  // of a parameter
}

// One of each thing that a launch or scope has.
export class Launches {
  row = new Column(); run = new Column(); launch = new Column();
  start = new Column(); duration = new Column();
  get length(): number { return this.start.length; }
}
export class Scopes {
  what = new Column(); row = new Column(); name = new Column(); detail = new Column();
  start = new Column(); duration = new Column();
  get length(): number { return this.start.length; }
}

export class Trace {
  facts = new Map<string, string>();
  rows: Row[] = [];
  rules: Rule[] = [];
  nodes: Node[] = [];
  passes: Pass[] = [];
  kernels: Kernel[] = [];
  schedules: Schedule[] = [];
  runs: Run[] = [];
  allocations: Allocation[] = [];
  launches = new Launches();
  scopes = new Scopes();
  lost = 0;
  isCut = false;

  constructor(private bytes: Uint8Array) {}

  // Texts are decoded when they are first asked for.
  private begins = new Column();
  private ends = new Column();
  private decoded: (string | undefined)[] = [];
  private decoder = new TextDecoder();

  addText(begin: number, end: number): void {
    this.begins.push(begin);
    this.ends.push(end);
  }
  get texts(): number { return this.begins.length; }
  text(number: number): string {
    if (number === 0) return "";
    return this.decoded[number] ??= this.decoder.decode(
      this.bytes.subarray(this.begins.at(number - 1), this.ends.at(number - 1)));
  }
}

const NOTHING: never[] = [];

class Fields {
  at = 0;
  end = 0;
  time = 0;
  constructor(readonly bytes: Uint8Array, private trace: Trace) {}

  // As the limits of what is read are those of a record, so a length cannot lead out of it.
  byte(): number {
    if (this.at >= this.end) throw new Error("a record of the trace is too short");
    return this.bytes[this.at++]!;
  }
  number(): number {
    let byte = this.byte();
    if (byte < 128) return byte;
    let value = byte & 127;
    for (let scale = 128; ; scale *= 128) {
      byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      if (scale > 2 ** 56) throw new Error("a number of the trace is too large");
    }
  }
  within(count: number, what: string): number {
    const n = this.number();
    if (n >= count) throw new Error(`the trace names ${what} ${n} of ${count}`);
    return n;
  }
  name(): number { return this.within(this.trace.texts + 1, "text"); }
  text(): string { return this.trace.text(this.name()); }
  nextTime(): number {
    const step = this.number();
    this.time += step % 2 ? -(step + 1) / 2 : step / 2;
    return this.time;
  }
  real(): number {
    if (this.at + 8 > this.end) throw new Error("a record of the trace is too short");
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset + this.at, 8);
    this.at += 8;
    return view.getFloat64(0, true);
  }
  list<T>(item: () => T): T[] {
    const count = this.number();
    if (count > this.end - this.at) throw new Error("a list of the trace is too long");
    if (count === 0) return NOTHING as T[];
    const items: T[] = [];
    for (let i = 0; i < count; i++) items.push(item());
    return items;
  }
}

function readSchedule(f: Fields, trace: Trace): Schedule {
  const number = () => f.number();
  const launches = f.list(() => ({
    device: f.text(), kernels: f.list(() => f.within(trace.kernels.length, "kernel")),
    reads: f.list(number), writes: f.list(number), flops: f.number(), bytes: f.number(),
    cycles: f.real(), origins: NOTHING as Origin[], nodes: NOTHING as string[],
  }));
  const buffers = f.list(() => ({
    kind: f.within(4, "kind"), device: f.text(), dtype: f.text(), shape: f.list(number),
    bytes: f.number(), room: f.number(), offset: f.number(), first: f.number() - 1,
    last: f.number() - 1, why: f.text(), call: f.text(), name: "",
  }));
  const arenas = f.list(() => ({ device: f.text(), bytes: f.number(), peak: f.number() }));
  for (const l of launches) {
    for (const b of [...l.reads, ...l.writes]) {
      if (b >= buffers.length) throw new Error("the trace names a buffer that is not there");
    }
  }
  return { launches, buffers, arenas, tensors: NOTHING };
}

class Reader {
  private trace: Trace;
  private f: Fields;
  private alive = new Map<number, Allocation>();

  constructor(private bytes: Uint8Array) {
    this.trace = new Trace(bytes);
    this.f = new Fields(bytes, this.trace);
  }

  read(): Trace {
    const { bytes, trace, f } = this;
    const head = MAGIC.length + 4;
    if (new TextDecoder().decode(bytes.subarray(0, MAGIC.length)) !== MAGIC) {
      throw new Error("this is no trace of croze");
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const version = view.getUint32(MAGIC.length, true);
    if (version !== VERSION) throw new Error(`a trace of version ${version}, and this page reads ${VERSION}`);
    let at = head;
    while (at < bytes.length) {
      const end = at + 4 <= bytes.length ? at + 4 + view.getUint32(at, true) : Infinity;
      if (end > bytes.length) {  // the program died while it wrote
        trace.isCut = true;
        break;
      }
      at += 4;
      f.time = 0;
      while (at < end) at = this.record(at, end);
    }
    return trace;
  }

  private record(at: number, chunkEnd: number): number {
    const f = this.f;
    const kind = this.bytes[at]!;
    f.at = at + 1;
    f.end = chunkEnd;
    const length = f.number();
    const end = f.at + length;
    if (end > chunkEnd) throw new Error("a record of the trace is too long");
    f.end = end;
    this.fields(kind);
    return end;
  }

  private fields(kind: number): void {
    const { f, trace } = this;
    switch (kind) {
      case KIND.text: trace.addText(f.at, f.end); break;
      case KIND.fact: trace.facts.set(f.text(), f.text()); break;
      case KIND.row: trace.rows.push({ isQueue: f.number() === 1, name: f.text() }); break;
      case KIND.scope: this.scope(); break;
      case KIND.rule: trace.rules.push({ text: f.text(), place: f.text() }); break;
      case KIND.node: this.node(); break;
      case KIND.pass:
        trace.passes.push({ kernel: f.text(), name: f.text(), start: f.nextTime(), result: -1, matches: [] });
        break;
      case KIND.passResult:
        trace.passes[f.within(trace.passes.length, "pass")]!.result = f.within(trace.nodes.length, "node");
        break;
      case KIND.match: this.match(); break;
      case KIND.kernel: this.kernel(); break;
      case KIND.schedule: trace.schedules.push(readSchedule(f, trace)); break;
      case KIND.run: this.run(); break;
      case KIND.launch: this.launch(); break;
      case KIND.allocation: this.allocation(); break;
      case KIND.release: this.release(); break;
      case KIND.lost: trace.lost = f.number(); break;
      case KIND.tensorName: this.tensorName(); break;
      case KIND.origins: this.origins(); break;
      case KIND.samples: this.samples(); break;
      case KIND.modelNodes: this.modelNodes(); break;
      case KIND.tensorGraph: this.tensorGraph(); break;
    }
  }

  private scope(): void {
    const { f, trace } = this, s = trace.scopes;
    s.what.push(f.within(4, "kind"));
    s.row.push(f.within(trace.rows.length, "row"));
    s.name.push(f.name());
    s.detail.push(f.name());
    s.start.push(f.nextTime());
    s.duration.push(f.number());
  }

  private node(): void {
    const { f, trace } = this, nodes = trace.nodes;
    nodes.push({
      op: f.name(), dtype: f.name(), argument: f.name(),
      sources: f.list(() => {
        const back = f.number();
        if (back < 1 || back > nodes.length) throw new Error("a node of the trace has no such source");
        return nodes.length - back;
      }),
    });
  }

  private match(): void {
    const { f, trace } = this;
    const pass = trace.passes[f.within(trace.passes.length, "pass")]!;
    pass.matches.push({
      set: f.name(), rule: f.within(trace.rules.length, "rule"),
      before: f.within(trace.nodes.length, "node"), after: f.within(trace.nodes.length, "node"),
      ns: f.number(),
    });
  }

  private kernel(): void {
    const { f, trace } = this;
    trace.kernels.push({
      number: trace.kernels.length, name: f.text(), key: f.text(), device: f.text(),
      graph: f.name(), edits: f.name(), program: f.name(), source: f.name(), assembly: f.name(),
      size: f.text(), flops: f.number(), bytes: f.number(), codeBytes: f.number(), samples: new Map(),
    });
  }

  private run(): void {
    const { f, trace } = this;
    trace.runs.push({
      row: f.within(trace.rows.length, "row"),
      schedule: f.within(trace.schedules.length, "schedule"), call: f.name(), start: f.nextTime(),
      arenas: f.list(() => f.number()),
      results: f.list(() => ({ buffer: f.number(), memory: f.number() })),
    });
  }

  private launch(): void {
    const { f, trace } = this, l = trace.launches;
    l.row.push(f.within(trace.rows.length, "row"));
    const run = f.within(trace.runs.length, "run");
    l.run.push(run);
    const planned = trace.schedules[trace.runs[run]!.schedule]!.launches;
    l.launch.push(f.within(planned.length, "launch"));
    l.start.push(f.nextTime());
    l.duration.push(f.number());
  }

  private allocation(): void {
    const f = this.f;
    const a: Allocation = {
      isArena: f.number() === 1, memory: f.number(), device: f.text(), bytes: f.number(),
      time: f.nextTime(), contents: f.text(), call: f.text(), end: Infinity, name: "",
    };
    this.trace.allocations.push(a);
    this.alive.set(a.memory, a);
  }

  private release(): void {
    const memory = this.f.number();
    const time = this.f.nextTime();
    const a = this.alive.get(memory);
    if (a) a.end = time;
    this.alive.delete(memory);
  }

  private tensorName(): void {
    const a = this.alive.get(this.f.number()), name = this.f.text();
    if (a) a.name = name;
  }

  private modelNodes(): void {
    const { f, trace } = this, { launches } = trace.schedules[f.within(trace.schedules.length, "schedule")]!;
    const nodes = f.list(() => f.list(() => f.text()));
    if (nodes.length !== launches.length) throw new Error("the trace has nodes of another schedule");
    nodes.forEach((list, i) => { launches[i]!.nodes = list; });
  }

  private tensorGraph(): void {
    const { f, trace } = this, schedule = trace.schedules[f.within(trace.schedules.length, "schedule")]!;
    const number = () => f.number(), nodes: TensorNode[] = [];
    f.list(() => nodes.push({
      op: f.text(), dtype: f.text(), argument: f.text(), shape: f.list(number),
      sources: f.list(() => {
        const back = f.number();
        if (back < 1 || back > nodes.length) throw new Error("a tensor of the trace has no such source");
        return nodes.length - back;
      }),
      module: f.text(), call: f.text(), isGradient: f.number() === 1, buffer: f.within(schedule.buffers.length + 1, "buffer") - 1,
    }));
    schedule.tensors = nodes;
  }

  private samples(): void {
    const { f, trace } = this;
    const { samples } = trace.kernels[f.within(trace.kernels.length, "kernel")]!;
    for (const [offset, count] of f.list(() => [f.number(), f.number()] as const)) {
      samples.set(offset, (samples.get(offset) ?? 0) + count);
    }
  }

  private origins(): void {
    const { f, trace } = this;
    const { launches, buffers } = trace.schedules[f.within(trace.schedules.length, "schedule")]!;
    const origins = f.list(() => f.list(() => ({ module: f.text(), call: f.text(), isGradient: f.number() === 1, cycles: f.number(),
      reads: f.list(() => f.within(buffers.length, "buffer")), writes: f.list(() => f.within(buffers.length, "buffer")) })));
    const names = f.list(() => f.text());
    if (origins.length !== launches.length || names.length !== buffers.length) throw new Error("the trace has origins of another schedule");
    origins.forEach((list, i) => {
      if (list.length !== launches[i]!.kernels.length) throw new Error("the trace has origins of another launch");
      launches[i]!.origins = list;
    });
    names.forEach((name, i) => { buffers[i]!.name = name; });
  }
}

export function readTrace(bytes: Uint8Array): Trace { return new Reader(bytes).read(); }
