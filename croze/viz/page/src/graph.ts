// The kernels of a schedule and the buffers between them.
//
// What was recorded by one call of the user's can be drawn as one box; so is a large schedule at
// first.
import { Canvas, button, element, facts, palette, type Palette } from "./dom.js";
import { bytes, count, duration, shape } from "./format.js";
import { layOut, type Box, type Layout } from "./layout.js";
import type { Model } from "./model.js";
import { BUFFER_KINDS, type Schedule } from "./reader.js";

export interface GraphNode {
  what: "launch" | "buffer" | "group";
  label: string; note: string;
  number: number;      // of the launch or buffer
  members: number[];   // launches of a group
  group: string;
}

const LARGE = 150;  // launches, from which groups are closed at first
const shorten = (text: string, most: number): string => text.length <= most ? text : `${text.slice(0, most - 1)}…`;

export class Graph {
  readonly root = element("section", { class: "view", "aria-label": "Graph" });
  private view: Canvas;
  private details = element("div", { class: "details", "aria-live": "polite" });
  private search = element("input", { type: "search", placeholder: "find by name  /", "aria-label": "Find in the graph" });
  private status = element("span", { class: "faint", role: "status" });
  private schedule = 0;
  private closed = new Set<string>();
  nodes: GraphNode[] = [];
  private edges: [number, number][] = [];
  private layout: Layout = { boxes: [], layers: [], width: 0, height: 0 };
  private scale = 1;
  private x = 0;
  private y = 0;
  chosen = -1;
  found = new Set<number>();
  drawn = 0;
  layoutTime = 0;
  private timeOf = new Map<number, number>();  // of the launches of the schedule, by number

  constructor(private model: Model, private openKernel: (kind: number) => void) {
    this.view = new Canvas("Graph of kernels and buffers", (c) => this.draw(c));
    const choice = element("select", { "aria-label": "Schedule" });
    model.trace.schedules.forEach((s, i) => choice.append(element("option", { value: String(i) },
      `schedule ${i + 1}: ${count(s.launches.length)} launches`)));
    choice.addEventListener("change", () => this.choose(Number(choice.value)));
    this.root.append(element("div", { class: "bar" }, choice, this.search,
      button("Fit", "0", () => this.fit()), button("Open all", "E", () => this.setAll(false)),
      button("Close all", "C", () => this.setAll(true)), this.status), this.view.canvas, this.details);
    this.search.addEventListener("input", () => this.find(this.search.value));
    this.search.addEventListener("keydown", (e) => { if (e.key === "Enter") this.next(1); });
    this.listen();
    this.showDetails();
    const largest = model.trace.schedules.reduce((best, s, i, all) => s.launches.length > all[best]!.launches.length ? i : best, 0);
    if (model.trace.schedules.length > 0) {
      choice.value = String(largest);
      this.choose(largest);
    }
  }

  shown(): void { this.restyle(); if (this.scale === 0) this.fit(); }
  restyle(): void { this.view.redraw(); }
  focusSearch(): void { this.search.focus(); }

  choose(schedule: number): void {
    this.schedule = schedule;
    this.chosen = -1;
    this.timeOf.clear();
    const { launches, runs } = this.model.trace;
    for (let i = 0; i < launches.length; i++) {
      if (runs[launches.run.at(i)]!.schedule !== schedule) continue;
      const number = launches.launch.at(i);
      this.timeOf.set(number, (this.timeOf.get(number) ?? 0) + launches.duration.at(i));
    }
    const s = this.model.trace.schedules[schedule]!;
    this.closed.clear();
    if (s.launches.length > LARGE) for (let i = 0; i < s.launches.length; i++) this.closed.add(this.groupOf(s, i));
    this.build();
    this.scale = 0;
    if (this.view.width > 0) this.fit();
  }

  // The call that recorded what a launch writes.
  private groupOf(s: Schedule, launch: number): string {
    for (const b of s.launches[launch]!.writes) if (s.buffers[b]!.call !== "") return s.buffers[b]!.call;
    return "";
  }

  // ---- nodes and edges ----

