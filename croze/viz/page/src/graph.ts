// The tensors of a program, the kernels that compute them with the buffers between, or what is inside
// of one kernel (levels.ts); gradients stand beside what they are gradients of.
//
// What one call of the program's recorded can be drawn as one box, and so can modules of a model
// (grouping.ts).  A large graph is at first drawn with as many boxes as can be seen.
import { Canvas, button, element, facts, palette, type Palette } from "./dom.js";
import { bytes, count, duration, shape } from "./format.js";
import { Grouping, groupName, moduleName, type Unit } from "./grouping.js";
import { layOutBeside, type Box, type Layout } from "./layout.js";
import { LEVELS, innerLevel, kernelLevel, tensorLevel, type Level, type LevelName } from "./levels.js";
import type { Model } from "./model.js";
import { BUFFER_KINDS, type Schedule } from "./reader.js";
import { KernelWords } from "./words.js";

export interface GraphNode {
  what: "unit" | "buffer" | "group";
  label: string; note: string;
  number: number;      // of the first unit, or of the buffer
  members: number[];   // units that the box stands for
  group: string;       // what a group is, or the innermost that a unit lies in
  isGradient: boolean;
  partner: number;     // of a gradient, the box of what it is the gradient of; or -1
}

const LARGE = 150;  // units, from which groups are closed at first
const AT_FIRST = 60;  // boxes that are drawn of those
const shorten = (text: string, most: number): string => text.length <= most ? text : `${text.slice(0, most - 1)}…`;

// Down or, among gradients, up; to the side where both stand in one layer.
function drawEdge(c: CanvasRenderingContext2D, a: Box, b: Box): void {
  if (a.layer === b.layer) {
    const way = Math.sign(b.x - a.x), x1 = a.x + way * a.width / 2, x2 = b.x - way * b.width / 2;
    c.moveTo(x1, a.y);
    c.bezierCurveTo((x1 + x2) / 2, a.y, (x1 + x2) / 2, b.y, x2, b.y);
    return;
  }
  const way = Math.sign(b.layer - a.layer), y1 = a.y + way * a.height / 2, y2 = b.y - way * b.height / 2;
  c.moveTo(a.x, y1);
  c.bezierCurveTo(a.x, (y1 + y2) / 2, b.x, (y1 + y2) / 2, b.x, y2);
}

export class Graph {
  readonly root = element("section", { class: "view", "aria-label": "Graph" });
  private view: Canvas;
  private details = element("div", { class: "details", "aria-live": "polite" });
  private search = element("input", { type: "search", placeholder: "find by name, op, rule  /", "aria-label": "Find in the graph" });
  private status = element("span", { class: "faint", role: "status" });
  private byLaunch = button("By launch", "B", () => this.turnGroups());
  private levels = element("select", { "aria-label": "What is drawn" });
  private schedule = 0;
  level!: Level;
  private inside: Unit | null = null;  // whose graph or program is drawn
  units: Unit[] = [];
  grouping!: Grouping;
  isByLaunch = false;
  nodes: GraphNode[] = [];
  frames: { key: string; boxes: number[] }[] = [];  // open modules, and the nodes inside
  private edges: [number, number][] = [];
  private layout: Layout = { boxes: [], layers: [], width: 0, height: 0 };
  private scale = 1;
  private x = 0;
  private y = 0;
  chosen = -1;
  found = new Set<number>();
  drawn = 0;
  layoutTime = 0;
  private words: KernelWords;

