// Memory over time, and what was alive at a moment.
import { Alive, type KernelOf, type Value } from "./alive.js";
import { Canvas, button, color, element, legend, palette } from "./dom.js";
import { bytes, count, duration } from "./format.js";
import type { Model } from "./model.js";
import type { DeviceMemory, Step } from "./steps.js";

const RULER = 24, LEFT = 90;
const MOST_ROWS = 500, MOST_NAMES = 3;
const NEAR = 4;  // pixels around a click in which a peak is meant

export class Memory {
  readonly root = element("section", { class: "view", "aria-label": "Memory" });
  private view: Canvas;
  private list = element("div", { class: "details grow" });
  private device = 0;
  time: number;
  private left: number;
  private right: number;
  private search = element("input", { type: "search", placeholder: "find what is alive  /", "aria-label": "Find what is alive" });
  private alive: Alive;
  drawn = { x: 0, height: 0 };  // where the moment is, and how high the peak

  constructor(private model: Model, private openKernel: (kind: number, kernel?: number) => void) {
    this.alive = new Alive(model);
    this.view = new Canvas("Memory over time", (c) => this.draw(c));
    this.time = model.memory[0]?.peakAt ?? model.start;
    [this.left, this.right] = [model.start, model.end];
    const devices = element("select", { "aria-label": "Device" });
    model.memory.forEach((m, i) => devices.append(element("option", { value: String(i) }, `${m.device}: peak ${bytes(m.peak)}`)));
    devices.addEventListener("change", () => this.choose(Number(devices.value)));
    this.search.addEventListener("input", () => this.showList());
    this.root.append(element("div", { class: "bar" }, devices, this.search,
      button("Peak", "P", () => this.goToPeak()), button("Previous change", "←", () => this.step(-1)),
      button("Next change", "→", () => this.step(1)),
      legend("series-3", "tensors"),
      legend("series-2", "temporaries of runs"), legend("room", "room for more of those")),
    this.view.canvas, this.list);
    this.view.canvas.addEventListener("pointerdown", (e) => this.goTo(this.peakNear(e.offsetX)));
    this.view.canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) this.pan((e.deltaX || e.deltaY) / 800);
      else this.zoom(1.2 ** (e.deltaY / 60), this.t(e.offsetX));
    }, { passive: false });
  }

  shown(): void { this.restyle(); this.showList(); }
  restyle(): void { this.view.redraw(); }
  focusSearch(): void { this.search.focus(); }
  get memory(): DeviceMemory | undefined { return this.model.memory[this.device]; }

  choose(device: number): void {
    this.device = device;
    this.goToPeak();
  }
  goToPeak(): void { if (this.memory) this.goTo(this.memory.peakAt); }
  goTo(time: number): void {
    this.time = Math.min(Math.max(time, this.model.start), this.model.end);
    if (this.time < this.left || this.time > this.right) {
      const half = (this.right - this.left) / 2;
      this.show(this.time - half, this.time + half);
    }
    this.view.redraw();
    this.showList();
  }
  // What the chart shows of a pixel is its peak, so that is what a click on it means.
  private peakNear(x: number): number {
    const steps = this.memory?.steps ?? [], left = this.t(x - NEAR), right = this.t(x + NEAR);
    const from = Math.max(steps.findIndex((s) => s.time > left) - 1, 0), size = (s: Step) => s.buffers + s.arenas;
    let best = steps[from], time = this.t(x);
    if (!best) return time;
    for (const s of steps.slice(from + 1)) {
      if (s.time > right) break;
      if (size(s) < size(best) || size(s) === size(best) && s.used <= best.used) continue;
      [best, time] = [s, s.time];
    }
    return time;
  }
  step(by: number): void {
    const steps = this.memory?.steps ?? [];
    const next = by > 0 ? steps.find((s) => s.time > this.time) : steps.findLast((s) => s.time < this.time);
    if (next) this.goTo(next.time);
  }
  key(e: KeyboardEvent): boolean {
    const acts: Record<string, () => void> = {
      w: () => this.zoom(0.7), s: () => this.zoom(1 / 0.7), a: () => this.pan(-0.2), d: () => this.pan(0.2),
      "0": () => this.show(this.model.start, this.model.end),
      p: () => this.goToPeak(), ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1),
      Home: () => this.goTo(this.model.start), End: () => this.goTo(this.model.end),
    };
    acts[e.key]?.();
    return acts[e.key] !== undefined;
  }

  // ---- drawing ----

  private x(t: number): number {
    return LEFT + (t - this.left) / (this.right - this.left) * (this.view.width - LEFT - 10);
  }
  private t(x: number): number {
    return this.left + (x - LEFT) / (this.view.width - LEFT - 10) * (this.right - this.left);
  }
  private show(left: number, right: number): void {
    const { start, end } = this.model, width = Math.min(Math.max(right - left, 10), end - start);
    this.left = Math.min(Math.max((left + right - width) / 2, start), end - width);
    this.right = this.left + width;
    this.view.redraw();
  }
  zoom(factor: number, t = this.time): void {
    this.show(t - (t - this.left) * factor, t + (this.right - t) * factor);
  }
  private pan(part: number): void {
    const step = (this.right - this.left) * part;
    this.show(this.left + step, this.right + step);
  }

  private draw(c: CanvasRenderingContext2D): void {
    const p = palette(), { width, height } = this.view, memory = this.memory;
    c.fillStyle = p.ground;
    c.fillRect(0, 0, width, height);
    c.font = "12px system-ui, sans-serif";
    c.textBaseline = "middle";
    if (!memory || memory.peak === 0) {
      c.fillStyle = p.faint;
      c.fillText("No memory was allocated while the program was traced.", LEFT, height / 2);
      return;
    }
    const bottom = height - RULER, y = (b: number) => bottom - b / memory.peak * (bottom - 16);
    for (let i = 0; i <= 4; i++) {
      c.fillStyle = p.line;
      c.fillRect(LEFT, Math.round(y(memory.peak * i / 4)), width - LEFT - 10, 1);
      c.fillStyle = p.faint;
      c.fillText(bytes(memory.peak * i / 4), 8, y(memory.peak * i / 4), LEFT - 14);
    }
    this.drawArea(c, memory, y, color("room"), (s) => s.buffers + s.arenas);
    this.drawArea(c, memory, y, p.series[1]!, (s) => s.buffers + s.used);
    this.drawArea(c, memory, y, p.series[2]!, (s) => s.buffers);
    c.fillStyle = p.text;
    this.drawn = { x: Math.round(this.x(this.time)), height: bottom - 16 };
    c.fillRect(this.drawn.x, 8, 1.5, bottom - 8);
    const label = duration(this.time - this.model.start);
    const { left, right } = this;
    c.fillStyle = p.faint;
    c.fillText(`${duration(left - this.model.start)} to ${duration(right - this.model.start)}`, LEFT, bottom + RULER / 2);
    c.fillStyle = p.text;
    c.fillText(label, Math.min(this.x(this.time) + 5, width - c.measureText(label).width - 8), bottom + RULER / 2);
  }

  // The most of each pixel, so that no peak is missed.
  private drawArea(c: CanvasRenderingContext2D, memory: DeviceMemory, y: (bytes: number) => number,
                   fill: string, of: (s: Step) => number): void {
    c.fillStyle = fill;
    // What was before the first pixel, by bisection.
    let low = 0, high = memory.steps.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (memory.steps[middle]!.time <= this.left) low = middle + 1; else high = middle;
    }
    let now = low > 0 ? of(memory.steps[low - 1]!) : 0, i = low;
    for (let x = LEFT; x < this.view.width - 10; x++) {
      let most = now;
      const end = this.t(x + 1);
      for (; i < memory.steps.length && memory.steps[i]!.time < end; i++) {
        now = of(memory.steps[i]!);
        most = Math.max(most, now);
      }
      if (most > 0) c.fillRect(x, y(most), 1, y(0) - y(most));
    }
  }

  // ---- what is alive ----

  values(): Value[] { return this.memory ? this.alive.at(this.memory.device, this.time) : []; }

  private isFound(v: Value): boolean {
    const wanted = this.search.value.toLowerCase();
    return [v.what, v.name, v.type, v.call, v.why, v.writer?.name ?? "", ...v.wanted.map((k) => k.name)].some((t) => t.toLowerCase().includes(wanted));
  }
  private showList(): void {
    const values = this.values(), all = values.reduce((sum, v) => sum + v.bytes, 0);
    const body = element("tbody");
    let shown = 0;
    for (const v of values) {
      const temporaries = v.temporaries.filter((t) => this.isFound(t));
      if (temporaries.length === 0 && !this.isFound(v)) continue;
      if (++shown > MOST_ROWS) continue;
      body.append(this.row(v));
      for (const t of temporaries.slice(0, MOST_ROWS)) body.append(this.row(t, "inner"));
    }
    const head = element("tr");
    for (const title of ["bytes", "what", "value", "written by", "still wanted by", "recorded by", "why it is there"]) {
      head.append(element("th", { scope: "col" }, title));
    }
    const note = shown > MOST_ROWS ? `; the ${MOST_ROWS} largest` : shown < values.length ? `; ${count(shown)} found` : "";
    this.list.replaceChildren(
      element("h2", {}, `${bytes(all)} alive at ${duration(this.time - this.model.start)}`),
      element("p", { class: "faint" }, `${count(values.length)} pieces of memory, ${count(all)} bytes${note}`),
      element("table", {}, element("thead", {}, head), body));
  }
  private row(v: Value, kind = ""): HTMLElement {
    const cell = (...children: (Node | string)[]) => element("td", {}, ...children);
    const name = v.arena ? `${bytes(v.arena.used)} of it are alive, and at most ${bytes(v.arena.peak)}` : `${v.name} ${v.type}`.trim();
    const names = v.wanted.slice(0, MOST_NAMES).map((k) => this.kernel(k));
    return element("tr", kind ? { class: kind } : {}, element("td", { class: "number" }, bytes(v.bytes)),
      cell(kind ? `– ${v.what}` : v.what), cell(name), cell(...v.writer ? [this.kernel(v.writer)] : []),
      cell(...names, v.wanted.length > MOST_NAMES ? `and ${v.wanted.length - MOST_NAMES} more` : ""), cell(v.call), cell(v.why));
  }
  private kernel(k: KernelOf): HTMLElement {
    const b = element("button", { type: "button", class: "link", title: "show the kernel" }, k.name);
    b.addEventListener("click", () => this.openKernel(k.kind, k.kernel));
    return b;
  }
}