  private build(): void {
    const s = this.model.trace.schedules[this.schedule]!;
    this.nodes = [];
    const nodeOf: number[] = [];  // of each launch
    const groups = new Map<string, number>();
    s.launches.forEach((l, i) => {
      const group = this.groupOf(s, i);
      if (this.closed.has(group) && group !== "") {
        let node = groups.get(group);
        if (node === undefined) {
          groups.set(group, node = this.add("group", group, "", i, group));
        }
        this.nodes[node]!.members.push(i);
        nodeOf.push(node);
      } else {
        const kernel = l.kernels.length === 0 ? "copy" : this.model.trace.kernels[l.kernels[0]!]!.name;
        nodeOf.push(this.add("launch", l.kernels.length > 1 ? `${kernel} +${l.kernels.length - 1}` : kernel,
          duration(this.timeOf.get(i) ?? 0), i, group));
      }
    });
    for (const n of this.nodes) {
      if (n.what === "group") n.note = `${count(n.members.length)} launches, ${duration(n.members.reduce((t, m) => t + (this.timeOf.get(m) ?? 0), 0))}`;
    }
    this.connect(s, nodeOf);
    const start = performance.now();
    this.layout = layOut(this.nodes.map((n) => n.what === "buffer" ? { width: 130, height: 22 } : { width: 190, height: 38 }), this.edges);
    this.layoutTime = performance.now() - start;
    this.status.textContent = `${count(this.nodes.length)} boxes`;
  }
  private add(what: GraphNode["what"], label: string, note: string, number: number, group: string): number {
    return this.nodes.push({ what, label, note, number, members: [], group }) - 1;
  }
  // A buffer is a box between its writer and its readers.  Groups can read each other in turn; an
  // edge against the order of the launches is left out.
  private connect(s: Schedule, nodeOf: number[]): void {
    const buffers = new Map<string, number>();
    const writer = new Map<number, number>();
    const seen = new Set<string>();
    this.edges = [];
    const edge = (from: number, to: number): void => {
      const key = `${from} ${to}`;
      if (seen.has(key)) return;
      seen.add(key);
      this.edges.push([from, to]);
    };
    s.launches.forEach((l, i) => {
      for (const b of l.reads) {
        const from = writer.get(b);
        if (from === nodeOf[i]) continue;
        if (from !== undefined && this.nodes[from]!.number > this.nodes[nodeOf[i]!]!.number) continue;
        const key = `${b} ${from ?? "in"}`;
        let node = buffers.get(key);
        if (node === undefined) {
          const planned = s.buffers[b]!;
          node = this.add("buffer", shape(planned.dtype, planned.shape), bytes(planned.bytes), b, "");
          buffers.set(key, node);
          if (from !== undefined) edge(from, node);
        }
        edge(node, nodeOf[i]!);
      }
      for (const b of l.writes) writer.set(b, nodeOf[i]!);
    });
  }

  setAll(closed: boolean): void {
    const s = this.model.trace.schedules[this.schedule]!;
    this.closed.clear();
    if (closed) s.launches.forEach((_, i) => this.closed.add(this.groupOf(s, i)));
    this.chosen = -1;
    this.build();
    this.fit();
  }
  // Opens or closes the group of the chosen box.
  toggle(): void {
    const node = this.nodes[this.chosen];
    if (!node || node.group === "") return;
    const first = node.number;
    if (!this.closed.delete(node.group)) this.closed.add(node.group);
    this.build();
    this.chosen = this.nodes.findIndex((n) => n.what !== "buffer" && (n.number === first || n.members.includes(first)));
    this.centre(this.chosen);
    this.showDetails();
  }

  // ---- drawing ----