  constructor(private model: Model, private openKernel: (kind: number, kernel?: number) => void) {
    this.words = new KernelWords(model.trace);
    this.view = new Canvas("Graph of tensors, kernels and buffers", (c) => this.draw(c));
    const choice = element("select", { "aria-label": "Schedule" });
    model.trace.schedules.forEach((s, i) => choice.append(element("option", { value: String(i) },
      `schedule ${i + 1}: ${count(s.launches.length)} launches`)));
    choice.addEventListener("change", () => this.choose(Number(choice.value)));
    for (const name of LEVELS) this.levels.append(element("option", { value: name }, name));
    this.levels.addEventListener("change", () => this.show(this.levels.value as LevelName));
    this.root.append(element("div", { class: "bar" }, choice, this.levels, this.search,
      button("Fit", "0", () => this.fit()), button("Open all", "E", () => this.setAll(false)),
      button("Close all", "C", () => this.setAll(true)), this.byLaunch, this.status), this.view.canvas, this.details);
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
    this.inside = null;
    this.show("kernels");
  }
  // Turns to another level; what was chosen stays so, as what computes it or is computed by it.
  show(name: LevelName): void {
    const node = this.nodes[this.chosen], before = this.inside ?? (node && node.what !== "buffer" ? this.units[node.number] : undefined);
    const now = this.levelOf(name, before);
    if (now.units.length === 0 && name !== "kernels") {
      this.levels.value = this.level.name;
      this.status.textContent = `the trace has no ${name}`;
      return;
    }
    this.inside = name === "tensors" || name === "kernels" ? null : this.inside ?? before ?? this.longest();
    this.level = now;
    this.levels.value = name;
    this.units = this.level.units;
    this.byLaunch.disabled = this.isInner;
    this.group();
    const same = this.nodes.flatMap((n, i) => before && n.members.some((u) => this.units[u]!.launch === before.launch && this.units[u]!.kernel === before.kernel) ? [i] : []);
    if (same.length === 0 || this.isInner) return;
    if (same.length > 1) this.found = new Set(same);
    this.select(same.at(-1)!);
    this.centre(this.chosen);
  }
  private levelOf(name: LevelName, chosen: Unit | undefined): Level {
    if (name === "kernels") return kernelLevel(this.model, this.words, this.schedule);
    if (name === "tensors") return tensorLevel(this.model, this.schedule);
    return innerLevel(this.model, (chosen ?? this.longest())?.kernel ?? -1, name);
  }
  private longest(): Unit | null {
    const first = this.units[0];
    return first ? this.units.reduce((best, u, i) => this.level.time(i) > this.level.time(best.i) ? { u, i } : best, { u: first, i: 0 }).u : null;
  }
  private get isInner(): boolean { return this.inside !== null; }
  private turnLevel(by: number): void {
    const next = LEVELS[LEVELS.indexOf(this.level.name) + by];
    if (next) this.show(next);
  }
  private group(): void {
    this.chosen = -1;
    this.found.clear();
    const { level } = this;
    const byLaunch = (unit: number) => level.buffers ? [`launch ${this.units[unit]!.launch + 1}`] : level.groups(unit);
    this.grouping = new Grouping(this.units, this.isInner ? level.groups : this.isByLaunch ? byLaunch : null);
    if (this.units.length > LARGE) this.grouping.openUpTo(AT_FIRST);
    this.build();
    this.scale = 0;
    if (this.view.width > 0) this.fit();
    this.showDetails();
  }
  // Boxes of modules and calls, or of launches.
  turnGroups(): void {
    this.isByLaunch = !this.isByLaunch;
    this.byLaunch.setAttribute("aria-pressed", String(this.isByLaunch));
    this.group();
  }

  // ---- nodes and edges ----

  private build(): void {
    const { level } = this, boxes = this.grouping.boxes(), partners = this.grouping.partners(boxes);
    const nodeOf: number[] = [];  // of each unit
    this.nodes = boxes.map(({ key, units }, i) => {
      for (const unit of units) nodeOf[unit] = i;
      const first = units[0]!, time = units.reduce((t, u) => t + level.time(u), 0);
      const rest = { number: first, members: units, isGradient: units.every((u) => this.grouping.isGradient(u)), partner: partners[i]! };
      if (key !== "") return { what: "group", label: groupName(key), note: `${count(units.length)} ${level.noun}${time > 0 ? `, ${duration(time)}` : ""}`, group: key, ...rest };
      return { what: "unit", label: level.label(first), note: level.note(first), group: this.grouping.groups[first]!.at(-1) ?? "", ...rest };
    });
    this.frames = this.grouping.frames(boxes);
    this.connect(nodeOf);
    const start = performance.now();
    this.layout = layOutBeside(this.nodes.map((n) => n.what === "buffer" ? { width: 130, height: 22 } : { width: 190, height: 38 }), this.edges,
      { isBeside: this.nodes.map((n) => n.isGradient), partners: this.nodes.map((n) => n.partner) });
    this.layoutTime = performance.now() - start;
    this.status.textContent = `${count(this.nodes.length)} boxes`;
  }
  private addBuffer(s: Schedule, buffer: number, isGradient: boolean): number {
    const planned = s.buffers[buffer]!, text = shape(planned.dtype, planned.shape);
    return this.nodes.push({ what: "buffer", label: planned.name || text, note: planned.name ? text : bytes(planned.bytes), number: buffer,
                             members: [], group: "", isGradient, partner: -1 }) - 1;
  }
  // A buffer is a box between its writer and its readers; a tensor is its writer's.  Groups can read
  // each other in turn; an edge against the order of the units is left out.
  private connect(nodeOf: number[]): void {
    const s = this.level.buffers;
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
    this.units.forEach((unit, i) => {
      for (const b of unit.reads) {
        const from = writer.get(b);
        if (from === nodeOf[i]) continue;
        if (from !== undefined && this.nodes[from]!.number > this.nodes[nodeOf[i]!]!.number) continue;
        if (!s) {
          if (from !== undefined) edge(from, nodeOf[i]!);
          continue;
        }
        const key = `${b} ${from ?? "in"}`;
        let node = buffers.get(key);
        if (node === undefined) {
          const isGradient = this.nodes[from ?? nodeOf[i]!]!.isGradient;
          buffers.set(key, node = this.addBuffer(s, b, isGradient));
          if (from !== undefined) edge(from, node);
        }
        edge(node, nodeOf[i]!);
      }
      for (const b of unit.writes) writer.set(b, nodeOf[i]!);
    });
  }

