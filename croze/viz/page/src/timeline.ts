// The timeline: a row for each thread and each queue, with what happened on it.
//
// A million events are drawn as fast as a thousand: what is narrower than a pixel is not looked at
// one by one.  The next pixel's first event is found by bisection, and how busy a pixel was is a
// difference of two sums, so a track costs the pixels it is wide.
import { Canvas, button, byId, element, facts, legend, palette, type Palette } from "./dom.js";
import { bytes, count, duration, percent, rate, share } from "./format.js";
import { moduleName, originOf } from "./grouping.js";
import { Flows, type Flow, type Place } from "./flows.js";
import type { Model, TimelineRow, Track } from "./model.js";
import { Rates, type Strip } from "./rates.js";

const TRACK = 20, GAP = 10, RULER = 24, LABELS = 150;
const RATE = 34;  // pixels of the strip of a rate
const SCOPES = [["schedule", 0], ["compile", 5], ["pass", 2], ["run", 4]] as const;  // kinds, and their colours
const MOST_KINDS = 5;  // of a measured time

interface Spot extends Place { x: number; y: number; width: number }

const hash = (text: string): number => {
  let h = 0;
  for (let i = 0; i < text.length; i++) h = (h * 31 + text.charCodeAt(i)) | 0;
  return Math.abs(h);
};

export class Timeline {
  readonly root = element("section", { class: "view", "aria-label": "Timeline" });
  private view: Canvas;
  private details = element("div", { class: "details", "aria-live": "polite" });
  private status = element("span", { class: "faint", role: "status" });
  private search = element("input", { type: "search", placeholder: "find by name, call  /", "aria-label": "Find events by name, call or module" });
  private left: number;
  private right: number;
  private top = 0;
  chosen: Place | null = null;
  measured: [number, number] | null = null;
  private found = new Set<number>();  // kinds of launches, then texts of scopes
  private colors: number[];
  private colors_ = palette();
  private boxes: number[] = [];  // where each row begins
  private flows: Flows;
  private flowsOfChosen: Flow[] = [];
  private rates = new Map<number, Rates>();  // of the rows that are queues
  drawn = { rows: [] as string[], events: 0, labels: [] as string[], flows: 0, rates: [] as ({ name: string; most: number } & Strip)[] };

  constructor(private model: Model, private openKernel: (kind: number) => void) {
    this.left = model.start;
    this.right = model.end;
    this.colors = model.kinds.map((k) => hash(k.name) % 8);
    this.flows = new Flows(model);
    model.rows.forEach((row, r) => { if (row.isQueue) this.rates.set(r, new Rates(model, row)); });
    this.view = new Canvas("Timeline of threads and device queues", (c) => this.draw(c));
    const bar = element("div", { class: "bar" }, this.search,
      button("Previous", "Shift+N", () => this.step(-1)), button("Next", "N", () => this.step(1)),
      button("All", "0", () => this.fit()), button("Fit event", "F", () => this.fitChosen()),
      button("Longest", "L", () => this.chooseLongest()), button("Along the flow", "G", () => this.goAlong()),
      button("Measure", "M", () => this.measureChosen()), ...SCOPES.map(([name, series]) => legend(`series-${series + 1}`, name)), this.status);
    this.root.append(bar, this.view.canvas, this.details);
    this.search.addEventListener("input", () => this.find(this.search.value));
    this.search.addEventListener("keydown", (e) => {
      if (e.key === "Enter") this.step(e.shiftKey ? -1 : 1);
      if (e.key === "Escape") this.view.canvas.focus();
    });
    this.listen();
    this.showDetails();
  }

  get canvas(): HTMLCanvasElement { return this.view.canvas; }
  get frames(): number { return this.view.frames; }
  get range(): [number, number] { return [this.left, this.right]; }
  focusSearch(): void { this.search.focus(); }
  shown(): void { this.restyle(); }
  restyle(): void {
    this.colors_ = palette();
    this.view.redraw();
  }
  drawNow(): void { this.view.drawNow(); }

