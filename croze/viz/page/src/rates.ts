// What a queue does in a time: launches, arithmetic and bytes; and both drawn over time, against the
// roof of the device.
//
// The work of a launch is spread evenly over its time.  Sums over all launches before each let a
// pixel, however much lies in it, cost two bisections.
import type { Palette } from "./dom.js";
import type { Model, Roof, TimelineRow, Track } from "./model.js";

export interface Work { ns: number; launches: number; flops: number; bytes: number }
export interface Strip { left: number; right: number; y: number; height: number }
export interface KindWork { kind: number; ns: number; launches: number }

class TrackWork {
  private flops: Float64Array;  // before each launch, and in all of them
  private bytes: Float64Array;

  constructor(model: Model, private track: Track) {
    this.flops = new Float64Array(track.length + 1);
    this.bytes = new Float64Array(track.length + 1);
    for (let i = 0; i < track.length; i++) {
      const { launch } = model.plannedOf(track.ids[i]!);
      this.flops[i + 1] = this.flops[i]! + launch.flops;
      this.bytes[i + 1] = this.bytes[i]! + launch.bytes;
    }
  }
  // Of `sums`, up to a moment; what is at work has done as much as its time is over.
  private upTo(sums: Float64Array, t: number): number {
    const i = this.track.firstAfter(t);
    if (i === this.track.length || this.track.starts[i]! >= t) return sums[i]!;
    const begin = this.track.starts[i]!, part = (t - begin) / (this.track.ends[i]! - begin);
    return sums[i]! + part * (sums[i + 1]! - sums[i]!);
  }
  between(a: number, b: number): Work {
    const { track } = this, first = track.firstAfter(a), end = track.firstFrom(b);
    const of = (sums: Float64Array) => this.upTo(sums, b) - this.upTo(sums, a);
    return { ns: of(track.busy), launches: Math.max(end - first, 0), flops: of(this.flops), bytes: of(this.bytes) };
  }
}

// Of one queue.
export class Rates {
  readonly device: string;
  readonly roof: Roof | null;
  private tracks: TrackWork[];

  constructor(private model: Model, private row: TimelineRow) {
    this.tracks = row.tracks.map((track) => new TrackWork(model, track));
    this.device = model.plannedOf(row.tracks[0]!.ids[0]!).launch.device;
    this.roof = model.roof(this.device);
  }
  between(a: number, b: number): Work {
    const sum = { ns: 0, launches: 0, flops: 0, bytes: 0 };
    for (const track of this.tracks) {
      const work = track.between(a, b);
      sum.ns += work.ns;
      sum.launches += work.launches;
      sum.flops += work.flops;
      sum.bytes += work.bytes;
    }
    return sum;
  }
  // The kernels at work in a time, the one that took longest first.
  kinds(a: number, b: number): KindWork[] {
    const found = new Map<number, KindWork>();
    for (const track of this.row.tracks) {
      for (let i = track.firstAfter(a); i < track.length && track.starts[i]! < b; i++) {
        const kind = this.model.kindOf[track.ids[i]!]!, ns = Math.min(track.ends[i]!, b) - Math.max(track.starts[i]!, a);
        const known = found.get(kind);
        if (known) { known.ns += ns; known.launches++; } else found.set(kind, { kind, ns, launches: 1 });
      }
    }
    return [...found.values()].sort((x, y) => y.ns - x.ns);
  }

  // Gives back the most that was drawn.  The roof is a line, which what finds its data in caches may
  // cross; without a roof the strip is as high as its peak.
  draw(c: CanvasRenderingContext2D, what: "flops" | "bytes", at: Strip,
       time: (x: number) => number, p: Palette): number {
    const values: number[] = [];
    for (let x = at.left; x < at.right; x++) {
      const [a, b] = [time(x), time(x + 1)];
      values.push(this.between(a, b)[what] / (b - a));
    }
    const most = values.reduce((m, v) => Math.max(m, v), 0);
    const top = this.roof ? this.roof[what] * 1.2 : most || 1;
    c.fillStyle = p.series[what === "flops" ? 0 : 1]!;
    values.forEach((v, i) => {
      const h = Math.min(v / top, 1) * at.height;
      if (h > 0) c.fillRect(at.left + i, at.y + at.height - Math.max(h, 1), 1, Math.max(h, 1));
    });
    if (this.roof) {
      c.fillStyle = p.text;
      for (let x = at.left; x < at.right; x += 8) c.fillRect(x, at.y + at.height - at.height / 1.2, 5, 1);
    }
    return most;
  }
}