  private draw(c: CanvasRenderingContext2D): void {
    const p = palette(), { width, height } = this.view;
    c.fillStyle = p.ground;
    c.fillRect(0, 0, width, height);
    this.drawn = 0;
    if (this.scale === 0) this.fitNow();
    c.save();
    c.translate(this.x, this.y);
    c.scale(this.scale, this.scale);
    this.drawEdges(c, p);
    c.font = "12px system-ui, sans-serif";
    c.textBaseline = "middle";
    this.layout.boxes.forEach((box, i) => { if (this.isSeen(box)) this.drawBox(c, i, box, p); });
    c.restore();
  }
  private isSeen(b: Box): boolean {
    const x = b.x * this.scale + this.x, y = b.y * this.scale + this.y;
    const w = b.width * this.scale, h = b.height * this.scale;
    return x + w > 0 && x - w < this.view.width && y + h > 0 && y - h < this.view.height;
  }
  private drawEdges(c: CanvasRenderingContext2D, p: Palette): void {
    const { boxes } = this.layout;
    for (const lit of [false, true]) {
      c.strokeStyle = lit ? p.accent : p.faint;
      c.lineWidth = (lit ? 2 : 1) / Math.sqrt(this.scale);
      c.globalAlpha = lit ? 1 : 0.5;
      c.beginPath();
      for (const [from, to] of this.edges) {
        const a = boxes[from]!, b = boxes[to]!;
        if (lit !== (from === this.chosen || to === this.chosen)) continue;
        if (!this.isSeen(a) && !this.isSeen(b)) continue;
        const y1 = a.y + a.height / 2, y2 = b.y - b.height / 2;
        c.moveTo(a.x, y1);
        c.bezierCurveTo(a.x, (y1 + y2) / 2, b.x, (y1 + y2) / 2, b.x, y2);
      }
      c.stroke();
    }
    c.globalAlpha = 1;
  }
  private drawBox(c: CanvasRenderingContext2D, i: number, box: Box, p: Palette): void {
    this.drawn++;
    const n = this.nodes[i]!, x = box.x - box.width / 2, y = box.y - box.height / 2;
    c.globalAlpha = this.found.size > 0 && !this.found.has(i) ? 0.25 : 1;
    c.fillStyle = n.what === "buffer" ? p.panel : n.what === "group" ? p.series[2]! : p.series[0]!;
    c.beginPath();
    c.roundRect(x, y, box.width, box.height, n.what === "buffer" ? 11 : 4);
    c.fill();
    c.strokeStyle = i === this.chosen ? p.text : p.line;
    c.lineWidth = i === this.chosen ? 3 : 1;
    c.stroke();
    if (this.scale > 0.3) {
      c.fillStyle = n.what === "buffer" ? p.text : "#111";
      const characters = Math.floor((box.width - 12) / 6.6);
      if (n.what === "buffer") {
        c.fillText(shorten(n.label, characters), x + 8, box.y, box.width - 12);
      } else {
        c.fillText(shorten(n.label, characters), x + 8, box.y - 8, box.width - 12);
        c.fillText(shorten(n.note, characters), x + 8, box.y + 9, box.width - 12);
      }
    }
    c.globalAlpha = 1;
  }

  // ---- moving ----

  fit(): void {
    this.scale = 0;
    this.view.redraw();
  }
  private fitNow(): void {
    const { width, height } = this.layout;
    const all = Math.min(this.view.width / (width + 40), this.view.height / (height + 40));
    // A long graph begins at its top, large enough to be read.
    this.scale = Math.min(Math.max(all, Math.min(0.7, this.view.width / (width + 40)), 0.002), 1.2);
    this.x = (this.view.width - width * this.scale) / 2;
    this.y = Math.max((this.view.height - height * this.scale) / 2, 20);
  }
  zoom(factor: number, x = this.view.width / 2, y = this.view.height / 2): void {
    const scale = Math.min(Math.max(this.scale * factor, 0.002), 4);
    this.x = x - (x - this.x) * scale / this.scale;
    this.y = y - (y - this.y) * scale / this.scale;
    this.scale = scale;
    this.view.redraw();
  }
  private move(x: number, y: number): void {
    this.x += x;
    this.y += y;
    this.view.redraw();
  }
  private centre(node: number): void {
    const box = this.layout.boxes[node];
    if (!box || this.view.width === 0) return;
    if (this.scale < 0.4) this.scale = 0.7;
    this.x = this.view.width / 2 - box.x * this.scale;
    this.y = this.view.height / 2 - box.y * this.scale;
    this.view.redraw();
  }

  // ---- choosing and finding ----

