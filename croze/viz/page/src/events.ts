// The events of runs, as the server hands them out piece by piece.  `next` is the number to go on
// from; numbers that are not finite are null.
export interface HistogramValue { least: number; most: number; limits: number[]; counts: number[] }
export interface ImageValue { height: number; width: number; png: string }
export interface RunEvent {
  run: number; step: number; time: number; tag: string;
  scalar?: number | null; histogram?: HistogramValue; image?: ImageValue; text?: string;
}
export interface Events { folder: string; next: number; more: boolean; runs: string[]; faults: string[]; events: RunEvent[] }

export interface Note<T> { step: number; time: number; value: T }
export type Notes<T> = Map<string, Map<number, Note<T>[]>>;  // by tag, then by run

// All that has come.
export class Runs {
  names: string[] = [];
  faults: string[] = [];
  next = 0;
  scalars: Notes<number> = new Map();
  histograms: Notes<HistogramValue> = new Map();
  images: Notes<ImageValue> = new Map();
  texts: Notes<string> = new Map();

  add(events: Events): void {
    this.names = events.runs;
    this.faults = events.faults;
    this.next = events.next;
    for (const e of events.events) {
      if (e.scalar !== undefined) this.put(this.scalars, e, e.scalar ?? NaN);
      if (e.histogram) this.put(this.histograms, e, e.histogram);
      if (e.image) this.put(this.images, e, e.image);
      if (e.text !== undefined) this.put(this.texts, e, e.text);
    }
  }
  private put<T>(notes: Notes<T>, e: RunEvent, value: T): void {
    let runs = notes.get(e.tag);
    if (!runs) notes.set(e.tag, runs = new Map());
    let list = runs.get(e.run);
    if (!list) runs.set(e.run, list = []);
    list.push({ step: e.step, time: e.time, value });
  }
}

// Each value drawn towards those before it: 0 leaves it, close to 1 only the trend is left.  What
// is not finite does not enter.
export function smoothed(values: number[], weight: number): number[] {
  let mean = 0, share = 1;
  return values.map((value) => {
    if (!Number.isFinite(value)) return value;
    mean = mean * weight + value * (1 - weight);
    share *= weight;
    return mean / (1 - share);  // without what it began with
  });
}