  // ---- where things are ----

  private x(t: number): number {
    return LABELS + (t - this.left) / (this.right - this.left) * (this.view.width - LABELS);
  }
  private t(x: number): number {
    return this.left + (x - LABELS) / (this.view.width - LABELS) * (this.right - this.left);
  }
  private rowHeight(row: TimelineRow): number { return row.tracks.length * TRACK + (row.isQueue ? 2 * RATE : 0) + GAP; }
  private placeAt(x: number, y: number): Place | null {
    const { rows } = this.model;
    for (let r = 0; r < rows.length; r++) {
      const within = Math.floor((y - this.boxes[r]!) / TRACK);
      const track = rows[r]!.tracks[within];
      if (!track || y < this.boxes[r]!) continue;
      const i = track.firstAfter(this.t(x - 1));
      if (i < track.length && track.starts[i]! <= this.t(x + 1)) return { row: r, track: within, index: i };
    }
    return null;
  }

  // ---- drawing ----

  private draw(c: CanvasRenderingContext2D): void {
    const { width, height } = this.view, p = this.colors_;
    this.drawn = { rows: [], events: 0, labels: [], flows: 0, rates: [] };
    c.fillStyle = p.ground;
    c.fillRect(0, 0, width, height);
    c.font = "12px system-ui, sans-serif";
    c.textBaseline = "middle";
    let y = RULER + GAP - this.top;
    this.boxes = [];
    this.model.rows.forEach((row, r) => {
      this.boxes.push(y);
      if (y < height && y + this.rowHeight(row) > RULER) this.drawRow(c, row, r, y, p);
      y += this.rowHeight(row);
    });
    this.drawChosen(c, p);
    this.drawMeasure(c, p);
    this.drawRuler(c, p);
  }

  private drawRow(c: CanvasRenderingContext2D, row: TimelineRow, r: number, y: number, p: Palette): void {
    c.save();
    this.clip(c);
    row.tracks.forEach((track, t) => this.drawTrack(c, track, { row: r, track: t, index: 0 }, y + t * TRACK, p));
    c.restore();
    c.fillStyle = p.line;
    c.fillRect(0, y + this.rowHeight(row) - GAP / 2 - 1, this.view.width, 1);
    c.fillStyle = p.text;
    c.fillText(row.name, 10, y + TRACK / 2, LABELS - 16);
    this.drawn.rows.push(row.name);
    if (row.isQueue) this.drawRates(c, this.rates.get(r)!, y + row.tracks.length * TRACK, p);
  }

  // Arithmetic and bytes of the queue over time, under the roof of its device.
  private drawRates(c: CanvasRenderingContext2D, rates: Rates, y: number, p: Palette): void {
    for (const [i, [what, name]] of ([["flops", "GFLOP/s"], ["bytes", "GB/s"]] as const).entries()) {
      const strip = { left: LABELS, right: this.view.width, y: y + i * RATE + 3, height: RATE - 4 };
      const most = rates.draw(c, what, strip, (x) => this.t(x), p);
      c.fillStyle = p.faint;
      c.fillText(`${name}${rates.roof ? `, roof ${rates.roof[what].toFixed(1)}` : `, most ${most.toFixed(2)}`}`, 10, strip.y + strip.height / 2, LABELS - 16);
      this.drawn.rates.push({ name, most, ...strip });
    }
  }

  // To what lies right of the names and below the ruler.
  private clip(c: CanvasRenderingContext2D): void {
    c.beginPath();
    c.rect(LABELS, RULER, this.view.width - LABELS, this.view.height);
    c.clip();
  }