  select(node: number): void {
    this.chosen = node;
    this.showDetails();
    this.view.redraw();
  }
  find(text: string): void {
    const wanted = text.toLowerCase();
    this.found.clear();
    if (wanted !== "") {
      this.nodes.forEach((n, i) => {
        if (`${n.label} ${n.group}`.toLowerCase().includes(wanted)) this.found.add(i);
      });
    }
    this.status.textContent = wanted === "" ? `${count(this.nodes.length)} boxes` : `${count(this.found.size)} found`;
    this.view.redraw();
  }
  private next(by: number): void {
    const all = this.nodes.map((_, i) => i).filter((i) => this.found.size === 0 ? this.nodes[i]!.what !== "buffer" : this.found.has(i));
    if (all.length === 0) return;
    const at = all.indexOf(this.chosen);
    this.select(all[(at + by + all.length) % all.length]!);
    this.centre(this.chosen);
  }
  // Along an edge of the chosen box.
  private follow(down: boolean): void {
    const edge = this.edges.find(([from, to]) => (down ? from : to) === this.chosen);
    if (!edge) return;
    this.select(down ? edge[1] : edge[0]);
    this.centre(this.chosen);
  }
  key(e: KeyboardEvent): boolean {
    const acts: Record<string, () => void> = {
      ArrowRight: () => this.next(1), ArrowLeft: () => this.next(-1),
      ArrowDown: () => this.follow(true), ArrowUp: () => this.follow(false),
      n: () => this.next(1), N: () => this.next(-1), "0": () => this.fit(), f: () => this.centre(this.chosen),
      "+": () => this.zoom(1.3), "-": () => this.zoom(1 / 1.3),
      w: () => this.zoom(1.3), s: () => this.zoom(1 / 1.3), a: () => this.move(80, 0), d: () => this.move(-80, 0),
      e: () => this.setAll(false), c: () => this.setAll(true), Enter: () => this.toggle(),
      Escape: () => this.select(-1),
    };
    acts[e.key]?.();
    return acts[e.key] !== undefined;
  }

  private showDetails(): void {
    this.details.replaceChildren();
    const n = this.nodes[this.chosen];
    if (!n) {
      this.details.append(element("p", { class: "faint" }, "Blue: launches, by time. Green: what one call of the program recorded. Grey: buffers. Drag to move, Ctrl+wheel to zoom, arrow keys to go from box to box, Enter to open and close groups."));
      return;
    }
    const s = this.model.trace.schedules[this.schedule]!;
    this.details.append(element("h2", {}, n.label));
    if (n.what === "buffer") {
      const b = s.buffers[n.number]!;
      this.details.append(facts([["what", BUFFER_KINDS[b.kind]!], ["bytes", bytes(b.bytes)], ["device", b.device],
        ["alive", b.first >= 0 ? `launches ${b.first + 1} to ${b.last + 1}` : ""], ["recorded by", b.call], ["why it is there", b.why]]));
      return;
    }
    const l = s.launches[n.number]!;
    this.details.append(facts([["time", n.note], ["reads, writes", n.what === "group" ? "" : `${l.reads.length}, ${l.writes.length} buffers`],
      ["bytes", n.what === "group" ? "" : bytes(l.bytes)], ["recorded by", n.group]]));
    if (n.group !== "") this.details.append(button(n.what === "group" ? "Open group" : "Close group", "Enter", () => this.toggle()));
    if (n.what === "launch") {
      const kind = this.model.kinds.findIndex((k) => k.kernels === l.kernels || k.kernels.join() === l.kernels.join());
      if (kind >= 0) this.details.append(button("Open kernel", "", () => this.openKernel(kind)));
    }
  }

  private listen(): void {
    const { canvas } = this.view;
    let from: { x: number; y: number; moved: boolean } | null = null;
    canvas.addEventListener("pointerdown", (e) => {
      canvas.setPointerCapture(e.pointerId);
      from = { x: e.offsetX, y: e.offsetY, moved: false };
    });
    canvas.addEventListener("pointermove", (e) => {
      if (!from) return;
      from.moved ||= Math.abs(e.offsetX - from.x) + Math.abs(e.offsetY - from.y) > 3;
      if (from.moved) this.move(e.movementX, e.movementY);
    });
    canvas.addEventListener("pointerup", (e) => {
      if (from && !from.moved) this.select(this.nodeAt(e.offsetX, e.offsetY));
      from = null;
    });
    canvas.addEventListener("dblclick", () => this.toggle());
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      if (e.ctrlKey || e.metaKey) this.zoom(1.2 ** (-e.deltaY / 60), e.offsetX, e.offsetY);
      else this.move(-e.deltaX, -e.deltaY);
    }, { passive: false });
  }
  private nodeAt(x: number, y: number): number {
    const gx = (x - this.x) / this.scale, gy = (y - this.y) / this.scale;
    return this.layout.boxes.findIndex((b) => Math.abs(gx - b.x) <= b.width / 2 && Math.abs(gy - b.y) <= b.height / 2);
  }
}