  setAll(closed: boolean): void {
    this.grouping.setAll(closed);
    this.chosen = -1;
    this.build();
    this.fit();
  }
  // Opens the group of the chosen box, or closes the innermost group around it.
  toggle(): void {
    const node = this.nodes[this.chosen];
    if (!node || node.what === "buffer") return;
    if (node.what === "group") this.grouping.closed.delete(node.group);
    else this.closeAround(node);
    this.rebuildAround(node.number);
  }
  // Closes the innermost group around the chosen box, whatever that is.
  closeOuter(): void {
    const node = this.nodes[this.chosen];
    if (!node || node.what === "buffer") return;
    this.closeAround(node);
    this.rebuildAround(node.number);
  }
  private closeAround(node: GraphNode): void {
    const around = this.grouping.groups[node.number]!;
    const outer = node.what === "group" ? around.slice(0, around.indexOf(node.group)) : around;
    const group = outer.findLast((key) => this.grouping.sizes.get(key)! > node.members.length);
    if (group !== undefined) this.grouping.closed.add(group);
  }
  private rebuildAround(unit: number): void {
    this.build();
    this.chosen = this.nodes.findIndex((n) => n.members.includes(unit));
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
    this.drawFrames(c, p);
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
        drawEdge(c, a, b);
      }
      c.stroke();
    }
    c.globalAlpha = 1;
  }
  // Around the boxes of an open module, forward and gradient apart.
  private drawFrames(c: CanvasRenderingContext2D, p: Palette): void {
    c.font = "600 13px system-ui, sans-serif";
    for (const { key, boxes } of this.frames) {
      let left = Infinity, right = -Infinity, top = Infinity, bottom = -Infinity;
      for (const node of boxes) {
        const b = this.layout.boxes[node]!;
        left = Math.min(left, b.x - b.width / 2);
        right = Math.max(right, b.x + b.width / 2);
        top = Math.min(top, b.y - b.height / 2);
        bottom = Math.max(bottom, b.y + b.height / 2);
      }
      c.globalAlpha = 0.08;
      c.fillStyle = p.accent;
      c.beginPath();
      c.roundRect(left - 10, top - 20, right - left + 20, bottom - top + 30, 8);
      c.fill();
      c.globalAlpha = 0.6;
      c.strokeStyle = p.accent;
      c.lineWidth = 1;
      c.stroke();
      c.globalAlpha = 1;
      c.fillStyle = p.accent;
      if (this.scale > 0.25) c.fillText(shorten(groupName(key), 60), left - 4, top - 11);
    }
  }
  private drawBox(c: CanvasRenderingContext2D, i: number, box: Box, p: Palette): void {
    this.drawn++;
    const n = this.nodes[i]!, x = box.x - box.width / 2, y = box.y - box.height / 2;
    c.globalAlpha = this.found.size > 0 && !this.found.has(i) ? 0.25 : 1;
    const isMemory = n.what === "buffer" || n.what === "unit" && this.level.isMemory(n.number);
    c.fillStyle = isMemory ? p.panel : n.isGradient ? p.series[1]! : n.what === "group" ? p.series[2]! : p.series[0]!;
    c.beginPath();
    c.roundRect(x, y, box.width, box.height, n.what === "buffer" ? 11 : 4);
    c.fill();
    c.strokeStyle = i === this.chosen ? p.text : p.line;
    c.lineWidth = i === this.chosen ? 3 : 1;
    c.stroke();
    if (this.scale > 0.3) {
      c.fillStyle = isMemory ? p.text : "#111";
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
        const texts = [n.label, ...n.members.flatMap((unit) => [...this.grouping.groups[unit]!.map(groupName), ...this.level.words(unit)])];
        if (texts.some((text) => text.toLowerCase().includes(wanted))) this.found.add(i);
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
  // From a gradient to what it is the gradient of, and back.
  private goToPartner(): void {
    const node = this.nodes[this.chosen];
    if (!node) return;
    const partner = node.isGradient ? node.partner : this.nodes.findIndex((n) => n.partner === this.chosen);
    if (partner < 0) return;
    this.select(partner);
    this.centre(partner);
  }
  key(e: KeyboardEvent): boolean {
    const acts: Record<string, () => void> = {
      ArrowRight: () => this.next(1), ArrowLeft: () => this.next(-1),
      ArrowDown: () => this.follow(true), ArrowUp: () => this.follow(false),
      n: () => this.next(1), N: () => this.next(-1), "0": () => this.fit(), f: () => this.centre(this.chosen),
      "+": () => this.zoom(1.3), "-": () => this.zoom(1 / 1.3),
      w: () => this.zoom(1.3), s: () => this.zoom(1 / 1.3), a: () => this.move(80, 0), d: () => this.move(-80, 0),
      e: () => this.setAll(false), c: () => this.setAll(true), Enter: () => this.toggle(),
      PageDown: () => this.turnLevel(1), PageUp: () => this.turnLevel(-1),
      k: () => this.openChosen(), u: () => this.closeOuter(), b: () => this.turnGroups(), g: () => this.goToPartner(), Escape: () => this.select(-1),
    };
    acts[e.key]?.();
    return acts[e.key] !== undefined;
  }

  private showDetails(): void {
    this.details.replaceChildren();
    const n = this.nodes[this.chosen];
    if (!n) {
      this.details.append(element("p", { class: "faint" }, "Blue: kernels, or tensors. Green: groups, which are modules of the model or calls of the program. Orange: gradients, beside what they are gradients of. Grey: memory. Drag to move, Ctrl+wheel to zoom, arrow keys to go from box to box, Enter to open and close groups, U to close the one around, G from a gradient to what it is of, PgUp and PgDn from tensors to kernels and into one."));
      return;
    }
    this.details.append(element("h2", {}, n.label));
    if (n.what === "buffer") {
      const b = this.level.buffers!.buffers[n.number]!;
      this.details.append(facts([["what", BUFFER_KINDS[b.kind]!], ["bytes", bytes(b.bytes)], ["device", b.device],
        ["parameter", b.name], ["alive", b.first >= 0 ? `launches ${b.first + 1} to ${b.last + 1}` : ""], ["recorded by", b.call], ["why it is there", b.why]]));
      return;
    }
    const unit = this.units[n.number]!, isGroup = n.what === "group";
    this.details.append(facts(isGroup ? [["holds", n.note], ["module", moduleName(unit.origin.module)]] : this.level.facts(n.number)));
    if (n.group !== "") this.details.append(button(isGroup ? "Open group" : "Close group", "Enter", () => this.toggle()));
    if (n.isGradient && n.partner >= 0) this.details.append(button("What it is the gradient of", "G", () => this.goToPartner()));
    const down = LEVELS[LEVELS.indexOf(this.level.name) + 1];
    if (down && (this.isInner || !isGroup && unit.kernel >= 0)) this.details.append(button(`The ${down}`, "PgDn", () => this.show(down)));
    if (isGroup || unit.launch < 0) return;
    this.details.append(button("Open kernel", "K", () => this.openChosen()));
  }
  private openChosen(): void {
    const node = this.nodes[this.chosen], unit = this.inside ?? (node?.what === "unit" ? this.units[node.number] : undefined);
    if (!unit || unit.launch < 0) return;
    const isKnown = this.model.trace.schedules[this.schedule]!.launches[unit.launch]!.origins.length > 0;
    this.openKernel(this.model.plannedKinds[this.schedule]![unit.launch]!, isKnown ? unit.kernel : undefined);
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