  private drawTrack(c: CanvasRenderingContext2D, track: Track, place: Place, y: number, p: Palette): void {
    const perPixel = (this.right - this.left) / (this.view.width - LABELS);
    let i = track.firstAfter(this.left);
    while (i < track.length && track.starts[i]! < this.right) {
      const start = track.starts[i]!, end = track.ends[i]!;
      if (end - start >= perPixel) {
        const x = Math.max(this.x(start), LABELS), right = Math.min(this.x(end), this.view.width + 1);
        this.drawEvent(c, track, i, { ...place, index: i, x, y, width: right - x }, p);
        i++;
      } else {  // all that starts in this pixel, as dark as it was busy
        const pixel = this.left + Math.floor((start - this.left) / perPixel) * perPixel;
        const next = Math.max(track.firstFrom(pixel + perPixel), i + 1);
        const busy = (track.busy[next]! - track.busy[i]!) / perPixel;
        c.globalAlpha = Math.min(1, 0.25 + 0.75 * busy);
        c.fillStyle = this.fill(track, i, p);
        c.fillRect(this.x(pixel), y + 1, 1, TRACK - 2);
        c.globalAlpha = 1;
        this.drawn.events++;
        i = next;
      }
    }
  }

  private fill(track: Track, i: number, p: Palette): string {
    const id = track.ids[i]!;
    if (this.found.size > 0 && !this.isFound(track, id)) return p.line;
    return p.series[track.isQueue ? this.colors[this.model.kindOf[id]!]!
      : SCOPES[this.model.trace.scopes.what.at(id)]![1]]!;
  }

  private drawEvent(c: CanvasRenderingContext2D, track: Track, i: number, at: Spot, p: Palette): void {
    this.drawn.events++;
    c.fillStyle = this.fill(track, i, p);
    c.fillRect(at.x, at.y + 1, Math.max(at.width - (at.width > 3 ? 1 : 0), 1), TRACK - 2);
    const k = this.chosen;
    if (k && k.row === at.row && k.track === at.track && k.index === i) {
      c.strokeStyle = p.text;
      c.lineWidth = 2;
      c.strokeRect(at.x + 1, at.y + 1, Math.max(at.width - 2, 1), TRACK - 2);
    }
    if (at.width < 34) return;
    const name = this.model.eventName(track.isQueue, track.ids[i]!);
    const fits = Math.floor((at.width - 8) / 6.6);
    const label = name.length <= fits ? name : `${name.slice(0, Math.max(fits - 1, 1))}…`;
    c.fillStyle = "#111";
    c.fillText(label, at.x + 4, at.y + TRACK / 2 + 0.5, at.width - 6);
    this.drawn.labels.push(label);
  }

  // A mark below what is chosen, which may be narrower than can be seen; and the ways from a run to
  // its launches.
  private drawChosen(c: CanvasRenderingContext2D, p: Palette): void {
    const k = this.chosen;
    if (!k) return;
    const { start, end } = this.timesOf(k), at = this.x((start + end) / 2), below = this.boxes[k.row]! + (k.track + 1) * TRACK;
    c.fillStyle = p.text;
    c.beginPath();
    c.moveTo(at, below - 2);
    c.lineTo(at - 5, below + 7);
    c.lineTo(at + 5, below + 7);
    c.fill();
    c.save();
    this.clip(c);
    c.strokeStyle = p.accent;
    c.lineWidth = 1.5;
    c.beginPath();
    for (const { from, to } of this.flowsOfChosen) {
      const [x1, y1] = [this.x(this.timesOf(from).start), this.boxes[from.row]! + (from.track + 1) * TRACK];
      const [x2, y2] = [this.x(this.timesOf(to).start), this.boxes[to.row]! + to.track * TRACK];
      c.moveTo(x1, y1);
      c.bezierCurveTo(x1, (y1 + y2) / 2, x2, (y1 + y2) / 2, x2, y2);
      this.drawn.flows++;
    }
    c.stroke();
    c.restore();
  }

