// Memory over time, and what was alive at a moment.
import { Canvas, button, element, palette } from "./dom.js";
import { bytes, count, duration, shape } from "./format.js";
import type { DeviceMemory, Model } from "./model.js";
import { BUFFER_KINDS, type Allocation, type PlannedBuffer, type Schedule } from "./reader.js";

const RULER = 24, LEFT = 90;

interface Alive { allocation: Allocation; planned: PlannedBuffer | null; run: number; schedule: Schedule | null }

function legend(color: string, text: string): HTMLElement {
  const square = element("i");
  square.style.background = color;
  return element("span", { class: "key" }, square, text);
}

export class Memory {
  readonly root = element("section", { class: "view", "aria-label": "Memory" });
  private view: Canvas;
  private list = element("div", { class: "details grow" });
  private device = 0;
  time: number;
  private left: number;
  private right: number;
  private maker = new Map<number, { run: number; buffer: number }>();  // of what a run has written
  private launchesOf: Map<number, number[]> | null = null;  // of each run, once that is asked for

  constructor(private model: Model) {
    this.view = new Canvas("Memory over time", (c) => this.draw(c));
    this.time = model.memory[0]?.peakAt ?? model.start;
    [this.left, this.right] = [model.start, model.end];
    const devices = element("select", { "aria-label": "Device" });
    model.memory.forEach((m, i) => devices.append(element("option", { value: String(i) }, `${m.device}: peak ${bytes(m.peak)}`)));
    devices.addEventListener("change", () => this.choose(Number(devices.value)));
    this.root.append(element("div", { class: "bar" }, devices,
      button("Peak", "P", () => this.goToPeak()), button("Previous change", "←", () => this.step(-1)),
      button("Next change", "→", () => this.step(1)),
      legend("var(--series-3)", "tensors"),
      legend("var(--series-2)", "temporaries of runs")),
    this.view.canvas, this.list);
    this.view.canvas.addEventListener("pointerdown", (e) => this.goTo(this.t(e.offsetX)));
    this.view.canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) this.pan((e.deltaX || e.deltaY) / 800);
      else this.zoom(1.2 ** (e.deltaY / 60), this.t(e.offsetX));
    }, { passive: false });
    model.trace.runs.forEach(({ results }, run) => {
      for (const r of results) this.maker.set(r.memory, { run, buffer: r.buffer });
    });
  }

  shown(): void { this.restyle(); this.showList(); }
  restyle(): void { this.view.redraw(); }
  focusSearch(): void {}
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
    this.drawArea(c, memory, y, p.series[1]!, (s) => s.buffers + s.arenas);
    this.drawArea(c, memory, y, p.series[2]!, (s) => s.buffers);
    c.fillStyle = p.text;
    c.fillRect(Math.round(this.x(this.time)), 8, 1.5, bottom - 8);
    const label = duration(this.time - this.model.start);
    const { left, right } = this;
    c.fillStyle = p.faint;
    c.fillText(`${duration(left - this.model.start)} to ${duration(right - this.model.start)}`, LEFT, bottom + RULER / 2);
    c.fillStyle = p.text;
    c.fillText(label, Math.min(this.x(this.time) + 5, width - c.measureText(label).width - 8), bottom + RULER / 2);
  }

  // The most of each pixel, so that no peak is missed.
  private drawArea(c: CanvasRenderingContext2D, memory: DeviceMemory, y: (bytes: number) => number,
                   fill: string, of: (s: { buffers: number; arenas: number }) => number): void {
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

  alive(): Alive[] {
    const device = this.memory?.device;
    const found: Alive[] = [];
    for (const a of this.model.trace.allocations) {
      if (a.device !== device || a.time > this.time || a.end <= this.time) continue;
      const made = this.maker.get(a.memory);
      const schedule = made ? this.model.trace.schedules[this.model.trace.runs[made.run]!.schedule]! : null;
      found.push({ allocation: a, planned: schedule && made ? schedule.buffers[made.buffer] ?? null : null,
                   run: made?.run ?? -1, schedule });
    }
    return found.sort((a, b) => b.allocation.bytes - a.allocation.bytes);
  }

  private writer(schedule: Schedule | null, planned: PlannedBuffer | null): string {
    if (!schedule || !planned) return "";
    const number = schedule.buffers.indexOf(planned);
    const launch = schedule.launches.find((l) => l.writes.includes(number));
    const kernel = launch?.kernels[0];
    if (!launch || kernel === undefined) return "";
    const others = launch.kernels.length > 1 ? ` +${launch.kernels.length - 1}` : "";
    return this.model.trace.kernels[kernel]!.name + others;
  }

  // Launches of the same run that have not read it yet at the moment.
  private wantedBy(schedule: Schedule | null, planned: PlannedBuffer | null, launch: number): string {
    if (!schedule || !planned) return "";
    const number = schedule.buffers.indexOf(planned);
    const names = schedule.launches.slice(launch).filter((l) => l.reads.includes(number))
      .map((l) => this.model.trace.kernels[l.kernels[0] ?? -1]?.name ?? "copy");
    return names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");
  }

  private showList(): void {
    const alive = this.alive();
    const all = alive.reduce((sum, a) => sum + a.allocation.bytes, 0);
    const body = element("tbody");
    const most = 500;
    for (const a of alive.slice(0, most)) {
      const { allocation, planned } = a;
      body.append(this.row(bytes(allocation.bytes), allocation.isArena ? "temporaries" : "tensor",
        [allocation.name || planned?.name, planned && planned.shape.length > 0 ? shape(planned.dtype, planned.shape) : allocation.contents].filter((t) => t).join(" "),
        this.writer(a.schedule, planned), this.wantedBy(a.schedule, planned, this.launchAt(a.run)),
        planned?.call || allocation.call, planned?.why ?? "", ""));
      if (allocation.isArena) this.arenaRows(allocation, body);
    }
    const head = element("tr");
    for (const title of ["bytes", "what", "value", "written by", "still wanted by", "recorded by", "why it is there"]) {
      head.append(element("th", { scope: "col" }, title));
    }
    this.list.replaceChildren(
      element("h2", {}, `${bytes(all)} alive at ${duration(this.time - this.model.start)}`),
      element("p", { class: "faint" }, `${count(alive.length)} pieces of memory, ${count(all)} bytes${alive.length > most ? `; the ${most} largest` : ""}`),
      element("table", {}, element("thead", {}, head), body));
  }
  private row(...cells: string[]): HTMLElement {
    const tr = element("tr", cells[7] ? { class: cells[7] } : {});
    cells.slice(0, 7).forEach((text, i) => tr.append(element("td", i === 0 ? { class: "number" } : {}, text)));
    return tr;
  }

  // What stands in an arena while the launch of the moment runs.
  private arenaRows(arena: Allocation, body: HTMLElement): void {
    const { trace } = this.model;
    const number = trace.runs.findIndex((r) => r.arenas.includes(arena.memory));
    const run = trace.runs[number];
    if (!run) return;
    const schedule = trace.schedules[run.schedule]!;
    const launch = this.launchAt(number);
    const alive = schedule.buffers.filter((b) => b.kind === 2 && b.device === arena.device && b.first <= launch && launch <= b.last);
    alive.sort((a, b) => b.room - a.room);
    for (const b of alive.slice(0, 100)) {
      body.append(this.row(bytes(b.room), `– ${BUFFER_KINDS[b.kind]}`, shape(b.dtype, b.shape),
        this.writer(schedule, b), this.wantedBy(schedule, b, launch), b.call, b.why, "inner"));
    }
  }
  // The launch of the run that is at work at the moment, or the next.
  private launchAt(run: number): number {
    const { launches } = this.model.trace;
    if (!this.launchesOf) {
      this.launchesOf = new Map();
      for (let i = 0; i < launches.length; i++) {
        const list = this.launchesOf.get(launches.run.at(i));
        if (list) list.push(i); else this.launchesOf.set(launches.run.at(i), [i]);
      }
    }
    let at = 0;
    for (const i of this.launchesOf.get(run) ?? []) {
      if (launches.start.at(i) > this.time) break;
      const isOver = launches.start.at(i) + launches.duration.at(i) <= this.time;
      at = launches.launch.at(i) + (isOver ? 1 : 0);
    }
    return at;
  }
}