  private drawMeasure(c: CanvasRenderingContext2D, p: Palette): void {
    if (!this.measured) return;
    const [a, b] = this.measured, x = this.x(Math.min(a, b)), right = this.x(Math.max(a, b));
    c.globalAlpha = 0.18;
    c.fillStyle = p.accent;
    c.fillRect(x, RULER, right - x, this.view.height);
    c.globalAlpha = 1;
    const text = duration(Math.abs(b - a));
    c.fillStyle = p.accent;
    c.fillText(text, (x + right) / 2 - c.measureText(text).width / 2, this.view.height - 12);
  }

  private drawRuler(c: CanvasRenderingContext2D, p: Palette): void {
    c.fillStyle = p.panel;
    c.fillRect(0, 0, this.view.width, RULER);
    const wanted = (this.right - this.left) / Math.max((this.view.width - LABELS) / 110, 1);
    const power = 10 ** Math.floor(Math.log10(wanted));
    const stride = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= wanted)!;
    c.fillStyle = p.faint;
    c.fillText(`${duration(this.right - this.left)} shown`, 10, RULER / 2, LABELS - 16);
    const first = Math.ceil((this.left - this.model.start) / stride);
    for (let n = first; n * stride + this.model.start <= this.right; n++) {
      const x = this.x(n * stride + this.model.start);
      c.fillStyle = p.line;
      c.fillRect(x, RULER - 6, 1, 6);
      c.fillStyle = p.faint;
      c.fillText(n === 0 ? "0" : duration(n * stride), x + 4, RULER / 2);
    }
  }

  // ---- moving ----

  show(left: number, right: number): void {
    const all = this.model.end - this.model.start;
    const width = Math.min(Math.max(right - left, 10), all * 1.2);
    const middle = (left + right) / 2;
    const clamped = Math.min(Math.max(middle - width / 2, this.model.start - all * 0.1), this.model.end + all * 0.1 - width);
    this.left = clamped;
    this.right = clamped + width;
    this.view.redraw();
  }
  pan(part: number): void {
    const step = (this.right - this.left) * part;
    this.show(this.left + step, this.right + step);
  }
  zoom(factor: number, x = (this.view.width + LABELS) / 2): void {
    const t = this.t(x);
    this.show(t - (t - this.left) * factor, t + (this.right - t) * factor);
  }
  fit(): void { this.show(this.model.start, this.model.end); }
  fitChosen(): void {
    if (!this.chosen) return;
    const { start, end } = this.timesOf(this.chosen);
    const margin = Math.max((end - start) * 0.25, 5);
    this.show(start - margin, end + margin);
  }
  private trackOf(place: { row: number; track: number }): Track { return this.model.rows[place.row]!.tracks[place.track]!; }
  private timesOf(place: Place): { start: number; end: number } {
    const track = this.trackOf(place);
    return { start: track.starts[place.index]!, end: track.ends[place.index]! };
  }
  // So that the track can be seen.
  private scrollTo({ row, track }: Place): void {
    const y = this.boxes[row]! + track * TRACK;
    if (y < RULER + GAP) this.scroll(y - RULER - GAP);
    else if (y + TRACK + GAP > this.view.height) this.scroll(y + TRACK + GAP - this.view.height);
  }
  private scroll(by: number): void {
    const all = this.model.rows.reduce((sum, r) => sum + this.rowHeight(r), RULER + 2 * GAP);
    this.top = Math.max(0, Math.min(this.top + by, all - this.view.height));
    this.view.redraw();
  }

  // ---- choosing ----

  choose(chosen: Place | null): void {
    this.chosen = chosen;
    this.flowsOfChosen = chosen ? this.flows.at(chosen) : [];
    if (chosen) {
      this.scrollTo(chosen);
      const { start, end } = this.timesOf(chosen);
      if (end < this.left || start > this.right) {
        const half = Math.max((this.right - this.left) / 2, (end - start));
        this.show((start + end) / 2 - half, (start + end) / 2 + half);
      }
    }
    this.showDetails();
    this.view.redraw();
  }
  // The next event of the track; or, on all tracks, the next in time that was found.
  step(by: number): void {
    if (this.found.size > 0) return this.stepFound(by);
    const first = this.firstTrack();
    if (!first) return;
    const at = this.chosen ?? { ...first, index: by > 0 ? -1 : 0 };
    if (at.index + by >= 0 && at.index + by < this.trackOf(at).length) this.choose({ ...at, index: at.index + by });
  }
  private stepFound(by: number): void {
    let best: Place | null = null;
    this.model.rows.forEach(({ tracks }, row) => tracks.forEach((_, track) => {
      const place = this.nextFound(row, track, by);
      if (place && (!best || this.order(place, best) * by < 0)) best = place;
    }));
    if (best) this.choose(best);
  }
  // Of one track, the next after what is chosen, or the first of all.
  private nextFound(row: number, number: number, by: number): Place | null {
    const track = this.trackOf({ row, track: number }), now = this.chosen;
    const start = now ? this.timesOf(now).start : by > 0 ? -Infinity : Infinity;
    // What begins together with what is chosen may be before it or after it.
    let index = by > 0 ? track.firstFrom(start) : Math.min(track.firstAfter(start), track.length - 1);
    for (; index >= 0 && index < track.length; index += by) {
      const place = { row, track: number, index };
      if (this.isFound(track, track.ids[index]!) && (!now || this.order(place, now) * by > 0)) return place;
    }
    return null;
  }
  private order(a: Place, b: Place): number {
    return this.timesOf(a).start - this.timesOf(b).start || a.row - b.row || a.track - b.track || a.index - b.index;
  }
  // From a launch to the run that asked for it, from a run to its first launch.
  goAlong(): void {
    const flow = this.flowsOfChosen[0];
    if (!flow || !this.chosen) return;
    this.choose(this.trackOf(this.chosen).isQueue ? flow.from : flow.to);
  }
  // Up and down: the event nearest in time on the track above or below.
  stepTrack(by: number): void {
    const places: [number, number][] = [];
    this.model.rows.forEach((row, r) => row.tracks.forEach((_, t) => places.push([r, t])));
    const at = this.chosen;
    const now = at ? places.findIndex(([r, t]) => r === at.row && t === at.track) : -1;
    const next = places[Math.min(Math.max(now + by, 0), places.length - 1)];
    if (!next) return;
    const track = this.model.rows[next[0]]!.tracks[next[1]]!;
    const time = at ? this.timesOf(at).start : this.left;
    this.choose({ row: next[0], track: next[1], index: Math.min(track.firstAfter(time), track.length - 1) });
  }
  chooseLongest(): void {
    let best: Place | null = null, longest = -1;
    this.model.rows.forEach((row, r) => row.tracks.forEach((track, t) => {
      if (!track.isQueue) return;
      for (let i = 0; i < track.length; i++) {
        const length = track.ends[i]! - track.starts[i]!;
        if (length > longest) [best, longest] = [{ row: r, track: t, index: i }, length];
      }
    }));
    this.choose(best);
  }
  private firstTrack(): { row: number; track: number } | null {
    const queue = this.model.rows.findIndex((r) => r.isQueue);
    return this.model.rows.length === 0 ? null : { row: Math.max(queue, 0), track: 0 };
  }

  // ---- finding ----

  find(text: string): void {
    const wanted = text.toLowerCase();
    this.found.clear();
    let events = 0;
    if (wanted !== "") {
      this.model.kinds.forEach((k, i) => {
        if (!k.words.toLowerCase().includes(wanted)) return;
        this.found.add(i);
        events += k.launches;
      });
      const { scopes } = this.model.trace, known = new Map<number, boolean>();  // texts are few
      const isIn = (text: number): boolean => {
        let found = known.get(text);
        if (found === undefined) known.set(text, found = this.model.trace.text(text).toLowerCase().includes(wanted));
        return found;
      };
      for (let i = 0; i < scopes.length; i++) {
        if (!isIn(scopes.name.at(i)) && !isIn(scopes.detail.at(i))) continue;
        this.found.add(-1 - i);
        events++;
      }
      if (this.found.size === 0) this.found.add(this.model.kinds.length);  // nothing is lit
    }
    this.status.textContent = wanted === "" ? "" : `${count(events)} found`;
    this.view.redraw();
  }
  private isFound(track: Track, id: number): boolean {
    return this.found.has(track.isQueue ? this.model.kindOf[id]! : -1 - id);
  }

  // ---- details ----

  private showDetails(): void {
    this.details.replaceChildren();
    if (this.measured) this.measuredDetails(...this.measured);
    if (!this.chosen && this.measured) return;
    if (!this.chosen) {
      this.details.append(element("p", { class: "faint" },
        "Drag to move, Ctrl+wheel or W and S to zoom, A and D to move, click or arrow keys to choose, Shift+drag to measure."));
      return;
    }
    const track = this.model.rows[this.chosen.row]!.tracks[this.chosen.track]!;
    const id = track.ids[this.chosen.index]!;
    this.details.append(element("h2", {}, this.model.eventName(track.isQueue, id)));
    if (track.isQueue) this.launchDetails(id); else this.scopeDetails(id);
  }
  // What each queue did in the time, and with which kernels.
  private measuredDetails(a: number, b: number): void {
    const [left, right] = [Math.min(a, b), Math.max(a, b)], { kinds } = this.model;
    this.details.append(element("h2", {}, `${duration(right - left)} measured`));
    for (const [r, rates] of this.rates) {
      const work = rates.between(left, right), most = rates.kinds(left, right);
      this.details.append(facts([["queue", this.model.rows[r]!.name], ["launches", count(work.launches)],
        ["at work", `${duration(work.ns)}, ${percent(work.ns, right - left) || "0 %"}`],
        ["GFLOP/s", rate(work.flops, right - left)], ["GB/s", rate(work.bytes, right - left)],
        ["of the roof", share(this.model.shareOfRoof(rates.device, work.flops, work.bytes, right - left))]]),
      element("p", { class: "faint" }, most.slice(0, MOST_KINDS).map((k) => `${duration(k.ns)}: ${kinds[k.kind]!.name}`).join("; ")
        + (most.length > MOST_KINDS ? `; and ${count(most.length - MOST_KINDS)} more` : "")));
    }
  }
  private launchDetails(id: number): void {
    const { trace, kindOf, kinds } = this.model;
    const kind = kinds[kindOf[id]!]!, ns = trace.launches.duration.at(id);
    const { run, schedule, launch } = this.model.plannedOf(id);
    const origin = originOf(launch);
    const why = launch.writes.map((b) => schedule.buffers[b]!).find((b) => b.call !== "");
    this.details.append(
      facts([["time", `${duration(ns)}, at ${duration(trace.launches.start.at(id) - this.model.start)}`],
        ["of all kernels", percent(kind.ns, this.model.kernelTime)],
        ["GFLOP/s", rate(launch.flops, ns)], ["GB/s", rate(launch.bytes, ns)],
        ["of the roof", share(this.model.shareOfRoof(launch.device, launch.flops, launch.bytes, ns))],
        ["module", moduleName(origin.module)], ["nodes of the model", launch.nodes.join(", ")],
        ["bytes", bytes(launch.bytes)], ["arithmetic", count(launch.flops)],
        ["estimated", launch.cycles > 0 ? `${count(Math.round(launch.cycles))} cycles` : ""],
        ["asked for by", trace.text(run.call)], ["recorded by", origin.call || (why?.call ?? "")]]),
      button("Open kernel", "Enter", () => this.openKernel(kindOf[id]!)));
  }
  private scopeDetails(id: number): void {
    const { trace } = this.model;
    this.details.append(facts([["what", SCOPES[trace.scopes.what.at(id)]![0]],
      ["time", `${duration(trace.scopes.duration.at(id))}, at ${duration(trace.scopes.start.at(id) - this.model.start)}`],
      ["for", trace.text(trace.scopes.detail.at(id))]]));
  }

  // ---- input ----

  key(e: KeyboardEvent): boolean {
    const acts: Record<string, () => void> = {
      w: () => this.zoom(0.7), s: () => this.zoom(1 / 0.7), a: () => this.pan(-0.2), d: () => this.pan(0.2),
      "+": () => this.zoom(0.7), "-": () => this.zoom(1 / 0.7),
      ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1),
      ArrowUp: () => this.stepTrack(-1), ArrowDown: () => this.stepTrack(1),
      n: () => this.step(1), N: () => this.step(-1), f: () => this.fitChosen(), "0": () => this.fit(),
      l: () => this.chooseLongest(), m: () => this.measureChosen(), g: () => this.goAlong(),
      Escape: () => { this.measured = null; this.choose(null); },
      Enter: () => this.openChosen(),
    };
    const act = acts[e.key];
    act?.();
    return act !== undefined;
  }
  private openChosen(): void {
    if (!this.chosen) return;
    const track = this.model.rows[this.chosen.row]!.tracks[this.chosen.track]!;
    if (track.isQueue) this.openKernel(this.model.kindOf[track.ids[this.chosen.index]!]!);
  }
  // The time of what is chosen; of all from what was measured before to that.
  measureChosen(): void {
    if (!this.chosen) return;
    const { start, end } = this.timesOf(this.chosen), [a, b] = this.measured ?? [start, end];
    this.measured = [Math.min(a, b, start), Math.max(a, b, end)];
    this.showDetails();
    this.view.redraw();
  }

  private listen(): void {
    const { canvas } = this.view;
    let from: { x: number; y: number; left: number; moved: boolean } | null = null;
    canvas.addEventListener("pointerdown", (e) => {
      canvas.setPointerCapture(e.pointerId);
      from = { x: e.offsetX, y: e.offsetY, left: this.left, moved: false };
      if (e.shiftKey) this.measured = [this.t(e.offsetX), this.t(e.offsetX)];
    });
    canvas.addEventListener("pointermove", (e) => {
      if (!from) return;
      from.moved ||= Math.abs(e.offsetX - from.x) + Math.abs(e.offsetY - from.y) > 3;
      if (!from.moved) return;
      if (e.shiftKey && this.measured) {
        this.measured[1] = this.t(e.offsetX);
        this.view.redraw();
      } else {
        const moved = (from.x - e.offsetX) / (this.view.width - LABELS) * (this.right - this.left);
        this.show(from.left + moved, from.left + moved + this.right - this.left);
        this.scroll(-e.movementY);
      }
    });
    canvas.addEventListener("pointerup", (e) => {
      if (from && !from.moved) this.choose(this.placeAt(e.offsetX, e.offsetY));
      else if (from && this.measured) this.showDetails();
      from = null;
    });
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      if (e.ctrlKey || e.metaKey) this.zoom(1.2 ** (e.deltaY / 60), e.offsetX);
      else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) this.pan((e.deltaX || e.deltaY) / 800);
      else this.scroll(e.deltaY);
    }, { passive: false });
  }
}

// Part of the page that says what was not in the trace.
export function showFaults(model: Model): void {
  const faults: string[] = [];
  if (model.trace.isCut) faults.push("The trace ends in the middle: the program died while it was written.");
  if (model.trace.lost > 0) faults.push(`${count(model.trace.lost)} records had no room (CROZE_TRACE_LIMIT).`);
  byId("faults").textContent = faults.join(" ");
}
